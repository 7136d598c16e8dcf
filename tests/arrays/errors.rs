use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest, Moment};
use posse::cpu::CpuEngine;
use posse::{Clip, Joint, Library, Skeleton};

use super::{arm, fill, layout};

#[test]
fn requests_that_do_not_fit_are_refused() {
    let (library, skeleton, _) = arm();
    let refused = |request: ArrayRequest, nodes: &[usize], message: &str| {
        let error = ArrayLayout::new(&library, skeleton, nodes, &request).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    let of = |joints: &[usize]| ArrayRequest::of_joints(joints);
    refused(of(&[0, 2]), &[], "there is no joint 2; the skeleton has 2, numbered from 0");
    refused(of(&[0]), &[7], "there is no joint 7");
    refused(of(&[1, 0, 1]), &[], "joint 1 (hand) is listed twice");
    for kind in [ArrayKind::Root, ArrayKind::RootMotion] {
        refused(ArrayRequest { kinds: vec![kind], ..of(&[]) }, &[], "list a joint");
    }
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(ArrayRequest { scale, ..of(&[0]) }, &[], "the scale is");
    }
    let error = "position".parse::<ArrayKind>().unwrap_err().to_string();
    assert!(error.contains("expected one of pos, quat, linvel"), "{error}");
}

#[test]
fn moments_slices_and_engines_that_do_not_fit_are_refused() {
    let (mut library, skeleton, clip) = arm();
    let engine = CpuEngine::with_threads(&library, 1).unwrap();
    let layout = layout(&library, skeleton, &ArrayRequest::of_joints(&[0]));
    let other = library.add_skeleton(Skeleton::new(None, vec![Joint::default()], vec![]).unwrap());
    let foreign = library.add_clip(Clip::new(None, other, vec![])).unwrap();
    let newer = CpuEngine::with_threads(&library, 1).unwrap();
    let refused = |engine: &CpuEngine, moment: Moment, message: &str| {
        let moments = [Moment::at(clip, 0.0), moment];
        fill(&layout, 2, |out| {
            let error = layout.sample(engine, &moments, out).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        });
    };
    refused(&engine, Moment::at(foreign, 0.0), "moment 1: there is no clip 1; the library of the engine has 1");
    refused(&newer, Moment::at(foreign, 0.0), "moment 1: clip 1 animates skeleton 1, but");
    for time in [f64::NAN, f64::INFINITY, 1e300] {
        refused(&engine, Moment::at(clip, time), "moment 1: its times are");
    }
    refused(&engine, Moment { after: f64::NAN, ..Moment::at(clip, 0.0) }, "moment 1: its times are");
    let empty = CpuEngine::with_threads(&Library::new(), 1).unwrap();
    refused(&empty, Moment::at(clip, 0.0), "make both from the same library");

    let moments = [Moment::at(clip, 0.0)];
    let error = layout.sample(&engine, &moments, &mut [&mut [0.0; 3]]).unwrap_err().to_string();
    assert!(error.contains("1 slices for 2 arrays"), "{error}");
    let error = layout.sample(&engine, &moments, &mut [&mut [0.0; 3], &mut [0.0; 3]]).unwrap_err().to_string();
    assert!(error.contains("the slice of quat has 3 numbers; expected 4 per moment for 1 moments"), "{error}");
}

#[test]
fn results_beyond_the_range_of_an_f32_are_refused() {
    let (library, skeleton, clip) = arm();
    let layout = layout(&library, skeleton, &ArrayRequest { scale: 3e38, ..ArrayRequest::of_joints(&[0, 1]) });
    let engine = CpuEngine::with_threads(&library, 1).unwrap();
    let moments = [0.5, 0.25].map(|time| Moment::at(clip, time));
    fill(&layout, 2, |out| {
        let error = layout.sample(&engine, &moments, out).unwrap_err().to_string();
        assert!(error.contains("pos of clip 0 at 0.5 s exceeds the range"), "{error}");
    });
    fill(&layout, 0, |out| layout.sample(&engine, &[], out).unwrap());
}
