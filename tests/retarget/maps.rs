//! Pairs of joints: by names, by roles, by files.

use std::path::Path;

use glam::{DAffine3, DQuat};
use posse::retarget::{JointMap, MapRemark, MapSide, MatchedBy, RetargetOptions, RootTranslation};
use posse::rig::HumanBone;
use posse::{Error, Joint, Library, Skeleton, SkeletonId, Skin, demo};
use serde_json::json;

use super::rigs::joint;
use crate::support::gltf_builder::GltfBuilder;
use crate::support::skip::collected_or_skip;

/// Two skeletons in a library, each a chain of joints with these names.
fn chains(source: &[&str], target: &[&str]) -> (Library, SkeletonId, SkeletonId) {
    let mut library = Library::new();
    let [source, target] = [source, target].map(|names| library.add_skeleton(chain(names)));
    (library, source, target)
}

fn chain(names: &[&str]) -> Skeleton {
    let joint = |(index, name): (usize, &&str)| joint(name, index.checked_sub(1), DQuat::IDENTITY, [0.0, 1.0, 0.0]);
    Skeleton::new(None, names.iter().enumerate().map(joint).collect(), Vec::new()).unwrap()
}

/// The pairs of names, with the reason for each.
fn pairs(library: &Library, map: &JointMap) -> Vec<(String, String, MatchedBy)> {
    let pair = |pair: &posse::retarget::JointPair| {
        let [source, target] = map.names(library, *pair);
        (source, target, pair.by)
    };
    map.pairs.iter().map(pair).collect()
}

#[track_caller]
fn assert_pairs(library: &Library, map: &JointMap, expected: &[(&str, &str, MatchedBy)]) {
    let expected: Vec<_> = expected.iter().map(|&(source, target, by)| (source.into(), target.into(), by)).collect();
    assert_eq!(pairs(library, map), expected);
}

use MatchedBy::{Caller, Name, NormalizedName, Role};

#[test]
fn equal_names_come_before_normalised_names_and_these_before_roles() {
    let (library, source, target) = chains(
        &["Hips", "rig:Left_Up.Leg", "tail", "mixamorig:LeftLeg", "wing"],
        &["pelvis", "leftup-leg", "tail", "calf_l", "Tail", "hand_r"],
    );
    let map = JointMap::by_names(&library, source, target).unwrap();
    let expected = [
        ("Hips", "pelvis", Role),
        ("rig:Left_Up.Leg", "leftup-leg", NormalizedName),
        ("tail", "tail", Name),
        ("mixamorig:LeftLeg", "calf_l", Role),
    ];
    assert_pairs(&library, &map, &expected);
    assert!(map.remarks.is_empty());
}

#[test]
fn running_numbers_of_sketchfab_are_no_part_of_names() {
    let plain = ["Hips", "Spine", "Tail", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg", "RightFoot"];
    let numbered: Vec<String> =
        plain.iter().enumerate().map(|(index, name)| format!("mixamorig:{name}_0{}", 30 - index)).collect();
    let names: Vec<&str> = numbered.iter().map(String::as_str).collect();
    let unreal = ["pelvis", "spine_01", "tail", "thigh_l", "calf_l", "foot_l", "thigh_r", "calf_r", "foot_r"];
    for (target, by) in [(plain, NormalizedName), (unreal, Role)] {
        for swapped in [false, true] {
            let (library, source, to) = if swapped { chains(&target, &names) } else { chains(&names, &target) };
            let map = JointMap::by_names(&library, source, to).unwrap();
            let found: Vec<_> = map.pairs.iter().map(|pair| (pair.source, pair.target)).collect();
            assert_eq!(found, (0..9).map(|joint| (joint, joint)).collect::<Vec<_>>(), "{:?}", map.remarks);
            assert!(map.pairs.iter().all(|pair| pair.by == by || pair.source == 2), "{:?}", map.pairs);
        }
    }
}

#[test]
fn a_dance_from_sketchfab_finds_its_partners() {
    let file = collected_or_skip("gltf/DancingRabbit/scene.gltf", "names of a file of Sketchfab");
    let Some(file) = file else { return };
    let mut library = demo::library().unwrap();
    let human = library.clips()[0].skeleton;
    let dance = posse::import::gltf::load(&mut library, &file).unwrap();
    let map = JointMap::by_names(&library, dance.skeleton, human).unwrap();
    let pairs = pairs(&library, &map);
    // As many as with the numbers removed from the names by hand.
    assert_eq!(pairs.len(), 28, "{pairs:?}");
    let has = |source: &str, target: &str| pairs.iter().any(|pair| (&*pair.0, &*pair.1) == (source, target));
    assert!(has("mixamorig:Hips_01", "pelvis") && has("mixamorig:Head_06", "head"), "{pairs:?}");
    assert!(has("mixamorig:RightUpLeg_00", "thigh.R") && has("mixamorig:LeftHandIndex3_014", "index.3.L"), "{pairs:?}");
}

#[test]
fn each_convention_is_mapped_to_each_other_one() {
    let rigs: [&[&str]; 5] = [
        &[
            "mixamorig:Hips",
            "mixamorig:Spine",
            "mixamorig:LeftArm",
            "mixamorig:LeftHandIndex2",
            "mixamorig:RightToeBase",
        ],
        &["pelvis", "spine_01", "upperarm_l", "index_02_l", "ball_r"],
        &["hips", "spine", "leftUpperArm", "leftIndexIntermediate", "rightToes"],
        &["J_Bip_C_Hips", "J_Bip_C_Spine", "J_Bip_L_UpperArm", "J_Bip_L_Index2", "J_Bip_R_ToeBase"],
        &["DEF-spine", "DEF-spine.001", "DEF-upper_arm.L", "DEF-f_index.02.L", "DEF-toe.R"],
    ];
    for source in rigs {
        for target in rigs {
            let (library, from, to) = chains(source, target);
            let map = JointMap::by_names(&library, from, to).unwrap();
            let found: Vec<_> = map.pairs.iter().map(|pair| (pair.source, pair.target)).collect();
            assert_eq!(found, [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)], "{source:?} {target:?}: {:?}", map.remarks);
        }
    }
}

#[test]
fn one_name_of_two_roles_is_no_pair() {
    // `spine` is the lowest bone of the spine in VRM, and the hip in Rigify.
    let (library, source, target) =
        chains(&["hips", "spine", "chest", "leftUpperArm"], &["spine", "spine.001", "spine.002", "upper_arm.L"]);
    let map = JointMap::by_names(&library, source, target).unwrap();
    let expected = [
        ("hips", "spine", Role),
        ("spine", "spine.001", Role),
        ("chest", "spine.002", Role),
        ("leftUpperArm", "upper_arm.L", Role),
    ];
    assert_pairs(&library, &map, &expected);
    assert!(map.remarks.is_empty(), "{:?}", map.remarks);
    // Without hips of its own, the source has no partner for the hips of the target.
    let (library, source, target) = chains(&["spine", "leftUpperArm", "chest"], &["spine", "spine.001", "upper_arm.L"]);
    let map = JointMap::by_names(&library, source, target).unwrap();
    assert_pairs(&library, &map, &[("leftUpperArm", "upper_arm.L", Role), ("chest", "spine.001", Role)]);
    let roles = ["spine".to_owned(), "hips".to_owned()];
    let missing = MapRemark::Missing { in_source: vec!["hips".into()], in_target: Vec::new() };
    assert_eq!(map.remarks, [MapRemark::Roles { source: 0, target: 0, roles }, missing]);
    // The same is true of all bones: `Spine1` is the second bone of the spine in Mixamo, and the first one in Unreal's
    // mannequin.
    let (library, source, target) = chains(&["Hips", "Spine", "Spine1"], &["pelvis", "spine.1", "spine.2", "hand_l"]);
    let map = JointMap::by_names(&library, source, target).unwrap();
    let expected = [("Hips", "pelvis", Role), ("Spine", "spine.1", Role), ("Spine1", "spine.2", Role)];
    assert_pairs(&library, &map, &expected);
}

/// A skeleton of ways down from a joint. A way with `{}` is there for left and right.
fn tree(ways: &[&str], sides: [&str; 2]) -> Skeleton {
    let mut joints: Vec<Joint> = Vec::new();
    for way in ways {
        let sides = if way.contains("{}") { &sides[..] } else { &sides[..1] };
        for side in sides {
            let mut parent = None;
            for name in way.split(" > ").map(|name| name.replace("{}", side)) {
                let found = joints.iter().position(|joint| joint.name.as_deref() == Some(&name));
                parent = Some(found.unwrap_or_else(|| {
                    joints.push(joint(&name, parent, DQuat::IDENTITY, [0.0, 1.0, 0.0]));
                    joints.len() - 1
                }));
            }
        }
    }
    Skeleton::new(None, joints, Vec::new()).unwrap()
}

const BIOVISION: [&str; 3] = [
    "Hips > {}Hip > {}Knee > {}Ankle",
    "Hips > Chest > Neck > Head",
    "Chest > {}Collar > {}Shoulder > {}Elbow > {}Wrist",
];

const MIXAMO: [&str; 3] = [
    "Hips > {}UpLeg > {}Leg > {}Foot",
    "Hips > Spine > Spine1 > Spine2 > Neck > Head",
    "Spine2 > {}Shoulder > {}Arm > {}ForeArm > {}Hand",
];

/// The map between two skeletons, and the name of the partner of a joint of the source.
fn mapped(source: Skeleton, target: Skeleton) -> (Library, JointMap) {
    let mut library = Library::new();
    let [source, target] = [source, target].map(|skeleton| library.add_skeleton(skeleton));
    let map = JointMap::by_names(&library, source, target).unwrap();
    (library, map)
}

#[test]
fn one_word_means_different_bones_in_different_conventions() {
    let sides = ["Left", "Right"];
    let (library, map) = mapped(tree(&BIOVISION, sides), tree(&MIXAMO, sides));
    assert!(map.remarks.is_empty(), "{:?}", map.remarks);
    let found = pairs(&library, &map);
    let partner =
        |name: &str| found.iter().find(|(source, ..)| source == name).map(|(_, target, by)| (target.as_str(), *by));
    // `LeftShoulder` is an upper arm and a clavicle. The single joint of the trunk bends at the waist.
    let expected = [
        ("Hips", "Hips", Name),
        ("Chest", "Spine", Role),
        ("Neck", "Neck", Name),
        ("LeftCollar", "LeftShoulder", Role),
        ("LeftShoulder", "LeftArm", Role),
        ("LeftElbow", "LeftForeArm", Role),
        ("LeftWrist", "LeftHand", Role),
        ("RightHip", "RightUpLeg", Role),
        ("RightKnee", "RightLeg", Role),
        ("RightAnkle", "RightFoot", Role),
    ];
    for (source, target, by) in expected {
        assert_eq!(partner(source), Some((target, by)), "{source}");
    }
    assert_eq!(map.pairs.len(), 18);
    // The other way, the highest joint of the trunk, which carries the arms, drives the single one.
    let (library, map) = mapped(tree(&MIXAMO, sides), tree(&BIOVISION, sides));
    assert!(map.remarks.is_empty(), "{:?}", map.remarks);
    assert!(pairs(&library, &map).contains(&("Spine2".into(), "Chest".into(), Role)));
    // A name without a role in a longer trunk is none of a joint that has a partner by its role.
    let unreal =
        ["pelvis > spine.1 > spine.2 > spine.3 > spine.4 > neck", "spine.4 > clavicle.{} > upperarm.{} > lowerarm.{}"];
    let (library, map) = mapped(tree(&MIXAMO[1..], sides), tree(&unreal, ["l", "r"]));
    let found = pairs(&library, &map);
    for (source, target) in [("Spine", "spine.1"), ("Spine1", "spine.3"), ("Spine2", "spine.4")] {
        assert!(found.contains(&(source.into(), target.into(), Role)), "{found:?}");
    }
    // Each onto itself pairs all joints by name.
    for ways in [BIOVISION, MIXAMO] {
        let (_, map) = mapped(tree(&ways, sides), tree(&ways, sides));
        assert!(map.pairs.iter().all(|pair| pair.source == pair.target && pair.by == Name));
        assert_eq!(map.pairs.len(), tree(&ways, sides).joints().len());
    }
}

#[test]
fn essential_joints_without_a_partner_are_listed() {
    let sides = ["Left", "Right"];
    // A source without a left leg, onto a target without a neck and head.
    let source = ["Hips > RightHip > RightKnee > RightAnkle", BIOVISION[1], BIOVISION[2]];
    let target = [MIXAMO[0], "Hips > Spine > Spine1 > Spine2", MIXAMO[2]];
    let (library, map) = mapped(tree(&source, sides), tree(&target, sides));
    let in_source = ["leftUpperLeg", "leftLowerLeg", "leftFoot"].map(str::to_owned).into();
    assert_eq!(map.remarks, [MapRemark::Missing { in_source, in_target: vec!["neck".into()] }]);
    assert_eq!(
        map.describe(&library, &map.remarks[0]),
        "joints of the target without a partner in the source keep their rest pose: leftUpperLeg, leftLowerLeg, leftFoot; joints \
         of the source without a partner in the target are left out: neck; a map file can name the pairs"
    );
    // An upper body alone is fine.
    let (library, map) = mapped(tree(&BIOVISION[1..], sides), tree(&MIXAMO, sides));
    assert_eq!(map.remarks, [MapRemark::NoLegs { side: MapSide::Source }]);
    let text = map.describe(&library, &map.remarks[0]);
    assert_eq!(text, "the source has no legs; the legs of the target keep their rest pose");
    let (_, map) = mapped(tree(&MIXAMO, sides), tree(&BIOVISION[1..], sides));
    assert_eq!(map.remarks, [MapRemark::NoLegs { side: MapSide::Target }]);
}

#[test]
fn essential_joints_that_a_map_file_forgets_are_listed() {
    let sides = ["Left", "Right"];
    let mut library = Library::new();
    let [source, target] =
        [tree(&BIOVISION, sides), tree(&MIXAMO, sides)].map(|skeleton| library.add_skeleton(skeleton));
    let (mut forgets, mut all) = (Vec::new(), Vec::new());
    for pair in JointMap::by_names(&library, source, target).unwrap().pairs {
        let names =
            [(source, pair.source), (target, pair.target)].map(|(id, joint)| library.skeleton(id).joint_name(joint));
        let entry = format!("{:?}: {:?}", names[0], names[1]);
        if names[0] != "LeftKnee" && names[0] != "Chest" {
            forgets.push(entry.clone());
        }
        all.push(entry);
    }
    let mut remarks = |pairs: &[String]| {
        let json = format!("{{ \"joints\": {{ {} }} }}", pairs.join(", "));
        let map = JointMap::from_json(&library, source, target, Path::new("map.json"), json.as_bytes()).unwrap();
        let result = library.retarget(&[], &map, &RetargetOptions::default()).unwrap();
        assert_eq!(result.map.remarks, map.remarks);
        map.remarks
    };
    assert_eq!(remarks(&all), []);
    let in_source = vec!["leftLowerLeg".into(), "spine".into()];
    assert_eq!(remarks(&forgets), [MapRemark::Missing { in_source, in_target: Vec::new() }]);
}

#[test]
fn a_human_without_names_has_partners_by_structure() {
    let mut library = posse::demo::library().unwrap();
    let target = library.clips()[0].skeleton;
    let nameless = library.skeleton(target).joints().iter().cloned().map(|joint| Joint { name: None, ..joint });
    let nameless = Skeleton::new(None, nameless.collect(), Vec::new()).unwrap();
    let source = library.add_skeleton(nameless);
    let map = JointMap::by_names(&library, source, target).unwrap();
    assert!(map.remarks.is_empty(), "{:?}", map.remarks);
    assert!(map.pairs.len() >= 20 && map.pairs.iter().all(|pair| pair.source == pair.target));
    assert!(map.pairs.iter().all(|pair| pair.by == MatchedBy::Structure));
    assert_eq!(MatchedBy::Structure.to_string(), "structure");
}

#[test]
fn ambiguous_joints_are_left_out_and_listed() {
    let (library, source, target) = chains(&["a", "b", "b", "C_1", "c.1", "d"], &["a", "a", "b", "c1", "d"]);
    let map = JointMap::by_names(&library, source, target).unwrap();
    assert_pairs(&library, &map, &[("d", "d", Name)]);
    let remark = |name: &str, by, sources: &[usize], targets: &[usize]| MapRemark::Ambiguous {
        name: name.into(),
        by,
        sources: sources.into(),
        targets: targets.into(),
    };
    let expected = [
        remark("a", Name, &[0], &[0, 1]),
        remark("b", Name, &[1, 2], &[2]),
        remark("c1", NormalizedName, &[3, 4], &[3]),
    ];
    assert_eq!(map.remarks, expected);
    let text = map.describe(&library, &map.remarks[2]);
    assert!(text.contains("normalised name \"c1\" is ambiguous") && text.contains("C_1, c.1 of the source"), "{text}");
}

#[test]
fn nodes_outside_of_the_skin_are_no_joints() {
    let (mut library, source, target) =
        chains(&["scene", "hip", "between", "foot", "hat"], &["scene", "hip", "between", "foot", "hat"]);
    let skin = Skin { name: None, skeleton: target, joints: vec![3, 1], inverse_bind: vec![DAffine3::IDENTITY; 2] };
    library.add_skin(skin).unwrap();
    let map = JointMap::by_names(&library, source, target).unwrap();
    assert_pairs(&library, &map, &[("hip", "hip", Name), ("between", "between", Name), ("foot", "foot", Name)]);
    let from_json = |json: &str| JointMap::from_json(&library, source, target, Path::new("m.json"), json.as_bytes());
    let error = from_json(r#"{ "joints": { "hip": "hat" } }"#).unwrap_err().to_string();
    assert_eq!(
        error,
        "m.json: joints.hip: node \"hat\" of the target is no joint: no skin names it, and it is not between joints of a skin"
    );
}

/// A glTF file of two nodes with an extension that names humanoid bones.
fn with_bones(extension: &str, bones: serde_json::Value) -> GltfBuilder {
    let mut file = GltfBuilder::new();
    file.push("nodes", json!({ "name": "Hüfte", "children": [1] }));
    file.push("nodes", json!({ "name": "Kopf" }));
    file.json["extensions"] = json!({ extension: { "humanoid": { "humanBones": bones } }, "OTHER": 1 });
    file
}

#[test]
fn roles_of_vrm_models_and_of_vrm_animations_are_read() {
    for extension in ["VRMC_vrm", "VRMC_vrm_animation"] {
        let file = with_bones(extension, json!({ "hips": { "node": 0 }, "head": { "node": 1 } }));
        let (mut library, asset) = file.load().unwrap();
        assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
        let bone = |role: &str, joint| HumanBone { role: role.into(), joint };
        assert_eq!(library.skeleton(asset.skeleton).human_bones(), [bone("hips", 0), bone("head", 1)]);
        let mannequin = library.add_skeleton(chain(&["pelvis", "spine_01", "head"]));
        let map = JointMap::by_names(&library, mannequin, asset.skeleton).unwrap();
        assert_pairs(&library, &map, &[("pelvis", "Hüfte", Role), ("head", "Kopf", Role)]);
    }
}

#[test]
fn bones_of_vrm_0_have_the_roles_of_vrm_1() {
    let bones = json!([
        { "bone": "hips", "node": 0, "useDefaultValues": true },
        { "bone": "leftThumbProximal", "node": 1 },
        { "bone": "leftThumbIntermediate", "node": 2 },
        { "bone": "leftThumbDistal", "node": 3 },
        { "bone": "rightThumbProximal", "node": 4 },
        { "bone": "rightThumbIntermediate", "node": 5 },
        { "bone": "jaw", "node": -1 },
        { "node": 6 },
        { "bone": "chest", "node": 0 },
    ]);
    let mut file = GltfBuilder::new();
    file.push("nodes", json!({ "name": "0", "children": [1, 2, 3, 4, 5] }));
    for name in ["1", "2", "3", "4", "5"] {
        file.push("nodes", json!({ "name": name }));
    }
    file.json["extensions"] = json!({ "VRM": { "humanoid": { "humanBones": bones } } });
    file.json["extensionsRequired"] = json!(["VRM"]);
    let (library, asset) = file.load().unwrap();
    let bone = |(joint, role): (usize, &&str)| HumanBone { role: (*role).into(), joint };
    let roles = [
        "hips",
        "leftThumbMetacarpal",
        "leftThumbProximal",
        "leftThumbDistal",
        "rightThumbMetacarpal",
        "rightThumbProximal",
    ];
    let expected: Vec<HumanBone> = roles.iter().enumerate().map(bone).collect();
    assert_eq!(library.skeleton(asset.skeleton).human_bones(), expected);
    let places: Vec<&str> = asset.warnings.iter().map(|warning| warning.path.as_str()).collect();
    assert_eq!(places, [6, 7, 8].map(|index| format!("extensions.VRM.humanoid.humanBones[{index}]")));
    // A file with both has the bones of VRM 1.0.
    file.json["extensions"]["VRMC_vrm"] = json!({ "humanoid": { "humanBones": { "head": { "node": 1 } } } });
    let (library, asset) = file.load().unwrap();
    assert_eq!(library.skeleton(asset.skeleton).human_bones().len(), 1);
    assert!(asset.warnings.is_empty());
}

#[test]
fn roles_that_both_files_declare_come_before_names() {
    // The names belong to other bones.
    let with_roles = |names: &[&str], roles: [&str; 2]| {
        let bone = |(joint, role): (usize, &str)| HumanBone { role: role.into(), joint };
        chain(names).with_human_bones(roles.into_iter().enumerate().map(bone).collect()).unwrap()
    };
    let source = with_roles(&["a", "b", "hat"], ["hips", "head"]);
    let (library, map) = mapped(source, with_roles(&["b", "a", "hat"], ["hips", "head"]));
    assert_pairs(&library, &map, &[("a", "b", Role), ("b", "a", Role), ("hat", "hat", Name)]);
}

#[cfg(feature = "gltf")]
#[test]
fn roles_of_documents_that_the_gltf_crate_has_loaded_are_read() {
    let file = with_bones("VRMC_vrm", json!({ "hips": { "node": 0 } }));
    let (document, buffers, _) = posse::gltf::import_slice(file.gltf_with_data_uri()).unwrap();
    let mut library = Library::new();
    let asset = posse::import::gltf::from_document(&mut library, &document, &buffers).unwrap();
    assert_eq!(library.skeleton(asset.skeleton).human_bones().len(), 1);
}

#[test]
fn errors_in_the_bones_of_a_file_are_warnings() {
    let bones = json!({ "hips": { "node": 7 }, "spine": 3, "head": { "node": 1 }, "neck": { "node": 1 } });
    let (library, asset) = with_bones("VRMC_vrm", bones).load().unwrap();
    assert_eq!(library.skeleton(asset.skeleton).human_bones().len(), 1);
    let places: Vec<&str> = asset.warnings.iter().map(|warning| warning.path.as_str()).collect();
    let place = |role: &str| format!("extensions.VRMC_vrm.humanoid.humanBones.{role}");
    assert_eq!(places, [place("hips"), place("spine"), place("neck")]);
    for odd in [json!({ "VRMC_vrm": 5 }), json!({ "VRMC_vrm": null }), json!({ "VRMC_vrm": { "humanoid": [] } })] {
        let mut file = with_bones("x", json!({}));
        file.json["extensions"] = odd;
        let (library, asset) = file.load().unwrap();
        assert!(library.skeleton(asset.skeleton).human_bones().is_empty() && asset.warnings.is_empty());
    }
}

#[test]
fn a_map_file_names_the_pairs_and_the_root() {
    let (library, source, target) = chains(&["a", "b", "c"], &["x", "b", "z"]);
    let read = |json: &str| JointMap::from_json(&library, source, target, Path::new("map.json"), json.as_bytes());
    let map =
        read("\u{feff}{ \"joints\": { \"c\": \"x\", \"a\": \"z\" }, \"root\": \"c\", \"translation\": \"full\" }")
            .unwrap();
    assert_pairs(&library, &map, &[("a", "z", Caller), ("c", "x", Caller)]);
    assert_eq!((map.root, map.translation), (Some(2), RootTranslation::Full));
    let map = read(r#"{ "joints": { "a": "x" }, "scale": 2 }"#).unwrap();
    assert_eq!((map.root, map.translation), (None, RootTranslation::Scaled(Some(2.0))));
    // Without pairs, they follow from names.
    let map = read(r#"{ "translation": "none", "root": "b" }"#).unwrap();
    assert_pairs(&library, &map, &[("b", "b", Name)]);
    assert_eq!((map.root, map.translation), (Some(1), RootTranslation::None));
}

#[test]
fn a_map_file_tells_joints_of_one_name_apart() {
    let (library, source, target) = chains(&["a", "b", "b"], &["x", "y", "y"]);
    let read = |json: &str| JointMap::from_json(&library, source, target, Path::new("map.json"), json.as_bytes());
    let map = read(r##"{ "joints": { "#0": "/x", "a/b": "y#1", "b#1": "x/y" }, "root": "b#0" }"##).unwrap();
    let found: Vec<_> = map.pairs.iter().map(|pair| (pair.source, pair.target)).collect();
    assert_eq!((found, map.root), (vec![(0, 0), (1, 2), (2, 1)], Some(1)));
    let refused = read(r#"{ "joints": { "a": "x", "b": "y" } }"#).unwrap_err().to_string();
    let expected = "joints.b: in the source, 2 joints are named \"b\"; write which one: b#0 (/a/b), b#1 (/a/b/b)";
    assert!(refused.ends_with(expected), "{refused}");
    let twice = read(r##"{ "joints": { "a": "x", "#0": "y#0" } }"##).unwrap_err().to_string();
    assert!(twice.contains("the joint has two partners"), "{twice}");
}

#[test]
fn errors_of_map_files_are_refused_with_their_place() {
    let (library, source, target) = chains(&["a", "b", "mixamorig:Hips", "c", "c"], &["x", "y"]);
    let cases = [
        ("", "JSON: a map file is an object"),
        ("[{}]", "JSON: a map file is an object"),
        ("{ \"joints\": { \"a\": \"x\" ", "joints: EOF while parsing"),
        (r#"{ "joints": { "a": "x" } } {}"#, "JSON: trailing characters"),
        (r#"{ "joints": ["a"] }"#, "joints: invalid type: sequence, expected an object that names a joint"),
        (r#"{ "joints": { "a": 5 } }"#, "joints.a: invalid type: integer"),
        (r#"{ "joints": { "q": "x" } }"#, "joints.q: in the source, no joint is named \"q\"; the nearest names are"),
        (
            r#"{ "joints": { "mixamorig:Hips": "q" } }"#,
            "joints[\"mixamorig:Hips\"]: in the target, no joint is named \"q\"",
        ),
        (r#"{ "joints": { "a": "x", "b": "x" } }"#, "joints.b: joint \"x\" of the target is the partner of \"a\", too"),
        (r#"{ "joints": { "a": "x", "a": "y" } }"#, "joints.a: the joint has two partners; give it one"),
        (r#"{ "joints": { "a": "x" }, "root": "b" }"#, "root: joint \"b\" is not mapped"),
        (r#"{ "joints": { "a": "x" }, "root": "q" }"#, "root: in the source, no joint is named \"q\""),
        (r#"{ "joints": { "a": "x" }, "root": "c" }"#, "root: in the source, 2 joints are named \"c\""),
        (
            r#"{ "translation": "some" }"#,
            "translation: unknown variant `some`, expected one of `scaled`, `full`, `none`",
        ),
        (
            r#"{ "translation": "full", "scale": 1 }"#,
            "scale: it is for \"translation\": \"scaled\"; remove one of the two",
        ),
        (r#"{ "scale": "big" }"#, "scale: invalid type: string"),
        (r#"{ "scale": 1e300 }"#, "scale: it is not a finite number in the range of an f32"),
        (r#"{ "scale": 1e999 }"#, "number out of range"),
        (
            r#"{ "bones": {} }"#,
            "bones: unknown field `bones`, expected one of `joints`, `by_names`, `root`, `translation`, `scale`",
        ),
    ];
    for (json, saying) in cases {
        match JointMap::from_json(&library, source, target, Path::new("map.json"), json.as_bytes()) {
            Err(error @ Error::Import { .. }) => {
                let text = error.to_string();
                assert!(text.starts_with("map.json: ") && text.contains(saying), "{json}: {text}");
            }
            other => panic!("{json}: {other:?}"),
        }
    }
}

#[test]
fn names_of_one_skeleton_are_their_own_partners() {
    let joints: Vec<Joint> = chain(&["a", "b"]).joints().to_vec();
    let mut library = Library::new();
    let id = library.add_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap());
    let map = JointMap::by_names(&library, id, id).unwrap();
    assert_pairs(&library, &map, &[("a", "a", Name), ("b", "b", Name)]);
}

#[test]
fn a_map_is_written_as_a_file_to_change() {
    // Two joints are named `b`: their paths tell them apart. One has no name.
    let (library, source, target) = chains(&["a", "b", "b", "c", ""], &["x", "b", "y"]);
    let pair = |source, target| posse::retarget::JointPair { source, target, by: Caller };
    let pairs = vec![pair(1, 0), pair(2, 1), pair(4, 2)];
    for translation in [
        RootTranslation::Scaled(None),
        RootTranslation::Scaled(Some(0.5)),
        RootTranslation::Full,
        RootTranslation::None,
    ] {
        let map = JointMap { pairs: pairs.clone(), root: Some(2), translation, ..JointMap::new(source, target) };
        let json = map.to_json(&library);
        let written: serde_json::Value = serde_json::from_str(&json).unwrap();
        let joints = json!({ "a": null, "a/b": "x", "b/b": "b", "c": null, "#4": "y" });
        assert!(written["by_names"].is_null(), "all pairs come from the caller");
        assert_eq!((&written["joints"], &written["root"]), (&joints, &json!("b/b")));
        assert_eq!(written["joints"].as_object().unwrap().keys().next().unwrap(), "a", "in the order of the joints");
        let read = JointMap::from_json(&library, source, target, Path::new("map.json"), json.as_bytes()).unwrap();
        assert_eq!(JointMap { remarks: Vec::new(), ..read }, map);
    }
    // A joint with `null` must exist, too.
    let json = br#"{ "joints": { "tail": null } }"#;
    let error = JointMap::from_json(&library, source, target, Path::new("map.json"), json).unwrap_err().to_string();
    assert!(error.contains("joints.tail: in the source, no joint is named \"tail\""), "{error}");
}

#[test]
fn a_written_map_keeps_the_reasons_for_its_pairs() {
    let human = ["Hips", "Spine", "Tail", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg", "RightFoot"];
    let human = human.map(|name| format!("mixamorig:{name}"));
    let unreal = ["pelvis", "spine_01", "tail", "thigh_l", "calf_l", "foot_l", "thigh_r", "calf_r", "foot_r"];
    let (library, source, target) = chains(&human.each_ref().map(String::as_str), &unreal);
    let read = |json: &str| {
        JointMap::from_json(&library, source, target, Path::new("map.json"), json.as_bytes()).unwrap().pairs
    };
    let map = JointMap::by_names(&library, source, target).unwrap();
    let reasons = |pairs: &[posse::retarget::JointPair]| pairs.iter().map(|pair| pair.by).collect::<Vec<_>>();
    let by_roles = vec![Role, Role, NormalizedName, Role, Role, Role, Role, Role, Role];
    assert_eq!(reasons(&map.pairs), by_roles);
    let json = map.to_json(&library);
    assert_eq!(read(&json), map.pairs);
    // As the pairs of a person, their translations would be carried over.
    let own = json.replace("\"by_names\": true", "\"by_names\": false");
    assert_eq!(reasons(&read(&own)), vec![Caller; 9]);
    // Two pairs are changed.
    let hips = json.replace("\"mixamorig:Hips\": \"pelvis\"", "\"mixamorig:Hips\": null");
    let tail = hips.replace("\"mixamorig:Tail\": \"tail\"", "\"mixamorig:Tail\": \"pelvis\"");
    let changed = read(&tail);
    assert_eq!(reasons(&changed), [Role, Caller, Role, Role, Role, Role, Role, Role]);
    assert_eq!((changed[1].source, changed[1].target), (2, 0));
}
