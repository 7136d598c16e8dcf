use posse::cpu::CpuEngine;
use posse::{Crowd, Evaluator, Layer, LayerTime, Library, Outputs, Poses, Reference, Ticks, WrapMode, contract};

use super::{add_clip, follower, rig, step};

/// A library of two skeletons, each with a clip that goes from 0 to its end, and a crowd that takes the skeletons in
/// turn.
fn mixed(instances: usize) -> (Library, Crowd) {
    let (mut library, first) = rig();
    let other = library.skeleton(first).clone();
    let second = library.add_skeleton(other);
    let clips = [first, second]
        .map(|skeleton| [1, 2].map(|seed| add_clip(&mut library, skeleton, 0.5 + 0.4 * seed as f64, &[], seed)));
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        let side = instance % 2;
        let phase = LayerTime::Phase { parameter: side, wrap: WrapMode::Loop };
        // Clips take turns, so that the slots of the engine have another order than the instances.
        let [lead, own] = [clips[side][instance / 2 % 2], clips[side][1 - instance / 2 % 2]];
        crowd.push([first, second][side], &[Layer::new(lead, phase), follower(own)]).unwrap();
    }
    (library, crowd)
}

/// The parameters of an instance in a frame.
fn values(instance: usize, frame: usize) -> [f32; 2] {
    [0.3 * frame as f32 + 0.07 * instance as f32, 0.2 * frame as f32 + 0.05 * instance as f32]
}

#[test]
fn parameters_set_by_instance_reach_each_batch_and_thread() {
    let (library, mut crowd) = mixed(301);
    for threads in [1, 3] {
        let engine = CpuEngine::with_threads(&library, threads).unwrap();
        let mut posed = engine.crowd(&crowd, Outputs::ALL).unwrap();
        assert_eq!(posed.batches().len(), 2);
        for frame in 0..4 {
            for instance in 0..crowd.len() {
                posed.set_parameters(instance, &values(instance, frame));
            }
            if frame == 0 {
                engine.pose(&mut posed, Ticks(0));
                continue;
            }
            let step = step(0.1 * (frame - 1) as f64, 0.1 * frame as f64);
            engine.pose(&mut posed, step);
            for instance in 0..crowd.len() {
                let [before, now] = [frame - 1, frame].map(|frame| values(instance, frame));
                let [from, to] = [step.from, step.to].map(Ticks::to_seconds);
                let keys = |index: usize| vec![[from, before[index].into()], [to, now[index].into()]];
                let parameters = [0, 1].map(|index| posse::parameters::Parameter::new(keys(index)).unwrap());
                crowd.set_parameters(instance, parameters.to_vec()).unwrap();
            }
            let instances = (0..crowd.len()).map(|instance| engine.read(&posed, instance, Outputs::ALL)).collect();
            let expected = Reference::new(&library).evaluate_step(&crowd, step, Outputs::ALL).unwrap();
            let report = contract::compare(&library, &crowd, step, &expected, &Poses { instances });
            assert!(report.is_within(), "{threads} threads, frame {frame}: {:?}", report.quantities());
        }
    }
}
