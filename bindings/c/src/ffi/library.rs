//! Calls of libraries.

use std::ffi::c_char;
use std::path::Path;
use std::ptr::without_provenance_mut;
use std::sync::Arc;

use super::entry;
use crate::error::Outcome;
use crate::library::Library;
use crate::numbers::numbered;
use crate::registry::{self, Object};
use crate::types::{
    Chain, ClipInfo, JointInfo, LibraryHandle, LibraryInfo, LoadOptions, Loaded, SkeletonInfo, SkinJointInfo, Status,
};

/// The library of a handle.
pub fn library(handle: *const LibraryHandle) -> Outcome<Arc<Library>> {
    registry::get(handle.addr())
}

/// Makes an empty library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_create(library: *mut *mut LibraryHandle) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            caller.write_result("library", without_provenance_mut(0), library, || {
                let key = registry::add(Object::Library(Arc::default()))?;
                Ok(without_provenance_mut(key))
            })
        })
    }
}

/// Destroys a library. Its crowds keep what they need of it. Null is no error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_destroy(library: *mut LibraryHandle) -> Status {
    // SAFETY: no memory of the caller is used.
    unsafe { entry(|_| if library.is_null() { Ok(()) } else { registry::remove::<Library>(library.addr()) }) }
}

/// Reads a file into a library: glTF (.glb, .gltf, .vrm), FBX, BVH, or a clip of Cocos Creator. The content tells the
/// format. `options` and `loaded` can be null. If the file cannot be used, the library stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_load_file(
    library: *mut LibraryHandle,
    path: *const c_char,
    options: *const LoadOptions,
    loaded: *mut Loaded,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let (library, options) = (self::library(library)?, caller.read_or_default("options", options)?);
            if !loaded.is_null() {
                caller.write_struct("loaded", &Loaded::default(), loaded)?;
            }
            let found = library.load_file(caller.text("path", path)?, &options)?;
            if loaded.is_null() { Ok(()) } else { caller.write_struct("loaded", &found, loaded) }
        })
    }
}

/// Reads the bytes of a file into a library, as `posse_library_load_file`. `name` stands for the file in names and errors;
/// it is not opened. A .gltf file must have its buffers within itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_load_memory(
    library: *mut LibraryHandle,
    name: *const c_char,
    bytes: *const u8,
    size: usize,
    options: *const LoadOptions,
    loaded: *mut Loaded,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let (library, options) = (self::library(library)?, caller.read_or_default("options", options)?);
            if !loaded.is_null() {
                caller.write_struct("loaded", &Loaded::default(), loaded)?;
            }
            let (name, bytes) = (caller.text("name", name)?, caller.slice("bytes", bytes, size)?);
            let found = library.load(Path::new(name), bytes, None, &options)?;
            if loaded.is_null() { Ok(()) } else { caller.write_struct("loaded", &found, loaded) }
        })
    }
}

/// Gives a clip to another skeleton, by the names of joints, and adds the new clip. Tracks without a joint of their name
/// are left out, with a warning. Values are not adapted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_share_clip(
    library: *mut LibraryHandle,
    clip: u32,
    skeleton: u32,
    new_clip: *mut u32,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let library = self::library(library)?;
            caller.write_result("new_clip", u32::MAX, new_clip, || library.share_clip(clip, skeleton))
        })
    }
}

/// Sets the joint of a clip whose movement over the ground moves the instance, and is taken out of its pose: along the
/// two horizontal axes, and about the vertical one. `POSSE_NONE` removes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_set_root_motion(library: *mut LibraryHandle, clip: u32, joint: u32) -> Status {
    // SAFETY: no memory of the caller is used.
    unsafe { entry(|_| self::library(library)?.set_root_motion(clip, joint)) }
}

/// Adds a mask: one weight per joint of a skeleton, 0 or more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_add_mask(
    library: *mut LibraryHandle,
    skeleton: u32,
    weights: *const f32,
    count: usize,
    mask: *mut u32,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let library = self::library(library)?;
            caller.write_result("mask", u32::MAX, mask, || {
                let weights = caller.slice("weights", weights, count)?;
                library.add_mask(skeleton, weights)
            })
        })
    }
}

/// Adds a chain: joints that inverse kinematics rotates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_add_chain(
    library: *mut LibraryHandle,
    chain: *const Chain,
    index: *mut u32,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let (library, chain) = (self::library(library)?, caller.read("chain", chain)?);
            caller.write_result("index", u32::MAX, index, || library.add_chain(&chain))
        })
    }
}

/// Adds knots: a weight as a function of a parameter, linear between `count` pairs of a value and a weight. The values
/// increase.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_add_knots(
    library: *mut LibraryHandle,
    pairs: *const f32,
    count: usize,
    knots: *mut u32,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let library = self::library(library)?;
            caller.write_result("knots", u32::MAX, knots, || {
                let pairs = caller.slice("pairs", pairs, count.saturating_mul(2))?;
                library.add_knots(pairs)
            })
        })
    }
}

/// Adds a blend space of `count` points, pairs of x and y, which are joined to triangles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_add_blend_space(
    library: *mut LibraryHandle,
    points: *const f32,
    count: usize,
    blend_space: *mut u32,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let library = self::library(library)?;
            caller.write_result("blend_space", u32::MAX, blend_space, || {
                let points = caller.slice("points", points, count.saturating_mul(2))?;
                library.add_blend_space(points)
            })
        })
    }
}

/// Finds the only item that a text selects: its name; of clips and joints also `NAME#K`, the K-th of that name, and `#I`,
/// the index; of joints also the end of a path such as `Armature/Hips`. `kind` is a `posse_item`, which tells what the
/// owner is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_find(
    library: *const LibraryHandle,
    kind: u32,
    owner: u32,
    text: *const c_char,
    index: *mut u32,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let library = self::library(library)?;
            caller.write_result("index", u32::MAX, index, || {
                let text = caller.text("text", text)?;
                library.find(numbered(kind)?, owner, text)
            })
        })
    }
}

/// Writes the name of an item in UTF-8, with a 0 at its end, to a buffer of `capacity` bytes. `kind` is a `posse_item`,
/// which tells what the owner is. `length` gets the number of bytes without the 0, also if the buffer is too short; it can
/// be null. To ask for the length alone, let the buffer be null and its capacity 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_name(
    library: *const LibraryHandle,
    kind: u32,
    owner: u32,
    index: u32,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let name = self::library(library)?.name(numbered(kind)?, owner, index)?;
            caller.write_text(&name, buffer, capacity, length)
        })
    }
}

/// Writes the numbers of items of a library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_get_info(library: *const LibraryHandle, info: *mut LibraryInfo) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe { entry(|caller| caller.write_struct("info", &self::library(library)?.info()?, info)) }
}

/// Writes what a skeleton has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_get_skeleton(
    library: *const LibraryHandle,
    skeleton: u32,
    info: *mut SkeletonInfo,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe { entry(|caller| caller.write_struct("info", &self::library(library)?.skeleton_info(skeleton)?, info)) }
}

/// Writes what a joint has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_get_joint(
    library: *const LibraryHandle,
    skeleton: u32,
    joint: u32,
    info: *mut JointInfo,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe { entry(|caller| caller.write_struct("info", &self::library(library)?.joint_info(skeleton, joint)?, info)) }
}

/// Writes what a joint of the skins of a skeleton has. `index` counts skin matrices: the skins of a skeleton follow one
/// another, each with its joints in the order to which the vertices of its mesh refer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_get_skin_joint(
    library: *const LibraryHandle,
    skeleton: u32,
    index: u32,
    info: *mut SkinJointInfo,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe { entry(|caller| caller.write_struct("info", &self::library(library)?.skin_joint(skeleton, index)?, info)) }
}

/// Writes what a clip has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_get_clip(
    library: *const LibraryHandle,
    clip: u32,
    info: *mut ClipInfo,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe { entry(|caller| caller.write_struct("info", &self::library(library)?.clip_info(clip)?, info)) }
}

/// Writes the time of an event in its clip, in seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_library_get_event(
    library: *const LibraryHandle,
    clip: u32,
    event: u32,
    seconds: *mut f64,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe { entry(|caller| caller.write_one("seconds", self::library(library)?.event_time(clip, event)?, seconds)) }
}
