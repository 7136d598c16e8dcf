//! `posse bench --report`: a run as a page of plots and tables.

pub mod figure;
pub mod number;
mod palette;
pub mod plot;
pub mod run;
pub mod scale;
mod table;

use std::io::{self, Write};
use std::path::Path;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use posse::Error;
use serde_json::{Map, Value};

use self::figure::Figure;
use self::number::{digits, grouped};
use self::run::{Case, MeasuredEngine, Run};

/// A name, and its value.
pub type Fact = (String, String);

/// The format of a report, by its file extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A page of plots and tables: .html.
    Page,
    /// The first plot of the page: .svg.
    Plot,
}

impl Format {
    /// The format of a file. Fails for other extensions.
    pub fn from_name(file: &Path) -> Result<Self, Error> {
        let extension = file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match extension.as_str() {
            "html" | "htm" => Ok(Self::Page),
            "svg" => Ok(Self::Plot),
            _ => {
                let file = file.display();
                Err(Error::Usage(format!(
                    "{file}: the extension of a report is .html for a page, or .svg for its first plot"
                )))
            }
        }
    }
}

impl Run {
    /// Writes the page: one file that loads no other.
    pub fn write_page(&self, out: &mut impl Write) -> io::Result<()> {
        let figures = self.figures();
        let plot = |(index, figure): (usize, &Figure)| figure.svg(&format!("figure-{index}")).map_err(io::Error::other);
        let plots = figures.iter().enumerate().map(plot).collect::<io::Result<Vec<_>>>()?;
        let title = self.source_name().map_or("posse bench".into(), |name| format!("posse bench: {name}"));
        writeln!(out, "{}", document(&title, self.body(&plots)).into_string())
    }

    /// Writes the first plot as a separate file.
    pub fn write_plot(&self, out: &mut impl Write) -> io::Result<()> {
        let figures = self.figures();
        let first = figures.first().ok_or_else(|| io::Error::other("there is nothing to plot"))?;
        out.write_all(plot::alone(&first.svg("figure").map_err(io::Error::other)?).as_bytes())
    }

    /// The name of the measured file, if there is one.
    fn source_name(&self) -> Option<&str> {
        self.file.as_deref().or(self.crowd.as_deref())
    }

    fn body(&self, plots: &[String]) -> Markup {
        html! {
            main {
                header {
                    h1 { "posse bench" @if let Some(name) = self.source_name() { ": " (name) } }
                    @if let Some(environment) = &self.environment {
                        pre { code { (environment.command) } }
                    }
                }
                (facts(&self.facts()))
                ul class="best" aria-label="The best of each engine" {
                    @for (index, engine) in self.engines().iter().enumerate() {
                        @if let Some((throughput, case)) = self.best(engine) {
                            li style=(format!("--series: var(--series-{})", index % palette::SERIES.len())) {
                                strong { (digits(throughput / 1e6, 3)) }
                                span { " million joints/s" }
                                b { (engine.label) }
                                small { "at best, of " (sizes(case)) }
                            }
                        }
                    }
                }
                section {
                    h2 { "Plots" }
                    p { "Points are medians of many frames; the band reaches from the 5th to the 95th percentile." }
                    div class="plots" {
                        @for svg in plots { figure { (PreEscaped(svg)) } }
                    }
                    @if self.cases.iter().all(|case| case.bandwidth_share.is_none()) {
                        p { "No GPU was measured, and so no share of its bandwidth." }
                    }
                }
                section {
                    h2 { "All figures" }
                    (self.table())
                }
                section {
                    h2 { "From nothing to the first pose" }
                    (facts(&self.start_ups()))
                }
                section {
                    h2 { "How it was measured" }
                    ul { @for note in self.notes() { li { (note) } } }
                }
                @if !self.skipped.is_empty() {
                    section {
                        h2 { "Left out" }
                        ul { @for what in &self.skipped { li { (what) } } }
                    }
                }
            }
        }
    }

    /// The environment, the engines and the bandwidth.
    fn facts(&self) -> Vec<Fact> {
        let mut facts: Vec<Fact> = Vec::new();
        let mut fact = |name: &str, text: Option<String>| facts.extend(text.map(|text| (name.to_owned(), text)));
        if let Some(environment) = &self.environment {
            let machine = &environment.machine;
            let cores = machine.cores.map(|cores| format!("{cores} cores"));
            let threads = machine.threads.map(|threads| format!("{threads} threads at once"));
            let processor = [machine.processor.clone(), cores, threads].into_iter().flatten().collect::<Vec<_>>();
            fact("Began", Some(environment.began.replace('T', " ").replace('Z', " UTC")));
            fact("Processor", (!processor.is_empty()).then(|| processor.join(", ")));
            fact("Memory", machine.memory.map(|bytes| format!("{} GB", digits(bytes as f64 / 1e9, 3))));
            let system = machine.system.as_deref().unwrap_or("unknown system");
            fact("System", Some(format!("{system}, {}", machine.architecture)));
        }
        for engine in self.engines() {
            fact(&engine.label, Some(engine.adapter.to_owned()));
        }
        let at_best = |bytes: Option<f64>| bytes.map(|bytes| format!("{} GB/s", digits(bytes / 1e9, 3)));
        fact("GPU writes at best", at_best(self.write_bandwidth_bytes_per_second));
        fact("GPU copies at best", at_best(self.copy_bandwidth_bytes_per_second));
        fact("posse", Some(self.posse.clone()));
        facts
    }

    /// The start-up of each engine.
    fn start_ups(&self) -> Vec<Fact> {
        let step = |(name, time): (&String, &Value)| {
            Some(format!("{} {} ms", name.replace('_', " "), digits(time.as_f64()?, 3)))
        };
        let fact = |(engine, steps): (&String, &Map<String, Value>)| {
            (engine.clone(), steps.iter().filter_map(step).collect::<Vec<_>>().join(", "))
        };
        self.start_up_ms.iter().map(fact).collect()
    }

    /// The case of an engine with the highest throughput, and that throughput.
    fn best(&self, engine: &MeasuredEngine) -> Option<(f64, &Case)> {
        let own = self.cases.iter().filter(|case| engine.measured(case));
        let throughput = |case: &Case| case.joints_per_second(case.times().median);
        own.map(|case| (throughput(case), case)).filter(|(best, _)| best.is_finite()).max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The notes on the measurement.
    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "Every case was first compared with the f64 reference: 64 instances, spread evenly over the crowd. The check is the \
             largest error of all quantities, as a share of its bound."
                .to_owned(),
            "The time of a frame ends when the skin matrices are complete. For the CPU engine it is measured by the clock of the \
             host. For the GPU it is measured by its own clock if it has one, otherwise by the clock of the host, from recording \
             to completion. Nothing is read back."
                .into(),
            "Milliseconds are the median of the frames; p5 and p95 are the 5th and the 95th percentile.".into(),
            "The clock advances by 1/60 s per frame; instances begin at random times of their clips.".into(),
            "Library bytes are those that an engine keeps for its skeletons and clips: packed keys, and on the CPU engine the plan of \
             each clip. The GPU engine's are those of its buffers."
                .into(),
        ];
        if self.cases.iter().any(|case| case.joints_posed < case.instances && case.engine == "reference") {
            notes.push(
                "The reference poses at most 64 instances of a crowd; its values are those of these instances.".into(),
            );
        }
        if let Some(bandwidth) = self.write_bandwidth_bytes_per_second {
            notes.push(format!(
                "The write bandwidth of the GPU is that of a pass that only writes: {} GB/s here. `% of peak` is the share of it that \
                 poses use.",
                digits(bandwidth / 1e9, 3)
            ));
        }
        notes
    }
}

/// A page with its style, which loads no other file.
pub fn document(title: &str, body: Markup) -> Markup {
    let style = palette::names() + &palette::style() + include_str!("style.css");
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(style)) }
            }
            body { (body) }
        }
    }
}

/// A list of facts.
pub fn facts(facts: &[Fact]) -> Markup {
    html! {
        dl { @for (name, text) in facts { div { dt { (name) } dd { (text) } } } }
    }
}

/// The sizes of a case as text.
fn sizes(case: &Case) -> String {
    let mut sizes = format!("{} instances of {} joints", grouped(case.instances), grouped(case.joints));
    if case.layers > 1 {
        sizes += &format!(", {} layers", case.layers);
    }
    sizes
}
