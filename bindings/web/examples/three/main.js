// 2,000 instances of a character, posed by posse and drawn by three.js. Both use one GPU device; no pose comes back to
// JavaScript.
//
// To run it: bindings/web/build, `npm install` in this folder, a file server for bindings/web, and its page
// examples/three/. The address may end in ?count=500, for another number of instances.

import init, { Crowd, Gpu, Library } from "posse";
import {
  Box3, Color, DirectionalLight, HemisphereLight, PerspectiveCamera, Scene, Vector3, WebGPURenderer,
} from "three/webgpu";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import { character } from "./character.js";
import { skinnedCrowd } from "./skinned_crowd.js";

const options = new URLSearchParams(location.search);
const count = Number(options.get("count") ?? 2000);
const canvas = document.getElementById("canvas");

/// Opens the device by posse, and gives it to three.js: wgpu cannot use a device that it has not made.
async function openRenderer() {
  await init();
  const gpu = await Gpu.open();
  const renderer = new WebGPURenderer({ device: gpu.device, canvas, antialias: true });
  await renderer.init();
  return { gpu, renderer };
}

/// Positions on a square grid, as xyz per instance.
function grid(count, spacing) {
  const side = Math.ceil(Math.sqrt(count));
  const places = new Float32Array(3 * count);
  for (let instance = 0; instance < count; instance++) {
    places[3 * instance] = spacing * ((instance % side) - (side - 1) / 2);
    places[3 * instance + 2] = -spacing * Math.floor(instance / side);
  }
  return places;
}

/// A scene with lights, and a camera.
function stage() {
  const scene = new Scene();
  scene.background = new Color(0x20242a);
  const sun = new DirectionalLight(0xffffff, 2.5);
  sun.position.set(2, 5, 3);
  scene.add(sun, new HemisphereLight(0xd8e6ff, 0x40382f, 1));
  return { scene, camera: new PerspectiveCamera(45, 1) };
}

/// Looks over a crowd of characters of a size.
function frame(camera, size) {
  [camera.near, camera.far] = [0.1 * size, 200 * size];
  camera.position.set(0, 3 * size, 5 * size);
  camera.lookAt(0, 0.5 * size, -size);
  camera.updateProjectionMatrix();
}

/// Loads the same bytes into posse, which reads skeleton and clips, and into three.js, which reads meshes and
/// materials.
async function load(gpu, renderer, name, bytes) {
  const gltf = await new GLTFLoader().parseAsync(bytes.buffer, "");
  if (!gltf.parser.json.skins?.length) throw new Error(`${name} has no skin; choose a file with a skinned mesh`);
  const library = Library.load(name, bytes);
  if (library.clips.length === 0) throw new Error(`${name} has no clip; choose an animated file`);
  const instances = Array.from({ length: count }, (_, instance) => {
    const clip = instance % library.clips.length;
    // A ratio that is never in step with the grid. Instance 0 starts at 0.
    const phase = (instance * 0.618034) % 1;
    return [{ clip, start: phase * library.clips[clip].duration }];
  });
  const crowd = await Crowd.create(gpu, library, instances, { skin: true });
  const size = Math.max(...new Box3().setFromObject(gltf.scene).getSize(new Vector3()));
  const meshes = skinnedCrowd(renderer, gltf, crowd, grid(count, 0.8 * size));
  return { library, crowd, gltf, meshes, size };
}

function resize(renderer, camera) {
  renderer.setPixelRatio(devicePixelRatio);
  renderer.setSize(innerWidth, innerHeight, false);
  camera.aspect = innerWidth / innerHeight;
  camera.updateProjectionMatrix();
}

async function start() {
  const { gpu, renderer } = await openRenderer();
  const { scene, camera } = stage();
  let shown;
  const show = async (name, bytes) => {
    const loaded = await load(gpu, renderer, name, bytes);
    if (shown) {
      scene.remove(...shown.meshes);
      shown.crowd.free();
      shown.library.free();
    }
    scene.add(...loaded.meshes);
    frame(camera, loaded.size);
    shown = loaded;
  };
  await show("character.glb", character());
  const draw = (seconds) => {
    // The poses of a frame come before its picture in the queue of the device.
    shown.crowd.pose(seconds);
    renderer.render(scene, camera);
  };
  resize(renderer, camera);
  addEventListener("resize", () => resize(renderer, camera));
  document.getElementById("file").addEventListener("change", async ({ target }) => {
    const [file] = target.files;
    if (file) await report(async () => show(file.name, new Uint8Array(await file.arrayBuffer()))).catch(() => {});
  });
  if (!options.has("still")) renderer.setAnimationLoop((milliseconds) => draw(milliseconds / 1000));
  return { gpu, renderer, scene, camera, draw, shown: () => shown };
}

/// Does something, and shows its error.
async function report(action) {
  const output = document.getElementById("error");
  try {
    output.value = "";
    return await action();
  } catch (error) {
    output.value = error.message;
    throw error;
  }
}

/// For tests: the device, the parts of three.js, a function that draws the frame of a time in seconds, and the file
/// that is shown.
window.example = report(start);
