//! For tests, also of posse-render: devices without a GPU, allocations that fail, and the comparison of WGSL with
//! the records and constants that Rust declares.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

use wgpu::naga;

use crate::error::Error;
use crate::gpu::GpuContext;
use crate::gpu::allocation::faults::with_fault_after;
use crate::pack::record::{Record, Shared, Value};

/// Lets each place that a function reaches fail in turn, on what `make` makes without a fault. Each must give the
/// error of a device out of memory, and the same call must succeed afterwards. Returns the number of places.
#[track_caller]
pub fn each_fault<S, T>(what: &str, make: impl Fn() -> S, run: impl Fn(&mut S) -> Result<T, Error>) -> usize {
    for passed in 0..10_000 {
        let mut made = make();
        let (result, reached) = with_fault_after(passed, || run(&mut made).map(drop));
        if !reached {
            result.unwrap_or_else(|error| panic!("{what} without a fault: {error}"));
            assert!(passed > 0, "{what} makes nothing");
            return passed;
        }
        let message = result.map_or_else(|error| error.to_string(), |()| "success".into());
        assert!(message.contains("out of memory; ask for fewer instances"), "{what}, place {passed}: {message}");
        run(&mut made).unwrap_or_else(|error| panic!("{what} after the fault at place {passed}: {error}"));
    }
    panic!("{what}: no end");
}

/// A device without a GPU.
pub fn context() -> GpuContext {
    context_with(wgpu::Features::empty())
}

/// A device without a GPU, with these features.
pub fn context_with(features: wgpu::Features) -> GpuContext {
    let (device, queue) = device(features);
    let info = device.adapter_info();
    GpuContext { device, queue, info }
}

/// A device without a GPU, on which buffers may be of any size.
pub fn device(required_features: wgpu::Features) -> (wgpu::Device, wgpu::Queue) {
    let limits = wgpu::Limits { max_buffer_size: u64::MAX, ..wgpu::Limits::default() };
    let noop = wgpu::NoopBackendOptions { enable: true, limits: Some(limits.clone()), ..Default::default() };
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::NOOP,
        // This check limits buffers to 4 GiB.
        flags: wgpu::InstanceFlags::VALIDATION - wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL,
        backend_options: wgpu::BackendOptions { noop, ..Default::default() },
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).expect("the no-op adapter");
    let descriptor = wgpu::DeviceDescriptor { required_limits: limits, required_features, ..Default::default() };
    pollster::block_on(adapter.request_device(&descriptor)).expect("the no-op device")
}

/// The errors of a WGSL module against the records and constants that Rust declares.
pub fn wgsl_errors(module: &naga::Module, shared: &[Shared]) -> Vec<String> {
    let mut errors = Vec::new();
    for Shared { constants, records, .. } in shared {
        errors.extend(records.iter().flat_map(|record| record_errors(module, record)));
        for declared in *constants {
            let found = constant(module, declared.name);
            if found != bits(declared.value) {
                errors.push(format!("{declared:?} in Rust, in WGSL the bits {found:x?}"));
            }
        }
    }
    errors
}

/// The errors of a WGSL record against its Rust twin.
fn record_errors(module: &naga::Module, record: &Record) -> Vec<String> {
    let &Record { name, fields, size, .. } = record;
    let Some((_, found)) = module.types.iter().find(|(_, found)| found.name.as_deref() == Some(name)) else {
        return vec![format!("WGSL has no {name}")];
    };
    let naga::TypeInner::Struct { members, span } = &found.inner else { return vec![format!("{name} is no struct")] };
    let mut errors = Vec::new();
    if *span as usize != size {
        errors.push(format!("{name} has {span} bytes in WGSL, {size} in Rust"));
    }
    if members.len() != fields.len() {
        errors.push(format!("{name} has {} fields in WGSL, {} in Rust", members.len(), fields.len()));
    }
    for (member, field) in members.iter().zip(fields) {
        let size = module.types[member.ty].inner.size(module.to_ctx()) as usize;
        let type_name = type_name(module, member.ty);
        let found = (member.name.as_deref().unwrap_or(""), type_name.as_str(), member.offset as usize, size);
        if found != (field.name, field.type_name, field.offset, field.size) {
            errors.push(format!("{name}: {found:?} in WGSL, {field:?} in Rust"));
        }
    }
    errors
}

/// The name of a type as records spell it.
fn type_name(module: &naga::Module, handle: naga::Handle<naga::Type>) -> String {
    use naga::TypeInner as Inner;
    let found = &module.types[handle];
    match found.inner {
        Inner::Scalar(naga::Scalar::U32) => "u32".into(),
        Inner::Scalar(naga::Scalar::F32) => "f32".into(),
        Inner::Vector { size, scalar: naga::Scalar::U32 } => format!("vec{}u", size as u8),
        Inner::Vector { size, scalar: naga::Scalar::F32 } => format!("vec{}f", size as u8),
        Inner::Matrix { columns, rows, scalar: naga::Scalar::F32 } => format!("mat{}x{}f", columns as u8, rows as u8),
        Inner::Array { base, size: naga::ArraySize::Constant(count), .. } => {
            format!("array<{}, {count}>", type_name(module, base))
        }
        _ => found.name.clone().unwrap_or_else(|| format!("{:?}", found.inner)),
    }
}

/// The bits of the numbers of a constant.
fn bits(value: Value) -> Vec<u32> {
    match value {
        Value::Word(value) => vec![value],
        Value::Float(value) => vec![value.to_bits()],
        Value::Floats(values) => values.iter().map(|value| value.to_bits()).collect(),
    }
}

/// The bits of the numbers of a WGSL constant; empty if there is no such constant.
fn constant(module: &naga::Module, name: &str) -> Vec<u32> {
    let found = module.constants.iter().find(|(_, constant)| constant.name.as_deref() == Some(name));
    found.map_or_else(Vec::new, |(_, constant)| literals(module, constant.init))
}

fn literals(module: &naga::Module, expression: naga::Handle<naga::Expression>) -> Vec<u32> {
    match &module.global_expressions[expression] {
        naga::Expression::Literal(naga::Literal::U32(value)) => vec![*value],
        naga::Expression::Literal(naga::Literal::F32(value)) => vec![value.to_bits()],
        naga::Expression::Compose { components, .. } => {
            components.iter().flat_map(|&component| literals(module, component)).collect()
        }
        _ => Vec::new(),
    }
}
