// 1,000 instances of a character, posed by posse's CPU engine and drawn by three.js with WebGL2: for browsers without
// WebGPU.
//
// To run it: bindings/web/build, `npm install` in this folder, a file server for bindings/web, and its page
// examples/three_webgl/. The address may end in ?count=500, for another number of instances.

import init, { Crowd, Library } from "posse/cpu";
import { Color, DirectionalLight, HemisphereLight, PerspectiveCamera, Scene, WebGLRenderer } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import { character } from "../three/character.js";
import { skinnedCrowd } from "./skinned_crowd.js";

const options = new URLSearchParams(location.search);
const count = Number(options.get("count") ?? 1000);
const status = document.getElementById("status");

/// Positions on a square grid, as xyz per instance.
function grid(spacing) {
  const side = Math.ceil(Math.sqrt(count));
  const places = new Float32Array(3 * count);
  for (let instance = 0; instance < count; instance++) {
    places[3 * instance] = spacing * ((instance % side) - (side - 1) / 2);
    places[3 * instance + 2] = -spacing * Math.floor(instance / side);
  }
  return places;
}

/// A scene with lights, and a camera that looks over the crowd.
function stage() {
  const scene = new Scene();
  scene.background = new Color(0x20242a);
  const sun = new DirectionalLight(0xffffff, 2.5);
  sun.position.set(2, 5, 3);
  scene.add(sun, new HemisphereLight(0xd8e6ff, 0x40382f, 1));
  const camera = new PerspectiveCamera(45, innerWidth / innerHeight, 0.2, 400);
  camera.position.set(0, 6, 10);
  camera.lookAt(0, 1, -2);
  return { scene, camera };
}

/// The same bytes are read by posse, for skeleton and clips, and by three.js, for meshes and materials.
async function load(bytes) {
  const gltf = await new GLTFLoader().parseAsync(bytes.buffer, "");
  const library = Library.load("character.glb", bytes);
  const instances = Array.from({ length: count }, (_, instance) => [
    { clip: instance % library.clips.length, phase: (instance * 0.618034) % 1 },
  ]);
  const crowd = Crowd.create(library, instances);
  return { gltf, crowd, ...skinnedCrowd(gltf, crowd, grid(1.5)) };
}

async function start() {
  await init();
  const renderer = new WebGLRenderer({ canvas: document.getElementById("canvas"), antialias: true });
  const { scene, camera } = stage();
  const { gltf, crowd, meshes, update } = await load(character());
  scene.add(...meshes);
  const resize = () => {
    renderer.setPixelRatio(devicePixelRatio);
    renderer.setSize(innerWidth, innerHeight, false);
    camera.aspect = innerWidth / innerHeight;
    camera.updateProjectionMatrix();
  };
  resize();
  addEventListener("resize", resize);
  const draw = (seconds) => {
    const began = performance.now();
    crowd.pose(seconds);
    update();
    status.value = `${count} characters posed in ${(performance.now() - began).toFixed(1)} ms`;
    renderer.render(scene, camera);
  };
  if (!options.has("still")) renderer.setAnimationLoop((milliseconds) => draw(milliseconds / 1000));
  return { renderer, scene, camera, gltf, crowd, meshes, draw };
}

/// For tests: the parts of the page, and a function that draws the frame of a time in seconds.
window.example = start().catch((error) => {
  [status.value, status.className] = [error.message, "error"];
  throw error;
});
