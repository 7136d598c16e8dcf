// A file that was opened: its library, and the same clips on the built-in human if the file has no meshes.

import { Library } from "../pkg/posse.js";
import { isFatal } from "../rpc.js";

/// Pairs of joints of the built-in human. A file that moves none of them is shown by its own bones.
const LIMBS = [["thigh.L", "thigh.R"], ["upper_arm.L", "upper_arm.R"]];
/// Metres beyond which a clip whose root travels stays in place: the characters of a crowd would leave the picture, and
/// jump back.
const MAX_WAY = 0.75;
/// Clips of Cocos Creator without a model: their nodes all stand at one place.
const isClip = (name) => /\.(anim|json)$/i.test(name);

/// Opens a file, or the built-in human for `null`.
export function openFile(file) {
  if (!file) return new OpenedFile(Library.demo(), [], { isDemo: true });
  const { library, refused } = openLibrary(file);
  try {
    const hasMotion = !library.hasMeshes && library.clips.some(({ leftOut }) => !leftOut) && !isClip(file.name);
    return new OpenedFile(library, refused, { human: hasMotion ? showOnHuman(library) : null });
  } catch (error) {
    if (!isFatal(error)) library.free();
    throw error;
  }
}

class OpenedFile {
  /// The clips: the same on the human.
  clips;
  /// The number of joints of the file.
  joints;
  /// The faults of the files.
  warnings;
  /// What the page says of the human: `report` or `reason`. `null` for a file with meshes.
  onHuman = null;
  #own;
  #human = null;
  #isDemo;

  constructor(own, refused, { human = null, isDemo = false } = {}) {
    this.#own = own;
    this.#isDemo = isDemo;
    this.clips = own.clips.map(({ name, duration, skeleton, leftOut }) => ({ name, duration, skeleton, leftOut }));
    this.joints = own.joints(this.clips[0]?.skeleton ?? 0).length;
    this.warnings = [...refused, ...own.warnings];
    if (!human) return;
    this.#human = human.library;
    this.onHuman = { report: human.report, reason: human.reason };
  }

  /// The library that settings ask for: on the human unless they name the bones, or there is no such library.
  library({ figure }) {
    return (figure !== "bones" && this.#human) || this.#own;
  }

  /// True if settings ask for the built-in human.
  isHuman(settings) {
    return this.#isDemo || this.library(settings) === this.#human;
  }

  free() {
    this.#human?.free();
    this.#own.free();
  }
}

/// The clips of a library on the built-in human: `library` and `report`, or the `reason` why not.
function showOnHuman(own) {
  const demo = Library.demo();
  let library = null;
  try {
    library = own.retarget(demo, { inPlace: MAX_WAY });
    const report = library.retargeting;
    const found = new Set(report.joints.map(({ target }) => target));
    if (LIMBS.some((limbs) => limbs.every((limb) => found.has(limb)))) return { library, report };
    library.free();
    return { library: null, reason: "neither its arms nor its legs were found" };
  } catch (error) {
    if (isFatal(error)) throw error;
    return { library: null, reason: error.message };
  } finally {
    demo.free();
  }
}

/// Reads a file and the clips beside it. Clips that are refused are left out; `refused` says why.
function openLibrary({ name, bytes, others, clips }) {
  const library = Library.load(name, bytes, others);
  const refused = [];
  for (const clip of clips) {
    try {
      library.addClip(clip.name, clip.bytes);
    } catch (error) {
      if (isFatal(error)) throw error;
      const place = error.message.startsWith(clip.name) ? "" : `${clip.name}: `;
      refused.push(`${place}${error.message}`);
    }
  }
  return { library, refused };
}
