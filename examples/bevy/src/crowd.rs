//! posse in Bevy: a plugin that poses a crowd on the device of Bevy in each frame, and draws it into the views of Bevy. The skin
//! matrices stay in the buffer that posse writes.

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

/// Poses and draws the crowd of a scene by the clock of Bevy.
pub struct CrowdPlugin {
    /// The scene to draw, and its look.
    pub task: Task,
}

impl Plugin for CrowdPlugin {
    fn build(&self, app: &mut App) {
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
        render_app
            .insert_resource(self.task.clone())
            .add_systems(RenderStartup, upload)
            // Once per frame, for any number of views.
            .add_systems(RenderGraph, pose.in_set(RenderGraphSystems::Render).before(camera_driver))
            // Once per view.
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

/// Uploads the library and the crowd to the device of Bevy, once.
fn upload(task: Res<Task>, device: Res<RenderDevice>, queue: Res<RenderQueue>, mut commands: Commands) -> Result {
    let scene = task.scene()?;
    let library = GpuLibrary::new((device.wgpu_device(), &**queue.0), PackedLibrary::new(&scene.library)?)?;
    let crowd = GpuCrowd::new(&library, &scene.crowd, Outputs::SKIN)?;
    let figure = Figure::new(scene.skeleton(), 0.02)?;
    commands.insert_resource(PosedCrowd { crowd, scene, figure, look: task.look().0 });
    Ok(())
}

/// Records the poses at the time of Bevy into the encoder of Bevy, once per frame.
fn pose(crowd: Res<PosedCrowd>, time: Res<Time>, mut context: RenderContext) {
    let now = Ticks::from_seconds(time.elapsed_secs_f64());
    crowd.crowd.encode(context.command_encoder(), now);
}

/// Records a pass between the passes of Bevy, once per view, with Bevy's camera, colours, samples and depth. The pipelines are
/// made with wgpu and shared with the example without Bevy; the pipeline cache of Bevy or a material could bind the buffer too.
fn draw(
    view: ViewQuery<(&ViewTarget, &ViewDepthStencilTexture, &ViewUniformOffset)>,
    view_uniforms: Res<ViewUniforms>,
    crowd: Res<PosedCrowd>,
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
        CrowdDrawing::new(device, &crowd.scene, &crowd.figure, &crowd.crowd, target, crowd.look)
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
