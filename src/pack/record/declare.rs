//! Declaration of records and constants, once for Rust and WGSL.
//!
//! [`record!`] and [`constants!`] define Rust items, and descriptions of them. [`Shared::wgsl`] writes the same items
//! in WGSL from the descriptions, with the doc comments, except on the web. A test compares the layout that `naga`
//! parses with the layout in Rust.
//!
//! No existing crate does this. `wgsl_to_wgpu` and `wgsl_bindgen` go from whole WGSL modules to Rust in a build script,
//! but these kernels are composed at run time from the features of a library. `encase` copies Rust values into the
//! layout of WGSL and writes no WGSL. Records here have that layout already, and the CPU engine reads them in place.

use glam::{Mat4, Vec3};

/// A field of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: &'static str,
    /// The lines of the doc comment.
    pub docs: &'static [&'static str],
    /// The type in WGSL.
    pub type_name: &'static str,
    /// The offset in bytes.
    pub offset: usize,
    /// The size in bytes.
    pub size: usize,
}

/// The description of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The name, in Rust and in WGSL.
    pub name: &'static str,
    /// The lines of the doc comment.
    pub docs: &'static [&'static str],
    /// The fields in order.
    pub fields: &'static [Field],
    /// The size in bytes.
    pub size: usize,
    /// The array of `u32` from which a WGSL function loads the record. `None`: the record is bound as a whole.
    pub loaded_from: Option<&'static str>,
}

/// The description of a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constant {
    /// The name, in Rust and in WGSL.
    pub name: &'static str,
    /// The lines of the doc comment.
    pub docs: &'static [&'static str],
    /// The value.
    pub value: Value,
}

/// The value of a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A `u32`.
    Word(u32),
    /// A finite `f32`.
    Float(f32),
    /// An array of finite `f32`.
    Floats(&'static [f32]),
}

/// The records and constants that a Rust file declares for WGSL too.
#[derive(Debug, Clone, Copy)]
pub struct Shared {
    /// The path of the file from the root of the crate.
    pub file: &'static str,
    /// The constants of the file.
    pub constants: &'static [Constant],
    /// The records of the file.
    pub records: &'static [Record],
}

/// A type of a field, with the same layout in Rust and in WGSL.
pub trait FieldType {
    /// The name of the type in WGSL.
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
    [u32; 2] => "vec2u",
    [u32; 3] => "vec3u",
    [u32; 4] => "vec4u",
    [f32; 2] => "vec2f",
    [f32; 3] => "vec3f",
    [f32; 4] => "vec4f",
    Vec3 => "vec3f",
    Mat4 => "mat4x4f",
    [u32; 8] => "array<u32, 8>",
    [[f32; 4]; 3] => "array<vec4f, 3>",
}

/// Defines a record: a struct of [`FieldType`]s with the layout of WGSL, and its description `RECORD`.
///
/// `Name in words { ... }` lies in the array `words`, from which WGSL loads it field by field. All its fields must be
/// `u32` or `f32`. `Name { ... }` is bound as a whole.
#[doc(hidden)]
#[macro_export]
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
            /// The description of the record.
            pub const RECORD: $crate::low_level::record::Record = $crate::low_level::record::Record {
                name: stringify!($name),
                docs: $crate::low_level::record::docs(&[$($doc),*]),
                fields: &[$($crate::low_level::record::Field {
                    name: stringify!($field),
                    docs: $crate::low_level::record::docs(&[$($field_doc),*]),
                    type_name: <$type as $crate::low_level::record::FieldType>::WGSL,
                    offset: std::mem::offset_of!($name, $field),
                    size: size_of::<$type>(),
                },)*],
                size: 4 * Self::WORDS,
                loaded_from: $crate::low_level::record::loaded_from(&[$(stringify!($array))?]),
            };
        }

        impl $crate::low_level::record::FieldType for $name {
            const WGSL: &'static str = stringify!($name);
        }
    };
}

/// Defines public constants, and their descriptions `CONSTANTS`. A file has at most one such block.
#[doc(hidden)]
#[macro_export]
macro_rules! constants {
    (@value u32 $name:ident) => { $crate::low_level::record::Value::Word($name) };
    (@value f32 $name:ident) => { $crate::low_level::record::Value::Float($name) };
    (@value [f32; $count:literal] $name:ident) => { $crate::low_level::record::Value::Floats(&$name) };
    ($($(#[doc = $doc:literal])* pub const $name:ident: $type:tt = $value:expr;)*) => {
        $($(#[doc = $doc])* pub const $name: $type = $value;)*

        /// The descriptions of the constants of this file.
        pub(crate) const CONSTANTS: &[$crate::low_level::record::Constant] = &[$($crate::low_level::record::Constant {
            name: stringify!($name),
            docs: $crate::low_level::record::docs(&[$($doc),*]),
            value: $crate::low_level::record::constants!(@value $type $name),
        },)*];
    };
}

pub use {constants, record};

/// The lines of a doc comment; on the web, where every byte is downloaded, none.
pub const fn docs(lines: &'static [&'static str]) -> &'static [&'static str] {
    if cfg!(target_arch = "wasm32") { &[] } else { lines }
}

/// The first name of a list of at most one; `None` for an empty list.
pub const fn loaded_from(array: &[&'static str]) -> Option<&'static str> {
    match array {
        [array, ..] => Some(array),
        [] => None,
    }
}
