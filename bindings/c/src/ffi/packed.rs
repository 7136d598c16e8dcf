//! Calls of crowds that are packed for a device of the caller.

use std::ffi::c_char;
use std::ptr::without_provenance_mut;
use std::sync::Arc;

use super::crowd::crowd;
use super::entry;
use crate::error::Outcome;
use crate::packed::Packed;
use crate::registry::{self, Object};
use crate::types::{CrowdHandle, PackOptions, PackedBatch, PackedBuffer, PackedDispatch, PackedHandle, Status};

/// The packed crowd of a handle.
fn packed(handle: *const PackedHandle) -> Outcome<Arc<Packed>> {
    registry::get(handle.addr())
}

/// Packs the instances of a crowd, as they are now, for the kernels that the command `posse kernels` writes, on a device of
/// the caller: Vulkan, Metal, Direct3D 12 or WebGPU. docs/kernels.md describes it. `options` can be null. The packed crowd
/// does not change with the crowd; `batch_count` gets the number of its batches.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_packed_create(
    crowd: *const CrowdHandle,
    options: *const PackOptions,
    packed: *mut *mut PackedHandle,
    batch_count: *mut u32,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let (crowd, options) = (self::crowd(crowd)?, caller.read_or_default("options", options)?);
            caller.write_one("batch_count", 0, batch_count)?;
            caller.write_result("packed", without_provenance_mut(0), packed, || {
                let made = Arc::new(crowd.pack(&options)?);
                caller.write_one("batch_count", made.batch_count(), batch_count)?;
                Ok(without_provenance_mut(registry::add(Object::Packed(made))?))
            })
        })
    }
}

/// Destroys a packed crowd. Null is no error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_packed_destroy(packed: *mut PackedHandle) -> Status {
    // SAFETY: no memory of the caller is used.
    unsafe { entry(|_| if packed.is_null() { Ok(()) } else { registry::remove::<Packed>(packed.addr()) }) }
}

/// Writes what a batch has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_packed_get_batch(
    packed: *const PackedHandle,
    batch: u32,
    info: *mut PackedBatch,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe { entry(|caller| caller.write_struct("info", &self::packed(packed)?.info(batch)?, info)) }
}

/// Writes the index in the crowd of each instance of a batch, in the order of its buffers: instance `i` of the batch has its
/// outputs at `i` times the numbers of `posse_crowd_get_layout`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_packed_get_instances(
    packed: *const PackedHandle,
    batch: u32,
    instances: *mut u32,
    capacity: usize,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe { entry(|caller| caller.write("instances", &self::packed(packed)?.instances(batch)?, instances, capacity)) }
}

/// Writes a dispatch of a batch. A frame has them in order, each after the writes of the one before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_packed_get_dispatch(
    packed: *const PackedHandle,
    batch: u32,
    dispatch: u32,
    info: *mut PackedDispatch,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe { entry(|caller| caller.write_struct("info", &self::packed(packed)?.dispatch(batch, dispatch)?, info)) }
}

/// Writes the name of the kernel of a dispatch: its file without the extension, as `posse_library_name` writes names.
/// Kernels of another version of posse or of a library of other features have other names or meanings: write them for
/// this library, by the command of the same version.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_packed_kernel(
    packed: *const PackedHandle,
    batch: u32,
    dispatch: u32,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| caller.write_text(self::packed(packed)?.kernel(batch, dispatch)?, buffer, capacity, length))
    }
}

/// Writes the sizes of a buffer of a batch. `buffer` is a `posse_buffer`. Buffers of the library are the same for all
/// batches of all crowds of the library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_packed_get_buffer(
    packed: *const PackedHandle,
    batch: u32,
    buffer: u32,
    info: *mut PackedBuffer,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe { entry(|caller| caller.write_struct("info", &self::packed(packed)?.buffer(batch, buffer)?, info)) }
}

/// Writes the contents of a buffer, `content_bytes` of `posse_packed_get_buffer`, for example to mapped memory of the device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_packed_read(
    packed: *const PackedHandle,
    batch: u32,
    buffer: u32,
    contents: *mut u8,
    capacity: usize,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let packed = self::packed(packed)?;
            let (bytes, _) = packed.contents(batch, buffer)?;
            caller.write("contents", bytes, contents, capacity)
        })
    }
}
