//! Animation stacks become clips.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use ufbx::{
    AnimCurve, AnimStack, BakeOpts, BakeStepHandling, BakedAnim, BakedKeyFlags, BakedNode, BakedProp, BlendChannel,
    Element, ElementType, ExtrapolationMode, Node, Scene,
};

use super::keys::{self, FileCurve, Point, Value};
use super::nodes::{self, Nodes};
use super::{Asset, MAX_ANGLE, MAX_CHANGE, MAX_OFFSET, scene};
use crate::error::Error;
use crate::import::file_error::{MemoryBudget, shorten};
use crate::import::{FileError, Warning, list_names};
use crate::model::{Clip, Curve, Library, Skeleton, SkeletonId, Target, Timeline, Track};

/// The bytes of a track and of a key in the model: a value, a time that is kept twice, and an easing.
const TRACK_BYTES: u64 = 512;
const KEY_BYTES: u64 = 96;
/// The bytes of a key while it is made: points, points with further ones between them, and keys.
const POINT_BYTES: usize = 512;
/// The number of keys of all stacks, with those at the frames of curves that are no lines: two per byte of the file,
/// and 2^19. They bound the time of reading, since a few bytes can stand for many keys, and stacks can share a layer.
const KEYS_PER_BYTE: u64 = 2;
const MIN_KEYS: u64 = 1 << 19;
/// The nodes that count as one key of a stack, whether it moves them or not.
const NODES_PER_KEY: usize = 64;
/// The number of keys that may be added between these: one per four bytes of the file, and 2^17.
const BYTES_PER_ADDED: usize = 4;
const MIN_ADDED: usize = 1 << 17;
/// The largest number of frames of a clip with a curve that goes on before its first key or after its last.
const MAX_CONTINUED: f64 = 1e5;
/// The rate of resampled curves where the file is set to none of the usual ones, in frames per second.
const DEFAULT_RATE: f64 = 30.0;

// Numbers of `ufbx::TransformFlags`, which hides them.
const EXPLICIT_INCLUDES: u32 = 0x4;
const INCLUDE_TRANSLATION: u32 = 0x10;
const INCLUDE_ROTATION: u32 = 0x20;
const INCLUDE_SCALE: u32 = 0x40;

/// The property of a channel of blend shapes that has its weight.
const WEIGHT: &str = "DeformPercent";

/// Reads a file into a library, which keeps what was added before an error.
pub fn read(library: &mut Library, name: &Path, bytes: &[u8]) -> Result<Asset, FileError> {
    let parsed = scene::parse(bytes)?;
    let mut warnings = scene::warnings(&parsed);
    let mut budget = scene::budget(bytes.len());
    let nodes = Nodes::read(&parsed, &mut budget, &mut warnings)?;
    let stem = name.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let in_model = |error| FileError::new("nodes", keys::reason(error));
    let skeleton = library.add_skeleton(Skeleton::new(stem, nodes.joints.clone(), Vec::new()).map_err(in_model)?);
    let mut skins = Vec::new();
    for skin in nodes.skins(&parsed, skeleton, &mut budget)? {
        match library.add_skin(skin) {
            Ok(skin) => skins.push(skin),
            Err(error) => {
                let message = format!("{}; the skin is left out", keys::reason(error));
                warnings.push(Warning { path: "skin deformers".into(), message });
            }
        }
    }
    let frame_rate = Some(parsed.settings.frames_per_second).filter(|rate| rate.is_finite() && *rate > 0.0);
    let mut stacks = Stacks {
        scene: &parsed,
        nodes: &nodes,
        skeleton,
        file_bytes: bytes.len(),
        rate: frame_rate.filter(|rate| (20.0..=120.0).contains(rate)).unwrap_or(DEFAULT_RATE),
        timelines: HashMap::new(),
        last_timeline: None,
        budget,
        keys_left: MIN_KEYS + KEYS_PER_BYTE * bytes.len() as u64,
        effort: scene::effort(&parsed),
        left: MIN_ADDED + bytes.len() / BYTES_PER_ADDED,
        warnings,
    };
    let mut clips = Vec::new();
    for stack in scene::animated_stacks(&parsed) {
        let clip = stacks.clip(stack)?;
        let added = library.add_clip(clip);
        clips.push(added.map_err(|error| FileError::new(path_of(stack), keys::reason(error)))?);
    }
    Ok(Asset { file: name.to_path_buf(), skeleton, skins, clips, frame_rate, warnings: stacks.warnings })
}

/// Returns `true` if a curve goes on before its first key or after its last one.
fn goes_on(curve: &AnimCurve) -> bool {
    let ends = [&curve.pre_extrapolation, &curve.post_extrapolation];
    curve.keyframes.len() > 1 && ends.iter().any(|end| end.mode != ExtrapolationMode::Constant)
}

fn path_of(stack: &AnimStack) -> String {
    scene::label("animation stack", &stack.element.name)
}

/// The state of making clips.
struct Stacks<'a> {
    scene: &'a Scene,
    nodes: &'a Nodes<'a>,
    skeleton: SkeletonId,
    file_bytes: usize,
    /// Frames per second of resampled curves.
    rate: f64,
    /// The timelines by the bits of their times. Curves with the same times share one.
    timelines: HashMap<Vec<u64>, Arc<Timeline>>,
    last_timeline: Option<Arc<Timeline>>,
    budget: MemoryBudget,
    /// The keys that all further stacks may have.
    keys_left: u64,
    /// The time of evaluating a value, as a multiple of the usual, without that for layers.
    effort: u64,
    /// The keys that may still be added between the keys of the file and of its frames.
    left: usize,
    warnings: Vec<Warning>,
}

/// The seconds of a stack that are played, on the axis of the file.
#[derive(Clone, Copy)]
struct Span {
    begin: f64,
    end: f64,
}

impl Span {
    /// The span that the stack states.
    fn stated(baked: &BakedAnim) -> Option<Self> {
        let stated = Self { begin: baked.playback_time_begin, end: baked.playback_time_end };
        Some(stated).filter(|Self { begin, end }| begin.is_finite() && end.is_finite() && begin < end)
    }

    /// The span of the keys of a stack. The key times of a [`BakedAnim`] are no help: parts of a node without keys have
    /// some at 0 s there.
    fn of_keys(stack: &AnimStack) -> Self {
        let props = stack.layers.into_iter().flat_map(|layer| &layer.anim_props);
        let curves = props.flat_map(|prop| prop.anim_value.curves.iter().flatten());
        let times = curves.flat_map(|curve| curve.keyframes.iter().map(|key| key.time)).filter(|time| time.is_finite());
        let wider = |span: Self, time: f64| Self { begin: span.begin.min(time), end: span.end.max(time) };
        let keys = times.fold(Self { begin: f64::INFINITY, end: f64::NEG_INFINITY }, wider);
        if keys.begin <= keys.end { keys } else { Self { begin: 0.0, end: 0.0 } }
    }
}

/// A stack at work.
struct Play<'a> {
    stack: &'a AnimStack,
    path: String,
    span: Span,
    /// The time of evaluating a value, as a multiple of the usual.
    effort: u64,
    /// The elements with a curve that goes on before its first key or after its last.
    continued: HashSet<u32>,
    /// `true` if the weight of a layer goes on so, and with it all that the layer animates.
    continues_all: bool,
}

impl<'a> Play<'a> {
    fn new(stack: &'a AnimStack, path: String, span: Span, effort: u64) -> Self {
        let props = stack.layers.into_iter().flat_map(|layer| &layer.anim_props);
        let continued = props.filter(|prop| prop.anim_value.curves.iter().flatten().any(|curve| goes_on(curve)));
        let continued: HashSet<u32> = continued.map(|prop| prop.element.element_id).collect();
        let continues_all = stack.layers.into_iter().any(|layer| continued.contains(&layer.element.element_id));
        Self { stack, path, span, effort, continued, continues_all }
    }

    /// Returns `true` if curves of an element go on.
    fn continues(&self, element: &Element) -> bool {
        self.continues_all || self.continued.contains(&element.element_id)
    }

    /// Returns `true` if curves of a node go on, or curves of the scale that its siblings get from their parent.
    fn continues_node(&self, node: &Node) -> bool {
        let helper = node.parent.as_ref().and_then(|parent| parent.scale_helper.as_ref());
        self.continues(&node.element) || helper.is_some_and(|helper| self.continues(&helper.element))
    }
}

impl Stacks<'_> {
    fn clip(&mut self, stack: &AnimStack) -> Result<Clip, FileError> {
        let path = path_of(stack);
        scene::check_layers(stack, &path)?;
        let effort = scene::effort_of_stack(self.effort, stack);
        let limit = self.bake_bytes(stack, effort);
        let options = BakeOpts {
            temp_allocator: scene::limited(limit),
            result_allocator: scene::limited(limit),
            resample_rate: self.rate,
            step_handling: BakeStepHandling::IdenticalTime,
            ..BakeOpts::default()
        };
        let baked = ufbx::bake_anim(self.scene, &stack.anim, options).map_err(|cause| scene::error(&path, &cause))?;
        // Properties without keys and nodes that rest take time, too.
        let parts = count_props(stack).max(self.scene.nodes.len() / NODES_PER_KEY) as u64;
        self.take_keys(&path, count_keys(&baked).max(parts), effort)?;
        let stated = Span::stated(&baked);
        let play = Play::new(stack, path, stated.unwrap_or_else(|| Span::of_keys(stack)), effort);
        let Span { begin, end } = play.span;
        let frame = 1.0 / self.rate;
        if stated.is_some() && (baked.key_time_min < begin - frame || baked.key_time_max > end + frame) {
            let (first, last) = (baked.key_time_min, baked.key_time_max);
            let message = format!(
                "it is set to play {begin:.3} to {end:.3} s, but has keys from {first:.3} to {last:.3} s; the rest \
                 is not played"
            );
            self.warn(&play.path, message);
        }
        let mut tracks = Vec::new();
        for node in &baked.nodes {
            self.node_tracks(&play, node, &mut tracks)?;
        }
        self.weight_tracks(&play, &baked, &mut tracks)?;
        let last = tracks.iter().map(|track| track.curve.timeline().last()).fold(0.0, f64::max);
        let duration = end - begin;
        let length = Some(duration).filter(|duration| *duration > 0.0 && (duration - last).abs() > 1e-6);
        Ok(Clip { length, ..Clip::new(scene::name(&stack.element.name), self.skeleton, tracks) })
    }

    fn warn(&mut self, path: &str, message: impl Into<String>) {
        self.warnings.push(Warning { path: path.into(), message: message.into() });
    }

    /// The memory for the keys of a stack and for their temporary data: no more than for the keys that are left.
    fn bake_bytes(&self, stack: &AnimStack, effort: u64) -> usize {
        const OF_STACK: usize = 1 << 20;
        const OF_PART: usize = 128;
        let props = count_props(stack);
        let keys = usize::try_from(self.keys_left / effort).unwrap_or(usize::MAX);
        let parts = keys.saturating_add(self.scene.nodes.len()).saturating_add(props);
        parts.saturating_mul(OF_PART).saturating_add(OF_STACK).min(scene::part_bytes(self.file_bytes))
    }

    /// Takes keys from the number that the file may have. Keys of more effort count as more.
    fn take_keys(&mut self, path: &str, count: u64, effort: u64) -> Result<(), FileError> {
        let Some(left) = self.keys_left.checked_sub(count.saturating_mul(effort)) else {
            let reason = format!(
                "the animation stacks up to this one have too many keys: at most {MIN_KEYS} and {KEYS_PER_BYTE} per byte of \
                 the file are read; stacks may share a layer, or the file may be damaged"
            );
            return Err(FileError::new(path, reason).stopping_file());
        };
        self.keys_left = left;
        Ok(())
    }

    /// The tracks of translation, rotation and scale of a node.
    fn node_tracks(&mut self, play: &Play, baked: &BakedNode, tracks: &mut Vec<Track>) -> Result<(), FileError> {
        let index = baked.typed_id as usize;
        let Some(node) = self.scene.nodes.get(index) else { return Ok(()) };
        let Some(joint) = self.nodes.joint_of.get(index).copied().flatten() else { return Ok(()) };
        let at = |time, part: u32| {
            let transform = ufbx::evaluate_transform_flags(&play.stack.anim, node, time, EXPLICIT_INCLUDES | part);
            nodes::transform(&transform)
        };
        let translation = |time| with_zero(at(time, INCLUDE_TRANSLATION).translation.to_array());
        let rotation = |time| at(time, INCLUDE_ROTATION).rotation.to_array();
        let scale = |time| with_zero(at(time, INCLUDE_SCALE).scale.to_array());
        let rest = nodes::transform(&node.local_transform);
        let of_vector = |keys: &[ufbx::BakedVec3]| {
            points(keys.iter().map(|key| (key.time, [key.value.x, key.value.y, key.value.z, 0.0], key.flags)))
        };
        let of_rotation = baked.rotation_keys.iter().map(|key| {
            let ufbx::Quat { x, y, z, w } = key.value;
            (key.time, [x, y, z, w], key.flags)
        });
        let channels: [(Target, &str, Vec<Point>, Value, FileCurve); 3] = [
            (
                Target::Translation(joint),
                "translation",
                of_vector(&baked.translation_keys),
                with_zero(rest.translation.to_array()),
                FileCurve { width: 3, tolerance: MAX_OFFSET / nodes::parent_scale(node), evaluate: &translation },
            ),
            (
                Target::Rotation(joint),
                "rotation",
                points(of_rotation),
                rest.rotation.to_array(),
                FileCurve { width: 4, tolerance: MAX_ANGLE, evaluate: &rotation },
            ),
            (
                Target::Scale(joint),
                "scale",
                of_vector(&baked.scale_keys),
                with_zero(rest.scale.to_array()),
                FileCurve { width: 3, tolerance: MAX_CHANGE, evaluate: &scale },
            ),
        ];
        let continues = play.continues_node(node);
        for (target, part, points, rest, curve) in channels {
            let path = format!("{}, {}, {part}", play.path, scene::label("node", &node.element.name));
            // Of a node with one curve, all parts are baked.
            let has_keys = points.iter().any(|point| point.is_key);
            let points = self.followed(&path, &curve, points, play, continues)?;
            let is_rest =
                points.iter().all(|point| curve.is_same(point.before, rest) && curve.is_same(point.after, rest));
            if has_keys || !is_rest {
                let made = self.curve(&path, &curve, &points, play.span);
                tracks.extend(self.or_left_out(made)?.map(|curve| Track::new(target, curve)));
            }
        }
        Ok(())
    }

    /// The tracks of morph weights. Other animated properties are named in a warning.
    fn weight_tracks(&mut self, play: &Play, baked: &BakedAnim, tracks: &mut Vec<Track>) -> Result<(), FileError> {
        let scene = self.scene;
        let mut unread: BTreeSet<&str> = BTreeSet::new();
        let mut driven = HashSet::new();
        for baked in &baked.elements {
            let Some(element) = scene.elements.get(baked.element_id as usize) else { continue };
            for prop in &baked.props {
                let channels = driven_channels(scene, element, &prop.name);
                if channels.is_empty() && !self.is_ignored(element, &prop.name) {
                    unread.insert(&prop.name);
                }
                let new: Vec<&BlendChannel> =
                    channels.into_iter().filter(|channel| driven.insert(channel.element.element_id)).collect();
                self.channel_tracks(play, element, prop, &new, tracks)?;
            }
        }
        if !unread.is_empty() {
            let names = list_names(unread.iter().map(|name| shorten(name)));
            self.warn(&play.path, format!("it animates properties that are not read: {names}"));
        }
        Ok(())
    }

    /// True for a property without effect: a state of an editor, or a weight that Blender writes at the mesh, too.
    fn is_ignored(&self, element: &Element, name: &str) -> bool {
        const OF_EDITORS: [&str; 2] = ["lockInfluenceWeights", "filmboxTypeID"];
        OF_EDITORS.contains(&name)
            || element.type_ == ElementType::Mesh && self.nodes.has_channel(element.element_id, name)
    }

    /// The tracks of the weights of channels, which a property drives.
    fn channel_tracks(
        &mut self,
        play: &Play,
        element: &Element,
        prop: &BakedProp,
        channels: &[&BlendChannel],
        tracks: &mut Vec<Track>,
    ) -> Result<(), FileError> {
        let Some(first) = channels.first() else { return Ok(()) };
        let evaluate = |time| [ufbx::evaluate_blend_weight(&play.stack.anim, first, time), 0.0, 0.0, 0.0];
        let curve = FileCurve { width: 1, tolerance: MAX_CHANGE, evaluate: &evaluate };
        let keys = points(prop.keys.iter().map(|key| (key.time, [0.01 * key.value.x, 0.0, 0.0, 0.0], key.flags)));
        let path = format!("{}, {}", play.path, scene::label("blend shape", &first.element.name));
        let points = self.followed(&path, &curve, keys, play, play.continues(element))?;
        let made = self.curve(&path, &curve, &points, play.span);
        let Some(curve) = self.or_left_out(made)? else { return Ok(()) };
        let nodes = self.nodes;
        for channel in channels {
            for &(joint, index) in nodes.weights_of.get(&channel.element.element_id).into_iter().flatten() {
                self.budget.charge(&path, TRACK_BYTES)?;
                tracks.push(Track::component(Target::Weights(joint), index, curve.clone()));
            }
        }
        Ok(())
    }

    /// The curve, or a warning that the track is left out. Fails if the error stops the file.
    fn or_left_out(&mut self, made: Result<Curve, FileError>) -> Result<Option<Curve>, FileError> {
        match made {
            Ok(curve) => Ok(Some(curve)),
            Err(error) if error.stops_file => Err(error),
            Err(FileError { path, reason, .. }) => {
                self.warn(&path, format!("{reason}; the track is left out"));
                Ok(None)
            }
        }
    }

    /// The points of a curve, with further points until lines between them follow it. Points of one value become the
    /// first of them. `continues` tells if the curve goes on before its first point or after its last.
    fn followed(
        &mut self,
        path: &str,
        curve: &FileCurve,
        points: Vec<Point>,
        play: &Play,
        continues: bool,
    ) -> Result<Vec<Point>, FileError> {
        self.check_points(path, points.len())?;
        let points = if continues { self.continued(path, curve, points, play)? } else { points };
        let affordable = usize::try_from(play.effort).map_or(0, |effort| self.left / effort);
        let limit = affordable.min(self.max_points().saturating_sub(points.len()));
        let mut left = limit;
        let mut followed = curve.refine(points, &mut left);
        self.left -= limit - left;
        if limit > 0 && left == 0 {
            let message = "the curves of the file need too many further keys; from here on they may differ by more than the \
                           bounds between the frames";
            self.warn(path, message);
        }
        if curve.is_constant(&followed) {
            followed.truncate(1);
        }
        Ok(followed)
    }

    /// The largest number of points of a curve while it is made.
    fn max_points(&self) -> usize {
        scene::part_bytes(self.file_bytes) / POINT_BYTES
    }

    /// Refuses more points of a curve than the memory budget allows.
    fn check_points(&self, path: &str, count: usize) -> Result<(), FileError> {
        let max = self.max_points();
        if count <= max {
            return Ok(());
        }
        let reason =
            format!("it needs {count} keys; a file of this size may have {max} in one curve: it may be damaged");
        Err(FileError::new(path, reason).stopping_file())
    }

    /// The curve of the model.
    fn curve(&mut self, path: &str, curve: &FileCurve, points: &[Point], span: Span) -> Result<Curve, FileError> {
        self.budget.charge(path, TRACK_BYTES + KEY_BYTES * points.len() as u64)?;
        let error = |error| FileError::new(path, keys::reason(error));
        let keys::ModelKeys { mut times, values, interpolation, easing } = curve.keys(points);
        match times.as_mut_slice() {
            // A value that stays needs no duration.
            [time] => *time = 0.0,
            times => times.iter_mut().for_each(|time| *time -= span.begin),
        }
        let timeline = self.timeline(times).map_err(error)?;
        let made = Curve::new(timeline, interpolation, curve.width, values).map_err(error)?;
        made.with_easing(easing).map_err(error)
    }

    /// The timeline of these times, which most often is the timeline of the curve before.
    fn timeline(&mut self, times: Vec<f64>) -> Result<Arc<Timeline>, Error> {
        if let Some(last) = self.last_timeline.as_ref().filter(|last| last.times() == times) {
            return Ok(last.clone());
        }
        let bits = times.iter().map(|time| time.to_bits()).collect();
        let timeline = match self.timelines.get(&bits) {
            Some(timeline) => timeline.clone(),
            None => {
                let timeline = Arc::new(Timeline::new(times)?);
                self.timelines.insert(bits, timeline.clone());
                timeline
            }
        };
        self.last_timeline = Some(timeline.clone());
        Ok(timeline)
    }

    /// The points with all frames of the span: a curve that repeats can be anything beyond its keys.
    fn continued(
        &mut self,
        path: &str,
        curve: &FileCurve,
        points: Vec<Point>,
        play: &Play,
    ) -> Result<Vec<Point>, FileError> {
        let span = play.span;
        let frames = ((span.end - span.begin) * self.rate).ceil();
        if frames > MAX_CONTINUED {
            self.warn(path, "it is set to play too long for curves that go on without keys; they hold their values");
            return Ok(points);
        }
        let frames = frames as usize;
        let count = points.len() + frames + 1;
        self.check_points(path, count)?;
        self.take_keys(path, frames as u64 + 1, play.effort)?;
        let mut all: Vec<Point> = Vec::with_capacity(count);
        let mut points = points.into_iter().peekable();
        for frame in 0..=frames {
            let time = (span.begin + frame as f64 / self.rate).min(span.end);
            while let Some(point) = points.next_if(|point| point.time <= time) {
                all.push(point);
            }
            // The ends are exact; other frames need not stand beside a key.
            let gap = if frame == 0 || frame == frames { 0.0 } else { 0.25 / self.rate };
            let is_near = all.last().is_some_and(|last| time - last.time <= gap)
                || points.peek().is_some_and(|next| next.time - time <= gap);
            if !is_near {
                all.push(Point::new(time, (curve.evaluate)(time), false));
            }
        }
        all.extend(points);
        Ok(all)
    }
}

/// An element as a channel of blend shapes.
fn as_channel<'a>(scene: &'a Scene, element: &Element) -> Option<&'a BlendChannel> {
    let channel = scene.blend_channels.get(element.typed_id as usize);
    channel.filter(|_| element.type_ == ElementType::BlendChannel).map(|channel| &**channel)
}

/// The channels of blend shapes whose weight is a property of an element: a channel itself, or up to FBX 7.1 the mesh,
/// with a property per channel.
fn driven_channels<'a>(scene: &'a Scene, element: &Element, name: &str) -> Vec<&'a BlendChannel> {
    if let Some(channel) = as_channel(scene, element).filter(|_| name == WEIGHT) {
        return vec![channel];
    }
    // The connections are sorted by the names of the properties.
    let connections = &element.connections_src;
    let first = connections.partition_point(|connection| &*connection.src_prop < name);
    let of_name = connections.iter().skip(first).take_while(|connection| &*connection.src_prop == name);
    let weights = of_name.filter(|connection| &*connection.dst_prop == WEIGHT);
    weights.filter_map(|connection| as_channel(scene, &connection.dst)).collect()
}

/// The number of animated properties of all layers of a stack.
fn count_props(stack: &AnimStack) -> usize {
    stack.layers.into_iter().map(|layer| layer.anim_props.len()).sum()
}

/// The number of keys of a baked stack.
fn count_keys(baked: &BakedAnim) -> u64 {
    let of_node = |node: &BakedNode| node.translation_keys.len() + node.rotation_keys.len() + node.scale_keys.len();
    let of_nodes: usize = baked.nodes.iter().map(of_node).sum();
    let of_props: usize = baked.elements.iter().flat_map(|element| &element.props).map(|prop| prop.keys.len()).sum();
    (of_nodes + of_props) as u64
}

/// The points of baked keys. Keys of one time are a step.
fn points(keys: impl Iterator<Item = (f64, Value, BakedKeyFlags)>) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::with_capacity(keys.size_hint().0);
    for (time, value, flags) in keys {
        let is_key = flags.has_any(BakedKeyFlags::KEYFRAME);
        match points.last_mut().filter(|last| last.time == time) {
            Some(last) => (last.after, last.is_key) = (value, last.is_key || is_key),
            None => points.push(Point::new(time, value, is_key)),
        }
    }
    points
}

fn with_zero([x, y, z]: [f64; 3]) -> Value {
    [x, y, z, 0.0]
}
