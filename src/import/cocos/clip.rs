//! The clip of a file, in whichever form it is.

use serde_json::Value;

use super::legacy::{KeyList, Keys, LegacyCurve};
use super::node::Node;
use super::reader::Reader;
use super::{events, modifiers, nested, tracks};
use crate::import::fault::Fault;
use crate::model::{UnboundClip, UnboundCurves, UnboundTrack, WrapMode};

/// The type of clips.
const CLIP: &str = "cc.AnimationClip";

/// The object of a file that is the clip: the file itself, or the first clip of its list.
pub(super) fn find<'a>(file: &Node<'a>) -> Result<Node<'a>, Fault> {
    if file.value().is_array() {
        let list = file.list()?;
        for index in 0..list.len() {
            if let Some(object) = list.get(index)?.filter(|object| object.type_name() == Some(CLIP)) {
                return Ok(object);
            }
        }
        return Err(file.fault(format!("none of the {} objects is a {CLIP}", list.len())));
    }
    match file.type_name() {
        Some(CLIP) => Ok(file.clone()),
        Some(_) => Err(file.fault(format!("it is {}, not a {CLIP}", file.what()))),
        None if CURVES.iter().any(|name| file.value().get(name).is_some()) => Ok(file.clone()),
        None => {
            let reason = format!("it is {} that is no animation clip: it has none of {CURVES:?}", file.what());
            Err(file.fault(reason))
        }
    }
}

/// Where a clip has its curves, in the order of the forms' ages.
const CURVES: [&str; 4] = ["curveDatas", "curveData", "_curves", "_tracks"];

/// What a clip can have that is left out, and what that is called.
const LEFT_OUT: [(&str, &str); 5] = [
    ("_exoticAnimation", "imported skeletal tracks"),
    ("_embeddedPlayers", "embedded players"),
    ("_additiveSettings", "additive settings"),
    ("_auxiliaryCurveEntries", "auxiliary curves"),
    ("_stepness", "steps between keys"),
];

/// Reads a clip.
pub(super) fn read(reader: &mut Reader<'_>, clip: &Node<'_>) -> Result<UnboundClip, Fault> {
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
    let events =
        clip.get_any(&["events", "_events"])?.map_or(Ok(Vec::new()), |list| events::read(reader, &list.list()?))?;
    let name = clip.get_any(&["name", "_name"])?.map(|name| name.text().map(str::to_owned)).transpose()?;
    let name = name.filter(|name| !name.is_empty());
    let (speed, wrap) = (speed(clip)?, wrap(reader, clip)?);
    for (field, what) in LEFT_OUT {
        if let Some(found) = clip.get(field)?.filter(Node::is_something) {
            reader.warn(found.place(), format!("{what} are not supported; they are left out"))?;
        }
    }
    Ok(UnboundClip { name, duration, speed, wrap, events, tracks })
}

fn legacy_curves<'a>(reader: &mut Reader<'_>, clip: &Node<'a>) -> Result<Vec<LegacyCurve<'a>>, Fault> {
    let mut curves = Vec::new();
    if let Some(paths) = clip.get("curveDatas")? {
        nested::curve_datas(reader, &paths, &mut curves)?;
    }
    if let Some(root) = clip.get("curveData")? {
        nested::curve_data(reader, &root, &mut curves)?;
    }
    if let Some(list) = clip.get("_curves")? {
        let common = clip.get("_commonTargets")?.map(|targets| targets.list()).transpose()?;
        modifiers::curves(reader, &list.list()?, common.as_ref(), &mut curves)?;
    }
    Ok(curves)
}

/// The time of the last key of all.
fn last_key(lists: &[KeyList<'_>], curves: &[LegacyCurve<'_>], tracks: &[UnboundTrack]) -> Result<f64, Fault> {
    let mut last = lists.iter().filter_map(|list| list.times.last()).copied().fold(0.0, f64::max);
    for curve in curves {
        if let Keys::Own(list) = &curve.keys
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

/// Seconds that the clip lasts: until its last key, where it does not say.
fn duration(reader: &mut Reader<'_>, clip: &Node<'_>, last: f64) -> Result<f64, Fault> {
    let Some(duration) = clip.get_any(&["duration", "_duration"])? else {
        reader.warn(
            clip.place().field("duration"),
            format!("it is missing; taken for {last} s, the time of the last key"),
        )?;
        return Ok(last);
    };
    match duration.number()? {
        seconds if seconds >= 0.0 => Ok(seconds),
        seconds => Err(duration.fault(format!("{seconds} s is no duration, which is 0 or more"))),
    }
}

fn speed(clip: &Node<'_>) -> Result<f64, Fault> {
    let Some(speed) = clip.get("speed")? else { return Ok(1.0) };
    match speed.number()? {
        number if number.abs() <= 1e4 => Ok(number),
        number => Err(speed.fault(format!("{number} is no speed, which is from -1e4 to 1e4"))),
    }
}

/// The wrap mode, by number or by name.
fn wrap(reader: &mut Reader<'_>, clip: &Node<'_>) -> Result<WrapMode, Fault> {
    let Some(mode) = clip.get_any(&["wrapMode", "_wrapMode"])? else { return Ok(WrapMode::Default) };
    let known = match mode.value() {
        Value::String(name) => WrapMode::from_name(name),
        _ => u32::try_from(mode.integer()?).ok().and_then(WrapMode::from_number),
    };
    if known.is_none() {
        reader.warn(mode.place(), format!("{} is no wrap mode; the default is taken", mode.what()))?;
    }
    Ok(known.unwrap_or_default())
}
