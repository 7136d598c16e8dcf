// Opens a folder of static files in headless Chromium, and ends with 0 once its canvas shows a picture:
// `node release/drawn.mjs FOLDER PICTURE.png`. Errors of the page, and requests to other servers, are printed and end it with 1.

import { writeFileSync } from "node:fs";

import { withPage } from "../tests/web/browser.mjs";

/// The number of colours from which on a picture shows something: an empty canvas has one, a sky without characters a
/// few dozen.
const MIN_COLOURS = 400;
const SECONDS = 120;

const [folder, file] = process.argv.slice(2);

/// The number of colours of a PNG picture, which a page of its own decodes.
function colours(blank, png) {
  return blank.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    return new Set(new Uint32Array(context.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer)).size;
  }, png.toString("base64"));
}

await withPage({ "/": folder }, async ({ page, address, problems, version, browser }) => {
  const blank = await browser.newPage();
  await page.goto(`${address}/index.html`);
  let found = 0;
  for (const end = Date.now() + 1000 * SECONDS; found < MIN_COLOURS && problems.length === 0 && Date.now() < end; ) {
    await page.waitForTimeout(500);
    const png = await page.locator("canvas").first().screenshot();
    writeFileSync(file, png);
    found = await colours(blank, png);
  }
  console.log(`Chromium ${version}: the canvas shows ${found} colours; ${file}`);
  problems.forEach((problem) => console.error(problem));
  process.exitCode = found >= MIN_COLOURS && problems.length === 0 ? 0 : 1;
});
