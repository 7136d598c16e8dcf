use std::collections::HashSet;

use glam::{DAffine3, DMat3, DQuat, DVec3};
use posse::curves::{Target, Track};
use posse::{Clip, Joint, Library, Skeleton, SkeletonId, Skin};

use super::Scene;

impl Scene {
    /// The same scene with uniform scales, and nothing mirrored or sheared. Every second skeleton has no matrices, and
    /// one skin matrix per joint, as kernels of the GPU engine need that are compiled for one scale per joint.
    pub fn uniform(self) -> Self {
        let mut library = Library::new();
        for interpolator in self.library.interpolators() {
            library.add_interpolator(interpolator.clone()).unwrap();
        }
        let is_plain = |id: SkeletonId| id.index().is_multiple_of(2);
        for (id, skeleton) in self.library.skeleton_ids().zip(self.library.skeletons()) {
            let plain = |joint: Joint| Joint { matrix: joint.matrix.filter(|_| !is_plain(id)), ..joint };
            let joints = skeleton.joints().iter().cloned().map(|joint| plain(uniform_joint(joint))).collect();
            let properties = skeleton.properties().to_vec();
            library.add_skeleton(Skeleton::new(None, joints, properties).unwrap());
        }
        let mut found = HashSet::new();
        for skin in self.library.skins() {
            let is_kept = |(joint, _): &(usize, _)| found.insert((skin.skeleton, *joint)) || !is_plain(skin.skeleton);
            let all = skin.joints.iter().copied().zip(skin.inverse_bind.iter().map(similar));
            let (joints, inverse_bind): (Vec<_>, Vec<_>) = all.filter(is_kept).unzip();
            if !joints.is_empty() {
                library.add_skin(Skin { joints, inverse_bind, ..skin.clone() }).unwrap();
            }
        }
        for clip in self.library.clips() {
            let tracks = clip.tracks.iter().filter_map(uniform_track).collect();
            library.add_clip(Clip { tracks, ..clip.clone() }).unwrap();
        }
        for mask in self.library.masks() {
            library.add_mask(mask.clone()).unwrap();
        }
        Self { library, ..self }
    }
}

fn uniform_joint(joint: Joint) -> Joint {
    let mut joint = Joint { matrix: joint.matrix.as_ref().map(similar), ..joint };
    joint.rest.scale = DVec3::splat(joint.rest.scale.x.abs());
    joint
}

/// The translation of a matrix, with a rotation and a uniform scale near it.
fn similar(matrix: &DAffine3) -> DAffine3 {
    let axes = matrix.matrix3;
    let (x, y) = (axes.x_axis.normalize(), axes.y_axis.reject_from(axes.x_axis).normalize());
    let rotation = DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y)));
    let scale = DVec3::splat(axes.x_axis.length());
    DAffine3::from_scale_rotation_translation(scale, rotation, matrix.translation)
}

/// The track with its x scale along all axes; `None` if the track drives a single component of a scale.
fn uniform_track(track: &Track) -> Option<Track> {
    match (track.target, track.component) {
        (Target::Scale(_), Some(_)) => None,
        (Target::Scale(_), None) => {
            let curve = &track.curve;
            let values = curve.values().chunks(3).flat_map(|scale| [scale[0]; 3]).collect();
            let curve = curve.with_values(curve.interpolation(), 3, values).unwrap();
            Some(Track { curve, ..track.clone() })
        }
        _ => Some(track.clone()),
    }
}
