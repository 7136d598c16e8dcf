//! The names of Mixamo's rigs, with the prefix `mixamorig:` or without it.
//!
//! Source: the rigs that <https://www.mixamo.com> writes; the skeleton tables of Ready Player Me, whose avatars keep these names
//! (<https://docs.readyplayer.me/asset-creation-guide/asset-creation/templates>). Many BVH files have the same names.

use super::Convention;

pub const MIXAMO: Convention = Convention {
    name: "Mixamo",
    needs: None,
    lacks: None,
    prefixes: &["", "mixamorig"],
    middle: &[
        ("hips", "Hips"),
        ("spine", "Spine"),
        ("chest", "Spine1"),
        ("upperChest", "Spine2"),
        ("neck", "Neck"),
        ("head", "Head"),
    ],
    sides: ["Left", "Right"],
    side: &[
        ("Eye", "{}Eye"),
        ("Shoulder", "{}Shoulder"),
        ("UpperArm", "{}Arm"),
        ("LowerArm", "{}ForeArm"),
        ("Hand", "{}Hand"),
        ("ThumbMetacarpal", "{}HandThumb1"),
        ("ThumbProximal", "{}HandThumb2"),
        ("ThumbDistal", "{}HandThumb3"),
        ("IndexProximal", "{}HandIndex1"),
        ("IndexIntermediate", "{}HandIndex2"),
        ("IndexDistal", "{}HandIndex3"),
        ("MiddleProximal", "{}HandMiddle1"),
        ("MiddleIntermediate", "{}HandMiddle2"),
        ("MiddleDistal", "{}HandMiddle3"),
        ("RingProximal", "{}HandRing1"),
        ("RingIntermediate", "{}HandRing2"),
        ("RingDistal", "{}HandRing3"),
        ("LittleProximal", "{}HandPinky1"),
        ("LittleIntermediate", "{}HandPinky2"),
        ("LittleDistal", "{}HandPinky3"),
        ("UpperLeg", "{}UpLeg"),
        ("LowerLeg", "{}Leg"),
        ("Foot", "{}Foot"),
        ("Toes", "{}ToeBase"),
    ],
};
