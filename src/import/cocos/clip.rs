//! The clip of a file, in the form of any release.

use serde_json::Value;

use super::legacy::{KeyList, LegacyCurve, LegacyKeys};
use super::node::{ImportState, List, Node};
use super::{nested, target, tracks};
use crate::import::FileError;
use crate::model::{Event, UnboundClip, UnboundCurves, UnboundTrack, WrapMode};

/// The type of clips.
const CLIP: &str = "cc.AnimationClip";

/// The clip of a file: the file itself, or the first clip of its list of objects.
pub(super) fn find<'a>(file: &Node<'a>) -> Result<Node<'a>, FileError> {
    if file.value().is_array() {
        let list = file.list()?;
        for index in 0..list.len() {
            if let Some(object) = list.get(index)?.filter(|object| object.type_name() == Some(CLIP)) {
                return Ok(object);
            }
        }
        return Err(file.error(format!("none of the {} objects is a {CLIP}", list.len())));
    }
    match file.type_name() {
        Some(CLIP) => Ok(file.clone()),
        Some(_) => Err(file.error(format!("it is {}, not a {CLIP}", file.describe()))),
        None if CURVES.iter().any(|name| file.value().get(name).is_some()) => Ok(file.clone()),
        None => {
            let reason = format!("it is {}, not an animation clip: it has none of {CURVES:?}", file.describe());
            Err(file.error(reason))
        }
    }
}

/// The fields for the curves of a clip, one per form.
const CURVES: [&str; 4] = ["curveDatas", "curveData", "_curves", "_tracks"];

/// The fields of a clip that are not supported, and their names for warnings.
const LEFT_OUT: [(&str, &str); 5] = [
    ("_exoticAnimation", "imported skeletal tracks"),
    ("_embeddedPlayers", "embedded players"),
    ("_additiveSettings", "additive settings"),
    ("_auxiliaryCurveEntries", "auxiliary curves"),
    ("_stepness", "steps between keys"),
];

/// Reads a clip.
pub(super) fn read(reader: &mut ImportState<'_>, clip: &Node<'_>) -> Result<UnboundClip, FileError> {
    let mut lists = Vec::new();
    if let Some(keys) = clip.get_any(&["keys", "_keys"])? {
        for list in keys.list()?.nodes() {
            lists.push(KeyList::read(reader, list?.list()?)?);
        }
    }
    let curves = legacy_curves(reader, clip)?;
    let mut tracks = Vec::new();
    if let Some(list) = clip.get("_tracks")? {
        tracks::tracks(reader, &list.list()?, &mut tracks)?;
    }
    let last = last_key(&lists, &curves, &tracks)?;
    let duration = duration(reader, clip, last)?;
    for curve in curves {
        tracks.push(curve.track(reader, &lists, duration)?);
    }
    let events = clip.get_any(&["events", "_events"])?.map_or(Ok(Vec::new()), |list| events(reader, &list.list()?))?;
    let name = clip.get_any(&["name", "_name"])?.map(|name| name.text().map(str::to_owned)).transpose()?;
    let name = name.filter(|name| !name.is_empty());
    let (speed, wrap) = (speed(clip)?, wrap(reader, clip)?);
    for (field, name) in LEFT_OUT {
        if let Some(found) = clip.get(field)?.filter(Node::is_something) {
            reader.warn(found.path(), format!("{name} are not supported; they are left out"))?;
        }
    }
    Ok(UnboundClip { name, duration, speed, wrap, events, tracks })
}

fn legacy_curves<'a>(reader: &mut ImportState<'_>, clip: &Node<'a>) -> Result<Vec<LegacyCurve<'a>>, FileError> {
    let mut curves = Vec::new();
    if let Some(paths) = clip.get("curveDatas")? {
        nested::curve_datas(reader, &paths, &mut curves)?;
    }
    if let Some(root) = clip.get("curveData")? {
        nested::curve_data(reader, &root, &mut curves)?;
    }
    if let Some(list) = clip.get("_curves")? {
        let common = clip.get("_commonTargets")?.map(|targets| targets.list()).transpose()?;
        target::curves(reader, &list.list()?, common.as_ref(), &mut curves)?;
    }
    Ok(curves)
}

/// The time of the last key of all curves, in seconds; 0 without keys.
fn last_key(lists: &[KeyList<'_>], curves: &[LegacyCurve<'_>], tracks: &[UnboundTrack]) -> Result<f64, FileError> {
    let mut last = lists.iter().filter_map(|list| list.times.last()).copied().fold(0.0, f64::max);
    for curve in curves {
        if let LegacyKeys::Own(list) = &curve.keys
            && let Some(index) = list.len().checked_sub(1)
        {
            last = last.max(list.need(index)?.number()?);
        }
    }
    for track in tracks {
        let (whole, channels) = match &track.curves {
            UnboundCurves::Empty => (None, &[][..]),
            UnboundCurves::Whole(curve) => (Some(curve), &[][..]),
            UnboundCurves::Channels(curves) => (None, &curves[..]),
        };
        let curves = whole.into_iter().chain(channels.iter().flatten());
        last = curves.map(|curve| curve.timeline().last()).fold(last, f64::max);
    }
    Ok(last)
}

/// The duration of the clip in seconds. Without a duration in the file, the time of the last key.
fn duration(reader: &mut ImportState<'_>, clip: &Node<'_>, last: f64) -> Result<f64, FileError> {
    let Some(duration) = clip.get_any(&["duration", "_duration"])? else {
        let message = format!("it is missing; {last} s, the time of the last key, is used");
        reader.warn(clip.path().field("duration"), message)?;
        return Ok(last);
    };
    match duration.number()? {
        seconds if seconds >= 0.0 => Ok(seconds),
        seconds => Err(duration.error(format!("the duration is {seconds} s, but has to be 0 or more"))),
    }
}

fn speed(clip: &Node<'_>) -> Result<f64, FileError> {
    let Some(speed) = clip.get("speed")? else { return Ok(1.0) };
    match speed.number()? {
        number if number.abs() <= 1e4 => Ok(number),
        number => Err(speed.error(format!("the speed is {number}, but has to be from -1e4 to 1e4"))),
    }
}

/// The wrap mode, by number or by name. A mode that is not known gives the default, with a warning.
fn wrap(reader: &mut ImportState<'_>, clip: &Node<'_>) -> Result<WrapMode, FileError> {
    let Some(mode) = clip.get_any(&["wrapMode", "_wrapMode"])? else { return Ok(WrapMode::Default) };
    let known = match mode.value() {
        Value::String(name) => WrapMode::from_name(name),
        _ => u32::try_from(mode.integer()?).ok().and_then(WrapMode::from_number),
    };
    if known.is_none() {
        reader.warn(mode.path(), format!("{} is not a wrap mode; the default is used", mode.describe()))?;
    }
    Ok(known.unwrap_or_default())
}

/// The events of a list, ordered by time.
fn events(reader: &mut ImportState<'_>, list: &List<'_>) -> Result<Vec<Event>, FileError> {
    reader.charge(list.path(), list.len() * size_of::<Event>())?;
    let mut events = Vec::with_capacity(list.len());
    for event in list.nodes() {
        let event = event?;
        let (time, function) = (event.need("frame")?.number()?, event.need("func")?);
        let function = function.text()?.to_owned();
        reader.charge(event.path(), function.len())?;
        let mut parameters = Vec::new();
        let values = event.get("params")?.map_or(Ok(&[][..]), |params| match params.value() {
            Value::Array(values) => Ok(values.as_slice()),
            _ => Err(params.error(format!("it is {}, not a list", params.describe()))),
        })?;
        for value in values {
            let parameter = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            reader.charge(event.path(), size_of::<String>() + parameter.len())?;
            parameters.push(parameter);
        }
        events.push(Event { time, function, parameters });
    }
    events.sort_by(|a, b| a.time.total_cmp(&b.time));
    Ok(events)
}
