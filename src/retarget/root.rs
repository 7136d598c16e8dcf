//! The translation track of the root.
//!
//! The root of the target is at `t0 + k (s(t) - s0)` in model space. If nothing above it moves on either side, its local translation
//! is an affine function of that of its partner.

use glam::{DAffine3, DMat3, DVec3};

use crate::error::Error;
use crate::model::{Clip, Curve, Interpolation, Target, Track, Transform};
use crate::retarget::clip::single_key;
use crate::retarget::moving_joints::{MovingJoints, Part};
use crate::retarget::plan::{Plan, Root};
use crate::retarget::report::TrackMethod;
use crate::retarget::resample::{Knots, Motion, resample};
use crate::retarget::rotations::{MadeTrack, Rotations};

/// The part of the rig's size up to which two places count as the same.
const ROUNDING: f64 = 1e-12;

/// Makes the track of the root. `None` if it keeps its rest translation.
pub(super) fn make(
    plan: &Plan,
    root: &Root,
    clip: &Clip,
    source: &MovingJoints,
    rotations: &mut Rotations,
) -> Result<Option<MadeTrack>, Error> {
    let above_source: Vec<usize> = plan.source.ancestors(root.source).collect();
    let above_target: Vec<usize> = plan.target.ancestors(root.target).collect();
    let mut knots = Knots::default();
    let mut moves = false;
    for (&joint, part) in above_source.iter().flat_map(|joint| Part::ALL.map(|part| (joint, part))) {
        for &(index, track) in source.tracks(joint, part) {
            rotations.used[index] = true;
            if !track.curve.is_constant() {
                moves = true;
                knots.add(&track.curve, clip.length);
            }
        }
    }
    for curve in above_target.iter().filter_map(|&joint| rotations.curve(joint)) {
        if !curve.is_constant() {
            moves = true;
            knots.add(curve, clip.length);
        }
    }
    let own = source.tracks(root.source, Part::Translation);
    for &(index, track) in own {
        rotations.used[index] = true;
        knots.add(&track.curve, clip.length);
    }

    let (start, target_start) =
        (plan.reference.matrices[root.source].translation, plan.rest.matrices[root.target].translation);
    let source_space = |time: f64| {
        above_source.iter().rev().fold(DAffine3::IDENTITY, |above, &joint| above * source.matrix(joint, time))
    };
    let rotations = &*rotations;
    let target_space = |time: f64| {
        let local = |joint: usize| {
            let node = &plan.target.joints()[joint];
            node.matrix.unwrap_or_else(|| Transform { rotation: rotations.local(joint, time), ..node.rest }.to_affine())
        };
        above_target.iter().rev().fold(DAffine3::IDENTITY, |above, &joint| above * local(joint))
    };
    if target_space(0.0).matrix3.determinant() == 0.0 {
        return Ok(None);
    }
    let place = |place: DVec3| target_start + root.scale * (place - start);
    let local = |time: f64| {
        let found = source_space(time).transform_point3(source.translation(root.source, time));
        target_space(time).inverse().transform_point3(place(found))
    };
    let made =
        |curve, method| Ok(Some(MadeTrack { track: Track::new(Target::Translation(root.target), curve), method }));
    if !moves {
        match own {
            [] => {
                let (found, rest) = (local(0.0), plan.target.joints()[root.target].rest.translation);
                if found.distance(rest) <= 1e-9 * plan.target_size {
                    return Ok(None);
                }
                return made(single_key(found.to_array().to_vec())?, TrackMethod::Constant);
            }
            [(_, track)] if track.component.is_none() => {
                let (from, to) = (source_space(0.0), target_space(0.0).inverse());
                let linear = root.scale * (to.matrix3 * from.matrix3);
                let offset = to.transform_point3(place(from.translation));
                return made(transformed(&track.curve, linear, offset, plan.target_size)?, TrackMethod::Exact);
            }
            _ => {}
        }
    }
    if knots.is_empty() {
        return Ok(None);
    }
    let motion = Motion {
        value: &local,
        error: &|time, found, wanted| target_space(time).transform_vector3(found - wanted).length() / plan.target_size,
        bound: plan.options.translation_bound,
    };
    let resampled = resample(knots, &motion)?;
    let (keys, error) = (resampled.curve.timeline().len(), resampled.error);
    made(resampled.curve, TrackMethod::Resampled { keys, error })
}

/// A curve of translations with each key mapped by an affine function, and each tangent by its linear part.
fn transformed(curve: &Curve, linear: DMat3, offset: DVec3, size: f64) -> Result<Curve, Error> {
    if linear.abs_diff_eq(DMat3::IDENTITY, ROUNDING) && offset.abs().max_element() <= ROUNDING * size {
        return Ok(curve.clone());
    }
    let is_value = |element: usize| curve.interpolation() != Interpolation::CubicSpline || element % 3 == 1;
    let map = |(element, numbers): (usize, &[f64])| {
        let turned = linear * DVec3::from_slice(numbers);
        (if is_value(element) { turned + offset } else { turned }).to_array()
    };
    curve.with_values(curve.interpolation(), 3, curve.values().chunks_exact(3).enumerate().flat_map(map).collect())
}
