//! The text of `posse bench`.

use std::io::{self, Write};

use posse::SkinFormat;
use posse::low_level::Bandwidth;
use posse::measure::Measurement;

use super::case::{Scales, Table};
use super::machine_state::{GpuState, StateRange};
use super::report::{Case, Report};

/// The name of a column, and the text of a case in it. A column without any text is left out.
type Cell = (&'static str, Option<String>);

impl Report {
    /// Writes the adapters, the start-up, a table of the cases, and a table per cost table.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let mut adapters: Vec<(&str, &str)> = Vec::new();
        for case in &self.cases {
            let adapter = (case.measured.engine, case.measured.adapter.as_str());
            if !adapters.contains(&adapter) {
                adapters.push(adapter);
            }
        }
        for (engine, adapter) in adapters {
            writeln!(out, "{engine:<10} {adapter}")?;
        }
        if let Some(Bandwidth { write, write_strided, read, copy }) = self.bandwidth {
            let rate = |bandwidth: f64| format!("{:.1} GB/s", bandwidth / 1e9);
            let writes = format!("writes {} at best", rate(write));
            let strided = write_strided.map(|bandwidth| format!("{} as poses are written", rate(bandwidth)));
            let reads = read.map(|bandwidth| format!("reads {}", rate(bandwidth)));
            let copies = format!("copies {} read and written", rate(copy));
            let parts: Vec<_> = [Some(writes), strided, reads, Some(copies)].into_iter().flatten().collect();
            writeln!(out, "{:<10} {}", "gpu", parts.join(", "))?;
        }
        if let Some(gpu) = &self.gpu {
            let uuid = gpu.uuid.as_ref().map(|uuid| format!("{uuid}, "));
            let state = match (&gpu.state_from, &gpu.state_missing) {
                (Some(source), _) => format!("clocks and power by {source}"),
                (None, reason) => format!("no clocks and power: {}", reason.as_deref().unwrap_or("not known")),
            };
            writeln!(out, "{:<10} {}{state}", "gpu", uuid.unwrap_or_default())?;
        }
        if let Some(length) = self.compressed {
            writeln!(out, "{:<10} compressed, off by {length} at most", "keys")?;
        }
        for (engine, start_up) in &self.start_ups {
            let steps: Vec<String> =
                start_up.steps.iter().map(|(name, seconds)| format!("{name} {:.1}", 1e3 * seconds)).collect();
            writeln!(out, "{engine:<10} starts in {:.1} ms: {}", 1e3 * start_up.seconds(), steps.join(", "))?;
        }
        let mut tables: Vec<Option<Table>> = Vec::new();
        for table in self.cases.iter().map(|case| case.step.map(|step| step.table)) {
            if !tables.contains(&table) {
                tables.push(table);
            }
        }
        for table in tables {
            writeln!(out)?;
            if let Some(table) = table {
                let base = match table {
                    Table::Additive => "of two blended layers; `x one` to the time of one layer".to_owned(),
                    table => format!("at {}", table.base().value),
                };
                writeln!(out, "{}: the cost per joint, relative to that {base}", table.name())?;
            }
            let cases = self.cases.iter().filter(|case| case.step.map(|step| step.table) == table);
            write_table(out, &cases.map(|case| self.cells(case)).collect::<Vec<_>>())?;
        }
        if let Some(crowd) = &self.crowd {
            writeln!(out, "\n{crowd}: joints and layers are those of the largest instance")?;
        }
        let packed = if self.is_packed() { ", 24 as half or dual-quaternion" } else { "" };
        writeln!(
            out,
            "\nskin matrices, 48 bytes per joint{packed}; times of the GPU's own clock if it has one, without reading back"
        )?;
        if self.cases.iter().any(|case| case.measured.back_to_back.is_some()) {
            writeln!(
                out,
                "`ms` is of frames that are submitted one by one, `back to back` and `p99` of many in one submission; \
                 `passes` are the milliseconds of each pass alone"
            )?;
        }
        if let Some(part) = self.cases.iter().find(|case| case.measured.instances < case.size.instances) {
            let Measurement { engine, instances, .. } = &part.measured;
            writeln!(out, "the {engine} poses at most {instances} instances (column `posed`); its times are of those")?;
        }
        if let Some(remark) = self.busy_remark() {
            writeln!(out, "{remark}")?;
        }
        Ok(())
    }

    /// The number of threads of a case of the CPU engine, if the engine ran with several numbers.
    fn threads(&self, case: &Case) -> Option<String> {
        let is_cpu = |case: &&Case| case.measured.engine == "cpu";
        let is_other = |other: &Case| other.measured.adapter != case.measured.adapter;
        let several = is_cpu(&case) && self.cases.iter().filter(is_cpu).any(is_other);
        // The name of the adapter begins with the number of threads.
        several.then(|| case.measured.adapter.split(' ').next().unwrap_or_default().to_owned())
    }

    /// Returns true if a case has a skin format other than full matrices.
    fn is_packed(&self) -> bool {
        self.cases.iter().any(|case| case.size.skin_format != SkinFormat::Matrix)
    }

    /// Returns true if a case has rigs with uniform scales.
    fn has_uniform_scales(&self) -> bool {
        self.cases.iter().any(|case| case.size.scales == Some(Scales::Uniform))
    }

    fn cells(&self, case: &Case) -> Vec<Cell> {
        let (size, measured) = (&case.size, &case.measured);
        let time = measured.device.unwrap_or(measured.wall);
        let table = |table: Table| case.step.is_some_and(|step| step.table == table);
        let cost = self.relative_cost(case);
        let scales = size.scales.filter(|_| self.has_uniform_scales());
        let state = case.gpu_state.as_ref();
        let median = |range: fn(&GpuState) -> Option<StateRange>| Some(format!("{:.0}", range(state?)?.median));
        let passes: Vec<String> =
            measured.passes.iter().map(|(pass, times)| format!("{pass} {:.3}", 1e3 * times.median)).collect();
        let at_most = case.step.and_then(|step| step.at_most());
        let exceeded = match cost.zip(at_most) {
            Some(([cost, _], at_most)) if cost <= at_most => "",
            Some(_) if self.is_doubtful(case) => ", busy",
            Some(_) => ", EXCEEDED",
            None => "",
        };
        let check = match case.check {
            None if measured.engine == "reference" => "is the check",
            None => "not checked",
            Some(check) if check.is_within => "ok",
            Some(_) => "BEYOND THE CONTRACT",
        };
        vec![
            ("engine", Some(measured.engine.into())),
            ("threads", self.threads(case)),
            ("instances", Some(size.instances.to_string())),
            ("posed", (measured.instances < size.instances).then(|| measured.instances.to_string())),
            ("skeletons", (size.skeletons > 1 || table(Table::Skeletons)).then(|| size.skeletons.to_string())),
            ("joints", Some(size.joints.to_string())),
            ("keys", table(Table::Keys).then(|| size.keys.unwrap_or(0).to_string())),
            ("depth", table(Table::Depth).then(|| size.depth.unwrap_or(0).to_string())),
            ("clips", table(Table::Clips).then(|| size.clips.unwrap_or(0).to_string())),
            ("layers", Some(size.layers.to_string())),
            ("additive", table(Table::Additive).then(|| size.additive.to_string())),
            ("scales", scales.map(|scales| scales.name().into())),
            ("key angle", size.key_angle.map(|degrees| degrees.to_string())),
            ("skin", self.is_packed().then(|| size.skin_format.name().into())),
            ("library MB", case.library_bytes.map(|bytes| format!("{:.3}", bytes as f64 / 1e6))),
            ("Mjoints/s", Some(format!("{:.2}", measured.joints_per_second() / 1e6))),
            ("ms", Some(format!("{:.3}", 1e3 * time.median))),
            ("p5", Some(format!("{:.3}", 1e3 * time.p5))),
            ("p95", Some(format!("{:.3}", 1e3 * time.p95))),
            ("back to back", measured.back_to_back.map(|time| format!("{:.3}", 1e3 * time.median))),
            ("p99", measured.back_to_back.and_then(|time| Some(format!("{:.3}", 1e3 * time.p99?)))),
            ("passes", (!passes.is_empty()).then(|| passes.join(", "))),
            ("MHz", median(|state| state.core_mhz)),
            ("W", median(|state| state.watts)),
            ("held by", state.and_then(held_by)),
            ("GB/s", case.bytes_per_second().map(|bytes| format!("{:.2}", bytes / 1e9))),
            ("of peak", case.bandwidth_share(self.bandwidth).map(percent)),
            ("strided", case.strided_share(self.bandwidth).map(percent)),
            ("cost", cost.map(|[median, _]| format!("{median:.2}"))),
            ("of p5", cost.map(|[_, p5]| format!("{p5:.2}"))),
            ("x one", self.cost_of_one_layer(case).map(|[median, _]| format!("{median:.2}"))),
            ("at most", at_most.map(|most| format!("{most:.2}{exceeded}"))),
            ("x baseline", self.baseline_ratio(case).map(|ratio| format!("{ratio:.2}"))),
            ("check", Some(check.into())),
        ]
    }
}

/// A share as a text.
fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// The reasons for which the driver lowered the clocks, other than that the GPU was idle between frames.
fn held_by(state: &GpuState) -> Option<String> {
    let reasons = state.throttle_reasons.as_ref()?.iter().filter(|reason| *reason != "idle");
    let reasons: Vec<&str> = reasons.map(String::as_str).collect();
    Some(if reasons.is_empty() { "nothing".into() } else { reasons.join(" + ") })
}

/// Writes rows with the same columns. The first and the last column are aligned left, the others right.
fn write_table(out: &mut impl Write, rows: &[Vec<Cell>]) -> io::Result<()> {
    let Some(first) = rows.first() else { return Ok(()) };
    let names = first.iter().map(|(name, _)| *name);
    let used: Vec<usize> = (0..first.len()).filter(|&column| rows.iter().any(|row| row[column].1.is_some())).collect();
    let text = |row: &'_ [Cell], column: usize| row[column].1.clone().unwrap_or_else(|| "-".into());
    let width = |&column: &usize| {
        let cells = rows.iter().map(|row| text(row, column).len());
        cells.chain([first[column].0.len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = used.iter().map(width).collect();
    let headings = names.map(|name| (name, Some(name.to_owned()))).collect();
    for row in [&headings].into_iter().chain(rows) {
        let mut line = String::new();
        for (place, (&column, &width)) in used.iter().zip(&widths).enumerate() {
            let cell = text(row, column);
            if place == 0 {
                line += &format!("{cell:<width$}");
            } else if place + 1 == used.len() {
                line += &format!("  {cell}");
            } else {
                line += &format!("  {cell:>width$}");
            }
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_width_of_their_widest_cell_and_empty_ones_are_left_out() {
        let row = |engine: &str, size: Option<&str>, check: &str| -> Vec<Cell> {
            vec![
                ("engine", Some(engine.into())),
                ("joints", size.map(Into::into)),
                ("keys", None),
                ("check", Some(check.into())),
            ]
        };
        let mut out = Vec::new();
        write_table(&mut out, &[row("cpu", Some("1234567"), "ok"), row("reference", None, "is the check")]).unwrap();
        let expected = "engine      joints  check\ncpu        1234567  ok\nreference        -  is the check\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
