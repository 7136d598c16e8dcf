use std::path::Path;
use std::sync::Arc;

use posse::binding::{UnboundCurves, ValueKind};
use posse::curves::{Easing, Extrapolation, Interpolation};
use posse::events::Event;
use posse::import::cocos::{
    ClipFile, Document, Keys, color, from_slice, grey, quat, rect, size, spline, vec2, vec3, vec4,
};
use posse::{Error, Library, Playback, Ticks, WrapMode};
use serde_json::json;

use super::{channel, curve, examples, read, track, value, warning_paths};

#[test]
fn a_document_is_read() {
    let file = read(&examples::document()).unwrap();
    let clip = &file.clip;
    assert_eq!(file.warnings, []);
    assert_eq!((clip.name.as_deref(), clip.duration, clip.speed), (Some("nod"), 2.0, 0.5));
    assert_eq!(Playback::new(clip.wrap, Ticks(0), 1.0).wrap, WrapMode::PingPong);
    assert_eq!(clip.events.iter().map(|event| event.function.as_str()).collect::<Vec<_>>(), ["soon", "late"]);
    let parameters = ["a", "2", "{\"b\":null}"].map(String::from).to_vec();
    assert_eq!(clip.events[1], Event { time: 1.5, function: "late".into(), parameters });
    assert_eq!(clip.tracks.len(), 10);

    // A quarter of the interval, which the easing turns into a sixteenth. Only the first three numbers of the last
    // value count.
    let position = curve(&file, "Head::position");
    assert_eq!(track(&file, "Head::position").kind, ValueKind::Vec3);
    assert_eq!(value(position, 0.125), [0.0625, 0.125, 0.1875]);
    assert_eq!(position.value(2), [0.0, 4.0, 0.0]);
    let rotation = curve(&file, "Head::rotation");
    assert_eq!(
        (track(&file, "Head::rotation").kind, rotation.interpolation()),
        (ValueKind::Quat, Interpolation::Slerp)
    );
    let root = 0.5_f64.sqrt();
    assert!((value(rotation, 1.0)[2] - root).abs() < 1e-15);
    assert_eq!(value(curve(&file, "Head::scale"), 1.9), [2.0; 3]);
    // Curves with the same list of keys share their timeline.
    assert!(Arc::ptr_eq(position.timeline(), curve(&file, "Head::scale").timeline()));
    assert_eq!(rotation.timeline().window(), 2e-6);
    assert_eq!(position.timeline().window(), 2e-6);

    assert_eq!(track(&file, "::active").kind, ValueKind::Held);
    assert_eq!([0.0, 0.6, 7.0].map(|time| value(curve(&file, "::active"), time)[0]), [0.0, 1.0, 2.0]);
    assert_eq!(track(&file, "Body/Arm:cc.Sprite:color").kind, ValueKind::Color);
    assert_eq!(value(curve(&file, "Body/Arm:cc.Sprite:color"), 1.0), [127.5, 127.5, 51.0, 255.0]);
    assert_eq!(value(curve(&file, "Body/Arm:cc.Sprite:frame"), 1.0), [0.0]);
    assert_eq!(value(curve(&file, "Body/Arm:cc.Sprite:told"), 0.25), [1.5, 0.25, 0.5]);
    assert_eq!(value(curve(&file, "Body/Arm:cc.Sprite:size"), 1.0), [3.0, 4.0]);
    assert_eq!(track(&file, "Body/Arm:cc.Sprite:rect").kind, ValueKind::Rect);
    assert_eq!(curve(&file, "Body/Arm:cc.Sprite:rect").easing_at(0), Easing::Bezier([0.2, 0.0, 0.4, 1.0]));
    assert_eq!(track(&file, "Body/Arm:cc.Sprite:none").curves, UnboundCurves::Empty);
}

#[test]
fn a_clip_before_release_1_is_read() {
    let file = read(&examples::seed()).unwrap();
    assert_eq!((file.clip.name.as_deref(), file.clip.duration, file.clip.wrap), (Some("lamp"), 4.0, WrapMode::Loop));
    assert_eq!(warning_paths(&file), [""; 0]);
    let rotation = curve(&file, "lamp::rotation");
    assert_eq!(rotation.interpolation(), Interpolation::CubicSpline);
    assert_eq!((rotation.in_tangent(1)[0], rotation.value(1)[0], rotation.out_tangent(1)[0]), (0.5, 1.0, 0.25));
    // At the middle: half of the values, and an eighth of the tangents times 4 seconds.
    assert_eq!(value(rotation, 2.0), [0.5 + 4.0 / 8.0 * (0.25 - 0.5), 0.0, 0.0, 1.0]);
    assert_eq!(curve(&file, "lamp:cc.Light:color").values(), [0.0, 0.0, 0.0, 255.0, 255.0, 32.0, 64.0, 128.0]);
    // The second interval has no easing. Evenly spaced keys have a window of a millionth of their step.
    let power = curve(&file, "lamp:cc.Light:power");
    assert_eq!((value(power, 1.5), value(power, 2.5)), (vec![1.25], vec![3.0]));
    assert_eq!(power.timeline().window(), 1e-6);
}

#[test]
fn a_clip_of_frames_is_read() {
    let file = read(&examples::frames()).unwrap();
    assert_eq!((file.clip.duration, file.clip.speed, file.clip.wrap), (1.0, 2.0, WrapMode::PingPong));
    assert_eq!(warning_paths(&file), [""; 0]);
    // The easing of a frame belongs to the interval after it.
    assert_eq!(value(curve(&file, "::opacity"), 0.5), [155.0]);
    assert_eq!(curve(&file, "arm/hand::x").easing_at(0), Easing::Bezier([0.2, 0.0, 0.4, 1.0]));
    assert_eq!(value(curve(&file, "arm/hand::y"), 0.4), [0.0]);
    assert!(Arc::ptr_eq(curve(&file, "arm/hand::x").timeline(), curve(&file, "arm/hand::y").timeline()));
    assert_eq!(track(&file, "arm/hand:cc.Sprite:spriteFrame").kind, ValueKind::Held);
}

#[test]
fn a_clip_with_modifiers_is_read() {
    let file = read(&examples::modifiers()).unwrap();
    assert_eq!(warning_paths(&file), [""; 0]);
    let glow = curve(&file, "arm:cc.MeshRenderer:sharedMaterials.0.glow[2]");
    assert_eq!(glow.easing_at(0), Easing::SineIn);
    assert_eq!(track(&file, "::position#1").kind, ValueKind::Number);
    assert_eq!(value(curve(&file, "::position#1"), 1.0), [1.5]);
    assert_eq!(value(curve(&file, "arm/hand/thumb::eulerAngles"), 1.5), [1.5; 3]);
    // The clip can come after other objects.
    let mut list = examples::modifiers();
    list.as_array_mut().unwrap().swap(0, 6);
    list[0]["_curves"] = json!(null);
    list[6]["_curves"][2]["data"]["__id__"] = json!(5);
    list[5]["values"] = json!([[0, 0, 0], { "__id__": 0 }, [2, 2, 2]]);
    assert_eq!(value(curve(&read(&list).unwrap(), "arm/hand/thumb::eulerAngles"), 1.5), [1.5; 3]);
}

#[test]
fn a_clip_of_tracks_is_read() {
    let file = read(&examples::tracks()).unwrap();
    assert_eq!((file.clip.duration, file.clip.events.len(), file.clip.tracks.len()), (1.0, 1, 9));
    assert_eq!(warning_paths(&file), [""; 0]);
    // Hermite with a slope of 2 per second at the start: 1/8 of it and 1/2 of the rise; then along the chord.
    let width = curve(&file, "door::width");
    assert_eq!(value(width, 0.5), [1.75]);
    assert_eq!(width.extrapolation(), [Extrapolation::Clamp, Extrapolation::Linear]);
    assert_eq!(value(width, 3.0), [9.0]);
    assert_eq!(width.timeline().window(), 1e-6);
    assert_eq!(track(&file, "door::position").kind, ValueKind::Vec3);
    let position = [0, 1, 2].map(|number| channel(&file, "door::position", number).map(|curve| value(curve, 0.5)[0]));
    assert_eq!(position, [Some(0.5), None, Some(3.0)]);
    assert_eq!(value(channel(&file, "door::tint", 3).unwrap(), 0.5), [127.5]);
    assert_eq!(track(&file, "door::contentSize").curves, UnboundCurves::Empty);
    let rotation = curve(&file, "door::rotation");
    assert!((value(rotation, 0.5)[1] - (std::f64::consts::PI / 8.0).sin()).abs() < 1e-15);
    assert_eq!(value(curve(&file, "door::spriteFrame"), 1.0), [1.0]);
    assert_eq!(value(curve(&file, "door::weights#2"), 0.25), [0.75]);
    assert_eq!(track(&file, "door::anchor").kind, ValueKind::Vec3);
    let anchor = [0, 1, 2].map(|number| channel(&file, "door::anchor", number).map(|curve| curve.values().to_vec()));
    assert_eq!(anchor, [Some(vec![7.0, 8.0]), None, Some(vec![5.0, 6.0])]);
    assert!(Arc::ptr_eq(rotation.timeline(), channel(&file, "door::tint", 3).unwrap().timeline()));
}

#[test]
fn vertical_and_weighted_tangents_bend_time() {
    // A vertical tangent, then a level one, with handles of length 1: at the parameter s, the time is t = s^3 and the
    // value is 1 - (1 - s)^3.
    let keys = json!([
        { "interpolationMode": 2, "tangentWeightMode": 2, "value": 0, "rightTangent": 1e300, "rightTangentWeight": 1 },
        { "interpolationMode": 2, "tangentWeightMode": 1, "value": 1, "leftTangent": 0, "leftTangentWeight": 1 },
    ]);
    let real = json!({ "_channel": { "_curve": { "_times": [0, 1], "_values": keys } } });
    let clip = json!({ "__type__": "cc.AnimationClip", "_duration": 1,
        "_tracks": [examples::track("RealTrack", "x", real)] });
    let file = read(&clip).unwrap();
    for s in [0.25_f64, 0.5, 0.75] {
        assert!((value(curve(&file, "door::x"), s.powi(3))[0] - (1.0 - (1.0 - s).powi(3))).abs() < 1e-14, "at {s}");
    }
}

#[test]
fn quaternions_clamp_instead_of_extrapolating_linearly() {
    let key = |x: f64| json!({ "value": { "__type__": "cc.Quat", "x": x, "w": 1 }, "interpolationMode": 1 });
    let curve_data =
        json!({ "_times": [0, 1], "_values": [key(0.0), key(1.0)], "preExtrapolation": 0, "postExtrapolation": 0 });
    let quat = examples::track("QuatTrack", "x", json!({ "_channel": { "_curve": curve_data } }));
    let file = read(&json!({ "__type__": "cc.AnimationClip", "_duration": 1, "_tracks": [quat] })).unwrap();
    let turn = curve(&file, "door::x");
    assert_eq!([-1.0, 0.9, 3.0].map(|time| value(turn, time)[0]), [0.0, 0.0, 1.0]);
}

#[test]
fn evenly_spaced_keys_have_a_window_of_their_step() {
    let window = |times: &[f64]| {
        let mut clip = Document::new(10.0);
        let keys = clip.keys(times.iter().copied());
        clip.curve("/", "x", keys, times.iter().copied());
        curve(&clip.unbound(&Library::new()).unwrap(), "::x").timeline().window()
    };
    assert_eq!((window(&[3.0]), window(&[3.0, 5.0]), window(&[3.0, 5.0, 7.0])), (1e-6 * 10.0, 2e-6, 2e-6));
    assert_eq!((window(&[3.0, 5.0, 8.0]), window(&[3.0, 3.0])), (1e-6 * 10.0, 0.0));
}

#[test]
fn a_curve_without_interpolation_holds_the_value_of_each_key() {
    let mut clip = examples::seed();
    clip["curveDatas"]["/lamp"]["props"]["rotation"]["interpolate"] = json!(false);
    let rotation = curve(&read(&clip).unwrap(), "lamp::rotation").clone();
    assert_eq!((rotation.width(), value(&rotation, 3.9)), (4, vec![0.0, 0.0, 0.0, 1.0]));
    let mut clip = examples::document();
    clip["curveDatas"]["Body//Arm/"]["comps"]["cc.Sprite"]["told"]["interpolate"] = json!(false);
    assert_eq!(value(curve(&read(&clip).unwrap(), "Body/Arm:cc.Sprite:told"), 1.9), [3.0, 0.0, 0.0]);
}

#[test]
fn a_clip_can_be_built_in_code() {
    let mut clip = Document::new(1.5);
    clip.name("wave").speed(2.0).wrap_mode(WrapMode::LoopReverse).event(0.5, "half", ["way"]);
    let keys = clip.keys([0.25, 0.75]);
    clip.curve("/Arm", "position", keys, [vec3(0.0, 0.0, 0.0), vec3(1.0, 2.0, 3.0)]).ease(Easing::QuadIn);
    clip.curve("/Arm", "rotation", keys, [quat(0.0, 0.0, 0.0, 1.0), quat(1.0, 0.0, 0.0, 0.0)]);
    clip.curve("/Arm", "props", keys, [vec2(0.0, 1.0), vec2(1.0, 0.0)]).step();
    clip.curve("", "plane", keys, [vec4(0.0, 0.0, 1.0, 0.1), vec4(0.0, 1.0, 0.0, 0.1)]);
    let sprite = "cc.Sprite";
    clip.component_curve("/Arm", sprite, "color", keys, [grey(51), color(51, 0, 0, 255)])
        .ease_each([Some(Easing::Fade)]);
    clip.component_curve("/Arm", sprite, "size", Keys::CONSTANT, [size(3.0, 4.0)]);
    clip.component_curve("/Arm", sprite, "rect", keys, [rect(0.0, 0.0, 1.0, 1.0), rect(0.0, 0.0, 0.1, 2.0)]);
    clip.component_curve("/Arm", sprite, "bend", keys, [spline(0.0, 1.0, 2.0), spline(3.0, 4.0, 5.0)]);
    let bezier = Easing::Bezier([0.1, 0.2, 0.3, 0.7]);
    clip.component_curve("/Arm", sprite, "alpha", keys, [0.1, 0.7]).ease(bezier);
    clip.component_curve("/Arm", sprite, "frame", keys, ["a", "b"]);

    let made = clip.unbound(&Library::new()).unwrap();
    assert_eq!(made.warnings, []);
    assert_eq!((made.clip.duration, made.clip.speed, made.clip.wrap), (1.5, 2.0, WrapMode::LoopReverse));
    assert_eq!((made.clip.tracks.len(), made.clip.events.len()), (10, 1));
    assert_eq!(value(curve(&made, "Arm::position"), 0.5), [0.25, 0.5, 0.75]);
    assert_eq!(curve(&made, "Arm:cc.Sprite:color").easing_at(0), Easing::Fade);
    assert_eq!(curve(&made, "Arm:cc.Sprite:bend").values(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(curve(&made, "Arm:cc.Sprite:alpha").easing_at(0), bezier);
    assert_eq!(track(&made, "Arm::props").kind, ValueKind::Vec2);

    // Written to a file and read again, it is the same to the last bit.
    let json = serde_json::to_vec(&clip).unwrap();
    assert_eq!(serde_json::from_slice::<Document>(&json).unwrap(), clip);
    assert_eq!(from_slice(&Library::new(), Path::new("wave.json"), &json).unwrap(), made);

    clip.curve("/Arm", "position", keys, [vec3(0.0, 0.0, 0.0)]);
    match clip.unbound(&Library::new()) {
        Err(Error::Import { path, .. }) => assert_eq!(path, "curveDatas[\"/Arm\"].props.position.values"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn documents_survive_a_round_trip_through_json() {
    let mut json = examples::document();
    // The library has no interpolator for this property, so its values are replaced.
    json["curveDatas"]["Body//Arm/"]["comps"]["cc.Sprite"]["told"] = json!({ "keys": 1, "values": ["a", "b"] });
    let document: Document = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::from_value::<Document>(serde_json::to_value(&document).unwrap()).unwrap(), document);
    // A file can have its curves in another order.
    let sorted = |mut file: ClipFile| {
        file.clip.tracks.sort_by_key(|track| track.target.to_string());
        file
    };
    assert_eq!(sorted(document.unbound(&Library::new()).unwrap()), sorted(read(&json).unwrap()));
}
