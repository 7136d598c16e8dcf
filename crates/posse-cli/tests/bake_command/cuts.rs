use super::resume::{baked_again, check};
use super::*;

/// The arrays of `posse bake` whose values depend on the frame alone.
const ARRAYS: &str = "pos,quat,linvel,angvel,local_pos,local_quat,local_scale,root";

/// The bytes of consecutive frames of an array.
fn rows(array: &Array, first: usize, last: usize) -> &[u8] {
    let row = array.bytes.len() / array.shape[0] as usize;
    &array.bytes[first * row..(last + 1) * row]
}

/// Asserts that a piece has the bits of frames of the whole clip, and that its times begin at 0.
#[track_caller]
fn assert_cut(whole: &BTreeMap<String, Array>, cut: &BTreeMap<String, Array>, first: usize, last: usize) {
    for name in ARRAYS.split(',') {
        assert_eq!(cut[name].shape[0] as usize, last + 1 - first, "{name}");
        assert!(cut[name].bytes == rows(&whole[name], first, last), "{name} of {first} to {last}");
    }
    let fps = whole["fps"].doubles()[0];
    let times = cut["time"].doubles();
    // The time of the last frame of a clip is clamped to its duration.
    let is_expected = |(frame, time): (usize, &f64)| (time - frame as f64 / fps).abs() < 1e-12;
    assert!(times.len() == last + 1 - first && times.iter().enumerate().all(is_expected), "{times:?}");
    assert_eq!(cut["fps"].doubles(), [fps]);
}

fn source(arrays: &BTreeMap<String, Array>) -> Value {
    serde_json::from_str(&arrays["source"].text()).unwrap()
}

/// The lines of the list of failures.
fn failures(bench: &Bench) -> Vec<Value> {
    json_lines(&fs::read(bench.path("baked/failed-00000.jsonl")).unwrap())
}

#[test]
fn a_range_has_the_frames_of_the_whole_bake() {
    let bench = Bench::with_clips();
    let bake = |out: &str, arguments: &[&str]| {
        bench.baked(&[&["clips/2.bvh", "clips/more/lift.gltf", "--arrays", ARRAYS, "-o", out], arguments].concat());
    };
    let arrays = |output: &str| npz(&bench.path(&format!("{output}.npz")));
    let stated = |output: &str| ["range", "first", "last"].map(|name| source(&arrays(output))[name].clone());
    // Of 120 frames of a BVH file at its own rate.
    bake("whole", &[]);
    bake("cut", &["--frame-range", "30:77", "--clip", "2"]);
    assert_cut(&arrays("whole/2"), &arrays("cut/2"), 30, 77);
    assert_eq!(stated("whole/2"), [Value::Null, Value::Null, Value::Null]);
    // Of 31 frames of a glTF file at 30 per second.
    bake("at-30", &["--fps", "30"]);
    bake("cut", &["--fps", "30", "--frame-range", "7:12"]);
    assert_cut(&arrays("at-30/lift#rise"), &arrays("cut/lift#rise"), 7, 12);
    // At x = 7/3 to 4, as frames are counted from 0.
    let x: Vec<f32> = arrays("cut/lift#rise")["pos"].floats().chunks(6).map(|frame| frame[3]).collect();
    assert!((x[0] - 7.0 / 3.0).abs() < 1e-5 && (x[5] - 4.0).abs() < 1e-5 && x.len() == 6, "{x:?}");
    // Frames of a BVH file are its own at any rate: from 8 to 12 at 120 per second lie 2 and 3 at 30.
    assert_cut(&arrays("at-30/2"), &arrays("cut/2"), 2, 3);
    for clip in ["cut/2", "cut/lift#rise"] {
        assert_eq!(stated(clip), [json!("7:12"), json!(7), json!(12)]);
    }
    // Open ends.
    bake("end", &["--frame-range", "100:", "--clip", "2"]);
    assert_cut(&arrays("whole/2"), &arrays("end/2"), 100, 119);
    assert_eq!(stated("end/2"), [json!("100:"), json!(100), json!(119)]);
    bake("begin", &["--frame-range", ":0", "--fps", "30"]);
    assert_cut(&arrays("at-30/lift#fall"), &arrays("begin/lift#fall"), 0, 0);
    for (text, reason) in
        [("7", "expected A:B"), ("9:3", "the last frame, 3, is before the first, 9"), ("a:", "expected A:B")]
    {
        assert_refused(&bench.bake(&["clips", "-o", "no", "--frame-range", text]), &[reason]);
    }
    bench.write("cuts.csv", "0,1,2\n");
    assert_refused(
        &bench.bake(&["clips", "-o", "no", "--frame-range", "1:2", "--cuts", "cuts.csv"]),
        &["cannot be used"],
    );
}

#[test]
fn all_formats_have_the_frames_of_a_range() {
    let bench = Bench::new();
    bench.write("walk.bvh", bvh(60, 0.0));
    bench.baked(&["walk.bvh", "-o", "baked", "--format", "usda"]);
    bench.baked(&["walk.bvh", "-o", "cut", "--format", "usda", "--frame-range", "20:29"]);
    // The same values under times from 0.
    let [whole, cut] = ["baked", "cut"].map(|out| fs::read_to_string(bench.path(&format!("{out}/walk.usda"))).unwrap());
    let values = |text: &str, times: std::ops::Range<usize>| -> Vec<String> {
        let attribute = &text[text.find("quatf[] rotations.timeSamples").unwrap()..];
        let of =
            |time: usize| attribute.lines().find_map(|line| line.trim().strip_prefix(&format!("{time}: "))).unwrap();
        times.map(|time| of(time).to_owned()).collect()
    };
    assert_eq!(values(&cut, 0..10), values(&whole, 20..30));
    assert!(cut.contains("endTimeCode = 9\n"));
    bench.baked(&["walk.bvh", "-o", "cut", "--format", "glb", "--frame-range", "20:29"]);
    let mut library = posse::Library::new();
    let asset = posse::import::gltf::load(&mut library, bench.path("cut/walk.glb")).unwrap();
    let clip = library.clip(asset.clips[0]);
    assert!((clip.duration() - 9.0 * 0.00833333).abs() < 1e-6, "{}", clip.duration());
}

/// The rows of a file of more than 8 MiB, which is read in parts of 8,192 keys. The knee is constant in the second
/// part, where its bits are the bits of its keys.
fn long_rows() -> Vec<String> {
    let row = |frame: usize| {
        let line = bvh_frame(frame, 0.0);
        let numbers: Vec<&str> = line.split_whitespace().collect();
        let knee = if frame < 8100 { &numbers[6..] } else { &["0.1", "20.3", "7.7"] };
        format!("{} {}{}\n", numbers[..6].join(" "), knee.join(" "), " ".repeat(940))
    };
    (0..9000).map(row).collect()
}

/// A file of these rows.
fn long_bvh(rows: &[String]) -> String {
    let text = bvh(0, 0.0).replace("Frames: 0", &format!("Frames: {}", rows.len())) + &rows.concat();
    assert!(text.len() > 8 << 20);
    text
}

#[test]
fn long_files_are_cut_to_the_same_bits() {
    let bench = Bench::new();
    bench.write("long.bvh", long_bvh(&long_rows()));
    let bake = |out: &str, arguments: &[&str]| {
        bench.baked(&[&["long.bvh", "--arrays", ARRAYS, "-o", out], arguments].concat());
    };
    bake("whole", &[]);
    let whole = npz(&bench.path("whole/long.npz"));
    bench.write("cuts.csv", "long,8150,8300\nlong,5,9\nlong,8200,\nlong,9000,9001\nlong,8990,9010\n");
    let output = bench.bake(&["long.bvh", "--arrays", ARRAYS, "-o", "baked", "--cuts", "cuts.csv"]);
    assert_refused(
        &output,
        &[
            "error: clip long@9000-9001: long.bvh: the frames 9000:9001 begin after the clip, whose last frame is 8999",
            "warning: long.bvh: clip long@8990-9010: the frames 8990:9010 end after the clip",
        ],
    );
    for (name, first, last) in
        [("8150-8300", 8150, 8300), ("5-9", 5, 9), ("8200-", 8200, 8999), ("8990-9010", 8990, 8999)]
    {
        let cut = npz(&bench.path(&format!("baked/long@{name}.npz")));
        assert_cut(&whole, &cut, first, last);
        assert_eq!(source(&cut)["sha256"], source(&whole)["sha256"]);
    }
    assert_eq!(failures(&bench)[0]["clip"], "long@9000-9001");
}

#[test]
fn pieces_of_long_files_may_overlap_in_any_order() {
    let bench = Bench::new();
    bench.write("long.bvh", long_bvh(&long_rows()));
    bench.baked(&["long.bvh", "--arrays", ARRAYS, "-o", "whole"]);
    let whole = npz(&bench.path("whole/long.npz"));
    let pieces = [(8300, 8999), (100, 8400), (8200, 8250), (0, 50), (4000, 8193), (40, 60), (8190, 8191), (8500, 8500)];
    let rows: String = pieces.iter().map(|(first, last)| format!("long,{first},{last}\n")).collect();
    bench.write("cuts.csv", rows);
    bench.baked(&["long.bvh", "--arrays", ARRAYS, "-o", "baked", "--cuts", "cuts.csv"]);
    for (first, last) in pieces {
        let cut = npz(&bench.path(&format!("baked/long@{first}-{last}.npz")));
        assert_cut(&whole, &cut, first, last);
        assert_eq!(source(&cut)["sha256"], source(&whole)["sha256"]);
    }
    // With --resume, only the pieces that are missing are read.
    fs::remove_file(bench.path("baked/long@8190-8191.npz")).unwrap();
    fs::remove_file(bench.path("baked/long@0-50.npz")).unwrap();
    let output =
        bench.bake(&["long.bvh", "--arrays", ARRAYS, "-o", "baked", "--cuts", "cuts.csv", "--resume", "--json"]);
    assert_code(&output, 0);
    let lines = json_lines(&output.stdout);
    let baked: Vec<&Value> = lines.iter().filter(|line| line["status"] == "baked").map(|line| &line["clip"]).collect();
    assert_eq!((lines.len(), baked), (8, vec![&json!("long@0-50"), &json!("long@8190-8191")]));
    for (first, last) in [(0, 50), (8190, 8191)] {
        assert_cut(&whole, &npz(&bench.path(&format!("baked/long@{first}-{last}.npz"))), first, last);
    }
}

#[test]
fn a_row_that_cannot_be_read_fails_a_long_file_from_there_on() {
    let bench = Bench::new();
    let mut rows = long_rows();
    rows[8500] = rows[8500].replacen(' ', " ? ", 1);
    bench.write("long.bvh", long_bvh(&rows));
    bench.write("cuts.csv", "long,8150,8300\nlong,5,9\nlong,8200,\n");
    let output = bench.bake(&["long.bvh", "-o", "baked", "--cuts", "cuts.csv"]);
    assert_refused(&output, &["error: long.bvh: line ", "1 of 3 clips, 5 frames", "1 bad input,"]);
    assert_eq!(bench.names("baked"), ["failed-00000.jsonl", "long@5-9.npz"]);
    assert_eq!(failures(&bench)[0]["clip"], Value::Null);
}

#[test]
fn warnings_about_rows_of_long_files_are_printed_once() {
    let bench = Bench::new();
    let mut rows = long_rows();
    for row in &mut rows[8500..8600] {
        *row = row.replace('.', ",");
    }
    bench.write("long.bvh", long_bvh(&rows));
    let bake = |out: &str, cuts: &[&str]| {
        let output = bench.bake(&[&["long.bvh", "-o", out], cuts].concat());
        assert_code(&output, 0);
        let warning = "the comma of a number is read as a decimal point";
        assert_eq!(stderr(&output).matches(warning).count(), 1, "{}", stderr(&output));
        assert!(stderr(&output).contains("warning: long.bvh: line "), "{}", stderr(&output));
    };
    bake("whole", &[]);
    // Pieces that overlap, so that the file is read twice.
    bench.write("cuts.csv", "long,8100,8999\nlong,8110,8900\n");
    bake("baked", &["--cuts", "cuts.csv"]);
}

#[test]
fn a_row_is_a_piece() {
    let bench = Bench::with_clips();
    bench.write(
        "cuts.csv",
        "file,first,last,name\n2.bvh,10,40,\n2,10,20,start\n./more/lift.gltf#fall,0,1,b/fall.npy\n0,,\n2,10,40,\n",
    );
    bench.baked(&["clips", "-o", "whole", "--arrays", ARRAYS]);
    let output = bench.bake(&["clips", "-o", "baked", "--arrays", ARRAYS, "--cuts", "cuts.csv", "--json"]);
    assert_code(&output, 0);
    let note = stderr(&output);
    assert!(note.contains("warning: cuts.csv: row 6: it repeats row 2, and is left out"), "{note}");
    assert!(
        note.contains("warning: cuts.csv: clips without a row, which are left out: 1, 3, 4, more/lift#rise"),
        "{note}"
    );
    assert_eq!(bench.names("baked"), ["0.npz", "2@10-40.npz", "b/fall.npz", "start.npz"]);
    for (piece, clip, first, last) in
        [("2@10-40", "2", 10, 40), ("start", "2", 10, 20), ("b/fall", "more/lift#fall", 0, 1)]
    {
        let [whole, cut] =
            [("whole", clip), ("baked", piece)].map(|(out, name)| npz(&bench.path(&format!("{out}/{name}.npz"))));
        assert_cut(&whole, &cut, first, last);
        assert_eq!((cut["clip"].text().as_str(), source(&cut)["clip"].as_str()), (piece, Some(clip)));
    }
    let lines = json_lines(&output.stdout);
    let start = lines.iter().find(|line| line["clip"] == "start").unwrap();
    assert_eq!([&start["first"], &start["last"], &start["frames"]], [10, 20, 11]);
    let listed = super::manifest_lines(&bench, "baked/manifest-00000.jsonl");
    let start = listed.iter().find(|line| line["output"] == "start.npz").unwrap();
    assert_eq!([&start["clips"][0]["source"]["first"], &start["clips"][0]["source"]["last"]], [10, 20]);
}

#[test]
fn pieces_are_dealt_to_shares_and_kept_as_clips_are() {
    let bench = Bench::with_clips();
    let cuts = ["--cuts", "cuts.csv"];
    bench.write("cuts.csv", "2,0,9\n2,10,19\n0,5,9\n3,1,2\nmore/lift#rise,0,1\n");
    bench.baked(&[["clips", "-o", "all"].as_slice(), &cuts].concat());
    for share in ["0/2", "1/2"] {
        bench.baked(&[["clips", "-o", "baked", "--shard", share].as_slice(), &cuts].concat());
    }
    let mut shared = bench.files("baked");
    shared.remove("shards.json");
    assert!(shared == bench.files("all") && shared.len() == 5);
    assert_eq!(baked_again(&bench, &cuts), [""; 0]);
    assert!(check(&bench, &cuts, 0).is_empty());
    // Another list stops a task.
    bench.write("cuts.csv", "2,0,9\n2,10,18\n0,5,9,3@1-2\n3,1,2,zero\nmore/lift#fall,0,1,more/lift#rise@0-1\n");
    let output = bench.bake(&[["clips", "-o", "baked", "--shard", "0/2"].as_slice(), &cuts].concat());
    assert_refused(&output, &["shards.json", "cuts was"]);
    // A piece of other frames, or of another clip, is made anew.
    assert_eq!(
        check(&bench, &cuts, 1),
        [
            "3@1-2: made from other frames: 1:2, not 5:9",
            "2@10-18: missing",
            "zero: missing",
            "more/lift#rise@0-1: made from another clip: more/lift#rise, not more/lift#fall",
        ]
    );
    let mut made = baked_again(&bench, &cuts);
    made.sort();
    assert_eq!(made, ["2@10-18", "3@1-2", "more/lift#rise@0-1", "zero"]);
    // The same holds for --frame-range.
    bench.baked(&["clips", "-o", "baked", "--frame-range", "0:0"]);
    assert_eq!(baked_again(&bench, &["--frame-range", ":0"]), [""; 0]);
    let lines = check(&bench, &[], 1);
    assert!(lines.len() == 7 && lines[0] == "0: made from other frames: 0:0, not all", "{lines:?}");
}

#[test]
fn rows_that_cannot_be_used_are_bad_inputs() {
    let bench = Bench::with_clips();
    bench.write(
        "cuts.csv",
        "walk,0,5\n2,0,x\n2,200,300\n2,100,300\nmore/lift,0,1\n2,0,5,../a\n2,0,5,b\n0,0,5,b\n3,9,1\n1\n",
    );
    let output = bench.bake(&["clips", "-o", "baked", "--cuts", "cuts.csv", "--json"]);
    assert_code(&output, 2);
    assert_eq!(bench.names("baked"), ["2@100-300.npz", "b.npz", "failed-00000.jsonl"]);
    let mut messages: Vec<String> =
        failures(&bench).iter().map(|line| line["message"].as_str().unwrap().into()).collect();
    messages.sort();
    let expected = [
        "cuts.csv: row 1 (walk): no input has this name; the inputs are 0.bvh, 1.bvh, 2.bvh, 3.bvh, 4.bvh and 1 more",
        "cuts.csv: row 10 (1): the number of its cells is 1; expected FILE,FIRST,LAST",
        "cuts.csv: row 2 (2): \"x\" is no frame; expected a whole number, 0 for the first frame",
        "cuts.csv: row 5 (more/lift): the file has several clips; add #CLIP to its name: rise, fall",
        "cuts.csv: row 6 (2): the name of its output is \"../a\"; expected a path below OUT",
        "cuts.csv: row 8 (0): the name of its output, b, is that of row 7; give each piece a name of its own",
        "cuts.csv: row 9 (3): the last frame, 1, is before the first, 9",
        "the frames 200:300 begin after the clip, whose last frame is 119; frames are counted from 0",
    ];
    assert_eq!(messages, expected);
    // A range that ends after the clip is shortened.
    let warning = "the frames 100:300 end after the clip, whose last frame is 119: the output ends there";
    assert!(
        stderr(&output).contains(&format!("warning: clips/2.bvh: clip 2@100-300: {warning}")),
        "{}",
        stderr(&output)
    );
    let lines = json_lines(&output.stdout);
    let line = lines.iter().find(|line| line["clip"] == "2@100-300").unwrap();
    assert_eq!(
        [&line["first"], &line["last"], &line["frames"], &line["warnings"]],
        [&json!(100), &json!(119), &json!(20), &json!([warning])]
    );
    let kept = bench.bake(&["clips", "-o", "baked", "--cuts", "cuts.csv", "--json", "--resume"]);
    let kept = json_lines(&kept.stdout);
    let line = kept.iter().find(|line| line["clip"] == "2@100-300").unwrap();
    assert_eq!([&line["status"], &line["warnings"]], [&json!("kept"), &json!([warning])]);
    // Nothing is left of a list whose rows are all bad, or of none.
    for (text, reason) in
        [("walk,0,5\nrun,0,5\n", "no other row has a piece, either (1 more)"), ("\n", "the list has no rows")]
    {
        bench.write("cuts.csv", text);
        assert_refused(&bench.bake(&["clips", "-o", "no", "--cuts", "cuts.csv"]), &["cuts.csv", reason]);
    }
    assert_refused(&bench.bake(&["clips", "-o", "no", "--cuts", "none.csv"]), &["none.csv"]);
    assert!(!bench.path("no").exists());
}

#[test]
fn the_list_of_100style_names_takes() {
    let bench = Bench::new();
    for name in ["Aeroplane/Aeroplane_BR", "Aeroplane/Aeroplane_FW", "Akimbo/Akimbo_BR"] {
        bench.write(&format!("clips/{name}.bvh"), bvh(50, 1.0));
    }
    bench.write(
        "Frame_Cuts.csv",
        "STYLE_NAME,BR_START,BR_STOP,FW_START,FW_STOP,TR2_START,TR2_STOP\r\nAeroplane,3,20,10,40,N/A,N/A\r\nAkimbo,5,30,0,9,,\r\n",
    );
    let output = bench.bake(&["clips", "-o", "baked", "--cuts", "Frame_Cuts.csv"]);
    assert_code(&output, 0);
    assert_eq!(
        bench.names("baked"),
        ["Aeroplane/Aeroplane_BR.npz", "Aeroplane/Aeroplane_FW.npz", "Akimbo/Akimbo_BR.npz"]
    );
    let frames = |name: &str| npz(&bench.path(&format!("baked/{name}.npz")))["time"].shape[0];
    assert_eq!(
        [frames("Aeroplane/Aeroplane_BR"), frames("Aeroplane/Aeroplane_FW"), frames("Akimbo/Akimbo_BR")],
        [18, 31, 26]
    );
    let note = "warning: Frame_Cuts.csv: takes that are not among the inputs, 1 of 4: Akimbo_FW";
    assert!(stderr(&output).contains(note), "{}", stderr(&output));
}

#[test]
fn lists_and_crowds_are_no_places_and_no_clips() {
    let bench = Bench::with_clips();
    bench.write("baked/2@0-1.npz", "2,0,1\n");
    let output = bench.bake(&["clips", "-o", "baked", "--cuts", "baked/2@0-1.npz"]);
    assert_refused(&output, &["would replace the file of --cuts baked/2@0-1.npz"]);
    // An input without a row is not replaced either.
    bench.baked(&["clips/more/lift.gltf", "-o", "glb", "--format", "glb"]);
    bench.write("cuts.csv", "0,0,1,lift#rise\n");
    let output =
        bench.bake(&["glb/lift#rise.glb", "clips/0.bvh", "-o", "glb", "--format", "glb", "--cuts", "cuts.csv"]);
    assert_refused(&output, &["would replace the input glb/lift#rise.glb"]);
    bench.write("rig.gltf", gltf(&[Some("go")]));
    let crowd = json!({ "files": ["rig.gltf"], "instances": [{ "file": 0, "layers": [{ "clip": "go" }] }] });
    bench.write("two.json", crowd.to_string());
    let output = bench.bake(&["two.json", "-o", "no", "--frame-range", "0:1"]);
    assert_refused(&output, &["two.json: --frame-range is not for crowd files"]);
    bench.write("cuts.csv", "two,0,1\n0,0,1\n");
    let output = bench.bake(&["two.json", "clips/0.bvh", "-o", "crowd", "--cuts", "cuts.csv"]);
    assert_refused(&output, &["row 1 (two): it is a crowd file, which has a clock and no frames"]);
    assert_eq!(bench.names("crowd"), ["0@0-1.npz", "failed-00000.jsonl"]);
}

#[test]
fn rows_of_other_folders_do_not_fit() {
    let bench = Bench::new();
    bench.write("subjectA/walk.bvh", bvh(20, 0.0));
    bench.write("subjectA/x/run.bvh", bvh(20, 0.0));
    bench.write("cuts.csv", "subjectA/walk.bvh,0,5,a\nsubjectB/walk.bvh,0,5,b\n");
    // The real path of the input tells, however the input is written.
    for (folder, input) in [(".", "subjectA"), (".", "subjectA/walk.bvh"), ("subjectA", "."), ("subjectA", "walk.bvh")]
    {
        let (out, cuts) = (bench.path("baked"), bench.path("cuts.csv"));
        let mut command = bench.command(&[input, "-o", out.to_str().unwrap(), "--cuts", cuts.to_str().unwrap()]);
        let output = command.current_dir(bench.path(folder)).output().unwrap();
        assert_refused(&output, &["row 2 (subjectB/walk.bvh): no input has this path; the inputs are walk.bvh"]);
        assert_eq!(bench.names("baked"), ["a.npz", "failed-00000.jsonl"], "{folder} {input}");
        fs::remove_dir_all(out).unwrap();
    }
    // Rows of one longer path fit a file below the input. Rows of two may be other files.
    let longer = "data/P/x/run,0,5,a\nP/x/run.bvh,6,9,b\n/mnt/data/P/x/run.npy,1,2,c\n";
    bench.write("cuts.csv", longer);
    bench.baked(&["subjectA", "-o", "baked", "--cuts", "cuts.csv"]);
    assert_eq!(bench.names("baked"), ["a.npz", "b.npz", "c.npz"]);
    bench.write("cuts.csv", format!("{longer}Q/x/run.bvh,0,5,d\nx/run,0,1,e\n"));
    let output = bench.bake(&["subjectA", "-o", "two", "--cuts", "cuts.csv"]);
    let refusal = "the input x/run.bvh fits rows of several folders: mnt/data/P/x, Q/x; give the folder above";
    assert_refused(&output, &["row 1 (data/P/x/run)", "row 2", "row 3", "row 4 (Q/x/run.bvh)", refusal]);
    assert_eq!(bench.names("two"), ["e.npz", "failed-00000.jsonl"]);
}

#[test]
fn unknown_extensions_belong_to_the_names_of_files() {
    let bench = Bench::new();
    bench.write("clips/walk.bvh", bvh(20, 0.0));
    bench.write("clips/run.001.bvh", bvh(20, 0.0));
    bench.write("cuts.csv", "walk.001,0,5,a\nrun.001,0,5,b\nwalk.pkl,0,5,c\nwalk.C3D,6,9,d.c3d\nwalk,0,1,v1.2\n");
    let output = bench.bake(&["clips", "-o", "baked", "--cuts", "cuts.csv"]);
    assert_refused(&output, &["row 1 (walk.001): no input has this name; the inputs are walk.bvh", "1 bad input,"]);
    assert_eq!(bench.names("baked"), ["b.npz", "c.npz", "d.npz", "failed-00000.jsonl", "v1.2.npz"]);
}

#[test]
fn the_first_row_is_a_row_or_a_head_line_with_known_columns() {
    let bench = Bench::with_clips();
    for (row, reason) in [("2,1.5,3.5", "\"1.5\" is no frame"), ("2,-1,-1", "\"-1\" is no frame")] {
        bench.write("cuts.csv", format!("{row}\n0,0,5,a\n"));
        let output = bench.bake(&["clips", "-o", "baked", "--cuts", "cuts.csv"]);
        assert_refused(&output, &[&format!("cuts.csv: row 1 (2): {reason}"), "1 bad input,"]);
        assert_eq!(bench.names("baked"), ["a.npz", "failed-00000.jsonl"]);
    }
    bench.write("cuts.csv", "Datei,von,bis\n0,0,5\n");
    let output = bench.bake(&["clips", "-o", "no", "--cuts", "cuts.csv"]);
    let columns = "expected file (or filename, filepath, path, ";
    assert_refused(
        &output,
        &["cuts.csv: row 1: the head line Datei, von, bis has no column file, first, last", columns],
    );
    assert!(!bench.path("no").exists());
    bench.write("cuts.csv", "Begin;End;Clip\n0;5;0\n");
    bench.baked(&["clips", "-o", "head", "--cuts", "cuts.csv"]);
    assert_eq!(bench.names("head"), ["0@0-5.npz"]);
}

#[test]
fn an_open_quote_takes_no_other_rows() {
    let bench = Bench::with_clips();
    bench.write("cuts.csv", "0,0,5,a\n2,0,5,\"b\n3,0,5,c\n0,1,2,\"d\n e\"\n2,1,2,\"f, g\"\n");
    let output = bench.bake(&["clips", "-o", "baked", "--cuts", "cuts.csv"]);
    let control = "row 4 (0): the name of its output is \"d\\n e\"; expected a name without control characters";
    assert_refused(&output, &["row 2 (2,0,5,\"b): a quote at the beginning of a cell does not close", control]);
    assert_eq!(bench.names("baked"), ["a.npz", "c.npz", "f, g.npz", "failed-00000.jsonl"]);
}

#[test]
fn the_first_share_reports_the_rows_that_cannot_be_used() {
    let bench = Bench::with_clips();
    bench.write("cuts.csv", "2,0,9\n0,0,x\n3,0,9\nnone,0,1\n");
    let bake = |share: &str| bench.bake(&["clips", "-o", "baked", "--cuts", "cuts.csv", "--shard", share]);
    let output = bake("0/2");
    assert_refused(&output, &["cuts.csv: row 2 (0)", "cuts.csv: row 4 (none)", "2 bad inputs,"]);
    let output = bake("1/2");
    assert_code(&output, 0);
    assert!(!stderr(&output).contains("error"), "{}", stderr(&output));
    assert_eq!(bench.names("baked"), ["2@0-9.npz", "3@0-9.npz", "failed-00000.jsonl", "shards.json"]);
    let check = |share: &str| bench.bake(&["--check", "baked", "clips", "--cuts", "cuts.csv", "--shard", share]);
    assert_code(&check("0/2"), 1);
    assert_code(&check("1/2"), 0);
}
