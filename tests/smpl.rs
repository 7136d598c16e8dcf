//! Files of SMPL: hand-worked cases on every engine, spellings, bodies, rest positions, and files that are refused.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
use std::path::Path;

use posse::import::smpl::{self, Asset, BodyModel, LoadOptions, Proportions};
use posse::{Error, Joint, Library, Skeleton, Transform};

use crate::support::assert_close::assert_vector;
use crate::support::build::pose_at;
use crate::support::each_engine::each_engine;
use crate::support::npz::{doubles, npy, npz, with_checksums};

const ELBOW: usize = 18;
const WRIST: usize = 20;
const HAND: usize = 22;

fn import(bytes: &[u8], rest: Option<&Proportions>) -> Result<(Library, Asset), Error> {
    import_with(bytes, &LoadOptions { rest, ..LoadOptions::default() })
}

fn import_with(bytes: &[u8], options: &LoadOptions) -> Result<(Library, Asset), Error> {
    let mut library = Library::new();
    let asset = smpl::from_slice(&mut library, Path::new("motion/wave.npz"), bytes, options)?;
    Ok((library, asset))
}

/// The proportions of a skeleton of these joints.
fn of_joints(joints: Vec<Joint>) -> Proportions {
    Proportions::of_skeleton(Skeleton::new(None, joints, Vec::new()).unwrap())
}

fn warnings(asset: &Asset) -> Vec<String> {
    asset.warnings.iter().map(ToString::to_string).collect()
}

fn refusal(arrays: &[(&str, Vec<u8>)]) -> String {
    import(&npz(arrays), None).unwrap_err().to_string()
}

/// Rest positions: all joints at (0, 0.5, 0), but the elbow a unit to the left of there, the wrist two, and the hand a
/// unit above the wrist.
fn positions() -> Vec<u8> {
    let mut positions = [[0.0, 0.5, 0.0]; 24];
    positions[ELBOW] = [1.0, 0.5, 0.0];
    positions[WRIST] = [2.0, 0.5, 0.0];
    positions[HAND] = [2.0, 1.5, 0.0];
    doubles(&[24, 3], positions.as_flattened())
}

/// Three frames: at rest, and with the left elbow rotated by 90 degrees about x, then about z.
fn poses() -> Vec<f64> {
    let mut poses = vec![0.0; 3 * 72];
    poses[72 + 3 * ELBOW] = FRAC_PI_2;
    poses[2 * 72 + 3 * ELBOW + 2] = FRAC_PI_2;
    poses
}

const TRANS: [f64; 9] = [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0];

/// The motion at two frames per second.
fn wave() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("J", positions()),
        ("poses", doubles(&[3, 72], &poses())),
        ("trans", doubles(&[3, 3], &TRANS)),
        ("mocap_framerate", doubles(&[], &[2.0])),
    ]
}

/// The arrays of [`wave`] with one of them replaced, added or, without content, removed.
fn with(name: &'static str, content: Option<Vec<u8>>) -> Vec<(&'static str, Vec<u8>)> {
    let others = wave().into_iter().filter(|(other, _)| *other != name);
    others.chain(content.map(|content| (name, content))).collect()
}

#[test]
fn an_elbow_has_the_poses_of_a_hand() {
    let (library, asset) = import(&npz(&wave()), None).unwrap();
    assert_eq!(warnings(&asset), Vec::<String>::new());
    assert_eq!((asset.model, asset.frames, asset.fps), (BodyModel::Smpl, 3, 2.0));
    let clip = asset.clip.unwrap();
    assert_eq!((library.clip(clip).name.as_deref(), library.clip(clip).duration()), (Some("wave"), 1.0));
    // The pelvis is at its rest position, moved by `trans`. The hand is a unit above the wrist; about x, up goes to +z,
    // and the arm stays. About z, the arm points up, and the hand back to the middle. Between, slerp is at 45 degrees.
    let s = FRAC_PI_4.sin();
    each_engine(&library, |engine| {
        for (time, joint, place) in [
            (0.0, 0, [0.0, 0.5, 0.0]),
            (0.0, HAND, [2.0, 1.5, 0.0]),
            (0.5, 0, [1.0, 2.5, 3.0]),
            (0.5, WRIST, [3.0, 2.5, 3.0]),
            (0.5, HAND, [3.0, 2.5, 4.0]),
            (1.0, WRIST, [2.0, 3.5, 3.0]),
            (1.0, HAND, [1.0, 3.5, 3.0]),
            (0.25, HAND, [2.5, 1.5 + s, 1.5 + s]),
        ] {
            let pose = pose_at(engine, &library, clip, time);
            assert_vector(pose.model[joint].translation, place, &format!("{} {joint} at {time}", engine.engine()));
        }
    });
}

#[test]
fn the_world_is_that_of_the_file() {
    // As in AMASS, +Z is up: the pelvis is rotated by 90 degrees about x, so that the head, above at rest, is along +z.
    // The rest position of the pelvis is not rotated.
    let mut at_rest = [[0.0, -0.25, 0.0]; 22];
    at_rest[15] = [0.0, 0.5, 0.0];
    at_rest[7] = [0.0, -1.0, 0.0];
    let arrays = [
        ("root_orient", doubles(&[1, 3], &[FRAC_PI_2, 0.0, 0.0])),
        ("pose_body", doubles(&[1, 63], &[0.0; 63])),
        ("trans", doubles(&[1, 3], &[0.5, 0.25, 0.9])),
        ("mocap_frame_rate", doubles(&[], &[120.0])),
    ];
    let rest = of_joints(joints_at(&at_rest, 1.0));
    let (library, asset) = import(&npz(&arrays), Some(&rest)).unwrap();
    assert_eq!((asset.model, asset.fps, warnings(&asset).len()), (BodyModel::Body, 120.0, 0));
    each_engine(&library, |engine| {
        let pose = pose_at(engine, &library, asset.clip.unwrap(), 0.0);
        assert_vector(pose.model[0].translation, [0.5, 0.0, 0.9], "pelvis");
        assert_vector(pose.model[15].translation, [0.5, 0.0, 1.65], "head");
    });
}

/// The names of the joints that all bodies share, as the FBX files of SMPL have them.
const NAMES: [&str; 22] = [
    "Pelvis",
    "L_Hip",
    "R_Hip",
    "Spine1",
    "L_Knee",
    "R_Knee",
    "Spine2",
    "L_Ankle",
    "R_Ankle",
    "Spine3",
    "L_Foot",
    "R_Foot",
    "Neck",
    "L_Collar",
    "R_Collar",
    "Head",
    "L_Shoulder",
    "R_Shoulder",
    "L_Elbow",
    "R_Elbow",
    "L_Wrist",
    "R_Wrist",
];

/// Joints without parents at these places, the wrists half a unit to the sides.
fn joints_at(places: &[[f64; 3]; 22], unit: f64) -> Vec<Joint> {
    let joint = |(index, (name, place)): (usize, (&&str, &[f64; 3]))| {
        let side =
            [(WRIST, 0.5), (WRIST + 1, -0.5)].iter().find(|(wrist, _)| *wrist == index).map_or(0.0, |side| side.1);
        let translation = unit * (posse::glam::DVec3::from(*place) + side * posse::glam::DVec3::X);
        let rest = Transform { translation, ..Transform::IDENTITY };
        Joint { name: Some(format!("m_avg_{name}")), rest, ..Joint::default() }
    };
    NAMES.iter().zip(places).enumerate().map(joint).collect()
}

#[test]
fn spellings_types_and_orders_of_one_motion_are_one_clip() {
    let (whole, _) = import(&npz(&wave()), None).unwrap();
    let poses = poses();
    let big: Vec<u8> = poses.iter().flat_map(|number| number.to_be_bytes()).collect();
    let columns = (0..72).flat_map(|column| (0..3).map(move |frame| 72 * frame + column));
    let fortran: Vec<u8> = columns.flat_map(|index| poses[index].to_le_bytes()).collect();
    let rest = || with("poses", None);
    let parts = |root: &'static str, body: &'static str| {
        let of = |range: std::ops::Range<usize>| -> Vec<f64> {
            poses.chunks_exact(72).flat_map(|frame| frame[range.clone()].to_vec()).collect()
        };
        let pair = [(root, doubles(&[3, 3], &of(0..3))), (body, doubles(&[3, 69], &of(3..72)))];
        rest().into_iter().chain(pair).collect::<Vec<_>>()
    };
    let rate = |name, content| with("mocap_framerate", None).into_iter().chain([(name, content)]).collect::<Vec<_>>();
    for (case, arrays) in [
        with("poses", Some(npy(">f8", false, &[3, 72], &big))),
        with("poses", Some(npy("<f8", true, &[3, 72], &fortran))),
        with("poses", Some(doubles(&[3, 24, 3], &poses))),
        rest().into_iter().chain([("fullpose", doubles(&[3, 72], &poses))]).collect(),
        parts("root_orient", "pose_body"),
        parts("global_orient", "body_pose"),
        with("trans", None).into_iter().chain([("transl", doubles(&[3, 3], &TRANS))]).collect(),
        rate("mocap_frame_rate", doubles(&[1], &[2.0])),
        rate("fps", npy("<i8", false, &[], &2_i64.to_le_bytes())),
        rate("mocap_framerate", npy("<f4", false, &[], &2_f32.to_le_bytes())),
        // Other arrays are not read, also not arrays that hold pickles.
        with("gender", Some(npy("|S4", false, &[], b"male"))),
        with("markers_latent_vids", Some(npy("|O", false, &[], b"\x80\x04N."))),
    ]
    .into_iter()
    .enumerate()
    {
        let (library, asset) = import(&npz(&arrays), None).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!(warnings(&asset), Vec::<String>::new(), "{case}");
        assert!(library.clips()[0].tracks.len() == 25 && asset.fps == 2.0, "{case}");
        assert!(library == whole, "{case}");
    }
}

#[test]
fn the_number_of_rotations_tells_the_body() {
    let names = |arrays: &[(&str, Vec<u8>)]| -> Vec<String> {
        let (library, asset) = import(&npz(arrays), None).unwrap();
        assert!(warnings(&asset).iter().any(|warning| warning.contains("adult of 1.7 m")));
        library.skeleton(asset.skeleton).joints().iter().map(|joint| joint.name.clone().unwrap()).collect()
    };
    let of_poses = |width: usize| names(&[("poses", doubles(&[1, width], &vec![0.0; width]))]);
    let last = |names: Vec<String>| (names.len(), names.last().cloned().unwrap());
    assert_eq!(last(of_poses(66)), (22, "right_wrist".into()));
    assert_eq!(last(of_poses(72)), (24, "right_hand".into()));
    assert_eq!(last(of_poses(156)), (52, "right_thumb3".into()));
    let smplx = of_poses(165);
    assert_eq!(
        [15, 22, 23, 25, 40].map(|joint| smplx[joint].as_str()),
        ["head", "jaw", "left_eye_smplhf", "left_index1", "right_index1"]
    );
    // The parts of SMPL-X, each with its own place.
    let part = |name: &'static str, width: usize| (name, doubles(&[1, width], &vec![0.0; width]));
    let (root, body, hands) = (part("root_orient", 3), part("pose_body", 63), part("pose_hand", 90));
    assert_eq!(names(&[root.clone(), body.clone(), hands.clone()]).len(), 52);
    assert_eq!(names(&[root, body, hands, part("pose_jaw", 3), part("pose_eye", 6)]), smplx);
}

#[test]
fn rotations_of_parts_come_to_their_joints() {
    let of = |width: usize, place: usize| -> Vec<f64> {
        (0..width).map(|index| if index == place { FRAC_PI_2 } else { 0.0 }).collect()
    };
    let part = |name, width: usize, place| (name, doubles(&[1, width], &of(width, place)));
    // The first rotation of each part is about x.
    let arrays = [
        part("global_orient", 3, 0),
        part("body_pose", 63, 0),
        part("jaw_pose", 3, 0),
        part("leye_pose", 3, 0),
        part("reye_pose", 3, 0),
        part("left_hand_pose", 45, 0),
        part("right_hand_pose", 45, 0),
    ];
    let (library, asset) = import(&npz(&arrays), None).unwrap();
    let tracks = &library.clip(asset.clip.unwrap()).tracks;
    let rotated: Vec<String> = tracks
        .iter()
        .filter(|track| track.curve.value(0)[0] > 0.7)
        .map(|track| format!("{:?}", track.target))
        .collect();
    assert_eq!(rotated, [0, 1, 22, 23, 24, 25, 40].map(|joint| format!("Rotation({joint})")));
}

#[test]
fn fingers_and_a_face_beside_a_body_without_them_are_read() {
    // Rotations of 90 degrees about x of the first joint of each array, and of the last joint of the body.
    let part = |name, width: usize| {
        let number = |place: usize| if place == 0 || width >= 63 && place == width - 3 { FRAC_PI_2 } else { 0.0 };
        (name, doubles(&[1, width], &(0..width).map(number).collect::<Vec<_>>()))
    };
    let rotated = |arrays: &[(&str, Vec<u8>)]| {
        let (library, asset) = import(&npz(arrays), None).unwrap();
        let tracks = library.clip(asset.clip.unwrap()).tracks.iter();
        let joints = tracks.filter(|track| track.curve.value(0)[0] > 0.7).map(|track| match track.target {
            posse::curves::Target::Rotation(joint) => joint,
            other => panic!("{other:?}"),
        });
        let without_hands = warnings(&asset).iter().any(|text| text.contains("left_hand and right_hand of SMPL"));
        (asset.model, joints.collect::<Vec<_>>(), without_hands)
    };
    let (left, right, jaw) = (part("left_hand_pose", 45), part("right_hand_pose", 45), part("jaw_pose", 3));
    let of_smpl = [part("global_orient", 3), part("body_pose", 69)];
    // The last of 23 joints is the right hand, which SMPL-H does not have.
    let both = [&of_smpl[..], &[left.clone(), right.clone()]].concat();
    assert_eq!(rotated(&both), (BodyModel::SmplH, vec![0, 1, 22, 37], true));
    assert_eq!(
        rotated(&[&both[..], std::slice::from_ref(&jaw)].concat()),
        (BodyModel::SmplX, vec![0, 1, 22, 25, 40], true)
    );
    assert_eq!(rotated(&of_smpl), (BodyModel::Smpl, vec![0, 1, 23], false));
    // The same beside all rotations in one array. The last joint without hands is the right wrist.
    assert_eq!(rotated(&[part("poses", 72), left.clone()]), (BodyModel::SmplH, vec![0, 22], true));
    assert_eq!(rotated(&[part("poses", 66), left, right]), (BodyModel::SmplH, vec![0, 21, 22, 37], false));
    assert_eq!(rotated(&[part("poses", 66), jaw]), (BodyModel::SmplX, vec![0, 21, 22], false));
    // What cannot be used is left out, and the body stays.
    let coefficients = part("left_hand_pose", 6);
    let object = ("jaw_pose", npy("|O", false, &[], b"\x80\x04N."));
    let (_, asset) = import(&npz(&[part("poses", 72), coefficients, object]), None).unwrap();
    let left_out = warnings(&asset).iter().filter(|text| text.contains("it is left out")).count();
    assert_eq!((asset.model, left_out), (BodyModel::Smpl, 2), "{:?}", warnings(&asset));
}

#[test]
fn one_row_is_the_value_of_all_frames() {
    let still = |name, content| import(&npz(&with(name, Some(content))), None).unwrap();
    for shape in [&[1, 3][..], &[3]] {
        let (library, asset) = still("trans", doubles(shape, &[1.0, 2.0, 3.0]));
        let expected = "trans.npy: it has one row, others have 3; its numbers are those of all frames";
        assert_eq!((asset.frames, warnings(&asset)), (3, vec![expected.to_owned()]));
        each_engine(&library, |engine| {
            for (time, hand) in [(0.0, [3.0, 3.5, 3.0]), (0.5, [3.0, 2.5, 4.0]), (1.0, [1.0, 3.5, 3.0])] {
                let pose = pose_at(engine, &library, asset.clip.unwrap(), time);
                assert_vector(pose.model[0].translation, [1.0, 2.5, 3.0], &format!("pelvis at {time}"));
                assert_vector(pose.model[HAND].translation, hand, &format!("hand at {time}"));
            }
        });
    }
    // A body that keeps its pose may move, too: the elbow stays rotated about z.
    let (library, asset) = still("poses", doubles(&[1, 72], &poses()[2 * 72..]));
    assert!(warnings(&asset).len() == 1 && warnings(&asset)[0].starts_with("poses.npy: it has one row"));
    assert_eq!((asset.frames, library.clips()[0].duration()), (3, 1.0));
    each_engine(&library, |engine| {
        for (time, hand) in [(0.0, [0.0, 1.5, 0.0]), (0.25, [0.5, 2.5, 1.5]), (0.5, [1.0, 3.5, 3.0])] {
            let pose = pose_at(engine, &library, asset.clip.unwrap(), time);
            assert_vector(pose.model[HAND].translation, hand, &format!("hand at {time}"));
        }
    });
}

#[test]
fn what_is_missing_is_a_warning() {
    let missing = |name| import(&npz(&with(name, None)), None).unwrap();
    let (library, asset) = missing("mocap_framerate");
    assert!(warnings(&asset)[0].contains("30 frames per second are taken"), "{:?}", warnings(&asset));
    assert_eq!((asset.fps, library.clips()[0].duration()), (30.0, 2.0 / 30.0));
    let (library, asset) = missing("trans");
    assert!(warnings(&asset)[0].contains("the pelvis stays in its place"), "{:?}", warnings(&asset));
    assert_eq!(library.clips()[0].tracks.len(), 24);
    let (library, asset) = import(&npz(&with("trans", Some(doubles(&[2, 3], &[0.0; 6])))), None).unwrap();
    assert!(warnings(&asset)[0].contains("poses.npy: it has 3 frames, others have 2"), "{:?}", warnings(&asset));
    assert_eq!((asset.frames, library.clips()[0].duration()), (2, 0.5));
    for rate in [0.0, -1.0, f64::NAN] {
        let (_, asset) = import(&npz(&with("mocap_framerate", Some(doubles(&[], &[rate])))), None).unwrap();
        assert!(asset.fps == 30.0 && warnings(&asset)[0].contains("expected a number above 0"));
    }
    // Coefficients of principal components are not rotations.
    let hands = [
        ("root_orient", doubles(&[1, 3], &[0.0; 3])),
        ("pose_body", doubles(&[1, 63], &[0.0; 63])),
        ("left_hand_pose", doubles(&[1, 12], &[0.0; 12])),
    ];
    let (_, asset) = import(&npz(&hands), None).unwrap();
    assert_eq!(asset.model, BodyModel::Body);
    let left_out =
        "12 numbers per frame are not rotations of 15 joints; it is left out, and the fingers keep their rest pose";
    assert!(warnings(&asset).iter().any(|text| text.contains(left_out)), "{:?}", warnings(&asset));
    // Without frames, the body is at rest.
    let (library, asset) = import(&npz(&with("poses", Some(doubles(&[0, 72], &[])))), None).unwrap();
    assert_eq!((asset.frames, library.clips()[0].tracks.len()), (0, 0));
}

#[test]
fn a_model_file_is_a_skeleton() {
    let (library, asset) = import(&npz(&[("J", positions())]), None).unwrap();
    assert_eq!((asset.clip, asset.model), (None, BodyModel::Smpl));
    let joints = library.skeleton(asset.skeleton).joints();
    assert_eq!(joints[0].rest.translation.to_array(), [0.0, 0.5, 0.0]);
    assert_eq!(joints[HAND].rest.translation.to_array(), [0.0, 1.0, 0.0]);
    // Each joint of the regressor is the mean of the two vertices.
    let regressor = [
        ("J_regressor", doubles(&[24, 2], &[0.5; 48])),
        ("v_template", doubles(&[2, 3], &[0.0, 1.0, 2.0, 2.0, 1.0, -2.0])),
    ];
    let (library, asset) = import(&npz(&regressor), None).unwrap();
    assert_eq!(library.skeleton(asset.skeleton).joints()[0].rest.translation.to_array(), [1.0, 1.0, 0.0]);
}

/// A model file with the positions of [`positions`] as its mean shape.
fn model_file(arrays: &[(&str, Vec<u8>)]) -> Proportions {
    Proportions::from_slice(Path::new("model.npz"), &npz(arrays)).unwrap()
}

/// The rest positions of the pelvis and the left wrist in model space, by a motion with these betas.
fn shaped(betas: Vec<u8>, rest: &Proportions) -> ([[f64; 3]; 2], Vec<String>) {
    let motion = with("J", None).into_iter().chain([("betas", betas)]).collect::<Vec<_>>();
    let (library, asset) = import(&npz(&motion), Some(rest)).unwrap();
    let joints = library.skeleton(asset.skeleton).joints();
    let place = |joint: usize| {
        let above = std::iter::successors(Some(joint), |&joint| joints[joint].parent);
        above.map(|joint| joints[joint].rest.translation).sum::<posse::glam::DVec3>().to_array()
    };
    ([place(0), place(WRIST)], warnings(&asset))
}

#[test]
fn betas_move_the_joints_of_a_model_file() {
    // The first beta moves the wrist by a unit along x, the second one the pelvis by a unit along y.
    let mut directions = vec![0.0; 24 * 3 * 2];
    directions[WRIST * 6] = 1.0;
    directions[3] = 1.0;
    let of_joints = model_file(&[("J", positions()), ("J_shapedirs", doubles(&[24, 3, 2], &directions))]);
    let expected = [[0.0, -0.5, 0.0], [4.0, 0.5, 0.0]];
    for betas in [doubles(&[2], &[2.0, -1.0]), doubles(&[2, 2], &[2.0, -1.0, 2.0, -1.0])] {
        let (places, warnings) = shaped(betas, &of_joints);
        assert!(places == expected && warnings.is_empty(), "{places:?}, {warnings:?}");
    }
    // Estimates from videos have others in each frame, but a skeleton has one shape.
    let (places, warnings) = shaped(doubles(&[2, 2], &[2.0, -1.0, 2.0, -1.5]), &of_joints);
    assert!(places == expected && warnings[0].contains("the shape of the first frame"), "{warnings:?}");
    // The same of two vertices: the wrist is the second one, all others are the first.
    let regressor: Vec<f64> = (0..24).flat_map(|joint| if joint == WRIST { [0.0, 1.0] } else { [1.0, 0.0] }).collect();
    let vertices = [
        ("J_regressor", doubles(&[24, 2], &regressor)),
        ("v_template", doubles(&[2, 3], &[0.0, 0.5, 0.0, 2.0, 0.5, 0.0])),
        ("shapedirs", doubles(&[2, 3, 2], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])),
    ];
    assert_eq!(shaped(doubles(&[2], &[2.0, -1.0]), &model_file(&vertices)).0, expected);
    // Betas of 0, and none, stand for the mean shape.
    let mean = [[0.0, 0.5, 0.0], [2.0, 0.5, 0.0]];
    for betas in [doubles(&[2], &[0.0; 2]), doubles(&[0, 1 << 40], &[])] {
        assert_eq!(shaped(betas, &of_joints), (mean, Vec::new()));
    }
    let (places, warnings) = shaped(doubles(&[3], &[2.0, -1.0, 1.0]), &of_joints);
    assert!(places == expected && warnings[0].contains("only the first 2 are used"), "{warnings:?}");
    // What cannot be used is said.
    let without = model_file(&[("J", positions())]);
    let pickled = model_file(&[("J", positions()), ("J_shapedirs", npy("|O", false, &[], b"\x80\x04N."))]);
    let of_smplx =
        model_file(&[("J", doubles(&[55, 3], &[0.0; 165])), ("J_shapedirs", doubles(&[55, 3, 1], &[1.0; 165]))]);
    for (rest, saying) in [
        (&without, "the model file has no J_shapedirs"),
        (&pickled, "J_shapedirs.npy of the model file: it is an array of Python objects"),
        (&of_smplx, "the motion is of SMPL, and the model file of SMPL-X"),
    ] {
        let (_, warnings) = shaped(doubles(&[1], &[1.0]), rest);
        assert!(
            warnings[0].starts_with("betas.npy: they are not used") && warnings[0].contains(saying),
            "{warnings:?}"
        );
    }
    let refused = Proportions::from_slice(Path::new("model.npz"), &npz(&with("J", None))).unwrap_err().to_string();
    assert!(refused.contains("model.npz: zip: it is no model file of SMPL"), "{refused}");
}

#[test]
fn joints_that_a_model_file_lacks_move_with_their_parents() {
    // SMPL and SMPL-H share their shapes, but joint 22 is a hand in one and the first joint of an index finger in the
    // other one.
    let place = |motion: usize, model: usize, beta: f64, joint: usize| {
        let mut joints = vec![[0.0, 0.0, 0.0]; model];
        joints[7] = [0.0, -0.83, 0.0];
        (joints[WRIST], joints[WRIST + 1]) = ([0.7, 0.0, 0.0], [-0.7, 0.0, 0.0]);
        // A beta moves the left wrist by a unit along x, and other joints of hands by 10 and more along y.
        let mut directions = vec![0.0; 3 * model];
        directions[3 * WRIST] = 1.0;
        (HAND..model).for_each(|joint| directions[3 * joint + 1] = 10.0 + joint as f64);
        let rest = model_file(&[
            ("J", doubles(&[model, 3], joints.as_flattened())),
            ("J_shapedirs", doubles(&[model, 3, 1], &directions)),
        ]);
        let poses = ("poses", doubles(&[1, 3 * motion], &vec![0.0; 3 * motion]));
        let (library, asset) = import(&npz(&[poses, ("betas", doubles(&[1], &[beta]))]), Some(&rest)).unwrap();
        let joints = library.skeleton(asset.skeleton).joints();
        let above = std::iter::successors(Some(joint), |&joint| joints[joint].parent);
        above.map(|joint| joints[joint].rest.translation).sum::<posse::glam::DVec3>()
    };
    for (motion, model, left, right) in [(52, 24, &[22, 24, 36][..], &[37, 51][..]), (24, 52, &[22], &[23])] {
        for (joints, x) in [(left, 2.0), (right, 0.0)] {
            for &joint in joints {
                let moved = place(motion, model, 2.0, joint) - place(motion, model, 0.0, joint);
                assert_vector(moved, [x, 0.0, 0.0], &format!("{joint} of {motion}"));
            }
        }
    }
}

#[test]
fn the_origin_of_a_skeleton_may_be_between_its_feet() {
    let mut places = [[0.0, 0.0, 0.0]; 22];
    places[7] = [0.0, -0.83, 0.0];
    places[15] = [0.0, 0.6, 0.0];
    let motion = npz(&with("J", None));
    // The pelvis of an adult with these legs, which are the legs of the adult, rests at (0, -0.22, 0.03).
    let standing = places.map(|[x, y, z]| [x, y + 0.95, z]);
    for (places, unit) in [(standing, 1.0), (standing, 100.0)] {
        let (library, asset) = import(&motion, Some(&of_joints(joints_at(&places, unit)))).unwrap();
        let joints = library.skeleton(asset.skeleton).joints();
        assert_vector(joints[0].rest.translation, [0.0, -0.22, 0.03], "pelvis");
        let pose = pose_at(&mut posse::Reference::new(&library), &library, asset.clip.unwrap(), 0.5);
        assert_vector(pose.model[0].translation, [1.0, 1.78, 3.03], "pelvis at 0.5 s");
        assert_vector(pose.model[15].translation, [1.0, 2.38, 3.03], "head at 0.5 s");
    }
}

#[test]
fn expressions_of_a_small_model_file_are_no_shapes() {
    // Ten shapes and ten expressions, which all move the only vertex by a unit along each axis.
    let rest = model_file(&[
        ("J_regressor", doubles(&[55, 1], &[1.0; 55])),
        ("v_template", doubles(&[1, 3], &[0.0; 3])),
        ("shapedirs", doubles(&[1, 3, 20], &[1.0; 60])),
    ]);
    let motion = [("poses", doubles(&[1, 165], &[0.0; 165])), ("betas", doubles(&[16], &[1.0; 16]))];
    let (library, asset) = import(&npz(&motion), Some(&rest)).unwrap();
    assert_eq!(library.skeleton(asset.skeleton).joints()[0].rest.translation.to_array(), [10.0; 3]);
    assert!(warnings(&asset).iter().any(|text| text.contains("only the first 10 are used")), "{:?}", warnings(&asset));
}

#[test]
fn what_a_file_lacks_can_be_given() {
    let (library, asset) =
        import_with(&npz(&with("mocap_framerate", None)), &LoadOptions { fps: Some(4.0), ..LoadOptions::default() })
            .unwrap();
    assert_eq!((asset.fps, library.clips()[0].duration(), warnings(&asset).len()), (4.0, 0.5, 0));
    for fps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = import_with(&npz(&wave()), &LoadOptions { fps: Some(fps), ..LoadOptions::default() }).unwrap_err();
        assert!(matches!(error, Error::Usage(_)), "{error}");
    }
    // AIST++: the translation is larger than the body by a factor.
    let scaled = [("smpl_trans", doubles(&[3, 3], &TRANS.map(|length| 50.0 * length)))];
    let scaled = with("trans", None).into_iter().chain(scaled);
    let scaled = scaled.chain([("smpl_scaling", doubles(&[1], &[50.0]))]).collect::<Vec<_>>();
    assert!(import(&npz(&scaled), None).unwrap().0 == import(&npz(&wave()), None).unwrap().0);
    // A body without a root is not rotated.
    let (_, asset) = import(&npz(&[("pose_body", doubles(&[1, 63], &[0.0; 63]))]), None).unwrap();
    assert!(warnings(&asset)[0].contains("the pelvis is not rotated"), "{:?}", warnings(&asset));
}

#[test]
fn a_skeleton_of_centimetres_gives_metres() {
    let mut places = [[0.0, 0.0, 0.0]; 22];
    places[7] = [0.0, -0.9, 0.0];
    places[15] = [0.0, 0.6, 0.0];
    let motion = npz(&with("J", None));
    let rest = of_joints(joints_at(&places, 100.0));
    let (library, asset) = import(&motion, Some(&rest)).unwrap();
    assert!(warnings(&asset)[0].contains("centimetres"), "{:?}", warnings(&asset));
    let joints = library.skeleton(asset.skeleton).joints();
    assert!((joints[15].rest.translation.y - 0.6).abs() < 1e-12);
    let refusal = |joints: Vec<Joint>| import(&motion, Some(&of_joints(joints))).unwrap_err().to_string();
    let lacking = joints_at(&places, 1.0).into_iter().filter(|joint| joint.name.as_deref() != Some("m_avg_L_Knee"));
    assert!(refusal(lacking.collect()).contains("lacks joints of the body: left_knee"));
    places[7] = [0.0, 0.0, -0.9];
    assert!(refusal(joints_at(&places, 1.0)).contains("feet down -Y"));
}

#[test]
fn other_files_are_refused_with_their_place() {
    for (arrays, expected) in [
        (
            with("poses", Some(npy("|O", false, &[3], b"\x80\x04N."))),
            "wave.npz: poses.npy: it is an array of Python objects",
        ),
        (with("poses", Some(doubles(&[3, 70], &[0.0; 210]))), "poses.npy: its shape is [3, 70], 70 numbers per frame"),
        (with("poses", Some(doubles(&[1, 24, 3, 3], &[0.0; 216]))), "rotation matrices are not read"),
        (with("trans", Some(doubles(&[3, 2], &[0.0; 6]))), "trans.npy: its shape is [3, 2]; expected (frames, 3)"),
        (with("poses", Some(doubles(&[3, 156], &[0.0; 468]))), "J.npy: it has 24 joints; expected 52"),
        (vec![("pos", doubles(&[1, 3], &[0.0; 3]))], "the arrays are pos"),
        // The rotations of a root and of fingers may belong to a hand, or to anything.
        (vec![("global_orient", doubles(&[1, 3], &[0.0; 3]))], "there is no motion of SMPL"),
        // No numbers, but a width beyond all memory.
        (with("poses", Some(npy("<f8", false, &[0, 1 << 32, 1 << 32], &[]))), "poses.npy: its shape"),
        (vec![("pose_body", doubles(&[1, 60], &[0.0; 60]))], "expected 63 or 69 numbers per frame"),
    ] {
        let error = refusal(&arrays);
        assert!(error.contains(expected), "{error}: {expected}");
    }
    let mut poses = poses();
    poses[72 + 4] = f64::NAN;
    let error = refusal(&with("poses", Some(doubles(&[3, 72], &poses))));
    assert!(error.contains("poses.npy: frame 1: number 5 of 72 is NaN"), "{error}");
}

#[test]
fn damaged_files_do_no_harm() {
    let whole = npz(&wave());
    for end in (0..whole.len()).step_by(7) {
        assert!(import(&whole[..end], None).is_err(), "{end}");
    }
    for place in 0..whole.len() {
        for bit in [0, 3, 7] {
            let mut damaged = whole.clone();
            damaged[place] ^= 1 << bit;
            // Most are refused; none may panic. With right checksums, more of a file is read.
            drop(import(&damaged, None));
            drop(import(&with_checksums(&damaged), None));
        }
    }
}
