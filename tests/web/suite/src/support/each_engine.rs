//! The same checks on every engine of a page: the reference, the CPU engine as WebAssembly, and the GPU engine. What
//! the GPU engine answers is also compared with the reference.
//!
//! A software renderer takes seconds to compile a kernel. By default, each check runs on a library that is extended to
//! use all features, so that most tests share kernels; with `POSSE_ALL_TESTS=1` with the kernels of the native tests.

use futures_channel::oneshot;
use glam::DAffine3;
use posse::compress::CompressedLibrary;
use posse::cpu::CpuEngine;
use posse::curves::{Curve, CurveEasing, Easing, Interpolation, Target, Timeline, Track};
use posse::events::EventList;
use posse::gpu::{GpuContext, GpuEngine};
use posse::packed::PackedLibrary;
use posse::root_motion::RootMotion;
use posse::{Clip, Crowd, Error, Evaluator, Joint, Library, Outputs, Poses, Reference, Skeleton, Step, contract};

use crate::support::cases::all_run;
use crate::support::gpu_library::{gpu, gpu_engine_for};

/// Runs a check with each engine of a library, as natively.
pub fn each_engine(library: &Library, mut check: impl FnMut(&mut dyn Evaluator)) {
    check(&mut Reference::new(library));
    let extended = if all_run() { library.clone() } else { with_all_features(library) };
    let packed = || PackedLibrary::new(&extended).expect("a packed library");
    run(&packed, Some(&extended), &mut check);
    let compressed = CompressedLibrary::with_width(&extended, 24).expect("a valid width");
    compressed_engines(&compressed, check);
}

/// A library with one more skeleton and clip, which use every feature that kernels are compiled for.
fn with_all_features(library: &Library) -> Library {
    let mut library = library.clone();
    let joints = vec![Joint::default(), Joint { matrix: Some(DAffine3::IDENTITY), ..Joint::default() }];
    let skeleton = library.add_skeleton(Skeleton::new(None, joints, Vec::new()).expect("a skeleton"));
    let timeline = std::sync::Arc::new(Timeline::new(vec![0.0, 1.0]).expect("times"));
    let curve = |interpolation, width: usize, per_key: usize| {
        let values = (0..2 * width * per_key).map(|number| number as f64).collect();
        Curve::new(timeline.clone(), interpolation, width, values).expect("a curve")
    };
    let eased = curve(Interpolation::Linear, 3, 1).with_easing(CurveEasing::One(Easing::QuadIn)).expect("an easing");
    let tracks = vec![
        Track::new(Target::Translation(0), curve(Interpolation::CubicSpline, 3, 3)),
        Track::new(Target::Scale(0), eased),
    ];
    let root_motion = Some(RootMotion { joint: 0, translation: [true; 3], rotation: Default::default() });
    library.add_clip(Clip { root_motion, ..Clip::new(None, skeleton, tracks) }).expect("a clip");
    library
}

/// Runs a check with each fast engine on a compressed library.
pub fn compressed_engines(compressed: &CompressedLibrary, mut check: impl FnMut(&mut dyn Evaluator)) {
    let packed = || compressed.pack().expect("a packed compressed library");
    run(&packed, Some(compressed.library()), &mut check);
}

/// Runs a check with each fast engine on a packed library.
pub fn fast_engines(packed: &dyn Fn() -> PackedLibrary, check: &mut dyn FnMut(&mut dyn Evaluator)) {
    run(packed, None, check);
}

/// Runs a check with the CPU engine on a packed library.
pub fn cpu_engines(packed: &dyn Fn() -> PackedLibrary, check: &mut dyn FnMut(&mut dyn Evaluator)) {
    check(&mut CpuEngine::from_packed(packed(), 1));
}

fn run(packed: &dyn Fn() -> PackedLibrary, library: Option<&Library>, check: &mut dyn FnMut(&mut dyn Evaluator)) {
    cpu_engines(packed, check);
    let engine = gpu_engine_for(packed()).expect("an engine on the GPU");
    check(&mut Compared { engine, library });
}

/// The GPU engine, whose poses are compared with the reference.
struct Compared<'a> {
    engine: GpuEngine,
    /// The library; `None` if the test compares the poses itself.
    library: Option<&'a Library>,
}

impl Evaluator for Compared<'_> {
    fn engine(&self) -> &'static str {
        self.engine.engine()
    }

    fn adapter(&self) -> String {
        self.engine.adapter()
    }

    fn evaluate_step(&mut self, crowd: &Crowd, step: Step, outputs: Outputs) -> Result<Poses, Error> {
        let poses = self.engine.evaluate_step(crowd, step, outputs)?;
        if let Some(library) = self.library {
            let expected = Reference::new(library).evaluate_step(crowd, step, outputs)?;
            // The test has its own bounds: some cases are beyond the bounds of the contract.
            contract::compare_as(outputs.skin_format, library, crowd, step, &expected, &poses);
        }
        Ok(poses)
    }

    fn evaluate_events(&mut self, crowd: &Crowd, step: Step, capacity: usize) -> Result<EventList, Error> {
        self.engine.evaluate_events(crowd, step, capacity)
    }
}

/// The GPU of the tests.
pub fn gpu_unless_left_out() -> Option<GpuContext> {
    Some(gpu())
}

/// The bytes of a mappable buffer, after all submitted work is done.
pub fn read_mapped(_: &wgpu::Device, buffer: &wgpu::Buffer) -> Vec<u8> {
    let (sender, receiver) = oneshot::channel();
    buffer.map_async(wgpu::MapMode::Read, .., |result| drop(sender.send(result)));
    block_on(receiver).expect("an answer").expect("a mapped buffer");
    buffer.get_mapped_range(..).expect("a mapped range").to_vec()
}
