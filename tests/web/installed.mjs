// A project in which the npm package is installed.

import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const MODULES = join(dirname(fileURLToPath(import.meta.url)), "node_modules");

/// A folder with the package, a copy of which finds the packages of the project, and with `others` that are installed
/// here. It is removed after the test.
export function installed(t, folderOfPackage, ...others) {
  const folder = mkdtempSync(join(tmpdir(), "posse-npm-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const modules = join(folder, "node_modules");
  cpSync(folderOfPackage, join(modules, "posse"), { recursive: true });
  for (const name of others) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(MODULES, name), join(modules, name));
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  return folder;
}
