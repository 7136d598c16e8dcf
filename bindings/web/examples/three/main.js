// 2,000 instances of a character, posed by posse and drawn by three.js, with shadows. Both use one GPU device; no pose
// comes back to JavaScript. In a browser without WebGPU, posse's CPU engine poses, and three.js draws on WebGL 2.
//
// To run it: bindings/web/build, `npm install` in this folder, a file server for bindings/web, and its page
// examples/three/. The address may end in ?count=500, for another number of instances.

import { PosseCrowd } from "posse/three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import {
  CircleGeometry, Color, DirectionalLight, HemisphereLight, Matrix4, Mesh, MeshStandardNodeMaterial, PerspectiveCamera,
  Scene, WebGPURenderer,
} from "three/webgpu";

import { character } from "./character.js";
import { report } from "./report.js";

const options = new URLSearchParams(location.search);
const count = Number(options.get("count") ?? 2000);
const canvas = document.getElementById("canvas");

/// A scene with lights and a ground of radius 1, and a camera.
function stage() {
  const scene = new Scene();
  scene.background = new Color(0x20242a);
  const sun = new DirectionalLight(0xffffff, 2.5);
  const ground = new Mesh(new CircleGeometry(1, 64).rotateX(-Math.PI / 2), new MeshStandardNodeMaterial());
  ground.material.color.set(0x30363d);
  ground.receiveShadow = true;
  scene.add(sun, sun.target, ground, new HemisphereLight(0xd8e6ff, 0x40382f, 1));
  return { scene, sun, ground, camera: new PerspectiveCamera(45, 1) };
}

/// The entry of posse for this browser, with its device if there is one.
async function openPosse() {
  const posse = await (navigator.gpu ? import("posse") : import("posse/cpu"));
  await posse.default();
  return { ...posse, gpu: await posse.Gpu?.open() };
}

/// Loads the same bytes into posse, which reads skeleton and clips, and into three.js, which reads meshes and
/// materials.
async function load({ Crowd, Library, gpu }, name, bytes) {
  const gltf = await new GLTFLoader().parseAsync(bytes.buffer, "");
  const library = Library.load(name, bytes);
  const instances = Array.from({ length: count }, (_, instance) => {
    if (library.clips.length === 0) return [];
    const clip = instance % library.clips.length;
    // A ratio that is never in step with the grid. Instance 0 starts at 0.
    const phase = (instance * 0.618034) % 1;
    return [{ clip, start: phase * library.clips[clip].duration }];
  });
  const outputs = { skin: true, model: true, weights: true };
  const poses = await (gpu ? Crowd.create(gpu, library, instances, outputs) : Crowd.create(library, instances, outputs));
  const crowd = new PosseCrowd(gltf, library, poses, gpu?.device);
  // On a square grid, in colours between orange and blue.
  const side = Math.ceil(Math.sqrt(count));
  const size = crowd.reach.radius;
  for (let instance = 0; instance < count; instance++) {
    const [x, z] = [(instance % side) - (side - 1) / 2, -Math.floor(instance / side)];
    crowd.setMatrixAt(instance, new Matrix4().makeTranslation(size * x, 0, size * z));
    crowd.setColorAt(instance, new Color(0xff8f5c).lerp(new Color(0x7fb8ff), (instance * 0.381966) % 1));
  }
  return { library, poses, crowd, gltf, size };
}

/// Looks over a crowd of characters of a size.
function frame({ sun, ground, camera }, { crowd, size }) {
  sun.position.set(2, 5, 3);
  sun.target.position.set(0, 0, 0);
  crowd.fitShadow(sun);
  ground.scale.setScalar(4 * crowd.boundingSphere.radius);
  [camera.near, camera.far] = [0.1 * size, 200 * size];
  camera.position.set(0, 2 * size, 3.5 * size);
  camera.lookAt(0, 0.3 * size, -size);
  camera.updateProjectionMatrix();
}

function resize(renderer, camera) {
  renderer.setPixelRatio(devicePixelRatio);
  renderer.setSize(innerWidth, innerHeight, false);
  camera.aspect = innerWidth / innerHeight;
  camera.updateProjectionMatrix();
}

async function start() {
  const posse = await openPosse();
  const { gpu } = posse;
  const renderer = new WebGPURenderer({ device: gpu?.device, forceWebGL: !gpu, canvas, antialias: true });
  await renderer.init();
  renderer.shadowMap.enabled = true;
  const seen = stage();
  const { scene, camera } = seen;
  let shown;
  const show = async (name, bytes) => {
    const loaded = await load(posse, name, bytes);
    if (shown) {
      scene.remove(shown.crowd);
      shown.crowd.dispose();
      shown.poses.free();
      shown.library.free();
    }
    scene.add(loaded.crowd);
    frame(seen, loaded);
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

/// For tests: the device if there is one, the parts of three.js, a function that draws the frame of a time in seconds,
/// and the file that is shown.
window.example = report(start);
