//! The pipelines of the renderer: shaders, bind group layouts, blending and depth.

use crate::view::ShadowQuality;
use crate::{Canvas, Target, Vertex, record};
use posse::Error;
use posse::SkinFormat;
use posse::low_level::device::{Scopes, fault_point, shader_text};

const VIEW: &str = shader_text!("../shaders/view.wgsl");
/// The public module that reads skin matrices of this format.
const MATRIX: &str = SkinFormat::Matrix.wgsl();
const FIGURE: &str = shader_text!("../shaders/figure.wgsl");
const STAGE: &str = shader_text!("../shaders/stage.wgsl");
const BONES: &str = shader_text!("../shaders/bones.wgsl");

/// The source of a shader for figures. `extra` follows figure.wgsl.
pub(super) fn figure_source(target: Target, extra: &str) -> String {
    source(target, &[MATRIX, FIGURE, extra])
}

/// The source of a shader: the records and constants that Rust declares, the quality of shadows, view.wgsl, and these
/// modules.
fn source(target: Target, modules: &[&str]) -> String {
    let shadows = format!("const SHADOW_SAMPLES = {}u;\n", ShadowQuality::of(target).samples);
    record::SHARED.wgsl() + &shadows + VIEW + &modules.concat()
}

/// The sources of all shaders of the renderer, with their names.
#[cfg(test)]
fn sources() -> [(&'static str, String); 4] {
    let (target, probe) = (Target::default(), include_str!("../shaders/probe.wgsl"));
    [
        ("figure", figure_source(target, "")),
        ("probe", figure_source(target, probe)),
        ("bones", source(target, &[BONES])),
        ("stage", source(target, &[STAGE])),
    ]
}

/// The bind group layouts, in the order of the groups.
#[derive(Debug)]
pub(super) struct Layouts {
    /// Group 0: a [`ViewRecord`](record::ViewRecord), the shadow map and its sampler.
    pub view: wgpu::BindGroupLayout,
    /// Group 1: matrices, values and instances.
    pub poses: wgpu::BindGroupLayout,
    /// Group 2: a part, its morph targets, its material, texture and sampler, its copies and its visibility.
    pub part: wgpu::BindGroupLayout,
}

/// The pipelines for a target.
#[derive(Debug)]
pub(super) struct Pipelines {
    /// Without blending, then with blending. Of each, one that draws all triangles, so that the fragment shader decides
    /// on their sides, then one that leaves out clockwise triangles, which costs less.
    pub figures: [[wgpu::RenderPipeline; 2]; 2],
    /// Figures in the shadow map: opaque ones, then ones with transparent pixels.
    pub shadows: [wgpu::RenderPipeline; 2],
    pub bones: wgpu::RenderPipeline,
    pub bone_shadows: wgpu::RenderPipeline,
    pub ground: wgpu::RenderPipeline,
    pub sky: wgpu::RenderPipeline,
}

impl Layouts {
    pub fn new(device: &wgpu::Device) -> Self {
        use wgpu::ShaderStages as Stages;
        let uniform = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let storage = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: true },
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let texture = |sample_type| wgpu::BindingType::Texture {
            sample_type,
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let layout = |bindings: &[(Stages, wgpu::BindingType)]| {
            let entry =
                |(binding, &(visibility, ty))| wgpu::BindGroupLayoutEntry { binding, visibility, ty, count: None };
            let entries: Vec<_> = (0..).zip(bindings).map(entry).collect();
            fault_point(device);
            device
                .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("render"), entries: &entries })
        };
        let (depth, colours) = (wgpu::TextureSampleType::Depth, wgpu::TextureSampleType::Float { filterable: true });
        Self {
            view: layout(&[
                (Stages::VERTEX_FRAGMENT, uniform),
                (Stages::FRAGMENT, texture(depth)),
                (Stages::FRAGMENT, wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison)),
            ]),
            poses: layout(&[(Stages::VERTEX, storage); 3]),
            part: layout(&[
                (Stages::VERTEX, uniform),
                (Stages::VERTEX, storage),
                (Stages::VERTEX_FRAGMENT, uniform),
                (Stages::FRAGMENT, texture(colours)),
                (Stages::FRAGMENT, wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering)),
                (Stages::VERTEX, storage),
                (Stages::VERTEX, storage),
                (Stages::FRAGMENT, texture(colours)),
            ]),
        }
    }
}

impl Pipelines {
    /// The pipelines for a target.
    ///
    /// # Errors
    /// [`Error::Device`] if the device refuses a shader or a pipeline.
    pub async fn new(device: &wgpu::Device, layouts: &Layouts, target: Target) -> Result<Self, Error> {
        let scopes = Scopes::push(device);
        let all = [Some(&layouts.view), Some(&layouts.poses), Some(&layouts.part)];
        let layout = |count: usize| {
            fault_point(device);
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("render"),
                bind_group_layouts: &all[..count],
                immediate_size: 0,
            })
        };
        let module = |label, source: String| {
            let source = wgpu::ShaderSource::Wgsl(source.into());
            fault_point(device);
            device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(label), source })
        };
        let figure = module("figure", figure_source(target, ""));
        let (bones, stage) = (module("bones", source(target, &[BONES])), module("stage", source(target, &[STAGE])));
        let (whole, view_only) = (layout(3), layout(1));
        let picture = DrawPass { target: Some(target), blend: false, culled: false };
        let shadow = DrawPass { target: None, ..picture };
        let figures = Stages { device, layout: &whole, module: &figure, vertex: "figure_vertex", meshes: true };
        let bones = Stages { device, layout: &whole, module: &bones, vertex: "bone_vertex", meshes: false };
        let ground = Stages { device, layout: &view_only, module: &stage, vertex: "ground_vertex", meshes: false };
        let sky = Stages { vertex: "sky_vertex", ..ground };
        let pipelines = Self {
            figures: [false, true].map(|blend| {
                [false, true]
                    .map(|culled| figures.pipeline(Some("figure_fragment"), DrawPass { blend, culled, ..picture }))
            }),
            shadows: [None, Some("shadow_fragment")].map(|fragment| figures.pipeline(fragment, shadow)),
            bones: bones.pipeline(Some("bone_fragment"), picture),
            bone_shadows: bones.pipeline(None, shadow),
            ground: ground.pipeline(Some("ground_fragment"), DrawPass { blend: true, ..picture }),
            sky: sky.pipeline(Some("sky_fragment"), picture),
        };
        scopes.pop().await?;
        Ok(pipelines)
    }
}

/// A pass: into a picture of a target, or without a target into the shadow map.
#[derive(Clone, Copy)]
struct DrawPass {
    target: Option<Target>,
    blend: bool,
    /// `true` if clockwise triangles are left out.
    culled: bool,
}

/// A shader module, its vertex stage, and its layout.
#[derive(Clone, Copy)]
struct Stages<'a> {
    device: &'a wgpu::Device,
    layout: &'a wgpu::PipelineLayout,
    module: &'a wgpu::ShaderModule,
    vertex: &'a str,
    /// `true` if vertices come from a vertex buffer.
    meshes: bool,
}

impl Stages<'_> {
    fn pipeline(&self, fragment: Option<&str>, pass: DrawPass) -> wgpu::RenderPipeline {
        let blend = pass.blend.then_some(wgpu::BlendState::ALPHA_BLENDING);
        let write_mask = wgpu::ColorWrites::ALL;
        let colours: Vec<_> = pass
            .target
            .map(|target| Some(wgpu::ColorTargetState { format: target.format, blend, write_mask }))
            .into_iter()
            .collect();
        // Depth 0 is near in the shadow map, and far in pictures. Equal depth passes in pictures, for the sky at
        // depth 0.
        let compare = match pass.target {
            Some(_) => wgpu::CompareFunction::GreaterEqual,
            None => wgpu::CompareFunction::Less,
        };
        let shadow = pass.target.is_none();
        vertex_buffers(|buffers| {
            fault_point(self.device);
            self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(self.vertex),
                layout: Some(self.layout),
                vertex: wgpu::VertexState {
                    module: self.module,
                    entry_point: Some(self.vertex),
                    compilation_options: Default::default(),
                    buffers: if self.meshes { buffers } else { &[] },
                },
                primitive: wgpu::PrimitiveState {
                    front_face: wgpu::FrontFace::Ccw,
                    cull_mode: pass.culled.then_some(wgpu::Face::Back),
                    ..Default::default()
                },
                depth_stencil: Some(wgpu::DepthStencilState {
                    format: Canvas::DEPTH,
                    depth_write_enabled: Some(!pass.blend),
                    depth_compare: Some(compare),
                    stencil: Default::default(),
                    bias: wgpu::DepthBiasState { constant: 0, slope_scale: if shadow { 1.5 } else { 0.0 }, clamp: 0.0 },
                }),
                multisample: wgpu::MultisampleState {
                    count: pass.target.map_or(1, |target| target.samples),
                    ..Default::default()
                },
                fragment: fragment.map(|entry| wgpu::FragmentState {
                    module: self.module,
                    entry_point: Some(entry),
                    compilation_options: Default::default(),
                    targets: &colours,
                }),
                multiview_mask: None,
                cache: None,
            })
        })
    }
}

/// Calls `build` with the vertex buffer layout of [`Vertex`].
pub(super) fn vertex_buffers<T>(build: impl FnOnce(&[Option<wgpu::VertexBufferLayout>]) -> T) -> T {
    let attributes = wgpu::vertex_attr_array![
        0 => Float32x3, 1 => Float32x3, 2 => Float32x2, 3 => Unorm16x4,
        4 => Uint16x4, 5 => Uint16x4, 6 => Float32x4, 7 => Float32x4,
    ];
    build(&[Some(wgpu::VertexBufferLayout {
        array_stride: size_of::<Vertex>() as u64,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &attributes,
    })])
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;
    use posse::low_level::test_support::wgsl_errors;
    use wgpu::naga;

    /// The modules of all shaders of the renderer.
    fn modules() -> [naga::Module; 4] {
        sources().map(|(_, source)| naga::front::wgsl::parse_str(&source).unwrap())
    }

    #[test]
    fn records_and_constants_are_the_same_in_rust_and_wgsl() {
        for module in modules() {
            let errors = wgsl_errors(&module, &[record::SHARED]);
            assert!(errors.is_empty(), "{errors:#?}");
        }
    }

    #[test]
    fn every_buffer_has_declared_records_or_plain_vectors() {
        for module in modules() {
            for (_, global) in module.global_variables.iter() {
                if !matches!(global.space, naga::AddressSpace::Uniform | naga::AddressSpace::Storage { .. }) {
                    continue;
                }
                let element = match module.types[global.ty].inner {
                    naga::TypeInner::Array { base, .. } => &module.types[base],
                    _ => &module.types[global.ty],
                };
                if let naga::TypeInner::Struct { .. } = element.inner {
                    let name = element.name.as_deref().unwrap();
                    assert!(record::SHARED.records.iter().any(|record| record.name == name), "{name}");
                }
            }
        }
    }

    #[test]
    fn every_constant_of_a_shader_is_declared() {
        for module in modules() {
            for name in module.constants.iter().filter_map(|(_, constant)| constant.name.as_deref()) {
                let is_declared = record::SHARED.constants.iter().any(|constant| constant.name == name);
                assert!(is_declared || name == "SHADOW_SAMPLES", "{name}");
            }
        }
    }

    #[test]
    fn vertices_are_the_same_in_rust_and_wgsl() {
        let module = naga::front::wgsl::parse_str(&figure_source(Target::default(), "")).unwrap();
        let (_, vertex) = module.types.iter().find(|(_, found)| found.name.as_deref() == Some("Vertex")).unwrap();
        let naga::TypeInner::Struct { members, .. } = &vertex.inner else { panic!("{vertex:?}") };
        let name = |wanted: u32| {
            let has_location = |member: &&naga::StructMember| match member.binding {
                Some(naga::Binding::Location { location, .. }) => location == wanted,
                _ => false,
            };
            members.iter().find(has_location).and_then(|member| member.name.clone()).unwrap()
        };
        let found = vertex_buffers(|buffers| {
            let attributes = buffers[0].as_ref().unwrap().attributes.iter();
            attributes.map(|attribute| (name(attribute.shader_location), attribute.offset as usize)).collect::<Vec<_>>()
        });
        let (joints, weights) = (offset_of!(Vertex, joints), offset_of!(Vertex, weights));
        let expected = [
            ("position", offset_of!(Vertex, position)),
            ("normal", offset_of!(Vertex, normal)),
            ("texture", offset_of!(Vertex, texture)),
            ("colour", offset_of!(Vertex, colour)),
            ("joints", joints),
            ("more_joints", joints + size_of::<[u16; 4]>()),
            ("weights", weights),
            ("more_weights", weights + size_of::<[f32; 4]>()),
        ];
        assert_eq!(found, expected.map(|(name, offset)| (name.to_string(), offset)));
    }

    #[test]
    fn the_comparison_sees_swapped_fields() {
        let [haze, penumbra] = ["    haze: f32,", "    penumbra: f32,"];
        let source = source(Target::default(), &[STAGE]);
        assert_eq!([haze, penumbra].map(|field| source.matches(field).count()), [1, 1]);
        let swapped =
            source.replace(haze, "    other: f32,").replace(penumbra, haze).replace("    other: f32,", penumbra);
        let module = naga::front::wgsl::parse_str(&swapped).unwrap();
        assert_eq!(wgsl_errors(&module, &[record::SHARED]).len(), 2);
    }
}
