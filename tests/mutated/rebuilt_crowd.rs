use posse::ik::{Goal, GoalTarget, GoalWeight};
use posse::parameters::{Parameter, WeightDriver};
use posse::transitions::{Fade, Transition, TransitionKind};
use posse::{Crowd, Error, Layer, LayerTime, Library, Playback, WrapMode};

use super::ids::Ids;
use super::mutation::Mutation;

/// Rebuilds a crowd of a library, number by number.
pub fn rebuilt_crowd(library: &Library, crowd: &Crowd, mutation: &mut Mutation) -> Result<Crowd, Error> {
    let ids = Ids::get();
    let mut rebuilt = Crowd::new();
    for instance in 0..crowd.len() {
        let skeleton = ids.skeleton("skeleton of an instance", crowd.skeleton(instance), mutation);
        rebuilt.push(skeleton, &rebuilt_layers(crowd.layers(instance), ids, mutation))?;
        let parameter = |parameter: &Parameter| rebuilt_parameter(parameter, mutation);
        let parameters = crowd.parameters(instance).iter().map(parameter).collect::<Result<Vec<_>, Error>>()?;
        rebuilt.set_parameters(instance, parameters)?;
        let goals: Vec<Goal> = crowd.goals(instance).iter().map(|goal| rebuilt_goal(goal, ids, mutation)).collect();
        rebuilt.set_goals(instance, goals)?;
        let transition = crowd.transition(instance).map(|transition| rebuilt_transition(transition, ids, mutation));
        rebuilt.set_transition(library, instance, transition)?;
    }
    Ok(rebuilt)
}

fn rebuilt_layers(layers: &[Layer], ids: &Ids, mutation: &mut Mutation) -> Vec<Layer> {
    let mut layers = layers.iter().map(|layer| rebuilt_layer(layer, ids, mutation)).collect();
    mutation.length("layers", &mut layers);
    layers
}

fn rebuilt_layer(layer: &Layer, ids: &Ids, mutation: &mut Mutation) -> Layer {
    let mut fade = |fade: Fade| Fade {
        start: mutation.ticks("start of a fade", fade.start),
        length: mutation.ticks("length of a fade", fade.length),
        ..fade
    };
    let (fade_in, fade_out) = (layer.fade_in.map(&mut fade), layer.fade_out.map(&mut fade));
    let time = match layer.time {
        LayerTime::At(seconds) => LayerTime::At(mutation.real("time of a layer", seconds)),
        LayerTime::Playing(playback) => LayerTime::Playing(rebuilt_playback(playback, mutation)),
        LayerTime::Phase { parameter, wrap } => LayerTime::Phase {
            parameter: mutation.index("parameter of a phase", parameter),
            wrap: mutation.choice("wrap mode of a phase", wrap, WrapMode::ALL),
        },
        LayerTime::Synced { leader } => LayerTime::Synced { leader: mutation.index("leader", leader) },
    };
    let driver = layer.driver.map(|driver| match driver {
        WeightDriver::Knots { parameter, knots } => WeightDriver::Knots {
            parameter: mutation.index("parameter of a driver", parameter),
            knots: ids.knots(knots, mutation),
        },
        WeightDriver::Point { space, parameters, point } => WeightDriver::Point {
            space: ids.space(space, mutation),
            parameters: parameters.map(|parameter| mutation.index("parameter of a driver", parameter)),
            point: mutation.index("point of a driver", point),
        },
    });
    Layer {
        clip: ids.clip(layer.clip, mutation),
        time,
        weight: mutation.real("weight of a layer", layer.weight),
        driver,
        mode: layer.mode,
        mask: layer.mask.map(|mask| ids.mask(mask, mutation)),
        fade_in,
        fade_out,
    }
}

fn rebuilt_playback(playback: Playback, mutation: &mut Mutation) -> Playback {
    Playback {
        start: mutation.ticks("start of a playback", playback.start),
        rate: mutation.real("rate of a playback", playback.rate),
        wrap: mutation.choice("wrap mode of a playback", playback.wrap, WrapMode::ALL),
        repeat_count: playback.repeat_count.map(|count| mutation.real("repeat count", count)),
        range: playback.range.map(|range| mutation.reals("range of a playback", range)),
    }
}

fn rebuilt_parameter(parameter: &Parameter, mutation: &mut Mutation) -> Result<Parameter, Error> {
    let mut keys = parameter.keys().iter().map(|&key| mutation.reals("key of a parameter", key)).collect();
    mutation.length("keys of a parameter", &mut keys);
    Parameter::new(keys)
}

fn rebuilt_goal(goal: &Goal, ids: &Ids, mutation: &mut Mutation) -> Goal {
    let target = match goal.target {
        GoalTarget::Point(point) => GoalTarget::Point(mutation.reals("target", point)),
        GoalTarget::Parameters(parameters) => {
            GoalTarget::Parameters(parameters.map(|parameter| mutation.index("parameter of a target", parameter)))
        }
    };
    let weight = match goal.weight {
        GoalWeight::Fixed(weight) => GoalWeight::Fixed(mutation.real("weight of a goal", weight)),
        GoalWeight::Parameter(parameter) => {
            GoalWeight::Parameter(mutation.index("parameter of the weight of a goal", parameter))
        }
    };
    Goal { chain: ids.chain(goal.chain, mutation), target, weight }
}

fn rebuilt_transition(transition: &Transition, ids: &Ids, mutation: &mut Mutation) -> Transition {
    let kind = match transition.kind {
        TransitionKind::Inertial => TransitionKind::Inertial,
        TransitionKind::Dead { seconds } => {
            TransitionKind::Dead { seconds: mutation.real("length of a transition", seconds) }
        }
    };
    Transition {
        start: mutation.ticks("start of a transition", transition.start),
        from: rebuilt_layers(&transition.from, ids, mutation),
        kind,
        half_life: mutation.real("half-life", transition.half_life),
        before: transition.before.as_deref().map(|before| Box::new(rebuilt_transition(before, ids, mutation))),
    }
}
