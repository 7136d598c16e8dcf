//! Clips with targets by name, and their binding to the joints and properties of a skeleton.

use std::collections::HashMap;
use std::fmt;

use crate::error::Error;
use crate::model::{
    Clip, ClipId, Curve, Event, Interpolation, InterpolatorId, Library, Property, Skeleton, SkeletonId, Target, Track,
    WrapMode, no_such,
};

impl Library {
    /// Binds a clip to a skeleton, and adds the bound clip.
    ///
    /// `position`, `rotation`, `scale` and `eulerAngles` of a node move the joint at its path. Every other property
    /// becomes a property of the skeleton, named `/path:component.property`. Clips that drive the same property share
    /// it. A path begins at the roots of the skeleton. If the skeleton has a single root of another name, the path
    /// begins at the children of that root. The empty path is a single root itself.
    ///
    /// # Errors
    /// [`Error::Track`] if the curves do not fit their values, as from [`add_clip`](Self::add_clip); [`Error::Usage`]
    /// if there is no such skeleton.
    pub fn bind(
        &mut self,
        skeleton: SkeletonId,
        clip: &UnboundClip,
        properties: PropertyTracks,
    ) -> Result<Binding, Error> {
        let Some(found) = self.skeletons().get(skeleton.index()) else {
            return Err(Error::Usage(no_such("skeleton", skeleton.index(), "library", self.skeletons().len())));
        };
        let mut binder = Binder::new(self, found, properties);
        let nodes: Vec<PathNode> = (0..).zip(&clip.tracks).map(|(index, track)| binder.node(index, track)).collect();
        let later = later_tracks(clip, &nodes);
        let mut tracks = Vec::new();
        let mut bound = Vec::with_capacity(clip.tracks.len());
        for (index, track) in clip.tracks.iter().enumerate() {
            let mut targets = BoundTrack::default();
            let mut wanted = properties == PropertyTracks::All;
            match (later[index], nodes[index]) {
                _ if track.curves == UnboundCurves::Empty => binder.issue(index, track, BindingIssueKind::Empty),
                (_, PathNode::None) => {}
                (Some(by), _) => binder.issue(index, track, BindingIssueKind::Twice { by }),
                (None, PathNode::Joint(joint)) => {
                    targets.joint = binder.move_joint(index, track, joint, &mut tracks)?
                }
                (None, PathNode::Scene) => {}
            }
            wanted |= targets.joint.is_none() && later[index].is_none() && nodes[index] != PathNode::None;
            if wanted && track.curves != UnboundCurves::Empty {
                targets.property = Some(binder.fill_property(track, &mut tracks)?);
            }
            bound.push(targets);
        }
        let (found, issues) = (binder.skeleton, binder.issues);
        let new = Clip {
            name: clip.name.clone(),
            skeleton,
            tracks,
            length: Some(clip.duration),
            speed: clip.speed,
            wrap: clip.wrap,
            events: clip.events.clone(),
            root_motion: None,
            markers: Vec::new(),
        };
        let before = self.replace_skeleton(skeleton, found);
        match self.add_clip(new) {
            Ok(clip) => Ok(Binding { clip, tracks: bound, issues }),
            Err(error) => {
                self.replace_skeleton(skeleton, before);
                Err(error)
            }
        }
    }
}

/// The node at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum PathNode {
    /// No node.
    None,
    /// The scene, which is the parent of all roots.
    Scene,
    /// A joint.
    Joint(usize),
}

/// The last tracks of a clip that drive a value, of the tracks visited so far.
#[derive(Default)]
struct LastDrivers {
    /// The last track of the whole value.
    whole: Option<usize>,
    /// The last track of each single number.
    elements: HashMap<usize, usize>,
    /// The last track of any of the two kinds.
    any: Option<usize>,
}

/// Per track, the last track after it that drives the same target.
fn later_tracks(clip: &UnboundClip, nodes: &[PathNode]) -> Vec<Option<usize>> {
    let mut driven: HashMap<_, LastDrivers> = HashMap::new();
    let mut later = vec![None; nodes.len()];
    for (index, (track, node)) in clip.tracks.iter().zip(nodes).enumerate().rev() {
        let target = &track.target;
        // Without a node, the path itself identifies the target.
        let path = (*node == PathNode::None).then_some(&target.path);
        let property = match target.property.as_str() {
            "eulerAngles" if target.component.is_none() => "rotation",
            property => property,
        };
        if track.curves == UnboundCurves::Empty {
            continue;
        }
        let last = driven.entry((node, path, &target.component, property)).or_default();
        match target.element {
            None => {
                later[index] = last.any;
                last.whole.get_or_insert(index);
            }
            Some(element) => {
                later[index] = last.whole.or(last.elements.get(&element).copied());
                last.elements.entry(element).or_insert(index);
            }
        }
        last.any.get_or_insert(index);
    }
    later
}

struct Binder<'a> {
    library: &'a Library,
    skeleton: Skeleton,
    /// Per parent (`None` for the scene) and name: the first child of that name, and true if there are several.
    children: HashMap<(Option<usize>, &'a str), (usize, bool)>,
    /// The root, if there is a single one.
    root: Option<usize>,
    /// Properties that no track of this clip drives yet, by name and width.
    free: HashMap<(String, usize), usize>,
    issues: Vec<BindingIssue>,
}

impl<'a> Binder<'a> {
    fn new(library: &'a Library, skeleton: &'a Skeleton, properties: PropertyTracks) -> Self {
        let mut children = HashMap::new();
        let mut roots = Vec::new();
        for (index, joint) in skeleton.joints().iter().enumerate() {
            if let Some(name) = &joint.name {
                let child = children.entry((skeleton.parent_node(index), name.as_str()));
                child.and_modify(|(_, several)| *several = true).or_insert((index, false));
            }
            if skeleton.parent_node(index).is_none() && skeleton.node_joint(index) == index {
                roots.push(index);
            }
        }
        let mut free = HashMap::new();
        for (index, property) in skeleton.properties().iter().enumerate() {
            if properties == PropertyTracks::Bound && !property.rotation {
                free.entry((property.name.clone(), property.rest.len())).or_insert(index);
            }
        }
        let root = if let [root] = roots[..] { Some(root) } else { None };
        Self { library, skeleton: skeleton.clone(), children, root, free, issues: Vec::new() }
    }

    fn issue(&mut self, track: usize, unbound: &UnboundTrack, kind: BindingIssueKind) {
        self.issues.push(BindingIssue { track, target: unbound.target.clone(), kind });
    }

    /// Finds the node at the path of a track.
    fn node(&mut self, index: usize, track: &UnboundTrack) -> PathNode {
        let path = &track.target.path;
        let is_root = |name: &String| self.children.contains_key(&(None, name.as_str()));
        let mut parent = if path.first().is_some_and(is_root) { None } else { self.root };
        let mut ambiguous = None;
        for name in path {
            let Some(&(child, several)) = self.children.get(&(parent, name.as_str())) else {
                self.issue(index, track, BindingIssueKind::NoNode { name: name.clone() });
                return PathNode::None;
            };
            if several {
                ambiguous = ambiguous.or(Some(name.clone()));
            }
            parent = Some(child);
        }
        if let Some(name) = ambiguous {
            self.issue(index, track, BindingIssueKind::Ambiguous { name });
        }
        parent.map_or(PathNode::Scene, PathNode::Joint)
    }

    /// Adds the tracks that move a joint; `None` if the property of the track does not move joints.
    fn move_joint(
        &mut self,
        index: usize,
        track: &UnboundTrack,
        joint: usize,
        tracks: &mut Vec<Track>,
    ) -> Result<Option<Target>, Error> {
        let translated = self.skeleton.translation_joint(joint);
        let (target, moved) = match track.target.property.as_str() {
            _ if track.target.component.is_some() => return Ok(None),
            "position" => (Target::Translation(translated), translated),
            "rotation" => (Target::Rotation(joint), joint),
            "scale" => (Target::Scale(joint), joint),
            "eulerAngles" => (Target::EulerAngles(joint), joint),
            _ => return Ok(None),
        };
        if self.skeleton.joints()[moved].matrix.is_some() {
            self.issue(index, track, BindingIssueKind::Matrix);
            return Ok(None);
        }
        let rotation = matches!(target, Target::Rotation(_));
        let moving = if rotation { rotation_track(track, target)? } else { vector_tracks(track, target)? };
        if moving.is_empty() {
            self.issue(index, track, BindingIssueKind::Value);
            return Ok(None);
        }
        tracks.extend(moving);
        Ok(Some(target))
    }

    /// Adds the tracks that drive a property, which is an existing or a new one.
    fn fill_property(&mut self, track: &UnboundTrack, tracks: &mut Vec<Track>) -> Result<usize, Error> {
        let width = if track.target.element.is_some() { 1 } else { track.kind.width() };
        let name = track.target.to_string();
        let property = match self.free.remove(&(name.clone(), width)) {
            Some(property) => property,
            None => self.skeleton.add_property(Property { name, rest: self.rest(track, width), rotation: false })?,
        };
        let target = Target::Property(property);
        match &track.curves {
            UnboundCurves::Empty => {}
            UnboundCurves::Whole(curve) => tracks.push(Track::new(target, curve.clone())),
            UnboundCurves::Channels(channels) => tracks.extend(components(channels, target)),
        }
        Ok(property)
    }

    /// The rest value of a property: the value of the first key, or 0 without keys.
    fn rest(&self, track: &UnboundTrack, width: usize) -> Vec<f64> {
        let mut rest = vec![0.0; width];
        match &track.curves {
            UnboundCurves::Empty => {}
            UnboundCurves::Whole(curve) => match curve.interpolation() {
                Interpolation::Custom(id) => match self.library.interpolators().get(id.index()) {
                    Some(interpolator)
                        if interpolator.result_width() == width && interpolator.width() == curve.width() =>
                    {
                        interpolator.no_lerp(curve.value(0), &mut rest);
                    }
                    _ => {}
                },
                _ => rest.iter_mut().zip(curve.value(0)).for_each(|(to, from)| *to = *from),
            },
            UnboundCurves::Channels(channels) => {
                for (to, curve) in rest.iter_mut().zip(channels) {
                    *to = curve.as_ref().map_or(0.0, |curve| curve.value(0)[0]);
                }
            }
        }
        rest
    }
}

/// The track of the rotation of a joint; empty if the value is no rotation.
fn rotation_track(track: &UnboundTrack, target: Target) -> Result<Vec<Track>, Error> {
    let UnboundCurves::Whole(curve) = &track.curves else { return Ok(Vec::new()) };
    let cubic = curve.interpolation() == Interpolation::CubicSpline;
    let rotations = track.kind == ValueKind::Quat && track.target.element.is_none() && curve.width() == 4;
    if !rotations || (!cubic && curve.zero_key().is_some()) {
        return Ok(Vec::new());
    }
    let curve = match curve.interpolation() {
        Interpolation::Slerp => curve.with_values(Interpolation::Linear, 4, curve.values().to_vec())?,
        _ => curve.clone(),
    };
    Ok(vec![Track::new(target, curve)])
}

/// The tracks of the position, scale or angles of a joint; empty if the value is no vector and no single number of one.
fn vector_tracks(track: &UnboundTrack, target: Target) -> Result<Vec<Track>, Error> {
    Ok(match (&track.curves, track.kind, track.target.element) {
        (UnboundCurves::Whole(curve), ValueKind::Vec3, None) => vec![Track::new(target, curve.clone())],
        (UnboundCurves::Whole(curve), ValueKind::Vec2, None) => {
            let components = [0, 1].map(|component| Ok(Track::component(target, component, split(curve, component)?)));
            components.into_iter().collect::<Result<_, Error>>()?
        }
        (UnboundCurves::Whole(curve), ValueKind::Number, Some(element @ 0..3)) => {
            vec![Track::component(target, element, curve.clone())]
        }
        (UnboundCurves::Channels(channels), ValueKind::Vec2 | ValueKind::Vec3, None) => {
            components(&channels[..channels.len().min(3)], target).collect()
        }
        _ => Vec::new(),
    })
}

/// Tracks of single numbers.
fn components(channels: &[Option<Curve>], target: Target) -> impl Iterator<Item = Track> {
    let curves = channels.iter().enumerate().filter_map(|(component, curve)| Some((component, curve.clone()?)));
    curves.map(move |(component, curve)| Track::component(target, component, curve))
}

/// One number of a curve.
fn split(curve: &Curve, component: usize) -> Result<Curve, Error> {
    let values = curve.values().iter().skip(component).step_by(curve.width()).copied().collect();
    curve.with_values(curve.interpolation(), 1, values)
}

/// A clip whose targets are paths of names. [`Library::bind`](crate::Library::bind) binds it to any number of
/// skeletons.
#[derive(Debug, Clone, PartialEq)]
pub struct UnboundClip {
    /// The name of the clip, if it has one.
    pub name: Option<String>,
    /// The duration in seconds.
    pub duration: f64,
    /// The default rate: seconds of the clip per second of play.
    pub speed: f64,
    /// The default behaviour at the ends.
    pub wrap: WrapMode,
    /// The events, ordered by time.
    pub events: Vec<Event>,
    /// The tracks.
    pub tracks: Vec<UnboundTrack>,
}

/// A target by name, and the curves that drive it.
#[derive(Debug, Clone, PartialEq)]
pub struct UnboundTrack {
    /// The driven target.
    pub target: TargetPath,
    /// The kind of its value.
    pub kind: ValueKind,
    /// The values over time.
    pub curves: UnboundCurves,
}

/// A target by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TargetPath {
    /// Names from the root down, each selecting the first child of that name. The empty path is the root itself.
    pub path: Vec<String>,
    /// A component of the node, such as `cc.Sprite`; `None` for the node itself.
    pub component: Option<String>,
    /// The name of the property. `position`, `rotation`, `scale` and `eulerAngles` of a node move a joint.
    pub property: String,
    /// The index of the driven number of the property: 0 for x, r or width, and so on. `None` for the whole property.
    pub element: Option<usize>,
}

impl fmt::Display for TargetPath {
    /// `/path/of/names:component.property.element`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "/{}:", self.path.join("/"))?;
        if let Some(component) = &self.component {
            write!(out, "{component}.")?;
        }
        write!(out, "{}", self.property)?;
        self.element.map_or(Ok(()), |element| write!(out, ".{element}"))
    }
}

/// Curves of an unbound track.
#[derive(Debug, Clone, PartialEq)]
pub enum UnboundCurves {
    /// No curve: the track drives nothing.
    Empty,
    /// One curve, as wide as the value.
    Whole(Curve),
    /// One optional curve per number of the value, each 1 wide. A number without a curve keeps its value.
    Channels(Vec<Option<Curve>>),
}

/// The kind of a value, which gives its numbers their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// A number.
    Number,
    /// x and y.
    Vec2,
    /// x, y and z.
    Vec3,
    /// x, y, z and w.
    Vec4,
    /// A quaternion xyzw.
    Quat,
    /// Red, green, blue and alpha from 0 to 255, unrounded; see [`color_bytes`].
    Color,
    /// Width and height.
    Size,
    /// x, y, width and height.
    Rect,
    /// The index of the key whose value holds, for values that do not interpolate.
    Held,
    /// The result of an interpolator.
    Custom {
        /// The interpolator.
        interpolator: InterpolatorId,
        /// The number of numbers of the result.
        width: usize,
    },
}

impl ValueKind {
    /// The number of numbers of a value.
    pub fn width(self) -> usize {
        match self {
            Self::Number | Self::Held => 1,
            Self::Vec2 | Self::Size => 2,
            Self::Vec3 => 3,
            Self::Vec4 | Self::Quat | Self::Color | Self::Rect => 4,
            Self::Custom { width, .. } => width,
        }
    }
}

/// Converts an unrounded colour to bytes: clamps each number to 0 and 255, then truncates it, as Cocos Creator did
/// before release 1.0. NaN becomes 0.
pub fn color_bytes(color: [f64; 4]) -> [u8; 4] {
    color.map(|channel| channel.clamp(0.0, 255.0) as u8)
}

/// The selection of the tracks that get a property of the skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PropertyTracks {
    /// Tracks of nodes that the skeleton has, unless they move a joint.
    #[default]
    Bound,
    /// All tracks, including tracks that move a joint and tracks without a node. Each curve's value is then in the
    /// results.
    All,
}

/// A bound clip, and the result for each of its tracks.
#[derive(Debug, Clone, PartialEq)]
pub struct Binding {
    /// The clip that was added.
    pub clip: ClipId,
    /// The targets of each track, in the order of the unbound clip.
    pub tracks: Vec<BoundTrack>,
    /// Tracks that did not bind, or that bound in an unexpected way.
    pub issues: Vec<BindingIssue>,
}

/// The targets of a bound track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BoundTrack {
    /// The part of a joint that the track moves.
    pub joint: Option<Target>,
    /// The property of the skeleton that holds its value.
    pub property: Option<usize>,
}

/// A remark on the binding of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindingIssue {
    /// Index of the track in the unbound clip.
    pub track: usize,
    /// The target of the track.
    pub target: TargetPath,
    /// The kind of the remark.
    pub kind: BindingIssueKind,
}

/// The kinds of remarks on the binding of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BindingIssueKind {
    /// No node has the path. The track drives nothing.
    NoNode {
        /// The first name that was not found.
        name: String,
    },
    /// Several nodes have the path. The track drives the first.
    Ambiguous {
        /// The name that several children of one node have.
        name: String,
    },
    /// A later track drives the same target and replaces this one.
    Twice {
        /// Index of the later track.
        by: usize,
    },
    /// The node is given by a matrix, which cannot be animated.
    Matrix,
    /// The value has a kind that no joint takes. It becomes a property only.
    Value,
    /// The track has no keys and drives nothing.
    Empty,
}

impl fmt::Display for BindingIssue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = &self.target;
        match &self.kind {
            BindingIssueKind::NoNode { name } => write!(out, "{target}: there is no node {name:?}; nothing is driven"),
            BindingIssueKind::Ambiguous { name } => {
                write!(out, "{target}: several nodes are called {name:?}; the first is driven")
            }
            BindingIssueKind::Twice { by } => {
                write!(out, "{target}: track {by} drives the same target and replaces this track")
            }
            BindingIssueKind::Matrix => {
                write!(out, "{target}: the node is given by a matrix, which cannot be animated")
            }
            BindingIssueKind::Value => {
                write!(out, "{target}: a value of this kind cannot move a node; it becomes a property only")
            }
            BindingIssueKind::Empty => write!(out, "{target}: it has no keys; nothing is driven"),
        }
    }
}
