use std::collections::HashMap;
use std::sync::Arc;

use glam::{DAffine3, DQuat, DVec3};
use posse::curves::{Curve, CurveEasing, Easing, Extrapolation, Interpolation, Target, Timeline, Track};
use posse::events::Event;
use posse::ik::{Chain, ChainKind};
use posse::parameters::{BlendSpace, Knots};
use posse::rig::Property;
use posse::root_motion::{RootMotion, RootRotation};
use posse::{Clip, Error, Joint, Library, Mask, Skeleton, Skin, Transform, WrapMode};

use super::ids::Ids;
use super::mutation::Mutation;

/// Rebuilds a library, number by number.
pub fn rebuilt_library(library: &Library, mutation: &mut Mutation) -> Result<Library, Error> {
    let ids = Ids::get();
    let mut rebuilt = Library::new();
    for interpolator in library.interpolators() {
        rebuilt.add_interpolator(Arc::clone(interpolator))?;
    }
    for skeleton in library.skeletons() {
        rebuilt.add_skeleton(rebuilt_skeleton(skeleton, mutation)?);
    }
    for skin in library.skins() {
        rebuilt.add_skin(rebuilt_skin(skin, ids, mutation))?;
    }
    let mut timelines = HashMap::new();
    for clip in library.clips() {
        rebuilt.add_clip(rebuilt_clip(clip, ids, &mut timelines, mutation)?)?;
    }
    for mask in library.masks() {
        let mut weights = mask.weights.iter().map(|&weight| mutation.real("mask weight", weight)).collect();
        mutation.length("mask weights", &mut weights);
        let skeleton = ids.skeleton("skeleton of a mask", mask.skeleton, mutation);
        rebuilt.add_mask(Mask { name: mask.name.clone(), skeleton, weights })?;
    }
    for chain in library.chains() {
        rebuilt.add_chain(rebuilt_chain(chain, ids, mutation))?;
    }
    for knots in library.knots() {
        let mut knots = knots.knots().iter().map(|&knot| mutation.reals("knot", knot)).collect();
        mutation.length("knots", &mut knots);
        rebuilt.add_knots(Knots::new(knots)?);
    }
    for space in library.blend_spaces() {
        let mut points = space.points().iter().map(|&point| mutation.reals("point of a space", point)).collect();
        mutation.length("points of a space", &mut points);
        let triangle = |corners: &[usize; 3]| corners.map(|corner| mutation.index("corner of a triangle", corner));
        let triangles = space.triangles().iter().map(triangle).collect();
        rebuilt.add_blend_space(BlendSpace::with_triangles(points, triangles)?);
    }
    Ok(rebuilt)
}

fn rebuilt_skeleton(skeleton: &Skeleton, mutation: &mut Mutation) -> Result<Skeleton, Error> {
    let mut joints: Vec<Joint> = skeleton.joints().iter().map(|joint| rebuilt_joint(joint, mutation)).collect();
    for place in 0..joints.len() {
        let other = mutation.index("place of a joint", place);
        if other < joints.len() {
            joints.swap(place, other);
        }
    }
    mutation.length("joints", &mut joints);
    let property = |property: &Property| {
        let mut rest = property.rest.iter().map(|&number| mutation.real("rest of a property", number)).collect();
        mutation.length("numbers of a property", &mut rest);
        let rotation = mutation.choice("kind of a property", property.rotation, [true, false]);
        Property { name: property.name.clone(), rest, rotation }
    };
    let properties = skeleton.properties().iter().map(property).collect();
    Skeleton::new(skeleton.name().map(str::to_owned), joints, properties)
}

fn rebuilt_joint(joint: &Joint, mutation: &mut Mutation) -> Joint {
    let parent = joint.parent.map(|parent| mutation.index("parent", parent));
    let rest = Transform {
        translation: DVec3::from(mutation.reals("rest translation", joint.rest.translation.to_array())),
        rotation: DQuat::from_array(mutation.reals("rest rotation", joint.rest.rotation.to_array())),
        scale: DVec3::from(mutation.reals("rest scale", joint.rest.scale.to_array())),
    };
    let matrix = joint.matrix.map(|matrix| rebuilt_matrix("matrix", &matrix, mutation));
    let mut weights = joint.weights.iter().map(|&weight| mutation.real("rest weight", weight)).collect();
    mutation.length("rest weights", &mut weights);
    Joint { name: joint.name.clone(), parent, rest, matrix, weights, ..Joint::default() }
}

fn rebuilt_matrix(name: &'static str, matrix: &DAffine3, mutation: &mut Mutation) -> DAffine3 {
    DAffine3::from_cols_array(&mutation.reals(name, matrix.to_cols_array()))
}

fn rebuilt_skin(skin: &Skin, ids: &Ids, mutation: &mut Mutation) -> Skin {
    let skeleton = ids.skeleton("skeleton of a skin", skin.skeleton, mutation);
    let mut joints: Vec<usize> = skin.joints.iter().map(|&joint| mutation.index("joint of a skin", joint)).collect();
    let matrices = skin.inverse_bind.iter();
    let mut inverse_bind = matrices.map(|matrix| rebuilt_matrix("inverse bind matrix", matrix, mutation)).collect();
    mutation.length("joints of a skin", &mut joints);
    mutation.length("inverse bind matrices", &mut inverse_bind);
    Skin { name: skin.name.clone(), skeleton, joints, inverse_bind }
}

/// Timelines that were rebuilt, by the addresses of the originals, so that tracks share them as before.
type Timelines = HashMap<*const Timeline, Arc<Timeline>>;

fn rebuilt_clip(clip: &Clip, ids: &Ids, timelines: &mut Timelines, mutation: &mut Mutation) -> Result<Clip, Error> {
    let track = |track: &Track| rebuilt_track(track, ids, timelines, mutation);
    let tracks = clip.tracks.iter().map(track).collect::<Result<_, Error>>()?;
    let event = |event: &Event| Event { time: mutation.real("time of an event", event.time), ..event.clone() };
    let events = clip.events.iter().map(event).collect();
    let root_motion = clip.root_motion.map(|root| RootMotion {
        joint: mutation.index("joint of root motion", root.joint),
        translation: root.translation.map(|axis| mutation.choice("axis of root motion", axis, [true, false])),
        rotation: mutation.choice(
            "rotation of root motion",
            root.rotation,
            [RootRotation::None, RootRotation::Yaw, RootRotation::Full],
        ),
    });
    Ok(Clip {
        name: clip.name.clone(),
        skeleton: ids.skeleton("skeleton of a clip", clip.skeleton, mutation),
        tracks,
        length: clip.length.map(|length| mutation.real("length of a clip", length)),
        speed: mutation.real("speed of a clip", clip.speed),
        wrap: mutation.choice("wrap mode of a clip", clip.wrap, WrapMode::ALL),
        events,
        root_motion,
        markers: clip.markers.iter().map(|&marker| mutation.real("marker", marker)).collect(),
    })
}

fn rebuilt_track(track: &Track, ids: &Ids, timelines: &mut Timelines, mutation: &mut Mutation) -> Result<Track, Error> {
    let mut driven = |joint: usize| mutation.index("driven joint or property", joint);
    let target = match track.target {
        Target::Translation(joint) => Target::Translation(driven(joint)),
        Target::Rotation(joint) => Target::Rotation(driven(joint)),
        Target::Scale(joint) => Target::Scale(driven(joint)),
        Target::EulerAngles(joint) => Target::EulerAngles(driven(joint)),
        Target::Weights(joint) => Target::Weights(driven(joint)),
        Target::Property(property) => Target::Property(driven(property)),
    };
    let component = track.component.map(|component| mutation.index("driven component", component));
    let timeline = match timelines.get(&Arc::as_ptr(track.curve.timeline())) {
        Some(timeline) => Arc::clone(timeline),
        None => {
            let timeline = Arc::new(rebuilt_timeline(track.curve.timeline(), mutation)?);
            timelines.insert(Arc::as_ptr(track.curve.timeline()), Arc::clone(&timeline));
            timeline
        }
    };
    Ok(Track { target, component, curve: rebuilt_curve(&track.curve, timeline, ids, mutation)? })
}

fn rebuilt_timeline(timeline: &Timeline, mutation: &mut Mutation) -> Result<Timeline, Error> {
    let mut times = timeline.times().iter().map(|&time| mutation.real("key time", time)).collect();
    mutation.length("key times", &mut times);
    if timeline.window() == 0.0 && !timeline.has_shared_times() {
        return Timeline::new(times);
    }
    Timeline::snapping(times, mutation.real("window of a timeline", timeline.window()))
}

fn rebuilt_curve(curve: &Curve, timeline: Arc<Timeline>, ids: &Ids, mutation: &mut Mutation) -> Result<Curve, Error> {
    let interpolation = match curve.interpolation() {
        Interpolation::Custom(id) => Interpolation::Custom(ids.interpolator(id, mutation)),
        plain => {
            use Interpolation::{CubicSpline, Linear, Slerp, Step};
            mutation.choice("interpolation", plain, [Step, Linear, CubicSpline, Slerp])
        }
    };
    let mut values: Vec<f64> = curve.values().iter().map(|&value| mutation.real("value of a key", value)).collect();
    mutation.length("values of a curve", &mut values);
    let width = mutation.index("width of a curve", curve.width());
    let before = curve.extrapolation();
    let all = [Extrapolation::Clamp, Extrapolation::Linear, Extrapolation::Loop, Extrapolation::PingPong];
    let [start, end] = before.map(|extrapolation| mutation.choice("extrapolation", extrapolation, all));
    // Numbers of one precision and of the other: files hold the narrow ones.
    let rebuilt = match curve.timeline().len() % 2 {
        0 => Curve::new(timeline, interpolation, width, values)?,
        _ => Curve::from_f32(timeline, interpolation, width, values.iter().map(|&value| value as f32).collect())?,
    };
    Ok(rebuilt.with_easing(rebuilt_easing(curve.easing(), mutation))?.with_extrapolation(start, end))
}

fn rebuilt_easing(easing: &CurveEasing, mutation: &mut Mutation) -> CurveEasing {
    let mut one = |easing: &Easing| match *easing {
        Easing::Bezier(points) => Easing::Bezier(mutation.reals("control point", points)),
        named => {
            let id = named.id().unwrap_or_default() as usize;
            Easing::from_id(mutation.index("easing", id) as u32).unwrap_or(named)
        }
    };
    match easing {
        CurveEasing::None => CurveEasing::None,
        CurveEasing::One(easing) => CurveEasing::One(one(easing)),
        CurveEasing::PerKey(easings) => {
            let mut easings: Vec<Easing> = easings.iter().map(one).collect();
            mutation.length("easings of a curve", &mut easings);
            CurveEasing::PerKey(easings.into())
        }
    }
}

fn rebuilt_chain(chain: &Chain, ids: &Ids, mutation: &mut Mutation) -> Chain {
    let kind = match &chain.kind {
        ChainKind::TwoBone { joints, pole, hold } => ChainKind::TwoBone {
            joints: joints.map(|joint| mutation.index("joint of a chain", joint)),
            pole: pole.map(|pole| mutation.reals("pole", pole)),
            hold: *hold,
        },
        ChainKind::Aim { joint, forward, limit } => ChainKind::Aim {
            joint: mutation.index("joint of a chain", *joint),
            forward: mutation.reals("forward direction", *forward),
            limit: mutation.real("limit", *limit),
        },
    };
    Chain { name: chain.name.clone(), skeleton: ids.skeleton("skeleton of a chain", chain.skeleton, mutation), kind }
}
