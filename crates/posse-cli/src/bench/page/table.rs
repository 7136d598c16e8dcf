//! The table of all cases of a run.

use maud::{Markup, html};

use super::number::{digits, grouped};
use super::run::{Case, Run};

/// The name of a column, and the text of a case in it.
type Column = (&'static str, fn(&Case) -> Option<String>);

/// The columns. A column without any text is left out.
const COLUMNS: [Column; 21] = [
    ("grows", |case| case.table.clone()),
    ("instances", |case| Some(grouped(case.instances))),
    ("posed", |case| case.instances_posed.filter(|&posed| posed < case.instances).map(grouped)),
    ("skeletons", |case| Some(grouped(case.skeletons))),
    ("joints", |case| Some(grouped(case.joints))),
    ("keys", |case| case.keys.map(grouped)),
    ("depth", |case| case.depth.map(grouped)),
    ("clips", |case| case.clips.map(grouped)),
    ("layers", |case| Some(grouped(case.layers))),
    ("additive", |case| (case.additive > 0).then(|| grouped(case.additive))),
    ("Mjoints/s", |case| Some(digits(case.joints_per_second(case.times().median) / 1e6, 4))),
    ("ns/joint", |case| Some(digits(case.nanoseconds_per_joint(case.times().median), 4))),
    ("ms", |case| Some(digits(case.times().median, 4))),
    ("p5", |case| Some(digits(case.times().p5, 4))),
    ("p95", |case| Some(digits(case.times().p95, 4))),
    ("frames", |case| Some(grouped(case.times().frames))),
    ("library bytes", |case| case.library_bytes.map(grouped)),
    ("bytes written", |case| case.bytes_written.map(grouped)),
    ("GB/s", |case| case.bytes_per_second.map(|bytes| digits(bytes / 1e9, 4))),
    ("% of peak", |case| case.bandwidth_share.map(|share| digits(100.0 * share, 3))),
    ("check", |case| {
        let share = case.worst_share_of_contract.map(|share| format!(", {} % of the bound", digits(100.0 * share, 2)));
        let word = if case.within_contract? { "ok" } else { "BEYOND THE CONTRACT" };
        Some(format!("{word}{}", share.unwrap_or_default()))
    }),
];

impl Run {
    /// The cases, one per row.
    pub fn table(&self) -> Markup {
        let columns: Vec<&Column> =
            COLUMNS.iter().filter(|(_, text)| self.cases.iter().any(|case| text(case).is_some())).collect();
        html! {
            div class="scroll" tabindex="0" role="region" aria-label="All figures" {
                table {
                    thead { tr { th scope="col" { "engine" } @for (name, _) in &columns { th scope="col" { (name) } } } }
                    tbody {
                        @for case in &self.cases {
                            tr {
                                th scope="row" { (case.engine_label()) }
                                @for (_, text) in &columns { td { (text(case).unwrap_or_else(|| "–".into())) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
