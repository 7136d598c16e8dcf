//! The page of a long run: a plot of each quantity over the minutes.

use std::io::{self, Write};

use maud::{Markup, PreEscaped, html};

use super::record::{Minute, Record};
use crate::bench::page::figure::{Figure, Point, Series};
use crate::bench::page::number::{digits, grouped};
use crate::bench::page::scale::Scale;
use crate::bench::page::{Fact, document, facts, plot};
use crate::bench::run_environment::RunEnvironment;

/// A quantity: its heading, the label of its axis, and its value in a minute with the ends of its spread.
type Plotted = (&'static str, &'static str, fn(&Minute) -> Option<[f64; 3]>);

const PLOTTED: [Plotted; 5] = [
    ("Time of a frame", "milliseconds; the band holds 90 % of the frames", |minute| Some(minute.frame_ms)),
    ("Frame beside a new process", "ratio of processor times; the band holds half of the frames", |minute| {
        minute.processor_ratio.or(minute.frame_ratio)
    }),
    ("Processor time of a frame", "milliseconds, of all threads", |minute| Some([minute.processor_ms; 3])),
    ("Memory", "MB that are resident", |minute| Some([minute.memory as f64 / 1e6; 3])),
    ("Open files", "open files", |minute| minute.files.map(|files| [files as f64; 3])),
];

impl Record {
    /// The plots. A quantity that the system does not report has none.
    fn figures(&self) -> Vec<Figure> {
        let figure = |(heading, up, value): Plotted| {
            let point = |minute: &Minute| {
                let [low, middle, high] = value(minute)?;
                Some(Point { across: minute.at, up: middle, spread: [low, high] })
            };
            let points: Vec<Point> = self.minutes.iter().filter_map(point).collect();
            let across: Vec<f64> = points.iter().map(|point| point.across).collect();
            let up_to: Vec<f64> = points.iter().map(|point| point.spread[1]).collect();
            (!points.is_empty()).then(|| Figure {
                heading: heading.into(),
                fixed: format!("{} instances", grouped(self.instances as u64)),
                across: "minutes",
                up,
                scales: [Scale::linear(&across), Scale::linear(&up_to)],
                series: vec![Series { label: "gpu".into(), engine: 0, points }],
            })
        };
        PLOTTED.into_iter().filter_map(figure).collect()
    }

    /// Writes the page.
    pub fn write_page(&self, out: &mut impl Write, environment: &RunEnvironment) -> io::Result<()> {
        let svg = |(index, figure): (usize, Figure)| figure.svg(&format!("figure-{index}")).map_err(io::Error::other);
        let plots = self.figures().into_iter().enumerate().map(svg).collect::<io::Result<Vec<_>>>()?;
        writeln!(out, "{}", document("posse bench --soak", self.body(environment, &plots)).into_string())
    }

    /// Writes the first plot as a separate file.
    pub fn write_plot(&self, out: &mut impl Write) -> io::Result<()> {
        let figures = self.figures();
        let first = figures.first().ok_or_else(|| io::Error::other("the run has no minute to plot"))?;
        out.write_all(plot::alone(&first.svg("figure").map_err(io::Error::other)?).as_bytes())
    }

    fn body(&self, environment: &RunEnvironment, plots: &[String]) -> Markup {
        html! {
            main {
                header {
                    h1 { "posse bench --soak" }
                    pre { code { (environment.command) } }
                }
                (facts(&self.facts(environment)))
                section {
                    h2 { "Plots" }
                    p { "A crowd changes in each frame; once a minute its device is lost and made anew." }
                    div class="plots" { @for svg in plots { figure { (PreEscaped(svg)) } } }
                }
                section {
                    h2 { "First and second half" }
                    p { "Medians of the minutes, without the first sixth of the run." }
                    (facts(&self.quantities().iter().map(|(name, unit, halves)| {
                        let [first, second] = [halves.first, halves.second].map(|number| digits(number, 4));
                        ((*name).to_owned(), format!("{first}, then {second} {unit} ({:+.1} %)", 100.0 * halves.growth()))
                    }).collect::<Vec<_>>()))
                }
            }
        }
    }

    fn facts(&self, environment: &RunEnvironment) -> Vec<Fact> {
        let frames: usize = self.minutes.iter().map(|minute| minute.frames).sum();
        let share = digits(100.0 * self.worst_share, 3);
        let facts = [
            ("Began", environment.began.replace('T', " ").replace('Z', " UTC")),
            ("Device", self.adapter.clone()),
            ("Frames", grouped(frames as u64)),
            ("Compared with the reference", format!("{} frames, at most {share} % of a bound", grouped(self.checked))),
            ("Changes", self.changes.to_string()),
        ];
        facts.map(|(name, text)| (name.to_owned(), text)).into()
    }
}
