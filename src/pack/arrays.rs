//! The two arrays of a packed library, and lists that begin at cache lines.

use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::slice::Iter;

use bytemuck::{Pod, Zeroable};
use glam::Vec4;

use crate::pack::large_array::LargeArray;
use crate::pack::record::{ClipRecord, TimelineRecord};

/// The words and the values of a packed library.
#[derive(Debug, Clone, Default)]
pub struct Arrays {
    /// Indices, key times and records.
    pub words: LargeArray<u32>,
    /// Keys, rest poses and matrices; and channels of joints, as the bits of `u32`.
    pub values: LargeArray<Vec4>,
}

/// Numbers of elements of the two arrays.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sizes {
    /// The number of words, 4 bytes each.
    pub words: usize,
    /// The number of values, 16 bytes each.
    pub values: usize,
}

impl Sizes {
    /// Adds other sizes. A sum that does not fit stays at the largest number.
    pub fn add(&mut self, other: Self) {
        self.words = self.words.saturating_add(other.words);
        self.values = self.values.saturating_add(other.values);
    }
}

impl Arrays {
    /// Appends records to the words, and returns the offset of the first.
    pub fn push_records<T: Pod>(&mut self, records: &[T]) -> u32 {
        const { assert!(align_of::<T>() >= align_of::<u32>(), "a record must be as aligned as a word") };
        let offset = self.words.len() as u32;
        self.words.extend_from_slice(bytemuck::cast_slice(records));
        offset
    }

    /// Appends elements to the values, and returns the offset of the first.
    pub fn push_values(&mut self, elements: &[Vec4]) -> u32 {
        let offset = self.values.len() as u32;
        self.values.extend_from_slice(elements);
        offset
    }

    /// Appends a value, and returns its offset.
    pub fn push_value(&mut self, value: [f32; 4]) -> u32 {
        self.values.push(value.into());
        self.values.len() as u32 - 1
    }

    /// Replaces the record at an offset of the words.
    pub fn set_record<T: Pod>(&mut self, offset: u32, record: &T) {
        let words = bytemuck::bytes_of(record);
        bytemuck::cast_slice_mut(&mut self.words[offset as usize..][..words.len() / 4]).copy_from_slice(words);
    }

    /// The numbers of elements.
    pub fn sizes(&self) -> Sizes {
        Sizes { words: self.words.len(), values: self.values.len() }
    }

    /// The number of bytes of both arrays.
    pub fn size(&self) -> usize {
        4 * self.words.len() + 16 * self.values.len()
    }

    /// Reads the record at an offset of the words.
    pub fn record<T: Pod>(&self, offset: u32) -> T {
        let offset = offset as usize;
        bytemuck::pod_read_unaligned(bytemuck::cast_slice(&self.words[offset..offset + size_of::<T>() / 4]))
    }

    /// Reads the record of a timeline of a clip, by its index in the clip.
    pub fn timeline(&self, clip: &ClipRecord, index: u32) -> TimelineRecord {
        self.record(clip.timelines + TimelineRecord::WORDS as u32 * index)
    }
}

/// A cache line.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([u32; 16]);

/// A list whose first element lies at the start of a cache line, a multiple of 64 bytes. It derefs to a slice of its
/// elements.
///
/// A load or store that crosses two cache lines takes longer. On Linux, a list that [`resize`](Self::resize) makes 4
/// MiB or longer lies in huge pages, if the system has some.
///
/// # Examples
/// ```
/// use posse::packed::Aligned;
///
/// let numbers: Aligned<f32> = [1.0, 2.0, 3.0].into_iter().collect();
/// assert_eq!(numbers[1..], [2.0, 3.0]);
/// assert_eq!(numbers.as_ptr().addr() % 64, 0);
/// ```
pub struct Aligned<T> {
    /// Lines for the elements, and maybe more.
    lines: LargeArray<CacheLine>,
    length: usize,
    elements: PhantomData<T>,
}

impl<T: Pod> Aligned<T> {
    /// The elements of a cache line.
    const PER_LINE: usize = {
        assert!(
            size_of::<T>() > 0 && size_of::<CacheLine>().is_multiple_of(size_of::<T>()),
            "elements must fill cache lines"
        );
        size_of::<CacheLine>() / size_of::<T>()
    };

    /// Appends copies of an element up to a length, or drops the elements beyond it. The memory only grows.
    pub fn resize(&mut self, length: usize, element: T) {
        let kept = self.length.min(length);
        let more = length.div_ceil(Self::PER_LINE).saturating_sub(self.lines.len());
        if more > 0 {
            // A list that grows again and again is not copied each time.
            self.lines.append_zeros(more.max(self.lines.len() / 2));
        }
        self.length = length;
        self[kept..].fill(element);
    }

    /// Drops all elements, and keeps the memory.
    pub fn clear(&mut self) {
        self.length = 0;
    }
}

impl<T: Pod> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &bytemuck::cast_slice(&self.lines)[..self.length]
    }
}

impl<T: Pod> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.length]
    }
}

impl<T: Pod> Clone for Aligned<T> {
    fn clone(&self) -> Self {
        let lines = self.lines[..self.length.div_ceil(Self::PER_LINE)].to_vec();
        Self { lines: LargeArray::from(lines), ..*self }
    }
}

impl<T> Default for Aligned<T> {
    fn default() -> Self {
        Self { lines: LargeArray::default(), length: 0, elements: PhantomData }
    }
}

impl<T: Pod + Debug> Debug for Aligned<T> {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

impl<T: Pod + PartialEq> PartialEq for Aligned<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Pod> Extend<T> for Aligned<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        for element in elements {
            if self.length == self.lines.len() * Self::PER_LINE {
                self.lines.push(CacheLine::zeroed());
            }
            let last = self.length;
            self.length += 1;
            self[last] = element;
        }
    }
}

impl<T: Pod> FromIterator<T> for Aligned<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut list = Self::default();
        list.extend(elements);
        list
    }
}

impl<'a, T: Pod> IntoIterator for &'a Aligned<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

#[cfg(test)]
mod aligned_tests {
    use glam::Vec4;

    use super::*;

    #[test]
    fn lists_begin_at_cache_lines_and_keep_what_they_hold() {
        let mut list = Aligned::default();
        assert!(list.is_empty());
        // The longest ones take more than 4 MiB.
        for length in [1, 5, 64, 1001, 7, 2000, 300_000, 100, 400_000] {
            let kept = list.len().min(length);
            let before: Vec<Vec4> = list[..kept].to_vec();
            list.resize(length, Vec4::splat(length as f32));
            assert_eq!((list.as_ptr().addr() % 64, list.len()), (0, length));
            assert_eq!(list[..kept], before);
            assert!(list[kept..].iter().all(|element| *element == Vec4::splat(length as f32)));
        }
        assert!(list.clone() == list);
        list.clear();
        assert!(list.is_empty() && list.clone().is_empty());
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn long_lists_lie_in_huge_pages() {
        let mut list = Aligned::default();
        for (length, is_mapped) in [(1000, false), (1 << 20, true), (5, true), (3 << 20, true)] {
            list.resize(length, 1.0_f32);
            assert_eq!(list.lines.is_mapped(), is_mapped, "{length}");
        }
    }

    #[test]
    fn lists_are_made_from_elements_and_are_equal_if_these_are() {
        let elements: Vec<f32> = (0..37).map(|index| index as f32).collect();
        let mut list: Aligned<f32> = elements[..20].iter().copied().collect();
        list.extend(elements[20..].iter().copied());
        assert_eq!(list[..], elements);
        assert_eq!(list, elements.iter().copied().collect());
        assert_eq!(list.into_iter().copied().sum::<f32>(), 666.0);
        assert_eq!(format!("{list:?}"), format!("{elements:?}"));
        // What lies behind the last element does not count.
        list.resize(36, 0.0);
        assert_eq!(list, elements[..36].iter().copied().collect());
    }
}
