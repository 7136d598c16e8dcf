//! Keys that are loaded into the caches before the instance that reads them is posed.

use glam::Vec4;

use crate::cpu::block::search::{GroupSpans, have_one_clip};
use crate::cpu::plan::{FirstKey, Plan};
use crate::cpu::simd::{LINE, prefetch};
use crate::cpu::source::Source;
use crate::cpu::stages::phase;
use crate::cpu::stages::search::Span;
use crate::pack::Arrays;
use crate::pack::record::{ClipRecord, LayerRecord};

/// The most bytes of a row of keys that are loaded ahead of time. The processor notices longer reads by itself.
const MOST_BYTES: usize = 4096;

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

/// Asks for the keys that a clip reads at the spans of its timelines.
pub fn request(source: Source, clip: u32, spans: &[Span]) {
    let arrays = &source.library.arrays;
    for (span, &first) in spans.iter().zip(&source.plan(clip).first_keys) {
        match first {
            FirstKey::None => {}
            FirstKey::Value(first) => span.request(&arrays.values, first, MOST_BYTES / size_of::<Vec4>()),
            FirstKey::Word(first) => span.request(&arrays.words, first, MOST_BYTES / size_of::<u32>()),
        }
    }
}

/// Keys that are loaded into the caches little by little, while the outputs of other instances are written.
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
    /// Forgets all keys.
    pub fn clear(&mut self) {
        (self.next, self.lines, self.share) = (0, 0, 0);
        self.rows.clear();
    }

    /// Adds the keys that instances with these layers read, whose spans are known.
    pub fn add(&mut self, source: Source, layers: &[LayerRecord], found: &GroupSpans) {
        let mut firsts = &found.firsts[..];
        for same in layers.chunk_by(have_one_clip) {
            let keys = &source.plan(same[0].clip).first_keys;
            for &first in firsts.split_off(..same.len()).unwrap_or_default() {
                for (span, &key) in found.spans[first..].iter().zip(keys) {
                    let (first, bytes) = (key.after(span.row), span.next as usize * key.element_bytes());
                    if bytes > MOST_BYTES {
                        self.push(first, MOST_BYTES);
                        self.push(first.after(span.next), MOST_BYTES);
                    } else if bytes > 0 {
                        self.push(first, 2 * bytes);
                    }
                }
            }
        }
    }

    fn push(&mut self, first: FirstKey, bytes: usize) {
        let lines = bytes.div_ceil(LINE);
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

/// Asks for the keys that an instance with these layers reads. `spans` is memory to use.
pub fn request_layers(source: Source, layers: &[LayerRecord], now: i64, spans: &mut Vec<Span>) {
    for layer in layers {
        let clip: ClipRecord = source.library.arrays.record(layer.clip);
        spans.clear();
        source.search_all(&clip, phase::of_layer(layer, &clip, now), spans);
        request(source, layer.clip, spans);
    }
}
