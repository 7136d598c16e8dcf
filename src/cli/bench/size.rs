//! How large a case is.

use std::fmt;

use posse::{Error, Library, SkinFormat, demo};

use crate::cli::arguments::check_limit;

/// The most joints of a generated rig.
const MOST_JOINTS: u64 = 1 << 20;

/// What makes a case comparable with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Instances of the crowd.
    pub instances: usize,
    /// Skeletons among them.
    pub skeletons: u32,
    /// Joints of the largest.
    pub joints: usize,
    /// Keys a track, of generated rigs.
    pub keys: Option<u32>,
    /// Levels of the hierarchy, of generated rigs.
    pub depth: Option<u32>,
    /// Layers of each instance, or the most that one has.
    pub layers: u32,
    /// How skin matrices are written.
    pub skin_format: SkinFormat,
}

impl Size {
    /// Whether both play the same rigs, in whatever crowds.
    pub fn is_same_rig(&self, other: &Self) -> bool {
        let rig = |size: &Self| Self { instances: 0, layers: 0, skin_format: SkinFormat::Matrix, ..*size };
        rig(self) == rig(other)
    }

    /// The generated rigs: of several, each has a joint less than the one before. Scales are alike along all axes where
    /// they have to be.
    pub fn library(&self, uniform: bool) -> Result<Library, Error> {
        check_limit("joints of a rig", self.joints as u64, MOST_JOINTS)?;
        let mut library = Library::new();
        for fewer in 0..self.skeletons as usize {
            let joints = self.joints.saturating_sub(fewer).max(1);
            let depth = self.depth.map_or(1, |depth| depth as usize).min(joints);
            let keys = self.keys.unwrap_or(1) as usize;
            match uniform {
                true => demo::add_uniform_rig(&mut library, joints, keys, depth)?,
                false => demo::add_rig(&mut library, joints, keys, depth)?,
            };
        }
        Ok(library)
    }

    /// About how many bytes of memory a case takes at the most.
    pub fn bytes(&self) -> u64 {
        // Ten `f64` of a joint's key in the model, three vectors of `f32` in the packing, and once more on the device.
        let keys = 176 * u64::from(self.keys.unwrap_or(1)) * self.joints as u64 * u64::from(self.skeletons);
        // A skin matrix a joint; what an instance and its layers are in the model, packed, and on the device.
        let instance = self.skin_format.bytes() as u64 * self.joints as u64 + 100 + 400 * u64::from(self.layers);
        keys.saturating_add(instance.saturating_mul(self.instances as u64))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instances, skeletons, joints, keys, depth, layers, skin_format } = self;
        write!(f, "{instances} instances of {joints} joints, layers {layers}")?;
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
        layers: 2,
        skin_format: SkinFormat::Matrix,
    };

    #[test]
    fn memory_is_at_least_that_of_what_is_written() {
        let million = Size { instances: 1_000_000, joints: 16, ..SIZE };
        assert!((768_000_000..2_000_000_000).contains(&million.bytes()), "{}", million.bytes());
        assert_eq!(Size { instances: usize::MAX, ..SIZE }.bytes(), u64::MAX);
    }

    #[test]
    fn the_same_rig_is_played_by_crowds_of_any_size() {
        assert!(SIZE.is_same_rig(&Size { instances: 1, layers: 1, skin_format: SkinFormat::HalfMatrix, ..SIZE }));
        assert!(!SIZE.is_same_rig(&Size { keys: Some(5), ..SIZE }));
    }
}
