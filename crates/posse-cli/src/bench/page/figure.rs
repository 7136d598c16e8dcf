//! The plots of a run.

use super::number;
use super::run::{Case, Run};
use super::scale::Scale;

/// A plot: series over one axis.
#[derive(Debug)]
pub struct Figure {
    pub heading: String,
    /// The sizes that all cases have in common.
    pub fixed: String,
    /// The label of the horizontal axis.
    pub across: &'static str,
    /// The label and unit of the vertical axis.
    pub up: &'static str,
    pub scales: [Scale; 2],
    pub series: Vec<Series>,
}

/// A line of a plot.
#[derive(Debug)]
pub struct Series {
    pub label: String,
    /// The index of the engine in the run, which determines the colour.
    pub engine: usize,
    pub points: Vec<Point>,
}

/// A case in a plot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub across: f64,
    pub up: f64,
    /// The 5th and the 95th percentile, in ascending order.
    pub spread: [f64; 2],
}

/// A measured quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Measure {
    Throughput,
    Time,
    BandwidthShare,
}

/// The size that grows: the name of its cost table, and its value in a case.
struct Axis {
    table: &'static str,
    across: &'static str,
    heading: &'static str,
    size: fn(&Case) -> Option<u64>,
    measure: Measure,
}

const AXES: [Axis; 8] = [
    Axis {
        table: "instances",
        across: "instances",
        heading: "Throughput as the crowd grows",
        size: |case| Some(case.instances),
        measure: Measure::Throughput,
    },
    Axis {
        table: "layers",
        across: "layers per instance",
        heading: "Throughput as layers are blended",
        size: |case| Some(case.layers),
        measure: Measure::Throughput,
    },
    Axis {
        table: "keys",
        across: "keys per track",
        heading: "Time per joint as clips grow",
        size: |case| case.keys,
        measure: Measure::Time,
    },
    Axis {
        table: "depth",
        across: "levels of the hierarchy",
        heading: "Time per joint as the hierarchy deepens",
        size: |case| case.depth,
        measure: Measure::Time,
    },
    Axis {
        table: "joints",
        across: "joints per skeleton",
        heading: "Time per joint as skeletons grow",
        size: |case| Some(case.joints),
        measure: Measure::Time,
    },
    Axis {
        table: "skeletons",
        across: "skeletons in the crowd",
        heading: "Time per joint as skeletons are mixed",
        size: |case| Some(case.skeletons),
        measure: Measure::Time,
    },
    Axis {
        table: "clips",
        across: "clips in the crowd",
        heading: "Time per joint as clips are mixed",
        size: |case| case.clips,
        measure: Measure::Time,
    },
    Axis {
        table: "additive",
        across: "layers per instance",
        heading: "Throughput as additive layers are added to one clip",
        // The table has cases with two layers that blend, too; the plot has those with one.
        size: |case| (case.layers == case.additive + 1).then_some(case.layers),
        measure: Measure::Throughput,
    },
];

impl Measure {
    /// The label and unit of the axis.
    fn unit(self) -> &'static str {
        match self {
            Self::Throughput => "joints per second",
            Self::Time => "nanoseconds per joint",
            Self::BandwidthShare => "% of the GPU's write bandwidth",
        }
    }

    /// The point of a case; `None` if the case lacks the quantity, or if a value is not positive and finite.
    fn point(self, across: u64, case: &Case) -> Option<Point> {
        let times = case.times();
        let value = |milliseconds: f64| match self {
            Self::Throughput => Some(case.joints_per_second(milliseconds)),
            Self::Time => Some(case.nanoseconds_per_joint(milliseconds)),
            Self::BandwidthShare => case.bandwidth_share.map(|share| 100.0 * share * times.median / milliseconds),
        };
        let spread = [value(times.p5)?, value(times.p95)?];
        let point = Point {
            across: across as f64,
            up: value(times.median)?,
            spread: [spread[0].min(spread[1]), spread[0].max(spread[1])],
        };
        let is_valid = |number: f64| number.is_finite() && number > 0.0;
        [point.across, point.up, point.spread[0], point.spread[1]].into_iter().all(is_valid).then_some(point)
    }

    /// The scale that contains all points.
    fn scale(self, points: impl Iterator<Item = Point>) -> Scale {
        let values: Vec<f64> = points.flat_map(|point| point.spread).collect();
        match self {
            Self::Throughput | Self::Time => Scale::logarithmic(&values),
            Self::BandwidthShare => Scale::linear(&values),
        }
    }
}

impl Run {
    /// The plots: one per cost table, one per rig outside of the tables, and one of the bandwidth.
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
        let bandwidth = Axis { heading: "Bandwidth of the GPU that poses use", ..AXES[0] };
        figures.extend(self.figure(&bandwidth, Measure::BandwidthShare, &shares));
        figures
    }

    /// A plot of some cases; `None` if there is no point.
    fn figure(&self, axis: &Axis, measure: Measure, cases: &[&Case]) -> Option<Figure> {
        let mut series = Vec::new();
        for (index, engine) in self.engines().into_iter().enumerate() {
            let own = cases.iter().filter(|case| engine.measured(case));
            let mut points: Vec<Point> = own.filter_map(|case| measure.point((axis.size)(case)?, case)).collect();
            points.sort_by(|a, b| a.across.total_cmp(&b.across));
            if !points.is_empty() {
                series.push(Series { label: engine.label, engine: index, points });
            }
        }
        let points = || series.iter().flat_map(|series| series.points.iter().copied());
        let across: Vec<f64> = points().map(|point| point.across).collect();
        let scales = [Scale::of_steps(&across), measure.scale(points())];
        let (heading, fixed) = (axis.heading.into(), fixed_sizes(axis, cases));
        (!across.is_empty()).then_some(Figure {
            heading,
            fixed,
            across: axis.across,
            up: measure.unit(),
            scales,
            series,
        })
    }
}

/// The sizes that all cases have in common, except for the size that grows: `64 joints, 60 keys, 10 levels, 1 layer`.
fn fixed_sizes(axis: &Axis, cases: &[&Case]) -> String {
    let size = |name: &str, plural: &str, value: fn(&Case) -> Option<u64>| {
        let first = value(cases.first()?)?;
        let is_fixed = cases.iter().all(|case| value(case) == Some(first));
        is_fixed.then(|| format!("{} {}", number::grouped(first), if first == 1 { name } else { plural }))
    };
    let sizes = [
        ("instances", size("instance", "instances", |case| Some(case.instances))),
        ("joints", size("joint", "joints", |case| Some(case.joints))),
        ("keys", size("key", "keys", |case| case.keys)),
        ("depth", size("level", "levels", |case| case.depth)),
        ("clips", size("clip", "clips", |case| case.clips)),
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
    /// The description of the plot for screen readers.
    pub fn description(&self) -> String {
        let describe = |Series { label, points, .. }: &Series| {
            let text = |point: &Point| format!("{} at {}", number::short(point.up), number::short(point.across));
            match &points[..] {
                [] => label.clone(),
                [only] => format!("{label}: {}", text(only)),
                [first, .., last] => format!("{label}: {}, {}", text(first), text(last)),
            }
        };
        let series: Vec<String> = self.series.iter().map(describe).collect();
        format!("{} by {}. {}.", self.up, self.across, series.join("; "))
    }
}
