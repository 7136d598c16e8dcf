//! Small files that people's own files look like, each with the figures that are right: the collected folder
//! `cases/retarget`, where it is. `conventions` makes such motions itself.

use std::path::Path;

use glam::DVec3;
use posse::curves::Target;
use posse::retarget::{JointMap, RetargetOptions, RetargetWarning, Retargeting, RootScale, TrackMethod};
use posse::{ClipId, Library, Reference, SkeletonId, demo, import};

use super::rigs::model_pose;
use crate::support::build::pose_at;
use crate::support::skip::collected_or_skip;

/// A retargeted file.
struct Case {
    library: Library,
    source: (SkeletonId, ClipId),
    target: SkeletonId,
    result: Retargeting,
}

fn load(library: &mut Library, path: &Path) -> (SkeletonId, Option<ClipId>) {
    if path.extension().is_some_and(|extension| extension == "bvh") {
        let asset = import::bvh::load(library, path).unwrap();
        return (asset.skeleton, Some(asset.clip));
    }
    let asset = import::gltf::load(library, path).unwrap();
    (asset.skeleton, asset.clips.first().copied())
}

/// Retargets a file to another one, or to the built-in human.
fn case(source: &str, target: &str) -> Option<Case> {
    let folder = collected_or_skip("cases/retarget", "cases of retargeting that are files")?;
    let mut library = Library::new();
    let (skeleton, clip) = load(&mut library, &folder.join(source));
    let target = match target {
        "demo" => library.add_skeleton(demo::library().unwrap().skeletons()[0].clone()),
        file => load(&mut library, &folder.join(file)).0,
    };
    let map = JointMap::by_names(&library, skeleton, target).unwrap();
    let clip = clip.unwrap();
    let result = library.retarget(&[clip], &map, &RetargetOptions::default()).unwrap();
    Some(Case { library, source: (skeleton, clip), target, result })
}

impl Case {
    /// The place of a joint of the target at a time.
    fn place(&self, joint: &str, time: f64) -> DVec3 {
        let pose = model_pose(&self.library, self.target, Some((self.result.clips[0].clip, time)));
        pose[self.library.skeleton(self.target).find_joint(joint).unwrap()].1
    }

    /// The place of a joint of the source at a time.
    fn place_in_source(&self, joint: &str, time: f64) -> DVec3 {
        let (skeleton, clip) = self.source;
        let pose = model_pose(&self.library, skeleton, Some((clip, time)));
        pose[self.library.skeleton(skeleton).find_joint(joint).unwrap()].1
    }

    fn direction(&self, from: &str, to: &str, time: f64) -> DVec3 {
        (self.place(to, time) - self.place(from, time)).normalize()
    }
}

/// The bones of the built-in human that are compared: from a joint to another.
const BONES: [(&str, &str); 9] = [
    ("pelvis", "neck"),
    ("upper_arm.L", "lower_arm.L"),
    ("lower_arm.L", "hand.L"),
    ("upper_arm.R", "lower_arm.R"),
    ("lower_arm.R", "hand.R"),
    ("thigh.L", "calf.L"),
    ("calf.L", "foot.L"),
    ("thigh.R", "calf.R"),
    ("calf.R", "foot.R"),
];

#[test]
fn a_motion_with_other_axes_fronts_and_offsets_is_the_same() {
    let Some(plain) = case("tpose_yup/in.bvh", "demo") else { return };
    for time in [0.0, 0.2, 0.4] {
        let hips = plain.place("pelvis", time);
        assert!((hips.y - 0.95).abs() < 0.03, "{hips}");
        for name in ["root_offset_zero", "tpose_zup", "tpose_facing_minus_z"] {
            let other = case(&format!("{name}/in.bvh"), "demo").unwrap();
            // One percent of the length of a leg.
            assert!(other.place("pelvis", time).distance(hips) < 0.0087, "{name}: {}", other.place("pelvis", time));
            for (from, to) in BONES {
                let angle = other.direction(from, to, time).angle_between(plain.direction(from, to, time));
                assert!(angle.to_degrees() < 1.0, "{name}: {from} at {time}");
            }
        }
    }
}

#[test]
fn bones_along_one_axis_point_where_those_of_the_motion_point() {
    let Some(case) = case("lafan_like/in.bvh", "demo") else { return };
    let names = [
        "Hips Neck",
        "LeftArm LeftForeArm",
        "LeftForeArm LeftHand",
        "RightArm RightForeArm",
        "RightForeArm RightHand",
        "LeftUpLeg LeftLeg",
        "LeftLeg LeftFoot",
        "RightUpLeg RightLeg",
        "RightLeg RightFoot",
    ];
    for time in [0.0, 0.3, 0.6, 0.9] {
        for ((from, to), names) in BONES.iter().zip(names) {
            let (of, next) = names.split_once(' ').unwrap();
            let right = case.place_in_source(next, time) - case.place_in_source(of, time);
            let degrees = case.direction(from, to, time).angle_between(right).to_degrees();
            assert!(degrees < 3.0, "{from} at {time}: {degrees}");
        }
        let lowest = case.place("ball.L", time).y.min(case.place("ball.R", time).y);
        assert!(lowest.abs() < 0.08, "feet at {lowest}");
        assert!((case.result.scale - 0.0098).abs() < 2e-4, "{}", case.result.scale);
    }
}

#[test]
fn a_figure_that_faces_the_other_way_is_turned() {
    let Some(case) = case("facing/src.vrma", "facing/vrm0.vrm") else { return };
    let hips = case.place("J_Bip_C_Hips", 1.0);
    assert!(hips.distance(DVec3::new(0.0, 0.8, -1.0)) < 1e-6, "{hips}");
    for side in ["L", "R"] {
        let [hand, shoulder] = ["Hand", "UpperArm"].map(|bone| case.place(&format!("J_Bip_{side}_{bone}"), 1.0));
        assert!((hand.y - shoulder.y + 0.47).abs() < 0.005, "{}", hand.y - shoulder.y);
    }
    let ahead = hips.z - case.place("J_Bip_L_Foot", 1.0).z;
    assert!((ahead - 0.64).abs() < 0.005, "{ahead}");
}

#[test]
fn a_rig_below_a_turned_node_faces_its_own_front() {
    let Some(case) = case("facing/mixamo-src.glb", "facing/mixamo-turned.glb") else { return };
    // The rigs are equal, but for a node above the second one that rotates it by half a turn about +Y: the rotations
    // and translations below it are the translations of the source. So the hips, at (0, 0.8, 1) in the source, get to
    // (0, 0.8, -1): ahead, as the rig faces -Z. Arms of 0.5 hang by 70 degrees, 0.5 sin 70 = 0.470, and the left leg
    // of 0.9 is raised ahead by 45 degrees, 0.9 sin 45 = 0.636.
    let place = |joint: &str| case.place(&format!("mixamorig:{joint}"), 1.0);
    assert!(place("Hips").distance(DVec3::new(0.0, 0.8, -1.0)) < 1e-6, "{}", place("Hips"));
    for side in ["Left", "Right"] {
        let below = place(&format!("{side}Arm")).y - place(&format!("{side}Hand")).y;
        assert!((below - 0.470).abs() < 1e-3, "{side}: {below}");
        // The left side of a figure that faces -Z is at -X.
        assert_eq!(place(&format!("{side}UpLeg")).x < 0.0, side == "Left");
    }
    let ahead = place("Hips").z - place("LeftFoot").z;
    assert!((ahead - 0.636).abs() < 1e-3, "{ahead}");
    let (of, made) = (case.library.clip(case.source.1), case.library.clip(case.result.clips[0].clip));
    assert_eq!((of.tracks.len(), made.tracks.len()), (4, 4));
    for track in &of.tracks {
        let is_same = |other: &posse::curves::Track| {
            let pairs = track.curve.values().iter().zip(other.curve.values());
            other.curve.width() == track.curve.width() && pairs.map(|(a, b)| (a - b).abs()).all(|off| off < 1e-6)
        };
        assert!(made.tracks.iter().any(is_same), "{:?}", track.target);
    }
    assert_eq!(case.result.facing, Some(180.0));
    assert!(case.result.bones.is_empty() && case.result.warnings.is_empty());
}

#[test]
fn arms_of_an_a_pose_are_raised_as_in_a_t_pose() {
    let Some(case) = case("a-pose/t-src.vrma", "a-pose/a-dst.vrm") else { return };
    let below = |time: f64| {
        let arm = case.direction("b_leftUpperArm", "b_leftLowerArm", time);
        (-arm.y).asin().to_degrees()
    };
    assert!(below(0.0).abs() < 0.1 && (below(1.0) - 70.0).abs() < 0.5, "{} {}", below(0.0), below(1.0));
}

#[test]
fn bones_that_a_file_declares_are_paired_and_missing_legs_are_said() {
    let Some(declared) = case("vrma/act.vrma", "vrma/vrm0-custom.vrm") else { return };
    assert_eq!(declared.result.map.pairs.len(), 21);
    let case = case("vrma/hips-nolegs.vrma", "vrma/vrm1.vrm").unwrap();
    assert_eq!((case.result.scale, case.result.basis), (2.0, Some(RootScale::HipsHeight)));
    assert!(case.place("b_hips", 1.0).distance(DVec3::new(0.0, 1.6, 2.0)) < 1e-6);
    let said =
        case.result.map.remarks.iter().any(|remark| case.result.map.describe(&case.library, remark).contains("legs"));
    assert!(said, "{:?}", case.result.map.remarks);
}

#[test]
fn a_file_on_its_own_skeleton_loses_nothing() {
    let Some(case) = case("identity/talk.gltf", "identity/talk.gltf") else { return };
    assert_eq!(case.result.clips[0].dropped, []);
    let (of, made) = (case.library.clip(case.source.1), case.library.clip(case.result.clips[0].clip));
    for track in &of.tracks {
        assert!(made.tracks.contains(track), "{:?}", track.target);
    }
    assert!(case.result.clips[0].tracks.iter().all(|track| track.method == TrackMethod::Exact));
    assert!(of.tracks.iter().any(|track| matches!(track.target, Target::Scale(_))));
}

#[test]
fn weights_of_expressions_become_morph_weights() {
    let Some(case) = case("vrma-expressions/talk.vrma", "vrma-expressions/avatar.vrm") else { return };
    for (time, right) in [(0.0, 0.0), (0.25, 0.25), (1.0, 1.0)] {
        let pose = pose_at(&mut Reference::new(&case.library), &case.library, case.result.clips[0].clip, time);
        assert!(matches!(pose.weights[..], [weight] if (weight - right).abs() < 1e-7), "{:?}", pose.weights);
    }
    // The gaze is dropped, because its node has no partner.
    let of = &case.result.clips[0];
    let dropped: Vec<String> = of.dropped.iter().map(|dropped| dropped.reason.to_string()).collect();
    assert_eq!(dropped, ["the joint has no partner"]);
    assert!(matches!(of.dropped[0].target, Target::Rotation(_)));
    assert!(!case.result.warnings.iter().any(|warning| matches!(warning, RetargetWarning::Expressions { .. })));
}
