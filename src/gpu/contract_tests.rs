//! The contract between Rust and WGSL, without a GPU: tests compare the declarations of both, and build the pipelines
//! on the no-op device of wgpu.

use wgpu::naga;

use crate::demo;
use crate::gpu::GpuLibrary;
use crate::gpu::shader::Composed;
use crate::gpu::test_support::wgsl_errors;
use crate::kernels::plan::{GoalRotations, Plan, PoseKernel, SpanCapacity, WORKGROUPS};
use crate::kernels::{Access, Pass, SIDE_WORKGROUP_SIZE};
use crate::model::{Mixing, Outputs, SkinFormat};
use crate::pack::record::{self, Constant, Field, Record, Shared, Value};
use crate::pack::{Features, OutputLayout, PackedCrowd, PackedLibrary, VALUES_BEHIND_KEYS};

#[test]
fn the_shader_in_the_documentation_is_the_function_of_the_example() {
    let lines = include_str!("mod.rs").lines().skip_while(|line| *line != "//! ```wgsl").skip(1);
    let lines = lines.take_while(|line| *line != "//! ```").map(|line| line.trim_start_matches("//!"));
    let shader: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    naga::front::wgsl::parse_str(&shader.join("\n")).unwrap_or_else(|error| panic!("{error}: {shader:?}"));
    let function = shader.iter().position(|line| line.starts_with("fn ")).unwrap();
    let example = include_str!("../../examples/skinned_gltf.rs");
    assert!(
        example.contains(&shader[function..].join("\n")),
        "examples/skinned_gltf.rs has another {}",
        shader[function]
    );
}

fn parse(kernel: &PoseKernel) -> naga::Module {
    parse_composed(&Composed::pose(kernel, Features::ALL, &[]))
}

/// All kernels that pose, except the kernels of packed skin matrices, of transitions and of goals with more capacity
/// for search results: their files do not depend on it.
fn pose_kernels() -> impl Iterator<Item = PoseKernel> {
    let capacities =
        [SpanCapacity::InLayers, SpanCapacity::Min, SpanCapacity::Few, SpanCapacity::Many, SpanCapacity::TooMany];
    let in_full = capacities.map(|span_capacity| (span_capacity, SkinFormat::Matrix));
    let packed = [SkinFormat::HalfMatrix, SkinFormat::DualQuaternion].map(|format| (SpanCapacity::Few, format));
    let mut kernels = Vec::new();
    for mixing in [Mixing::None, Mixing::Blend, Mixing::Any] {
        for workgroup in WORKGROUPS {
            for (span_capacity, skin_format) in in_full.into_iter().chain(packed) {
                if span_capacity == SpanCapacity::InLayers && mixing == Mixing::Any {
                    continue;
                }
                let kernel = PoseKernel {
                    mixing,
                    workgroup,
                    span_capacity,
                    joints_in_lanes: false,
                    skin_format,
                    packs_to_nearest: false,
                    displaces: false,
                    goals: GoalRotations::None,
                    skins_only: None,
                };
                kernels.push(kernel);
                if skin_format == SkinFormat::HalfMatrix {
                    kernels.push(PoseKernel { packs_to_nearest: true, ..kernel });
                }
                if workgroup.has_lane_per_joint() {
                    kernels.push(PoseKernel { joints_in_lanes: true, ..kernel });
                    for skins_only in kernel.each_skins_only(7) {
                        kernels.push(PoseKernel { joints_in_lanes: true, skins_only, ..kernel });
                    }
                }
                if span_capacity == SpanCapacity::Few {
                    kernels.push(PoseKernel { displaces: true, ..kernel });
                    kernels.push(PoseKernel {
                        displaces: true,
                        joints_in_lanes: workgroup.has_lane_per_joint(),
                        ..kernel
                    });
                    kernels.push(PoseKernel { goals: GoalRotations::Rigid, ..kernel });
                    kernels.push(PoseKernel { goals: GoalRotations::General, displaces: true, ..kernel });
                }
            }
        }
    }
    kernels.into_iter()
}

fn parse_composed(composed: &Composed) -> naga::Module {
    naga::front::wgsl::parse_str(&composed.code).unwrap_or_else(|error| {
        let line = error.location(&composed.code).map_or(0, |location| location.line_number);
        panic!("{}", composed.error(line, error.emit_to_string(&composed.code)))
    })
}

#[test]
fn records_and_constants_are_the_same_in_rust_and_wgsl() {
    let events = [false, true].map(Composed::events);
    let root_motion = Composed::root_motion(Features::ALL);
    let others =
        [Composed::visible(), Composed::play(Features::ALL), Composed::drive(), Composed::resolve_goals(), root_motion];
    let composed: Vec<Composed> = others.into_iter().chain(events).collect();
    for module in composed.iter().map(parse_composed).chain(pose_kernels().map(|kernel| parse(&kernel))) {
        let errors = wgsl_errors(&module, record::SHARED);
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn the_comparison_sees_planted_errors() {
    let field = |name, type_name, offset, size| Field { name, docs: &[], type_name, offset, size };
    let fields = [field("a", "u32", 0, 4), field("b", "f32", 4, 4), field("c", "vec3f", 16, 12)];
    let record = Record { name: "R", docs: &[], fields: fields.to_vec().leak(), size: 32, loaded_from: None };
    let value = |value| Constant { name: "C", docs: &[], value };
    let count = |constant: Constant, wgsl: &str| {
        let code = format!(
            "{wgsl} @group(0) @binding(0) var<storage> r: R; @compute @workgroup_size(1) fn f() {{ _ = r.a; }}"
        );
        let (constants, records) = (vec![constant].leak(), vec![record].leak());
        wgsl_errors(&naga::front::wgsl::parse_str(&code).unwrap(), &[Shared { file: "", constants, records }]).len()
    };
    let one = value(Value::Float(1.0));
    assert_eq!(count(one, "const C: f32 = 1.0; struct R { a: u32, b: f32, c: vec3f }"), 0);
    assert_eq!(count(one, "const C: f32 = 1.0; struct R { b: f32, a: u32, c: vec3f }"), 2, "swapped");
    assert!(count(one, "const C: f32 = 1.0; struct R { a: u32, b: vec3f, c: vec3f }") > 0, "another type");
    assert!(count(one, "const C: f32 = 1.0; struct R { a: u32, b: f32, c: vec3f, d: vec4f }") > 0, "one too many");
    assert_eq!(count(one, "const C: f32 = 1.0; struct R { a: u32, b: f32, other: vec3f }"), 1, "another name");
    assert_eq!(count(one, "const C: f32 = 1.0; struct R { a: u32, b: f32, c: vec4f }"), 1, "another size");
    let record = "struct R { a: u32, b: f32, c: vec3f }";
    assert_eq!(count(one, &format!("const C: f32 = 1.0000001; {record}")), 1, "another number");
    assert_eq!(count(one, &format!("const D: f32 = 1.0; {record}")), 1, "no such constant");
    let two = value(Value::Floats(&[1.0, 2.0]));
    assert_eq!(count(two, &format!("const C: array<f32, 2> = array<f32, 2>(1.0, 2.0); {record}")), 0);
    assert_eq!(count(two, &format!("const C: array<f32, 2> = array<f32, 2>(2.0, 1.0); {record}")), 1, "turned round");
}

/// Asserts that a module has the bindings of a pass, within the limits of every device. Returns its bytes of workgroup
/// memory.
#[track_caller]
fn assert_bindings(module: &naga::Module, pass: Pass) -> u32 {
    let mut bindings: Vec<(u32, u32, String, Access)> = Vec::new();
    let mut workgroup_bytes = 0;
    for (_, global) in module.global_variables.iter() {
        let kind = match global.space {
            naga::AddressSpace::Uniform => Access::Uniform,
            naga::AddressSpace::Storage { access } if access.contains(naga::StorageAccess::STORE) => Access::ReadWrite,
            naga::AddressSpace::Storage { .. } => Access::Read,
            // The state of a transition and the matrix of a joint, one per invocation.
            naga::AddressSpace::Private => continue,
            naga::AddressSpace::WorkGroup => {
                workgroup_bytes += module.types[global.ty].inner.size(module.to_ctx());
                continue;
            }
            other => panic!("{other:?}"),
        };
        let location = global.binding.expect("a binding");
        bindings.push((location.group, location.binding, global.name.clone().unwrap_or_default(), kind));
    }
    bindings.sort_by_key(|binding| binding.1);
    let expected = (0..).zip(pass.bindings());
    let expected = expected.map(|(at, binding)| (0, at, binding.name.to_owned(), binding.access));
    assert_eq!(bindings, expected.collect::<Vec<_>>());
    let storage = bindings.iter().filter(|binding| binding.3 != Access::Uniform).count();
    assert!(storage <= wgpu::Limits::default().max_storage_buffers_per_shader_stage as usize, "{storage} buffers");
    workgroup_bytes
}

#[test]
fn the_kernels_of_visible_lists_have_the_bindings_and_the_size_that_rust_gives_them() {
    let module = parse_composed(&Composed::visible());
    assert_eq!(assert_bindings(&module, Pass::CollectVisible), 0);
    let entries: Vec<_> = module.entry_points.iter().map(|entry| (entry.name.as_str(), entry.workgroup_size)).collect();
    let sizes = [[SIDE_WORKGROUP_SIZE, 1, 1], [1, 1, 1]];
    let names = [Pass::CollectVisible, Pass::MeasureVisible].map(Pass::entry_point);
    assert_eq!(entries, [(names[0], sizes[0]), (names[1], sizes[1])]);
    // The list: a count, then entries without gaps.
    let (_, list) = module.types.iter().find(|(_, found)| found.name.as_deref() == Some("VisibleList")).unwrap();
    let naga::TypeInner::Struct { members, .. } = &list.inner else { panic!("{list:?}") };
    let naga::TypeInner::Array { stride, .. } = module.types[members[1].ty].inner else { panic!("{members:?}") };
    assert_eq!((members[1].offset as usize, stride as usize), (4, size_of::<record::VisibleInstance>()));
}

#[test]
fn every_kernel_has_the_bindings_and_the_size_that_rust_gives_it() {
    for kernel in pose_kernels() {
        let module = parse(&kernel);
        let workgroup = kernel.workgroup;
        let workgroup_bytes = assert_kernel(&module, Pass::Pose, workgroup.size);
        let limits = wgpu::Limits::default();
        assert!(workgroup_bytes <= limits.max_compute_workgroup_storage_size, "{workgroup_bytes} bytes: {workgroup:?}");
        assert!(workgroup.size <= limits.max_compute_invocations_per_workgroup);
    }
    for (composed, pass) in [
        (Composed::events(false), Pass::Events),
        (Composed::events(true), Pass::Events),
        (Composed::play(Features::ALL), Pass::Play),
        (Composed::drive(), Pass::Drive),
        (Composed::resolve_goals(), Pass::Goals),
        (Composed::root_motion(Features::ALL), Pass::RootMotion),
    ] {
        assert_kernel(&parse_composed(&composed), pass, SIDE_WORKGROUP_SIZE);
    }
}

/// Asserts that a module has the entry point of a pass and no other, with its bindings. Returns its bytes of workgroup
/// memory.
#[track_caller]
fn assert_kernel(module: &naga::Module, pass: Pass, workgroup_size: u32) -> u32 {
    let entry = &module.entry_points[0];
    assert_eq!((module.entry_points.len(), entry.name.as_str()), (1, pass.entry_point()));
    assert_eq!(entry.workgroup_size, [workgroup_size, 1, 1]);
    assert_bindings(module, pass)
}

#[test]
fn a_list_of_events_begins_with_their_count() {
    let module = parse_composed(&Composed::events(false));
    let (_, list) = module.types.iter().find(|(_, found)| found.name.as_deref() == Some("EventList")).unwrap();
    let naga::TypeInner::Struct { members, .. } = &list.inner else { panic!("{list:?}") };
    let found: Vec<_> =
        members.iter().map(|member| (member.name.as_deref().unwrap(), member.offset as usize)).collect();
    let fields = record::EventCount::RECORD.fields.iter().map(|field| (field.name, field.offset));
    assert_eq!(found, fields.chain([("occurrences", size_of::<record::EventCount>())]).collect::<Vec<_>>());
    let occurrences = &module.types[members[4].ty].inner;
    let naga::TypeInner::Array { stride, .. } = occurrences else { panic!("{occurrences:?}") };
    assert_eq!(*stride as usize, size_of::<record::OccurrenceRecord>());
}

#[test]
fn every_pipeline_builds_on_a_device_that_does_nothing() {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let mut library = crate::model::Library::new();
    for joints in [1, 100, 200, 300] {
        let joints = vec![crate::model::Joint::default(); joints];
        library.add_skeleton(crate::model::Skeleton::new(None, joints, Vec::new()).unwrap());
    }
    let library = GpuLibrary::new((&device, &queue), &library).unwrap();
    for kernel in pose_kernels() {
        pollster::block_on(library.pose_pipeline(&kernel)).unwrap();
    }
    pollster::block_on(library.visible_kernels()).unwrap();
    pollster::block_on(library.root_motion_kernel()).unwrap();
    pollster::block_on(library.play_kernel()).unwrap();
    pollster::block_on(library.drive_kernel()).unwrap();
    pollster::block_on(library.goals_kernel()).unwrap();
    for follows in [false, true] {
        pollster::block_on(library.events_kernel(follows)).unwrap();
    }
}

/// `benches/RESULTS.md` derives the cost of a joint on hardware from these bytes: 64 joints, each moved in translation,
/// rotation and scale.
#[test]
fn a_joint_costs_the_bytes_that_the_results_derive_from() {
    let library = demo::rig(64, 60, 10).unwrap();
    let packed = PackedLibrary::new(&library).unwrap();
    let skeleton = &packed.skeletons[0].record;
    let crowd = PackedCrowd::by_keys(&packed, &demo::crowd(&library, 10).unwrap(), Default::default()).unwrap();
    // Through memory: a skin matrix is written, and one layer per 64 joints is read.
    let layout = OutputLayout::new(skeleton, Outputs::SKIN);
    assert_eq!(4 * layout.strides().iter().sum::<usize>(), 64 * 48);
    assert_eq!((crowd.layers.len(), size_of::<record::LayerRecord>()), (10, 120));
    // From caches: keys, rest poses and inverse bind matrices, which all instances share.
    // The latter as matrices, and as rotations with scales and offsets.
    let (keys, at_rest, inverse_binds) = (64 * 3 * 60, 64 * 3, 64 * (3 + 2));
    // The channels of the clip, with zeros before them, and of the rest pose.
    let channels = 2 * 64 * record::PartChannels::ELEMENTS + VALUES_BEHIND_KEYS;
    assert_eq!(packed.arrays.values.len(), keys + at_rest + inverse_binds + channels);
    assert_eq!((skeleton.timeline_count, skeleton.round_count), (1, 4));
    // Workgroup memory, which limits the number of workgroups that run at a time.
    let bytes = |mixing, layers| {
        let plan = Plan::new(mixing, skeleton, layers);
        let module = parse(&plan.kernel);
        assert_eq!(plan.instances_per_group, 1);
        assert_kernel(&module, Pass::Pose, 64)
    };
    assert_eq!([bytes(Mixing::None, 1), bytes(Mixing::Blend, 2)], [3072, 3392]);
}
