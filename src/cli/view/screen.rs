//! What frames are drawn on, and the way from there into a window.

use std::sync::Arc;

use posse::render::{Canvas, Target};
use posse::{Error, GpuContext};
use wgpu::util::TextureBlitter;
use winit::window::Window;

/// A window's surface, and a picture of its size.
///
/// Frames are drawn into the picture, which is in sRGB whatever the surface is, and copied to the surface from there.
pub struct Screen {
    instance: wgpu::Instance,
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    configuration: wgpu::SurfaceConfiguration,
    blitter: TextureBlitter,
    target: Target,
    pub frame: Frame,
}

/// The picture that is drawn into.
pub struct Frame {
    pub canvas: Canvas,
    pub picture: wgpu::Texture,
    /// In sRGB, for what is mixed in linear light.
    pub srgb: wgpu::TextureView,
    /// The same bytes as they are, for what is mixed as it is stored.
    pub stored: wgpu::TextureView,
}

impl Screen {
    /// The surface of a window, and the device that draws on it; frames come as often as the screen shows them, or as often as
    /// they can.
    pub fn new(window: Arc<Window>, capped: bool) -> Result<(GpuContext, Self), Error> {
        let instance = GpuContext::instance();
        let surface = surface(&instance, &window)?;
        let (gpu, adapter) = GpuContext::for_surface(&instance, &surface).map_err(|error| match error {
            Error::NoAdapter { .. } => Error::Usage(
                "no GPU adapter can draw into a window here. Install your GPU's Vulkan, Metal or DirectX 12 driver, or a \
                 software one (Debian and Ubuntu: apt-get install mesa-vulkan-drivers); posse render needs no window"
                    .into(),
            ),
            error => error,
        })?;
        let target = Target::default();
        let size = window.inner_size();
        let frame = Frame::new(&gpu.device, target, [size.width.max(1), size.height.max(1)])?;
        let capabilities = surface.get_capabilities(&adapter);
        let format = format(&capabilities.formats)
            .ok_or_else(|| Error::Device("the window's surface has no format that can be drawn on".into()))?;
        let configuration = wgpu::SurfaceConfiguration {
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            format,
            color_space: wgpu::SurfaceColorSpace::Auto,
            width: size.width.max(1),
            height: size.height.max(1),
            present_mode: if capped { wgpu::PresentMode::AutoVsync } else { wgpu::PresentMode::AutoNoVsync },
            desired_maximum_frame_latency: 2,
            alpha_mode: wgpu::CompositeAlphaMode::Auto,
            view_formats: Vec::new(),
        };
        surface.configure(&gpu.device, &configuration);
        let blitter = TextureBlitter::new(&gpu.device, format);
        Ok((gpu, Self { instance, window, surface, configuration, blitter, target, frame }))
    }

    /// What the picture is made of.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Pixels to the right and down.
    pub fn size(&self) -> [u32; 2] {
        self.frame.canvas.size
    }

    /// Follows the window's size. False where it has none, as a minimised window.
    pub fn follow(&mut self, device: &wgpu::Device) -> Result<bool, Error> {
        let size = self.window.inner_size();
        if size.width == 0 || size.height == 0 {
            return Ok(false);
        }
        if self.size() != [size.width, size.height] {
            self.frame = Frame::new(device, self.target, [size.width, size.height])?;
            (self.configuration.width, self.configuration.height) = (size.width, size.height);
            self.surface.configure(device, &self.configuration);
        }
        Ok(true)
    }

    /// The surface's next texture; `None` where it is not seen, or not ready.
    pub fn acquire(&mut self, device: &wgpu::Device) -> Result<Option<wgpu::SurfaceTexture>, Error> {
        use wgpu::CurrentSurfaceTexture as Current;
        // A second try, where the first finds that something has changed.
        for _ in 0..2 {
            match self.surface.get_current_texture() {
                Current::Success(texture) | Current::Suboptimal(texture) => return Ok(Some(texture)),
                Current::Timeout | Current::Occluded | Current::Validation => return Ok(None),
                Current::Outdated => {}
                Current::Lost => self.surface = surface(&self.instance, &self.window)?,
            }
            self.surface.configure(device, &self.configuration);
        }
        Ok(None)
    }

    /// Records the way of the picture to the surface.
    pub fn copy(&self, device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder, texture: &wgpu::SurfaceTexture) {
        let format = self.configuration.format;
        let linear = format.is_srgb() || format == wgpu::TextureFormat::Rgba16Float;
        let from = if linear { &self.frame.srgb } else { &self.frame.stored };
        self.blitter.copy(device, encoder, from, &texture.texture.create_view(&Default::default()));
    }
}

impl Frame {
    fn new(device: &wgpu::Device, target: Target, size: [u32; 2]) -> Result<Self, Error> {
        let canvas = Canvas::new(device, target, size)?;
        let stored_format = target.format.remove_srgb_suffix();
        let picture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("frame"),
            size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: target.format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT
                | wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[stored_format],
        });
        let view =
            |format| picture.create_view(&wgpu::TextureViewDescriptor { format: Some(format), ..Default::default() });
        let (srgb, stored) = (view(target.format), view(stored_format));
        Ok(Self { canvas, picture, srgb, stored })
    }
}

fn surface(instance: &wgpu::Instance, window: &Arc<Window>) -> Result<wgpu::Surface<'static>, Error> {
    let surface = instance.create_surface(Arc::clone(window));
    surface.map_err(|error| Error::Device(format!("it cannot draw into a window: {error}")))
}

/// Of the formats that a surface has, one of a byte a channel, best without sRGB: then bytes are copied as they are.
fn format(formats: &[wgpu::TextureFormat]) -> Option<wgpu::TextureFormat> {
    use wgpu::TextureFormat::{Bgra8Unorm, Rgba8Unorm};
    let bytes = |format: &wgpu::TextureFormat| matches!(format, Bgra8Unorm | Rgba8Unorm);
    let of = |wanted: &dyn Fn(&wgpu::TextureFormat) -> bool| formats.iter().copied().find(|format| wanted(format));
    of(&bytes).or_else(|| of(&wgpu::TextureFormat::is_srgb)).or_else(|| formats.first().copied())
}
