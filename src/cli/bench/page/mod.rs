//! `posse bench --report`: a run as a page of plots and tables.

mod figure;
pub mod format;
mod number;
mod palette;
pub mod plan;
mod plot;
pub mod run;
mod scale;
mod table;

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::{Map, Value};

use self::figure::Figure;
use self::number::{digits, grouped};
use self::run::{Case, Run};

/// A name and what it is.
type Fact = (String, String);

impl Run {
    /// The page: one file, which asks for nothing else.
    pub fn write_page(&self, out: &mut impl Write) -> io::Result<()> {
        let figures = self.figures();
        let plot = |(index, figure): (usize, &Figure)| figure.svg(&format!("figure-{index}")).map_err(io::Error::other);
        let plots = figures.iter().enumerate().map(plot).collect::<io::Result<Vec<_>>>()?;
        let style = palette::names() + &palette::style() + include_str!("style.css");
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { "posse bench" @if let Some(name) = self.subject() { ": " (name) } }
                    style { (PreEscaped(style)) }
                }
                body { (self.body(&plots)) }
            }
        };
        writeln!(out, "{}", page.into_string())
    }

    /// The first plot, as a file of its own.
    pub fn write_plot(&self, out: &mut impl Write) -> io::Result<()> {
        let figures = self.figures();
        let first = figures.first().ok_or_else(|| io::Error::other("there is nothing to plot"))?;
        out.write_all(plot::alone(&first.svg("figure").map_err(io::Error::other)?).as_bytes())
    }

    fn subject(&self) -> Option<&str> {
        self.file.as_deref().or(self.crowd.as_deref())
    }

    fn body(&self, plots: &[String]) -> Markup {
        html! {
            main {
                header {
                    h1 { "posse bench" @if let Some(name) = self.subject() { ": " (name) } }
                    @if let Some(environment) = &self.environment {
                        pre { code { (environment.command) } }
                    }
                }
                (facts(&self.facts()))
                ul class="best" aria-label="The best of each engine" {
                    @for (engine, (label, adapter)) in self.engines().into_iter().enumerate() {
                        @if let Some((throughput, case)) = self.best(&label, adapter) {
                            li style=(format!("--series: var(--series-{})", engine % palette::SERIES.len())) {
                                strong { (digits(throughput / 1e6, 3)) }
                                span { " million joints/s" }
                                b { (label) }
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

    /// Where, when, on what.
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
        for (label, adapter) in self.engines() {
            fact(&label, Some(adapter.to_owned()));
        }
        let at_best = |bytes: Option<f64>| bytes.map(|bytes| format!("{} GB/s", digits(bytes / 1e9, 3)));
        fact("GPU writes at best", at_best(self.write_bandwidth_bytes_per_second));
        fact("GPU copies at best", at_best(self.copy_bandwidth_bytes_per_second));
        fact("posse", Some(self.posse.clone()));
        facts
    }

    /// The way to each engine's first pose.
    fn start_ups(&self) -> Vec<Fact> {
        let step = |(name, time): (&String, &Value)| {
            Some(format!("{} {} ms", name.replace('_', " "), digits(time.as_f64()?, 3)))
        };
        let of = |(engine, steps): (&String, &Map<String, Value>)| {
            (engine.clone(), steps.iter().filter_map(step).collect::<Vec<_>>().join(", "))
        };
        self.start_up_ms.iter().map(of).collect()
    }

    /// The case with the most joints a second.
    fn best(&self, label: &str, adapter: &str) -> Option<(f64, &Case)> {
        let own = self.cases.iter().filter(|case| case.engine() == label && case.adapter == adapter);
        let throughput = |case: &Case| case.joints_per_second(case.times().median);
        own.map(|case| (throughput(case), case)).filter(|(best, _)| best.is_finite()).max_by(|a, b| a.0.total_cmp(&b.0))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "Every case was first compared with the f64 reference, 64 instances spread evenly over the crowd. The check says \
             how much of posse's bounds the worst of all quantities takes."
                .to_owned(),
            "A frame is what it takes until skin matrices are complete: of the CPU engine by the host's \
             clock, of the GPU by its own where it has one, else by the host's from recording to completion. Nothing is read \
             back."
                .into(),
            "Milliseconds are the median of the frames; p5 and p95 are the 5th and the 95th percentile.".into(),
            "The clock moves on by 1/60 s a frame; instances begin at different times of their clips.".into(),
        ];
        if self.cases.iter().any(|case| case.joints_posed < case.instances && case.engine == "reference") {
            notes.push("The reference poses at most 64 instances of a crowd; its figures are of those.".into());
        }
        if let Some(bandwidth) = self.write_bandwidth_bytes_per_second {
            notes.push(format!(
                "The GPU's bandwidth is that of a pass which only writes, {} GB/s here; % of peak is the share of it that the \
                 bytes of poses take.",
                digits(bandwidth / 1e9, 3)
            ));
        }
        notes
    }
}

fn facts(facts: &[Fact]) -> Markup {
    html! {
        dl { @for (name, text) in facts { div { dt { (name) } dd { (text) } } } }
    }
}

/// The sizes of a case in a line.
fn sizes(case: &Case) -> String {
    let mut sizes = format!("{} instances of {} joints", grouped(case.instances), grouped(case.joints));
    if case.layers > 1 {
        sizes += &format!(", {} layers", case.layers);
    }
    sizes
}
