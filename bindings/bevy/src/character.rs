//! Characters.

use bevy::prelude::*;
use posse::transitions::{NewTransition, TransitionKind};
use posse::{Layer, Ticks};

use crate::clip_layer::ClipLayer;
use crate::rig::CrowdRig;

/// A character of a crowd: one entity, whatever the number of its joints.
///
/// Once its rig is loaded, the entity gets the mesh and the material of the rig, unless it has a `Mesh3d` or a
/// `MeshMaterial3d<CrowdMaterial>` of its own. Further meshes of the rig become children, with the `RenderLayers`,
/// `VisibilityRange`, `NotShadowCaster` and `NoFrustumCulling` of the character. The plugin owns its `MeshTag` and
/// `Aabb`.
#[derive(Component, Debug, Clone)]
#[require(Transform, Visibility)]
pub struct Posse {
    /// The rig.
    pub rig: Handle<CrowdRig>,
    /// The layers, up to eight. Without any, the character stands in its rest pose.
    pub layers: Vec<ClipLayer>,
    /// The parameters, up to 16, which layers may refer to by index. Missing ones are 0.
    pub parameters: Vec<f32>,
}

impl Posse {
    /// A character with layers and without parameters.
    pub fn new(rig: Handle<CrowdRig>, layers: impl Into<Vec<ClipLayer>>) -> Self {
        Self { rig, layers: layers.into(), parameters: Vec::new() }
    }

    /// A character that plays a clip repeatedly.
    pub fn looping(rig: Handle<CrowdRig>, clip: &str) -> Self {
        Self::new(rig, [ClipLayer::looping(clip)])
    }
}

/// Lets a character go over to other layers smoothly: each change of its layers begins a transition from the pose that
/// it shows, and the layers of before are not played any more. Without this component, the pose jumps.
#[derive(Component, Debug, Clone, Copy, PartialEq)]
pub struct LayerTransition {
    /// The kind of the decay; inertialization by default.
    pub kind: TransitionKind,
    /// The pace of the decay in seconds, more than 0: as `half_life` of [`posse::transitions::Transition`]; 0.1 by
    /// default.
    pub half_life: f64,
}

impl Default for LayerTransition {
    fn default() -> Self {
        Self { kind: TransitionKind::Inertial, half_life: 0.1 }
    }
}

impl LayerTransition {
    /// The transition of an instance that begins now.
    pub(crate) fn begin(self, instance: usize, layers: &[Layer], now: Ticks) -> NewTransition<'_> {
        NewTransition { instance, layers, now, kind: self.kind, half_life: self.half_life }
    }
}
