//! posse in Bevy: a plugin that poses a crowd on Bevy's device each frame, and draws it into Bevy's views. The skin
//! matrices stay in the buffer that posse has written.

use bevy::core_pipeline::Core3dSystems;
use bevy::core_pipeline::core_3d::{main_opaque_pass_3d, main_transparent_pass_3d};
use bevy::core_pipeline::schedule::{Core3d, camera_driver};
use bevy::prelude::*;
use bevy::render::render_resource::{RenderPassDescriptor, StoreOp};
use bevy::render::renderer::{RenderContext, RenderDevice, RenderGraph, RenderGraphSystems, RenderQueue, ViewQuery};
use bevy::render::view::{ViewDepthStencilTexture, ViewTarget, ViewUniformOffset, ViewUniforms};
use bevy::render::{RenderApp, RenderStartup};
use posse::{GpuCrowd, GpuLibrary, Outputs, PackedLibrary, Ticks};

use crate::Task;
use crate::draw::{CrowdDrawing, Look, Target};
use crate::figure::Figure;
use crate::scene::Scene;

/// Poses and draws a scene's crowd by Bevy's clock.
pub struct CrowdPlugin {
    /// What is drawn.
    pub task: Task,
}

impl Plugin for CrowdPlugin {
    fn build(&self, app: &mut App) {
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
        render_app
            .insert_resource(self.task.clone())
            .add_systems(RenderStartup, upload)
            // Once a frame, whatever the number of views.
            .add_systems(RenderGraph, pose.in_set(RenderGraphSystems::Render).before(camera_driver))
            // Once for each view.
            .add_systems(
                Core3d,
                draw.in_set(Core3dSystems::MainPass).after(main_opaque_pass_3d).before(main_transparent_pass_3d),
            );
    }
}

/// The crowd in the render world.
#[derive(Resource)]
struct PosedCrowd {
    crowd: GpuCrowd,
    scene: Scene,
    figure: Figure,
    look: Look,
}

/// Once: library and crowd to Bevy's device.
fn upload(task: Res<Task>, device: Res<RenderDevice>, mut commands: Commands) -> Result {
    let scene = task.scene()?;
    let library = GpuLibrary::new(device.wgpu_device(), PackedLibrary::new(&scene.library)?)?;
    let crowd = GpuCrowd::new(device.wgpu_device(), &library, &scene.crowd, Outputs::SKIN)?;
    let figure = Figure::new(scene.skeleton(), 0.02)?;
    commands.insert_resource(PosedCrowd { crowd, scene, figure, look: task.look().0 });
    Ok(())
}

/// Each frame: the poses at Bevy's time, recorded into Bevy's encoder.
fn pose(crowd: Res<PosedCrowd>, time: Res<Time>, mut context: RenderContext) {
    let device = context.render_device().clone();
    let now = Ticks::from_seconds(time.elapsed_secs_f64());
    crowd.crowd.encode(device.wgpu_device(), context.command_encoder(), now);
}

/// Each view of each frame: a pass between Bevy's own, with Bevy's camera, colours, samples and depth. The pipelines are
/// wgpu's own, shared with the example without Bevy; Bevy's pipeline cache or a material would bind the buffer as well.
fn draw(
    view: ViewQuery<(&ViewTarget, &ViewDepthStencilTexture, &ViewUniformOffset)>,
    view_uniforms: Res<ViewUniforms>,
    crowd: Res<PosedCrowd>,
    queue: Res<RenderQueue>,
    mut drawing: Local<Option<CrowdDrawing>>,
    mut context: RenderContext,
) {
    let (target, depth, offset) = view.into_inner();
    let Some(uniform) = view_uniforms.uniforms.binding() else { return };
    let device = context.render_device().clone();
    let device = device.wgpu_device();
    let drawing = drawing.get_or_insert_with(|| {
        let samples = target.sampled_main_texture().map_or(1, |texture| texture.sample_count());
        let target = Target { format: target.main_texture_format(), samples };
        CrowdDrawing::new(device, &queue, &crowd.scene, &crowd.figure, &crowd.crowd, target, crowd.look)
    });
    let view = drawing.view(device, uniform);
    let mut pass = context.command_encoder().begin_render_pass(&RenderPassDescriptor {
        label: Some("crowd"),
        color_attachments: &[Some(target.get_color_attachment())],
        depth_stencil_attachment: Some(depth.get_attachment(StoreOp::Store)),
        ..default()
    });
    drawing.draw(&mut pass, &view, offset.offset);
}
