//! Names of what a library holds.

macro_rules! id {
    ($name:ident, $article:literal, $noun:literal) => {
        #[doc = concat!("Names ", $article, " ", $noun)]
        #[doc = "of the [`Library`](crate::model::Library) that gave it out."]
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

id!(SkeletonId, "a", "skeleton");
id!(SkinId, "a", "skin");
id!(ClipId, "a", "clip");
id!(InterpolatorId, "an", "interpolator");
id!(MaskId, "a", "mask");
