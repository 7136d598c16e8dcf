//! The gaits of the example with steered characters: planted feet stay where they are, also in mixtures of synchronised
//! gaits.

use posse::{Library, demo};

use example::gaits::Gaits;
use example::layers::Layers;
use example::slide::{MOTIONS, compare, measure};

#[path = "../../../examples/locomotion/main.rs"]
#[expect(dead_code, reason = "only `main` uses the rest")]
mod example;

fn gaits() -> (Library, Gaits, Layers) {
    let mut library = demo::library().unwrap();
    let gaits = Gaits::add(&mut library).unwrap();
    let layers = Layers::add(&mut library, &gaits).unwrap();
    (library, gaits, layers)
}

#[test]
fn the_planted_foot_of_each_gait_stays_where_it_is() {
    let (library, gaits, layers) = gaits();
    for (gait, _) in &gaits.all {
        let slide = measure(&library, &gaits, &vec![layers.moving.clone(); 2], |_, _| [gait.speed, gait.turn]).unwrap();
        assert!(slide.mean < 0.01, "{}: {slide:?}", gait.name);
        assert!(slide.planted > 0.2, "{}: {slide:?}", gait.name);
    }
}

#[test]
fn planted_feet_slide_at_most_a_fifth_as_fast_with_synchronised_layers() {
    let (library, gaits, layers) = gaits();
    for (name, motion) in MOTIONS {
        let [apart, synced] = compare(&library, &gaits, &layers, motion, 16).unwrap();
        assert!(5.0 * synced.mean < apart.mean, "{name}: {apart:?}, {synced:?}");
        assert!(apart.planted.min(synced.planted) > 0.2, "{name}: {apart:?}, {synced:?}");
    }
}
