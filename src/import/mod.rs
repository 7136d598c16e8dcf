//! Files into a [`Library`](crate::Library): joints, skins and clips, whatever else a file holds.

pub mod cocos;
pub mod crowd;
mod fault;
pub mod gltf;
pub mod warning;
