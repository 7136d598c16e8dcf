//! Layers of a group: their clips, times, weights and fades, with the parameters, blend spaces and transitions that
//! they refer to, and the differences between the instances of the group, by the R2 low-discrepancy sequence.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::error::Error;
use crate::import::crowd::CrowdFile;
use crate::import::crowd::document::{
    BlendSpaceEntry, ClipName, CrowdDocument, DecayKind, DriverEntry, FadeEntry, GroupEntry, LayerEntry, Mode, Named,
    NumberOr, Object, ParameterEntry, Reference, Spread, TransitionEntry,
};
use crate::import::gltf::Asset;
use crate::import::{FileError, JsonPath, list_names};
use crate::model::{
    AdditiveReference, BlendSpace, BlendSpaceId, ClipId, Crowd, Fade, Knots, KnotsId, Layer, LayerMode, LayerTime,
    Library, Parameter, Playback, Ticks, Transition, TransitionKind, WeightDriver, check_points, check_triangle,
    delaunay, is_usable, is_weight, no_such, no_triangles,
};

/// A layer without a spread: a start in seconds, which counts if the layer plays, and all else.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LayerTemplate {
    start: f64,
    /// The layer, with the rate, and with start 0.
    pub layer: Layer,
}

/// The layers of an instance.
pub(super) fn with_offset(layers: &[LayerTemplate], offset: SpreadOffset) -> Vec<Layer> {
    layers.iter().map(|layer| layer.with_offset(offset)).collect()
}

impl LayerTemplate {
    /// The layer of an instance. Times that follow from parameters or other layers have no spread.
    fn with_offset(&self, offset: SpreadOffset) -> Layer {
        let LayerTime::Playing(playback) = self.layer.time else { return self.layer };
        let (start, rate) = (Ticks::from_seconds(self.start + offset.seconds), playback.rate * offset.factor);
        Layer { time: LayerTime::Playing(Playback { start, rate, ..playback }), ..self.layer }
    }
}

/// Lists of knots that have been added to a library. Equal lists are added once.
#[derive(Default)]
pub(super) struct KnotLists(HashMap<Vec<[u64; 2]>, KnotsId>);

impl KnotLists {
    fn add(&mut self, library: &mut Library, path: &JsonPath, knots: &[[f64; 2]]) -> Result<KnotsId, FileError> {
        if let Some(reason) = Knots::error(knots) {
            return Err(FileError::new(path, reason));
        }
        let bits = knots.iter().map(|knot| knot.map(f64::to_bits)).collect();
        if let Some(&id) = self.0.get(&bits) {
            return Ok(id);
        }
        let new = Knots::new(knots.to_vec()).map_err(|error| FileError::new(path, error.to_string()))?;
        let id = library.add_knots(new);
        self.0.insert(bits, id);
        Ok(id)
    }
}

/// The group of a layer, and all that its layers may name.
#[derive(Clone, Copy)]
pub(super) struct LayerScope<'a> {
    pub entry: &'a GroupEntry,
    pub asset: &'a Asset,
    pub spaces: &'a BlendSpaces<'a>,
}

impl LayerScope<'_> {
    /// Reads a layer without its mask. `before` has the earlier layers of the instance.
    pub fn read(
        &self,
        library: &mut Library,
        knots: &mut KnotLists,
        path: &JsonPath,
        entry: &LayerEntry,
        before: &[LayerTemplate],
    ) -> Result<LayerTemplate, FileError> {
        let clip = find_clip(library, path, &entry.clip, self.asset)?;
        let read_fade = |name: &str, entry: Option<FadeEntry>| entry.map(|entry| fade(path, name, entry)).transpose();
        let (fade_in, fade_out) = (read_fade("fade_in", entry.fade_in)?, read_fade("fade_out", entry.fade_out)?);
        let time = self.time(library, path, entry, clip)?;
        if let LayerTime::Synced { leader } = time {
            check_leader(library, &path.field("sync"), clip, leader, before)?;
        }
        let (weight, driver) = match &entry.weight {
            NumberOr::Number(weight) if is_weight(*weight) => (*weight, None),
            NumberOr::Number(weight) => {
                let reason = format!("the weight {weight} is not a finite number of 0 or more");
                return Err(FileError::new(path.field("weight"), reason));
            }
            NumberOr::Object(driver) => (1.0, Some(self.driver(library, knots, &path.field("weight"), driver)?)),
        };
        let mode = match (entry.mode, entry.reference) {
            (Mode::Blend, _) => LayerMode::Blend,
            (Mode::Override, _) => LayerMode::Override,
            (Mode::Additive, Reference::First) => LayerMode::Additive(AdditiveReference::First),
            (Mode::Additive, Reference::Rest) => LayerMode::Additive(AdditiveReference::Rest),
        };
        let layer = Layer { weight, driver, mode, fade_in, fade_out, ..Layer::new(clip, time) };
        let template = LayerTemplate { start: entry.start.unwrap_or(0.0), layer };
        self.check_ends(&template, path)?;
        Ok(template)
    }

    /// The time of a layer, with start 0.
    fn time(
        &self,
        library: &Library,
        path: &JsonPath,
        entry: &LayerEntry,
        clip: ClipId,
    ) -> Result<LayerTime, FileError> {
        let fields = [
            ("start", entry.start.is_some()),
            ("rate", entry.rate.is_some()),
            ("time", entry.time.is_some()),
            ("range", entry.range.is_some()),
            ("wrap", entry.wrap.is_some()),
        ];
        let refuse = |names: &[(&str, bool)], reason: &str| match names.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(FileError::new(path.field(name), format!("{reason}; leave `{name}` out"))),
            None => Ok(()),
        };
        if let Some(leader) = entry.sync {
            refuse(&fields, "the time of a layer with `sync` follows from its leader")?;
            return Ok(LayerTime::Synced { leader });
        }
        let wrap = entry.wrap.unwrap_or_default();
        if let Some(time) = &entry.time {
            // A layer with `time` may have a wrap mode.
            let [start, rate, _, range, _] = fields;
            refuse(&[start, rate, range], "the time of a layer with `time` follows from a parameter")?;
            let place = path.field("time");
            let parameter = find_parameter(&self.entry.parameters, place.field("parameter"), &time.parameter, "")?;
            return Ok(LayerTime::Phase { parameter, wrap });
        }
        let rate = entry.rate.unwrap_or(1.0) * library.clip(clip).speed;
        let playback = Playback { range: entry.range, ..Playback::new(wrap, Ticks::default(), rate) };
        let duration = library.clip(clip).duration();
        let is_beyond = entry.range.is_some_and(|[start, _]| start > 0.0 && start >= duration);
        let beyond = || format!("the range does not begin before the end of the clip, {duration} s");
        let of_range = Playback { rate: 0.0, ..playback }.error().or_else(|| is_beyond.then(beyond));
        of_range.map_or(Ok(LayerTime::Playing(playback)), |reason| Err(FileError::new(path.field("range"), reason)))
    }

    /// The source of a weight that follows from parameters.
    fn driver(
        &self,
        library: &mut Library,
        knots: &mut KnotLists,
        path: &JsonPath,
        entry: &DriverEntry,
    ) -> Result<WeightDriver, FileError> {
        let DriverEntry { parameter, knots: list, blend_space, point } = entry;
        let has_both = (parameter.is_some() || list.is_some()) && (blend_space.is_some() || point.is_some());
        match (parameter, list, blend_space, *point) {
            _ if has_both => {
                let reason = "a weight follows from a parameter or from a blend space, not from both; leave one out";
                Err(FileError::new(path, reason))
            }
            (Some(parameter), Some(list), ..) => {
                let parameter = find_parameter(&self.entry.parameters, path.field("parameter"), parameter, "")?;
                let knots = knots.add(library, &path.field("knots"), list)?;
                Ok(WeightDriver::Knots { parameter, knots })
            }
            (_, _, Some(name), Some(point)) => {
                let place = path.field("blend_space");
                let space = find_space(self.spaces, &place, name)?;
                let find = |parameter: &str| {
                    find_parameter(&self.entry.parameters, &place, parameter, &format!("blend space {name:?}: "))
                };
                let parameters = [find(space.x)?, find(space.y)?];
                if point >= space.points {
                    let reason = no_such("point", point, "blend space", space.points);
                    return Err(FileError::new(path.field("point"), reason));
                }
                Ok(WeightDriver::Point { space: space.id, parameters, point })
            }
            (Some(_), None, ..) => Err(FileError::new(path, "missing field `knots`")),
            (None, Some(_), ..) => Err(FileError::new(path, "missing field `parameter`")),
            (_, _, Some(_), None) => Err(FileError::new(path, "missing field `point`")),
            (_, _, None, Some(_)) => Err(FileError::new(path, "missing field `blend_space`")),
            (None, None, None, None) => {
                let reason = "the object is empty; give `parameter` and `knots`, or `blend_space` and `point`";
                Err(FileError::new(path, reason))
            }
        }
    }

    /// Checks a layer at both ends of the spread. All instances are between them.
    fn check_ends(&self, template: &LayerTemplate, path: &JsonPath) -> Result<(), FileError> {
        for offset in self.entry.spread.ends() {
            ticks(path.field("start"), template.start + offset.seconds)?;
            if let Some(reason) = template.with_offset(offset).error() {
                return Err(FileError::new(path.field("rate"), reason));
            }
        }
        Ok(())
    }
}

/// Checks that a layer can follow its leader.
fn check_leader(
    library: &Library,
    path: &JsonPath,
    clip: ClipId,
    leader: usize,
    before: &[LayerTemplate],
) -> Result<(), FileError> {
    let Some(found) = before.get(leader) else {
        let reason =
            format!("layer {leader} does not come before this one; a leader is an earlier layer, counted from 0");
        return Err(FileError::new(path, reason));
    };
    if matches!(found.layer.time, LayerTime::Synced { .. }) {
        let reason = format!("layer {leader} follows another layer itself; follow the leader of that layer");
        return Err(FileError::new(path, reason));
    }
    let [lead, own] = [found.layer.clip, clip].map(|clip| library.clip(clip));
    let counts = [lead, own].map(|clip| clip.markers.len());
    if counts.contains(&0) || counts[0] == counts[1] {
        return Ok(());
    }
    let name = |name: &Option<String>| name.clone().unwrap_or("unnamed".into());
    let (lead, own) = (name(&lead.name), name(&own.name));
    let reason = format!(
        "clip {own:?} has {} sync markers, but clip {lead:?}, which it follows, has {}; give both as many",
        counts[1], counts[0]
    );
    Err(FileError::new(path, reason))
}

/// The clip that a text or an index selects in an asset.
pub(super) fn find_clip(
    library: &Library,
    path: &JsonPath,
    wanted: &ClipName,
    asset: &Asset,
) -> Result<ClipId, FileError> {
    let error = |reason: &str| FileError::new(path.field("clip"), format!("{}: {reason}", asset.file.display()));
    let found = match wanted {
        ClipName::Index(index) => match asset.clips.get(*index) {
            Some(clip) => Ok(*clip),
            None => library.select_clip(&asset.clips, &format!("#{index}")),
        },
        ClipName::Name(wanted) => library.select_clip(&asset.clips, wanted),
    };
    let clip = found.map_err(|cause| error(&cause.to_string()))?;
    if asset.left_out_clips.binary_search(&clip).is_ok() {
        let label = library.clip(clip).label();
        return Err(error(&format!("clip {label} is left out, as none of its tracks can be read; name another clip")));
    }
    Ok(clip)
}

/// The joint that a text selects in an asset.
pub(super) fn find_joint(library: &Library, path: &JsonPath, wanted: &str, asset: &Asset) -> Result<usize, FileError> {
    let found = library.skeleton(asset.skeleton).select_joint(wanted);
    found.map_err(|error| FileError::new(path, format!("{}: {error}", asset.file.display())))
}

fn fade(path: &JsonPath, name: &str, entry: FadeEntry) -> Result<Fade, FileError> {
    let FadeEntry { start, seconds, shape } = entry;
    if seconds < 0.0 {
        let reason = format!("the fade takes {seconds} s, but has to take 0 s or more");
        return Err(FileError::new(path.field(name).field("seconds"), reason));
    }
    let start = ticks(path.field(name).field("start"), start)?;
    let length = ticks(path.field(name).field("seconds"), seconds)?;
    Ok(Fade { start, length, shape: shape.into() })
}

/// A time on the crowd clock.
pub(super) fn ticks(path: impl fmt::Display, seconds: f64) -> Result<Ticks, FileError> {
    CrowdFile::ticks(seconds).ok_or_else(|| {
        let last = CrowdFile::MAX_SECONDS;
        FileError::new(
            path,
            format!("{seconds:e} s is beyond the crowd clock, which reaches from -{last:e} s to {last:e} s"),
        )
    })
}

/// The parameters of a group, in the order of the file.
pub(super) fn read_parameters(
    group: &JsonPath,
    entries: &Named<ParameterEntry>,
) -> Result<Arc<[Parameter]>, FileError> {
    let (path, count) = (group.field("parameters"), entries.0.len());
    if count > Crowd::MAX_PARAMETERS {
        let reason = format!("there are {count} parameters; an instance has at most {}", Crowd::MAX_PARAMETERS);
        return Err(FileError::new(path, reason));
    }
    let read = |(name, entry): &(String, ParameterEntry)| {
        let keys = match entry {
            ParameterEntry::Constant(value) => vec![[0.0, *value]],
            ParameterEntry::Keys(keys) => keys.clone(),
        };
        match Parameter::error(&keys) {
            Some(reason) => Err(FileError::new(path.field(name), reason)),
            None => Parameter::new(keys).map_err(|error| FileError::new(path.field(name), error.to_string())),
        }
    };
    entries.0.iter().map(read).collect()
}

/// The index of the parameter of a name. The path leads to the name; `owner` precedes the message, and may be empty.
pub(super) fn find_parameter(
    entries: &Named<ParameterEntry>,
    path: impl fmt::Display,
    name: &str,
    owner: &str,
) -> Result<usize, FileError> {
    entries.0.iter().position(|(other, _)| other == name).ok_or_else(|| {
        let names: Vec<_> = entries.0.iter().map(|(name, _)| name.as_str()).collect();
        FileError::new(path, format!("{owner}the group has no parameter {name:?}; it has: {}", list_names(&names)))
    })
}

/// The blend spaces of a file, by name.
pub(super) type BlendSpaces<'a> = HashMap<&'a str, NamedSpace<'a>>;

/// A blend space in the library, with the names of its parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedSpace<'a> {
    pub id: BlendSpaceId,
    pub x: &'a str,
    pub y: &'a str,
    pub points: usize,
}

/// Adds the blend spaces of a file to a library, including spaces that no layer uses.
pub(super) fn add_spaces<'a>(library: &mut Library, document: &'a CrowdDocument) -> Result<BlendSpaces<'a>, FileError> {
    let mut spaces = BlendSpaces::new();
    for (name, entry) in &document.blend_spaces.0 {
        let all = JsonPath::ROOT.field("blend_spaces");
        let space = blend_space(&all.field(name), entry)?;
        let id = library.add_blend_space(space);
        spaces.insert(name, NamedSpace { id, x: &entry.x, y: &entry.y, points: entry.points.len() });
    }
    Ok(spaces)
}

fn blend_space(path: &JsonPath, entry: &BlendSpaceEntry) -> Result<BlendSpace, FileError> {
    let points = path.field("points");
    check_points(&entry.points).map_err(|reason| FileError::new(&points, reason))?;
    let triangles = match &entry.triangles {
        None => delaunay(&entry.points).map_err(|reason| FileError::new(&points, reason))?,
        Some(triangles) => {
            if let Some(reason) = no_triangles(triangles) {
                return Err(FileError::new(path.field("triangles"), reason));
            }
            for (index, triangle) in triangles.iter().enumerate() {
                let error = |reason| FileError::new(path.element("triangles", index), reason);
                check_triangle(&entry.points, triangle).map_err(error)?;
            }
            triangles.clone()
        }
    };
    BlendSpace::with_triangles(entry.points.clone(), triangles).map_err(|error| FileError::new(path, error.to_string()))
}

/// The blend space of a name that a layer gives.
pub(super) fn find_space<'a>(
    spaces: &BlendSpaces<'a>,
    path: &JsonPath,
    name: &str,
) -> Result<NamedSpace<'a>, FileError> {
    spaces.get(name).copied().ok_or_else(|| {
        let mut names: Vec<_> = spaces.keys().copied().collect();
        names.sort_unstable();
        FileError::new(path, format!("there is no blend space {name:?}; the file has: {}", list_names(&names)))
    })
}

/// The step of the sequence for starts, in parts of 2^32.
const START_STEP: u32 = 0xC13F_A9A9;
/// The step of the sequence for rates, in parts of 2^32.
const RATE_STEP: u32 = 0x91E1_0DA5;
/// The step from seed to seed, in parts of 2^32.
const SEED_STEP: u32 = 0x9E37_79B9;

/// The difference of an instance from its group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SpreadOffset {
    /// Seconds added to the starts of the layers.
    pub seconds: f64,
    /// Factor of the rates of the layers.
    pub factor: f64,
}

impl Spread {
    /// The offset of an instance, by its index in the group.
    pub fn offset(&self, instance: u32) -> SpreadOffset {
        let fraction = |step: u32| {
            let turned = instance.wrapping_mul(step).wrapping_add(self.seed.wrapping_mul(SEED_STEP));
            f64::from(turned.wrapping_add(1 << 31)) / 2.0_f64.powi(32)
        };
        SpreadOffset {
            seconds: interpolate(self.start, fraction(START_STEP)),
            factor: interpolate(self.rate, fraction(RATE_STEP)),
        }
    }

    /// The offsets at both ends of the ranges.
    pub fn ends(&self) -> [SpreadOffset; 2] {
        let end = |fraction| SpreadOffset {
            seconds: interpolate(self.start, fraction),
            factor: interpolate(self.rate, fraction),
        };
        [end(0.0), end(1.0)]
    }
}

/// A number between the ends of a range, rounded to a multiple of 1/4096, which `f32` holds.
fn interpolate(range: [f64; 2], fraction: f64) -> f64 {
    let [low, high] = range;
    (4096.0 * (low + (high - low) * fraction) + 0.5).floor() / 4096.0
}

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

/// A function that reads a list of layers; the path leads to the object that has the list as a field of a name.
pub(super) type ReadLayers<'a, 'r> =
    dyn FnMut(&JsonPath, &'static str, &'a [Object<LayerEntry>]) -> Result<Vec<LayerTemplate>, Error> + 'r;

/// Reads a transition and the transitions that it interrupts, which are inside of it. `depth` is the number of the
/// transition from outside, beginning with 1. An error of a transition becomes an error by `in_file`.
pub(super) fn read_transition<'a>(
    path: &JsonPath,
    entry: &'a TransitionEntry,
    depth: usize,
    read_layers: &mut ReadLayers<'a, '_>,
    in_file: &dyn Fn(FileError) -> Error,
) -> Result<TransitionTemplate, Error> {
    if depth > Transition::MAX_DEPTH {
        let reason =
            format!("there are more than {} transitions, one in the other; leave this one out", Transition::MAX_DEPTH);
        return Err(in_file(FileError::new(path, reason)));
    }
    let start = ticks(path.field("start"), entry.start).map_err(in_file)?;
    let kind = kind(path, entry).map_err(in_file)?;
    let from = read_layers(path, "from", &entry.from)?;
    let inner = path.field("transition");
    let before = entry.transition.as_ref().map(|entry| read_transition(&inner, entry, depth + 1, read_layers, in_file));
    let before = before.transpose()?.map(Box::new);
    if before.as_ref().is_some_and(|before| before.start >= start) {
        let seconds = before.map_or(0.0, |before| before.start.to_seconds());
        let reason =
            format!("it starts at {seconds} s; expected less than the {} s of the transition around it", entry.start);
        return Err(in_file(FileError::new(inner.field("start"), reason)));
    }
    Ok(TransitionTemplate { start, from, kind, half_life: entry.half_life, before })
}

/// The kind of a transition, after a check of its lengths.
fn kind(path: &JsonPath, entry: &TransitionEntry) -> Result<TransitionKind, FileError> {
    let check = |name: &str, seconds: f64| match is_usable(seconds) && seconds > 0.0 {
        true => Ok(seconds),
        false => Err(FileError::new(path.field(name), format!("{seconds} is not a finite number of seconds above 0"))),
    };
    check("half_life", entry.half_life)?;
    match (entry.kind, entry.seconds) {
        (DecayKind::Inertial, None) => Ok(TransitionKind::Inertial),
        (DecayKind::Inertial, Some(_)) => {
            let reason = "an inertial transition has no length; leave `seconds` out, or choose the kind `dead`";
            Err(FileError::new(path.field("seconds"), reason))
        }
        (DecayKind::Dead, Some(seconds)) => Ok(TransitionKind::Dead { seconds: check("seconds", seconds)? }),
        (DecayKind::Dead, None) => {
            Err(FileError::new(path, "missing field `seconds`, the length of a dead transition"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offset(seconds: f64, factor: f64) -> SpreadOffset {
        SpreadOffset { seconds, factor }
    }

    #[test]
    fn instances_follow_the_sequence() {
        let spread = |seed| Spread { start: [0.0, 2.0], rate: [0.75, 1.25], seed };
        // By hand: with seed 0 the three are 0x80000000, 0x413FA9A9, 0x027F5352 of 2^32 for starts, and 0x80000000,
        // 0x11E10DA5, 0xA3C21B4A for rates; seed 7 adds 7 x 0x9E3779B9 = 0x5384520F.
        let expected = [[4096.0, 4096.0], [2088.0, 3215.0], [80.0, 4382.0]];
        for (instance, [start, rate]) in (0..).zip(expected) {
            assert_eq!(spread(0).offset(instance), offset(start / 4096.0, rate / 4096.0), "{instance}");
        }
        let expected = [[6769.0, 4764.0], [4760.0, 3883.0], [2752.0, 5050.0]];
        for (instance, [start, rate]) in (0..).zip(expected) {
            assert_eq!(spread(7).offset(instance), offset(start / 4096.0, rate / 4096.0), "{instance}");
        }
        assert_eq!(Spread::default().offset(12345), offset(0.0, 1.0));
        assert_eq!(spread(3).ends(), [offset(0.0, 0.75), offset(2.0, 1.25)]);
    }
}
