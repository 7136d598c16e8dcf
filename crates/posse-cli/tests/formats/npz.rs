//! npz files of `posse bake`: their arrays and facts, worked out by hand.

use serde_json::{Value, json};

use super::{Folder, HALF, Member, assert_near, contents};

#[test]
fn an_npz_file_holds_arrays_and_facts() {
    let folder = Folder::new();
    let file = folder.bake("out", "--fps 2 --arrays pos,local_quat,skin,weights,root").join("figure.npz");
    let member = |name: &str| Member::read(&file, name);

    assert_eq!((member("time").shape, member("time").doubles()), (vec![3], vec![0.0, 0.5, 1.0]));
    assert_eq!((member("fps").shape, member("fps").doubles()), (vec![], vec![2.0]));
    assert_eq!(member("joint_names").texts(), ["leg.l", "hip", "lamp", "socket"]);
    let parents: Vec<u8> = [1, -1, -1, 0_i32].iter().flat_map(|parent| parent.to_le_bytes()).collect();
    assert_eq!((member("parents").kind.as_str(), member("parents").bytes), ("<i4", parents));

    // In the middle, the hip stands at (0, 1, 2) and has turned by 90 degrees about z. The leg is half a metre from it,
    // along what was -y and is +x now. The socket is at (5, 0, 0) of the leg, which is its own x axis: along y now.
    assert_eq!(member("pos").shape, [3, 4, 3]);
    let middle = [[0.5, 1.0, 2.0], [0.0, 1.0, 2.0], [7.0, 0.0, 0.0], [0.5, 6.0, 2.0]];
    assert_near(&member("pos").singles()[12..24], middle.as_flattened());
    assert_eq!(member("local_quat").shape, [3, 4, 4]);
    let turns = [[HALF, 0.0, 0.0, HALF], [0.0, 0.0, HALF, HALF], [0.0, HALF, 0.0, HALF]];
    assert_near(&member("local_quat").singles()[16..28], turns.as_flattened());
    // The first joint of the skin is the hip: its inverse bind matrix moves by -1 along y, which is +1 along x now.
    assert_eq!(member("skin").shape, [3, 2, 4, 4]);
    let hip = [0.0, -1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 1.0];
    assert_near(&member("skin").singles()[32..48], &hip);
    assert_eq!((member("weights").shape, member("root").shape), (vec![3, 0], vec![3, 7]));

    for (name, expected) in [("clip", "figure"), ("quaternion_order", "xyzw"), ("up_axis", "y")] {
        assert_eq!((member(name).shape, member(name).texts()), (vec![], vec![expected.to_owned()]));
    }
    assert_eq!(member("unit_scale").doubles(), [1.0]);
    assert_eq!(member("posse_version").texts(), [env!("CARGO_PKG_VERSION")]);
    let source: Value = serde_json::from_str(&member("source").texts()[0]).unwrap();
    assert_eq!((&source["path"], source["sha256"].as_str().unwrap().len()), (&json!("figure.glb"), 64));
    assert!(serde_json::from_str::<Value>(&member("options").texts()[0]).unwrap().is_object());
}

#[test]
fn an_npz_file_of_mjlab_has_its_names_and_shapes() {
    let folder = Folder::new();
    let plain = folder.bake("plain", "--fps 2 --arrays pos,quat,linvel,angvel --quaternions wxyz").join("figure.npz");
    let mjlab = folder.bake("mjlab", "--fps 2 --layout mjlab").join("figure.npz");
    for (name, plain_name, width) in [
        ("body_pos_w", "pos", 3),
        ("body_quat_w", "quat", 4),
        ("body_lin_vel_w", "linvel", 3),
        ("body_ang_vel_w", "angvel", 3),
    ] {
        let (found, expected) = (Member::read(&mjlab, name), Member::read(&plain, plain_name));
        assert_eq!((found.shape.as_slice(), found.singles()), ([3, 4, width].as_slice(), expected.singles()));
    }
    for name in ["joint_pos", "joint_vel"] {
        let found = Member::read(&mjlab, name);
        assert_eq!((found.kind.as_str(), found.shape.as_slice(), found.bytes.len()), ("<f4", [3, 0].as_slice(), 0));
    }
    let fps = Member::read(&mjlab, "fps");
    assert_eq!((fps.shape.as_slice(), fps.doubles()), ([1].as_slice(), vec![2.0]));
    // In the first half of a second, the hip turns by 90 degrees about z.
    let angvel = Member::read(&mjlab, "body_ang_vel_w").singles();
    assert_near(&angvel[3..6], &[0.0, 0.0, std::f32::consts::PI]);
    // w comes first: the hip has not turned at the start.
    assert_near(&Member::read(&mjlab, "body_quat_w").singles()[4..8], &[1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn an_npz_file_of_gmr_has_bodies_relative_to_the_root() {
    let folder = Folder::new();
    let gmr = folder.bake("gmr", "--fps 2 --layout gmr --joints hip,leg.l,lamp,socket").join("figure.npz");
    let member = |name: &str| Member::read(&gmr, name);
    // In the middle, the hip is at (0, 1, 2), and rotated by 90 degrees about z: a place (x, y) relative to it is (y,
    // -x). The others are at (0.5, 1, 2), (7, 0, 0) and (0.5, 6, 2).
    assert_eq!((member("root_pos").shape, member("root_rot").shape), (vec![3, 3], vec![3, 4]));
    assert_near(&member("root_pos").singles()[3..6], &[0.0, 1.0, 2.0]);
    assert_near(&member("root_rot").singles()[4..8], &[0.0, 0.0, HALF, HALF]);
    assert_eq!(member("local_body_pos").shape, [3, 4, 3]);
    let middle = [[0.0, 0.0, 0.0], [0.0, -0.5, 0.0], [-1.0, -7.0, -2.0], [5.0, -0.5, 0.0]];
    assert_near(&member("local_body_pos").singles()[12..24], middle.as_flattened());
    assert_eq!(member("link_body_list").texts(), ["hip", "leg.l", "lamp", "socket"]);
    assert_eq!(
        (member("dof_pos").shape, member("fps").shape, member("fps").doubles()),
        (vec![3, 0], vec![], vec![2.0])
    );
}

#[test]
fn long_clips_equal_short_ones_at_their_common_times() {
    // 100,001 frames: their arrays leave the memory, 101 do not. Frame 1,000 of one is frame 1 of the other.
    let folder = Folder::new();
    let arrays = "--arrays pos,quat,local_pos,local_quat,local_scale,skin";
    let long = folder.bake("long", &format!("--fps 100000 {arrays}")).join("figure.npz");
    let short = folder.bake("short", &format!("--fps 100 {arrays}")).join("figure.npz");
    for name in ["pos", "quat", "local_pos", "local_quat", "local_scale", "skin"] {
        let (long, short) = (Member::read(&long, name), Member::read(&short, name));
        assert_eq!((long.shape[0], short.shape[0]), (100_001, 101));
        let frame = long.bytes.len() / 100_001;
        for (long, short) in long.bytes.chunks_exact(frame).step_by(1000).zip(short.bytes.chunks_exact(frame)) {
            assert_eq!(long, short, "{name}");
        }
    }
    assert_eq!(contents(&folder.path("long")).len(), 1);
}
