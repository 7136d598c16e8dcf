//! The memory of the caller: texts, structs, arrays and outputs, checked as far as they can be.

use std::ffi::{CStr, c_char};
use std::mem::{MaybeUninit, align_of, offset_of, size_of};
use std::ptr;

use crate::error::{Error, Outcome};
use crate::layout::{OutputKind, Rows};
use crate::types::{
    Chain, ClipInfo, CrowdHandle, CrowdInfo, CrowdOptions, Event, EventList, Goal, JointInfo, Layer, Layout,
    LibraryHandle, LibraryInfo, LoadOptions, Loaded, Output, Outputs, PackOptions, PackedBatch, PackedBuffer,
    PackedDispatch, PackedHandle, SkeletonInfo, SkinJointInfo, Status, Transition,
};

/// The most bytes that an array has.
const MAX_BYTES: usize = isize::MAX as usize;

/// The proof that the caller of the present call keeps the promise of the header about its pointers: each is null, or
/// points to as much memory as the arguments beside it say, for the length of the call.
pub struct Caller(());

/// A struct whose first field is its size, as the caller knows it.
///
/// # Safety
/// The type is `repr(C)`, all its fields can have any bits, and its first one is a `usize`.
pub unsafe trait SizedStruct: Copy + Default {
    /// The name in the header.
    const NAME: &'static str;
    /// The size in the first version of the interface: larger ones were added to.
    const MIN_SIZE: usize;
}

macro_rules! sized {
    ($($type:ident $name:literal $min:literal;)*) => {$(
        const _: () = assert!(offset_of!($type, struct_size) == 0 && size_of::<$type>() >= $min);
        // SAFETY: the type is `repr(C)` and has numbers and pointers alone; the line above checks the first field.
        unsafe impl SizedStruct for $type {
            const NAME: &'static str = $name;
            const MIN_SIZE: usize = if size_of::<usize>() == 8 { $min } else { size_of::<$type>() };
        }
    )*};
}

sized! {
    Chain "posse_chain" 64;
    ClipInfo "posse_clip_info" 40;
    CrowdInfo "posse_crowd_info" 24;
    CrowdOptions "posse_crowd_options" 24;
    EventList "posse_event_list" 40;
    Goal "posse_goal" 64;
    JointInfo "posse_joint_info" 56;
    Layer "posse_layer" 160;
    Layout "posse_layout" 32;
    LibraryInfo "posse_library_info" 24;
    LoadOptions "posse_load_options" 24;
    Loaded "posse_loaded" 32;
    Outputs "posse_outputs" 136;
    PackOptions "posse_pack_options" 24;
    PackedBatch "posse_packed_batch" 24;
    PackedBuffer "posse_packed_buffer" 24;
    PackedDispatch "posse_packed_dispatch" 152;
    SkeletonInfo "posse_skeleton_info" 32;
    SkinJointInfo "posse_skin_joint_info" 64;
    Transition "posse_transition" 32;
}

impl Caller {
    /// The token of a call.
    ///
    /// # Safety
    /// The pointers that its methods are given are arguments of the present call, or stand in structs that those point
    /// to; the caller keeps its promise; and the token does not outlive the call.
    pub unsafe fn new() -> Self {
        Self(())
    }

    /// A text that ends with 0.
    pub fn text(&self, what: &str, text: *const c_char) -> Outcome<&str> {
        check(what, text, 0)?;
        // SAFETY: it is not null, and the caller promises a text that ends with 0 and lasts as long as the call.
        let text = unsafe { CStr::from_ptr(text) };
        text.to_str().map_err(|error| Error::argument(format!("{what} is not UTF-8: {error}")))
    }

    /// An array of numbers.
    pub fn slice<T: Number>(&self, what: &str, first: *const T, count: usize) -> Outcome<&[T]> {
        if count == 0 {
            return Ok(&[]);
        }
        check(what, first, bytes_of::<T>(what, count)?)?;
        // SAFETY: it is not null, is aligned and ends within the address space; the caller promises `count` numbers, which
        // nobody writes during the call, and all bits are numbers.
        Ok(unsafe { std::slice::from_raw_parts(first, count) })
    }

    /// Writes numbers to an array that has room for `capacity`.
    pub fn write<T: Number>(&self, what: &str, from: &[T], to: *mut T, capacity: usize) -> Outcome<()> {
        if from.len() > capacity {
            let (needed, found) = (from.len(), capacity);
            return Err(Error::new(Status::Buffer, format!("{what} has room for {found}, but {needed} are needed")));
        }
        if from.is_empty() {
            return Ok(());
        }
        check(what, to, bytes_of::<T>(what, capacity)?)?;
        // SAFETY: it is not null, is aligned, and the caller promises room for `capacity` numbers, which is no part of what
        // this library owns.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
        Ok(())
    }

    /// Writes a text with a 0 at its end to `buffer`, and its length without the 0 to `length`, which can be null. Without
    /// a buffer, it writes the length alone.
    pub fn write_text(&self, text: &str, buffer: *mut c_char, capacity: usize, length: *mut usize) -> Outcome<()> {
        let text = text.replace('\0', " ");
        if !length.is_null() {
            self.write_one("length", text.len(), length)?;
        }
        if buffer.is_null() && capacity == 0 {
            return Ok(());
        }
        let bytes: Vec<u8> = text.bytes().chain([0]).collect();
        self.write("buffer", &bytes, buffer.cast::<u8>(), capacity)
    }

    /// Writes one number.
    pub fn write_one<T: Number>(&self, what: &str, number: T, to: *mut T) -> Outcome<()> {
        self.write(what, &[number], to, 1)
    }

    /// Writes the number that a computation returns, and before it `none`, which stays if the computation fails.
    pub fn write_result<T: Number>(
        &self,
        what: &str,
        none: T,
        to: *mut T,
        compute: impl FnOnce() -> Outcome<T>,
    ) -> Outcome<()> {
        self.write_one(what, none, to)?;
        self.write_one(what, compute()?, to)
    }

    /// A struct.
    pub fn read<T: SizedStruct>(&self, what: &str, from: *const T) -> Outcome<T> {
        let size = self.size(what, from)?;
        let mut value = T::default();
        // SAFETY: the caller promises as many bytes as its first field says, which are no more than the struct has here; any
        // bits are values of its fields.
        unsafe { ptr::copy_nonoverlapping(from.cast::<u8>(), (&raw mut value).cast::<u8>(), size) };
        Ok(value)
    }

    /// A struct, or the default for a null pointer.
    pub fn read_or_default<T: SizedStruct>(&self, what: &str, from: *const T) -> Outcome<T> {
        if from.is_null() { Ok(T::default()) } else { self.read(what, from) }
    }

    /// An array of structs of one size, at most `most`.
    pub fn read_all<T: SizedStruct>(&self, what: &str, first: *const T, count: u32, most: u32) -> Outcome<Vec<T>> {
        if count > most {
            return Err(Error::new(Status::Limit, format!("{what} has {count} elements; {most} are allowed")));
        }
        let mut all = Vec::new();
        if count == 0 {
            return Ok(all);
        }
        let size = self.size(what, first)?;
        for index in 0..count as usize {
            let at = first.wrapping_byte_add(index * size);
            // A struct of another size would be at another place, and end beyond the array.
            if self.size(what, at)? != size {
                return Err(Error::argument(format!("the elements of {what} have several values of struct_size")));
            }
            all.push(self.read(what, at)?);
        }
        Ok(all)
    }

    /// Writes a struct, of which the caller has set the size.
    pub fn write_struct<T: SizedStruct>(&self, what: &str, value: &T, to: *mut T) -> Outcome<()> {
        let size = self.size(what, to)?;
        let header = size_of::<usize>();
        let from = ptr::from_ref(value).cast::<u8>();
        // SAFETY: the caller promises as many bytes as its first field says, which are at least `header` and no more than the
        // struct has here. The first field stays.
        unsafe {
            ptr::copy_nonoverlapping(from.add(header), to.cast::<u8>().add(header), size - header);
        }
        Ok(())
    }

    /// The outputs that the caller has memory for.
    pub fn targets(&self, outputs: &Outputs) -> Outcome<Targets<'_>> {
        let Outputs { local, model, skin, values, root_motion, .. } = *outputs;
        let all = [local, model, skin, values, root_motion];
        for (output, kind) in all.iter().zip(OutputKind::ALL) {
            if !output.numbers.is_null() {
                check(kind.name(), output.numbers, bytes_of::<f32>(kind.name(), output.count)?)?;
            }
        }
        Ok(Targets { caller: self, outputs: all })
    }

    /// The size of a struct of the caller, which is one of the sizes that the interface has had.
    fn size<T: SizedStruct>(&self, what: &str, from: *const T) -> Outcome<usize> {
        check(what, from, T::MIN_SIZE)?;
        // SAFETY: it is not null and aligned, and the caller promises a struct that begins with its size.
        let size = unsafe { from.cast::<usize>().read() };
        if (T::MIN_SIZE..=size_of::<T>()).contains(&size) && size.is_multiple_of(align_of::<T>()) {
            return Ok(size);
        }
        let (name, own) = (T::NAME, size_of::<T>());
        let hint = if size > own && size < 2 * own { "; the header is newer than the library" } else { "" };
        Err(Error::argument(format!("{what}.struct_size is {size}; expected sizeof({name}), which is {own}{hint}")))
    }
}

/// A number, a plain struct or a handle: any bits are a value of it.
pub trait Number: Copy {}

impl Number for u8 {}
impl Number for u32 {}
impl Number for usize {}
impl Number for f32 {}
impl Number for f64 {}
impl Number for Event {}
impl Number for *mut CrowdHandle {}
impl Number for *mut LibraryHandle {}
impl Number for *mut PackedHandle {}

/// Memory of the caller for outputs.
pub struct Targets<'a> {
    #[expect(dead_code, reason = "the pointers belong to its call")]
    caller: &'a Caller,
    /// In the order of [`OutputKind::ALL`], with checked pointers.
    outputs: [Output; 5],
}

impl Rows for Targets<'_> {
    fn wants(&self, kind: OutputKind) -> bool {
        !self.outputs[kind as usize].numbers.is_null()
    }

    fn row(&mut self, kind: OutputKind, instance: usize, width: usize) -> Outcome<&mut [MaybeUninit<f32>]> {
        let Output { numbers, count, stride } = self.outputs[kind as usize];
        let name = kind.name();
        let error = |text: String| Err(Error::new(Status::Buffer, format!("{name}.{text}")));
        if width > stride {
            return error(format!("stride is {stride}, but an instance has {width} numbers"));
        }
        let start = instance.checked_mul(stride);
        let Some(start) = start.filter(|start| count.checked_sub(*start).is_some_and(|left| left >= width)) else {
            return error(format!("count is {count}; instance {instance} ends at {instance} * {stride} + {width}"));
        };
        // SAFETY: the pointer was checked, and the caller promises `count` numbers that no other thread writes. The numbers
        // of an instance are written under the lock of its chunk, and only one slice of them exists at a time, because it
        // borrows all targets. Memory that was never written is no number, hence the type.
        Ok(unsafe { std::slice::from_raw_parts_mut(numbers.wrapping_add(start).cast(), width) })
    }
}

/// Checks a pointer to memory of some bytes: it is not null, is aligned, and the memory ends within the address space.
fn check<T>(what: &str, pointer: *const T, bytes: usize) -> Outcome<()> {
    if pointer.is_null() {
        return Err(Error::argument(format!("{what} is null")));
    }
    if !pointer.is_aligned() {
        let alignment = align_of::<T>();
        return Err(Error::new(Status::Buffer, format!("the address of {what} is not a multiple of {alignment}")));
    }
    match pointer.addr().checked_add(bytes) {
        Some(_) => Ok(()),
        None => Err(Error::new(Status::Buffer, format!("{what} ends beyond the address space"))),
    }
}

/// The bytes of an array.
fn bytes_of<T>(what: &str, count: usize) -> Outcome<usize> {
    let bytes = count.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= MAX_BYTES);
    bytes.ok_or_else(|| Error::new(Status::Buffer, format!("{what} cannot have {count} elements")))
}
