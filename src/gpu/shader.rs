//! WGSL put together from modules, compiled, and its errors traced back to file and line.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

use crate::error::Error;
use crate::gpu::plan::{Kernel, Plan, Spans, VARIANTS};
use crate::gpu::{KernelForm, interpolators};
use crate::model::{EventList, Interpolator, SkinFormat};
use crate::pack::{Features, record};

/// A shader file, or a text that stands for one.
#[derive(Debug, Clone)]
struct Module {
    file: Cow<'static, str>,
    text: Cow<'static, str>,
    /// The interpolator that it calls, whose fault it is where it does not compile.
    calls: Option<Arc<dyn Interpolator>>,
}

macro_rules! module {
    ($file:literal) => {
        Module {
            file: Cow::Borrowed(concat!("shaders/", $file)),
            text: Cow::Borrowed(include_str!(concat!("../../shaders/", $file))),
            calls: None,
        }
    };
}

const PHASE: Module = module!("shared/phase.wgsl");
const SHARED: [Module; 7] = [
    PHASE,
    module!("shared/ease.wgsl"),
    module!("shared/search.wgsl"),
    module!("shared/quat.wgsl"),
    module!("shared/sample.wgsl"),
    module!("shared/blend.wgsl"),
    module!("shared/root.wgsl"),
];
const MATRIX: Module = module!("shared/matrix.wgsl");
const HIERARCHY: Module = module!("shared/hierarchy.wgsl");
const HIERARCHY_SERIAL: Module = module!("shared/hierarchy_serial.wgsl");
const PART: Module = module!("pose/pose_part.wgsl");
const MOTION: Module = module!("root_motion.wgsl");
const JOINTS_IN_WORKGROUP: Module = module!("shared/joints_in_workgroup.wgsl");
const JOINTS_IN_STORAGE: Module = module!("shared/joints_in_storage.wgsl");
const COMMON: Module = module!("pose/pose_common.wgsl");
const SKIN_MATRIX: Module = module!("pose/skin_matrix.wgsl");
const SKIN_HALF: Module = module!("pose/skin_half.wgsl");
const SKIN_DUAL_QUATERNION: Module = module!("pose/skin_dual_quaternion.wgsl");
const POSE: Module = module!("pose/pose.wgsl");
const POSE_LAYERS: Module = module!("pose/pose_layers.wgsl");
const VISIBLE: Module = module!("visible.wgsl");
const EVENTS: Module = module!("events.wgsl");

/// Name of the entry point of the fused pass.
pub const POSE_ENTRY: &str = "pose";
/// Names of the entry points that find out what is due, and how large the dispatch for it is.
pub const VISIBLE_ENTRIES: [&str; 2] = ["visible_collect", "visible_measure"];
/// Invocations of a workgroup of the first of them.
pub const VISIBLE_WORKGROUP_SIZE: u32 = 64;
/// Name of the entry point of the kernel of root motion.
pub const MOTION_ENTRY: &str = "motion";
/// Invocations of a workgroup of that kernel.
pub const MOTION_WORKGROUP_SIZE: u32 = 64;
/// Name of the entry point of the kernel that lists events.
pub const EVENTS_ENTRY: &str = "find_events";
/// Invocations of a workgroup of that kernel.
pub const EVENTS_WORKGROUP_SIZE: u32 = 64;

/// The records and constants that Rust declares, a module for each Rust file. Errors name that file.
fn generated() -> impl Iterator<Item = Module> {
    record::SHARED.iter().map(|shared| Module {
        file: format!("{} (generated)", shared.file).into(),
        text: shared.wgsl().into(),
        calls: None,
    })
}

/// What a library does not use is known when its kernels are compiled: a branch that is never taken costs registers, and on a
/// software renderer, which takes both ways, time.
fn feature_constants(uses: Features) -> String {
    let Features { splines, beyond_gltf, matrices, roots, floats, quantized } = uses;
    format!(
        "const HAS_SPLINES: bool = {splines};\nconst HAS_BEYOND_GLTF: bool = {beyond_gltf};\n\
         const HAS_MATRICES: bool = {matrices};\nconst HAS_ROOTS: bool = {roots};\n\
         const HAS_FLOATS: bool = {floats};\nconst HAS_QUANTIZED: bool = {quantized};\n"
    )
}

/// WGSL of several modules, one after the other.
#[derive(Debug, Clone)]
pub struct Composed {
    /// The text.
    pub code: String,
    starts: Vec<Start>,
}

/// Where a module begins.
#[derive(Debug, Clone)]
struct Start {
    file: Cow<'static, str>,
    /// The number of the line before its first.
    before: u32,
    /// As that of the module.
    calls: Option<Arc<dyn Interpolator>>,
}

impl Composed {
    /// The fused pass of a plan, for a library that uses no more than this, with these interpolators.
    pub fn pose(plan: &Plan, uses: Features, interpolators: &[Arc<dyn Interpolator>]) -> Self {
        let &Plan { kernel, spans, skin_format, .. } = plan;
        let variant = &VARIANTS[plan.variant];
        let hierarchy = match variant.form {
            KernelForm::Parallel => HIERARCHY,
            KernelForm::Serial => HIERARCHY_SERIAL,
        };
        let is_whole = variant.form == KernelForm::Serial || skin_format == SkinFormat::DualQuaternion;
        let joints = if variant.joint_capacity.is_some() { JOINTS_IN_WORKGROUP } else { JOINTS_IN_STORAGE };
        let mut code = String::new();
        let mut constant = |name: &str, value: u32| writeln!(code, "const {name}: u32 = {value}u;").is_ok();
        constant("WORKGROUP_SIZE", variant.workgroup_size);
        constant("SPAN_CAPACITY", variant.span_capacity(kernel, spans));
        constant("PLAYED_CAPACITY", Kernel::PLAYED_CAPACITY);
        constant("JOINT_CAPACITY", variant.joint_capacity.unwrap_or(0));
        constant("SKIN_ROWS", if is_whole { 3 } else { 1 });
        let spans_fit = spans != Spans::TooMany;
        let over = kernel == Kernel::Layers;
        code.push_str(&format!("const SPANS_FIT: bool = {spans_fit};\nconst LAYERS_OVER: bool = {over};\n"));
        code.push_str(&feature_constants(uses));
        let custom = interpolators.iter().enumerate().flat_map(|(index, interpolator)| {
            let file: Cow<str> = interpolators::file(&**interpolator).into();
            let own = Module { file: file.clone(), text: interpolator.wgsl().to_owned().into(), calls: None };
            let text = interpolators::call(index, &**interpolator).into();
            [own, Module { file, text, calls: Some(interpolator.clone()) }]
        });
        let choice = interpolators::choice(interpolators.len()).into();
        let choice = Module { file: "choice of an interpolator".into(), text: choice, calls: None };
        let entry = if kernel == Kernel::Plain { POSE } else { POSE_LAYERS };
        let skin = match skin_format {
            SkinFormat::Matrix => SKIN_MATRIX,
            SkinFormat::HalfMatrix => SKIN_HALF,
            SkinFormat::DualQuaternion => SKIN_DUAL_QUATERNION,
        };
        let own = [MATRIX, hierarchy, joints, PART, COMMON, skin, entry];
        Self::new(code, generated().chain(SHARED).chain(own).chain(custom).chain([choice]))
    }

    /// The kernel of root motion, for a library that uses no more than this.
    pub fn motion(uses: Features) -> Self {
        let mut code = format!("const WORKGROUP_SIZE: u32 = {MOTION_WORKGROUP_SIZE}u;\n");
        code.push_str(&feature_constants(uses));
        Self::new(code, generated().chain(SHARED).chain([PART, MOTION]))
    }

    /// The kernels that come before the fused pass where only what is visible is posed.
    pub fn visible() -> Self {
        let constants = format!("const VISIBLE_WORKGROUP_SIZE: u32 = {VISIBLE_WORKGROUP_SIZE}u;\n");
        Self::new(constants, generated().chain([VISIBLE]))
    }

    /// The kernel that lists events.
    pub fn events() -> Self {
        let (workgroup, layer) = (EVENTS_WORKGROUP_SIZE, EventList::MOST_OF_LAYER);
        let constants = format!("const WORKGROUP_SIZE: u32 = {workgroup}u;\nconst LAYER_CAPACITY: u32 = {layer}u;\n");
        Self::new(constants, generated().chain([PHASE, EVENTS]))
    }

    fn new(constants: String, modules: impl Iterator<Item = Module>) -> Self {
        let constants_start = Start { file: "generated constants".into(), before: 0, calls: None };
        let mut before = constants.lines().count() as u32;
        let mut composed = Self { starts: vec![constants_start], code: constants };
        for Module { file, text, calls } in modules {
            composed.starts.push(Start { file, before, calls });
            before += text.lines().count() as u32;
            composed.code.push_str(&text);
            if !text.ends_with('\n') {
                composed.code.push('\n');
            }
        }
        composed
    }

    /// Compiles the text.
    ///
    /// # Errors
    /// [`Error::Shader`] with the compiler's first message.
    pub fn compile(&self, device: &wgpu::Device) -> Result<wgpu::ShaderModule, Error> {
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let source = wgpu::ShaderSource::Wgsl(self.code.as_str().into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some("posse pose"), source });
        let Some(error) = pollster::block_on(scope.pop()) else { return Ok(module) };
        let info = pollster::block_on(module.get_compilation_info());
        let fault = info.messages.iter().find(|message| message.message_type == wgpu::CompilationMessageType::Error);
        let line = fault.and_then(|fault| fault.location).map_or(0, |location| location.line_number);
        let message = fault.map_or_else(|| error.to_string(), |fault| in_one_line(&fault.message));
        Err(self.error(line, message))
    }

    /// An error in a line of the whole, from 1, or in none that is known.
    pub fn error(&self, line: u32, message: String) -> Error {
        match self.starts.iter().rev().find(|start| start.before < line) {
            None => Error::Shader { file: "shaders/pose.wgsl".into(), line: 0, message },
            Some(Start { file, before, calls: None }) => {
                Error::Shader { file: file.to_string(), line: line - before, message }
            }
            // Its lines are ours, and say nothing to who wrote the interpolator.
            Some(Start { file, calls: Some(interpolator), .. }) => {
                let message = interpolators::call_fault(&**interpolator, &message);
                Error::Shader { file: file.to_string(), line: 0, message }
            }
        }
    }
}

/// What a compiler says, without its excerpt of the text, whose lines are those of the whole.
fn in_one_line(message: &str) -> String {
    let said = message.lines().filter_map(|line| {
        let line = line.trim();
        // Not of a line that is quoted, which begins with its number.
        if let Some((_, error)) =
            line.split_once("error: ").filter(|_| !line.starts_with(|first: char| first.is_ascii_digit()))
        {
            return Some(error);
        }
        // A note, or what is said of a mark beneath a line of the text.
        let note = line.strip_prefix("= ").or_else(|| line.strip_prefix('│'))?;
        Some(note.trim_matches(|mark: char| " │╭╰─^-".contains(mark))).filter(|note| !note.is_empty())
    });
    let said: Vec<_> = said.collect();
    if said.is_empty() { message.trim().into() } else { said.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_file_and_line_it_comes_from() {
        let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
        let good =
            Module { file: "good.wgsl".into(), text: "fn good() -> f32 {\n    return 1.0;\n}\n".into(), calls: None };
        let bad = Module {
            file: "bad.wgsl".into(),
            text: "// A comment.\n\nfn bad() -> f32 {\n    return nothing;\n}".into(),
            calls: None,
        };
        let composed = Composed::new("const A: u32 = 1u;\n".into(), [good, bad].into_iter());
        match composed.compile(&device) {
            Err(Error::Shader { file, line, message }) => {
                assert_eq!((file.as_str(), line), ("bad.wgsl", 4));
                assert_eq!(message, "no definition in scope for identifier: `nothing`; unknown identifier");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_error_in_generated_text_names_the_rust_file_and_the_line_in_what_it_declares() {
        let words = "@group(0) @binding(0) var<storage, read> words: array<u32>;\nfn bad() { nothing(); }\n";
        let bad = Module { file: "bad.wgsl".into(), text: words.into(), calls: None };
        let composed = Composed::new("const A: u32 = 1u;\n".into(), generated().chain([bad]));
        let line = |text: &str| composed.code.lines().position(|line| line == text).unwrap() as u32 + 1;
        let place = |text: &str| match composed.error(line(text), String::new()) {
            Error::Shader { file, line, .. } => (file, line),
            other => panic!("{other:?}"),
        };
        let root = record::SHARED.iter().find(|shared| shared.file == "src/pack/record/clip.rs").unwrap().wgsl();
        let in_root = root.lines().position(|line| line == "struct Root {").unwrap() as u32 + 1;
        assert_eq!(place("struct Root {"), ("src/pack/record/clip.rs (generated)".into(), in_root));
        let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
        match composed.compile(&device) {
            Err(Error::Shader { file, line, .. }) => assert_eq!((file.as_str(), line), ("bad.wgsl", 2)),
            other => panic!("{other:?}"),
        }
    }
}
