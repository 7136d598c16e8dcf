// The result of a check.

import { formatBoundShare, formatCount } from "./format.js";
import { table } from "./table.js";

const result = document.getElementById("check-result");
const details = document.getElementById("check-details");
const share = (worst) => ({ text: formatBoundShare(worst), className: worst > 1 ? "over" : "" });

export function clearCheck() {
  result.textContent = "";
  result.className = "result";
  details.replaceChildren();
}

/// Shows a report on a file: verdict, worst error of each kind, worst error of each clip and crowd, poses, adapter and
/// browser.
export function showCheck({ pass, worst, kinds, clips, crowds, poses, adapter }, file) {
  const verdict = pass ? "pass" : "fail";
  result.className = `result ${verdict}`;
  result.textContent = `${verdict} ${formatBoundShare(worst)} of the bound, at worst`;
  const rows = (list) => list.map((entry) => [entry.name, share(entry.worst)]);
  const machine = document.createElement("p");
  machine.className = "help";
  machine.textContent = `File: ${file}. ${formatCount(poses)} poses compared. GPU: ${adapter}. Browser: ${navigator.userAgent}`;
  details.replaceChildren(
    table("Worst error of each kind", ["kind", "share of its bound"], rows(kinds)),
    table("Worst error of each clip", ["clip", "share of its bound"], rows(clips)),
    table("Worst error of crowds that mix clips", ["crowd", "share of its bound"], rows(crowds)),
    machine,
  );
}

/// Shows that a check could not be done.
export function showCheckFailure(message) {
  // The verdict is the first word, also without numbers.
  result.textContent = `fail: ${message}`;
  result.className = "result fail";
}
