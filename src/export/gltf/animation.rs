//! Animations: the animations of the file are removed, with the bytes that nothing else refers to, and clips are added.
//! Of a streamed animation, the keys come after the document.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::export::gltf::sampler::{KeyBytes, SamplerList, Samplers, WrittenSampler, shape};
use crate::export::gltf::{COMPRESSIONS, Document, index, items};
use crate::model::{ClipId, Library, Skeleton, SkeletonId, Target, no_such};
use crate::retarget::moving_joints::TransformPart;

/// The extension of channels that animate properties by pointers.
const POINTER: &str = "KHR_animation_pointer";

impl Document {
    /// The names of the animations, in their order; `None` for one without a name.
    pub fn animation_names(&self) -> impl Iterator<Item = Option<&str>> {
        items(&self.json, "animations").iter().map(|animation| animation.get("name").and_then(Value::as_str))
    }

    /// Removes all animations, and their data where nothing else refers to them.
    pub fn remove_animations(&mut self) {
        let candidates = of_animations(&self.json);
        self.json.remove("animations");
        let needed = of_others(&self.json);
        let freed: Indices = candidates.difference(&needed).copied().collect();
        let (mut freed_views, mut needed_views) = (Indices::new(), views_of_others(&self.json));
        for (index, accessor) in items(&self.json, "accessors").iter().enumerate() {
            let views = if freed.contains(&index) { &mut freed_views } else { &mut needed_views };
            views.extend(views_of_accessor(accessor));
        }
        let freed_views: Indices = freed_views.difference(&needed_views).copied().collect();
        self.remove_bytes(&freed_views);
        // What an earlier removal has freed stays free.
        let accessors = std::mem::take(&mut self.free_accessors).into_iter().chain(freed).collect();
        let views = std::mem::take(&mut self.free_views).into_iter().chain(freed_views).collect();
        let accessor = json!({ "componentType": 5126, "count": 1, "type": "SCALAR" });
        self.free_accessors = self.free("accessors", accessors, &accessor);
        self.free_views = self.free("bufferViews", views, &json!({ "buffer": 0, "byteLength": 0 }));
        self.forget_pointers();
    }

    /// Removes freed items at the end of an array, and makes the others as small as `least`. Returns these, the last
    /// first.
    fn free(&mut self, array: &str, mut places: Vec<usize>, least: &Value) -> Vec<usize> {
        if places.is_empty() {
            return places;
        }
        places.sort_unstable_by(|one, other| other.cmp(one));
        places.dedup();
        let items = self.array(array);
        places.retain(|&place| place < items.len());
        let mut at_end = 0;
        while places.get(at_end).is_some_and(|&place| place + 1 == items.len()) {
            items.pop();
            at_end += 1;
        }
        places.drain(..at_end);
        places.iter().for_each(|&place| items[place] = least.clone());
        places
    }

    /// Removes the bytes that only freed views have.
    fn remove_bytes(&mut self, freed: &Indices) {
        let (mut freed_ranges, mut needed) = (Vec::new(), Vec::new());
        for (index, view) in items(&self.json, "bufferViews").iter().enumerate() {
            let ranges = if freed.contains(&index) { &mut freed_ranges } else { &mut needed };
            ranges.extend(placed(view).filter_map(|part| self.range(part)));
        }
        let holes = holes(freed_ranges, needed);
        if holes.is_empty() {
            return;
        }
        self.bin = without(&self.bin, &holes);
        for view in self.array("bufferViews") {
            let shift = |part: &mut Value| {
                let offset = index(part, "byteOffset").unwrap_or(0);
                let place = moved(offset, &holes);
                if index(part, "buffer") == Some(0) && place != offset {
                    part["byteOffset"] = place.into();
                }
            };
            for extension in COMPRESSIONS {
                if let Some(part) = view.get_mut("extensions").and_then(|all| all.get_mut(extension)) {
                    shift(part);
                }
            }
            shift(view);
        }
    }

    /// The range of a view in the buffer of the result, if it is in it.
    fn range(&self, part: &Value) -> Option<Range<usize>> {
        let (start, length) = (index(part, "byteOffset").unwrap_or(0), index(part, "byteLength")?);
        let range = start..start.checked_add(length)?;
        (index(part, "buffer") == Some(0) && range.end <= self.bin.len()).then_some(range)
    }

    /// Removes the extension of animated properties from the lists of extensions. Only animations have it.
    fn forget_pointers(&mut self) {
        for list in ["extensionsUsed", "extensionsRequired"] {
            let Some(names) = self.json.get_mut(list).and_then(Value::as_array_mut) else { continue };
            names.retain(|name| name != POINTER);
            if names.is_empty() {
                self.json.remove(list);
            }
        }
    }

    /// Adds a clip as an animation. The joints of its skeleton must be the joints that the importer makes of the nodes
    /// of the document.
    ///
    /// Keys stay as they are, rounded to `f32`. Tracks that glTF cannot hold are sampled: those with easings,
    /// extrapolations, single numbers or angles, and tracks that a length cuts off. Rotations are within 1e-4 rad,
    /// translations within 1e-4 of the rig's size ([`Length`](crate::compress::Length)) in model space with the joints
    /// above at rest, and scales within 1e-4 of the largest scale of the joint. If no key is at the end of the clip, a
    /// track that holds a joint at rest makes the animation as long. A node whose matrix has shear keeps it, and is
    /// translated by a pointer (`KHR_animation_pointer`), with a note. Returns notes on parts that glTF cannot hold at
    /// all: events, sync markers, root motion, the speed, the wrap mode, properties, morph weights of joints without
    /// such a mesh, and rotations and scales of nodes with shear.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such clip, or its skeleton has other joints than the document; with the names of
    /// clip and joint, if the sampled tracks of all added clips have more than 8 keys per key of these clips and 2^22
    /// more. The document is then unchanged.
    pub fn add_clip(&mut self, library: &Library, clip: ClipId) -> Result<Vec<String>, Error> {
        let Some(found) = library.clips().get(clip.index()) else {
            return Err(Error::Usage(no_such("clip", clip.index(), "library", library.clips().len())));
        };
        let skeleton = library.skeleton(found.skeleton);
        let Some(nodes) = self.nodes_of(skeleton) else {
            let (joints, nodes, file) = (skeleton.joints().len(), self.nodes.len(), self.name.display());
            return Err(Error::Usage(format!(
                "{file}: the clip animates a skeleton of {joints} joints, but the file has {nodes} nodes; expected the skeleton of \
                 the file"
            )));
        };
        let has_carriers = nodes.len() != self.nodes.len();
        let is_carrier = |joint: usize| has_carriers && skeleton.is_carrier(joint);
        let mut budget = self.budget.clone();
        budget.add_clip(found);
        let targets = |joint: usize| self.morph_targets(nodes[joint]);
        let (samplers, mut notes) = Samplers::new(library, found, &targets, &is_carrier, &mut budget)?;
        self.budget = budget;
        if samplers.is_empty() {
            let name = found.label();
            notes.push(format!("clip {name}: it has no tracks, which glTF does not allow; it is left out"));
            return Ok(notes);
        }
        let (list, bytes) = samplers.into_bytes();
        let view = self.add_view(&bytes);
        let mut targets = Vec::with_capacity(list.samplers.len());
        for &WrittenSampler { joint, path, .. } in &list.samplers {
            let node = nodes[joint];
            if !is_carrier(joint) {
                if path != "weights" {
                    self.animate_node(node, &skeleton.joints()[joint].rest);
                }
                targets.push(json!({ "node": node, "path": path }));
                continue;
            }
            notes.push(format!(
                "clip {}: the matrix of {} has shear, so that {POINTER} translates it; programs without this extension \
                 leave it at rest",
                found.label(),
                skeleton.joint_name(joint)
            ));
            self.declare_pointers();
            let pointer = json!({ "pointer": format!("/nodes/{node}/translation") });
            targets.push(json!({ "path": "pointer", "extensions": { POINTER: pointer } }));
        }
        self.add_animation(found.name.as_deref(), &list, targets, view);
        Ok(notes)
    }

    /// The node of each joint of a skeleton. Joints that carry the translation of a node have the same one. `None` if
    /// the skeleton has other joints than the document.
    fn nodes_of(&self, skeleton: &Skeleton) -> Option<Vec<usize>> {
        let count = skeleton.joints().len();
        if count == self.nodes.len() {
            return Some(self.nodes.clone());
        }
        let mut nodes = Vec::with_capacity(count);
        let mut next = self.nodes.iter().copied().peekable();
        for joint in 0..count {
            nodes.push(if skeleton.is_carrier(joint) { *next.peek()? } else { next.next()? });
        }
        next.next().is_none().then_some(nodes)
    }

    /// Adds the extension of animated properties to the list of extensions that the document uses.
    fn declare_pointers(&mut self) {
        let used = self.array("extensionsUsed");
        if !used.iter().any(|name| name == POINTER) {
            used.push(POINTER.into());
        }
    }

    /// Adds an animation. `targets` has the target of the channel of each sampler, `view` the numbers of the samplers.
    pub(super) fn add_animation(&mut self, name: Option<&str>, list: &SamplerList, targets: Vec<Value>, view: usize) {
        let mut animation = Map::new();
        if let Some(name) = name {
            animation.insert("name".into(), name.into());
        }
        let inputs: Vec<usize> = list.inputs.iter().map(|keys| self.add_keys(view, keys)).collect();
        let (mut channels, mut samplers) = (Vec::new(), Vec::new());
        for (sampler, target) in list.samplers.iter().zip(targets) {
            let output = self.add_keys(view, &sampler.output);
            channels.push(json!({ "sampler": samplers.len(), "target": target }));
            let interpolation = sampler.interpolation;
            samplers.push(json!({ "input": inputs[sampler.input], "interpolation": interpolation, "output": output }));
        }
        animation.insert("channels".into(), channels.into());
        animation.insert("samplers".into(), samplers.into());
        self.array("animations").push(animation.into());
    }

    /// The number of morph targets of a node.
    fn morph_targets(&self, node: usize) -> usize {
        let mesh = items(&self.json, "nodes").get(node).and_then(|node| index(node, "mesh"));
        let mesh = mesh.and_then(|mesh| items(&self.json, "meshes").get(mesh));
        let targets = mesh.and_then(|mesh| mesh.pointer("/primitives/0/targets")).and_then(Value::as_array);
        targets.map_or(0, Vec::len)
    }

    /// Adds an accessor of numbers in a view.
    fn add_keys(&mut self, view: usize, keys: &KeyBytes) -> usize {
        let mut accessor = json!({
            "bufferView": view, "byteOffset": keys.offset, "componentType": 5126, "count": keys.count, "type": keys.kind,
        });
        if let Some([least, most]) = keys.range {
            accessor["min"] = json!([least]);
            accessor["max"] = json!([most]);
        }
        self.add_accessor(accessor)
    }

    /// Gives a node that has a matrix its translation, rotation and scale instead: only these can be animated.
    fn animate_node(&mut self, node: usize, rest: &crate::model::Transform) {
        let Some(node) = self.array("nodes").get_mut(node).and_then(Value::as_object_mut) else { return };
        if node.remove("matrix").is_some() {
            node.insert("translation".into(), json!(rest.translation.to_array()));
            node.insert("rotation".into(), json!(rest.rotation.normalize().to_array()));
            node.insert("scale".into(), json!(rest.scale.to_array()));
        }
    }
}

/// An animation of translations, rotations and scales, with a key per frame.
#[derive(Debug, Clone, Copy)]
pub struct FrameAnimation<'a> {
    /// The name.
    pub name: &'a str,
    /// The parts of joints that move, in the order of their keys. Other targets are left out.
    pub targets: &'a [Target],
    /// The number of frames.
    pub frames: u64,
    /// The time of the last frame. The first frame is at 0.
    pub last_time: f32,
    /// True for a VRM animation: the skeleton is the skeleton of a [`VrmAnimation`](super::VrmAnimation).
    pub is_vrm: bool,
}

impl FrameAnimation<'_> {
    /// The bytes of a `.glb` file of a skeleton up to the keys of the animation. The caller appends the times of all
    /// frames, then the keys of each target, all as little-endian `f32`.
    ///
    /// `order` has the joints of the skeleton in the order of the nodes, each once; of a VRM animation, the
    /// [nodes](super::VrmAnimation::nodes) that it needs. `extras` belongs to the asset.
    ///
    /// # Errors
    /// [`Error::Limit`] if the file would be larger than 4 GiB.
    pub fn glb_head(
        &self,
        library: &Library,
        skeleton: SkeletonId,
        order: &[usize],
        extras: Value,
    ) -> Result<Vec<u8>, Error> {
        let mut document = Document::of_nodes(library, skeleton, order);
        document.json["asset"]["extras"] = extras;
        if self.is_vrm {
            document.declare_vrm_animation(library.skeleton(skeleton), order);
        }
        let mut list = SamplerList::default();
        let mut offset = 0;
        let mut keys = |kind, width: u64| {
            let keys = KeyBytes { offset, count: self.frames, kind, range: None };
            offset += width * self.frames * 4;
            keys
        };
        let range = Some([0.0, self.last_time]);
        list.inputs.push(KeyBytes { range, ..keys("SCALAR", 1) });
        for (joint, part) in self.targets.iter().filter_map(|&target| TransformPart::of(target)) {
            let (path, interpolation) = (part.name(), "LINEAR");
            let (kind, width) = shape(path);
            list.samplers.push(WrittenSampler { joint, path, interpolation, input: 0, output: keys(kind, width) });
        }
        if !list.samplers.is_empty() {
            let target =
                |sampler: &WrittenSampler| json!({ "node": document.nodes[sampler.joint], "path": sampler.path });
            let targets = list.samplers.iter().map(target).collect();
            let view = document.add_view(&[]);
            document.array("bufferViews")[view]["byteLength"] = offset.into();
            document.late_bytes = offset;
            document.add_animation(Some(self.name), &list, targets, view);
        }
        document.to_glb()
    }
}

/// The parts of a view that have a place in a buffer: itself, and its compressed form.
fn placed(view: &Value) -> impl Iterator<Item = &Value> {
    let compressed = COMPRESSIONS.into_iter().filter_map(|name| view.get("extensions")?.get(name));
    std::iter::once(view).chain(compressed)
}

/// The indices of accessors or buffer views.
pub(super) type Indices = HashSet<usize>;

/// The accessors of the samplers of all animations.
pub(super) fn of_animations(json: &Map<String, Value>) -> Indices {
    let samplers = items(json, "animations").iter().filter_map(|animation| animation.get("samplers")?.as_array());
    samplers.flatten().flat_map(|sampler| [index(sampler, "input"), index(sampler, "output")]).flatten().collect()
}

/// The accessors to which anything but an animation may refer. Any whole number in an extension or in extras may be
/// one.
pub(super) fn of_others(json: &Map<String, Value>) -> Indices {
    let mut found = free_numbers(json);
    for mesh in items(json, "meshes") {
        let primitives = mesh.get("primitives").and_then(Value::as_array);
        for primitive in primitives.into_iter().flatten() {
            found.extend(index(primitive, "indices"));
            let targets = primitive.get("targets").and_then(Value::as_array).into_iter().flatten();
            for attributes in primitive.get("attributes").into_iter().chain(targets).filter_map(Value::as_object) {
                found.extend(
                    attributes.values().filter_map(Value::as_u64).filter_map(|index| usize::try_from(index).ok()),
                );
            }
        }
    }
    found.extend(items(json, "skins").iter().filter_map(|skin| index(skin, "inverseBindMatrices")));
    found
}

/// The buffer views of an accessor.
pub(super) fn views_of_accessor(accessor: &Value) -> impl Iterator<Item = usize> {
    let sparse = accessor.get("sparse");
    let part = |name: &str| sparse.and_then(|sparse| index(sparse.get(name)?, "bufferView"));
    [index(accessor, "bufferView"), part("indices"), part("values")].into_iter().flatten()
}

/// The buffer views to which anything but an accessor may refer.
pub(super) fn views_of_others(json: &Map<String, Value>) -> Indices {
    let mut found = free_numbers(json);
    found.extend(items(json, "images").iter().filter_map(|image| index(image, "bufferView")));
    found
}

/// All whole numbers in extensions and extras, except in animations, and in compressed views, whose numbers are no such
/// indices.
fn free_numbers(json: &Map<String, Value>) -> Indices {
    let mut found = HashSet::new();
    // Each with true if it lies in an extension.
    let mut stack: Vec<(&Value, bool)> = Vec::new();
    for (name, value) in json {
        match name.as_str() {
            "animations" | "bufferViews" => {}
            name => stack.push((value, is_free(name))),
        }
    }
    while let Some((value, is_inside)) = stack.pop() {
        match value {
            Value::Number(number) if is_inside => {
                found.extend(number.as_u64().and_then(|index| usize::try_from(index).ok()))
            }
            Value::Array(values) => stack.extend(values.iter().map(|value| (value, is_inside))),
            Value::Object(fields) => {
                stack.extend(fields.iter().map(|(name, value)| (value, is_inside || is_free(name))));
            }
            _ => {}
        }
    }
    found
}

fn is_free(name: &str) -> bool {
    matches!(name, "extensions" | "extras")
}

/// The alignment that all views keep.
const ALIGNMENT: usize = 16;

/// The ranges, in order, that lie in some of the freed ones, and in none of the ranges that are still needed. They
/// begin and end at multiples of 16, so that what follows stays aligned.
pub(super) fn holes(mut freed: Vec<Range<usize>>, mut needed: Vec<Range<usize>>) -> Vec<Range<usize>> {
    freed.sort_by_key(|range| range.start);
    needed.sort_by_key(|range| range.start);
    let mut holes: Vec<Range<usize>> = Vec::new();
    let mut add = |range: Range<usize>| {
        let (start, end) = (range.start.next_multiple_of(ALIGNMENT), range.end / ALIGNMENT * ALIGNMENT);
        if start < end {
            holes.push(start..end);
        }
    };
    let mut needed = needed.into_iter().peekable();
    for mut range in merged(freed) {
        // What is needed and ends before this range ends before all later ones, too.
        while let Some(next) = needed.peek() {
            if next.start >= range.end {
                break;
            }
            if next.end > range.start {
                add(range.start..next.start.max(range.start));
                range.start = next.end.min(range.end);
            }
            if next.end > range.end {
                break;
            }
            needed.next();
        }
        add(range);
    }
    holes
}

/// Ranges in order of their starts, ranges that touch as one. Ranges with padding alone between them count as touching.
fn merged(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges.into_iter().filter(|range| !range.is_empty()) {
        match merged.last_mut() {
            Some(last) if range.start <= last.end.next_multiple_of(4) => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The bytes without the holes.
pub(super) fn without(bytes: &[u8], holes: &[Range<usize>]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut start = 0;
    for hole in holes {
        kept.extend_from_slice(&bytes[start..hole.start]);
        start = hole.end;
    }
    kept.extend_from_slice(&bytes[start..]);
    kept
}

/// The place of a byte without the holes.
pub(super) fn moved(offset: usize, holes: &[Range<usize>]) -> usize {
    offset - holes.iter().take_while(|hole| hole.end <= offset).map(Range::len).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Clip, Curve, CurveEasing, Easing, Interpolation, Joint, Skeleton, Target, Timeline, Track};
    use crate::retarget::resample::KeyBudget;

    #[test]
    fn all_clips_of_a_document_share_a_budget_of_keys() {
        let mut library = Library::new();
        let joint = Joint { name: Some("hip".into()), ..Joint::default() };
        let skeleton = library.add_skeleton(Skeleton::new(None, vec![joint], Vec::new()).unwrap());
        let timeline = Arc::new(Timeline::new(vec![0.0, 1.0]).unwrap());
        let slide = Curve::new(timeline, Interpolation::Linear, 3, vec![0.0, 0.0, 0.0, 9.0, 0.0, 0.0]).unwrap();
        let slide = slide.with_easing(CurveEasing::One(Easing::QuadIn)).unwrap();
        let tracks = vec![Track::new(Target::Translation(0), slide)];
        let clip = library.add_clip(Clip::new(Some("slide".into()), skeleton, tracks)).unwrap();
        let mut document = Document::of_skeleton(&library, skeleton).unwrap();
        document.budget = KeyBudget::of(300);
        let before = document.clone();
        document.add_clip(&library, clip).unwrap();
        assert_ne!(document.json, before.json);
        let added = document.clone();
        let error = document.add_clip(&library, clip).unwrap_err().to_string();
        assert!(error.starts_with("clip slide, translation of hip: the sampled tracks need more than"), "{error}");
        assert_eq!((document.json, document.bin), (added.json, added.bin));
    }
}

#[cfg(test)]
mod holes_tests {
    use super::*;

    #[test]
    fn holes_are_what_was_freed_and_is_not_needed() {
        let ranges =
            |pairs: &[[usize; 2]]| -> Vec<Range<usize>> { pairs.iter().map(|&[start, end]| start..end).collect() };
        let cases: [[&[[usize; 2]]; 3]; 6] = [
            [&[[0, 64]], &[], &[[0, 64]]],
            [&[[8, 64], [64, 80]], &[[30, 34]], &[[48, 80]]],
            [&[[0, 64]], &[[16, 32], [20, 24]], &[[0, 16], [32, 64]]],
            [&[[0, 32], [48, 64]], &[[0, 100]], &[]],
            [&[[64, 96], [0, 32]], &[[32, 64], [90, 120]], &[[0, 32], [64, 80]]],
            // What is needed overlaps several that were freed.
            [&[[0, 16], [32, 48], [64, 80]], &[[8, 40]], &[[64, 80]]],
        ];
        for [freed, needed, expected] in cases {
            assert_eq!(holes(ranges(freed), ranges(needed)), ranges(expected), "{freed:?} {needed:?}");
        }
    }

    #[test]
    fn bytes_move_by_the_holes_before_them() {
        let bytes: Vec<u8> = (0..64).collect();
        let holes = [16..32, 48..64];
        let kept = without(&bytes, &holes);
        assert_eq!(kept.len(), 32);
        for offset in (0..16).chain(32..48) {
            assert_eq!(usize::from(kept[moved(offset, &holes)]), offset);
        }
    }
}
