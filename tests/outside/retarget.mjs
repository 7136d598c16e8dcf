// The files of `posse retarget` in the Khronos glTF validator and in three.js, which plays them. The clips come from
// BVH files, which three.js reads, too: the poses that are expected follow from its own.
//
//     POSSE_BIN=target/debug/posse OUTSIDE=target/outside node --test tests/outside/retarget.mjs

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";

import { collected } from "../web/collected.mjs";

const outside = path.resolve(process.env.OUTSIDE);
const require = createRequire(path.join(outside, "package.json"));
const validator = require("gltf-validator");
const three = (file) => import(pathToFileURL(path.join(outside, "node_modules/three", file)));
const THREE = await three("build/three.module.js");
const { GLTFLoader } = await three("examples/jsm/loaders/GLTFLoader.js");
const { BVHLoader } = await three("examples/jsm/loaders/BVHLoader.js");

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "posse-retarget-"));
test.after(() => fs.rmSync(folder, { recursive: true }));

/**
 * A walk on a rig with the names of Mixamo, in centimetres, in a T-pose at rest. The hips are at the origin, because three.js adds their
 * offset to their positions, which others replace it by.
 */
function walk() {
    const joints = [["Hips", null, [0, 0, 0]], ["Spine", "Hips", [0, 10, 0]], ["Neck", "Spine", [0, 40, 0]], ["Head", "Neck", [0, 10, 2]]];
    for (const [side, x] of [["Left", 1], ["Right", -1]]) {
        joints.push([`${side}Arm`, "Spine", [17 * x, 30, 0]], [`${side}ForeArm`, `${side}Arm`, [28 * x, 0, 0]]);
        joints.push([`${side}UpLeg`, "Hips", [9 * x, -4, 0]], [`${side}Leg`, `${side}UpLeg`, [0, -42, 0]], [`${side}Foot`, `${side}Leg`, [0, -42, 0]]);
    }
    const order = [];
    const block = (name, offset, depth) => {
        order.push(name);
        const channels = depth === 0 ? "6 Xposition Yposition Zposition Zrotation Xrotation Yrotation" : "3 Zrotation Xrotation Yrotation";
        const below = joints.filter(([, parent]) => parent === name).map(([child, , place]) => block(child, place, depth + 1));
        const end = below.length > 0 ? below.join("") : "End Site\n{\nOFFSET 0 5 0\n}\n";
        return `${depth === 0 ? "ROOT" : "JOINT"} ${name}\n{\nOFFSET ${offset.join(" ")}\nCHANNELS ${channels}\n${end}}\n`;
    };
    const hierarchy = block(...[joints[0][0], joints[0][2], 0]);
    const frames = Array.from({ length: 21 }, (_, frame) => {
        const swing = Math.sin((2 * Math.PI * frame) / 20);
        const row = [0, -2 * swing * swing, 4 * frame];
        order.forEach((name, joint) => {
            const wave = Math.sin((2 * Math.PI * frame) / 20 + joint);
            row.push(name === "LeftArm" ? -60 : name === "RightArm" ? 60 + 20 * wave : 3 * wave, 25 * wave, 8 * wave);
        });
        return row.map((number) => number.toFixed(4)).join(" ");
    });
    return `HIERARCHY\n${hierarchy}MOTION\nFrames: 21\nFrame Time: 0.05\n${frames.join("\n")}\n`;
}

/** A file of a figure: joints with a mesh, other joints between those of the walk, an image beside the file, and an old animation. */
function figure() {
    const turned = [Math.SQRT1_2, 0, 0, Math.SQRT1_2];
    const nodes = [
        { name: "Z_UP", matrix: [1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1], children: [1] },
        { name: "pelvis", translation: [0, 0, 0.9], rotation: turned, children: [2, 5, 7] },
        { name: "spine_01", translation: [0, 0.2, 0], rotation: [0, 0.6, 0, 0.8], children: [3] },
        { name: "extra", translation: [0, 0.2, 0], rotation: [0.1, 0.1, 0.1, Math.sqrt(0.97)], children: [4] },
        { name: "upperarm_l", matrix: [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0.2, 0, 0, 1] },
        { name: "thigh_l", translation: [0.1, 0, 0], children: [6], extras: { kept: [1.5, "word"] } },
        { name: "calf_l", translation: [0, -0.4, 0] },
        { name: "thigh_r", translation: [-0.1, 0, 0], children: [8], extensions: { VENDOR_thing: { accessor: 3, text: "kept" } } },
        { name: "calf_r", translation: [0, -0.45, 0] },
        { name: "skin", mesh: 0, skin: 0 },
    ];
    const chunks = [], bufferViews = [], accessors = [];
    let length = 0;
    const add = (array, type, more = {}) => {
        const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
        const pad = Buffer.alloc((4 - (length % 4)) % 4);
        chunks.push(pad, bytes);
        const view = { buffer: 0, byteOffset: length + pad.length, byteLength: bytes.length };
        bufferViews.push(more.target ? { ...view, target: more.target } : view);
        delete more.target;
        length += pad.length + bytes.length;
        const width = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT4: 16 }[type];
        const componentType = array instanceof Uint8Array ? 5121 : array instanceof Uint16Array ? 5123 : 5126;
        accessors.push({ bufferView: bufferViews.length - 1, componentType, count: array.length / width, type, ...more });
        return accessors.length - 1;
    };
    // The old animation lies first, so that its data leave a hole.
    const input = add(new Float32Array([0, 1, 2]), "SCALAR", { min: [0], max: [2] });
    const output = add(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]), "VEC4");
    const position = add(new Float32Array([0, 0, 0, 0.1, 0, 0, 0, 0.1, 0]), "VEC3", { min: [0, 0, 0], max: [0.1, 0.1, 0], target: 34962 });
    const unique = add(new Float32Array([7, 8, 9]), "SCALAR");
    const joints = add(new Uint8Array([0, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]), "VEC4", { target: 34962 });
    const weights = add(new Float32Array([0.5, 0.5, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]), "VEC4", { target: 34962 });
    const uv = add(new Float32Array([0, 0, 1, 0, 0, 1]), "VEC2", { target: 34962 });
    const identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
    const bind = add(new Float32Array([0, 1, 2, 3, 4, 5, 6].flatMap(() => identity)), "MAT4");
    assert.equal(unique, 3);
    const json = {
        asset: { version: "2.0", copyright: "kept", extras: { made: "here" } },
        extensionsUsed: ["VENDOR_thing"],
        scene: 0,
        scenes: [{ nodes: [0, 9] }],
        nodes,
        meshes: [{ primitives: [{ attributes: { POSITION: position, JOINTS_0: joints, WEIGHTS_0: weights, TEXCOORD_0: uv }, material: 0 }] }],
        materials: [{ pbrMetallicRoughness: { baseColorTexture: { index: 0 } } }],
        textures: [{ source: 0 }],
        images: [{ uri: "dot.png" }],
        skins: [{ joints: [1, 2, 4, 5, 6, 7, 8], inverseBindMatrices: bind }],
        animations: [{ name: "old", samplers: [{ input, output }], channels: [{ sampler: 0, target: { node: 2, path: "rotation" } }] }],
        accessors,
        bufferViews,
        buffers: [{ byteLength: length, uri: "figure.bin" }],
    };
    return { json, bytes: Buffer.concat(chunks) };
}

/** A picture of one pixel. */
const PNG = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP436AAAAQhAaBNvzKQAAAAAElFTkSuQmCC",
    "base64",
);

const write = (name, content) => fs.writeFileSync(path.join(folder, name), content);
write("walk.bvh", walk());
const { json: given, bytes: binary } = figure();
write("figure.bin", binary);
write("dot.png", PNG);
write("figure.gltf", JSON.stringify(given));
const embedded = structuredClone(given);
embedded.buffers[0].uri = `data:application/octet-stream;base64,${binary.toString("base64")}`;
embedded.images[0].uri = `data:image/png;base64,${PNG.toString("base64")}`;
write("embedded.gltf", JSON.stringify(embedded));

const posse = (...args) => execFileSync(process.env.POSSE_BIN, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

const written = (name) => {
    const file = fs.readFileSync(path.join(folder, name));
    const length = file.readUInt32LE(12);
    return { json: JSON.parse(file.subarray(20, 20 + length).toString()), bin: file.subarray(28 + length), file };
};

/** Messages of the validator: errors and warnings, and hints that the given file does not cause by itself. */
async function complaints(name, expected = []) {
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(path.join(folder, name))), { maxIssues: 0 });
    const known = (message) => message.severity >= 2 && expected.includes(message.code);
    return report.issues.messages.filter((message) => !known(message));
}

/** Poses of a hierarchy of three.js at a time: the rotation and the place of each object by name, in the space of the scene. */
function poses(root, clip, time) {
    const mixer = new THREE.AnimationMixer(root);
    if (clip) {
        const action = mixer.clipAction(clip);
        action.setLoop(THREE.LoopOnce);
        action.clampWhenFinished = true;
        action.play();
        mixer.setTime(time);
    }
    root.updateMatrixWorld(true);
    const found = new Map();
    root.traverse((object) => {
        found.set(object.userData.name ?? object.name, [object.getWorldQuaternion(new THREE.Quaternion()), object.getWorldPosition(new THREE.Vector3())]);
    });
    mixer.stopAllAction();
    mixer.uncacheRoot(root);
    return found;
}

async function load(name) {
    const bytes = fs.readFileSync(path.join(folder, name));
    const loader = new GLTFLoader();
    // Pictures need a browser.
    loader.register((parser) => ({ name: "no pictures", loadTexture: () => Promise.resolve(new THREE.Texture()), parser }));
    return loader.parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), "");
}

/** Compares what three.js plays of a file with the rule, over the walk that three.js plays. */
async function checkPoses(name, pairs, root) {
    const bvh = new BVHLoader().parse(fs.readFileSync(path.join(folder, "walk.bvh"), "utf8"));
    const source = new THREE.Group();
    source.add(bvh.skeleton.bones[0]);
    const target = await load(name);
    assert.equal(target.animations.length, 1);
    // The rest pose of a BVH file has the offsets alone; the loader leaves the bones there.
    const [from0, to0] = [poses(source), poses(target.scene)];
    let moved = 0;
    for (const time of [0, 0.05, 0.3, 0.333, 0.71, 1]) {
        const [from, to] = [poses(source, bvh.clip, time), poses(target.scene, target.animations[0], time)];
        for (const [one, other] of pairs) {
            const expected = from.get(one)[0].clone().multiply(from0.get(one)[0].clone().invert()).multiply(to0.get(other)[0]);
            const angle = expected.angleTo(to.get(other)[0]);
            assert.ok(angle < 2e-3, `${other} at ${time} s is off by ${angle} rad`);
            moved = Math.max(moved, to.get(other)[0].angleTo(to0.get(other)[0]));
        }
        const height = (all, joints) => Math.min(...joints.map((joint) => all.get(joint)[1].y));
        const [hip, pelvis] = root;
        const scale =
            (to0.get(pelvis)[1].y - height(to0, pairs.map((pair) => pair[1]))) / (from0.get(hip)[1].y - height(from0, pairs.map((pair) => pair[0])));
        const expected = from.get(hip)[1].clone().sub(from0.get(hip)[1]).multiplyScalar(scale).add(to0.get(pelvis)[1]);
        const distance = expected.distanceTo(to.get(pelvis)[1]);
        assert.ok(distance < 1e-4, `the root at ${time} s is off by ${distance}`);
    }
    assert.ok(moved > 0.5, "something moves");
}

const PAIRS = [["Hips", "pelvis"], ["Spine", "spine_01"], ["LeftArm", "upperarm_l"], ["LeftUpLeg", "thigh_l"], ["LeftLeg", "calf_l"], ["RightUpLeg", "thigh_r"], ["RightLeg", "calf_r"]];

for (const source of ["figure.gltf", "embedded.gltf"]) {
    test(`${source} plays a walk, and all else in it stays`, async () => {
        const output = source.replace(".gltf", ".glb");
        const report = JSON.parse(posse("retarget", "walk.bvh", "--onto", source, "-o", output, "--json"));
        assert.deepEqual(report.joints.map(({ source, target }) => [source, target]).sort(), PAIRS.toSorted());
        assert.deepEqual(await complaints(output, ["UNSUPPORTED_EXTENSION", "UNUSED_OBJECT"]), []);
        await checkPoses(output, PAIRS, ["Hips", "pelvis"]);

        const { json, bin } = written(output);
        for (const part of ["asset", "extensionsUsed", "scene", "scenes", "meshes", "materials", "textures", "skins"]) {
            assert.deepEqual(json[part], given[part], part);
        }
        // The arm had a matrix, which cannot be animated.
        const { translation, rotation, scale, ...arm } = json.nodes[4];
        assert.deepEqual([arm, translation, scale], [{ name: "upperarm_l" }, [0.2, 0, 0], [1, 1, 1]]);
        assert.ok(Math.abs(rotation[2] - Math.SQRT1_2) < 1e-7);
        assert.deepEqual(json.nodes.toSpliced(4, 1), given.nodes.toSpliced(4, 1));
        assert.deepEqual(json.animations.map(({ name }) => name), ["walk"]);
        const data = ({ bufferView }, file, bytes) => {
            const { byteOffset = 0, byteLength } = file.bufferViews[bufferView];
            return bytes.subarray(byteOffset, byteOffset + byteLength);
        };
        for (let accessor = 2; accessor < given.accessors.length; accessor++) {
            assert.deepEqual(json.accessors[accessor], given.accessors[accessor]);
            assert.deepEqual(data(json.accessors[accessor], json, bin), data(given.accessors[accessor], given, binary));
        }
        assert.equal(json.images[0].mimeType, "image/png");
        assert.deepEqual(data(json.images[0], json, bin), PNG);
        assert.deepEqual(Object.keys(json.buffers[0]), ["byteLength"]);
    });
}

test("old animations can stay", async () => {
    posse("retarget", "walk.bvh", "--onto", "figure.gltf", "--keep", "-o", "both.glb");
    assert.deepEqual(await complaints("both.glb", ["UNSUPPORTED_EXTENSION", "UNUSED_OBJECT"]), []);
    const { animations } = await load("both.glb");
    assert.deepEqual(animations.map(({ name }) => name), ["old", "walk"]);
    const [old] = animations;
    assert.deepEqual([...old.tracks[0].times], [0, 1, 2]);
    assert.deepEqual([...old.tracks[0].values], [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
});

test("the built-in human plays a walk", async () => {
    posse("retarget", "walk.bvh", "--onto", "demo", "-o", "human.glb");
    assert.deepEqual(await complaints("human.glb"), []);
    const { json } = written("human.glb");
    assert.equal(json.meshes.length, 1);
    const pairs = [["Hips", "pelvis"], ["Spine", "spine.1"], ["Neck", "neck"], ["Head", "head"], ["LeftForeArm", "lower_arm.L"], ["RightFoot", "foot.R"]];
    await checkPoses("human.glb", pairs, ["Hips", "pelvis"]);
});

test("a BVH rig is written with its nodes", async () => {
    posse("retarget", "walk.bvh", "--onto", "walk.bvh", "-o", "same.glb");
    assert.deepEqual(await complaints("same.glb", ["NODE_EMPTY"]), []);
    await checkPoses("same.glb", [["Hips", "Hips"], ["LeftForeArm", "LeftForeArm"], ["RightFoot", "RightFoot"]], ["Hips", "Hips"]);
});

for (const name of ["CesiumMan/CesiumMan.glb", "Fox/Fox.glb", "RiggedFigure/RiggedFigure.glb", "DancingRabbit/scene.gltf", "Ghost/ghost_v2.glb", "CesiumMan-meshopt/CesiumMan-meshopt.glb"]) {
    const file = collected(`gltf/${name}`);
    test(`${name} on itself`, { skip: file ? false : `gltf/${name} is missing` }, async () => {
        posse("retarget", file, "--onto", file, "-o", "self.glb");
        const known = new Set();
        const before = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
            externalResourceFunction: (uri) => fs.promises.readFile(path.join(path.dirname(file), decodeURIComponent(uri))).then((bytes) => new Uint8Array(bytes)),
        });
        before.issues.messages.forEach(({ code }) => known.add(code));
        const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(path.join(folder, "self.glb"))));
        const added = report.issues.messages.filter(({ code, severity }) => severity < 2 && !known.has(code));
        assert.deepEqual(added, []);
        // What was valid and used is so afterwards.
        assert.ok(report.issues.numErrors <= before.issues.numErrors && report.issues.numWarnings <= before.issues.numWarnings);
        const { json } = written("self.glb");
        assert.ok(json.animations.length > 0 && json.animations.every(({ channels }) => channels.length > 0));
    });
}
