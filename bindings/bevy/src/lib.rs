//! Crowds of animated characters in Bevy, posed by the compute kernels of posse and drawn by Bevy's own renderer.
//!
//! * [`PossePlugin`]: adds all of this to an app.
//! * [`CrowdRig`]: an asset, the skeleton, clips and meshes of a `.glb` or `.gltf` file, or of a [`posse::Library`].
//! * [`Posse`]: the component of a character: its rig, and its layers of clips ([`ClipLayer`]). Joints are not
//!   entities.
//! * [`LayerTransition`]: lets a character go over to other layers smoothly.
//! * [`CrowdMaterial`]: Bevy's `StandardMaterial` with skin matrices by posse ([`CrowdSkinning`]).
//! * [`CrowdClock`]: the clock of all characters; it follows Bevy's `Time`, its pause and its speed.
//! * [`ClipEvents`], [`ClipEvent`]: messages at the events of clips, for the characters that ask for them.
//! * [`JointSocket`]: an entity that follows a joint of a character.
//! * [`ChainGoals`]: goals of a character, for inverse kinematics.
//! * [`MovedByRoot`]: lets the root motion of clips move a character.
//!
//! README.md shows a program, and gives the reasons for the design.

#![warn(missing_docs)]

// An app can have one version of glam for posse and another one for Bevy, since posse admits several. Vectors and
// rotations cross from one to the other as arrays.

/// The README. Its program is compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod assign;
mod bounds;
mod change;
mod character;
mod clip_layer;
mod clock;
mod compressed;
mod dress;
mod dress_rigs;
mod events;
mod extract;
mod goals;
mod loader;
mod material;
mod mesh;
mod morph;
mod plugin;
mod recover;
mod render_crowd;
mod rig;
mod root;
mod slots;
mod socket;
mod views;
mod weights;

#[doc(no_inline)]
pub use posse;

pub use character::{LayerTransition, Posse};
pub use clip_layer::ClipLayer;
pub use clock::CrowdClock;
pub use events::{ClipEvent, ClipEvents};
pub use goals::{ChainGoal, ChainGoals};
pub use loader::{CrowdRigError, CrowdRigLoader};
pub use material::{CrowdMaterial, CrowdSkinning};
pub use mesh::{ATTRIBUTE_CROWD_JOINTS, ATTRIBUTE_CROWD_WEIGHTS, crowd_mesh};
pub use plugin::{PossePlugin, PosseSystems};
pub use rig::{CrowdRig, CrowdRigParts, DressedPart, RigPart};
pub use root::MovedByRoot;
pub use socket::JointSocket;
