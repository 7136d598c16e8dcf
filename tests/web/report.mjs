// The pages of `posse bench --report` in Chromium: the plots show the figures of the JSON in the right positions, and the
// table and the facts have them as text. It needs the command posse, which POSSE_BIN names.
//
// PAGE_PICTURES names a folder, from the root of the repository, for README's picture of a plot:
// `PAGE_PICTURES=examples tests/web/run report`. Then POSSE_BIN should name a release build.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { LONGEST, withPage } from "./browser.mjs";
import { COMMAND, PICTURES, ROOT } from "./posse_page.mjs";

const PAGE = join(ROOT, "crates/posse-cli/src/bench/page");
const BROWSER = JSON.parse(readFileSync(join(ROOT, "crates/posse-cli/tests/benchmark_page/browser.json"), "utf8"));
/// Milliseconds of a test. The measurement for the picture takes minutes.
const timeout = PICTURES ? LONGEST : 300_000;
const skip = COMMAND ? false : "the command posse is not built";
if (skip) process.stderr.write("SKIPPED: pages of benchmarks, which need the command posse; POSSE_BIN can name it\n");

// It has no package.json beside it, which would tell Node.js that it is a module.
const source = readFileSync(join(PAGE, "chart.js"), "utf8");
const { apart, formatRate, linearScale, logScale, stepScale } = await import(`data:text/javascript,${encodeURIComponent(source)}`);

/// Runs `posse bench` in a folder of its own, and calls `work` with the standard output and the page, if there is one.
async function withBench(options, files, work) {
  const folder = mkdtempSync(join(tmpdir(), "posse-report-"));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content));
    const command = ["bench", "--report", "page.html", ...options];
    const { status, stdout, stderr } = spawnSync(COMMAND, command, { cwd: folder, encoding: "utf8", timeout });
    assert.equal(status, 0, stderr);
    await withPage({ "/": folder }, async ({ page, address, problems }) => {
      await page.goto(`${address}/page.html`);
      await work(page, stdout && JSON.parse(stdout), problems);
      assert.deepEqual(problems, []);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const withReport = (run, work) => withBench(["--from", "run.json"], { "run.json": run }, work);

/// A run of two cost tables on both engines that every machine has.
const withRun = (work) => {
  const tables = ["--table", "instances,keys", "--table-joints", "128", "--memory", "0.005", "--threads", "1,2"];
  return withBench(["--json", "--seconds", "0", "--engine", "cpu,reference", ...tables], {}, work);
};

const labelOf = ({ engine, adapter }) => (engine === "cpu" ? `cpu, ${adapter.split(",")[0]}` : engine);
const timesOf = (one) => one.gpu_ms ?? one.wall_ms;
const throughput = (one) => (one.joints_posed * 1e3) / timesOf(one).median;
const time = (one) => (timesOf(one).median * 1e6) / one.joints_posed;

/// The number in a label of an axis: `0.5`, `10 k`, `1 M`; NaN for other texts.
function numberOf(text) {
  const [digits, unit] = text.split(" ");
  return Number(digits) * ({ undefined: 1, k: 1e3, M: 1e6, G: 1e9 }[unit] ?? NaN);
}

/// The positions of values on an axis, from its first and its last label `[text, position]`.
function ruler(labels, isLogarithmic) {
  const at = isLogarithmic ? Math.log10 : (value) => value;
  const found = labels.map(([text, place]) => [numberOf(text), place]).filter(([value]) => !Number.isNaN(value));
  found.sort((a, b) => a[0] - b[0]);
  const [[low, start], [high, end]] = [found[0], found.at(-1)];
  return (value) => start + ((end - start) * (at(value) - at(low))) / (at(high) - at(low));
}

/// The charts of a page: heading, labels of the axes, and the points of each series.
const chartsOf = (page) => page.evaluate(() => [...document.querySelectorAll("svg.chart")].map((svg) => {
  const place = (element, name) => Number(element.getAttribute(name));
  const texts = (anchor, name) =>
    [...svg.querySelectorAll(`text[text-anchor=${anchor}]`)].map((text) => [text.textContent, place(text, name)]);
  const series = [...svg.querySelectorAll("g.series")].map((group) => ({
    label: group.querySelector("text").textContent,
    points: [...group.querySelectorAll("circle")].map((circle) => [place(circle, "cx"), place(circle, "cy")]),
  }));
  const [heading, description] = [svg.querySelector(".heading").textContent, svg.getAttribute("aria-label")];
  return { heading, description, role: svg.getAttribute("role"), across: texts("middle", "x"), up: texts("end", "y"), series };
}));

/// Asserts that a chart has a point at the right position for each case.
function assertShows(chart, cases, x, y, isLogarithmic = true) {
  assert.equal(chart.role, "img");
  assert.ok(chart.description.startsWith(chart.heading), chart.description);
  assert.ok(cases.length >= 2, chart.heading);
  const [across, up] = [ruler(chart.across, true), ruler(chart.up, isLogarithmic)];
  assert.deepEqual(chart.series.map(({ label }) => label), [...new Set(cases.map(labelOf))]);
  for (const { label, points } of chart.series) {
    const own = cases.filter((one) => labelOf(one) === label);
    assert.equal(points.length, own.length, `${chart.heading}: ${label}`);
    own.forEach((one, index) => {
      const expected = [across(x(one)), up(y(one))];
      // Labels of the vertical axis stand four units below their lines, so that their middle is at the line.
      const found = [points[index][0], points[index][1] + 4];
      const isNear = expected.every((value, axis) => Math.abs(value - found[axis]) <= 0.5);
      assert.ok(isNear, `${chart.heading}, ${label}: ${found}, not ${expected}`);
    });
  }
}

test("scales lie between round numbers and have labels where there is room", () => {
  assert.deepEqual(stepScale([10, 1, 100, 10]).labels, [1, 10, 100]);
  assert.equal(stepScale([10, 1, 100]).share(10), 0.5);
  assert.deepEqual(stepScale([1, 100, 101, 1e6]).labels, [1, 100, 1e6]);
  assert.ok(Math.abs(stepScale([8]).share(8) - 0.5) < 1e-9, "a single value is in the middle");
  assert.deepEqual(logScale([3.1, 47]).labels, [2, 5, 10, 20, 50]);
  const long = logScale([0.15, 230]);
  assert.deepEqual([long.range, long.labels, long.between.length], [[0.1, 500], [0.1, 1, 10, 100], 8]);
  const [low, high] = logScale([1]).range;
  assert.ok(low <= 1 && 1 <= high && low < high);
  assert.deepEqual(linearScale([0.016, 0.021]).range, [0, 0.025]);
  assert.deepEqual(linearScale([0.9]).labels.map(formatRate), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
});

test("numbers and labels", () => {
  assert.deepEqual([0.5, 200, 1e4, 1.5e6, 2e9, 1].map(formatRate), ["0.5", "200", "10 k", "1.5 M", "2 G", "1"]);
  assert.deepEqual(apart([100, 101, 500, 99], 0, 1000), [115, 131, 500, 99], "a line apart");
  assert.deepEqual(apart([1000, 1000], 0, 1000), [984, 1000], "inside");
  assert.deepEqual(apart([-5], 0, 1000), [0]);
});

test("plots show the figures at their positions", { skip, timeout }, async () => {
  await withRun(async (page, run) => {
    const charts = await chartsOf(page);
    assert.deepEqual(charts.map(({ heading }) => heading), ["Throughput as the crowd grows", "Time per joint as clips grow"]);
    const of = (table) => run.cases.filter((one) => one.table === table);
    assertShows(charts[0], of("instances"), (one) => one.instances, throughput);
    assertShows(charts[1], of("keys"), (one) => one.keys, time);
  });
  await withReport(BROWSER, async (page) => {
    const charts = await chartsOf(page);
    assert.deepEqual(charts.map(({ heading }) => heading), ["Throughput as the crowd grows", "Bandwidth of the GPU that poses use"]);
    assertShows(charts[0], BROWSER.cases, (one) => one.instances, throughput);
    assertShows(charts[1], BROWSER.cases, (one) => one.instances, (one) => 100 * one.bandwidth_share, false);
  });
});

test("the table and the facts have the figures of the JSON", { skip, timeout }, async () => {
  await withRun(async (page, run) => {
    const rows = await page.locator("tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.equal(rows.length, 1 + run.cases.length);
    run.cases.forEach((one, index) => {
      const row = rows[index + 1];
      const cell = (name) => row[rows[0].indexOf(name)];
      const whole = (name) => (cell(name) === "–" ? null : Number(cell(name).replaceAll(",", "")));
      assert.equal(row[0], labelOf(one));
      for (const name of ["instances", "skeletons", "joints", "keys", "depth", "clips", "layers"]) assert.equal(whole(name), one[name], name);
      assert.equal(whole("library bytes"), one.library_bytes);
      assert.equal(whole("bytes written"), one.bytes_written);
      const figures = {
        "Mjoints/s": one.joints_per_second / 1e6, "ns/joint": time(one), ms: timesOf(one).median, p5: timesOf(one).p5, p95: timesOf(one).p95,
        "GB/s": one.bytes_per_second === null ? null : one.bytes_per_second / 1e9,
      };
      for (const [name, figure] of Object.entries(figures)) {
        if (figure === null) assert.equal(cell(name), "–", name);
        else assert.ok(Math.abs(Number(cell(name)) / figure - 1) <= 5e-4, `${name}: ${cell(name)}, not ${figure}`);
      }
      assert.ok(cell("check").startsWith(one.engine === "reference" ? "–" : "ok, "), cell("check"));
    });
    const { command, began, machine } = run.environment;
    assert.equal(await page.locator("pre").textContent(), command);
    const facts = await page.locator("dd").allTextContents();
    const adapters = run.cases.map(({ adapter }) => adapter);
    for (const text of [began.replace("T", " ").replace("Z", " UTC"), `${machine.cores} cores`, ...adapters]) {
      assert.ok(facts.some((fact) => fact.includes(text)), `${text}: ${facts}`);
    }
    const items = await page.locator("li").allTextContents();
    for (const text of run.skipped) assert.ok(items.includes(text), text);
  });
});

test("texts of the system are shown, and not run", { skip, timeout }, async () => {
  const hostile = "</pre></script><script>document.title = \"hacked\"</script><img src=x onerror=\"document.title='hacked'\">&amp;\u2028";
  const run = structuredClone(BROWSER);
  Object.assign(run, { circumstances: run.environment, file: hostile, skipped: [hostile] });
  // The name of the environment in runs of older versions.
  delete run.environment;
  run.circumstances.command = hostile;
  run.circumstances.machine.processor = hostile;
  for (const one of run.cases) Object.assign(one, { adapter: hostile, engine: `gpu${hostile}`, table: "keys" });
  await withReport(run, async (page) => {
    assert.equal(await page.evaluate(() => document.scripts.length + document.images.length), 2);
    assert.ok((await page.title()).startsWith(`posse bench: ${hostile.slice(0, -1)}`));
    for (const name of ["pre", "li", "dd", "h1", "th", "svg text"]) {
      const texts = await page.locator(name).evaluateAll((all) => all.map((element) => element.textContent));
      assert.ok(texts.some((text) => text.includes(hostile)), name);
    }
  });
});

test("figures beyond the scale are only in the table", { skip, timeout }, async () => {
  const times = { ...BROWSER.cases[0].wall_ms, p5: 0 };
  for (const change of [{ gpu_ms: null, joints_posed: 0 }, { gpu_ms: times }, { gpu_ms: null, wall_ms: times }]) {
    const run = structuredClone(BROWSER);
    for (const one of run.cases) Object.assign(one, { keys: 2 ** 64, bandwidth_share: null, ...change });
    await withReport(run, async (page) => {
      assert.equal(await page.locator("circle").count(), 0);
      assert.equal(await page.locator("tr").count(), 1 + run.cases.length);
    });
  }
});

test("a run that cannot be drawn leaves a sentence", { skip, timeout }, async () => {
  await withReport(BROWSER, async (page, _, problems) => {
    const response = await page.request.get(page.url());
    const body = (await response.text()).replace("\"skipped\":[]", "\"skipped\":null");
    await page.route("**/page.html", (route) => route.fulfill({ body, contentType: "text/html" }));
    await page.reload();
    const sentence = /^The run cannot be drawn \(.+\)\. Its figures stand in the source/;
    assert.match(await page.locator("main").textContent(), sentence);
    assert.equal(problems.splice(0).length, 1);
  });
});

const skipPicture = skip || (PICTURES ? false : "PAGE_PICTURES names no folder");
test("the picture of README is taken", { skip: skipPicture, timeout }, async () => {
  await withBench(["--json", "--table", "instances", "--engine", "cpu,gpu,reference"], {}, async (page) => {
    const plot = page.locator("svg.chart").first();
    await plot.evaluate((svg) => {
      document.querySelector("main").replaceChildren(svg);
      Object.assign(svg.style, { display: "block", width: "1024px", background: "white" });
    });
    await plot.screenshot({ path: join(PICTURES, "throughput.png") });
  });
});

test("text is legible on light and on dark, wide and narrow", { skip, timeout }, async () => {
  await withReport(BROWSER, async (page) => {
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const colours = await page.evaluate(() => {
        const probe = document.body.appendChild(document.createElement("p"));
        const colour = (className, name) => {
          Object.assign(probe, { className }).style.color = `var(${name})`;
          return getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
        };
        const series = Array.from({ length: 6 }, (_, index) => colour(`series-${index}`, "--tone"));
        const found = [colour("", "--surface"), colour("", "--ink"), colour("", "--muted"), ...series];
        probe.remove();
        return found;
      });
      // Contrast as WCAG 2 defines it.
      const linear = (channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
      const luminance = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, part, index) => sum + part * linear(colour[index] / 255), 0.05);
      const [surface, ...texts] = colours.map(luminance);
      for (const text of texts) assert.ok(Math.max(text, surface) / Math.min(text, surface) >= 4.5, `${colorScheme}: ${colours}`);
      assert.equal(new Set(colours.map(String)).size, colours.length, "all colours differ");
    }
    await page.setViewportSize({ width: 360, height: 740 });
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360, "the page scrolls sideways");
  });
});
