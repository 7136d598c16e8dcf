//! The mixing that layers need.

use crate::model::{Layer, LayerMode};

/// The mixing that combines the layers of an instance, ordered from least to most. A kernel for more mixing also serves less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Mixing {
    /// None: at most one layer, which blends with a weight of [`Layer::LEAST_WEIGHT`] or more, without mask and fades.
    #[default]
    None,
    /// Blending: any number of layers that blend, with any weights, masks and fades.
    Blend,
    /// All mixing: at least one layer overrides or adds.
    Any,
}

impl Mixing {
    /// The mixing that these layers need.
    pub fn of(layers: &[Layer]) -> Self {
        if layers.iter().any(|layer| layer.mode != LayerMode::Blend) {
            return Self::Any;
        }
        match layers {
            [] => Self::None,
            [only] if only.is_plain() => Self::None,
            _ => Self::Blend,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ClipId, Fade, FadeShape, LayerTime, Ticks};

    #[test]
    fn layers_need_as_much_as_the_one_that_needs_most() {
        let layer = |weight: f64, mode: LayerMode| Layer { weight, mode, ..Layer::new(ClipId(0), LayerTime::At(0.0)) };
        let plain = layer(1.0, LayerMode::Blend);
        let fade = Some(Fade { start: Ticks(0), length: Ticks(1), shape: FadeShape::Linear });
        assert_eq!([Mixing::of(&[]), Mixing::of(&[plain])], [Mixing::None; 2]);
        for layers in [vec![layer(0.05, LayerMode::Blend)], vec![Layer { fade_in: fade, ..plain }], vec![plain; 2]] {
            assert_eq!(Mixing::of(&layers), Mixing::Blend, "{layers:?}");
        }
        for over in [LayerMode::Override, LayerMode::Additive(Default::default())] {
            assert_eq!(Mixing::of(&[plain, layer(0.0, over)]), Mixing::Any);
        }
        assert!(Mixing::None < Mixing::Blend && Mixing::Blend < Mixing::Any);
    }
}
