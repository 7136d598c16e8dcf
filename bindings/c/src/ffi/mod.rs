//! The calls of C, and the memory of the caller that they read and write.
//!
//! All `unsafe` code of the crate is in this folder. Its reasons are three:
//!
//! * **Exported names.** A name that is not mangled could clash with a name of another library. All begin with
//!   `posse_`.
//! * **Pointers of the caller.** [`entry`] makes a [`Caller`](memory::Caller), the token that stands for the promise of
//!   the header: a pointer argument is null or points to as much memory as the arguments beside it say, which no other
//!   thread writes during the call. Each function below may therefore make one, for the length of its call. The methods
//!   of the token refuse what can be seen to break the promise: null, wrong alignment, an impossible length, a struct of
//!   an unknown size, text that is not UTF-8.
//!   What the calls read by reference (texts, arrays) is read after the last write to other memory of the caller or before
//!   the next one, so that it may overlap with it.
//! * **Panics.** [`entry`] catches them, so that none crosses into C.
//!
//! Handles need none of this: they are keys, and never read as addresses.

#![expect(unsafe_code, reason = "C passes pointers; the head of the module says what is relied on")]

mod crowd;
mod library;
mod memory;
mod packed;

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Outcome};
use crate::types::{POSSE_ABI_VERSION, POSSE_TICKS_PER_SECOND, Status, Ticks};
use memory::Caller;

thread_local! {
    /// The text of the last error of the thread.
    static ERROR_TEXT: RefCell<CString> = RefCell::default();
}

/// Runs the body of a call: with access to the memory of the caller, and without a panic that leaves it.
///
/// # Safety
/// The pointers that the body gives to the token are arguments of the present call, whose caller keeps the promise at
/// the head of this module.
unsafe fn entry(body: impl FnOnce(&Caller) -> Outcome<()>) -> Status {
    // SAFETY: the promise of this function.
    let caller = unsafe { Caller::new() };
    // After a panic, the locks of the objects in use are poisoned, and calls on them fail.
    let error = match catch_unwind(AssertUnwindSafe(|| body(&caller))) {
        Ok(Ok(())) => return Status::Ok,
        Ok(Err(error)) => error,
        Err(panic) => Error::new(Status::Internal, format!("an error of posse itself: {}", panic_text(&*panic))),
    };
    let text = CString::new(error.text.replace('\0', " ")).unwrap_or_default();
    // At the end of a thread, its variables may be gone.
    let _ = ERROR_TEXT.try_with(|last| *last.borrow_mut() = text);
    error.status
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

/// Returns the version of the interface of this library, to be compared with `POSSE_ABI_VERSION` of the header:
/// `posse_abi_version() >> 16 == POSSE_ABI_VERSION >> 16 && posse_abi_version() >= POSSE_ABI_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn posse_abi_version() -> u32 {
    POSSE_ABI_VERSION
}

/// Returns the version of posse, for people: a text that lasts as long as the program.
#[unsafe(no_mangle)]
pub extern "C" fn posse_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Returns the reason of the last error of the calling thread, in UTF-8; empty if no call of it has failed. The text lasts
/// until the next call that fails on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn posse_error_text() -> *const c_char {
    ERROR_TEXT.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Returns the tick nearest to a time in seconds. Beyond the range of ticks it is the last one; for NaN it is 0.
#[unsafe(no_mangle)]
pub extern "C" fn posse_ticks_of(seconds: f64) -> Ticks {
    (seconds * POSSE_TICKS_PER_SECOND as f64).round() as i64
}
