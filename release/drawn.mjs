// Opens a folder of static files in headless Chromium, and ends with 0 once its canvas shows the characters of the demo:
// `node release/drawn.mjs FOLDER PICTURE.png`. Errors of the page, and requests to other servers, are printed and end it with 1.

import { writeFileSync } from "node:fs";

import { withPage } from "../tests/web/browser.mjs";

/// The pixels of shirts from which on the characters of the demo are drawn. Sky and ground are nearly grey.
const MIN_VIVID = 200;
const SECONDS = 300;

const [folder, file] = process.argv.slice(2);

/// The number of pixels of a PNG picture whose channels differ by more than 100, which a page of its own decodes.
function vivid(blank, png) {
  return blank.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) {
      const channels = data.subarray(at, at + 3);
      if (Math.max(...channels) - Math.min(...channels) > 100) found += 1;
    }
    return found;
  }, png.toString("base64"));
}

await withPage({ "/": folder }, async ({ page, address, problems, version, browser }) => {
  const blank = await browser.newPage();
  await page.goto(`${address}/index.html`);
  let found = 0;
  for (const end = Date.now() + 1000 * SECONDS; found < MIN_VIVID && problems.length === 0 && Date.now() < end; ) {
    await page.waitForTimeout(500);
    const png = await page.locator("canvas").first().screenshot();
    writeFileSync(file, png);
    found = await vivid(blank, png);
  }
  console.log(`Chromium ${version}: ${found} vivid pixels in ${file}`);
  problems.forEach((problem) => console.error(problem));
  process.exitCode = found >= MIN_VIVID && problems.length === 0 ? 0 : 1;
});
