//! The test whether a device packs `f16` as the kernels need it, so that they can leave the rounding to it.
//!
//! A kernel packs numbers by `pack2x16float`, and the host compares them with the nearest `f16`: for numbers halfway
//! between two `f16`, with an even and an odd one below, and their neighbours, of each exponent; for numbers that are
//! too large. GPUs of one driver round all numbers alike, so that a few numbers per exponent will do.

use wgpu::BufferUsages as Usages;

use crate::error::Error;
use crate::gpu::shader::Composed;
use crate::gpu::{DeviceAndQueue, Scopes, create_encoder, fault_point, filled_buffer, read_buffers};
use crate::half;
use crate::kernels::SIDE_WORKGROUP_SIZE;

const LABEL: Option<&str> = Some("posse test packing");

/// True if a device packs numbers to the nearest `f16`. Submits a small dispatch, and waits for it.
///
/// # Errors
/// [`Error::Device`] if the device is lost or out of memory.
pub(super) async fn packs_to_nearest(gpu: DeviceAndQueue<'_>) -> Result<bool, Error> {
    let device = gpu.device;
    let numbers = numbers();
    let module = match Composed::test_packing().compile(device).await {
        // Devices of drivers for little more than OpenGL ES have no such function.
        Err(Error::Shader { .. }) => return Ok(false),
        compiled => compiled?,
    };
    let mut encoder = create_encoder(device)?;
    let scopes = Scopes::push(device);
    fault_point(device);
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: LABEL,
        layout: None,
        module: &module,
        entry_point: Some("test_packing"),
        compilation_options: Default::default(),
        cache: None,
    });
    let tested =
        filled_buffer(gpu, "posse test packing", bytemuck::cast_slice(&numbers), Usages::STORAGE | Usages::COPY_SRC);
    fault_point(device);
    let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: LABEL,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: tested.as_entire_binding() }],
    });
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: LABEL, timestamp_writes: None });
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &bind_group, &[]);
    pass.dispatch_workgroups((numbers.len() as u32).div_ceil(SIDE_WORKGROUP_SIZE), 1, 1);
    drop(pass);
    scopes.pop().await?;
    let contents = read_buffers(gpu, encoder, &[(&tested, 0..tested.size())]).await?;
    tested.destroy();
    let found: Vec<[u32; 2]> = contents.iter().flat_map(|bytes| bytemuck::pod_collect_to_vec(bytes)).collect();
    let are_nearest = |(&[low, high], [packed, _]): (&[f32; 2], [u32; 2])| {
        is_nearest(low, packed & 0xffff) && is_nearest(high, packed >> 16)
    };
    Ok(found.len() == numbers.len() && numbers.iter().zip(found).all(are_nearest))
}

/// True if the bits are the `f16` of a number in a skin matrix. The sign of a number that is not one (NaN) is open.
fn is_nearest(number: f32, packed: u32) -> bool {
    let expected = half::from_f32(number);
    packed == expected || number.is_nan() && packed & 0x7fff == expected & 0x7fff
}

/// Pairs of numbers whose `f16` show how a device rounds.
fn numbers() -> Vec<[f32; 2]> {
    let mut numbers = vec![0.0, 65504.0, 65519.996, 65520.0, 65536.0, 1e30, f32::MAX, f32::INFINITY, f32::NAN];
    for exponent in 0..31_u32 {
        for fraction in [0, 1, 2, 0x155, 0x1fe, 0x3fd, 0x3fe] {
            let low = exponent << 10 | fraction;
            let halfway = (0.5 * (half::to_f64(low) + half::to_f64(low + 1))) as f32;
            let bits = halfway.to_bits();
            numbers.extend([bits - 1, bits, bits + 1].map(f32::from_bits));
        }
    }
    numbers.into_iter().map(|number| [number, -number]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other ways to round, which hardware has: towards 0, upwards at ties, small numbers as 0, and too large ones to
    /// infinity.
    #[test]
    fn the_numbers_tell_other_ways_to_round_apart() {
        let refuses = |round: &dyn Fn(f32) -> u32| {
            numbers().as_flattened().iter().any(|&number| !is_nearest(number, round(number)))
        };
        let nearest = half::from_f32;
        let is_above = |number: f32| half::to_f64(nearest(number)).abs() > f64::from(number).abs();
        assert!(!refuses(&nearest));
        assert!(refuses(&|number| nearest(number) - u32::from(is_above(number))), "towards 0");
        assert!(refuses(&|number| nearest(f32::from_bits(number.to_bits() + 1))), "away from 0 at ties");
        assert!(refuses(&|number| if number.abs() < 2.0_f32.powi(-14) { 0 } else { nearest(number) }), "small");
        assert!(refuses(&|number| if number.abs() < 65520.0 { nearest(number) } else { 0x7c00 }), "large");
    }
}
