//! Clips of release 3.3 and later.

use serde_json::{Value, json};

use super::dice::Dice;

impl Dice {
    pub(super) fn adapter(&mut self) -> Value {
        match self.roll(8) {
            0 => {
                json!({ "__type__": "cc.animation.UniformProxyFactory", "uniformName": "glow", "channelIndex": self.index(4) })
            }
            1 => json!({ "__type__": "Mine" }),
            _ => json!(null),
        }
    }

    /// Release 3.3 and later.
    pub(super) fn tracks(&mut self) -> Value {
        let mut clip = self.clip(true, &[]);
        let count = 1 + self.roll(5);
        clip["_tracks"] = (0..count).map(|_| self.track()).collect();
        clip
    }

    pub(super) fn track(&mut self) -> Value {
        const KINDS: [&str; 9] = [
            "RealTrack",
            "VectorTrack",
            "ColorTrack",
            "SizeTrack",
            "QuatTrack",
            "ObjectTrack",
            "RealArrayTrack",
            "UntypedTrack",
            "MagicTrack",
        ];
        let kind = self.pick(&KINDS);
        let mut track = json!({ "__type__": format!("cc.animation.{kind}") });
        track["_binding"] = json!({ "path": { "_paths": self.steps() }, "proxy": self.adapter() });
        match kind {
            "RealTrack" => track["_channel"] = self.channel(),
            "QuatTrack" | "ObjectTrack" => {
                let times = self.times();
                let quats = kind == "QuatTrack";
                let values: Vec<Value> = (times.iter())
                    .map(|_| match quats {
                        true => json!({ "value": self.object("cc.Quat"), "interpolationMode": self.index(2), "easingMethod": self.easing() }),
                        false => self.value(15),
                    })
                    .collect();
                let (before, after) = (self.index(4), self.index(4));
                let curve = json!({ "_times": times, "_values": values, "preExtrapolation": before, "postExtrapolation": after });
                track["_channel"] = json!({ "_curve": curve });
            }
            _ => {
                let count = self.roll(6);
                track["_channels"] = (0..count).map(|_| self.channel()).collect();
                track["_nComponents"] = json!(2 + self.roll(3));
            }
        }
        track
    }

    pub(super) fn channel(&mut self) -> Value {
        let property = self.pick(&["x", "y", "z", "w", "r", "a", "width"]);
        json!({ "property": property, "_curve": self.real_curve() })
    }

    pub(super) fn real_curve(&mut self) -> Value {
        let times = self.times();
        let mixed = self.one_in(2);
        let (mode, weights) = (self.index(3), self.index(4));
        let keyframe = |dice: &mut Self| {
            let mode = if mixed { dice.index(3) } else { mode.clone() };
            let weights = if mixed { dice.index(4) } else { weights.clone() };
            let mut keyframe =
                json!({ "value": dice.number(), "interpolationMode": mode, "tangentWeightMode": weights });
            for side in ["leftTangent", "rightTangent", "leftTangentWeight", "rightTangentWeight"] {
                keyframe[side] = dice.number();
            }
            keyframe["easingMethod"] = dice.easing();
            keyframe
        };
        let values: Vec<Value> = times.iter().map(|_| keyframe(self)).collect();
        json!({ "_times": times, "_values": values, "preExtrapolation": self.index(4), "postExtrapolation": self.index(4) })
    }
}
