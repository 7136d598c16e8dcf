//! Keys that are loaded into the caches before the instance that reads them is posed.

use crate::cpu::block::group_layers::InstanceLayers;
use crate::cpu::block::search::{GroupSpans, have_one_clip};
use crate::cpu::plan::{FirstKey, Plan};
use crate::cpu::simd::{LINE, prefetch};
use crate::cpu::source::Source;
use crate::cpu::stages::search::Span;
use crate::pack::Arrays;
use crate::pack::record::LayerRecord;

/// The most bytes of a row of keys that are loaded ahead of time. The processor notices longer reads by itself.
const MOST_BYTES: usize = 16_384;

/// Size in bytes of the keys of a crowd above which they are loaded ahead of time: the cache of a core does not hold them.
const LARGER_THAN_CACHE: usize = 1 << 20;

/// Returns `true` if the keys that these layers read are larger than the cache of a core.
pub fn pays(plans: &[(u32, Plan)], layers: &[LayerRecord]) -> bool {
    let mut clips: Vec<u32> = layers.iter().map(|layer| layer.clip).collect();
    clips.sort_unstable();
    clips.dedup();
    let plan = |clip| plans.binary_search_by_key(clip, |(offset, _)| *offset).ok();
    let bytes = clips.iter().filter_map(plan).map(|plan| plans[plan].1.key_bytes);
    bytes.sum::<usize>() > LARGER_THAN_CACHE
}

/// Keys that are loaded into the caches little by little, while other instances are mixed or their outputs are written.
#[derive(Debug, Default)]
pub struct Ahead {
    rows: Vec<Rows>,
    /// The index of the rows that are asked for next.
    next: usize,
    /// The cache lines of all rows.
    lines: usize,
    /// The lines that each call asks for.
    share: usize,
}

/// A row of keys, or the rows before and after the time of an instance, side by side.
#[derive(Debug, Clone, Copy)]
struct Rows {
    /// The first element that is not asked for yet.
    first: FirstKey,
    /// The cache lines from there on.
    lines: usize,
}

impl Ahead {
    /// Adds the keys that instances of one layer each read, whose spans are known.
    pub fn add_group(&mut self, source: Source, layers: &[LayerRecord], found: &GroupSpans) {
        let mut firsts = &found.firsts[..];
        for same in layers.chunk_by(have_one_clip) {
            let keys = &source.plan(same[0].clip).first_keys;
            for &first in firsts.split_off(..same.len()).unwrap_or_default() {
                self.add(keys, &found.spans[first..]);
            }
        }
    }

    /// Adds the keys that the layers of an instance with a weight above 0 read.
    pub fn add_layers(&mut self, source: Source, layers: &[LayerRecord], found: InstanceLayers) {
        for index in found.active() {
            self.add(&source.plan(layers[index].clip).first_keys, found.spans(index));
        }
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        (self.next, self.lines, self.share) = (0, 0, 0);
        self.rows.clear();
    }

    /// Adds the keys of timelines at their spans. Nothing is added if a key is hit: the length of its row is not known.
    fn add(&mut self, keys: &[FirstKey], spans: &[Span]) {
        for (span, &key) in spans.iter().zip(keys) {
            let (first, bytes) = (key.after(span.row), span.next as usize * key.element_bytes());
            if bytes > MOST_BYTES {
                self.push(first, MOST_BYTES);
                self.push(first.after(span.next), MOST_BYTES);
            } else if bytes > 0 {
                self.push(first, 2 * bytes);
            }
        }
    }

    fn push(&mut self, first: FirstKey, bytes: usize) {
        // A row begins anywhere within a line, so that it can reach into one more.
        let lines = bytes / LINE + 1;
        self.rows.push(Rows { first, lines });
        self.lines += lines;
    }

    /// Sets the number of calls of [`request`](Self::request) that ask for all keys.
    pub fn share(&mut self, calls: usize) {
        self.share = self.lines.div_ceil(calls.max(1));
    }

    /// Asks for the next share of the keys.
    #[inline(always)]
    pub fn request(&mut self, arrays: &Arrays) {
        let mut left = self.share;
        while let Some(rows) = self.rows.get_mut(self.next).filter(|_| left > 0) {
            let lines = rows.lines.min(left);
            let elements = lines * LINE / rows.first.element_bytes().max(1);
            match rows.first {
                FirstKey::None => {}
                FirstKey::Value(first) => prefetch(part(&arrays.values, first as usize, elements)),
                FirstKey::Word(first) => prefetch(part(&arrays.words, first as usize, elements)),
            }
            rows.first = rows.first.after(elements as u32);
            rows.lines -= lines;
            left -= lines;
            self.next += usize::from(rows.lines == 0);
        }
    }
}

/// Up to `count` elements from `first` on.
#[inline(always)]
fn part<T>(array: &[T], first: usize, count: usize) -> &[T] {
    let rest = array.get(first..).unwrap_or_default();
    &rest[..count.min(rest.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two timelines: rows of 6 vectors, and rows of 5,000.
    fn spans() -> [Span; 2] {
        [6, 5000].map(|next| Span { row: 12, next, fraction: 0.5, interval: 1.0 })
    }

    #[test]
    fn all_lines_are_asked_for_in_the_calls_that_share_them() {
        let arrays = Arrays::default();
        for calls in [1, 2, 7, 192, 100_000] {
            let mut ahead = Ahead::default();
            ahead.add(&[FirstKey::Value(100), FirstKey::Value(7)], &spans());
            // Two rows of 96 bytes side by side reach into at most four lines; of the long ones, the first 16 kB each.
            assert_eq!(ahead.lines, 4 + 2 * 257);
            ahead.share(calls);
            for _ in 0..calls {
                ahead.request(&arrays);
            }
            assert_eq!(ahead.next, ahead.rows.len(), "{calls} calls");
            assert!(ahead.rows.iter().all(|rows| rows.lines == 0));
        }
    }

    #[test]
    fn a_key_that_is_hit_and_a_timeline_without_keys_are_not_asked_for() {
        let mut ahead = Ahead::default();
        ahead.add(&[FirstKey::Value(0), FirstKey::None], &[Span::default(), spans()[0]]);
        assert!(ahead.rows.is_empty());
    }
}
