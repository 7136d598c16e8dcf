//! Clips made in code: a `Document` is read as its JSON is, bound and posed.

#![no_main]

use std::path::Path;

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use posse::{Library, import};
use posse_fuzz::{cocos_check, documents, engines, promise, write_seeds_if_asked};

fuzz_target!(init: write_seeds_if_asked("document"), |data: &[u8]| {
    let Ok(document) = documents::document(&mut Unstructured::new(data)) else { return };
    let library = Library::new();
    let made = promise::in_time(data.len(), || document.unbound(&library));
    let Ok(json) = serde_json::to_vec(&document) else { return };
    let read = import::cocos::from_slice(&library, Path::new("fuzz.anim"), &json);
    match (made, read) {
        (Ok(made), Ok(read)) => {
            assert_eq!(made, read);
            if engines::is_small_clip(&made.clip) {
                promise::in_time(data.len(), || cocos_check::check(&library, &json));
            }
        }
        (Err(_), Err(_)) => {}
        (made, read) => panic!("made: {made:?}, read: {read:?}"),
    }
});
