//! The bound of the turn by which a joint aims.

use std::f64::consts::PI;

use glam::DQuat;

use crate::contract::angle;
use crate::contract::inverse_kinematics::{MOST, ROUNDING, Turn, displaced};
use crate::contract::sizes::NARROW;
use crate::reference::inverse_kinematics::{Aim, OPPOSITE};

/// The turn, from the bounds of the joint's model rotation in radians and of the vector to the target; `None` if every engine leaves the
/// pose as it is.
pub fn turn(aim: &Aim, rotation: f64, target: f64) -> Option<Turn> {
    if aim.forward.length() == 0.0 {
        return None;
    }
    let solved = |aim: Aim, opposite: f64| aim.turn(opposite).unwrap_or(DQuat::IDENTITY);
    let turn = solved(*aim, OPPOSITE);
    let forward_error = (rotation + ROUNDING) * aim.forward.length();
    let target_error = target + ROUNDING * aim.target.length();
    let directions = rotation + ROUNDING + target_error / aim.target.length();
    // Both directions are unit vectors, so that the length of their sum is twice the cosine of half their angle.
    let sum = (aim.forward.normalize() + aim.target.normalize_or_zero()).length();
    if !(directions < MOST && sum > 2.0 * directions) {
        let most = aim.limit.min(PI) * aim.weight;
        return Some(Turn { turn, bound: (2.0 * most + NARROW).min(PI) });
    }
    let effect = |pair: [Aim; 2]| pair.map(|near| angle(turn, solved(near, OPPOSITE))).into_iter().fold(0.0, f64::max);
    let forwards = displaced(aim.forward, forward_error).map(|pair| pair.map(|forward| Aim { forward, ..*aim }));
    let targets = displaced(aim.target, target_error).map(|pair| pair.map(|target| Aim { target, ..*aim }));
    let bound = forwards.into_iter().chain(targets).map(effect).sum::<f64>();
    Some(Turn { turn, bound: bound + NARROW })
}
