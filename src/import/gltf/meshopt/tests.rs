//! The decoders against the encoders of the library that defines the format.

use meshopt::encoding as reference;
use proptest::prelude::*;

use super::{MeshoptError, decode};

const COUNTS: [usize; 12] = [1, 2, 15, 16, 17, 31, 64, 100, 255, 256, 257, 1000];

/// Reproducible random numbers, from a simple generator.
fn noise(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u32
    }
}

/// Elements of one of seven kinds: constant, slowly changing, random, floats and others. Each kind is packed in another
/// way.
fn elements<const STRIDE: usize>(count: usize, kind: u32) -> Vec<[u8; STRIDE]> {
    let mut random = noise(u64::from(kind) + count as u64);
    let mut value = [0u32; 64];
    let mut next = |index: usize| {
        for (word, value) in value.iter_mut().enumerate() {
            *value = match (kind + word as u32) % 7 {
                0 => 0x0102_0304,
                1 => value.wrapping_add(random() & 3),
                2 => random(),
                3 => ((index as f32 * 0.37 + word as f32).sin()).to_bits(),
                4 => value.wrapping_add((random() & 15) << 16 | random() & 255),
                5 => value.wrapping_add(if random() & 31 == 0 { random() } else { random() & 0x0101_0101 }),
                _ => (index as u32 / 40) * 0x0001_0001,
            };
        }
        std::array::from_fn(|byte| value[byte / 4].to_le_bytes()[byte % 4])
    };
    (0..count).map(&mut next).collect()
}

fn round_trips<const STRIDE: usize>() {
    for count in COUNTS {
        for kind in 0..7 {
            let elements = elements::<STRIDE>(count, kind);
            for (version, level) in [(0, 0), (1, 0), (1, 1), (1, 2), (1, 3)] {
                let encoded = reference::encode_vertex_buffer_level(&elements, level, Some(version)).unwrap();
                let decoded = decode(&encoded, count as u64, STRIDE as u64, "ATTRIBUTES", "NONE").unwrap();
                assert!(
                    decoded == elements.as_flattened(),
                    "stride {STRIDE}, {count} x kind {kind}, version {version}"
                );
            }
        }
    }
}

#[test]
fn attributes_of_both_versions_are_decoded() {
    round_trips::<4>();
    round_trips::<8>();
    round_trips::<12>();
    round_trips::<16>();
    round_trips::<28>();
    round_trips::<36>();
    round_trips::<64>();
    round_trips::<256>();
}

#[test]
fn a_stream_without_elements_is_decoded() {
    for version in [0, 1] {
        let encoded = reference::encode_vertex_buffer_level::<[u8; 16]>(&[], 2, Some(version)).unwrap();
        assert_eq!(decode(&encoded, 0, 16, "ATTRIBUTES", "NONE"), Ok(vec![]));
    }
}

#[test]
fn index_sequences_are_decoded() {
    let mut random = noise(5);
    for count in COUNTS {
        let indices: Vec<u32> =
            (0..count).map(|index| if index % 5 == 0 { random() } else { index as u32 * 3 }).collect();
        let small: Vec<u32> = indices.iter().map(|index| index & 0xffff).collect();
        let encoded = reference::encode_index_sequence(&small, 0x1_0000).unwrap();
        let words: Vec<u8> = small.iter().flat_map(|&index| (index as u16).to_le_bytes()).collect();
        assert_eq!(decode(&encoded, count as u64, 2, "INDICES", "NONE").unwrap(), words);
        let large: Vec<u32> = indices.iter().map(|index| index & 0x0fff_ffff).collect();
        let encoded = reference::encode_index_sequence(&large, 0x1000_0000).unwrap();
        let longs: Vec<u8> = large.iter().flat_map(|index| index.to_le_bytes()).collect();
        assert_eq!(decode(&encoded, count as u64, 4, "INDICES", "NONE").unwrap(), longs);
    }
}

/// Triangles of a grid, of a fan, and of vertices at random.
fn triangles(count: usize, kind: u32) -> Vec<u32> {
    let mut random = noise(u64::from(kind));
    let triangle = |index: usize| {
        let (index, width) = (index as u32, 17);
        let corner = index / 2 + index / 2 / (width - 1);
        match kind {
            0 if index.is_multiple_of(2) => [corner, corner + 1, corner + width],
            0 => [corner + 1, corner + width + 1, corner + width],
            1 => [0, index + 1, index + 2],
            2 => [random() % 4000, 4000 + random() % 4000, 8000 + random() % 4000],
            _ => [3 * index, 3 * index + 1, 3 * index + 2],
        }
    };
    (0..count).flat_map(triangle).collect()
}

#[test]
fn triangles_are_decoded_up_to_their_first_corner() {
    for count in COUNTS {
        for kind in 0..4 {
            let wanted = triangles(count, kind);
            let encoded = reference::encode_index_buffer(&wanted, 1 << 16).unwrap();
            let longs = decode(&encoded, 3 * count as u64, 4, "TRIANGLES", "NONE").unwrap();
            let found: Vec<u32> = longs.as_chunks::<4>().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect();
            // The format may rotate the corners of a triangle, but not reverse them.
            let turned = |triangle: &[u32]| {
                let first = (0..3).min_by_key(|&corner| triangle[corner]).unwrap();
                [0, 1, 2].map(|corner| triangle[(first + corner) % 3])
            };
            let [found, wanted] = [found, wanted].map(|all| all.chunks(3).map(turned).collect::<Vec<_>>());
            assert_eq!(found, wanted, "{count} of kind {kind}");
            let words = decode(&encoded, 3 * count as u64, 2, "TRIANGLES", "NONE").unwrap();
            let halves: Vec<u8> = longs.chunks(4).flat_map(|bytes| [bytes[0], bytes[1]]).collect();
            assert_eq!(words, halves);
        }
    }
}

#[test]
fn triangles_of_vertices_that_were_not_there_equal_those_of_the_library() {
    // The first code takes an edge and a recent vertex, of which there are none yet; the second the vertex that it
    // pushed.
    let stream = [&[0xe1, 0x01, 0x12][..], &[0; 16]].concat();
    let wanted: Vec<u32> = reference::decode_index_buffer(&stream, 6).unwrap();
    let longs = decode(&stream, 6, 4, "TRIANGLES", "NONE").unwrap();
    assert_eq!(longs, wanted.iter().flat_map(|index| index.to_le_bytes()).collect::<Vec<u8>>());
}

fn vectors(unit: bool) -> Vec<[f32; 4]> {
    let mut random = noise(77);
    let mut number = move || random() as f32 / u32::MAX as f32 * 2.0 - 1.0;
    let vector = |_| {
        let vector: [f32; 4] = std::array::from_fn(|_| number());
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        if unit { vector.map(|number| number / length) } else { vector }
    };
    (0..500).map(vector).collect()
}

/// Compares both implementations of a filter. Single numbers may differ by `tolerance`.
fn assert_same_filter<T: Copy>(
    filter: &str,
    encoded: &[[T; 4]],
    filtered: &[[T; 4]],
    bytes: impl Fn(T) -> Vec<u8>,
    tolerance: i32,
) {
    let flat = |elements: &[[T; 4]]| elements.iter().flatten().flat_map(|&number| bytes(number)).collect::<Vec<u8>>();
    let (data, wanted) = (flat(encoded), flat(filtered));
    let stride = data.len() / encoded.len();
    let mut found = data.clone();
    super::apply_filter(super::Filter::parse(filter).unwrap(), &mut found, stride);
    for (found, wanted) in found.chunks(stride / 4).zip(wanted.chunks(stride / 4)) {
        let number = |bytes: &[u8]| match *bytes {
            [a] => i32::from(a.cast_signed()),
            [a, b] => i32::from(i16::from_le_bytes([a, b])),
            [a, b, c, d] => i32::from_le_bytes([a, b, c, d]),
            _ => unreachable!(),
        };
        let distance = number(found).wrapping_sub(number(wanted)).wrapping_abs();
        assert!(distance <= tolerance, "{filter}: {} is not {}", number(found), number(wanted));
    }
}

#[test]
fn filters_equal_those_of_the_library() {
    let short = |number: i16| number.to_le_bytes().to_vec();
    for bits in 4..=16 {
        let encoded = reference::encode_filter_quat(&vectors(true), bits);
        let mut filtered = encoded.clone();
        reference::decode_filter_quat(&mut filtered);
        assert_same_filter("QUATERNION", &encoded, &filtered, short, 1);

        let encoded = reference::encode_filter_oct::<i16>(&vectors(true), bits);
        let mut filtered = encoded.clone();
        reference::decode_filter_oct(&mut filtered);
        assert_same_filter("OCTAHEDRAL", &encoded, &filtered, short, 1);

        let positive: Vec<[f32; 4]> = vectors(false).into_iter().map(|color| color.map(f32::abs)).collect();
        let encoded = reference::encode_filter_color::<i16>(&positive, bits);
        let mut filtered = encoded.clone();
        reference::decode_filter_color(&mut filtered);
        assert_same_filter("COLOR", &encoded, &filtered, short, 1);
    }
    for bits in 2..=8 {
        let byte = |number: i8| number.to_le_bytes().to_vec();
        let encoded = reference::encode_filter_oct::<i8>(&vectors(true), bits);
        let mut filtered = encoded.clone();
        reference::decode_filter_oct(&mut filtered);
        assert_same_filter("OCTAHEDRAL", &encoded, &filtered, byte, 1);

        let positive: Vec<[f32; 4]> = vectors(false).into_iter().map(|color| color.map(f32::abs)).collect();
        let encoded = reference::encode_filter_color::<i8>(&positive, bits);
        let mut filtered = encoded.clone();
        reference::decode_filter_color(&mut filtered);
        assert_same_filter("COLOR", &encoded, &filtered, byte, 1);
    }
    for bits in 1..=24 {
        let scaled: Vec<[f32; 4]> = vectors(false).into_iter().map(|v| [v[0], v[1] * 1e-9, v[2] * 1e9, 0.0]).collect();
        let encoded = reference::encode_filter_exp(&scaled, bits, reference::EncodeExpMode::Separate);
        let mut filtered = encoded.clone();
        reference::decode_filter_exp(&mut filtered);
        assert_same_filter("EXPONENTIAL", &encoded, &filtered, |number: u32| number.to_le_bytes().to_vec(), 0);
    }
}

#[test]
fn an_error_names_its_field() {
    let field = |result: Result<Vec<u8>, MeshoptError>| result.unwrap_err().field;
    assert_eq!(field(decode(&[], 1, 4, "ATTRIBUTES", "SEPIA")), "filter");
    assert_eq!(field(decode(&[], 1, 4, "ATTRIBUTES", "QUATERNION")), "byteStride");
    assert_eq!(field(decode(&[], 1, 0, "ATTRIBUTES", "NONE")), "byteStride");
    assert_eq!(field(decode(&[], 1, 6, "ATTRIBUTES", "NONE")), "byteStride");
    assert_eq!(field(decode(&[], 1, 260, "ATTRIBUTES", "NONE")), "byteStride");
    assert_eq!(field(decode(&[], 1, 3, "INDICES", "NONE")), "byteStride");
    assert_eq!(field(decode(&[], 1, 4, "INDICES", "COLOR")), "filter");
    assert_eq!(field(decode(&[], 3, 12, "TRIANGLES", "NONE")), "mode");
    assert_eq!(field(decode(&[], 4, 4, "TRIANGLES", "NONE")), "count");
    assert_eq!(field(decode(&[], 3, 4, "TRIANGLES", "COLOR")), "filter");
    assert_eq!(field(decode(&[], 3, 4, "TRIANGLES", "NONE")), "");
    assert_eq!(field(decode(&[], 3, 4, "RINGS", "NONE")), "mode");
    assert_eq!(field(decode(&[], 3, 4, "ATTRIBUTES", "NONE")), "");
}

#[test]
fn truncated_streams_and_wrong_counts_are_errors() {
    let elements = elements::<16>(300, 3);
    for version in [0, 1] {
        let encoded = reference::encode_vertex_buffer_level(&elements, 2, Some(version)).unwrap();
        for end in 0..encoded.len() {
            assert!(decode(&encoded[..end], 300, 16, "ATTRIBUTES", "NONE").is_err(), "{end} bytes");
        }
        assert!(decode(&encoded, u64::MAX / 16, 16, "ATTRIBUTES", "NONE").is_err());
        assert!(decode(&encoded, u64::MAX, 16, "ATTRIBUTES", "NONE").is_err());
        assert!(decode(&encoded, 600, 16, "ATTRIBUTES", "NONE").is_err());
    }
    let encoded = reference::encode_index_sequence(&[1, 2, 300, 70000], 100_000).unwrap();
    for end in 0..encoded.len() {
        assert!(decode(&encoded[..end], 4, 4, "INDICES", "NONE").is_err(), "{end} bytes");
    }
    assert!(decode(&encoded, u64::MAX, 4, "INDICES", "NONE").is_err());
    let encoded = reference::encode_index_buffer(&triangles(40, 2), 1 << 16).unwrap();
    for end in 0..encoded.len() {
        assert!(decode(&encoded[..end], 120, 4, "TRIANGLES", "NONE").is_err(), "{end} bytes");
    }
    assert!(decode(&encoded, u64::MAX, 4, "TRIANGLES", "NONE").is_err());
}

proptest! {
    #[test]
    fn garbled_streams_do_not_panic(
        version in 0..2i32,
        kind in 0..7u32,
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        filter in prop::sample::select(vec!["NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR"]),
    ) {
        let mut encoded = reference::encode_vertex_buffer_level(&elements::<8>(300, kind), 3, Some(version)).unwrap();
        for (place, byte) in places {
            let place = place.index(encoded.len());
            encoded[place] = byte;
        }
        if let Ok(decoded) = decode(&encoded, 300, 8, "ATTRIBUTES", filter) {
            prop_assert_eq!(decoded.len(), 2400);
        }
    }

    #[test]
    fn random_streams_do_not_panic(
        first in prop::sample::select(vec![0xa0u8, 0xa1, 0xd1, 0xe1]),
        rest in prop::collection::vec(any::<u8>(), 0..400),
        count in 0..1000u64,
        stride in 0..65u64,
        mode in prop::sample::select(vec!["ATTRIBUTES", "INDICES", "TRIANGLES"]),
    ) {
        let stream = [vec![first], rest].concat();
        let _ = decode(&stream, count, stride, mode, "NONE");
    }
}
