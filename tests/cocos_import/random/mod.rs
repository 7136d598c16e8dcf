/// The outcome of a file.
mod check;
/// Clips of the forms before release 3.3.
mod clips;
/// Repeatable random choices.
mod dice;
/// Whole files, intact or broken.
mod files;
/// Clips of release 3.3 and later.
mod tracks;
/// Times, values, easings and names.
mod values;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use posse::Error;
use posse::import::cocos;

use self::check::{Outcome, check};
use self::dice::Dice;
use super::{examples, library};
use crate::support::cases::some_of;

/// Checks a fixed set of random files. `FUZZ_SECONDS=N` checks other files instead, for N seconds. A failure prints its
/// file.
#[test]
fn random_files_are_refused_or_posed_alike() {
    let library = library();
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
    let others = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
    let (start, first) = (Instant::now(), if seconds.is_some() { others } else { 0 });
    let (mut counts, count) = ([0; 3], some_of(4000));
    for round in 0.. {
        if seconds.map_or(round == count, |seconds| start.elapsed() > seconds) {
            break;
        }
        let bytes = Dice::new(first.wrapping_add(round)).file();
        let began = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| check(&library, &bytes)));
        let outcome = outcome.unwrap_or_else(|_| panic!("this file does harm: {}", String::from_utf8_lossy(&bytes)));
        let took = began.elapsed();
        assert!(took < Duration::from_secs(5), "this file took {took:?}: {}", String::from_utf8_lossy(&bytes));
        counts[outcome as usize] += 1;
    }
    if seconds.is_some() {
        println!("{} refused, {} not bound, {} posed", counts[0], counts[1], counts[2]);
    } else {
        let enough = |outcome: Outcome| counts[outcome as usize] > count / 4;
        assert!(enough(Outcome::Refused) && enough(Outcome::Posed), "{counts:?}");
    }
}

#[test]
fn no_mutation_does_harm() {
    let library = library();
    let mut dice = Dice::new(11);
    let mut read_well = 0;
    let count = some_of(6000) as usize;
    for round in 0..count {
        let mut file = examples::all()[round % 5].clone();
        for _ in 0..=dice.roll(3) {
            dice.mutate(&mut file);
        }
        let bytes = dice.flip(file.to_string().into_bytes(), 4);
        match cocos::from_slice(&library, Path::new("broken.anim"), &bytes) {
            Ok(_) => read_well += 1,
            Err(Error::Import { path, reason, .. }) => assert!(!path.is_empty() && !reason.is_empty()),
            Err(other) => panic!("{other}"),
        }
    }
    assert!(read_well > count / 10, "only {read_well} were read");
}
