//! Animation stacks become clips.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use ufbx::{AnimStack, BakeOpts, BakeStepHandling, BakedAnim, BakedKeyFlags, BakedNode, ExtrapolationMode, Scene};

use super::keys::{self, FileCurve, Point, Value};
use super::nodes::{self, Nodes};
use super::{Asset, MAX_ANGLE, MAX_CHANGE, MAX_OFFSET, scene};
use crate::import::memory_budget::MemoryBudget;
use crate::import::{FileError, Warning, list_names};
use crate::model::{Clip, Curve, Library, Skeleton, SkeletonId, Target, Timeline, Track};

/// The bytes of a key in the model, and while it is made.
const KEY_BYTES: u64 = 160;
/// The number of keys that may be added between those of the file and of its frames: one per four bytes of the file,
/// and 2^17.
const BYTES_PER_ADDED: usize = 4;
const MIN_ADDED: usize = 1 << 17;
/// The largest number of frames that a curve is continued by, before its first key or after its last.
const MAX_CONTINUED: f64 = 1e5;
/// The rate of resampled curves where the file is set to none of the usual ones, in frames per second.
const DEFAULT_RATE: f64 = 30.0;

// Numbers of `ufbx::TransformFlags`, which hides them.
const EXPLICIT_INCLUDES: u32 = 0x4;
const INCLUDE_TRANSLATION: u32 = 0x10;
const INCLUDE_ROTATION: u32 = 0x20;
const INCLUDE_SCALE: u32 = 0x40;

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
    for skin in nodes.skins(&parsed, skeleton) {
        skins.push(library.add_skin(skin).map_err(|error| FileError::new("skin deformers", keys::reason(error)))?);
    }
    let frame_rate = Some(parsed.settings.frames_per_second).filter(|rate| rate.is_finite() && *rate > 0.0);
    let mut stacks = Stacks {
        scene: &parsed,
        nodes: &nodes,
        skeleton,
        file_bytes: bytes.len(),
        rate: frame_rate.filter(|rate| (20.0..=120.0).contains(rate)).unwrap_or(DEFAULT_RATE),
        is_continued: is_continued(&parsed),
        timelines: HashMap::new(),
        budget,
        left: MIN_ADDED + bytes.len() / BYTES_PER_ADDED,
        warnings,
    };
    let mut clips = Vec::new();
    for stack in parsed.anim_stacks.into_iter().filter(|stack| scene::has_curves(stack)) {
        let clip = stacks.clip(stack)?;
        let added = library.add_clip(clip);
        clips.push(added.map_err(|error| FileError::new(path_of(stack), keys::reason(error)))?);
    }
    Ok(Asset { file: name.to_path_buf(), skeleton, skins, clips, frame_rate, warnings: stacks.warnings })
}

/// True if a curve goes on before its first key or after its last one.
fn is_continued(scene: &Scene) -> bool {
    scene.anim_curves.into_iter().any(|curve| {
        let ends = [&curve.pre_extrapolation, &curve.post_extrapolation];
        curve.keyframes.len() > 1 && ends.iter().any(|end| end.mode != ExtrapolationMode::Constant)
    })
}

fn path_of(stack: &AnimStack) -> String {
    scene::label("animation stack", &stack.element.name)
}

/// The state of making clips.
struct Stacks<'a> {
    scene: &'a Scene,
    nodes: &'a Nodes,
    skeleton: SkeletonId,
    file_bytes: usize,
    /// Frames per second of resampled curves.
    rate: f64,
    is_continued: bool,
    /// The timelines by the bits of their times. Curves with the same times share one.
    timelines: HashMap<Vec<u64>, Arc<Timeline>>,
    budget: MemoryBudget,
    /// The keys that may still be added between those of the file and of its frames.
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
    /// The span that the stack states, otherwise that of its keys.
    fn of(baked: &BakedAnim) -> Self {
        let keys = Self { begin: baked.key_time_min, end: baked.key_time_max };
        let stated = Self { begin: baked.playback_time_begin, end: baked.playback_time_end };
        let is_usable = |span: &Self| span.begin.is_finite() && span.end.is_finite() && span.begin < span.end;
        [stated, keys].into_iter().find(is_usable).unwrap_or(Self { begin: 0.0, end: 0.0 })
    }
}

impl Stacks<'_> {
    fn clip(&mut self, stack: &AnimStack) -> Result<Clip, FileError> {
        let path = path_of(stack);
        let options = BakeOpts {
            temp_allocator: scene::limited(self.file_bytes),
            result_allocator: scene::limited(self.file_bytes),
            resample_rate: self.rate,
            step_handling: BakeStepHandling::IdenticalTime,
            ..BakeOpts::default()
        };
        let baked = ufbx::bake_anim(self.scene, &stack.anim, options).map_err(|error| scene::error(&path, &error))?;
        let span = Span::of(&baked);
        let frame = 1.0 / self.rate;
        if baked.key_time_min < span.begin - frame || baked.key_time_max > span.end + frame {
            let (first, last) = (baked.key_time_min, baked.key_time_max);
            let message = format!(
                "it is set to play {:.3} to {:.3} s, but has keys from {first:.3} to {last:.3} s; the rest is not played",
                span.begin, span.end
            );
            self.warnings.push(Warning { path: path.clone(), message });
        }
        let mut tracks = Vec::new();
        for node in &baked.nodes {
            self.node_tracks(stack, node, span, &mut tracks)?;
        }
        self.weight_tracks(stack, &baked, span, &mut tracks)?;
        let last = tracks.iter().map(|track| track.curve.timeline().last()).fold(0.0, f64::max);
        let duration = span.end - span.begin;
        let length = Some(duration).filter(|duration| *duration > 0.0 && (duration - last).abs() > 1e-6);
        Ok(Clip { length, ..Clip::new(scene::name(&stack.element.name), self.skeleton, tracks) })
    }

    /// The tracks of translation, rotation and scale of a node.
    fn node_tracks(
        &mut self,
        stack: &AnimStack,
        baked: &BakedNode,
        span: Span,
        tracks: &mut Vec<Track>,
    ) -> Result<(), FileError> {
        let index = baked.typed_id as usize;
        let Some(node) = self.scene.nodes.get(index) else { return Ok(()) };
        let Some(joint) = self.nodes.joint_of.get(index).copied().flatten() else { return Ok(()) };
        let at = |time, part: u32| {
            let transform = ufbx::evaluate_transform_flags(&stack.anim, node, time, EXPLICIT_INCLUDES | part);
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
        let channels: [(Target, Vec<Point>, Value, FileCurve); 3] = [
            (
                Target::Translation(joint),
                of_vector(&baked.translation_keys),
                with_zero(rest.translation.to_array()),
                FileCurve { width: 3, tolerance: MAX_OFFSET / nodes::parent_scale(node), evaluate: &translation },
            ),
            (
                Target::Rotation(joint),
                points(of_rotation),
                rest.rotation.to_array(),
                FileCurve { width: 4, tolerance: MAX_ANGLE, evaluate: &rotation },
            ),
            (
                Target::Scale(joint),
                of_vector(&baked.scale_keys),
                with_zero(rest.scale.to_array()),
                FileCurve { width: 3, tolerance: MAX_CHANGE, evaluate: &scale },
            ),
        ];
        let path = format!("{}, {}", path_of(stack), scene::label("node", &node.element.name));
        for (target, points, rest, curve) in channels {
            // Of a node with one curve, all parts are baked.
            let has_keys = points.iter().any(|point| point.is_key);
            let is_rest =
                points.iter().all(|point| curve.is_same(point.before, rest) && curve.is_same(point.after, rest));
            if has_keys || !is_rest {
                tracks.push(Track::new(target, self.curve(&path, &curve, points, span)?));
            }
        }
        Ok(())
    }

    /// The tracks of morph weights. Other animated properties are named in a warning.
    fn weight_tracks(
        &mut self,
        stack: &AnimStack,
        baked: &BakedAnim,
        span: Span,
        tracks: &mut Vec<Track>,
    ) -> Result<(), FileError> {
        let mut unread: BTreeSet<&str> = BTreeSet::new();
        let nodes = self.nodes;
        for element in &baked.elements {
            let weights = nodes.weights_of.get(&element.element_id);
            let found = self.scene.elements.get(element.element_id as usize);
            let channel = found.and_then(|found| self.scene.blend_channels.get(found.typed_id as usize));
            for prop in &element.props {
                let (Some(weights), Some(channel), "DeformPercent") = (weights, channel, &*prop.name) else {
                    unread.insert(&prop.name);
                    continue;
                };
                let evaluate = |time| [ufbx::evaluate_blend_weight(&stack.anim, channel, time), 0.0, 0.0, 0.0];
                let curve = FileCurve { width: 1, tolerance: MAX_CHANGE, evaluate: &evaluate };
                let keys = prop.keys.iter().map(|key| (key.time, [0.01 * key.value.x, 0.0, 0.0, 0.0], key.flags));
                let path = format!("{}, {}", path_of(stack), scene::label("blend shape", &channel.element.name));
                let curve = self.curve(&path, &curve, points(keys), span)?;
                for &(joint, index) in weights {
                    tracks.push(Track::component(Target::Weights(joint), index, curve.clone()));
                }
            }
        }
        if !unread.is_empty() {
            let names: Vec<&str> = unread.into_iter().collect();
            let message = format!("it animates properties that are not read: {}", list_names(&names));
            self.warnings.push(Warning { path: path_of(stack), message });
        }
        Ok(())
    }

    /// The curve of the model.
    fn curve(&mut self, path: &str, curve: &FileCurve, points: Vec<Point>, span: Span) -> Result<Curve, FileError> {
        self.budget.charge(path, KEY_BYTES * points.len() as u64)?;
        let points = if curve.is_constant(&points) && !self.is_continued {
            points.into_iter().take(1).collect()
        } else {
            let points = self.continued(path, curve, points, span)?;
            let had_left = self.left > 0;
            let refined = curve.refine(&points, &mut self.left);
            if had_left && self.left == 0 {
                let message = "the curves of the file need too many further keys; from here on they may differ by more than the \
                               bounds between the frames";
                self.warnings.push(Warning { path: path.into(), message: message.into() });
            }
            self.budget.charge(path, KEY_BYTES * (refined.len() - points.len()) as u64)?;
            refined
        };
        let error = |error| FileError::new(path, keys::reason(error));
        let keys::ModelKeys { mut times, values, interpolation, easing } = curve.keys(&points);
        times.iter_mut().for_each(|time| *time -= span.begin);
        let bits = times.iter().map(|time| time.to_bits()).collect();
        let timeline = match self.timelines.get(&bits) {
            Some(timeline) => timeline.clone(),
            None => {
                let timeline = Arc::new(Timeline::new(times).map_err(error)?);
                self.timelines.insert(bits, timeline.clone());
                timeline
            }
        };
        let made = Curve::new(timeline, interpolation, curve.width, values).map_err(error)?;
        made.with_easing(easing).map_err(error)
    }

    /// The points with those of the frames of the span before the first and after the last, if curves of the file go
    /// on there.
    fn continued(
        &mut self,
        path: &str,
        curve: &FileCurve,
        points: Vec<Point>,
        span: Span,
    ) -> Result<Vec<Point>, FileError> {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return Ok(points) };
        let frames =
            [first.time - span.begin, span.end - last.time].map(|seconds| (seconds * self.rate).ceil().max(0.0));
        let [before, after] = frames;
        if !self.is_continued || before + after == 0.0 {
            return Ok(points);
        }
        if before.max(after) > MAX_CONTINUED {
            let message =
                "it is set to play too long for curves that go on without keys; they hold their values".into();
            self.warnings.push(Warning { path: path.into(), message });
            return Ok(points);
        }
        self.budget.charge(path, KEY_BYTES * (before + after) as u64)?;
        let step = 1.0 / self.rate;
        let point = |time: f64| Point::new(time, (curve.evaluate)(time), false);
        let of_start = (0..before as u64).map(|frame| point(span.begin + frame as f64 * step));
        let mut all: Vec<Point> = of_start.filter(|point| point.time < first.time).collect();
        all.extend(&points);
        all.extend((1..=after as u64).map(|frame| point((last.time + frame as f64 * step).min(span.end))));
        Ok(all)
    }
}

/// The points of baked keys. Keys of one time are a step.
fn points(keys: impl Iterator<Item = (f64, Value, BakedKeyFlags)>) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
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
