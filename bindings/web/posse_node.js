// The entry `posse` for Node.js, which fetches no files. `navigator.gpu` has to come from the package `webgpu`.

import { readFile } from "node:fs/promises";

import init from "./posse.js";

export * from "./posse.js";

export default async (source) => init(source ?? { module_or_path: await readFile(new URL("posse_bg.wasm", import.meta.url)) });
