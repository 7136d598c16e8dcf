//! The arrays of a skeleton: names, shapes, the numbers of a pose that each of them holds, and their space.

use std::collections::HashMap;
use std::f64::consts::FRAC_1_SQRT_2;
use std::ops::Range;

use glam::DQuat;

use crate::bake::rotation::RotationChain;
use crate::bake::{ArrayKind, ArrayRequest, QuaternionOrder, UpAxis};
use crate::error::Error;
use crate::model::{Library, Outputs, Skeleton, SkeletonId, consecutive_ranges, is_usable, list_names, no_such};
use crate::pack::{NUMBERS, OutputCounts, OutputLayout};
use crate::retarget::body::Foot;

/// The name and the shape of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayShape {
    /// The name: the name of the kind, and the index of the skin if there are several, for example `skin_1`.
    pub name: String,
    /// The kind.
    pub kind: ArrayKind,
    /// The lengths of the axes after the axis of moments, for example joints and 3.
    pub shape: Vec<usize>,
}

impl ArrayShape {
    /// The numbers per moment: the product of the shape.
    pub fn width(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The arrays of a skeleton for a request.
///
/// The module [`bake`](crate::bake) has an example.
#[derive(Debug, Clone)]
pub struct ArrayLayout {
    pub(super) skeleton: SkeletonId,
    arrays: Vec<ArrayShape>,
    joints: Vec<usize>,
    parents: Vec<Option<usize>>,
    feet: Vec<Foot>,
    /// The joint with the translation of each joint.
    pub(super) translations: Vec<usize>,
    /// True for joints that are roots of the skeleton.
    pub(super) roots: Vec<bool>,
    /// The rotation of the first joint in model space at rest.
    pub(super) rest_rotation: DQuat,
    pub(super) space: ResultSpace,
    pub(super) chain: RotationChain,
    /// The matrices of each skin among the matrices of all skins.
    pub(super) skins: Vec<Range<usize>>,
    /// The weights of a pose in the order of the nodes, or the selected ones.
    pub(super) weights: Vec<usize>,
    /// Their names, if there is an array of them.
    weight_names: Vec<String>,
    /// The outputs that an engine evaluates.
    pub(super) outputs: Outputs,
    pub(super) numbers: OutputLayout,
}

impl ArrayLayout {
    /// The arrays of a skeleton of a library.
    ///
    /// `nodes` has the joint of each node in the order of the file, as
    /// [`gltf::Asset::joints`](crate::import::gltf::Asset); it is the order of the morph weights. A skeleton without
    /// skins has no arrays of kind [`ArrayKind::Skin`]. Arrays of kind [`ArrayKind::Contact`] have no numbers if no
    /// feet are known.
    ///
    /// # Errors
    /// [`Error::Usage`] if a joint or node does not exist, a joint is listed twice, the root is wanted without joints,
    /// or the scale is not a finite number above 0.
    pub fn new(
        library: &Library,
        skeleton: SkeletonId,
        nodes: &[usize],
        request: &ArrayRequest,
    ) -> Result<Self, Error> {
        let model = library.skeletons().get(skeleton.index());
        let missing = || Error::Usage(no_such("skeleton", skeleton.index(), "library", library.skeletons().len()));
        let model = model.ok_or_else(missing)?;
        check(model, nodes, request)?;
        let joints = request.joints.clone();
        let translations = translations(model, &joints);
        let skins = consecutive_ranges(library.skins_of(skeleton).map(|(_, skin)| skin.joints.len()));
        let weight_ranges = model.weight_ranges();
        let weights: Vec<usize> = nodes.iter().flat_map(|&node| weight_ranges[node].clone()).collect();
        let has_weights = request.kinds.contains(&ArrayKind::Weights);
        let named = nodes
            .iter()
            .filter(|_| has_weights)
            .flat_map(|&node| (0..model.joints()[node].weights.len()).map(move |index| model.weight_name(node, index)));
        let has_rotations = |kind: &ArrayKind| {
            use ArrayKind::*;
            matches!(kind, Quat | Angvel | Root | Rot6d | RootMotion)
        };
        let rotated = if request.kinds.iter().any(has_rotations) { joints.as_slice() } else { &[] };
        let outputs = outputs(&request.kinds);
        let counts = OutputCounts {
            joints: model.joints().len(),
            skin_joints: skins.last().map_or(0, |last| last.end),
            weights: model.weight_count(),
            property_width: model.property_width(),
        };
        let has_contacts = request.kinds.contains(&ArrayKind::Contact);
        let feet = if has_contacts { Foot::of_skeleton(library, skeleton) } else { Vec::new() };
        let widths = [weights.len(), counts.property_width, feet.len()];
        Ok(Self {
            skeleton,
            arrays: arrays(&request.kinds, joints.len(), &skins, widths),
            feet,
            parents: parents(model, &joints),
            roots: translations.iter().map(|&joint| model.joints()[joint].parent.is_none()).collect(),
            translations,
            rest_rotation: joints.first().map_or(DQuat::IDENTITY, |&first| rest_rotation(model, first)),
            space: ResultSpace { up: request.up, scale: request.scale, order: request.quaternions },
            chain: RotationChain::new(model, rotated),
            numbers: OutputLayout::new(counts, outputs),
            joints,
            skins,
            weights,
            weight_names: named.collect(),
            outputs,
        })
    }

    /// The same arrays with some of the morph weights alone, in this order. A weight is named by its morph target
    /// (`smile`), which selects it on all joints that have it, or by joint and morph target (`Face.smile`).
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no array of morph weights, no weight has one of the names, or two names select the
    /// same weight.
    pub fn with_weights(mut self, library: &Library, names: &[impl AsRef<str>]) -> Result<Self, Error> {
        let Some(array) = self.arrays.iter_mut().find(|array| array.kind == ArrayKind::Weights) else {
            return Err(Error::Usage("morph weights are selected, but there is no array of them".into()));
        };
        let skeleton = library.skeleton(self.skeleton);
        let joints = skeleton.weight_ranges().into_iter().zip(skeleton.joints());
        let mut morphs = vec![None; skeleton.weight_count()];
        for (range, joint) in joints {
            range.enumerate().for_each(|(index, weight)| morphs[weight] = joint.morph_name(index));
        }
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, (name, &weight)) in self.weight_names.iter().zip(&self.weights).enumerate() {
            let name = name.as_str();
            let morph = morphs[weight].filter(|morph| *morph != name);
            std::iter::once(name).chain(morph).for_each(|name| places.entry(name).or_default().push(place));
        }
        let mut selected = Vec::with_capacity(names.len());
        for name in names.iter().map(AsRef::as_ref) {
            let Some(found) = places.get(name) else {
                let known = list_names(&self.weight_names);
                return Err(Error::Usage(format!("there is no morph target {name:?}; there are: {known}")));
            };
            selected.extend_from_slice(found);
        }
        let mut is_selected = vec![false; self.weights.len()];
        if let Some(&place) = selected.iter().find(|&&place| std::mem::replace(&mut is_selected[place], true)) {
            let name = &self.weight_names[place];
            return Err(Error::Usage(format!("two names select the morph weight {name}; name it once")));
        }
        array.shape = vec![selected.len()];
        self.weights = selected.iter().map(|&place| self.weights[place]).collect();
        self.weight_names = selected.iter().map(|&place| self.weight_names[place].clone()).collect();
        Ok(self)
    }

    /// The arrays, in the order of the request.
    pub fn arrays(&self) -> &[ArrayShape] {
        &self.arrays
    }

    /// The joints of the arrays per joint, as indices into the skeleton.
    pub fn joints(&self) -> &[usize] {
        &self.joints
    }

    /// For each of the [`joints`](Self::joints) its nearest ancestor among them, as an index into them.
    pub fn parents(&self) -> &[Option<usize>] {
        &self.parents
    }

    /// The names of the morph weights of an array of kind [`ArrayKind::Weights`], such as `Face.smile`, in its order.
    /// Empty without such an array.
    pub fn weight_names(&self) -> &[String] {
        &self.weight_names
    }

    /// The feet of arrays of kind [`ArrayKind::Contact`], the left one first. Empty without such an array, and for
    /// skeletons without known feet.
    pub fn feet(&self) -> &[Foot] {
        &self.feet
    }

    /// The outputs that the arrays need of a pose, for [`sample_poses`](Self::sample_poses).
    pub fn outputs(&self) -> Outputs {
        self.outputs
    }

    /// Returns `true` if an array holds velocities.
    pub fn has_velocities(&self) -> bool {
        self.arrays.iter().any(|array| array.kind.is_velocity())
    }
}

/// Checks that a request fits a skeleton.
fn check(skeleton: &Skeleton, nodes: &[usize], request: &ArrayRequest) -> Result<(), Error> {
    let error = |reason: String| Err(Error::Usage(reason));
    let count = skeleton.joints().len();
    if let Some(&joint) = request.joints.iter().chain(nodes).find(|&&joint| joint >= count) {
        return error(no_such("joint", joint, "skeleton", count));
    }
    let mut listed = vec![false; count];
    if let Some(&joint) = request.joints.iter().find(|&&joint| std::mem::replace(&mut listed[joint], true)) {
        let name = skeleton.joints()[joint].name.as_deref().unwrap_or("unnamed");
        return error(format!("joint {joint} ({name}) is listed twice; list each joint once"));
    }
    let of_first = |kind: &&ArrayKind| matches!(kind, ArrayKind::Root | ArrayKind::RootMotion);
    if let Some(kind) = request.kinds.iter().find(of_first).filter(|_| request.joints.is_empty()) {
        return error(format!("the array {kind} holds the first joint, but no joint is listed; list a joint"));
    }
    if !(request.scale > 0.0 && is_usable(request.scale)) {
        return error(format!("the scale is {}; expected a finite number above 0", request.scale));
    }
    Ok(())
}

/// The outputs of an engine that these kinds need.
fn outputs(kinds: &[ArrayKind]) -> Outputs {
    use ArrayKind::*;
    let wants = |needed: &[ArrayKind]| kinds.iter().any(|kind| needed.contains(kind));
    Outputs {
        local: wants(&[Quat, Angvel, LocalPos, LocalQuat, LocalScale, Root, Rot6d, LocalRot6d, RootMotion]),
        model: wants(&[Pos, Linvel, Root, RootMotion]),
        skin: wants(&[Skin]),
        weights: wants(&[Weights]),
        properties: wants(&[Properties]),
        ..Outputs::NONE
    }
}

/// The shapes of the arrays. `widths` has the numbers of weights, properties and feet.
fn arrays(kinds: &[ArrayKind], joints: usize, skins: &[Range<usize>], widths: [usize; 3]) -> Vec<ArrayShape> {
    let mut arrays: Vec<ArrayShape> = Vec::new();
    for &kind in kinds {
        if arrays.iter().any(|array| array.kind == kind) {
            continue;
        }
        let mut push = |name: String, shape: Vec<usize>| arrays.push(ArrayShape { name, kind, shape });
        let name = kind.name().to_owned();
        match kind {
            ArrayKind::Quat | ArrayKind::LocalQuat => push(name, vec![joints, 4]),
            ArrayKind::Skin if skins.len() == 1 => push(name, vec![skins[0].len(), 4, 4]),
            ArrayKind::Skin => {
                for (index, skin) in skins.iter().enumerate() {
                    push(format!("{name}_{index}"), vec![skin.len(), 4, 4]);
                }
            }
            ArrayKind::Weights => push(name, vec![widths[0]]),
            ArrayKind::Properties => push(name, vec![widths[1]]),
            ArrayKind::Root | ArrayKind::RootMotion => push(name, vec![7]),
            ArrayKind::Rot6d | ArrayKind::LocalRot6d => push(name, vec![joints, 6]),
            ArrayKind::Contact => push(name, vec![widths[2]]),
            ArrayKind::Pos | ArrayKind::Linvel | ArrayKind::Angvel | ArrayKind::LocalPos | ArrayKind::LocalScale => {
                push(name, vec![joints, 3])
            }
        }
    }
    arrays
}

/// For each joint the joint with its translation: itself, or the joint above that carries it and is not among the
/// joints.
fn translations(skeleton: &Skeleton, joints: &[usize]) -> Vec<usize> {
    let mut is_listed = vec![false; skeleton.joints().len()];
    joints.iter().for_each(|&joint| is_listed[joint] = true);
    let of_joint = |&joint: &usize| match skeleton.translation_joint(joint) {
        carrier if is_listed[carrier] => joint,
        carrier => carrier,
    };
    joints.iter().map(of_joint).collect()
}

/// The rotation of a joint in model space at rest: the product of the local rotations from the root to the joint.
fn rest_rotation(skeleton: &Skeleton, joint: usize) -> DQuat {
    let local = |joint: usize| skeleton.joints()[joint].rest.rotation;
    skeleton.ancestors(joint).fold(local(joint), |below, joint| (local(joint) * below).normalize())
}

/// For each joint its nearest ancestor among the joints.
fn parents(skeleton: &Skeleton, joints: &[usize]) -> Vec<Option<usize>> {
    let mut index = vec![None; skeleton.joints().len()];
    joints.iter().enumerate().for_each(|(position, &joint)| index[joint] = Some(position));
    let nearest = |&joint: &usize| skeleton.ancestors(joint).find_map(|ancestor| index[ancestor]);
    joints.iter().map(nearest).collect()
}

/// The space of results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResultSpace {
    pub up: UpAxis,
    pub scale: f64,
    pub order: QuaternionOrder,
}

impl ResultSpace {
    /// A direction or an angular velocity: turned.
    #[inline(always)]
    pub fn turn(&self, vector: [f64; 3]) -> [f64; 3] {
        self.up.turn(vector)
    }

    /// A length along each axis: scaled.
    #[inline(always)]
    pub fn scale(&self, vector: [f64; 3]) -> [f64; 3] {
        vector.map(|number| number * self.scale)
    }

    /// A point or a velocity: turned and scaled.
    #[inline(always)]
    pub fn point(&self, point: [f64; 3]) -> [f64; 3] {
        self.scale(self.turn(point))
    }

    /// A rotation: turned by +90 degrees about +X from +Y up to +Z up.
    #[inline(always)]
    pub fn rotation(&self, rotation: [f64; 4]) -> [f64; 4] {
        let [x, y, z, w] = rotation;
        match self.up {
            UpAxis::Y => rotation,
            // The product of the quaternion (sqrt(1/2), 0, 0, sqrt(1/2)) and the rotation.
            UpAxis::Z => [x + w, y - z, y + z, w - x].map(|number| number * FRAC_1_SQRT_2),
        }
    }

    /// The numbers of a quaternion xyzw in the order of results.
    #[inline(always)]
    pub fn ordered(&self, rotation: [f64; 4]) -> [f32; 4] {
        let [x, y, z, w] = rotation.map(|number| number as f32);
        match self.order {
            QuaternionOrder::Xyzw => [x, y, z, w],
            QuaternionOrder::Wxyz => [w, x, y, z],
        }
    }

    /// The four rows of a matrix that is given by three: turned and scaled after the matrix.
    pub fn matrix(&self, rows: &[f32; NUMBERS]) -> [f32; 16] {
        let row = |row: usize, sign: f64| -> [f32; 4] {
            std::array::from_fn(|column| (sign * self.scale * f64::from(rows[4 * row + column])) as f32)
        };
        let rows = match self.up {
            UpAxis::Y => [row(0, 1.0), row(1, 1.0), row(2, 1.0)],
            UpAxis::Z => [row(0, 1.0), row(2, -1.0), row(1, 1.0)],
        };
        let mut numbers = [0.0; 16];
        numbers[..NUMBERS].copy_from_slice(rows.as_flattened());
        numbers[15] = 1.0;
        numbers
    }
}
