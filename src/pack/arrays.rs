//! The two arrays that everything is packed into.

use bytemuck::Pod;
use glam::Vec4;

/// The two arrays.
#[derive(Debug, Clone, Default)]
pub struct Arrays {
    /// Indices, key times, records.
    pub words: Vec<u32>,
    /// Keys, rest poses, matrices.
    pub values: Vec<Vec4>,
}

/// Elements of the two arrays.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sizes {
    /// Words, of 4 bytes.
    pub words: usize,
    /// Values, of 16 bytes.
    pub values: usize,
}

impl Arrays {
    /// Appends records to the words, and gives their place.
    pub fn push_records<T: Pod>(&mut self, records: &[T]) -> u32 {
        let place = self.words.len() as u32;
        self.words.extend_from_slice(bytemuck::cast_slice(records));
        place
    }

    /// Appends a value, and gives its place.
    pub fn push_value(&mut self, value: [f32; 4]) -> u32 {
        self.values.push(value.into());
        self.values.len() as u32 - 1
    }

    /// Bytes of both.
    pub fn size(&self) -> usize {
        4 * self.words.len() + 16 * self.values.len()
    }

    /// Reads a record from the words.
    pub fn record<T: Pod>(&self, place: u32) -> T {
        let place = place as usize;
        bytemuck::pod_read_unaligned(bytemuck::cast_slice(&self.words[place..place + size_of::<T>() / 4]))
    }
}
