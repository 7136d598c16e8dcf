// A server of static files on the loopback, for pages under test.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";

const TYPES = {
  ".bin": "application/octet-stream",
  ".css": "text/css; charset=utf-8",
  ".glb": "model/gltf-binary",
  ".gltf": "model/gltf+json",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
};

/// The file of a request below a folder: undefined if there is none, or if the path leaves the folder.
async function findFile(folder, path) {
  const file = normalize(join(folder, path));
  if (file !== normalize(folder) && !file.startsWith(normalize(folder + sep))) return undefined;
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) return path === "" || path.endsWith("/") ? findFile(folder, path + "index.html") : undefined;
  return found?.isFile() ? { file, size: found.size } : undefined;
}

/// Serves folders at an unused port of 127.0.0.1: `{ "/": "web", "/pkg/": "bindings/web/pkg" }`. The longest prefix
/// counts. Returns the address without a slash at the end, and a function that ends the server with all its
/// connections.
export async function serve(folders) {
  const prefixes = Object.keys(folders).sort((a, b) => b.length - a.length);
  const server = createServer(async (request, response) => {
    try {
      const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
      const prefix = prefixes.find((prefix) => path.startsWith(prefix));
      const found = prefix && (await findFile(folders[prefix], path.slice(prefix.length)));
      // Browsers ask for an icon, and report one that is missing as an error of the page.
      if (!found) return response.writeHead(path === "/favicon.ico" ? 204 : 404).end();
      const type = TYPES[extname(found.file).toLowerCase()] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type, "content-length": found.size, "cache-control": "no-store" });
      if (request.method === "HEAD") return response.end();
      createReadStream(found.file).on("error", () => response.destroy()).pipe(response);
    } catch {
      response.writeHead(400).end();
    }
  });
  server.requestTimeout = 30_000;
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const close = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return { address: `http://127.0.0.1:${server.address().port}`, close };
}
