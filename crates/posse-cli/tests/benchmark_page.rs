//! `posse bench --report`: the page has the JSON of the run, and requests no other file. `tests/web/report.mjs` looks
//! at what a browser draws of it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

fn posse(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_posse")).current_dir(folder).args(arguments).output().unwrap()
}

/// A run with its page, as short as possible.
fn bench(folder: &Path, arguments: &[&str]) -> (Value, String) {
    let command = ["bench", "--report", "page.html", "--json", "--seconds", "0"];
    let output = posse(folder, &[&command, arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (serde_json::from_slice(&output.stdout).unwrap(), fs::read_to_string(folder.join("page.html")).unwrap())
}

/// A run of two cost tables on all engines; the CPU engine with one thread and with two.
fn run() -> (TempDir, Value, String) {
    let folder = TempDir::new().unwrap();
    let tables = ["--table", "instances,keys", "--table-joints", "128", "--memory", "0.005", "--threads", "1,2"];
    let (run, page) = bench(folder.path(), &tables);
    (folder, run, page)
}

/// The JSON that a page draws.
fn embedded(page: &str) -> Value {
    let (start, end) = ("<script id=\"run\" type=\"application/json\">", "</script>");
    let json = page.split_once(start).unwrap().1.split_once(end).unwrap().0;
    serde_json::from_str(json).unwrap()
}

fn cases(run: &Value) -> &Vec<Value> {
    run["cases"].as_array().unwrap()
}

/// The engine of a case, with the threads of the CPU engine.
fn contender(case: &Value) -> String {
    let engine = case["engine"].as_str().unwrap();
    let threads = case["adapter"].as_str().unwrap().split(',').next().unwrap();
    if engine == "cpu" { format!("cpu, {threads}") } else { engine.into() }
}

#[test]
fn the_page_has_the_json_of_the_run() {
    let (_folder, run, page) = run();
    assert_eq!(embedded(&page), run);
    for (table, least) in [("instances", 4), ("keys", 4)] {
        assert!(cases(&run).iter().filter(|case| case["table"] == table).count() >= least, "{table}");
    }
}

#[test]
fn the_page_names_machine_and_options_and_requests_nothing() {
    let (_folder, run, page) = run();
    let environment = &run["environment"];
    let command = "posse bench --report page.html --json --seconds 0 --table instances,keys --table-joints 128 --memory 0.005 \
                   --threads 1,2";
    assert_eq!(environment["command"].as_str().unwrap().replace(".exe", ""), command);
    assert!(environment["machine"]["cores"].is_number() && environment["began"].as_str().unwrap().ends_with('Z'));
    assert!(page.contains("default-src 'none'"), "the browser refuses requests");
    // The namespace of SVG looks like an address, but is none.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for asks in ["<link", "<img", "src=", "href", "url(", "@import", "import ", "fetch(", "://"] {
        assert!(!page.contains(asks), "{asks}");
    }
}

#[test]
fn a_page_of_an_earlier_run_is_the_same_page() {
    let (folder, run, page) = run();
    fs::write(folder.path().join("run.json"), run.to_string()).unwrap();
    let output = posse(folder.path(), &["bench", "--report", "again.html", "--from", "run.json"]);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::read_to_string(folder.path().join("again.html")).unwrap() == page);
}

#[test]
fn texts_of_the_system_are_escaped() {
    let (folder, mut run, _) = run();
    let hostile = "</pre><script>alert(\"1\")</script>&amp;";
    run["environment"]["command"] = json!(hostile);
    run["environment"]["machine"]["processor"] = json!(hostile);
    run["file"] = json!(hostile);
    run["skipped"] = json!([hostile]);
    for case in run["cases"].as_array_mut().unwrap() {
        (case["adapter"], case["table"]) = (json!(hostile), json!("keys"));
        case["engine"] = json!(format!("{}{hostile}", case["engine"]));
    }
    fs::write(folder.path().join("run.json"), run.to_string()).unwrap();
    let output = posse(folder.path(), &["bench", "--report", "page.html", "--from", "run.json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert_eq!(page.matches("<script").count(), 2, "the JSON, and the scripts that draw it");
    assert_eq!(embedded(&page), run);
}

#[test]
fn the_measurement_of_a_browser_is_read() {
    let folder = TempDir::new().unwrap();
    let text = include_str!("benchmark_page/browser.json");
    fs::write(folder.path().join("run.json"), text).unwrap();
    let output = posse(folder.path(), &["bench", "--report", "page.html", "--from", "run.json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert_eq!(embedded(&page), serde_json::from_str::<Value>(text).unwrap());
}

#[test]
fn the_tables_of_an_earlier_run_are_printed() {
    let (folder, run, _) = run();
    fs::write(folder.path().join("run.json"), run.to_string()).unwrap();
    let printed = |arguments: &[&str]| {
        let output = posse(folder.path(), arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = printed(&["bench", "--from", "run.json"]);
    let lines: Vec<&str> = text.lines().collect();
    for table in ["instances", "keys"] {
        let heading = format!("{table}: the cost per joint");
        let start = lines.iter().position(|line| line.starts_with(&heading)).unwrap();
        let of_table: Vec<&Value> = cases(&run).iter().filter(|case| case["table"] == table).collect();
        // Below the heading are the names of the columns.
        for (case, line) in of_table.iter().zip(&lines[start + 2..]) {
            let cells: Vec<&str> = line.split_whitespace().collect();
            let rate = format!("{:.2}", case["joints_per_second"].as_f64().unwrap() / 1e6);
            assert_eq!(cells[0], case["engine"].as_str().unwrap(), "{table}: {line}");
            for cell in [case["instances"].to_string(), rate] {
                assert!(cells.contains(&cell.as_str()), "{table}, {cell}: {line}");
            }
        }
    }

    // The measurement of a browser: its times come from the clock of the GPU.
    let text = include_str!("benchmark_page/browser.json");
    fs::write(folder.path().join("run.json"), text).unwrap();
    let browser: Value = serde_json::from_str(text).unwrap();
    let text = printed(&["bench", "--from", "run.json"]);
    for case in cases(&browser) {
        let time = format!("{:.3}", case["gpu_ms"]["median"].as_f64().unwrap());
        let instances = case["instances"].to_string();
        let is_row = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.contains(&instances.as_str()) && words.contains(&time.as_str()) && words.last() == Some(&"ok")
        };
        assert!(text.lines().any(is_row), "{instances} instances, {time} ms: {text}");
    }

    let mut unknown = browser;
    unknown["cases"][1]["engine"] = json!("abacus");
    fs::write(folder.path().join("run.json"), unknown.to_string()).unwrap();
    let output = posse(folder.path(), &["bench", "--from", "run.json"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && stderr.contains("run.json: cases[1].engine: "), "{stderr}");
}

#[test]
fn a_page_without_sizes_has_all_cost_tables() {
    let folder = TempDir::new().unwrap();
    let brief = ["--engine", "cpu", "--table-joints", "1", "--memory", "0.01"];
    let (run, _) = bench(folder.path(), &brief);
    for table in ["instances", "layers", "keys", "depth", "joints", "skeletons", "clips", "additive"] {
        assert!(cases(&run).iter().any(|case| case["table"] == table), "{table}");
    }
    let threads = std::thread::available_parallelism().unwrap().get();
    let mut expected = vec!["cpu, 1 thread".to_owned()];
    if threads > 1 {
        expected.push(format!("cpu, {threads} threads"));
    }
    let mut contenders: Vec<String> = cases(&run).iter().map(contender).collect();
    contenders.dedup();
    assert_eq!(contenders, expected);
    // With sizes, the page has those sizes.
    let (run, _) = bench(folder.path(), &["--engine", "cpu", "--threads", "1", "--instances", "3", "--joints", "2"]);
    assert_eq!((cases(&run).len(), cases(&run)[0].get("table")), (1, None));
}

#[test]
fn a_page_that_cannot_be_written_is_refused_before_measuring() {
    let folder = TempDir::new().unwrap();
    let assert_refused = |arguments: &[&str], reason: &str| {
        let output = posse(folder.path(), &[&["bench"], arguments].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(reason) && output.stdout.is_empty(), "{arguments:?}: {stderr}");
    };
    assert_refused(&["--report", "nowhere/page.html"], "nowhere/page.html: ");
    assert_refused(&["--report", "page.txt"], "page.txt: the extension of a report is .html");
    assert_refused(&["--report", "plot.svg"], "plot.svg: the extension of a report is .html");
    assert_refused(&["--report", "page", "--from", "run.json"], "page: the extension of a report is");
    assert_refused(&["--report", "page.html", "--from", "nowhere.json"], "nowhere.json: ");
    assert_refused(&["--from", "run.json"], "run.json: ");
    assert_refused(&["--from", "run.json", "--json"], "--json");
    assert_refused(&["--report", "page.html", "--from", "run.json", "--seconds", "1"], "--seconds");
    fs::write(folder.path().join("run.json"), "{}").unwrap();
    assert_refused(&["--report", "page.html", "--from", "run.json"], "run.json: format: it is missing");
    fs::write(folder.path().join("run.json"), "{\"format\": 1, \"cases\": 3}").unwrap();
    assert_refused(&["--report", "page.html", "--from", "run.json"], "run.json: cases: invalid type");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no page and no temporary file is left");
}
