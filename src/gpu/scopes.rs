//! Error scopes: the reports of a device as errors.
//!
//! Scopes are pushed and popped without an await between them, because a browser has one stack of scopes for all tasks.

use crate::error::Error;

/// Error scopes for all kinds of reports. Without them, wgpu panics on a report.
pub struct Scopes {
    out_of_memory: wgpu::ErrorScopeGuard,
    internal: wgpu::ErrorScopeGuard,
    validation: wgpu::ErrorScopeGuard,
}

impl Scopes {
    /// Pushes the error scopes.
    pub fn push(device: &wgpu::Device) -> Self {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        Self {
            out_of_memory: device.push_error_scope(OutOfMemory),
            internal: device.push_error_scope(Internal),
            validation: device.push_error_scope(Validation),
        }
    }

    /// Pops the error scopes, at the call, and awaits their reports.
    ///
    /// A browser has one stack of scopes per device. Between `push` and `pop`, nothing may be awaited: the scopes of
    /// another task would come between.
    ///
    /// # Errors
    /// [`Error::Device`] with the report that explains the others.
    pub fn pop(self) -> impl Future<Output = Result<(), Error>> {
        // The innermost scope ends first.
        let validation = self.validation.pop();
        let internal = self.internal.pop();
        let out_of_memory = self.out_of_memory.pop();
        async {
            let (validation, internal, out_of_memory) = (validation.await, internal.await, out_of_memory.await);
            Reports { out_of_memory, internal, validation }.explain()
        }
    }

    /// Pops the error scopes at a call that cannot wait. Reports other than out of memory are dropped: they come again
    /// with the later uses of the objects. A browser has no report yet.
    ///
    /// # Errors
    /// [`Error::Device`] if memory is out.
    pub fn pop_for_memory(self) -> Result<(), Error> {
        #[cfg(target_arch = "wasm32")]
        drop(self.pop());
        #[cfg(not(target_arch = "wasm32"))]
        {
            // Reports of a native device are ready.
            let (out_of_memory, internal, validation) = (self.out_of_memory, self.internal, self.validation);
            drop((validation.pop(), internal.pop()));
            if pollster::block_on(out_of_memory.pop()).is_some() {
                return Err(without_memory());
            }
        }
        Ok(())
    }
}

/// The error of a device that is out of memory.
pub(super) fn without_memory() -> Error {
    Error::Device("out of memory; ask for fewer instances or outputs at a time".into())
}

/// The reports of the scopes.
struct Reports {
    out_of_memory: Option<wgpu::Error>,
    internal: Option<wgpu::Error>,
    validation: Option<wgpu::Error>,
}

impl Reports {
    /// The report that explains the others. If memory runs out for a buffer, each use of the buffer is reported as
    /// invalid too.
    fn explain(self) -> Result<(), Error> {
        match self.out_of_memory.or(self.internal).or(self.validation) {
            None => Ok(()),
            Some(wgpu::Error::OutOfMemory { .. }) => Err(without_memory()),
            Some(error) => Err(Error::Device(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_of_memory_explains_an_invalid_buffer() {
        let out_of_memory = || Some(wgpu::Error::OutOfMemory { source: "none".into() });
        let invalid = || Some(wgpu::Error::Validation { source: "".into(), description: "Buffer is invalid".into() });
        let explain = |out_of_memory, validation| Reports { out_of_memory, internal: None, validation }.explain();
        let message = |out_of_memory, validation| explain(out_of_memory, validation).unwrap_err().to_string();
        assert!(explain(None, None).is_ok());
        assert!(message(out_of_memory(), None).contains("out of memory; ask for fewer"));
        assert!(message(out_of_memory(), invalid()).contains("out of memory; ask for fewer"));
        assert!(message(None, invalid()).contains("Buffer is invalid"));
    }

    #[test]
    fn an_invalid_use_is_reported() {
        let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
        let scopes = Scopes::push(&device);
        assert!(pollster::block_on(scopes.pop()).is_ok());
        let scopes = Scopes::push(&device);
        let usage = wgpu::BufferUsages::empty();
        let _ =
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 4, usage, mapped_at_creation: false });
        let error = pollster::block_on(scopes.pop()).unwrap_err().to_string();
        assert!(error.contains("Validation"), "{error}");
    }
}
