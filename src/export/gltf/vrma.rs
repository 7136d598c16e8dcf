//! VRM animations: a glTF file of the bones of a human, with the extension `VRMC_vrm_animation` 1.0, which plays on
//! every VRM model.
//!
//! Source: <https://github.com/vrm-c/vrm-specification/tree/master/specification/VRMC_vrm_animation-1.0>. The nodes of
//! human bones stand in the T-pose of VRM when nothing animates them, and face +Z. Of an animation, the rotations
//! count, and the translation of the hips; scales and other translations are not allowed. The eyes must not be bones.
//! The translation of a node without a parent along x is the weight of an expression: see `face`.
//!
//! So the file has a skeleton of its own: the human bones alone, without rotations at rest (`zero_pose`), in the
//! T-pose. The rest pose of a VRM file is a T-pose. The rest pose of another skeleton is made one: it is rotated
//! upright and to the front, and arms and legs that point elsewhere are stretched, with the bones below them. Rotations
//! of other joints between two bones go into the lower bone.
//!
//! Players scale the translation of the hips by the height of the hips, or of the upper legs, in the T-pose. So the
//! T-pose stands on the ground at the origin, also where the rest pose has its hips there, as in many BVH files.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use glam::{DQuat, DVec3};
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::export::gltf::Document;
use crate::export::gltf::face::{Face, is_preset};
use crate::export::zero_pose::{FramedClip, Placed, ZeroPose, place, place_at_rest};
use crate::model::{
    Clip, ClipId, Curve, Expression, HumanBone, Interpolation, Joint, Library, Skeleton, SkeletonId, Target, Timeline,
    Track, Transform, no_such,
};
use crate::retarget::alignment::heading;
use crate::retarget::body::{Body, Figure};
use crate::retarget::joint_map::are_joints;
use crate::retarget::motion::upright_axis;
use crate::retarget::resample::KeyBudget;

/// The extension.
const NAME: &str = "VRMC_vrm_animation";

/// The bones that every human of VRM 1.0 has.
const REQUIRED: [&str; 15] = [
    "hips",
    "spine",
    "head",
    "leftUpperLeg",
    "leftLowerLeg",
    "leftFoot",
    "rightUpperLeg",
    "rightLowerLeg",
    "rightFoot",
    "leftUpperArm",
    "leftLowerArm",
    "leftHand",
    "rightUpperArm",
    "rightLowerArm",
    "rightHand",
];

/// The roles of eyes, which the extension animates by a point to look at.
const EYES: [&str; 2] = ["leftEye", "rightEye"];

/// The bones of limbs that are stretched in the T-pose: each, the next one, and the direction of the left side.
const STRETCHED: [([&str; 2], DVec3); 4] = [
    (["UpperArm", "LowerArm"], DVec3::X),
    (["LowerArm", "Hand"], DVec3::X),
    (["UpperLeg", "LowerLeg"], DVec3::NEG_Y),
    (["LowerLeg", "Foot"], DVec3::NEG_Y),
];

/// The joints below limbs that keep their rotations when limbs are stretched.
const KEPT: [&str; 2] = ["leftFoot", "rightFoot"];

/// The largest angle in radians between a limb of a T-pose and its direction. Limbs within it stay as they are.
const MAX_SLANT: f64 = 0.2;

/// The largest distance of the hips of a T-pose from their place above the origin, as a share of their height above the
/// lowest bone. Hips within it stay where they are: the lowest bone is above the sole of a shoe.
const MAX_OFF_GROUND: f64 = 0.3;

/// Hips above this height in metres belong to a file in other units.
const MAX_HIPS: f64 = 10.0;

/// The largest change of a bone's length that counts as rounding, as a share of the size of the skeleton.
const MAX_STILL: f64 = 1e-4;

/// The bones and the expressions of a human as a VRM animation has them, and poses of them.
#[derive(Debug, Clone)]
pub struct VrmAnimation<'a> {
    source: &'a Skeleton,
    skeleton: Skeleton,
    zero: ZeroPose,
    /// The rotation upright and to the front.
    upright: DQuat,
    /// The bone of `zero` that is the hips.
    hips: usize,
    /// The first joint whose translation was left out.
    stretched: Option<usize>,
    face: Face<'a>,
    before: Vec<DQuat>,
    placed: Vec<Placed>,
    local: Vec<Placed>,
}

impl<'a> VrmAnimation<'a> {
    /// The bones of a skeleton with the roles that its file declares, or those by the names of its joints.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such skeleton, it lacks bones that VRM 1.0 requires, a bone is not below the
    /// hips, or its rest pose does not stand upright.
    pub fn new(library: &'a Library, skeleton: SkeletonId) -> Result<Self, Error> {
        let Some(source) = library.skeletons().get(skeleton.index()) else {
            return Err(Error::Usage(no_such("skeleton", skeleton.index(), "library", library.skeletons().len())));
        };
        let body = Body::new(source, &are_joints(library, skeleton));
        let missing: Vec<&str> = REQUIRED.into_iter().filter(|role| body.joint(role).is_none()).collect();
        if !missing.is_empty() {
            return Err(Error::Usage(format!(
                "a VRM animation needs the bones of a human; {} {} not known. Retarget the clip to a VRM model first",
                missing.join(", "),
                if missing.len() == 1 { "is" } else { "are" }
            )));
        }
        let rest = place_at_rest(source);
        let upright = upright(&body, &rest)?;
        let stretch = source.human_bones().is_empty();
        let pose = t_pose(source, &body, &rest, upright, stretch);
        let mut bones = body.human_bones();
        bones.retain(|bone| !EYES.contains(&bone.role.as_str()));
        let mut is_kept = vec![false; source.joints().len()];
        bones.iter().for_each(|bone| is_kept[bone.joint] = true);
        let mut zero = ZeroPose::new(source, &is_kept, &pose);
        let index: HashMap<usize, usize> = zero.joints.iter().copied().zip(0..).collect();
        let hips = body.joint("hips").and_then(|hips| index.get(&hips)).copied().unwrap_or_default();
        let is_apart = |&index: &usize| index != hips && zero.parents[index].is_none();
        if let Some(apart) = (0..zero.joints.len()).find(is_apart) {
            let [apart, hips] = [apart, hips].map(|index| source.joint_name(zero.joints[index]));
            return Err(Error::Usage(format!(
                "a VRM animation needs all bones below the hips, and {apart} is not below {hips}; retarget the clip to \
                 a VRM model first"
            )));
        }
        stand_on_ground(&mut zero, hips, &pose);
        let joints = zero.joints.iter().zip(&zero.parents).zip(&zero.offsets);
        let joint = |((&joint, &parent), &translation): ((&usize, &Option<usize>), &DVec3)| Joint {
            name: source.joints()[joint].name.clone(),
            parent,
            rest: Transform { translation, ..Transform::IDENTITY },
            ..Joint::default()
        };
        let mut joints: Vec<Joint> = joints.map(joint).collect();
        let face = Face::new(source);
        let mut expressions = Vec::with_capacity(face.expressions().len());
        for expression in face.expressions() {
            let name = expression.name.to_owned();
            expressions.push(Expression { name: name.clone(), driver: Some(joints.len()), ..Expression::default() });
            joints.push(Joint { name: Some(name), ..Joint::default() });
        }
        let bones = bones
            .into_iter()
            .filter_map(|HumanBone { role, joint }| Some(HumanBone { role, joint: *index.get(&joint)? }));
        let skeleton = Skeleton::new(source.name().map(str::to_owned), joints, Vec::new())?;
        let skeleton = skeleton.with_human_bones(bones.collect())?.with_expressions(expressions)?;
        let before = vec![DQuat::IDENTITY; zero.joints.len()];
        let (placed, local) = (Vec::new(), Vec::new());
        Ok(Self { source, skeleton, zero, upright, hips, stretched: None, face, before, placed, local })
    }

    /// The skeleton of the file: the bones in T-pose, with their roles, then a joint per expression of the source. Its
    /// translation along x is the weight.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The joints of the skeleton that the file needs: the bones, and the joints of expressions that had a weight in a
    /// pose.
    pub fn nodes(&self) -> Vec<usize> {
        let bones = self.zero.joints.len();
        let used = self.face.expressions().iter().enumerate().filter(|(_, expression)| expression.is_used);
        (0..bones).chain(used.map(|(at, _)| bones + at)).collect()
    }

    /// The pose of the bones and expressions that is a pose of the source. `local` has the local transforms of all
    /// joints of the source, `morphs` its morph weights as in [`Pose::weights`](crate::Pose::weights); weights that are
    /// missing are at rest. `pose` gets the local transforms of [`skeleton`](Self::skeleton). Rotations are in the
    /// hemisphere of the call before.
    pub fn pose(&mut self, local: &[Transform], morphs: &[f64], pose: &mut Vec<Transform>) {
        self.face.look(local, morphs);
        place(self.source, local, &mut self.placed);
        for placed in &mut self.placed {
            let Placed { place, rotation } = *placed;
            *placed = Placed { place: self.upright * place, rotation: self.upright * rotation };
        }
        self.zero.local(&self.placed, &mut self.local);
        let most = MAX_STILL * self.zero.size();
        pose.clear();
        for (index, &Placed { place, rotation }) in self.local.iter().enumerate() {
            let rest = self.zero.offsets[index];
            if index != self.hips && self.stretched.is_none() && place.distance(rest) > most {
                self.stretched = Some(self.zero.joints[index]);
            }
            let rotation = if rotation.dot(self.before[index]) < 0.0 { -rotation } else { rotation };
            self.before[index] = rotation;
            let translation = if index == self.hips { place } else { rest };
            pose.push(Transform { translation, rotation, ..Transform::IDENTITY });
        }
        let weights = self.face.expressions().iter().map(|expression| expression.weight);
        pose.extend(weights.map(|weight| Transform { translation: DVec3::X * weight, ..Transform::IDENTITY }));
    }

    /// Notes on what the file does not hold, and on its units.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(joint) = self.stretched {
            let name = self.source.joint_name(joint);
            notes.push(format!(
                "VRM animations move the hips only; other bones that move, such as {name}, keep their place"
            ));
        }
        notes.extend(self.face.note());
        let height = self.zero.offsets[self.hips].y;
        if height > MAX_HIPS {
            notes.push(format!(
                "the hips rest {height:.0} m high; VRM has metres, and the file is probably in centimetres"
            ));
        }
        notes
    }

    /// A document of a clip of a human at a frame rate, with notes on what it does not hold.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new), and [`Error::Usage`] if there is no such clip, or the bones and expressions
    /// have more than 8 keys per key of the clip and 2^22 more; [`Error::Limit`] for too many frames.
    ///
    /// # Examples
    /// ```
    /// use posse::export::gltf::VrmAnimation;
    /// use posse::{Library, demo, import};
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let library = demo::library()?;
    /// let walk = library.find_clip("walk").expect("the demo walks");
    /// let (document, _notes) = VrmAnimation::document(&library, walk, 30.0)?;
    ///
    /// let mut other = Library::new();
    /// let asset = import::gltf::from_slice(&mut other, "walk.vrma".as_ref(), &document.to_glb()?, None)?;
    /// assert!(other.skeleton(asset.skeleton).human_bones().iter().any(|bone| bone.role == "leftHand"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn document(library: &'a Library, clip: ClipId, fps: f64) -> Result<(Document, Vec<String>), Error> {
        let framed = FramedClip::new(library, clip, fps)?;
        let found = library.clip(clip);
        let mut animation = Self::new(library, found.skeleton)?;
        let mut made = Library::new();
        let skeleton = made.add_skeleton(animation.skeleton.clone());
        let (mut local, mut pose) = (Vec::new(), Vec::new());
        let bones = animation.zero.joints.len();
        // A clip of few keys may be so long that its frames are out of proportion to it.
        let frames = usize::try_from(framed.grid.len()).unwrap_or(usize::MAX);
        let mut budget = KeyBudget::new();
        budget.add_clip(found);
        budget.charge(frames.saturating_mul(bones + 1))?;
        let mut rotations = vec![Vec::new(); bones];
        let mut places: Vec<f64> = Vec::new();
        // The keys of each expression, from its first weight on.
        let mut weights: Vec<Vec<f64>> = vec![Vec::new(); animation.face.expressions().len()];
        for frame in 0..frames {
            framed.local(frame as u64, &mut local);
            animation.pose(&local, &framed.morphs(frame as u64), &mut pose);
            for (keys, transform) in rotations.iter_mut().zip(&pose) {
                keys.extend(transform.rotation.to_array());
            }
            places.extend(pose[animation.hips].translation.to_array());
            for (keys, expression) in weights.iter_mut().zip(animation.face.expressions()) {
                if expression.is_used && keys.is_empty() {
                    budget.charge(frames)?;
                    keys.resize(3 * frame, 0.0);
                }
                if expression.is_used {
                    keys.extend([expression.weight, 0.0, 0.0]);
                }
            }
        }
        let times = (0..framed.grid.len()).map(|frame| framed.grid.time(frame)).collect();
        let timeline = Arc::new(Timeline::new(times)?);
        let curve = |width: usize, keys: Vec<f64>| Curve::new(timeline.clone(), Interpolation::Linear, width, keys);
        let mut tracks = vec![Track::new(Target::Translation(animation.hips), curve(3, places)?)];
        for (joint, keys) in (bones..).zip(weights).filter(|(_, keys)| !keys.is_empty()) {
            tracks.push(Track::new(Target::Translation(joint), curve(3, keys)?));
        }
        for (joint, keys) in rotations.into_iter().enumerate() {
            tracks.push(Track::new(Target::Rotation(joint), curve(4, keys)?));
        }
        let clip = made.add_clip(Clip::new(found.name.clone(), skeleton, tracks))?;
        let nodes = animation.nodes();
        let mut document = Document::of_nodes(&made, skeleton, &nodes);
        document.declare_vrm_animation(made.skeleton(skeleton), &nodes);
        let mut notes = document.add_clip(&made, clip)?;
        notes.extend(animation.notes());
        Ok((document, notes))
    }
}

impl Document {
    /// Declares the file to be a VRM animation of the bones and expressions of a skeleton, of which it has these
    /// joints.
    pub(super) fn declare_vrm_animation(&mut self, skeleton: &Skeleton, joints: &[usize]) {
        let bone = |bone: &HumanBone| (bone.role.clone(), json!({ "node": self.nodes[bone.joint] }));
        let bones: Map<String, Value> = skeleton.human_bones().iter().map(bone).collect();
        let mut extension = json!({ "specVersion": "1.0", "humanoid": { "humanBones": bones } });
        let joints: HashSet<usize> = joints.iter().copied().collect();
        for Expression { name, driver, .. } in skeleton.expressions() {
            if let Some(driver) = driver.filter(|driver| joints.contains(driver)) {
                let group = if is_preset(name) { "preset" } else { "custom" };
                extension["expressions"][group][name] = json!({ "node": self.nodes[driver] });
            }
        }
        self.json.insert("extensionsUsed".into(), json!([NAME]));
        self.json.insert("extensions".into(), json!({ NAME: extension }));
    }
}

/// The rotation of model space that makes a body in its rest pose stand along +Y and face +Z.
fn upright(body: &Body, rest: &[Placed]) -> Result<DQuat, Error> {
    let figure = Figure { body, places: rest.iter().map(|placed| placed.place).collect() };
    let up = figure.standing().and_then(upright_axis);
    let (Some(up), Some(directions)) = (up, figure.directions()) else {
        return Err(Error::Usage(
            "the rest pose does not stand upright, so that no T-pose follows from it, as a VRM animation needs it; retarget \
             the clip to a VRM model first"
                .into(),
        ));
    };
    // Exact quarters stay exact.
    let onto_y = DQuat::from_rotation_arc(up, DVec3::Y);
    let degrees = heading(onto_y * directions.z_axis, DVec3::Z, DVec3::Y);
    Ok(DQuat::from_rotation_y(degrees.to_radians()) * onto_y)
}

/// The T-pose in model space: the rest pose rotated upright, with arms and legs stretched if `stretch` is true.
fn t_pose(source: &Skeleton, body: &Body, rest: &[Placed], upright: DQuat, stretch: bool) -> Vec<Placed> {
    let mut corrections: HashMap<usize, DQuat> = HashMap::new();
    for (side, sign) in [("left", 1.0), ("right", -1.0)] {
        // The lower end of the limb that was stretched last.
        let mut stretched = None;
        for ([from, to], direction) in STRETCHED.iter().filter(|_| stretch) {
            let (Some(from), Some(to)) = (body.on_side(side, from), body.on_side(side, to)) else { continue };
            let bone = upright * (rest[to].place - rest[from].place);
            // Legs point down on both sides.
            let direction = *direction * DVec3::new(sign, 1.0, 1.0);
            let Some(bone) = bone.try_normalize() else { continue };
            // A lower limb would follow the correction of the upper one, wherever it points itself.
            if bone.angle_between(direction) > MAX_SLANT || stretched == Some(from) {
                corrections.insert(from, DQuat::from_rotation_arc(bone, direction));
                stretched = Some(to);
            }
        }
    }
    KEPT.iter().filter_map(|role| body.joint(role)).for_each(|joint| {
        corrections.insert(joint, DQuat::IDENTITY);
    });
    let mut of_joint: Vec<DQuat> = Vec::with_capacity(rest.len());
    let mut pose: Vec<Placed> = Vec::with_capacity(rest.len());
    for (joint, node) in source.joints().iter().enumerate() {
        let inherited = node.parent.map_or(DQuat::IDENTITY, |parent| of_joint[parent]);
        let correction = corrections.get(&joint).copied().unwrap_or(inherited);
        let place = match node.parent {
            Some(parent) => pose[parent].place + inherited * (upright * (rest[joint].place - rest[parent].place)),
            None => upright * rest[joint].place,
        };
        of_joint.push(correction);
        pose.push(Placed { place, rotation: (correction * upright * rest[joint].rotation).normalize() });
    }
    pose
}

/// Places the hips of a T-pose that does not stand on the ground at the origin above it, with the lowest bone on the
/// ground.
fn stand_on_ground(zero: &mut ZeroPose, hips: usize, pose: &[Placed]) {
    let height = |index: usize| pose[zero.joints[index]].place.y;
    let lowest = (0..zero.joints.len()).map(height).fold(f64::INFINITY, f64::min);
    let above_origin = DVec3::Y * (height(hips) - lowest);
    if zero.offsets[hips].distance(above_origin) > MAX_OFF_GROUND * above_origin.y {
        zero.offsets[hips] = above_origin;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Expression;

    /// A human that faces -X with +Z up, whose arms hang and whose legs are apart.
    fn human() -> (Library, SkeletonId) {
        let joints: [(&str, Option<usize>, [f64; 3]); 15] = [
            ("Hips", None, [0.0, 0.0, 1.0]),
            ("Spine", Some(0), [0.0, 0.0, 0.2]),
            ("Head", Some(1), [0.0, 0.0, 0.4]),
            // It faces -X with +Z up: left is -Y, because left x up = ahead.
            ("LeftUpLeg", Some(0), [0.0, -0.1, 0.0]),
            ("LeftLeg", Some(3), [0.0, -0.1, -0.4]),
            ("LeftFoot", Some(4), [0.0, 0.0, -0.4]),
            ("RightUpLeg", Some(0), [0.0, 0.1, 0.0]),
            ("RightLeg", Some(6), [0.0, 0.1, -0.4]),
            ("RightFoot", Some(7), [0.0, 0.0, -0.4]),
            ("LeftArm", Some(1), [0.0, -0.2, 0.3]),
            ("LeftForeArm", Some(9), [0.0, 0.0, -0.3]),
            ("LeftHand", Some(10), [0.0, 0.0, -0.25]),
            ("RightArm", Some(1), [0.0, 0.2, 0.3]),
            ("RightForeArm", Some(12), [0.0, 0.0, -0.3]),
            ("RightHand", Some(13), [0.0, 0.0, -0.25]),
        ];
        let joint = |(name, parent, translation): (&str, Option<usize>, [f64; 3])| Joint {
            name: Some(name.into()),
            parent,
            rest: Transform { translation: translation.into(), ..Transform::IDENTITY },
            ..Joint::default()
        };
        let mut library = Library::new();
        let skeleton = Skeleton::new(None, joints.into_iter().map(joint).collect(), Vec::new()).unwrap();
        let id = library.add_skeleton(skeleton);
        (library, id)
    }

    #[test]
    fn joints_after_the_bones_have_the_weights_of_expressions() {
        let (library, id) = human();
        let mut joints = library.skeleton(id).joints().to_vec();
        joints.extend([Joint::default(), Joint::default()]);
        let driver = joints.len() - 1;
        let expressions = [("dizzy", driver - 1), ("aa", driver)].map(|(name, driver)| Expression {
            name: name.into(),
            driver: Some(driver),
            ..Expression::default()
        });
        let skeleton = Skeleton::new(None, joints, Vec::new()).unwrap().with_expressions(expressions.into()).unwrap();
        let mut local: Vec<Transform> = skeleton.joints().iter().map(|joint| joint.rest).collect();
        let mut library = Library::new();
        let id = library.add_skeleton(skeleton);
        let mut animation = VrmAnimation::new(&library, id).unwrap();
        let mut pose = Vec::new();
        animation.pose(&local, &[], &mut pose);
        assert_eq!((animation.nodes(), pose.len()), ((0..15).collect::<Vec<usize>>(), 17));
        local[driver].translation.x = 0.5;
        animation.pose(&local, &[], &mut pose);
        assert_eq!(animation.nodes().last(), Some(&16));
        assert_eq!(animation.skeleton().joints()[16].name.as_deref(), Some("aa"));
        assert_eq!([pose[15].translation, pose[16].translation], [DVec3::ZERO, DVec3::X * 0.5]);
        assert!(animation.notes().is_empty());
    }

    fn offset(animation: &VrmAnimation, name: &str) -> DVec3 {
        let joint = animation.skeleton.find_joint(name).unwrap();
        animation.skeleton.joints()[joint].rest.translation
    }

    #[test]
    fn the_rest_pose_becomes_a_t_pose_that_faces_z() {
        let (library, id) = human();
        let animation = VrmAnimation::new(&library, id).unwrap();
        for (name, expected) in [
            ("Hips", [0.0, 1.0, 0.0]),
            ("Head", [0.0, 0.4, 0.0]),
            ("LeftUpLeg", [0.1, 0.0, 0.0]),
            ("LeftLeg", [0.0, -0.17_f64.sqrt(), 0.0]),
            ("RightFoot", [0.0, -0.4, 0.0]),
            ("LeftArm", [0.2, 0.3, 0.0]),
            ("LeftForeArm", [0.3, 0.0, 0.0]),
            ("RightHand", [-0.25, 0.0, 0.0]),
        ] {
            let found = offset(&animation, name);
            assert!(found.distance(expected.into()) < 1e-9, "{name}: {found} instead of {expected:?}");
        }
        assert!(animation.skeleton.joints().iter().all(|joint| joint.rest.rotation == DQuat::IDENTITY));
        assert_eq!(animation.skeleton.human_bones().len(), 15);
    }

    /// The bones of a human whose joints are changed.
    fn changed(change: impl Fn(&mut Vec<Joint>)) -> Result<Vec<(String, DVec3)>, String> {
        let (library, id) = human();
        let mut joints = library.skeleton(id).joints().to_vec();
        change(&mut joints);
        let mut other = Library::new();
        let id = other.add_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap());
        let animation = VrmAnimation::new(&other, id).map_err(|error| error.to_string())?;
        let joints = animation.skeleton.joints().iter();
        Ok(joints.map(|joint| (joint.name.clone().unwrap(), joint.rest.translation)).collect())
    }

    #[test]
    fn hips_of_the_t_pose_are_above_the_origin() {
        // The legs are 0.4 and the root of 0.17 long.
        let height = 0.4 + 0.17_f64.sqrt();
        for (place, expected) in [
            // As in BVH files whose ROOT has the OFFSET 0.
            ([0.0, 0.0, 0.0], [0.0, height, 0.0]),
            ([0.0, 0.0, 3.0], [0.0, height, 0.0]),
            ([0.0, -2.0, 0.9], [0.0, height, 0.0]),
            ([0.0, -0.1, 0.9], [0.1, 0.9, 0.0]),
        ] {
            let bones = changed(|joints| joints[0].rest.translation = place.into()).unwrap();
            let (name, found) = &bones[0];
            assert_eq!(name, "Hips");
            assert!(found.distance(expected.into()) < 1e-9, "{place:?}: {found} instead of {expected:?}");
        }
    }

    #[test]
    fn lower_limbs_are_stretched_with_the_upper_ones() {
        // The upper arms hang, the lower ones point aside already.
        let bones = changed(|joints| {
            joints[11].rest.translation = DVec3::new(0.0, -0.25, 0.0);
            joints[14].rest.translation = DVec3::new(0.0, 0.25, 0.0);
        });
        let bones = bones.unwrap();
        for (name, x) in [("LeftForeArm", 0.3), ("LeftHand", 0.25), ("RightForeArm", -0.3), ("RightHand", -0.25)] {
            let (_, found) = bones.iter().find(|(bone, _)| bone == name).unwrap();
            assert!(found.distance(DVec3::X * x) < 1e-9, "{name}: {found}");
        }
    }

    #[test]
    fn bones_that_are_not_below_the_hips_are_refused() {
        let error = changed(|joints| {
            joints[1].parent = None;
            joints[1].rest.translation = DVec3::new(0.0, 0.0, 1.2);
        });
        let error = error.unwrap_err();
        assert!(error.contains("Spine is not below Hips"), "{error}");
    }

    #[test]
    fn poses_keep_the_places_of_the_source() {
        let (library, id) = human();
        let source = library.skeleton(id);
        let mut animation = VrmAnimation::new(&library, id).unwrap();
        let mut local: Vec<Transform> = source.joints().iter().map(|joint| joint.rest).collect();
        local[0].translation += DVec3::new(0.5, 0.1, -0.2);
        for (index, transform) in local.iter_mut().enumerate() {
            transform.rotation = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.2 * index as f64);
        }
        let (mut pose, mut from, mut to) = (Vec::new(), Vec::new(), Vec::new());
        animation.pose(&local, &[], &mut pose);
        place(source, &local, &mut from);
        place(&animation.skeleton, &pose, &mut to);
        // From -X ahead and +Z up to +Z ahead and +Y up.
        let upright = |place: DVec3| DVec3::new(-place.y, place.z, -place.x);
        for (index, joint) in animation.skeleton.joints().iter().enumerate() {
            let expected = upright(from[source.find_joint(joint.name.as_deref().unwrap()).unwrap()].place);
            assert!(to[index].place.distance(expected) < 1e-9, "{:?}: {} and {expected}", joint.name, to[index].place);
        }
        assert!(animation.notes().is_empty());
    }

    #[test]
    fn frames_out_of_proportion_to_the_clip_are_refused() {
        let (mut library, id) = human();
        let timeline = Arc::new(Timeline::new(vec![0.0, 1e6]).unwrap());
        let still = Curve::new(timeline, Interpolation::Linear, 4, DQuat::IDENTITY.to_array().repeat(2)).unwrap();
        let clip = library.add_clip(Clip::new(None, id, vec![Track::new(Target::Rotation(0), still)])).unwrap();
        let error = VrmAnimation::document(&library, clip, 30.0).unwrap_err().to_string();
        assert!(error.contains("need more than"), "{error}");
        assert!(VrmAnimation::document(&library, clip, 1e-4).is_ok());
    }

    #[test]
    fn a_skeleton_without_arms_is_refused() {
        let (library, id) = human();
        let legs = library.skeleton(id).joints()[..9].to_vec();
        let mut other = Library::new();
        let id = other.add_skeleton(Skeleton::new(None, legs, Vec::new()).unwrap());
        let error = VrmAnimation::new(&other, id).unwrap_err().to_string();
        assert!(error.contains("rightLowerArm, rightHand are not known"), "{error}");
    }
}
