//! Kernels composed of shader files, compiled, with errors traced back to file and line.
//!
//! A kernel is made in three steps. The files of the kernel, which `shader_files` finds in the folder `shaders/`, are
//! joined behind the constants of this module and the records of `pack::record` as WGSL. `shader_pruning` removes the
//! branches that the constants rule out, and what nothing uses then. naga parses the result, and an error is mapped
//! back to its file and line. The module bears the name of the file with its entry point.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

use crate::error::Error;
use crate::gpu::shader_files::{ShaderFile, generated, with_needs};
use crate::gpu::shader_pruning::{Line, prune};
use crate::gpu::{Scopes, fault_point, interpolators};
use crate::kernels::plan::{GoalRotations, Plan, PoseKernel, SpanCapacity};
use crate::kernels::{DeviceCrowd, Pass, SIDE_WORKGROUP_SIZE, kernel_name};
use crate::model::{Crowd, EventList, Interpolator, Mixing, SkeletonId, SkinFormat};
use crate::pack::record::{
    BatchRecord, ClipRecord, Frame, LayerRecord, NONE, OUTPUT_SKIN, SkeletonRecord, TimelineRecord,
};
use crate::pack::{Features, PackedLibrary, PackedSkeleton};

/// The WGSL of a kernel: constants, then shader files one after the other.
#[derive(Debug, Clone)]
pub(super) struct Composed {
    /// The text.
    pub code: String,
    /// The file with the entry point. It labels the module, and errors without a line name it.
    file: Cow<'static, str>,
    starts: Vec<Start>,
}

/// The start of a file in the text.
#[derive(Debug, Clone)]
struct Start {
    name: Cow<'static, str>,
    /// The number of lines before the first line of the file.
    lines_before: u32,
    /// The interpolator that the text calls, if any.
    calls: Option<Arc<dyn Interpolator>>,
}

impl Composed {
    /// A kernel of the pose pass, for a library with these features and interpolators.
    pub fn pose(kernel: &PoseKernel, features: Features, interpolators: &[Arc<dyn Interpolator>]) -> Self {
        Self::pose_of(kernel, features, interpolators, None)
    }

    /// As `pose`, with a text that may call all functions of the kernel.
    #[cfg(test)]
    pub fn pose_with_caller(kernel: &PoseKernel, features: Features, caller: ShaderFile) -> Self {
        Self::pose_of(kernel, features, &[], Some(caller))
    }

    fn pose_of(
        kernel: &PoseKernel,
        features: Features,
        interpolators: &[Arc<dyn Interpolator>],
        caller: Option<ShaderFile>,
    ) -> Self {
        let chosen = [
            kernel.workgroup.joint_capacity.map_or("joints_in_storage", |_| "joints_in_workgroup"),
            if kernel.has_uniform_scales() { "hierarchy_uniform" } else { "hierarchy" },
            if kernel.displaces { "displace" } else { "displace_nothing" },
            match kernel.goals {
                GoalRotations::None => "goals_nothing",
                GoalRotations::Rigid => "goals_rigid",
                GoalRotations::General => "goals_general",
            },
            match kernel.skin_format {
                SkinFormat::Matrix => "skin_matrix",
                SkinFormat::HalfMatrix => "skin_half",
                SkinFormat::DualQuaternion => "skin_dual_quaternion",
            },
        ];
        let entry = if kernel.mixing == Mixing::None { "pose" } else { "pose_layers" };
        let custom = interpolators.iter().enumerate().flat_map(|(index, interpolator)| {
            let name = interpolators::text_name(&**interpolator);
            let own = ShaderFile::new(name.clone(), interpolator.wgsl().to_owned());
            let call = ShaderFile::new(name, interpolators::generate_calls(index, &**interpolator));
            [own, ShaderFile { calls: Some(interpolator.clone()), ..call }]
        });
        let choice = ShaderFile::new("choice of an interpolator", interpolators::generate_choice(interpolators));
        let others = custom.chain([choice]).chain(caller);
        Self::new(pose_constants(kernel) + &feature_constants(features), others.chain(with_needs(entry, &chosen)))
    }

    /// The kernel of root motion, for a library with these features.
    pub fn root_motion(features: Features) -> Self {
        let constants = format!(
            "const WORKGROUP_SIZE: u32 = {SIDE_WORKGROUP_SIZE}u;\nconst HAS_SHORT_ARCS: bool = false;\n\
             const SPANS_IN_LAYERS: bool = false;\nconst BLENDS_ONLY: bool = false;\n"
        );
        Self::new(constants + &feature_constants(features), with_needs("root_motion", &[]))
    }

    /// The kernels that run before the pose pass if only visible instances are posed.
    pub fn visible() -> Self {
        let constants = format!("const VISIBLE_WORKGROUP_SIZE: u32 = {SIDE_WORKGROUP_SIZE}u;\n");
        Self::new(constants, with_needs("visible", &[]))
    }

    /// The kernel that plays layers, for a library with these features.
    pub fn play(features: Features) -> Self {
        let constants = format!("const WORKGROUP_SIZE: u32 = {SIDE_WORKGROUP_SIZE}u;\n");
        Self::new(constants + &feature_constants(features), with_needs("play", &[]))
    }

    /// The kernel that drives layers.
    pub fn drive() -> Self {
        let constants = format!("const WORKGROUP_SIZE: u32 = {SIDE_WORKGROUP_SIZE}u;\n");
        Self::new(constants, with_needs("drive", &[]))
    }

    /// The kernel that reads the parameters of goals.
    pub fn resolve_goals() -> Self {
        let constants = format!("const WORKGROUP_SIZE: u32 = {SIDE_WORKGROUP_SIZE}u;\n");
        Self::new(constants, with_needs("resolve_goals", &[]))
    }

    /// The kernel that shows how a device packs `f16`.
    pub fn test_packing() -> Self {
        let constants =
            format!("const WORKGROUP_SIZE: u32 = {SIDE_WORKGROUP_SIZE}u;\nconst PACKS_TO_NEAREST: bool = true;\n");
        Self::new(constants, with_needs("test_packing", &[]))
    }

    /// The kernel that lists events; `follows` is true if layers may be synchronised.
    pub fn events(follows: bool) -> Self {
        let layer_capacity = EventList::MAX_PER_LAYER;
        let constants = format!(
            "const WORKGROUP_SIZE: u32 = {SIDE_WORKGROUP_SIZE}u;\nconst LAYER_CAPACITY: u32 = {layer_capacity}u;\n\
             const FOLLOWS: bool = {follows};\n"
        );
        Self::new(constants, with_needs("events", &[]))
    }

    /// Constants, the declarations of Rust, then files. The last file has the entry point.
    fn new(constants: String, files: impl IntoIterator<Item = ShaderFile>) -> Self {
        let constants = ShaderFile { is_own: true, ..ShaderFile::new("generated constants", constants) };
        let files: Vec<_> = [constants].into_iter().chain(generated()).chain(files).collect();
        let (mut starts, mut lines) = (Vec::new(), Vec::new());
        for ShaderFile { name, text, calls, is_own } in &files {
            starts.push(Start { name: name.clone(), lines_before: lines.len() as u32, calls: calls.clone() });
            lines.extend(text.lines().map(|text| Line { text: text.into(), is_own: *is_own }));
        }
        let file = files.last().map_or(Cow::Borrowed(""), |entry| entry.name.clone());
        Self { file, starts, code: prune(lines) }
    }

    /// The text in parts: the constants, then the files.
    #[cfg(test)]
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        let lines: Vec<_> = self
            .code
            .split_inclusive('\n')
            .scan(0, |end, line| Some(std::mem::replace(end, *end + line.len())))
            .collect();
        let start = move |line: u32| lines.get(line as usize).copied().unwrap_or(self.code.len());
        let ends: Vec<_> =
            self.starts[1..].iter().map(|next| start(next.lines_before)).chain([self.code.len()]).collect();
        let starts = [0].into_iter().chain(ends.clone());
        starts.zip(ends).map(|(start, end)| &self.code[start..end])
    }

    /// Compiles the text.
    ///
    /// # Errors
    /// [`Error::Shader`] with the compiler's first message; [`Error::Device`] if memory is out.
    pub async fn compile(&self, device: &wgpu::Device) -> Result<wgpu::ShaderModule, Error> {
        let scopes = Scopes::push(device);
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        fault_point(device);
        let source = wgpu::ShaderSource::Wgsl(self.code.as_str().into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(&self.file), source });
        let (error, others) = (scope.pop(), scopes.pop());
        others.await?;
        let Some(error) = error.await else { return Ok(module) };
        let info = module.get_compilation_info().await;
        let message = info.messages.iter().find(|message| message.message_type == wgpu::CompilationMessageType::Error);
        let line = message.and_then(|message| message.location).map_or(0, |location| location.line_number);
        let text = message.map_or_else(|| error.to_string(), |message| in_one_line(&message.message));
        Err(self.error(line, text))
    }

    /// An error in a line of the whole text, counted from 1; 0 is an unknown line.
    pub fn error(&self, line: u32, message: String) -> Error {
        match self.starts.iter().rev().find(|start| start.lines_before < line) {
            None => Error::Shader { file: self.file.to_string(), line: 0, message },
            Some(Start { name, lines_before, calls: None }) => {
                Error::Shader { file: name.to_string(), line: line - lines_before, message }
            }
            // The lines are generated. They mean nothing to the author of the interpolator.
            Some(Start { name, calls: Some(interpolator), .. }) => {
                let message = interpolators::explain_call_error(&**interpolator, &message);
                Error::Shader { file: name.to_string(), line: 0, message }
            }
        }
    }
}

/// Constants for the features that a library uses. They are known when its kernels are compiled, so that unused code is
/// removed: a branch that is never taken costs registers, and a software renderer executes both sides of it.
fn feature_constants(features: Features) -> String {
    let Features { splines, beyond_gltf, matrices, roots, quantized } = features;
    format!(
        "const HAS_SPLINES: bool = {splines};\nconst HAS_BEYOND_GLTF: bool = {beyond_gltf};\n\
         const HAS_MATRICES: bool = {matrices};\nconst HAS_ROOTS: bool = {roots};\n\
         const HAS_QUANTIZED: bool = {quantized};\n"
    )
}

/// Constants of a kernel that poses.
pub(super) fn pose_constants(kernel: &PoseKernel) -> String {
    let &PoseKernel {
        mixing,
        workgroup,
        span_capacity,
        joints_in_lanes,
        skin_format,
        packs_to_nearest,
        skins_only,
        ..
    } = kernel;
    let mut code = String::new();
    for (name, value) in [
        ("WORKGROUP_SIZE", workgroup.size),
        ("SPAN_CAPACITY", workgroup.spans(mixing, span_capacity)),
        ("PLAYED_CAPACITY", workgroup.played_capacity()),
        ("JOINT_CAPACITY", workgroup.joint_capacity.unwrap_or(0)),
        ("ROUNDS", skins_only.map_or(0, |known| known.rounds)),
    ] {
        // A write to a string does not fail.
        let _ = writeln!(code, "const {name}: u32 = {value}u;");
    }
    for (name, value) in [
        ("HAS_SHORT_ARCS", true),
        ("ONE_INSTANCE", workgroup.one_instance),
        ("LANE_PER_JOINT", workgroup.has_lane_per_joint()),
        ("JOINTS_IN_LANES", joints_in_lanes),
        ("SKINS_ONLY", skins_only.is_some()),
        ("SPANS_IN_LAYERS", span_capacity == SpanCapacity::InLayers),
        ("SPANS_FIT", span_capacity != SpanCapacity::TooMany),
        ("LAYERS_OVER", mixing == Mixing::Any),
        ("BLENDS_ONLY", mixing == Mixing::Blend),
        ("TWO_LAYERS", skins_only.is_some_and(|known| known.two_layers)),
        ("SKIN_BY_ROW", skin_format != SkinFormat::DualQuaternion),
        ("PACKS_TO_NEAREST", packs_to_nearest),
    ] {
        let _ = writeln!(code, "const {name}: bool = {value};");
    }
    code
}

/// The words of the buffers that a workgroup reads, by their names in WGSL.
type NamedWords = [(&'static str, Vec<u32>); 5];

/// A kernel as WGSL, for devices of the caller ([`DeviceCrowd`]), and for compilers that are not behind a device.
#[derive(Debug, Clone)]
pub struct KernelText {
    /// The name among the kernels of the library: [`DeviceDispatch::kernel`](crate::kernels::DeviceDispatch::kernel).
    pub name: String,
    /// The pass, which has the entry point and the bindings.
    pub pass: Pass,
    /// The text.
    pub wgsl: String,
    /// The instances that a workgroup poses; `None` for kernels that do not pose.
    pub instances_per_group: Option<u32>,
    /// The invocations of a workgroup that poses, and the words of the buffers that it reads: for programs that execute
    /// the compiled kernel without a device. `None` for kernels of goals and for kernels that do not pose.
    #[doc(hidden)]
    pub workgroup: Option<(u32, NamedWords)>,
}

impl KernelText {
    /// The kernels of a crowd of the library, each once.
    ///
    /// # Examples
    /// ```
    /// use posse::kernels::{DeviceCrowd, DeviceLimits};
    /// use posse::gpu::KernelText;
    /// use posse::packed::PackedLibrary;
    /// use posse::{CrowdOptions, Outputs, demo};
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let library = demo::library()?;
    /// let (packed, crowd) = (PackedLibrary::new(&library)?, demo::crowd(&library, 10)?);
    /// let crowd = DeviceCrowd::new(&packed, &crowd, Outputs::SKIN, CrowdOptions::NONE, DeviceLimits::default())?;
    /// let kernels = KernelText::of_crowd(&packed, &crowd);
    /// let dispatched = &crowd.batches[0].dispatches;
    /// assert!(dispatched.iter().all(|dispatch| kernels.iter().any(|kernel| kernel.name == dispatch.kernel)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn of_crowd(packed: &PackedLibrary, crowd: &DeviceCrowd) -> Vec<Self> {
        let mut texts: Vec<Self> = Vec::new();
        for batch in &crowd.batches {
            for dispatch in &batch.dispatches {
                if texts.iter().all(|text| text.name != dispatch.kernel) {
                    texts.push(Self::of_pass(packed, dispatch.pass, &batch.kernel));
                }
            }
        }
        texts
    }

    /// The kernels that crowds of the library need if they have neither goals nor transitions, each once: kernels that
    /// pose instances of each skeleton by any mixing of up to [`Crowd::MAX_LAYERS`] layers, for any outputs and for
    /// skin matrices alone, and the kernels beside them.
    pub fn of_library(packed: &PackedLibrary, skin_format: SkinFormat) -> Vec<Self> {
        let most = Crowd::MAX_LAYERS as u32;
        let mut kernels = Vec::new();
        for PackedSkeleton { record, uniform_scales, .. } in &packed.skeletons {
            for (mixing, most) in [(Mixing::None, 1), (Mixing::Blend, most), (Mixing::Any, most)] {
                for layers in 1..=most {
                    // Without skin matrices among the outputs, the format has no effect.
                    let plan = Plan::new(mixing, record, layers);
                    let with_skins = plan.with_skin_format(skin_format);
                    let with_skins = [with_skins, with_skins.with_skins_only(record, *uniform_scales, layers)];
                    let with_skins = with_skins.into_iter().filter(|_| record.skin_joint_count > 0);
                    kernels.extend([plan].into_iter().chain(with_skins).map(|plan| (Pass::Pose, plan.kernel)));
                }
            }
        }
        if let Some(&(_, any)) = kernels.first() {
            kernels.extend([Pass::Drive, Pass::Play].map(|pass| (pass, any)));
            kernels.extend(packed.features.roots.then_some((Pass::RootMotion, any)));
        }
        let mut texts: Vec<Self> = Vec::new();
        for (pass, pose) in kernels {
            let name = kernel_name(packed.features, pass, &pose);
            if texts.iter().all(|text| text.name != name) {
                texts.push(Self::of_pass(packed, pass, &pose));
            }
        }
        texts
    }

    /// The kernel of a pass.
    fn of_pass(packed: &PackedLibrary, pass: Pass, pose: &PoseKernel) -> Self {
        let composed = match pass {
            Pass::Drive => Composed::drive(),
            Pass::Play => Composed::play(packed.features),
            Pass::Goals => Composed::resolve_goals(),
            Pass::Pose => Composed::pose(pose, packed.features, &packed.interpolators),
            Pass::RootMotion => Composed::root_motion(packed.features),
            Pass::CollectVisible | Pass::MeasureVisible => Composed::visible(),
            Pass::Events => Composed::events(true),
        };
        let name = kernel_name(packed.features, pass, pose);
        Self { name, pass, wgsl: composed.code, instances_per_group: None, workgroup: None }
    }

    /// The kernel that poses all instances of a skeleton with `layers` layers each that need a mixing, for skin matrices
    /// alone.
    #[doc(hidden)]
    pub fn pose(
        packed: &PackedLibrary,
        skeleton: SkeletonId,
        mixing: Mixing,
        layers: u32,
        skin_format: SkinFormat,
    ) -> Self {
        let PackedSkeleton { record, uniform_scales, .. } = &packed.skeletons[skeleton.index()];
        let plan = Plan::new(mixing, record, layers).with_skin_format(skin_format);
        let plan = plan.with_skins_only(record, *uniform_scales, layers);
        Self::of_plan(packed, plan).with_buffers(packed, skeleton, &plan, layers)
    }

    /// As `pose` of one layer, for half matrices that the device packs.
    #[doc(hidden)]
    pub fn packed_halves(packed: &PackedLibrary, skeleton: SkeletonId) -> Self {
        let PackedSkeleton { record, uniform_scales, .. } = &packed.skeletons[skeleton.index()];
        let plan = Plan::new(Mixing::None, record, 1).with_skin_format(SkinFormat::HalfMatrix);
        let plan = plan.with_skins_only(record, *uniform_scales, 1);
        let plan = Plan { kernel: PoseKernel { packs_to_nearest: true, ..plan.kernel }, ..plan };
        Self::of_plan(packed, plan).with_buffers(packed, skeleton, &plan, 1)
    }

    /// The kernel that poses instances of a skeleton with `layers` layers each that need a mixing, for any outputs and
    /// for instances of a visible list.
    #[doc(hidden)]
    pub fn any_outputs(packed: &PackedLibrary, skeleton: SkeletonId, mixing: Mixing, layers: u32) -> Self {
        let plan = Plan::new(mixing, &packed.skeletons[skeleton.index()].record, layers);
        Self::of_plan(packed, plan).with_buffers(packed, skeleton, &plan, layers)
    }

    /// The kernel that poses instances of a skeleton with one layer each and goals; if `rigid` is set, of joints with a
    /// fixed uniform scale.
    #[doc(hidden)]
    pub fn goals(packed: &PackedLibrary, skeleton: SkeletonId, rigid: bool) -> Self {
        let plan = Plan::new(Mixing::None, &packed.skeletons[skeleton.index()].record, 1);
        Self::of_plan(packed, plan.with_goals(if rigid { GoalRotations::Rigid } else { GoalRotations::General }))
    }

    fn of_plan(packed: &PackedLibrary, plan: Plan) -> Self {
        let instances_per_group = Some(plan.instances_per_group);
        Self { instances_per_group, ..Self::of_pass(packed, Pass::Pose, &plan.kernel) }
    }

    /// The same text with the buffers of a workgroup whose instances play the first clip of a skeleton, in all layers
    /// alike, at three tenths between two keys.
    fn with_buffers(self, packed: &PackedLibrary, skeleton: SkeletonId, plan: &Plan, layers: u32) -> Self {
        let record = packed.skeletons[skeleton.index()].record;
        let clips = packed.clip_offsets();
        let is_played = |&&(offset, of): &&(u32, SkeletonId)| of == skeleton && offset != record.rest_clip;
        let clip = clips.iter().find(is_played).map_or(record.rest_clip, |&(offset, _)| offset);
        let arrays = packed.device_arrays();
        let ClipRecord { timelines, timeline_count, .. } = arrays.record(clip);
        let timeline: TimelineRecord =
            if timeline_count > 0 { arrays.record(timelines) } else { TimelineRecord::default() };
        let span_rows = [timeline.key_count / 2 * timeline.row, timeline.row];
        let interval = timeline.cells_per_second.recip();
        let layer = LayerRecord {
            clip,
            time_high: ((timeline.key_count / 2) as f32 + 0.3) * interval,
            weight: 0.5,
            mask: NONE,
            span_rows,
            span_part: [0.3, interval],
            ..LayerRecord::default()
        };
        let batch = BatchRecord {
            skeleton: record,
            instance_count: plan.instances_per_group,
            lane_count: plan.lane_count,
            lane_inverse: plan.lane_inverse(),
            span_count: plan.span_count,
            groups_per_row: 1,
            outputs: OUTPUT_SKIN,
            layer_count: layers,
            instances_per_group: plan.instances_per_group,
            ..BatchRecord::default()
        };
        let layers = vec![layer; (plan.instances_per_group * layers) as usize];
        let buffers = [
            ("words", arrays.words.to_vec()),
            ("values", bytemuck::cast_slice(&arrays.values).to_vec()),
            ("layers", bytemuck::cast_slice(&layers).to_vec()),
            ("frame", bytemuck::cast_slice(&[Frame::default()]).to_vec()),
            ("batch", bytemuck::cast_slice(&[batch]).to_vec()),
        ];
        Self { workgroup: Some((plan.kernel.workgroup.size, buffers)), ..self }
    }

    /// The kernels that do not pose: root motion, events without and with synchronised layers, played layers,
    /// drivers, goals, and the two of visible lists.
    #[doc(hidden)]
    pub fn others(packed: &PackedLibrary) -> [Self; 8] {
        // Their texts do not depend on the kernel that poses.
        let pose = Plan::new(Mixing::None, &SkeletonRecord::default(), 1).kernel;
        let of = |pass| Self::of_pass(packed, pass, &pose);
        [
            of(Pass::RootMotion),
            Self { wgsl: Composed::events(false).code, ..of(Pass::Events) },
            of(Pass::Events),
            of(Pass::Play),
            of(Pass::Drive),
            of(Pass::Goals),
            of(Pass::CollectVisible),
            of(Pass::MeasureVisible),
        ]
    }
}

/// The message of a compiler in one line, without the excerpt of the text, whose line numbers count in the whole.
fn in_one_line(message: &str) -> String {
    let parts = message.lines().filter_map(|line| {
        let line = line.trim();
        // A quoted line begins with its number.
        if let Some((_, error)) =
            line.split_once("error: ").filter(|_| !line.starts_with(|first: char| first.is_ascii_digit()))
        {
            return Some(error);
        }
        // A note, or the text at a mark below a quoted line.
        let note = line.strip_prefix("= ").or_else(|| line.strip_prefix('│'))?;
        Some(note.trim_matches(|mark: char| " │╭╰─^-".contains(mark))).filter(|note| !note.is_empty())
    });
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() { message.trim().into() } else { parts.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::record;

    #[test]
    fn an_error_names_the_file_and_line_it_comes_from() {
        let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
        let good = ShaderFile::new("good.wgsl", "fn good() -> f32 {\n    return 1.0;\n}\n");
        let bad = ShaderFile::new("bad.wgsl", "// A comment.\n\nfn bad() -> f32 {\n    return nothing;\n}");
        let empty = ShaderFile::new("empty.wgsl", "");
        let composed = Composed::new("const A: u32 = 1u;\n".into(), [good, empty, bad]);
        match pollster::block_on(composed.compile(&device)) {
            Err(Error::Shader { file, line, message }) => {
                assert_eq!((file.as_str(), line), ("bad.wgsl", 4));
                assert_eq!(message, "no definition in scope for identifier: `nothing`; unknown identifier");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_error_without_a_line_names_the_file_of_the_kernel() {
        let file = |composed: Composed| match composed.error(0, String::new()) {
            Error::Shader { file, line: 0, .. } => file,
            other => panic!("{other:?}"),
        };
        assert_eq!(file(Composed::visible()), "shaders/visible.wgsl");
        assert_eq!(file(Composed::events(true)), "shaders/events.wgsl");
        assert_eq!(file(Composed::drive()), "shaders/drive.wgsl");
        assert_eq!(file(Composed::resolve_goals()), "shaders/resolve_goals.wgsl");
        assert_eq!(file(Composed::root_motion(Features::ALL)), "shaders/root_motion.wgsl");
    }

    #[test]
    fn an_error_in_generated_text_names_the_rust_file_and_the_line_in_its_wgsl() {
        let words = "@group(0) @binding(0) var<storage, read> words: array<u32>;\nfn bad() { nothing(); }\n";
        let bad = ShaderFile::new("bad.wgsl", words);
        let composed = Composed::new("const A: u32 = 1u;\n".into(), [bad]);
        let line = |text: &str| composed.code.lines().position(|line| line == text).unwrap() as u32 + 1;
        let location = |text: &str| match composed.error(line(text), String::new()) {
            Error::Shader { file, line, .. } => (file, line),
            other => panic!("{other:?}"),
        };
        let root = record::SHARED.iter().find(|shared| shared.file == "src/pack/record/clip.rs").unwrap().wgsl();
        let in_root = root.lines().position(|line| line == "struct Root {").unwrap() as u32 + 1;
        assert_eq!(location("struct Root {"), ("src/pack/record/clip.rs (generated)".into(), in_root));
        let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
        match pollster::block_on(composed.compile(&device)) {
            Err(Error::Shader { file, line, .. }) => assert_eq!((file.as_str(), line), ("bad.wgsl", 2)),
            other => panic!("{other:?}"),
        }
    }
}
