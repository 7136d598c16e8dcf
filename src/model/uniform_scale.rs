//! Whether skin matrices are no more than a rotation, a uniform scale and a translation, as dual quaternions are.

use glam::{DAffine3, DVec3};

use crate::error::Error;
use crate::model::{Clip, Crowd, Curve, Interpolation, Joint, Library, Skeleton, SkeletonId, Target, Track};

/// How far the scales along the axes may be apart and still count as uniform, as a share of the largest: what files have
/// of rounding.
pub const TOLERANCE: f64 = 1e-4;

/// A scale that is not uniform, or a mirror, and its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Uneven {
    Joint { joint: usize, reason: String },
    Skin { skin: String, reason: String },
    Track { clip: String, track: usize, reason: String },
}

impl Uneven {
    /// The refusal to write dual quaternions.
    pub fn error(&self) -> Error {
        let refused = |reason: &str| {
            format!(
                "{reason}, which a dual quaternion cannot hold; ask for skin matrices as `matrix` or `half`, or scale \
                 alike along all axes"
            )
        };
        match self.clone() {
            Self::Joint { joint, reason } => Error::Skeleton { joint, reason: refused(&reason) },
            Self::Skin { skin, reason } => Error::Skin { skin, reason: refused(&reason) },
            Self::Track { clip, track, reason } => Error::Track { clip, track, reason: refused(&reason) },
        }
    }
}

/// Checks the skeletons, skins and clips that a crowd of the library uses.
///
/// # Errors
/// [`Error::Skeleton`], [`Error::Skin`] or [`Error::Track`] at the first scale that is not uniform.
pub(crate) fn check_crowd(library: &Library, crowd: &Crowd) -> Result<(), Error> {
    let mut skeletons = vec![false; library.skeletons().len()];
    let mut clips = vec![false; library.clips().len()];
    for instance in 0..crowd.len() {
        let skeleton = crowd.skeleton(instance);
        if !std::mem::replace(&mut skeletons[skeleton.index()], true) {
            of_skeleton(library, skeleton).map_or(Ok(()), |uneven| Err(uneven.error()))?;
        }
        for layer in crowd.layers(instance) {
            if !std::mem::replace(&mut clips[layer.clip.index()], true) {
                of_clip(library, library.clip(layer.clip)).map_or(Ok(()), |uneven| Err(uneven.error()))?;
            }
        }
    }
    Ok(())
}

/// What a skeleton at rest and its skins have that is not uniform; only of joints that a skin hangs on.
pub(crate) fn of_skeleton(library: &Library, id: SkeletonId) -> Option<Uneven> {
    let skeleton = library.skeleton(id);
    let carries = carriers(library, id);
    for (joint, found) in skeleton.joints().iter().enumerate().filter(|(joint, _)| carries[*joint]) {
        let fault = match &found.matrix {
            Some(matrix) => matrix_fault(matrix).map(|fault| format!("its matrix {fault}")),
            None => vector_fault(found.rest.scale, found.rest.scale.abs().max_element())
                .map(|fault| format!("its scale at rest {fault}")),
        };
        if let Some(fault) = fault {
            return Some(Uneven::Joint { joint, reason: named(found, &fault) });
        }
    }
    for (_, skin) in library.skins_of(id) {
        let faults = skin.inverse_bind.iter().map(matrix_fault);
        if let Some((index, fault)) = faults.enumerate().find_map(|(index, fault)| Some((index, fault?))) {
            let reason = format!("the inverse bind matrix of its joint {index} {fault}");
            return Some(Uneven::Skin { skin: skin.name.clone().unwrap_or("unnamed".into()), reason });
        }
    }
    None
}

/// What a clip has that does not scale alike along all axes; only of joints that a skin hangs on.
pub(crate) fn of_clip(library: &Library, clip: &Clip) -> Option<Uneven> {
    let skeleton = library.skeleton(clip.skeleton);
    let carries = carriers(library, clip.skeleton);
    for (track, found) in clip.tracks.iter().enumerate() {
        let Target::Scale(joint) = found.target else { continue };
        if !carries[joint] {
            continue;
        }
        let fault = match found.component {
            None => curve_fault(&found.curve),
            Some(_) => numbers_fault(skeleton, clip, joint),
        };
        if let Some(fault) = fault {
            let reason = named(&skeleton.joints()[joint], &format!("the scale of joint {joint} {fault}"));
            return Some(Uneven::Track { clip: clip.name.clone().unwrap_or("unnamed".into()), track, reason });
        }
    }
    None
}

/// A fault of a joint, with the joint's name where it has one.
fn named(joint: &Joint, fault: &str) -> String {
    joint.name.as_ref().map_or_else(|| fault.to_owned(), |name| format!("{name}: {fault}"))
}

/// Whether each joint is one of a skin's, or an ancestor of such.
fn carriers(library: &Library, id: SkeletonId) -> Vec<bool> {
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

/// What is wrong with a matrix that is not a rotation, a uniform scale and a translation.
fn matrix_fault(matrix: &DAffine3) -> Option<String> {
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
    vector_fault(lengths, largest)
}

/// What is wrong with three scales that are not alike, beside the largest that there is.
fn vector_fault(scale: DVec3, largest: f64) -> Option<String> {
    let [x, y, z] = scale.to_array();
    if scale.max_element() - scale.min_element() > TOLERANCE * largest {
        return Some(format!("is ({x}, {y}, {z}), not alike along all axes"));
    }
    (scale.min_element() < -TOLERANCE * largest).then(|| format!("is ({x}, {y}, {z}), which mirrors"))
}

/// What is wrong with a curve of scales. Between keys that are uniform, whatever the easing, it is uniform, too.
fn curve_fault(curve: &Curve) -> Option<String> {
    let times = curve.timeline().times();
    let largest = (0..times.len()).flat_map(|key| curve.value(key)).fold(0.0, |most: f64, scale| most.max(scale.abs()));
    for key in 0..times.len() {
        if let Some(fault) = vector_fault(DVec3::from_slice(curve.value(key)), largest) {
            return Some(format!("at key {key} {fault}"));
        }
    }
    if curve.interpolation() != Interpolation::CubicSpline {
        return None;
    }
    let apart = |tangent: &[f64]| DVec3::from_slice(tangent).max_element() - DVec3::from_slice(tangent).min_element();
    let uneven = |key: &usize| {
        let most = apart(curve.out_tangent(*key)).max(apart(curve.in_tangent(*key + 1)));
        (times[*key + 1] - times[*key]) * most > TOLERANCE * largest
    };
    let key = (0..times.len() - 1).find(uneven)?;
    Some(format!("has tangents after key {key} that are not alike along all axes"))
}

/// What is wrong with a joint's scales that are driven one by one: they are to be constants, or curves, all alike.
fn numbers_fault(skeleton: &Skeleton, clip: &Clip, joint: usize) -> Option<String> {
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
        return vector_fault(DVec3::new(x, y, z), x.abs().max(y.abs()).max(z.abs()));
    }
    match curves {
        [Some(x), Some(y), Some(z)] if x == y && x == z => {
            let mirrors = (0..x.timeline().len()).any(|key| x.value(key)[0] < 0.0);
            mirrors.then(|| "mirrors".into())
        }
        _ => Some("is driven by curves that are not alike along all axes".into()),
    }
}
