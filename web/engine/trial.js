// Check and measurement: work in slices, with a pause between two slices for frames and messages.

import { isFatal } from "../rpc.js";

/// Runs a check or a measurement to its end: `start` makes it from device and library, `progress` is called after each
/// slice, and `finish` reads its result. `isWanted` tells if it shall go on. Returns `null` for one that was stopped.
export async function runTrial(stage, { start, progress, finish, isWanted }) {
  const trial = await stage.withLibrary(start);
  let result = null;
  try {
    while (isWanted()) {
      const done = await stage.withLibrary(() => trial.step());
      if (!done) {
        result = finish(trial);
        break;
      }
      progress({ done: done.done, total: done.total });
      await new Promise((resolve) => setTimeout(resolve));
    }
  } catch (error) {
    if (!isFatal(error)) trial.free();
    throw error;
  }
  trial.free();
  return result;
}
