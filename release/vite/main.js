// The program of the npm package's README, with the built-in human in place of a file.
import init, { Crowd, Gpu, Library, View } from "posse";

await init();
const gpu = await Gpu.open();
const library = Library.demo();
const crowd = await Crowd.spread(gpu, library, { count: 40, clip: 0, spread: 1 });
const view = await View.open(gpu, document.querySelector("canvas"));
await view.show(library, crowd);
const camera = view.fit();
requestAnimationFrame(function frame(now) {
  view.draw(now / 1000, camera);
  requestAnimationFrame(frame);
});
