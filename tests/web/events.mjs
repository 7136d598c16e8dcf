// Events of the npm package in Chromium, listed by the GPU, worked out by hand.

import assert from "node:assert/strict";
import { test } from "node:test";

import { withPage } from "./browser.mjs";
import { LIMIT, PACKAGE, reasonToSkip } from "./posse_page.mjs";

const skip = reasonToSkip();

const at = (y) => ({ __type__: "cc.Vec3", x: 0, y, z: 0 });

/// A clip of 1 s with two events, of a node that rises.
const STEPS = {
  __type__: "cc.AnimationClip",
  _name: "steps",
  _duration: 1,
  sample: 60,
  speed: 1,
  wrapMode: 2,
  events: [{ frame: 0.25, func: "left", params: ["heel", 2] }, { frame: 0.75, func: "right" }],
  _keys: [[0, 1]],
  curveDatas: { "/foot": { props: { position: { keys: 0, values: [at(0), at(1)] } } } },
};

test("events are those worked out by hand", { skip, timeout: LIMIT }, async () => {
  await withPage({ "/": PACKAGE }, async ({ page, address, problems }) => {
    await page.goto(`${address}/package.json`);
    const found = await page.evaluate(async (clip) => {
      const { default: init, Gpu, Library, Crowd } = await import("/posse.js");
      await init();
      const gpu = await Gpu.open();
      const library = Library.load("steps.anim", new TextEncoder().encode(JSON.stringify(clip)));
      const crowd = await Crowd.create(gpu, library, [[{ clip: 0 }], [{ clip: "steps", speed: 2 }], []]);
      const brief = ({ events, missed }) => [events.map(({ time, instance, function: name }) => [time, instance, name]), missed];
      const first = await crowd.events(0, 1);
      const answers = {
        events: library.clips[0].events,
        whole: first.events[1],
        first: brief(first),
        next: brief(await crowd.events(1, 1.3)),
        none: brief(await crowd.events(1, 1)),
        full: brief(await crowd.events(0, 1, 4)),
        fault: await crowd.events(Number.NaN, 1).catch((error) => error.message),
      };
      crowd.setLayers(0, []);
      answers.left = brief(await crowd.events(0, 1));
      for (const object of [crowd, library, gpu]) object.free();
      return answers;
    }, STEPS);
    const close = ([events, missed], expected, what, expectedMissed = 0) => {
      assert.deepEqual(events.map(([, ...rest]) => rest), expected.map(([, ...rest]) => rest), what);
      // A tick is shorter than three nanoseconds.
      events.forEach(([time], index) => assert.ok(Math.abs(time - expected[index][0]) < 1e-8, `${what}: ${time}`));
      assert.equal(missed, expectedMissed, what);
    };
    // Instance 1 plays at twice the speed, so that it passes the clip twice a second.
    const fast = [[0.125, 1, "left"], [0.375, 1, "right"], [0.625, 1, "left"], [0.875, 1, "right"]];
    const all = [fast[0], [0.25, 0, "left"], fast[1], fast[2], [0.75, 0, "right"], fast[3]];
    assert.equal(found.events, 2);
    assert.deepEqual({ ...found.whole, time: 0 }, {
      time: 0, instance: 0, layer: 0, event: 0, clip: 0, function: "left", parameters: ["heel", "2"],
    });
    close(found.first, all, "the first second");
    close(found.next, [[1.125, 1, "left"], [1.25, 0, "left"]], "the next 0.3 s");
    close(found.none, [], "no time");
    close(found.left, fast, "without layers");
    assert.deepEqual([found.full[0].length, found.full[1]], [4, 2], "room for four");
    assert.match(found.fault, /^from: NaN/);
    assert.deepEqual(problems, []);
  });
});
