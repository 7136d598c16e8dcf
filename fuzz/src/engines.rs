//! The CPU engine against the reference.

use posse::binding::UnboundClip;
use posse::cpu::CpuEngine;
use posse::curves::Curve;
use posse::{Crowd, Evaluator, Library, Outputs, Reference, SkinFormat, Step, Ticks, contract};

use crate::cocos_check;

/// The largest magnitude of a number, up to which an `f32` has room for the squares and products of a pose.
const LARGEST: f64 = 1e6;

/// Returns `true` if the poses of a library take little time: few joints, clips and keys.
pub fn is_small(library: &Library) -> bool {
    let numbers = |skeleton: &posse::Skeleton| {
        skeleton.joints().len() + skeleton.joints().iter().map(|joint| joint.weights.len()).sum::<usize>()
    };
    let curves = || library.clips().iter().flat_map(|clip| &clip.tracks).map(|track| &track.curve);
    library.skeletons().iter().all(|skeleton| numbers(skeleton) <= 64 && skeleton.properties().len() <= 64)
        && library.clips().len() <= 16
        && curves().count() <= 256
        && curves().map(|curve| curve.values().len()).sum::<usize>() <= 4096
}

/// Returns `true` if the numbers of a library have magnitudes for which the contract is made: products of several of
/// them do not leave the range of an `f32`.
pub fn is_everyday(library: &Library) -> bool {
    let small = |number: f64| number.abs() <= LARGEST;
    let small_curve = |curve: &Curve| {
        let times = curve.timeline().times();
        let keys = 0..times.len();
        let cubic = curve.interpolation() == posse::curves::Interpolation::CubicSpline;
        curve.values().iter().all(|&number| small(number))
            && times.iter().all(|&time| small(time))
            && (!cubic
                || keys
                    .into_iter()
                    .all(|key| curve.in_tangent(key).iter().chain(curve.out_tangent(key)).all(|&number| small(number))))
    };
    let joints = library.skeletons().iter().flat_map(|skeleton| skeleton.joints());
    let mut rests = joints.flat_map(|joint| {
        let rest = &joint.rest;
        let matrix = joint.matrix.map_or([0.0; 12], |matrix| matrix.to_cols_array());
        let numbers = [rest.translation.to_array(), rest.scale.to_array(), [0.0; 3], [0.0; 3]].concat();
        numbers.into_iter().chain(matrix)
    });
    let mut binds = library.skins().iter().flat_map(|skin| &skin.inverse_bind).flat_map(|bind| bind.to_cols_array());
    let mut curves = library.clips().iter().flat_map(|clip| &clip.tracks).map(|track| &track.curve);
    rests.all(small) && binds.all(small) && curves.all(small_curve)
}

/// Checks some crowds of a library on the CPU engine: all clips at their keys and between them, and a choice of those
/// that mix.
pub fn check_library(mut library: Library, choice: u64) {
    if !is_small(&library) {
        return;
    }
    let checks = contract::checks(&mut library, 12).expect("the crowds of a valid library are valid");
    // The engine refuses what is beyond its limits.
    let Ok(engine) = CpuEngine::with_threads(&library, 1) else { return };
    let mut check = Check { everyday: is_everyday(&library), library: &library, engine };
    let (clips, mixed): (Vec<_>, Vec<_>) = checks.into_iter().partition(|check| check.kind == "clip");
    let chosen = (0..2).filter_map(|index| mixed.get((choice.rotate_left(index * 16) as usize) % mixed.len().max(1)));
    for crowd in clips.iter().take(4).chain(chosen) {
        check.crowd(&crowd.crowd, crowd.step, crowd.outputs, crowd.kind);
    }
}

/// An engine, with its library.
pub struct Check<'a> {
    /// The library with the values that the engine decodes.
    pub library: &'a Library,
    pub engine: CpuEngine,
    /// True to hold the poses to the contract.
    pub everyday: bool,
}

impl Check<'_> {
    /// Poses a crowd with the engine and the reference, and asserts that they agree.
    pub fn crowd(&mut self, crowd: &Crowd, step: Step, outputs: Outputs, kind: &str) {
        let Self { library, engine, everyday } = self;
        let expected = Reference::new(library).evaluate_step(crowd, step, outputs);
        let actual = engine.evaluate_step(crowd, step, outputs);
        let (Ok(expected), Ok(actual)) = (expected, actual) else { return };
        let report = contract::compare_as(outputs.skin_format, library, crowd, step, &expected, &actual);
        if *everyday && !report.is_within() {
            let worst = report.quantities().into_iter().filter_map(|(name, worst)| Some((name, worst?)));
            for (name, worst) in worst.filter(|(_, worst)| worst.share() > 1.0) {
                eprintln!("{name}: {worst:?}, {} of the bound", worst.share());
                eprintln!("    {:?}", crowd.layers(worst.instance));
            }
            panic!("{kind}: beyond the contract at {step:?}");
        }
    }
}

/// Outputs in the plain format.
pub fn outputs() -> Outputs {
    Outputs::ALL.with_skin_format(SkinFormat::Matrix)
}

/// A number of some bytes, by which a target chooses what it does with a file.
pub fn choice(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns `true` if a clip has few tracks and keys.
pub fn is_small_clip(clip: &UnboundClip) -> bool {
    let curves = || clip.tracks.iter().flat_map(cocos_check::curves_of);
    clip.tracks.len() <= 64 && curves().map(|curve| curve.values().len()).sum::<usize>() <= 4096
}

/// Returns `true` if the weights and parameters of a crowd have magnitudes for which the contract is made.
pub fn is_everyday_crowd(crowd: &Crowd) -> bool {
    let small = |number: f64| number.abs() <= LARGEST;
    (0..crowd.len()).all(|instance| {
        crowd.all_layers(instance).all(|layer| small(layer.weight))
            && [-1.0, 0.0, 1.0, 10.0].iter().all(|&seconds| {
                let values = crowd.parameter_values(instance, Ticks::from_seconds(seconds));
                values.0.iter().all(|&value| small(f64::from(value)))
            })
    })
}
