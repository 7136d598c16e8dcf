//! The names of Unreal Engine's mannequins: that of version 4 with three bones in the spine, that of version 5 with five.
//!
//! Source: the skeletons `UE4_Mannequin_Skeleton` and `SK_Mannequin` that Epic Games ships with the engine's templates.

use super::Convention;

/// The bones that both mannequins have on each side.
const SIDE: &[(&str, &str)] = &[
    ("Shoulder", "clavicle_{}"),
    ("UpperArm", "upperarm_{}"),
    ("LowerArm", "lowerarm_{}"),
    ("Hand", "hand_{}"),
    ("ThumbMetacarpal", "thumb_01_{}"),
    ("ThumbProximal", "thumb_02_{}"),
    ("ThumbDistal", "thumb_03_{}"),
    ("IndexProximal", "index_01_{}"),
    ("IndexIntermediate", "index_02_{}"),
    ("IndexDistal", "index_03_{}"),
    ("MiddleProximal", "middle_01_{}"),
    ("MiddleIntermediate", "middle_02_{}"),
    ("MiddleDistal", "middle_03_{}"),
    ("RingProximal", "ring_01_{}"),
    ("RingIntermediate", "ring_02_{}"),
    ("RingDistal", "ring_03_{}"),
    ("LittleProximal", "pinky_01_{}"),
    ("LittleIntermediate", "pinky_02_{}"),
    ("LittleDistal", "pinky_03_{}"),
    ("UpperLeg", "thigh_{}"),
    ("LowerLeg", "calf_{}"),
    ("Foot", "foot_{}"),
    ("Toes", "ball_{}"),
];

pub const UNREAL_4: Convention = Convention {
    name: "Unreal's mannequin",
    needs: None,
    lacks: Some("spine_05"),
    prefixes: &[""],
    middle: &[
        ("hips", "pelvis"),
        ("spine", "spine_01"),
        ("chest", "spine_02"),
        ("upperChest", "spine_03"),
        ("neck", "neck_01"),
        ("head", "head"),
    ],
    sides: ["l", "r"],
    side: SIDE,
};

pub const UNREAL_5: Convention = Convention {
    name: "Unreal's mannequin of version 5",
    needs: Some("spine_05"),
    lacks: None,
    middle: &[
        ("hips", "pelvis"),
        ("spine", "spine_01"),
        ("chest", "spine_03"),
        ("upperChest", "spine_05"),
        ("neck", "neck_01"),
        ("head", "head"),
    ],
    ..UNREAL_4
};
