// `posse/three`, and its example bindings/web/examples/three: poses of posse, drawn by three.js. The truth are
// three.js' own mixers and meshes of the same file: numbers of matrices, and pictures.
//
// The package must have been built, by bindings/web/build; POSSE_WEB_PACKAGE names another folder of it.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { withPage } from "./browser.mjs";
import { figure } from "./figure.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const BINDINGS = join(HERE, "../../bindings/web");
const PACKAGE = process.env.POSSE_WEB_PACKAGE ?? join(BINDINGS, "pkg");
const FOLDERS = {
  "/": BINDINGS,
  "/pkg/": PACKAGE,
  "/examples/three/node_modules/": join(HERE, "node_modules"),
};
const TIMES = [0, 0.4, 1.3, 7.77];
/// Milliseconds of a test, on a machine with other work.
const TIMEOUT = 600_000;
/// The share of drawn pixels that may differ from those of three.js, by more than `TOLERANCE` of 255: those on edges,
/// where the last bit of a position counts.
const MAX_SHARE = 0.002;
const TOLERANCE = 4;

function isMissing() {
  if (existsSync(join(PACKAGE, "posse.js"))) return false;
  process.stderr.write("SKIPPED: the example of three.js, which needs the package that bindings/web/build makes\n");
  return "bindings/web/build has not run";
}

function hasNoCpu() {
  if (existsSync(join(PACKAGE, "cpu.js"))) return false;
  process.stderr.write("SKIPPED: posse/cpu in three.js, an entry that the package does not have\n");
  return "the package has no entry posse/cpu";
}

async function withExample(count, work, hasGpu = true) {
  await withPage(FOLDERS, async ({ page, address, problems }) => {
    if (!hasGpu) await page.addInitScript(() => Object.defineProperty(Navigator.prototype, "gpu", { get: () => undefined }));
    await page.goto(`${address}/examples/three/index.html?still&count=${count}`);
    await page.evaluate(() => window.example);
    await work(page);
    assert.deepEqual(problems, []);
  }, { viewport: { width: 960, height: 600 } });
}

/// Functions of the page: the numbers of a buffer, the matrices of three.js for an instance, and the drawn pixels.
function addFunctions(page) {
  return page.evaluate(async () => {
    const three = await import("three");
    const { gpu, renderer, shown } = await window.example;

    window.readBuffer = async (source) => {
      const usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ;
      const copy = gpu.device.createBuffer({ size: source.size, usage });
      const encoder = gpu.device.createCommandEncoder();
      encoder.copyBufferToBuffer(source, 0, copy, 0, source.size);
      gpu.device.queue.submit([encoder.finish()]);
      await copy.mapAsync(GPUMapMode.READ);
      const numbers = new Float32Array(copy.getMappedRange().slice(0));
      copy.destroy();
      return numbers;
    };

    /// Poses the scene of three.js as `load` in main.js poses an instance.
    window.poseThree = (instance, time) => {
      const { gltf } = shown();
      const index = instance % gltf.animations.length;
      const clip = gltf.animations[index];
      // Brings joints that the next clip does not move back to rest.
      window.mixer?.stopAllAction();
      window.mixer = new three.AnimationMixer(gltf.scene);
      window.mixer.clipAction(clip).play();
      window.mixer.setTime(((instance * 0.618034) % 1) * clip.duration + time);
      gltf.scene.updateMatrixWorld(true);
      let skinned;
      gltf.scene.traverse((found) => (skinned = found.isSkinnedMesh ? found : skinned));
      return skinned;
    };

    /// The rows of the skin matrices, as posse lays them out.
    window.threeMatrices = (instance, time) => {
      const { bones, boneInverses } = window.poseThree(instance, time).skeleton;
      return bones.flatMap((bone, joint) => {
        const { elements } = new three.Matrix4().multiplyMatrices(bone.matrixWorld, boneInverses[joint]);
        return [0, 1, 2].flatMap((row) => [0, 1, 2, 3].map((column) => elements[4 * column + row]));
      });
    };

    /// The pixels that differ from the background, as 0 and 1. To be called right after drawing.
    window.drawnPixels = () => {
      const { width, height } = renderer.domElement;
      const context = new OffscreenCanvas(width, height).getContext("2d");
      context.drawImage(renderer.domElement, 0, 0);
      const { data } = context.getImageData(0, 0, width, height);
      const differs = (at) => [0, 1, 2].some((lane) => Math.abs(data[at + lane] - data[lane]) > 12);
      return Uint8Array.from({ length: data.length / 4 }, (_, pixel) => differs(4 * pixel));
    };

    window.sum = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
    window.differences = (a, b) => a.filter((number, at) => number !== b[at]).length;
  });
}

test("the skin matrices are those that three.js computes", { skip: isMissing(), timeout: TIMEOUT }, async (t) => {
  await withExample(2000, async (page) => {
    await addFunctions(page);
    const compare = ([times, late]) => page.evaluate(async ([times, late]) => {
      const { shown } = await window.example;
      let worst = 0;
      for (const time of times) {
        shown().poses.pose(time);
        const numbers = await window.readBuffer(shown().poses.skinBuffer());
        const stride = shown().poses.skinStride / 4;
        for (let instance = 0; instance < shown().crowd.count; instance += 97) {
          const expected = window.threeMatrices(instance, time + late);
          expected.forEach((number, at) => {
            worst = Math.max(worst, Math.abs(number - numbers[instance * stride + at]));
          });
        }
      }
      return worst;
    }, [times, late]);
    const worst = await compare([TIMES, 0]);
    t.diagnostic(`the worst difference of a number of a matrix: ${worst.toExponential(1)}`);
    assert.ok(worst < 1e-5, `${worst}`);
    assert.ok((await compare([TIMES, 0.01])) > 1e-3, "poses of another time differ");
  });
});

for (const hasGpu of [true, false]) {
  const name = hasGpu ? "2,000 characters are drawn, and move" : "without WebGPU, posse/cpu and WebGL 2 draw them";
  test(name, { skip: isMissing() || (!hasGpu && hasNoCpu()), timeout: TIMEOUT }, async (t) => {
    await withExample(2000, async (page) => {
      await addFunctions(page);
      const { backend, share, repeated, moved } = await page.evaluate(async () => {
        const { draw, renderer } = await window.example;
        const [first, again, later] = [0.2, 0.2, 0.5].map((time) => {
          draw(time);
          return drawnPixels();
        });
        const backend = renderer.backend.isWebGLBackend ? "WebGL 2" : "WebGPU";
        const moved = differences(first, later) / sum(first);
        return { backend, share: sum(first) / first.length, repeated: differences(first, again), moved };
      });
      t.diagnostic(`${(100 * share).toFixed(0)} % of the picture drawn; ${(100 * moved).toFixed(1)} % of it changes in 0.3 s`);
      assert.equal(backend, hasGpu ? "WebGPU" : "WebGL 2");
      assert.ok(share > 0.2);
      assert.equal(repeated, 0, "the same time gives the same picture");
      assert.ok(moved > 0.01);
    }, hasGpu);
  });
}

/// Opens the example with the figure of figure.mjs, and calls `work` with a function that draws three instances of it,
/// by `PosseCrowd` and by three.js, and compares. It adds `window.figure` to the page.
async function withFigure(work) {
  await withExample(1, async (page) => {
    await addFunctions(page);
    await page.evaluate(addFigure, figure().toString("base64"));
    const compare = (...given) => page.evaluate((given) => window.figure.compare(...given), given);
    await work(compare, page);
  });
}

/// Runs in the page.
async function addFigure(base64) {
  const three = await import("three/webgpu");
  const { GLTFLoader } = await import("three/addons/loaders/GLTFLoader.js");
  const { clone } = await import("three/addons/utils/SkeletonUtils.js");
  const { PosseCrowd } = await import("posse/three");
  const { Crowd, Library } = await import("posse");
  const { gpu, renderer } = await window.example;
  const { Euler, Matrix4, Quaternion, Vector3 } = three;

  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const read = () => new GLTFLoader().parseAsync(bytes.buffer, "");
  const place = (position, angles, scale) => {
    const rotation = new Quaternion().setFromEuler(new Euler(...angles));
    return new Matrix4().compose(new Vector3(...position), rotation, new Vector3(...scale));
  };
  const instances = [
    { clip: 0, start: 0, matrix: place([-1.7, 0, 0], [0, 0, 0], [1, 1, 1]), color: 0xffffff },
    { clip: 1, start: 0.3, matrix: place([0.1, 0, -0.5], [0, 0.8, 0], [1, 1.3, 0.8]), color: 0xff9944 },
    { clip: 0, start: 0.55, matrix: place([2, 0.3, 0.2], [0.3, -0.5, 0.1], [0.8, 0.8, 0.8]), color: 0x66aaff },
  ];
  const outputs = { skin: true, model: true, weights: true };
  const layers = instances.map(({ clip, start }) => [{ clip, start }]);

  const scene = new three.Scene();
  scene.background = new three.Color(0x20242a);
  const plane = new three.PlaneGeometry(20, 20).rotateX(-Math.PI / 2);
  const ground = new three.Mesh(plane, new three.MeshStandardMaterial({ color: 0x556055 }));
  ground.receiveShadow = true;
  const sun = new three.DirectionalLight(0xffffff, 2.5);
  sun.position.set(3, 6, 4);
  sun.castShadow = true;
  scene.add(ground, sun, new three.HemisphereLight(0xd8e6ff, 0x40382f, 1));
  const camera = new three.PerspectiveCamera(40, 960 / 600, 0.1, 50);
  camera.position.set(1.5, 2.6, 7);
  camera.lookAt(0, 1.1, 0);

  /// The places and colours of the instances.
  const arrange = (crowd) => {
    instances.forEach(({ matrix, color }, instance) => {
      crowd.setMatrixAt(instance, matrix);
      crowd.setColorAt(instance, color);
    });
    return crowd;
  };

  /// The instances as clones of three.js.
  const clones = (gltf) => {
    const group = new three.Group();
    group.mixers = instances.map(({ clip, start, matrix, color }) => {
      const own = clone(gltf.scene);
      const placed = new three.Group().add(own);
      placed.matrixAutoUpdate = false;
      placed.matrix.copy(matrix);
      group.add(placed);
      own.traverse((found) => {
        if (!found.isMesh) return;
        found.material = found.material.clone();
        found.material.color.multiply(new three.Color(color));
        found.castShadow = found.receiveShadow = true;
      });
      const mixer = new three.AnimationMixer(own);
      mixer.clipAction(gltf.animations[clip]).play();
      return { mixer, start };
    });
    group.pose = (time) => group.mixers.forEach(({ mixer, start }) => mixer.setTime(start + time));
    return group;
  };

  /// The picture of an object at a time, as bytes of pixels.
  const picture = async (object, time, { on = renderer, see = camera } = {}) => {
    // three.js updates skeletons and shadows once per frame of the browser.
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    if (object) {
      object.pose(time);
      scene.add(object);
    }
    on.render(scene, see);
    const { width, height } = on.domElement;
    const context = new OffscreenCanvas(width, height).getContext("2d");
    context.drawImage(on.domElement, 0, 0);
    if (object) scene.remove(object);
    return context.getImageData(0, 0, width, height).data;
  };

  /// The number of pixels of which a channel differs by more than a tolerance.
  const differing = (a, b, tolerance) => {
    let count = 0;
    for (let at = 0; at < a.length; at += 4) {
      if ([0, 1, 2].some((lane) => Math.abs(a[at + lane] - b[at + lane]) > tolerance)) count += 1;
    }
    return count;
  };

  const create = async ({ given = outputs, count = 3 } = {}) => {
    const [library, gltf] = [Library.load("figure.glb", bytes), await read()];
    const poses = await Crowd.create(gpu, library, layers.slice(0, count), given);
    return { library, gltf, poses, crowd: () => new PosseCrowd(gltf, library, poses, gpu.device) };
  };

  /// Shows the mesh of a name alone, or all.
  const showOnly = (object, name) => object.traverse((found) => {
    if (found.isMesh) found.visible = !name || found.name === name;
  });

  /// The share of drawn pixels that differ, per time, and their least number.
  const compare = async (times, { name, tolerance, late = 0, using } = {}) => {
    const { crowd, truth, on } = using ?? window.figure;
    for (const object of [crowd, truth]) showOnly(object, name);
    const empty = await picture(null, 0, { on });
    const [shares, drawn] = [[], []];
    for (const time of times) {
      const expected = await picture(truth, time, { on });
      const found = await picture(crowd, time + late, { on });
      drawn.push(differing(expected, empty, 12));
      shares.push(differing(found, expected, tolerance) / drawn.at(-1));
    }
    return { worst: Math.max(...shares), least: Math.min(...drawn) };
  };

  const made = await create();
  const [crowd, truth] = [arrange(made.crowd()), clones(made.gltf)];
  const names = crowd.children.map(({ name }) => name);
  window.figure = {
    three, PosseCrowd, bytes, read, instances, layers, arrange, clones, create, picture, differing, compare, camera, names,
    ...made, crowd, truth,
  };
}

test("a crowd has the picture of three.js' own meshes, with shadows", { skip: isMissing(), timeout: TIMEOUT }, async (t) => {
  await withFigure(async (compare, page) => {
    const { worst, least } = await compare(TIMES, { tolerance: TOLERANCE });
    t.diagnostic(`at most ${(100 * worst).toFixed(3)} % of the pixels differ`);
    assert.ok(worst <= MAX_SHARE, `${worst}`);
    assert.ok(least > 20_000, `${least} pixels are drawn`);
    const late = await compare(TIMES, { tolerance: TOLERANCE, late: 0.1 });
    assert.ok(late.worst > 20 * MAX_SHARE, `pictures of another time differ: ${late.worst}`);
    // Each mesh alone: two primitives of the body, cape, hat, face, blade and stone.
    const names = await page.evaluate(() => figure.names);
    assert.equal(names.length, 7, `${names}`);
    for (const name of names) {
      const alone = await compare([0.4, 7.77], { tolerance: TOLERANCE, name });
      t.diagnostic(`${name}: at most ${(100 * alone.worst).toFixed(3)} % of ${alone.least} pixels and more differ`);
      assert.ok(alone.worst <= 2 * MAX_SHARE && alone.least > 500, `${name}: ${alone.worst} of ${alone.least}`);
    }
  });
});

test("an object that the page adds to a joint follows it", { skip: isMissing(), timeout: TIMEOUT }, async () => {
  await withFigure(async (_, page) => {
    const { worst } = await page.evaluate(async (tolerance) => {
      const { three, PosseCrowd, arrange, clones, gltf, library, poses, compare } = window.figure;
      const { gpu } = await window.example;
      const ball = new three.Mesh(new three.SphereGeometry(0.3), new three.MeshStandardMaterial({ color: 0xffdd00 }));
      ball.position.set(0.3, -0.4, 0.2);
      gltf.scene.getObjectByName("arm").add(ball);
      const crowd = arrange(new PosseCrowd(gltf, library, poses, gpu.device));
      return compare([0.4, 7.77], { tolerance, using: { crowd, truth: clones(gltf) } });
    }, TOLERANCE);
    assert.ok(worst <= MAX_SHARE, `${worst}`);
  });
});

test("arrays pose as buffers do, on WebGPU and on WebGL 2", { skip: isMissing(), timeout: TIMEOUT }, async (t) => {
  await withFigure(async (compare, page) => {
    for (const forceWebGL of [false, true]) {
      const { worst, least } = await page.evaluate(async ([times, tolerance, forceWebGL]) => {
        const { three, PosseCrowd, arrange, clones, read, library, poses, compare } = window.figure;
        // The poses of the GPU, in another order of the instances, in two batches.
        const batches = [[2, 0], [1]];
        const posed = new Map();
        for (const time of times) {
          poses.pose(time);
          const [{ instances, ...buffers }] = poses.buffers;
          const made = batches.map((order) => ({ instances: Uint32Array.from(order) }));
          for (const output of ["skin", "model", "values"]) {
            const [numbers, stride] = [await readBuffer(buffers[output]), buffers[`${output}Stride`] / 4];
            for (const batch of made) {
              batch[`${output}Stride`] = 4 * stride;
              batch[output] = new Float32Array(stride * batch.instances.length);
              batch.instances.forEach((instance, at) => {
                const from = stride * instances.indexOf(instance);
                batch[output].set(numbers.subarray(from, from + stride), stride * at);
              });
            }
          }
          posed.set(time, made);
        }
        const source = { count: 3, buffers: posed.get(times[0]), pose: (time) => (source.buffers = posed.get(time)) };
        const on = new three.WebGPURenderer({ antialias: true, forceWebGL });
        on.setSize(960, 600);
        on.shadowMap.enabled = true;
        await on.init();
        if (forceWebGL !== (on.backend.isWebGLBackend === true)) throw new Error("another backend than asked for");
        const gltf = await read();
        const crowd = arrange(new PosseCrowd(gltf, library, source));
        const found = await compare(times, { tolerance, using: { crowd, truth: clones(gltf), on } });
        crowd.dispose();
        on.dispose();
        return found;
      }, [TIMES, TOLERANCE, forceWebGL]);
      t.diagnostic(`${forceWebGL ? "WebGL 2" : "WebGPU"}: at most ${(100 * worst).toFixed(3)} % of the pixels differ`);
      assert.ok(worst <= MAX_SHARE && least > 20_000, `${worst} of ${least}`);
    }
  });
});

test("the entry posse/cpu poses a crowd on WebGL 2", { skip: isMissing() || hasNoCpu(), timeout: TIMEOUT }, async () => {
  await withFigure(async (compare, page) => {
    const { worst, least } = await page.evaluate(async ([times, tolerance]) => {
      const { three, PosseCrowd, arrange, bytes, clones, layers, read, compare } = window.figure;
      const entry = await import("posse/cpu");
      await entry.default();
      const library = entry.Library.load("figure.glb", bytes);
      const poses = entry.Crowd.create(library, layers, { skin: true, model: true, weights: true });
      const on = new three.WebGPURenderer({ antialias: true, forceWebGL: true });
      on.setSize(960, 600);
      on.shadowMap.enabled = true;
      await on.init();
      const gltf = await read();
      // No instance is posed when the crowd is made, and in its first frame.
      poses.setVisible([]);
      poses.pose(0.4);
      const crowd = arrange(new PosseCrowd(gltf, library, poses));
      crowd.pose(0.4);
      poses.setVisible();
      return compare(times, { tolerance, using: { crowd, truth: clones(gltf), on } });
    }, [TIMES, TOLERANCE]);
    assert.ok(worst <= MAX_SHARE && least > 20_000, `${worst} of ${least}`);
  });
});

test("instances are hidden, culled and measured", { skip: isMissing(), timeout: TIMEOUT }, async () => {
  await withFigure(async (_, page) => {
    const found = await page.evaluate(async () => {
      const { three, crowd, truth, picture, differing, camera, instances } = window.figure;
      const { renderer } = await window.example;
      const result = { counts: [] };
      const counts = () => crowd.children.map(({ count }) => count);
      const all = await picture(crowd, 0.4);

      crowd.setVisibleAt(1, false);
      truth.children[1].visible = false;
      result.hidden = differing(await picture(crowd, 0.4), await picture(truth, 0.4), 4) / all.length;
      result.hiddenCounts = counts();
      result.isVisible = [0, 1, 2].map((instance) => crowd.getVisibleAt(instance));
      crowd.setVisibleAt(1, true);
      truth.children[1].visible = true;

      // A narrow view of the stone of the first instance, with no shadow of others, out of their spheres.
      const narrow = camera.clone();
      narrow.fov = 3;
      narrow.position.set(-3.1, 0.3, 9);
      narrow.lookAt(-3.1, 0.3, 0);
      narrow.updateProjectionMatrix();
      const near = await picture(crowd, 0.4, { see: narrow });
      crowd.cull(narrow);
      result.culled = differing(await picture(crowd, 0.4, { see: narrow }), near, 4);
      result.culledCounts = counts();
      crowd.cull(narrow, 10);
      await picture(crowd, 0.4, { see: narrow });
      result.marginCounts = counts();
      crowd.cull();

      // Away from all of them, shadows alone are drawn: the ground may show them.
      const calls = async (object, see) => {
        await picture(object, 0.4, { see });
        return renderer.info.render.drawCalls;
      };
      const away = camera.clone();
      away.lookAt(0, 3, 40);
      result.calls = [];
      for (const see of [camera, away]) result.calls.push((await calls(crowd, see)) - (await calls(null, see)));

      // The bounds hold all vertices that three.js finds.
      const [bounds, exact] = [new three.Box3(), new three.Box3()];
      for (const time of [0, 0.2, 0.5, 0.7]) {
        truth.pose(time);
        truth.updateMatrixWorld(true);
        exact.expandByObject(truth, true);
      }
      bounds.setFromObject(crowd);
      result.holds = bounds.containsBox(exact);
      result.isTight = bounds.getSize(new three.Vector3()).length() < 2.5 * exact.getSize(new three.Vector3()).length();
      const matrix = crowd.getMatrixAt(1, new three.Matrix4());
      result.matrix = Math.max(...matrix.elements.map((number, at) => Math.abs(number - instances[1].matrix.elements[at])));
      result.color = crowd.getColorAt(1, new three.Color()).getHex();
      try {
        crowd.setVisibleAt(3, true);
      } catch (error) {
        result.error = error.message;
      }
      return result;
    });
    assert.ok(found.hidden < 0.001, `hidden: ${found.hidden}`);
    assert.ok(found.hiddenCounts.every((count) => count === 2), `${found.hiddenCounts}`);
    assert.deepEqual(found.isVisible, [true, false, true]);
    assert.equal(found.culled, 0);
    assert.ok(found.culledCounts.every((count) => count === 1), `${found.culledCounts}`);
    assert.ok(found.marginCounts.every((count) => count === 3), `${found.marginCounts}`);
    assert.deepEqual(found.calls, [14, 7], "seven meshes and their shadows");
    assert.ok(found.holds && found.isTight, JSON.stringify(found));
    assert.ok(found.matrix < 1e-6);
    assert.equal(found.color, 0xff9944);
    assert.match(found.error, /instance: found 3, expected 0 to 2/);
  });
});

test("dispose frees what the crowd made", { skip: isMissing(), timeout: TIMEOUT }, async () => {
  await withFigure(async (_, page) => {
    const { before, after, textures } = await page.evaluate(async () => {
      const { PosseCrowd, arrange, gltf, library, poses, crowd, picture } = window.figure;
      const { gpu, renderer } = await window.example;
      crowd.dispose();
      const textures = { made: 0, destroyed: 0 };
      const { createTexture } = GPUDevice.prototype;
      gpu.device.createTexture = (description) => {
        const texture = createTexture.call(gpu.device, description);
        if (description.label !== "posse: poses") return texture;
        textures.made += 1;
        const { destroy } = texture;
        texture.destroy = () => {
          textures.destroyed += 1;
          destroy.call(texture);
        };
        return texture;
      };
      const memory = () => {
        const { geometries, textures, attributes, indexAttributes } = renderer.info.memory;
        return { geometries, textures, attributes, indexAttributes };
      };
      const show = async () => {
        const made = arrange(new PosseCrowd(gltf, library, poses, gpu.device));
        await picture(made, 0.4);
        made.dispose();
        await picture(null, 0);
      };
      await show();
      const before = memory();
      for (let round = 0; round < 5; round++) await show();
      const after = memory();
      delete gpu.device.createTexture;
      return { before, after, textures };
    });
    assert.deepEqual(after, before);
    assert.equal(textures.made, 18, "six crowds with matrices of skin and joints, and morph weights");
    assert.equal(textures.destroyed, textures.made);
  });
});

test("what cannot be drawn is refused by name", { skip: isMissing(), timeout: TIMEOUT }, async () => {
  await withFigure(async (_, page) => {
    const errors = await page.evaluate(async () => {
      const { three, PosseCrowd, create, crowd, picture, gltf, library, poses } = window.figure;
      const { gpu } = await window.example;
      const messageOf = async (action) => {
        try {
          await action();
        } catch (error) {
          return error.message;
        }
      };
      const other = new three.WebGPURenderer({ forceWebGL: true });
      await other.init();
      const mesh = gltf.scene.getObjectByName("stone");
      const { material } = mesh;
      const result = [
        await messageOf(async () => (await create({ given: { skin: true } })).crowd()),
        await messageOf(async () => (await create({ given: { skin: false, model: true } })).crowd()),
        await messageOf(() => new PosseCrowd(gltf, library, poses)),
        await messageOf(() => picture(crowd, 0, { on: other })),
        await messageOf(() => {
          mesh.material = new three.ShaderMaterial();
          return new PosseCrowd(gltf, library, poses, gpu.device);
        }),
      ];
      mesh.material = material;
      // Without weights, morph targets are at rest.
      const still = (await create({ given: { skin: true, model: true } })).crowd();
      still.dispose();
      return result;
    });
    assert.match(errors[0], /hangs on a joint, but the crowd writes no model matrices; create it with \{ model: true \}/);
    assert.match(errors[1], /is skinned, but the crowd writes no skin matrices; create it with \{ skin: true \}/);
    assert.match(errors[2], /on a GPU; give `gpu.device`/);
    assert.match(errors[3], /does not use the device of the crowd/);
    assert.match(errors[4], /materials of the type ShaderMaterial are not drawn/);
  });
});

test("the page that compares with mixers measures both", { skip: isMissing(), timeout: TIMEOUT }, async () => {
  await withPage(FOLDERS, async ({ page, address, problems }) => {
    await page.goto(`${address}/examples/three/compare.html`);
    const found = await page.evaluate(async () => (await window.example)(20));
    for (const { page: milliseconds, whole, frames } of [found.mixers, found.posse]) {
      assert.ok(milliseconds > 0 && whole >= milliseconds && frames >= 5, JSON.stringify(found));
    }
    assert.equal(await page.locator("#rows tr").count(), 2);
    assert.deepEqual(problems, []);
  });
});
