//! The usual names of the joints of humans, in the conventions of tools and of motion data sets.
//!
//! Each table names its source. A name holds `{}` for the word of the side, and, in a finger, `#` for the word of the
//! joint. Where a table has several names for a role, the first that a skeleton has counts. To add a table, write it
//! here and into [`ALL`], with a source that others can look up, and add a real list of joints to the tests of the
//! module above.

/// The usual names of the joints of a human in a tool.
pub struct Convention {
    /// The name of the tool.
    pub name: &'static str,
    /// The prefixes of names. If joints with several of them have a role, it belongs to the first.
    pub prefixes: &'static [&'static str],
    /// Roles and names of the joints in the middle, except for the trunk.
    pub middle: &'static [(&'static str, &'static str)],
    /// The names of the joints between hips and neck, the lowest first. A skeleton has some of them.
    pub trunk: &'static [&'static str],
    /// The words for left and right in names.
    pub sides: &'static [[&'static str; 2]],
    /// Roles, without `left` or `right`, and names of the joints of a side.
    pub side: &'static [(&'static str, &'static str)],
    /// The fingers of a side.
    pub fingers: Fingers,
}

/// The names of the joints of fingers.
pub struct Fingers {
    /// The names of thumb, index, middle, ring and little finger.
    pub names: [&'static str; 5],
    /// The words for the joints of the thumb: metacarpal, proximal, distal.
    pub thumb: [&'static str; 3],
    /// The words for the joints of another finger: proximal, intermediate, distal.
    pub other: [&'static str; 3],
}

pub const ALL: [Convention; 22] = [
    MIXAMO,
    UNREAL,
    VRM,
    UNITY,
    VROID,
    RIGIFY,
    BIOVISION,
    CMU,
    POSER,
    MAKE_HUMAN,
    MAKE_HUMAN_BVH,
    XSENS,
    SOMA,
    ROKOKO,
    SMPL,
    BIPED,
    CHARACTER_CREATOR,
    BANDAI_NAMCO,
    ADVANCED_SKELETON,
    AZURE_KINECT,
    CATS,
    ROBLOX,
];

const NUMBERS: [&str; 3] = ["1", "2", "3"];

const NO_FINGERS: Fingers = Fingers { names: [""; 5], thumb: NUMBERS, other: NUMBERS };

/// Hips, neck and head with their plain names.
const HIPS_NECK_HEAD: &[(&str, &str)] = &[("hips", "Hips"), ("neck", "Neck"), ("head", "Head")];

const LEFT_RIGHT: &[[&str; 2]] = &[["left", "right"]];
const L_R: &[[&str; 2]] = &[["L", "R"]];

// The names of Mixamo's rigs, with the prefix `mixamorig:` or without it. HumanIK of Maya and MotionBuilder has the
// same names, and so have LAFAN1 (with `LeftToe`) and the BVH files of CMU's motions (with `LowerBack`).
//
// Sources: the rigs that <https://www.mixamo.com> writes; Ready Player Me, whose avatars keep these names
// (<https://docs.readyplayer.me/asset-creation-guide/asset-creation/templates>);
// <https://github.com/ubisoft/ubisoft-laforge-animation-dataset>;
// <https://sites.google.com/a/cgspeed.com/cgspeed/motion-capture>.

const MIXAMO: Convention = Convention {
    name: "Mixamo",
    prefixes: &["", "mixamorig", "Character1"],
    middle: HIPS_NECK_HEAD,
    trunk: &["LowerBack", "Spine", "Spine1", "Spine2", "Spine3", "Spine4"],
    sides: LEFT_RIGHT,
    side: &[
        ("Eye", "{}Eye"),
        ("Shoulder", "{}Shoulder"),
        ("UpperArm", "{}Arm"),
        ("LowerArm", "{}ForeArm"),
        ("Hand", "{}Hand"),
        ("UpperLeg", "{}UpLeg"),
        ("LowerLeg", "{}Leg"),
        ("Foot", "{}Foot"),
        ("Toes", "{}ToeBase"),
        ("Toes", "{}Toe"),
    ],
    fingers: Fingers {
        names: ["{}HandThumb#", "{}HandIndex#", "{}HandMiddle#", "{}HandRing#", "{}HandPinky#"],
        thumb: NUMBERS,
        other: NUMBERS,
    },
};

// The names of Unreal Engine's mannequins, of which version 4 has three bones in the spine and version
// 5 five.
//
// Source: the skeletons `UE4_Mannequin_Skeleton` and `SK_Mannequin` that Epic Games ships with the engine's templates
// (<https://dev.epicgames.com/documentation/en-us/unreal-engine/skeletons-in-unreal-engine>).

const UNREAL: Convention = Convention {
    name: "Unreal's mannequin",
    prefixes: &[""],
    middle: &[("hips", "pelvis"), ("neck", "neck_01"), ("neck", "neck"), ("head", "head")],
    trunk: &["spine_01", "spine_02", "spine_03", "spine_04", "spine_05"],
    sides: L_R,
    side: &[
        ("Shoulder", "clavicle_{}"),
        ("UpperArm", "upperarm_{}"),
        ("LowerArm", "lowerarm_{}"),
        ("Hand", "hand_{}"),
        ("UpperLeg", "thigh_{}"),
        ("LowerLeg", "calf_{}"),
        ("Foot", "foot_{}"),
        ("Toes", "ball_{}"),
    ],
    fingers: Fingers {
        names: ["thumb_#_{}", "index_#_{}", "middle_#_{}", "ring_#_{}", "pinky_#_{}"],
        thumb: ["01", "02", "03"],
        other: ["01", "02", "03"],
    },
};

// The names of VRM: the names of its roles.
//
// Source: VRM 1.0, `VRMC_vrm.humanoid`
// (<https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm-1.0/humanoid.md>).

const VRM: Convention = Convention {
    name: "VRM",
    prefixes: &[""],
    middle: &[("hips", "hips"), ("neck", "neck"), ("head", "head"), ("jaw", "jaw")],
    trunk: &["spine", "chest", "upperChest"],
    sides: LEFT_RIGHT,
    side: VRM_SIDE,
    fingers: Fingers {
        names: ["{}Thumb#", "{}Index#", "{}Middle#", "{}Ring#", "{}Little#"],
        thumb: ["Metacarpal", "Proximal", "Distal"],
        other: ["Proximal", "Intermediate", "Distal"],
    },
};

const VRM_SIDE: &[(&str, &str)] = &[
    ("Eye", "{}Eye"),
    ("Shoulder", "{}Shoulder"),
    ("UpperArm", "{}UpperArm"),
    ("LowerArm", "{}LowerArm"),
    ("Hand", "{}Hand"),
    ("UpperLeg", "{}UpperLeg"),
    ("LowerLeg", "{}LowerLeg"),
    ("Foot", "{}Foot"),
    ("Toes", "{}Toes"),
];

// The human bones of Unity, as `LeftUpperLeg` and as `Left Upper Leg`. They differ from VRM 1.0 in the thumb.
//
// Source: <https://docs.unity3d.com/ScriptReference/HumanBodyBones.html>.

const UNITY: Convention = Convention {
    name: "Unity",
    prefixes: &[""],
    middle: &[("hips", "hips"), ("neck", "neck"), ("head", "head"), ("jaw", "jaw")],
    trunk: &["spine", "chest", "upperChest"],
    sides: LEFT_RIGHT,
    side: VRM_SIDE,
    fingers: Fingers {
        names: ["{}Thumb#", "{}Index#", "{}Middle#", "{}Ring#", "{}Little#"],
        thumb: ["Proximal", "Intermediate", "Distal"],
        other: ["Proximal", "Intermediate", "Distal"],
    },
};

// The bones that VRoid Studio writes.
//
// Source: the models that it exports (<https://vroid.com/en/studio>).

const VROID: Convention = Convention {
    name: "VRoid Studio",
    prefixes: &[""],
    middle: &[("hips", "J_Bip_C_Hips"), ("neck", "J_Bip_C_Neck"), ("head", "J_Bip_C_Head")],
    trunk: &["J_Bip_C_Spine", "J_Bip_C_Chest", "J_Bip_C_UpperChest"],
    sides: L_R,
    side: &[
        ("Eye", "J_Adj_{}_FaceEye"),
        ("Shoulder", "J_Bip_{}_Shoulder"),
        ("UpperArm", "J_Bip_{}_UpperArm"),
        ("LowerArm", "J_Bip_{}_LowerArm"),
        ("Hand", "J_Bip_{}_Hand"),
        ("UpperLeg", "J_Bip_{}_UpperLeg"),
        ("LowerLeg", "J_Bip_{}_LowerLeg"),
        ("Foot", "J_Bip_{}_Foot"),
        ("Toes", "J_Bip_{}_ToeBase"),
    ],
    fingers: Fingers {
        names: ["J_Bip_{}_Thumb#", "J_Bip_{}_Index#", "J_Bip_{}_Middle#", "J_Bip_{}_Ring#", "J_Bip_{}_Little#"],
        thumb: NUMBERS,
        other: NUMBERS,
    },
};

// The names of Blender's Rigify: of its human meta-rig, and with the prefix `DEF-` of the bones of a
// generated rig that deform. The head of the basic meta-rig is `spine.005`.
//
// Source: the meta-rigs `human.py` and `basic_human.py` of the add-on (`rigify/metarigs`), which Blender ships.

const RIGIFY: Convention = Convention {
    name: "Rigify",
    prefixes: &["DEF-", "", "ORG-"],
    middle: &[("hips", "spine"), ("neck", "spine.004"), ("head", "spine.006"), ("head", "spine.005"), ("jaw", "jaw")],
    trunk: &["spine.001", "spine.002", "spine.003"],
    sides: L_R,
    side: &[
        ("Shoulder", "shoulder.{}"),
        ("UpperArm", "upper_arm.{}"),
        ("LowerArm", "forearm.{}"),
        ("Hand", "hand.{}"),
        ("UpperLeg", "thigh.{}"),
        ("LowerLeg", "shin.{}"),
        ("Foot", "foot.{}"),
        ("Toes", "toe.{}"),
    ],
    fingers: Fingers {
        names: ["thumb.#.{}", "f_index.#.{}", "f_middle.#.{}", "f_ring.#.{}", "f_pinky.#.{}"],
        thumb: ["01", "02", "03"],
        other: ["01", "02", "03"],
    },
};

// The names of Biovision, who made the format BVH: a joint has the name of the place of the body where it is, so that
// `LeftShoulder` turns the upper arm. Many BVH files have them, as the files of 100STYLE and the exports of Xsens MVN.
// The second names of a role come from the example of the University of Wisconsin.
//
// Sources: <https://research.cs.wisc.edu/graphics/Courses/cs-838-1999/Jeff/BVH.html>;
// <https://github.com/ianxmason/100style>.

const BIOVISION: Convention = Convention {
    name: "Biovision",
    prefixes: &[""],
    middle: HIPS_NECK_HEAD,
    trunk: &["LowerBack", "Spine", "Chest", "Chest1", "Chest2", "Chest3", "Chest4"],
    sides: LEFT_RIGHT,
    side: &[
        ("Shoulder", "{}Collar"),
        ("UpperArm", "{}Shoulder"),
        ("UpperArm", "{}UpArm"),
        ("LowerArm", "{}Elbow"),
        ("LowerArm", "{}LowArm"),
        ("Hand", "{}Wrist"),
        ("Hand", "{}Hand"),
        ("UpperLeg", "{}Hip"),
        ("UpperLeg", "{}UpLeg"),
        ("LowerLeg", "{}Knee"),
        ("LowerLeg", "{}LowLeg"),
        ("Foot", "{}Ankle"),
        ("Foot", "{}Foot"),
        ("Toes", "{}Toe"),
        ("Toes", "{}ToeBase"),
    ],
    fingers: NO_FINGERS,
};

// The names of the skeletons (ASF) of the motion capture database of Carnegie Mellon University. `lwrist` begins at the
// wrist.
//
// Source: the skeletons of <http://mocap.cs.cmu.edu>.

const CMU: Convention = Convention {
    name: "CMU's skeletons",
    prefixes: &[""],
    middle: &[("hips", "root"), ("neck", "lowerneck"), ("head", "head")],
    trunk: &["lowerback", "upperback", "thorax"],
    sides: &[["l", "r"]],
    side: &[
        ("Shoulder", "{}clavicle"),
        ("UpperArm", "{}humerus"),
        ("LowerArm", "{}radius"),
        ("Hand", "{}wrist"),
        ("Hand", "{}hand"),
        ("UpperLeg", "{}femur"),
        ("LowerLeg", "{}tibia"),
        ("Foot", "{}foot"),
        ("Toes", "{}toes"),
    ],
    fingers: NO_FINGERS,
};

// The names of Poser, which the figures of DAZ Studio and the BVH files for both have, too: names of Poser and of the
// first Genesis, then of Genesis 3 and 8, then of Genesis 9.
//
// Sources: <https://www.posersoftware.com/documentation>; the figures of <https://www.daz3d.com>, whose bones
// <https://bitbucket.org/Diffeomorphic/import_daz> lists.

const POSER: Convention = Convention {
    name: "Poser and DAZ Studio",
    prefixes: &[""],
    middle: &[("hips", "hip"), ("neck", "neck"), ("neck", "neckLower"), ("neck", "neck1"), ("head", "head")],
    trunk: &[
        "abdomen",
        "abdomen2",
        "abdomenLower",
        "abdomenUpper",
        "chest",
        "chestLower",
        "chestUpper",
        "spine1",
        "spine2",
        "spine3",
        "spine4",
    ],
    sides: &[["l", "r"]],
    side: &[
        ("Eye", "{}Eye"),
        ("Shoulder", "{}Collar"),
        ("Shoulder", "{}_shoulder"),
        ("UpperArm", "{}Shldr"),
        ("UpperArm", "{}ShldrBend"),
        ("UpperArm", "{}_upperarm"),
        ("LowerArm", "{}ForeArm"),
        ("LowerArm", "{}ForearmBend"),
        ("Hand", "{}Hand"),
        ("UpperLeg", "{}Thigh"),
        ("UpperLeg", "{}ThighBend"),
        ("LowerLeg", "{}Shin"),
        ("Foot", "{}Foot"),
        ("Toes", "{}Toe"),
        ("Toes", "{}Toes"),
    ],
    fingers: Fingers {
        names: ["{}Thumb#", "{}Index#", "{}Mid#", "{}Ring#", "{}Pinky#"],
        thumb: NUMBERS,
        other: NUMBERS,
    },
};

// The names of the BVH files that MakeHuman ships as poses.
//
// Source: `data/poses` of <https://github.com/makehumancommunity/makehuman>.

const MAKE_HUMAN_BVH: Convention = Convention {
    name: "MakeHuman's BVH files",
    prefixes: &[""],
    middle: &[("hips", "root"), ("neck", "neck"), ("head", "head"), ("jaw", "jaw")],
    trunk: &["spine1", "spine2", "spine3"],
    sides: L_R,
    side: &[
        ("Eye", "eye_{}"),
        ("Shoulder", "clavicle_{}"),
        ("UpperArm", "uparm_{}"),
        ("LowerArm", "loarm_{}"),
        ("Hand", "hand_{}"),
        ("UpperLeg", "upleg_{}"),
        ("LowerLeg", "loleg_{}"),
        ("Foot", "foot_{}"),
        ("Toes", "toe_{}"),
    ],
    fingers: Fingers {
        names: ["thumb#_{}", "index#_{}", "middle#_{}", "ring#_{}", "pinky#_{}"],
        thumb: NUMBERS,
        other: NUMBERS,
    },
};

// The names of MakeHuman's default rig, whose spine is numbered from above.
//
// Source: `data/rigs/default.mhskel` of <https://github.com/makehumancommunity/makehuman>.

const MAKE_HUMAN: Convention = Convention {
    name: "MakeHuman",
    prefixes: &[""],
    middle: &[("hips", "root"), ("neck", "neck01"), ("head", "head"), ("jaw", "jaw")],
    trunk: &["spine05", "spine04", "spine03", "spine02", "spine01"],
    sides: L_R,
    side: &[
        ("Eye", "eye.{}"),
        ("Shoulder", "clavicle.{}"),
        ("UpperArm", "upperarm01.{}"),
        ("LowerArm", "lowerarm01.{}"),
        ("Hand", "wrist.{}"),
        ("UpperLeg", "upperleg01.{}"),
        ("LowerLeg", "lowerleg01.{}"),
        ("Foot", "foot.{}"),
        ("Toes", "toe1-1.{}"),
    ],
    fingers: Fingers {
        names: ["finger1-#.{}", "finger2-#.{}", "finger3-#.{}", "finger4-#.{}", "finger5-#.{}"],
        thumb: NUMBERS,
        other: NUMBERS,
    },
};

// The segments of Xsens MVN, whose spine has the names of vertebrae.
//
// Source: the user manual of Xsens MVN under "Segments" (<https://www.xsens.com>).

const XSENS: Convention = Convention {
    name: "Xsens MVN",
    prefixes: &[""],
    middle: &[("hips", "Pelvis"), ("neck", "Neck"), ("head", "Head")],
    trunk: &["L5", "L3", "T12", "T8"],
    sides: LEFT_RIGHT,
    side: &[
        ("Shoulder", "{}Shoulder"),
        ("UpperArm", "{}UpperArm"),
        ("LowerArm", "{}ForeArm"),
        ("Hand", "{}Hand"),
        ("UpperLeg", "{}UpperLeg"),
        ("LowerLeg", "{}LowerLeg"),
        ("Foot", "{}Foot"),
        ("Toes", "{}Toe"),
    ],
    fingers: NO_FINGERS,
};

// The joints of NVIDIA's SOMA, whose `LeftLeg` is the upper leg. The first joint of a finger, other than the thumb, is
// in the palm.
//
// Source: <https://nvlabs.github.io/SOMA-X/stable/api/somalayer.html>.

const SOMA: Convention = Convention {
    name: "SOMA",
    prefixes: &[""],
    middle: &[("hips", "Hips"), ("neck", "Neck1"), ("head", "Head"), ("jaw", "Jaw")],
    trunk: &["Spine1", "Spine2", "Chest"],
    sides: LEFT_RIGHT,
    side: &[
        ("Eye", "{}Eye"),
        ("Shoulder", "{}Shoulder"),
        ("UpperArm", "{}Arm"),
        ("LowerArm", "{}ForeArm"),
        ("Hand", "{}Hand"),
        ("UpperLeg", "{}Leg"),
        ("LowerLeg", "{}Shin"),
        ("Foot", "{}Foot"),
        ("Toes", "{}ToeBase"),
    ],
    fingers: Fingers {
        names: ["{}HandThumb#", "{}HandIndex#", "{}HandMiddle#", "{}HandRing#", "{}HandPinky#"],
        thumb: NUMBERS,
        other: ["2", "3", "4"],
    },
};

// The joints of Rokoko Studio's own skeleton.
//
// Source: <https://github.com/Rokoko/rokoko-studio-live-blender>; the exports of
// <https://www.rokoko.com/products/studio>.

const ROKOKO: Convention = Convention {
    name: "Rokoko",
    prefixes: &[""],
    middle: HIPS_NECK_HEAD,
    trunk: &["Spine", "Spine1", "Spine2", "Spine3", "Spine4"],
    sides: LEFT_RIGHT,
    side: &[
        ("Shoulder", "{}Shoulder"),
        ("UpperArm", "{}Arm"),
        ("LowerArm", "{}ForeArm"),
        ("Hand", "{}Hand"),
        ("UpperLeg", "{}Thigh"),
        ("LowerLeg", "{}Shin"),
        ("Foot", "{}Foot"),
        ("Toes", "{}Toe"),
    ],
    fingers: Fingers {
        names: ["{}Finger1#", "{}Finger2#", "{}Finger3#", "{}Finger4#", "{}Finger5#"],
        thumb: ["Metacarpal", "Proximal", "Distal"],
        other: ["Proximal", "Medial", "Distal"],
    },
};

// The joints of SMPL, SMPL-H and SMPL-X, in their two spellings, and the joints of the SMPL bodies of physics
// simulators. The joint `left_foot` is the ball of the foot.
//
// Sources: `smplx/joint_names.py` of <https://github.com/vchoutas/smplx>; the FBX files of
// <https://smpl.is.tue.mpg.de>; `smpl_sim` of <https://github.com/ZhengyiLuo/SMPLSim>.

const SMPL: Convention = Convention {
    name: "SMPL",
    prefixes: &["", "m_avg_", "f_avg_"],
    middle: &[("hips", "Pelvis"), ("neck", "Neck"), ("head", "Head"), ("jaw", "Jaw")],
    trunk: &["Torso", "Spine", "Chest", "Spine1", "Spine2", "Spine3"],
    sides: &[["L", "R"], ["left", "right"]],
    side: &[
        ("Eye", "{}_eye_smplhf"),
        ("Eye", "{}_eye"),
        ("Shoulder", "{}_Collar"),
        ("Shoulder", "{}_Thorax"),
        ("UpperArm", "{}_Shoulder"),
        ("LowerArm", "{}_Elbow"),
        ("Hand", "{}_Wrist"),
        ("UpperLeg", "{}_Hip"),
        ("LowerLeg", "{}_Knee"),
        ("Foot", "{}_Ankle"),
        ("Toes", "{}_Toe"),
        ("Toes", "{}_Foot"),
    ],
    fingers: Fingers {
        names: ["{}_Thumb#", "{}_Index#", "{}_Middle#", "{}_Ring#", "{}_Pinky#"],
        thumb: NUMBERS,
        other: NUMBERS,
    },
};

// The names of Biped in 3ds Max, which old games and the Source engine have, too. The clavicles hang from the neck.
//
// Sources: <https://help.autodesk.com/view/3DSMAX/2025/ENU/> under "Biped";
// <https://developer.valvesoftware.com/wiki/ValveBiped>.

const BIPED: Convention = Convention {
    name: "3ds Max Biped",
    prefixes: &["Bip01", "Bip001", "Bip02", "Bip002", "ValveBiped.Bip01"],
    middle: &[("hips", "Pelvis"), ("neck", "Neck"), ("neck", "Neck1"), ("head", "Head"), ("head", "Head1")],
    trunk: &["Spine", "Spine1", "Spine2", "Spine3", "Spine4"],
    sides: L_R,
    side: &[
        ("Shoulder", "{} Clavicle"),
        ("UpperArm", "{} UpperArm"),
        ("LowerArm", "{} Forearm"),
        ("Hand", "{} Hand"),
        ("UpperLeg", "{} Thigh"),
        ("LowerLeg", "{} Calf"),
        ("Foot", "{} Foot"),
        ("Toes", "{} Toe0"),
    ],
    fingers: Fingers {
        names: ["{} Finger0#", "{} Finger1#", "{} Finger2#", "{} Finger3#", "{} Finger4#"],
        thumb: ["", "1", "2"],
        other: ["", "1", "2"],
    },
};

// The names of Character Creator, iClone and ActorCore. `CC_Base_Hip` carries both legs and spine.
//
// Source: <https://manual.reallusion.com/Character-Creator-4/> under "Bone names";
// <https://github.com/soupday/cc_blender_tools>.

const CHARACTER_CREATOR: Convention = Convention {
    name: "Character Creator",
    prefixes: &["CC_Base_"],
    middle: &[("hips", "Hip"), ("hips", "Pelvis"), ("neck", "NeckTwist01"), ("head", "Head"), ("jaw", "JawRoot")],
    trunk: &["Waist", "Spine01", "Spine02"],
    sides: L_R,
    side: &[
        ("Eye", "{}_Eye"),
        ("Shoulder", "{}_Clavicle"),
        ("UpperArm", "{}_Upperarm"),
        ("LowerArm", "{}_Forearm"),
        ("Hand", "{}_Hand"),
        ("UpperLeg", "{}_Thigh"),
        ("LowerLeg", "{}_Calf"),
        ("Foot", "{}_Foot"),
        ("Toes", "{}_ToeBase"),
    ],
    fingers: Fingers {
        names: ["{}_Thumb#", "{}_Index#", "{}_Mid#", "{}_Ring#", "{}_Pinky#"],
        thumb: NUMBERS,
        other: NUMBERS,
    },
};

// The names of the motion data sets of Bandai Namco Research. The second names of a role come from other rigs with
// the side at the end of a name.
//
// Source: <https://github.com/BandaiNamcoResearchInc/Bandai-Namco-Research-Motiondataset>.

const BANDAI_NAMCO: Convention = Convention {
    name: "Bandai Namco Research",
    prefixes: &[""],
    middle: HIPS_NECK_HEAD,
    trunk: &["Spine", "Chest", "UpperChest"],
    sides: L_R,
    side: &[
        ("Shoulder", "Shoulder_{}"),
        ("Shoulder", "Clavicle_{}"),
        ("UpperArm", "UpperArm_{}"),
        ("LowerArm", "LowerArm_{}"),
        ("LowerArm", "Forearm_{}"),
        ("Hand", "Hand_{}"),
        ("UpperLeg", "UpperLeg_{}"),
        ("UpperLeg", "Thigh_{}"),
        ("LowerLeg", "LowerLeg_{}"),
        ("LowerLeg", "Shin_{}"),
        ("LowerLeg", "Calf_{}"),
        ("Foot", "Foot_{}"),
        ("Toes", "Toes_{}"),
        ("Toes", "Toe_{}"),
    ],
    fingers: NO_FINGERS,
};

// The joints of AdvancedSkeleton for Maya. A joint has the name of its place, and `_M` in the middle.
//
// Source: <https://animationstudios.com.au/advanced-skeleton>.

const ADVANCED_SKELETON: Convention = Convention {
    name: "AdvancedSkeleton",
    prefixes: &[""],
    middle: &[("hips", "Root_M"), ("neck", "Neck_M"), ("head", "Head_M"), ("jaw", "Jaw_M")],
    trunk: &["BackA_M", "BackB_M", "Spine1_M", "Spine2_M", "Spine3_M", "Chest_M"],
    sides: L_R,
    side: &[
        ("Eye", "Eye_{}"),
        ("Shoulder", "Scapula_{}"),
        ("UpperArm", "Shoulder_{}"),
        ("LowerArm", "Elbow_{}"),
        ("Hand", "Wrist_{}"),
        ("UpperLeg", "Hip_{}"),
        ("LowerLeg", "Knee_{}"),
        ("Foot", "Ankle_{}"),
        ("Toes", "Toes_{}"),
    ],
    fingers: Fingers {
        names: ["ThumbFinger#_{}", "IndexFinger#_{}", "MiddleFinger#_{}", "RingFinger#_{}", "PinkyFinger#_{}"],
        thumb: NUMBERS,
        other: NUMBERS,
    },
};

// The joints of the body tracking of Azure Kinect.
//
// Source: `k4abt_joint_id_t` in <https://microsoft.github.io/Azure-Kinect-Body-Tracking/>.

const AZURE_KINECT: Convention = Convention {
    name: "Azure Kinect",
    prefixes: &[""],
    middle: &[("hips", "PELVIS"), ("neck", "NECK"), ("head", "HEAD")],
    trunk: &["SPINE_NAVEL", "SPINE_CHEST"],
    sides: LEFT_RIGHT,
    side: &[
        ("Shoulder", "CLAVICLE_{}"),
        ("UpperArm", "SHOULDER_{}"),
        ("LowerArm", "ELBOW_{}"),
        ("Hand", "WRIST_{}"),
        ("UpperLeg", "HIP_{}"),
        ("LowerLeg", "KNEE_{}"),
        ("Foot", "ANKLE_{}"),
        ("Toes", "FOOT_{}"),
    ],
    fingers: NO_FINGERS,
};

// The names of avatars for VRChat that the Cats plugin writes, after the English names of MikuMikuDance.
//
// Source: <https://github.com/absolute-quantum/cats-blender-plugin>.

const CATS: Convention = Convention {
    name: "Cats",
    prefixes: &[""],
    middle: HIPS_NECK_HEAD,
    trunk: &["Spine", "Chest", "UpperChest"],
    sides: LEFT_RIGHT,
    side: &[
        ("Eye", "Eye_{}"),
        ("Shoulder", "{} shoulder"),
        ("UpperArm", "{} arm"),
        ("LowerArm", "{} elbow"),
        ("Hand", "{} wrist"),
        ("UpperLeg", "{} leg"),
        ("LowerLeg", "{} knee"),
        ("Foot", "{} ankle"),
        ("Toes", "{} toe"),
    ],
    fingers: NO_FINGERS,
};

// The parts of Roblox's R15 characters.
//
// Source: <https://create.roblox.com/docs/characters>.

const ROBLOX: Convention = Convention {
    name: "Roblox",
    prefixes: &[""],
    middle: &[("hips", "LowerTorso"), ("head", "Head")],
    trunk: &["UpperTorso"],
    sides: LEFT_RIGHT,
    side: &[
        ("UpperArm", "{}UpperArm"),
        ("LowerArm", "{}LowerArm"),
        ("Hand", "{}Hand"),
        ("UpperLeg", "{}UpperLeg"),
        ("LowerLeg", "{}LowerLeg"),
        ("Foot", "{}Foot"),
    ],
    fingers: NO_FINGERS,
};
