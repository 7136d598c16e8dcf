//! The morph weights of a crowd on the device of Bevy.

use bevy::render::render_resource::{Buffer, BufferDescriptor, BufferUsages, CommandEncoder};
use bevy::render::renderer::RenderDevice;
use posse::{Error, Step};

/// The morph weights of a crowd on the device.
pub(crate) struct Weights {
    /// The buffer that posse writes.
    written: Buffer,
    /// The buffer that shaders read: of the present frame, and after them of the frame before.
    pub shown: Buffer,
}

impl Weights {
    /// Room for twice the weights that posse writes.
    ///
    /// # Errors
    /// [`Error::Usage`] if the device does not bind as much.
    pub fn new(written: &Buffer, device: &RenderDevice) -> Result<Self, Error> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let (size, most) = (2 * written.size(), most_bytes(device));
        if size > most {
            return Err(Error::Usage(format!(
                "the morph weights of two frames take {size} bytes, but the device binds at most {most}; draw fewer characters per rig"
            )));
        }
        let label = Some("posse morph weights");
        let shown = device.create_buffer(&BufferDescriptor { label, size, usage, mapped_at_creation: false });
        Ok(Self { written: written.clone(), shown })
    }

    /// Keeps the weights of the frame before, as posse keeps its matrices. The frame is not posed yet.
    pub fn keep(&self, encoder: &mut CommandEncoder) {
        encoder.copy_buffer_to_buffer(&self.written, 0, &self.shown, self.written.size(), self.written.size());
    }

    /// Shows the weights of a frame. In a step that goes nowhere, nothing moves.
    pub fn show(&self, encoder: &mut CommandEncoder, step: Step) {
        encoder.copy_buffer_to_buffer(&self.written, 0, &self.shown, 0, self.written.size());
        if step.from == step.to {
            self.keep(encoder);
        }
    }
}

/// The most bytes of a buffer that shaders read.
pub(crate) fn most_bytes(device: &RenderDevice) -> u64 {
    let limits = device.limits();
    limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
}
