//! The summary of a track with a named target.

use std::collections::BTreeSet;
use std::io::{self, Write};

use posse::{BoundTrack, Curve, CurveEasing, Easing, Skeleton, UnboundCurves, UnboundTrack, ValueKind};
use serde::Serialize;

use crate::inspect::text::{interpolation_name, plural, quoted_name, target_name};
use crate::inspect::timelines::Timelines;
use crate::source::{NamedClip, target_path, target_property};

/// A track with a named target.
#[derive(Serialize)]
pub struct TargetSummary<'a> {
    /// `/` for the root.
    path: String,
    component: Option<&'a str>,
    property: String,
    /// The type of the value.
    kind: &'static str,
    /// The names of the interpolations of the curves.
    interpolations: BTreeSet<&'static str>,
    /// The names of the easings; `bezier` for an easing by a curve.
    easings: BTreeSet<&'static str>,
    pub keys: usize,
    /// The indices of the timelines in the clip.
    timelines: Vec<usize>,
    pub constant: bool,
    /// The transform of the rig that the track animates, if any.
    moves: Option<AnimatedJoint<'a>>,
}

/// A joint, and the part of its transform that a track animates.
#[derive(Serialize)]
struct AnimatedJoint<'a> {
    target: &'static str,
    joint: usize,
    name: Option<&'a str>,
}

/// The tracks of a clip, in the order of the file.
pub fn summaries<'a>(
    named: &'a NamedClip,
    skeleton: &'a Skeleton,
    timelines: &mut Timelines,
) -> Vec<TargetSummary<'a>> {
    let tracks = named.clip.tracks.iter().zip(&named.tracks);
    tracks.map(|(track, bound)| TargetSummary::new(track, bound, skeleton, timelines)).collect()
}

impl<'a> TargetSummary<'a> {
    fn new(track: &'a UnboundTrack, bound: &BoundTrack, skeleton: &'a Skeleton, timelines: &mut Timelines) -> Self {
        let curves: Vec<&Curve> = match &track.curves {
            UnboundCurves::Empty => Vec::new(),
            UnboundCurves::Whole(curve) => vec![curve],
            UnboundCurves::Channels(channels) => channels.iter().flatten().collect(),
        };
        let moves = bound.joint.map(target_name).and_then(|(target, joint)| {
            let joint = joint?;
            Some(AnimatedJoint { target, joint, name: skeleton.joints()[joint].name.as_deref() })
        });
        Self {
            path: target_path(&track.target),
            component: track.target.component.as_deref(),
            property: target_property(&track.target),
            kind: kind_name(track.kind),
            interpolations: curves.iter().map(|curve| interpolation_name(curve.interpolation())).collect(),
            easings: curves.iter().flat_map(|curve| easings(curve)).collect(),
            keys: curves.iter().map(|curve| curve.timeline().len()).sum(),
            timelines: timelines.add_track(curves.iter().copied()),
            constant: !curves.is_empty() && curves.iter().all(|curve| curve.is_constant()),
            moves,
        }
    }

    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let component = self.component.map_or_else(String::new, |component| format!("{component}."));
        write!(out, "  {}:{component}{}: {}", self.path, self.property, self.kind)?;
        for name in self.interpolations.iter().chain(&self.easings) {
            write!(out, ", {name}")?;
        }
        write!(out, ", {}", plural(self.keys, "key"))?;
        let timelines: Vec<String> = self.timelines.iter().map(ToString::to_string).collect();
        match timelines.as_slice() {
            [] => {}
            [only] => write!(out, " on timeline {only}")?,
            several => write!(out, " on timelines {}", several.join(", "))?,
        }
        if let Some(AnimatedJoint { target, joint, name }) = self.moves {
            write!(out, ", moves the {target} of joint {joint}{}", quoted_name(name))?;
        }
        writeln!(out)
    }
}

/// The names of the easings that have an effect.
fn easings(curve: &Curve) -> BTreeSet<&'static str> {
    let used = match curve.easing() {
        CurveEasing::None => 0,
        CurveEasing::One(_) => 1,
        CurveEasing::PerKey(easings) => easings.len(),
    };
    let gaps = curve.timeline().len() - 1;
    let easings = (0..used.min(gaps)).map(|key| curve.easing_at(key)).filter(|easing| !easing.is_linear());
    easings.map(|easing: Easing| easing.name().unwrap_or("bezier")).collect()
}

/// The name of the type of a value.
fn kind_name(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Number => "number",
        ValueKind::Vec2 => "vec2",
        ValueKind::Vec3 => "vec3",
        ValueKind::Vec4 => "vec4",
        ValueKind::Quat => "quat",
        ValueKind::Color => "color",
        ValueKind::Size => "size",
        ValueKind::Rect => "rect",
        ValueKind::Held => "held",
        ValueKind::Custom { .. } => "custom",
    }
}
