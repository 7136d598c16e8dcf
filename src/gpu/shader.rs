//! Kernels composed of shader files, compiled, with errors traced back to file and line.
//!
//! A kernel is made in five steps. `shader_files` has the texts of the folder `shaders/`. The files of a kernel are
//! joined, with the constants of `shader_constants` and the records of `pack::record` as WGSL. `shader_branches`
//! removes the branches that the constants rule out, and `shader_functions` what nothing calls then. naga parses the
//! result, and an error is mapped back to its file and line. The module bears the name of the file with its entry
//! point.

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::Error;
use crate::gpu::plan::{GoalTurns, PoseKernel};
use crate::gpu::shader_branches::remove_dead_branches;
use crate::gpu::shader_constants::{feature_constants, pose_constants};
use crate::gpu::shader_files::{
    DISPLACE, DISPLACE_NOTHING, DRIVE, EASE, EVENTS, GOALS, GOALS_GENERAL, GOALS_NOTHING, GOALS_RIGID, HIERARCHY,
    INVERSE_KINEMATICS, JOINTS_IN_STORAGE, JOINTS_IN_WORKGROUP, MATRIX, PHASE, PLAY, POSE, POSE_COMMON, POSE_JOINT,
    POSE_LAYERS, POSE_PART, RESOLVE_GOALS, ROOT_MOTION, SEARCH, SHARED, SYNC, ShaderFile, VISIBLE, generated,
    skin_writer,
};
use crate::gpu::shader_functions::remove_unused_functions;
use crate::gpu::shader_tokens::Tokens;
use crate::gpu::{Scopes, fault_point, interpolators};
use crate::model::{EventList, Interpolator, Mixing};
use crate::pack::Features;

/// Name of the entry point of the pose pass.
pub(super) const POSE_ENTRY: &str = "pose";
/// Name of the entry point that collects the instances that are due.
pub(super) const VISIBLE_COLLECT_ENTRY: &str = "visible_collect";
/// Name of the entry point that computes the size of their dispatch.
pub(super) const VISIBLE_MEASURE_ENTRY: &str = "visible_measure";
/// Invocations per workgroup of the kernel that collects.
pub(super) const VISIBLE_WORKGROUP_SIZE: u32 = 64;
/// Name of the entry point of the kernel of root motion.
pub(super) const ROOT_MOTION_ENTRY: &str = "root_motion";
/// Invocations per workgroup of the kernel of root motion.
pub(super) const ROOT_MOTION_WORKGROUP_SIZE: u32 = 64;
/// Name of the entry point of the kernel that plays layers.
pub(super) const PLAY_ENTRY: &str = "play_layers";
/// Invocations per workgroup of the kernel that plays layers.
pub(super) const PLAY_WORKGROUP_SIZE: u32 = 64;
/// Name of the entry point of the kernel that drives layers.
pub(super) const DRIVE_ENTRY: &str = "drive_layers";
/// Invocations per workgroup of the kernel that drives layers.
pub(super) const DRIVE_WORKGROUP_SIZE: u32 = 64;
/// Name of the entry point of the kernel that reads the parameters of goals.
pub(super) const RESOLVE_GOALS_ENTRY: &str = "resolve_goals";
/// Invocations per workgroup of the kernel that reads the parameters of goals.
pub(super) const RESOLVE_GOALS_WORKGROUP_SIZE: u32 = 64;
/// Name of the entry point of the kernel that lists events.
pub(super) const EVENTS_ENTRY: &str = "find_events";
/// Invocations per workgroup of the kernel that lists events.
pub(super) const EVENTS_WORKGROUP_SIZE: u32 = 64;

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
        let joints = match kernel.workgroup.joint_capacity {
            Some(_) => JOINTS_IN_WORKGROUP,
            None => JOINTS_IN_STORAGE,
        };
        let entry = match kernel.mixing {
            Mixing::None => POSE,
            Mixing::Blend | Mixing::Any => POSE_LAYERS,
        };
        let custom = interpolators.iter().enumerate().flat_map(|(index, interpolator)| {
            let name = interpolators::text_name(&**interpolator);
            let own = ShaderFile::new(name.clone(), interpolator.wgsl().to_owned());
            let call = ShaderFile::new(name, interpolators::generate_calls(index, &**interpolator));
            [own, ShaderFile { calls: Some(interpolator.clone()), ..call }]
        });
        let choice = ShaderFile::new("choice of an interpolator", interpolators::generate_choice(interpolators));
        let displace = if kernel.displaces { DISPLACE } else { DISPLACE_NOTHING };
        let goals: &[ShaderFile] = match kernel.goals {
            GoalTurns::None => &[GOALS_NOTHING],
            GoalTurns::Rigid => &[INVERSE_KINEMATICS, GOALS, GOALS_RIGID],
            GoalTurns::General => &[INVERSE_KINEMATICS, GOALS, GOALS_GENERAL],
        };
        let files =
            [MATRIX, HIERARCHY, joints, POSE_PART, POSE_JOINT, POSE_COMMON, displace, skin_writer(kernel.skin_format)];
        let files = generated()
            .chain(SHARED)
            .chain(files)
            .chain(goals.iter().cloned())
            .chain(custom)
            .chain([choice])
            .chain(caller);
        Self::new(pose_constants(kernel) + &feature_constants(features), files, entry)
    }

    /// The kernel of root motion, for a library with these features.
    pub fn root_motion(features: Features) -> Self {
        let constants = format!(
            "const WORKGROUP_SIZE: u32 = {ROOT_MOTION_WORKGROUP_SIZE}u;\nconst HAS_SHORT_ARCS: bool = false;\n"
        );
        let files = generated().chain(SHARED).chain([POSE_PART]);
        Self::new(constants + &feature_constants(features), files, ROOT_MOTION)
    }

    /// The kernels that run before the pose pass if only visible instances are posed.
    pub fn visible() -> Self {
        let constants = format!("const VISIBLE_WORKGROUP_SIZE: u32 = {VISIBLE_WORKGROUP_SIZE}u;\n");
        Self::new(constants, generated(), VISIBLE)
    }

    /// The kernel that plays layers, for a library with these features.
    pub fn play(features: Features) -> Self {
        let constants = format!("const WORKGROUP_SIZE: u32 = {PLAY_WORKGROUP_SIZE}u;\n");
        Self::new(constants + &feature_constants(features), generated().chain([PHASE, SEARCH, EASE]), PLAY)
    }

    /// The kernel that drives layers.
    pub fn drive() -> Self {
        let constants = format!("const WORKGROUP_SIZE: u32 = {DRIVE_WORKGROUP_SIZE}u;\n");
        Self::new(constants, generated().chain([PHASE, SYNC]), DRIVE)
    }

    /// The kernel that reads the parameters of goals.
    pub fn resolve_goals() -> Self {
        let constants = format!("const WORKGROUP_SIZE: u32 = {RESOLVE_GOALS_WORKGROUP_SIZE}u;\n");
        Self::new(constants, generated(), RESOLVE_GOALS)
    }

    /// The kernel that lists events; `follows` is true if layers may be synchronised.
    pub fn events(follows: bool) -> Self {
        let layer_capacity = EventList::MOST_OF_LAYER;
        let constants = format!(
            "const WORKGROUP_SIZE: u32 = {EVENTS_WORKGROUP_SIZE}u;\nconst LAYER_CAPACITY: u32 = {layer_capacity}u;\n\
             const FOLLOWS: bool = {follows};\n"
        );
        Self::new(constants, generated().chain([PHASE, SYNC]), EVENTS)
    }

    fn new(constants: String, files: impl Iterator<Item = ShaderFile>, entry: ShaderFile) -> Self {
        let constants_start = Start { name: "generated constants".into(), lines_before: 0, calls: None };
        let mut lines_before = constants.lines().count() as u32;
        let constants_range = 0..constants.len();
        let mut own = vec![constants_range];
        let mut composed = Self { file: entry.name.clone(), starts: vec![constants_start], code: constants };
        for ShaderFile { name, text, calls, is_own } in files.chain([entry]) {
            composed.starts.push(Start { name, lines_before, calls });
            lines_before += text.lines().count() as u32;
            own.extend(is_own.then_some(composed.code.len()..composed.code.len() + text.len()));
            composed.code.push_str(&text);
            if !text.is_empty() && !text.ends_with('\n') {
                composed.code.push('\n');
            }
        }
        let mut tokens = Tokens::new(&composed.code);
        remove_dead_branches(&mut tokens, &own);
        remove_unused_functions(&mut tokens, &own);
        composed.code = tokens.remaining_text();
        composed
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
        let fault = info.messages.iter().find(|message| message.message_type == wgpu::CompilationMessageType::Error);
        let line = fault.and_then(|fault| fault.location).map_or(0, |location| location.line_number);
        let message = fault.map_or_else(|| error.to_string(), |fault| in_one_line(&fault.message));
        Err(self.error(line, message))
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
                let message = interpolators::explain_call_fault(&**interpolator, &message);
                Error::Shader { file: name.to_string(), line: 0, message }
            }
        }
    }
}

/// The message of a compiler in one line, without the excerpt of the text, whose line numbers are those of the whole.
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
        let composed = Composed::new("const A: u32 = 1u;\n".into(), [good, empty].into_iter(), bad);
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
        let composed = Composed::new("const A: u32 = 1u;\n".into(), generated(), bad);
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
