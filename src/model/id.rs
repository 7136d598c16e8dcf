//! Names of what a library holds.

macro_rules! id {
    ($name:ident, $noun:literal) => {
        #[doc = concat!("Names a ", $noun, " of the [`Library`](crate::model::library::Library) that gave it out.")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) usize);

        impl $name {
            #[doc = concat!("Position among the library's ", $noun, "s, from 0.")]
            pub fn index(self) -> usize {
                self.0
            }
        }
    };
}

id!(SkeletonId, "skeleton");
id!(SkinId, "skin");
id!(ClipId, "clip");
id!(InterpolatorId, "interpolator");
id!(MaskId, "mask");
