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
    /// [`Error::Device`] with the first report.
    pub fn pop(self) -> Result<(), Error> {
        let [memory, internal, validation] = self.0;
        let reports = [validation, internal, memory].map(|scope| pollster::block_on(scope.pop()));
        match reports.into_iter().flatten().next() {
            None => Ok(()),
            Some(wgpu::Error::OutOfMemory { .. }) => {
                Err(Error::Device("out of memory; ask for fewer instances or outputs at a time".into()))
            }
            Some(error) => Err(Error::Device(error.to_string())),
        }
    }
}
