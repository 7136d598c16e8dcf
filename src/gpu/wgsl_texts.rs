//! All texts of WGSL that the library gives to devices, written to a file for compilers other than naga.
//!
//! `tests/web/tint.mjs` has Tint, the compiler of Chromium, compile them. Each kernel comes with every set of features,
//! with and without custom interpolators.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use wgpu::naga;

use crate::gpu::shader::{Composed, pose_constants};
use crate::gpu::shader_files::BANDWIDTH;
use crate::kernels::plan::{GoalRotations, Plan, PoseKernel, SpanCapacity, WORKGROUPS};
use crate::kernels::{Pass, kernel_name};
use crate::model::{Interpolator, Mixing, SkinFormat};
use crate::pack::Features;
use crate::pack::record::SkeletonRecord;

const DRIVE_ENTRY: &str = Pass::Drive.entry_point();
const EVENTS_ENTRY: &str = Pass::Events.entry_point();
const PLAY_ENTRY: &str = Pass::Play.entry_point();
const POSE_ENTRY: &str = Pass::Pose.entry_point();
const RESOLVE_GOALS_ENTRY: &str = Pass::Goals.entry_point();
const ROOT_MOTION_ENTRY: &str = Pass::RootMotion.entry_point();
const VISIBLE_COLLECT_ENTRY: &str = Pass::CollectVisible.entry_point();
const VISIBLE_MEASURE_ENTRY: &str = Pass::MeasureVisible.entry_point();

/// The file to write, as JSON: `parts` are strings, each of `texts` has a name, the entry points of compute shaders,
/// and the indices of its parts, and `count` is the number of texts that there are.
const FILE: &str = "POSSE_WGSL_TEXTS";
/// Every n-th text of the kernels that pose is written. Default: 1.
const FILE_STEP: &str = "POSSE_WGSL_STEP";

/// A text with its name and the entry points of its compute shaders. There are many, so that each is composed when it
/// is needed.
struct WgslText {
    name: String,
    entries: &'static [&'static str],
    /// Composes the text, in parts.
    compose: Box<dyn Fn() -> Vec<String>>,
}

impl WgslText {
    fn new(name: String, entries: &'static [&'static str], compose: impl Fn() -> Vec<String> + 'static) -> Self {
        Self { name, entries, compose: Box::new(compose) }
    }

    /// A kernel, in its files.
    fn of_kernel(name: String, entries: &'static [&'static str], compose: impl Fn() -> Composed + 'static) -> Self {
        Self::new(name, entries, move || compose().parts().map(str::to_owned).collect())
    }
}

/// An interpolator without Rust arithmetic: a kernel is composed of its WGSL.
#[derive(Debug)]
struct Shader {
    name: &'static str,
    width: usize,
    result_width: usize,
    wgsl: &'static str,
}

impl Interpolator for Shader {
    fn name(&self) -> &str {
        self.name
    }

    fn width(&self) -> usize {
        self.width
    }

    fn result_width(&self) -> usize {
        self.result_width
    }

    fn lerp(&self, _from: &[f64], _to: &[f64], _t: f64, _seconds: f64, _result: &mut [f64]) {}

    fn wgsl(&self) -> &str {
        self.wgsl
    }
}

/// Two interpolators: one with a helper function and a shorter result, one that calls a function of the library.
fn interpolators() -> Vec<Arc<dyn Interpolator>> {
    let hermite = Shader {
        name: "hermite",
        width: 6,
        result_width: 2,
        wgsl: "fn hermite_number(p: f32, m: f32, q: f32, n: f32, t: f32) -> f32 {
            let s = 1.0 - t;
            return (1.0 + 2.0 * t) * s * s * p + t * s * s * m + (3.0 - 2.0 * t) * t * t * q - t * t * s * n;
        }

        fn hermite_lerp(a: array<f32, 6>, b: array<f32, 6>, t: f32, seconds: f32) -> array<f32, 2> {
            return array<f32, 2>(
                hermite_number(a[2], a[4] * seconds, b[2], b[0] * seconds, t),
                hermite_number(a[3], a[5] * seconds, b[3], b[1] * seconds, t),
            );
        }

        fn hermite_no_lerp(value: array<f32, 6>) -> array<f32, 2> {
            return array<f32, 2>(value[2], value[3]);
        }",
    };
    let turn = Shader {
        name: "turn",
        width: 4,
        result_width: 4,
        wgsl: "fn turn_lerp(a: array<f32, 4>, b: array<f32, 4>, t: f32, seconds: f32) -> array<f32, 4> {
            let turned = quat_slerp(vec4(a[0], a[1], a[2], a[3]), vec4(b[0], b[1], b[2], b[3]), t);
            return array<f32, 4>(turned.x, turned.y, turned.z, turned.w);
        }

        fn turn_no_lerp(value: array<f32, 4>) -> array<f32, 4> {
            return value;
        }",
    };
    vec![Arc::new(hermite), Arc::new(turn)]
}

/// All kernels that pose, with or without transitions and goals. If `lanes` is set, lanes keep the matrices of their
/// joints where they can. Two capacities for search results can have one size: their kernels are one.
fn pose_kernels(displaces: bool, goals: GoalRotations, lanes: bool) -> Vec<PoseKernel> {
    let mut kernels = Vec::new();
    let mut found = HashSet::new();
    for mixing in [Mixing::None, Mixing::Blend, Mixing::Any] {
        for workgroup in WORKGROUPS {
            let in_layers = mixing != Mixing::Any;
            let capacities = [SpanCapacity::Min, SpanCapacity::Few, SpanCapacity::Many, SpanCapacity::TooMany];
            for span_capacity in capacities.into_iter().chain(in_layers.then_some(SpanCapacity::InLayers)) {
                let joints_in_lanes = lanes && workgroup.has_lane_per_joint();
                for skin_format in SkinFormat::ALL {
                    let kernel = PoseKernel {
                        mixing,
                        workgroup,
                        span_capacity,
                        joints_in_lanes,
                        skin_format,
                        packs_to_nearest: false,
                        displaces,
                        goals,
                        skins_only: None,
                    };
                    if found.insert((mixing, skin_format, pose_constants(&kernel))) {
                        kernels.push(kernel);
                    }
                }
            }
        }
    }
    kernels
}

/// A kernel, and the one that leaves the rounding of half matrices to the device.
fn ways_to_pack(kernel: PoseKernel) -> impl Iterator<Item = PoseKernel> {
    let packs =
        (kernel.skin_format == SkinFormat::HalfMatrix).then_some(PoseKernel { packs_to_nearest: true, ..kernel });
    [kernel].into_iter().chain(packs)
}

/// All sets of features.
fn feature_sets() -> impl Iterator<Item = Features> {
    (0..32).map(|set| {
        let has = |bit: u32| set >> bit & 1 == 1;
        Features { splines: has(0), beyond_gltf: has(1), matrices: has(2), roots: has(3), quantized: has(4) }
    })
}

/// The texts of the kernels.
fn kernel_texts() -> Vec<WgslText> {
    let mut texts = vec![
        WgslText::of_kernel("visible".into(), &[VISIBLE_COLLECT_ENTRY, VISIBLE_MEASURE_ENTRY], Composed::visible),
        WgslText::of_kernel("events".into(), &[EVENTS_ENTRY], || Composed::events(false)),
        WgslText::of_kernel("events of followers".into(), &[EVENTS_ENTRY], || Composed::events(true)),
        WgslText::of_kernel("drive".into(), &[DRIVE_ENTRY], Composed::drive),
        WgslText::of_kernel("goals".into(), &[RESOLVE_GOALS_ENTRY], Composed::resolve_goals),
        WgslText::of_kernel("test of packing".into(), &["test_packing"], Composed::test_packing),
        WgslText::new("bandwidth".into(), &["fill", "fill_strided", "read_memory", "copy"], || {
            vec![BANDWIDTH.text.into()]
        }),
    ];
    texts.extend(feature_sets().map(|features| {
        let name = format!("play, {features:?}");
        WgslText::of_kernel(name, &[PLAY_ENTRY], move || Composed::play(features))
    }));
    texts.extend(feature_sets().map(|features| {
        let name = format!("root motion, {features:?}");
        WgslText::of_kernel(name, &[ROOT_MOTION_ENTRY], move || Composed::root_motion(features))
    }));
    for interpolators in [Vec::new(), interpolators()] {
        let pose = |kernel: PoseKernel, features: Features| {
            let interpolators = interpolators.clone();
            let name = format!("{kernel:?}, {features:?}, {} interpolators", interpolators.len());
            WgslText::of_kernel(name, &[POSE_ENTRY], move || Composed::pose(&kernel, features, &interpolators))
        };
        for kernel in pose_kernels(false, GoalRotations::None, true) {
            texts.extend(feature_sets().map(|features| pose(kernel, features)));
        }
        // The code of transitions, of goals, of joints with several skin matrices and of skins alone hardly depends on
        // the features: none and all will do.
        let skins_only =
            pose_kernels(false, GoalRotations::None, true).into_iter().filter(|kernel| kernel.joints_in_lanes);
        for kernel in skins_only.flat_map(ways_to_pack) {
            for skins_only in kernel.each_skins_only(7) {
                let kernel = PoseKernel { skins_only, ..kernel };
                texts.extend([Features::default(), Features::ALL].map(|features| pose(kernel, features)));
            }
        }
        let others = [
            pose_kernels(true, GoalRotations::None, true),
            pose_kernels(false, GoalRotations::Rigid, false),
            pose_kernels(true, GoalRotations::General, false),
            pose_kernels(false, GoalRotations::None, false),
        ];
        let is_above = |kernel: &PoseKernel| {
            !kernel.displaces && kernel.goals == GoalRotations::None && !kernel.workgroup.has_lane_per_joint()
        };
        for kernel in others.into_iter().flatten().filter(|kernel| !is_above(kernel)) {
            texts.extend([Features::default(), Features::ALL].map(|features| pose(kernel, features)));
        }
    }
    texts
}

/// The modules that the library gives to shaders of others.
fn other_texts() -> Vec<WgslText> {
    let readers = SkinFormat::ALL.map(|format| (format!("reader of {format:?}"), format.wgsl().to_owned()));
    readers.into_iter().map(|(name, code)| WgslText::new(name, &[], move || vec![code.clone()])).collect()
}

/// Compiles a text by naga.
#[track_caller]
fn compile(WgslText { name, entries, compose }: &WgslText) -> naga::Module {
    let code = compose().concat();
    let module = naga::front::wgsl::parse_str(&code).unwrap_or_else(|error| panic!("{name}: {error}"));
    let compute = module.entry_points.iter().filter(|entry| entry.stage == naga::ShaderStage::Compute);
    assert_eq!(compute.map(|entry| entry.name.as_str()).collect::<Vec<_>>(), *entries, "{name}");
    assert_guards_stand_first(name, &code);
    assert!(!mixes_and_with_or(&code), "{name}");
    module
}

/// Fails if a text reads a constant that is true or false before its declaration: such a branch is not removed.
#[track_caller]
fn assert_guards_stand_first(name: &str, code: &str) {
    let lines: Vec<_> = code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    for (at, line) in lines.iter().enumerate() {
        let declaration = line.strip_prefix("const ").and_then(|rest| rest.split_once(": bool ="));
        let Some((guard, _)) = declaration else { continue };
        let reads = |line: &&&str| line.split(|character| !is_word(character)).any(|word| word == guard);
        assert_eq!(lines[..at].iter().find(reads), None, "{name}: {guard}");
    }
}

/// The kernels that pose, and the others.
fn sorted_texts() -> (Vec<WgslText>, Vec<WgslText>) {
    kernel_texts().into_iter().partition(|text| text.entries == [POSE_ENTRY])
}

#[test]
fn each_kernel_comes_with_every_set_of_features() {
    let (pose, others) = sorted_texts();
    // Kernels that differ but for skin format, features and interpolators: without mixing, three capacities in each of
    // 10 workgroups; with either mixing four, but three in the largest workgroup that holds joints; and search results
    // in layers, without mixing and with the mixing that only blends.
    let expected = (3 * 10 + 2 * (4 * 10 - 1) + 2 * 10) * 3 * (32 + 3 * 2) * 2;
    // The same in the nine workgroups with a lane per joint: those that keep no matrices, in three formats, and those
    // that write nothing but skins, of any scales or of uniform ones, where half matrices are packed in two ways.
    let expected = expected + (3 * 9 + 2 * (4 * 9 - 1) + 2 * 9) * (3 + 2 * 4) * 2 * 2;
    // And those for two layers that only blend.
    let expected = expected + ((4 * 9 - 1) + 9) * (2 * 4) * 2 * 2;
    assert_eq!((pose.len(), others.len()), (expected, 2 * 32 + 7));
    assert_eq!(other_texts().len(), 3);
}

/// Returns `true` if a text mixes `&&` and `||` without parentheses, which WGSL forbids and naga accepts.
fn mixes_and_with_or(code: &str) -> bool {
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code = lines.collect::<Vec<_>>().join(" ") + " ";
    let mut levels = vec![[false; 2]];
    for pair in code.as_bytes().windows(2) {
        let found = match pair {
            b"&&" => 0,
            b"||" => 1,
            [b'(' | b'[', _] => {
                levels.push([false; 2]);
                continue;
            }
            [b')' | b']', _] => {
                levels.pop();
                continue;
            }
            [b';' | b'{' | b'}' | b',', _] => {
                levels.pop();
                levels.push([false; 2]);
                continue;
            }
            _ => continue,
        };
        let Some(level) = levels.last_mut() else { continue };
        level[found] = true;
        if *level == [true; 2] {
            return true;
        }
    }
    false
}

#[test]
fn a_mix_of_and_with_or_is_seen() {
    assert!(mixes_and_with_or("let a = b && c || d;"));
    assert!(mixes_and_with_or("f(a,\n b || c\n && d)"));
    assert!(!mixes_and_with_or("let a = (b && c) || d; if e && f { g(h || i); }\nlet j = k && l; // or m || n\n"));
}

#[test]
fn kernels_of_one_name_have_one_text() {
    let mut found: HashMap<String, PoseKernel> = HashMap::new();
    for (displaces, goals, lanes) in [
        (false, GoalRotations::None, true),
        (true, GoalRotations::None, true),
        (false, GoalRotations::None, false),
        (true, GoalRotations::None, false),
        (false, GoalRotations::Rigid, false),
        (true, GoalRotations::Rigid, false),
        (false, GoalRotations::General, false),
        (true, GoalRotations::General, false),
    ] {
        for kernel in pose_kernels(displaces, goals, lanes).into_iter().flat_map(ways_to_pack) {
            let known = (0..=8).flat_map(|rounds| kernel.each_skins_only(rounds)).filter(|_| kernel.joints_in_lanes);
            for skins_only in [None].into_iter().chain(known) {
                let kernel = PoseKernel { skins_only, ..kernel };
                let other = *found.entry(kernel.name()).or_insert(kernel);
                assert_eq!(other, kernel, "{}", kernel.name());
            }
        }
    }
    // A feature more is another name.
    let plan = Plan::new(Mixing::None, &SkeletonRecord::default(), 1);
    for pass in [Pass::Play, Pass::Pose, Pass::RootMotion] {
        let names: HashSet<_> = feature_sets().map(|features| kernel_name(features, pass, &plan.kernel)).collect();
        assert_eq!(names.len(), 32, "{pass:?}");
    }
}

/// A prime number, so that the sample goes through all kinds of kernels that pose.
const STEP: usize = 97;

#[test]
fn naga_accepts_the_texts_and_each_function_is_in_a_kernel() {
    let (pose, others) = sorted_texts();
    let mut found = HashSet::new();
    for text in other_texts().iter().chain(&others).chain(pose.iter().step_by(STEP)) {
        let module = compile(text);
        found.extend(module.functions.iter().filter_map(|(_, function)| function.name.clone()));
        // Entry points are no functions to naga.
        found.extend(module.entry_points.into_iter().map(|entry| entry.name));
    }
    let mut unused = Vec::new();
    for folder in ["shaders", "shaders/shared", "shaders/pose"] {
        for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "wgsl") {
                let text = std::fs::read_to_string(path).unwrap();
                let names = text.lines().filter_map(|line| line.strip_prefix("fn ")?.split('(').next());
                unused.extend(names.filter(|name| !found.contains(*name)).map(str::to_owned));
            }
        }
    }
    assert_eq!(unused, [""; 0], "no kernel calls them");
}

#[test]
fn a_kernel_has_no_code_for_features_that_its_library_lacks() {
    let plan = Plan::new(Mixing::None, &SkeletonRecord::default(), 1);
    let composed = Composed::pose(&plan.kernel, Features::default(), &[]);
    let module = naga::front::wgsl::parse_str(&composed.code).unwrap();
    let names: Vec<_> = module.functions.iter().filter_map(|(_, function)| function.name.as_deref()).collect();
    for name in ["ease_fraction", "quat_from_euler_angles", "sample_codes", "sample_cubic", "root_take_out"] {
        assert!(!names.contains(&name), "{name} is in a plain kernel");
    }
    assert!(names.contains(&"sample_rotation"));
}

#[test]
fn all_texts_are_written_if_a_file_is_named() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let step = std::env::var(FILE_STEP).map_or(1, |step| step.parse().unwrap());
    let (modules, (pose, others)) = (other_texts(), sorted_texts());
    // Kernels have most of their files in common, so that each part is written once.
    let mut indices = HashMap::new();
    let mut index = |part: String| {
        let count = indices.len();
        *indices.entry(part).or_insert(count)
    };
    let texts = modules.iter().chain(&others).chain(pose.iter().step_by(step)).map(|text| {
        let parts: Vec<_> = (text.compose)().into_iter().map(&mut index).collect();
        json!({ "name": text.name, "entries": text.entries, "parts": parts })
    });
    let texts: Vec<_> = texts.collect();
    let mut parts: Vec<_> = indices.into_iter().collect();
    parts.sort_by_key(|(_, index)| *index);
    let parts: Vec<_> = parts.into_iter().map(|(part, _)| part).collect();
    let count = modules.len() + others.len() + pose.len();
    std::fs::write(file, json!({ "parts": parts, "texts": texts, "count": count }).to_string()).unwrap();
}
