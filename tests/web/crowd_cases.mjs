// What a crowd of the npm package does, worked out by hand, for both entries: `crowd.mjs` runs it in Node.js with the
// CPU entry, and in a page with the GPU entry.

/// Rounding of f32 over numbers of a few units.
const BOUND = 1e-5;

/// The bytes of a glTF file of the nodes "base", "arm" and "hand", each 1 above the one before, and a node "frame",
/// rotated by -90 degrees about x and twice as large, with the child "hip". Clips move "base" or "hip" between two keys.
export function rig() {
  const half = Math.SQRT1_2;
  const nodes = [
    { name: "base", children: [1] },
    { name: "arm", translation: [0, 1, 0], children: [2] },
    { name: "hand", translation: [0, 1, 0] },
    { name: "frame", rotation: [-half, 0, 0, half], scale: [2, 2, 2], children: [4] },
    { name: "hip" },
  ];
  const clips = [
    ["low", 0, 1, [0, 0, 0], [0, 0, 0]],
    ["high", 0, 1, [0, 2, 0], [0, 2, 0]],
    ["deep", 0, 1, [0, -4, 0], [0, -4, 0]],
    ["rise", 0, 1, [0, 0, 0], [0, 1, 0]],
    ["climb", 0, 2, [0, 0, 0], [0, 10, 0]],
    ["go", 0, 1, [0, 0, 0], [0, 0, 3]],
    ["crawl", 4, 1, [0, 0, 0], [0, -3, 0]],
  ];
  const numbers = new Float32Array(clips.flatMap(([, , end, from, to]) => [0, end, ...from, ...to]));
  const view = (clip, first, count) => ({ buffer: 0, byteOffset: 4 * (8 * clip + first), byteLength: 4 * count });
  const document = {
    asset: { version: "2.0" },
    scene: 0,
    scenes: [{ nodes: [0, 3] }],
    nodes,
    buffers: [{ byteLength: numbers.byteLength, uri: `data:;base64,${btoa(String.fromCharCode(...new Uint8Array(numbers.buffer)))}` }],
    bufferViews: clips.flatMap((_, clip) => [view(clip, 0, 2), view(clip, 2, 6)]),
    accessors: clips.flatMap(([, , end], clip) => [
      { bufferView: 2 * clip, componentType: 5126, count: 2, type: "SCALAR", min: [0], max: [end] },
      { bufferView: 2 * clip + 1, componentType: 5126, count: 2, type: "VEC3" },
    ]),
    animations: clips.map(([name, node], clip) => ({
      name,
      samplers: [{ input: 2 * clip, output: 2 * clip + 1 }],
      channels: [{ sampler: 0, target: { node, path: "translation" } }],
    })),
  };
  return new TextEncoder().encode(JSON.stringify(document));
}

/// Runs all cases with an entry, and with a device if it is that of the GPU. Returns the number of comparisons, and a
/// text for each that fails.
export async function run({ Crowd, Library }, gpu) {
  const [failures, freed] = [[], []];
  let comparisons = 0;
  const check = (what, found, expected) => {
    comparisons += 1;
    const numbers = [found].flat().map((number) => (ArrayBuffer.isView(number) ? [...number] : number)).flat();
    const wanted = [expected].flat();
    const isRight = numbers.length === wanted.length && numbers.every((number, at) => Math.abs(number - wanted[at]) <= BOUND);
    if (!isRight) failures.push(`${what}: found ${numbers}, expected ${wanted}`);
  };
  const keep = (object) => (freed.push(object), object);
  const library = () => keep(Library.load("rig.gltf", rig()));
  const model = { model: true, skin: false };
  const create = async (of, instances, outputs = model, options = {}) =>
    keep(await (gpu ? Crowd.create(gpu, of, instances, outputs, options) : Crowd.create(of, instances, outputs, options)));

  /// The heights of a joint of all instances, from the buffers of the last pose.
  const heights = async (crowd, joint = 0, column = 7) => {
    const found = [];
    for (const { instances, model, modelStride } of crowd.buffers) {
      const numbers = gpu ? await contents(gpu.device, model) : model;
      instances.forEach((instance, slot) => (found[instance] = numbers[(slot * modelStride) / 4 + 12 * joint + column]));
    }
    return found;
  };
  /// The message of the error of a call.
  const message = async (call) => {
    try {
      await call();
      return "no error";
    } catch (error) {
      return error.message;
    }
  };

  await drivers();
  await transitions();
  await goals();
  await rootMotion();
  await visibility();
  await manyAtOnce();
  await allOrNone();
  await refusals();
  freed.reverse().forEach((object) => object.free());
  return { comparisons, failures };

  async function drivers() {
    const own = library();
    const [falling, rising] = [own.knots([[0, 1], [1, 0]]), own.knots([[0, 0], [1, 1]])];
    const space = own.blendSpace([[0, 0], [1, 0], [0, 1]]);
    const point = (point) => ({ blendSpace: space, parameters: ["x", "y"], point });
    const parameters = ["x", "y", "phase"];
    const crowd = await create(own, [
      [{ clip: "low", weight: { parameter: "x", knots: falling } }, { clip: "high", weight: { parameter: "x", knots: rising } }],
      [{ clip: "low", weight: point(0) }, { clip: "high", weight: point(1) }, { clip: "deep", weight: point(2) }],
      [{ clip: "rise", time: { parameter: "phase" } }],
    ], model, { parameters });
    crowd.pose(0);
    check("parameters begin at 0", await heights(crowd), [0, 0, 0]);
    crowd.setParameters(0, [0.25, 0, 0, 0.25, 0.5, 0, 0, 0, 2.25]);
    // 0.75 of 0 and 0.25 of 2; shares 0.25, 0.25 and 0.5 of 0, 2 and -4; a quarter of the third pass.
    const expected = [0.5, -1.5, 0.25];
    check("a query has the present parameters", await crowd.joint(1, 0, 0), matrix(0, -1.5, 0));
    crowd.pose(0);
    check("parameters", await heights(crowd), expected);
    crowd.setParameters(2, new Float32Array([0, 0, 0.5]));
    crowd.pose(0);
    check("parameters of one instance", await heights(crowd), [0.5, -1.5, 0.5]);
    crowd.setLayers(2, [{ clip: "rise", time: { parameter: "phase" }, wrap: "pingpong" }]);
    crowd.pose(0);
    check("parameters after other layers", await heights(crowd), [0.5, -1.5, 0.5]);

    // Half a pass of the leader is half a pass of a clip of 2 s: the mean of 0.5 and 5.
    const synced = [[{ clip: "rise" }, { clip: "climb", sync: 0 }]];
    const plain = await create(own, synced);
    plain.pose(0.5);
    check("a follower", await heights(plain), [2.75]);
    own.setMarkers("rise", [0, 0.5]);
    own.setMarkers("climb", new Float32Array([0, 0.4]));
    // Half of the way from marker to marker, 0.2 s: the mean of 0.25 and 1. Float32 rounds 0.4.
    const marked = await create(own, synced);
    marked.pose(0.25);
    check("a follower by markers", await heights(marked), [0.625]);
  }

  async function transitions() {
    const own = library();
    const start = 1;
    const crowd = await create(own, [[{ clip: "low" }], [{ clip: "rise", start: -0.5 }], [{ clip: "low" }], [{ clip: "low" }]], model, {
      transitions: 3, layers: 2,
    });
    crowd.pose(start);
    crowd.transition([0, 1], [{ clip: "high" }], { start, halfLife: 0.125 });
    crowd.transition(2, [{ clip: "high" }], { start, kind: "dead", seconds: 1 });
    // A cross fade plays both.
    crowd.setLayers(3, [{ clip: "low" }, { clip: "high", fadeIn: { start, length: 0.5 } }]);
    crowd.pose(start);
    check("a transition begins with the pose before", await heights(crowd), [0, 0.5, 0, 0]);
    // After a half-life, (1 + 2 ln 2) / 4 of the difference are left, and 0.125 s / 4 of the speed, which is 1. After a
    // quarter of its length, a dead transition has 0.0625 (3 - 0.5). The cross fade has weights 1 and 0.25.
    const left = (1 + 2 * Math.LN2) / 4;
    crowd.pose(start + 0.125);
    check("after a half-life", (await heights(crowd)).slice(0, 2), [2 - 2 * left, 2 - 1.5 * left + 0.125 / 4]);
    check("a cross fade", (await heights(crowd))[3], 2 * 0.2);
    crowd.pose(start + 0.25);
    check("a dead transition", (await heights(crowd))[2], 2 * 0.15625);
    check("a query in a transition", (await crowd.joint(2, 0, start + 0.5))[13], 1);
    crowd.pose(start + 5);
    check("after all", await heights(crowd), [2, 2, 2, 1]);
    // A quarter of a smooth ramp is 0.15625, of which the other layer has the rest.
    crowd.setLayers([0, 1], [{ clip: "low" }]);
    crowd.crossFade([0, 1], { clip: ["high", "deep"].map((name) => own.clips.findIndex((clip) => clip.name === name)) }, { start: 8, length: 2 });
    crowd.pose(8.5);
    check("cross fades", (await heights(crowd)).slice(0, 2), [2 * 0.15625, -4 * 0.15625]);
    crowd.pose(10);
    check("after cross fades", (await heights(crowd)).slice(0, 2), [2, -4]);
  }

  async function goals() {
    const own = library();
    const chain = own.chain(0, { joints: ["base", "arm", "hand"], pole: [0, 0, 1] });
    const aim = own.chain(0, { aim: 1, forward: [0, 1, 0] });
    const crowd = await create(own, [[], [], [], []], model, { goals: 1, parameters: ["x", "y", "z"] });
    const hand = 2;
    crowd.setGoals([0], [{ chain, target: [1, 1, 0] }]);
    crowd.setGoals(1, [{ chain: aim, target: [5, 1, 0] }]);
    crowd.setGoals([2, 3], [{ chain, target: { parameters: ["x", "y", "z"] } }]);
    crowd.setParameters(2, [0.5, 1, 0.25, 0, 0.5, 1]);
    crowd.pose(0);
    const places = async () => Promise.all([3, 7, 11].map((column) => heights(crowd, hand, column)));
    // The chain reaches what is nearer than 2. The arm points along x, and the hand is 1 away from it.
    check("goals", await places(), [1, 1, 0.5, 0, 1, 1, 1, 0.5, 0, 0, 0.25, 1]);
    check("a query with goals", (await crowd.joint(3, hand, 0)).slice(12), [0, 0.5, 1, 1]);
    crowd.setGoals(1, []);
    crowd.setGoals(0, [{ chain, target: [1, 1, 0], weight: 0 }]);
    crowd.setParameters(3, [0, 1.5, 0]);
    crowd.pose(0);
    check("goals without weight, and none", await heights(crowd, hand), [2, 2, 1, 1.5]);
  }

  async function rootMotion() {
    const own = library();
    if (!own.setRootMotion("go", { joint: "base" })) failures.push("a track moves the root");
    if (own.setRootMotion("crawl", { joint: "base" })) failures.push("no track moves the root");
    own.setRootMotion("crawl", { joint: "hip" });
    const outputs = { model: true, skin: false, rootMotion: true };
    const crowd = await create(own, [[{ clip: "go" }], [{ clip: "go", speed: 2 }], [], [{ clip: "crawl" }]], outputs, { visible: true });
    crowd.pose(0.5, 0.25);
    const { translations, rotations } = await crowd.rootMotions();
    // 3 per second; twice that; none; 3 along -y of a frame whose y is -z, and which is twice as large.
    check("translations", translations, [0, 0, 0.75, 0, 0, 1.5, 0, 0, 0, 0, 0, 1.5]);
    check("rotations", rotations, [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
    check("the pose stays in place", await heights(crowd, 0, 11), [0, 0, 0, 0]);
    const strides = crowd.buffers.map(({ rootMotionStride }) => rootMotionStride);
    check("strides", strides, strides.map(() => 32));
    crowd.setVisible([0]);
    crowd.pose(1.25, 0.75);
    check("through the end of a clip, visible or not", (await crowd.rootMotions()).translations[5], 3);
    crowd.pose(2);
    check("a time is no step", (await crowd.rootMotions()).translations, new Array(12).fill(0));
    const none = await create(own, [[]]);
    const missing = await message(() => none.rootMotions());
    if (missing !== "the crowd has no root motion; create it with { rootMotion: true }") failures.push(missing);
  }

  async function visibility() {
    const crowd = await create(library(), [[{ clip: "rise" }], [{ clip: "rise" }], [{ clip: "climb" }]], model, { visible: true });
    const seen = [];
    const pose = async (time) => (crowd.pose(time), Object.assign(seen, await heights(crowd)));
    check("all are posed", await pose(0.25), [0.25, 0.25, 1.25]);
    crowd.setVisible(new Uint32Array([2, 0]));
    check("those that are listed are posed", await pose(0.5), [0.5, 0.25, 2.5]);
    crowd.setLayers(1, [{ clip: "high" }]);
    check("others keep their poses", await pose(0.75), [0.75, 0.25, 3.75]);
    crowd.setVisible([]);
    check("none are posed", await pose(0.1), [0.75, 0.25, 3.75]);
    crowd.setVisible();
    check("all are posed again", await pose(0.5), [0.5, 2, 2.5]);
  }

  async function manyAtOnce() {
    const own = library();
    const { clips } = own;
    const clip = (name) => clips.findIndex((clip) => clip.name === name);
    const crowd = await create(own, [[], [], [], []], model, { layers: 2 });
    crowd.setLayers([0, 1, 2, 3], [{ clip: "rise", start: new Float32Array([0, 0.25, 0.5, 0.75]), speed: [1, 1, 1, 0] }]);
    crowd.pose(0.125);
    check("starts and speeds", await heights(crowd), [0.125, 0.375, 0.625, 0.75]);
    crowd.setLayers(new Uint16Array([3, 1]), [{ clip: new Uint8Array([clip("deep"), clip("climb")]), at: [0, 1] }]);
    crowd.pose(0.125);
    check("clips and times", await heights(crowd), [0.125, 5, 0.625, -4]);
    crowd.setLayers([0, 2, 3], [{ clip: "low" }, { clip: "high", weight: [0, 1, 3] }]);
    crowd.pose(0.125);
    check("weights", await heights(crowd), [0, 5, 1, 1.5]);
    const found = await crowd.jointMatrices([3, 0, 1], [2, 1, 0], 0.125);
    check("matrices of joints", found, [...matrix(0, 3.5, 0), ...matrix(0, 1, 0), ...matrix(0, 5, 0)]);
    check("one joint of all", await crowd.jointMatrices(Uint32Array.of(0, 2), 0, 0), [...matrix(0, 0, 0), ...matrix(0, 1, 0)]);
    check("one after another", await crowd.joint(3, 2, 0.125), matrix(0, 3.5, 0));
    check("no matrices", await crowd.jointMatrices([], [], 0), []);
    check("the buffers keep their poses", await heights(crowd), [0, 5, 1, 1.5]);
  }

  async function allOrNone() {
    const own = library();
    const chain = own.chain(0, { joints: ["base", "arm", "hand"], pole: [0, 0, 1] });
    const start = 1;
    const crowd = await create(own, [[{ clip: "low" }], [{ clip: "low" }], [{ clip: "low" }]], model, { transitions: 3, goals: 1 });
    const refused = async (call, expected) => {
      const found = await message(call);
      if (!expected.test(found)) failures.push(`${call}: found "${found}", expected ${expected}`);
    };
    await refused(() => crowd.transition([2, 0, 1], [{ clip: "high", at: [0, 0, 1e39] }], { start }), /^instance 1: the time 1000000000000/);
    await refused(() => crowd.setLayers([2, 0, 1], [{ clip: "high", at: [0, 0, 1e39] }]), /^instance 1: the time 1000000000000/);
    await refused(() => crowd.setGoals([2, 0, 1], [{ chain, target: [1e39, 0, 0] }]), /^instance 2: the target has the number 1000000000000/);
    crowd.pose(start + 5);
    check("what one of several instances refuses, none has", await heights(crowd, 2), [2, 2, 2]);
    crowd.transition([2, 0, 2], [{ clip: "high" }], { start, kind: "dead", seconds: 1 });
    crowd.setGoals([1], [{ chain, target: [0, 1, 1] }]);
    crowd.pose(start + 0.5);
    // Half of the way from 0 to 2 after half of the time, also for the instance that the list has twice.
    check("what all take, all have", await heights(crowd, 2), [3, 1, 3]);
  }

  async function refusals() {
    const own = library();
    const chain = own.chain(0, { joints: ["base", "arm", "hand"] });
    const room = { parameters: ["x"], goals: 1, layers: 2, transitions: 1, visible: true };
    const crowd = await create(own, [[{ clip: "low" }], [{ clip: "high" }]], model, room);
    const layers = (more) => () => crowd.setLayers(0, [{ clip: "low", ...more }]);
    const goal = (more) => () => crowd.setGoals(0, [{ chain, target: [0, 1, 0], ...more }]);
    const transition = (options) => () => crowd.transition(0, [{ clip: "high" }], options);
    for (const [call, expected] of [
      [layers({ at: Number.NaN }), "layers[0].at: found NaN, expected a finite number"],
      [layers({ repeat: Number.POSITIVE_INFINITY }), "layers[0].repeat: found Infinity, expected a finite number"],
      [layers({ start: Number.NEGATIVE_INFINITY }), "layers[0].start: found -Infinity, expected a finite number"],
      [layers({ range: [0, Number.NaN] }), /^layers\[0\]\.range\[1\]: found NaN/],
      [layers({ mask: Number.NaN }), /^layers\[0\]\.mask: found NaN/],
      [layers({ mask: -1 }), "layers[0].mask: found -1, expected a whole number from 0 on"],
      [layers({ weight: Number.NaN }), "layers[0].weight: found NaN, expected a finite number"],
      [layers({ weight: -1 }), "layers[0].weight: found -1, expected 0 or more"],
      [layers({ weight: 1e39 }), /^instance 0: the weight 1000000000000/],
      [layers({ speed: 1e5 }), "layers[0].speed: found 100000, expected -10000 to 10000"],
      [layers({ repeat: -1 }), "layers[0].repeat: found -1, expected a number of passes of 0 or more"],
      [layers({ fadeIn: { start: 0, length: -1 } }), "layers[0].fadeIn.length: found -1, expected 0 or more"],
      [layers({ fadeIn: { start: Number.NaN, length: 1 } }), /^layers\[0\]\.fadeIn\.start: found NaN/],
      [layers({ sped: 1 }), /^layers\[0\]: unknown field `sped`, expected one of clip, weight, /],
      [() => crowd.setLayers(0, new Array(9).fill({ clip: 0 })), "layers: found 9 layers, expected at most 8"],
      [layers({ mode: "mix" }), 'layers[0].mode: found "mix", expected one of blend, override, additive, additiveRest'],
      [layers({ time: { parameter: "z" } }), 'layers[0].time.parameter: the crowd has no parameter "z"; it has x'],
      [layers({ weight: { parameter: "x", knots: 7 } }), "there is no list of knots 7: there are 0, from 0 on"],
      [layers({ time: { parameter: "x" }, speed: 2 }), "layers[0].speed: a layer with `sync` or `time` has no speed; leave it out"],
      [layers({ speed: [1, 2] }), "layers[0].speed: found 2 numbers, expected one for each of 1 instances"],
      [() => crowd.setLayers([0, 1], [{ clip: 0, speed: [1, Number.NaN] }]), "layers[0].speed[1]: found NaN, expected a finite number"],
      [() => crowd.setLayers([0, 1], [{ clip: 0, weight: [1, -1] }]), "layers[0].weight[1]: found -1, expected 0 or more"],
      [() => crowd.setLayers([0, 1], [{ clip: 0, speed: [1e5, 1] }]), "layers[0].speed[0]: found 100000, expected -10000 to 10000"],
      [() => crowd.setLayers([1], [{ clip: 0, at: 1e39 }]), /^instance 1: the time 1000000000000/],
      [() => crowd.crossFade([1], { clip: 0, mode: "override" }, { start: 0, length: 1 }), /^instance 1: a cross-fade leads to /],
      [() => crowd.setGoals(1, [{ chain, target: [1e39, 0, 0] }]), /^instance 1: the target has the number 1000000000000/],
      [() => crowd.setLayers([0, 1], [{ clip: [0, -1] }]), "layers[0].clip[1]: found -1, expected a whole number from 0 on"],
      [() => crowd.setLayers([0, 1], [{ clip: [0, 99] }]), /^there is no clip 99: there are 7/],
      [() => crowd.setLayers([0, 0.5], []), "instance: found 0.5, expected a whole number from 0 on"],
      [() => crowd.setLayers("all", []), "instance: found string, expected a number, or an array of numbers"],
      [() => crowd.setParameters(0, [Number.NaN]), "values[0]: found NaN, expected a finite number"],
      [() => crowd.setParameters(0, [1, "2"]), "values[1]: found NaN, expected a finite number"],
      [() => crowd.setParameters(0, [1e39]), /^values\[0\]: found 1000000000000/],
      [() => crowd.setParameters(1, [0, 0]), "values: found 2 numbers, expected a multiple of 1, the number of parameters, up to 1"],
      [() => crowd.setParameters(-1, [0]), "first: found -1, expected a whole number from 0 on"],
      [goal({ target: [Number.NaN, 0, 0] }), "goals[0].target[0]: found NaN, expected a finite number"],
      [goal({ weight: 2 }), /the weight 2 of a goal is not from 0 to 1/],
      [goal({ chain: -1 }), "goals[0].chain: found -1, expected a whole number from 0 on"],
      [goal({ chain: 5 }), "there is no chain 5: there are 1, from 0 on"],
      [() => crowd.crossFade(0, { clip: "high" }, { start: 0, length: -1 }), "fade.length: found -1, expected 0 or more"],
      [() => crowd.crossFade(0, { clip: "high" }, { start: Number.NaN, length: 1 }), "fade.start: found NaN, expected a finite number"],
      [transition({ start: Number.NaN }), /^options\.start: found NaN/],
      [transition({}), "options: missing field `start`"],
      [transition({ start: 0, halfLife: -1 }), /the half-life -1 is not a finite number of seconds above 0/],
      [transition({ start: 0, kind: "dead" }), "options.seconds: expected the length of a dead transition"],
      [transition({ start: 0, kind: "dead", seconds: -1 }), /the length -1 is not a finite number of seconds above 0/],
      [() => crowd.pose(0, Number.NaN), /^from: NaN is not a time/],
      [() => crowd.pose(Number.POSITIVE_INFINITY), /^time: inf is not a time/],
      [() => crowd.setVisible([9]), "there is no instance 9: there are 2, from 0 on"],
      [() => crowd.jointMatrices([0], [Number.NaN], 0), "joint: found NaN, expected a whole number from 0 on"],
      [() => crowd.jointMatrices([0, 1], [0], 0), "joints: found 1 numbers, expected one for each of 2 instances"],
      [() => own.knots([[0, Number.NaN]]), /^knots\[0\]\[1\]: found NaN/],
      [() => own.knots([[0, -1]]), /the weight -1 is not a finite number of 0 or more/],
      [() => own.blendSpace([[0, 0], [1, Number.POSITIVE_INFINITY], [0, 1]]), /^points\[1\]\[1\]: found Infinity/],
      [() => own.setMarkers("rise", [Number.NaN]), /marker 0 is at NaN s/],
      [() => own.setRootMotion("go", { joint: "bass" }), /base/],
      [() => own.setRootMotion("go", { joint: 0, translation: "up" }), /^root\.translation: found "up", expected letters of xyz/],
      [() => own.chain(0, { joints: ["base", "arm", "hand"], limit: 1 }), /^chain: expected either joints/],
      [() => own.chain(0, { aim: "arm", forward: [0, 1, 0], limit: -1 }), /the limit -1 is not a finite number of radians of 0 or more/],
      [() => own.chain(0, { aim: "arm", forward: [0, Number.NaN, 0] }), /^chain\.forward\[1\]: found NaN/],
      [() => own.chain(-1, { aim: "arm", forward: [0, 1, 0] }), "skeleton: found -1, expected a whole number from 0 on"],
      [() => create(own, [[]], model, { parameters: ["x", "x"] }), 'options.parameters: the name "x" occurs twice'],
      [() => create(own, [[]], model, { goals: -1 }), "options.goals: found -1, expected a whole number from 0 on"],
    ]) {
      comparisons += 1;
      const found = await message(call);
      if (typeof expected === "string" ? found !== expected : !expected.test(found)) {
        failures.push(`${call}: found "${found}", expected ${expected}`);
      }
    }
    crowd.pose(0.5);
    check("what is refused changes nothing", await heights(crowd), [0, 2]);
  }
}

/// A matrix that moves, column-major.
const matrix = (x, y, z) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1];

/// The numbers in a buffer of a device.
async function contents(device, buffer) {
  const { COPY_DST, MAP_READ } = GPUBufferUsage;
  const copy = device.createBuffer({ size: buffer.size, usage: COPY_DST | MAP_READ });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, copy, 0, buffer.size);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  const numbers = new Float32Array(copy.getMappedRange()).slice();
  copy.destroy();
  return numbers;
}
