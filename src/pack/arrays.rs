//! The two arrays of a packed library.

use bytemuck::Pod;
use glam::Vec4;

use crate::pack::large_array::LargeArray;

/// The words and the values of a packed library.
#[derive(Debug, Clone, Default)]
pub struct Arrays {
    /// Indices, key times and records.
    pub words: LargeArray<u32>,
    /// Keys, rest poses and matrices.
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
}
