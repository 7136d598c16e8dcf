// The native tests of posse in Chromium: what the GPU answers in a page, against the same hand-worked cases, figures
// and contract.
//
//     tests/web/run suite                    # an eighth of the random cases
//     POSSE_ALL_TESTS=1 tests/web/run suite  # all
//
// SUITE=layers runs only the tests whose names begin so, also the long ones. Modules and tests in suite/left_out.txt do
// not run.

import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { LONGEST, withPage } from "./browser.mjs";
import { collected } from "./collected.mjs";

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), "suite");
/// Collected figures: those of Cocos Creator, which tests read by name.
const FIGURES = collected("cocos");
const FILES = FIGURES ? readdirSync(FIGURES).filter((name) => name.endsWith(".json")) : [];
const ONLY = process.env.SUITE ?? "";
const ALL = Boolean(process.env.POSSE_ALL_TESTS);
const VARIABLES = ALL ? { POSSE_ALL_TESTS: "1" } : {};
/// Beginnings of names: tests with large or many crowds, with devices whose kernels no other test shares, or with
/// further random cases. They run with POSSE_ALL_TESTS=1, or if SUITE names them.
const LONG = [
  "goals::on_gpu::", "gpu::limits::", "gpu::replaced::poses_", "gpu::rigs::", "gpu::visible::", "motion::sync::followers_",
  "motion_rules::", "random_scenes::gltf_", "random_scenes::large_", "random_scenes::more_", "random_scenes::other_", "random_scenes::small_", "random_scenes::still_",
  "skin_formats::uniform_scale::a_rig_",
];
/// Beginnings of names: tests that must fail if the numbers of the GPU are altered, one per kind of answer.
const ALTERED = ["hand_worked::", "root_motion::", "skin_formats::every_format", "occurrences::random::"];
/// Texts of assertions that compare numbers.
const COMPARED = /, expected |: Report \{|`left == right`/;

/// The sources of the WebAssembly, below the root of the repository. The tests are the `.rs` files of `tests`.
const SOURCES = [
  "Cargo.toml", "src", "shaders", "tests", "tests/web/suite/src", "tests/web/suite/build.rs", "tests/web/suite/Cargo.toml",
  "Cargo.lock", "tests/web/suite/left_out.txt",
];
const BUILT = join(FOLDER, "pkg/posse_bg.wasm");

const skip = reasonToSkip();
if (!skip && FILES.length === 0) process.stderr.write("SKIPPED: the figures of Cocos Creator in the browser: cocos is missing\n");

function reasonToSkip() {
  if (existsSync(BUILT)) return false;
  process.stderr.write("SKIPPED: the native tests in the browser, which tests/web/suite/build compiles\n");
  return "tests/web/suite/build has not run";
}

/// The sources that are newer than the WebAssembly.
function newerSources() {
  const built = statSync(BUILT).mtimeMs;
  const newer = (path) => {
    const status = statSync(join(FOLDER, "../../..", path));
    if (!status.isDirectory()) return status.mtimeMs > built ? [path] : [];
    const entries = readdirSync(join(FOLDER, "../../..", path), { withFileTypes: true });
    // Of the tests, only sources: the folder also has those of other programs, and their builds.
    const isSource = (entry) => path.split("/")[0] !== "tests" || (entry.isDirectory() ? entry.name !== "web" : entry.name.endsWith(".rs"));
    return entries.filter(isSource).flatMap((entry) => newer(`${path}/${entry.name}`));
  };
  return SOURCES.flatMap(newer);
}

const assertBuilt = () => assert.deepEqual(newerSources(), [], "sources have changed: run tests/web/suite/build again");

/// Opens the page, and calls `work` with a function that runs a test by its index with variables, and with the names of
/// the tests and of those that are left out. After a failure, the page is loaded again.
async function withSuite(work) {
  await withPage({ "/": FOLDER, ...(FIGURES && { "/collected/cocos/": FIGURES }) }, async ({ page, address }) => {
    const open = () => page.goto(`${address}/index.html?${FILES.map((name) => `file=cocos/${name}`).join("&")}`);
    await open();
    const run = async (index, variables) => {
      const outcome = await page.evaluate(([index, variables]) => window.suite.run(index, variables), [index, variables]);
      if (outcome.error) await open();
      return outcome;
    };
    await work(run, await page.evaluate(() => window.suite.list()));
  }, { timeout: LONGEST });
}

const isLong = (name) => LONG.some((start) => name.startsWith(start));

/// The name of a test without the name of its function.
const moduleOf = (name) => name.slice(0, name.lastIndexOf("::"));

/// Adds the figures of the modules of one page to those of earlier pages.
function merge(all, figures) {
  for (const [name, { worst, ...counts }] of Object.entries(figures)) {
    const module = (all[name] ??= { worst: {} });
    for (const [count, number] of Object.entries(counts)) module[count] = (module[count] ?? 0) + number;
    for (const [kind, share] of Object.entries(worst)) module.worst[kind] = Math.max(module.worst[kind] ?? 0, share);
  }
}

function print(figures) {
  const line = (name, { answers, poses, events, within, beyond, worst }) => {
    const shares = Object.entries(worst).map(([kind, share]) => `${kind} ${share.toFixed(3)}`);
    console.log(`${name}: ${answers} answers of the GPU with ${poses} poses and ${events} events`);
    if (within + beyond > 0) console.log(`  ${within} within the contract (${shares.join(", ")}), ${beyond} beyond it, by the test's own bounds`);
  };
  const total = {};
  for (const [name, module] of Object.entries(figures)) {
    line(name, module);
    merge(total, { all: module });
  }
  if (total.all) line("all modules, the worst shares of the contract", total.all);
}

test("the native tests pass in a page", { skip, timeout: LONGEST }, async (t) => {
  assertBuilt();
  await withSuite(async (run, { names, leftOut }) => {
    console.log(`left out:\n  ${leftOut.join("\n  ")}`);
    assert.deepEqual(LONG.filter((start) => !names.some((name) => name.startsWith(start))), [], "long tests that do not exist");
    if (!ALL && !ONLY) process.stderr.write(`SKIPPED: ${names.filter(isLong).length} long tests in the browser, and variants of kernels: POSSE_ALL_TESTS=1 runs them\n`);
    let count = 0;
    const all = {};
    let figures = {};
    for (const module of new Set(names.map(moduleOf))) {
      const chosen = names.filter((name) => moduleOf(name) === module && name.startsWith(ONLY)).filter((name) => ALL || ONLY || !isLong(name));
      if (chosen.length === 0) continue;
      await t.test(module, async () => {
        const errors = [];
        for (const name of chosen) {
          const outcome = await run(names.indexOf(name), VARIABLES);
          count += 1;
          for (const note of outcome.notes) {
            if (note.startsWith("SKIPPED")) process.stderr.write(`${note} (${name}, in the browser)\n`);
            else console.log(`${name}: ${note}`);
          }
          if (process.env.SUITE_TIMES || outcome.seconds > 5) console.log(`  ${name}: ${outcome.seconds.toFixed(1)} s`);
          if (outcome.error) {
            errors.push(`${name}: ${outcome.error}`);
            merge(all, figures);
            figures = {};
          } else {
            figures = outcome.figures;
          }
        }
        assert.deepEqual(errors, []);
      });
    }
    merge(all, figures);
    console.log(`${count} of ${names.length} tests`);
    print(all);
    assert.ok(count > 0, `no test has a name that begins with ${ONLY}`);
  });
});

test("altered numbers fail", { skip: skip || (ONLY ? "SUITE is set" : false), timeout: LONGEST }, async (t) => {
  assertBuilt();
  await withSuite(async (run, { names }) => {
    for (const start of ALTERED) {
      await t.test(start, async () => {
        const index = names.findIndex((name) => name.startsWith(start));
        assert.ok(index >= 0, `no test is named ${start}`);
        // The altered numbers must be the only reason.
        const unaltered = await run(index, { ALTER: "0" });
        assert.equal(unaltered.error, null);
        const { error } = await run(index, { ALTER: "0.001" });
        assert.ok(error, `${names[index]} passes though the numbers of the GPU are altered`);
        assert.match(error, COMPARED);
      });
    }
  });
});
