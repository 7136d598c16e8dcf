// The result of a measurement.

import { chart, formatRate } from "./chart.js";
import { formatBoundShare } from "./format.js";
import { cellsOf, clockOf } from "./share.js";
import { table } from "./table.js";

const summary = document.getElementById("measure-summary");
const report = document.getElementById("measure-report");
const result = document.getElementById("measure-result");
let address = null;

export function clearMeasurement() {
  summary.textContent = "";
  summary.className = "result";
  report.hidden = true;
  result.replaceChildren();
  if (address) URL.revokeObjectURL(address);
  address = null;
}

/// Shows rows of a measurement and a chart of them, and a link to save the JSON unless it is `null`.
export function showMeasurement({ rows }, json) {
  summary.textContent = `Up to ${formatRate(Math.max(...rows.map((row) => row.jointsPerSecond)))} joints per second`;
  const point = ({ instances, jointsPerSecond: rate }) => ({ x: instances, y: rate, low: rate, high: rate });
  const points = rows.map(point).filter(({ x, y }) => x > 0 && y > 0);
  const figure = { across: "characters", up: "joints per second", series: [{ label: "", tone: 0, points }] };
  const error = document.createElement("p");
  error.className = "help";
  error.textContent = `Worst error of the poses: ${formatBoundShare(Math.max(...rows.map((row) => row.worst)))} of its bound.`;
  const headings = ["characters", "ms", "joints per second", "of the bandwidth"];
  const figures = points.length > 0 ? [chart(figure)] : [];
  const caption = `Crowds by size, timed by the ${clockOf(rows)}`;
  result.replaceChildren(...figures, table(caption, headings, rows.map(cellsOf)), error);
  if (json !== null) result.append(linkToSave(json));
  report.hidden = false;
}

function linkToSave(json) {
  address = URL.createObjectURL(new Blob([json], { type: "application/json" }));
  const save = document.createElement("a");
  Object.assign(save, { href: address, download: "posse-bench.json", textContent: "Save JSON" });
  save.dataset.testid = "save";
  const line = document.createElement("p");
  line.className = "row";
  line.append(save);
  return line;
}

/// Shows that a measurement could not be done.
export function showMeasurementFailure(message) {
  summary.textContent = message;
  summary.className = "result fail";
}
