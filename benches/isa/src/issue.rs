//! Cycles in which a wave of 64 lanes issues vector instructions, counted in the assembly of a kernel that poses without mixing.
//!
//! The driver's own estimate lets each loop run eight times. Here, each loop runs as often as for an instance of up to 64 joints, ten
//! levels and one timeline, with skin matrices out. A loop is told by its instructions. Both sides of a branch count, except in
//! loops that do not run, so that the sum is somewhat too large.

/// Cycles of a vector instruction: most instructions, and those of a quarter of the rate.
#[derive(Clone, Copy)]
pub struct Rates {
    usual: u64,
    quarter: u64,
}

impl Rates {
    /// The rates of a family by RADV's name: RDNA issues 64 lanes in two cycles, the families before in four.
    pub fn of(family: &str) -> Self {
        match family.starts_with("navi") || family.starts_with("gfx11") {
            true => Self { usual: 2, quarter: 8 },
            false => Self { usual: 4, quarter: 16 },
        }
    }

    fn cycles(self, instruction: &str) -> u64 {
        const QUARTER: [&str; 7] =
            ["v_rcp", "v_rsq", "v_sqrt", "v_mul_lo_u32", "v_mul_hi_u32", "v_mul_lo_i32", "v_mul_hi_i32"];
        match QUARTER.iter().any(|name| instruction.starts_with(name)) {
            true => self.quarter,
            false if instruction.starts_with("v_") => self.usual,
            false => 0,
        }
    }
}

/// A loop: its first and its last block.
type Loop = (usize, usize);

/// The cycles of a wave.
pub fn cycles(assembly: &str, rates: Rates) -> u64 {
    let blocks = blocks(assembly);
    let loops = loops(&blocks);
    let rounds: Vec<_> = loops.iter().map(|&found| (found, rounds(&blocks, &loops, found))).collect();
    let cost = |(index, (_, instructions)): (usize, &(usize, Vec<&str>))| {
        let around = rounds.iter().filter(|((first, last), _)| (*first..=*last).contains(&index));
        around.map(|(_, rounds)| rounds).product::<u64>()
            * instructions.iter().map(|one| rates.cycles(one)).sum::<u64>()
    };
    blocks.iter().enumerate().map(cost).sum()
}

/// The number of a block, from its label `BB12`.
fn label(text: &str) -> Option<usize> {
    text.strip_prefix("BB")?.parse().ok()
}

/// The blocks with their numbers and instructions.
fn blocks(assembly: &str) -> Vec<(usize, Vec<&str>)> {
    let mut blocks: Vec<(usize, Vec<&str>)> = Vec::new();
    for line in assembly.lines().map(str::trim) {
        if let Some(number) = line.strip_suffix(':').and_then(label) {
            blocks.push((number, Vec::new()));
        } else if let Some((_, instructions)) = blocks.last_mut() {
            instructions.push(line);
        }
    }
    blocks
}

/// The loops: from the block that a branch goes back to, to the last branch that does.
fn loops(blocks: &[(usize, Vec<&str>)]) -> Vec<Loop> {
    let mut loops: Vec<Loop> = Vec::new();
    for (index, (_, instructions)) in blocks.iter().enumerate() {
        for line in instructions.iter().filter(|line| line.starts_with("s_branch") || line.starts_with("s_cbranch")) {
            let target = line.split_whitespace().nth(1).and_then(label);
            let first = blocks.iter().position(|(number, _)| Some(*number) == target);
            let Some(first) = first.filter(|&first| first <= index) else { continue };
            match loops.iter_mut().find(|found| found.0 == first) {
                Some(found) => found.1 = index,
                None => loops.push((first, index)),
            }
        }
    }
    loops
}

/// The rounds of a loop.
fn rounds(blocks: &[(usize, Vec<&str>)], loops: &[Loop], (first, last): Loop) -> u64 {
    let has =
        |name: &str| blocks[first..=last].iter().any(|(_, lines)| lines.iter().any(|line| line.starts_with(name)));
    let inside = loops.iter().any(|&(start, end)| start < first && last <= end);
    let stores = has("buffer_store");
    let stores_shared = has("ds_write") || has("ds_store");
    let multiplies = has("v_mul_f32") || has("v_dual_mul_f32");
    if has("v_rsq") && stores_shared {
        // Joints: one per lane.
        1
    } else if stores && (has("v_rsq") || !multiplies) {
        // Morph weights and properties, and model matrices: none.
        0
    } else if stores {
        // Skin matrices, row by row.
        3
    } else if has("ds_read_b128") || has("ds_load_b128") {
        // The hierarchy by doubling; the loop over strips inside it has one strip.
        if inside { 1 } else { 4 }
    } else if stores_shared {
        // Timelines.
        1
    } else {
        // Bisection.
        2
    }
}
