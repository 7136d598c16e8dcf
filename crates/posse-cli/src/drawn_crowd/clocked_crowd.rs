//! A crowd on a device that follows the crowd clock.

use posse::{Crowd, CrowdOptions, Error, GpuCrowd, GpuLibrary, Layer, Mixing, Outputs, Ticks};

/// A crowd on a device that follows the crowd clock: the values of its parameters, and the layers before and after the start of each
/// transition.
pub struct ClockedCrowd {
    pub on_gpu: GpuCrowd,
    /// The starts of all transitions, in order.
    starts: Vec<Ticks>,
    /// The number of starts that have passed for the layers on the device.
    passed: usize,
    /// The values of the parameters on the device.
    values: Vec<f32>,
}

impl ClockedCrowd {
    /// Uploads a crowd, with room for the layers that go out in its transitions.
    pub fn new(library: &GpuLibrary, crowd: &Crowd, outputs: Outputs) -> Result<Self, Error> {
        let starts = transition_starts(crowd);
        let options = if starts.is_empty() { CrowdOptions::NONE } else { room(crowd) };
        let on_gpu = GpuCrowd::with_options(library, crowd, outputs, options)?;
        // The layers on the device are those that come in.
        let passed = starts.len();
        Ok(Self { on_gpu, starts, passed, values: Vec::new() })
    }

    /// Replaces the layers by those of a crowd with the same transitions, if they fit.
    #[cfg(feature = "view")]
    pub fn set_layers(&mut self, library: &GpuLibrary, crowd: &Crowd) -> Result<posse::LayersOutcome, Error> {
        self.on_gpu.set_layers(library, &crowd.at(self.shown_from(self.passed)))
    }

    /// Uploads what a crowd needs to be shown at a tick. Without parameters by the clock, and without a transition that starts between
    /// the tick before and this one, nothing is uploaded.
    pub fn set_time(&mut self, library: &GpuLibrary, crowd: &Crowd, now: Ticks) -> Result<(), Error> {
        let passed = self.starts.partition_point(|&start| start <= now);
        if passed != self.passed {
            let outcome = self.on_gpu.set_layers(library, &crowd.at(self.shown_from(passed)))?;
            if !outcome.is_replaced() {
                return Err(Error::Usage(format!(
                    "the layers of transitions do not fit the crowd on the GPU: {outcome}"
                )));
            }
            self.passed = passed;
        }
        let values = parameter_values(crowd, self.on_gpu.parameter_count(), now);
        if values != self.values {
            self.on_gpu.set_all_parameters(&values)?;
            self.values = values;
        }
        Ok(())
    }

    /// The tick of the last of the starts that have passed. From it to the next start, each instance has the same layers, and the
    /// device ends the transitions.
    fn shown_from(&self, passed: usize) -> Ticks {
        passed.checked_sub(1).map_or(Ticks(i64::MIN), |last| self.starts[last])
    }
}

/// The starts of all transitions of a crowd, in order, each once.
fn transition_starts(crowd: &Crowd) -> Vec<Ticks> {
    let mut starts = Vec::new();
    for instance in 0..crowd.len() {
        for transition in crowd.transitions(instance) {
            // Neighbours mostly share their starts.
            if !starts.ends_with(&[transition.start]) {
                starts.push(transition.start);
            }
        }
    }
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// The room for all layers of a crowd: those that come in and those that go out, with any weights.
fn room(crowd: &Crowd) -> CrowdOptions {
    let mut options = CrowdOptions { mixing: Mixing::Blend, ..CrowdOptions::NONE };
    let mut add = |layers: &[Layer]| {
        options.layers = options.layers.max(layers.len());
        options.mixing = options.mixing.max(Mixing::of(layers));
        options.drivers |= layers.iter().any(Layer::is_driven);
    };
    let mut transitions = 0;
    for instance in 0..crowd.len() {
        add(crowd.layers(instance));
        transitions += usize::from(crowd.transition(instance).is_some());
        crowd.transitions(instance).for_each(|transition| add(&transition.from));
    }
    CrowdOptions { transitions, ..options }
}

/// The first `count` parameters of each instance at a tick.
fn parameter_values(crowd: &Crowd, count: usize, now: Ticks) -> Vec<f32> {
    let mut values: Vec<f32> = Vec::with_capacity(count * crowd.len());
    for instance in 0..crowd.len() {
        // Instances of a group share their parameters, so that most values are those of the instance before.
        let is_shared = instance > 0 && std::ptr::eq(crowd.parameters(instance), crowd.parameters(instance - 1));
        if is_shared {
            values.extend_from_within(values.len() - count..);
        } else {
            values.extend_from_slice(&crowd.parameter_values(instance, now).0[..count]);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use posse::{ClipId, LayerTime, Library, Parameter, Playback, Transition, TransitionKind, demo};

    fn playing() -> Layer {
        Layer::new(clip(&demo::library().unwrap()), LayerTime::Playing(Playback::looping(Ticks(0), 1.0)))
    }

    fn clip(library: &Library) -> ClipId {
        library.clip_ids().next().unwrap()
    }

    #[test]
    fn each_instance_has_the_values_of_its_own_parameters() {
        let library = demo::library().unwrap();
        let skeleton = library.clip(clip(&library)).skeleton;
        let mut crowd = Crowd::new();
        let linear: Arc<[Parameter]> = Arc::new([Parameter::new(vec![[0.0, 1.0], [2.0, 3.0]]).unwrap()]);
        let two: Vec<Parameter> = [7.0, 8.0].map(|value| Parameter::constant(value).unwrap()).into();
        for parameters in [Arc::default(), Arc::clone(&linear), linear, two.into(), Arc::default()] {
            let instance = crowd.push(skeleton, &[]).unwrap();
            crowd.set_parameters(instance, parameters).unwrap();
        }
        let now = Ticks::from_seconds(0.5);
        assert_eq!(parameter_values(&crowd, 2, now), [0.0, 0.0, 1.5, 0.0, 1.5, 0.0, 7.0, 8.0, 0.0, 0.0]);
        assert_eq!(parameter_values(&crowd, 1, now), [0.0, 1.5, 1.5, 7.0, 0.0]);
        assert!(parameter_values(&crowd, 0, now).is_empty());
    }

    #[test]
    fn there_is_room_for_the_layers_that_go_out() {
        let library = demo::library().unwrap();
        let skeleton = library.clip(clip(&library)).skeleton;
        let mut crowd = Crowd::new();
        let follower = Layer { time: LayerTime::Synced { leader: 0 }, ..playing() };
        let transition = |start, from: &[Layer], before: Option<Transition>| Transition {
            start: Ticks(start),
            from: from.to_vec(),
            kind: TransitionKind::Inertial,
            half_life: 0.1,
            before: before.map(Box::new),
        };
        crowd.push(skeleton, &[playing()]).unwrap();
        assert_eq!(transition_starts(&crowd), []);
        // A layer alone has room for any weight.
        assert_eq!(room(&crowd).mixing, Mixing::Blend);
        for start in [900, 300] {
            let before = transition(100, &[playing(), follower, playing()], None);
            let instance = crowd.push(skeleton, &[playing()]).unwrap();
            crowd.set_transition(&library, instance, Some(transition(start, &[playing()], Some(before)))).unwrap();
        }
        assert_eq!(transition_starts(&crowd), [Ticks(100), Ticks(300), Ticks(900)]);
        let expected =
            CrowdOptions { layers: 3, mixing: Mixing::Blend, drivers: true, transitions: 2, ..CrowdOptions::NONE };
        assert_eq!(room(&crowd), expected);
    }
}
