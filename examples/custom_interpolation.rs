//! A value with a custom interpolation, in Rust and in WGSL: a position that jumps, with a rotation that is
//! interpolated.
//!
//! `cargo run --example custom_interpolation`

use std::sync::Arc;

use glam::DQuat;
use posse::binding::{PropertyTracks, TargetPath, UnboundClip, UnboundCurves, UnboundTrack, ValueKind};
use posse::cpu::CpuEngine;
use posse::curves::{Curve, Interpolation, Interpolator, Timeline};
use posse::{ClipId, Crowd, Evaluator, Layer, LayerTime, Library, Outputs, Reference, Skeleton, Ticks, WrapMode};

/// A position, which does not interpolate, and a rotation, which does.
#[derive(Debug)]
pub struct Placed;

impl Interpolator for Placed {
    fn name(&self) -> &str {
        "placed"
    }

    fn width(&self) -> usize {
        7
    }

    fn fields(&self) -> &[(&str, usize)] {
        &[("position", 3), ("rotation", 4)]
    }

    fn lerp(&self, from: &[f64], to: &[f64], t: f64, _seconds: f64, result: &mut [f64]) {
        let rotation = DQuat::from_slice(&from[3..]).slerp(DQuat::from_slice(&to[3..]), t);
        result[..3].copy_from_slice(&from[..3]);
        result[3..].copy_from_slice(&rotation.to_array());
    }

    fn wgsl(&self) -> &str {
        "fn placed_lerp(a: array<f32, 7>, b: array<f32, 7>, t: f32, seconds: f32) -> array<f32, 7> {
            let start = vec4(a[3], a[4], a[5], a[6]);
            let end = vec4(b[3], b[4], b[5], b[6]);
            let turned = quat_slerp(start, select(end, -end, dot(start, end) < 0.0), t);
            return array<f32, 7>(a[0], a[1], a[2], turned.x, turned.y, turned.z, turned.w);
        }

        fn placed_no_lerp(value: array<f32, 7>) -> array<f32, 7> {
            return value;
        }"
    }
}

/// A clip of 2 s with three keys: three positions, and rotations about y of 0, 120 and 240 degrees.
pub fn library() -> Result<(Library, ClipId), posse::Error> {
    let mut library = Library::new();
    let interpolator = library.add_interpolator(Arc::new(Placed))?;
    let mut values = Vec::new();
    for (position, degrees) in [([0.0, 0.0, 0.0], 0.0), ([3.0, 0.0, 0.0], 120.0_f64), ([0.0, 6.0, 0.0], 240.0)] {
        values.extend(position);
        values.extend(DQuat::from_rotation_y(degrees.to_radians()).to_array());
    }
    let timeline = Arc::new(Timeline::snapping(vec![0.0, 1.0, 2.0], 1e-6)?);
    let curve = Curve::new(timeline, Interpolation::Custom(interpolator), 7, values)?;
    let target = TargetPath {
        path: vec!["Spline".into(), "Leg".into()],
        component: Some("Follower".into()),
        property: "place".into(),
        element: None,
    };
    let kind = ValueKind::Custom { interpolator, width: 7 };
    let clip = UnboundClip {
        name: Some("turning, jumping".into()),
        duration: 2.0,
        speed: 1.0,
        wrap: WrapMode::Loop,
        events: Vec::new(),
        tracks: vec![UnboundTrack { target, kind, curves: UnboundCurves::Whole(curve) }],
    };
    let skeleton = library.add_skeleton(Skeleton::new(None, Vec::new(), Vec::new())?);
    let bound = library.bind(skeleton, &clip, PropertyTracks::All)?;
    Ok((library, bound.clip))
}

/// The position and rotation at each of these times of the clip, as an engine samples them.
pub fn sample(
    engine: &mut dyn Evaluator,
    library: &Library,
    clip: ClipId,
    times: &[f64],
) -> Result<Vec<Vec<f64>>, posse::Error> {
    let mut crowd = Crowd::new();
    for &time in times {
        crowd.push(library.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(time))])?;
    }
    let poses = engine.evaluate(&crowd, Ticks(0), Outputs { properties: true, ..Outputs::NONE })?;
    Ok(poses.instances.into_iter().map(|pose| pose.properties).collect())
}

fn main() -> Result<(), posse::Error> {
    let (library, clip) = library()?;
    let times = [0.0, 0.5, 0.99, 1.0, 1.5, 2.0];
    let mut engines: Vec<Box<dyn Evaluator>> =
        vec![Box::new(Reference::new(&library)), Box::new(CpuEngine::new(&library)?)];
    for engine in &mut engines {
        println!("{}", engine.engine());
        for (time, value) in times.iter().zip(sample(engine.as_mut(), &library, clip, &times)?) {
            println!("  {time:4} s: at {:?}, turned {:.3?}", &value[..3], &value[3..]);
        }
    }
    Ok(())
}
