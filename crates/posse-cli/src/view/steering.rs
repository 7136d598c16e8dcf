//! The parameters of a crowd file, which the user can steer. This file uses neither windows nor devices.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use posse::ik::{Goal, GoalTarget, GoalWeight};
use posse::import::crowd::CrowdFile;
use posse::parameters::{BlendSpace, BlendSpaceId, Parameter, WeightDriver};
use posse::{ClipId, Crowd, Error, Evaluator, Layer, LayerTime, Library, Outputs, Reference, SkeletonId, Ticks};

use crate::drawn_crowd::{CrowdSource, DrawnCrowd, clip_name};

/// The value that the user has set for each parameter of [`Steering::parameters`]; `None` where it follows the file,
/// and beyond the end.
pub type SetValues = Vec<Option<f32>>;

/// The parameters and the blend spaces of a crowd file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Steering {
    /// The parameters, each name once.
    pub parameters: Vec<SteeredParameter>,
    /// The blend spaces that layers use.
    pub spaces: Vec<SteeredSpace>,
    groups: Vec<SteeredGroup>,
    /// The number of instances of the file. Later instances of a crowd repeat them.
    period: usize,
}

/// A parameter of a name, of all groups that declare it.
#[derive(Debug, Clone, PartialEq)]
pub struct SteeredParameter {
    pub name: String,
    /// The values that a slider offers.
    pub range: [f64; 2],
    /// The parameter of the first group that declares it.
    in_file: Parameter,
}

/// A blend space, with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct SteeredSpace {
    pub name: String,
    pub space: BlendSpace,
    /// The indices in [`Steering::parameters`] of the position: x and y.
    pub parameters: [usize; 2],
    /// The name of the clip of each point; empty for a point without a layer.
    pub labels: Vec<String>,
}

/// Instances that share their parameters.
#[derive(Debug, Clone, PartialEq)]
struct SteeredGroup {
    instances: Range<usize>,
    /// The parameters of the file.
    in_file: Arc<[Parameter]>,
    /// The index of each in [`Steering::parameters`].
    steered: Vec<usize>,
}

impl Steering {
    /// The parameters of a drawn crowd; none without a crowd file.
    pub fn new(drawn: &DrawnCrowd) -> Result<Self, Error> {
        match &drawn.source {
            CrowdSource::CrowdFile(file) => Self::of_file(&drawn.library, file),
            _ => Ok(Self::default()),
        }
    }

    fn of_file(library: &Library, file: &CrowdFile) -> Result<Self, Error> {
        let mut steering = Self { period: file.len(), ..Self::default() };
        let (mut extents, mut users) = (Vec::new(), Vec::new());
        for (instances, _) in file.groups() {
            let crowd = file.crowd(library, instances.start..instances.start + 1)?;
            let steered: Vec<usize> = file
                .parameter_names(instances.start)
                .iter()
                .zip(crowd.parameters(0))
                .map(|(name, parameter)| steering.add(name, parameter))
                .collect();
            extents.resize(steering.parameters.len(), Extent::EMPTY);
            for (&index, parameter) in steered.iter().zip(crowd.parameters(0)) {
                parameter.keys().iter().for_each(|key| extents[index].add(key[1]));
            }
            for layer in crowd.all_layers(0) {
                add_values(library, layer, &mut |parameter, value| extents[steered[parameter]].add(value));
                users.extend(UsedPoint::new(layer, &steered));
            }
            if !crowd.goals(0).is_empty() {
                let reach = reach(library, crowd.skeleton(0))?;
                for goal in crowd.goals(0) {
                    add_goal(goal, reach, &mut |parameter, value| extents[steered[parameter]].add(value));
                }
            }
            steering.groups.push(SteeredGroup { instances, in_file: crowd.parameters(0).into(), steered });
        }
        for (parameter, extent) in steering.parameters.iter_mut().zip(extents) {
            parameter.range = extent.with_margin();
        }
        steering.spaces = spaces(library, file, &users);
        Ok(steering)
    }

    /// The index of the parameter of a name. The first parameter of a name is added.
    fn add(&mut self, name: &str, parameter: &Parameter) -> usize {
        let found = self.parameters.iter().position(|steered| steered.name == name);
        found.unwrap_or_else(|| {
            let (name, in_file) = (name.to_string(), parameter.clone());
            self.parameters.push(SteeredParameter { name, range: [0.0, 1.0], in_file });
            self.parameters.len() - 1
        })
    }

    /// The present value of a parameter: the one that the user has set, otherwise the value of the file.
    pub fn value(&self, set: &SetValues, parameter: usize, now: Ticks) -> f32 {
        set_value(set, parameter).unwrap_or_else(|| self.parameters[parameter].in_file.at(now))
    }

    /// Gives the instances of a crowd, which repeats the instances of the file, the values that the user has set, and
    /// otherwise the parameters of the file.
    pub fn steer(&self, crowd: &mut Crowd, set: &SetValues) -> Result<(), Error> {
        let groups: Vec<Arc<[Parameter]>> =
            self.groups.iter().map(|group| group.parameters(set)).collect::<Result<_, _>>()?;
        let count = crowd.len();
        for first in (0..count).step_by(self.period.max(1)) {
            for (SteeredGroup { instances, .. }, parameters) in self.groups.iter().zip(&groups) {
                let instances = instances.clone().map(|instance| first + instance);
                for instance in instances.take_while(|&instance| instance < count) {
                    crowd.set_parameters(instance, Arc::clone(parameters))?;
                }
            }
        }
        Ok(())
    }
}

impl SteeredGroup {
    /// The parameters of the instances.
    fn parameters(&self, set: &SetValues) -> Result<Arc<[Parameter]>, Error> {
        let parameter = |(in_file, &steered): (&Parameter, &usize)| match set_value(set, steered) {
            Some(value) => Parameter::constant(value.into()),
            None => Ok(in_file.clone()),
        };
        self.in_file.iter().zip(&self.steered).map(parameter).collect()
    }
}

/// The value that the user has set for a parameter.
pub fn set_value(set: &SetValues, parameter: usize) -> Option<f32> {
    set.get(parameter).copied().flatten()
}

/// Calls a function with the values at which the effect of a parameter on a layer changes. The parameters are the
/// parameters of the instance.
fn add_values(library: &Library, layer: &Layer, add: &mut impl FnMut(usize, f64)) {
    if let LayerTime::Phase { parameter, .. } = layer.time {
        // One pass of the clip.
        [0.0, 1.0].into_iter().for_each(|cycles| add(parameter, cycles));
    }
    match layer.driver {
        Some(WeightDriver::Knots { parameter, knots }) => {
            library.knots()[knots.index()].knots().iter().for_each(|knot| add(parameter, knot[0]));
        }
        Some(WeightDriver::Point { space, parameters, .. }) => {
            for point in library.blend_spaces()[space.index()].points() {
                parameters.into_iter().zip(point).for_each(|(parameter, &value)| add(parameter, value));
            }
        }
        None => {}
    }
}

/// Calls a function with the ends of the values of the parameters that a goal uses: coordinates of a target within
/// `reach` of the origin, and weights.
fn add_goal(goal: &Goal, reach: f64, add: &mut impl FnMut(usize, f64)) {
    if let GoalTarget::Parameters(coordinates) = goal.target {
        for parameter in coordinates {
            [-reach, reach].into_iter().for_each(|coordinate| add(parameter, coordinate));
        }
    }
    if let GoalWeight::Parameter(parameter) = goal.weight {
        [0.0, 1.0].into_iter().for_each(|weight| add(parameter, weight));
    }
}

/// The distance of the farthest joint of the rest pose from the origin.
fn reach(library: &Library, skeleton: SkeletonId) -> Result<f64, Error> {
    let mut crowd = Crowd::new();
    crowd.push(skeleton, &[])?;
    let rest = Reference::new(library).evaluate(&crowd, Ticks(0), Outputs { model: true, ..Outputs::NONE })?;
    let joints = rest.instances.iter().flat_map(|pose| &pose.model);
    Ok(joints.map(|joint| joint.translation.length()).fold(0.0, f64::max))
}

/// A layer that has the share of a point of a blend space.
struct UsedPoint {
    space: BlendSpaceId,
    point: usize,
    /// The indices of the steered parameters.
    parameters: [usize; 2],
    clip: ClipId,
}

impl UsedPoint {
    fn new(layer: &Layer, steered: &[usize]) -> Option<Self> {
        let Some(WeightDriver::Point { space, parameters, point }) = layer.driver else { return None };
        Some(Self { space, point, parameters: parameters.map(|parameter| steered[parameter]), clip: layer.clip })
    }
}

/// The blend spaces of a file that are used, in its order.
fn spaces(library: &Library, file: &CrowdFile, users: &[UsedPoint]) -> Vec<SteeredSpace> {
    let used = |(name, space): &(String, BlendSpaceId)| {
        let mut users = users.iter().filter(|user| user.space == *space).peekable();
        let parameters = users.peek()?.parameters;
        let space = library.blend_spaces()[space.index()].clone();
        let mut labels = vec![String::new(); space.points().len()];
        let mut labelled = HashSet::new();
        for user in users {
            if labelled.insert(user.point) {
                labels[user.point] = clip_name(library, user.clip).to_string();
            }
        }
        Some(SteeredSpace { name: name.clone(), space, parameters, labels })
    };
    file.blend_spaces.iter().filter_map(used).collect()
}

/// The least and the greatest of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Extent {
    least: f64,
    greatest: f64,
}

impl Extent {
    /// The extent of no value.
    const EMPTY: Self = Self { least: f64::INFINITY, greatest: f64::NEG_INFINITY };
    /// The margin on either side, as a part of the extent.
    const MARGIN: f64 = 0.125;

    /// Adds a value.
    fn add(&mut self, value: f64) {
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    /// The extent with a margin on either side. Of no value it is 0 to 1; of values that are nearly one it contains 0,
    /// 1 and them.
    fn with_margin(self) -> [f64; 2] {
        let Self { least, greatest } = self;
        let size = greatest - least;
        let least_size = 1e-6 * least.abs().max(greatest.abs());
        if size.is_finite() && size > least_size {
            return [least - Self::MARGIN * size, greatest + Self::MARGIN * size];
        }
        [least.min(0.0), greatest.max(1.0)]
    }
}

#[cfg(test)]
mod tests {
    use crate::source::tests::crowd_file;

    use super::*;

    /// Four groups: two have `speed`, the third has `turn` in another place, and uses the space in a transition. The
    /// last has a goal.
    const CROWD: &str = r#"{"files":["a.gltf"],
        "blend_spaces":{"unused":{"x":"p","y":"q","points":[[0,0],[1,0],[0,1]]},
            "steer":{"x":"turn","y":"speed","points":[[-1,0],[1,0],[0,4]]}},
        "instances":[
            {"count":2,"parameters":{"speed":[[0,1],[2,3]],"cycles":0.5},"layers":[
                {"clip":"go","weight":{"parameter":"speed","knots":[[-8,0],[2,1]]}},
                {"clip":"go","time":{"parameter":"cycles"}}]},
            {"layers":[{"clip":"go"}]},
            {"parameters":{"turn":0.25,"lonely":7,"speed":2},"layers":[{"clip":"go"}],
                "transition":{"start":1,"half_life":0.1,"from":[{"clip":"go","weight":{"blend_space":"steer","point":2}}]}},
            {"parameters":{"up":1.5,"zero":0,"ik":[[0,0],[1,0.5]]},"ik":[{"aim":"b","forward":[1,0,0],
                "target":{"parameters":["zero","up","zero"]},"weight":{"parameter":"ik"}}]}]}"#;

    #[test]
    fn parameters_have_the_range_of_what_they_drive() {
        let (library, file) = crowd_file(CROWD);
        let steering = Steering::of_file(&library, &file).unwrap();
        let ranges: Vec<_> = steering.parameters.iter().map(|found| (found.name.as_str(), found.range)).collect();
        // The extents are -8 to 4, 0 to 1 and -1 to 1, and each margin is an eighth.
        let expected =
            [("speed", [-9.5, 5.5]), ("cycles", [-0.125, 1.125]), ("turn", [-1.25, 1.25]), ("lonely", [0.0, 7.0])];
        assert_eq!(ranges[..4], expected);
        // Targets are within the rig, whose farthest joint is 2 m away.
        assert_eq!(ranges[4..], [("up", [-2.5, 2.5]), ("zero", [-2.5, 2.5]), ("ik", [-0.125, 1.125])]);
        let [space] = &steering.spaces[..] else { panic!("{:?}", steering.spaces) };
        assert_eq!((space.name.as_str(), space.parameters), ("steer", [2, 0]));
        assert_eq!(space.labels, ["", "", "go"]);
    }

    #[test]
    fn a_set_value_counts_in_all_groups_and_copies_until_it_is_released() {
        let (library, file) = crowd_file(CROWD);
        let steering = Steering::of_file(&library, &file).unwrap();
        let original = file.crowd(&library, 0..file.len()).unwrap();
        let mut crowd = Crowd::new();
        for instance in (0..5).cycle().take(8) {
            crowd.push_copy(&original, instance);
        }
        let now = Ticks::from_seconds(1.0);
        let values = |crowd: &Crowd| -> Vec<Vec<f32>> {
            (0..crowd.len()).map(|instance| crowd.parameter_values(instance, now).0[..3].to_vec()).collect()
        };
        let in_file = values(&crowd);
        assert_eq!(in_file[..4], [[2.0, 0.5, 0.0], [2.0, 0.5, 0.0], [0.0, 0.0, 0.0], [0.25, 7.0, 2.0]]);
        let set = vec![Some(-3.0), None, Some(0.75)];
        assert_eq!([0, 1, 2, 3].map(|parameter| steering.value(&set, parameter, now)), [-3.0, 0.5, 0.75, 7.0]);
        steering.steer(&mut crowd, &set).unwrap();
        let steered = values(&crowd);
        assert_eq!(steered[..4], [[-3.0, 0.5, 0.0], [-3.0, 0.5, 0.0], [0.0, 0.0, 0.0], [0.75, 7.0, -3.0]]);
        assert_eq!(steered[4], in_file[4]);
        assert_eq!(steered[5..], steered[..3]);
        assert_eq!(crowd.goals(4).len(), 1);
        steering.steer(&mut crowd, &vec![None; 3]).unwrap();
        assert_eq!(values(&crowd), in_file);
        assert!(crowd.transition(3).is_some());
    }

    #[test]
    fn a_margin_is_an_eighth_and_a_single_value_is_shown_with_0_and_1() {
        let extent = |values: &[f64]| {
            let mut extent = Extent::EMPTY;
            values.iter().for_each(|&value| extent.add(value));
            extent.with_margin()
        };
        assert_eq!(extent(&[]), [0.0, 1.0]);
        assert_eq!(extent(&[3.0, -1.0, 7.0]), [-2.0, 8.0]);
        assert_eq!(extent(&[0.5]), [0.0, 1.0]);
        assert_eq!(extent(&[-4.0, -4.0]), [-4.0, 1.0]);
        assert_eq!(extent(&[7.0]), [0.0, 7.0]);
    }
}
