// A crowd of posse beside the same characters with the mixers of three.js: pictures, and milliseconds per frame.
//
// `page` is the time of the page's thread, to pose and to submit; `whole frame` ends when the device has drawn. The
// address may name ?count=5000, &engine=cpu for `posse/cpu`, and with that &webgl for WebGL 2.

import { PosseCrowd } from "posse/three";
import {
  AnimationMixer, Color, DirectionalLight, Group, HemisphereLight, Matrix4, PerspectiveCamera, Scene, WebGPURenderer,
} from "three/webgpu";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { clone } from "three/addons/utils/SkeletonUtils.js";

import { character } from "./character.js";
import { report } from "./report.js";

/// Frames before a measurement, and milliseconds and frames of one, at least.
const WARM_UP = 3;
const [MIN_TIME, MIN_FRAMES] = [2000, 5];

const options = new URLSearchParams(location.search);
const engine = options.get("engine") ?? "gpu";

/// The clip and the time at which an instance starts.
function playOf(instance, clips) {
  const clip = instance % clips.length;
  return { clip, start: ((instance * 0.618034) % 1) * clips[clip].duration };
}

function placeOf(instance, count) {
  const side = Math.ceil(Math.sqrt(count));
  const [x, z] = [(instance % side) - (side - 1) / 2, -Math.floor(instance / side)];
  return new Matrix4().makeTranslation(1.5 * x, 0, 1.5 * z);
}

/// A scene that looks over a crowd on a canvas of the page.
async function stage(device, id) {
  const canvas = document.getElementById(id);
  const renderer = new WebGPURenderer({ device, canvas, forceWebGL: options.has("webgl") });
  await renderer.init();
  renderer.setSize(canvas.clientWidth, canvas.clientHeight, false);
  const scene = new Scene();
  scene.background = new Color(0x20242a);
  const sun = new DirectionalLight(0xffffff, 2.5);
  sun.position.set(2, 5, 3);
  scene.add(sun, new HemisphereLight(0xd8e6ff, 0x40382f, 1));
  const camera = new PerspectiveCamera(45, canvas.clientWidth / canvas.clientHeight, 0.1, 400);
  camera.position.set(0, 5, 9);
  camera.lookAt(0, 1, -2);
  return { renderer, scene, camera };
}

/// A clone of the scene of the file per character, each with its mixer.
function mixers({ scene, animations }, count) {
  const group = new Group();
  const made = Array.from({ length: count }, (_, instance) => {
    const own = clone(scene);
    own.applyMatrix4(placeOf(instance, count));
    group.add(own);
    const { clip, start } = playOf(instance, animations);
    const mixer = new AnimationMixer(own);
    mixer.clipAction(animations[clip]).play();
    return { mixer, start };
  });
  return { object: group, pose: (time) => made.forEach(({ mixer, start }) => mixer.setTime(start + time)), free() {} };
}

/// The same characters by posse.
async function posse(gltf, { entry, gpu }, count) {
  const library = entry.Library.load("character.glb", character());
  const instances = Array.from({ length: count }, (_, instance) => [playOf(instance, library.clips)]);
  const outputs = { skin: true };
  const poses = gpu
    ? await entry.Crowd.create(gpu, library, instances, outputs)
    : entry.Crowd.create(library, instances, outputs);
  const crowd = new PosseCrowd(gltf, library, poses, gpu?.device);
  for (let instance = 0; instance < count; instance++) crowd.setMatrixAt(instance, placeOf(instance, count));
  const free = () => {
    crowd.dispose();
    poses.free();
    library.free();
  };
  return { object: crowd, pose: (time) => crowd.pose(time), free };
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/// Waits until the device has drawn.
async function drawn(renderer) {
  const { device } = renderer.backend;
  if (device) return device.queue.onSubmittedWorkDone();
  const gl = renderer.getContext();
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
}

/// Milliseconds per frame: of the page's thread, and until the device has drawn.
async function measure({ renderer, scene, camera }, { object, pose }) {
  scene.add(object);
  const [page, whole] = [[], []];
  const begin = performance.now();
  for (let frame = 0; frame < WARM_UP + MIN_FRAMES || performance.now() - begin < MIN_TIME; frame++) {
    // three.js updates a skeleton once per frame of the browser.
    await new Promise(requestAnimationFrame);
    const start = performance.now();
    pose(1 + frame / 60);
    renderer.render(scene, camera);
    const submitted = performance.now();
    await drawn(renderer);
    if (frame < WARM_UP) continue;
    page.push(submitted - start);
    whole.push(performance.now() - start);
  }
  // The same moment in both pictures.
  await new Promise(requestAnimationFrame);
  pose(0.4);
  renderer.render(scene, camera);
  return { page: median(page), whole: median(whole), frames: whole.length };
}

function addRow(name, count, { page, whole }) {
  const row = document.getElementById("rows").insertRow();
  for (const text of [name, count, page.toFixed(2), whole.toFixed(2)]) row.insertCell().textContent = text;
}

async function start() {
  const entry = await import(engine === "cpu" ? "posse/cpu" : "posse");
  await entry.default();
  const gpu = engine === "cpu" ? undefined : await entry.Gpu.open();
  const stages = {};
  for (const id of ["mixers", "posse"]) stages[id] = await stage(gpu?.device, id);
  const gltf = await new GLTFLoader().parseAsync(character().buffer, "");
  const sides = {
    mixers: (count) => mixers(gltf, count),
    posse: (count) => posse(gltf, { entry, gpu }, count),
  };
  const names = { mixers: "mixers of three.js", posse: engine === "cpu" ? "posse/cpu" : "posse" };
  return async (count) => {
    const result = {};
    for (const [id, make] of Object.entries(sides)) {
      stages[id].shown?.free();
      stages[id].scene.remove(stages[id].shown?.object);
      stages[id].shown = await make(count);
      result[id] = await measure(stages[id], stages[id].shown);
      addRow(names[id], count, result[id]);
    }
    return result;
  };
}

/// For tests: a function that measures a number of characters.
window.example = report(start);
if (options.has("count")) document.getElementById("count").value = options.get("count");
document.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = document.getElementById("measure");
  button.disabled = true;
  await report(async () => (await window.example)(Number(document.getElementById("count").value))).catch(() => {});
  button.disabled = false;
});
