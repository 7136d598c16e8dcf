// Files that are dropped or selected: the one to open, and the others that it refers to.

/// Kinds of files that can be opened, the first before the last if several are there.
const KINDS = [".glb", ".gltf", ".vrm", ".vrma", ".bvh", ".anim", ".json"];
/// The largest size in bytes of a file of another kind.
const MAX_UNKNOWN = 1 << 26;
const kindOf = (file) => KINDS.findIndex((kind) => file.name.toLowerCase().endsWith(kind));
const isClip = (file) => /\.(anim|json)$/i.test(file.name);
const pathOf = (file) => file.path ?? file.name;

/// Reads files: `name` and `bytes` of the one to open, those of `clips` of Cocos Creator to add, the bytes of the
/// `others` by path, and the names of the files that are `left` out.
export async function readFiles(files) {
  const known = files.filter((file) => kindOf(file) >= 0).sort((a, b) => kindOf(a) - kindOf(b));
  // The import knows a file of another kind by its content, or says what to do with it.
  const [main = files.find(({ size }) => size <= MAX_UNKNOWN), ...rest] = known;
  if (!main) {
    const names = files.map(({ name }) => name).join(", ");
    throw new Error(`${names}: the page opens .glb, .gltf, .vrm, .vrma and .bvh files, and Cocos Creator clips (.json, .anim)`);
  }
  const added = isClip(main) ? [] : rest.filter(isClip);
  const left = rest.filter((file) => !added.includes(file));
  const others = {};
  const folder = pathOf(main).slice(0, -main.name.length);
  const bytes = await bytesOf(main);
  const isNeeded = neededBy(main, bytes);
  for (const file of files.filter((file) => !known.includes(file) && isNeeded(file))) {
    const path = pathOf(file);
    others[path.startsWith(folder) ? path.slice(folder.length) : path] = await bytesOf(file);
  }
  const clips = [];
  for (const file of added) clips.push({ name: file.name, bytes: await bytesOf(file) });
  return { name: main.name, bytes, clips, others, left: left.map(({ name }) => name) };
}

/// A function that tells if a file has a name to which the document refers. Only glTF refers to others.
function neededBy(main, bytes) {
  const kind = KINDS[kindOf(main)];
  if ([".glb", ".vrm", ".vrma"].includes(kind)) return () => true;
  if (kind !== ".gltf") return () => false;
  try {
    const { buffers = [], images = [] } = JSON.parse(new TextDecoder().decode(bytes));
    const uris = [...buffers, ...images].map(({ uri }) => uri ?? "").filter((uri) => !uri.startsWith("data:"));
    const names = new Set(uris.flatMap((uri) => [uri, decodeURIComponent(uri)]).map((path) => path.split(/[/\\]/).at(-1)));
    return ({ name }) => names.has(name);
  } catch {
    // The import reports the fault of the document, with its place.
    return () => true;
  }
}

/// The files of a drop, also of folders, with their paths below the folder in `path`.
export async function droppedFiles(transfer) {
  // Entries must be taken before the first await: the browser empties the drop after the event.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (entries.length === 0) return [...transfer.files];
  return (await Promise.all(entries.map((entry) => filesOf(entry)))).flat();
}

async function bytesOf(file) {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch (error) {
    throw new Error(`${file.name}: cannot be read: ${error.message}`);
  }
}

async function filesOf(entry, folder = "") {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    if (folder) file.path = folder + file.name;
    return [file];
  }
  const reader = entry.createReader();
  const found = [];
  // A reader gives a part of the folder per call, and nothing at its end.
  for (;;) {
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) break;
    found.push(...part);
  }
  return (await Promise.all(found.map((inner) => filesOf(inner, `${folder}${entry.name}/`)))).flat();
}
