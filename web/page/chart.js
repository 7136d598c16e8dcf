// A chart of joints per second over the size of the crowd, both axes logarithmic.

import { formatRate } from "./format.js";

const SIZE = { width: 320, height: 220, left: 58, right: 12, top: 24, bottom: 40 };

function svg(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/// The powers of ten that enclose the values.
function decades(values) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(Math.ceil(Math.log10(Math.max(...values))), low + 1);
  return Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
}

/// A chart of points `[instances, joints per second]`, all above 0.
export function chart(points) {
  const [xs, ys] = [0, 1].map((axis) => decades(points.map((point) => point[axis])));
  const { width, height, left, right, top, bottom } = SIZE;
  const part = (value, ticks) => Math.log10(value / ticks[0]) / Math.log10(ticks.at(-1) / ticks[0]);
  const x = (value) => left + part(value, xs) * (width - left - right);
  const y = (value) => height - bottom - part(value, ys) * (height - top - bottom);
  const text = points.map(([count, rate]) => `${formatRate(rate)} at ${formatRate(count)}`).join(", ");
  const made = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img" });
  made.setAttribute("aria-label", `Joints per second by characters: ${text}`);
  for (const value of xs) {
    made.append(svg("line", { class: "grid", x1: x(value), x2: x(value), y1: top, y2: height - bottom }));
    made.append(svg("text", { x: x(value), y: height - bottom + 16, "text-anchor": "middle" }, formatRate(value)));
  }
  for (const value of ys) {
    made.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }));
    made.append(svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, formatRate(value)));
  }
  made.append(svg("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, "characters"));
  made.append(svg("text", { x: 4, y: 12 }, "joints per second"));
  made.append(svg("polyline", { class: "curve", points: points.map(([count, rate]) => `${x(count)},${y(rate)}`).join(" ") }));
  for (const [count, rate] of points) made.append(svg("circle", { class: "mark", cx: x(count), cy: y(rate), r: 3.5 }));
  return made;
}
