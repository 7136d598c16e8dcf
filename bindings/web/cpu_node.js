// The entry `posse/cpu` for Node.js, which fetches no files.

import { readFile } from "node:fs/promises";

import init from "./cpu.js";

export * from "./cpu.js";

export default async (source) => init(source ?? { module_or_path: await readFile(new URL("cpu_bg.wasm", import.meta.url)) });
