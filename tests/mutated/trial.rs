use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest, Moment};
use posse::compress::{CompressedLibrary, ErrorBound, Length};
use posse::cpu::{CpuEngine, InstructionSet};
use posse::packed::PackedLibrary;
use posse::{Crowd, Error, Evaluator, Library, Outputs, Pose, Poses, Reference, SkinFormat, Step};

use super::ids::Ids;
use super::mutation::Mutation;
use super::rebuilt_crowd::rebuilt_crowd;
use super::rebuilt_library::rebuilt_library;
use crate::support::scenes::Scene;

/// The scene of a trial after its mutation, and the numbers that an engine takes beside a crowd.
struct Mutated {
    library: Library,
    crowd: Crowd,
    step: Step,
    /// The most events of a list.
    capacity: usize,
    /// The instance of a query.
    queried: usize,
    /// The values that a frame gives to the parameters of the first instance.
    parameters: [f32; 3],
}

/// Rebuilds a scene with a mutation and evaluates it on the reference and on the CPU engine, with plain and with
/// quantized keys, with each instruction set of the machine, and with all outputs.
///
/// # Errors
/// The refusal of the scene.
///
/// # Panics
/// If an engine returns poses that are not the poses of the scene, or refuses what the reference poses, or the reverse.
pub fn try_scene(scene: &Scene, mutation: &mut Mutation) -> Result<(), Error> {
    let library = rebuilt_library(&scene.library, mutation)?;
    let crowd = rebuilt_crowd(&library, &scene.crowd, mutation)?;
    let mutated = Mutated {
        step: Step {
            from: mutation.ticks("start of a step", scene.step.from),
            to: mutation.ticks("end of a step", scene.step.to),
        },
        capacity: mutation.index("capacity of a list of events", 20),
        queried: mutation.index("queried instance", 0),
        parameters: mutation.reals("value of a parameter", [0.25, -0.5, 0.75]).map(|value| value as f32),
        library,
        crowd,
    };
    let plain = PackedLibrary::with_threads(&mutated.library, 1)?;
    let expected = Reference::new(&mutated.library).evaluate_step(&mutated.crowd, mutated.step, Outputs::ALL)?;
    check_poses(&mutated, &expected, Outputs::ALL);
    Reference::new(&mutated.library).evaluate_events(&mutated.crowd, mutated.step, mutated.capacity)?;
    let quantized = compressed(&mutated.library, mutation)?.pack_with_threads(1)?;
    // Miri does not know the instructions of AVX2 that round to `f16`.
    let can_run = |set: &InstructionSet| set.is_available() && !(cfg!(miri) && *set == InstructionSet::Avx2);
    for instructions in InstructionSet::ALL.into_iter().filter(can_run) {
        for packed in [&plain, &quantized] {
            let mut engine = CpuEngine::from_packed(packed.clone(), 1).with_instructions(instructions);
            pose(&mut engine, &mutated)?;
        }
        let engine = CpuEngine::from_packed(plain.clone(), 1).with_instructions(instructions);
        bake(&engine, &mutated.library, mutation)?;
    }
    Ok(())
}

/// The library with integers as keys: in one of 200 trials within an error bound, which takes longer, otherwise of some
/// bits.
fn compressed(library: &Library, mutation: &mut Mutation) -> Result<CompressedLibrary, Error> {
    let bits = mutation.index("bits of a number", 11);
    let bound = ErrorBound {
        error: Length::Share(mutation.real("error bound", 1e-3)),
        shell: Length::Share(mutation.real("shell of an error bound", 0.03)),
    };
    match mutation.is_one_in(200) {
        true => CompressedLibrary::new(library, bound),
        false => CompressedLibrary::with_width(library, bits.try_into().unwrap_or(u32::MAX)),
    }
}

/// Evaluates a crowd in all forms of the CPU engine.
fn pose(engine: &mut CpuEngine, mutated: &Mutated) -> Result<(), Error> {
    let Mutated { crowd, step, capacity, queried, parameters, .. } = mutated;
    for format in SkinFormat::ALL {
        let outputs = Outputs::ALL.with_skin_format(format);
        match engine.evaluate_step(crowd, *step, outputs) {
            Ok(poses) => check_poses(mutated, &poses, outputs),
            // Scales that a dual quaternion cannot hold.
            Err(error) => assert_eq!(format, SkinFormat::DualQuaternion, "{error}"),
        }
    }
    let events = engine.evaluate_events(crowd, *step, *capacity)?;
    assert!(events.events.len() <= *capacity);
    assert_eq!(engine.query(crowd, *queried, *step, Outputs::ALL).is_ok(), *queried < crowd.len());
    let mut frames = engine.crowd(crowd, Outputs::ALL)?;
    if !crowd.is_empty() {
        frames.set_parameters(0, parameters);
    }
    engine.pose(&mut frames, step.to);
    engine.events(&frames, *step, *capacity);
    Ok(())
}

/// Asserts that there is a pose per instance, with as many joints, matrices and numbers as its skeleton and skins have.
fn check_poses(mutated: &Mutated, poses: &Poses, outputs: Outputs) {
    let Mutated { library, crowd, .. } = mutated;
    assert_eq!(poses.instances.len(), crowd.len());
    for (instance, pose) in poses.instances.iter().enumerate() {
        let skeleton = library.skeleton(crowd.skeleton(instance));
        let skins = library.skins_of(crowd.skeleton(instance)).map(|(_, skin)| skin.joints.len());
        let Pose { local, model, skins: matrices, weights, properties, .. } = pose;
        let joints = skeleton.joints().len();
        assert_eq!([local.len(), model.len()], [joints; 2], "{outputs:?}");
        assert_eq!(matrices.iter().map(Vec::len).collect::<Vec<_>>(), skins.collect::<Vec<_>>(), "{outputs:?}");
        assert_eq!(weights.len(), skeleton.weight_count(), "{outputs:?}");
        assert_eq!(properties.len(), skeleton.property_width(), "{outputs:?}");
    }
}

/// Fills all arrays of the first skeleton for some moments of its first clip.
fn bake(engine: &CpuEngine, library: &Library, mutation: &mut Mutation) -> Result<(), Error> {
    let Some(skeleton) = library.skeleton_ids().next() else { return Ok(()) };
    let Some(clip) = library.clip_ids().next() else { return Ok(()) };
    let joints = library.skeleton(skeleton).joints().len().min(3);
    let joints: Vec<usize> = (0..joints).map(|joint| mutation.index("baked joint", joint)).collect();
    let request = ArrayRequest {
        kinds: ArrayKind::ALL.to_vec(),
        scale: mutation.real("scale of arrays", 1.0),
        ..ArrayRequest::of_joints(&joints)
    };
    let node = mutation.index("node", 0);
    let layout = ArrayLayout::new(library, skeleton, &[node], &request)?;
    let clip = Ids::get().clip(clip, mutation);
    let [time, before, after] = mutation.reals("moment", [0.5, 0.25, 0.75]);
    let moments = [Moment { clip, time, before, after }, Moment::at(clip, 0.5)];
    let count = mutation.index("moments", moments.len());
    let mut arrays: Vec<Vec<f32>> =
        layout.arrays().iter().map(|array| vec![0.0; array.width() * count.min(100)]).collect();
    let mut slices: Vec<&mut [f32]> = arrays.iter_mut().map(Vec::as_mut_slice).collect();
    layout.sample(engine, &moments, &mut slices)
}
