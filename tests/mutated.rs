//! Libraries and crowds with numbers that were replaced, within their ranges and beyond: each is refused, or posed
//! without harm.

/// Identifiers, also of items that a library does not have.
mod ids;
/// The changes of a scene.
mod mutation;
/// Crowds, rebuilt number by number.
mod rebuilt_crowd;
/// Libraries, rebuilt number by number.
mod rebuilt_library;
/// A small scene with every kind of number.
mod specimen;
/// The evaluation of a mutated scene on each engine.
mod trial;
/// Trials on a thread that is watched.
mod watch;

use std::collections::HashSet;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use self::mutation::{Change, Mutation};
use self::specimen::specimen;
use self::trial::try_scene;
use self::watch::{Trial, watch};
use crate::support::cases::{all_run, cases, some_of};
use crate::support::scenes::{Numbers, Scene, scenes};

/// The numbers of a scene.
fn census(scene: &Scene) -> Mutation {
    let mut census = Mutation::default();
    try_scene(scene, &mut census).unwrap();
    census
}

#[test]
fn the_specimen_has_every_kind_of_number() {
    let census = census(&specimen());
    let names: HashSet<&str> = census.numbers().iter().map(|number| number.name).collect();
    assert!(census.numbers().len() > 600 && names.len() > 90, "{} numbers: {names:?}", census.numbers().len());
}

/// Without `POSSE_ALL_TESTS=1`, a number is replaced by one in this many of its values, by other ones than its
/// neighbour.
const VALUES_ONE_IN: usize = 16;

/// Miri, which takes minutes for what takes a second elsewhere, replaces one in this many numbers.
const NUMBERS_ONE_IN: usize = if cfg!(miri) { 160 } else { 1 };

/// Replaces the numbers of the specimen, each by all its values: half of the numbers, so that two tests share them.
fn replace_each_number(part: usize) {
    const PARTS: usize = 2;
    let all = all_run();
    let numbers = census(&specimen()).numbers().to_vec();
    let own = numbers
        .into_iter()
        .enumerate()
        .filter(move |(number, _)| number % PARTS == part && (number / PARTS).is_multiple_of(NUMBERS_ONE_IN));
    let changes = own.flat_map(move |(number, found)| {
        let values = if all { found.values } else { found.values.div_ceil(VALUES_ONE_IN) };
        let first = number / PARTS * values;
        (0..values).map(move |value| Change { number, value: (first + value) % found.values })
    });
    let outcome = watch(vec![specimen()], changes.map(|change| Trial { scene: 0, changes: vec![change] }));
    assert!(outcome.refused > outcome.tried / 20 && outcome.posed > outcome.tried / 4, "{outcome:?}");
}

#[test]
fn each_even_number_of_the_specimen_is_replaced() {
    replace_each_number(0);
}

#[test]
fn each_odd_number_of_the_specimen_is_replaced() {
    replace_each_number(1);
}

/// Replaces up to eight numbers of random scenes.
fn replace_several_numbers(seed: u64, most_joints: usize, count: u64) {
    let mut runner = TestRunner::new(cases(60, seed));
    let strategy = scenes(most_joints, 20);
    let random: Vec<Scene> =
        (0..some_of(16)).map(|_| strategy.new_tree(&mut runner).unwrap().current().scene()).collect();
    let counts: Vec<Vec<usize>> =
        random.iter().map(|scene| census(scene).numbers().iter().map(|number| number.values).collect()).collect();
    let mut numbers = Numbers::new(seed);
    let trials = (0..some_of(count)).map(move |_| {
        let scene = numbers.below(counts.len());
        let changes = (0..1 + numbers.below(8)).map(|_| {
            let number = numbers.below(counts[scene].len());
            Change { number, value: numbers.below(counts[scene][number]) }
        });
        Trial { scene, changes: changes.collect() }
    });
    let outcome = watch(random, trials);
    assert!(outcome.refused > 0 && outcome.posed > 0, "{outcome:?}");
}

#[test]
fn several_numbers_of_random_scenes_are_replaced() {
    replace_several_numbers(2041, 12, 400);
}

#[test]
fn several_numbers_of_random_scenes_with_many_joints_are_replaced() {
    replace_several_numbers(2042, 300, 100);
}
