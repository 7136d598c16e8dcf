//! The contract between Rust and WGSL, without a GPU: what both declare is compared, and the pipelines are built on
//! wgpu's no-op device.

use wgpu::naga;

use crate::demo;
use crate::gpu::kernels::{Binding, EVENTS_BINDINGS, MOTION_BINDINGS, POSE_BINDINGS, VISIBLE_BINDINGS};
use crate::gpu::plan::{Kernel, Plan, Spans, VARIANTS};
use crate::gpu::shader::{
    Composed, EVENTS_ENTRY, EVENTS_WORKGROUP_SIZE, MOTION_ENTRY, MOTION_WORKGROUP_SIZE, POSE_ENTRY, VISIBLE_ENTRIES,
    VISIBLE_WORKGROUP_SIZE,
};
use crate::gpu::{GpuLibrary, KernelForm};
use crate::model::{Outputs, SkinFormat};
use crate::pack::record::{self, Field};
use crate::pack::{Features, OutputLayout, PackedCrowd, PackedLibrary};

fn parse(plan: &Plan) -> naga::Module {
    parse_composed(&Composed::pose(plan, Features::ALL, &[]))
}

/// Plans for all pipelines that there are, but for those of packed skin matrices with more search results: the module that
/// writes them knows of none.
fn plans() -> impl Iterator<Item = Plan> {
    let kernels = Kernel::ALL.into_iter().flat_map(|kernel| (0..VARIANTS.len()).map(move |variant| (kernel, variant)));
    let full = Spans::ALL.map(|spans| (spans, SkinFormat::Matrix));
    let packed = [SkinFormat::HalfMatrix, SkinFormat::DualQuaternion].map(|skin_format| (Spans::Few, skin_format));
    kernels.flat_map(move |(kernel, variant)| {
        let of = move |(spans, skin_format)| Plan {
            kernel,
            variant,
            lane_count: 1,
            instances_per_group: 1,
            span_count: 1,
            spans,
            skin_format,
        };
        full.into_iter().chain(packed).map(of)
    })
}

fn parse_composed(composed: &Composed) -> naga::Module {
    naga::front::wgsl::parse_str(&composed.code).unwrap_or_else(|error| {
        let line = error.location(&composed.code).map_or(0, |location| location.line_number);
        panic!("{}", composed.error(line, error.emit_to_string(&composed.code)))
    })
}

/// The faults of a WGSL record against its Rust twin.
fn compare(module: &naga::Module, name: &str, fields: &[Field], size: usize) -> Vec<String> {
    let Some((_, found)) = module.types.iter().find(|(_, found)| found.name.as_deref() == Some(name)) else {
        return vec![format!("WGSL has no {name}")];
    };
    let naga::TypeInner::Struct { members, span } = &found.inner else { return vec![format!("{name} is no struct")] };
    let mut faults = Vec::new();
    if *span as usize != size {
        faults.push(format!("{name} has {span} bytes in WGSL, {size} in Rust"));
    }
    if members.len() != fields.len() {
        faults.push(format!("{name} has {} fields in WGSL, {} in Rust", members.len(), fields.len()));
    }
    for (member, field) in members.iter().zip(fields) {
        let member_type = &module.types[member.ty];
        let type_name = match member_type.inner {
            naga::TypeInner::Scalar(naga::Scalar::U32) => "u32",
            naga::TypeInner::Scalar(naga::Scalar::F32) => "f32",
            _ => member_type.name.as_deref().unwrap_or("something else"),
        };
        let found = (member.name.as_deref().unwrap_or(""), type_name, member.offset as usize);
        if found != (field.name, field.type_name, field.offset) {
            faults.push(format!("{name}: {found:?} in WGSL, {field:?} in Rust"));
        }
    }
    faults
}

fn constant(module: &naga::Module, name: &str) -> Option<u32> {
    let (_, constant) = module.constants.iter().find(|(_, constant)| constant.name.as_deref() == Some(name))?;
    match module.global_expressions[constant.init] {
        naga::Expression::Literal(naga::Literal::U32(value)) => Some(value),
        _ => None,
    }
}

#[test]
fn records_are_the_same_in_rust_and_wgsl() {
    let module = parse(&plans().next().unwrap());
    macro_rules! faults {
        ($($name:ident),*) => {
            [$(compare(
                &module,
                stringify!($name),
                record::$name::FIELDS,
                size_of::<record::$name>(),
            )),*].concat()
        };
    }
    let mut faults: Vec<String> = faults!(SkeletonRecord, ClipRecord, Root, TimelineRecord, Mapping, Channel);
    faults.extend(faults!(ValueChannel, QuantizedColumn, LayerRecord, BatchRecord));
    faults.extend(faults!(Frame, VisibleInstance));
    faults.extend(faults!(EventBatch, OccurrenceRecord, EventCount));
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_comparison_of_records_sees_planted_faults() {
    let field = |name, type_name, offset| Field { name, type_name, offset };
    let rust = [field("a", "u32", 0), field("b", "f32", 4)];
    let faults = |wgsl: &str| {
        let code = format!(
            "{wgsl} @group(0) @binding(0) var<storage> r: R; @compute @workgroup_size(1) fn f() {{ _ = r.a; }}"
        );
        compare(&naga::front::wgsl::parse_str(&code).unwrap(), "R", &rust, 8).len()
    };
    assert_eq!(faults("struct R { a: u32, b: f32 }"), 0);
    assert_eq!(faults("struct R { b: f32, a: u32 }"), 2, "swapped");
    assert!(faults("struct R { a: u32, b: vec3<f32> }") > 0, "another type");
    assert!(faults("struct R { a: u32, b: f32, c: u32 }") > 0, "one too many");
    assert!(faults("struct R { a: u32, other: f32 }") > 0, "another name");
}

#[test]
fn constants_are_the_same_in_rust_and_wgsl() {
    for plan in plans() {
        let module = parse(&plan);
        macro_rules! check {
            ($($name:ident),*) => {
                $(assert_eq!(constant(&module, stringify!($name)), Some(record::$name), stringify!($name));)*
            };
        }
        assert_eq!(constant(&module, "NONE"), Some(record::NONE));
        check!(MODE_REST, MODE_CONSTANT, MODE_STEP, MODE_LINEAR, MODE_CUBIC, MODE_SLERP, MODE_CUSTOM);
        check!(MODE_SPLIT, MODE_QUANTIZED, MODE_EULER, MODE_BITS);
        check!(MAP_STRAIGHT, MAP_BACK, MAP_KEY);
        check!(QUANTIZED_BITS, QUANTIZED_FORM, QUANTIZED_NUMBERS, QUANTIZED_UNIT, QUANTIZED_FORM_BITS);
        check!(QUANTIZED_WIDE, QUANTIZED_COLUMN_WORDS, QUANTIZED_WIDE_COLUMN_WORDS);
        check!(SHAPE_ROTATION, SHAPE_REST);
        check!(VALUE_NUMBER, VALUE_ROTATION, VALUE_ROTATION_REST);
        check!(LAYER_MODE, LAYER_BLEND, LAYER_OVERRIDE, LAYER_ADD_FIRST, LAYER_ADD_REST);
        check!(LAYER_FADES_IN, LAYER_FADES_OUT, LAYER_SMOOTH_IN, LAYER_SMOOTH_OUT);
        check!(CLOCK_PLAYS, CLOCK_WAITS, CLOCK_ENDLESS, CLOCK_BACKWARDS, CLOCK_PING_PONG, CLOCK_REVERSE);
        check!(EASING_LINEAR, EASING_CONSTANT, EASING_QUAD, EASING_CUBIC, EASING_QUART, EASING_QUINT);
        check!(EASING_SINE, EASING_EXPO, EASING_CIRC, EASING_ELASTIC, EASING_BACK, EASING_BOUNCE);
        check!(EASING_SMOOTH, EASING_FADE, EASING_BEZIER);
        check!(EASING_IN, EASING_OUT, EASING_IN_OUT, EASING_OUT_IN);
        check!(OUTPUT_LOCAL, OUTPUT_MODEL, OUTPUT_SKIN);
        check!(ROOT_X, ROOT_Y, ROOT_Z, ROOT_YAW, ROOT_FULL);
        let words = |name: &str| constant(&module, name).map(|words| words as usize);
        assert_eq!(words("CLIP_WORDS"), Some(record::ClipRecord::WORDS));
        assert_eq!(words("ROOT_WORDS"), Some(record::Root::WORDS));
        assert_eq!(words("TIMELINE_WORDS"), Some(record::TimelineRecord::WORDS));
        assert_eq!(words("MAPPING_WORDS"), Some(record::Mapping::WORDS));
        assert_eq!(words("CHANNEL_WORDS"), Some(record::Channel::WORDS));
        assert_eq!(words("VALUE_CHANNEL_WORDS"), Some(record::ValueChannel::WORDS));
    }
}

/// Asserts that a module has these bindings, within the limits of every device; gives its bytes of workgroup memory.
#[track_caller]
fn assert_bindings(module: &naga::Module, expected: &[(&str, Binding)]) -> u32 {
    let mut bindings: Vec<(u32, u32, String, Binding)> = Vec::new();
    let mut workgroup_bytes = 0;
    for (_, global) in module.global_variables.iter() {
        let kind = match global.space {
            naga::AddressSpace::Uniform => Binding::Uniform,
            naga::AddressSpace::Storage { access } if access.contains(naga::StorageAccess::STORE) => Binding::Write,
            naga::AddressSpace::Storage { .. } => Binding::Read,
            naga::AddressSpace::WorkGroup => {
                workgroup_bytes += module.types[global.ty].inner.size(module.to_ctx());
                continue;
            }
            other => panic!("{other:?}"),
        };
        let place = global.binding.expect("a binding");
        bindings.push((place.group, place.binding, global.name.clone().unwrap_or_default(), kind));
    }
    bindings.sort_by_key(|binding| binding.1);
    let named = |(at, &(name, kind)): (u32, &(&str, Binding))| (0, at, name.to_string(), kind);
    assert_eq!(bindings, (0..).zip(expected).map(named).collect::<Vec<_>>());
    let storage = bindings.iter().filter(|binding| binding.3 != Binding::Uniform).count();
    assert!(storage <= wgpu::Limits::default().max_storage_buffers_per_shader_stage as usize, "{storage} buffers");
    workgroup_bytes
}

#[test]
fn the_kernels_of_what_is_seen_have_the_bindings_and_the_size_that_rust_gives_them() {
    let module = parse_composed(&Composed::visible());
    assert_eq!(assert_bindings(&module, &VISIBLE_BINDINGS), 0);
    let entries: Vec<_> = module.entry_points.iter().map(|entry| (entry.name.as_str(), entry.workgroup_size)).collect();
    let [collect, measure] = VISIBLE_ENTRIES;
    assert_eq!(entries, [(collect, [VISIBLE_WORKGROUP_SIZE, 1, 1]), (measure, [1, 1, 1])]);
    // The list: a count, then entries without gaps.
    let (_, list) = module.types.iter().find(|(_, found)| found.name.as_deref() == Some("VisibleList")).unwrap();
    let naga::TypeInner::Struct { members, .. } = &list.inner else { panic!("{list:?}") };
    let naga::TypeInner::Array { stride, .. } = module.types[members[1].ty].inner else { panic!("{members:?}") };
    assert_eq!((members[1].offset as usize, stride as usize), (4, size_of::<record::VisibleInstance>()));
}

#[test]
fn every_kernel_has_the_bindings_and_the_size_that_rust_gives_it() {
    for plan in plans() {
        let module = parse(&plan);
        let variant = &VARIANTS[plan.variant];
        let workgroup_bytes = assert_kernel(&module, POSE_ENTRY, variant.workgroup_size, &POSE_BINDINGS);
        let limits = wgpu::Limits::default();
        assert!(workgroup_bytes <= limits.max_compute_workgroup_storage_size, "{workgroup_bytes} bytes: {variant:?}");
        assert!(variant.workgroup_size <= limits.max_compute_invocations_per_workgroup);
    }
    assert_kernel(&parse_composed(&Composed::events()), EVENTS_ENTRY, EVENTS_WORKGROUP_SIZE, &EVENTS_BINDINGS);
    assert_kernel(
        &parse_composed(&Composed::motion(Features::ALL)),
        MOTION_ENTRY,
        MOTION_WORKGROUP_SIZE,
        &MOTION_BINDINGS,
    );
}

/// Asserts that a module has one entry point, with these bindings; gives its bytes of workgroup memory.
#[track_caller]
fn assert_kernel(module: &naga::Module, name: &str, workgroup_size: u32, bindings: &[(&str, Binding)]) -> u32 {
    let entry = &module.entry_points[0];
    assert_eq!((module.entry_points.len(), entry.name.as_str()), (1, name));
    assert_eq!(entry.workgroup_size, [workgroup_size, 1, 1]);
    assert_bindings(module, bindings)
}

#[test]
fn a_list_of_events_begins_with_their_count() {
    let module = parse_composed(&Composed::events());
    let (_, list) = module.types.iter().find(|(_, found)| found.name.as_deref() == Some("EventList")).unwrap();
    let naga::TypeInner::Struct { members, .. } = &list.inner else { panic!("{list:?}") };
    let found: Vec<_> =
        members.iter().map(|member| (member.name.as_deref().unwrap(), member.offset as usize)).collect();
    let fields = record::EventCount::FIELDS.iter().map(|field| (field.name, field.offset));
    assert_eq!(found, fields.chain([("occurrences", size_of::<record::EventCount>())]).collect::<Vec<_>>());
    let occurrences = &module.types[members[4].ty].inner;
    let naga::TypeInner::Array { stride, .. } = occurrences else { panic!("{occurrences:?}") };
    assert_eq!(*stride as usize, size_of::<record::OccurrenceRecord>());
}

#[test]
fn every_pipeline_builds_on_a_device_that_does_nothing() {
    let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let mut library = crate::model::Library::new();
    for joints in [1, 100, 200, 300] {
        let joints = vec![crate::model::Joint::default(); joints];
        library.add_skeleton(crate::model::Skeleton::new(None, joints, Vec::new()).unwrap());
    }
    let library = GpuLibrary::new(&device, PackedLibrary::new(&library).unwrap()).unwrap();
    for plan in plans() {
        library.pipeline(&device, &plan).unwrap();
    }
    library.visible_kernels(&device).unwrap();
    library.motion_kernel(&device).unwrap();
    library.events_kernel(&device).unwrap();
}

/// `benches/RESULTS.md` reckons with these what a joint costs on hardware: 64 joints, each moved in translation, rotation and
/// scale.
#[test]
fn a_joint_costs_the_bytes_that_are_reckoned_with() {
    let library = demo::rig(64, 60, 10).unwrap();
    let packing = PackedLibrary::new(&library).unwrap();
    let skeleton = &packing.skeletons[0].record;
    let crowd = PackedCrowd::new(&packing, &demo::crowd(&library, 10).unwrap()).unwrap();
    // Through memory: a skin matrix is written, and of 64 joints a layer is read.
    let layout = OutputLayout::new(skeleton, Outputs::SKIN);
    assert_eq!(4 * layout.strides().iter().sum::<usize>(), 64 * 48);
    assert_eq!((crowd.layers.len(), size_of::<record::LayerRecord>()), (10, 104));
    // From caches: keys, rest poses and inverse bind matrices, which all instances share.
    let (keys, at_rest, inverse_binds) = (64 * 3 * 60, 64 * 3, 64 * 3);
    assert_eq!(packing.arrays.values.len(), keys + at_rest + inverse_binds);
    assert_eq!((skeleton.timeline_count, skeleton.round_count), (1, 4));
    // Workgroup memory, which says how many workgroups run at a time.
    let bytes = |kernel, layers| {
        let plan = Plan::new(KernelForm::Parallel, kernel, skeleton, layers);
        let module = parse(&plan);
        assert_eq!(plan.instances_per_group, 1);
        assert_kernel(&module, POSE_ENTRY, 64, &POSE_BINDINGS)
    };
    assert_eq!([bytes(Kernel::Plain, 1), bytes(Kernel::Blend, 2)], [5120, 6656]);
}
