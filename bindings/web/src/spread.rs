//! Crowds that play one or two clips at spread phases and speeds.

use posse::{ClipId, Crowd, Layer, LayerTime, Library, Playback, WrapMode};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::js::Result;
use crate::layer::start_tick;
use crate::names::ClipChoice;

/// The multiples of these numbers modulo 1 spread evenly, in three dimensions together: the powers of the inverse of
/// the positive root of `x^4 = x + 1`.
const EVEN: [f64; 3] = [0.819_172_513_396_164_5, 0.671_043_606_703_789_3, 0.549_700_477_901_980_7];
/// The share by which speeds differ from their mean at the widest spread.
const SPEEDS: f64 = 0.2;
/// The most instances of a crowd.
const MAX_INSTANCES: usize = 1 << 20;

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
    pub fn crowd(&self, library: &Library) -> Result<Crowd> {
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

    fn layer(&self, library: &Library, clip: ClipId, phase: f64, pace: f64) -> Result<Layer> {
        // Instance 0 keeps the phase 0 and the mean speed.
        let centred = pace - pace.round();
        let speed = self.speed * (1.0 + 2.0 * SPEEDS * self.spread * centred);
        let start = self.spread * phase * library.clip(clip).duration();
        Ok(Layer::new(clip, LayerTime::Playing(Playback::new(WrapMode::Loop, start_tick(start, speed)?, speed))))
    }
}
