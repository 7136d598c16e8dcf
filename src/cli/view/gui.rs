//! egui between a window and a device.

use std::time::Duration;

use posse::GpuContext;
use winit::event::WindowEvent;
use winit::window::Window;

/// egui's state, its input from a window, and what paints it.
pub struct Gui {
    context: egui::Context,
    input: egui_winit::State,
    painter: egui_wgpu::Renderer,
    /// Textures of the last frame that no later one needs.
    unneeded: Vec<egui::TextureId>,
}

/// What is to be painted over a frame.
pub struct Painting {
    triangles: Vec<egui::ClippedPrimitive>,
    pixels_per_point: f32,
    /// When it wants to be painted again.
    pub again: Duration,
}

impl Gui {
    /// For a window, painted into pictures whose format is not in sRGB.
    pub fn new(window: &Window, gpu: &GpuContext, format: wgpu::TextureFormat) -> Self {
        let context = egui::Context::default();
        context.set_theme(egui::Theme::Dark);
        let largest = gpu.device.limits().max_texture_dimension_2d as usize;
        let id = egui::ViewportId::ROOT;
        let input = egui_winit::State::new(context.clone(), id, window, None, None, Some(largest));
        let painter = egui_wgpu::Renderer::new(&gpu.device, format, egui_wgpu::RendererOptions::default());
        Self { context, input, painter, unneeded: Vec::new() }
    }

    /// Takes an event. True where it was meant for a control.
    pub fn event(&mut self, window: &Window, event: &WindowEvent) -> bool {
        self.input.on_window_event(window, event).consumed
    }

    /// Lays controls out, and does what they are made to do. Their textures are uploaded, whether they are painted or not.
    pub fn run(
        &mut self,
        GpuContext { device, queue, .. }: &GpuContext,
        window: &Window,
        contents: impl FnMut(&mut egui::Ui),
    ) -> Painting {
        self.unneeded.drain(..).for_each(|id| self.painter.free_texture(&id));
        let input = self.input.take_egui_input(window);
        let mut output = self.context.run_ui(input, contents);
        for (id, deltas) in output.textures_delta.set.drain() {
            deltas.iter().for_each(|delta| self.painter.update_texture(device, queue, id, delta));
        }
        self.unneeded.extend(output.textures_delta.free.drain());
        self.input.handle_platform_output(window, output.platform_output);
        let again = output.viewport_output.values().map(|viewport| viewport.repaint_delay).min();
        Painting {
            triangles: self.context.tessellate(output.shapes, output.pixels_per_point),
            pixels_per_point: output.pixels_per_point,
            again: again.unwrap_or(Duration::MAX),
        }
    }

    /// Records the controls over a picture of a size.
    pub fn paint(
        &mut self,
        GpuContext { device, queue, .. }: &GpuContext,
        encoder: &mut wgpu::CommandEncoder,
        (view, size_in_pixels): (&wgpu::TextureView, [u32; 2]),
        Painting { triangles, pixels_per_point, .. }: Painting,
    ) {
        let screen = egui_wgpu::ScreenDescriptor { size_in_pixels, pixels_per_point };
        let others = self.painter.update_buffers(device, queue, encoder, &triangles, &screen);
        queue.submit(others);
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("controls"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store },
            })],
            ..Default::default()
        });
        self.painter.render(&mut pass.forget_lifetime(), &triangles, &screen);
    }
}
