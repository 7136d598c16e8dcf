//! WGSL without its comments, for the web, where every byte is downloaded.

/// Copies WGSL without comments to the beginning of some bytes, as far as there is room. Returns the length of the text without comments.
///
/// All lines stay, so that messages of compilers name the lines of the file.
pub(super) const fn copy_code(text: &[u8], to: &mut [u8]) -> usize {
    let (mut from, mut length) = (0, 0);
    let mut is_comment = false;
    while from < text.len() {
        let starts_comment = text[from] == b'/' && from + 1 < text.len() && text[from + 1] == b'/';
        is_comment = (is_comment || starts_comment) && text[from] != b'\n';
        if !is_comment {
            if length < to.len() {
                to[length] = text[from];
            }
            length += 1;
        }
        from += 1;
    }
    length
}

/// The text of a WGSL file; on the web, without comments.
macro_rules! shader_text {
    ($path:expr) => {{
        const TEXT: &str = include_str!($path);
        const LENGTH: usize = crate::gpu::shader_text::copy_code(TEXT.as_bytes(), &mut []);
        const BYTES: [u8; LENGTH] = {
            let mut bytes = [0; LENGTH];
            crate::gpu::shader_text::copy_code(TEXT.as_bytes(), &mut bytes);
            bytes
        };
        const CODE: &str = match std::str::from_utf8(&BYTES) {
            Ok(code) => code,
            Err(_) => TEXT,
        };
        if cfg!(target_arch = "wasm32") { CODE } else { TEXT }
    }};
}

pub(super) use shader_text;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_has_the_lines_of_the_text() {
        let text = "//! A file.\n\nlet a = 1.0 / 2.0; // half\n    // indented\n}\n/";
        let mut bytes = [b'?'; 64];
        let length = copy_code(text.as_bytes(), &mut bytes);
        assert_eq!(&bytes[..length], b"\n\nlet a = 1.0 / 2.0; \n    \n}\n/");
        assert_eq!(copy_code(text.as_bytes(), &mut []), length);
    }
}
