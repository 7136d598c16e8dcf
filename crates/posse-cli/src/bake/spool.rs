//! Arrays of a clip that wait until the clip is complete: in memory up to a size, then in files without names.

use std::borrow::Cow;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use posse::Error;
use posse::bake::{ArrayLayout, ArrayShape};
use tempfile::SpooledTempFile;

use crate::write_error::with_hint;

/// The bytes of a clip that stay in memory, all arrays together.
pub const MEMORY: usize = 64 << 20;

/// Bytes of an array that are read at a time.
const BLOCK: usize = 1 << 20;

/// Numbers that are written once, then read from the beginning.
pub struct SpooledNumbers {
    file: SpooledTempFile,
    folder: PathBuf,
}

impl SpooledNumbers {
    /// An empty list. From `memory` bytes on, the numbers move to a file without a name in `folder`.
    pub fn new(memory: usize, folder: &Path) -> Self {
        Self { file: tempfile::spooled_tempfile_in(memory, folder), folder: folder.to_path_buf() }
    }

    /// Appends numbers. They are stored as little-endian bytes.
    pub fn append<T: bytemuck::Pod>(&mut self, numbers: &[T]) -> Result<(), Error> {
        let mut bytes = Cow::Borrowed(bytemuck::cast_slice(numbers));
        if cfg!(target_endian = "big") {
            bytes.to_mut().chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
        }
        self.file.write_all(&bytes).map_err(|error| self.error(error))
    }

    /// Goes back to the first number.
    pub fn rewind(&mut self) -> Result<(), Error> {
        self.file.rewind().map_err(|error| self.error(error))
    }

    /// Reads the next numbers into a slice. To be called after [`rewind`](Self::rewind).
    pub fn read<T: bytemuck::Pod>(&mut self, numbers: &mut [T]) -> Result<(), Error> {
        let bytes = bytemuck::cast_slice_mut(numbers);
        self.file.read_exact(bytes).map_err(|error| self.error(error))?;
        if cfg!(target_endian = "big") {
            bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
        }
        Ok(())
    }

    /// The little-endian bytes from the current place on.
    pub fn bytes(&mut self) -> impl Read + '_ {
        &mut self.file
    }

    fn error(&self, source: io::Error) -> Error {
        Error::Io { file: self.folder.clone(), source: with_hint(source) }
    }
}

/// The frames of a clip: its times and arrays.
pub struct Spool {
    times: SpooledNumbers,
    arrays: Vec<SpooledNumbers>,
    widths: Vec<usize>,
    frames: u64,
    read: u64,
}

impl Spool {
    /// A clip without frames, for the arrays of a layout. Large clips take room in `folder`.
    pub fn new(layout: &ArrayLayout, folder: &Path) -> Self {
        let widths: Vec<usize> = layout.arrays().iter().map(ArrayShape::width).collect();
        let memory = MEMORY / (widths.len() + 1);
        let arrays = widths.iter().map(|_| SpooledNumbers::new(memory, folder)).collect();
        Self { times: SpooledNumbers::new(memory, folder), arrays, widths, frames: 0, read: 0 }
    }

    /// The number of frames.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The numbers per frame of an array.
    pub fn width(&self, array: usize) -> usize {
        self.widths[array]
    }

    /// Appends frames.
    pub fn append(&mut self, times: &[f64], arrays: &[Vec<f32>]) -> Result<(), Error> {
        self.times.append(times)?;
        for (spooled, numbers) in self.arrays.iter_mut().zip(arrays) {
            spooled.append(numbers)?;
        }
        self.frames += times.len() as u64;
        Ok(())
    }

    /// The times, from the first on. Reading them disturbs [`read`](Self::read): rewind afterwards.
    pub fn times(&mut self) -> Result<&mut SpooledNumbers, Error> {
        self.times.rewind()?;
        Ok(&mut self.times)
    }

    /// An array, from its first frame on. Reading it disturbs [`read`](Self::read): rewind afterwards.
    pub fn array(&mut self, index: usize) -> Result<&mut SpooledNumbers, Error> {
        self.arrays[index].rewind()?;
        Ok(&mut self.arrays[index])
    }

    /// Calls a function with the frames of an array, some at a time.
    pub fn each_block(
        &mut self,
        array: usize,
        mut block: impl FnMut(&[f32]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (width, frames) = (self.widths[array], self.frames);
        let numbers = self.array(array)?;
        let step = (BLOCK / (width * size_of::<f32>()).max(1)).max(1);
        let mut buffer = Vec::new();
        (0..frames).step_by(step).try_for_each(|first| {
            buffer.resize((frames - first).min(step as u64) as usize * width, 0.0);
            numbers.read(&mut buffer)?;
            block(&buffer)
        })
    }

    /// Goes back to the first frame.
    pub fn rewind(&mut self) -> Result<(), Error> {
        self.read = 0;
        self.times.rewind()?;
        self.arrays.iter_mut().try_for_each(SpooledNumbers::rewind)
    }

    /// Reads the next frames, at most `count`: their times, and the numbers of each array. Returns no times at the end.
    /// To be called after [`rewind`](Self::rewind).
    pub fn read(&mut self, count: usize) -> Result<(Vec<f64>, Vec<Vec<f32>>), Error> {
        let count = count.min(usize::try_from(self.frames - self.read).unwrap_or(usize::MAX));
        let mut times = vec![0.0; count];
        self.times.read(&mut times)?;
        let mut arrays = Vec::with_capacity(self.arrays.len());
        for (spooled, width) in self.arrays.iter_mut().zip(&self.widths) {
            let mut numbers = vec![0.0; count * width];
            spooled.read(&mut numbers)?;
            arrays.push(numbers);
        }
        self.read += count as u64;
        Ok((times, arrays))
    }
}
