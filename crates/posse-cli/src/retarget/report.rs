//! The report of `posse retarget`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use posse::{
    DropReason, DroppedTrack, Library, LostRootMotion, RetargetedClip, RetargetedTrack, Retargeting, Skeleton, Target,
    TrackMethod,
};
use serde::Serialize;

/// The report as JSON.
#[derive(Serialize)]
pub struct Report {
    /// The pairs, with the reason for each.
    joints: Vec<Pair>,
    /// The joint of the source whose movement the target takes over.
    root: Option<String>,
    /// The factor of that movement; 0 if the target does not move.
    scale: f64,
    /// The joints that were left out because they are ambiguous or cannot be animated, and why.
    left_out: Vec<String>,
    /// Names of nodes without a partner.
    source_without_partner: Vec<String>,
    target_without_partner: Vec<String>,
    clips: Vec<ClipReport>,
}

#[derive(Serialize)]
struct Pair {
    source: String,
    target: String,
    by: String,
}

#[derive(Serialize)]
struct ClipReport {
    name: Option<String>,
    /// Tracks whose keys were transformed.
    exact: Vec<String>,
    /// Tracks of a single key.
    constant: Vec<String>,
    resampled: Vec<ResampledTrack>,
    dropped: Vec<Dropped>,
    /// The root joint of the clip whose root motion is lost, and why.
    lost_root_motion: Option<LostMotion>,
}

#[derive(Serialize)]
struct LostMotion {
    joint: String,
    reason: String,
}

#[derive(Serialize)]
struct ResampledTrack {
    track: String,
    keys: usize,
    /// In radians for a rotation, as a share of the rig's size for a translation.
    error: f64,
}

#[derive(Serialize)]
struct Dropped {
    track: String,
    reason: String,
}

impl Report {
    /// The report of a retargeting.
    pub fn new(library: &Library, retargeting: &Retargeting) -> Self {
        let map = &retargeting.map;
        let [source, target] = [map.source, map.target].map(|id| library.skeleton(id));
        let names = |skeleton: &Skeleton, is_paired: &dyn Fn(usize) -> bool| -> Vec<String> {
            (0..skeleton.joints().len())
                .filter(|&joint| !is_paired(joint))
                .map(|joint| skeleton.joint_name(joint))
                .collect()
        };
        let pair = |pair: &posse::JointPair| {
            let [source, target] = map.names(library, *pair);
            Pair { source, target, by: pair.by.to_string() }
        };
        Self {
            joints: map.pairs.iter().map(pair).collect(),
            root: map.root.map(|root| source.joint_name(root)),
            scale: retargeting.scale,
            left_out: map.remarks.iter().map(|remark| map.describe(library, remark)).collect(),
            source_without_partner: names(source, &|joint| map.target_of(joint).is_some()),
            target_without_partner: names(target, &|joint| map.pairs.iter().any(|pair| pair.target == joint)),
            clips: retargeting.clips.iter().map(|clip| ClipReport::new(library, clip)).collect(),
        }
    }

    /// Prints the report as text.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let root = match &self.root {
            Some(root) if self.scale != 0.0 => format!("root {root}, moved by {:.4} of its movement", self.scale),
            _ => "the root does not move".into(),
        };
        writeln!(out, "{} pairs of joints; {root}", self.joints.len())?;
        for Pair { source, target, by } in &self.joints {
            writeln!(out, "  {source} -> {target} (by {by})")?;
        }
        for (side, names) in [("source", &self.source_without_partner), ("target", &self.target_without_partner)] {
            if !names.is_empty() {
                writeln!(out, "without a partner, {side}: {}", names.join(", "))?;
            }
        }
        for remark in &self.left_out {
            writeln!(out, "left out: {remark}")?;
        }
        self.clips.iter().try_for_each(|clip| clip.print(out))
    }
}

impl ClipReport {
    fn new(library: &Library, clip: &RetargetedClip) -> Self {
        let (made, source) = (library.clip(clip.clip), library.clip(clip.source));
        let target_skeleton = library.skeleton(made.skeleton);
        let skeleton = library.skeleton(source.skeleton);
        let lost = |lost: LostRootMotion| LostMotion {
            joint: skeleton.joint_name(lost.joint),
            reason: lost.reason.to_string(),
        };
        let mut report = Self {
            name: made.name.clone(),
            exact: Vec::new(),
            constant: Vec::new(),
            resampled: Vec::new(),
            dropped: Vec::new(),
            lost_root_motion: clip.lost_root_motion.map(lost),
        };
        for RetargetedTrack { target, method } in &clip.tracks {
            let track = track_name(target_skeleton, *target);
            match *method {
                TrackMethod::Exact => report.exact.push(track),
                TrackMethod::Constant => report.constant.push(track),
                TrackMethod::Resampled { keys, error } => report.resampled.push(ResampledTrack { track, keys, error }),
            }
        }
        let dropped = |dropped: &DroppedTrack| {
            let DroppedTrack { target, reason, .. } = *dropped;
            Dropped { track: track_name(skeleton, target), reason: DropReason::to_string(&reason) }
        };
        report.dropped = clip.dropped.iter().map(dropped).collect();
        report
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { exact, constant, resampled, dropped, .. } = self;
        writeln!(
            out,
            "clip {}: {} exact, {} constant, {} resampled, {} dropped",
            self.name.as_deref().unwrap_or("unnamed"),
            exact.len(),
            constant.len(),
            resampled.len(),
            dropped.len()
        )?;
        for ResampledTrack { track, keys, error } in resampled {
            let unit = if track.starts_with("rotation") { "rad" } else { "of the rig's size" };
            writeln!(out, "  {track}: resampled at {keys} keys, off by up to {error:.2e} {unit}")?;
        }
        let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        dropped.iter().for_each(|dropped| by_reason.entry(&dropped.reason).or_default().push(&dropped.track));
        for (reason, tracks) in by_reason {
            writeln!(out, "  dropped, because {reason}: {}", tracks.join(", "))?;
        }
        if let Some(LostMotion { joint, reason }) = &self.lost_root_motion {
            writeln!(out, "  lost root motion of {joint}, because {reason}")?;
        }
        Ok(())
    }
}

/// The name of a target: the part, and the name of its joint or property.
fn track_name(skeleton: &Skeleton, target: Target) -> String {
    match target {
        Target::Translation(joint) => format!("translation of {}", skeleton.joint_name(joint)),
        Target::Rotation(joint) | Target::EulerAngles(joint) => format!("rotation of {}", skeleton.joint_name(joint)),
        Target::Scale(joint) => format!("scale of {}", skeleton.joint_name(joint)),
        Target::Weights(joint) => format!("weights of {}", skeleton.joint_name(joint)),
        Target::Property(property) => format!("property {}", skeleton.properties()[property].name),
    }
}
