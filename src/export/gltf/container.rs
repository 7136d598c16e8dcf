//! GLB containers (glTF 2.0, section 4.4).

use serde_json::{Value, json};

use super::{Document, items};
use crate::error::Error;

const MAGIC: &[u8] = b"glTF";
/// The bytes of a buffer or a view that nothing needs. The specification does not allow empty ones.
const LEAST_BYTES: usize = 4;

impl Document {
    /// The bytes of a `.glb` file.
    ///
    /// # Errors
    /// [`Error::Limit`] if it would be larger than 4 GiB.
    pub fn to_glb(mut self) -> Result<Vec<u8>, Error> {
        self.fill_free_views();
        self.fit_buffer();
        // The specification does not allow empty arrays.
        for name in ["accessors", "animations", "bufferViews", "buffers"] {
            if self.json.get(name).and_then(Value::as_array).is_some_and(Vec::is_empty) {
                self.json.remove(name);
            }
        }
        let failed = |error: serde_json::Error| Error::Usage(format!("{}: {error}", self.name.display()));
        let mut json = serde_json::to_vec(&self.json).map_err(failed)?;
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut bin = self.bin;
        bin.resize(bin.len().next_multiple_of(4), 0);
        let chunks = if bin.is_empty() { 1 } else { 2 };
        let needed = 12 + 8 * chunks + json.len() as u64 + bin.len() as u64;
        let Ok(length) = u32::try_from(needed) else {
            let what = format!("{}: bytes of a glb file", self.name.display());
            return Err(Error::Limit { what, needed, allowed: u32::MAX.into() });
        };
        let mut glb = Vec::with_capacity(length as usize);
        glb.extend_from_slice(MAGIC);
        glb.extend(2_u32.to_le_bytes());
        glb.extend(length.to_le_bytes());
        for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &bin)].into_iter().take(chunks as usize) {
            // It is shorter than the file.
            glb.extend((chunk.len() as u32).to_le_bytes());
            glb.extend_from_slice(kind);
            glb.extend_from_slice(chunk);
        }
        Ok(glb)
    }

    /// Gives bytes to the buffer views that nothing took the place of. All others keep their indices, which extensions may know.
    fn fill_free_views(&mut self) {
        for place in std::mem::take(&mut self.free_views) {
            self.bin.resize(self.bin.len().max(LEAST_BYTES), 0);
            self.array("bufferViews")[place] = json!({ "buffer": 0, "byteLength": LEAST_BYTES });
        }
    }

    /// Gives the first buffer the length of the bytes. A buffer of the file stays even if it has lost all of them: others keep their
    /// indices.
    fn fit_buffer(&mut self) {
        if self.bin.is_empty() {
            if items(&self.json, "buffers").is_empty() {
                return;
            }
            self.bin.resize(LEAST_BYTES, 0);
        }
        let length = self.bin.len();
        let buffers = self.array("buffers");
        match buffers.first_mut() {
            Some(buffer) => buffer["byteLength"] = length.into(),
            None => buffers.push(json!({ "byteLength": length })),
        }
    }
}
