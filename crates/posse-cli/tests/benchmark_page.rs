//! `posse bench --report`: the page has the figures of the JSON, its plots show them in the right positions, and it requests no
//! other file.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use roxmltree::{Document, Node};
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

/// The main element of a page. The text before it is not XML.
fn main_of(page: &str) -> Document<'_> {
    let (start, end) = (page.find("<main>").unwrap(), page.find("</main>").unwrap());
    Document::parse(&page[start..end + "</main>".len()]).unwrap()
}

fn text_of(node: Node) -> String {
    node.descendants()
        .filter(|node| node.is_text())
        .filter_map(|node| node.text())
        .collect::<String>()
        .trim()
        .to_owned()
}

fn all<'a>(node: Node<'a, 'a>, name: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.descendants().filter(move |node| node.has_tag_name(name) || node.tag_name().name() == name)
}

fn cases(run: &Value) -> &Vec<Value> {
    run["cases"].as_array().unwrap()
}

fn contender(case: &Value) -> String {
    let engine = case["engine"].as_str().unwrap();
    let threads = case["adapter"].as_str().unwrap().split(',').next().unwrap();
    if engine == "cpu" { format!("cpu, {threads}") } else { engine.into() }
}

/// The milliseconds of a frame, measured by the GPU's clock if it has one.
fn milliseconds(case: &Value, part: &str) -> f64 {
    let clock = if case["gpu_ms"].is_object() { "gpu_ms" } else { "wall_ms" };
    case[clock][part].as_f64().unwrap()
}

/// The number in a label of an axis: `0.5`, `10k`, `1M`.
fn number(text: &str) -> Option<f64> {
    let (digits, unit) = match text.strip_suffix(['k', 'M', 'G']) {
        Some(digits) => {
            (digits, [("k", 1e3), ("M", 1e6), ("G", 1e9)].into_iter().find(|(unit, _)| text.ends_with(unit))?.1)
        }
        None => (text, 1.0),
    };
    digits.parse::<f64>().ok().map(|number| number * unit)
}

/// The position of values on an axis, from its first and its last label: `(value, position)`.
fn ruler(mut labels: Vec<(f64, f64)>, is_logarithmic: bool) -> impl Fn(f64) -> f64 {
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ends = [labels[0], labels[labels.len() - 1]];
    let on = move |value: f64| if is_logarithmic { value.log10() } else { value };
    move |value| {
        let [(low, start), (high, end)] = ends;
        start + (end - start) * (on(value) - on(low)) / (on(high) - on(low))
    }
}

#[test]
fn the_plots_show_the_figures_at_their_positions() {
    let (_folder, run, page) = run();
    let main = main_of(&page);
    let attribute = |node: Node, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let joints = |case: &Value| case["joints_posed"].as_f64().unwrap();
    type ReadFigure<'a> = &'a dyn Fn(&Value) -> Option<f64>;
    let throughput = |case: &Value| Some(joints(case) * 1e3 / milliseconds(case, "median"));
    let time = |case: &Value| Some(milliseconds(case, "median") * 1e6 / joints(case));
    let share = |case: &Value| case["bandwidth_share"].as_f64().map(|share| 100.0 * share);
    let figures: [(&str, &str, ReadFigure, bool); 3] = [
        ("Throughput as the crowd grows", "instances", &throughput, true),
        ("Time per joint as clips grow", "keys", &time, true),
        ("Bandwidth of the GPU that poses use", "instances", &share, false),
    ];
    let plots: Vec<Node> = all(main.root(), "svg").collect();
    assert_eq!(plots.len(), figures.len());
    for ((heading, table, read_figure, is_logarithmic), svg) in figures.into_iter().zip(plots) {
        assert_eq!(svg.attribute("role"), Some("img"));
        assert_eq!(text_of(all(svg, "title").next().unwrap()), heading);
        // One point of the page, in units of the drawing.
        let view: Vec<f64> = svg.attribute("viewBox").unwrap().split(' ').map(|part| part.parse().unwrap()).collect();
        let point = view[2] / attribute(svg, "width");
        // Labels of the vertical axis end at the axis; labels of the horizontal axis are centred on their lines.
        let labels = |anchor: &str, place: &str| -> Vec<(f64, f64)> {
            let at = |node: Node| Some((number(&text_of(node))?, attribute(node, place)));
            all(svg, "text").filter(|node| node.attribute("text-anchor") == Some(anchor)).filter_map(at).collect()
        };
        let (across, up) = (ruler(labels("middle", "x"), true), ruler(labels("end", "y"), is_logarithmic));
        let cases_of_table = || cases(&run).iter().filter(|case| case["table"] == table && read_figure(case).is_some());
        assert!(cases_of_table().count() >= 4);
        assert_eq!(all(svg, "circle").count(), cases_of_table().count(), "{heading}");
        let mut names: Vec<String> = cases_of_table().map(contender).collect();
        names.dedup();
        for name in names {
            let label =
                all(svg, "text").find(|node| text_of(*node) == name).unwrap_or_else(|| panic!("{heading}: {name}"));
            let colour = label.attribute("fill");
            let mut own = cases_of_table().filter(|case| contender(case) == name);
            for circle in all(svg, "circle").filter(|node| node.attribute("fill") == colour) {
                let case = own.next().unwrap();
                let expected = [across(case[table].as_f64().unwrap()), up(read_figure(case).unwrap())];
                let found = [attribute(circle, "cx"), attribute(circle, "cy")];
                let is_near = expected.iter().zip(found).all(|(expected, found)| (expected - found).abs() <= point);
                assert!(is_near, "{heading}, {name}: {found:?}, not {expected:?}: {case}");
            }
            assert!(own.next().is_none(), "{heading}: {name}");
        }
    }
}

#[test]
fn the_table_has_the_figures_of_the_json() {
    let (_folder, run, page) = run();
    let main = main_of(&page);
    let rows: Vec<Vec<String>> =
        all(main.root(), "tr").map(|row| row.children().filter(Node::is_element).map(text_of).collect()).collect();
    let column = |name: &str| rows[0].iter().position(|heading| heading == name).unwrap_or_else(|| panic!("{name}"));
    assert_eq!(rows.len(), 1 + cases(&run).len());
    for (case, row) in cases(&run).iter().zip(&rows[1..]) {
        assert_eq!(row[0], contender(case));
        let whole = |name: &str| row[column(name)].replace(',', "").parse::<u64>().ok();
        for name in ["instances", "skeletons", "joints", "keys", "depth", "clips", "layers"] {
            assert_eq!(whole(name), case[name].as_u64(), "{name}: {case}");
        }
        assert_eq!(whole("library bytes"), case["library_bytes"].as_u64(), "{case}");
        assert_eq!(whole("bytes written"), case["bytes_written"].as_u64(), "{case}");
        let figures = [
            ("Mjoints/s", case["joints_per_second"].as_f64().map(|joints| joints / 1e6)),
            ("ms", Some(milliseconds(case, "median"))),
            ("p5", Some(milliseconds(case, "p5"))),
            ("p95", Some(milliseconds(case, "p95"))),
            ("GB/s", case["bytes_per_second"].as_f64().map(|bytes| bytes / 1e9)),
        ];
        for (name, figure) in figures {
            match (row[column(name)].parse::<f64>().ok(), figure) {
                (Some(found), Some(figure)) => assert!((found / figure - 1.0).abs() <= 5e-4, "{name}: {found}: {case}"),
                (found, figure) => assert_eq!(found, figure, "{name}: {case}"),
            }
        }
        let check = &row[column("check")];
        assert!(check.starts_with(if case["engine"] == "reference" { "–" } else { "ok, " }), "{check}: {case}");
    }
}

#[test]
fn the_page_names_machine_and_options_and_requests_nothing() {
    let (_folder, run, page) = run();
    let main = main_of(&page);
    let environment = &run["environment"];
    let command = "posse bench --report page.html --json --seconds 0 --table instances,keys --table-joints 128 --memory 0.005 \
                   --threads 1,2";
    assert_eq!(text_of(all(main.root(), "pre").next().unwrap()).replace(".exe", ""), command);
    let facts: Vec<String> = all(main.root(), "dd").map(text_of).collect();
    let machine = &environment["machine"];
    let began = environment["began"].as_str().unwrap().replace('T', " ").replace('Z', " UTC");
    for text in [began, format!("{} cores", machine["cores"])] {
        assert!(facts.iter().any(|fact| fact.contains(&text)), "{text}: {facts:?}");
    }
    for case in cases(&run) {
        assert!(facts.contains(&case["adapter"].as_str().unwrap().to_owned()), "{case}: {facts:?}");
    }
    for asks in ["<script", "<link", "<img", "src=", "href", "url(", "@import", "//"] {
        // The namespace of SVG looks like an address, but is none.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!page.contains(asks), "{asks}");
    }
    for case in run["skipped"].as_array().unwrap() {
        assert!(all(main.root(), "li").any(|item| text_of(item) == case.as_str().unwrap()), "{case}");
    }
}

#[test]
fn a_page_of_an_earlier_run_is_the_same_page() {
    let (folder, run, page) = run();
    fs::write(folder.path().join("run.json"), run.to_string()).unwrap();
    let output = posse(folder.path(), &["bench", "--report", "again.html", "--from", "run.json"]);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::read_to_string(folder.path().join("again.html")).unwrap() == page);

    let output = posse(folder.path(), &["bench", "--report", "plot.svg", "--from", "run.json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let plot = fs::read_to_string(folder.path().join("plot.svg")).unwrap();
    let plot = Document::parse(&plot).unwrap();
    let style = text_of(all(plot.root(), "style").next().unwrap());
    assert!(style.contains("prefers-color-scheme: dark"), "{style}");
    let first = main_of(&page);
    let circles = |node| all(node, "circle").map(|node| node.attribute("cy").unwrap().to_owned()).collect::<Vec<_>>();
    let first: Vec<String> = circles(all(first.root(), "svg").next().unwrap());
    assert_eq!(plot.descendants().filter(|node| node.tag_name().name() == "circle").count(), first.len());
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
    assert!(!page.contains("<script"));
    let main = main_of(&page);
    for name in ["pre", "li", "dd", "h1", "text", "desc", "td", "th"] {
        assert!(name == "td" || all(main.root(), name).any(|node| text_of(node).contains(hostile)), "{name}");
    }
}

#[test]
fn the_measurement_of_a_browser_is_read() {
    let folder = TempDir::new().unwrap();
    let text = include_str!("benchmark_page/browser.json");
    let run: Value = serde_json::from_str(text).unwrap();
    fs::write(folder.path().join("run.json"), text).unwrap();
    let output = posse(folder.path(), &["bench", "--report", "page.html", "--from", "run.json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    let main = main_of(&page);
    assert_eq!(all(main.root(), "tr").count(), 1 + cases(&run).len());
    assert!(page.contains("Throughput as the crowd grows"));
    assert!(page.contains(run["cases"][0]["adapter"].as_str().unwrap()));
}

#[test]
fn figures_beyond_the_scale_are_only_in_the_table() {
    let (folder, mut run, _) = run();
    for case in run["cases"].as_array_mut().unwrap() {
        case["wall_ms"]["p5"] = json!(0);
        case["gpu_ms"] = Value::Null;
        case["joints_posed"] = json!(0);
        case["keys"] = json!(u64::MAX);
    }
    fs::write(folder.path().join("run.json"), run.to_string()).unwrap();
    let output = posse(folder.path(), &["bench", "--report", "page.html", "--from", "run.json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    let main = main_of(&page);
    assert_eq!(all(main.root(), "circle").count(), 0);
    assert_eq!(all(main.root(), "tr").count(), 1 + cases(&run).len());
    let output = posse(folder.path(), &["bench", "--report", "plot.svg", "--from", "run.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("plot.svg: there is nothing to plot"));
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
    assert_refused(
        &["--report", "page.txt"],
        "page.txt: the extension of a report is .html for a page, or .svg for its first plot",
    );
    assert_refused(&["--report", "page", "--from", "run.json"], "page: the extension of a report is");
    assert_refused(&["--report", "page.html", "--from", "nowhere.json"], "nowhere.json: ");
    assert_refused(&["--from", "run.json"], "--report");
    assert_refused(&["--report", "page.html", "--from", "run.json", "--seconds", "1"], "--seconds");
    fs::write(folder.path().join("run.json"), "{}").unwrap();
    assert_refused(&["--report", "page.html", "--from", "run.json"], "run.json: format: it is missing");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no page and no temporary file is left");
}
