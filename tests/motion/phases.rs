use posse::parameters::Parameter;
use posse::{Crowd, Layer, LayerTime, Ticks, WrapMode};

use super::{add_clip, assert_as_reference, assert_x, constant, crowd_of, ramp, rig, step, ticks};

/// Cycles with hand-worked clip times of a clip of 2 s: by mode.
const CASES: [(WrapMode, &[(f64, f64)]); 6] = [
    (WrapMode::Loop, &[(0.0, 0.0), (0.25, 0.5), (1.0, 2.0), (1.25, 0.5), (-0.25, 1.5), (-1.0, 0.0), (16777216.0, 2.0)]),
    (WrapMode::Normal, &[(0.25, 0.5), (1.0, 2.0), (7.5, 2.0), (-3.0, 0.0), (1e30, 2.0)]),
    (WrapMode::Reverse, &[(0.25, 1.5), (1.0, 0.0), (7.5, 0.0), (-3.0, 2.0)]),
    (WrapMode::LoopReverse, &[(0.25, 1.5), (1.25, 1.5), (-0.25, 0.5)]),
    (WrapMode::PingPong, &[(0.25, 0.5), (1.25, 1.5), (2.25, 0.5), (2.0, 0.0), (3.0, 2.0), (1e30, 0.0)]),
    (WrapMode::PingPongReverse, &[(0.25, 1.5), (1.25, 0.5), (2.25, 1.5)]),
];

#[test]
fn a_parameter_counts_cycles_in_each_mode() {
    let (mut library, skeleton) = rig();
    let clip = ramp(&mut library, skeleton, 2.0, &[]);
    let (mut crowd, mut expected) = (Crowd::new(), Vec::new());
    for (wrap, cases) in CASES {
        for &(cycles, time) in cases {
            let instance = crowd.push(skeleton, &[Layer::new(clip, LayerTime::Phase { parameter: 2, wrap })]).unwrap();
            crowd.set_parameters(instance, vec![constant(9.0), constant(8.0), constant(cycles)]).unwrap();
            expected.push(time);
        }
    }
    // The clock has no effect.
    for now in [Ticks(0), ticks(77.7), Ticks(-5)] {
        assert_x(&library, &crowd, now, &expected);
    }
}

#[test]
fn an_instance_without_the_parameter_counts_0() {
    let (mut library, skeleton) = rig();
    let clip = ramp(&mut library, skeleton, 2.0, &[]);
    let layer = |parameter| vec![Layer::new(clip, LayerTime::Phase { parameter, wrap: WrapMode::Loop })];
    let crowd = crowd_of(skeleton, [(layer(15), &[][..]), (layer(1), &[0.5][..]), (layer(0), &[0.5][..])]);
    assert_x(&library, &crowd, ticks(1.0), &[0.0, 0.0, 1.0]);
}

#[test]
fn a_parameter_may_move_by_any_number_of_cycles_in_a_step() {
    let (mut library, skeleton) = rig();
    let clips = [(1.0, 3), (0.7, 4)].map(|(seconds, seed)| add_clip(&mut library, skeleton, seconds, &[], seed));
    let mut crowd = Crowd::new();
    let values = [
        [0.0, 0.3],
        [0.3, 0.1],
        [0.9, 1.1],
        [1.1, 0.9],
        [-0.2, 0.2],
        [0.2, -0.2],
        [-1.75, -3.5],
        [0.0, 12.25],
        [2.0, 3.0],
        [1.0, 0.0],
        [-1.0, 1.0],
        [1e-30, -1e-30],
        [700.5, -20.125],
        [0.5, 0.5],
        [1e5, 100003.0],
    ];
    for wrap in WrapMode::ALL {
        for (index, pair) in values.into_iter().enumerate() {
            let layer = Layer::new(clips[index % 2], LayerTime::Phase { parameter: 0, wrap });
            let instance = crowd.push(skeleton, &[layer]).unwrap();
            let keys = vec![[1.0, pair[0]], [2.0, pair[1]]];
            crowd.set_parameters(instance, vec![Parameter::new(keys).unwrap()]).unwrap();
        }
    }
    assert_as_reference(&library, &crowd, &[step(1.0, 2.0), step(2.0, 1.0), step(1.25, 1.25), step(1.1, 1.7)]);
}
