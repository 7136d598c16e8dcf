// A page in headless Chromium, whose WebGPU adapter is SwiftShader.

import { chromium } from "playwright-core";

import { serve } from "./server.mjs";

const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";

/// Milliseconds that a test may take: a minute less than `tests/web/run` gives its file, so that the test fails before
/// it is ended.
export const LONGEST = 1000 * (Number(process.env.POSSE_WEB_SECONDS ?? 3600) - 60);

/// Flags for WebGPU on SwiftShader, and for canvases that show what WebGPU draws.
const FLAGS = [
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--enable-features=Vulkan",
  "--use-vulkan=swiftshader",
  "--use-angle=swiftshader",
  "--ignore-gpu-blocklist",
  // SwiftShader compiles large kernels for longer than a GPU may stand still.
  "--disable-gpu-watchdog",
];

/// A script that hides the clock of the GPU, as Safari, Firefox and many phones have none.
export const WITHOUT_CLOCK = `{
  const { get } = globalThis.GPUAdapter ? Object.getOwnPropertyDescriptor(GPUAdapter.prototype, "features") : {};
  const features = function () { return new Set([...get.call(this)].filter((name) => name !== "timestamp-query")); };
  if (get) Object.defineProperty(GPUAdapter.prototype, "features", { get: features, configurable: true, enumerable: true });
}
`;

/// Serves folders, opens Chromium with an empty page, and calls `work` with:
///
/// * `page`: the page, of playwright-core
/// * `address`: the address of the server, without a slash at the end
/// * `problems`: a list to which errors of the console and of the page are added, requests that fail, and requests to
///   other servers
/// * `version`: the version of Chromium
/// * `browser`: the browser, for more pages; `watch(page)` adds their problems to the list
/// * `stop`: a function that ends the server
///
/// Everything is closed when `work` ends, also by an error. Options: `viewport` in CSS pixels, `flags` to add,
/// `timeout` of each step in milliseconds, `serviceWorkers` (`block`, or `allow`), of which requests pass by `page.route`.
export async function withPage(folders, work, { viewport, flags = [], timeout = 180_000, serviceWorkers = "block" } = {}) {
  const server = await serve(folders);
  try {
    // Chromium refuses to run as root within its sandbox.
    const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    const args = [...FLAGS, ...sandbox, ...flags];
    const browser = await chromium.launch({ executablePath: EXECUTABLE, args, timeout });
    try {
      const problems = [];
      const watch = (page) => {
        page.setDefaultTimeout(timeout);
        page.on("console", (message) => message.type() === "error" && problems.push(`console: ${message.text()}`));
        page.on("pageerror", (error) => problems.push(`page: ${error.message}`));
        page.on("crash", () => problems.push("page: crashed"));
        page.on("request", (request) => {
          const { origin, protocol } = new URL(request.url());
          if (protocol.startsWith("http") && origin !== server.address) problems.push(`request to another server: ${request.url()}`);
        });
        page.on("requestfailed", (request) => problems.push(`request: ${request.url()} ${request.failure()?.errorText}`));
      };
      const context = await browser.newContext({ viewport: viewport ?? { width: 1280, height: 800 }, serviceWorkers });
      const page = await context.newPage();
      watch(page);
      const { address, close: stop } = server;
      return await work({ page, address, problems, version: browser.version(), browser, watch, stop });
    } finally {
      await browser.close();
    }
  } finally {
    await server.close();
  }
}
