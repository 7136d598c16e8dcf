// The result of a check.

import { formatBoundShare, formatCount } from "./format.js";
import { verdictOf } from "./share.js";
import { table } from "./table.js";

/// The crowds whose skin matrices are in half precision.
const HALF = "half skin";

const result = document.getElementById("check-result");
const report = document.getElementById("check-report");
const details = document.getElementById("check-details");
const share = (worst) => ({ text: formatBoundShare(worst), className: worst > 1 ? "over" : "" });

export function clearCheck() {
  result.textContent = "";
  result.className = "result";
  report.hidden = true;
  details.replaceChildren();
}

/// What a link and the first line say of a report on a file.
export function summarize({ pass, worst, clips, crowds, poses, adapter }, file) {
  const isHalf = ({ name }) => name === HALF;
  const others = [...clips, ...crowds.filter((crowd) => !isHalf(crowd))].map((entry) => entry.worst);
  const half = crowds.find(isHalf)?.worst ?? null;
  return { pass, worst: half > 1 ? worst : Math.max(0, ...others), half, poses, file, adapter };
}

/// Shows the first line of a check.
export function showVerdict(check) {
  result.className = `result ${check.pass ? "pass" : "fail"}`;
  result.textContent = verdictOf(check);
}

/// Shows a report and its summary: verdict, worst error of each kind, worst error of each clip and crowd, poses, adapter
/// and browser.
export function showCheck({ kinds, clips, crowds }, check) {
  showVerdict(check);
  const rows = (list) => list.map((entry) => [entry.name, share(entry.worst)]);
  const machine = document.createElement("p");
  machine.className = "help";
  machine.textContent =
    `File: ${check.file}. ${formatCount(check.poses)} poses compared. GPU: ${check.adapter}. Browser: ${navigator.userAgent}`;
  details.replaceChildren(
    table("Worst error of each kind", ["kind", "share of its bound"], rows(kinds)),
    table("Worst error of each clip", ["clip", "share of its bound"], rows(clips)),
    table("Worst error of crowds that mix clips", ["crowd", "share of its bound"], rows(crowds)),
    machine,
  );
  report.hidden = false;
}

/// Shows that a check could not be done.
export function showCheckFailure(message) {
  // The verdict is the first word, also without numbers.
  result.textContent = `fail: ${message}`;
  result.className = "result fail";
}
