//! What a device reports, caught.

use crate::error::Error;

/// Catches what a device reports, instead of the panic that is wgpu's default.
pub(crate) struct Scopes([wgpu::ErrorScopeGuard; 3]);

impl Scopes {
    /// From now on.
    pub fn push(device: &wgpu::Device) -> Self {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        Self([OutOfMemory, Internal, Validation].map(|filter| device.push_error_scope(filter)))
    }

    /// Until now.
    ///
    /// # Errors
    /// [`Error::Device`] with the report that explains the others.
    pub fn pop(self) -> Result<(), Error> {
        let [memory, internal, validation] = self.0;
        // The innermost scope ends first.
        let [validation, internal, memory] =
            [validation, internal, memory].map(|scope| pollster::block_on(scope.pop()));
        explain([memory, internal, validation])
    }
}

/// What went wrong, by the reports of each kind: a buffer that found no memory is reported a second time where it is used, as
/// one that is not valid.
fn explain([memory, internal, validation]: [Option<wgpu::Error>; 3]) -> Result<(), Error> {
    match memory.or(internal).or(validation) {
        None => Ok(()),
        Some(wgpu::Error::OutOfMemory { .. }) => {
            Err(Error::Device("out of memory; ask for fewer instances or outputs at a time".into()))
        }
        Some(error) => Err(Error::Device(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_memory_is_said_to_find_none_though_it_is_not_valid_either() {
        let memory = || wgpu::Error::OutOfMemory { source: "none".into() };
        let validation = || wgpu::Error::Validation { source: "".into(), description: "Buffer is invalid".into() };
        let said = |reports| explain(reports).unwrap_err().to_string();
        assert!(explain([None, None, None]).is_ok());
        assert!(said([Some(memory()), None, None]).contains("out of memory; ask for fewer"));
        assert!(said([Some(memory()), None, Some(validation())]).contains("out of memory; ask for fewer"));
        assert!(said([None, None, Some(validation())]).contains("Buffer is invalid"));
    }

    #[test]
    fn what_is_not_valid_is_reported() {
        let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
        let scopes = Scopes::push(&device);
        assert!(scopes.pop().is_ok());
        let scopes = Scopes::push(&device);
        let usage = wgpu::BufferUsages::empty();
        let _ =
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 4, usage, mapped_at_creation: false });
        let error = scopes.pop().unwrap_err().to_string();
        assert!(error.contains("Validation"), "{error}");
    }
}
