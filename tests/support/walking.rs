//! A figure that walks without an error, as a BVH file: planted feet stay where they are.

use std::fmt::Write;

/// The thigh and the calf of the figure that walks without an error.
pub const THIGH_AND_CALF: [f64; 2] = [0.45, 0.40];
/// The speed in metres per second.
pub const SPEED: f64 = 0.8;
/// Frames per second.
pub const FPS: f64 = 60.0;
/// The part of a cycle of one second in which a foot is on the ground.
pub const STANCE: f64 = 0.6;

/// The height of the hips above the ankles of planted feet, and half the way of a planted foot below them.
const HIPS: f64 = 0.80;
const HALF_STEP: f64 = 0.5 * SPEED * STANCE;
/// The height of a foot in the middle of its swing.
const LIFT: f64 = 0.12;

/// A BVH file of a figure with legs of these lengths that makes the angles of the walk. Feet of the lengths
/// [`THIGH_AND_CALF`] stay where they are while they are on the ground; the feet of others slide. The left foot is on
/// the ground for the first 0.6 s of each second, the right one half a second later.
pub fn bvh(thigh_and_calf: [f64; 2], frames: usize) -> String {
    let [thigh, calf] = thigh_and_calf;
    let mut text = String::from(
        "HIERARCHY\nROOT Hips\n{\nOFFSET 0 0.88 0\nCHANNELS 6 Xposition Yposition Zposition Xrotation Yrotation Zrotation\n",
    );
    let open = |text: &mut String, name: &str, offset: [f64; 3]| {
        let [x, y, z] = offset;
        writeln!(text, "JOINT {name}\n{{\nOFFSET {x} {y} {z}\nCHANNELS 3 Xrotation Yrotation Zrotation").unwrap();
    };
    let end = |text: &mut String, offset: &str, depth: usize| {
        writeln!(text, "End Site\n{{\nOFFSET {offset}\n}}").unwrap();
        text.push_str(&"}\n".repeat(depth));
    };
    for (side, x) in [("Left", 0.1), ("Right", -0.1)] {
        open(&mut text, &format!("{side}UpLeg"), [x, 0.0, 0.0]);
        open(&mut text, &format!("{side}Leg"), [0.0, -thigh, 0.0]);
        open(&mut text, &format!("{side}Foot"), [0.0, -calf, 0.0]);
        open(&mut text, &format!("{side}ToeBase"), [0.0, -0.06, 0.14]);
        end(&mut text, "0 0 0.05", 4);
    }
    open(&mut text, "Spine", [0.0, 0.2, 0.0]);
    for (side, x) in [("Left", 1.0), ("Right", -1.0)] {
        open(&mut text, &format!("{side}Arm"), [0.2 * x, 0.25, 0.0]);
        open(&mut text, &format!("{side}ForeArm"), [0.3 * x, 0.0, 0.0]);
        open(&mut text, &format!("{side}Hand"), [0.25 * x, 0.0, 0.0]);
        end(&mut text, &format!("{} 0 0", 0.1 * x), 3);
    }
    open(&mut text, "Neck", [0.0, 0.3, 0.0]);
    open(&mut text, "Head", [0.0, 0.1, 0.0]);
    end(&mut text, "0 0.15 0", 4);
    writeln!(text, "MOTION\nFrames: {frames}\nFrame Time: {}", 1.0 / FPS).unwrap();
    for frame in 0..frames {
        let time = frame as f64 / FPS;
        write!(text, "0 0.88 {} 0 0 0", SPEED * time).unwrap();
        for phase in [time.fract(), (time + 0.5).fract()] {
            let [hip, knee] = angles(phase);
            write!(text, " {} 0 0 {} 0 0 {} 0 0 0 0 0", -hip, knee, hip - knee).unwrap();
        }
        writeln!(text, "{}", " 0 0 0".repeat(9)).unwrap();
    }
    text
}

/// The angles of the hip, forwards, and of the knee, in degrees, by the law of cosines.
fn angles(phase: f64) -> [f64; 2] {
    let [thigh, calf] = THIGH_AND_CALF;
    let (ahead, height) = if phase < STANCE {
        (HALF_STEP - SPEED * phase, 0.0)
    } else {
        let swing = (phase - STANCE) / (1.0 - STANCE);
        let way = swing * swing * (3.0 - 2.0 * swing);
        (HALF_STEP * (2.0 * way - 1.0), LIFT * (std::f64::consts::PI * swing).sin())
    };
    let down = HIPS - height;
    let length = ahead.hypot(down);
    let knee = ((thigh * thigh + calf * calf - length * length) / (2.0 * thigh * calf)).acos();
    let hip = ((thigh * thigh + length * length - calf * calf) / (2.0 * thigh * length)).acos();
    [ahead.atan2(down) + hip, std::f64::consts::PI - knee].map(f64::to_degrees)
}
