//! Goals on the GPU: parameters in a buffer, goals that are replaced, refusals, and levels of detail.

use posse::gpu::{GpuCrowd, GpuEngine, VisibleInstance};
use posse::ik::{Goal, GoalTarget, GoalWeight};
use posse::packed::PackedLibrary;
use posse::parameters::Parameter;
use posse::{Crowd, CrowdOptions, Outputs, Poses, Refusal, Ticks};

use super::{Rig, Scales, assert_right, crowd, rig};
use crate::support::gpu_library::gpu_engine_for;
use crate::support::refusal::refusal;
use crate::support::scenes::Numbers;

fn engine(rig: &Rig) -> GpuEngine {
    let packed = PackedLibrary::new(&rig.library).unwrap();
    gpu_engine_for(packed).unwrap()
}

/// Poses all instances, or the visible ones, and reads every instance.
fn play(engine: &GpuEngine, crowd: &GpuCrowd, instances: usize, visible: bool) -> Poses {
    let mut encoder = engine.gpu().device.create_command_encoder(&Default::default());
    if visible {
        crowd.encode_visible(&mut encoder, Ticks(0), 0);
    } else {
        crowd.encode(&mut encoder, Ticks(0));
    }
    engine.gpu().queue.submit([encoder.finish()]);
    let read = |instance| engine.read_instance(crowd, instance, Outputs::ALL).unwrap();
    Poses { instances: (0..instances).map(read).collect() }
}

/// A goal for a chain, whose target and weight follow from the first four parameters.
fn by_parameters(rig: &Rig, chain: usize) -> Goal {
    let target = GoalTarget::Parameters([0, 1, 2]);
    Goal { chain: rig.chains[chain], target, weight: GoalWeight::Parameter(3) }
}

#[test]
fn goals_and_parameters_are_replaced() {
    let mut numbers = Numbers::new(11);
    let rig = rig(&mut numbers, 20, Scales::Even);
    let engine = engine(&rig);
    let mut crowd = crowd(&mut numbers, &rig, 5);
    let options = CrowdOptions { goals: 6, parameters: 8, ..CrowdOptions::NONE };
    let on_gpu = GpuCrowd::with_options(engine.library(), &crowd, Outputs::ALL, options).unwrap();
    // An instance without goals gets two, which follow parameters.
    let goals = [by_parameters(&rig, 1), by_parameters(&rig, 2)];
    on_gpu.set_goals(engine.library(), 4, &goals).unwrap();
    crowd.set_goals(4, goals.to_vec()).unwrap();
    for values in [[0.5, -0.3, 0.9, 1.0], [1.5, 0.3, -0.2, 0.4], [1.5, 0.3, -0.2, 0.0]] {
        on_gpu.set_parameters(4, &values).unwrap();
        let parameters = values.map(|value| Parameter::constant(f64::from(value)).unwrap());
        crowd.set_parameters(4, parameters.to_vec()).unwrap();
        assert_right("gpu", &rig, &crowd, Outputs::ALL, &play(&engine, &on_gpu, 5, false));
    }
    // All goals at once.
    let mut others = super::crowd(&mut numbers, &rig, 5);
    (0..5).for_each(|instance| others.set_parameters(instance, crowd.parameters(instance)).unwrap());
    on_gpu.set_layers(engine.library(), &others).unwrap();
    assert_right("gpu", &rig, &others, Outputs::ALL, &play(&engine, &on_gpu, 5, false));
}

#[test]
fn parameters_that_are_no_numbers_have_a_meaning() {
    let mut numbers = Numbers::new(15);
    let rig = rig(&mut numbers, 20, Scales::Even);
    let mut crowd = crowd(&mut numbers, &rig, 5);
    crowd.set_goals(4, [by_parameters(&rig, 1), by_parameters(&rig, 2)].to_vec()).unwrap();
    let engine = engine(&rig);
    let on_gpu = GpuCrowd::new(engine.library(), &crowd, Outputs::ALL).unwrap();
    let (infinity, most) = (f32::INFINITY, f32::MAX);
    for (written, meant) in [
        ([f32::NAN, 0.5, -0.3, 1.0], [0.0, 0.5, -0.3, 1.0]),
        ([infinity, 0.5, -0.3, 1.0], [most, 0.5, -0.3, 1.0]),
        ([infinity, -infinity, infinity, 1.0], [most, -most, most, 1.0]),
        ([0.9, 0.5, -0.3, infinity], [0.9, 0.5, -0.3, 1.0]),
        ([0.9, 0.5, -0.3, -infinity], [0.9, 0.5, -0.3, 0.0]),
        ([0.9, 0.5, -0.3, f32::NAN], [0.9, 0.5, -0.3, 0.0]),
    ] {
        on_gpu.set_parameters(4, &written).unwrap();
        let parameters = meant.map(|value| Parameter::constant(f64::from(value)).unwrap());
        crowd.set_parameters(4, parameters.to_vec()).unwrap();
        let what = format!("{written:?}");
        assert_right(&what, &rig, &crowd, Outputs::ALL, &play(&engine, &on_gpu, 5, false));
    }
}

#[test]
fn goals_without_room_are_refused() {
    let mut numbers = Numbers::new(12);
    let rig = rig(&mut numbers, 20, Scales::Even);
    let engine = engine(&rig);
    let mut crowd = Crowd::new();
    crowd.push(rig.skeleton, &[]).unwrap();
    crowd.push(rig.skeleton, &[]).unwrap();
    let fixed = |chain: usize| Goal::new(rig.chains[chain], GoalTarget::Point([0.1, 0.2, 0.3]));
    let set = |on_gpu: &GpuCrowd, goals: &[Goal]| refusal(on_gpu.set_goals(engine.library(), 1, goals));
    let none = GpuCrowd::new(engine.library(), &crowd, Outputs::SKIN).unwrap();
    assert_eq!(set(&none, &[fixed(0)]), Some(Refusal::MoreGoals { instance: 1, needed: 1, capacity: 0 }));
    assert_eq!(set(&none, &[]), None);
    crowd.set_goals(1, vec![fixed(0)]).unwrap();
    let one = GpuCrowd::new(engine.library(), &crowd, Outputs::SKIN).unwrap();
    assert_eq!(set(&one, &[fixed(1)]), None);
    let more_goals = Refusal::MoreGoals { instance: 1, needed: 2, capacity: 1 };
    assert_eq!(set(&one, &[fixed(0), fixed(1)]), Some(more_goals));
    let message = "instance 1 has 2 goals, but the crowd has capacity for 1: set CrowdOptions::goals";
    assert_eq!(more_goals.to_string(), message);
    let more_parameters = |capacity| Some(Refusal::MoreParameters { instance: 1, needed: 4, capacity });
    assert_eq!(set(&one, &[by_parameters(&rig, 0)]), more_parameters(0));
    let options = CrowdOptions { parameters: 2, ..CrowdOptions::NONE };
    let few = GpuCrowd::with_options(engine.library(), &crowd, Outputs::SKIN, options).unwrap();
    assert_eq!(set(&few, &[by_parameters(&rig, 0)]), more_parameters(2));
    let mut other = super::rig(&mut numbers, 20, Scales::Even);
    let beyond = other.library.add_chain(other.library.chains()[0].clone()).unwrap();
    let error = one.set_goals(engine.library(), 1, &[Goal::new(beyond, GoalTarget::Point([0.0; 3]))]).unwrap_err();
    let advice = "if it was added after the engine was made, make the engine again";
    assert_eq!(
        error.to_string(),
        format!("instance 1: there is no chain 6; the library has 6, numbered from 0; {advice}")
    );
}

#[test]
fn goals_are_reached_at_all_levels_of_detail() {
    for (seed, scales) in [(13, Scales::Even), (14, Scales::Uneven)] {
        let mut numbers = Numbers::new(seed);
        let rig = rig(&mut numbers, 20, scales);
        let crowd = crowd(&mut numbers, &rig, 6);
        let engine = engine(&rig);
        let options = CrowdOptions { visible: true, ..CrowdOptions::NONE };
        let on_gpu = GpuCrowd::with_options(engine.library(), &crowd, Outputs::ALL, options).unwrap();
        // All joints of the first three instances, and none of the others, which stand at rest but for their goals.
        for batch in on_gpu.batches() {
            let entry = |(slot, &instance): (usize, &usize)| VisibleInstance {
                slot: slot as u32,
                joints: if instance < 3 { u32::MAX } else { 0 },
                update_interval: 1,
            };
            let entries: Vec<VisibleInstance> = batch.instances().iter().enumerate().map(entry).collect();
            let list = batch.visible().unwrap();
            engine.gpu().queue.write_buffer(list, 0, bytemuck::bytes_of(&(entries.len() as u32)));
            engine.gpu().queue.write_buffer(list, 4, bytemuck::cast_slice(&entries));
        }
        let mut at_rest = crowd.clone();
        (3..6).for_each(|instance| at_rest.set(instance, rig.skeleton, &[]).unwrap());
        assert_right("gpu", &rig, &at_rest, Outputs::ALL, &play(&engine, &on_gpu, 6, true));
    }
}
