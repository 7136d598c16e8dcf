//! Bytes of a buffer that nothing needs any more.

use std::ops::Range;

/// The alignment that all views keep.
const ALIGNMENT: usize = 16;

/// The ranges, in order, that lie in some of the freed ones, and in none of those that are still needed. They begin and end at multiples
/// of 16, so that what follows stays aligned.
pub(super) fn holes(mut freed: Vec<Range<usize>>, mut needed: Vec<Range<usize>>) -> Vec<Range<usize>> {
    freed.sort_by_key(|range| range.start);
    needed.sort_by_key(|range| range.start);
    let mut holes: Vec<Range<usize>> = Vec::new();
    let mut add = |range: Range<usize>| {
        let (start, end) = (range.start.next_multiple_of(ALIGNMENT), range.end / ALIGNMENT * ALIGNMENT);
        if start < end {
            holes.push(start..end);
        }
    };
    let mut needed = needed.into_iter().peekable();
    for mut range in merged(freed) {
        // What is needed and ends before this range ends before all later ones, too.
        while let Some(next) = needed.peek() {
            if next.start >= range.end {
                break;
            }
            if next.end > range.start {
                add(range.start..next.start.max(range.start));
                range.start = next.end.min(range.end);
            }
            if next.end > range.end {
                break;
            }
            needed.next();
        }
        add(range);
    }
    holes
}

/// Ranges in order of their starts, those that touch as one. Those of padding between two of them as well.
fn merged(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges.into_iter().filter(|range| !range.is_empty()) {
        match merged.last_mut() {
            Some(last) if range.start <= last.end.next_multiple_of(4) => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The bytes without the holes.
pub(super) fn without(bytes: &[u8], holes: &[Range<usize>]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut start = 0;
    for hole in holes {
        kept.extend_from_slice(&bytes[start..hole.start]);
        start = hole.end;
    }
    kept.extend_from_slice(&bytes[start..]);
    kept
}

/// The place of a byte without the holes.
pub(super) fn moved(offset: usize, holes: &[Range<usize>]) -> usize {
    offset - holes.iter().take_while(|hole| hole.end <= offset).map(Range::len).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_what_was_freed_and_is_not_needed() {
        let ranges =
            |pairs: &[[usize; 2]]| -> Vec<Range<usize>> { pairs.iter().map(|&[start, end]| start..end).collect() };
        let cases: [[&[[usize; 2]]; 3]; 6] = [
            [&[[0, 64]], &[], &[[0, 64]]],
            [&[[8, 64], [64, 80]], &[[30, 34]], &[[48, 80]]],
            [&[[0, 64]], &[[16, 32], [20, 24]], &[[0, 16], [32, 64]]],
            [&[[0, 32], [48, 64]], &[[0, 100]], &[]],
            [&[[64, 96], [0, 32]], &[[32, 64], [90, 120]], &[[0, 32], [64, 80]]],
            // What is needed overlaps several that were freed.
            [&[[0, 16], [32, 48], [64, 80]], &[[8, 40]], &[[64, 80]]],
        ];
        for [freed, needed, expected] in cases {
            assert_eq!(holes(ranges(freed), ranges(needed)), ranges(expected), "{freed:?} {needed:?}");
        }
    }

    #[test]
    fn bytes_move_by_the_holes_before_them() {
        let bytes: Vec<u8> = (0..64).collect();
        let holes = [16..32, 48..64];
        let kept = without(&bytes, &holes);
        assert_eq!(kept.len(), 32);
        for offset in (0..16).chain(32..48) {
            assert_eq!(usize::from(kept[moved(offset, &holes)]), offset);
        }
    }
}
