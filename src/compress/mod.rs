//! Compressed keys: integers of as few bits as a bound on the error allows, which the kernels turn back by shifts, masks and
//! multiplications.
//!
//! It is a step from a library to a library: the one that comes out holds exactly the numbers that the engines decode, so
//! that the reference can be asked what they ought to pose. What the engines read is then packed by [`rows`].
//!
//! Of a rotation the component that stays farthest from 0 over a whole clip is dropped, and comes back by a square root; one
//! index a track takes fewer bits, and no branches, beside one a key ("smallest three"). Each track's numbers have a range, a
//! step and widths of their own.

mod bound;
mod clips;
mod compensation;
mod curve;
pub(crate) mod displacement;
mod member;
mod piece;
mod quantize;
mod report;
mod retiming;
mod shared_clips;
mod tolerance;

pub use bound::rig_size;
pub use bound::{ErrorBound, Length};
pub use report::ClipReport;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::compress::clips::{Goal, compress_clips};
use crate::compress::shared_clips::CompressedClip;
use crate::error::Error;
use crate::model::{Clip, Library};
use crate::pack::{MOST_BITS, PackedLibrary, QuantizedCurve, all_threads};

/// A library whose keys are integers of few bits, ready to be packed so: by
/// [`PackedLibrary::compressed`](crate::PackedLibrary::compressed).
///
/// Constant tracks have lost their keys. Within a bound, tracks whose way is straight or stepped share key times where that takes
/// fewer bytes, and have lost those that none of them needs. A quaternion may come back with the other sign, which is the same
/// rotation.
///
/// Tracks stay as they were whose keys take no less as integers, those by an interpolator of one's own, quaternions that are
/// not normalised, curves that go on in straight lines beyond their keys, within a bound those whose easings overshoot or that
/// loop beyond their keys, and those that no number of bits brings within it.
#[derive(Debug, Clone)]
pub struct CompressedLibrary {
    library: Library,
    /// By clip, by track.
    curves: Vec<Vec<Option<Arc<QuantizedCurve>>>>,
    reports: Vec<ClipReport>,
}

impl CompressedLibrary {
    /// As few bits as a bound allows, which all clips meet at every key time and in between, wherever it was measured: at
    /// quarters of each interval, sixteenths where the way is not straight, or fewer of very long clips.
    ///
    /// # Errors
    /// [`Error::Usage`] where the bound is not of lengths above 0.
    pub fn new(library: &Library, bound: ErrorBound) -> Result<Self, Error> {
        Ok(Self::by(library, Goal::Within(bound.check()?)))
    }

    /// So many bits, 1 to 24, for the number of each track that changes most, whatever the error: with 24 hardly any.
    ///
    /// # Errors
    /// [`Error::Usage`] where the number of bits is another.
    pub fn with_width(library: &Library, bits: u32) -> Result<Self, Error> {
        if !(1..=MOST_BITS).contains(&bits) {
            return Err(Error::Usage(format!("keys of {bits} bits: 1 to {MOST_BITS} are possible")));
        }
        Ok(Self::by(library, Goal::Bits(bits)))
    }

    fn by(library: &Library, goal: Goal) -> Self {
        let clips = library.clips();
        let mut made: Vec<Option<CompressedClip>> = vec![None; clips.len()];
        {
            let families = Mutex::new(families(clips).into_iter());
            let done = Mutex::new(&mut made);
            let work = || {
                while let Some(family) = families.lock().ok().and_then(|mut families| families.next()) {
                    let members: Vec<&Clip> = family.iter().map(|&index| &clips[index]).collect();
                    let compressed = compress_clips(library, &members, goal);
                    if let Ok(mut done) = done.lock() {
                        family.into_iter().zip(compressed).for_each(|(index, clip)| done[index] = Some(clip));
                    }
                }
            };
            let threads = all_threads().min(clips.len());
            thread::scope(|scope| {
                for _ in 1..threads {
                    scope.spawn(work);
                }
                work();
            });
        }
        let mut compacted = library.clone();
        let (mut curves, mut worst) = (Vec::new(), Vec::new());
        for (index, made) in made.into_iter().flatten().enumerate() {
            compacted.replace_tracks(index, made.tracks);
            curves.push(made.curves);
            worst.push(made.worst);
        }
        let reports = report::reports(library, &compacted, &curves, &worst);
        Self { library: compacted, curves, reports }
    }

    /// The library as the engines have it: the same but for the keys, which are what they decode. The truth for engines on
    /// the compressed packing is a [`Reference`](crate::Reference) on this library.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// For each clip what its keys take and how far it is off.
    pub fn reports(&self) -> &[ClipReport] {
        &self.reports
    }

    /// Packs the library with its keys as integers, on all cores.
    ///
    /// # Errors
    /// As from [`PackedLibrary::new`].
    pub fn pack(&self) -> Result<PackedLibrary, Error> {
        self.pack_with_threads(all_threads())
    }

    /// Packs the library with its keys as integers, on up to so many threads, at least 1; the result is the same.
    ///
    /// # Errors
    /// As from [`PackedLibrary::new`].
    pub fn pack_with_threads(&self, threads: usize) -> Result<PackedLibrary, Error> {
        PackedLibrary::with(&self.library, |clip| &self.curves[clip], threads)
    }
}

/// The clips by their indices, those together that share the numbers of a curve.
fn families(clips: &[Clip]) -> Vec<Vec<usize>> {
    let mut family: Vec<usize> = (0..clips.len()).collect();
    let mut first: HashMap<usize, usize> = HashMap::new();
    for (index, clip) in clips.iter().enumerate() {
        for track in &clip.tracks {
            let other = *first.entry(track.curve.values_identity()).or_insert(index);
            let (from, to) = (family[index].max(family[other]), family[index].min(family[other]));
            if from != to {
                family.iter_mut().filter(|family| **family == from).for_each(|family| *family = to);
            }
        }
    }
    let mut families: Vec<Vec<usize>> = vec![Vec::new(); clips.len()];
    for (index, family) in family.into_iter().enumerate() {
        families[family].push(index);
    }
    families.retain(|family| !family.is_empty());
    families
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;
    use crate::pack::Features;

    #[test]
    fn a_packed_compressed_library_has_the_feature_of_quantized_keys() {
        let library = demo::library().unwrap();
        let floats = PackedLibrary::new(&library).unwrap().features;
        let quantized = CompressedLibrary::with_width(&library, 8).unwrap().pack().unwrap().features;
        assert!(floats.floats && !floats.quantized);
        assert_eq!(quantized, Features { floats: false, quantized: true, ..floats });
    }
}
