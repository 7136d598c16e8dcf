//! The files of `posse bake`, format by format: what other readers find in them.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest, Moment, UpAxis};
use posse::import::gltf::{self, Asset};
use posse::{CpuEngine, Library};
use serde_json::{Value, json};

use crate::support::gltf_builder::GltfBuilder;

const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// Keys at 0, 0.5 and 1 s: the hip moves along z and turns by 0, 90 and 180 degrees about z; the leg stays turned by 90 degrees
/// about x. Beside them stand a socket with a matrix, and a lamp that does not move. The leg and the hip have a skin.
fn figure() -> GltfBuilder {
    let mut file = GltfBuilder::new();
    let turn = [0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 5.0, 0.0, 0.0, 1.0];
    file.json["nodes"] = json!([
        // Children may come before their parents.
        { "name": "leg.l", "translation": [0.0, -0.5, 0.0], "scale": [1.0, 2.0, 1.0], "children": [3] },
        { "name": "hip", "translation": [0.0, 1.0, 0.0], "children": [0] },
        { "name": "lamp", "translation": [7.0, 0.0, 0.0], "rotation": [0.0, HALF, 0.0, HALF] },
        { "name": "socket", "matrix": turn },
    ]);
    let identity = |y: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, y, 0.0, 1.0];
    let inverse_bind = file.floats("MAT4", &[identity(-1.0), identity(-0.5)].concat());
    file.push("skins", json!({ "name": "suit", "joints": [1, 0], "inverseBindMatrices": inverse_bind }));
    let times = file.floats("SCALAR", &[0.0, 0.5, 1.0]);
    let moves = file.floats("VEC3", &[0.0, 1.0, 0.0, 0.0, 1.0, 2.0, 0.0, 1.0, 4.0]);
    let turns = file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, HALF, HALF, 0.0, 0.0, 1.0, 0.0]);
    let bent = file.floats("VEC4", &[HALF, 0.0, 0.0, HALF].repeat(3));
    file.json["animations"] = json!([{
        "name": "walk",
        "samplers": [{ "input": times, "output": moves }, { "input": times, "output": turns }, { "input": times, "output": bent }],
        "channels": [
            { "sampler": 0, "target": { "node": 1, "path": "translation" } },
            { "sampler": 1, "target": { "node": 1, "path": "rotation" } },
            { "sampler": 2, "target": { "node": 0, "path": "rotation" } },
        ],
    }]);
    file
}

/// A folder with `clips/figure.glb`.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.add("figure.glb", &figure());
        folder
    }

    fn add(&self, name: &str, file: &GltfBuilder) {
        fs::create_dir_all(self.path("clips")).unwrap();
        fs::write(self.path("clips").join(name), file.glb()).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &str) -> Output {
        let arguments = arguments.split_whitespace();
        Command::new(env!("CARGO_BIN_EXE_posse"))
            .current_dir(self.0.path())
            .arg("bake")
            .args(arguments)
            .output()
            .unwrap()
    }

    /// Bakes `clips` into a folder, and returns its path.
    fn bake(&self, out: &str, options: &str) -> PathBuf {
        let output = self.run(&format!("clips -o {out} {options}"));
        assert!(output.status.success(), "{options}: {}", String::from_utf8_lossy(&output.stderr));
        self.path(out)
    }

    fn refusal(&self, options: &str) -> String {
        let output = self.run(&format!("clips -o refused {options}"));
        assert_eq!(output.status.code(), Some(2), "{options}");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// The files below a folder, with their bytes.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| (file.strip_prefix(folder).unwrap().to_path_buf(), fs::read(file).unwrap())).collect()
}

/// A member of an npz file: its type, its shape, and its bytes.
struct Member {
    kind: String,
    shape: Vec<u64>,
    bytes: Vec<u8>,
}

impl Member {
    fn read(file: &Path, name: &str) -> Self {
        let mut zip = zip::ZipArchive::new(File::open(file).unwrap()).unwrap();
        let mut member = zip.by_name(&format!("{name}.npy")).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(member.compression(), zip::CompressionMethod::Stored);
        let header = npyz::NpyHeader::from_reader(&mut member).unwrap();
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes).unwrap();
        let npyz::DType::Plain(kind) = header.dtype() else { panic!("{name} is a record") };
        Self { kind: kind.to_string(), shape: header.shape().to_vec(), bytes }
    }

    fn singles(&self) -> Vec<f32> {
        assert_eq!(self.kind, "<f4");
        self.bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    }

    fn doubles(&self) -> Vec<f64> {
        assert_eq!(self.kind, "<f8");
        self.bytes.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect()
    }

    /// The texts of an array of kind `<U...`.
    fn texts(&self) -> Vec<String> {
        let length: usize = self.kind.strip_prefix("<U").unwrap().parse().unwrap();
        let text = |bytes: &[u8]| {
            let letters = bytes.as_chunks().0.iter().map(|&code| char::from_u32(u32::from_le_bytes(code)).unwrap());
            letters.collect::<String>().trim_end_matches('\0').to_owned()
        };
        self.bytes.chunks_exact(4 * length).map(text).collect()
    }
}

/// Numbers that are equal to within a few roundings of an `f32`.
#[track_caller]
fn assert_near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= 2e-6 * expected.abs().max(1.0), "number {index}: {found}, not {expected}");
    }
}

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

    // In the middle, the hip stands at (0, 1, 2) and has turned by 90 degrees about z. The leg is half a metre from it, along
    // what was -y and is +x now. The socket is at (5, 0, 0) of the leg, which is its own x axis: along y now.
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

/// The arrays of the only clip of a glTF file at times.
fn sampled(file: &Path, kinds: &[ArrayKind], up: UpAxis, scale: f64, times: &[f64]) -> Vec<Vec<f32>> {
    let mut library = Library::new();
    let Asset { skeleton, clips, joints, .. } = gltf::load(&mut library, file).unwrap();
    let request = ArrayRequest { kinds: kinds.to_vec(), up, scale, ..ArrayRequest::of_joints(&joints) };
    let layout = ArrayLayout::new(&library, skeleton, &joints, &request).unwrap();
    let moments: Vec<Moment> = times.iter().map(|&time| Moment::at(clips[0], time)).collect();
    let mut arrays: Vec<Vec<f32>> =
        layout.arrays().iter().map(|array| vec![0.0; times.len() * array.width()]).collect();
    let mut slices: Vec<&mut [f32]> = arrays.iter_mut().map(Vec::as_mut_slice).collect();
    layout.sample(&CpuEngine::new(&library).unwrap(), &moments, &mut slices).unwrap();
    arrays
}

#[test]
fn a_glb_file_reads_back_as_the_same_poses() {
    use ArrayKind::{LocalPos, LocalQuat, LocalScale, Pos, Quat, Skin};
    let kinds = [Pos, Quat, LocalPos, LocalQuat, LocalScale, Skin];
    let folder = Folder::new();
    let times: Vec<f64> = (0..=8).map(|frame| f64::from(frame) / 8.0).collect();
    for (up, name, scale) in [(UpAxis::Y, "y", 1.0), (UpAxis::Z, "z", 2.5)] {
        let out = folder.bake(name, &format!("--format glb --fps 8 --up {name} --scale {scale}"));
        let file = out.join("figure.glb");
        let expected = sampled(&folder.path("clips/figure.glb"), &kinds, up, scale, &times);
        let found = sampled(&file, &kinds, UpAxis::Y, 1.0, &times);
        for (found, expected) in found.iter().zip(&expected) {
            assert_near(found, expected);
        }
        let mut library = Library::new();
        let asset = gltf::load(&mut library, &file).unwrap();
        assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
        let names: Vec<_> =
            asset.joints.iter().map(|&joint| library.skeleton(asset.skeleton).joints()[joint].name.clone()).collect();
        assert_eq!(names, ["leg.l", "hip", "lamp", "socket"].map(|name| Some(name.to_owned())));
        assert_eq!(library.skin(asset.skins[0]).name.as_deref(), Some("suit"));
        assert_eq!(library.clip(asset.clips[0]).duration(), 1.0);
    }
}

#[test]
fn a_glb_file_has_no_keys_for_what_stays_at_rest() {
    let folder = Folder::new();
    let mut library = Library::new();
    let file = folder.bake("out", "--format glb").join("figure.glb");
    let asset = gltf::load(&mut library, file).unwrap();
    // The hip moves and turns. The leg is turned, but not as in the rest pose. All else is at rest.
    assert_eq!(library.clip(asset.clips[0]).tracks.len(), 3);
    // Of a clip in which all is at rest, the duration remains.
    let mut still = figure();
    still.json["animations"][0]["channels"] = json!([{ "sampler": 0, "target": { "node": 1, "path": "translation" } }]);
    let rest = still.floats("VEC3", &[0.0, 1.0, 0.0].repeat(3));
    still.json["animations"][0]["samplers"][0]["output"] = json!(rest);
    folder.add("figure.glb", &still);
    let file = folder.bake("out", "--format glb").join("figure.glb");
    let asset = gltf::load(&mut library, file).unwrap();
    let clip = library.clip(asset.clips[0]);
    assert_eq!((clip.tracks.len(), clip.duration()), (1, 1.0));
}

#[test]
fn a_glb_file_holds_the_facts() {
    let folder = Folder::new();
    let bytes = fs::read(folder.bake("out", "--format glb --fps 2").join("figure.glb")).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let facts = &json["asset"]["extras"];
    assert_eq!(
        (&facts["clip"], &facts["fps"], &facts["source"]["path"]),
        (&json!("figure"), &json!(2.0), &json!("figure.glb"))
    );
    assert_eq!(facts["parents"], json!([1, -1, -1, 0]));
}

#[test]
fn a_usda_file_reads_as_worked_out_by_hand() {
    let folder = Folder::new();
    let text = fs::read_to_string(folder.bake("out", "--format usda --fps 2").join("figure.usda")).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for line in [
        "#usda 1.0",
        "defaultPrim = \"figure\"",
        "endTimeCode = 2",
        "timeCodesPerSecond = 2",
        "metersPerUnit = 1",
        "upAxis = \"Y\"",
        "def SkelRoot \"figure\"",
        // Parents before children.
        "uniform token[] joints = [\"hip\", \"hip/leg_l\", \"hip/leg_l/socket\", \"lamp\"]",
        "rel skel:animationSource = </figure/Animation>",
        // The joints that have no matrix, in the order of the file.
        "uniform token[] joints = [\"hip/leg_l\", \"hip\", \"lamp\"]",
        "half3[] scales = [(1, 2, 1), (1, 1, 1), (1, 1, 1)]",
        "1: [(0, -0.5, 0), (0, 1, 2), (7, 0, 0)],",
    ] {
        assert!(lines.contains(&line), "{line} is missing in\n{text}");
    }
    // The inverse bind matrices move by -1 and by -0.5 along y. Matrices are for row vectors.
    let bind = "uniform matrix4d[] bindTransforms = [((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 1, 0, 1)), \
                ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0.5, 0, 1)), ";
    assert!(lines.iter().any(|line| line.starts_with(bind)), "{text}");
    // w comes first.
    let turned = lines.iter().find(|line| line.starts_with("1: [(0.70710")).unwrap_or_else(|| panic!("{text}"));
    assert!(turned.contains("), (0.70710"), "{turned}");
}

#[test]
fn files_are_the_same_in_each_run() {
    let folder = Folder::new();
    let mut other = figure();
    other.json["animations"][0]["name"] = json!("other");
    folder.add("other.glb", &other);
    let formats = [
        "npz",
        "npz --layout mjlab",
        "glb",
        "usda",
        #[cfg(feature = "parquet")]
        "parquet",
    ];
    for (index, format) in formats.into_iter().enumerate() {
        let first = folder.bake(&format!("first{index}"), &format!("--format {format} --threads 1"));
        let second = folder.bake(&format!("second{index}"), &format!("--format {format} --threads 3"));
        assert!(!contents(&first).is_empty());
        assert!(contents(&first) == contents(&second), "{format}");
    }
}

#[test]
fn files_that_are_there_are_kept() {
    let folder = Folder::new();
    let formats = [
        "npz",
        "npz --layout mjlab",
        "glb",
        "usda",
        #[cfg(feature = "parquet")]
        "parquet",
    ];
    for (index, format) in formats.into_iter().enumerate() {
        let out = folder.bake(&format!("out{index}"), &format!("--format {format}"));
        let modified = || -> Vec<_> {
            fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().metadata().unwrap().modified().unwrap()).collect()
        };
        let before = modified();
        folder.bake(&format!("out{index}"), &format!("--format {format} --resume"));
        assert_eq!(modified(), before, "{format}");
        let checked = folder.run(&format!("--check out{index} clips --format {format}"));
        assert!(checked.status.success(), "{format}: {}", String::from_utf8_lossy(&checked.stdout));
        folder.bake(&format!("out{index}"), &format!("--format {format} --resume --fps 11"));
        assert_ne!(modified(), before, "{format}");
    }
}

#[test]
fn formats_with_arrays_of_their_own_refuse_others() {
    let folder = Folder::new();
    for options in ["--format glb --arrays pos", "--format usda --arrays pos", "--layout mjlab --arrays pos"] {
        assert!(folder.refusal(options).contains("leave out --arrays"), "{options}");
    }
    for options in
        ["--layout mjlab --quaternions xyzw", "--format usda --quaternions xyzw", "--format glb --quaternions wxyz"]
    {
        assert!(folder.refusal(options).contains("leave out --quaternions"), "{options}");
    }
    assert!(folder.refusal("--format glb --layout mjlab").contains("--layout is for --format npz"));
    #[cfg(not(feature = "parquet"))]
    assert!(folder.refusal("--format parquet").contains("--features parquet"));
}

#[cfg(feature = "parquet")]
mod parquet {
    use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
    use arrow_array::{Array, RecordBatch};

    use super::*;

    struct Table {
        rows: RecordBatch,
        groups: usize,
        facts: Vec<(String, Value)>,
    }

    impl Table {
        fn read(file: &Path) -> Self {
            let builder =
                ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap().with_batch_size(1 << 20);
            let metadata = builder.metadata().clone();
            let facts = metadata.file_metadata().key_value_metadata().unwrap().iter();
            let facts = facts.filter(|fact| fact.key != "ARROW:schema");
            let facts =
                facts.map(|fact| (fact.key.clone(), serde_json::from_str(fact.value.as_ref().unwrap()).unwrap()));
            let (facts, schema) = (facts.collect(), builder.schema().clone());
            let mut batches = builder.build().unwrap();
            let rows = batches.next().map_or_else(|| RecordBatch::new_empty(schema), |batch| batch.unwrap());
            assert!(batches.next().is_none());
            Self { rows, groups: metadata.num_row_groups(), facts }
        }

        fn clips(&self) -> Vec<&str> {
            let clips = self.rows.column_by_name("clip").unwrap().as_dictionary::<Int32Type>();
            clips.downcast_dict::<arrow_array::StringArray>().unwrap().into_iter().flatten().collect()
        }

        fn frames(&self) -> Vec<i64> {
            self.rows.column_by_name("frame").unwrap().as_primitive::<Int64Type>().values().to_vec()
        }

        fn times(&self) -> Vec<f64> {
            self.rows.column_by_name("time").unwrap().as_primitive::<Float64Type>().values().to_vec()
        }

        fn numbers(&self, name: &str) -> Vec<f32> {
            let lists = self.rows.column_by_name(name).unwrap().as_fixed_size_list();
            assert_eq!(lists.null_count(), 0);
            lists.values().as_primitive::<Float32Type>().values().to_vec()
        }

        fn columns(&self) -> Vec<String> {
            self.rows.schema().fields().iter().map(|field| field.name().clone()).collect()
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        contents(folder).into_iter().map(|(name, _)| name.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_file_has_a_row_per_frame() {
        let folder = Folder::new();
        folder.add("other.glb", &figure());
        let options = "--fps 2 --arrays pos,quat,local_scale,weights";
        let out = folder.bake("out", &format!("{options} --format parquet"));
        let npz = folder.bake("npz", options).join("figure.npz");
        assert_eq!(names(&out), ["part-00000-of-00001.parquet"]);
        let table = Table::read(&out.join("part-00000-of-00001.parquet"));
        assert_eq!(table.columns(), ["clip", "frame", "time", "pos", "quat", "local_scale"]);
        assert_eq!(table.clips(), ["figure", "figure", "figure", "other", "other", "other"]);
        assert_eq!((table.frames(), table.groups), (vec![0, 1, 2, 0, 1, 2], 2));
        assert_eq!(table.times(), [0.0, 0.5, 1.0, 0.0, 0.5, 1.0]);
        for name in ["pos", "quat", "local_scale"] {
            assert_eq!(table.numbers(name), Member::read(&npz, name).singles().repeat(2), "{name}");
        }
        let clips: Vec<&str> = table.facts.iter().map(|(clip, _)| clip.as_str()).collect();
        assert_eq!(clips, ["figure", "other"]);
        let facts = &table.facts[1].1;
        assert_eq!((&facts["clip"], &facts["source"]["path"]), (&json!("other"), &json!("other.glb")));
        assert_eq!(facts["joint_names"], json!(["leg.l", "hip", "lamp", "socket"]));
    }

    #[test]
    fn long_clips_have_several_row_groups() {
        let folder = Folder::new();
        let out = folder.bake("out", "--fps 100000 --arrays pos --format parquet");
        let table = Table::read(&out.join("part-00000-of-00001.parquet"));
        assert_eq!((table.groups, table.rows.num_rows()), (2, 100_001));
        assert_eq!(table.frames(), (0..=100_000).collect::<Vec<i64>>());
        let npz = folder.bake("npz", "--fps 100000 --arrays pos").join("figure.npz");
        assert_eq!(table.numbers("pos"), Member::read(&npz, "pos").singles());
    }

    #[test]
    fn rigs_that_differ_have_files_of_their_own() {
        let folder = Folder::new();
        let mut tall = figure();
        tall.push("nodes", json!({ "name": "hat" }));
        folder.add("hatted.glb", &tall);
        folder.add("other.glb", &figure());
        let out = folder.bake("out", "--format parquet");
        assert_eq!(names(&out), ["part-00000-of-00001-01.parquet", "part-00000-of-00001.parquet"]);
        let clips = |name: &str| {
            let table = Table::read(&out.join(name));
            let width = table.numbers("pos").len() / table.rows.num_rows() / 3;
            (table.facts.into_iter().map(|(clip, _)| clip).collect::<Vec<_>>(), width)
        };
        assert_eq!(clips("part-00000-of-00001.parquet"), (vec!["figure".into(), "other".into()], 4));
        assert_eq!(clips("part-00000-of-00001-01.parquet"), (vec!["hatted".into()], 5));
        // Without the second rig, its file goes.
        fs::remove_file(folder.path("clips/hatted.glb")).unwrap();
        folder.bake("out", "--format parquet");
        assert_eq!(names(&out), ["part-00000-of-00001.parquet"]);
    }

    #[test]
    fn a_share_without_clips_has_an_empty_file_with_all_columns() {
        let folder = Folder::new();
        for share in 0..2 {
            folder.bake("out", &format!("--format parquet --shard {share}/2"));
        }
        let read = |name: &str| Table::read(&folder.path("out").join(name));
        let (full, empty) = (read("part-00000-of-00002.parquet"), read("part-00001-of-00002.parquet"));
        assert_eq!((full.rows.num_rows() > 0, empty.rows.num_rows()), (true, 0));
        assert_eq!(full.rows.schema(), empty.rows.schema());
        assert!(empty.facts.is_empty());
    }
}
