//! The meshopt decoders of posse against the decoders of the library that defines the format.

use arbitrary::{Result, Unstructured};
use meshopt::ffi;
use posse::low_level::test_support::decode_meshopt;

use crate::numbers::rest;

/// The most elements of a stream.
const MAX_ELEMENTS: usize = 1024;

const FILTERS: [&str; 5] = ["NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR"];

/// A compressed stream with what its buffer view says about it.
#[derive(Debug)]
struct Stream {
    bytes: Vec<u8>,
    count: usize,
    stride: usize,
    mode: &'static str,
}

/// Decodes a stream that the bytes describe: one that an encoder has made of them, or the bytes themselves.
pub fn check(data: &[u8]) -> Result<()> {
    let mut bytes = Unstructured::new(data);
    if bytes.ratio(1, 2)? { check_any(&mut bytes) } else { check_valid(&mut bytes) }
}

/// Any bytes as a stream: an error, or as many bytes as there should be. If both decoders accept them, the results are
/// equal.
fn check_any(bytes: &mut Unstructured) -> Result<()> {
    let mode = *bytes.choose(&["ATTRIBUTES", "TRIANGLES", "INDICES"])?;
    let filter = *bytes.choose(&FILTERS)?;
    let count = bytes.int_in_range(0..=MAX_ELEMENTS)?;
    let stride =
        if bytes.ratio(7, 8)? { 4 * bytes.int_in_range(1..=64usize)? } else { bytes.arbitrary::<u8>()?.into() };
    let stride = if mode == "ATTRIBUTES" { stride } else { [2, 4, stride][bytes.choose_index(3)?] };
    let stream = Stream { bytes: rest(bytes)?.to_vec(), count, stride, mode };
    let decoded = stream.decode(filter);
    if let Ok(decoded) = &decoded {
        assert_eq!(decoded.len(), count * stride);
    }
    if filter == "NONE" && stream.is_for_library() {
        let library = stream.decode_by_library();
        match (decoded, library) {
            (Ok(decoded), Some(library)) => assert!(decoded == library, "both accept {stream:?}, with other results"),
            // posse refuses more: bytes that are left over, for example.
            (Ok(_), None) => panic!("only posse accepts {stream:?}"),
            (Err(_), _) => {}
        }
    }
    Ok(())
}

/// A stream of an encoder: both decoders must give the same bytes, and without a filter the encoded ones.
fn check_valid(bytes: &mut Unstructured) -> Result<()> {
    match bytes.int_in_range(0..=3)? {
        0 => {
            let stride = 4 * bytes.int_in_range(1..=64)?;
            let (level, version) = (bytes.int_in_range(0..=3)?, bytes.int_in_range(0..=1)?);
            let mut elements = rest(bytes)?.to_vec();
            let count = (elements.len() / stride).min(MAX_ELEMENTS);
            elements.truncate(count * stride);
            let stream = Stream::of_elements(&elements, stride, level, version);
            assert_eq!(stream.decode("NONE").expect("a valid stream"), elements);
        }
        1 => {
            let stride = *bytes.choose(&[2, 4])?;
            let indices = indices(bytes, stride)?;
            let mut stream = vec![0; unsafe { ffi::meshopt_encodeIndexSequenceBound(indices.len(), 1 << 32) }];
            // SAFETY: the buffers have the stated lengths.
            let length = unsafe {
                ffi::meshopt_encodeIndexSequence(stream.as_mut_ptr(), stream.len(), indices.as_ptr(), indices.len())
            };
            stream.truncate(length);
            let stream = Stream { bytes: stream, count: indices.len(), stride, mode: "INDICES" };
            let wanted: Vec<u8> = indices.iter().flat_map(|index| index.to_le_bytes()[..stride].to_vec()).collect();
            assert_eq!(stream.decode("NONE").expect("a valid stream"), wanted);
        }
        2 => {
            let stride = *bytes.choose(&[2, 4])?;
            let mut indices = indices(bytes, stride)?;
            indices.truncate(indices.len() / 3 * 3);
            let mut stream = vec![0; unsafe { ffi::meshopt_encodeIndexBufferBound(indices.len(), 1 << 32) }];
            // SAFETY: the buffers have the stated lengths.
            let length = unsafe {
                ffi::meshopt_encodeIndexBuffer(stream.as_mut_ptr(), stream.len(), indices.as_ptr(), indices.len())
            };
            stream.truncate(length);
            let stream = Stream { bytes: stream, count: indices.len(), stride, mode: "TRIANGLES" };
            assert_eq!(stream.decode("NONE").ok(), stream.decode_by_library());
        }
        _ => check_filter(bytes)?,
    }
    Ok(())
}

/// Vectors, encoded by a filter and then compressed.
fn check_filter(bytes: &mut Unstructured) -> Result<()> {
    let filter = FILTERS[1 + bytes.choose_index(4)?];
    let stride = if filter == "QUATERNION" || bytes.ratio(1, 2)? { 8 } else { 4 };
    let most = if stride == 4 && filter != "EXPONENTIAL" { 8 } else { 16 };
    let bits = bytes.int_in_range(4..=most)?;
    let vectors: Vec<[f32; 4]> = rest(bytes)?
        .as_chunks::<4>()
        .0
        .iter()
        .take(MAX_ELEMENTS)
        .map(|bytes| {
            let vector = bytes.map(|byte| f32::from(byte.cast_signed()) / 127.0);
            let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
            match filter {
                "COLOR" => vector.map(|number| number.abs().min(1.0)),
                "EXPONENTIAL" => [vector[0], vector[1] * 1e-9, vector[2] * 1e9, vector[3]],
                _ if length > 0.0 => vector.map(|number| number / length),
                _ => [0.0, 0.0, 0.0, 1.0],
            }
        })
        .collect();
    let count = vectors.len();
    let mut encoded = vec![0u8; count * stride];
    let (target, source) = (encoded.as_mut_ptr().cast(), vectors.as_ptr().cast());
    // SAFETY: `encoded` has `count` elements of `stride` bytes, `vectors` as many of four numbers; exponential elements
    // take the first `stride / 4` numbers of each.
    unsafe {
        match filter {
            "OCTAHEDRAL" => ffi::meshopt_encodeFilterOct(target, count, stride, bits, source),
            "QUATERNION" => ffi::meshopt_encodeFilterQuat(target, count, stride, bits, source),
            "COLOR" => ffi::meshopt_encodeFilterColor(target, count, stride, bits, source),
            _ => ffi::meshopt_encodeFilterExp(
                target,
                count,
                stride,
                bits,
                source,
                ffi::meshopt_EncodeExpMode_meshopt_EncodeExpSeparate,
            ),
        }
    }
    let stream = Stream::of_elements(&encoded, stride, 2, 1);
    let found = stream.decode(filter).expect("a valid stream");
    let mut wanted = encoded;
    let target = wanted.as_mut_ptr().cast();
    // SAFETY: `wanted` has `count` elements of `stride` bytes.
    unsafe {
        match filter {
            "OCTAHEDRAL" => ffi::meshopt_decodeFilterOct(target, count, stride),
            "QUATERNION" => ffi::meshopt_decodeFilterQuat(target, count, stride),
            "COLOR" => ffi::meshopt_decodeFilterColor(target, count, stride),
            _ => ffi::meshopt_decodeFilterExp(target, count, stride),
        }
    }
    if filter == "EXPONENTIAL" {
        assert_eq!(found, wanted);
        return Ok(());
    }
    // Roundings of one unit are free: the library rounds in another way with SIMD than without.
    let width = stride / 4;
    for (index, (found, wanted)) in found.chunks(width).zip(wanted.chunks(width)).enumerate() {
        let number = |bytes: &[u8]| match *bytes {
            [low, high] => i32::from(i16::from_le_bytes([low, high])),
            _ => i32::from(bytes[0].cast_signed()),
        };
        let (found, wanted) = (number(found), number(wanted));
        assert!((found - wanted).abs() <= 1, "{filter}, number {index}: {found} is not {wanted}");
    }
    Ok(())
}

fn indices(bytes: &mut Unstructured, stride: usize) -> Result<Vec<u32>> {
    let near = bytes.arbitrary::<bool>()?;
    let mut last = 0u32;
    let index = |bytes: &[u8; 2]| {
        let number = u16::from_le_bytes(*bytes);
        last =
            if near { last.wrapping_add_signed(i32::from(number.cast_signed() >> 6)) } else { u32::from(number) << 9 };
        if stride == 2 { last & 0xffff } else { last & 0x0fff_ffff }
    };
    Ok(rest(bytes)?.as_chunks::<2>().0.iter().take(MAX_ELEMENTS).map(index).collect())
}

impl Stream {
    fn of_elements(elements: &[u8], stride: usize, level: i32, version: i32) -> Self {
        let count = elements.len() / stride;
        let mut bytes = vec![0; unsafe { ffi::meshopt_encodeVertexBufferBound(count, stride) }];
        // SAFETY: the buffers have the stated lengths.
        let length = unsafe {
            ffi::meshopt_encodeVertexBufferLevel(
                bytes.as_mut_ptr(),
                bytes.len(),
                elements.as_ptr().cast(),
                count,
                stride,
                level,
                version,
            )
        };
        bytes.truncate(length);
        Self { bytes, count, stride, mode: "ATTRIBUTES" }
    }

    fn decode(&self, filter: &str) -> std::result::Result<Vec<u8>, String> {
        let decoded = decode_meshopt(&self.bytes, self.count as u64, self.stride as u64, self.mode, filter);
        decoded.map_err(|error| format!("{error:?}"))
    }

    /// Returns `true` for sizes on which the library does not stop the process.
    fn is_for_library(&self) -> bool {
        match self.mode {
            "ATTRIBUTES" => (4..=256).contains(&self.stride) && self.stride.is_multiple_of(4),
            "TRIANGLES" => [2, 4].contains(&self.stride) && self.count.is_multiple_of(3),
            _ => [2, 4].contains(&self.stride),
        }
    }

    fn decode_by_library(&self) -> Option<Vec<u8>> {
        let Self { bytes, count, stride, mode } = self;
        let mut decoded = vec![0u8; count * stride];
        let (target, source) = (decoded.as_mut_ptr().cast(), bytes.as_ptr());
        // SAFETY: the buffers have the stated lengths, and `is_for_library` has checked the sizes.
        let status = unsafe {
            match *mode {
                "ATTRIBUTES" => ffi::meshopt_decodeVertexBuffer(target, *count, *stride, source, bytes.len()),
                "TRIANGLES" => ffi::meshopt_decodeIndexBuffer(target, *count, *stride, source, bytes.len()),
                _ => ffi::meshopt_decodeIndexSequence(target, *count, *stride, source, bytes.len()),
            }
        };
        (status == 0).then_some(decoded)
    }
}
