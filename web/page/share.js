// A result as a link, and as Markdown. A link holds the result in its fragment, which browsers send to no server.

import { formatBoundShare, formatCount, formatShare } from "./format.js";
import { formatRate } from "./chart.js";

const START = "#result=";
/// The version of what a link holds. It changes when the meaning of a field changes.
const VERSION = 1;
/// The longest fragment, text and list that are read from a link.
const [MAX_FRAGMENT, MAX_TEXT, MAX_ROWS] = [20_000, 400, 100];

/// The fragment of a link to a result: of `check`, `measure` or both, with the `posse`, `browser` and `began` of them.
export function linkOf(result) {
  const { check, measure, ...about } = result;
  const brief = { version: VERSION, ...about };
  if (check) brief.check = check;
  if (measure) brief.measure = { ...measure, rows: measure.rows.map(toList) };
  const bytes = new TextEncoder().encode(JSON.stringify(brief));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return START + text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/// The result that a fragment holds, or `null` if it holds none. Throws for one that cannot be read.
export function resultOf(fragment) {
  if (!fragment.startsWith(START)) return null;
  try {
    if (fragment.length > MAX_FRAGMENT) throw new Error("it is too long");
    const text = fragment.slice(START.length).replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return checked(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch (error) {
    throw new Error(`This link has no result that can be shown: ${error.message}.`);
  }
}

/// A result as Markdown, with a link to it.
export function markdownOf(result, address) {
  const { posse, browser, began, check, measure } = result;
  const lines = [`**posse ${plain(posse)}** on ${plain((measure ?? check).adapter)}, ${plain(began.slice(0, 10))}`, ""];
  if (check) lines.push(`Check of ${plain(check.file)}: ${plain(verdictOf(check))}`, "");
  if (measure) {
    lines.push("| characters | ms | joints per second | of the bandwidth |", "|---:|---:|---:|---:|");
    for (const cells of measure.rows.map(cellsOf)) lines.push(`| ${cells.join(" | ")} |`);
    lines.push("", `Times by the ${clockOf(measure.rows)}.`, "");
  }
  lines.push(`Browser: ${plain(browser)}. [Result](${address})`);
  return `${lines.join("\n")}\n`;
}

/// The verdict of a check in words. Skin matrices in half precision use most of their bound by their rounding alone, so
/// that they do not rule the number.
export function verdictOf({ pass, worst, half }) {
  const ofHalf = half === null ? "" : `; ${formatBoundShare(half)} for skin matrices in half precision`;
  return `${pass ? "pass" : "fail"} ${formatBoundShare(worst)} of the bound, at worst${ofHalf}`;
}

/// The cells of a row of a measurement.
export function cellsOf({ instances, milliseconds, jointsPerSecond, bandwidthShare }) {
  const share = bandwidthShare === null ? "–" : formatShare(bandwidthShare);
  return [formatCount(instances), formatRate(milliseconds), formatRate(jointsPerSecond), share];
}

/// The clock of the rows of a measurement.
export function clockOf(rows) {
  return rows.every((row) => row.gpuClock) ? "clock of the GPU" : "clock of the browser: the GPU has none";
}

/// The fields of a row of a measurement, in the order of a link.
const FIELDS = ["instances", "milliseconds", "jointsPerSecond", "bandwidthShare", "worst"];

function toList(row) {
  const brief = (number) => (number === null ? null : Number(number.toPrecision(6)));
  return [...FIELDS.map((field) => brief(row[field])), row.gpuClock];
}

/// The result of a link, whose text is of anyone's making.
function checked({ version, posse, browser, began, check, measure }) {
  if (version !== VERSION) throw new Error(`it is of version ${Number(version)}, this page reads ${VERSION}`);
  const result = { posse: textOf(posse), browser: textOf(browser), began: textOf(began) };
  if (check) {
    const { pass, worst, half, poses, file, adapter } = check;
    const numbers = { worst: numberOf(worst), half: half === null ? null : numberOf(half), poses: numberOf(poses) };
    result.check = { pass: pass === true, ...numbers, file: textOf(file), adapter: textOf(adapter) };
  }
  if (measure) {
    const { adapter, rows } = measure;
    if (!Array.isArray(rows) || rows.length === 0 || rows.length > MAX_ROWS) throw new Error("it has no rows");
    result.measure = { adapter: textOf(adapter), rows: rows.map(toRow) };
  }
  if (!check && !measure) throw new Error("it is empty");
  return result;
}

function toRow(list) {
  const row = Object.fromEntries(FIELDS.map((field, index) => [field, list[index] === null ? null : numberOf(list[index])]));
  if (FIELDS.some((field) => row[field] === null && field !== "bandwidthShare")) throw new Error("a number is missing");
  return { ...row, gpuClock: list[FIELDS.length] === true };
}

function textOf(value) {
  if (typeof value !== "string" || value.length > MAX_TEXT) throw new Error("a text is missing or too long");
  return value;
}

function numberOf(value) {
  if (typeof value !== "number" || !(value >= 0) || value > Number.MAX_VALUE) throw new Error("a number is missing or negative");
  return value;
}

/// Text without meaning for Markdown.
function plain(text) {
  return text.replaceAll(/[\\`*_[\]()<>|#~]/g, "\\$&").replaceAll(/\s+/g, " ");
}
