//! Identifiers of the items of a library.

macro_rules! id {
    ($name:ident, $article:literal, $noun:literal) => {
        #[doc = concat!("Identifies ", $article, " ", $noun)]
        #[doc = "of the [`Library`](crate::model::Library) that returned the identifier."]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) usize);

        impl $name {
            #[doc = concat!("The index among the ", $noun, "s of the library, from 0.")]
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
id!(ChainId, "a", "chain");
id!(KnotsId, "a", "list of knots");
id!(BlendSpaceId, "a", "blend space");
