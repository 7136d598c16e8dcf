//! The promise on memory and time, as SECURITY.md states it, and an allocator that keeps watch over it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes of memory per byte of a file: `GROWTH` of `src/import/file_error.rs`.
const GROWTH: usize = 64;
/// Bytes for what does not depend on the file: messages, and tables of the standard library.
const CONSTANT: usize = 64 << 10;
/// The allowance of glTF files, and of crowd files, which name some.
pub const GLTF: usize = 256 << 20;
/// The allowance of FBX files.
pub const FBX: usize = 256 << 20;
/// The allowance of clips of Cocos Creator.
pub const COCOS: usize = 1 << 20;
/// The allowance of retargeting clips of a few kilobytes.
pub const RETARGETED: usize = 64 << 20;
/// The allowance of BVH files.
pub const BVH: usize = 64 << 10;
/// The allowance of files of SMPL.
pub const SMPL: usize = 16 << 20;
/// Seconds per megabyte, and the least limit in seconds.
const SECONDS: f64 = 1.0;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Counts the bytes of the heap, and ends the process if there are more than the promise allows.
struct Watch;

#[global_allocator]
static WATCH: Watch = Watch;

fn grow(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    if live > LIMIT.load(Relaxed) {
        // Without the limit, so that the message can be printed. A panic would be caught, and must not leave an
        // allocator.
        LIMIT.store(usize::MAX, Relaxed);
        eprintln!("more memory than promised: {live} bytes on the heap after an allocation of {bytes}");
        std::process::abort();
    }
}

// SAFETY: all calls go to the allocator of the system, unchanged.
unsafe impl GlobalAlloc for Watch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps the rules of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the pointer comes from `System`.
        unsafe { System.dealloc(pointer, layout) };
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grow(size);
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the pointer comes from `System`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs the import of a file of `bytes` bytes under the promise: 64 bytes of memory per byte and an allowance, and a
/// second of processor time per megabyte, at least one.
pub fn keep<T>(bytes: usize, allowance: usize, import: impl FnOnce() -> T) -> T {
    in_memory(bytes, allowance, || in_time(bytes, import))
}

/// Runs work on `bytes` bytes under the promise on memory alone.
pub fn in_memory<T>(bytes: usize, allowance: usize, work: impl FnOnce() -> T) -> T {
    let limit = LIVE.load(Relaxed) + GROWTH * bytes + allowance + CONSTANT;
    LIMIT.store(limit, Relaxed);
    let result = work();
    LIMIT.store(usize::MAX, Relaxed);
    result
}

/// Raises the limit of the memory, after a further file has been read.
pub fn add_file(bytes: usize) {
    LIMIT.fetch_add(GROWTH * bytes, Relaxed);
}

/// Runs work for a file of `bytes` bytes under the promise on time alone.
pub fn in_time<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let (result, seconds) = timed(work);
    let allowed = SECONDS * (bytes as f64 / 1e6).max(1.0);
    assert!(seconds <= allowed, "{seconds} s of processor time for {bytes} bytes; {allowed} s are promised");
    result
}

/// Runs work. Returns the processor time in seconds, too.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = processor_seconds();
    let result = work();
    (result, processor_seconds() - start)
}

/// The processor time of all threads, so that other processes do not count.
fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}
