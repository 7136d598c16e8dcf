//! Textures and samplers on the device.

use crate::{Image, Texture, Wrap};
use posse::low_level::device::fault_point;

/// A single white texel, sampled if a material has no texture.
pub(super) fn white() -> Image {
    Image { size: [1, 1], pixels: vec![255; 4] }
}

/// A texture of an image, with its mip levels. Levels larger than the device allows are left out.
pub(super) fn upload(device: &wgpu::Device, queue: &wgpu::Queue, image: &Image) -> wgpu::TextureView {
    let levels = image.levels(device.limits().max_texture_dimension_2d);
    let extent =
        |level: &Image| wgpu::Extent3d { width: level.size[0], height: level.size[1], depth_or_array_layers: 1 };
    fault_point(device);
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("figure"),
        size: extent(&levels[0]),
        mip_level_count: levels.len() as u32,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8UnormSrgb,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    for (number, level) in (0..).zip(&levels) {
        let destination = wgpu::TexelCopyTextureInfo { mip_level: number, ..texture.as_image_copy() };
        let row = Some(4 * level.size[0]);
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: row, rows_per_image: None };
        fault_point(device);
        queue.write_texture(destination, &level.pixels, layout, extent(level));
    }
    texture.create_view(&Default::default())
}

/// The sampler of a texture; without a texture, one that repeats and interpolates.
pub(super) fn sampler(device: &wgpu::Device, texture: Option<&Texture>) -> wgpu::Sampler {
    let mode = |axis: usize| match texture.map_or(Wrap::Repeat, |texture| texture.wrap[axis]) {
        Wrap::Repeat => wgpu::AddressMode::Repeat,
        Wrap::Mirror => wgpu::AddressMode::MirrorRepeat,
        Wrap::Clamp => wgpu::AddressMode::ClampToEdge,
    };
    let nearest = texture.is_some_and(|texture| texture.nearest);
    fault_point(device);
    device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("figure"),
        address_mode_u: mode(0),
        address_mode_v: mode(1),
        mag_filter: if nearest { wgpu::FilterMode::Nearest } else { wgpu::FilterMode::Linear },
        min_filter: wgpu::FilterMode::Linear,
        mipmap_filter: wgpu::MipmapFilterMode::Linear,
        ..Default::default()
    })
}
