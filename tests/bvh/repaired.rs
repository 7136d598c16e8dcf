use std::io::BufReader;
use std::path::Path;

use posse::Library;
use posse::curves::Target;
use posse::import::bvh::{self, Asset, Keys, LoadOptions, Reader, count_frames};

use crate::support::bvh_leg::LEG;
use crate::support::skip::collected_or_skip;

fn import(text: &[u8]) -> (Library, Asset) {
    let mut library = Library::new();
    let asset = bvh::from_slice(&mut library, Path::new("motion/leg.bvh"), text);
    let asset = asset.unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(text)));
    (library, asset)
}

/// The text of each warning.
fn warnings(asset: &Asset) -> Vec<String> {
    asset.warnings.iter().map(ToString::to_string).collect()
}

fn names(library: &Library, asset: &Asset) -> Vec<String> {
    library.skeleton(asset.skeleton).joints().iter().map(|joint| joint.name.clone().unwrap()).collect()
}

#[test]
fn an_end_site_may_have_a_name() {
    for (written, name) in [
        ("End Site ToeTip", "ToeTip"),
        ("End ToeTip", "ToeTip"),
        ("End Site Toe Tip ", "Toe Tip"),
        ("End Site5", "Foot_end"),
        ("end site 5", "Foot_end"),
        ("End\nSite", "Foot_end"),
    ] {
        let (library, asset) = import(LEG.replace("End Site", written).as_bytes());
        assert_eq!(names(&library, &asset), ["Hips", "Upper Leg", "Foot", name], "{written}");
        assert_eq!(warnings(&asset), Vec::<String>::new(), "{written}");
    }
}

#[test]
fn rows_beyond_the_announced_ones_are_read() {
    let (whole, of_whole) = import(LEG.as_bytes());
    for announced in ["Frames: 1", "Frames: 0"] {
        let text = LEG.replace("Frames: 2", announced).replace("90 0 0 0\n", "90 0 0 0\n\n \n");
        let (library, asset) = import(text.as_bytes());
        let number = announced.split_once(' ').unwrap().1;
        let warning = format!("Frames announces {number}, but there are 2 rows, which are all read");
        assert!(warnings(&asset).len() == 1 && warnings(&asset)[0].ends_with(&warning), "{:?}", warnings(&asset));
        assert!(library == whole && asset.frames == 2 && asset.clip == of_whole.clip, "{announced}");
        // A reader of parts is told the number beforehand.
        let mut reader = Reader::new(Path::new("leg.bvh"), BufReader::with_capacity(9, text.as_bytes())).unwrap();
        let error = reader.read(5, &mut Keys::new()).unwrap_err().to_string();
        assert!(error.contains("found more after the last of"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("leg.bvh");
        std::fs::write(&path, &text).unwrap();
        let (mut reader, mut keys) = (Reader::open(&path).unwrap(), Keys::new());
        reader.set_frames(count_frames(&path, &LoadOptions::default()).unwrap()).unwrap();
        assert_eq!((reader.read(5, &mut keys).unwrap(), reader.frames(), reader.warnings().len()), (2, 2, 1));
        assert!(keys.clip(asset.skeleton, Some("leg".into())).unwrap() == *library.clip(asset.clip));
        assert!(reader.set_frames(1).is_err());
    }
    // A time per frame is needed for two rows, also if one is announced.
    let text = LEG.replace("Frames: 2\nFrame Time: 0.5", "Frames: 1\nFrame Time: 0");
    let error = bvh::from_slice(&mut Library::new(), Path::new("a.bvh"), text.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("the frame time is 0 s with 2 frames"), "{error}");
}

#[test]
fn decimal_commas_are_points() {
    let exact = LEG.replace("OFFSET 0 -4 0", "OFFSET 0 -4.5 0").replace("2 10 0 90", "2.5 10 0.25 90");
    let commas = LEG.replace("OFFSET 0 -4 0", "OFFSET 0,0 -4,5 0,0").replace("2 10 0 90", "2,5 10 0,25 90");
    let ((whole, _), (library, asset)) = (import(exact.as_bytes()), import(commas.as_bytes()));
    assert!(whole == library);
    let message = "the comma of a number is read as a decimal point; further ones are not listed";
    assert_eq!(warnings(&asset), [format!("line 8: {message}"), format!("line 25: {message}")]);
}

#[test]
fn other_encodings_are_read() {
    let text = LEG.replace("Hips", "H\u{fc}fte").replace('\n', "\r\n");
    let (whole, of_whole) = import(text.as_bytes());
    assert_eq!(of_whole.warnings, []);
    for (order, name) in [(u16::to_le_bytes as fn(u16) -> [u8; 2], "UTF-16LE"), (u16::to_be_bytes, "UTF-16BE")] {
        let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
        let (library, asset) = import(&units.flat_map(order).collect::<Vec<u8>>());
        assert!(library == whole, "{name}");
        assert_eq!(warnings(&asset), [format!("line 1: the file is read as {name}")]);
    }
    // Windows-1252 has a byte per letter, the code point.
    let (library, asset) = import(&text.chars().map(|letter| u8::try_from(letter).unwrap()).collect::<Vec<u8>>());
    assert!(library == whole);
    assert_eq!(warnings(&asset), ["line 2: names that are not UTF-8 are read as Windows-1252"]);
    // Japanese for the left arm and for bone, whose first letter has the byte of a brace.
    let bone = &b"\x83{\x81[\x83\x93"[..];
    for (bytes, name) in [(&b"\x8d\xb6\x98r"[..], "\u{5de6}\u{8155}"), (bone, "\u{30dc}\u{30fc}\u{30f3}")] {
        let (head, rest) = LEG.split_once("Foot").unwrap();
        let (library, asset) = import(&[head.as_bytes(), bytes, rest.as_bytes()].concat());
        assert_eq!(names(&library, &asset), ["Hips", "Upper Leg", name, &format!("{name}_end")]);
        assert_eq!(warnings(&asset), ["line 10: names that are not UTF-8 are read as Shift-JIS"]);
    }
}

#[test]
fn printed_frame_times_are_rates() {
    let (_, asset) = import(LEG.replace("0.5", "0.033333").as_bytes());
    assert_eq!(asset.frame_time, 1.0 / 30.0);
    let (_, asset) = import(LEG.replace("0.5", "0,033333").as_bytes());
    assert_eq!(asset.frame_time, 1.0 / 30.0);
    let (_, asset) = import(LEG.replace("0.5", "0.033367").as_bytes());
    assert_eq!(asset.frame_time, 1001.0 / 30000.0);
}

#[test]
fn frames_per_second_stand_in_for_a_frame_time() {
    let read = |text: &str, fps| {
        let mut library = Library::new();
        let options = LoadOptions { fps: Some(fps), ..LoadOptions::default() };
        let read = bvh::from_slice_with(&mut library, Path::new("motion/leg.bvh"), text.as_bytes(), &options);
        read.map(|asset| (library, asset)).map_err(|error| error.to_string())
    };
    let (quick, _) = import(LEG.replace("Frame Time: 0.5", "Frame Time: 0.25").as_bytes());
    for head in ["", "Frame Time: 0.5\n", "Frame Time: 0\n", "Frame Time: -1 x\n", "Frame Time:\n", "\n \n"] {
        let text = LEG.replace("Frame Time: 0.5\n", head);
        let (library, asset) = read(&text, 4.0).unwrap();
        assert!(library == quick && asset.warnings.is_empty(), "{head:?}");
        assert_eq!((asset.frames, asset.frame_time), (2, 0.25), "{head:?}");
        // In parts, of a file whose rows are counted first.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("leg.bvh");
        std::fs::write(&path, text.replace("Frames: 2", "Frames: 1")).unwrap();
        let options = LoadOptions { fps: Some(4.0), ..LoadOptions::default() };
        let input = BufReader::with_capacity(9, std::fs::File::open(&path).unwrap());
        let mut reader = Reader::with_options(&path, input, &options).unwrap();
        reader.set_frames(count_frames(&path, &options).unwrap()).unwrap();
        let mut keys = Keys::new();
        while reader.read(1, &mut keys).unwrap() > 0 {}
        assert!(keys.clip(asset.skeleton, Some("leg".into())).unwrap() == *library.clip(asset.clip), "{head:?}");
    }
    let without = LEG.replace("Frame Time: 0.5\n", "");
    // The line of a row that cannot be read is the same.
    let error = read(&without.replace("90 0 0 0", "90 0 x 0"), 4.0).unwrap_err();
    assert!(error.starts_with("motion/leg.bvh: line 23: "), "{error}");
    // A row on the line of Frames is no row.
    let error = read(&without.replace("Frames: 2\n", "Frames: 2 "), 4.0).unwrap_err();
    assert!(error.contains("expected `Frame Time:`"), "{error}");
    for fps in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-40] {
        let error = read(LEG, fps).unwrap_err();
        assert!(error.contains("frames per second; expected a finite number above 0"), "{error}");
    }
    for text in [without, LEG.replace("0.5", "0")] {
        let error = bvh::from_slice(&mut Library::new(), Path::new("a.bvh"), text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(LoadOptions::NEEDS_FPS), "{error}");
    }
}

#[test]
fn end_sites_are_left_out_on_demand() {
    let text = LEG.replace("End Site", "End Site ToeTip");
    let options = LoadOptions { end_sites: false, ..LoadOptions::default() };
    let ((whole, of_whole), mut library) = (import(text.as_bytes()), Library::new());
    let asset = bvh::from_slice_with(&mut library, Path::new("motion/leg.bvh"), text.as_bytes(), &options).unwrap();
    assert_eq!(names(&whole, &of_whole), ["Hips", "Upper Leg", "Foot", "ToeTip"]);
    assert_eq!(names(&library, &asset), ["Hips", "Upper Leg", "Foot"]);
    assert!(library.clip(asset.clip) == whole.clip(of_whole.clip));
    let all = whole.skeleton(of_whole.skeleton).joints();
    assert_eq!(library.skeleton(asset.skeleton).joints(), &all[..3]);
    // Joints after an End Site have the indices of the joints that stay. Repeated names of End Sites are no warning.
    let text =
        "HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 1 Xposition End Site { OFFSET 0 1 0 } End Site { OFFSET 0 2 0 }
        JOINT b { OFFSET 0 0 1 CHANNELS 1 Zrotation End Site { OFFSET 0 3 0 } } }
        ROOT c { OFFSET 0 0 0 CHANNELS 1 Yposition }
        MOTION Frames: 1 Frame Time: 1
        5 90 7";
    let mut library = Library::new();
    let asset = bvh::from_slice_with(&mut library, Path::new("a.bvh"), text.as_bytes(), &options).unwrap();
    let joints = library.skeleton(asset.skeleton).joints();
    let found: Vec<_> = joints.iter().map(|joint| (joint.name.as_deref().unwrap(), joint.parent)).collect();
    assert_eq!(found, [("a", None), ("b", Some(0)), ("c", None)]);
    let targets: Vec<Target> = library.clip(asset.clip).tracks.iter().map(|track| track.target).collect();
    assert_eq!(targets, [Target::Translation(0), Target::Rotation(1), Target::Translation(2)]);
    assert_eq!(asset.warnings, []);
}

#[test]
fn files_of_people_are_read() {
    let Some(folder) = collected_or_skip("cases/bvh", "BVH files as people have them") else { return };
    // The name of the last joint, the frames, the seconds of a frame, and the number of warnings.
    for (case, last, frames, frame_time, warning_count) in [
        ("cr_only", "Knee_end", 3, 1.0 / 30.0, 0),
        ("endsite_named", "KneeTip", 3, 1.0 / 30.0, 0),
        ("fps_120_008333", "Knee_end", 401, 1.0 / 120.0, 0),
        ("offset_comma", "Knee_end", 3, 1.0 / 30.0, 1),
        ("rokoko_extra_row", "Knee_end", 5, 1.0 / 30.0, 1),
        ("utf16", "Knee_end", 3, 1.0 / 30.0, 1),
    ] {
        let (library, asset) = import(&std::fs::read(folder.join(case).join("in.bvh")).unwrap());
        assert_eq!(names(&library, &asset).last().unwrap(), last, "{case}");
        assert_eq!((asset.frames, asset.frame_time), (frames, frame_time), "{case}");
        assert_eq!(asset.warnings.len(), warning_count, "{case}: {:?}", warnings(&asset));
    }
    let (library, asset) = import(&std::fs::read(folder.join("cp1252_names/in.bvh")).unwrap());
    assert!(names(&library, &asset).iter().any(|name| name == "H\u{fc}fte"), "{:?}", names(&library, &asset));
    let without_time = std::fs::read(folder.join("frame_time_missing/in.bvh")).unwrap();
    let error = bvh::from_slice(&mut Library::new(), Path::new("in.bvh"), &without_time).unwrap_err().to_string();
    assert!(error.starts_with("in.bvh: line 18: found \"0.000000\"; expected `Frame Time:`. The file"), "{error}");
    let (library, asset) = import(&std::fs::read(folder.join("same_names/in.bvh")).unwrap());
    let skeleton = library.skeleton(asset.skeleton);
    // The first hand is at +20, with two ends; the second at -20.
    let hands = skeleton.select_joints(&["Hand#0", "Hips/Hand#1", "Hand_end#2"]).unwrap();
    let x: Vec<f64> = hands.iter().map(|&hand| skeleton.joints()[hand].rest.translation.x).collect();
    assert_eq!(x, [20.0, -20.0, -5.0]);
    let error = skeleton.select_joint("Hand").unwrap_err().to_string();
    assert!(error.contains("Hand#0 (/Hips/Hand), Hand#1 (/Hips/Hand)"), "{error}");
}
