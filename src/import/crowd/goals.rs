//! Goals of a group, and their chains.

use std::collections::HashMap;
use std::f64::consts::PI;

use crate::import::crowd::document::{GoalEntry, GroupEntry, NumberOr, ParameterName, TargetEntry};
use crate::import::crowd::layers;
use crate::import::gltf::Asset;
use crate::import::{FileError, JsonPath};
use crate::model::{Chain, ChainId, ChainKind, Crowd, Goal, GoalTarget, GoalWeight, Library, SkeletonId, is_usable};

/// Chains that have been added to a library, by skeleton, joints and numbers. Equal chains are added once.
#[derive(Default)]
pub(super) struct Chains(HashMap<(SkeletonId, Vec<usize>, Vec<u64>), ChainId>);

impl Chains {
    fn add(&mut self, library: &mut Library, path: &JsonPath, chain: Chain) -> Result<ChainId, FileError> {
        // Two joints more or less tell the kinds apart; a missing pole has no numbers.
        let numbers = match &chain.kind {
            ChainKind::TwoBone { pole, hold, .. } => [f64::from(u8::from(*hold))]
                .iter()
                .chain(pole.iter().flatten())
                .map(|number| number.to_bits())
                .collect(),
            ChainKind::Aim { forward, limit, .. } => {
                forward.iter().chain([limit]).map(|number| number.to_bits()).collect()
            }
        };
        let key = (chain.skeleton, chain.joints().to_vec(), numbers);
        if let Some(&id) = self.0.get(&key) {
            return Ok(id);
        }
        if let Some(reason) = chain.error(library.skeleton(chain.skeleton)) {
            return Err(FileError::new(path, reason));
        }
        let id = library.add_chain(chain).map_err(|error| FileError::new(path, error.to_string()))?;
        self.0.insert(key, id);
        Ok(id)
    }
}

/// The group of a list of goals, and its file.
#[derive(Clone, Copy)]
pub(super) struct GoalScope<'a> {
    pub entry: &'a GroupEntry,
    pub asset: &'a Asset,
}

impl GoalScope<'_> {
    /// Reads the goals of a group, and adds their chains to the library.
    pub fn read(&self, library: &mut Library, chains: &mut Chains, group: &JsonPath) -> Result<Vec<Goal>, FileError> {
        let count = self.entry.ik.len();
        if count > Crowd::MAX_GOALS {
            let reason = format!("there are {count} entries; an instance has at most {}", Crowd::MAX_GOALS);
            return Err(FileError::new(group.field("ik"), reason));
        }
        let read = |(index, entry)| self.goal(library, chains, &group.element("ik", index), entry);
        self.entry.ik.iter().map(|entry| &**entry).enumerate().map(read).collect()
    }

    fn goal(
        &self,
        library: &mut Library,
        chains: &mut Chains,
        path: &JsonPath,
        entry: &GoalEntry,
    ) -> Result<Goal, FileError> {
        let kind = self.kind(library, path, entry)?;
        let field = if entry.chain.is_some() { "chain" } else { "aim" };
        let chain = Chain { name: None, skeleton: self.asset.skeleton, kind };
        let goal = Goal {
            chain: chains.add(library, &path.field(field), chain)?,
            target: self.target(&path.field("target"), &entry.target)?,
            weight: self.weight(&path.field("weight"), &entry.weight)?,
        };
        goal.error().map_or(Ok(goal), |reason| Err(FileError::new(path, reason)))
    }

    /// The joints of an entry, and the way in which they turn.
    fn kind(&self, library: &Library, path: &JsonPath, entry: &GoalEntry) -> Result<ChainKind, FileError> {
        let refuse = |field: &str, is_there: bool, owner: &str| match is_there {
            true => Err(FileError::new(
                path.field(field),
                format!("an entry with `{owner}` has no `{field}`; leave it out"),
            )),
            false => Ok(()),
        };
        match (&entry.chain, &entry.aim) {
            (Some(names), None) => {
                refuse("forward", entry.forward.is_some(), "chain")?;
                refuse("limit", entry.limit.is_some(), "chain")?;
                let pole = entry.pole.map(|pole| usable(&path.field("pole"), pole)).transpose()?;
                let mut joints = [0; 3];
                for (index, (joint, name)) in joints.iter_mut().zip(names).enumerate() {
                    *joint = layers::find_joint(library, &path.element("chain", index), name, self.asset)?;
                }
                Ok(ChainKind::TwoBone { joints, pole, hold: entry.hold.unwrap_or(false) })
            }
            (None, Some(name)) => {
                refuse("pole", entry.pole.is_some(), "aim")?;
                refuse("hold", entry.hold.is_some(), "aim")?;
                let Some(forward) = entry.forward else {
                    return Err(FileError::new(
                        path,
                        "missing field `forward`, the direction of the joint that turns to the target",
                    ));
                };
                let forward = usable(&path.field("forward"), forward)?;
                let limit = entry.limit.unwrap_or(PI);
                if !is_usable(limit) || limit < 0.0 {
                    let reason = format!("the limit {limit} is not a finite number of radians of 0 or more");
                    return Err(FileError::new(path.field("limit"), reason));
                }
                let joint = layers::find_joint(library, &path.field("aim"), name, self.asset)?;
                Ok(ChainKind::Aim { joint, forward, limit })
            }
            (Some(_), Some(_)) => Err(FileError::new(path, "it has both `chain` and `aim`; give one of them")),
            (None, None) => Err(FileError::new(path, "it has neither `chain` nor `aim`; give one of them")),
        }
    }

    fn target(&self, path: &JsonPath, entry: &TargetEntry) -> Result<GoalTarget, FileError> {
        match entry {
            TargetEntry::Point(point) => Ok(GoalTarget::Point(usable(path, *point)?)),
            TargetEntry::Parameters(names) => {
                let mut indices = [0; 3];
                for (coordinate, (index, name)) in indices.iter_mut().zip(names).enumerate() {
                    *index = layers::find_parameter(
                        &self.entry.parameters,
                        path.element("parameters", coordinate),
                        name,
                        "",
                    )?;
                }
                Ok(GoalTarget::Parameters(indices))
            }
        }
    }

    fn weight(&self, path: &JsonPath, entry: &NumberOr<ParameterName>) -> Result<GoalWeight, FileError> {
        match entry {
            NumberOr::Number(weight) if (0.0..=1.0).contains(weight) => Ok(GoalWeight::Fixed(*weight)),
            NumberOr::Number(weight) => Err(FileError::new(path, format!("the weight {weight} is not from 0 to 1"))),
            NumberOr::Object(ParameterName { parameter }) => {
                layers::find_parameter(&self.entry.parameters, path.field("parameter"), parameter, "")
                    .map(GoalWeight::Parameter)
            }
        }
    }
}

/// A vector of which each number is finite in the range of an `f32`.
fn usable(path: &JsonPath, vector: [f64; 3]) -> Result<[f64; 3], FileError> {
    match vector.into_iter().find(|&number| !is_usable(number)) {
        Some(number) => Err(FileError::new(path, format!("{number} is not a finite number in the range of an f32"))),
        None => Ok(vector),
    }
}
