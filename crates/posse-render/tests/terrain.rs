//! The feet of the example with hills: with inverse kinematics they are on the ground, without they are not.

use example::planted::measure;

#[path = "../../../examples/terrain/main.rs"]
#[expect(dead_code, reason = "only `main` uses the rest")]
#[expect(clippy::duplicate_mod, reason = "both examples have the same walk")]
mod example;

#[test]
fn planted_feet_are_on_the_ground() {
    let [reaching, walking] = [true, false].map(|reaches| measure(48, 240, reaches).unwrap());
    assert!(reaching > 0.97, "{reaching}");
    // The test could not fail if the hills were flat.
    assert!(walking < 0.75, "{walking}");
}
