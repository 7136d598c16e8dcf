//! Packed libraries that take the place of one another in an engine, while its crowds and kernels stay.

use std::sync::Arc;

use crate::error::Error;
use crate::pack::PackedLibrary;
use crate::pack::library::{PackedClip, PackedSkeleton};
use crate::pack::record::SkeletonRecord;

impl PackedLibrary {
    /// Makes room for another library, which differs from this one in the keys of its clips alone: an engine of this library can then take
    /// the other in its place, while its crowds stay ([`CpuEngine::replace_library`](crate::CpuEngine::replace_library) and, with feature
    /// `gpu`, `GpuLibrary::replace`). So a crowd plays long clips of which an engine holds a part at a time
    /// ([`Library::trim_clips`](crate::Library::trim_clips)).
    ///
    /// Call it before the engine is made, for each library that the engine is to take. An engine on the GPU has buffers of the size of the
    /// largest library, and kernels for the features of all. Libraries of `f32` keys and of compressed keys can replace one another.
    ///
    /// # Errors
    /// [`Error::Usage`] if the libraries differ in more than keys: in the number or the shape of their skeletons, skins, clips, masks,
    /// chains, knots, blend spaces or interpolators, or in the skeletons, lengths, wrap modes or markers of clips.
    ///
    /// # Examples
    /// ```
    /// use posse::{CpuEngine, Outputs, PackedLibrary, Ticks, demo};
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let library = demo::library()?;
    /// let walk = library.find_clip("walk").expect("the demo library has a clip `walk`");
    /// let part = |range| {
    ///     let mut part = library.clone();
    ///     part.trim_clips(&[(walk, range)])?;
    ///     PackedLibrary::new(&part)
    /// };
    /// let (mut first, second) = (part([0.0, 0.6])?, part([0.4, 1.0])?);
    /// first.make_room_for(&second)?;
    /// let mut engine = CpuEngine::from_packed(first, 1);
    /// let mut crowd = engine.crowd(&demo::crowd(&library, 5)?, Outputs::SKIN)?;
    /// engine.pose(&mut crowd, Ticks(0));
    /// engine.replace_library(second)?;
    /// engine.pose(&mut crowd, Ticks::from_seconds(0.5));
    /// # Ok(())
    /// # }
    /// ```
    pub fn make_room_for(&mut self, other: &Self) -> Result<(), Error> {
        self.check_shape(other)?;
        self.room.words = self.room.words.max(other.room.words);
        self.room.values = self.room.values.max(other.room.values);
        self.features = self.features.or(other.features);
        for (own, other) in self.skeletons.iter_mut().zip(&other.skeletons) {
            own.record.timeline_count = own.record.timeline_count.max(other.record.timeline_count);
            own.reach.turns_rigidly &= other.reach.turns_rigidly;
        }
        for (own, other) in self.clips.iter_mut().zip(&other.clips) {
            own.uneven = own.uneven.take().or_else(|| other.uneven.clone());
        }
        Ok(())
    }

    /// The library that takes the place of this one, with the room that this one has.
    ///
    /// # Errors
    /// * [`Error::Usage`] if the libraries differ in more than keys, or the other one has features that this one has no room for.
    /// * [`Error::Limit`] if the other one is larger than the room.
    pub(crate) fn replaced_by(&self, mut other: Self) -> Result<Self, Error> {
        self.check_shape(&other)?;
        let sizes = [
            ("words", other.arrays.words.len(), self.room.words),
            ("values", other.arrays.values.len(), self.room.values),
        ];
        for (name, needed, allowed) in sizes {
            if needed > allowed {
                let what = format!("{name} of a library in place of another (call PackedLibrary::make_room_for)");
                return Err(Error::Limit { what, needed: needed as u64, allowed: allowed as u64 });
            }
        }
        if !self.has_room_for_kinds(&other) {
            let reason = "the library has curves of kinds that the one in its place had no room for; call \
                          PackedLibrary::make_room_for before the engine is made";
            return Err(Error::Usage(reason.into()));
        }
        other.make_room_for(self)?;
        Ok(other)
    }

    /// Returns `true` if the kernels and crowds of this library suit the curves of another of the same shape.
    fn has_room_for_kinds(&self, other: &Self) -> bool {
        let skeleton_fits = |(own, other): (&PackedSkeleton, &PackedSkeleton)| {
            own.record.timeline_count >= other.record.timeline_count
                && (other.reach.turns_rigidly || !own.reach.turns_rigidly)
        };
        let clip_fits = |(own, other): (&PackedClip, &PackedClip)| own.uneven.is_some() || other.uneven.is_none();
        self.features.or(other.features) == self.features
            && self.skeletons.iter().zip(&other.skeletons).all(skeleton_fits)
            && self.clips.iter().zip(&other.clips).all(clip_fits)
    }

    /// Checks that another library differs from this one in the keys of its clips alone.
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
                    "a library cannot take the place of one with other {what}: only the keys of clips may differ; make a \
                     new engine and new crowds"
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
        && one.uneven == other.uneven
        && (&one.reach.links, &one.reach.places) == (&other.reach.links, &other.reach.places)
}

/// Returns `true` if layers play one clip as they play another: only their keys may differ.
fn are_played_alike(one: &PackedClip, other: &PackedClip) -> bool {
    (one.offset, one.skeleton, one.duration, one.length, one.wrap, one.marks, one.marker_count)
        == (other.offset, other.skeleton, other.duration, other.length, other.wrap, other.marks, other.marker_count)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{
        Chain, ChainKind, Clip, Curve, Interpolation, Joint, Library, Mask, Skeleton, Skin, Target, Timeline, Track,
        WrapMode,
    };

    /// Three joints in a chain, and a clip that scales the first from 1 to `scale`, by some keys, through a curve of this kind.
    fn library(interpolation: Interpolation, keys: usize, scale: [f64; 3]) -> Library {
        let joint = |joint: usize| Joint { parent: joint.checked_sub(1), ..Joint::default() };
        let mut library = Library::new();
        let skeleton = library.add_skeleton(Skeleton::new(None, (0..3).map(joint).collect(), vec![]).unwrap());
        let (joints, inverse_bind) = (vec![0], vec![glam::DAffine3::IDENTITY]);
        library.add_skin(Skin { name: None, skeleton, joints, inverse_bind }).unwrap();
        let times = Timeline::new((0..keys).map(|key| key as f64 / (keys - 1) as f64).collect()).unwrap();
        let per_key = interpolation.elements_per_key();
        let value = |element: usize| if element < per_key { [1.0; 3] } else { scale };
        let values = (0..keys * per_key).flat_map(value).collect();
        let curve = Curve::new(Arc::new(times), interpolation, 3, values).unwrap();
        library.add_clip(Clip::new(None, skeleton, vec![Track::new(Target::Scale(0), curve)])).unwrap();
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
            (changed(&mask), "masks"),
            (
                changed(&|library| {
                    let _ = library.add_chain(library.chains()[0].clone());
                }),
                "chains",
            ),
        ] {
            let mut first = packed(&linear(5));
            let error = first.make_room_for(&other).unwrap_err().to_string();
            assert!(error.contains("other ") && error.contains(what) && error.contains("make a new engine"), "{error}");
            assert_eq!(first.replaced_by(other).unwrap_err().to_string(), error);
        }
        assert!(with_clip(&|clip| clip.name = Some("another".into())).replaced_by(packed(&linear(5))).is_ok());
    }

    #[test]
    fn keys_need_room() {
        let (few, many) = (packed(&linear(5)), packed(&linear(500)));
        assert!(many.replaced_by(few.clone()).is_ok());
        let error = few.replaced_by(many.clone()).unwrap_err().to_string();
        assert!(error.contains("make_room_for") && error.contains("needed"), "{error}");
        let mut roomy = few.clone();
        roomy.make_room_for(&many).unwrap();
        assert_eq!(roomy.size(), few.size(), "the room is that of engines");
        // The room stays, from library to library.
        let large = roomy.replaced_by(many.clone()).unwrap();
        let small = large.replaced_by(few).unwrap();
        assert!(small.replaced_by(many).is_ok());
    }

    #[test]
    fn kinds_of_curves_need_room() {
        let plain = || packed(&linear(500));
        let spline = packed(&library(Interpolation::CubicSpline, 5, [2.0; 3]));
        let uneven = packed(&library(Interpolation::Linear, 5, [1.0, 2.0, 1.0]));
        // Constant keys need no timeline, and turn a chain rigidly.
        let constant = packed(&library(Interpolation::Linear, 5, [1.0; 3]));
        for (first, other) in [(plain(), spline), (plain(), uneven), (roomy(constant, &plain()), plain())] {
            let error = first.replaced_by(other.clone()).unwrap_err().to_string();
            assert!(error.contains("kinds that the one in its place had no room for"), "{error}");
            let mut first = first;
            first.make_room_for(&other).unwrap();
            let taken = first.replaced_by(other).unwrap();
            assert_eq!((taken.features, taken.room), (first.features, first.room));
            assert_eq!(taken.skeletons[0].record, first.skeletons[0].record);
            assert!(!taken.skeletons[0].reach.turns_rigidly);
        }
    }

    /// A library with as many words and values as another, and no other room.
    fn roomy(mut library: PackedLibrary, other: &PackedLibrary) -> PackedLibrary {
        library.room = other.room;
        library
    }
}
