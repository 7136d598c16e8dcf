//! A crowd file: an output per instance, and for usda a file that refers to all of them.

use std::collections::HashSet;

use posse::import::FileFormat;
use posse::import::crowd::{self, CrowdFile};
use posse::{Crowd, Error, Layer, LayerTime, Library};

use crate::bake::clip::{ArrayRig, ClipBake, FramedMotion};
use crate::bake::format::{Character, Format, write_crowd};
use crate::bake::frames::{ClipFrames, ClipPart, FrameOptions, OwnRate};
use crate::bake::inputs::{Contents, ListedClip, ListedFile, name_of};
use crate::bake::job::{BakeError, Job};
use crate::bake::manifest::ListedSource;
use crate::bake::options::Options;
use crate::bake::part::Turn;
use crate::bake::progress::FileProgress;
use crate::bake::sampler::OutputMotion;
use crate::output::warn_of_file;

/// Bakes the instances of a crowd file.
pub fn bake(
    job: &Job,
    file: &ListedFile,
    contents: &Contents,
    turn: Option<&Turn>,
    progress: &FileProgress,
) -> Result<(), BakeError> {
    let source = file.source(FileFormat::Crowd)?;
    let reference = reference_output(job.options, file);
    let clips = job.new_clips(file, turn.is_some(), || Ok(source.clone()));
    let (whole, name) = (ClipPart::default(), name_of(&file.below, job.options));
    let has_reference = |reference: &String| job.has(reference, name, &whole, || Ok(source.clone()));
    if clips.is_empty() && reference.as_ref().is_none_or(has_reference) {
        return Ok(());
    }
    let mut library = Library::new();
    let crowd = crowd::load(&mut library, &file.path)?;
    warn_of_file(&file.path, &crowd.warnings, &mut |text| job.warn(text))?;
    // A crowd has a clock and no end.
    let options = FrameOptions { fps: job.options.fps, ..FrameOptions::default() };
    let frames = ClipFrames::new(whole.range, options, OwnRate::default(), duration(&library, &crowd)?)?;
    let mut sampler = job.engines.open(&library)?;
    let mut bake = |clip: &ListedClip| -> Result<(), BakeError> {
        let Some(asset) = crowd.groups().find(|(instances, _)| instances.contains(&clip.index)).map(|(_, index)| index)
        else {
            let reason =
                "the file has fewer instances than when it was listed; run again, with a new plan if there is one";
            return Err(BakeError::Input(Error::Usage(reason.into())));
        };
        let asset = &crowd.files[asset].asset;
        let instance = crowd.crowd(&library, clip.index..clip.index + 1)?;
        check_motion(&instance)?;
        let rig = ArrayRig::new(&library, asset.skeleton, &asset.joints, job.options)?;
        // The files of a crowd are glTF.
        let (is_in_metres, up_axis) = (true, job.options.up.name());
        let bake = ClipBake { chains: None, job, file, turn, rig, source: &source, progress, is_in_metres, up_axis };
        let (motion, frames) = (OutputMotion::Layers(instance.layers(0)), frames.clone());
        bake.bake(clip, &FramedMotion { motion, frames, warnings: Vec::new() }, &mut sampler)
    };
    let mut failed = HashSet::new();
    for clip in clips {
        if job.is_stopped() {
            return Ok(());
        }
        if let Err(error) = bake(clip) {
            failed.insert(clip.index);
            job.fail(file, Some(&clip.name), error);
        }
    }
    let there = contents.clips.iter().filter(|clip| !failed.contains(&clip.index));
    let characters: Vec<Character> = there.map(|clip| character(job, clip, frames.count())).collect();
    match reference {
        Some(output) if !job.is_stopped() && !characters.is_empty() => {
            let draft = job.tag.create(&job.out.join(&output)).map_err(BakeError::Output)?;
            let (fps, up) = (frames.grid.fps(), job.options.up.name());
            let draft = write_crowd(draft, &characters, fps, up).map_err(BakeError::of_writer)?;
            let (clip, rows, quality) = (name.into(), None, None);
            let clips = vec![ListedSource { clip, rows, source, quality, warnings: Vec::new() }];
            job.manifest.keep(draft, &output, clips).map_err(BakeError::Output)
        }
        _ => Ok(()),
    }
}

/// The output that refers to the outputs of all instances; `None` if the format has none.
pub fn reference_output(options: &Options, file: &ListedFile) -> Option<String> {
    let is_crowd = file.contents.as_ref().is_ok_and(|contents| contents.kind == FileFormat::Crowd);
    (is_crowd && options.format == Format::Usda).then(|| options.format.output(name_of(&file.below, options)))
}

/// An instance in the file that refers to all of them. It stands in the same folder.
fn character(job: &Job, clip: &ListedClip, frames: u64) -> Character {
    let name = clip.name.rsplit('/').next().unwrap_or(&clip.name);
    Character { name: name.to_owned(), path: job.output(name), frames }
}

/// The end of the longest first pass of a layer on the crowd clock, in seconds. A pass that began before 0 counts
/// from 0.
fn duration(library: &Library, crowd: &CrowdFile) -> Result<f64, Error> {
    let mut last = 0.0_f64;
    for instance in 0..crowd.len() {
        for layer in crowd.crowd(library, instance..instance + 1)?.layers(0) {
            last = last.max(first_pass(library, layer));
        }
    }
    Ok(last.min(CrowdFile::MAX_SECONDS))
}

/// Checks that the poses of an instance follow from the clock and its layers alone, as arrays of frames need it.
fn check_motion(crowd: &Crowd) -> Result<(), BakeError> {
    if crowd.transition(0).is_none() && crowd.goals(0).is_empty() && !crowd.layers(0).iter().any(Layer::is_driven) {
        return Ok(());
    }
    let reason = "the instance has parameters, synchronised layers, a transition or inverse kinematics, which are not baked yet; use \
                  eval --format npz";
    Err(BakeError::Input(Error::Usage(reason.into())))
}

/// The end of the first pass of a layer; 0 for a layer that stands still.
fn first_pass(library: &Library, layer: &Layer) -> f64 {
    let LayerTime::Playing(playback) = layer.time else { return 0.0 };
    let [start, end] = playback.part(library.clip(layer.clip).duration());
    let pass = (end - start) / playback.rate.abs();
    if pass.is_finite() { playback.start.to_seconds().max(0.0) + pass } else { 0.0 }
}
