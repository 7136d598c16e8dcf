//! A crowd packed for the kernels of `posse kernels`, on a device of the caller.

use posse::kernels::{Binding, Buffer, DeviceBatch, DeviceCrowd, DeviceLimits, Pass, library_buffer};
use posse::packed::PackedLibrary;
use posse::{Crowd, CrowdOptions, Library, Outputs};

use crate::error::Outcome;
use crate::numbers::{item, number, numbered};
use crate::types::{self, PackOptions, PackedBatch, PackedBuffer, PackedDispatch};

/// A packed crowd with a handle. It does not change.
pub struct Packed {
    library: PackedLibrary,
    crowd: DeviceCrowd,
}

// What the header says.
const _: () = {
    assert!(types::Buffer::RootMotion as u32 == Buffer::RootMotion as u32);
    assert!(types::Buffer::Lists as u32 == Buffer::Lists as u32);
    assert!(types::Buffer::Skin as u32 == Buffer::Skin as u32);
    assert!(types::Pass::RootMotion as u32 == Pass::RootMotion as u32);
    assert!(types::Pass::Play as u32 == Pass::Play as u32);
    assert!(size_of::<types::Frame>() == 32);
};

impl Packed {
    pub fn new(library: &Library, crowd: &Crowd, outputs: Outputs, options: &PackOptions) -> Outcome<Self> {
        let usual = DeviceLimits::default();
        let limits = DeviceLimits {
            max_binding_bytes: some_or(options.max_binding_bytes, usual.max_binding_bytes),
            max_groups_per_row: some_or(options.max_groups_per_row, usual.max_groups_per_row),
        };
        // The threads belong to the caller.
        let library = PackedLibrary::with_threads(library, 1)?;
        let crowd = DeviceCrowd::new(&library, crowd, outputs, CrowdOptions::NONE, limits)?;
        Ok(Self { library, crowd })
    }

    /// The number of batches.
    pub fn batch_count(&self) -> u32 {
        number(self.crowd.batches.len())
    }

    fn batch(&self, batch: u32) -> Outcome<&DeviceBatch> {
        item("batch", self.crowd.batches.iter(), batch)
    }

    pub fn info(&self, batch: u32) -> Outcome<PackedBatch> {
        let batch = self.batch(batch)?;
        Ok(PackedBatch {
            skeleton: number(batch.skeleton.index()),
            instance_count: number(batch.instances.len()),
            dispatch_count: number(batch.dispatches.len()),
            ..PackedBatch::default()
        })
    }

    /// The index in the crowd of each instance of a batch.
    pub fn instances(&self, batch: u32) -> Outcome<Vec<u32>> {
        Ok(self.batch(batch)?.instances.iter().copied().map(number).collect())
    }

    pub fn dispatch(&self, batch: u32, dispatch: u32) -> Outcome<PackedDispatch> {
        let dispatch = item("dispatch", self.batch(batch)?.dispatches.iter(), dispatch)?;
        let bindings = dispatch.pass.bindings();
        let mut found = PackedDispatch {
            pass: numbered::<types::Pass>(dispatch.pass as u32)? as u32,
            groups: dispatch.groups,
            binding_count: number(bindings.len()),
            ..PackedDispatch::default()
        };
        let places = found.buffers.iter_mut().zip(&mut found.access);
        for ((buffer, access), Binding { buffer: bound, access: how, .. }) in places.zip(bindings) {
            (*buffer, *access) = (*bound as u32, *how as u32);
        }
        Ok(found)
    }

    /// The name of the kernel of a dispatch.
    pub fn kernel(&self, batch: u32, dispatch: u32) -> Outcome<&str> {
        Ok(&item("dispatch", self.batch(batch)?.dispatches.iter(), dispatch)?.kernel)
    }

    pub fn buffer(&self, batch: u32, buffer: u32) -> Outcome<PackedBuffer> {
        let (contents, bytes) = self.contents(batch, buffer)?;
        Ok(PackedBuffer { bytes, content_bytes: contents.len() as u64, ..PackedBuffer::default() })
    }

    /// The contents of a buffer, and its size. All batches have the same buffers of the library.
    pub fn contents(&self, batch: u32, buffer: u32) -> Outcome<(&[u8], u64)> {
        let number = numbered::<types::Buffer>(buffer)? as u32;
        let &buffer = item("buffer", Buffer::ALL.iter(), number)?;
        if let Some(found) = library_buffer(&self.library, buffer) {
            return Ok(found);
        }
        let found = self.batch(batch)?.buffer(buffer);
        Ok(found.map_or((&[][..], 0), |found| (found.contents.as_slice(), found.bytes)))
    }
}

/// A number, or another one if it is 0.
fn some_or<T: Default + PartialEq>(given: T, usual: T) -> T {
    if given == T::default() { usual } else { given }
}
