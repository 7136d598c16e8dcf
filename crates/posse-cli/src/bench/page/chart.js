// Charts as SVG. Both the page of `web/` and the pages of `posse bench --report` draw with this file, so it imports
// nothing. The style sheet of a page gives the colours, by the classes `grid`, `fine`, `series`, `band`, `curve`,
// `mark`, `leader` and `name`; `series-N` is the class of the N-th colour.

const SVG = "http://www.w3.org/2000/svg";
/// The smallest distance of two labels, as a share of the axis.
const MIN_DISTANCE = 0.07;
/// The height of a line of text.
const LINE = 16;

/// A number of up to three digits: `0.034`, `17.2`, `184 k`, `32 M`, `1.5 G`.
export function formatRate(number) {
  for (const [unit, name] of [[1e9, " G"], [1e6, " M"], [1e3, " k"]]) {
    if (number >= unit) return `${Number((number / unit).toPrecision(3))}${name}`;
  }
  return String(Number(number.toPrecision(3)));
}

/// A scale: the ends of the axis, the values with a label, the values with a finer line and no label, and a function
/// from a value to its place on the axis, from 0 to 1.
function scale(at, range, labels, between = []) {
  const [low, high] = range.map(at);
  return { range, labels, between, share: (value) => (at(value) - low) / (high - low) };
}

/// A logarithmic scale over positive values. Each value has a label if there is room.
export function stepScale(values) {
  const steps = [...new Set(values)].sort((a, b) => a - b);
  const [low, high] = [steps[0], steps.at(-1)];
  // A single value is in the middle.
  const made = scale(Math.log10, low < high ? [low, high] : [low / 2, high * 2], []);
  for (const step of steps) {
    const last = made.labels.at(-1);
    if (last === undefined || made.share(step) - made.share(last) >= MIN_DISTANCE) made.labels.push(step);
  }
  return made;
}

/// A logarithmic scale over positive values, between round numbers.
export function logScale(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const round = [];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); decade += 1) {
    round.push(...[1, 2, 5].map((digit) => Number(`${digit}e${decade}`)));
  }
  const first = Math.max(round.findLastIndex((number) => number <= low), 0);
  const above = round.findIndex((number) => number >= high);
  const chosen = round.slice(first, Math.max(above < 0 ? round.length - 1 : above, first + 1) + 1);
  const isDecade = (number) => number.toExponential().startsWith("1e");
  const isShort = chosen.length <= 7;
  const [labels, between] = isShort ? [chosen, []] : [chosen.filter(isDecade), chosen.filter((number) => !isDecade(number))];
  return scale(Math.log10, [chosen[0], chosen.at(-1)], labels, between);
}

/// A linear scale from 0 to a round number above the values, of which one is above 0.
export function linearScale(values) {
  const high = Math.max(...values);
  const decade = 10 ** Math.floor(Math.log10(high));
  const step = [0.1, 0.2, 0.5, 1, 2].map((digit) => digit * decade).find((step) => high / step <= 5);
  const count = Math.ceil(high / step);
  return scale((value) => value, [0, count * step], Array.from({ length: count + 1 }, (_, index) => index * step));
}

/// Moves labels apart by at least a line of text, and keeps them between top and bottom if there is room. `ends` has
/// the wanted heights.
export function apart(ends, top, bottom) {
  const order = ends.map((_, index) => index).sort((a, b) => ends[a] - ends[b]);
  const heights = [...ends];
  // A pass from the top moves labels down, then a pass from the bottom moves them up.
  let next = top;
  for (const index of order) {
    heights[index] = Math.max(heights[index], next);
    next = heights[index] + LINE;
  }
  let last = bottom;
  for (const index of order.reverse()) {
    heights[index] = Math.min(heights[index], last);
    last = heights[index] - LINE;
  }
  return heights;
}

function draw(parent, name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

const pointText = ({ x, y }) => `${formatRate(y)} at ${formatRate(x)}`;

/// The text of a chart for screen readers: its heading, its axes, and the ends of each series.
function description({ heading, across, up, series }) {
  const ends = ({ label, points }) =>
    [label, [...new Set([points[0], points.at(-1)])].map(pointText).join(", ")].filter(Boolean).join(": ");
  const axes = `${up[0].toUpperCase()}${up.slice(1)} by ${across}`;
  return [heading, axes, series.map(ends).join("; ")].filter(Boolean).join(". ");
}

/// A chart of a figure:
///
/// * `heading`, `fixed`: two lines above the chart, or undefined for a small chart without names of series
/// * `across`, `up`: the labels of the axes
/// * `isLinear`: whether the vertical axis is linear from 0
/// * `series`: lines, each with a `label`, the index `tone` of its colour, and `points` in the order of the axis: `x`,
///   `y`, and the ends `low` and `high` of the spread. All numbers are above 0.
export function chart({ heading, fixed, across, up, isLinear, series }) {
  const [width, height, left, right, top, bottom] = heading ? [500, 340, 54, 128, 82, 44] : [320, 220, 58, 12, 24, 40];
  const points = series.flatMap((one) => one.points);
  const xs = stepScale(points.map((point) => point.x));
  const ys = (isLinear ? linearScale : logScale)(points.flatMap(({ low, high }) => [low, high]));
  const x = (value) => left + xs.share(value) * (width - left - right);
  const y = (value) => height - bottom - ys.share(value) * (height - top - bottom);
  const made = document.createElementNS(SVG, "svg");
  made.setAttribute("class", "chart");
  made.setAttribute("viewBox", `0 0 ${width} ${height}`);
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", description({ heading, across, up, series }));
  if (heading) {
    draw(made, "text", { class: "heading", x: 12, y: 23 }, heading);
    draw(made, "text", { x: 12, y: 42 }, fixed);
  }
  draw(made, "text", { x: heading ? 12 : 4, y: top - (heading ? 19 : 12) }, up);
  draw(made, "text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, across);
  for (const [className, values] of [["fine", ys.between], ["grid", ys.labels]]) {
    for (const value of values) draw(made, "line", { class: className, x1: left, x2: width - right, y1: y(value), y2: y(value) });
  }
  for (const value of ys.labels) draw(made, "text", { x: left - 7, y: y(value) + 4, "text-anchor": "end" }, formatRate(value));
  for (const value of xs.labels) {
    draw(made, "line", { class: "grid", x1: x(value), x2: x(value), y1: top, y2: height - bottom });
    draw(made, "text", { x: x(value), y: height - bottom + 16, "text-anchor": "middle" }, formatRate(value));
  }
  const groups = series.map(({ label, tone }) => draw(made, "g", { class: `series series-${tone}`, "data-label": label }));
  const line = (list) => list.map(([across, up]) => `${x(across)},${y(up)}`).join(" ");
  series.forEach(({ points }, index) => {
    const [low, high] = [points.map((point) => [point.x, point.low]), points.map((point) => [point.x, point.high])];
    draw(groups[index], "polygon", { class: "band", points: line([...low, ...high.reverse()]) });
    draw(groups[index], "polyline", { class: "curve", points: line(points.map((point) => [point.x, point.y])) });
    for (const point of points) {
      const mark = draw(groups[index], "circle", { class: "mark", cx: x(point.x), cy: y(point.y), r: 3 });
      draw(mark, "title", {}, [series[index].label, pointText(point)].filter(Boolean).join(": "));
    }
  });
  if (heading) nameSeries(groups, series, { x, y, edge: width - right, top, bottom: height - bottom });
  return made;
}

/// Writes the name of each series to the right of its last point. The line to the name is fainter than the series,
/// because it is not a measurement.
function nameSeries(groups, series, { x, y, edge, top, bottom }) {
  const last = series.map(({ points }) => points.at(-1));
  const heights = apart(last.map((point) => y(point.y)), top, bottom);
  series.forEach(({ label }, index) => {
    const [height, end] = [heights[index], last[index]];
    draw(groups[index], "line", { class: "leader", x1: x(end.x), y1: y(end.y), x2: edge + 8, y2: height });
    draw(groups[index], "text", { class: "name", x: edge + 11, y: height + 4 }, label);
  });
}
