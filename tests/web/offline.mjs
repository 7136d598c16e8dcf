// The page of web/ in Chromium without a network, and while it loads.

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { armAsGlb, swungElbow } from "./arm.mjs";
import { LIMIT, PACKAGE, ROOT, assertMatrix, give, hold, joint, reasonToSkip, still, textOf, withBarePage, withPosse } from "./posse_page.mjs";

const FILES = join(ROOT, "web/files.js");
const skip = reasonToSkip();
const skipOffline = skip || (existsSync(FILES) ? false : "web/build has not run");

/// The names and the version of the list.
const list = () => new Function("self", `${readFileSync(FILES, "utf8")}; return self.FILES;`)({});

test("the page opens and poses without its server", { skip: skipOffline, timeout: LIMIT }, async () => {
  const { names, version } = list();
  await withPosse(async (page, { stop, problems }) => {
    await page.evaluate(() => navigator.serviceWorker.ready);
    const kept = () => page.evaluate(async () => {
      const names = await caches.keys();
      const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
      return { names, files: requests.flat().map(({ url }) => new URL(url).pathname.slice(1)).sort() };
    });
    assert.deepEqual(await kept(), { names: [`posse-page-${version}`], files: [...names].sort() });

    // A cache of an older version goes when the next worker begins.
    await page.evaluate(async () => {
      await (await caches.open("posse-page-older")).put("style.css", new Response(""));
      await (await caches.open("other")).put("style.css", new Response(""));
      await (await navigator.serviceWorker.ready).unregister();
    });
    await page.reload();
    await page.evaluate(() => window.posse.ready);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.waitForFunction(async () => !(await caches.keys()).includes("posse-page-older"));
    assert.ok((await kept()).names.includes("other"), "caches of other pages stay");

    await stop();
    for (const address of [page.url(), page.url().replace("index.html", ""), `${page.url()}?again`]) {
      await page.goto(address);
      await page.evaluate(() => window.posse.ready);
      assert.equal(await textOf(page, "error"), "");
      await still(page);
      await give(page, ["arm.glb", armAsGlb()]);
      await hold(page, 0.25);
      assertMatrix(await joint(page, 0, "elbow"), swungElbow(0.25), "the arm, offline");
    }
    assert.match(await textOf(page, "version"), /^posse \d+\.\d+/);
    // The worker's own tries to reach the server.
    problems.length = 0;
  }, { serviceWorkers: "allow" });
});

test("the list has every file that the page asks for", { skip: skipOffline, timeout: LIMIT }, async () => {
  const asked = new Set();
  const listen = (page) => page.on("request", (request) => asked.add(new URL(request.url()).pathname.slice(1)));
  await withBarePage(listen, async (page) => {
    await page.evaluate(() => window.posse.ready);
    const { names } = list();
    assert.deepEqual([...asked].filter((name) => !names.includes(name)), []);
    for (const name of ["index.html", "page.js", "worker.js", "pkg/posse_bg.wasm"]) assert.ok(asked.has(name), name);
  });
});

test("progress shows while the engine loads", { skip, timeout: LIMIT }, async () => {
  const prepare = (page) => page.addInitScript(() => {
    window.seen = [];
    document.addEventListener("DOMContentLoaded", () => {
      const look = () => {
        const { max, value } = document.getElementById("loading-progress");
        window.seen.push({ text: document.getElementById("loading-text").textContent, max, value });
      };
      look();
      new MutationObserver(look).observe(document.getElementById("loading"), { subtree: true, childList: true, attributes: true });
    });
  });
  await withBarePage(prepare, async (page) => {
    await page.evaluate(() => window.posse.ready);
    const seen = await page.evaluate(() => window.seen);
    const { size } = statSync(join(PACKAGE, "posse_bg.wasm"));
    const parts = seen.filter(({ max }) => max > 1);
    assert.ok(parts.length > 0 && parts.every(({ max, value }) => max === size && value < size), JSON.stringify(seen));
    assert.ok(seen.some(({ text }) => /^Loading \d+\.\d of \d+\.\d MB…$/.test(text)), JSON.stringify(seen));
    assert.ok(!(await page.locator("#loading").isVisible()), "it goes");
  });
});
