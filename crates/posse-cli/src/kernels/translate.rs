//! A kernel in the languages of devices: the WGSL of the library, translated by naga.

use naga::back::{hlsl, msl, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use posse::Error;
use posse::gpu::KernelText;
use serde::Serialize;

/// A language of shaders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Language {
    /// WebGPU.
    Wgsl,
    /// SPIR-V 1.3, for Vulkan 1.1 and later.
    Spirv,
    /// HLSL of shader model 5.1, for Direct3D 12.
    Hlsl,
    /// The Metal Shading Language 2.3.
    Msl,
}

impl Language {
    /// The name in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wgsl => "wgsl",
            Self::Spirv => "spirv",
            Self::Hlsl => "hlsl",
            Self::Msl => "msl",
        }
    }

    /// The extension of files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Wgsl => "wgsl",
            Self::Spirv => "spv",
            Self::Hlsl => "hlsl",
            Self::Msl => "metal",
        }
    }
}

/// A kernel that naga has parsed and validated.
pub struct ParsedKernel<'a> {
    text: &'a KernelText,
    module: naga::Module,
    info: ModuleInfo,
}

/// A binding, as naga reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReadBinding {
    /// The group.
    pub group: u32,
    /// The number in the group.
    pub binding: u32,
    /// The name of the variable.
    pub name: String,
    /// `read`, `read_write` or `uniform`.
    pub access: &'static str,
    /// The type in WGSL.
    #[serde(rename = "type")]
    pub type_name: String,
}

/// A translated kernel.
pub struct Translated {
    /// The contents of the file.
    pub bytes: Vec<u8>,
    /// The name of the entry point.
    pub entry_point: String,
    /// What Metal needs of the caller beside the buffers; `None` for other languages.
    pub metal: Option<MetalSizes>,
}

/// The sizes that a program sets for a kernel in Metal.
pub struct MetalSizes {
    /// The numbers of the bindings whose sizes are in the buffer of sizes, in order.
    pub bindings: Vec<u32>,
    /// The bytes of each array in workgroup memory, for `setThreadgroupMemoryLength` at indices from 0.
    pub threadgroup: Vec<u32>,
}

impl<'a> ParsedKernel<'a> {
    /// Parses and validates a kernel.
    pub fn new(text: &'a KernelText) -> Result<Self, Error> {
        let parsed = naga::front::wgsl::parse_str(&text.wgsl);
        let module = parsed.map_err(|error| failed(text, &error.emit_to_string(&text.wgsl)))?;
        let validated = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module);
        let info = validated.map_err(|error| failed(text, &error.emit_to_string(&text.wgsl)))?;
        Ok(Self { text, module, info })
    }

    /// The invocations per workgroup in x, y and z.
    pub fn workgroup_size(&self) -> [u32; 3] {
        self.module.entry_points.first().map_or([1; 3], |entry| entry.workgroup_size)
    }

    /// The bytes of workgroup memory.
    pub fn workgroup_bytes(&self) -> u32 {
        let globals = self.module.global_variables.iter().map(|(_, global)| global);
        let shared = globals.filter(|global| global.space == naga::AddressSpace::WorkGroup);
        shared.map(|global| self.module.types[global.ty].inner.size(self.module.to_ctx())).sum()
    }

    /// The bytes of each array in workgroup memory that the kernel uses, in the order of its arguments in Metal, which
    /// wants multiples of 16.
    fn threadgroup_bytes(&self) -> Vec<u32> {
        let used = self.info.get_entry_point(0);
        let globals = self.module.global_variables.iter();
        let shared =
            globals.filter(|(at, global)| global.space == naga::AddressSpace::WorkGroup && !used[*at].is_empty());
        let bytes = shared.map(|(_, global)| self.module.types[global.ty].inner.size(self.module.to_ctx()));
        bytes.map(|bytes| bytes.next_multiple_of(16)).collect()
    }

    /// The bindings, in order.
    pub fn bindings(&self) -> Vec<ReadBinding> {
        let mut bindings: Vec<ReadBinding> = Vec::new();
        for (_, global) in self.module.global_variables.iter() {
            let (Some(place), Some(name)) = (global.binding, &global.name) else { continue };
            let access = match global.space {
                naga::AddressSpace::Uniform => "uniform",
                naga::AddressSpace::Storage { access } if access.contains(naga::StorageAccess::STORE) => "read_write",
                _ => "read",
            };
            let type_name = self.type_name(global.ty);
            bindings.push(ReadBinding {
                group: place.group,
                binding: place.binding,
                name: name.clone(),
                access,
                type_name,
            });
        }
        bindings.sort_by_key(|binding| (binding.group, binding.binding));
        bindings
    }

    /// A type as WGSL writes it.
    fn type_name(&self, ty: naga::Handle<naga::Type>) -> String {
        let found = &self.module.types[ty];
        match (&found.name, &found.inner) {
            (Some(name), _) => name.clone(),
            (None, naga::TypeInner::Scalar(scalar)) => scalar_name(*scalar),
            (None, naga::TypeInner::Vector { size, scalar }) => {
                format!("vec{}<{}>", *size as u32, scalar_name(*scalar))
            }
            (None, naga::TypeInner::Array { base, size, .. }) => match size {
                naga::ArraySize::Constant(count) => format!("array<{}, {count}>", self.type_name(*base)),
                _ => format!("array<{}>", self.type_name(*base)),
            },
            (None, naga::TypeInner::Atomic(scalar)) => format!("atomic<{}>", scalar_name(*scalar)),
            (None, other) => format!("{other:?}"),
        }
    }

    /// The kernel in a language.
    pub fn translate(&self, language: Language) -> Result<Translated, Error> {
        match language {
            Language::Wgsl => Ok(self.unnamed(self.text.wgsl.clone().into_bytes())),
            Language::Spirv => self.to_spirv(),
            Language::Hlsl => self.to_hlsl(),
            Language::Msl => self.to_msl(),
        }
    }

    /// A translation whose entry point has kept its name.
    fn unnamed(&self, bytes: Vec<u8>) -> Translated {
        Translated { bytes, entry_point: self.text.pass.entry_point().to_owned(), metal: None }
    }

    /// The name that a writer has given to the only entry point.
    fn entry_point<E: ToString>(&self, names: Vec<Result<String, E>>) -> Result<String, Error> {
        match names.into_iter().next() {
            Some(Ok(name)) => Ok(name),
            Some(Err(error)) => Err(failed(self.text, &error.to_string())),
            None => Err(failed(self.text, "the kernel has no entry point")),
        }
    }

    /// Descriptor set 0 with the numbers of the bindings. An index beyond a buffer reads or writes its last element.
    fn to_spirv(&self) -> Result<Translated, Error> {
        let places = self.module.global_variables.iter().filter_map(|(_, global)| global.binding);
        let place = |place: naga::ResourceBinding| {
            let to = spv::BindingInfo { descriptor_set: place.group, binding: place.binding, binding_array_size: None };
            (place, to)
        };
        let options = spv::Options {
            lang_version: (1, 3),
            flags: spv::WriterFlags::empty(),
            fake_missing_bindings: false,
            binding_map: places.map(place).collect(),
            bounds_check_policies: RESTRICTED,
            zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
            ..spv::Options::default()
        };
        let entry_point = self.text.pass.entry_point().to_owned();
        let pipeline = spv::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point };
        let words = spv::write_vec(&self.module, &self.info, &options, Some(&pipeline));
        let words = words.map_err(|error| failed(self.text, &error.to_string()))?;
        // The first word of SPIR-V tells its byte order.
        Ok(self.unnamed(words.iter().flat_map(|word| word.to_le_bytes()).collect()))
    }

    /// Registers with the numbers of the bindings in space 0: t for storage that is read, u for storage that is written,
    /// b for uniforms.
    fn to_hlsl(&self) -> Result<Translated, Error> {
        let options = hlsl::Options { zero_initialize_workgroup_memory: false, ..hlsl::Options::default() };
        let mut text = String::new();
        let pipeline = hlsl::PipelineOptions::default();
        let written = hlsl::Writer::new(&mut text, &options, &pipeline).write(&self.module, &self.info, None);
        let written = written.map_err(|error| failed(self.text, &error.to_string()))?;
        let entry_point = self.entry_point(written.entry_point_names)?;
        Ok(Translated { bytes: text.into_bytes(), entry_point, metal: None })
    }

    /// Arguments `[[buffer(N)]]` with the numbers of the bindings, one with the sizes of the buffers, and one per array
    /// in workgroup memory. An index beyond a buffer reads or writes its last element.
    fn to_msl(&self) -> Result<Translated, Error> {
        let mut resources = msl::EntryPointResources { sizes_buffer: Some(MSL_SIZES), ..Default::default() };
        let mut sizes = Vec::new();
        for (_, global) in self.module.global_variables.iter() {
            let Some(place) = global.binding else { continue };
            if self.module.types[global.ty].inner.needs_host_buffer_byte_size(&self.module.types) {
                sizes.push(place.binding);
            }
            let slot = u8::try_from(place.binding).ok();
            let mutable = !matches!(global.space, naga::AddressSpace::Uniform);
            resources.resources.insert(place, msl::BindTarget { buffer: slot, mutable, ..Default::default() });
        }
        let entry_point = self.text.pass.entry_point().to_owned();
        let options = msl::Options {
            lang_version: (2, 3),
            per_entry_point_map: [(entry_point, resources)].into(),
            fake_missing_bindings: false,
            bounds_check_policies: RESTRICTED,
            zero_initialize_workgroup_memory: false,
            ..msl::Options::default()
        };
        let written = msl::write_string(&self.module, &self.info, &options, &msl::PipelineOptions::default());
        let (text, written) = written.map_err(|error| failed(self.text, &error.to_string()))?;
        let entry_point = self.entry_point(written.entry_point_names)?;
        let metal = Some(MetalSizes { bindings: sizes, threadgroup: self.threadgroup_bytes() });
        Ok(Translated { bytes: text.into_bytes(), entry_point, metal })
    }
}

/// The slot of the buffer with the sizes of other buffers, behind the slots of all bindings.
pub const MSL_SIZES: u8 = 16;

/// A number type as WGSL writes it.
fn scalar_name(scalar: naga::Scalar) -> String {
    let kind = match scalar.kind {
        naga::ScalarKind::Uint => "u",
        naga::ScalarKind::Sint => "i",
        naga::ScalarKind::Float => "f",
        _ => return format!("{:?}", scalar.kind).to_lowercase(),
    };
    format!("{kind}{}", 8 * scalar.width)
}

/// Indices are clamped to the last element.
const RESTRICTED: BoundsCheckPolicies = BoundsCheckPolicies {
    index: BoundsCheckPolicy::Restrict,
    buffer: BoundsCheckPolicy::Restrict,
    image_load: BoundsCheckPolicy::Unchecked,
    binding_array: BoundsCheckPolicy::Unchecked,
};

/// The error of a kernel that naga refuses. An interpolator of the library can be the reason.
fn failed(text: &KernelText, message: &str) -> Error {
    Error::Shader { file: text.name.clone(), line: 0, message: message.trim().to_owned() }
}
