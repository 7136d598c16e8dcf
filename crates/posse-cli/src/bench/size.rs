//! The size of a case.

use std::fmt;

use posse::{Error, Library, SkinFormat, demo};

use super::rig::CrowdShape;
use crate::arguments::check_limit;

/// The largest number of joints of a generated rig.
const MAX_RIG_JOINTS: u64 = 1 << 20;

/// The size of a case. Cases of the same size are comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The number of instances.
    pub instances: usize,
    /// The number of skeletons.
    pub skeletons: u32,
    /// The number of joints of the largest skeleton.
    pub joints: usize,
    /// The number of keys per track; `None` for rigs of files.
    pub keys: Option<u32>,
    /// The number of levels of the hierarchy; `None` for rigs of files.
    pub depth: Option<u32>,
    /// The number of clips of each skeleton; `None` for clips of files.
    pub clips: Option<u32>,
    /// The number of layers of each instance; for crowd files the largest.
    pub layers: u32,
    /// The number of layers that are additive: the last ones; 0 for crowd files, which say it themselves.
    pub additive: u32,
    /// The format of skin matrices.
    pub skin_format: SkinFormat,
}

impl Size {
    /// Returns true if both sizes have the same rigs. Their crowds may differ.
    pub fn is_same_rig(&self, other: &Self) -> bool {
        let rig = |size: &Self| Self { instances: 0, layers: 0, additive: 0, skin_format: SkinFormat::Matrix, ..*size };
        rig(self) == rig(other)
    }

    /// The shape of the crowd.
    pub fn crowd(&self) -> CrowdShape {
        CrowdShape { instances: self.instances, layers: self.layers, additive: self.additive }
    }

    /// Generates the rigs. Each has one joint less than the previous one. With `uniform`, their scales are uniform. The clips of a
    /// rig begin at different keys and share no memory.
    pub fn library(&self, uniform: bool) -> Result<Library, Error> {
        check_limit("joints of a rig", self.joints as u64, MAX_RIG_JOINTS)?;
        let mut library = Library::new();
        for fewer in 0..self.skeletons as usize {
            let joints = self.joints.saturating_sub(fewer).max(1);
            let depth = self.depth.map_or(1, |depth| depth as usize).min(joints);
            let keys = self.keys.unwrap_or(1) as usize;
            match uniform {
                true => demo::add_uniform_rig(&mut library, joints, keys, depth)?,
                false => demo::add_rig(&mut library, joints, keys, depth)?,
            };
            let Some(first) = library.clip_ids().last() else { continue };
            for shift in 1..self.clips.unwrap_or(1) as usize {
                library.add_clip(demo::shifted_clip(library.clip(first), shift)?)?;
            }
        }
        Ok(library)
    }

    /// An upper estimate of the memory of a case in bytes.
    pub fn bytes(&self) -> u64 {
        // Per joint and key: ten `f64` in the model, three vectors of four `f32` in the packed library, and the same on the device.
        let clips = u64::from(self.clips.unwrap_or(1)) * u64::from(self.skeletons);
        let keys = (176 * u64::from(self.keys.unwrap_or(1)) * self.joints as u64).saturating_mul(clips);
        // A skin matrix per joint; an instance and its layers in the model, packed, and on the device.
        let instance = self.skin_format.bytes() as u64 * self.joints as u64 + 100 + 400 * u64::from(self.layers);
        keys.saturating_add(instance.saturating_mul(self.instances as u64))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instances, skeletons, joints, keys, depth, clips, layers, additive, skin_format } = self;
        write!(f, "{instances} instances of {joints} joints, layers {layers}")?;
        if *additive > 0 {
            write!(f, ", additive {additive}")?;
        }
        if let Some(clips) = clips.filter(|&clips| clips > 1) {
            write!(f, ", clips {clips}")?;
        }
        if *skeletons > 1 {
            write!(f, ", skeletons {skeletons}")?;
        }
        if *skin_format != SkinFormat::Matrix {
            write!(f, ", skin format {}", skin_format.name())?;
        }
        let generated = [("keys", keys), ("depth", depth)];
        generated.iter().try_for_each(|(name, size)| size.map_or(Ok(()), |size| write!(f, ", {name} {size}")))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A small crowd of several skeletons.
    pub const SIZE: Size = Size {
        instances: 6,
        skeletons: 3,
        joints: 5,
        keys: Some(4),
        depth: Some(4),
        clips: Some(2),
        layers: 2,
        additive: 1,
        skin_format: SkinFormat::Matrix,
    };

    #[test]
    fn memory_is_at_least_that_of_the_output() {
        let million = Size { instances: 1_000_000, joints: 16, ..SIZE };
        assert!((768_000_000..2_000_000_000).contains(&million.bytes()), "{}", million.bytes());
        assert_eq!(Size { instances: usize::MAX, ..SIZE }.bytes(), u64::MAX);
    }

    #[test]
    fn crowds_of_any_size_play_the_same_rig() {
        assert!(SIZE.is_same_rig(&Size {
            instances: 1,
            layers: 1,
            additive: 0,
            skin_format: SkinFormat::HalfMatrix,
            ..SIZE
        }));
        assert!(!SIZE.is_same_rig(&Size { keys: Some(5), ..SIZE }));
        assert!(!SIZE.is_same_rig(&Size { clips: Some(3), ..SIZE }));
    }
}
