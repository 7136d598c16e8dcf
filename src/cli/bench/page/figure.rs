//! What is plotted of a run.

use super::number;
use super::run::{Case, Run};
use super::scale::Scale;

/// A plot: some series over one axis.
#[derive(Debug)]
pub struct Figure {
    pub heading: String,
    /// What is held while the axis grows.
    pub held: String,
    /// What the horizontal axis counts.
    pub across: &'static str,
    /// What the vertical axis measures, and its unit.
    pub up: &'static str,
    pub scales: [Scale; 2],
    pub series: Vec<Series>,
}

/// A line of a plot.
#[derive(Debug)]
pub struct Series {
    pub label: String,
    /// Which of the run's engines it is: the same has the same colour everywhere.
    pub engine: usize,
    pub points: Vec<Point>,
}

/// A case in a plot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub across: f64,
    pub up: f64,
    /// Where 90 % of the frames lie.
    pub spread: [f64; 2],
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Measure {
    Throughput,
    Time,
    BandwidthShare,
}

/// What grows: the cost table's name, and what a case has of it.
struct Axis {
    table: &'static str,
    across: &'static str,
    heading: &'static str,
    of: fn(&Case) -> Option<u64>,
    measure: Measure,
}

const AXES: [Axis; 6] = [
    Axis {
        table: "instances",
        across: "instances",
        heading: "Throughput as the crowd grows",
        of: |case| Some(case.instances),
        measure: Measure::Throughput,
    },
    Axis {
        table: "layers",
        across: "layers an instance",
        heading: "Throughput as layers are blended",
        of: |case| Some(case.layers),
        measure: Measure::Throughput,
    },
    Axis {
        table: "keys",
        across: "keys a track",
        heading: "Time a joint as clips grow",
        of: |case| case.keys,
        measure: Measure::Time,
    },
    Axis {
        table: "depth",
        across: "levels of the hierarchy",
        heading: "Time a joint as the hierarchy deepens",
        of: |case| case.depth,
        measure: Measure::Time,
    },
    Axis {
        table: "joints",
        across: "joints a skeleton",
        heading: "Time a joint as skeletons grow",
        of: |case| Some(case.joints),
        measure: Measure::Time,
    },
    Axis {
        table: "skeletons",
        across: "skeletons in the crowd",
        heading: "Time a joint as skeletons are mixed",
        of: |case| Some(case.skeletons),
        measure: Measure::Time,
    },
];

impl Measure {
    fn unit(self) -> &'static str {
        match self {
            Self::Throughput => "joints a second",
            Self::Time => "nanoseconds a joint",
            Self::BandwidthShare => "% of what the GPU writes at best",
        }
    }

    /// Where a case is; `None` where it has no such figure, or none that a scale has a place for.
    fn point(self, across: u64, case: &Case) -> Option<Point> {
        let times = case.times();
        let of = |milliseconds: f64| match self {
            Self::Throughput => Some(case.joints_per_second(milliseconds)),
            Self::Time => Some(case.nanoseconds_a_joint(milliseconds)),
            Self::BandwidthShare => case.bandwidth_share.map(|share| 100.0 * share * times.median / milliseconds),
        };
        let spread = [of(times.p5)?, of(times.p95)?];
        let point = Point {
            across: across as f64,
            up: of(times.median)?,
            spread: [spread[0].min(spread[1]), spread[0].max(spread[1])],
        };
        let is_placed = |number: f64| number.is_finite() && number > 0.0;
        [point.across, point.up, point.spread[0], point.spread[1]].into_iter().all(is_placed).then_some(point)
    }

    fn scale(self, points: impl Iterator<Item = Point>) -> Scale {
        let values: Vec<f64> = points.flat_map(|point| point.spread).collect();
        match self {
            Self::Throughput | Self::Time => Scale::logarithmic(&values),
            Self::BandwidthShare => Scale::linear(&values),
        }
    }
}

impl Run {
    /// The plots: of each cost table, of each size of rig that stands in none, and of the bandwidth.
    pub fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        for axis in &AXES {
            let cases: Vec<&Case> =
                self.cases.iter().filter(|case| case.table.as_deref() == Some(axis.table)).collect();
            figures.extend(self.figure(axis, axis.measure, &cases));
        }
        let crowds = &AXES[0];
        let mut rest: Vec<&Case> = self.cases.iter().filter(|case| case.table.is_none()).collect();
        while let Some(&first) = rest.first() {
            let rig = |case: &Case| (case.skeletons, case.joints, case.keys, case.depth, case.layers);
            let (same, others) = rest.into_iter().partition::<Vec<_>, _>(|case| rig(case) == rig(first));
            figures.extend(self.figure(crowds, Measure::Throughput, &same));
            rest = others;
        }
        let shares: Vec<&Case> =
            self.cases.iter().filter(|case| case.table.as_deref().is_none_or(|table| table == "instances")).collect();
        let first = shares.iter().map(|case| (case.joints, case.layers)).next();
        let shares: Vec<&Case> = shares.into_iter().filter(|case| Some((case.joints, case.layers)) == first).collect();
        let bandwidth = Axis { heading: "The GPU's bandwidth that poses take", ..AXES[0] };
        figures.extend(self.figure(&bandwidth, Measure::BandwidthShare, &shares));
        figures
    }

    /// A plot of some cases; `None` where there is nothing to see.
    fn figure(&self, axis: &Axis, measure: Measure, cases: &[&Case]) -> Option<Figure> {
        let mut series = Vec::new();
        for (engine, (label, adapter)) in self.engines().into_iter().enumerate() {
            let own = cases.iter().filter(|case| case.engine() == label && case.adapter == adapter);
            let mut points: Vec<Point> = own.filter_map(|case| measure.point((axis.of)(case)?, case)).collect();
            points.sort_by(|a, b| a.across.total_cmp(&b.across));
            if !points.is_empty() {
                series.push(Series { label, engine, points });
            }
        }
        let points = || series.iter().flat_map(|series| series.points.iter().copied());
        let across: Vec<f64> = points().map(|point| point.across).collect();
        let scales = [Scale::of_steps(&across), measure.scale(points())];
        let (heading, held) = (axis.heading.into(), held(axis, cases));
        (!across.is_empty()).then_some(Figure {
            heading,
            held,
            across: axis.across,
            up: measure.unit(),
            scales,
            series,
        })
    }
}

/// What all cases have in common besides what grows: `64 joints, 60 keys, 10 levels, 1 layer`.
fn held(axis: &Axis, cases: &[&Case]) -> String {
    let size = |name: &str, plural: &str, of: fn(&Case) -> Option<u64>| {
        let first = of(cases.first()?)?;
        let is_held = cases.iter().all(|case| of(case) == Some(first));
        is_held.then(|| format!("{} {}", number::grouped(first), if first == 1 { name } else { plural }))
    };
    let sizes = [
        ("instances", size("instance", "instances", |case| Some(case.instances))),
        ("joints", size("joint", "joints", |case| Some(case.joints))),
        ("keys", size("key", "keys", |case| case.keys)),
        ("depth", size("level", "levels", |case| case.depth)),
        ("layers", size("layer", "layers", |case| Some(case.layers))),
    ];
    sizes
        .into_iter()
        .filter(|(name, _)| *name != axis.table)
        .filter_map(|(_, size)| size)
        .collect::<Vec<_>>()
        .join(", ")
}

impl Figure {
    /// What the plot shows, in words.
    pub fn description(&self) -> String {
        let of = |Series { label, points, .. }: &Series| {
            let at = |point: &Point| format!("{} at {}", number::short(point.up), number::short(point.across));
            match &points[..] {
                [] => label.clone(),
                [only] => format!("{label}: {}", at(only)),
                [first, .., last] => format!("{label}: {}, {}", at(first), at(last)),
            }
        };
        let series: Vec<String> = self.series.iter().map(of).collect();
        format!("{} by {}. {}.", self.up, self.across, series.join("; "))
    }
}
