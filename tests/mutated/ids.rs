use std::sync::{Arc, OnceLock};

use posse::curves::{Interpolator, InterpolatorId};
use posse::ik::{Chain, ChainId, ChainKind};
use posse::parameters::{BlendSpace, BlendSpaceId, Knots, KnotsId};
use posse::{Clip, ClipId, Joint, Library, Mask, MaskId, Skeleton, SkeletonId};

use super::mutation::Mutation;

/// The number of items of each kind. It is more than any scene has.
const COUNT: usize = 64;

/// Identifiers of a library that is not in use, so that they can name items that another library does not have.
pub struct Ids {
    skeletons: Vec<SkeletonId>,
    clips: Vec<ClipId>,
    masks: Vec<MaskId>,
    chains: Vec<ChainId>,
    knots: Vec<KnotsId>,
    spaces: Vec<BlendSpaceId>,
    interpolators: Vec<InterpolatorId>,
}

/// An interpolator with a number in its name.
#[derive(Debug)]
struct Numbered(String);

impl Interpolator for Numbered {
    fn name(&self) -> &str {
        &self.0
    }

    fn width(&self) -> usize {
        1
    }

    fn lerp(&self, from: &[f64], _: &[f64], _: f64, _: f64, result: &mut [f64]) {
        result.copy_from_slice(from);
    }

    fn wgsl(&self) -> &str {
        ""
    }
}

impl Ids {
    /// The identifiers of `COUNT` items of each kind.
    pub fn get() -> &'static Self {
        static IDS: OnceLock<Ids> = OnceLock::new();
        IDS.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut library = Library::new();
        let joints = || vec![Joint::default()];
        let skeletons: Vec<SkeletonId> =
            (0..COUNT).map(|_| library.add_skeleton(Skeleton::new(None, joints(), Vec::new()).unwrap())).collect();
        let skeleton = skeletons[0];
        let corners = vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        let aim = || ChainKind::Aim { joint: 0, forward: [0.0, 0.0, 1.0], limit: 1.0 };
        Self {
            clips: (0..COUNT).map(|_| library.add_clip(Clip::new(None, skeleton, Vec::new())).unwrap()).collect(),
            masks: (0..COUNT)
                .map(|_| library.add_mask(Mask { name: None, skeleton, weights: vec![1.0] }).unwrap())
                .collect(),
            chains: (0..COUNT)
                .map(|_| library.add_chain(Chain { name: None, skeleton, kind: aim() }).unwrap())
                .collect(),
            knots: (0..COUNT).map(|_| library.add_knots(Knots::new(vec![[0.0, 0.0]]).unwrap())).collect(),
            spaces: (0..COUNT).map(|_| library.add_blend_space(BlendSpace::new(corners.clone()).unwrap())).collect(),
            interpolators: (0..COUNT)
                .map(|index| library.add_interpolator(Arc::new(Numbered(format!("numbered_{index}")))).unwrap())
                .collect(),
            skeletons,
        }
    }

    /// A skeleton.
    pub fn skeleton(&self, name: &'static str, own: SkeletonId, mutation: &mut Mutation) -> SkeletonId {
        self.skeletons[mutation.index(name, own.index()) % COUNT]
    }

    /// The clip of a layer.
    pub fn clip(&self, own: ClipId, mutation: &mut Mutation) -> ClipId {
        self.clips[mutation.index("clip of a layer", own.index()) % COUNT]
    }

    /// The mask of a layer.
    pub fn mask(&self, own: MaskId, mutation: &mut Mutation) -> MaskId {
        self.masks[mutation.index("mask of a layer", own.index()) % COUNT]
    }

    /// The chain of a goal.
    pub fn chain(&self, own: ChainId, mutation: &mut Mutation) -> ChainId {
        self.chains[mutation.index("chain of a goal", own.index()) % COUNT]
    }

    /// The knots of a driver.
    pub fn knots(&self, own: KnotsId, mutation: &mut Mutation) -> KnotsId {
        self.knots[mutation.index("knots of a driver", own.index()) % COUNT]
    }

    /// The blend space of a driver.
    pub fn space(&self, own: BlendSpaceId, mutation: &mut Mutation) -> BlendSpaceId {
        self.spaces[mutation.index("blend space of a driver", own.index()) % COUNT]
    }

    /// The interpolator of a curve.
    pub fn interpolator(&self, own: InterpolatorId, mutation: &mut Mutation) -> InterpolatorId {
        self.interpolators[mutation.index("interpolator", own.index()) % COUNT]
    }
}
