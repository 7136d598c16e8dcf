//! Files into a [`Library`](crate::Library): joints, skins and clips, whatever else a file holds.

pub mod cocos;
pub mod crowd;
pub(crate) mod fault;
pub mod gltf;
mod warning;

pub use warning::Warning;
