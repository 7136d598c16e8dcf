//! Crowds: instances, each with a skeleton and layers.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::error::Error;
use crate::model::check_instance::{check_goals, check_instance};
use crate::model::layer::cross_faded;
use crate::model::parameter::MAX_PARAMETERS;
use crate::model::{
    Fade, FadeShape, Goal, Layer, LayerMode, LayerTime, Library, Parameter, ParameterValues, RunningTransition,
    SkeletonId, StartPoses, Ticks, Transition, no_such,
};

/// Instances, each with a skeleton, the layers that animate it, and the parameters that drive those.
///
/// # Examples
/// ```
/// use posse::{Crowd, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let walk = library.find_clip("walk").expect("the demo walks");
/// let skeleton = library.clip(walk).skeleton;
/// let mut crowd = Crowd::new();
/// let walker = crowd.push(skeleton, &[walk.looping()])?;
/// let idler = crowd.push(skeleton, &[])?; // in the rest pose
/// assert_eq!((walker, idler, crowd.len()), (0, 1, 2));
/// crowd.set(idler, skeleton, &[walk.at(0.25)])?;
/// crowd.check(&library)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Crowd {
    instances: Vec<CrowdInstance>,
}

/// An instance of a crowd.
#[derive(Debug, Clone, PartialEq)]
struct CrowdInstance {
    skeleton: SkeletonId,
    layers: Vec<Layer>,
    parameters: Arc<[Parameter]>,
    goals: Arc<[Goal]>,
    running: Option<Arc<RunningTransition>>,
}

impl CrowdInstance {
    /// The instance as it is at a tick.
    fn at(&self, now: Ticks) -> Self {
        let mut instance = self.clone();
        while let Some(running) = instance.running.take() {
            if now >= running.transition.start {
                let is_on_its_way = running.transition.elapsed(now).is_some();
                instance.running = is_on_its_way.then_some(running);
                break;
            }
            instance.layers.clone_from(&running.transition.from);
            instance.running = running.before().map(Arc::new);
        }
        instance
    }
}

impl Crowd {
    /// The most layers of an instance.
    pub const MAX_LAYERS: usize = 8;
    /// The most parameters of an instance.
    pub const MAX_PARAMETERS: usize = MAX_PARAMETERS;
    /// The most goals of an instance.
    pub const MAX_GOALS: usize = 32;

    /// An empty crowd.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an instance and returns its index. Without a layer it stands in the rest pose.
    ///
    /// # Errors
    /// [`Error::Limit`] beyond [`MAX_LAYERS`](Self::MAX_LAYERS); [`Error::Instance`] if a time or weight is not finite,
    /// a weight, a repeat count or the length of a fade is negative, a rate is not from -1e4 to 1e4, a range ends
    /// before it starts, a parameter is beyond [`MAX_PARAMETERS`](Self::MAX_PARAMETERS), or a layer follows one that is
    /// not before it or follows another itself.
    pub fn push(&mut self, skeleton: SkeletonId, layers: &[Layer]) -> Result<usize, Error> {
        let instance = self.instances.len();
        check_layers(instance, layers)?;
        let (parameters, goals) = (Arc::default(), Arc::default());
        self.instances.push(CrowdInstance { skeleton, layers: layers.to_vec(), parameters, goals, running: None });
        Ok(instance)
    }

    /// Adds a copy of an instance of a crowd, with its parameters, its goals and its transition, and returns its index.
    ///
    /// # Panics
    /// If the other crowd has no such instance.
    pub fn push_copy(&mut self, other: &Self, instance: usize) -> usize {
        self.instances.push(other.instances[instance].clone());
        self.len() - 1
    }

    /// Replaces the skeleton and the layers of an instance. A transition ends; the parameters and goals stay. The other
    /// instances stay unchanged.
    ///
    /// # Errors
    /// The same as [`push`](Self::push), and [`Error::Instance`] if there is no such instance. The crowd is then
    /// unchanged.
    pub fn set(&mut self, instance: usize, skeleton: SkeletonId, layers: &[Layer]) -> Result<(), Error> {
        check_layers(instance, layers)?;
        let found = self.find(instance)?;
        found.skeleton = skeleton;
        found.layers.clear();
        found.layers.extend_from_slice(layers);
        found.running = None;
        Ok(())
    }

    /// Fades an instance to another layer over a range of seconds of the crowd clock: its layers that blend fade out
    /// smoothly, and the new one fades in. Layers that override or add stay, and so does a fade that has begun before.
    ///
    /// Layers that have faded out when the range begins are dropped: an instance that changes again and again has few
    /// layers, and moments before the range are no longer shown with them. A leader stays while a layer follows it. If
    /// `into` follows a layer ([`LayerTime::Synced`]), its leader is an index among the layers as they were. From the
    /// rest pose, without a layer that blends, the fade takes the first tenth of the weight.
    ///
    /// It replaces the layers as [`set`](Self::set) does. A crowd of an engine needs capacity for them
    /// ([`CrowdOptions::layers`](crate::CrowdOptions::layers)): two layers, and one more for each fade that begins
    /// before the last one has ended.
    ///
    /// # Errors
    /// * [`Error::Instance`] if there is no such instance, `into` does not blend, the range is not finite or ends
    ///   before it begins, or the layer has a number that [`push`](Self::push) refuses.
    /// * [`Error::Limit`] if there would be more layers than `push` allows.
    ///
    /// The crowd is then unchanged.
    ///
    /// # Examples
    /// ```
    /// use posse::{Crowd, demo};
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let library = demo::library()?;
    /// let [idle, walk, run] = ["idle", "walk", "run"].map(|name| library.find_clip(name).expect("a clip of the demo"));
    /// let mut crowd = Crowd::new();
    /// crowd.push(library.clip(walk).skeleton, &[walk.looping()])?;
    /// crowd.cross_fade(0, run.looping(), 2.0..2.25)?;
    /// crowd.cross_fade(0, idle.looping(), 5.0..5.5)?;
    /// assert_eq!(crowd.layers(0).len(), 2); // the walk is dropped
    /// # Ok(())
    /// # }
    /// ```
    pub fn cross_fade(&mut self, instance: usize, into: Layer, seconds: Range<f64>) -> Result<(), Error> {
        let found = self.find(instance)?;
        let error = |reason: String| Err(Error::Instance { instance, reason });
        if into.mode != LayerMode::Blend {
            return error("a cross-fade leads to a layer that blends; this one overrides or adds".into());
        }
        let Range { start, end } = seconds;
        if !(start.is_finite() && end.is_finite() && start <= end) {
            return error(format!("the fade from {start} s to {end} s is not finite, or ends before it begins"));
        }
        let fade = Fade::from_seconds(start..end, FadeShape::Smooth);
        let (skeleton, layers) = (found.skeleton, cross_faded(&found.layers, into, fade));
        self.set(instance, skeleton, &layers)
    }

    /// Replaces the parameters of an instance. Layers refer to them by index; a parameter that is missing is 0.
    /// Instances can share them.
    ///
    /// # Errors
    /// [`Error::Instance`] if there is no such instance; [`Error::Limit`] beyond
    /// [`MAX_PARAMETERS`](Self::MAX_PARAMETERS).
    pub fn set_parameters(&mut self, instance: usize, parameters: impl Into<Arc<[Parameter]>>) -> Result<(), Error> {
        let parameters = parameters.into();
        if parameters.len() > Self::MAX_PARAMETERS {
            let what = format!("parameters of instance {instance}");
            return Err(Error::Limit { what, needed: parameters.len() as u64, allowed: Self::MAX_PARAMETERS as u64 });
        }
        self.find(instance)?.parameters = parameters;
        Ok(())
    }

    /// Replaces the goals of an instance: the targets for chains of its skeleton, which act in order. Instances can
    /// share them.
    ///
    /// # Errors
    /// [`Error::Instance`] if there is no such instance, a number is not finite, a weight is not from 0 to 1, or a
    /// parameter is beyond [`MAX_PARAMETERS`](Self::MAX_PARAMETERS); [`Error::Limit`] beyond
    /// [`MAX_GOALS`](Self::MAX_GOALS).
    pub fn set_goals(&mut self, instance: usize, goals: impl Into<Arc<[Goal]>>) -> Result<(), Error> {
        let goals = goals.into();
        check_goal_numbers(instance, &goals)?;
        self.find(instance)?.goals = goals;
        Ok(())
    }

    /// Replaces or removes the transition of an instance, with the poses around its start.
    pub(crate) fn store_transition(
        &mut self,
        instance: usize,
        running: Option<RunningTransition>,
    ) -> Result<(), Error> {
        self.find(instance)?.running = running.map(Arc::new);
        Ok(())
    }

    /// The instance of an index.
    fn find(&mut self, instance: usize) -> Result<&mut CrowdInstance, Error> {
        let count = self.len();
        let error = || Error::Instance { instance, reason: no_such("instance", instance, "crowd", count) };
        self.instances.get_mut(instance).ok_or_else(error)
    }

    /// The number of instances.
    pub fn len(&self) -> usize {
        self.instances.len()
    }

    /// Returns `true` if the crowd has no instance.
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }

    /// The skeleton of an instance.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn skeleton(&self, instance: usize) -> SkeletonId {
        self.instances[instance].skeleton
    }

    /// The layers of an instance, in order.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn layers(&self, instance: usize) -> &[Layer] {
        &self.instances[instance].layers
    }

    /// The parameters of an instance, in order.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn parameters(&self, instance: usize) -> &[Parameter] {
        &self.instances[instance].parameters
    }

    /// The goals of an instance, in order.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn goals(&self, instance: usize) -> &[Goal] {
        &self.instances[instance].goals
    }

    /// The values of the parameters of an instance at a tick of the crowd clock.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn parameter_values(&self, instance: usize, now: Ticks) -> ParameterValues {
        ParameterValues::new(self.parameters(instance), now)
    }

    /// The transition of an instance.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn transition(&self, instance: usize) -> Option<&Transition> {
        self.instances[instance].running.as_deref().map(|running| &running.transition)
    }

    /// The transition of an instance, followed by the one that it interrupts, and so on; none without a transition.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn transitions(&self, instance: usize) -> impl Iterator<Item = &Transition> {
        self.transition(instance).into_iter().flat_map(Transition::chain)
    }

    /// The layers of an instance, followed by layers that go out in its transition and in transitions that it
    /// interrupts.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn all_layers(&self, instance: usize) -> impl Iterator<Item = &Layer> {
        self.layers(instance).iter().chain(self.transitions(instance).flat_map(|transition| &transition.from))
    }

    /// The transition of an instance, with the poses around all starts.
    pub(crate) fn running(&self, instance: usize) -> Option<&RunningTransition> {
        self.instances[instance].running.as_deref()
    }

    /// The transition of an instance, with the poses around its start.
    pub(crate) fn start_poses(&self, instance: usize) -> Option<(&Transition, &StartPoses)> {
        let running = self.instances[instance].running.as_deref()?;
        Some((&running.transition, running.starts.first()?))
    }

    /// A crowd of one instance of this crowd.
    ///
    /// # Panics
    /// If there is no such instance.
    pub(crate) fn only(&self, instance: usize) -> Self {
        Self { instances: vec![self.instances[instance].clone()] }
    }

    /// The crowd as it is at a tick: an instance before the start of a transition has the layers that go out, and a
    /// transition that is over is removed. Parameters stay as they are. A [`CpuCrowd`](crate::cpu::CpuCrowd) or a crowd
    /// on the GPU of the result shows the instances at that tick and at later ticks before the next start of a
    /// transition, with the parameters that its caller sets.
    pub fn at(&self, now: Ticks) -> Cow<'_, Self> {
        if self.instances.iter().all(|instance| instance.running.is_none()) {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self { instances: self.instances.iter().map(|instance| instance.at(now)).collect() })
    }

    /// The layers that an instance has at a tick: the layers that go out before the start of a transition, otherwise
    /// its own.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn layers_at(&self, instance: usize, now: Ticks) -> &[Layer] {
        let to_come = self.transitions(instance).take_while(|transition| now < transition.start);
        to_come.last().map_or(self.layers(instance), |transition| &transition.from)
    }

    /// Checks that every skeleton, clip, mask, chain and driver exists in a library, that the clips, masks and chains
    /// of an instance belong to its skeleton, and that clips that follow each other have as many sync markers.
    ///
    /// # Errors
    /// [`Error::Instance`] with the first instance that fails the check.
    pub fn check(&self, library: &Library) -> Result<(), Error> {
        (0..self.len()).try_for_each(|instance| self.check_instance(library, instance, self.transition(instance)))
    }

    /// Checks the layers of an instance, and layers that go out in a transition.
    pub(crate) fn check_instance(
        &self,
        library: &Library,
        instance: usize,
        transition: Option<&Transition>,
    ) -> Result<(), Error> {
        let skeleton = self.skeleton(instance);
        check_instance(library, instance, skeleton, self.layers(instance))?;
        check_goals(library, instance, skeleton, self.goals(instance))?;
        let mut transitions = transition.into_iter().flat_map(Transition::chain);
        transitions.try_for_each(|transition| check_instance(library, instance, skeleton, &transition.from))
    }
}

/// Checks the numbers of a transition and of those before it, and the layers that go out.
pub(crate) fn check_transition(instance: usize, transition: &Transition) -> Result<(), Error> {
    let depth = transition.depth();
    if depth > Transition::MAX_DEPTH {
        let what = format!("transitions of instance {instance}");
        return Err(Error::Limit { what, needed: depth as u64, allowed: Transition::MAX_DEPTH as u64 });
    }
    if let Some(reason) = transition.error() {
        return Err(Error::Instance { instance, reason });
    }
    transition.chain().try_for_each(|transition| check_layers(instance, &transition.from))
}

/// Checks the number of goals of an instance, and the numbers in them.
pub(crate) fn check_goal_numbers(instance: usize, goals: &[Goal]) -> Result<(), Error> {
    if goals.len() > Crowd::MAX_GOALS {
        let what = format!("goals of instance {instance}");
        return Err(Error::Limit { what, needed: goals.len() as u64, allowed: Crowd::MAX_GOALS as u64 });
    }
    match goals.iter().find_map(Goal::error) {
        Some(reason) => Err(Error::Instance { instance, reason }),
        None => Ok(()),
    }
}

/// Checks the number of layers of an instance, and the numbers in them.
pub(crate) fn check_layers(instance: usize, layers: &[Layer]) -> Result<(), Error> {
    if layers.len() > Crowd::MAX_LAYERS {
        let what = format!("layers of instance {instance}");
        return Err(Error::Limit { what, needed: layers.len() as u64, allowed: Crowd::MAX_LAYERS as u64 });
    }
    let leader_errors = || (0..layers.len()).find_map(|index| leader_error(layers, index));
    match layers.iter().find_map(Layer::error).or_else(leader_errors) {
        Some(reason) => Err(Error::Instance { instance, reason }),
        None => Ok(()),
    }
}

/// The reason for which a layer cannot follow its leader.
fn leader_error(layers: &[Layer], index: usize) -> Option<String> {
    let LayerTime::Synced { leader } = layers[index].time else { return None };
    if leader >= index {
        return Some(format!("layer {index} follows layer {leader}; a leader must be an earlier layer"));
    }
    let is_synced = matches!(layers[leader].time, LayerTime::Synced { .. });
    is_synced.then(|| format!("layer {index} follows layer {leader}, which follows another layer itself"))
}
