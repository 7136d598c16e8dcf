//! Cost tables: the time per joint as one size grows and the others are fixed.

use posse::SkinFormat;

use super::size::Size;

/// A cost table, by the size that grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Table {
    /// Instances of a 16-joint rig, 1 to 1,000,000.
    Instances,
    /// Keys per track, 2 to 10,000.
    Keys,
    /// Levels of the hierarchy, 1 to 500: a tree of 200 joints up to a chain of 200, then a chain of 500.
    Depth,
    /// Joints of a rig, 1 to 2,000.
    Joints,
    /// Blended layers, 1 to 8.
    Layers,
    /// Skeletons in the crowd, 1 to 16.
    Skeletons,
}

/// A step of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The table.
    pub table: Table,
    /// The size that grows.
    pub value: u32,
}

/// A case that is going to be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedCase {
    /// The size of the crowd.
    pub size: Size,
    /// The step of a cost table; `None` for other cases.
    pub step: Option<Step>,
}

/// The largest relative cost per joint that counts as linear growth: 80 % of the throughput.
const LINEAR_COST: f64 = 1.25;

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
        }
    }

    /// The sizes, in ascending order.
    fn values(self) -> &'static [u32] {
        match self {
            Self::Instances => &[1, 10, 100, 1_000, 10_000, 100_000, 1_000_000],
            Self::Keys => &[2, 10, 60, 1_000, 10_000],
            Self::Depth => &[1, 10, 50, 200, 500],
            Self::Joints => &[1, 4, 16, 64, 256, 1_000, 2_000],
            Self::Layers => &[1, 2, 4, 8],
            Self::Skeletons => &[1, 2, 4, 8, 16],
        }
    }

    /// The size that the others are compared with.
    pub fn base(self) -> u32 {
        match self {
            Self::Instances => 10_000,
            Self::Keys => 60,
            Self::Depth => 10,
            Self::Joints => 64,
            Self::Layers | Self::Skeletons => 1,
        }
    }

    /// The cases. Each has about this number of joints, except for table `instances`, where the number follows from the instances.
    pub fn cases(self, joints: u32) -> impl Iterator<Item = PlannedCase> {
        self.values().iter().map(move |&value| {
            let step = Step { table: self, value };
            PlannedCase { size: step.size(joints), step: Some(step) }
        })
    }
}

impl Step {
    /// The size of the case, for a total number of joints.
    fn size(self, total: u32) -> Size {
        let value = self.value;
        let rig = Size {
            instances: 0,
            skeletons: 1,
            joints: 64,
            keys: Some(60),
            depth: Some(10),
            layers: 1,
            skin_format: SkinFormat::Matrix,
        };
        let rig = match self.table {
            Table::Instances => return Size { instances: value as usize, joints: 16, ..rig },
            Table::Keys => Size { keys: Some(value), ..rig },
            Table::Depth => Size { depth: Some(value), joints: value.max(200) as usize, ..rig },
            Table::Joints => Size { joints: value as usize, depth: Some(value.min(10)), ..rig },
            Table::Layers => Size { layers: value, ..rig },
            Table::Skeletons => Size { skeletons: value, ..rig },
        };
        Size { instances: (total as usize / rig.joints).max(1), ..rig }
    }

    /// The bound of the cost per joint, relative to the cost at the base; `None` without a bound. The cost may grow in proportion
    /// to the layers. For other sizes above the base, the cost must not grow.
    pub fn at_most(self) -> Option<f64> {
        let grown = self.value > self.table.base();
        match self.table {
            Table::Keys => (self.value == 10_000).then_some(1.3),
            Table::Depth => (self.value == 200).then_some(2.0),
            Table::Layers => grown.then_some(f64::from(self.value)),
            Table::Instances => (grown || self.value == 1_000).then_some(LINEAR_COST),
            Table::Joints | Table::Skeletons => grown.then_some(LINEAR_COST),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_table_contains_its_base_and_has_no_bound_there() {
        for &table in Table::value_variants() {
            assert!(table.values().is_sorted(), "{table:?}");
            assert!(table.values().contains(&table.base()), "{table:?}");
            assert_eq!(Step { table, value: table.base() }.at_most(), None, "{table:?}");
            assert_eq!(table.to_possible_value().unwrap().get_name(), table.name());
        }
    }

    #[test]
    fn the_bounds_are_those_of_the_design() {
        let bound = |table, value| Step { table, value }.at_most();
        assert_eq!(bound(Table::Keys, 10_000), Some(1.3));
        assert_eq!(bound(Table::Depth, 200), Some(2.0));
        assert_eq!(bound(Table::Instances, 1_000_000), Some(1.25), "the same joints/s within 20 %");
        assert_eq!(bound(Table::Layers, 2), Some(2.0), "two layers at half the rate of one");
    }

    #[test]
    fn cases_have_the_wanted_number_of_joints() {
        for &table in Table::value_variants().iter().filter(|&&table| table != Table::Instances) {
            for PlannedCase { size, step } in table.cases(64_000) {
                let joints = size.instances * size.joints;
                assert!((62_000..=64_000).contains(&joints), "{step:?}: {joints}");
            }
        }
        let chain = Step { table: Table::Depth, value: 200 }.size(1);
        assert_eq!((chain.instances, chain.joints, chain.depth), (1, 200, Some(200)));
    }
}
