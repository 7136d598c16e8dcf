use glam::{DAffine3, DVec3};
use posse::compress::{CompressedLibrary, ErrorBound};
use posse::{ClipId, Crowd, Evaluator, Layer, LayerTime, Library, Outputs, Reference, Ticks};

/// The largest distance of a joint from the origin in the rest pose, computed by the reference; 1 if it is 0.
pub fn size(library: &Library, clip: ClipId) -> f64 {
    let mut crowd = Crowd::new();
    crowd.push(library.clip(clip).skeleton, &[]).unwrap();
    let poses = Reference::new(library).evaluate(&crowd, Ticks(0), Outputs { model: true, ..Outputs::NONE }).unwrap();
    let size = poses.instances[0].model.iter().map(|matrix| matrix.translation.length()).fold(0.0, f64::max);
    if size > 0.0 { size } else { 1.0 }
}

/// The largest displacement of points about each joint, at some times of a clip.
pub fn displacement(original: &Library, compressed: &Library, clip: ClipId, shell: f64, times: &[f64]) -> f64 {
    let mut crowd = Crowd::new();
    for &time in times {
        crowd.push(original.clip(clip).skeleton, &[Layer::new(clip, LayerTime::At(time))]).unwrap();
    }
    let pose = |library| {
        let outputs = Outputs { model: true, ..Outputs::NONE };
        Reference::new(library).evaluate(&crowd, Ticks(0), outputs).unwrap().instances
    };
    let pairs = pose(original).into_iter().zip(pose(compressed)).flat_map(|(a, b)| a.model.into_iter().zip(b.model));
    pairs.map(|(wanted, found)| joint_displacement(&wanted, &found, shell)).fold(0.0, f64::max)
}

/// The largest displacement of a joint, or of the points at the distance `shell` along its axes.
fn joint_displacement(wanted: &DAffine3, found: &DAffine3, shell: f64) -> f64 {
    let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|axis| {
        let stretch = wanted.transform_vector3(axis).length();
        if stretch > 0.0 { axis * (shell / stretch) } else { DVec3::ZERO }
    });
    points
        .map(|point| wanted.transform_point3(point).distance(found.transform_point3(point)))
        .into_iter()
        .fold(0.0, f64::max)
}

/// Asserts that all clips of a compressed library, at keys and between them, are within the bound, and so are their
/// reports.
#[track_caller]
pub fn assert_within(original: &Library, compressed: &CompressedLibrary, bound: ErrorBound, what: &str) {
    for id in original.clip_ids() {
        let clip = original.clip(id);
        let size = size(original, id);
        let (allowed, shell) = (bound.error.of(size), bound.shell.of(size));
        let mut times: Vec<f64> =
            clip.tracks.iter().flat_map(|track| track.curve.timeline().times()).copied().collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let middles: Vec<f64> = times.windows(2).map(|gap| 0.5 * (gap[0] + gap[1])).collect();
        times.extend(middles);
        // At most about 500 times, since a test has no time for more.
        let times: Vec<f64> = times.iter().copied().step_by(times.len().div_ceil(500).max(1)).collect();
        let found = displacement(original, compressed.library(), id, shell, &times);
        let reported = compressed.reports()[id.index()].error;
        assert!(found <= 1.001 * allowed, "{what}, {id:?}: {found} of {allowed}");
        assert!(reported <= 1.001 * allowed, "{what}, {id:?}: {reported} of {allowed} reported");
    }
}
