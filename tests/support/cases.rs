use std::sync::OnceLock;

use proptest::test_runner::{Config, RngSeed};

use crate::support::skip::report_skipped;

/// By default, one in this many random cases runs.
const ONE_IN: u64 = 8;

/// The number of random cases to run. `tests/run --all` sets `POSSE_ALL_TESTS=1` and runs all; otherwise it is an
/// eighth, rounded up.
pub fn some_of(all: u64) -> u64 {
    if all_run() { all } else { all.div_ceil(ONE_IN) }
}

/// Returns whether the long suites run in full. If they do not, the first call prints a note.
pub fn all_run() -> bool {
    static ALL: OnceLock<bool> = OnceLock::new();
    *ALL.get_or_init(|| match std::env::var("POSSE_ALL_TESTS").as_deref() {
        Ok("1") => true,
        Err(_) => {
            report_skipped("most random cases and the longest tests: tests/run --all runs them");
            false
        }
        Ok(value) => panic!("POSSE_ALL_TESTS={value}: it may be `1`, or not be set"),
    })
}

/// The configuration of a random test: [`some_of`] `all` cases. A seed always gives the same cases, so that a failure
/// belongs to the change under test. `PROPTEST_CASES=N` runs N other cases. A failure prints its case, which is enough
/// to repeat it.
pub fn cases(all: u32, seed: u64) -> Config {
    let others = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let rng_seed = if others.is_some() { RngSeed::Random } else { RngSeed::Fixed(seed) };
    let count = || some_of(all.into()) as u32;
    Config { cases: others.unwrap_or_else(count), rng_seed, failure_persistence: None, ..Config::default() }
}
