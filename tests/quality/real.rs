//! Files that were not made for this: a walk on the spot, collected from the sample models of Khronos.

use std::path::Path;

use posse::Library;
use posse::import::gltf;
use posse::quality::{GroundLevel, MotionQuality};

use crate::support::skip::report_skipped;

/// CesiumMan walks on the spot: it looks like one step of each foot per clip, and loops.
#[test]
fn cesium_man_walks_on_a_ground_that_moves() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/gltf/CesiumMan/CesiumMan.glb");
    if !file.exists() {
        report_skipped("contacts of a collected file: ../shared/gltf/CesiumMan is missing");
        return;
    }
    let mut library = Library::new();
    let asset = gltf::load(&mut library, &file).unwrap();
    let (quality, contacts) = MotionQuality::of_clip(&library, asset.clips[0], 60.0, GroundLevel::Auto).unwrap();
    let feet = quality.feet.clone().expect("a human");
    assert!(feet.ground_speed > 0.5 && feet.ground_speed < 3.0, "{feet:?}");
    assert!(feet.contact.iter().all(|share| (0.2..0.8).contains(share)), "{feet:?}");
    assert!(contacts.of_foot(0).len() <= 2 && contacts.of_foot(1).len() <= 2, "{contacts:?}");
    assert_eq!(quality.jumps.count, 0, "{quality:?}");
    assert!(quality.seam.is_some_and(|seam| seam.largest < 0.05), "{quality:?}");
}
