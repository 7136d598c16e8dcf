//! The renderer. It draws a scene in two passes: the shadow map, then the picture.
//!
//! No pose is copied: the vertex shaders read the buffers that the kernels write. The part of the shadow map that is
//! used depends on the size of the scene, so that a soft edge, a few texels wide, stays the same share of a figure.

use wgpu::BufferUsages as Usages;

use crate::pipelines::{Layouts, Pipelines};
use crate::record::{BONE_VERTICES, GROUND_VERTICES, ViewRecord};
use crate::view::ShadowQuality;
use crate::{Alpha, Background, Bones, Canvas, Scene, Target, View, textures};
use posse::Error;
use posse::gpu::DeviceAndQueue;
use posse::low_level::device::{FrameUploads, Scopes, check_device, fault_point, filled_buffer};

/// Draws scenes into pictures of a [`Target`], on the device and queue of the caller.
///
/// It needs no optional feature of WebGPU and keeps to its default limits.
///
/// # Examples
/// ```
/// use posse_render::{
///     Bones, Bounds, Camera, Canvas, Picture, Placement, PoseBuffers, Renderer, Scene, Stage, Target, View, needed_outputs,
/// };
/// use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuLibrary};
/// use posse::{Ticks, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// #     // Without a GPU adapter there is nothing to draw with.
/// #     match draw() {
/// #         Err(posse::Error::NoAdapter { .. }) => Ok(()),
/// #         result => result,
/// #     }
/// # }
/// #
/// # fn draw() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let crowd = demo::crowd(&library, 1)?;
/// let gpu = GpuContext::new(AdapterKind::Any)?;
/// let gpu_library = GpuLibrary::new(&gpu, &library)?;
/// let gpu_crowd = GpuCrowd::new(&gpu_library, &crowd, needed_outputs(&[], true))?;
///
/// // Once: a renderer, a canvas, and a scene that shows the bones of the crowd.
/// let target = Target::default();
/// let renderer = Renderer::new(&gpu.device, &gpu.queue, target)?;
/// let canvas = Canvas::new(&gpu.device, target, [64, 48])?;
/// let poses = gpu_crowd.batches().iter().map(PoseBuffers::from);
/// let scene = Scene::new(&renderer, &library, &[], poses, &[Placement::default()])?;
///
/// // Per frame: poses and picture in one encoder.
/// let person = Bounds { low: [-0.5, 0.0, -0.5].into(), high: [0.5, 1.8, 0.5].into() };
/// let camera = Camera::default().fitted(&person.corners(), canvas.aspect(), 0.05);
/// let view = View { camera, stage: Stage::new(person, 1.8), bones: Bones::Solid };
/// let mut encoder = gpu.device.create_command_encoder(&Default::default());
/// gpu_crowd.encode(&mut encoder, Ticks::from_seconds(0.5));
/// let picture = Picture::draw(&renderer, encoder, &canvas, &scene, &view)?;
/// assert_eq!(picture.size, [64, 48]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Renderer {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    target: Target,
    shadows: ShadowQuality,
    pipelines: Pipelines,
    shadow_map: wgpu::TextureView,
    /// The texture bound as shadow map in the pass that draws the shadow map.
    no_shadow: wgpu::TextureView,
    shadow_sampler: wgpu::Sampler,
    pub(super) layouts: Layouts,
    pub(super) white: wgpu::TextureView,
    /// The buffer bound as values if there are no morph weights.
    pub(super) nothing: wgpu::Buffer,
    /// The bind group of the view for pipelines that need none.
    pub(super) no_view: wgpu::BindGroup,
    views: FrameUploads,
}

impl Renderer {
    /// A renderer for pictures of a target. It compiles its pipelines here, once, and keeps a handle of the device and
    /// of the queue.
    ///
    /// # Errors
    /// [`Error::Device`] if the device refuses a pipeline or has too little memory.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, target: Target) -> Result<Self, Error> {
        pollster::block_on(Self::new_async(device, queue, target))
    }

    /// As `new`, for a browser.
    ///
    /// # Errors
    /// The errors of `new`.
    pub async fn new_async(device: &wgpu::Device, queue: &wgpu::Queue, target: Target) -> Result<Self, Error> {
        let gpu = DeviceAndQueue { device, queue };
        let shadows = ShadowQuality::of(target);
        let scopes = Scopes::push(device);
        let layouts = Layouts::new(device);
        let depth = |size: u32| {
            fault_point(device);
            let texture = device.create_texture(&wgpu::TextureDescriptor {
                label: Some("shadow map"),
                size: wgpu::Extent3d { width: size, height: size, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: Canvas::DEPTH,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
                view_formats: &[],
            });
            texture.create_view(&Default::default())
        };
        fault_point(device);
        let shadow_sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("shadow map"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            compare: Some(wgpu::CompareFunction::LessEqual),
            ..Default::default()
        });
        let (shadow_map, no_shadow) = (depth(shadows.texels), depth(1));
        let white = textures::upload(device, queue, &textures::white());
        let nothing = filled_buffer(gpu, "no morph weights", &[0; 16], Usages::STORAGE);
        let record = filled_buffer(gpu, "no view", &[0; size_of::<ViewRecord>()], Usages::UNIFORM);
        let no_view = view_group(device, &layouts, &record, &no_shadow, &shadow_sampler);
        scopes.pop().await?;
        check_device(device).await?;
        let pipelines = Pipelines::new(device, &layouts, target).await?;
        let views = FrameUploads::new(gpu, "view", size_of::<ViewRecord>() as u64, Usages::UNIFORM);
        let (device, queue) = (device.clone(), queue.clone());
        Ok(Self {
            device,
            queue,
            target,
            shadows,
            pipelines,
            shadow_map,
            no_shadow,
            shadow_sampler,
            layouts,
            white,
            nothing,
            no_view,
            views,
        })
    }

    /// The target whose pictures it draws.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Records a picture of a scene into `output`, a view of a texture with the format of the target and the size of
    /// the canvas.
    ///
    /// The call only records; the caller submits the encoder. The picture shows the poses that the buffers of the scene
    /// hold when the device reaches it. Without memory for the view, the device refuses the picture when the encoder is
    /// finished or submitted, and reports it to the error scope or the handler of the caller.
    pub fn draw(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        canvas: &Canvas,
        output: &wgpu::TextureView,
        scene: &Scene,
        view: &View,
    ) {
        let record = ViewRecord::new(view, canvas.aspect(), self.shadows);
        let shadow = self.view_group(encoder, &record.for_shadow(), &self.no_shadow);
        self.draw_shadow(encoder, scene, &shadow, view);
        let view_group = self.view_group(encoder, &record, &self.shadow_map);
        let attachment = canvas.samples.as_ref().unwrap_or(output);
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("picture"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: attachment,
                depth_slice: None,
                resolve_target: canvas.samples.as_ref().map(|_| output),
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: if canvas.samples.is_some() { wgpu::StoreOp::Discard } else { wgpu::StoreOp::Store },
                },
            })],
            depth_stencil_attachment: Some(depth_attachment(&canvas.depth, 0.0, wgpu::StoreOp::Discard)),
            ..Default::default()
        });
        pass.set_bind_group(0, &view_group, &[]);
        self.draw_figures(&mut pass, scene, false);
        if view.bones != Bones::Hidden {
            pass.set_pipeline(&self.pipelines.bones);
            draw_bones(&mut pass, scene);
        }
        pass.set_pipeline(&self.pipelines.sky);
        pass.draw(0..3, 0..1);
        // Seen from below, the ground would hide everything.
        if view.camera.eye().y > view.stage.bounds.low.y || view.stage.background == Background::Transparent {
            pass.set_pipeline(&self.pipelines.ground);
            pass.draw(0..GROUND_VERTICES, 0..1);
        }
        self.draw_figures(&mut pass, scene, true);
    }

    /// Records the draws whose material blends, or those whose material does not.
    fn draw_figures(&self, pass: &mut wgpu::RenderPass, scene: &Scene, blend: bool) {
        for draw in scene.draws.iter().filter(|draw| (draw.alpha == Alpha::Blend) == blend) {
            pass.set_pipeline(&self.pipelines.figures[usize::from(blend)][usize::from(draw.culled)]);
            draw.record(pass);
        }
    }

    fn draw_shadow(&self, encoder: &mut wgpu::CommandEncoder, scene: &Scene, group: &wgpu::BindGroup, view: &View) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shadow map"),
            depth_stencil_attachment: Some(depth_attachment(&self.shadow_map, 1.0, wgpu::StoreOp::Store)),
            ..Default::default()
        });
        let side = ViewRecord::shadow_texels(view, self.shadows) as f32;
        pass.set_viewport(0.0, 0.0, side, side, 0.0, 1.0);
        pass.set_bind_group(0, group, &[]);
        for draw in &scene.draws {
            pass.set_pipeline(&self.pipelines.shadows[usize::from(draw.alpha != Alpha::Opaque)]);
            draw.record(&mut pass);
        }
        if view.bones == Bones::Solid {
            pass.set_pipeline(&self.pipelines.bone_shadows);
            draw_bones(&mut pass, scene);
        }
    }

    fn view_group(
        &self,
        encoder: &wgpu::CommandEncoder,
        record: &ViewRecord,
        shadow_map: &wgpu::TextureView,
    ) -> wgpu::BindGroup {
        let buffer = self.views.write(encoder, bytemuck::bytes_of(record));
        // Without memory for the buffer, the device refuses the picture when it is submitted.
        let scopes = Scopes::push(&self.device);
        let group = view_group(&self.device, &self.layouts, &buffer, shadow_map, &self.shadow_sampler);
        if scopes.pop_for_memory().is_err() {
            self.views.fail();
        }
        group
    }

    /// Fails if there was no memory for a view that was recorded since the last call.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is out of memory.
    pub(super) fn check_views(&self) -> Result<(), Error> {
        self.views.check()
    }

    /// The device and the queue of the renderer.
    pub(super) fn gpu(&self) -> DeviceAndQueue<'_> {
        DeviceAndQueue { device: &self.device, queue: &self.queue }
    }

    /// The bind group of matrices, values and instances, in this order.
    pub(super) fn poses_group(&self, buffers: [&wgpu::Buffer; 3]) -> wgpu::BindGroup {
        group(&self.device, &self.layouts.poses, &buffers.map(wgpu::Buffer::as_entire_binding))
    }
}

fn view_group(
    device: &wgpu::Device,
    layouts: &Layouts,
    record: &wgpu::Buffer,
    shadow_map: &wgpu::TextureView,
    shadow_sampler: &wgpu::Sampler,
) -> wgpu::BindGroup {
    let resources = [
        record.as_entire_binding(),
        wgpu::BindingResource::TextureView(shadow_map),
        wgpu::BindingResource::Sampler(shadow_sampler),
    ];
    group(device, &layouts.view, &resources)
}

/// A bind group of resources in the order of their bindings.
pub(super) fn group(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    resources: &[wgpu::BindingResource],
) -> wgpu::BindGroup {
    let entries =
        (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource: resource.clone() });
    let entries: Vec<_> = entries.collect();
    fault_point(device);
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some("render"), layout, entries: &entries })
}

impl super::scene::Draw {
    fn record(&self, pass: &mut wgpu::RenderPass) {
        pass.set_bind_group(1, &self.poses, &[]);
        pass.set_bind_group(2, &self.part, &[]);
        pass.set_vertex_buffer(0, self.vertices.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..self.index_count, 0, 0..self.instance_count);
    }
}

fn draw_bones(pass: &mut wgpu::RenderPass, scene: &Scene) {
    for bones in &scene.bones {
        pass.set_bind_group(1, &bones.poses, &[]);
        pass.set_bind_group(2, &bones.part, &[]);
        // Eight triangles per bone.
        pass.draw(0..BONE_VERTICES, 0..bones.count);
    }
}

fn depth_attachment(
    view: &wgpu::TextureView,
    clear: f32,
    store: wgpu::StoreOp,
) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    wgpu::RenderPassDepthStencilAttachment {
        view,
        depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(clear), store }),
        stencil_ops: None,
    }
}
