//! Layers, transitions, chains and goals, from the structs of C to the types of the library.

use posse::ik::{Chain, ChainKind, Goal, GoalTarget, GoalWeight};
use posse::parameters::WeightDriver;
use posse::transitions::{Fade, FadeShape, NewTransition, TransitionKind};
use posse::{AdditiveReference, Layer, LayerMode, LayerTime, Playback, Ticks, WrapMode};

use crate::error::Outcome;
use crate::numbers::{Parts, item, numbered};
use crate::types::{self, Driver, Mode, POSSE_NONE, Time, Wrap};

/// The layers of an instance.
pub fn layers(parts: &Parts, given: &[types::Layer]) -> Outcome<Vec<Layer>> {
    given.iter().map(|layer| self::layer(parts, layer)).collect()
}

/// A layer.
pub fn layer(parts: &Parts, given: &types::Layer) -> Outcome<Layer> {
    let masks: Vec<_> = parts.library.mask_ids().collect();
    Ok(Layer {
        weight: given.weight,
        driver: driver(parts, given)?,
        mode: match numbered(given.mode)? {
            Mode::Blend => LayerMode::Blend,
            Mode::Override => LayerMode::Override,
            Mode::Additive => LayerMode::Additive(AdditiveReference::First),
            Mode::AdditiveRest => LayerMode::Additive(AdditiveReference::Rest),
        },
        mask: if given.mask == POSSE_NONE { None } else { Some(item("mask", masks.into_iter(), given.mask)?) },
        fade_in: fade(given.fade_in)?,
        fade_out: fade(given.fade_out)?,
        ..Layer::new(parts.clip_id(given.clip)?, time(given)?)
    })
}

fn time(given: &types::Layer) -> Outcome<LayerTime> {
    let wrap = match numbered(given.wrap)? {
        Wrap::Default => WrapMode::Default,
        Wrap::Normal => WrapMode::Normal,
        Wrap::Loop => WrapMode::Loop,
        Wrap::PingPong => WrapMode::PingPong,
        Wrap::Reverse => WrapMode::Reverse,
        Wrap::LoopReverse => WrapMode::LoopReverse,
        Wrap::PingPongReverse => WrapMode::PingPongReverse,
    };
    Ok(match numbered(given.time)? {
        Time::Playing => LayerTime::Playing(Playback {
            repeat_count: (given.repeat_count != 0.0).then_some(given.repeat_count),
            range: (given.range != [0.0; 2]).then_some(given.range),
            ..Playback::new(wrap, Ticks(given.start), given.rate)
        }),
        Time::Fixed => LayerTime::At(given.seconds),
        Time::Phase => LayerTime::Phase { parameter: given.parameter as usize, wrap },
        Time::Synced => LayerTime::Synced { leader: given.leader as usize },
    })
}

fn driver(parts: &Parts, given: &types::Layer) -> Outcome<Option<WeightDriver>> {
    let index = given.driver_index;
    let parameters = given.driver_parameters.map(|parameter| parameter as usize);
    Ok(match numbered(given.driver)? {
        Driver::None => None,
        Driver::Knots => {
            let knots = *item("list of knots", parts.knots.iter(), index)?;
            Some(WeightDriver::Knots { parameter: parameters[0], knots })
        }
        Driver::Point => {
            let space = *item("blend space", parts.blend_spaces.iter(), index)?;
            Some(WeightDriver::Point { space, parameters, point: given.driver_point as usize })
        }
    })
}

fn fade(given: types::Fade) -> Outcome<Option<Fade>> {
    let shape = match numbered(given.shape)? {
        types::FadeShape::None => return Ok(None),
        types::FadeShape::Linear => FadeShape::Linear,
        types::FadeShape::Smooth => FadeShape::Smooth,
    };
    Ok(Some(Fade { start: Ticks(given.start), length: Ticks(given.length), shape }))
}

/// A transition of an instance to layers.
pub fn transition<'a>(
    given: &types::Transition,
    instance: usize,
    layers: &'a [Layer],
    start: i64,
) -> Outcome<NewTransition<'a>> {
    let new = NewTransition::new(instance, layers, Ticks(start));
    let half_life = if given.half_life == 0.0 { new.half_life } else { given.half_life };
    let kind = match numbered(given.kind)? {
        types::TransitionKind::Inertial => TransitionKind::Inertial,
        types::TransitionKind::Dead => TransitionKind::Dead { seconds: given.seconds },
    };
    Ok(NewTransition { half_life, kind, ..new })
}

/// A chain of a skeleton of the library.
pub fn chain(parts: &Parts, given: &types::Chain) -> Outcome<Chain> {
    let skeleton = parts.skeleton_id(given.skeleton)?;
    let joints = given.joints.map(|joint| joint as usize);
    let kind = match numbered(given.kind)? {
        types::ChainKind::TwoBone => {
            let pole = (given.direction != [0.0; 3]).then_some(given.direction);
            ChainKind::TwoBone { joints, pole, hold: given.hold != 0 }
        }
        types::ChainKind::Aim => ChainKind::Aim { joint: joints[0], forward: given.direction, limit: given.limit },
    };
    Ok(Chain { name: None, skeleton, kind })
}

/// The goals of an instance.
pub fn goals(parts: &Parts, given: &[types::Goal]) -> Outcome<Vec<Goal>> {
    let chains: Vec<_> = parts.library.chain_ids().collect();
    let goal = |given: &types::Goal| {
        let target = if given.target_parameters[0] == POSSE_NONE {
            GoalTarget::Point(given.target)
        } else {
            GoalTarget::Parameters(given.target_parameters.map(|parameter| parameter as usize))
        };
        let weight = if given.weight_parameter == POSSE_NONE {
            GoalWeight::Fixed(given.weight)
        } else {
            GoalWeight::Parameter(given.weight_parameter as usize)
        };
        Ok(Goal { weight, ..Goal::new(*item("chain", chains.iter(), given.chain)?, target) })
    };
    given.iter().map(goal).collect()
}
