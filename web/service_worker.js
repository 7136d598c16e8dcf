// Keeps the files of the page, so that it opens without a network. Online, every file comes from the server, and is as new
// as there. `files.js`, which web/build writes, has the names of the files and a version that changes with any of them; the
// browser installs this worker again when it changes.

importScripts("files.js");

const { names, version } = self.FILES;
const PREFIX = "posse-page-";
const CACHE = PREFIX + version;
const { scope } = self.registration;
const own = new Set(names.map((name) => new URL(name, scope).href));

/// The address of an own file for a request; `null` for any other.
function fileOf({ method, url }) {
  const address = new URL(url);
  address.search = address.hash = "";
  if (address.href === scope) address.pathname += "index.html";
  return method === "GET" && own.has(address.href) ? address.href : null;
}

async function keep() {
  const cache = await caches.open(CACHE);
  // Past the cache of the browser, which may have older files.
  await cache.addAll([...own].map((address) => new Request(address, { cache: "no-cache" })));
  await self.skipWaiting();
}

async function forgetOlder() {
  const older = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(older.map((name) => caches.delete(name)));
}

async function answer(request, file) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await (await caches.open(CACHE)).match(file);
    if (!kept) throw error;
    return kept;
  }
}

self.addEventListener("install", (event) => event.waitUntil(keep()));
self.addEventListener("activate", (event) => event.waitUntil(forgetOlder()));
self.addEventListener("fetch", (event) => {
  const file = fileOf(event.request);
  if (file) event.respondWith(answer(event.request, file));
});
