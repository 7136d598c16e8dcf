use proptest::test_runner::{Config, RngSeed};

/// So many random cases, the same ones every time for a seed, so that a failure belongs to the change that shows it;
/// `PROPTEST_CASES=N` asks for N others. A failure prints its case, which is all it takes to repeat it.
pub fn cases(count: u32, seed: u64) -> Config {
    let others = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let rng_seed = if others.is_some() { RngSeed::Random } else { RngSeed::Fixed(seed) };
    Config { cases: others.unwrap_or(count), rng_seed, failure_persistence: None, ..Config::default() }
}
