use std::sync::OnceLock;

use proptest::test_runner::{Config, RngSeed};

use crate::support::aloud::skipped;

/// One of this many random cases runs by default.
const ONE_IN: u64 = 8;

/// The number of random cases to run: all of them with `tests/run --all`, which sets `POSSE_ALL_TESTS=1`, else an eighth,
/// rounded up.
pub fn some_of(all: u64) -> u64 {
    if all_run() { all } else { all.div_ceil(ONE_IN) }
}

/// Whether the long suites run in full. The first call of a run that leaves them out says so.
pub fn all_run() -> bool {
    static ALL: OnceLock<bool> = OnceLock::new();
    *ALL.get_or_init(|| match std::env::var("POSSE_ALL_TESTS").as_deref() {
        Ok("1") => true,
        Err(_) => {
            skipped("most random cases and the longest tests: tests/run --all runs them");
            false
        }
        Ok(value) => panic!("POSSE_ALL_TESTS={value}: it may be `1`, or not be set"),
    })
}

/// Random cases: [`some_of`] so many, the same ones every time for a seed, so that a failure belongs to the change that
/// shows it; `PROPTEST_CASES=N` asks for N others. A failure prints its case, which is all it takes to repeat it.
pub fn cases(all: u32, seed: u64) -> Config {
    let others = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let rng_seed = if others.is_some() { RngSeed::Random } else { RngSeed::Fixed(seed) };
    let count = || some_of(all.into()) as u32;
    Config { cases: others.unwrap_or_else(count), rng_seed, failure_persistence: None, ..Config::default() }
}
