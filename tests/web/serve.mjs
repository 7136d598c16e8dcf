// The server of the page, web/serve, at the address that it prints.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";

import { ROOT } from "./posse_page.mjs";

/// Milliseconds until the address is printed: a package that is older than its sources is built first.
const START = 900_000;

function reasonToSkip() {
  if (!existsSync(join(ROOT, "web/pkg/posse.js"))) return "web/build has not run";
  return spawnSync("python3", ["--version"]).status === 0 ? false : "there is no python3";
}

const skip = reasonToSkip();
if (skip) process.stderr.write(`SKIPPED: the test of web/serve: ${skip}\n`);

test("web/serve prints its address and serves the page", { skip, timeout: START + 60_000 }, async () => {
  const server = spawn(join(ROOT, "web/serve"), ["0"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    let address;
    for await (const line of createInterface({ input: server.stdout, signal: AbortSignal.timeout(START) })) {
      // A build prints lines of its own.
      if (/^http:/.test(line)) {
        address = line;
        break;
      }
    }
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/$/);
    for (const [file, type, content] of [
      ["", "text/html", /<title>posse/],
      ["page.js", "text/javascript", /window\.posse/],
      ["pkg/posse.js", "text/javascript", /export/],
      ["pkg/posse_bg.wasm", "application/wasm", /^\0asm/],
    ]) {
      const answer = await fetch(address + file, { signal: AbortSignal.timeout(30_000) });
      assert.equal(answer.status, 200, file);
      assert.equal(answer.headers.get("content-type").split(";")[0], type, file);
      assert.match(await answer.text(), content, file);
    }
  } finally {
    if (server.exitCode === null) {
      server.kill();
      await once(server, "exit");
    }
  }
});
