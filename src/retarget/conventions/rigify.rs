//! The names of Blender's Rigify: those of its human meta-rig, and with the prefix `DEF-` those of the bones of a generated rig that
//! deform.
//!
//! Source: the meta-rigs `human.py` and `basic_human.py` of the add-on (`rigify/metarigs`), which Blender ships.

use super::Convention;

pub const RIGIFY: Convention = Convention {
    name: "Rigify",
    needs: None,
    lacks: None,
    prefixes: &["DEF-", "", "ORG-"],
    middle: &[
        ("hips", "spine"),
        ("spine", "spine.001"),
        ("chest", "spine.002"),
        ("upperChest", "spine.003"),
        ("neck", "spine.004"),
        ("head", "spine.006"),
        ("jaw", "jaw"),
    ],
    sides: ["L", "R"],
    side: &[
        ("Shoulder", "shoulder.{}"),
        ("UpperArm", "upper_arm.{}"),
        ("LowerArm", "forearm.{}"),
        ("Hand", "hand.{}"),
        ("ThumbMetacarpal", "thumb.01.{}"),
        ("ThumbProximal", "thumb.02.{}"),
        ("ThumbDistal", "thumb.03.{}"),
        ("IndexProximal", "f_index.01.{}"),
        ("IndexIntermediate", "f_index.02.{}"),
        ("IndexDistal", "f_index.03.{}"),
        ("MiddleProximal", "f_middle.01.{}"),
        ("MiddleIntermediate", "f_middle.02.{}"),
        ("MiddleDistal", "f_middle.03.{}"),
        ("RingProximal", "f_ring.01.{}"),
        ("RingIntermediate", "f_ring.02.{}"),
        ("RingDistal", "f_ring.03.{}"),
        ("LittleProximal", "f_pinky.01.{}"),
        ("LittleIntermediate", "f_pinky.02.{}"),
        ("LittleDistal", "f_pinky.03.{}"),
        ("UpperLeg", "thigh.{}"),
        ("LowerLeg", "shin.{}"),
        ("Foot", "foot.{}"),
        ("Toes", "toe.{}"),
    ],
};
