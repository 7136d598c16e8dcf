//! Clips that share curves, made compressed together: on the timelines, and by the rounding, that take the fewest bytes.

use crate::compress::displacement::Original;
use crate::compress::shared_clips::{CompressedClip, SharedClips};
use crate::compress::{ErrorBound, retiming};
use crate::model::{Clip, Library};

/// What is asked of the keys.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// As small as a bound allows.
    Within(ErrorBound),
    /// So many bits for each number.
    Bits(u32),
}

/// Shares of what curves may be off by that may be spent on keys left out.
const SPENT: [f64; 3] = [0.02, 0.2, 0.5];

/// Makes clips compressed that share curves with one another and with no other clip.
pub fn compress_clips(library: &Library, clips: &[&Clip], goal: Goal) -> Vec<CompressedClip> {
    let bound = match goal {
        Goal::Within(bound) => bound,
        Goal::Bits(_) => ErrorBound::default(),
    };
    let originals: Vec<Original> = clips.iter().map(|clip| Original::new(library, clip, bound)).collect();
    if let Goal::Bits(bits) = goal {
        let clips: Vec<Clip> = clips.iter().map(|&clip| clip.clone()).collect();
        let family = SharedClips::new(&originals, &clips, false, 1.0);
        return family.finish(&family.of_bits(bits));
    }
    let mut retimed = vec![(0.0, retiming::shared(library, clips))];
    let thinned = {
        let (_, shared) = &retimed[0];
        let family = SharedClips::new(&originals, shared, false, 1.0);
        SPENT.map(|spent| Some((spent, retiming::thinned(library, shared, family.pieces(), spent)?)))
    };
    retimed.extend(thinned.into_iter().flatten());
    // Making up for others saves bits where joints are turned, and wastes some where they are scaled.
    let ways = retimed.iter().flat_map(|(spent, clips)| [true, false].map(|corrects| (clips, corrects, 1.0 - spent)));
    let found = ways.map(|(clips, corrects, left)| {
        let mut family = SharedClips::new(&originals, clips, corrects, left);
        let made = family.within();
        (family.size(&made), family, made)
    });
    let smallest = found.min_by_key(|(size, ..)| *size);
    smallest.map(|(_, family, made)| family.finish(&made)).unwrap_or_default()
}
