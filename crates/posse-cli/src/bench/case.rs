//! The cases of a benchmark: their sizes, and cost tables, which have the time per joint as one size grows and the
//! others are fixed.

use std::fmt;

use posse::demo::RigMotion;
use posse::{Error, Library, SkinFormat, demo};
use serde::Deserialize;

use crate::arguments::check_limit;
use crate::output::plural;

/// The largest number of joints of a generated rig.
const MAX_RIG_JOINTS: u64 = 1 << 20;
/// The largest number of joints of a case: instances times joints.
pub const MAX_JOINTS: u64 = 1 << 28;
/// The largest relative cost per joint that counts as linear growth: 80 % of the throughput.
const LINEAR_COST: f64 = 1.25;

/// The scales of the joints of generated rigs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scales {
    /// Joints stretch along one axis and shrink along another.
    Uneven,
    /// Joints grow along all axes alike.
    Uniform,
}

impl Scales {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uneven => "uneven",
            Self::Uniform => "uniform",
        }
    }
}

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
    /// The scales of the rigs; `None` for rigs of files.
    pub scales: Option<Scales>,
    /// The angle between neighbouring rotation keys in degrees; `None` for one swing per clip, and for clips of files.
    pub key_angle: Option<u32>,
}

impl Size {
    /// The size of a rig without a crowd: one layer of one clip, with matrices as output.
    pub fn of_rig(joints: usize) -> Self {
        Self {
            instances: 0,
            skeletons: 1,
            joints,
            keys: None,
            depth: None,
            clips: None,
            layers: 1,
            additive: 0,
            skin_format: SkinFormat::Matrix,
            scales: None,
            key_angle: None,
        }
    }

    /// Returns true if both sizes have the same rigs. Their crowds may differ.
    pub fn is_same_rig(&self, other: &Self) -> bool {
        let rig = |size: &Self| Self { instances: 0, layers: 0, additive: 0, skin_format: SkinFormat::Matrix, ..*size };
        rig(self) == rig(other)
    }

    /// The shape of the crowd.
    pub fn crowd(&self) -> CrowdShape {
        CrowdShape { instances: self.instances, layers: self.layers, additive: self.additive }
    }

    /// Generates the rigs. Each has one joint less than the previous one. The clips of a rig begin at different keys and
    /// share no memory.
    pub fn library(&self) -> Result<Library, Error> {
        check_limit("joints of a rig", self.joints as u64, MAX_RIG_JOINTS)?;
        let motion = RigMotion {
            uniform_scales: self.scales == Some(Scales::Uniform),
            key_angle: self.key_angle.map(|degrees| f64::from(degrees).to_radians()),
        };
        let mut library = Library::new();
        for fewer in 0..self.skeletons as usize {
            let joints = self.joints.saturating_sub(fewer).max(1);
            let depth = self.depth.map_or(1, |depth| depth as usize).min(joints);
            let keys = self.keys.unwrap_or(1) as usize;
            demo::add_moving_rig(&mut library, joints, keys, depth, motion)?;
            let Some(first) = library.clip_ids().last() else { continue };
            for shift in 1..self.clips.unwrap_or(1) as usize {
                library.add_clip(demo::shifted_clip(library.clip(first), shift)?)?;
            }
        }
        Ok(library)
    }

    /// An upper estimate of the memory of a case in bytes.
    pub fn bytes(&self) -> u64 {
        // Per joint and key: ten `f64` in the model, three vectors of four `f32` in the packed library, and the same on
        // the device.
        let clips = u64::from(self.clips.unwrap_or(1)) * u64::from(self.skeletons);
        let keys = (176 * u64::from(self.keys.unwrap_or(1)) * self.joints as u64).saturating_mul(clips);
        // A skin matrix per joint; an instance and its layers in the model, packed, and on the device.
        let instance = self.skin_format.bytes() as u64 * self.joints as u64 + 100 + 400 * u64::from(self.layers);
        keys.saturating_add(instance.saturating_mul(self.instances as u64))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instances, skeletons, joints, keys, depth, clips, layers, additive, .. } = self;
        let Self { skin_format, scales, key_angle, .. } = self;
        write!(f, "{} of {}, layers {layers}", plural(*instances, "instance"), plural(*joints, "joint"))?;
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
        if let Some(Scales::Uniform) = scales {
            write!(f, ", uniform scales")?;
        }
        if let Some(degrees) = key_angle {
            write!(f, ", {degrees} degrees between keys")?;
        }
        let generated = [("keys", keys), ("depth", depth)];
        generated.iter().try_for_each(|(name, size)| size.map_or(Ok(()), |size| write!(f, ", {name} {size}")))
    }
}

/// The number of instances of a crowd, and their layers.
#[derive(Debug, Clone, Copy)]
pub struct CrowdShape {
    pub instances: usize,
    /// The layers of each instance.
    pub layers: u32,
    /// The number of layers that are additive: the last ones.
    pub additive: u32,
}

/// A cost table, by the size that grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Table {
    /// Instances of a 16-joint rig, 1 to 1,000,000.
    Instances,
    /// Keys per track, 2 to 10,000.
    Keys,
    /// Levels of the hierarchy, 1 to 500: a tree of 200 joints up to a chain of 200, then a chain of 500.
    Depth,
    /// Joints of a rig, 1 to 2,000, among them 24 (SMPL), 65 (Mixamo) and others that are no powers of two.
    Joints,
    /// Blended layers, 1 to 8.
    Layers,
    /// Skeletons in the crowd, 1 to 16.
    Skeletons,
    /// Clips of the skeleton, 1 to 500, which the instances play in turn.
    Clips,
    /// Additive layers above one or two layers that blend.
    Additive,
}

/// A step of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableStep {
    /// The table.
    pub table: Table,
    /// The size that grows; of table `additive` all layers.
    pub value: u32,
    /// The number of additive layers; 0 in other tables.
    pub additive: u32,
}

/// A case that is going to be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedCase {
    /// The size of the crowd.
    pub size: Size,
    /// The step of a cost table; `None` for other cases.
    pub step: Option<TableStep>,
}

/// The steps of table `additive`: one clip, two clips blended, and additive layers above them.
const ADDITIVE_STEPS: [TableStep; 6] =
    [layered(1, 0), layered(2, 0), layered(2, 1), layered(3, 1), layered(4, 3), layered(8, 7)];

const fn layered(layers: u32, additive: u32) -> TableStep {
    TableStep { table: Table::Additive, value: layers, additive }
}

impl Table {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Instances => "instances",
            Self::Keys => "keys",
            Self::Depth => "depth",
            Self::Joints => "joints",
            Self::Layers => "layers",
            Self::Skeletons => "skeletons",
            Self::Clips => "clips",
            Self::Additive => "additive",
        }
    }

    /// The steps, in ascending order of the size that grows.
    fn steps(self) -> Vec<TableStep> {
        let values: &[u32] = match self {
            Self::Instances => &[1, 10, 100, 1_000, 10_000, 100_000, 1_000_000],
            Self::Keys => &[2, 10, 60, 1_000, 10_000],
            Self::Depth => &[1, 10, 50, 200, 500],
            Self::Joints => &[1, 4, 16, 24, 43, 64, 65, 130, 256, 1_000, 2_000],
            Self::Layers => &[1, 2, 4, 8],
            Self::Skeletons => &[1, 2, 4, 8, 16],
            Self::Clips => &[1, 10, 50, 100, 200, 500],
            Self::Additive => return ADDITIVE_STEPS.to_vec(),
        };
        values.iter().map(|&value| TableStep { table: self, value, additive: 0 }).collect()
    }

    /// The step that the others are compared with.
    pub fn base(self) -> TableStep {
        let value = match self {
            Self::Instances => 10_000,
            Self::Keys => 60,
            Self::Depth => 10,
            Self::Joints => 64,
            Self::Layers | Self::Skeletons | Self::Clips => 1,
            Self::Additive => 2,
        };
        TableStep { table: self, value, additive: 0 }
    }

    /// The step of a case of this size.
    pub fn step_of(self, size: &Size) -> TableStep {
        let value = match self {
            Self::Instances => size.instances as u32,
            Self::Keys => size.keys.unwrap_or(0),
            Self::Depth => size.depth.unwrap_or(0),
            Self::Joints => size.joints as u32,
            Self::Layers | Self::Additive => size.layers,
            Self::Skeletons => size.skeletons,
            Self::Clips => size.clips.unwrap_or(0),
        };
        let additive = if self == Self::Additive { size.additive } else { 0 };
        TableStep { table: self, value, additive }
    }

    /// The cases. Each has about this number of joints, except for table `instances`, where the number follows from the
    /// instances.
    pub fn cases(self, joints: u32) -> impl Iterator<Item = PlannedCase> {
        self.steps().into_iter().map(move |step| PlannedCase { size: step.size(joints), step: Some(step) })
    }
}

impl TableStep {
    /// The size of the case, for a total number of joints.
    fn size(self, total: u32) -> Size {
        let value = self.value;
        let scales = Some(Scales::Uneven);
        let rig = Size { keys: Some(60), depth: Some(10), clips: Some(1), scales, ..Size::of_rig(64) };
        let rig = match self.table {
            Table::Instances => return Size { instances: value as usize, joints: 16, ..rig },
            Table::Keys => Size { keys: Some(value), ..rig },
            Table::Depth => Size { depth: Some(value), joints: value.max(200) as usize, ..rig },
            Table::Joints => Size { joints: value as usize, depth: Some(value.min(10)), ..rig },
            Table::Layers => Size { layers: value, ..rig },
            Table::Skeletons => Size { skeletons: value, ..rig },
            Table::Clips => Size { clips: Some(value), ..rig },
            Table::Additive => Size { clips: Some(2), layers: value, additive: self.additive, ..rig },
        };
        Size { instances: (total as usize / rig.joints).max(1), ..rig }
    }

    /// The bound of the cost per joint, relative to the cost at the base; `None` without a bound. The cost may grow in
    /// proportion to the layers. Keys of many or long clips come from farther away. For other sizes above the base, the
    /// cost must not grow.
    pub fn at_most(self) -> Option<f64> {
        let grown = self.value > self.table.base().value;
        match self.table {
            Table::Keys => (self.value == 10_000).then_some(1.6),
            Table::Clips => (self.value == 500).then_some(1.5),
            Table::Additive => (self == layered(2, 1)).then_some(1.3),
            Table::Depth => (self.value == 200).then_some(2.0),
            Table::Layers => grown.then_some(f64::from(self.value)),
            Table::Instances => (grown || self.value == 1_000).then_some(LINEAR_COST),
            Table::Joints | Table::Skeletons => grown.then_some(LINEAR_COST),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use clap::ValueEnum;

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
        scales: Some(Scales::Uneven),
        key_angle: None,
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
        assert!(!SIZE.is_same_rig(&Size { scales: Some(Scales::Uniform), ..SIZE }));
        assert!(!SIZE.is_same_rig(&Size { key_angle: Some(60), ..SIZE }));
    }

    #[test]
    fn every_table_contains_its_base_and_has_no_bound_there() {
        for &table in Table::value_variants() {
            assert!(table.steps().is_sorted_by_key(|step| step.value), "{table:?}");
            assert!(table.steps().contains(&table.base()), "{table:?}");
            assert_eq!(table.base().at_most(), None, "{table:?}");
            assert_eq!(table.to_possible_value().unwrap().get_name(), table.name());
        }
    }

    #[test]
    fn the_step_of_a_case_is_that_of_its_size() {
        for &table in Table::value_variants() {
            for PlannedCase { size, step } in table.cases(64_000) {
                assert_eq!(Some(table.step_of(&size)), step);
            }
        }
    }

    #[test]
    fn the_bounds_are_those_of_the_design() {
        let bound = |table, value| TableStep { table, value, additive: 0 }.at_most();
        assert_eq!(bound(Table::Keys, 10_000), Some(1.6), "over the whole clip");
        assert_eq!(bound(Table::Clips, 500), Some(1.5));
        assert_eq!(bound(Table::Depth, 200), Some(2.0));
        assert_eq!(bound(Table::Instances, 1_000_000), Some(1.25), "the same joints/s within 20 %");
        assert_eq!(bound(Table::Layers, 2), Some(2.0), "two layers at half the rate of one");
        assert_eq!(layered(2, 1).at_most(), Some(1.3), "one clip and an additive layer, to two clips");
        assert_eq!([layered(1, 0), layered(3, 1)].map(TableStep::at_most), [None; 2]);
    }

    #[test]
    fn cases_have_the_wanted_number_of_joints() {
        for &table in Table::value_variants().iter().filter(|&&table| table != Table::Instances) {
            for PlannedCase { size, step } in table.cases(64_000) {
                let joints = size.instances * size.joints;
                assert!((62_000..=64_000).contains(&joints), "{step:?}: {joints}");
            }
        }
        let chain = TableStep { table: Table::Depth, value: 200, additive: 0 }.size(1);
        assert_eq!((chain.instances, chain.joints, chain.depth), (1, 200, Some(200)));
    }
}
