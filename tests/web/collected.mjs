// Files that the repository does not have, as tests/support/collected.rs finds them.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const CHECKOUT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/// The path of a collected file or folder, by its path below the folder of all of them; `undefined` if it is not there.
export function collected(path) {
  const { POSSE_COLLECTED } = process.env;
  const folders = POSSE_COLLECTED ? [POSSE_COLLECTED] : ["tests/collected", "../shared"];
  return folders.map((folder) => join(resolve(CHECKOUT, folder), path)).find((path) => existsSync(path));
}
