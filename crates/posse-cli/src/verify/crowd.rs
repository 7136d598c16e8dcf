//! `posse verify --crowd`: compares the instances of a crowd file with the reference.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::Path;

use posse::compress::{ClipReport, CompressedLibrary};
use posse::contract::{Report, compare_as};
use posse::import::crowd::CrowdFile;
use posse::parameters::Parameter;
use posse::transitions::Transition;
use posse::{Crowd, Error, Evaluator, Layer, LayerTime, Library, Outputs, Poses, Reference, SkeletonId, Step, Ticks};
use serde::Serialize;

use super::errors::{COMPRESSED, WorstError, clip_evaluation, place, worst_displacement};
use crate::arguments::{CompressArgs, check_limit};
use crate::engine::{self, EngineLibrary, EngineSelection};
use crate::evaluation::{clock_ticks, mixed_block};
use crate::output::{note, plural};
use crate::progress::Progress;
use crate::source::load_crowd_file;

/// The largest number of times.
const MAX_TIMES: u64 = 1 << 20;
/// The number of times over the longest play.
const TIMES: usize = 16;
/// The largest number of moments around starts of transitions and sync markers.
const MAX_SPECIAL: usize = 48;
/// The largest number of checked joints of all times together; it takes some seconds. Larger crowds are sampled.
const MAX_JOINTS: u64 = 1 << 20;
/// The cost of an instance besides its joints, in joints.
const INSTANCE_COST: u64 = 16;
/// The largest number of instances that determine the longest play.
const MAX_PLAYING: usize = 4096;

/// The options of a comparison.
#[derive(Clone, Copy)]
pub struct CrowdCheck<'a> {
    /// Seconds of the crowd clock; empty for the default times.
    pub times: &'a [f64],
    /// The largest number of times per compressed clip.
    pub samples: usize,
    pub engine: EngineSelection<'a>,
    pub compress: CompressArgs,
    pub outputs: Outputs,
}

/// Compares an engine with the reference at the given times of the crowd clock, or at times over its longest play and
/// around the starts of its transitions and its sync markers. Compressed keys are compared with the original keys, clip
/// by clip.
pub fn verify(path: &Path, check: CrowdCheck) -> Result<CrowdReport, Error> {
    let outputs = check.outputs;
    let mut original = Library::new();
    let file = load_crowd_file(&mut original, path)?;
    let compressed = check.compress.compress(&original)?;
    let engine_library = EngineLibrary::new(&original, compressed.as_ref());
    let library = engine_library.library();
    let times = match check.times {
        [] => selected_times(library, &file)?,
        times => times.to_vec(),
    };
    check_limit("times", times.len() as u64, MAX_TIMES)?;
    let ticks = times.iter().map(|&time| clock_ticks(time)).collect::<Result<Vec<Ticks>, Error>>()?;
    let instances = selected_instances(library, &file, times.len());
    if instances.len() < file.len() {
        let (checked, all) = (instances.len(), file.len());
        note(&format!(
            "note: {checked} of {all} instances are checked, spread evenly; fewer --times leave room for more"
        ));
    }
    let mut engine = engine::open(engine_library, check.engine)?;
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
            let evaluation = clip_evaluation(library, skeleton, Some(clip.clip), check.samples);
            report.add_compressed(skeleton, clip, worst_displacement(&original, library, &evaluation, check.compress)?);
        }
    }
    Ok(report)
}

/// The instances of one skeleton, with their poses.
#[derive(Default)]
struct PosedSkeleton {
    /// The index of each instance in the whole crowd.
    indices: Vec<usize>,
    crowd: Crowd,
    expected: Poses,
    actual: Poses,
}

/// Splits a crowd and its poses by skeleton.
fn parts(crowd: &Crowd, expected: Poses, actual: Poses) -> BTreeMap<SkeletonId, PosedSkeleton> {
    let mut parts: BTreeMap<SkeletonId, PosedSkeleton> = BTreeMap::new();
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

/// The instances to check at a number of times: all, or an even sample if they have too many joints.
fn selected_instances(library: &Library, file: &CrowdFile, times: usize) -> Vec<usize> {
    let joints =
        |index: usize| library.skeleton(file.files[index].asset.skeleton).joints().len() as u64 + INSTANCE_COST;
    let all: u64 = file.groups().map(|(instances, index)| instances.len() as u64 * joints(index)).sum();
    let needed = all.saturating_mul(times.max(1) as u64);
    if needed <= MAX_JOINTS {
        return (0..file.len()).collect();
    }
    let count = (file.len() as f64 * (MAX_JOINTS as f64 / needed as f64)) as usize;
    even_sample(file, count)
}

/// An even sample of `count` instances from the first to the last, and the first instances of up to `count` groups.
fn even_sample(file: &CrowdFile, count: usize) -> Vec<usize> {
    let count = count.clamp(1, file.len().max(1));
    let (steps, last) = ((count - 1).max(1), file.len().saturating_sub(1));
    let mut selected: BTreeSet<usize> = (0..count.min(file.len())).map(|index| index * last / steps).collect();
    selected.extend(file.groups().take(count).map(|(instances, _)| instances.start));
    selected.into_iter().collect()
}

/// Times over the longest play: from the first start or fade of a layer, start of a transition or key of a parameter to
/// the last end of a pass, fade or transition, or the last key, both included. The other times are unevenly spaced, so
/// that they do not fall on the same clip time in every pass. Moments around the starts of transitions, and around sync
/// markers, are added.
fn selected_times(library: &Library, file: &CrowdFile) -> Result<Vec<f64>, Error> {
    let mut span = Span { first: 0.0, last: 0.0 };
    let mut special = BTreeSet::new();
    for instance in even_sample(file, MAX_PLAYING).into_iter().take_while(|&instance| instance < file.len()) {
        let crowd = file.crowd(library, instance..instance + 1)?;
        span.add_instance(library, &crowd);
        if special.len() < MAX_SPECIAL {
            special.extend(transition_moments(&crowd));
            special.extend(marker_moments(library, &crowd));
        }
    }
    let most = CrowdFile::MAX_SECONDS;
    let Span { first, last } = Span { first: span.first.max(-most), last: span.last.min(most) };
    let between = |index: usize| (index as f64 * 0.618_033_988_749_894_9).fract();
    let parts = (1..TIMES - 1).map(between).chain([0.0, 1.0]).map(|part| first + part * (last - first));
    let mut times: Vec<f64> = if last <= first { vec![first] } else { parts.collect() };
    let step = special.len().div_ceil(MAX_SPECIAL).max(1);
    let special = special.into_iter().step_by(step).map(Ticks::to_seconds);
    times.extend(special.filter(|time| time.abs() <= most));
    times.sort_by(f64::total_cmp);
    times.dedup();
    Ok(times)
}

/// A range of the clock in seconds.
struct Span {
    first: f64,
    last: f64,
}

impl Span {
    fn add(&mut self, first: f64, last: f64) {
        (self.first, self.last) = (self.first.min(first), self.last.max(last));
    }

    /// Adds the layers, parameters and transitions of the only instance of a crowd.
    fn add_instance(&mut self, library: &Library, crowd: &Crowd) {
        for layer in crowd.all_layers(0) {
            let [start, end] = layer_span(library, layer);
            self.add(start, end);
        }
        for key in crowd.parameters(0).iter().filter(|parameter| parameter.keys().len() > 1).flat_map(Parameter::keys) {
            self.add(key[0], key[0]);
        }
        for transition in crowd.transitions(0) {
            let start = transition.start.to_seconds();
            self.add(start, start + transition.seconds());
        }
    }
}

/// Moments around the starts of the transitions of an instance, and around the end of each.
fn transition_moments(crowd: &Crowd) -> Vec<Ticks> {
    let moments = |transition: &Transition| {
        let (start, end) = (transition.start, transition.start + Ticks::from_seconds(transition.seconds()));
        let half_life = Ticks::from_seconds(transition.half_life);
        [start - Transition::STEP, start - Ticks(1), start, start + Transition::STEP, start + half_life, end]
    };
    crowd.transitions(0).flat_map(moments).collect()
}

/// Moments around those at which the leaders of synchronised layers pass their markers for the first time. Playing
/// leaders count.
fn marker_moments(library: &Library, crowd: &Crowd) -> Vec<Ticks> {
    let mut moments = Vec::new();
    for layer in crowd.layers(0) {
        let LayerTime::Synced { leader } = layer.time else { continue };
        let leader = &crowd.layers(0)[leader];
        let LayerTime::Playing(playback) = leader.time else { continue };
        for marker in &library.clip(leader.clip).markers {
            let seconds = marker / playback.rate.abs();
            if seconds.abs() <= CrowdFile::MAX_SECONDS {
                let moment = playback.start + Ticks::from_seconds(seconds);
                moments.extend([moment - Ticks(1), moment, moment + Ticks(1)]);
            }
        }
    }
    moments
}

/// The start and the end of a layer in seconds of the clock, over one pass of its clip and its fades.
fn layer_span(library: &Library, layer: &Layer) -> [f64; 2] {
    let [mut first, mut last] = match layer.time {
        LayerTime::At(_) | LayerTime::Phase { .. } | LayerTime::Synced { .. } => [0.0; 2],
        LayerTime::Playing(playback) => {
            let start = playback.start.to_seconds();
            let pass = library.clip(layer.clip).duration() / playback.rate.abs();
            [start, if pass.is_finite() { start + pass } else { start }]
        }
    };
    for fade in [layer.fade_in, layer.fade_out].into_iter().flatten() {
        first = first.min(fade.start.to_seconds());
        last = last.max(fade.start.to_seconds() + fade.length.to_seconds());
    }
    [first, last]
}

/// The worst error of a quantity over the instances of a skeleton, and its place.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct CrowdWorstError {
    /// The error, in radians for rotations, otherwise in units of the file; null if a number is missing or not finite.
    error: f64,
    /// The bound of the error.
    allowed: f64,
    /// The error divided by its bound. More than 1 is beyond the contract.
    share: f64,
    /// The name or index of the joint, the name of the property, or the index of the weight.
    place: String,
    /// The index of the instance in the crowd file, with groups unrolled.
    instance: usize,
    /// Seconds of the crowd clock.
    time: f64,
}

/// The worst errors of one skeleton.
#[derive(Debug, Serialize)]
struct SkeletonReport {
    /// The first file of the crowd file with this skeleton.
    file: String,
    within: bool,
    joints: usize,
    instances: usize,
    checked: usize,
    /// The worst error of each quantity; null if there was nothing to compare.
    quantities: BTreeMap<&'static str, Option<CrowdWorstError>>,
    /// The compressed clips.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compressed: Vec<CompressedClip>,
}

/// The size and the error of a compressed clip.
#[derive(Debug, Serialize)]
struct CompressedClip {
    /// Bytes of keys, constants, key times and lookup tables, without compression.
    float_bytes: usize,
    /// The same, compressed.
    compressed_bytes: usize,
    /// The displacement relative to the original keys.
    #[serde(flatten)]
    worst: WorstError,
}

/// The report of a crowd.
#[derive(Debug, Serialize)]
pub struct CrowdReport {
    crowd: String,
    within: bool,
    engine: &'static str,
    adapter: String,
    instances: usize,
    /// The number of instances that were checked.
    checked: usize,
    /// Seconds of the crowd clock.
    times: Vec<f64>,
    skeletons: Vec<SkeletonReport>,
    /// The index of each skeleton in `skeletons`.
    #[serde(skip)]
    indices: HashMap<SkeletonId, usize>,
}

impl CrowdReport {
    /// A report without errors. `checked` has the indices of the instances that are checked, in ascending order.
    fn new(
        path: &Path,
        engine: &dyn Evaluator,
        library: &Library,
        file: &CrowdFile,
        checked: &[usize],
        times: &[f64],
    ) -> Self {
        let mut report = Self {
            crowd: path.display().to_string(),
            within: true,
            engine: engine.engine(),
            adapter: engine.adapter(),
            instances: file.len(),
            checked: checked.len(),
            times: times.to_vec(),
            skeletons: Vec::new(),
            indices: HashMap::new(),
        };
        for (instances, index) in file.groups() {
            let posed = &file.files[index];
            let entry = *report.indices.entry(posed.asset.skeleton).or_insert(report.skeletons.len());
            if entry == report.skeletons.len() {
                report.skeletons.push(SkeletonReport {
                    file: posed.name.clone(),
                    within: true,
                    joints: library.skeleton(posed.asset.skeleton).joints().len(),
                    instances: 0,
                    checked: 0,
                    quantities: Report::default().quantities().map(|(name, _)| (name, None)).into(),
                    compressed: Vec::new(),
                });
            }
            let skeleton = &mut report.skeletons[entry];
            skeleton.instances += instances.len();
            let checked_before = |end: usize| checked.partition_point(|&instance| instance < end);
            skeleton.checked += checked_before(instances.end) - checked_before(instances.start);
        }
        report
    }

    /// Adds the comparison of instances of one skeleton. The worst error of each quantity is kept. `instance_and_time`
    /// returns the index in the file, and the time, of an instance of the comparison.
    fn add(
        &mut self,
        library: &Library,
        skeleton: SkeletonId,
        found: Report,
        instance_and_time: impl Fn(usize) -> (usize, f64),
    ) {
        let Some(report) = self.indices.get(&skeleton).map(|&index| &mut self.skeletons[index]) else { return };
        for (quantity, worst) in found.quantities() {
            let Some(worst) = worst else { continue };
            let previous = report.quantities.entry(quantity).or_default();
            if previous.as_ref().is_none_or(|previous| worst.share() > previous.share) {
                let (instance, time) = instance_and_time(worst.instance);
                let (error, allowed, share) = (worst.error, worst.allowed, worst.share());
                let place = place(library.skeleton(skeleton), quantity, worst);
                *previous = Some(CrowdWorstError { error, allowed, share, place, instance, time });
            }
        }
        report.within &= found.is_within();
        self.within &= report.within;
    }

    /// Returns `true` if an instance of the crowd has this skeleton.
    fn has_skeleton(&self, skeleton: SkeletonId) -> bool {
        self.indices.contains_key(&skeleton)
    }

    /// Adds a compressed clip of a skeleton.
    fn add_compressed(&mut self, skeleton: SkeletonId, clip: &ClipReport, worst: WorstError) {
        let Some(report) = self.indices.get(&skeleton).map(|&index| &mut self.skeletons[index]) else { return };
        report.within &= worst.is_within();
        self.within &= report.within;
        let ClipReport { float_bytes, compressed_bytes, .. } = *clip;
        report.compressed.push(CompressedClip { float_bytes, compressed_bytes, worst });
    }

    /// Returns `true` if all skeletons are within the contract.
    pub fn is_within(&self) -> bool {
        self.within
    }

    /// Writes the report as JSON.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// Prints a line for the crowd, a line per skeleton, and a line per quantity of each skeleton.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let verdict = |within: bool| if within { "within the contract" } else { "BEYOND THE CONTRACT" };
        let Self { crowd, engine, adapter, instances, checked, times, .. } = self;
        let spans = match times.as_slice() {
            [] => "no times".into(),
            [only] => format!("at {only} s"),
            [first, .., last] => format!("at {} times from {first} s to {last} s", times.len()),
        };
        let verdict_of_all = verdict(self.within);
        writeln!(
            out,
            "{crowd}: {verdict_of_all}: {engine} ({adapter}), {checked} of {}, {spans}",
            plural(*instances, "instance")
        )?;
        for skeleton in &self.skeletons {
            let SkeletonReport { file, within, joints, instances, checked, quantities, compressed } = skeleton;
            let verdict = verdict(*within);
            writeln!(
                out,
                "{file}: {verdict}: {}, {checked} of {}",
                plural(*joints, "joint"),
                plural(*instances, "instance")
            )?;
            for (quantity, _) in Report::default().quantities() {
                let Some(worst) = quantities.get(quantity).and_then(Option::as_ref) else { continue };
                let CrowdWorstError { error, allowed, share, place, instance, time } = worst;
                let (unit, percent) = (if quantity == "rotation" { "rad" } else { "   " }, 100.0 * share);
                writeln!(
                    out,
                    "  {quantity:<11} {error:9.2e} {unit} {percent:4.0} % of {allowed:.1e}  {place}, instance {instance}, {time} s"
                )?;
            }
            for CompressedClip { float_bytes, compressed_bytes, worst } in compressed {
                worst.write(COMPRESSED, out)?;
                writeln!(out, ", {compressed_bytes} bytes of {float_bytes}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use posse::contract::Worst;
    use posse::demo;

    use crate::evaluation::ClipEvaluation;
    use crate::source::tests::crowd_file;

    use super::*;

    #[test]
    fn moments_around_transitions_and_markers_are_selected() {
        let crowd = r#"{"files":["a.gltf"],"markers":[{"clip":"go","times":[0.25]}],"instances":[
            {"parameters":{"speed":[[-3,0],[40,1]]},
             "layers":[{"clip":"go","start":2,"rate":0.5},{"clip":"go","sync":0}],
             "transition":{"start":8,"half_life":0.5,"kind":"dead","seconds":2,"from":[]}}]}"#;
        let (library, file) = crowd_file(crowd);
        let times = selected_times(&library, &file).unwrap();
        // The start, 1/64 s around it, a half-life later, the end; the marker at 0.25 s of the clip, half a second
        // after second 2.
        let tick = Ticks(1).to_seconds();
        for moment in [8.0, 8.0 - tick, 8.0 - 1.0 / 64.0, 8.0 + 1.0 / 64.0, 8.5, 10.0, 2.5, 2.5 - tick, 2.5 + tick] {
            assert!(times.contains(&moment), "{moment}: {times:?}");
        }
        assert_eq!((times.first(), times.last(), times.len()), (Some(&-3.0), Some(&40.0), TIMES + 9));
    }

    #[test]
    fn the_worst_share_is_kept_with_its_place_and_an_error_beyond_its_bound_fails_the_report() {
        let library = demo::rig(3, 2, 2).unwrap_or_default();
        let Some(id) = library.skeleton_ids().next() else { panic!("a rig is a skeleton") };
        let skeleton = SkeletonReport {
            file: "rig.glb".into(),
            within: true,
            joints: 3,
            instances: 9,
            checked: 9,
            quantities: BTreeMap::new(),
            compressed: Vec::new(),
        };
        let mut report = CrowdReport {
            crowd: "crowd.json".into(),
            within: true,
            engine: "cpu",
            adapter: String::new(),
            instances: 9,
            checked: 9,
            times: vec![2.0],
            skeletons: vec![skeleton],
            indices: HashMap::from([(id, 0)]),
        };
        let mut add = |error: f64, instance: usize| {
            let worst = Worst { error, allowed: 2e-6, instance, index: 2 };
            let found = Report { rotation: Some(worst), ..Report::default() };
            report.add(&library, id, found, |instance| (10 * instance, 2.0));
            let worst = report.skeletons[0].quantities["rotation"].clone();
            (report.is_within(), worst.map(|worst| (worst.error, worst.instance)))
        };
        assert_eq!(add(1e-6, 1), (true, Some((1e-6, 10))));
        assert_eq!(add(5e-7, 2), (true, Some((1e-6, 10))));
        assert_eq!(add(3e-6, 3), (false, Some((3e-6, 30))));
        assert_eq!(add(1e-6, 4), (false, Some((3e-6, 30))), "a smaller error does not undo a larger one");
        let mut text = Vec::new();
        assert!(report.print(&mut text).is_ok());
        let text = String::from_utf8_lossy(&text);
        assert!(text.starts_with("crowd.json: BEYOND THE CONTRACT: cpu"), "{text}");
        assert!(
            text.contains("rotation      3.00e-6 rad  150 % of 2.0e-6") && text.contains(", instance 30, 2 s"),
            "{text}"
        );
    }

    #[test]
    fn a_displacement_of_compressed_keys_beyond_its_bound_fails_the_report() {
        let library = demo::library().unwrap_or_default();
        let Some(clip) = library.clip_ids().next() else { panic!("the demo plays") };
        let skeleton = library.clip(clip).skeleton;
        let reports =
            posse::compress::CompressedLibrary::with_width(&library, 8).map(|compressed| compressed.reports().to_vec());
        let Some(reported) = reports.ok().and_then(|reports| reports.into_iter().next()) else { panic!("a clip") };
        let mut report = CrowdReport {
            crowd: "crowd.json".into(),
            within: true,
            engine: "cpu",
            adapter: String::new(),
            instances: 1,
            checked: 1,
            times: vec![0.0],
            skeletons: vec![SkeletonReport {
                file: "rig.glb".into(),
                within: true,
                joints: 64,
                instances: 1,
                checked: 1,
                quantities: BTreeMap::new(),
                compressed: Vec::new(),
            }],
            indices: HashMap::from([(skeleton, 0)]),
        };
        let evaluation = ClipEvaluation {
            skeleton,
            clip: Some(clip),
            times: vec![0.5],
            instances: 1,
            phase: 0.0,
            playback: None,
            lock: None,
        };
        for (error, within) in [(1e-4, true), (2e-4, false), (1e-4, false)] {
            let worst = Worst { error, allowed: 1e-4, instance: 0, index: 0 };
            report.add_compressed(skeleton, &reported, WorstError::new(&library, &evaluation, COMPRESSED, worst, 0));
            assert_eq!(report.is_within(), within, "{error}");
        }
        let mut text = Vec::new();
        assert!(report.print(&mut text).is_ok());
        let bytes = format!("0.5 s, {} bytes of {}\n", reported.compressed_bytes, reported.float_bytes);
        let text = String::from_utf8_lossy(&text);
        assert!(
            text.contains("rig.glb: BEYOND") && text.contains("200 % of 1.0e-4") && text.contains(&bytes),
            "{text}"
        );
    }
}
