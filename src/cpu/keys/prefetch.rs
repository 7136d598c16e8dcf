//! Loads keys, and the records of their columns, into the caches before the instance that reads them is posed.
//!
//! The keys of a large library do not fit the caches, and each instance reads rows at another place: the processor
//! cannot foresee them. The keys of the next group are known as soon as its spans are found. They are asked for little
//! by little while the outputs of this group are written, or the layers of this instance are mixed: a processor keeps
//! few requests at a time, and waits where there are more ([`Prefetcher::share`]).

use crate::cpu::keys::decoded::DecodedClips;
use crate::cpu::keys::plan::{ClipRuns, FirstKey, RunKind};
use crate::cpu::keys::search::{GroupSpans, InstanceLayers, have_one_clip};
use crate::cpu::keys::source::PackedSource;
use crate::cpu::simd::{LINE, prefetch};
use crate::cpu::stages::search::KeySpan;
use crate::pack::Arrays;
use crate::pack::record::{LayerRecord, QUANTIZED_WIDE_COLUMN_WORDS};

/// The most bytes of a row of keys that are loaded ahead of time. The processor notices longer reads by itself.
const MAX_ROW_BYTES: usize = 16_384;

/// The least lines that a call asks for. The call itself takes as long as a few lines.
const MIN_LINES: usize = 8;

/// Size in bytes of the keys of a crowd above which they are loaded ahead of time: the cache of a core does not hold
/// them.
const LARGER_THAN_CACHE: usize = 1 << 20;

/// Returns `true` if the keys that these layers read are larger than the cache of a core.
pub fn pays(plans: &[(u32, ClipRuns)], layers: &[LayerRecord]) -> bool {
    let mut clips: Vec<u32> = layers.iter().map(|layer| layer.clip).collect();
    clips.sort_unstable();
    clips.dedup();
    let plan = |clip| plans.binary_search_by_key(clip, |(offset, _)| *offset).ok();
    let bytes = clips.iter().filter_map(plan).map(|plan| plans[plan].1.key_bytes);
    bytes.sum::<usize>() > LARGER_THAN_CACHE
}

/// Keys that are loaded into the caches little by little, while other instances are mixed or their outputs are written.
#[derive(Debug, Default)]
pub struct Prefetcher {
    rows: Vec<KeyLines>,
    /// The index of the rows that are asked for next.
    next: usize,
    /// The cache lines of all rows.
    lines: usize,
    /// The lines that each call asks for, while there are some.
    share: usize,
}

/// A row of keys, the rows before and after the time of an instance, or the records of columns, side by side.
#[derive(Debug, Clone, Copy)]
struct KeyLines {
    /// The first element that is not asked for yet.
    first: FirstKey,
    /// The cache lines from there on.
    lines: usize,
}

impl Prefetcher {
    /// Adds the keys that instances of one layer each read, whose spans are known, and the records of columns that are
    /// not decoded.
    pub fn add_group(
        &mut self,
        source: PackedSource,
        layers: &[LayerRecord],
        found: &GroupSpans,
        decoded: &DecodedClips,
    ) {
        let mut firsts = &found.firsts[..];
        for same in layers.chunk_by(have_one_clip) {
            let firsts = firsts.split_off(..same.len()).unwrap_or_default();
            let plan = source.plan(same[0].clip);
            if plan.quantized && !decoded.has(same[0].clip) {
                self.add_columns(plan);
            }
            for (timeline, &key) in plan.first_keys.iter().enumerate() {
                self.add(key, firsts.iter().map(|first| &found.spans[first + timeline]));
            }
        }
    }

    /// Adds the records of the columns of all runs of a clip with quantized keys.
    fn add_columns(&mut self, plan: &ClipRuns) {
        for run in plan.all_runs() {
            if let RunKind::Keys(keys) = run.kind
                && keys.is_quantized()
            {
                // As if all were long, if some are.
                let words = keys.column_stride().unwrap_or(QUANTIZED_WIDE_COLUMN_WORDS as usize);
                let bytes = size_of::<u32>() * words * run.joints().len();
                self.push(FirstKey::Word(keys.first), bytes.min(MAX_ROW_BYTES));
            }
        }
    }

    /// Adds the keys that the layers of an instance with a weight above 0 read.
    pub fn add_layers(&mut self, source: PackedSource, layers: &[LayerRecord], found: InstanceLayers) {
        for index in found.active() {
            let keys = &source.plan(layers[index].clip).first_keys;
            for (&key, span) in keys.iter().zip(found.spans(index)) {
                self.add(key, [span]);
            }
        }
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        (self.next, self.lines, self.share) = (0, 0, 0);
        self.rows.clear();
    }

    /// Adds the keys of a timeline at the spans of instances. An instance often reads rows of the one before, which are
    /// not added again. Nothing is added if a key is hit: the length of its row is not known.
    fn add<'a>(&mut self, key: FirstKey, spans: impl IntoIterator<Item = &'a KeySpan>) {
        if key == FirstKey::None {
            return;
        }
        let mut added = 0..0;
        for span in spans.into_iter().filter(|span| span.next > 0) {
            let rows = span.row..span.row + 2 * span.next;
            let first = if added.contains(&rows.start) { added.end } else { rows.start };
            let (count, bytes) = ((rows.end - first) / span.next, span.next as usize * key.element_bytes());
            if bytes > MAX_ROW_BYTES {
                (0..count).for_each(|row| self.push(key.after(first + row * span.next), MAX_ROW_BYTES));
            } else if count > 0 {
                self.push(key.after(first), count as usize * bytes);
            }
            added = rows;
        }
    }

    fn push(&mut self, first: FirstKey, bytes: usize) {
        // The first element can be the last one of its line.
        let lines = (LINE - first.element_bytes() + bytes).div_ceil(LINE);
        self.rows.push(KeyLines { first, lines });
        self.lines += lines;
    }

    /// Sets the number of calls of [`request`](Self::request) that ask for all keys. Of few lines, fewer calls ask for
    /// all.
    pub fn share(&mut self, calls: usize) {
        self.share = self.lines.div_ceil(calls.max(1)).max(MIN_LINES);
    }

    /// Asks for the next share of the keys.
    #[inline(always)]
    pub fn request(&mut self, arrays: &Arrays) {
        let mut left = self.share;
        while let Some(rows) = self.rows.get_mut(self.next).filter(|_| left > 0) {
            let lines = rows.lines.min(left);
            rows.first = match rows.first {
                FirstKey::None => FirstKey::None,
                FirstKey::Value(first) => FirstKey::Value(prefetch_lines(&arrays.values, first, lines)),
                FirstKey::Word(first) => FirstKey::Word(prefetch_lines(&arrays.words, first, lines)),
            };
            rows.lines -= lines;
            left -= lines;
            self.next += usize::from(rows.lines == 0);
        }
    }
}

/// Asks for the elements of some lines, from `first` on. Returns the index of the element after them.
#[inline(always)]
fn prefetch_lines<T>(array: &[T], first: u32, lines: usize) -> u32 {
    let count = lines * (LINE / size_of::<T>());
    let rest = array.get(first as usize..).unwrap_or_default();
    prefetch(&rest[..count.min(rest.len())]);
    first.saturating_add(count as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::CompressedLibrary;
    use crate::demo;
    use crate::model::Library;

    /// An instance between two keys, with `next` vectors per row.
    fn between(row: u32, next: u32) -> KeySpan {
        KeySpan { row, next, fraction: 0.5, interval: 1.0 }
    }

    #[test]
    fn all_lines_are_asked_for_in_the_calls_that_share_them() {
        let arrays = Arrays::default();
        for calls in [1, 2, 7, 192, 100_000] {
            let mut prefetcher = Prefetcher::default();
            prefetcher.add(FirstKey::Value(100), &[between(12, 6)]);
            prefetcher.add(FirstKey::Value(7), &[between(12, 5000)]);
            // Two rows of 96 bytes side by side reach into at most four lines; of the long ones, the first 16 kB each.
            assert_eq!(prefetcher.lines, 4 + 2 * 257);
            prefetcher.share(calls);
            for _ in 0..calls {
                prefetcher.request(&arrays);
            }
            assert_eq!(prefetcher.next, prefetcher.rows.len(), "{calls} calls");
            assert!(prefetcher.rows.iter().all(|rows| rows.lines == 0));
        }
    }

    #[test]
    fn a_key_that_is_hit_and_a_timeline_without_keys_are_not_asked_for() {
        let mut prefetcher = Prefetcher::default();
        prefetcher.add(FirstKey::Value(0), &[KeySpan::default()]);
        prefetcher.add(FirstKey::None, &[between(12, 6)]);
        assert!(prefetcher.rows.is_empty());
    }

    #[test]
    fn rows_that_the_instance_before_reads_are_asked_for_once() {
        // The rows 2 and 3, row 4, row 5, the rows 8 and 9, and the rows 0 and 1. A row of 100 words takes up to 8
        // lines, two take 14.
        let expected = [(2, 14), (4, 8), (5, 8), (8, 14), (0, 14)];
        // Of rows of 5,000 words, the first 16 kB each.
        let long = [2, 3, 4, 5, 8, 9, 0, 1].map(|row| (row, 257));
        for (next, expected) in [(100, &expected[..]), (5000, &long)] {
            let mut prefetcher = Prefetcher::default();
            prefetcher.add(FirstKey::Word(100), &[2, 2, 3, 4, 8, 0].map(|row| between(row * next, next)));
            let first = |row: u32| FirstKey::Word(100 + row * next);
            let expected: Vec<_> = expected.iter().map(|&(row, lines)| (first(row), lines)).collect();
            assert_eq!(prefetcher.rows.iter().map(|rows| (rows.first, rows.lines)).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn a_call_asks_for_several_lines_even_if_there_are_many_calls() {
        let mut prefetcher = Prefetcher::default();
        prefetcher.add(FirstKey::Word(0), &[between(0, 100)]);
        prefetcher.share(100_000);
        prefetcher.request(&Arrays::default());
        assert_eq!(prefetcher.rows[0].lines, 14 - MIN_LINES);
    }

    #[test]
    fn the_records_of_all_runs_of_a_clip_are_asked_for() {
        let mut library = Library::new();
        demo::add_rig(&mut library, 21, 3, 2).unwrap();
        let packed = CompressedLibrary::with_width(&library, 16).unwrap().pack().unwrap();
        let clip = packed.clip(library.clip_ids().next().unwrap()).unwrap().offset;
        let plan = ClipRuns::new(&packed, &packed.skeletons[0].record, clip);
        let mut prefetcher = Prefetcher::default();
        prefetcher.add_columns(&plan);
        let is_asked_for = |word: u32| {
            prefetcher.rows.iter().any(|rows| {
                matches!(rows.first, FirstKey::Word(first) if (first..first + 16 * rows.lines as u32).contains(&word))
            })
        };
        let mut count = 0;
        for run in plan.all_runs() {
            let RunKind::Keys(keys) = run.kind else { continue };
            for own in keys.each(&packed.arrays.words).take(run.joints().len()) {
                count += 1;
                assert!((own.first..own.end(&packed.arrays.words)).all(is_asked_for), "{own:?} of {run:?}");
            }
        }
        assert!(count >= 60, "{count}");
    }
}
