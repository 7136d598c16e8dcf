//! `posse verify --crowd`: compares the instances of a crowd file with the reference.

mod report;
mod selection;

use std::collections::BTreeMap;
use std::path::Path;

use posse::contract::compare_as;
use posse::{CompressedLibrary, Crowd, Error, Evaluator, Library, Outputs, Poses, Reference, SkeletonId, Step, Ticks};

pub use self::report::CrowdReport;
use crate::arguments::check_limit;
use crate::engine::{self, EngineLibrary};
use crate::evaluation::{clock_ticks, mixed_block};
use crate::output::note;
use crate::progress::Progress;
use crate::source::load_crowd_file;
use crate::verify::{Args, clip_evaluation, compressed};

/// The largest number of times.
const MAX_TIMES: u64 = 1 << 20;

/// Compares an engine with the reference at the given times of the crowd clock, or at times over its longest play and around the starts of
/// its transitions and its sync markers.
/// Compressed keys are compared with the original keys, clip by clip.
pub fn verify(path: &Path, args: &Args, outputs: Outputs) -> Result<CrowdReport, Error> {
    let mut original = Library::new();
    let file = load_crowd_file(&mut original, path)?;
    let compressed = args.compress.compress(&original)?;
    let engine_library = EngineLibrary::new(&original, compressed.as_ref());
    let library = engine_library.library();
    let times = match args.times.as_slice() {
        [] => selection::times(library, &file)?,
        times => times.to_vec(),
    };
    check_limit("times", times.len() as u64, MAX_TIMES)?;
    let ticks = times.iter().map(|&time| clock_ticks(time)).collect::<Result<Vec<Ticks>, Error>>()?;
    let instances = selection::instances(library, &file, times.len());
    if instances.len() < file.len() {
        let (checked, all) = (instances.len(), file.len());
        note(&format!(
            "note: {checked} of {all} instances are checked, spread evenly; fewer --times leave room for more"
        ));
    }
    let mut engine = engine::open(engine_library, args.engine.selection()?)?;
    engine::print_name(engine.as_ref());
    let mut report = CrowdReport::new(path, engine.as_ref(), library, &file, &instances, &times);
    let progress = Progress::new(instances.len() * times.len(), "poses");
    let block = mixed_block(library, outputs);
    for (sample, (&time, &to)) in times.iter().zip(&ticks).enumerate() {
        // Root motion is the movement since the previous time. At the first time there is none.
        let step = Step { from: ticks[sample.saturating_sub(1)], to };
        for block in instances.chunks(block) {
            let mut crowd = Crowd::new();
            for &instance in block {
                crowd.push_copy(&file.crowd(library, instance..instance + 1)?, 0);
            }
            let expected = Reference::new(library).evaluate_step(&crowd, step, outputs)?;
            let actual = engine.evaluate_step(&crowd, step, outputs)?;
            for (skeleton, part) in parts(&crowd, expected, actual) {
                let found = compare_as(outputs.skin_format, library, &part.crowd, step, &part.expected, &part.actual);
                report.add(library, skeleton, found, |index| (block[part.indices[index]], time));
            }
            progress.add(block.len());
        }
    }
    for clip in compressed.iter().flat_map(CompressedLibrary::reports) {
        let skeleton = library.clip(clip.clip).skeleton;
        if report.has_skeleton(skeleton) {
            let evaluation = clip_evaluation(library, skeleton, Some(clip.clip), args.samples as usize);
            report.add_compressed(
                skeleton,
                clip,
                compressed::worst_displacement(&original, library, &evaluation, args.compress)?,
            );
        }
    }
    Ok(report)
}

/// The instances of one skeleton, with their poses.
#[derive(Default)]
struct Part {
    /// The index of each instance in the whole crowd.
    indices: Vec<usize>,
    crowd: Crowd,
    expected: Poses,
    actual: Poses,
}

/// Splits a crowd and its poses by skeleton.
fn parts(crowd: &Crowd, expected: Poses, actual: Poses) -> BTreeMap<SkeletonId, Part> {
    let mut parts: BTreeMap<SkeletonId, Part> = BTreeMap::new();
    let mut actual = actual.instances.into_iter();
    for (index, expected) in expected.instances.into_iter().enumerate() {
        let part = parts.entry(crowd.skeleton(index)).or_default();
        part.crowd.push_copy(crowd, index);
        part.indices.push(index);
        part.expected.instances.push(expected);
        part.actual.instances.extend(actual.next());
    }
    parts
}
