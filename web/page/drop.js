// Files dropped anywhere on the page.

import { droppedFiles } from "./files.js";

/// Calls `open` with a promise of the dropped files.
export function acceptDrops(hint, open) {
  // Enter and leave events come for every element below the pointer.
  let depth = 0;
  const show = (change) => {
    depth = Math.max(0, depth + change);
    hint.hidden = depth === 0;
  };
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragenter", (event) => hasFiles(event) && show(1));
  addEventListener("dragleave", (event) => hasFiles(event) && show(-1));
  addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    hint.hidden = true;
    open(droppedFiles(event.dataTransfer));
  });
}
