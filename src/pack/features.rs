//! The features that a packed library uses. Kernels are compiled without the others.
//!
//! A branch that is never taken costs registers, and a software renderer executes both sides. So a feature is a
//! constant of the kernel, and an `if` with the constant guards its code. The head of `gpu/shader_pruning.rs` says
//! what happens to such an `if`.

use crate::pack::arrays::Arrays;
use crate::pack::channels::JointChannels;
use crate::pack::record::{
    Channel, ClipRecord, MODE_CUBIC, MODE_EULER, MODE_QUANTIZED, MODE_SLERP, MODE_SPLIT, MODE_STEP, NONE,
    SkeletonRecord, ValueChannel, mode_of,
};

/// The features that a library uses. There are few, so that few variants of each kernel are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Features {
    /// Curves that are not linear: steps and cubic splines.
    pub splines: bool,
    /// Features that glTF does not have: easings, curves that continue beyond their keys, Euler angles, tracks of
    /// single numbers, slerp of unnormalised quaternions.
    pub beyond_gltf: bool,
    /// Joints with a matrix in place of translation, rotation and scale.
    pub matrices: bool,
    /// Clips with root motion.
    pub roots: bool,
    /// Quantized keys.
    pub quantized: bool,
}

impl Features {
    /// All features.
    #[cfg(test)]
    pub const ALL: Self = Self { splines: true, beyond_gltf: true, matrices: true, roots: true, quantized: true };

    /// One bit per feature, in the order of the fields from the lowest on: kernels of other bits are other kernels.
    pub fn bits(self) -> u32 {
        let Self { splines, beyond_gltf, matrices, roots, quantized } = self;
        let all = [splines, beyond_gltf, matrices, roots, quantized];
        (0..).zip(all).map(|(bit, has)| u32::from(has) << bit).sum()
    }

    /// The features of either of two libraries.
    pub fn or(self, other: Self) -> Self {
        let Self { splines, beyond_gltf, matrices, roots, quantized } = other;
        Self {
            splines: self.splines || splines,
            beyond_gltf: self.beyond_gltf || beyond_gltf,
            matrices: self.matrices || matrices,
            roots: self.roots || roots,
            quantized: self.quantized || quantized,
        }
    }

    /// Adds the features of a skeleton.
    pub fn add_skeleton(&mut self, skeleton: &SkeletonRecord) {
        self.matrices |= skeleton.matrices != NONE;
    }

    /// Adds the features of the packed clip of a skeleton at an offset of the words.
    pub fn add_clip(&mut self, arrays: &Arrays, skeleton: &SkeletonRecord, offset: u32) {
        let clip: ClipRecord = arrays.record(offset);
        self.roots |= clip.root != NONE;
        for index in 0..clip.timeline_count {
            let timeline = arrays.timeline(&clip, index);
            self.beyond_gltf |= timeline.easing != NONE || timeline.map != NONE;
        }
        for channel in JointChannels::new(arrays, skeleton, &clip).all() {
            self.add_sampler(channel.sampler);
            if mode_of(channel.sampler) & !MODE_EULER == MODE_SPLIT {
                for number in 0..3 {
                    let single: Channel = arrays.record(channel.values + number * Channel::WORDS as u32);
                    self.add_sampler(single.sampler);
                }
            }
        }
        for index in 0..clip.value_channel_count {
            let channel: ValueChannel = arrays.record(clip.value_channels + index * ValueChannel::WORDS as u32);
            self.add_sampler(channel.sampler);
        }
    }

    fn add_sampler(&mut self, sampler: u32) {
        let mode = mode_of(sampler);
        self.beyond_gltf |= mode & MODE_EULER != 0;
        let interpolation = mode & !(MODE_EULER | MODE_QUANTIZED);
        self.quantized |= mode & MODE_QUANTIZED != 0;
        match interpolation {
            MODE_STEP | MODE_CUBIC => self.splines = true,
            // Each number may have its own interpolation.
            MODE_SPLIT => (self.splines, self.beyond_gltf) = (true, true),
            MODE_SLERP => self.beyond_gltf = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::DAffine3;

    use super::*;
    use crate::model::{
        Clip, Curve, CurveEasing, Easing, Interpolation, Joint, Library, RootMotion, RootRotation, Skeleton, Target,
        Timeline, Track,
    };
    use crate::pack::PackedLibrary;

    fn curve(interpolation: Interpolation, width: usize) -> Curve {
        let timeline = Arc::new(Timeline::new(vec![0.0, 1.0]).unwrap());
        let numbers = 2 * width * interpolation.elements_per_key();
        let values = (0..numbers).map(|number| number as f64).collect();
        Curve::new(timeline, interpolation, width, values).unwrap()
    }

    fn features(matrix: Option<DAffine3>, track: Track, root_motion: Option<RootMotion>) -> Features {
        let mut library = Library::new();
        let joints = vec![Joint::default(), Joint { matrix, ..Joint::default() }];
        let skeleton = library.add_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap());
        library.add_clip(Clip { root_motion, ..Clip::new(None, skeleton, vec![track]) }).unwrap();
        PackedLibrary::new(&library).unwrap().features
    }

    #[test]
    fn features_are_those_of_the_content() {
        let moved = |curve| Track::new(Target::Translation(0), curve);
        let linear = || moved(curve(Interpolation::Linear, 3));
        let none = Features::default();
        assert_eq!(features(None, linear(), None), none);
        let matrix = Some(DAffine3::IDENTITY);
        assert_eq!(features(matrix, linear(), None), Features { matrices: true, ..none });
        let root = RootMotion { joint: 0, translation: [true; 3], rotation: RootRotation::None };
        assert_eq!(features(None, linear(), Some(root)), Features { roots: true, ..none });
        for interpolation in [Interpolation::Step, Interpolation::CubicSpline] {
            assert_eq!(features(None, moved(curve(interpolation, 3)), None), Features { splines: true, ..none });
        }
        let beyond = Features { beyond_gltf: true, ..none };
        let eased = curve(Interpolation::Linear, 3).with_easing(CurveEasing::One(Easing::from_name("quadIn").unwrap()));
        assert_eq!(features(None, moved(eased.unwrap()), None), beyond);
        let angles = Track::new(Target::EulerAngles(0), curve(Interpolation::Linear, 3));
        assert_eq!(features(None, angles, None), beyond);
        let single = Track { component: Some(1), ..moved(curve(Interpolation::Linear, 1)) };
        assert_eq!(features(None, single, None), Features { splines: true, ..beyond });
    }
}
