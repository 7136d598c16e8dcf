//! Tracks of releases 3.3 and later: a binding, and one curve or one curve per number.

use super::node::{CURVE_BYTES, ImportState, List, Node};
use super::value::element;
use super::{real_curve, target};
use crate::import::FileError;
use crate::import::file_error::shorten;
use crate::model::{Curve, TargetPath, UnboundCurves, UnboundTrack, ValueKind};

/// Appends the tracks of `_tracks`.
pub(super) fn tracks(
    reader: &mut ImportState<'_>,
    list: &List<'_>,
    tracks: &mut Vec<UnboundTrack>,
) -> Result<(), FileError> {
    for track in list.nodes() {
        let track = track?;
        reader.charge(track.path(), CURVE_BYTES)?;
        let Some(name) = track.type_name() else {
            return Err(
                track.error(format!("it is {}, not an object with the `__type__` of a track", track.describe()))
            );
        };
        let Some(kind) = name.strip_prefix("cc.animation.").filter(|kind| KINDS.contains(kind)) else {
            let message = format!("tracks of type {:?} are not supported; the track is left out", shorten(name));
            reader.warn(track.path(), message)?;
            continue;
        };
        if let Some(target) = binding(reader, &track)? {
            read_track(reader, kind, &track, target, tracks)?;
        }
    }
    Ok(())
}

/// The types of tracks, without `cc.animation.`.
const KINDS: [&str; 8] = [
    "RealTrack",
    "VectorTrack",
    "ColorTrack",
    "SizeTrack",
    "QuatTrack",
    "ObjectTrack",
    "RealArrayTrack",
    "UntypedTrack",
];

/// The target of a track. `None`, with a warning, if it is not supported.
fn binding(reader: &mut ImportState<'_>, track: &Node<'_>) -> Result<Option<TargetPath>, FileError> {
    let binding = track.need("_binding")?;
    let path = binding.need("path")?.need("_paths")?.list()?;
    target::from_modifiers(reader, &path, binding.get("proxy")?)
}

fn read_track(
    reader: &mut ImportState<'_>,
    kind: &str,
    track: &Node<'_>,
    target: TargetPath,
    tracks: &mut Vec<UnboundTrack>,
) -> Result<(), FileError> {
    let whole = |curve: Option<Curve>| curve.map_or(UnboundCurves::Empty, UnboundCurves::Whole);
    let (kind, curves) = match kind {
        "RealTrack" => (ValueKind::Number, whole(real(reader, &track.need("_channel")?)?)),
        "QuatTrack" => {
            (ValueKind::Quat, whole(real_curve::quat_curve(reader, &track.need("_channel")?.need("_curve")?)?))
        }
        "ObjectTrack" => {
            (ValueKind::Held, whole(real_curve::object_curve(reader, &track.need("_channel")?.need("_curve")?)?))
        }
        "ColorTrack" => (ValueKind::Color, channels(reader, track, 4)?),
        "SizeTrack" => (ValueKind::Size, channels(reader, track, 2)?),
        "UntypedTrack" => return untyped(reader, track, target, tracks),
        "RealArrayTrack" => return array(reader, track, target, tracks),
        // VectorTrack
        _ => {
            let count = track.get("_nComponents")?;
            let kind = match count.as_ref().map_or(Ok(4), Node::integer)? {
                2 => ValueKind::Vec2,
                3 => ValueKind::Vec3,
                4 => ValueKind::Vec4,
                _ => return Err(count.as_ref().unwrap_or(track).error("a vector track has to have 2 to 4 components")),
            };
            (kind, channels(reader, track, kind.width())?)
        }
    };
    tracks.push(UnboundTrack { target, kind, curves });
    Ok(())
}

/// The curve of numbers of a channel.
fn real(reader: &mut ImportState<'_>, channel: &Node<'_>) -> Result<Option<Curve>, FileError> {
    reader.charge(channel.path(), CURVE_BYTES)?;
    channel.get("_curve")?.map_or(Ok(None), |curve| real_curve::read(reader, &curve))
}

/// The curves of the first `count` channels.
fn channels(reader: &mut ImportState<'_>, track: &Node<'_>, count: usize) -> Result<UnboundCurves, FileError> {
    let list = track.need("_channels")?.list()?;
    let mut curves = Vec::new();
    for index in 0..count {
        curves.push(list.get(index)?.map_or(Ok(None), |channel| real(reader, &channel))?);
    }
    Ok(from_channels(curves))
}

fn from_channels(curves: Vec<Option<Curve>>) -> UnboundCurves {
    if curves.iter().all(Option::is_none) { UnboundCurves::Empty } else { UnboundCurves::Channels(curves) }
}

/// Appends a track whose channels name the numbers that they drive. The names give the kind of the value.
fn untyped(
    reader: &mut ImportState<'_>,
    track: &Node<'_>,
    target: TargetPath,
    tracks: &mut Vec<UnboundTrack>,
) -> Result<(), FileError> {
    const FAMILIES: [(&[&str], &[ValueKind]); 3] = [
        (&["x", "y", "z", "w"], &[ValueKind::Vec2, ValueKind::Vec2, ValueKind::Vec3, ValueKind::Vec4]),
        (&["r", "g", "b", "a"], &[ValueKind::Color; 4]),
        (&["width", "height"], &[ValueKind::Size; 2]),
    ];
    let mut curves = [const { None }; 4];
    let (mut family, mut last) = (None, 0);
    for channel in track.need("_channels")?.list()?.nodes() {
        let property = channel?;
        let channel = property.clone();
        let property = property.need("property")?;
        let name = property.text()?;
        let own = FAMILIES.iter().find(|(names, _)| names.contains(&name));
        let (Some(own), Some(index)) = (own, element(name)) else {
            let message =
                format!("{:?} is not a number of a vector, colour or size; the channel is left out", shorten(name));
            reader.warn(property.path(), message)?;
            continue;
        };
        if *family.get_or_insert(own) != own {
            return Err(
                property.error(format!("{name:?} belongs to another kind of value than the channels before it"))
            );
        }
        if let Some(entry) = curves.get_mut(index) {
            *entry = real(reader, &channel)?;
            last = last.max(index);
        }
    }
    let Some(&kind) = family.and_then(|(_, kinds)| kinds.get(last)) else { return Ok(()) };
    let curves = from_channels(curves.into_iter().take(kind.width()).collect());
    tracks.push(UnboundTrack { target, kind, curves });
    Ok(())
}

/// Appends the tracks of a list of numbers, one track per number.
fn array(
    reader: &mut ImportState<'_>,
    track: &Node<'_>,
    target: TargetPath,
    tracks: &mut Vec<UnboundTrack>,
) -> Result<(), FileError> {
    let path = target.path.iter().map(|name| name.len() + size_of::<String>()).sum::<usize>();
    let names = path + target.component.as_ref().map_or(0, String::len) + target.property.len();
    for (index, channel) in track.need("_channels")?.list()?.nodes().enumerate() {
        let channel = channel?;
        reader.charge(channel.path(), CURVE_BYTES + names)?;
        if let Some(curve) = real(reader, &channel)? {
            let target = TargetPath { element: Some(index), ..target.clone() };
            tracks.push(UnboundTrack { target, kind: ValueKind::Number, curves: UnboundCurves::Whole(curve) });
        }
    }
    Ok(())
}
