//! The report of a crowd, skeleton by skeleton.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::Path;

use posse::contract::Report;
use posse::import::crowd::CrowdFile;
use posse::{ClipReport, Evaluator, Library, SkeletonId};
use serde::Serialize;

use crate::verify::compressed::QUANTITY;
use crate::verify::worst_error::{WorstError as ClipWorstError, place};

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
    worst: ClipWorstError,
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
    pub fn new(
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

    /// Adds the comparison of instances of one skeleton. The worst error of each quantity is kept. `instance_and_time` returns the
    /// index in the file, and the time, of an instance of the comparison.
    pub fn add(
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

    /// Returns true if an instance of the crowd has this skeleton.
    pub fn has_skeleton(&self, skeleton: SkeletonId) -> bool {
        self.indices.contains_key(&skeleton)
    }

    /// Adds a compressed clip of a skeleton.
    pub fn add_compressed(&mut self, skeleton: SkeletonId, clip: &ClipReport, worst: ClipWorstError) {
        let Some(report) = self.indices.get(&skeleton).map(|&index| &mut self.skeletons[index]) else { return };
        report.within &= worst.is_within();
        self.within &= report.within;
        let ClipReport { float_bytes, compressed_bytes, .. } = *clip;
        report.compressed.push(CompressedClip { float_bytes, compressed_bytes, worst });
    }

    /// Returns true if all skeletons are within the contract.
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
        writeln!(out, "{crowd}: {verdict_of_all}: {engine} ({adapter}), {checked} of {instances} instances, {spans}")?;
        for skeleton in &self.skeletons {
            let SkeletonReport { file, within, joints, instances, checked, quantities, compressed } = skeleton;
            let verdict = verdict(*within);
            writeln!(out, "{file}: {verdict}: {joints} joints, {checked} of {instances} instances")?;
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
                worst.write(QUANTITY, out)?;
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

    use super::*;
    use crate::evaluation::ClipEvaluation;

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
        let reports = posse::CompressedLibrary::with_width(&library, 8).map(|compressed| compressed.reports().to_vec());
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
        let evaluation =
            ClipEvaluation { skeleton, clip: Some(clip), times: vec![0.5], instances: 1, phase: 0.0, playback: None };
        for (error, within) in [(1e-4, true), (2e-4, false), (1e-4, false)] {
            let worst = Worst { error, allowed: 1e-4, instance: 0, index: 0 };
            report.add_compressed(skeleton, &reported, ClipWorstError::new(&library, &evaluation, QUANTITY, worst, 0));
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
