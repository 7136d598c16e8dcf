//! Files of tensors for training: their numbers beside the numbers of npz files, and shares that are merged.

use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::resume::{Moments, check};
use super::*;
use crate::support::walking;

const ARRAYS: &str = "pos,quat,local_quat,linvel,root,weights";

/// A file of tensors, read by the description of the format.
struct Tensors {
    header: Value,
    data: Vec<u8>,
}

impl Tensors {
    /// Reads a file. Asserts that its tensors follow without gaps, fill the file, and are aligned.
    fn read(file: &Path) -> Self {
        let bytes = fs::read(file).unwrap();
        let (length, rest) = bytes.split_first_chunk::<8>().unwrap();
        let (header, data) = rest.split_at(usize::try_from(u64::from_le_bytes(*length)).unwrap());
        assert_eq!(header.len() % 8, 0);
        let header: Value = serde_json::from_slice(header).unwrap();
        let mut places = Vec::new();
        for (name, tensor) in header.as_object().unwrap().iter().filter(|(name, _)| *name != "__metadata__") {
            let [start, end] = Self::offsets(tensor);
            let size = match tensor["dtype"].as_str().unwrap() {
                "F64" => 8,
                "F32" | "I32" => 4,
                "BOOL" => 1,
                other => panic!("{other}"),
            };
            let count: u64 =
                tensor["shape"].as_array().unwrap().iter().map(|length| length.as_u64().unwrap()).product();
            assert_eq!((end - start, start % size), (count as usize * size, 0), "{name}");
            places.push([start, end]);
        }
        places.sort();
        let ends = places.iter().fold(0, |at, [start, end]| {
            assert_eq!(at, *start);
            *end
        });
        assert_eq!(ends, data.len());
        assert!(header["__metadata__"].as_object().unwrap().values().all(Value::is_string));
        Self { data: data.to_vec(), header }
    }

    fn offsets(tensor: &Value) -> [usize; 2] {
        [0, 1].map(|index| usize::try_from(tensor["data_offsets"][index].as_u64().unwrap()).unwrap())
    }

    fn bytes(&self, name: &str) -> &[u8] {
        let [start, end] = Self::offsets(&self.header[name]);
        &self.data[start..end]
    }

    fn shape(&self, name: &str) -> Vec<u64> {
        serde_json::from_value(self.header[name]["shape"].clone()).unwrap()
    }

    fn singles(&self, name: &str) -> Vec<f32> {
        assert_eq!(self.header[name]["dtype"], "F32");
        self.bytes(name).as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    }

    /// The bytes of some rows.
    fn rows(&self, name: &str, first: u64, count: u64) -> &[u8] {
        let bytes = self.bytes(name);
        let width = bytes.len() / usize::try_from(self.shape(name)[0]).unwrap();
        let [first, count] = [first, count].map(|number| usize::try_from(number).unwrap());
        &bytes[first * width..(first + count) * width]
    }

    fn metadata(&self, key: &str) -> &str {
        self.header["__metadata__"][key].as_str().unwrap()
    }

    fn list(&self, key: &str) -> Value {
        serde_json::from_str(self.metadata(key)).unwrap()
    }
}

/// The lines of the index of a folder.
fn index(bench: &Bench, folder: &str) -> Vec<Value> {
    json_lines(&fs::read(bench.path(&format!("{folder}/index.jsonl"))).unwrap())
}

/// The files of rigs and the index of a folder.
fn library(bench: &Bench, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = bench.files(folder);
    files.retain(|name, _| name.starts_with("rig-") || name.starts_with("index."));
    files
}

/// Bakes shares into a folder, in this order.
fn bake_shares(bench: &Bench, out: &str, shares: &[&str]) {
    for share in shares {
        bench.baked(&["clips", "-o", out, "--format", "packed", "--arrays", ARRAYS, "--shard", share]);
    }
}

#[test]
fn rows_are_those_of_the_npz_files() {
    let bench = Bench::with_clips();
    bench.write("clips/slow.bvh", bvh(11, 0.5).replace("0.00833333", "0.04"));
    bench.baked(&["clips", "-o", "npz", "--arrays", ARRAYS]);
    bench.baked(&["clips", "-o", "baked", "--arrays", ARRAYS, "--format", "packed"]);
    let lines = index(&bench, "baked");
    let names: Vec<&str> = lines.iter().map(|line| line["clip"].as_str().unwrap()).collect();
    assert_eq!(names, ["0", "1", "2", "3", "4", "more/lift#fall", "more/lift#rise", "slow"]);
    let mut rows: BTreeMap<String, u64> = BTreeMap::new();
    for line in &lines {
        let arrays = npz(&bench.path(&format!("npz/{}.npz", line["clip"].as_str().unwrap())));
        let rig = line["rig"].as_str().unwrap();
        let tensors = Tensors::read(&bench.path("baked").join(rig));
        let (first, frames) = (line["first_row"].as_u64().unwrap(), line["frames"].as_u64().unwrap());
        // The clips of a rig are one after the other, without gaps.
        let end = rows.entry(rig.to_owned()).or_default();
        assert_eq!((first, frames), (*end, arrays["time"].shape[0]));
        *end += frames;
        for name in std::iter::once("time").chain(ARRAYS.split(',')) {
            assert!(tensors.rows(name, first, frames) == arrays[name].bytes, "{rig}: {name}");
            assert_eq!(tensors.shape(name)[1..], arrays[name].shape[1..]);
        }
        assert_eq!(tensors.bytes("parents"), arrays["parents"].bytes);
        assert_eq!(tensors.list("joint_names").as_array().unwrap().len() as u64, arrays["joint_names"].shape[0]);
        assert_eq!(line["fps"].as_f64(), arrays["fps"].doubles().first().copied());
        assert_eq!(tensors.list("options")["format"], "packed");
        for key in ["quaternion_order", "up_axis", "posse_version"] {
            assert_eq!(tensors.metadata(key), arrays[key].text(), "{key}");
        }
        assert_eq!(line["engine"], arrays["engine"].text());
        assert_eq!(line["source"], serde_json::from_str::<Value>(&arrays["source"].text()).unwrap());
    }
    assert_eq!(rows.len(), 2);
    for (rig, rows) in &rows {
        let tensors = Tensors::read(&bench.path("baked").join(rig));
        assert_eq!(tensors.shape("time"), [*rows]);
        assert_eq!((tensors.metadata("format"), tensors.metadata("format_version")), ("posse-packed", "1"));
        assert_eq!(format!("{}.safetensors", tensors.metadata("rig")), *rig);
    }
    // Clips of one rig may have several rates.
    assert_eq!((&lines[0]["rig"], &lines[0]["fps"], &lines[7]["fps"]), (&lines[7]["rig"], &json!(120.0), &json!(25.0)));
    assert!(lines[0]["rig"].as_str().unwrap().starts_with("rig-hip-3-"));
    assert!(lines[5]["rig"].as_str().unwrap().starts_with("rig-ground-2-"));
    // Nothing is known of the unit of a BVH file.
    let unit = |line: &Value| {
        let tensors = Tensors::read(&bench.path("baked").join(line["rig"].as_str().unwrap()));
        tensors.header["__metadata__"].get("unit").cloned()
    };
    assert_eq!((unit(&lines[0]), unit(&lines[5])), (None, Some(json!("m"))));
    // The part is gone.
    assert!(bench.names("baked").iter().all(|name| name.starts_with("rig-") || name.starts_with("index.")));
}

#[test]
fn clips_of_one_rig_may_rest_in_several_poses() {
    let bench = Bench::new();
    bench.write("clips/a.bvh", bvh(3, 0.0));
    // Where the root rests has no meaning.
    bench.write("clips/b.bvh", bvh(3, 0.0).replace("OFFSET 0 1 0", "OFFSET 7 1 3"));
    bench.write("clips/c.bvh", bvh(3, 0.0).replace("OFFSET 0 -0.5 0", "OFFSET 0 -0.75 0"));
    bench.write("clips/d.bvh", bvh(3, 0.0));
    // A joint of another name is another rig.
    bench.write("clips/e.bvh", bvh(3, 0.0).replace("JOINT knee", "JOINT shin"));
    bench.baked(&[
        "clips",
        "-o",
        "baked",
        "--format",
        "packed",
        "--scale",
        "100",
        "--up",
        "z",
        "--quaternions",
        "wxyz",
    ]);
    let lines = index(&bench, "baked");
    let rests: Vec<u64> = lines.iter().map(|line| line["rest"].as_u64().unwrap()).collect();
    assert_eq!(rests, [0, 0, 1, 0, 0]);
    assert!(lines[..4].iter().all(|line| line["rig"] == lines[0]["rig"]) && lines[4]["rig"] != lines[0]["rig"]);
    let tensors = Tensors::read(&bench.path("baked").join(lines[0]["rig"].as_str().unwrap()));
    assert_eq!((tensors.shape("rest_pos"), tensors.shape("rest_quat")), (vec![2, 3, 3], vec![2, 3, 4]));
    // Hip, knee and the end of the knee, in hundredths: OFFSETs of BVH files, along the axes of the joints.
    let ends = [[0.0, 0.0, 0.0, 0.0, -50.0, 0.0, 0.0, -40.0, 10.0], [0.0, 0.0, 0.0, 0.0, -75.0, 0.0, 0.0, -40.0, 10.0]];
    let found = tensors.singles("rest_pos");
    assert!(
        found.iter().zip(ends.as_flattened()).all(|(found, expected): (&f32, &f32)| (found - expected).abs() < 1e-5)
    );
    // The root is rotated by 90 degrees about x, so that +Z is up; the others have no rotation. w comes first.
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let rotations = [half, half, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    let found = tensors.singles("rest_quat");
    assert!(
        found.iter().zip(rotations.repeat(2)).all(|(found, expected)| (found - expected).abs() < 1e-7),
        "{found:?}"
    );
}

#[test]
fn a_rest_pose_with_a_rotation_by_180_degrees_has_one_sign() {
    let bench = Bench::new();
    for (name, rotation) in [("a", [0, 0, 1, 0]), ("b", [0, 0, -1, 0]), ("c", [0, 1, 0, 0])] {
        let mut file: Value = serde_json::from_str(&gltf(&[Some("lift")])).unwrap();
        file["nodes"][1]["rotation"] = json!(rotation);
        bench.write(&format!("clips/{name}.gltf"), file.to_string());
    }
    bench.baked(&["clips", "-o", "baked", "--format", "packed"]);
    let rests: Vec<Value> = index(&bench, "baked").iter().map(|line| line["rest"].clone()).collect();
    assert_eq!(rests, [json!(0), json!(0), json!(1)]);
}

#[test]
fn contacts_are_booleans() {
    let bench = Bench::new();
    bench.write("clips/walk.bvh", walking::bvh(walking::THIGH_AND_CALF, 61));
    bench.baked(&["clips", "-o", "npz", "--arrays", "contact,pos"]);
    bench.baked(&["clips", "-o", "baked", "--arrays", "contact,pos", "--format", "packed", "--quality"]);
    let line = &index(&bench, "baked")[0];
    let tensors = Tensors::read(&bench.path("baked").join(line["rig"].as_str().unwrap()));
    assert_eq!((&tensors.header["contact"]["dtype"], tensors.shape("contact")), (&json!("BOOL"), vec![61, 2]));
    assert_eq!(tensors.bytes("contact"), npz(&bench.path("npz/walk.npz"))["contact"].bytes);
    assert_eq!(tensors.list("contact_feet"), json!(["LeftFoot", "RightFoot"]));
    assert!(line["quality"].is_object());
}

#[test]
fn shares_have_the_bytes_of_one_run() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "whole", "--format", "packed", "--arrays", ARRAYS, "--threads", "3"]);
    let expected = library(&bench, "whole");
    assert!(expected.contains_key("index.jsonl"));
    assert_eq!(expected.contains_key("index.parquet"), cfg!(feature = "parquet"));
    let cases: [(&str, &[&str]); 3] =
        [("one", &["0/1"]), ("three", &["2/3", "0/3", "1/3"]), ("many", &["0/4", "3/4", "1/4", "2/4"])];
    for (out, shares) in cases {
        bake_shares(&bench, out, shares);
        assert!(library(&bench, out).is_empty(), "shares are not merged by themselves");
        bench.baked(&["--merge", out]);
        assert!(library(&bench, out) == expected, "{out}");
        let mut rest = bench.names(out);
        rest.retain(|name| !expected.contains_key(name));
        assert_eq!(rest, ["merged.json", "shards.json"]);
    }
    // Shares without clips have parts, too.
    let nine: Vec<String> = (0..9).map(|share| format!("{share}/9")).collect();
    bake_shares(&bench, "nine", &nine.iter().map(String::as_str).collect::<Vec<_>>());
    bench.baked(&["--merge", "nine"]);
    assert!(library(&bench, "nine") == expected);
}

#[test]
fn shares_of_a_plan_are_merged() {
    let bench = Bench::with_clips();
    let options = ["--format", "packed", "--arrays", ARRAYS];
    bench.baked(&[["clips", "-o", "whole"].as_slice(), &options].concat());
    bench.baked(&[["clips", "-o", "baked", "--plan", "2"].as_slice(), &options].concat());
    for share in ["1/2", "0/2"] {
        bench.baked(&[["-o", "baked", "--plan", "baked/plan.jsonl", "--shard", share].as_slice(), &options].concat());
    }
    bench.baked(&["--merge", "baked"]);
    assert!(library(&bench, "baked") == library(&bench, "whole"));
}

#[test]
fn a_merge_needs_the_parts_of_all_shares() {
    let bench = Bench::with_clips();
    bake_shares(&bench, "baked", &["0/3", "2/3"]);
    let failed = |out: &str, texts: &[&str]| {
        let output = bench.bake(&["--merge", out]);
        assert_code(&output, 1);
        let message = stderr(&output);
        assert!(texts.iter().all(|text| message.contains(text)), "{texts:?}: {message}");
    };
    failed("baked", &["1 of 3 shares have no part: 1/3"]);
    assert!(library(&bench, "baked").is_empty());
    bake_shares(&bench, "baked", &["1/3"]);
    bench.baked(&["--merge", "baked"]);
    let merged = library(&bench, "baked");
    // Again, there is nothing to do: neither for a merge, nor for a share.
    let output = bench.bake(&["--merge", "baked"]);
    assert_code(&output, 0);
    assert!(stderr(&output).contains("merged already"));
    let names = bench.names("baked");
    let resumed = ["clips", "-o", "baked", "--format", "packed", "--arrays", ARRAYS, "--shard", "1/3", "--resume"];
    bench.baked(&resumed);
    assert_eq!(bench.names("baked"), names);
    assert!(check(&bench, &["--format", "packed", "--arrays", ARRAYS], 0).is_empty());
    // The index of one bake is not the index of another one in the same folder.
    fs::remove_file(bench.path("baked/shards.json")).unwrap();
    bench.baked(&["clips", "-o", "baked", "--format", "packed", "--shard", "0/3"]);
    failed("baked", &["2 of 3 shares have no part: 1/3, 2/3"]);
    assert!(library(&bench, "baked") == merged);
    // Folders of other formats, and none.
    bench.baked(&["clips", "-o", "npz"]);
    failed("npz", &["no part to merge"]);
    assert_refused(&bench.bake(&["--merge", "nowhere"]), &["nowhere: there is no such folder"]);
    assert_refused(&bench.bake(&["--merge", "baked", "--fps", "30"]), &["--merge"]);
}

#[test]
fn a_share_that_is_baked_again_is_merged_with_the_others() {
    let bench = Bench::with_clips();
    let options = ["--format", "packed", "--arrays", ARRAYS];
    // Two of the shares have no clips.
    let shares = ["0/8", "1/8", "2/8", "3/8", "4/8", "5/8", "6/8", "7/8"];
    bake_shares(&bench, "baked", &shares);
    bench.baked(&["--merge", "baked"]);
    let before = library(&bench, "baked");
    let resume = |share: &str| {
        bench.baked(&[["clips", "-o", "baked", "--resume", "--shard", share].as_slice(), &options].concat());
    };
    shares.into_iter().for_each(resume);
    assert_eq!(bench.names("baked").len(), before.len() + 2, "nothing is baked again");
    // The size is the same, and with it the list of inputs.
    let clip = fs::read_to_string(bench.path("clips/0.bvh")).unwrap().replace("OFFSET 0 -0.5 0", "OFFSET 0 -0.7 0");
    bench.write("clips/0.bvh", clip);
    let lists_it = |index: &usize| {
        let lines = fs::read_to_string(bench.path(&format!("baked/manifest-{index:05}.jsonl"))).unwrap();
        lines.lines().any(|line| line.contains("part-") && line.contains("\"clip\":\"0\""))
    };
    let changed = shares[(0..shares.len()).find(lists_it).unwrap()];
    shares.into_iter().filter(|share| *share != changed).for_each(resume);
    resume(changed);
    // The part of the share is no part that was merged before: the library needs the others anew.
    let output = bench.bake(&["--merge", "baked"]);
    assert_code(&output, 1);
    let message = stderr(&output);
    let expected = ["7 of 8 shares have no part", "bake them with --format packed --shard I/8 --resume"];
    assert!(expected.iter().all(|text| message.contains(text)), "{message}");
    assert!(library(&bench, "baked") == before);
    shares.into_iter().for_each(resume);
    bench.baked(&["--merge", "baked"]);
    bench.baked(&[["clips", "-o", "whole"].as_slice(), &options].concat());
    assert!(library(&bench, "baked") == library(&bench, "whole"));
    assert!(library(&bench, "baked") != before);
    // A part beside the library is not in it, whatever it has.
    bake_shares(&bench, "baked", &[changed]);
    let checked = bench.bake(&[["--check", "baked", "clips"].as_slice(), &options].concat());
    assert_code(&checked, 0);
    assert!(stderr(&checked).contains("not merged yet"), "{}", stderr(&checked));
}

/// Bakes `clips` into a folder with `--resume`. Returns the clips that were baked, and the number of the kept ones.
fn resume(bench: &Bench, out: &str, options: &[&str]) -> (Vec<String>, usize) {
    let output = bench.bake(&[["clips", "-o", out, "--resume", "--json"].as_slice(), options].concat());
    assert_code(&output, 0);
    let lines = json_lines(&output.stdout);
    let (baked, kept): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line["status"] == "baked");
    assert!(kept.iter().all(|line| line["status"] == "kept"), "{kept:?}");
    let mut baked: Vec<String> = baked.iter().map(|line| line["clip"].as_str().unwrap().to_owned()).collect();
    baked.sort();
    (baked, kept.len())
}

#[test]
fn clips_that_have_not_changed_are_copied_from_merged_files() {
    let bench = Bench::with_clips();
    // A second rest pose of the rig, and two clips with contacts.
    bench.write("clips/rest.bvh", bvh(12, 3.0).replace("OFFSET 0 -0.5 0", "OFFSET 0 -0.75 0"));
    for options in [&["--arrays", ARRAYS][..], &["--arrays", "pos,contact,quat", "--quality"]] {
        let options = [&["--format", "packed"][..], options].concat();
        if options.contains(&"--quality") {
            bench.write("clips/walk.bvh", walking::bvh(walking::THIGH_AND_CALF, 61));
            bench.write("clips/walk again.bvh", walking::bvh(walking::THIGH_AND_CALF, 41));
        }
        bench.write("clips/0.bvh", bvh(30, 0.0));
        fs::write(bench.path("clips/4.bvh"), bvh(1, 4.0)).unwrap();
        let _ = fs::remove_file(bench.path("clips/new.bvh"));
        let out = format!("baked{}", options.len());
        bench.baked(&[["clips", "-o", &out].as_slice(), &options].concat());
        let before = index(&bench, &out).len();
        // Another content, a clip more, a clip less.
        bench.write("clips/0.bvh", bvh(31, 0.5));
        bench.write("clips/new.bvh", bvh(5, 2.0));
        fs::remove_file(bench.path("clips/4.bvh")).unwrap();
        assert_eq!(resume(&bench, &out, &options), (vec!["0".into(), "new".into()], before - 2));
        let whole = format!("whole{}", options.len());
        bench.baked(&[["clips", "-o", &whole].as_slice(), &options].concat());
        assert!(library(&bench, &out) == library(&bench, &whole));
        assert_eq!(resume(&bench, &out, &options), (vec![], before));
        // A file of a rig that is not as it was written is not used, also if its size is right.
        let rig = index(&bench, &out)[0]["rig"].as_str().unwrap().to_owned();
        let mut bytes = fs::read(bench.path(&format!("{out}/{rig}"))).unwrap();
        let names = br#"[\"hip"#;
        let at = bytes.windows(names.len()).position(|text| text == names).unwrap();
        bytes[at + names.len() - 1] = b't';
        bench.write(&format!("{out}/{rig}"), bytes);
        bench.write("clips/new.bvh", bvh(6, 2.0));
        let of_rig = index(&bench, &out).iter().filter(|line| line["rig"] == rig.as_str()).count();
        let (baked, kept) = resume(&bench, &out, &options);
        assert_eq!((baked.len(), kept), (of_rig, before - of_rig), "{baked:?}");
        bench.baked(&[["clips", "-o", &whole].as_slice(), &options].concat());
        assert!(library(&bench, &out) == library(&bench, &whole));
    }
}

/// The size of the index stays the same, so that its line in the manifest does not tell.
#[test]
fn an_index_with_the_rows_of_another_clip_is_not_used() {
    let bench = Bench::with_clips();
    let options = ["--format", "packed", "--arrays", ARRAYS];
    bench.baked(&[["clips", "-o", "baked"].as_slice(), &options].concat());
    let lines = index(&bench, "baked");
    let row = |line: &Value| format!("\"first_row\":{},", line["first_row"]);
    let are_alike = |one: &Value, other: &Value| {
        let [one_row, other_row] = [row(one), row(other)];
        one["rig"] == other["rig"] && one_row != other_row && one_row.len() == other_row.len()
    };
    let pairs = (0..lines.len()).flat_map(|one| (0..one).map(move |other| [other, one]));
    let [one, other] = pairs.into_iter().find(|&[one, other]| are_alike(&lines[one], &lines[other])).unwrap();
    let path = bench.path("baked/index.jsonl");
    let mut texts: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(|line| format!("{line}\n")).collect();
    let rows = [one, other].map(|at| row(&lines[at]));
    assert!([one, other].iter().zip(&rows).all(|(&at, row)| texts[at].contains(row)));
    texts[one] = texts[one].replace(&rows[0], &rows[1]);
    texts[other] = texts[other].replace(&rows[1], &rows[0]);
    let size = fs::metadata(&path).unwrap().len();
    fs::write(&path, texts.concat()).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), size);
    bench.write("clips/new.bvh", bvh(5, 2.0));
    let (baked, kept) = resume(&bench, "baked", &options);
    assert_eq!((baked.len(), kept), (lines.len() + 1, 0), "{baked:?}");
    bench.baked(&[["clips", "-o", "whole"].as_slice(), &options].concat());
    assert!(library(&bench, "baked") == library(&bench, "whole"));
}

#[test]
fn shares_with_a_changed_clip_bake_it_alone() {
    let bench = Bench::with_clips();
    let options = ["--format", "packed", "--arrays", ARRAYS];
    let shares = ["0/3", "1/3", "2/3"];
    bake_shares(&bench, "baked", &shares);
    bench.baked(&["--merge", "baked"]);
    // The size is the same, and with it the list of inputs.
    bench.write("clips/2.bvh", bvh(120, 2.0).replace("OFFSET 0 -0.5 0", "OFFSET 0 -0.7 0"));
    let baked_again = |shares: &[&str]| {
        let each =
            shares.iter().map(|share| resume(&bench, "baked", &[options.as_slice(), &["--shard", share]].concat()));
        let each: Vec<(Vec<String>, usize)> = each.collect();
        (
            each.iter().flat_map(|(baked, _)| baked.clone()).collect::<Vec<_>>(),
            each.iter().map(|each| each.1).sum::<usize>(),
        )
    };
    // The first time, shares without a change before the changed one are kept in the merged files.
    let (mut baked, _) = baked_again(&shares);
    let (again, kept) = baked_again(&shares);
    assert_eq!((again, kept), (vec![], 7));
    baked.sort();
    assert_eq!(baked, ["2"]);
    bench.baked(&["--merge", "baked"]);
    bench.baked(&[["clips", "-o", "whole"].as_slice(), &options].concat());
    assert!(library(&bench, "baked") == library(&bench, "whole"));
    // Other shares than before: the same clips, dealt out anew.
    fs::remove_file(bench.path("baked/shards.json")).unwrap();
    assert_eq!(baked_again(&["0/2", "1/2"]), (vec![], 7));
    bench.baked(&["--merge", "baked"]);
    assert!(library(&bench, "baked") == library(&bench, "whole"));
}

#[test]
fn a_library_is_the_old_or_the_new_one_when_a_change_is_killed() {
    let bench = Bench::new();
    for index in 0..6 {
        bench.write(&format!("clips/{index}.bvh"), bvh(400, index as f64));
    }
    let options = ["--format", "packed", "--arrays", "pos,quat,linvel,angvel"];
    let bake = |out: &str| bench.baked(&[["clips", "-o", out].as_slice(), &options].concat());
    let without_table = |out: &str| {
        let mut files = library(&bench, out);
        files.remove("index.parquet");
        files
    };
    bake("baked");
    let mut old = without_table("baked");
    let mut killed = 0;
    let rounds =
        if long_tests_run("changes of a packed library that are killed at 60 moments, not 12") { 60 } else { 12 };
    let mut moments = Moments(53);
    for round in 0..rounds {
        bench.write("clips/3.bvh", bvh(400, 10.0 + f64::from(round)));
        let started = Instant::now();
        bake("whole");
        let (new, full) = (without_table("whole"), started.elapsed().as_secs_f64());
        let arguments = [["clips", "-o", "baked", "--resume"].as_slice(), &options].concat();
        let mut task = bench.command(&arguments).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_secs_f64(full * moments.next()));
        task.kill().unwrap();
        killed += usize::from(!task.wait().unwrap().success());
        if bench.path("baked/index.jsonl").exists() {
            let found = without_table("baked");
            assert!(found == old || found == new, "{:?}", bench.names("baked"));
        }
        let (baked, kept) = resume(&bench, "baked", &options);
        assert!(baked.len() + kept == 6, "{baked:?}");
        assert!(without_table("baked") == new, "{:?}", bench.names("baked"));
        old = new;
    }
    assert!(killed > 0);
}

#[test]
fn parts_of_other_inputs_are_not_merged() {
    let bench = Bench::with_clips();
    let options = ["--format", "packed", "--arrays", ARRAYS];
    bake_shares(&bench, "baked", &["0/2", "1/2"]);
    bench.write("clips/5.bvh", bvh(9, 5.0));
    fs::remove_file(bench.path("baked/shards.json")).unwrap();
    bake_shares(&bench, "baked", &["0/2"]);
    let output = bench.bake(&["--merge", "baked"]);
    assert_code(&output, 1);
    let message = stderr(&output);
    assert!(message.contains("part-00001-of-00002.packed: made for other inputs than shards.json lists"), "{message}");
    assert!(library(&bench, "baked").is_empty());
    for share in ["0/2", "1/2"] {
        bench.baked(&[["clips", "-o", "baked", "--resume", "--shard", share].as_slice(), &options].concat());
    }
    bench.baked(&["--merge", "baked"]);
    bench.baked(&[["clips", "-o", "whole"].as_slice(), &options].concat());
    assert!(library(&bench, "baked") == library(&bench, "whole"));
}

#[test]
fn parts_of_different_bakes_are_not_merged() {
    let bench = Bench::with_clips();
    for (out, fps) in [("a", "30"), ("b", "25")] {
        for share in ["0/2", "1/2"] {
            bench.baked(&["clips", "-o", out, "--format", "packed", "--fps", fps, "--shard", share]);
        }
    }
    let part = "part-00001-of-00002.packed";
    fs::copy(bench.path("b").join(part), bench.path("a").join(part)).unwrap();
    let output = bench.bake(&["--merge", "a"]);
    assert_code(&output, 1);
    assert!(stderr(&output).contains("made with other options: --fps was 25, is 30"), "{}", stderr(&output));
    // A part of the same options that has the clips of another share.
    fs::copy(bench.path("a/part-00000-of-00002.packed"), bench.path("a").join(part)).unwrap();
    let output = bench.bake(&["--merge", "a"]);
    assert_code(&output, 1);
    assert!(stderr(&output).contains("both have the clip"), "{}", stderr(&output));
    assert!(library(&bench, "a").is_empty());
}

#[test]
fn damaged_parts_are_found_and_made_anew() {
    let bench = Bench::with_clips();
    let arguments = ["--format", "packed", "--arrays", ARRAYS];
    bench.baked(&[["clips", "-o", "whole"].as_slice(), &arguments].concat());
    bake_shares(&bench, "baked", &["0/2", "1/2"]);
    let part = "baked/part-00001-of-00002.packed";
    let bytes = fs::read(bench.path(part)).unwrap();
    let checked = bench.bake(&[["--check", "baked", "clips"].as_slice(), &arguments].concat());
    assert_code(&checked, 0);
    let hint = format!("not merged yet; run {} bake --merge baked", env!("CARGO_BIN_EXE_posse"));
    assert!(checked.stdout.is_empty() && stderr(&checked).contains(&hint), "{}", stderr(&checked));
    let list = usize::try_from(u64::from_le_bytes(*bytes[..bytes.len() - 8].last_chunk().unwrap())).unwrap();
    let data = bytes.len() - 16 - list;
    let without = |at: usize| [&bytes[..at], &bytes[at + 1..]].concat();
    for (what, broken) in [
        ("the end", bytes[..bytes.len() - 1].to_vec()),
        ("the first byte", without(0)),
        ("a byte of the arrays", without(data / 2)),
        ("a byte of the list", without(data + list / 2)),
        ("a byte more", [bytes.as_slice(), b"0"].concat()),
        ("half", bytes[..bytes.len() / 2].to_vec()),
        ("all", Vec::new()),
    ] {
        bench.write(part, broken);
        let lines = check(&bench, &arguments, 1);
        let is_damaged = |line: &String| line.contains(": part-00001-of-00002.packed: damaged: it has ");
        assert!(!lines.is_empty() && lines.iter().all(is_damaged), "{what}: {lines:?}");
        let output = bench.bake(&["--merge", "baked"]);
        assert_code(&output, 1);
        let message = stderr(&output);
        assert!(message.contains("part-00001-of-00002.packed: the part is damaged"), "{what}: {message}");
        assert!(library(&bench, "baked").is_empty());
    }
    for share in ["0/2", "1/2"] {
        bench.baked(&[["clips", "-o", "baked", "--resume", "--shard", share].as_slice(), &arguments].concat());
    }
    bench.baked(&["--merge", "baked"]);
    assert!(library(&bench, "baked") == library(&bench, "whole"));
}

#[test]
fn a_damaged_file_of_a_rig_is_made_anew() {
    let bench = Bench::with_clips();
    let arguments = ["--format", "packed"];
    bench.baked(&["clips", "-o", "baked", "--format", "packed"]);
    let expected = library(&bench, "baked");
    let rig = expected.keys().find(|name| name.starts_with("rig-ground-2-")).unwrap().clone();
    bench.write(&format!("baked/{rig}"), &expected[&rig][1..]);
    let lines = check(&bench, &arguments, 1);
    assert!(lines.len() == 2 && lines.iter().all(|line| line.contains(&format!("{rig}: damaged"))), "{lines:?}");
    bench.baked(&["clips", "-o", "baked", "--format", "packed", "--resume"]);
    assert!(library(&bench, "baked") == expected);
    // Without the index, the files are not complete.
    fs::remove_file(bench.path("baked/index.jsonl")).unwrap();
    assert_eq!(check(&bench, &arguments, 1).len(), 7);
    bench.baked(&["clips", "-o", "baked", "--format", "packed", "--resume"]);
    assert!(library(&bench, "baked") == expected);
    // An index that has lost its end lacks clips.
    let index_bytes = &expected["index.jsonl"];
    bench.write("baked/index.jsonl", &index_bytes[..index_bytes.len() / 2]);
    let lines = check(&bench, &arguments, 1);
    assert!(lines.len() == 1 && lines[0].contains("index.jsonl: damaged: it has "), "{lines:?}");
    bench.baked(&["clips", "-o", "baked", "--format", "packed", "--resume"]);
    assert!(library(&bench, "baked") == expected);
    // A clip that is gone from the inputs goes from the library, and a rig without clips goes with it. Files of others
    // stay.
    bench.write("baked/rig-of-mine.safetensors", "mine");
    fs::remove_file(bench.path("clips/more/lift.gltf")).unwrap();
    bench.baked(&["clips", "-o", "baked", "--format", "packed", "--resume"]);
    assert_eq!(index(&bench, "baked").len(), 5);
    assert!(!bench.path("baked").join(rig).exists());
    assert!(bench.path("baked/rig-of-mine.safetensors").exists());
}

#[test]
fn bad_inputs_leave_a_library_of_the_others() {
    let bench = Bench::with_clips();
    bench.write("clips/broken.bvh", "");
    let output = bench.bake(&["clips", "-o", "baked", "--format", "packed"]);
    assert_code(&output, 2);
    assert_eq!(index(&bench, "baked").len(), 7);
    // With --strict, the bake stops at the first.
    let mut command = bench.command(&["clips", "-o", "strict", "--format", "packed", "--strict"]);
    assert_code(&command.output().unwrap(), 2);
    assert!(library(&bench, "strict").is_empty());
    // A library without clips has an index without lines.
    bench.write("clips/none.gltf", gltf(&[]));
    bench.baked(&["clips/none.gltf", "-o", "none", "--format", "packed"]);
    assert_eq!(index(&bench, "none"), Vec::<Value>::new());
}

#[test]
fn killed_shares_and_merges_that_are_resumed_have_the_bytes_of_one_run() {
    let bench = Bench::new();
    for index in 0..8 {
        bench.write(&format!("clips/{}/{index}.bvh", index % 3), bvh(300 + 150 * index, index as f64));
    }
    bench.write("clips/two.gltf", gltf(&[Some("a"), Some("b")]));
    let options = ["--format", "packed", "--arrays", "pos,quat,linvel,angvel"];
    let started = Instant::now();
    bench.baked(&[["clips", "-o", "whole"].as_slice(), &options].concat());
    let (expected, mut full) = (library(&bench, "whole"), started.elapsed().as_secs_f64());
    let rounds = if long_tests_run("packed shares that are killed at 60 moments, not 10") { 60 } else { 10 };
    let (mut moments, mut killed, mut killed_merges) = (Moments(51), 0, 0);
    for round in 0..rounds {
        let out = format!("out{round}");
        let share = |share: &str, more: &[&str]| {
            let place = ["clips", "-o", out.as_str(), "--shard", share];
            let mut command = bench.command(&[place.as_slice(), &options, more].concat());
            command.stderr(Stdio::null()).spawn().unwrap()
        };
        let mut tasks = ["0/2", "1/2"].map(|index| share(index, &[]));
        for task in &mut tasks {
            sleep(Duration::from_secs_f64(0.5 * full * moments.next()));
            task.kill().unwrap();
            killed += usize::from(!task.wait().unwrap().success());
        }
        if killed < round {
            // The runs ended first: other tests may have made the whole run slow.
            full *= 0.75;
        }
        for mut task in ["0/2", "1/2"].map(|index| share(index, &["--resume"])) {
            assert!(task.wait().unwrap().success());
        }
        assert!(library(&bench, &out).is_empty());
        // A merge takes milliseconds: it is killed at several of them.
        for at in 0..4 {
            let mut task = bench.command(&["--merge", &out]).stderr(Stdio::null()).spawn().unwrap();
            sleep(Duration::from_millis(5 * at + round as u64 % 5));
            task.kill().unwrap();
            killed_merges += usize::from(!task.wait().unwrap().success());
            // An index is whole, and describes the files beside it.
            if bench.path(&format!("{out}/index.jsonl")).exists() {
                let mut library = library(&bench, &out);
                library.remove("index.parquet");
                assert!(library.iter().all(|(name, bytes)| expected[name] == *bytes), "{:?}", bench.names(&out));
            }
        }
        bench.baked(&["--merge", &out]);
        assert!(library(&bench, &out) == expected, "{:?}", bench.names(&out));
        assert!(bench.names(&out).iter().all(|name| !name.starts_with("part-") && !name.contains(".bake-")));
        bench.baked(&[["--check", out.as_str(), "clips"].as_slice(), &options].concat());
        fs::remove_dir_all(bench.path(&out)).unwrap();
    }
    assert!(killed > rounds / 2 && killed_merges > 0, "{killed} killed, {killed_merges} merges");
}
