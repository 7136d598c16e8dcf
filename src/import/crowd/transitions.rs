//! Transitions of groups.

use crate::error::Error;
use crate::import::crowd::document::{Kind, LayerEntry, TransitionEntry};
use crate::import::crowd::layers::{LayerTemplate, ticks, with_offset};
use crate::import::crowd::motion_entries::Object;
use crate::import::crowd::spread::SpreadOffset;
use crate::import::{Fault, JsonPath};
use crate::model::{Ticks, Transition, TransitionKind, is_usable};

/// A transition without a spread.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TransitionTemplate {
    start: Ticks,
    from: Vec<LayerTemplate>,
    kind: TransitionKind,
    half_life: f64,
    before: Option<Box<TransitionTemplate>>,
}

impl TransitionTemplate {
    /// The transition of an instance. A spread moves the layers that go out, but no start of a transition.
    pub fn with_offset(&self, offset: SpreadOffset) -> Transition {
        let Self { start, kind, half_life, .. } = *self;
        let before = self.before.as_ref().map(|before| Box::new(before.with_offset(offset)));
        Transition { start, from: with_offset(&self.from, offset), kind, half_life, before }
    }
}

/// A function that reads a list of layers; the path is that of the object that has the list as a field of a name.
pub(super) type ReadLayers<'a, 'r> =
    dyn FnMut(&JsonPath, &'static str, &'a [Object<LayerEntry>]) -> Result<Vec<LayerTemplate>, Error> + 'r;

/// Reads a transition and those that it interrupts, which are inside of it. `depth` is the number of the transition from
/// outside, beginning with 1. A fault of a transition becomes an error by `in_file`.
pub(super) fn read<'a>(
    path: &JsonPath,
    entry: &'a TransitionEntry,
    depth: usize,
    read_layers: &mut ReadLayers<'a, '_>,
    in_file: &dyn Fn(Fault) -> Error,
) -> Result<TransitionTemplate, Error> {
    if depth > Transition::MOST {
        let reason =
            format!("there are more than {} transitions, one in the other; leave this one out", Transition::MOST);
        return Err(in_file(Fault::new(path, reason)));
    }
    let start = ticks(path.field("start"), entry.start).map_err(in_file)?;
    let kind = kind(path, entry).map_err(in_file)?;
    let from = read_layers(path, "from", &entry.from)?;
    let inner = path.field("transition");
    let before = entry.transition.as_ref().map(|entry| read(&inner, entry, depth + 1, read_layers, in_file));
    let before = before.transpose()?.map(Box::new);
    if before.as_ref().is_some_and(|before| before.start >= start) {
        let seconds = before.map_or(0.0, |before| before.start.to_seconds());
        let reason =
            format!("it starts at {seconds} s; expected less than the {} s of the transition around it", entry.start);
        return Err(in_file(Fault::new(inner.field("start"), reason)));
    }
    Ok(TransitionTemplate { start, from, kind, half_life: entry.half_life, before })
}

/// The kind of a transition, after a check of its lengths.
fn kind(path: &JsonPath, entry: &TransitionEntry) -> Result<TransitionKind, Fault> {
    let check = |name: &str, seconds: f64| match is_usable(seconds) && seconds > 0.0 {
        true => Ok(seconds),
        false => Err(Fault::new(path.field(name), format!("{seconds} is not a finite number of seconds above 0"))),
    };
    check("half_life", entry.half_life)?;
    match (entry.kind, entry.seconds) {
        (Kind::Inertial, None) => Ok(TransitionKind::Inertial),
        (Kind::Inertial, Some(_)) => {
            let reason = "an inertial transition has no length; leave `seconds` out, or choose the kind `dead`";
            Err(Fault::new(path.field("seconds"), reason))
        }
        (Kind::Dead, Some(seconds)) => Ok(TransitionKind::Dead { seconds: check("seconds", seconds)? }),
        (Kind::Dead, None) => Err(Fault::new(path, "missing field `seconds`, the length of a dead transition")),
    }
}
