/// Broken files: each is refused, or repaired with a warning, with the path of its error, and none does harm.
mod errors;
/// One file of each form.
mod examples;
/// Comparisons with figures of Cocos Creator.
mod figures;
/// The import of each form of file.
mod forms;
/// Random files of each form: each is refused, or bound and posed alike by all engines, and none does harm.
mod random;

use std::path::Path;

use posse::binding::{UnboundCurves, UnboundTrack};
use posse::curves::{Curve, Interpolator};
use posse::import::cocos::{self, ClipFile};
use posse::{Error, Library};
use serde_json::Value;

/// Reads a file with a library that has the interpolators `custom` and `custom_bare`.
fn read(file: &Value) -> Result<ClipFile, Error> {
    cocos::from_slice(&library(), Path::new("made.anim"), file.to_string().as_bytes())
}

/// The track of a target, spelled `path:component:property`, with `#element` if it drives a single number.
#[track_caller]
fn track<'a>(file: &'a ClipFile, wanted: &str) -> &'a UnboundTrack {
    let spell = |track: &UnboundTrack| {
        let target = &track.target;
        let element = target.element.map_or(String::new(), |element| format!("#{element}"));
        format!("{}:{}:{}{element}", target.path.join("/"), target.component.as_deref().unwrap_or(""), target.property)
    };
    let found = file.clip.tracks.iter().find(|track| spell(track) == wanted);
    found
        .unwrap_or_else(|| panic!("{wanted} is not among {:?}", file.clip.tracks.iter().map(spell).collect::<Vec<_>>()))
}

/// The only curve of a target.
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

/// The paths of the warnings of a file.
fn warning_paths(file: &ClipFile) -> Vec<&str> {
    file.warnings.iter().map(|warning| warning.path.as_str()).collect()
}

/// A library with the interpolators that the figures were made with.
fn library() -> Library {
    let mut library = Library::new();
    for (name, result_width) in [("custom", 3), ("custom_bare", 4)] {
        library.add_interpolator(std::sync::Arc::new(Echo { name, result_width })).unwrap();
    }
    library
}

/// An interpolator whose result has its arguments: the interpolated value, the eased ratio, the seconds from key to
/// key, and, if the result has four numbers, whether the value is the value of a key.
#[derive(Debug)]
struct Echo {
    name: &'static str,
    result_width: usize,
}

impl Interpolator for Echo {
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
