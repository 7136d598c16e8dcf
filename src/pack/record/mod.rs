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

mod batch;
mod channel;
mod clip;
mod easing;
mod event;
mod frame;
mod layer;
mod mapping;
mod pair;
mod quantized_column;
mod root;
mod skeleton;
mod timeline;
mod value_channel;
mod visible_instance;

pub use batch::*;
pub use channel::*;
pub use clip::*;
pub use easing::*;
pub use event::*;
pub use frame::*;
pub use layer::*;
pub use mapping::*;
pub use pair::*;
pub use quantized_column::*;
pub use root::*;
pub use skeleton::*;
pub use timeline::*;
pub use value_channel::*;
pub use visible_instance::*;

/// No joint, no table, no matrix.
pub const NONE: u32 = u32::MAX;
