//! URIs of buffers and images: embedded data, and paths relative to the document.

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use crate::import::{Fault, JsonPath};

/// Base64 as exporters write it: with or without padding, with any trailing bits.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// True for a URI that holds its data.
pub(super) fn is_data(uri: &str) -> bool {
    uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// The bytes of a data URI.
pub(super) fn decode_data(uri: &str, path: &JsonPath) -> Result<Vec<u8>, Fault> {
    let fault = |reason: String| Fault::new(path, reason);
    let no_percent_encoding = || fault("it is not valid percent-encoding".into());
    let Some((header, data)) = uri.split_once(',') else {
        return Err(fault("a data URI needs a comma before its data, but this one has none".into()));
    };
    if header.to_ascii_lowercase().ends_with(";base64") {
        let decoded = if data.contains('%') {
            BASE64.decode(percent_decode(data).ok_or_else(no_percent_encoding)?)
        } else {
            BASE64.decode(data)
        };
        return decoded.map_err(|error| fault(format!("it is not valid base64: {error}")));
    }
    percent_decode(data).ok_or_else(no_percent_encoding)
}

/// The path of a percent-encoded URI; `None` if the encoding is broken or the path is not UTF-8.
pub(super) fn decode_path(uri: &str) -> Option<String> {
    String::from_utf8(percent_decode(uri)?).ok()
}

fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    let digit = |byte: Option<u8>| {
        byte.and_then(|byte| char::from(byte).to_digit(16)).and_then(|digit| u8::try_from(digit).ok())
    };
    while let Some(byte) = bytes.next() {
        decoded.push(if byte == b'%' { digit(bytes.next())? << 4 | digit(bytes.next())? } else { byte });
    }
    Some(decoded)
}
