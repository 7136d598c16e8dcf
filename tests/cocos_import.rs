/// A file of each form.
mod examples;
/// Files that are broken are refused, or repaired with a warning, each at its place, and never do harm.
mod faults;
/// Against figures of the engine that the files come from.
mod figures;
/// Files of each form become what they say.
mod forms;
/// Random files of each form are refused, or bound and posed by engines that agree, and never do harm.
mod random;

use std::path::Path;

use posse::import::cocos::{self, ClipFile};
use posse::{Curve, Error, Interpolator, Library, UnboundCurves, UnboundTrack};
use serde_json::Value;

/// Reads a file, with the interpolators `custom` and `custom_bare` at hand.
fn read(file: &Value) -> Result<ClipFile, Error> {
    cocos::from_slice(&library(), Path::new("made.anim"), file.to_string().as_bytes())
}

/// The track of a target, spelled `path:component:property`, with `#element` where it drives but one number.
#[track_caller]
fn track<'a>(file: &'a ClipFile, wanted: &str) -> &'a UnboundTrack {
    let spelled = |track: &UnboundTrack| {
        let target = &track.target;
        let element = target.element.map_or(String::new(), |element| format!("#{element}"));
        format!("{}:{}:{}{element}", target.path.join("/"), target.component.as_deref().unwrap_or(""), target.property)
    };
    let found = file.clip.tracks.iter().find(|track| spelled(track) == wanted);
    found
        .unwrap_or_else(|| panic!("{wanted} is none of {:?}", file.clip.tracks.iter().map(spelled).collect::<Vec<_>>()))
}

/// The one curve of a target.
#[track_caller]
fn curve<'a>(file: &'a ClipFile, wanted: &str) -> &'a Curve {
    match &track(file, wanted).curves {
        UnboundCurves::Whole(curve) => curve,
        other => panic!("{wanted} has {other:?}"),
    }
}

/// The curve of one number of a target.
#[track_caller]
fn channel<'a>(file: &'a ClipFile, wanted: &str, number: usize) -> Option<&'a Curve> {
    match &track(file, wanted).curves {
        UnboundCurves::Channels(curves) => curves[number].as_ref(),
        other => panic!("{wanted} has {other:?}"),
    }
}

/// The value of a curve at a time.
fn value(curve: &Curve, time: f64) -> Vec<f64> {
    posse::low_level::reference::value(&library(), curve, time)
}

/// Where a file warns.
fn warned(file: &ClipFile) -> Vec<&str> {
    file.warnings.iter().map(|warning| warning.path.as_str()).collect()
}

/// A library of the interpolators that the figures were made with.
fn library() -> Library {
    let mut library = Library::new();
    for (name, result_width) in [("custom", 3), ("custom_bare", 4)] {
        library.add_interpolator(std::sync::Arc::new(Told { name, result_width })).unwrap();
    }
    library
}

/// Tells what it was asked: the value between, the eased part of the way, the seconds from key to key; and, where there
/// is room, whether it was a key's own value.
#[derive(Debug)]
struct Told {
    name: &'static str,
    result_width: usize,
}

impl Interpolator for Told {
    fn name(&self) -> &str {
        self.name
    }

    fn width(&self) -> usize {
        1
    }

    fn result_width(&self) -> usize {
        self.result_width
    }

    fn fields(&self) -> &[(&str, usize)] {
        &[("a", 1)]
    }

    fn lerp(&self, from: &[f64], to: &[f64], t: f64, seconds: f64, result: &mut [f64]) {
        result[..3].copy_from_slice(&[from[0] + (to[0] - from[0]) * t, t, seconds]);
    }

    fn no_lerp(&self, value: &[f64], result: &mut [f64]) {
        result.fill(0.0);
        result[0] = value[0];
        result[3..].fill(1.0);
    }

    fn wgsl(&self) -> &str {
        ""
    }
}
