// The entry posse/cpu of the npm package, in Node.js. The truths are three.js' own animation of the same file, the
// command posse, and cases worked out by hand.
//
// The package must have been built, by bindings/web/build or bindings/web/build --cpu; POSSE_WEB_PACKAGE names another
// folder of it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { AnimationMixer, Matrix4 } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import { character } from "../../bindings/web/examples/three/character.js";
import { installed } from "./installed.mjs";
import { rig } from "./rig.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const PACKAGE = resolve(process.env.POSSE_WEB_PACKAGE ?? join(HERE, "../../bindings/web/pkg"));
const COMMAND = process.env.POSSE_BIN;
/// Rounding of f32 over a few joints of a few metres.
const BOUND = 1e-5;
const TIMES = [0, 0.4, 1.3, 7.77];

function reasonToSkip() {
  if (existsSync(join(PACKAGE, "cpu_bg.wasm"))) return false;
  process.stderr.write("SKIPPED: the entry posse/cpu, which needs the package that bindings/web/build makes\n");
  return "bindings/web/build has not run";
}

const skip = reasonToSkip();
const posse = skip || (await import(join(PACKAGE, "cpu_node.js")));
const { memory, __wbindgen_malloc: take, __wbindgen_free: give } = skip || (await posse.default());
const { Crowd, Library } = posse;

/// A glTF file of one node, with a key of each value at 0 s and at 1 s.
function lift(path, from, to) {
  const numbers = Buffer.from(new Float32Array([0, 1, ...from, ...to]).buffer);
  const views = [[0, 8], [8, numbers.length - 8]].map(([byteOffset, byteLength]) => ({ buffer: 0, byteOffset, byteLength }));
  const type = { translation: "VEC3", rotation: "VEC4", weights: "SCALAR" }[path];
  const position = { componentType: 5126, count: 1, type: "VEC3" };
  const document = {
    asset: { version: "2.0" },
    nodes: [{ name: "lift", ...(path === "weights" && { mesh: 0 }) }],
    ...(path === "weights" && { meshes: [{ primitives: [{ attributes: {}, targets: [{ POSITION: 2 }] }] }] }),
    buffers: [{ byteLength: numbers.length, uri: `data:;base64,${numbers.toString("base64")}` }],
    bufferViews: views,
    accessors: [
      { bufferView: 0, componentType: 5126, count: 2, type: "SCALAR" },
      { bufferView: 1, componentType: 5126, count: 2, type },
      position,
    ],
    animations: [{ name: "rise", samplers: [{ input: 0, output: 1 }], channels: [{ sampler: 0, target: { node: 0, path } }] }],
  };
  return Buffer.from(JSON.stringify(document));
}

function assertClose(actual, expected, what) {
  assert.equal(actual.length, expected.length, what);
  const worst = Math.max(...Array.from(actual, (number, at) => Math.abs(number - expected[at])));
  assert.ok(worst < BOUND, `${what}: off by ${worst}: ${Array.from(actual).slice(0, 16)}`);
}

/// The skin matrices of a file by three.js, as posse lays them out, for a clip at a time.
async function threePoser(bytes) {
  const gltf = await new GLTFLoader().parseAsync(bytes, "");
  let skinned;
  gltf.scene.traverse((found) => (skinned = found.isSkinnedMesh ? found : skinned));
  const mixer = new AnimationMixer(gltf.scene);
  return (clip, time) => {
    // Brings joints that the next clip does not move back to rest.
    mixer.stopAllAction();
    mixer.clipAction(gltf.animations[clip]).play();
    mixer.setTime(time);
    gltf.scene.updateMatrixWorld(true);
    return skinned.skeleton.bones.flatMap((bone, joint) => {
      const { elements } = new Matrix4().multiplyMatrices(bone.matrixWorld, skinned.skeleton.boneInverses[joint]);
      return [0, 1, 2].flatMap((row) => [0, 1, 2, 3].map((column) => elements[4 * column + row]));
    });
  };
}

test("skin matrices are those of three.js, in the order of the instances", { skip }, async (t) => {
  const bytes = character();
  const library = Library.load("character.glb", bytes.buffer);
  const durations = library.clips.map((clip) => clip.duration);
  const start = (instance) => ((instance * 0.618034) % 1) * durations[instance % 2];
  const instances = Array.from({ length: 50 }, (_, instance) => [{ clip: instance % 2, start: start(instance) }]);
  const crowd = Crowd.create(library, instances);
  const pose = await threePoser(bytes.buffer);
  let [worst, other] = [0, 0];
  for (const time of TIMES) {
    crowd.pose(time);
    const numbers = crowd.skinBuffer().slice();
    const stride = crowd.skinStride / 4;
    assert.equal(numbers.length, 50 * stride);
    for (let instance = 0; instance < 50; instance++) {
      const own = numbers.subarray(instance * stride, (instance + 1) * stride);
      const distance = (expected) => Math.max(...expected.map((number, at) => Math.abs(number - own[at])));
      worst = Math.max(worst, distance(pose(instance % 2, start(instance) + time)));
      other = Math.max(other, distance(pose(instance % 2, start(instance) + time + 0.01)));
    }
  }
  t.diagnostic(`the worst difference of a number of a matrix: ${worst.toExponential(1)}`);
  assert.ok(worst < BOUND, `${worst}`);
  assert.ok(other > 1e-3, "poses of another time differ");
  [crowd, library].forEach((object) => object.free());
});

test("joint matrices are those of the command's reference", { skip }, (t) => {
  if (!COMMAND) {
    process.stderr.write("SKIPPED: poses of the CPU entry beside those of the command posse, which is not built; POSSE_BIN names it\n");
    return t.skip("the command posse is not built");
  }
  const folder = mkdtempSync(join(tmpdir(), "posse-cpu-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "character.glb");
  writeFileSync(file, character());
  const library = Library.load("character.glb", character());
  for (const clip of ["walk", "wave"]) {
    const crowd = Crowd.create(library, [[{ clip }]], { model: true });
    const args = ["eval", file, "--engine", "reference", "--clip", clip, "--times", "0,0.3,0.9", "--format", "json"];
    for (const { time, nodes } of JSON.parse(execFileSync(COMMAND, args, { stdio: ["ignore", "pipe", "ignore"] })).samples) {
      const { model, skin } = crowd.readPose(0, time);
      library.joints(0).forEach(({ node }, joint) => {
        assertClose(model.subarray(16 * joint, 16 * (joint + 1)), nodes[node].world, `${clip} at ${time}, joint ${joint}`);
        assertClose(crowd.joint(0, joint, time), nodes[node].world, `${clip} at ${time}, joint ${joint} alone`);
      });
      assert.equal(skin.length, 16 * 11);
    }
    crowd.free();
  }
});

test("poses worked out by hand", { skip }, () => {
  const half = Math.SQRT1_2;
  // A quarter of a rotation by 90 degrees about z.
  const [sine, cosine] = [Math.sin(Math.PI / 8), Math.cos(Math.PI / 8)];
  const turning = Library.load("lift.gltf", lift("rotation", [0, 0, 0, 1], [0, 0, half, half]));
  const crowd = Crowd.create(turning, [[{ clip: "rise", at: 0.25 }], []], { model: true, local: true, skin: false });
  crowd.pose(0);
  const [{ instances, model, local, skin, modelStride, localStride }] = crowd.buffers;
  assert.deepEqual([skin, modelStride, localStride], [null, 48, 48]);
  const [moved, rest] = [0, 1].map((instance) => instances.indexOf(instance));
  assertClose(model.subarray(12 * moved, 12 * moved + 12), [cosine, -sine, 0, 0, sine, cosine, 0, 0, 0, 0, 1, 0], "rows");
  assertClose(model.subarray(12 * rest, 12 * rest + 12), [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0], "rows at rest");
  const [sineOfHalf, cosineOfHalf] = [Math.sin(Math.PI / 16), Math.cos(Math.PI / 16)];
  const expected = [0, 0, 0, 0, 0, 0, sineOfHalf, cosineOfHalf, 1, 1, 1, 0];
  assertClose(local.subarray(12 * moved, 12 * moved + 12), expected, "transform");
  assertClose(crowd.joint(0, 0, 0), [cosine, sine, 0, 0, -sine, cosine, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], "columns");

  // A loop of 1 s: at 2.75 s it is at 0.75 s. A clip at twice the speed passes 5.5 s.
  const morphing = Library.load("lift.gltf", lift("weights", [0], [1]));
  const faces = Crowd.create(morphing, [[{ clip: 0 }], [{ clip: 0, speed: 2 }]], { weights: true, skin: false });
  faces.pose(2.75);
  const [{ values }] = faces.buffers;
  assertClose(values.toSorted(), [0.5, 0.75], "morph weights");

  // Weights of 1 and 3: a quarter of 2 m and three quarters of 2 m in the other direction.
  const lifts = Library.load("lift.gltf", lift("translation", [0, 2, 0], [0, -2, 0]));
  const mixed = Crowd.create(lifts, [[{ clip: 0, at: 0 }]], { model: true });
  const height = () => (mixed.pose(0), mixed.buffers[0].model[7]);
  assert.equal(height(), 2);
  mixed.setLayers(0, [{ clip: 0, at: 0, weight: 1 }, { clip: 0, at: 1, weight: 3 }]);
  assert.equal(mixed.buffers[0].model[7], 2, "the last pose stays until the next one");
  assert.ok(Math.abs(height() + 1) < BOUND, `${height()}`);
  mixed.setLayers(0, []);
  assert.equal(height(), 0);
  [crowd, turning, faces, morphing, mixed, lifts].forEach((object) => object.free());
});

test("instances that mix stand apart in buffers, and in order in the skin buffer", { skip }, () => {
  const library = Library.load("character.glb", character());
  const single = (instance) => [{ clip: "walk", phase: instance / 8 }];
  const instances = Array.from({ length: 8 }, (_, instance) => [...single(instance), ...(instance % 2 ? [{ clip: "wave" }] : [])]);
  const crowd = Crowd.create(library, instances);
  crowd.pose(0.2);
  const { buffers } = crowd;
  assert.deepEqual(buffers.map(({ instances }) => [...instances].sort()), [[0, 2, 4, 6], [1, 3, 5, 7]]);
  const all = crowd.skinBuffer();
  const stride = crowd.skinStride / 4;
  for (const { instances, skin, skinStride } of crowd.buffers) {
    assert.equal(skinStride, 4 * stride);
    instances.forEach((instance, slot) => {
      const own = skin.subarray(slot * stride, (slot + 1) * stride);
      assert.deepEqual(all.subarray(instance * stride, (instance + 1) * stride), own, `instance ${instance}`);
    });
  }
  // A single instance is not copied.
  const one = Crowd.create(library, [single(1)]);
  one.pose(0.2);
  assert.equal(one.skinBuffer().byteOffset, one.buffers[0].skin.byteOffset);
  [crowd, one, library].forEach((object) => object.free());
});

test("buffers are views of the memory after it has grown for them", { skip }, () => {
  const [library, count] = [Library.load("lift.gltf", lift("translation", [0, 1, 0], [0, 1, 0])), 50_000];
  const crowd = Crowd.spread(library, { count, clip: 0 }, { model: true, skin: false });
  crowd.pose(0);
  // No place is left for the list of instances, 4 bytes each.
  const [full, taken] = [memory.buffer, []];
  while (memory.buffer === full) taken.push(take(4 * count, 4));
  // The memory grows by whole pages, in which there may be a place once more.
  let grown = false;
  for (let turn = 0; turn < 8 && !grown; turn += 1) {
    const before = memory.buffer;
    const [{ instances, model }] = crowd.buffers;
    grown = memory.buffer !== before;
    assert.deepEqual([instances.length, model.length, model[12 * (count - 1) + 7]], [count, 12 * count, 1]);
    taken.push(take(4 * count, 4));
  }
  assert.ok(grown, "the memory has grown");
  taken.forEach((place) => give(place, 4 * count, 4));
  [crowd, library].forEach((object) => object.free());
});

test("instances that are hidden keep their skin matrices", { skip }, () => {
  const library = Library.load("character.glb", character());
  const crowd = Crowd.create(library, Array.from({ length: 4 }, (_, instance) => [{ clip: "walk", phase: instance / 4 }]));
  const stride = crowd.skinStride / 4;
  const pose = (time) => (crowd.pose(time), [0, 1, 2, 3].map((instance) => crowd.skinBuffer().slice(instance * stride, (instance + 1) * stride)));
  const first = pose(0.1);
  crowd.setVisible([3, 1]);
  const second = pose(0.2);
  assert.deepEqual([...crowd.buffers[0].instances].sort(), [1, 3]);
  crowd.setVisible([0]);
  const third = pose(0.3);
  crowd.setVisible();
  const all = pose(0.3);
  for (const [instance, seen] of [[0, [first, first, all]], [1, [first, second, second]], [2, [first, first, first]], [3, [first, second, second]]]) {
    [first, second, third].forEach((found, frame) => assert.deepEqual(found[instance], seen[frame][instance], `${instance}, frame ${frame}`));
  }
  assert.notDeepEqual(second[1], first[1]);
  crowd.setVisible([]);
  crowd.pose(0.4);
  assert.equal(crowd.skinStride, 4 * stride);
  // The outputs can still be seen.
  const [{ instances, skin, skinStride, model }] = crowd.buffers;
  assert.deepEqual([instances.length, skin.length, skinStride, model], [0, 0, 4 * stride, null]);
  [crowd, library].forEach((object) => object.free());
});

test("changes within the capacity are made in place, others pack the crowd anew", { skip }, () => {
  const library = Library.load("character.glb", character());
  const chain = library.chain(0, { aim: 1, forward: [0, 1, 0] });
  const layers = Array.from({ length: 20 }, () => [{ clip: "walk" }]);
  const changes = {
    layers: (crowd) => crowd.setLayers([3, 4], [{ clip: "walk" }, { clip: "wave", weight: 0.5 }]),
    "a cross fade": (crowd) => crowd.crossFade(5, { clip: "wave" }, { start: 1, length: 1 }),
    transitions: (crowd) => crowd.transition([6, 7], [{ clip: "walk" }, { clip: "wave" }], { start: 1 }),
    goals: (crowd) => crowd.setGoals([8, 9], [{ chain, target: [0, 1, 2] }]),
  };
  for (const [name, change] of Object.entries(changes)) {
    const [fitting, narrow] = [{ layers: 2, goals: 1 }, {}].map((options) => Crowd.create(library, layers, { model: true }, options));
    const isInPlace = [fitting, narrow].map((crowd) => {
      const place = () => (crowd.pose(1.5), crowd.buffers.map(({ model }) => model.byteOffset));
      const before = place();
      change(crowd);
      const after = place();
      return before.length === after.length && before.every((address, batch) => address === after[batch]);
    });
    assert.deepEqual(isInPlace, [true, false], name);
    for (let instance = 0; instance < 20; instance++) {
      const [one, other] = [fitting, narrow].map((crowd) => {
        const { instances, model, modelStride } = crowd.buffers.find(({ instances }) => instances.includes(instance));
        // A copy, because the buffers of the other crowd may move the memory.
        return model.slice((instances.indexOf(instance) * modelStride) / 4, ((instances.indexOf(instance) + 1) * modelStride) / 4);
      });
      assertClose(one, other, `${name}, instance ${instance}`);
    }
    [fitting, narrow].forEach((crowd) => crowd.free());
  }
  library.free();
});

test("a spread crowd, masks, clips and joints", { skip }, () => {
  const library = Library.demo();
  assert.equal(library.skeletons, 1);
  const names = library.joints(0).map(({ name }) => name);
  const head = library.joint(0, "head");
  assert.equal(names[head], "head");
  const mask = library.mask(0, { head: 1 });
  const walk = library.clips.findIndex(({ name }) => name === "walk");
  const crowd = Crowd.spread(library, { count: 100, clip: "walk", spread: 1 }, { model: true });
  assert.deepEqual([crowd.count, crowd.joints], [100, 100 * names.length]);
  const height = crowd.joint(0, head, 0.3)[13];
  assert.ok(height > 1.4 && height < 1.9, `the head of the built-in human is ${height} m above the ground`);
  crowd.setLayers(0, [{ clip: walk }, { clip: walk, at: 0, mode: "override", mask }]);
  crowd.pose(0.3);
  // Instance 0 has the phase 0 and the given speed.
  const other = { count: 100, clip: "idle", speed: 2, spread: 1 };
  assert.equal(crowd.respread(other), true);
  const alone = Crowd.create(library, [[{ clip: "idle", speed: 2 }]]);
  assertClose(crowd.joint(0, head, 0.4), alone.joint(0, head, 0.4), "another spread");
  crowd.pose(0.4);
  const { instances, model, modelStride } = crowd.buffers.find(({ instances }) => instances.includes(0));
  const raised = model[(instances.indexOf(0) * modelStride) / 4 + 12 * head + 7];
  assert.ok(Math.abs(raised - alone.joint(0, head, 0.4)[13]) < BOUND, `${raised}`);
  assert.equal(crowd.respread({ ...other, count: 99 }), false);
  alone.free();
  crowd.free();
  library.free();
});

test("events are those worked out by hand", { skip }, () => {
  const at = (y) => ({ __type__: "cc.Vec3", x: 0, y, z: 0 });
  const steps = {
    __type__: "cc.AnimationClip", _name: "steps", _duration: 1, sample: 60, speed: 1, wrapMode: 2,
    events: [{ frame: 0.25, func: "left", params: ["heel", 2] }, { frame: 0.75, func: "right" }],
    _keys: [[0, 1]],
    curveDatas: { "/foot": { props: { position: { keys: 0, values: [at(0), at(1)] } } } },
  };
  const library = Library.load("steps.anim", new TextEncoder().encode(JSON.stringify(steps)));
  const crowd = Crowd.create(library, [[{ clip: 0 }], [{ clip: "steps", speed: 2 }], []]);
  const names = ({ events }) => events.map(({ instance, function: name }) => `${instance} ${name}`);
  const all = ["1 left", "0 left", "1 right", "1 left", "0 right", "1 right"];
  const first = crowd.events(0, 1);
  assert.deepEqual(names(first), all);
  assert.ok(Math.abs(first.events[1].time - 0.25) < 1e-8);
  assert.deepEqual(first.events[1].parameters, ["heel", "2"]);
  const full = crowd.events(0, 1, 4);
  assert.deepEqual([full.events.length, full.missed], [4, 2]);
  crowd.setLayers(0, []);
  assert.deepEqual(names(crowd.events(0, 1)), ["1 left", "1 right", "1 left", "1 right"], "before the next pose, too");
  crowd.free();
  library.free();
});

test("arguments that are wrong are refused by name", { skip }, () => {
  const library = Library.load("character.glb", character());
  const crowd = Crowd.create(library, [[{ clip: 0 }], [{ clip: 1 }]]);
  const whole = "expected a whole number from 0 on";
  // As poses are after the memory has grown.
  const detached = new Float32Array(4);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });
  for (const [call, message] of [
    [() => crowd.joint(-1, 0, 0), `instance: found -1, ${whole}`],
    [() => crowd.joint(Number.NaN, 0, 0), `instance: found NaN, ${whole}`],
    [() => crowd.joint(0, 0.5, 0), `joint: found 0.5, ${whole}`],
    [() => crowd.joint(2, 0, 0), "there is no instance 2: there are 2, from 0 on"],
    [() => crowd.setLayers(undefined, []), "instance: found undefined, expected a number, or an array of numbers"],
    [() => crowd.setLayers(0, [{ clip: 0, at: Number.NaN }]), "layers[0].at: found NaN, expected a finite number"],
    [() => library.joints(-3), `skeleton: found -3, ${whole}`],
    [() => library.joint(1, "head"), "there is no skeleton 1: there are 1, from 0 on"],
    [() => crowd.events(0, 1, -1), `capacity: found -1, ${whole}`],
    [() => crowd.pose(Number.NaN), /^time: NaN is not a time/],
    [() => crowd.setLayers(0, [{ clip: "run" }]), /run/],
    [() => crowd.setLayers(0, [{ clip: 0, speed: "fast" }]), /^layers\[0\]\.speed: /],
    [() => Crowd.create(library, [[{ clip: 0, sped: 1 }]]), /^instances\[0\]\[0\].*unknown field `sped`/],
    [() => Crowd.create({}, []), "expected instance of Library"],
    [() => Library.load("a.glb", "text"), "bytes: found string, expected an ArrayBuffer or a Uint8Array"],
    [() => Library.load("a.glb", undefined), "bytes: found undefined, expected an ArrayBuffer or a Uint8Array"],
    [() => Library.load("a.glb", detached.buffer), "bytes: found a detached ArrayBuffer, expected an ArrayBuffer or a Uint8Array"],
    [() => Library.load("a.glb", detached), /^bytes: found a detached Float32Array, /],
    [() => crowd.setVisible(detached), "instance: found a detached Float32Array, expected a number, or an array of numbers"],
    [() => Library.load("a.glb", Promise.resolve()), "bytes: found Promise, expected an ArrayBuffer or a Uint8Array"],
    [() => Library.load("a.gltf", lift("translation", [0, 0, 0], [0, 0, 0]), { "a.bin": [1] }), /^files\["a\.bin"\]: found Array/],
    [() => Crowd.create(library, [[]], { skin: false }).skinBuffer(), "the crowd has no skin matrices; create it with { skin: true }"],
  ]) {
    assert.throws(call, { name: "Error", message }, `${call}`);
  }
  // The crowd is as it was.
  crowd.pose(0.1);
  crowd.free();
  library.free();
});

test("bytes come from any kind of buffer", { skip }, () => {
  const file = lift("translation", [0, 0, 0], [0, 1, 0]);
  // A view in the middle of a larger buffer.
  const larger = new Uint8Array(file.length + 64);
  larger.set(file, 32);
  const shared = new SharedArrayBuffer(file.length);
  new Uint8Array(shared).set(file);
  const exact = larger.slice(32, 32 + file.length);
  for (const bytes of [
    file, exact, exact.buffer, larger.subarray(32, 32 + file.length), new DataView(larger.buffer, 32, file.length), shared,
    new Uint8Array(shared),
  ]) {
    assert.equal(Library.load("lift.gltf", bytes).clips[0].name, "rise");
  }
});

test("an object that was freed says so, and can be freed again", { skip }, () => {
  const library = Library.load("character.glb", character());
  const crowd = Crowd.create(library, [[{ clip: 0 }]]);
  library.free();
  crowd.pose(0.5);
  assert.ok(crowd.skinBuffer().some((number) => number !== 0), "a crowd keeps what it needs of its library");
  crowd.free();
  for (const call of [() => crowd.pose(0), () => crowd.count, () => crowd.buffers]) {
    assert.throws(call, { name: "Error", message: "this Crowd was freed; create another one" });
  }
  for (const call of [() => library.clips, () => Crowd.create(library, [])]) {
    assert.throws(call, { name: "Error", message: "this Library was freed; create another one" });
  }
  [crowd, library].forEach((object) => object.free());
  if (Symbol.dispose) crowd[Symbol.dispose]();
});

test("memory does not grow with frames, changes and crowds", { skip }, () => {
  const library = Library.load("character.glb", character());
  const frame = (crowd, index) => {
    crowd.setLayers(index % 100, [{ clip: index % 2 }]);
    crowd.pose(index / 60);
    crowd.skinBuffer();
  };
  const round = () => {
    const crowd = Crowd.spread(library, { count: 100, clip: 0, spread: 1 });
    for (let index = 0; index < 100; index++) frame(crowd, index);
    crowd.free();
  };
  for (let index = 0; index < 5; index++) round();
  const before = memory.buffer.byteLength;
  for (let index = 0; index < 20; index++) round();
  assert.equal(memory.buffer.byteLength, before);
  library.free();
});

test("1,000 characters of 19 joints are posed faster than by three.js", { skip }, async (t) => {
  const [count, bytes] = [1000, rig(19, 30)];
  const library = Library.load("rig.glb", bytes);
  const crowd = Crowd.spread(library, { count, clip: 0, spread: 1 });
  const gltf = await new GLTFLoader().parseAsync(bytes.buffer, "");
  const { clone } = await import("three/addons/utils/SkeletonUtils.js");
  const figures = Array.from({ length: count }, (_, instance) => {
    const scene = clone(gltf.scene);
    const mixer = new AnimationMixer(scene);
    mixer.clipAction(gltf.animations[0]).play();
    mixer.setTime(instance / count);
    let skinned;
    scene.traverse((found) => (skinned = found.isSkinnedMesh ? found : skinned));
    return { scene, mixer, skeleton: skinned.skeleton };
  });
  const frames = {
    posse: (frame) => {
      crowd.pose(frame / 60);
      crowd.skinBuffer();
    },
    three: () => {
      for (const { scene, mixer, skeleton } of figures) {
        mixer.update(1 / 60);
        scene.updateMatrixWorld();
        skeleton.update();
      }
    },
  };
  const times = { posse: [], three: [] };
  for (let frame = 0; frame < 60; frame++) {
    for (const [name, work] of Object.entries(frames)) {
      const began = performance.now();
      work(frame);
      times[name].push(performance.now() - began);
    }
  }
  const median = (times) => times.toSorted((a, b) => a - b)[times.length / 2];
  const [own, other] = [median(times.posse), median(times.three)];
  t.diagnostic(`${own.toFixed(2)} ms by posse, ${other.toFixed(2)} ms by three.js' mixers`);
  assert.ok(own < other / 2, `${own} ms, ${other} ms`);
  crowd.free();
  library.free();
});

test("an installed package is found by its entries", { skip }, (t) => {
  const folder = installed(t, PACKAGE);
  const program = `import init, { Crowd, Library } from "posse/cpu";
    await init();
    console.log(Crowd.create(Library.demo(), [[{ clip: "walk" }], []]).count);`;
  writeFileSync(join(folder, "program.js"), program);
  assert.equal(execFileSync(process.execPath, ["program.js"], { cwd: folder, encoding: "utf8" }), "2\n");
});

test("types hold with skipLibCheck: false, with and without types of the browser", { skip }, (t) => {
  const folder = installed(t, PACKAGE);
  // Apart, because the compiler reads all types of a project, and those of three.js need those of the browser.
  const folderWithThree = installed(t, PACKAGE, "three", "@types/three");
  const compiler = join(HERE, "node_modules/typescript/bin/tsc");
  const check = (cwd, ...options) => {
    const args = [compiler, "--noEmit", "--strict", "--skipLibCheck", "false", "--module", "nodenext", "--target", "es2022"];
    execFileSync(process.execPath, [...args, ...options], { cwd, encoding: "utf8", stdio: "pipe" });
  };
  writeFileSync(join(folder, "cpu.ts"), `import init, { Crowd, Library, type CrowdBuffers, type LayerOptions } from "posse/cpu";
    await init();
    const library = Library.load("a.glb", new ArrayBuffer(8), { "a.bin": new Uint8Array(2) });
    const layers: LayerOptions[] = [{ clip: "walk", fadeIn: { start: 0, length: 1 } }];
    using crowd = Crowd.create(library, [layers], { skin: true });
    crowd.pose(0.5);
    export const skin: Float32Array = crowd.skinBuffer();
    export const buffers: CrowdBuffers[] = crowd.buffers;
    export const joint: number = library.joint(0, library.joints(0)[0].name ?? "#0");
    const run = library.knots([[0, 0], [4, 1]]);
    const foot = library.chain(0, { joints: ["hip", "knee", 7], pole: [0, 0, 1] });
    const moving = Crowd.create(library, [[{ clip: "walk", weight: { parameter: "speed", knots: run } }]], { rootMotion: true }, { parameters: ["speed"] });
    moving.setParameters(0, new Float32Array([2]));
    moving.setGoals([0], [{ chain: foot, target: [0, 0.1, 0], weight: { parameter: "speed" } }]);
    moving.transition(0, [{ clip: "run", start: [0.5] }], { start: 1, kind: "dead", seconds: 0.3 });
    moving.pose(1.1, 1);
    export const moved: Float32Array = moving.rootMotions().translations;
    // @ts-expect-error: a clip is a number or a name.
    Crowd.create(library, [[{ clip: true }]]);
    library.free();`);
  writeFileSync(join(folder, "auto.ts"), `import { open } from "posse/auto";
    const posse = await open({ powerPreference: "high-performance" });
    if (posse.engine === "gpu") (await posse.Crowd.create(posse.gpu, posse.Library.demo(), [[]])).pose(0);
    else posse.Crowd.create(posse.Library.demo(), [[]]).pose(0);`);
  writeFileSync(join(folderWithThree, "three.ts"), `import { Crowd, Gpu, Library } from "posse";
    import { PosseCrowd } from "posse/three";
    import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
    import { Matrix4 } from "three/webgpu";
    const gpu = await Gpu.open();
    const bytes = new ArrayBuffer(8);
    const library = Library.load("hero.glb", bytes);
    const poses = await Crowd.spread(gpu, library, { count: 2, clip: 0 });
    const crowd = new PosseCrowd(await new GLTFLoader().parseAsync(bytes, ""), library, poses, gpu.device);
    crowd.setMatrixAt(0, new Matrix4());
    // @ts-expect-error: an instance is a number.
    crowd.setVisibleAt("0", true);`);
  try {
    check(folder, "--lib", "es2022,esnext.disposable", "cpu.ts");
    check(folder, "--lib", "es2022,dom", "auto.ts");
    check(folderWithThree, "--lib", "es2022,dom", "three.ts");
  } catch (error) {
    assert.fail(error.stdout);
  }
});
