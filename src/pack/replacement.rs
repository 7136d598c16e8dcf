//! Packed libraries that take the place of one another in an engine, while its crowds and kernels stay.

use std::sync::Arc;

use crate::error::Error;
use crate::pack::PackedLibrary;
use crate::pack::library::{PackedClip, PackedSkeleton};
use crate::pack::record::SkeletonRecord;

impl PackedLibrary {
    /// Reserves memory for another library, which differs from this one in the keys of its clips: an engine of this library
    /// can then take the other in its place, while its crowds stay
    /// ([`CpuEngine::replace_library`](crate::cpu::CpuEngine::replace_library) and, with feature `gpu`,
    /// `GpuLibrary::replace`). So a crowd plays long clips of which an engine holds a part at a time
    /// ([`Library::trim_clips`](crate::Library::trim_clips)).
    ///
    /// Call it before the engine is made, for each library that the engine is to take. An engine on the GPU has buffers
    /// of the size of the largest library, and kernels for the features of all. The CPU engine needs it only for dual
    /// quaternions: they are refused if a clip of any of the libraries has scales that are not uniform. Libraries of
    /// `f32` keys and of compressed keys can replace one another.
    ///
    /// # Errors
    /// [`Error::Usage`] if the libraries differ in what crowds rely on: the numbers and sizes of skeletons, skins,
    /// clips, masks, chains, knots, blend spaces and sync markers, the interpolators, or the skeletons, durations and
    /// wrap modes of clips. All else, such as rest poses, weights of masks and events, may differ, and comes from the
    /// library in use.
    ///
    /// # Examples
    /// ```
    /// use posse::cpu::CpuEngine;
    /// use posse::packed::PackedLibrary;
    /// use posse::{Outputs, Ticks, demo};
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let library = demo::library()?;
    /// let walk = library.find_clip("walk").expect("the demo library has a clip `walk`");
    /// let part = |range| {
    ///     let mut part = library.clone();
    ///     part.trim_clips(&[(walk, range)])?;
    ///     PackedLibrary::new(&part)
    /// };
    /// // The clip takes a second.
    /// let (mut first, second) = (part([0.0, 0.6])?, part([0.4, 1.0])?);
    /// first.reserve_for(&second)?;
    /// let mut engine = CpuEngine::from_packed(first, 1); // or a GpuLibrary, and its `replace`
    /// let mut crowd = engine.crowd(&demo::crowd(&library, 5)?, Outputs::SKIN)?;
    /// engine.pose(&mut crowd, Ticks(0));
    /// engine.replace_library(second)?;
    /// engine.pose(&mut crowd, Ticks::from_seconds(0.5));
    /// # Ok(())
    /// # }
    /// ```
    pub fn reserve_for(&mut self, other: &Self) -> Result<(), Error> {
        self.check_shape(other)?;
        self.add_needs(other);
        self.capacity.words = self.capacity.words.max(other.capacity.words);
        self.capacity.values = self.capacity.values.max(other.capacity.values);
        Ok(())
    }

    /// The library that takes the place of this one, with its capacity and needs.
    ///
    /// # Errors
    /// [`Error::Usage`] if the libraries differ in what crowds rely on, or only the other one has scales that are not
    /// uniform.
    pub(crate) fn replaced_by(&self, mut other: Self) -> Result<Self, Error> {
        self.check_shape(&other)?;
        let non_uniform =
            |(own, other): (&PackedClip, &PackedClip)| other.non_uniform.clone().filter(|_| own.non_uniform.is_none());
        if let Some(non_uniform) = self.clips.iter().zip(&other.clips).find_map(non_uniform) {
            let reason = format!(
                "a library cannot take the place of one whose scales are uniform: {}, or call PackedLibrary::reserve_for \
                 before the engine is made",
                non_uniform.error()
            );
            return Err(Error::Usage(reason));
        }
        other.add_needs(self);
        other.capacity = self.capacity;
        Ok(other)
    }

    /// Checks that buffers, kernels and crowds on a GPU that were made for this library suit one that replaces it
    /// ([`replaced_by`](Self::replaced_by)).
    ///
    /// # Errors
    /// * [`Error::Limit`] if the other one is larger than the reserved memory.
    /// * [`Error::Usage`] if kernels or crowds lack a feature.
    #[cfg(feature = "gpu")]
    pub(crate) fn check_capacity(&self, other: &Self) -> Result<(), Error> {
        let needed = other.device_arrays().sizes();
        let sizes = [("words", needed.words, self.capacity.words), ("values", needed.values, self.capacity.values)];
        for (name, needed, allowed) in sizes {
            if needed > allowed {
                let hint = "call PackedLibrary::reserve_for before the engine is made";
                let what = format!("{name} of a library in place of another ({hint})");
                return Err(Error::Limit { what, needed: needed as u64, allowed: allowed as u64 });
            }
        }
        let fits = |(own, other): (&PackedSkeleton, &PackedSkeleton)| {
            own.record.timeline_count >= other.record.timeline_count
                && (other.reach.rotates_rigidly || !own.reach.rotates_rigidly)
                && (other.uniform_scales || !own.uniform_scales)
        };
        let skeletons_fit = self.skeletons.iter().zip(&other.skeletons).all(fits);
        if skeletons_fit && self.features.or(other.features) == self.features {
            return Ok(());
        }
        let reason = "the library has kinds of curves or scales that the engine was not made for; call \
                      PackedLibrary::reserve_for before the engine is made";
        Err(Error::Usage(reason.into()))
    }

    /// Adds what kernels and crowds need for another library of the same shape.
    fn add_needs(&mut self, other: &Self) {
        self.features = self.features.or(other.features);
        for (own, other) in self.skeletons.iter_mut().zip(&other.skeletons) {
            own.record.timeline_count = own.record.timeline_count.max(other.record.timeline_count);
            own.reach.rotates_rigidly &= other.reach.rotates_rigidly;
            own.uniform_scales &= other.uniform_scales;
        }
        for (own, other) in self.clips.iter_mut().zip(&other.clips) {
            own.non_uniform = own.non_uniform.take().or_else(|| other.non_uniform.clone());
        }
    }

    /// Checks that crowds of this library suit another one.
    fn check_shape(&self, other: &Self) -> Result<(), Error> {
        let same = [
            ("skeletons or skins", is_same(&self.skeletons, &other.skeletons, have_one_shape)),
            ("clips", is_same(&self.clips, &other.clips, are_played_alike)),
            ("masks", self.masks == other.masks),
            ("chains", self.chains == other.chains),
            ("knots", self.knots == other.knots),
            ("blend spaces", self.blend_spaces == other.blend_spaces),
            ("interpolators", is_same(&self.interpolators, &other.interpolators, Arc::ptr_eq)),
        ];
        match same.into_iter().find(|(_, same)| !same) {
            None => Ok(()),
            Some((what, _)) => {
                let reason = format!(
                    "a library cannot take the place of one with other {what}: the keys of clips may differ, but not what \
                     crowds rely on; make a new engine and new crowds"
                );
                Err(Error::Usage(reason))
            }
        }
    }
}

/// Compares the elements of two lists.
fn is_same<T>(one: &[T], other: &[T], is_same: impl Fn(&T, &T) -> bool) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
}

/// Returns `true` if crowds and kernels of one skeleton suit another: only the keys of its clips may differ.
fn have_one_shape(one: &PackedSkeleton, other: &PackedSkeleton) -> bool {
    let without_keys = |skeleton: &PackedSkeleton| SkeletonRecord { timeline_count: 0, ..skeleton.record };
    without_keys(one) == without_keys(other)
        && one.skins == other.skins
        && one.parents == other.parents
        && one.non_uniform == other.non_uniform
        && (&one.reach.links, &one.reach.places) == (&other.reach.links, &other.reach.places)
}

/// Returns `true` if layers play one clip as they play another: only their keys may differ. A trimmed clip has a
/// length, which may have had none before.
fn are_played_alike(one: &PackedClip, other: &PackedClip) -> bool {
    (one.offset, one.skeleton, one.duration, one.wrap, one.marks, one.marker_count)
        == (other.offset, other.skeleton, other.duration, other.wrap, other.marks, other.marker_count)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{
        BlendSpace, Chain, ChainKind, Clip, Curve, Interpolation, Joint, Knots, Library, Mask, Skeleton, Skin, Target,
        Timeline, Track, WrapMode,
    };

    /// Three joints in a chain with a skin, and a clip that moves the last by one more key, and scales the first from 1
    /// to `scale`, by some keys, through a curve of this kind.
    fn library(interpolation: Interpolation, keys: usize, scale: [f64; 3]) -> Library {
        let joint = |joint: usize| Joint { parent: joint.checked_sub(1), ..Joint::default() };
        let mut library = Library::new();
        let skeleton = library.add_skeleton(Skeleton::new(None, (0..3).map(joint).collect(), vec![]).unwrap());
        let (joints, inverse_bind) = (vec![0], vec![glam::DAffine3::IDENTITY]);
        library.add_skin(Skin { name: None, skeleton, joints, inverse_bind }).unwrap();
        let curve = |interpolation: Interpolation, keys: usize, last: [f64; 3]| {
            let times = Timeline::new((0..keys).map(|key| key as f64 / (keys - 1) as f64).collect()).unwrap();
            let per_key = interpolation.elements_per_key();
            let value = |element: usize| if element < per_key { [1.0; 3] } else { last };
            let values = (0..keys * per_key).flat_map(value).collect();
            Curve::new(Arc::new(times), interpolation, 3, values).unwrap()
        };
        let tracks = vec![
            Track::new(Target::Translation(2), curve(Interpolation::Linear, keys + 1, [5.0; 3])),
            Track::new(Target::Scale(0), curve(interpolation, keys, scale)),
        ];
        library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
        let kind = ChainKind::TwoBone { joints: [0, 1, 2], pole: None, hold: false };
        library.add_chain(Chain { name: None, skeleton, kind }).unwrap();
        library
    }

    fn linear(keys: usize) -> Library {
        library(Interpolation::Linear, keys, [2.0; 3])
    }

    fn packed(library: &Library) -> PackedLibrary {
        PackedLibrary::with_threads(library, 1).unwrap()
    }

    #[test]
    fn only_the_keys_of_clips_may_differ() {
        let changed = |change: &dyn Fn(&mut Library)| {
            let mut library = linear(5);
            change(&mut library);
            packed(&library)
        };
        let with_clip = |change: &dyn Fn(&mut Clip)| {
            changed(&|library| {
                let id = library.clip_ids().next().unwrap();
                let mut clip = library.clip(id).clone();
                change(&mut clip);
                library.replace_clip(id, clip);
            })
        };
        let mask = |library: &mut Library| {
            let skeleton = library.skeleton_ids().next().unwrap();
            library.add_mask(Mask { name: None, skeleton, weights: vec![1.0; 3] }).unwrap();
        };
        for (other, what) in [
            (
                changed(&|library| {
                    let _ = library.add_skeleton(library.skeletons()[0].clone());
                }),
                "skeletons",
            ),
            (
                changed(&|library| {
                    let _ = library.add_clip(library.clips()[0].clone());
                }),
                "clips",
            ),
            (with_clip(&|clip| clip.length = Some(3.0)), "clips"),
            (with_clip(&|clip| clip.wrap = WrapMode::PingPong), "clips"),
            (with_clip(&|clip| clip.markers = vec![0.5]), "clips"),
            (
                changed(&|library| {
                    let skin = Skin { joints: vec![1], ..library.skins()[0].clone() };
                    let _ = library.add_skin(skin).unwrap();
                }),
                "skins",
            ),
            (
                changed(&|library| {
                    let _ = library.add_knots(Knots::new(vec![[0.0, 1.0]]).unwrap());
                }),
                "knots",
            ),
            (
                changed(&|library| {
                    let _ = library.add_blend_space(BlendSpace::new(vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).unwrap());
                }),
                "blend spaces",
            ),
            (changed(&mask), "masks"),
            (
                changed(&|library| {
                    let _ = library.add_chain(library.chains()[0].clone());
                }),
                "chains",
            ),
        ] {
            let mut first = packed(&linear(5));
            let error = first.reserve_for(&other).unwrap_err().to_string();
            assert!(error.contains("other ") && error.contains(what) && error.contains("make a new engine"), "{error}");
            assert_eq!(first.replaced_by(other).unwrap_err().to_string(), error);
        }
        assert!(with_clip(&|clip| clip.name = Some("another".into())).replaced_by(packed(&linear(5))).is_ok());
    }

    #[test]
    fn a_clip_may_be_trimmed_in_one_library_and_whole_in_another() {
        let whole = linear(500);
        let mut part = whole.clone();
        part.trim_clips(&[(whole.clip_ids().next().unwrap(), [0.2, 0.4])]).unwrap();
        let (mut whole, mut part) = (packed(&whole), packed(&part));
        assert!(whole.reserve_for(&part).is_ok() && part.reserve_for(&whole).is_ok());
    }

    /// The library that takes the place of another on a GPU.
    #[cfg(feature = "gpu")]
    fn replace(first: &PackedLibrary, other: &PackedLibrary) -> Result<PackedLibrary, String> {
        let replaced = first.replaced_by(other.clone());
        replaced.and_then(|other| first.check_capacity(&other).map(|()| other)).map_err(|error| error.to_string())
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn keys_need_capacity() {
        let (few, many) = (packed(&linear(5)), packed(&linear(500)));
        assert!(replace(&many, &few).is_ok());
        let error = replace(&few, &many).unwrap_err();
        assert!(error.contains("reserve_for") && error.contains("needed"), "{error}");
        // Capacity is no help for another shape.
        let mut shaped = linear(500);
        shaped.add_clip(shaped.clips()[0].clone()).unwrap();
        assert!(replace(&few, &packed(&shaped)).unwrap_err().contains("other clips"));
        let mut larger = few.clone();
        larger.reserve_for(&many).unwrap();
        assert_eq!(larger.size(), few.size(), "the capacity is the capacity of engines");
        // The capacity stays, from library to library, and is not the capacity of the library that is taken.
        let large = replace(&larger, &many).unwrap();
        assert!(replace(&replace(&large, &few).unwrap(), &many).is_ok());
        let small = replace(&few, &larger).unwrap();
        assert_eq!(replace(&small, &many).unwrap_err(), error);
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn kinds_of_curves_must_be_reserved() {
        let plain = || packed(&linear(500));
        let spline = packed(&library(Interpolation::CubicSpline, 5, [2.0; 3]));
        // Constant keys need no timeline, and turn a chain rigidly.
        let constant = || packed(&library(Interpolation::Linear, 500, [1.0; 3]));
        let mut moving = constant();
        moving.skeletons[0].reach.rotates_rigidly = false;
        let mut timed = constant();
        timed.skeletons[0].record.timeline_count = 2;
        // Uniform enough for dual quaternions, but not for kernels that take one scale for all axes.
        let nearly = packed(&library(Interpolation::Linear, 500, [2.0, 2.00005, 2.0]));
        for (first, other) in [(plain(), spline), (constant(), moving), (constant(), timed), (plain(), nearly)] {
            let mut first = PackedLibrary { capacity: plain().capacity, ..first };
            let error = replace(&first, &other).unwrap_err();
            assert!(error.contains("kinds of curves or scales that the engine was not made for"), "{error}");
            first.reserve_for(&other).unwrap();
            let taken = replace(&first, &other).unwrap();
            assert_eq!((taken.features, taken.capacity), (first.features, first.capacity));
            assert_eq!(taken.skeletons[0].record, first.skeletons[0].record);
            assert_eq!(taken.skeletons[0].reach, first.skeletons[0].reach);
            assert_eq!(taken.skeletons[0].uniform_scales, first.skeletons[0].uniform_scales);
        }
        let mut first = constant();
        first.reserve_for(&plain()).unwrap();
        assert_eq!((first.skeletons[0].reach.rotates_rigidly, first.skeletons[0].record.timeline_count), (false, 2));
    }

    #[test]
    fn scales_that_are_not_uniform_must_be_reserved_for_dual_quaternions() {
        let (uniform, non_uniform) = (packed(&linear(5)), packed(&library(Interpolation::Linear, 5, [1.0, 2.0, 1.0])));
        let error = uniform.replaced_by(non_uniform.clone()).unwrap_err().to_string();
        assert!(error.contains("is (1, 2, 1), which is not uniform") && error.contains("reserve_for"), "{error}");
        let mut first = uniform.clone();
        first.reserve_for(&non_uniform).unwrap();
        let taken = first.replaced_by(uniform).unwrap();
        assert!(taken.clips[0].non_uniform.is_some() && taken.replaced_by(non_uniform).is_ok());
    }
}
