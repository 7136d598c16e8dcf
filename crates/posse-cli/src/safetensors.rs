//! The header of the format safetensors: tensors stand one after the other behind a header of JSON, so that readers map
//! the file and copy nothing. <https://github.com/huggingface/safetensors#format>

use std::collections::HashMap;
use std::io::{self, Read};

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
}

/// A type of numbers, as headers name it.
fn type_name(kind: NumberType) -> &'static str {
    match kind {
        NumberType::Single => "F32",
        NumberType::Double => "F64",
        NumberType::Integer => "I32",
        NumberType::Boolean => "BOOL",
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
        let field = json!({ "dtype": type_name(tensor.kind), "shape": tensor.shape, "data_offsets": [start, end] });
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

/// The header of a file that was written by [`header`].
#[derive(Debug)]
pub struct Header {
    /// The texts by their keys.
    pub metadata: HashMap<String, String>,
    /// The tensors in the order of the file, each with the place of its first byte in the file.
    pub tensors: Vec<(Tensor, u64)>,
}

impl Header {
    /// Reads a header.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] for a file without one, and for types and places that [`header`] does not write.
    pub fn read(file: &mut impl Read) -> io::Result<Self> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("its header has {what}"));
        let mut length = [0; 8];
        file.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER as u64 {
            return Err(wrong("no length"));
        }
        let mut text = Vec::new();
        file.take(length).read_to_end(&mut text)?;
        let fields: Map<String, Value> = serde_json::from_slice(&text).map_err(|error| wrong(&error.to_string()))?;
        let (mut metadata, mut tensors, mut at) = (HashMap::new(), Vec::new(), 8 + length);
        for (name, field) in fields {
            if name == "__metadata__" {
                metadata = serde_json::from_value(field).map_err(|error| wrong(&error.to_string()))?;
                continue;
            }
            let kinds = [NumberType::Single, NumberType::Double, NumberType::Integer, NumberType::Boolean];
            let kind = kinds.into_iter().find(|kind| field["dtype"] == type_name(*kind));
            let shape = field["shape"].as_array().and_then(|axes| axes.iter().map(Value::as_u64).collect());
            let (Some(kind), Some(shape)) = (kind, shape) else { return Err(wrong(&format!("no type of {name}"))) };
            let tensor = Tensor { name, kind, shape };
            let (start, end) = (at, at.saturating_add(tensor.bytes()));
            if field["data_offsets"] != json!([start - 8 - length, end - 8 - length]) {
                return Err(wrong(&format!("no place of {}", tensor.name)));
            }
            tensors.push((tensor, start));
            at = end;
        }
        Ok(Self { metadata, tensors })
    }
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
        // It is read back, with places behind itself.
        let read = Header::read(&mut bytes.as_slice()).unwrap();
        let start = bytes.len() as u64;
        let places = [0, 16, 40, 40].map(|place| start + place);
        assert_eq!(read.tensors, tensors.into_iter().zip(places).collect::<Vec<_>>());
        assert_eq!(read.metadata, HashMap::from([("a".into(), "\"b\"".into())]));
        for broken in [&bytes[..4], &bytes[..bytes.len() - 9], &[0xff; 8][..]] {
            assert!(Header::read(&mut { broken }).is_err());
        }
        let moved = expected.replace("[16,40]", "[17,41]");
        let moved = [&(moved.len() as u64).to_le_bytes(), moved.as_bytes()].concat();
        assert!(Header::read(&mut moved.as_slice()).unwrap_err().to_string().contains("no place of pos"));
    }

    #[test]
    fn tensors_beyond_all_files_are_refused() {
        let tensor = Tensor { name: "pos".into(), kind: NumberType::Single, shape: vec![u64::MAX, 3] };
        let error = header(&[], &[tensor.clone(), tensor]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
