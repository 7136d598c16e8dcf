//! The surface of a window, and the picture that frames are drawn into.

use std::sync::Arc;

use posse::{Error, GpuContext};
use posse_render::{Canvas, Target};
use wgpu::util::TextureBlitter;
use winit::window::Window;

use crate::engine::AdapterArgs;

/// The surface of a window, and a picture of the same size.
///
/// Frames are drawn into the picture and then copied to the surface. The picture is always in sRGB; the format of the surface
/// depends on the system.
pub struct Screen {
    instance: wgpu::Instance,
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    configuration: wgpu::SurfaceConfiguration,
    blitter: TextureBlitter,
    target: Target,
    pub frame: Frame,
}

/// The picture of a frame.
pub struct Frame {
    pub canvas: Canvas,
    pub picture: wgpu::Texture,
    /// The sRGB view of the picture, for blending in linear light.
    pub srgb: wgpu::TextureView,
    /// The view of the stored bytes without sRGB conversion, for blending of stored values.
    pub stored: wgpu::TextureView,
}

impl Screen {
    /// Opens the surface of a window, and a device that draws on it. With `capped`, the rate of the screen limits the rate of
    /// frames.
    pub fn new(window: Arc<Window>, adapter: &AdapterArgs, capped: bool) -> Result<(GpuContext, Self), Error> {
        let instance = GpuContext::instance();
        let surface = create_surface(&instance, &window)?;
        let (gpu, adapter) = open_adapter(adapter, &instance, &surface)?;
        let target = Target::default();
        let size = window.inner_size();
        let frame = Frame::new(&gpu.device, target, [size.width.max(1), size.height.max(1)])?;
        let capabilities = surface.get_capabilities(&adapter);
        let format = select_format(&capabilities.formats)
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

    /// The formats of the picture.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The width and the height in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.frame.canvas.size
    }

    /// Resizes the picture and the surface to the window. Returns false if the window has no area, as when it is minimised.
    pub fn resize(&mut self, device: &wgpu::Device) -> Result<bool, Error> {
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

    /// The next texture of the surface; `None` if the window is hidden or the texture is not ready.
    pub fn acquire(&mut self, device: &wgpu::Device) -> Result<Option<wgpu::SurfaceTexture>, Error> {
        use wgpu::CurrentSurfaceTexture as Current;
        // The second attempt follows a change of the surface that the first has found.
        for _ in 0..2 {
            match self.surface.get_current_texture() {
                Current::Success(texture) | Current::Suboptimal(texture) => return Ok(Some(texture)),
                Current::Timeout | Current::Occluded | Current::Validation => return Ok(None),
                Current::Outdated => {}
                Current::Lost => self.surface = create_surface(&self.instance, &self.window)?,
            }
            self.surface.configure(device, &self.configuration);
        }
        Ok(None)
    }

    /// Records the copy of the picture to the surface.
    pub fn copy(&self, device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder, texture: &wgpu::SurfaceTexture) {
        let format = self.configuration.format;
        let linear = format.is_srgb() || format == wgpu::TextureFormat::Rgba16Float;
        let source = if linear { &self.frame.srgb } else { &self.frame.stored };
        self.blitter.copy(device, encoder, source, &texture.texture.create_view(&Default::default()));
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

/// Opens the adapter of `--adapter`, or the best one that can draw on a surface.
fn open_adapter(
    adapter: &AdapterArgs,
    instance: &wgpu::Instance,
    surface: &wgpu::Surface,
) -> Result<(GpuContext, wgpu::Adapter), Error> {
    if let Some(found) = adapter.find()? {
        if !found.adapter.is_surface_supported(surface) {
            let name = found.info.name;
            return Err(Error::Usage(format!(
                "--adapter: {name} cannot draw into a window here; posse render needs no window"
            )));
        }
        return Ok((GpuContext::with_adapter(&found.adapter)?, found.adapter));
    }
    GpuContext::for_surface(instance, surface).map_err(|error| match error {
        Error::NoAdapter { .. } => Error::Usage(
            "no GPU adapter can draw into a window here. Install your GPU's Vulkan, Metal or DirectX 12 driver, or a \
             software driver (Debian and Ubuntu: apt-get install mesa-vulkan-drivers); posse render needs no window"
                .into(),
        ),
        error => error,
    })
}

fn create_surface(instance: &wgpu::Instance, window: &Arc<Window>) -> Result<wgpu::Surface<'static>, Error> {
    let surface = instance.create_surface(Arc::clone(window));
    surface.map_err(|error| Error::Device(format!("the device cannot draw into a window: {error}")))
}

/// Selects a format of a surface: one with a byte per channel and without sRGB, so that bytes are copied unchanged; otherwise an
/// sRGB format; otherwise the first.
fn select_format(formats: &[wgpu::TextureFormat]) -> Option<wgpu::TextureFormat> {
    use wgpu::TextureFormat::{Bgra8Unorm, Rgba8Unorm};
    let is_byte_format = |format: &wgpu::TextureFormat| matches!(format, Bgra8Unorm | Rgba8Unorm);
    let find =
        |condition: &dyn Fn(&wgpu::TextureFormat) -> bool| formats.iter().copied().find(|format| condition(format));
    find(&is_byte_format).or_else(|| find(&wgpu::TextureFormat::is_srgb)).or_else(|| formats.first().copied())
}
