// The page of `posse bench --report`: draws the JSON of a run, which stands in the page. `chart.js` stands before this
// file in the same script.

// An error leaves a sentence in place of the page.
addEventListener("error", ({ message }) => {
  document.querySelector("main").textContent =
    `The run cannot be drawn (${message}). Its figures stand in the source of this page as JSON.`;
});

const run = JSON.parse(document.getElementById("run").textContent);
// Earlier runs have another name for the environment.
const environment = run.environment ?? run.circumstances;
const TONES = 6;
/// The text of a value that is not known.
const UNKNOWN = "–";

/// An element with attributes and content: texts, elements, or null for nothing.
function element(name, attributes, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content.flat().filter((part) => part !== null));
  return made;
}

const isKnown = (value) => value !== null && value !== undefined;
/// The text of a value; null for a value that is not known.
const textOf = (value, text) => (isKnown(value) ? text(value) : null);
const grouped = (number) => new Intl.NumberFormat("en").format(number);

/// A number with this many significant digits and no exponent: `12.34`, `1234`, `0.001234`.
function digits(number, count) {
  if (!Number.isFinite(number)) return UNKNOWN;
  const before = number === 0 ? count : Math.floor(Math.log10(Math.abs(number))) + 1;
  return number.toFixed(Math.min(Math.max(count - before, 0), 12));
}

/// The times of a case by the GPU's own clock if it has one, otherwise by the clock of the host.
const timesOf = (one) => one.gpu_ms ?? one.wall_ms;
const jointsPerSecond = (one, milliseconds) => (1e3 * one.joints_posed) / milliseconds;
const nanosecondsPerJoint = (one, milliseconds) => (1e6 * milliseconds) / one.joints_posed;

/// The engine of a case, with its threads, its skin format and what is unusual of its rig: `gpu`, `cpu, 4 threads`,
/// `gpu, half`, `gpu, uniform scales`.
function engineLabel(one) {
  const threads = one.engine === "cpu" ? one.adapter.split(",")[0] : null;
  const format = (one.skin_format ?? "matrix") === "matrix" ? null : one.skin_format;
  const scales = one.scales === "uniform" ? "uniform scales" : null;
  const angle = textOf(one.key_angle, (degrees) => `${degrees}° between keys`);
  return [one.engine, threads, format, scales, angle].filter(isKnown).join(", ");
}

/// The engines of the run, in the order of their first cases, each with its cases and the index of its colour.
const engines = [];
for (const one of run.cases) {
  const label = engineLabel(one);
  let engine = engines.find((engine) => engine.label === label && engine.adapter === one.adapter);
  if (!engine) engines.push((engine = { label, adapter: one.adapter, tone: engines.length % TONES, cases: [] }));
  engine.cases.push(one);
}

const MEASURES = {
  throughput: { up: "joints per second", value: jointsPerSecond },
  time: { up: "nanoseconds per joint", value: nanosecondsPerJoint },
  bandwidth: {
    up: "% of the GPU's write bandwidth",
    isLinear: true,
    value: (one, milliseconds) => (100 * one.bandwidth_share * timesOf(one).median) / milliseconds,
  },
};

/// The sizes that grow: the cost table, the label of the axis, the heading, what is measured, and the size of a case.
const AXES = [
  { table: "instances", across: "instances", heading: "Throughput as the crowd grows", measure: "throughput" },
  { table: "layers", across: "layers per instance", heading: "Throughput as layers are blended", measure: "throughput" },
  { table: "keys", across: "keys per track", heading: "Time per joint as clips grow", measure: "time" },
  { table: "depth", across: "levels of the hierarchy", heading: "Time per joint as the hierarchy deepens", measure: "time" },
  { table: "joints", across: "joints per skeleton", heading: "Time per joint as skeletons grow", measure: "time" },
  { table: "skeletons", across: "skeletons in the crowd", heading: "Time per joint as skeletons are mixed", measure: "time" },
  { table: "clips", across: "clips in the crowd", heading: "Time per joint as clips are mixed", measure: "time" },
  {
    table: "additive",
    across: "layers per instance",
    heading: "Throughput as additive layers are added to one clip",
    measure: "throughput",
    // The table has cases with two layers that blend, too; the plot has those with one.
    size: (one) => (one.layers === (one.additive ?? 0) + 1 ? one.layers : null),
  },
];

/// The sizes that all cases have in common, except for the size that grows: `64 joints, 60 keys, 10 levels, 1 layer`.
function fixedSizes(axis, cases) {
  const names = [
    ["instances", "instance", "instances"], ["joints", "joint", "joints"], ["keys", "key", "keys"],
    ["depth", "level", "levels"], ["clips", "clip", "clips"], ["layers", "layer", "layers"],
  ];
  const isFixed = (name) => name !== axis.table && isKnown(cases[0][name]) && cases.every((one) => one[name] === cases[0][name]);
  const text = ([name, singular, plural]) => `${grouped(cases[0][name])} ${cases[0][name] === 1 ? singular : plural}`;
  return names.filter(([name]) => isFixed(name)).map(text).join(", ");
}

/// The figure of some cases; null without a point. A case whose numbers are not all positive and finite has no point.
function figureOf(axis, measureName, cases) {
  const { up, isLinear = false, value } = MEASURES[measureName];
  const pointOf = (one) => {
    const [y, ...ends] = ["median", "p5", "p95"].map((part) => value(one, timesOf(one)[part]));
    return { x: axis.size ? axis.size(one) : one[axis.table], y, low: Math.min(...ends), high: Math.max(...ends) };
  };
  const isPositive = (number) => number > 0 && Number.isFinite(number);
  const seriesOf = ({ label, tone, cases: own }) => {
    const points = own.filter((one) => cases.includes(one)).map(pointOf);
    const valid = points.filter((point) => Object.values(point).every(isPositive));
    return { label, tone, points: valid.sort((a, b) => a.x - b.x) };
  };
  const series = engines.map(seriesOf).filter(({ points }) => points.length > 0);
  const { heading, across } = axis;
  return series.length === 0 ? null : { heading, fixed: fixedSizes(axis, cases), across, up, isLinear, series };
}

/// The figures: one per cost table, one per rig outside of the tables, and one of the bandwidth.
function figures() {
  const made = AXES.map((axis) => figureOf(axis, axis.measure, run.cases.filter((one) => one.table === axis.table)));
  const rig = ({ skeletons, joints, keys, depth, layers }) => JSON.stringify([skeletons, joints, keys, depth, layers]);
  const rest = run.cases.filter((one) => !isKnown(one.table));
  for (const name of new Set(rest.map(rig))) {
    made.push(figureOf(AXES[0], "throughput", rest.filter((one) => rig(one) === name)));
  }
  const crowds = run.cases.filter((one) => !isKnown(one.table) || one.table === "instances");
  const isSame = (one) => one.joints === crowds[0].joints && one.layers === crowds[0].layers;
  made.push(figureOf({ ...AXES[0], heading: "Bandwidth of the GPU that poses use" }, "bandwidth", crowds.filter(isSame)));
  return made.filter(isKnown);
}

/// The passes of all cases, in the order of a frame.
const PASSES = [...new Set(run.cases.flatMap((one) => Object.keys(one.gpu_pass_ms ?? {})))];
/// The median of a part of the GPU's state, and its range unless all samples are the same.
const rangeOf = (range) => textOf(range, ({ median, min, max }) =>
  min === max ? digits(median, 4) : `${digits(median, 4)} (${digits(min, 4)}–${digits(max, 4)})`);

/// The columns of the table: a name, and the text of a case. A column without any text is left out.
const COLUMNS = [
  ["grows", (one) => one.table],
  ["instances", (one) => grouped(one.instances)],
  ["posed", (one) => (one.instances_posed < one.instances ? grouped(one.instances_posed) : null)],
  ...["skeletons", "joints", "keys", "depth", "clips", "layers"].map((name) => [name, (one) => textOf(one[name], grouped)]),
  ["additive", (one) => (one.additive > 0 ? grouped(one.additive) : null)],
  ["scales", (one) => one.scales],
  ["degrees between keys", (one) => textOf(one.key_angle, grouped)],
  ["Mjoints/s", (one) => digits(jointsPerSecond(one, timesOf(one).median) / 1e6, 4)],
  ["ns/joint", (one) => digits(nanosecondsPerJoint(one, timesOf(one).median), 4)],
  ["ms", (one) => digits(timesOf(one).median, 4)],
  ["p5", (one) => digits(timesOf(one).p5, 4)],
  ["p95", (one) => digits(timesOf(one).p95, 4)],
  ["p99", (one) => textOf(timesOf(one).p99, (p99) => digits(p99, 4))],
  ["frames", (one) => grouped(timesOf(one).frames)],
  ["back to back ms", (one) => textOf(one.gpu_back_to_back_ms, ({ median }) => digits(median, 4))],
  ["back to back p99", (one) => textOf(one.gpu_back_to_back_ms?.p99, (p99) => digits(p99, 4))],
  ...PASSES.map((pass) => [`${pass} ms`, (one) => textOf(one.gpu_pass_ms?.[pass], ({ median }) => digits(median, 4))]),
  ["MHz", (one) => rangeOf(one.gpu_state?.core_mhz)],
  ["memory MHz", (one) => rangeOf(one.gpu_state?.memory_mhz)],
  ["W", (one) => rangeOf(one.gpu_state?.watts)],
  ["°C", (one) => rangeOf(one.gpu_state?.celsius)],
  ["clocks held by", (one) => textOf(one.gpu_state?.throttle_reasons, (reasons) => reasons.join(", ") || "nothing")],
  ["library bytes", (one) => textOf(one.library_bytes, grouped)],
  ["bytes written", (one) => textOf(one.bytes_written, grouped)],
  ["GB/s", (one) => textOf(one.bytes_per_second, (bytes) => digits(bytes / 1e9, 4))],
  ["% of peak", (one) => textOf(one.bandwidth_share, (share) => digits(100 * share, 3))],
  ["% of strided peak", (one) => textOf(one.strided_bandwidth_share, (share) => digits(100 * share, 3))],
  ["kernel", (one) => textOf(one.kernels, (kernels) => kernels.join(", "))],
  ["check", (one) => textOf(one.within_contract, (isWithin) => {
    const share = textOf(one.worst_share_of_contract, (share) => `, ${digits(100 * share, 2)} % of the bound`);
    return `${isWithin ? "ok" : "BEYOND THE CONTRACT"}${share ?? ""}`;
  })],
];

function table() {
  const columns = COLUMNS.filter(([, text]) => run.cases.some((one) => isKnown(text(one))));
  const headings = ["engine", ...columns.map(([name]) => name)].map((name) => element("th", { scope: "col" }, name));
  const row = (one) => element("tr", {},
    element("th", { scope: "row" }, engineLabel(one)),
    columns.map(([, text]) => element("td", {}, text(one) ?? UNKNOWN)));
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "All figures" },
    element("table", {}, element("thead", {}, element("tr", {}, headings)), element("tbody", {}, run.cases.map(row))));
}

/// A list of facts `[name, text]`, without those whose text is null or empty.
function factList(facts) {
  const rows = facts.filter(([, text]) => isKnown(text) && text !== "");
  return element("dl", {}, rows.map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", {}, text))));
}

/// The identity of the GPU, and the source of its state.
function gpuFacts() {
  const gpu = run.gpu;
  if (!isKnown(gpu)) return [];
  const number = (value) => `0x${value.toString(16)}`;
  return [
    ["GPU driver", [gpu.driver, gpu.driver_info].filter(Boolean).join(" ")],
    ["GPU device", [`vendor ${number(gpu.vendor)}`, `device ${number(gpu.device)}`, gpu.pci_bus_id, gpu.uuid].filter(isKnown).join(", ")],
    ["GPU's ECC", gpu.ecc],
    ["GPU's MIG", gpu.mig],
    ["GPU's PCIe", gpu.pcie],
    ["GPU clocks and power", gpu.state_from ?? textOf(gpu.state_missing, (reason) => `not read: ${reason}`)],
  ];
}

/// The environment, the engines and the bandwidth.
function facts() {
  const { processor, cores, threads, memory, system, architecture } = environment?.machine ?? {};
  const parts = [processor, textOf(cores, (cores) => `${cores} cores`), textOf(threads, (threads) => `${threads} threads at once`)];
  const gigabytes = (unit) => (bytes) => `${digits(bytes / 1e9, 3)} ${unit}`;
  return [
    ["Began", textOf(environment?.began, (began) => began.replace("T", " ").replace("Z", " UTC"))],
    ["Processor", parts.filter(isKnown).join(", ")],
    ["Memory", textOf(memory, gigabytes("GB"))],
    ["System", environment ? `${system ?? "unknown system"}, ${architecture}` : null],
    ...engines.map(({ label, adapter }) => [label, adapter]),
    ["GPU writes at best", textOf(run.write_bandwidth_bytes_per_second, gigabytes("GB/s"))],
    ["GPU writes at best as poses are written", textOf(run.strided_write_bandwidth_bytes_per_second, gigabytes("GB/s"))],
    ["GPU reads at best", textOf(run.read_bandwidth_bytes_per_second, gigabytes("GB/s"))],
    ["GPU copies at best", textOf(run.copy_bandwidth_bytes_per_second, gigabytes("GB/s"))],
    ...gpuFacts(),
    ["posse", run.posse],
  ];
}

/// The best throughput of each engine.
function best() {
  const card = ({ label, tone, cases }) => {
    const rate = (one) => jointsPerSecond(one, timesOf(one).median);
    const finite = cases.filter((one) => Number.isFinite(rate(one)));
    if (finite.length === 0) return null;
    const most = finite.reduce((best, one) => (rate(one) > rate(best) ? one : best));
    const layers = most.layers > 1 ? `, ${most.layers} layers` : "";
    return element("li", { class: `series-${tone}` },
      element("strong", {}, digits(rate(most) / 1e6, 3)), element("span", {}, " million joints/s"), element("b", {}, label),
      element("small", {}, `at best, of ${grouped(most.instances)} instances of ${grouped(most.joints)} joints${layers}`));
  };
  return element("ul", { class: "best", "aria-label": "The best of each engine" }, engines.map(card));
}

/// The start-up of each engine.
function startUps() {
  const text = ([step, time]) => `${step.replaceAll("_", " ")} ${digits(time, 3)} ms`;
  return Object.entries(run.start_up_ms).map(([engine, steps]) => [engine, Object.entries(steps).map(text).join(", ")]);
}

/// The notes on the measurement.
function notes() {
  const isPart = (one) => one.engine === "reference" && one.joints_posed < one.instances;
  const bandwidth = run.write_bandwidth_bytes_per_second;
  return [
    "Every case was first compared with the f64 reference: 64 instances, spread evenly over the crowd. The check is the " +
      "largest error of all quantities, as a share of its bound.",
    "The time of a frame ends when the skin matrices are complete. For the CPU engine it is measured by the clock of the " +
      "host. For the GPU it is measured by its own clock if it has one, otherwise by the clock of the host, from recording " +
      "to completion. Nothing is read back.",
    "Milliseconds are the median of the frames; p5 and p95 are the 5th and the 95th percentile.",
    "The clock advances by 1/60 s per frame; instances begin at random times of their clips.",
    "Library bytes are the memory in which an engine keeps its skeletons and clips: packed keys, and on the CPU " +
      "engine the plan of each clip. For the GPU engine, the size of its buffers is counted.",
    run.cases.some(isPart) ? "The reference poses at most 64 instances of a crowd; its figures are of these." : null,
    textOf(bandwidth, (bytes) => "The write bandwidth of the GPU was measured by a pass that only writes: " +
      `${digits(bytes / 1e9, 3)} GB/s here. \`% of peak\` is the share of this bandwidth that poses use.`),
    textOf(run.strided_write_bandwidth_bytes_per_second, () => "`% of strided peak` is the share of the bandwidth of a " +
      "pass that only writes, in the shape of the pose pass: 48 bytes per invocation, 64 invocations per workgroup."),
    run.cases.some((one) => isKnown(one.gpu_back_to_back_ms)) ? "The milliseconds of a GPU are of frames that are submitted " +
      "one by one, so that it idles between them. Back to back are times of many frames in one submission, each from " +
      "the end of a frame to the end of the next. The times of passes are of frames in which each pass ends before the " +
      "next begins." : null,
    run.cases.some((one) => isKnown(one.gpu_state)) ? "Clocks, power and temperature are medians of samples during a case, " +
      "with the least and the greatest. They include the check and the pauses between frames." : null,
  ].filter(isKnown);
}

const section = (heading, ...content) => element("section", {}, element("h2", {}, heading), ...content);
const list = (texts) => element("ul", {}, texts.map((text) => element("li", {}, text)));

document.title = ["posse bench", run.file ?? run.crowd].filter(isKnown).join(": ");
document.querySelector("main").append(
  element("header", {},
    element("h1", {}, document.title),
    environment ? element("pre", {}, element("code", {}, environment.command)) : null),
  factList(facts()),
  best(),
  section("Plots",
    element("p", {}, "Points are medians of many frames; the band reaches from the 5th to the 95th percentile."),
    element("div", { class: "plots" }, figures().map((figure) => element("figure", {}, chart(figure)))),
    ...(run.cases.some((one) => isKnown(one.bandwidth_share)) ? [] :
      [element("p", {}, "No GPU was measured, and so no share of its bandwidth.")])),
  section("All figures", table()),
  section("From nothing to the first pose", factList(startUps())),
  section("How it was measured", list(notes())),
  ...(run.skipped.length > 0 ? [section("Left out", list(run.skipped))] : []),
);
