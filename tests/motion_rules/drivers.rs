//! Rules 1 to 4: parameters, phases, knots and blend spaces.

use posse::parameters::{BlendSpace, Knots, Parameter, WeightDriver};
use posse::transitions::{Fade, FadeShape};
use posse::{Clip, Layer, LayerMode, Mask, Ticks, WrapMode};

use super::{Rig, constant, keyed, looping, phase};

#[test]
fn a_parameter_is_linear_between_its_keys_and_constant_beyond_them() {
    let mut rig = Rig::new();
    let clip = rig.moving(0, 2.0, 1.0);
    // The value is (t - 1) / 4 from second 1 to 3, so that the time is (t - 1) / 2 there.
    let crowd = rig.crowd(&[phase(clip, 1, WrapMode::Loop)], vec![constant(9.0), keyed(&[[1.0, 0.0], [3.0, 0.5]])]);
    rig.assert_x(&crowd, 0, &[(-5.0, 0.0), (1.0, 0.0), (1.5, 0.25), (2.5, 0.75), (3.0, 1.0), (9.0, 1.0)]);
    let missing = rig.crowd(&[phase(clip, 3, WrapMode::Loop)], vec![constant(0.25)]);
    rig.assert_x(&missing, 0, &[(0.5, 0.0)]);
}

#[test]
fn engines_take_the_nearest_f32() {
    let mut rig = Rig::new();
    let clip = rig.moving(0, 2.0, 1.0);
    // The f32 nearest to 1000000.1 is 1000000.125: an eighth of a cycle, not a tenth. Here f32 are 1/16 apart.
    let crowd = rig.crowd(&[phase(clip, 0, WrapMode::Loop)], vec![constant(1_000_000.1)]);
    rig.assert_x(&crowd, 0, &[(0.0, 0.25)]);
}

#[test]
fn a_phase_counts_cycles_in_every_wrap_mode() {
    let mut rig = Rig::new();
    let clip = rig.moving(0, 2.0, 1.0);
    let at = |rig: &Rig, wrap: WrapMode, cases: &[(f64, f64)]| {
        for &(cycles, expected) in cases {
            let crowd = rig.crowd(&[phase(clip, 0, wrap)], vec![constant(cycles)]);
            rig.assert_x(&crowd, 0, &[(0.0, expected), (77.0, expected)]);
        }
    };
    // By hand: the play time is twice the value; a whole number of passes is the end of the last one, backwards its
    // start.
    at(&rig, WrapMode::Loop, &[(0.25, 0.5), (1.0, 2.0), (2.25, 0.5), (-0.25, 1.5), (-1.0, 0.0), (0.0, 0.0)]);
    at(&rig, WrapMode::Normal, &[(0.25, 0.5), (1.0, 2.0), (2.25, 2.0), (-0.25, 0.0)]);
    at(&rig, WrapMode::PingPong, &[(0.25, 0.5), (1.25, 1.5), (2.25, 0.5), (-0.25, 1.5)]);
    at(&rig, WrapMode::Reverse, &[(0.25, 1.5), (1.5, 0.0), (-0.25, 2.0)]);
    at(&rig, WrapMode::LoopReverse, &[(0.25, 1.5), (1.25, 1.5), (-0.25, 0.5)]);
}

#[test]
fn a_phase_ignores_the_speed_of_its_clip_and_takes_its_mode() {
    let mut rig = Rig::new();
    let plain = rig.moving(0, 2.0, 1.0);
    let fast = Clip { speed: 3.0, wrap: WrapMode::PingPong, ..rig.library.clip(plain).clone() };
    let fast = rig.library.add_clip(fast).unwrap();
    let crowd = rig.crowd(&[phase(fast, 0, WrapMode::Default)], vec![constant(1.25)]);
    rig.assert_x(&crowd, 0, &[(5.0, 1.5)]);
}

#[test]
fn knots_make_weights_that_fades_and_masks_multiply() {
    let mut rig = Rig::new();
    let [ten, twenty] = [10.0, 20.0].map(|x| rig.standing(x));
    let half = Mask { name: None, skeleton: rig.skeleton, weights: vec![0.5, 1.0] };
    let half = rig.library.add_mask(half).unwrap();
    let mut knots = |knots: &[[f64; 2]]| {
        let knots = rig.library.add_knots(Knots::new(knots.to_vec()).unwrap());
        Some(WeightDriver::Knots { parameter: 0, knots })
    };
    let (falling, rising) = (knots(&[[0.0, 1.0], [1.0, 0.0]]), knots(&[[0.0, 0.0], [1.0, 1.0]]));
    let first = Layer { driver: falling, ..looping(ten) };
    let second = Layer { driver: rising, ..looping(twenty) };
    let speed = || vec![keyed(&[[0.0, 0.0], [4.0, 1.0]])];
    let crowd = rig.crowd(&[first, second], speed());
    // Weights 1 - t/4 and t/4; beyond the knots 1 and 0, or 0 and 1.
    rig.assert_x(&crowd, 0, &[(-1.0, 10.0), (1.0, 12.5), (2.0, 15.0), (9.0, 20.0)]);
    // At second 1 half of the fade is over, and half of the mask: (0.75 x 10 + 0.125 x 20) / 0.875.
    let fade = Fade { start: Ticks(0), length: Ticks::from_seconds(2.0), shape: FadeShape::Linear };
    let faded = rig.crowd(&[first, Layer { fade_in: Some(fade), ..second }], speed());
    rig.assert_x(&faded, 0, &[(1.0, 10.0 / 0.875)]);
    let masked = rig.crowd(&[first, Layer { mask: Some(half), ..second }], speed());
    rig.assert_x(&masked, 0, &[(1.0, 10.0 / 0.875)]);
    // Over a pose at 10, by a quarter.
    let over = rig.crowd(&[looping(ten), Layer { mode: LayerMode::Override, ..second }], speed());
    rig.assert_x(&over, 0, &[(1.0, 12.5)]);
    // A single layer of weight 0.025 is a quarter of the least weight 0.1; the rest pose takes the others.
    let weak = rig.crowd(&[Layer { weight: 0.1, ..second }], speed());
    rig.assert_x(&weak, 0, &[(1.0, 5.0)]);
}

const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];

/// Asserts x for positions in a blend space whose points 0, 1, 2, ... stand at 0, 10, 20, ...
#[track_caller]
fn assert_space(space: BlendSpace, cases: &[([f64; 2], f64)]) {
    let mut rig = Rig::new();
    let points = space.points().len();
    let clips: Vec<_> = (0..points).map(|point| rig.standing(10.0 * point as f64)).collect();
    let space = rig.library.add_blend_space(space);
    let layer = |(point, &clip)| {
        let driver = Some(WeightDriver::Point { space, parameters: [2, 0], point });
        Layer { driver, ..looping(clip) }
    };
    let layers: Vec<Layer> = clips.iter().enumerate().map(layer).collect();
    for &([x, y], expected) in cases {
        let crowd = rig.crowd(&layers, vec![constant(y), constant(77.0), constant(x)]);
        rig.assert_x(&crowd, 0, &[(0.0, expected)]);
    }
}

#[test]
fn a_blend_space_shares_by_barycentric_coordinates() {
    let space = BlendSpace::with_triangles(SQUARE.to_vec(), vec![[0, 1, 2], [3, 2, 1]]).unwrap();
    assert_space(
        space,
        &[
            ([0.25, 0.5], 0.25 * 10.0 + 0.5 * 20.0),
            ([0.75, 0.75], 0.25 * 10.0 + 0.25 * 20.0 + 0.5 * 30.0),
            ([1.0, 0.0], 10.0),
            ([0.25, 0.75], 0.25 * 10.0 + 0.75 * 20.0),
            // Outside: below the lower side, beyond a corner, beside the right side.
            ([0.25, -3.0], 2.5),
            ([9.0, 7.0], 30.0),
            ([5.0, 0.5], 0.5 * 10.0 + 0.5 * 30.0),
        ],
    );
}

#[test]
fn of_overlapping_triangles_the_first_counts() {
    let space = BlendSpace::with_triangles(SQUARE.to_vec(), vec![[0, 1, 2], [0, 1, 3]]).unwrap();
    // The first has (1/4, 1/2, 1/4) of points 0, 1, 2; only the second reaches the other position: (1/4, 1/4, 1/2) of
    // 0, 1, 3.
    assert_space(space, &[([0.5, 0.25], 10.0), ([0.75, 0.5], 17.5)]);
}

#[test]
fn a_point_without_a_triangle_has_no_weight() {
    let mut points = SQUARE.to_vec();
    points.push([0.25, 0.25]);
    let space = BlendSpace::with_triangles(points, vec![[0, 1, 2]]).unwrap();
    assert_space(space, &[([0.25, 0.25], 7.5), ([1.0, 1.0], 15.0)]);
}

#[test]
fn delaunay_triangles_are_made_of_points_alone() {
    // Of a flat rhombus, the short diagonal 2-3 is chosen: the left half is triangle 0-2-3.
    let space = BlendSpace::new(vec![[-4.0, 0.0], [4.0, 0.0], [0.0, 1.0], [0.0, -1.0]]).unwrap();
    assert_space(space, &[([0.0, 0.0], 25.0), ([-2.0, 0.0], 12.5), ([2.0, 0.0], 17.5), ([-9.0, 0.0], 0.0)]);
}

#[test]
fn instances_can_share_parameters() {
    let mut rig = Rig::new();
    let clip = rig.moving(0, 2.0, 1.0);
    let shared: std::sync::Arc<[Parameter]> = vec![constant(0.25)].into();
    let mut crowd = rig.crowd(&[phase(clip, 0, WrapMode::Loop)], Vec::new());
    crowd.set_parameters(0, std::sync::Arc::clone(&shared)).unwrap();
    let copy = crowd.clone();
    crowd.push_copy(&copy, 0);
    assert_eq!((crowd.parameters(1), crowd.len()), (&*shared, 2));
    rig.assert_x(&crowd, 0, &[(0.0, 0.5)]);
}
