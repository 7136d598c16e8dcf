//! Sizes of buffers and dispatches as formulas: the engine computes them, and the manifest of `posse kernels` prints
//! them.

use std::fmt::{self, Display, Formatter};

/// A count that sizes depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// The instances of the batch.
    Instances,
    /// The layer records per instance.
    Layers,
    /// The goals per instance.
    Goals,
    /// The parameters per instance.
    Parameters,
    /// The joints of the skeleton.
    Joints,
    /// The joints of all skins of the skeleton together.
    SkinJoints,
    /// The morph weights and properties per instance that were requested.
    Values,
    /// The transitions that the batch has capacity for.
    Transitions,
    /// The words of the displacement of a transition.
    DisplacementWords,
}

impl Count {
    /// All counts, each with its name in formulas.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Instances, "instances"),
        (Self::Layers, "layers"),
        (Self::Goals, "goals"),
        (Self::Parameters, "parameters"),
        (Self::Joints, "joints"),
        (Self::SkinJoints, "skin_joints"),
        (Self::Values, "value_count"),
        (Self::Transitions, "transitions"),
        (Self::DisplacementWords, "displacement_words"),
    ];

    /// The name in formulas.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(count, _)| *count == self).map_or("", |(_, name)| name)
    }
}

/// The counts of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// The instances.
    pub instances: usize,
    /// The layer records per instance.
    pub layers: usize,
    /// The goals per instance.
    pub goals: usize,
    /// The parameters per instance.
    pub parameters: usize,
    /// The joints of the skeleton.
    pub joints: usize,
    /// The joints of all skins of the skeleton together.
    pub skin_joints: usize,
    /// The morph weights and properties per instance that were requested.
    pub values: usize,
    /// The transitions that there is capacity for.
    pub transitions: usize,
    /// The words of the displacement of a transition.
    pub displacement_words: usize,
}

impl Counts {
    /// One of the counts.
    pub fn get(&self, count: Count) -> usize {
        match count {
            Count::Instances => self.instances,
            Count::Layers => self.layers,
            Count::Goals => self.goals,
            Count::Parameters => self.parameters,
            Count::Joints => self.joints,
            Count::SkinJoints => self.skin_joints,
            Count::Values => self.values,
            Count::Transitions => self.transitions,
            Count::DisplacementWords => self.displacement_words,
        }
    }
}

/// A number times counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Term {
    factor: usize,
    counts: &'static [Count],
}

impl Term {
    fn of(&self, counts: &Counts) -> u64 {
        self.counts.iter().fold(self.factor as u64, |product, &count| product.saturating_mul(counts.get(count) as u64))
    }
}

impl Display for Term {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        let names: Vec<&str> = self.counts.iter().map(|count| count.name()).collect();
        match (self.factor, names.as_slice()) {
            (factor, []) => write!(formatter, "{factor}"),
            (1, names) => formatter.write_str(&names.join(" * ")),
            (factor, names) => write!(formatter, "{factor} * {}", names.join(" * ")),
        }
    }
}

/// The bytes of a buffer: a sum of products, as in `4 + 8 * instances`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Formula(Vec<Term>);

impl Formula {
    /// A number times counts.
    pub(super) fn new(factor: usize, counts: &'static [Count]) -> Self {
        Self(Vec::new()).plus(factor, counts)
    }

    /// The same, plus a number times counts.
    pub(super) fn plus(mut self, factor: usize, counts: &'static [Count]) -> Self {
        self.0.extend((factor > 0).then_some(Term { factor, counts }));
        self
    }

    /// The bytes for some counts. A result that does not fit is the largest number.
    pub fn bytes(&self, counts: &Counts) -> u64 {
        self.0.iter().fold(0, |sum: u64, product| sum.saturating_add(product.of(counts)))
    }
}

impl Display for Formula {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        match self.0.as_slice() {
            [] => formatter.write_str("0"),
            products => {
                let products: Vec<String> = products.iter().map(Term::to_string).collect();
                formatter.write_str(&products.join(" + "))
            }
        }
    }
}

/// The workgroups of a dispatch: so many items, a fixed number per workgroup, as in `ceil(instances * layers / 64)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Groups {
    items: Term,
    per_group: u32,
}

impl Groups {
    pub(super) fn new(counts: &'static [Count], per_group: u32) -> Self {
        Self { items: Term { factor: 1, counts }, per_group }
    }

    /// The workgroups for some counts. A result that does not fit is the largest number.
    pub fn count(&self, counts: &Counts) -> u32 {
        u32::try_from(self.items.of(counts).div_ceil(self.per_group.into())).unwrap_or(u32::MAX)
    }

    /// The instances whose items fit a workgroup, at least 1.
    pub(super) fn instances_per_group(&self, counts: &Counts) -> u64 {
        let items = self.items.of(&Counts { instances: 1, ..*counts }).max(1);
        (u64::from(self.per_group) / items).max(1)
    }
}

impl Display for Groups {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        match self.per_group {
            1 => write!(formatter, "{}", self.items),
            per_group => write!(formatter, "ceil({} / {per_group})", self.items),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_compute_what_they_print() {
        let counts = Counts { instances: 10, layers: 3, goals: 2, ..Counts::default() };
        let bytes = Formula::new(4, &[]).plus(8, &[Count::Instances]).plus(20, &[Count::Instances, Count::Goals]);
        assert_eq!(
            (bytes.to_string().as_str(), bytes.bytes(&counts)),
            ("4 + 8 * instances + 20 * instances * goals", 484)
        );
        assert_eq!(
            (Formula::new(0, &[Count::Joints]).to_string().as_str(), Formula::default().bytes(&counts)),
            ("0", 0)
        );
        let groups = Groups::new(&[Count::Instances, Count::Layers], 64);
        assert_eq!((groups.to_string().as_str(), groups.count(&counts)), ("ceil(instances * layers / 64)", 1));
        assert_eq!(groups.count(&Counts { instances: 22, ..counts }), 2);
        let each = Groups::new(&[Count::Instances], 1);
        assert_eq!((each.to_string().as_str(), each.count(&counts)), ("instances", 10));
        // 64 lanes are enough for 21 instances of three layers.
        assert_eq!((groups.instances_per_group(&counts), each.instances_per_group(&counts)), (21, 1));
        let huge = Counts { instances: usize::MAX, layers: usize::MAX, ..counts };
        assert_eq!((groups.count(&huge), bytes.bytes(&huge)), (u32::MAX, u64::MAX));
    }
}
