use super::*;

#[test]
fn clips_are_named_by_their_paths_below_the_folder() {
    let bench = Bench::new();
    for name in ["a.bvh", "D.BVH", "x/walk.v2.bvh", "x/notes.txt.bvh"] {
        bench.write(&format!("clips/{name}"), bvh(2, 0.0));
    }
    bench.write("clips/x/b.gltf", gltf(&[Some("walk"), Some("run/fast")]));
    bench.write("clips/x/c.gltf", gltf(&[Some("same"), Some("same"), None, Some("")]));
    bench.write("clips/x/one.gltf", gltf(&[Some("only")]));
    bench.write("clips/notes.txt", "no clip");
    bench.write("clips/list.json", "{}");
    bench.baked(&["clips", "-o", "baked"]);
    let mut expected =
        ["D", "a", "x/b#run_fast", "x/b#walk", "x/c#0", "x/c#1", "x/c#2", "x/c#3", "x/notes.txt", "x/one", "x/walk.v2"]
            .map(|name| format!("{name}.npz"))
            .to_vec();
    expected.sort();
    assert_eq!(bench.names("baked"), expected);
    let arrays = npz(&bench.path("baked/x/b#walk.npz"));
    assert_eq!(arrays["clip"].text(), "x/b#walk");
    assert!(arrays["source"].text().contains("\"path\":\"x/b.gltf\""), "{}", arrays["source"].text());
}

#[test]
fn files_globs_and_lists_are_named_by_the_file() {
    let bench = Bench::with_clips();
    bench.write("list.txt", "clips/0.bvh\r\n\n  \nclips/more/lift.gltf\n");
    for (input, expected) in [
        ("clips/more/lift.gltf", vec!["lift#fall.npz", "lift#rise.npz"]),
        ("./clips/1.bvh", vec!["1.npz"]),
        ("@list.txt", vec!["0.npz", "lift#fall.npz", "lift#rise.npz"]),
        ("clips/[0-2].bvh", vec!["0.npz", "1.npz", "2.npz"]),
        ("clips/**/*.gltf", vec!["lift#fall.npz", "lift#rise.npz"]),
    ] {
        let out = format!("out{}", input.replace(['/', '*'], "_"));
        bench.baked(&[input, "-o", &out]);
        assert_eq!(bench.names(&out), expected, "{input}");
    }
    assert_refused(&bench.bake(&["clips/*.fbx", "-o", "baked"]), &["clips/*.fbx", "no file matches"]);
    assert_refused(&bench.bake(&["nothing", "-o", "baked"]), &["nothing"]);
    assert_refused(&bench.bake(&["@nothing", "-o", "baked"]), &["nothing"]);
    assert_refused(&bench.bake(&["@", "-o", "baked"]), &["@: the name of the list is missing"]);
    bench.write("list.txt", "\n \r\n");
    assert_refused(&bench.bake(&["clips", "@list.txt", "-o", "baked"]), &["list.txt: the list is empty"]);
    fs::create_dir(bench.path("empty")).unwrap();
    assert_refused(&bench.bake(&["empty", "-o", "baked"]), &["there is no .glb, .gltf, .fbx or .bvh file in empty"]);
    assert!(!bench.path("baked").exists());
}

#[test]
fn a_missing_input_is_a_bad_one_and_does_not_stop_the_others() {
    let bench = Bench::with_clips();
    let inputs = ["clips/0.bvh", "clips/gone.bvh", "clips/1.bvh"];
    let output = bench.bake(&[&inputs[..], &["-o", "baked"]].concat());
    assert_refused(&output, &["clips/gone.bvh: ", "1 bad input, listed in failed-*.jsonl"]);
    assert_eq!(bench.names("baked"), ["0.npz", "1.npz", "failed-00000.jsonl"]);
    let failures = json_lines(&bench.files("baked")["failed-00000.jsonl"]);
    assert_eq!((&failures[0]["path"], failures.len()), (&json!("clips/gone.bvh"), 1));
    assert_code(&bench.bake(&[&inputs[..], &["-o", "allowed", "--allow-failed"]].concat()), 0);
    assert_refused(&bench.bake(&[&inputs[..], &["-o", "strict", "--strict"]].concat()), &["clips/gone.bvh: "]);
    // Without any input, there is no OUT.
    assert_refused(&bench.bake(&["clips/gone.bvh", "-o", "none"]), &["clips/gone.bvh: "]);
    // What clips a missing folder has is not known.
    assert_refused(&bench.bake(&["clips", "away", "-o", "none", "--allow-failed"]), &["away: "]);
    assert!(!bench.path("none").exists());
}

#[test]
fn clips_of_one_name_are_bad_inputs_and_do_not_stop_the_others() {
    let bench = Bench::with_clips();
    bench.write("other/0.bvh", bvh(3, 0.0));
    let output = bench.bake(&["clips", "other", "-o", "named"]);
    let hint = "rename a file, or give the folder above them as INPUT";
    assert_refused(&output, &["clips/0.bvh and other/0.bvh both have a clip of the name 0", hint, "2 bad inputs"]);
    assert_refused(&output, &["6 of 8 clips"]);
    // None of the two has the output, so that it does not depend on the order of the inputs.
    let names = ["1.npz", "2.npz", "3.npz", "4.npz", "failed-00000.jsonl", "more/lift#fall.npz", "more/lift#rise.npz"];
    assert_eq!(bench.names("named"), names);
    let failures = json_lines(&bench.files("named")["failed-00000.jsonl"]);
    let named = |field: &str| failures.iter().map(|failure| failure[field].clone()).collect::<Vec<_>>();
    assert_eq!(named("path"), ["clips/0.bvh", "other/0.bvh"]);
    assert_eq!((named("clip"), named("source")), (vec![json!("0"); 2], vec![json!("0.bvh"); 2]));
    let checked = bench.bake(&["--check", "named", "clips", "other"]);
    assert_code(&checked, 1);
    let lines = String::from_utf8(checked.stdout).unwrap();
    assert!(lines.lines().count() == 2 && lines.starts_with("0: clips/0.bvh and other/0.bvh both have"), "{lines}");
    // The second clip of the first file has the name of the second file.
    bench.write("pair/a.gltf", gltf(&[None, None]));
    bench.write("pair/a#1.bvh", bvh(2, 0.0));
    assert_refused(
        &bench.bake(&["pair", "-o", "one"]),
        &["pair/a#1.bvh and pair/a.gltf both", "pair/a.gltf and pair/a#1"],
    );
    assert_eq!(bench.names("one"), ["a#0.npz", "failed-00000.jsonl"]);
    // Names with extensions differ.
    bench.write("clips/1.gltf", gltf(&[None]));
    let output = bench.bake(&["clips", "-o", "extensions"]);
    assert_refused(
        &output,
        &["clips/1.bvh and clips/1.gltf both", "keep the extensions in the names (--keep-extension)"],
    );
    bench.baked(&["clips", "-o", "kept", "--keep-extension"]);
    let names = ["0.bvh", "1.bvh", "1.gltf", "2.bvh", "3.bvh", "4.bvh", "more/lift.gltf#fall", "more/lift.gltf#rise"];
    assert_eq!(bench.names("kept"), names.map(|name| format!("{name}.npz")));
    assert_eq!(npz(&bench.path("kept/1.gltf.npz"))["clip"].text(), "1.gltf");
    bench.write("cuts.csv", "more/lift.gltf#rise,0,1\n1.bvh,0,1,start\n");
    bench.baked(&["clips", "-o", "cut", "--keep-extension", "--cuts", "cuts.csv"]);
    assert_eq!(bench.names("cut"), ["more/lift.gltf#rise@0-1.npz", "start.npz"]);
    // Rows name files with their extensions, and pieces have names of their own.
    bench.baked(&["clips", "-o", "pieces", "--cuts", "cuts.csv"]);
    assert_eq!(bench.names("pieces"), ["more/lift#rise@0-1.npz", "start.npz"]);
}

#[test]
fn a_file_that_is_found_twice_is_one_file() {
    let bench = Bench::with_clips();
    bench.write("other/0.bvh", bvh(3, 0.0));
    bench.write("pair/a.gltf", gltf(&[None, None]));
    bench.write("zeros.txt", "clips/0.bvh\nclips/../clips/0.bvh\n");
    for inputs in [["clips/0.bvh", "clips/0.bvh"], ["clips/0.bvh", "./clips/0.bvh"], ["clips/0.bvh", "@zeros.txt"]] {
        bench.baked(&[inputs.as_slice(), &["-o", "baked"]].concat());
        assert_eq!(bench.names("baked"), ["0.npz"]);
    }
    bench.baked(&["pair/a.gltf", "./pair/a.gltf", "-o", "pairs", "--clip", "0"]);
    assert_eq!(bench.names("pairs"), ["a#0.npz"]);
    // Two names below two folders are two clips.
    bench.baked(&["clips/more", "clips/more/../more", "other", "clips", "-o", "both", "--clip", "rise"]);
    assert_eq!(bench.names("both"), ["lift#rise.npz", "more/lift#rise.npz"]);
}

#[test]
fn the_paths_of_a_list_are_relative_to_its_base() {
    let bench = Bench::with_clips();
    bench.write("clips/more/0.bvh", bvh(2, 0.0));
    let absolute = bench.path("clips/more/lift.gltf").canonicalize().unwrap();
    bench.write("list.txt", format!("0.bvh\n\nmore/0.bvh\r\n./1.bvh\n{}\n", absolute.display()));
    assert_refused(&bench.bake(&["@list.txt", "-o", "baked"]), &["3 bad inputs", "1.bvh"]);
    bench.baked(&["@list.txt", "-o", "listed", "--base", "clips"]);
    bench.baked(&["clips", "-o", "whole"]);
    let mut whole = bench.files("whole");
    whole.retain(|name, _| !["2.npz", "3.npz", "4.npz"].contains(&name.as_str()));
    assert_eq!(whole.len(), 5);
    assert!(whole == bench.files("listed"), "{:?}", bench.names("listed"));
    // Paths that lead out of the folder have no name below it.
    for (line, base) in [("../clips/0.bvh", "clips"), (absolute.to_str().unwrap(), "other"), ("a/../../b.bvh", "clips")]
    {
        bench.write("other/0.bvh", bvh(2, 0.0));
        bench.write("list.txt", format!("0.bvh\n{line}\n"));
        let output = bench.bake(&["@list.txt", "-o", "out", "--base", base]);
        assert_refused(&output, &[&format!("list.txt: line 2: --base {base}: {line} is not below it")]);
    }
    assert_refused(&bench.bake(&["@list.txt", "-o", "out", "--base", "nowhere"]), &["--base nowhere: there is no"]);
    assert_refused(&bench.bake(&["clips", "-o", "out", "--base", "clips"]), &["--base is for @LIST"]);
    assert!(!bench.path("out").exists());
}

#[test]
fn an_index_never_has_the_name_of_another_clip() {
    for (names, expected) in [
        ([Some("1"), None, Some("walk")], ["a#0", "a#1", "a#walk"]),
        ([None, Some("7"), Some("0")], ["a#0", "a#2", "a#7"]),
        // The third clip has no name, so that the second has its index, and so the first.
        ([Some("1"), Some("2"), None], ["a#0", "a#1", "a#2"]),
    ] {
        let bench = Bench::new();
        bench.write("clips/a.gltf", gltf(&names));
        bench.baked(&["clips", "-o", "baked"]);
        assert_eq!(bench.names("baked"), expected.map(|name| format!("{name}.npz")), "{names:?}");
    }
}

#[test]
fn the_folder_of_the_outputs_is_not_searched() {
    let bench = Bench::with_clips();
    for _ in 0..2 {
        bench.baked(&["clips", "-o", "clips/out", "--format", "glb"]);
        assert_eq!(bench.names("clips/out").len(), 7);
    }
    let output = bench.bake(&["clips", "-o", "clips"]);
    assert_refused(&output, &["clips is OUT or lies in it"]);
    bench.baked(
        &["clips/**/*.glb", "clips/0.bvh", "-o", "clips/out", "--format", "glb", "--resume"]
            .map(|input| if input.contains('*') { "clips/*.bvh" } else { input }),
    );
    let texts = ["clips/**/*.glb: all files that match lie in OUT (7)", "another OUT"];
    assert_refused(&bench.bake(&["clips/**/*.glb", "-o", "clips/out"]), &texts);
}

#[cfg(unix)]
#[test]
fn loops_of_links_end_and_broken_links_are_failures() {
    use std::os::unix::fs::symlink;
    let bench = Bench::with_clips();
    symlink(bench.path("clips"), bench.path("clips/more/loop")).unwrap();
    bench.write("elsewhere/linked.bvh", bvh(2, 0.0));
    symlink(bench.path("elsewhere"), bench.path("clips/link")).unwrap();
    let output = bench.bake(&["clips", "-o", "baked"]);
    assert_code(&output, 0);
    assert!(stderr(&output).contains("clips/more/loop leads back to clips"), "{}", stderr(&output));
    assert!(bench.path("baked/link/linked.npz").exists());
    assert_eq!(bench.names("baked").len(), 8);
    symlink(bench.path("gone.bvh"), bench.path("clips/gone.bvh")).unwrap();
    symlink(bench.path("gone"), bench.path("clips/gone")).unwrap();
    let output = bench.bake(&["clips", "-o", "baked"]);
    assert_refused(&output, &["clips/gone.bvh", "1 bad input,"]);
    assert_eq!(bench.names("baked").len(), 9, "with failed-00000.jsonl");
}

#[test]
fn the_content_of_a_file_decides_its_kind() {
    let bench = Bench::new();
    bench.write("walk.txt", bvh(3, 0.0));
    bench.write("clips/named.bvh", gltf(&[Some("a"), Some("b")]));
    bench.baked(&["walk.txt", "clips", "-o", "baked"]);
    assert_eq!(bench.names("baked"), ["named#a.npz", "named#b.npz", "walk.npz"]);
    // A Cocos clip moves the node of its path.
    bench.write(
        "rise.anim",
        r#"{ "name": "rise", "duration": 1, "wrapMode": 1, "keys": [[0, 1]],
             "curveDatas": { "lift": { "position": { "keys": 0, "values": [[0, 0, 0], [0, 4, 0]] } } } }"#,
    );
    bench.write("rig.gltf", gltf_of(&[], "keys.bin").replace("\"buffers\"", "\"ignored\""));
    assert_refused(&bench.bake(&["rise.anim", "-o", "baked"]), &["rise.anim is a Cocos clip", "--rig"]);
    bench.write("rig.gltf", gltf(&[]));
    bench.baked(&["rise.anim", "-o", "cocos", "--rig", "rig.gltf", "--fps", "2", "--joints", "lift"]);
    let pos = npz(&bench.path("cocos/rise.npz"))["pos"].floats();
    assert_eq!(pos, [0.0, 2.0, 0.0, 0.0, 4.0, 0.0, 0.0, 6.0, 0.0]);
}

#[test]
fn a_file_without_clips_is_a_warning() {
    let bench = Bench::with_clips();
    bench.write("clips/still.gltf", gltf(&[]));
    let output = bench.bake(&["clips", "-o", "baked", "--json"]);
    assert_code(&output, 0);
    assert!(stderr(&output).contains("warning: clips/still.gltf: the file has no clips"), "{}", stderr(&output));
    assert_eq!(bench.names("baked").len(), 7);
    let lines = json_lines(&output.stdout);
    assert_eq!(lines.len(), 8);
    let of = |status: &str| lines.iter().filter(|line| line["status"] == status).count();
    assert_eq!([of("baked"), of("empty")], [7, 1]);
    let longest = lines.iter().find(|line| line["clip"] == "2").unwrap();
    assert_eq!((&longest["path"], &longest["frames"]), (&json!("clips/2.bvh"), &json!(120)));
}

#[test]
fn single_clips_are_selected_by_name_or_index() {
    let bench = Bench::new();
    bench.write("clips/a.gltf", gltf(&[Some("walk"), Some("run")]));
    bench.write("clips/b.gltf", gltf(&[Some("1"), Some("swim")]));
    bench.baked(&["clips", "-o", "run", "--clip", "run"]);
    assert_eq!(bench.names("run"), ["a#run.npz"]);
    bench.baked(&["clips", "-o", "index", "--clip", "1"]);
    assert_eq!(bench.names("index"), ["a#run.npz", "b#1.npz"], "a name comes before an index");
    bench.baked(&["clips", "-o", "two", "--clip", "walk", "--clip", "swim"]);
    assert_eq!(bench.names("two"), ["a#walk.npz", "b#swim.npz"]);
    let unknown = ["no file has a clip dance, 2; the names are 1, run, swim, walk"];
    for arguments in [["-o", "none"].as_slice(), &["--check", "none"]] {
        let clips = ["clips", "--clip", "walk", "--clip", "dance", "--clip", "2"];
        assert_refused(&bench.bake(&[arguments, &clips].concat()), &unknown);
        assert_refused(
            &bench.bake(&[arguments, &["clips", "--clip", "WALK2"]].concat()),
            &["the names are walk, 1, run"],
        );
    }
    assert!(!bench.path("none").exists());
    // A file that cannot be read may have the clip.
    bench.write("clips/broken.gltf", "{");
    let output = bench.bake(&["clips", "-o", "rest", "--clip", "walk", "--clip", "dance"]);
    assert_refused(&output, &["warning: no file has a clip dance", "clips/broken.gltf"]);
    assert_eq!(bench.names("rest"), ["a#walk.npz", "failed-00000.jsonl"]);
}

#[test]
fn clips_of_one_name_are_all_baked_or_one_by_its_number() {
    let bench = Bench::new();
    let names = [Some("mixamo.com"), Some("mixamo.com"), Some("mixamo.com"), Some("1"), Some("a#0"), None];
    bench.write("clips/dup.gltf", gltf(&names));
    for (clip, expected) in [
        ("mixamo.com", &["dup#0", "dup#1", "dup#2"][..]),
        ("mixamo.com#2", &["dup#2"]),
        ("#1", &["dup#1"]),
        // The name comes before the index, which `#` always means.
        ("1", &["dup#3"]),
        ("a#0", &["dup#a#0"]),
        ("5", &["dup#5"]),
    ] {
        let out = format!("out {clip}");
        bench.baked(&["clips", "-o", &out, "--clip", clip]);
        assert_eq!(bench.names(&out), expected.iter().map(|name| format!("{name}.npz")).collect::<Vec<_>>(), "{clip}");
    }
    let output = bench.bake(&["clips", "-o", "baked", "--clip", "mixamo.com#3"]);
    assert_refused(&output, &["no file has a clip mixamo.com#3", "mixamo.com"]);
    bench.write("cuts.csv", "dup.gltf#mixamo.com#1,0,1,cut\ndup.gltf#mixamo.com,0,1,other\n");
    let output = bench.bake(&["clips", "-o", "cut", "--cuts", "cuts.csv"]);
    assert_refused(
        &output,
        &["row 2 (dup.gltf#mixamo.com): 3 clips are named \"mixamo.com\"; write which one: mixamo.com#0"],
    );
    assert!(bench.path("cut/cut.npz").exists());
}

#[test]
fn a_format_that_is_not_read_is_named() {
    let bench = Bench::with_clips();
    bench.write("walk.usda", "#usda 1.0\n");
    bench.write("01_01.amc", "#!OML:ASF\n:FULLY-SPECIFIED\n:DEGREES\n1\n");
    let output = bench.bake(&["walk.usda", "01_01.amc", "clips/0.bvh", "-o", "baked"]);
    assert_refused(&output, &["walk.usda: file: it is USD, which is not read; convert it to glTF 2.0"]);
    assert_refused(
        &output,
        &["01_01.amc: file: it is an Acclaim motion (AMC), which is not read; convert it with the"],
    );
    assert!(bench.path("baked/0.npz").exists());
}
