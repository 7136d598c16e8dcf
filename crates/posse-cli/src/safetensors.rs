//! The header of the format safetensors: tensors stand one after the other behind a header of JSON, so that readers map
//! the file and copy nothing. <https://github.com/huggingface/safetensors#format>

use std::io;

use serde_json::{Map, Value, json};

use crate::npz::NumberType;

/// The largest header that the reference implementation reads, in bytes.
const MAX_HEADER: usize = 100_000_000;

/// A tensor of little-endian numbers, with the last axis innermost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Its name, unique in its file.
    pub name: String,
    /// The type of its numbers.
    pub kind: NumberType,
    /// The lengths of its axes.
    pub shape: Vec<u64>,
}

impl Tensor {
    /// The number of its bytes. A number that is too large for the integer is its largest one.
    pub fn bytes(&self) -> u64 {
        self.shape.iter().fold(self.kind.bytes(), |bytes, &length| bytes.saturating_mul(length))
    }

    fn type_name(&self) -> &'static str {
        match self.kind {
            NumberType::Single => "F32",
            NumberType::Double => "F64",
            NumberType::Integer => "I32",
            NumberType::Boolean => "BOOL",
        }
    }
}

/// The header of a file of tensors, which follow without gaps in this order: its length in 8 bytes, and the JSON,
/// padded with spaces so that the tensors begin at a multiple of 8 bytes. Nothing in it depends on when or where it is
/// written.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for a header or tensors that are too long for the format.
pub fn header(metadata: &[(&str, String)], tensors: &[Tensor]) -> io::Result<Vec<u8>> {
    let too_long = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("{what} too long for safetensors"));
    let metadata = metadata.iter().map(|(key, text)| ((*key).to_owned(), Value::from(text.as_str())));
    let mut fields = Map::new();
    fields.insert("__metadata__".into(), Value::Object(metadata.collect()));
    let mut start = 0_u64;
    for tensor in tensors {
        let end = start.checked_add(tensor.bytes()).ok_or_else(|| too_long("the tensors are"))?;
        let field = json!({ "dtype": tensor.type_name(), "shape": tensor.shape, "data_offsets": [start, end] });
        fields.insert(tensor.name.clone(), field);
        start = end;
    }
    let mut text = serde_json::to_vec(&fields)?;
    if text.len() > MAX_HEADER - 8 {
        return Err(too_long("the names of joints are"));
    }
    text.resize(text.len().next_multiple_of(8), b' ');
    Ok([&(text.len() as u64).to_le_bytes(), text.as_slice()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_states_types_shapes_and_places() {
        let tensor = |name: &str, kind, shape: &[u64]| Tensor { name: name.into(), kind, shape: shape.to_vec() };
        let tensors = [
            tensor("time", NumberType::Double, &[2]),
            tensor("pos", NumberType::Single, &[2, 1, 3]),
            tensor("weights", NumberType::Single, &[2, 0]),
            tensor("contact", NumberType::Boolean, &[2, 2]),
        ];
        let bytes = header(&[("a", "\"b\"".into())], &tensors).unwrap();
        let (length, text) = bytes.split_first_chunk::<8>().unwrap();
        assert_eq!((u64::from_le_bytes(*length), text.len() % 8), (text.len() as u64, 0));
        // 2 numbers of 8 bytes, 6 of 4 bytes, none, 4 of one byte.
        let expected = concat!(
            r#"{"__metadata__":{"a":"\"b\""},"#,
            r#""time":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},"#,
            r#""pos":{"dtype":"F32","shape":[2,1,3],"data_offsets":[16,40]},"#,
            r#""weights":{"dtype":"F32","shape":[2,0],"data_offsets":[40,40]},"#,
            r#""contact":{"dtype":"BOOL","shape":[2,2],"data_offsets":[40,44]}}"#,
        );
        assert_eq!(std::str::from_utf8(text).unwrap().trim_end(), expected);
    }

    #[test]
    fn tensors_beyond_all_files_are_refused() {
        let tensor = Tensor { name: "pos".into(), kind: NumberType::Single, shape: vec![u64::MAX, 3] };
        let error = header(&[], &[tensor.clone(), tensor]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
