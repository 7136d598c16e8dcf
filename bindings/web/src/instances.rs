//! The instances of a crowd as the page has set them, or as a spread gives them: what crowds on the GPU and on the CPU
//! share.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use posse::ik::Goal;
use posse::parameters::Parameter;
use posse::transitions::{NewTransition, TransitionKind};
use posse::{ClipId, Crowd, Error, Layer, LayerTime, Mixing, Playback, Ticks, WrapMode};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::fields::{Fields, each, flag, number, text, whole};
use crate::inverse_kinematics::goal;
use crate::js::{Result, index, numbers, options, ticks};
use crate::layer::{LayerList, LayerTemplate, crowd, start_tick};
use crate::names::{ClipChoice, Scope};

/// The multiples of these numbers modulo 1 spread evenly, in three dimensions together: the powers of the inverse of
/// the positive root of `x^4 = x + 1`.
const EVEN: [f64; 3] = [0.819_172_513_396_164_5, 0.671_043_606_703_789_3, 0.549_700_477_901_980_7];
/// The share by which speeds differ from their mean at the widest spread.
const SPEEDS: f64 = 0.2;
/// The most instances of a crowd.
const MAX_INSTANCES: usize = 1 << 20;

/// The choices of a crowd: `CrowdOptions` of `types.d.ts`.
pub struct CrowdOptions {
    skeleton: usize,
    parameters: Vec<String>,
    pub capacity: posse::CrowdOptions,
}

impl CrowdOptions {
    /// Reads the options.
    pub fn read(value: &JsValue) -> Result<Self> {
        let known = ["skeleton", "parameters", "layers", "mixing", "drivers", "goals", "transitions", "visible"];
        let fields = Fields::new("options".into(), value, &known)?;
        let count = |name: &str| fields.read(name, whole).map(Option::unwrap_or_default);
        let is_set = |name: &str| fields.read(name, flag).map(Option::unwrap_or_default);
        let mixing = [Mixing::None, Mixing::Blend, Mixing::Any][fields.choice("mixing", &["none", "blend", "any"])?];
        let read_names = |place: &str, value: &JsValue| each(place, value, text);
        let parameters: Vec<String> = fields.read("parameters", read_names)?.unwrap_or_default();
        let (found, most) = (parameters.len(), Crowd::MAX_PARAMETERS);
        if found > most {
            return Err(JsError::new(&format!("options.parameters: found {found} names, expected at most {most}")));
        }
        let twice = |&at: &usize| parameters[..at].contains(&parameters[at]);
        if let Some(at) = (0..found).find(twice) {
            let name = &parameters[at];
            return Err(JsError::new(&format!("options.parameters: the name {name:?} occurs twice")));
        }
        let capacity = posse::CrowdOptions {
            layers: count("layers")?,
            mixing,
            drivers: is_set("drivers")?,
            goals: count("goals")?,
            parameters: found,
            transitions: count("transitions")?,
            visible: is_set("visible")?,
            previous_skin: false,
        };
        Ok(Self { skeleton: count("skeleton")?, parameters, capacity })
    }
}

/// The options of a spread crowd: `SpreadOptions` of `posse.d.ts`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SpreadOptions {
    pub count: usize,
    clip: Option<ClipChoice>,
    clip2: Option<ClipChoice>,
    #[serde(default)]
    share: f64,
    #[serde(default = "one")]
    speed: f64,
    #[serde(default)]
    spread: f64,
}

fn one() -> f64 {
    1.0
}

impl SpreadOptions {
    /// The crowd. Without a clip, the instances stand at rest.
    pub fn crowd(&self, library: &posse::Library) -> Result<Crowd> {
        if self.count == 0 || self.count > MAX_INSTANCES {
            return Err(JsError::new(&format!("count: found {}, expected 1 to {MAX_INSTANCES}", self.count)));
        }
        for (name, value) in [("share", self.share), ("spread", self.spread)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(JsError::new(&format!("{name}: found {value}, expected 0 to 1")));
            }
        }
        let find = |choice: &Option<ClipChoice>| choice.as_ref().map(|choice| choice.find(library)).transpose();
        let (clip, clip2) = (find(&self.clip)?, find(&self.clip2)?);
        let skeleton = clip.map(|clip| library.clip(clip).skeleton).or_else(|| library.skeleton_ids().next());
        let Some(skeleton) = skeleton else {
            return Err(JsError::new("the library has no skeleton to make a crowd of"));
        };
        let mut crowd = Crowd::new();
        for instance in 0..self.count {
            let [choice, phase, pace] = EVEN.map(|even| (instance as f64 * even).fract());
            // From 1 down, so that instance 0 is the last to change its clip.
            let second =
                clip2.filter(|&second| 1.0 - choice <= self.share && library.clip(second).skeleton == skeleton);
            let layer = second.or(clip).map(|clip| self.layer(library, clip, phase, pace)).transpose()?;
            crowd.push(skeleton, layer.as_slice())?;
        }
        Ok(crowd)
    }

    fn layer(&self, library: &posse::Library, clip: ClipId, phase: f64, pace: f64) -> Result<Layer> {
        // Instance 0 keeps the phase 0 and the mean speed.
        let centred = pace - pace.round();
        let speed = self.speed * (1.0 + 2.0 * SPEEDS * self.spread * centred);
        let start = self.spread * phase * library.clip(clip).duration();
        Ok(Layer::new(clip, LayerTime::Playing(Playback::new(WrapMode::Loop, start_tick(start, speed)?, speed))))
    }
}

/// A transition without its instance and layers: `TransitionOptions` of `types.d.ts`.
#[derive(Clone, Copy)]
pub struct TransitionStart {
    now: Ticks,
    kind: TransitionKind,
    half_life: Option<f64>,
}

impl TransitionStart {
    /// Reads the options.
    pub fn read(value: &JsValue) -> Result<Self> {
        let fields = Fields::new("options".into(), value, &["start", "kind", "halfLife", "seconds"])?;
        let kind = match (fields.choice("kind", &["inertial", "dead"])?, fields.read("seconds", number)?) {
            (0, None) => TransitionKind::Inertial,
            (0, Some(_)) => {
                return Err(JsError::new(
                    "options.seconds: an inertial transition has no length; its halfLife sets the pace",
                ));
            }
            (_, Some(seconds)) => TransitionKind::Dead { seconds },
            (_, None) => {
                return Err(JsError::new("options.seconds: expected the length of a dead transition"));
            }
        };
        let now = ticks("options.start", fields.required("start", number)?)?;
        Ok(Self { now, kind, half_life: fields.read("halfLife", number)? })
    }

    /// The transitions of instances to their layers.
    pub fn of<'a>(&self, instances: &[usize], layers: &'a [Vec<Layer>]) -> Vec<NewTransition<'a>> {
        let of_instance = |(&instance, layers): (&usize, &'a Vec<Layer>)| {
            let new = NewTransition::new(instance, layers, self.now);
            NewTransition { kind: self.kind, half_life: self.half_life.unwrap_or(new.half_life), ..new }
        };
        instances.iter().zip(layers).map(of_instance).collect()
    }
}

/// The instances of a crowd, with the values of their parameters.
pub struct Instances {
    /// The layers, goals and transitions. A call that waits shares them, so that they are then copied before a change.
    crowd: Rc<Crowd>,
    /// The names of the parameters.
    pub parameters: Vec<String>,
    /// The present values of the parameters, one per name, instance after instance.
    values: Vec<f32>,
}

impl Instances {
    /// Instances whose parameters are 0.
    pub fn new(crowd: Crowd, parameters: Vec<String>) -> Self {
        let values = vec![0.0; parameters.len() * crowd.len()];
        Self { crowd: Rc::new(crowd), parameters, values }
    }

    /// Reads the arguments of `Crowd.create`.
    pub fn read(library: &posse::Library, instances: &JsValue, choices: &CrowdOptions) -> Result<Self> {
        let scope = Scope { library, parameters: &choices.parameters };
        Ok(Self::new(crowd(scope, instances, choices.skeleton)?, choices.parameters.clone()))
    }

    /// The layers, goals and transitions.
    pub fn crowd(&self) -> &Rc<Crowd> {
        &self.crowd
    }

    /// The same, for a change.
    pub fn crowd_mut(&mut self) -> &mut Crowd {
        Rc::make_mut(&mut self.crowd)
    }

    /// The number of instances.
    pub fn len(&self) -> usize {
        self.crowd.len()
    }

    /// The number of joints of all instances together.
    pub fn joints(&self, library: &posse::Library) -> usize {
        (0..self.len()).map(|instance| library.skeleton(self.crowd.skeleton(instance)).joints().len()).sum()
    }

    /// What layers and goals may name.
    pub fn scope<'a>(&'a self, library: &'a posse::Library) -> Scope<'a> {
        Scope { library, parameters: &self.parameters }
    }

    /// The values of the parameters, instance after instance.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The values of the parameters of an instance.
    pub fn values_of(&self, instance: usize) -> &[f32] {
        let count = self.parameters.len();
        &self.values[count * instance..][..count]
    }

    /// Replaces the parameters of the instances from `first` on, as many as there are values. Returns the instances.
    pub fn set_parameters(&mut self, first: f64, values: &JsValue) -> Result<Range<usize>> {
        let values = numbers("values", values)?;
        let first = index("first", first, self.len())?;
        let (count, found) = (self.parameters.len(), values.len());
        if count == 0 {
            return Err(JsError::new("the crowd has no parameters; create it with their names, { parameters: [...] }"));
        }
        let most = count * (self.len() - first);
        if found % count != 0 || found > most {
            return Err(JsError::new(&format!(
                "values: found {found} numbers, expected a multiple of {count}, the number of parameters, up to {most}"
            )));
        }
        if let Some(at) = values.iter().position(|value| !(*value as f32).is_finite()) {
            return Err(JsError::new(&format!("values[{at}]: found {}, expected a finite number", values[at])));
        }
        let own = &mut self.values[count * first..][..found];
        own.iter_mut().zip(&values).for_each(|(own, value)| *own = *value as f32);
        Ok(first..first + found / count)
    }

    /// Gives instances of the crowd their present parameters, which transitions begin with.
    pub fn apply_parameters(&mut self, instances: &[usize]) -> Result<()> {
        if self.parameters.is_empty() {
            return Ok(());
        }
        for &instance in instances {
            let parameters = constants(self.values_of(instance))?;
            self.crowd_mut().set_parameters(instance, parameters)?;
        }
        Ok(())
    }

    /// Refuses layers and goals that do not fit an instance, before the crowd has them.
    pub fn check(
        &self,
        library: &posse::Library,
        instance: usize,
        layers: &[Layer],
        goals: &Arc<[Goal]>,
    ) -> Result<()> {
        let mut alone = Crowd::new();
        let checked = alone.push(self.crowd.skeleton(instance), layers);
        let checked = checked.and_then(|place| alone.set_goals(place, goals.clone()));
        let checked = checked.and_then(|()| alone.check(library));
        Ok(checked.map_err(|error| numbered(error, instance))?)
    }

    /// A crowd of some instances, with these values of the parameters of all instances.
    pub fn only(&self, instances: impl Iterator<Item = usize>, values: &[f32]) -> Result<Crowd> {
        let (mut only, count) = (Crowd::new(), self.parameters.len());
        for instance in instances {
            let place = only.push_copy(&self.crowd, instance);
            if count > 0 {
                only.set_parameters(place, constants(&values[count * instance..][..count])?)?;
            }
        }
        Ok(only)
    }

    /// The instances of another spread; `None` if they are not as many, or of other skeletons.
    pub fn respread(&self, library: &posse::Library, spread: &JsValue) -> Result<Option<Crowd>> {
        let spread: SpreadOptions = options("spread", spread)?;
        if spread.count != self.len() {
            return Ok(None);
        }
        let new = spread.crowd(library)?;
        let is_same = (0..self.len()).all(|instance| new.skeleton(instance) == self.crowd.skeleton(instance));
        Ok(is_same.then_some(new))
    }

    /// Reads the layers that a call gives to some instances.
    pub fn read_layers(
        &self,
        library: &posse::Library,
        instances: &[usize],
        layers: &JsValue,
    ) -> Result<Vec<Vec<Layer>>> {
        let list = LayerList::read(self.scope(library), "layers", layers, instances.len())?;
        (0..instances.len()).map(|position| list.layers(library, position)).collect()
    }

    /// The layers of some instances that fade to another layer, over the length of a fade from its start on.
    pub fn read_cross_fade(
        &self,
        library: &posse::Library,
        instances: &[usize],
        layer: &JsValue,
        fade: &JsValue,
    ) -> Result<Vec<Vec<Layer>>> {
        let fields = Fields::new("fade".into(), fade, &["start", "length"])?;
        let (start, length) = (fields.required("start", number)?, fields.required("length", number)?);
        if length < 0.0 {
            return Err(JsError::new(&format!("fade.length: found {length}, expected 0 or more")));
        }
        let into = LayerTemplate::read(self.scope(library), "layer", layer, instances.len())?;
        let mut faded = self.only(instances.iter().copied(), &self.values)?;
        for (place, &instance) in instances.iter().enumerate() {
            let fading = faded.cross_fade(place, into.layer(library, place)?, start..start + length);
            fading.map_err(|error| numbered(error, instance))?;
        }
        Ok((0..instances.len()).map(|place| faded.layers(place).to_vec()).collect())
    }

    /// Reads the goals that a call gives to some instances, which they fit.
    pub fn read_goals(&self, library: &posse::Library, instances: &[usize], goals: &JsValue) -> Result<Arc<[Goal]>> {
        let goals: Arc<[Goal]> = each("goals", goals, |place, value| goal(self.scope(library), place, value))?.into();
        instances.iter().try_for_each(|&instance| self.check(library, instance, &[], &goals))?;
        Ok(goals)
    }
}

/// The error of an instance that stood in a crowd of its own, with its number in the crowd.
fn numbered(error: Error, instance: usize) -> Error {
    match error {
        Error::Instance { reason, .. } => Error::Instance { instance, reason },
        error => error,
    }
}

/// Parameters that keep their values.
fn constants(values: &[f32]) -> Result<Vec<Parameter>> {
    Ok(values.iter().map(|&value| Parameter::constant(value.into())).collect::<std::result::Result<_, _>>()?)
}
