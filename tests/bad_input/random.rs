//! Files that are broken at random.

use posse::Error;
use proptest::prelude::*;

use crate::support::cases::some_of;
use crate::support::gltf_builder::{bytes, load, something_of_everything};

/// Asserts that a file loads, or is refused with the path of an error.
fn assert_harmless(file: &[u8]) {
    match load(file) {
        Ok(_) => {}
        Err(Error::Import { path, .. }) => assert_ne!(path, "document"),
        Err(other) => panic!("{other}"),
    }
}

/// Numbers that often break code.
pub fn awkward() -> impl Strategy<Value = String> {
    let numbers = [
        "-1",
        "0",
        "1",
        "2",
        "7",
        "255",
        "65536",
        "4294967295",
        "4294967296",
        "18446744073709551615",
        "1e39",
        "0.5",
        "null",
        "[]",
        "\"x\"",
    ];
    prop::sample::select(numbers.map(String::from).to_vec())
}

/// A file with other bytes.
pub fn with_bytes(mut file: Vec<u8>, changes: Vec<(prop::sample::Index, u8)>) -> Vec<u8> {
    for (place, byte) in changes {
        let place = place.index(file.len());
        file[place] = byte;
    }
    file
}

/// A text with other numbers, each changed after the one before.
pub fn with_numbers(text: Vec<u8>, changes: Vec<(prop::sample::Index, String)>) -> Vec<u8> {
    let mut text = String::from_utf8(text).unwrap();
    for (place, number) in changes {
        let places = numbers(&text);
        text.replace_range(places[place.index(places.len())].clone(), &number);
    }
    text.into_bytes()
}

/// The ranges of the numbers in a text.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut places = Vec::new();
    let bytes = text.as_bytes();
    let mut start = None;
    for (place, byte) in bytes.iter().enumerate() {
        match (byte.is_ascii_digit(), start) {
            (true, None) => start = Some(place),
            (false, Some(first)) => {
                places.push(first..place);
                start = None;
            }
            _ => {}
        }
    }
    places
}

proptest! {
    #![proptest_config(ProptestConfig { cases: some_of(2000) as u32, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_do_no_harm(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        assert_harmless(&with_bytes(something_of_everything().glb(), changes));
    }

    #[test]
    fn changed_numbers_do_no_harm(changes in prop::collection::vec((any::<prop::sample::Index>(), awkward()), 1..4)) {
        assert_harmless(&with_numbers(something_of_everything().gltf_with_data_uri(), changes));
    }

    #[test]
    fn inserted_and_removed_bytes_do_no_harm(
        place in any::<prop::sample::Index>(),
        removed in 0..64usize,
        inserted in prop::collection::vec(any::<u8>(), 0..16),
    ) {
        let mut glb = something_of_everything().glb();
        let place = place.index(glb.len());
        let end = glb.len().min(place + removed);
        glb.splice(place..end, inserted);
        let length = glb.len() as u32;
        if let Some(header) = glb.get_mut(8..12) {
            header.copy_from_slice(&length.to_le_bytes());
        }
        assert_harmless(&glb);
    }

    #[test]
    fn changed_floats_do_no_harm(place in 0..60usize, number in any::<f32>()) {
        let mut file = something_of_everything();
        let end = file.bin.len();
        let place = (place * 4).min(end - 4);
        file.bin[place..place + 4].copy_from_slice(&bytes(&[number]));
        assert_harmless(&file.glb());
    }
}
