//! Packing of events: their times in the units of the clip.

use crate::model::Clip;
use crate::pack::arrays::{Arrays, Sizes};
use crate::pack::playback::{time_unit, units};
use crate::pack::record::NONE;

/// Packs the events from a clip's start to its end, and returns their offset in the words. A play reaches no others.
///
/// The words hold the number of events, the index of the first, then their times in order, two words each. [`NONE`] if there is
/// no such event or the clip has no duration.
pub fn pack_events(arrays: &mut Arrays, clip: &Clip) -> u32 {
    let duration = clip.duration();
    let Some(unit) = time_unit(duration) else { return NONE };
    let first = clip.events.partition_point(|event| event.time < 0.0);
    let within = clip.events[first..].iter().take_while(|event| event.time <= duration);
    let times: Vec<u64> = within.map(|event| units(event.time, unit)).collect();
    if times.is_empty() {
        return NONE;
    }
    let offset = arrays.push_records(&[times.len() as u32, first as u32]);
    for time in times {
        arrays.push_records(&[time as u32, (time >> 32) as u32]);
    }
    offset
}

/// The largest size of a clip's packed events.
pub fn sizes(clip: &Clip) -> Sizes {
    Sizes { words: 2 + 2 * clip.events.len(), values: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Event, SkeletonId};

    #[test]
    fn events_in_the_clip_are_packed_with_the_index_of_the_first() {
        let packed = |length: f64, times: &[f64]| {
            let events = times.iter().map(|&time| Event { time, ..Event::default() }).collect();
            let clip = Clip { length: Some(length), events, ..Clip::new(None, SkeletonId(0), Vec::new()) };
            let mut arrays = Arrays::default();
            let offset = pack_events(&mut arrays, &clip);
            assert!(arrays.words.len() <= sizes(&clip).words);
            (offset, arrays.words)
        };
        // A clip of 1 s has 2^63 units.
        let (offset, words) = packed(1.0, &[-1.0, 0.0, 0.5, 1.0, 1.5]);
        assert_eq!((offset, &words[..]), (0, &[3, 1, 0, 0, 0, 1 << 30, 0, 1 << 31][..]));
        assert_eq!(packed(1.0, &[-1.0, 2.0]).0, NONE);
        assert_eq!(packed(1.0, &[]).0, NONE);
        assert_eq!(packed(0.0, &[0.0]).0, NONE);
    }
}
