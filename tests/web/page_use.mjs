// The page of web/ in Chromium: mouse, touch, keys, labels, and a reader that asks for less motion.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

import { armAsGlb } from "./arm.mjs";
import { LIMIT, PHONE, WIDE, at, give, hold, reasonToSkip, slide, textOf, withBarePage, withPosse } from "./posse_page.mjs";

const skip = reasonToSkip();

const picture = (page) => page.locator("#picture").screenshot();

/// The picture of a held crowd, once nothing moves any more.
async function quietPicture(page) {
  for (let last = await picture(page); ; ) {
    await page.waitForTimeout(300);
    const next = await picture(page);
    if (next.equals(last)) return next;
    last = next;
  }
}

/// Asserts that an act changes the picture of a held crowd.
async function assertMoves(page, name, act) {
  const before = await quietPicture(page);
  await act();
  for (let look = 0; look < 100; look++) {
    if (!(await picture(page)).equals(before)) return;
    await page.waitForTimeout(100);
  }
  assert.fail(`${name} does not move the camera`);
}

test("mouse, keys and touch move the camera", { skip, timeout: LIMIT }, async () => {
  await withPosse(async (page, { address }) => {
    await slide(page, "instances", 0.5);
    await hold(page, 0.25);
    // The controls are below the picture on a narrow page.
    await page.locator("#picture").scrollIntoViewIfNeeded();
    const { x, y, width, height } = await page.locator("#picture").boundingBox();
    const middle = [x + width / 2, y + height / 2];
    await assertMoves(page, "a drag", async () => {
      await page.mouse.move(...middle);
      await page.mouse.down();
      await page.mouse.move(middle[0] + 60, middle[1] + 20, { steps: 3 });
      await page.mouse.up();
    });
    await assertMoves(page, "the wheel", () => page.mouse.wheel(0, 300));
    await page.locator("#picture").focus();
    for (const key of ["ArrowLeft", "ArrowUp", "+", "-", "0"]) await assertMoves(page, key, () => page.keyboard.press(key));

    const session = await page.context().newCDPSession(page);
    const touch = (type, ...points) =>
      session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
    const beside = (pixels) => [middle[0] + pixels, middle[1]];
    await assertMoves(page, "a finger", async () => {
      await touch("touchStart", middle);
      await touch("touchMove", beside(60));
      await touch("touchEnd");
    });
    await assertMoves(page, "a pinch", async () => {
      await touch("touchStart", beside(-30), beside(30));
      await touch("touchMove", beside(-60), beside(60));
      await touch("touchEnd");
    });
    assert.ok(page.url().startsWith(address));
  }, { viewport: PHONE });
});

test("every control has a name and is reached by the keyboard", { skip, timeout: LIMIT }, async () => {
  await withPosse(async (page) => {
    for (const [role, name] of [
      ["slider", "Characters"], ["combobox", "Clip"], ["combobox", "Second clip"], ["slider", "Share of the second clip"],
      ["slider", "Spread of phases and speeds"], ["slider", "Speed"], ["button", "Pause"], ["button", "Check my GPU"],
      ["button", "Measure my GPU"], ["application", "Picture of the crowd"],
    ]) {
      await page.getByRole(role, { name, exact: true }).waitFor();
    }
    await page.getByLabel("Open a file").waitFor();
    const reached = [];
    for (let press = 0; press < 12; press++) {
      await page.keyboard.press("Tab");
      reached.push(await page.evaluate(() => document.activeElement.id));
      const outline = await page.evaluate(() => {
        const focused = document.activeElement;
        return getComputedStyle(focused.id === "drop" ? focused.parentElement : focused).outlineStyle;
      });
      if (reached.at(-1)) assert.equal(outline, "solid", `the focus of ${reached.at(-1)} shows`);
    }
    const expected = ["picture", "check", "measure", "drop", "instances", "clip", "clip2", "share", "spread", "speed", "play"];
    assert.deepEqual(reached.slice(0, expected.length), expected);
    assert.equal(await at(page, "error").getAttribute("role"), "alert");
    for (const id of ["check-result", "measure-summary"]) assert.equal(await at(page, id).getAttribute("role"), "status");
  });
});

test("less motion: the clock is held at first", { skip, timeout: LIMIT }, async () => {
  await withBarePage((page) => page.emulateMedia({ reducedMotion: "reduce" }), async (page) => {
    await page.evaluate(() => window.posse.ready);
    assert.equal(await page.evaluate(() => window.posse.time), 0);
    assert.equal(await textOf(page, "play"), "Play");
  });
});

test("axe finds nothing", { skip, timeout: LIMIT }, async () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await withPosse(async (page) => {
    await page.evaluate(axe);
    const find = (name) => page.evaluate(async () => {
      const { violations } = await window.axe.run(document);
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(", ")}`);
    }).then((found) => assert.deepEqual(found, [], name));
    await slide(page, "instances", 0);
    await find("the human");
    await give(page, ["arm.glb", armAsGlb()], ["package.json", Buffer.from("{}")]);
    await page.evaluate(() => window.posse.checkAltered(0));
    await page.getByText(/^(pass|fail) /).waitFor();
    await find("a check");
    for (const [size, colorScheme] of [[PHONE, "light"], [PHONE, "dark"]]) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      await find(`a phone, ${colorScheme}`);
    }
    await give(page, ["broken.glb", armAsGlb().subarray(0, 200)]);
    await find("an error");
  }, { viewport: WIDE });
});

test("the policy of the page allows nothing but its own files", { skip, timeout: LIMIT }, async () => {
  await withPosse(async (page, { problems }) => {
    const refused = await page.evaluate(async () => {
      const found = [];
      document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => found.push(effectiveDirective));
      const add = (name, fields) => document.body.append(Object.assign(document.createElement(name), fields));
      add("script", { textContent: "document.title = 'bad'" });
      add("script", { src: "https://posse.invalid/script.js" });
      add("img", { src: "https://posse.invalid/picture.png" });
      add("style", { textContent: "body { display: none }" });
      add("iframe", { src: "https://posse.invalid/" });
      await fetch("https://posse.invalid/").catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 500));
      return { found: [...new Set(found)].sort(), title: document.title };
    });
    assert.deepEqual(refused.found, ["connect-src", "frame-src", "img-src", "script-src-elem", "style-src-elem"]);
    assert.notEqual(refused.title, "bad");
    // These are the reports of what was refused.
    problems.length = 0;
  });
});
