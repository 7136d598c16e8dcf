use std::sync::Arc;

use glam::{DQuat, DVec3};
use posse::Skeleton;
use posse::curves::{
    Curve, CurveEasing, Easing, Extrapolation, Interpolation, InterpolatorId, Target, Timeline, Track,
};

use super::bent::{AS_IS, BENT};
use super::{Eased, Numbers, Spacing, Style, TrackSpec};

/// The tracks of a clip. A spec is left out if its target cannot be animated or is already driven by an earlier track.
pub(super) fn tracks(
    numbers: &mut Numbers,
    skeleton: &Skeleton,
    (specs, style): (&[TrackSpec], Style),
    bent: InterpolatorId,
    length: Option<f64>,
) -> Vec<Track> {
    let mut tracks: Vec<Track> = Vec::new();
    let mut shared: Option<Arc<Timeline>> = None;
    for spec in specs {
        let driven = match style {
            Style::Any => Driven::choose(numbers, skeleton, spec, bent),
            Style::Gltf { .. } => Driven::choose_as_gltf(numbers, skeleton, spec),
        };
        if driven.is_held_by_a_matrix(skeleton) || tracks.iter().any(|track| driven.overlaps(track)) {
            continue;
        }
        let timeline = match &shared {
            Some(timeline) if spec.shared || style == (Style::Gltf { one_timeline: true }) => timeline.clone(),
            _ => Arc::new(timeline(numbers, spec.keys, spec.spacing, style)),
        };
        shared = Some(timeline.clone());
        let values = driven.values(numbers, &timeline);
        let mut curve = Curve::new(timeline.clone(), driven.interpolation, driven.width, values).unwrap();
        if style == Style::Any {
            curve = curve.with_easing(curve_easing(numbers, spec.eased, timeline.len())).unwrap();
            if length.is_some() {
                curve = with_random_extrapolation(numbers, curve);
            }
        }
        tracks.push(Track { target: driven.target, component: driven.component, curve });
    }
    tracks
}

/// The target of a track, with the interpolation and width of its curve.
struct Driven {
    joint: usize,
    target: Target,
    /// The only component that is driven; `None` if all are.
    component: Option<usize>,
    interpolation: Interpolation,
    width: usize,
}

impl Driven {
    fn choose(numbers: &mut Numbers, skeleton: &Skeleton, spec: &TrackSpec, bent: InterpolatorId) -> Self {
        let joint = numbers.below(skeleton.joints().len());
        let targets = skeleton.joints()[joint].weights.len();
        let mut component = None;
        let (target, width) = match spec.part {
            0 => (Target::Translation(joint), 3),
            1 => (Target::Rotation(joint), 4),
            2 => (Target::Scale(joint), 3),
            3 if targets > 0 => (Target::Weights(joint), targets),
            4 if targets > 0 => {
                component = Some(numbers.below(targets));
                (Target::Weights(joint), 1)
            }
            6 => (Target::EulerAngles(joint), 3),
            7 => {
                component = Some(numbers.below(3));
                let target = [Target::Translation(joint), Target::EulerAngles(joint), Target::Scale(joint)];
                (target[numbers.below(3)], 1)
            }
            8 => {
                component = Some(numbers.below(6));
                (Target::Property(2), 1)
            }
            _ => {
                let property = numbers.below(skeleton.properties().len());
                (Target::Property(property), skeleton.properties()[property].rest.len())
            }
        };
        let (interpolation, width) = match target {
            Target::Property(BENT) => (Interpolation::Custom(bent), 6),
            Target::Property(AS_IS) if numbers.below(2) == 0 => (Interpolation::Slerp, 4),
            _ => (spec.interpolation, width),
        };
        Self { joint, target, component, interpolation, width }
    }

    /// A target of glTF: a whole part of a joint, or its morph weights.
    fn choose_as_gltf(numbers: &mut Numbers, skeleton: &Skeleton, spec: &TrackSpec) -> Self {
        let joint = numbers.below(skeleton.joints().len());
        let targets = skeleton.joints()[joint].weights.len();
        let (target, width) = match spec.part {
            9 if targets > 0 => (Target::Weights(joint), targets),
            part if part % 3 == 1 => (Target::Rotation(joint), 4),
            part if part % 3 == 2 => (Target::Scale(joint), 3),
            _ => (Target::Translation(joint), 3),
        };
        Self { joint, target, component: None, interpolation: spec.interpolation, width }
    }

    fn is_angles(&self) -> bool {
        matches!(self.target, Target::EulerAngles(_))
    }

    /// Returns whether the joint has a matrix, so that its translation, rotation and scale cannot be animated.
    fn is_held_by_a_matrix(&self, skeleton: &Skeleton) -> bool {
        let parts = matches!(self.target, Target::Translation(_) | Target::Rotation(_) | Target::Scale(_));
        (self.is_angles() || parts) && skeleton.joints()[self.joint].matrix.is_some()
    }

    /// Returns whether a track drives a number that this one would drive too.
    fn overlaps(&self, track: &Track) -> bool {
        let apart = track.component.is_some() && self.component.is_some() && track.component != self.component;
        let turned = match (track.target, self.target) {
            (Target::EulerAngles(a), Target::Rotation(b)) | (Target::Rotation(a), Target::EulerAngles(b)) => a == b,
            _ => false,
        };
        turned || (track.target == self.target && !apart)
    }

    fn values(&self, numbers: &mut Numbers, timeline: &Timeline) -> Vec<f64> {
        let rotation = matches!(self.target, Target::Rotation(_) | Target::Property(1));
        if rotation || self.interpolation == Interpolation::Slerp {
            return rotations(numbers, timeline, self.interpolation);
        }
        let size = if self.is_angles() { 400.0 } else { numbers.within(0.1, 10.0) };
        let (low, high) = if matches!(self.target, Target::Scale(_)) { (0.7, 1.4) } else { (-size, size) };
        let count = timeline.len() * self.width * self.interpolation.elements_per_key();
        (0..count).map(|_| numbers.within(low, high)).collect()
    }
}

fn curve_easing(numbers: &mut Numbers, eased: Eased, keys: usize) -> CurveEasing {
    match eased {
        Eased::Not => CurveEasing::None,
        Eased::Alike => CurveEasing::One(easing(numbers)),
        Eased::ByKey => CurveEasing::PerKey((0..numbers.below(keys + 2)).map(|_| easing(numbers)).collect()),
    }
}

/// The curve with any extrapolation. Curves that would loop very often, or whose line at an end has almost no
/// direction, stay as they are: they are for tests of limits.
fn with_random_extrapolation(numbers: &mut Numbers, curve: Curve) -> Curve {
    let timeline = curve.timeline();
    let gaps: Vec<f64> = timeline.times().windows(2).map(|pair| pair[1] - pair[0]).collect();
    let ends = [gaps.first(), gaps.last()];
    let have_direction = ends.into_iter().flatten().all(|&gap| gap > 1e-4);
    if !have_direction || timeline.last() - timeline.first() <= 0.02 {
        return curve;
    }
    let mut extrapolation = || {
        use Extrapolation::{Clamp, Linear, Loop, PingPong};
        [Clamp, Linear, Loop, PingPong][numbers.below(4)]
    };
    curve.with_extrapolation(extrapolation(), extrapolation())
}

/// Any easing: one with a name, or a Bezier curve that overshoots, folds, or has the shape that CSS allows.
fn easing(numbers: &mut Numbers) -> Easing {
    let (x, y) = match numbers.below(4) {
        0 => (numbers.within(1.0, 2.0), numbers.within(1.0, 20.0)),
        1 => (1.0, 2.0),
        _ => return Easing::from_id(numbers.below(44) as u32).unwrap(),
    };
    let mut point = || [numbers.within(1.0 - x, x), numbers.within(1.0 - y, y)];
    Easing::Bezier([point(), point()].concat().try_into().unwrap())
}

/// Key times that are exact in `f32`, as in files.
fn timeline(numbers: &mut Numbers, keys: usize, spacing: Spacing, style: Style) -> Timeline {
    let mut time = numbers.within(-1.0, 2.0) as f32;
    let mut times = vec![f64::from(time)];
    while times.len() < keys {
        time = match spacing {
            Spacing::Even => (times[0] + times.len() as f64 / 30.0) as f32,
            Spacing::Uneven => time + numbers.within(0.001, 0.3) as f32,
            Spacing::Clustered if numbers.below(5) == 0 => time + numbers.within(0.001, 1.0) as f32,
            Spacing::Clustered => time.next_up(),
        };
        times.push(f64::from(time));
    }
    if numbers.below(3) > 0 {
        return Timeline::new(times).unwrap();
    }
    let window = [0.0, 1.03e-6, 3.1e-4][numbers.below(3)];
    // In glTF, no two keys share a time.
    if numbers.below(2) == 0 && style == Style::Any {
        let twin = times[numbers.below(times.len())];
        times.push(twin);
        times.sort_by(f64::total_cmp);
    }
    Timeline::snapping(times, window).unwrap()
}

fn rotations(numbers: &mut Numbers, timeline: &Timeline, interpolation: Interpolation) -> Vec<f64> {
    let mut values = Vec::new();
    let mut last = numbers.rotation();
    for key in 0..timeline.len() {
        let next = match numbers.below(8) {
            0 => -last,
            1 => last,
            2 => last * DQuat::from_axis_angle(numbers.vector(-1.0, 1.0).normalize(), std::f64::consts::PI),
            3 => last * numbers.within(0.9, 1.1),
            4 => numbers.rotation(),
            _ => last.normalize() * DQuat::from_axis_angle(DVec3::Z, numbers.within(-0.3, 0.3)),
        };
        if interpolation == Interpolation::CubicSpline {
            // Tangents as in files: a fraction of the value, divided by the interval that they span.
            let gap = |a: usize, b: usize| {
                let times = timeline.times();
                if b < times.len() && times[a] < times[b] { times[b] - times[a] } else { 1.0 }
            };
            let before = if key > 0 { gap(key - 1, key) } else { 1.0 };
            let size = [0.2 / before, 0.2 / gap(key, key + 1)];
            values.extend((0..4).map(|_| numbers.within(-size[0], size[0])));
            values.extend(next.to_array());
            values.extend((0..4).map(|_| numbers.within(-size[1], size[1])));
        } else {
            values.extend(next.to_array());
        }
        last = next;
    }
    values
}
