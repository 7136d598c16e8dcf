//! Declares records and constants once, for Rust and for WGSL.
//!
//! [`record!`] and [`constants!`] define the Rust items and describe them beside. [`Shared::wgsl`] writes the same in WGSL from
//! the description, with the doc comments. A test compares the layout of what `naga` parses with the layout in Rust.
//!
//! No library does this. `wgsl_to_wgpu` and `wgsl_bindgen` go the other way, from whole WGSL modules to Rust in a build script;
//! these kernels are composed at run time, by what a library holds. `encase` copies Rust values into WGSL's layout and writes no
//! WGSL; records here have that layout, and the CPU engine reads them in place.

use glam::{Mat4, Vec3};

/// A field of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The lines of its doc comment.
    pub docs: &'static [&'static str],
    /// Its type in WGSL.
    pub type_name: &'static str,
    /// Its offset in bytes.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
}

/// A record, from which its WGSL is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Its name, in Rust and in WGSL.
    pub name: &'static str,
    /// The lines of its doc comment.
    pub docs: &'static [&'static str],
    /// Its fields in order.
    pub fields: &'static [Field],
    /// Its size in bytes.
    pub size: usize,
    /// The array of `u32` from which a WGSL function loads it. `None`: WGSL binds it as it is.
    pub loaded_from: Option<&'static str>,
}

/// A constant, from which its WGSL is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constant {
    /// Its name, in Rust and in WGSL.
    pub name: &'static str,
    /// The lines of its doc comment.
    pub docs: &'static [&'static str],
    /// Its value.
    pub value: Value,
}

/// The value of a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A `u32`.
    Word(u32),
    /// An `f32`, which is finite.
    Float(f32),
    /// An array of `f32`, all finite.
    Floats(&'static [f32]),
}

/// The records and constants that a Rust file declares for WGSL too.
#[derive(Debug, Clone, Copy)]
pub struct Shared {
    /// The file, from the root of the crate.
    pub file: &'static str,
    /// Its constants.
    pub constants: &'static [Constant],
    /// Its records.
    pub records: &'static [Record],
}

/// A type of a field, of the same layout in Rust and in WGSL.
pub trait FieldType {
    /// Its name in WGSL.
    const WGSL: &'static str;
}

macro_rules! field_types {
    ($($type:ty => $wgsl:literal,)*) => {
        $(impl FieldType for $type {
            const WGSL: &'static str = $wgsl;
        })*
    };
}

field_types! {
    u32 => "u32",
    f32 => "f32",
    [f32; 2] => "vec2f",
    [f32; 3] => "vec3f",
    [f32; 4] => "vec4f",
    Vec3 => "vec3f",
    Mat4 => "mat4x4f",
    [u32; 8] => "array<u32, 8>",
    [[f32; 4]; 3] => "array<vec4f, 3>",
}

/// Defines a record: a struct of [`FieldType`]s, whose bytes are those that WGSL reads, and its description `RECORD`.
///
/// `Name in words { ... }` says that it lies in the array `words`, from which WGSL loads it field by field; then all its fields
/// are `u32` or `f32`. `Name { ... }` is bound as it is.
macro_rules! record {
    (
        $(#[doc = $doc:literal])*
        $name:ident $(in $array:ident)? { $($(#[doc = $field_doc:literal])* $field:ident: $type:ty,)* }
    ) => {
        $(#[doc = $doc])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
        pub struct $name {
            $($(#[doc = $field_doc])* pub $field: $type,)*
        }

        impl $name {
            /// The number of `u32` words of a record.
            pub const WORDS: usize = size_of::<Self>() / 4;
            /// The record's description.
            pub const RECORD: $crate::pack::record::Record = $crate::pack::record::Record {
                name: stringify!($name),
                docs: &[$($doc),*],
                fields: &[$($crate::pack::record::Field {
                    name: stringify!($field),
                    docs: &[$($field_doc),*],
                    type_name: <$type as $crate::pack::record::FieldType>::WGSL,
                    offset: std::mem::offset_of!($name, $field),
                    size: size_of::<$type>(),
                },)*],
                size: 4 * Self::WORDS,
                loaded_from: $crate::pack::record::loaded_from(&[$(stringify!($array))?]),
            };
        }

        impl $crate::pack::record::FieldType for $name {
            const WGSL: &'static str = stringify!($name);
        }
    };
}

/// Defines public constants, and describes them all in `CONSTANTS`. There is one such block in a file.
macro_rules! constants {
    (@value u32 $name:ident) => { $crate::pack::record::Value::Word($name) };
    (@value f32 $name:ident) => { $crate::pack::record::Value::Float($name) };
    (@value [f32; $count:literal] $name:ident) => { $crate::pack::record::Value::Floats(&$name) };
    ($($(#[doc = $doc:literal])* pub const $name:ident: $type:tt = $value:expr;)*) => {
        $($(#[doc = $doc])* pub const $name: $type = $value;)*

        /// The descriptions of this file's constants.
        pub(crate) const CONSTANTS: &[$crate::pack::record::Constant] = &[$($crate::pack::record::Constant {
            name: stringify!($name),
            docs: &[$($doc),*],
            value: $crate::pack::record::constants!(@value $type $name),
        },)*];
    };
}

pub(crate) use {constants, record};

/// The array of a record that lies in one, by its name or none.
pub(crate) const fn loaded_from(array: &[&'static str]) -> Option<&'static str> {
    match array {
        [array, ..] => Some(array),
        [] => None,
    }
}
