//! Pictures in memory, read back from the device.

use crate::image::{linear, srgb};
use crate::{Background, Canvas, Renderer, Scene, View};
use posse::Error;
use posse::low_level::device::{Scopes, create_buffer, fault_point, read_buffers};

/// Pixels of red, green, blue and alpha, in rows from the top. The colours are sRGB, alpha is linear and not
/// premultiplied.
///
/// # Examples
/// ```
/// use posse_render::Picture;
/// use posse_render::encode::write_png;
///
/// # fn main() -> std::io::Result<()> {
/// let mut picture = Picture::filled([4, 2], [0, 0, 0, 255]);
/// picture.paste(&Picture::filled([1, 1], [255, 0, 0, 255]), 3, 1);
/// assert_eq!(picture.pixel(3, 1), [255, 0, 0, 255]);
/// assert_eq!(picture.pixel(0, 0), [0, 0, 0, 255]);
///
/// let mut file = Vec::new();
/// write_png(&mut file, &picture)?;
/// assert!(file.starts_with(b"\x89PNG"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The width and height in pixels.
    pub size: [u32; 2],
    /// Four bytes per pixel.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// A picture of one colour.
    pub fn filled(size: [u32; 2], colour: [u8; 4]) -> Self {
        Self { size, pixels: colour.repeat(size[0] as usize * size[1] as usize) }
    }

    /// Draws a scene and reads the picture back. The commands that the encoder already holds run first; the call
    /// submits them. The target of the renderer must have four bytes per pixel.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost or out of memory.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn draw(
        renderer: &Renderer,
        encoder: wgpu::CommandEncoder,
        canvas: &Canvas,
        scene: &Scene,
        view: &View,
    ) -> Result<Self, Error> {
        pollster::block_on(Self::draw_async(renderer, encoder, canvas, scene, view))
    }

    /// As `draw`, for a browser.
    ///
    /// # Errors
    /// The errors of `draw`.
    pub async fn draw_async(
        renderer: &Renderer,
        mut encoder: wgpu::CommandEncoder,
        canvas: &Canvas,
        scene: &Scene,
        view: &View,
    ) -> Result<Self, Error> {
        let scopes = Scopes::push(&renderer.device);
        let [width, height] = canvas.size;
        let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
        fault_point(&renderer.device);
        let texture = renderer.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture"),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: renderer.target().format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let output = texture.create_view(&Default::default());
        // A failure of an earlier picture, which its caller has not asked for, is not one of this picture.
        let _ = renderer.check_views();
        renderer.draw(&mut encoder, canvas, &output, scene, view);
        let drawn = renderer.check_views();
        scopes.pop().await?;
        drawn?;
        let mut picture = Self::read_async(renderer, encoder, &texture).await?;
        if view.stage.background == Background::Transparent {
            picture.pixels.as_chunks_mut().0.iter_mut().for_each(|pixel| *pixel = unpremultiply(*pixel));
        }
        Ok(picture)
    }

    /// Reads a texture of the renderer's device back. The commands that the encoder already holds run first; the call
    /// submits them. The texture must have four bytes per pixel and the usage `COPY_SRC`.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost or out of memory.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn read(renderer: &Renderer, encoder: wgpu::CommandEncoder, texture: &wgpu::Texture) -> Result<Self, Error> {
        pollster::block_on(Self::read_async(renderer, encoder, texture))
    }

    /// As `read`, for a browser.
    ///
    /// # Errors
    /// The errors of `read`.
    pub async fn read_async(
        renderer: &Renderer,
        mut encoder: wgpu::CommandEncoder,
        texture: &wgpu::Texture,
    ) -> Result<Self, Error> {
        let device = &renderer.device;
        let scopes = Scopes::push(device);
        let size @ wgpu::Extent3d { width, height, .. } = texture.size();
        let row = (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = create_buffer(
            device,
            &wgpu::BufferDescriptor {
                label: Some("picture"),
                size: u64::from(row) * u64::from(height),
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            },
        );
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
            size,
        );
        scopes.pop().await?;
        let rows = read_buffers(renderer.gpu(), encoder, &[(&buffer, 0..buffer.size())]).await?.concat();
        let pixels = rows.chunks(row as usize).flat_map(|row| &row[..4 * width as usize]).copied().collect();
        Ok(Self { size: [width, height], pixels })
    }

    /// The red, green, blue and alpha of a pixel.
    ///
    /// # Panics
    /// If the pixel is outside the picture.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 4] {
        let first = 4 * (y as usize * self.size[0] as usize + x as usize);
        [0, 1, 2, 3].map(|channel| self.pixels[first + channel])
    }

    /// Copies another picture into this one, with its upper left corner at a pixel. Pixels beyond the edges are left
    /// out.
    pub fn paste(&mut self, other: &Self, left: u32, top: u32) {
        let width = other.size[0].min(self.size[0].saturating_sub(left)) as usize;
        for y in 0..other.size[1].min(self.size[1].saturating_sub(top)) {
            let source = 4 * y as usize * other.size[0] as usize;
            let to = 4 * ((top + y) as usize * self.size[0] as usize + left as usize);
            self.pixels[to..][..4 * width].copy_from_slice(&other.pixels[source..][..4 * width]);
        }
    }
}

/// Divides the colour of a pixel by its alpha in linear light. The renderer blends with transparent black; files store
/// the colour itself.
fn unpremultiply(pixel: [u8; 4]) -> [u8; 4] {
    let [red, green, blue, alpha] = pixel;
    if alpha == 0 || alpha == 255 {
        return pixel;
    }
    let [red, green, blue] = [red, green, blue].map(|channel| srgb(linear(channel) * 255.0 / f32::from(alpha)));
    [red, green, blue, alpha]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_premultiplied_colour_is_divided_by_its_alpha() {
        // Half of the light of sRGB 200 is sRGB 146.
        let half = srgb(0.5 * linear(200));
        let [red, green, blue, alpha] = unpremultiply([half, 0, half, 128]);
        assert!(red.abs_diff(200) <= 1 && green == 0 && blue == red && alpha == 128, "{red}");
        assert_eq!(unpremultiply([9, 8, 7, 0]), [9, 8, 7, 0]);
    }

    #[test]
    fn pixels_pasted_beyond_the_edge_are_left_out() {
        let mut picture = Picture::filled([3, 2], [0; 4]);
        picture.paste(&Picture::filled([2, 2], [1; 4]), 2, 1);
        assert_eq!([picture.pixel(1, 1), picture.pixel(2, 1), picture.pixel(2, 0)], [[0; 4], [1; 4], [0; 4]]);
    }
}
