//! The report: rates, ratios to the plain loop, and target ratios.

use std::fmt::Write;

use posse::Ticks;
use posse::cpu::InstructionSet;
use posse::gpu::GpuContext;
use serde_json::{Value, json};

use crate::bevy::Bevy;
use crate::cpu;
use crate::scalar::Scalar;
use crate::scene::{Contender, FRAME, Scene, Workload};

/// The name of the row with the rate of the plain loop on one clip, measured in the rounds of two clips.
pub const SINGLE: &str = "scalar loop, one clip";

/// All results.
pub struct Report {
    scene: String,
    adapter: Option<String>,
    rounds: u32,
    cells: Vec<Cell>,
}

/// The results of one contender in one workload.
pub struct Cell {
    name: String,
    workload: Workload,
    /// The requested size of the crowd, and the size that the contender posed.
    instances: [usize; 2],
    error: f64,
    bound: f64,
    /// Joints per second, by round.
    pub rates: Vec<f64>,
}

impl Cell {
    /// A cell without rates. `error` is the largest difference of its poses from the reference.
    pub fn new(name: String, contender: &dyn Contender, workload: Workload, instances: usize, error: f64) -> Self {
        let instances = [instances, contender.instances()];
        Self { name, workload, instances, error, bound: contender.bound(), rates: Vec::new() }
    }

    fn median(&self) -> f64 {
        median(self.rates.clone())
    }

    /// The median over rounds of the ratio to the rate of another cell.
    fn ratio(&self, other: &Self) -> f64 {
        median(self.rates.iter().zip(&other.rates).map(|(own, other)| own / other).collect())
    }

    /// The slowest and the fastest round.
    fn spread(&self) -> [f64; 2] {
        [self.rates.iter().copied().fold(f64::INFINITY, f64::min), self.rates.iter().copied().fold(0.0, f64::max)]
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    if numbers.len() % 2 == 1 { numbers[middle] } else { 0.5 * (numbers[middle - 1] + numbers[middle]) }
}

/// A target ratio of the project, and the measured ratio.
struct Target {
    what: String,
    wanted: f64,
    measured: f64,
}

impl Report {
    /// An empty report of a scene.
    pub fn new(scene: &Scene, gpu: Option<&GpuContext>, rounds: u32) -> Self {
        let source = format!(
            "{}; {} joints, {:.3} s, a frame of {} ticks of 1/{} s",
            scene.source,
            scene.joints(),
            scene.duration(),
            FRAME.0,
            Ticks::PER_SECOND
        );
        Self { scene: source, adapter: gpu.map(GpuContext::name), rounds, cells: Vec::new() }
    }

    /// Adds the cells of a workload.
    pub fn add(&mut self, cells: Vec<Cell>) {
        self.cells.extend(cells);
    }

    /// True if there are no results.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.cells.iter().map(|cell| cell.instances[0]).collect();
        sizes.dedup();
        sizes
    }

    fn find(&self, size: usize, workload: Workload, name: &str) -> Option<&Cell> {
        let is_it = |cell: &&Cell| cell.instances[0] == size && cell.workload == workload && cell.name == name;
        self.cells.iter().find(is_it)
    }

    /// The target ratios for a crowd size, if the contenders that they compare were measured.
    fn targets(&self, size: usize) -> Vec<Target> {
        let widest = InstructionSet::widest();
        let [one, two] = [1, 2].map(|threads| cpu::name(widest, threads));
        let narrow = cpu::name(InstructionSet::Avx2, 1);
        let mut targets = Vec::new();
        let mut target = |workload, name: &str, wanted, other: &str| {
            let (Some(own), Some(other)) = (self.find(size, workload, name), self.find(size, workload, other)) else {
                return;
            };
            let what = format!("{}: {name} to {}", workload.name(), other.name);
            targets.push(Target { what, wanted, measured: own.ratio(other) });
        };
        target(Workload::Skin, &one, 4.5, Scalar::NAME);
        target(Workload::Skin, &one, 30.0, Bevy::NAME);
        target(Workload::Skin, &two, 1.8, &one);
        target(Workload::Blend, &one, 2.0, SINGLE);
        if widest == InstructionSet::Avx512 {
            target(Workload::Skin, &narrow, 0.6, &one);
        }
        targets
    }

    /// The report as text.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.scene);
        if let Some(adapter) = &self.adapter {
            text += &format!("posse gpu runs on {adapter}\n");
        }
        for size in self.sizes() {
            text += &format!(
                "\n{size} instances, million joints per second: median of {} rounds (slowest-fastest), x the scalar loop\n\n",
                self.rounds
            );
            self.write_table(&mut text, size);
        }
        for size in self.sizes().into_iter().take(1) {
            text += &format!("\ntargets, {size} instances: median of the ratios within a round\n");
            for Target { what, wanted, measured } in self.targets(size) {
                let verdict = if measured >= wanted { "met" } else { "MISSED" };
                text += &format!("  {what:<66} {measured:>6.2}, wanted {wanted:>4.1}: {verdict}\n");
            }
        }
        text += "\nlargest difference from the f64 reference over all workloads (metres, or components of quaternions), and its bound\n";
        for name in self.names() {
            let errors = self.cells.iter().filter(|cell| cell.name == name);
            let (error, bound) = errors.fold((0.0_f64, 0.0), |worst, cell| (worst.0.max(cell.error), cell.bound));
            text += &format!("  {name:<32} {error:.1e} of {bound:.0e}\n");
        }
        text
    }

    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !names.contains(&cell.name.as_str()) {
                names.push(&cell.name);
            }
        }
        names
    }

    fn write_table(&self, text: &mut String, size: usize) {
        *text += &format!("{:<32}", "");
        for workload in Workload::ALL {
            *text += &format!("| {:<26} ", workload.name());
        }
        *text += "\n";
        for name in self.names() {
            let cells = Workload::ALL.map(|workload| self.find(size, workload, name));
            let posed = cells.iter().flatten().map(|cell| cell.instances[1]).find(|&posed| posed != size);
            let label = posed.map_or(name.to_owned(), |posed| format!("{name} ({posed})"));
            *text += &format!("{label:<32}");
            for (workload, cell) in Workload::ALL.into_iter().zip(cells) {
                let Some(cell) = cell else {
                    *text += &format!("| {:<26} ", "");
                    continue;
                };
                let base = self.find(size, workload, Scalar::NAME);
                let ratio = base.map_or("-".into(), |base| format!("{:.2}x", cell.ratio(base)));
                let [slowest, fastest] = cell.spread().map(|rate| format!("{:.1}", rate / 1e6));
                let spread = format!("({slowest}-{fastest})");
                // Writing to a string cannot fail.
                let _ = write!(text, "| {:>5.1} {spread:<13} {ratio:>6} ", cell.median() / 1e6);
            }
            *text += "\n";
        }
    }

    /// The report as JSON.
    pub fn json(&self) -> String {
        let cell = |cell: &Cell| -> Value {
            let [slowest, fastest] = cell.spread();
            let base = self.find(cell.instances[0], cell.workload, Scalar::NAME);
            json!({
                "name": cell.name,
                "workload": cell.workload.name(),
                "crowd": cell.instances[0],
                "instances": cell.instances[1],
                "joints_per_second": { "median": cell.median(), "slowest": slowest, "fastest": fastest, "rounds": cell.rates },
                "ratio_to_scalar": base.map(|base| cell.ratio(base)),
                "error": cell.error,
                "allowed_error": cell.bound,
            })
        };
        let target =
            |target: &Target| json!({ "what": target.what, "wanted": target.wanted, "measured": target.measured });
        let size = self.sizes().first().copied().unwrap_or(0);
        let report = json!({
            "scene": self.scene,
            "adapter": self.adapter,
            "rounds": self.rounds,
            "cells": self.cells.iter().map(cell).collect::<Vec<_>>(),
            "targets": self.targets(size).iter().map(target).collect::<Vec<_>>(),
        });
        format!("{report:#}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_of_the_sorted_numbers() {
        assert_eq!(median(vec![3.0, 1.0, 10.0]), 3.0);
        assert_eq!(median(vec![4.0, 1.0, 10.0, 2.0]), 3.0);
    }
}
