// The result of a measurement.

import { chart, formatRate } from "./chart.js";
import { formatBoundShare, formatCount, formatShare } from "./format.js";
import { table } from "./table.js";

const summary = document.getElementById("measure-summary");
const result = document.getElementById("measure-result");
let address = null;

export function clearMeasurement() {
  summary.textContent = "";
  summary.className = "result";
  result.replaceChildren();
  if (address) URL.revokeObjectURL(address);
  address = null;
}

/// Shows rows of a measurement, a chart of them, and a link to save the JSON.
export function showMeasurement({ json, rows }) {
  if (rows.length === 0) return showMeasurementFailure("Nothing was measured: this GPU has too little memory for the smallest crowd.");
  summary.textContent = `Up to ${formatRate(Math.max(...rows.map((row) => row.jointsPerSecond)))} joints per second`;
  const point = ({ instances, jointsPerSecond: rate }) => ({ x: instances, y: rate, low: rate, high: rate });
  const points = rows.map(point).filter(({ y }) => y > 0);
  const figure = { across: "characters", up: "joints per second", series: [{ label: "", tone: 0, points }] };
  const clock = rows.every((row) => row.gpuClock) ? "clock of the GPU" : "clock of the browser: the GPU has none";
  const save = document.createElement("a");
  address = URL.createObjectURL(new Blob([json], { type: "application/json" }));
  Object.assign(save, { href: address, download: "posse-bench.json", textContent: "Save JSON" });
  save.dataset.testid = "save";
  const line = document.createElement("p");
  line.className = "row";
  line.append(save);
  const error = document.createElement("p");
  error.className = "help";
  error.textContent = `Worst error of the poses: ${formatBoundShare(Math.max(...rows.map((row) => row.worst)))} of its bound.`;
  const headings = ["characters", "ms", "joints per second", "of the bandwidth"];
  const cells = rows.map((row) => [
    formatCount(row.instances),
    formatRate(row.milliseconds),
    formatRate(row.jointsPerSecond),
    row.bandwidthShare === null ? "–" : formatShare(row.bandwidthShare),
  ]);
  result.replaceChildren(...(points.length > 0 ? [chart(figure)] : []), table(`Crowds by size, timed by the ${clock}`, headings, cells), error, line);
}

/// Shows that a measurement could not be done.
export function showMeasurementFailure(message) {
  summary.textContent = message;
  summary.className = "result fail";
}
