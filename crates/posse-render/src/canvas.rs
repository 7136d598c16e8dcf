//! The textures that drawing needs besides the picture itself: samples and depth.

use posse::Error;
use posse::low_level::device::{Scopes, check_device, fault_point};

/// The format of the pictures that a [`Renderer`](crate::Renderer) draws. Default: `Rgba8UnormSrgb`, 4 samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The colour format. Use an sRGB format: the shaders write linear colours, which the device converts.
    pub format: wgpu::TextureFormat,
    /// The number of samples per pixel: 1 or 4. With 1, for software renderers, shadows have fewer samples too: 4 per
    /// point rather than 36, of a smaller shadow map.
    pub samples: u32,
}

impl Default for Target {
    fn default() -> Self {
        Self { format: wgpu::TextureFormat::Rgba8UnormSrgb, samples: 4 }
    }
}

/// Textures for pictures of one size: a depth texture, and one for the samples if there are several per pixel.
#[derive(Debug)]
pub struct Canvas {
    /// The width and height, in pixels.
    pub size: [u32; 2],
    pub(super) samples: Option<wgpu::TextureView>,
    pub(super) depth: wgpu::TextureView,
}

impl Canvas {
    /// The depth format.
    pub const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
    /// The largest number of pixels, a little more than 7680 x 4320.
    pub const MAX_PIXELS: u64 = 1 << 25;

    /// A canvas of a width and height in pixels.
    ///
    /// # Errors
    /// [`Error::Limit`] if a side is longer than the device allows, or there are more than
    /// [`MAX_PIXELS`](Self::MAX_PIXELS) pixels; [`Error::Usage`] if a side is 0; [`Error::Device`] if the device is
    /// lost or has too little memory.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(device: &wgpu::Device, target: Target, size: [u32; 2]) -> Result<Self, Error> {
        pollster::block_on(Self::new_async(device, target, size))
    }

    /// As `new`, for a browser.
    ///
    /// # Errors
    /// The errors of `new`.
    pub async fn new_async(device: &wgpu::Device, target: Target, size: [u32; 2]) -> Result<Self, Error> {
        Self::check_size(device, size)?;
        let scopes = Scopes::push(device);
        let texture = |format| {
            let descriptor = wgpu::TextureDescriptor {
                label: Some("canvas"),
                size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: target.samples,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            };
            fault_point(device);
            device.create_texture(&descriptor).create_view(&Default::default())
        };
        let samples = (target.samples > 1).then(|| texture(target.format));
        let depth = texture(Self::DEPTH);
        scopes.pop().await?;
        check_device(device).await?;
        Ok(Self { size, samples, depth })
    }

    /// Frees the textures on the device at once. A browser frees dropped textures only when it collects garbage.
    /// Pictures that were submitted before are still drawn.
    pub fn destroy(self) {
        for view in self.samples.iter().chain([&self.depth]) {
            view.texture().destroy();
        }
    }

    /// The aspect ratio: width / height.
    pub fn aspect(&self) -> f32 {
        self.size[0] as f32 / self.size[1] as f32
    }

    /// Checks that a device can draw pictures of this width and height.
    ///
    /// # Errors
    /// The errors of `new`, except [`Error::Device`].
    pub fn check_size(device: &wgpu::Device, size: [u32; 2]) -> Result<(), Error> {
        if size.contains(&0) {
            return Err(Error::Usage("a picture has at least one pixel in each direction".into()));
        }
        let longest = device.limits().max_texture_dimension_2d;
        let side = size[0].max(size[1]);
        if side > longest {
            return Err(Error::Limit {
                what: "pixels of a picture's side".into(),
                needed: side.into(),
                allowed: longest.into(),
            });
        }
        let pixels = u64::from(size[0]) * u64::from(size[1]);
        if pixels > Self::MAX_PIXELS {
            return Err(Error::Limit { what: "pixels of a picture".into(), needed: pixels, allowed: Self::MAX_PIXELS });
        }
        Ok(())
    }
}
