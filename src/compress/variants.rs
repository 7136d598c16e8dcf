//! Compression of clips that share curves: tries several sets of key times, with and without error compensation, and keeps the
//! result with the fewest bytes.

use crate::compress::compensation::Compensation;
use crate::compress::displacement::Original;
use crate::compress::even_times::{SHIFT_SHARE, even_times};
use crate::compress::shared_clips::{CompressedClip, SharedClips};
use crate::compress::{ErrorBound, retiming};
use crate::model::{Clip, Library};

/// The goal of a compression.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// The fewest bytes that meet a bound.
    Within(ErrorBound),
    /// A fixed number of bits per number.
    Bits(u32),
}

/// The shares of a curve's tolerance that the removal of keys may use up. Each share is tried.
const REMOVAL_SHARES: [f64; 3] = [0.02, 0.2, 0.5];

/// Compresses clips that share curves with one another and with no other clip.
pub fn compress_clips(library: &Library, clips: &[&Clip], goal: Goal) -> Vec<CompressedClip> {
    let bound = match goal {
        Goal::Within(bound) => bound,
        Goal::Bits(_) => ErrorBound::default(),
    };
    let originals: Vec<Original> = clips.iter().map(|clip| Original::new(library, clip, bound)).collect();
    if let Goal::Bits(bits) = goal {
        let clips: Vec<Clip> = clips.iter().map(|&clip| clip.clone()).collect();
        let shared_clips = SharedClips::new(&originals, &clips, Compensation::Nothing, 1.0);
        return shared_clips.finish(&shared_clips.with_bits(bits));
    }
    let unshifted: Vec<Clip> = clips.iter().map(|&clip| clip.clone()).collect();
    let shifted = {
        let shared_clips = SharedClips::new(&originals, &unshifted, Compensation::Nothing, 1.0);
        even_times(library, &unshifted, shared_clips.curves())
    };
    let shift_share = if shifted.is_some() { SHIFT_SHARE } else { 0.0 };
    let even = shifted.unwrap_or(unshifted);
    let clips: Vec<&Clip> = even.iter().collect();
    let mut retimed = vec![(0.0, retiming::share_timelines(library, &clips))];
    let fewer_keys = {
        let (_, on_shared_timelines) = &retimed[0];
        let shared_clips = SharedClips::new(&originals, on_shared_timelines, Compensation::Nothing, 1.0);
        let curves = shared_clips.curves();
        REMOVAL_SHARES.map(|share| Some((share, retiming::remove_keys(library, on_shared_timelines, curves, share)?)))
    };
    retimed.extend(fewer_keys.into_iter().flatten());
    // Error compensation saves bits for joints that are rotated, and wastes some for joints that are scaled.
    let compensations = [Compensation::RotationsAndPlaces, Compensation::Rotations, Compensation::Nothing];
    // The shift of key times, the removal of keys and quantization add up.
    let variants = retimed
        .iter()
        .flat_map(|(share, clips)| compensations.map(|compensation| (clips, compensation, 1.0 - shift_share - share)));
    let results = variants.map(|(clips, compensation, remaining_share)| {
        let mut shared_clips = SharedClips::new(&originals, clips, compensation, remaining_share);
        let candidates = shared_clips.within_bound();
        (shared_clips.size(&candidates), shared_clips, candidates)
    });
    let smallest = results.min_by_key(|(size, ..)| *size);
    smallest.map(|(_, shared_clips, candidates)| shared_clips.finish(&candidates)).unwrap_or_default()
}
