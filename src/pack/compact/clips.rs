//! Clips that share curves, made compact together: on the timelines, and by the rounding, that take the fewest bytes.

use crate::model::clip::Clip;
use crate::model::library::Library;
use crate::pack::compact::bound::Bound;
use crate::pack::compact::displacement::Original;
use crate::pack::compact::family::{CompactClip, Family};
use crate::pack::compact::retiming;

/// What is asked of the keys.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// As small as a bound allows.
    Within(Bound),
    /// So many bits for each number.
    Bits(u32),
}

/// Shares of what curves may be off by that may be spent on keys left out.
const SPENT: [f64; 3] = [0.02, 0.2, 0.5];

/// Makes clips compact that share curves with one another and with no other clip.
pub fn compact_clips(library: &Library, clips: &[&Clip], goal: Goal) -> Vec<CompactClip> {
    let bound = match goal {
        Goal::Within(bound) => bound,
        Goal::Bits(_) => Bound::default(),
    };
    let originals: Vec<Original> = clips.iter().map(|clip| Original::new(library, clip, bound)).collect();
    if let Goal::Bits(bits) = goal {
        let clips: Vec<Clip> = clips.iter().map(|&clip| clip.clone()).collect();
        let family = Family::new(&originals, &clips, false, 1.0);
        return family.finish(&family.of_bits(bits));
    }
    let mut retimed = vec![(0.0, retiming::shared(library, clips))];
    let thinned = {
        let (_, shared) = &retimed[0];
        let family = Family::new(&originals, shared, false, 1.0);
        SPENT.map(|spent| Some((spent, retiming::thinned(library, shared, family.pieces(), spent)?)))
    };
    retimed.extend(thinned.into_iter().flatten());
    // Making up for others saves bits where joints are turned, and wastes some where they are scaled.
    let ways = retimed.iter().flat_map(|(spent, clips)| [true, false].map(|corrects| (clips, corrects, 1.0 - spent)));
    let found = ways.map(|(clips, corrects, left)| {
        let mut family = Family::new(&originals, clips, corrects, left);
        let made = family.within();
        (family.size(&made), family, made)
    });
    let smallest = found.min_by_key(|(size, ..)| *size);
    smallest.map(|(_, family, made)| family.finish(&made)).unwrap_or_default()
}
