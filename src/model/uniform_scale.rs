//! Checks of uniform scales, by three rules.
//!
//! * **Dual quaternions** need skin matrices of a rotation, a uniform scale and a translation, without a mirror. What
//!   is not uniform within [`TOLERANCE`] is an error with its place: [`check_crowd`], [`of_skeleton`], [`of_clip`].
//! * **Kernels for uniform scales** take the x of a scale for all axes. They need scales of either sign that are
//!   uniform within [`NEAR_X`], whatever clips are mixed: [`is_uniform_at_rest`], [`is_uniform_in_clip`].
//! * **Goals** rotate all below a joint as a rigid body if its scale stays at one uniform value above 0, within
//!   [`ROUNDING`]: [`is_fixed`].
//!
//! Only joints that carry a skin count for the first two rules, and the joints of chains for the third.

use glam::{DAffine3, DVec3};

use crate::error::Error;
use crate::model::{
    Clip, Crowd, Curve, Extrapolation, Interpolation, Joint, Library, Skeleton, SkeletonId, Target, Track,
};

/// The largest difference of the scales along the axes that counts as uniform, as a share of the largest scale of the
/// joint. It allows for the rounding in files.
pub const TOLERANCE: f64 = 1e-4;

/// The largest difference from a fixed uniform scale, relative to it, that the rounding of an `f32` explains.
const ROUNDING: f64 = 2e-7;

/// A matrix or scale that is not uniform, with its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NonUniform {
    Joint { joint: usize, reason: String },
    Skin { skin: String, reason: String },
    Track { clip: String, track: usize, reason: String },
}

impl NonUniform {
    /// The number of bytes of its texts.
    pub fn text_bytes(&self) -> usize {
        match self {
            Self::Joint { reason, .. } => reason.len(),
            Self::Skin { skin: name, reason } | Self::Track { clip: name, reason, .. } => name.len() + reason.len(),
        }
    }

    /// The error for a request of dual quaternions.
    pub fn error(&self) -> Error {
        let with_hint = |reason: &str| {
            format!(
                "{reason}; a dual quaternion holds only rotation, translation and a uniform scale. Make the scale uniform, or \
                 use the skin format `matrix` or `half`"
            )
        };
        match self.clone() {
            Self::Joint { joint, reason } => Error::Skeleton { joint, reason: with_hint(&reason) },
            Self::Skin { skin, reason } => Error::Skin { skin, reason: with_hint(&reason) },
            Self::Track { clip, track, reason } => Error::Track { clip, track, reason: with_hint(&reason) },
        }
    }
}

/// Checks the skeletons, skins and clips that a crowd of the library uses.
///
/// # Errors
/// [`Error::Skeleton`], [`Error::Skin`] or [`Error::Track`] for the first scale that is not uniform.
pub(crate) fn check_crowd(library: &Library, crowd: &Crowd) -> Result<(), Error> {
    let mut skeletons = vec![false; library.skeletons().len()];
    let mut clips = vec![false; library.clips().len()];
    for instance in 0..crowd.len() {
        let skeleton = crowd.skeleton(instance);
        if !std::mem::replace(&mut skeletons[skeleton.index()], true) {
            of_skeleton(library, skeleton, &carriers(library, skeleton))
                .map_or(Ok(()), |non_uniform| Err(non_uniform.error()))?;
        }
        for layer in crowd.all_layers(instance) {
            if !std::mem::replace(&mut clips[layer.clip.index()], true) {
                let clip = library.clip(layer.clip);
                let non_uniform = of_clip(library, clip, &carriers(library, clip.skeleton));
                non_uniform.map_or(Ok(()), |non_uniform| Err(non_uniform.error()))?;
            }
        }
    }
    Ok(())
}

/// The first scale of the rest pose or of the skins of a skeleton that is not uniform. Only joints that carry a skin
/// ([`carriers`]) count.
pub(crate) fn of_skeleton(library: &Library, id: SkeletonId, carries: &[bool]) -> Option<NonUniform> {
    let skeleton = library.skeleton(id);
    for (joint, found) in skeleton.joints().iter().enumerate().filter(|(joint, _)| carries[*joint]) {
        let error = match &found.matrix {
            Some(matrix) => matrix_error(matrix).map(|error| format!("its matrix {error}")),
            None => vector_error(found.rest.scale, found.rest.scale.abs().max_element())
                .map(|error| format!("its rest scale {error}")),
        };
        if let Some(error) = error {
            return Some(NonUniform::Joint { joint, reason: with_name(found, &error) });
        }
    }
    for (_, skin) in library.skins_of(id) {
        let errors = skin.inverse_bind.iter().map(matrix_error);
        if let Some((index, error)) = errors.enumerate().find_map(|(index, error)| Some((index, error?))) {
            let reason = format!("the inverse bind matrix of its joint {index} {error}");
            return Some(NonUniform::Skin { skin: skin.name.clone().unwrap_or("unnamed".into()), reason });
        }
    }
    None
}

/// The first track of a clip with a scale that is not uniform. Only joints that carry a skin ([`carriers`]) count.
pub(crate) fn of_clip(library: &Library, clip: &Clip, carries: &[bool]) -> Option<NonUniform> {
    let skeleton = library.skeleton(clip.skeleton);
    for (track, found) in clip.tracks.iter().enumerate() {
        let Target::Scale(joint) = found.target else { continue };
        if !carries[joint] {
            continue;
        }
        let error = match found.component {
            None => curve_error(&found.curve, skeleton.joints()[joint].rest.scale),
            Some(_) => components_error(skeleton, clip, joint),
        };
        if let Some(error) = error {
            let reason = with_name(&skeleton.joints()[joint], &format!("the scale of joint {joint} {error}"));
            return Some(NonUniform::Track { clip: clip.label().into(), track, reason });
        }
    }
    None
}

/// The largest difference of a scale from that along x, as a share of the largest scale of the track, with which the
/// latter may stand for all: half of what the contract allows a scale. Files that were computed in `f32` need a few
/// roundings.
const NEAR_X: f64 = 1e-6;

/// Returns `true` if the joints that carry a skin have uniform scales in the rest pose, of either sign and up to
/// rounding, and matrices only where the rest pose stands for them. Whatever clips with such scales are mixed, the x of
/// a scale then stands for all axes: no clip animates a joint with a matrix.
pub(crate) fn is_uniform_at_rest(skeleton: &Skeleton, carries: &[bool]) -> bool {
    let mut joints = skeleton.joints().iter().zip(carries).filter(|(_, carries)| **carries);
    joints.all(|(joint, _)| {
        let scale = joint.rest.scale;
        is_near_x(&scale.to_array(), NEAR_X * scale.abs().max_element()) && rest_is_matrix(joint)
    })
}

/// Returns `true` if a joint has no matrix, or its rest transform stands for the matrix up to rounding.
fn rest_is_matrix(joint: &Joint) -> bool {
    let Some(matrix) = &joint.matrix else { return true };
    let rest = joint.rest.to_affine();
    let off = rest.matrix3 - matrix.matrix3;
    let columns = [off.x_axis, off.y_axis, off.z_axis];
    let moved = rest.translation - matrix.translation;
    columns.map(DVec3::length_squared).iter().sum::<f64>().sqrt() <= NEAR_X * joint.rest.scale.abs().max_element()
        && moved.length() <= NEAR_X * matrix.translation.length()
}

/// Returns `true` if a clip keeps uniform scales, of either sign and up to rounding, at the joints that carry a skin.
pub(crate) fn is_uniform_in_clip(clip: &Clip, carries: &[bool]) -> bool {
    clip.tracks.iter().all(|track| match track.target {
        Target::Scale(joint) if carries[joint] => track.component.is_none() && is_uniform_curve(&track.curve),
        _ => true,
    })
}

/// Returns `true` if no number differs from the first by more than `bound`.
fn is_near_x(numbers: &[f64], bound: f64) -> bool {
    numbers.iter().all(|number| (number - numbers[0]).abs() <= bound)
}

/// Returns `true` if a curve keeps uniform scales. Between uniform keys, any easing does, and so does what follows
/// beyond them. A straight line continues a difference without end, so that it needs equal numbers.
fn is_uniform_curve(curve: &Curve) -> bool {
    let (times, spline) = (curve.timeline().times(), curve.interpolation() == Interpolation::CubicSpline);
    let keys = || 0..times.len();
    let largest = keys().flat_map(|key| curve.value(key)).fold(0.0, |most: f64, scale| most.max(scale.abs()));
    let bound = if curve.extrapolation().contains(&Extrapolation::Linear) { 0.0 } else { NEAR_X * largest };
    // A tangent has at most its share of the interval before or after.
    let longest = times.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::MIN_POSITIVE, f64::max);
    let tangents_are_near = |key: usize| {
        let tangents = [curve.in_tangent(key), curve.out_tangent(key)];
        tangents.into_iter().all(|tangent| is_near_x(tangent, bound / longest))
    };
    let is_known = spline || matches!(curve.interpolation(), Interpolation::Step | Interpolation::Linear);
    is_known && keys().all(|key| is_near_x(curve.value(key), bound)) && (!spline || keys().all(tangents_are_near))
}

/// Returns `true` if the marked joints of a skeleton keep a uniform scale above 0 in the rest pose and in all clips, up
/// to the rounding of an `f32`: whatever clips are mixed, a turn in model space then moves all below a joint as a rigid
/// body.
pub(crate) fn is_fixed(library: &Library, id: SkeletonId, marked: &[bool]) -> bool {
    let joints = library.skeleton(id).joints();
    let at_rest = joints.iter().zip(marked).filter(|(_, marked)| **marked).all(|(joint, _)| match &joint.matrix {
        Some(matrix) => is_rigid(matrix),
        None => is_uniform(joint.rest.scale),
    });
    let clips = library.clips().iter().filter(|clip| clip.skeleton == id);
    at_rest
        && clips.flat_map(|clip| &clip.tracks).all(|track| match track.target {
            Target::Scale(joint) if marked[joint] => stays_at(&track.curve, track.component, joints[joint].rest.scale),
            _ => true,
        })
}

/// Returns `true` if a scale is uniform and above 0, up to rounding.
fn is_uniform(scale: DVec3) -> bool {
    scale.min_element() > 0.0 && scale.max_element() - scale.min_element() <= ROUNDING * scale.max_element()
}

/// Returns `true` if a matrix is a rotation, a uniform scale above 0 and a translation, up to rounding.
fn is_rigid(matrix: &DAffine3) -> bool {
    let axes = [matrix.matrix3.x_axis, matrix.matrix3.y_axis, matrix.matrix3.z_axis];
    let lengths = DVec3::from(axes.map(DVec3::length));
    let bound = ROUNDING * lengths.max_element() * lengths.max_element();
    let pairs = [(0, 1), (0, 2), (1, 2)].map(|(a, b): (usize, usize)| axes[a].dot(axes[b]).abs());
    is_uniform(lengths) && matrix.matrix3.determinant() > 0.0 && pairs.into_iter().all(|product| product <= bound)
}

/// Returns `true` if a curve of scales keeps the scale of the rest pose, up to rounding.
fn stays_at(curve: &Curve, component: Option<usize>, rest: DVec3) -> bool {
    let is_known =
        matches!(curve.interpolation(), Interpolation::Step | Interpolation::Linear | Interpolation::CubicSpline);
    // A spline leaves the values of its keys, a straight line continues beyond them.
    let stays_between =
        curve.interpolation() != Interpolation::CubicSpline && !curve.extrapolation().contains(&Extrapolation::Linear);
    let first = component.unwrap_or(0);
    let at_rest = rest.to_array();
    let near = |key: usize| {
        let numbers = curve.value(key).iter().zip(&at_rest[first..]).map(|(number, rest)| number - rest);
        numbers.fold(0.0, |most: f64, apart| most.max(apart.abs())) <= ROUNDING * rest.max_element()
    };
    is_known && (stays_between || curve.is_constant()) && (0..curve.timeline().len()).all(near)
}

/// An error of a joint, with the name of the joint if it has one.
fn with_name(joint: &Joint, error: &str) -> String {
    joint.name.as_ref().map_or_else(|| error.to_owned(), |name| format!("{name}: {error}"))
}

/// For each joint whether it carries a skin, as a joint of the skin or as an ancestor of one.
pub(crate) fn carriers(library: &Library, id: SkeletonId) -> Vec<bool> {
    let joints = library.skeleton(id).joints();
    let mut carries = vec![false; joints.len()];
    for (_, skin) in library.skins_of(id) {
        skin.joints.iter().for_each(|&joint| carries[joint] = true);
    }
    for joint in (0..joints.len()).rev() {
        if let (true, Some(parent)) = (carries[joint], joints[joint].parent) {
            carries[parent] = true;
        }
    }
    carries
}

/// The error of a matrix that is not a rotation, a uniform scale and a translation.
fn matrix_error(matrix: &DAffine3) -> Option<String> {
    let axes = [matrix.matrix3.x_axis, matrix.matrix3.y_axis, matrix.matrix3.z_axis];
    let lengths = DVec3::from(axes.map(DVec3::length));
    let largest = lengths.max_element();
    let pairs = [(0, 1), (0, 2), (1, 2)].map(|(a, b): (usize, usize)| axes[a].dot(axes[b]).abs());
    if matrix.matrix3.determinant() < 0.0 {
        return Some("mirrors".into());
    }
    if pairs.into_iter().any(|product| product > TOLERANCE * largest * largest) {
        return Some("shears".into());
    }
    vector_error(lengths, largest).map(|error| format!("has a scale that {error}"))
}

/// The error of three scales that are not equal or are negative, within a tolerance relative to `largest`.
fn vector_error(scale: DVec3, largest: f64) -> Option<String> {
    let [x, y, z] = scale.to_array();
    if scale.max_element() - scale.min_element() > TOLERANCE * largest {
        return Some(format!("is ({x}, {y}, {z}), which is not uniform"));
    }
    (scale.min_element() < -TOLERANCE * largest).then(|| format!("is ({x}, {y}, {z}), which mirrors"))
}

/// The error of a curve of scales, of a joint with this rest scale. Between uniform keys the curve is uniform, with any
/// easing. The rest scale counts, too, so that the rounding of scales that hide a joint does not.
fn curve_error(curve: &Curve, rest: DVec3) -> Option<String> {
    let times = curve.timeline().times();
    let scales = (0..times.len()).flat_map(|key| curve.value(key));
    let largest = scales.fold(rest.abs().max_element(), |most: f64, scale| most.max(scale.abs()));
    for key in 0..times.len() {
        if let Some(error) = vector_error(DVec3::from_slice(curve.value(key)), largest) {
            return Some(format!("at key {key} {error}"));
        }
    }
    if curve.interpolation() != Interpolation::CubicSpline {
        return None;
    }
    let spread = |tangent: &[f64]| DVec3::from_slice(tangent).max_element() - DVec3::from_slice(tangent).min_element();
    let non_uniform = |key: &usize| {
        let most = spread(curve.out_tangent(*key)).max(spread(curve.in_tangent(*key + 1)));
        (times[*key + 1] - times[*key]) * most > TOLERANCE * largest
    };
    let key = (0..times.len() - 1).find(non_uniform)?;
    Some(format!("has tangents after key {key} that are not uniform"))
}

/// The error of a joint whose scales are driven by single curves: they must all be equal constants, or equal curves.
fn components_error(skeleton: &Skeleton, clip: &Clip, joint: usize) -> Option<String> {
    let driven = |component: usize| {
        let drives = |track: &&Track| track.target == Target::Scale(joint) && track.component == Some(component);
        clip.tracks.iter().find(drives).map(|track| &track.curve)
    };
    let curves = [0, 1, 2].map(driven);
    let rest = skeleton.joints()[joint].rest.scale.to_array();
    let constant = |component: usize| match curves[component] {
        None => Some(rest[component]),
        Some(curve) => curve.is_constant().then(|| curve.value(0)[0]),
    };
    if let [Some(x), Some(y), Some(z)] = [0, 1, 2].map(constant) {
        return vector_error(DVec3::new(x, y, z), x.abs().max(y.abs()).max(z.abs()));
    }
    match curves {
        [Some(x), Some(y), Some(z)] if x == y && x == z => {
            let mirrors = (0..x.timeline().len()).any(|key| x.value(key)[0] < 0.0);
            mirrors.then(|| "mirrors".into())
        }
        _ => Some("is driven by curves that are not equal".into()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Skin, Timeline};

    /// Whether the joints that carry a skin have uniform scales: of a chain of two joints with a skin, and of another
    /// root without, after a change, with a track of the scale of a joint.
    fn found(change: &dyn Fn(&mut Vec<Joint>), joint: usize, component: Option<usize>, curve: Curve) -> bool {
        let mut joints = vec![Joint::default(), Joint { parent: Some(0), ..Joint::default() }, Joint::default()];
        change(&mut joints);
        let mut library = Library::new();
        let skeleton = library.add_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap());
        let (joints, inverse_bind) = (vec![1], vec![DAffine3::IDENTITY]);
        library.add_skin(Skin { name: None, skeleton, joints, inverse_bind }).unwrap();
        let track = Track { target: Target::Scale(joint), component, curve };
        let clip = Clip { length: Some(9.0), ..Clip::new(None, skeleton, vec![track]) };
        let clip = library.add_clip(clip).unwrap();
        let carries = carriers(&library, skeleton);
        is_uniform_at_rest(library.skeleton(skeleton), &carries) && is_uniform_in_clip(library.clip(clip), &carries)
    }

    fn curve(interpolation: Interpolation, width: usize, values: &[f64]) -> Curve {
        let timeline = Arc::new(Timeline::new(vec![0.0, 2.0]).unwrap());
        Curve::new(timeline, interpolation, width, values.to_vec()).unwrap()
    }

    fn linear(last: [f64; 3]) -> Curve {
        curve(Interpolation::Linear, 3, [[1.0; 3], last].as_flattened())
    }

    #[test]
    fn joints_that_carry_a_skin_have_uniform_scales() {
        let rest =
            |joint: usize, scale: [f64; 3]| move |joints: &mut Vec<Joint>| joints[joint].rest.scale = scale.into();
        let with_rest = |joint, scale| found(&rest(joint, scale), 0, None, linear([2.0; 3]));
        assert!(with_rest(0, [-3.0; 3]) && with_rest(0, [0.0; 3]) && with_rest(1, [1.0, 1.0 + 9e-7, 1.0]));
        assert!(!with_rest(0, [1.0, 1.0, 1.0 + 2e-6]) && !with_rest(1, [1.0, -1.0, 1.0]));
        assert!(with_rest(2, [1.0, 2.0, 3.0]), "nothing with a skin follows it");
        let with_matrix = |x_axis: [f64; 3], x: f64| {
            let mut matrix = DAffine3::from_translation(DVec3::new(x, 0.0, 0.0));
            matrix.matrix3.x_axis = x_axis.into();
            let change = |joints: &mut Vec<Joint>| {
                joints[1].matrix = Some(matrix);
                joints[1].rest.translation.x = 5.0;
            };
            found(&change, 0, None, linear([2.0; 3]))
        };
        assert!(with_matrix([1.0, 0.0, 0.0], 5.0), "the rest transform stands for it");
        assert!(with_matrix([1.0, 5e-7, 0.0], 5.000_002), "rounding of a file");
        assert!(!with_matrix([1.0, 2e-6, 0.0], 5.0), "shear");
        assert!(!with_matrix([1.0, 0.0, 0.0], 5.000_02), "moved");
        assert!(!with_matrix([-1.0, 0.0, 0.0], 5.0), "mirrored, and the rest transform is not");
        let with_curve = |joint, curve| found(&|_| {}, joint, None, curve);
        assert!(with_curve(1, linear([-2.0; 3])) && with_curve(1, linear([2.0, 2.0 + 1e-6, 2.0])));
        assert!(!with_curve(1, linear([2.0, 2.0, 2.1])) && with_curve(2, linear([2.0, 2.0, 2.1])));
        let spline = |tangent: [f64; 3]| {
            let keys = [[9.0; 3], [1.0; 3], [-3.0; 3], tangent, [2.0; 3], [0.0; 3]];
            with_curve(0, curve(Interpolation::CubicSpline, 3, keys.as_flattened()))
        };
        assert!(spline([5.0; 3]) && !spline([5.0, 5.0, 5.001]));
        assert!(!found(&|_| {}, 0, Some(1), curve(Interpolation::Linear, 1, &[1.0, 2.0])), "one axis alone");
        // Two seconds beyond its keys, a straight line is off by twice as much as the keys.
        let continued = |last: [f64; 3], after: Extrapolation| {
            with_curve(1, linear(last).with_extrapolation(Extrapolation::Clamp, after))
        };
        assert!(continued([2.0; 3], Extrapolation::Linear));
        assert!(!continued([2.0, 2.0 + 1e-6, 2.0], Extrapolation::Linear));
        assert!(continued([2.0, 2.0 + 1e-6, 2.0], Extrapolation::PingPong));
    }
}
