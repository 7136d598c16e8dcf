//! Records that Rust writes and WGSL reads.
//!
//! Each is declared once here and once in `shaders/shared/records.wgsl`; a test compares the two, field by field.

/// A field of a record, for the comparison with WGSL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type, as written.
    pub type_name: &'static str,
    /// Its offset in bytes.
    pub offset: usize,
}

macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ident,)* }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $name {
            /// The number of `u32` words of a record.
            pub const WORDS: usize = size_of::<Self>() / 4;
            /// The fields in order.
            pub const FIELDS: &'static [$crate::pack::record::Field] = &[$($crate::pack::record::Field {
                name: stringify!($field),
                type_name: stringify!($type),
                offset: std::mem::offset_of!($name, $field),
            },)*];
        }
    };
}

pub mod batch;
pub mod channel;
pub mod clip;
pub mod compact_column;
pub mod easing;
pub mod event;
pub mod frame;
pub mod layer;
pub mod mapping;
pub mod pair;
pub mod root;
pub mod seen_entry;
pub mod skeleton;
pub mod timeline;
pub mod value_channel;

/// No joint, no table, no matrix.
pub const NONE: u32 = u32::MAX;
