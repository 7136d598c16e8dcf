//! Files that were not made for this: a walk on the spot, collected from the sample models of Khronos.

use posse::Library;
use posse::import::gltf;
use posse::quality::{GroundLevel, MotionQuality};

use crate::support::skip::collected_or_skip;

/// CesiumMan walks on the spot, one step of each foot per clip, and loops. The contacts follow from the vertices of
/// its mesh: the lowest one of the left foot is within 0.05 legs of the ground from 0.67 s to 1.68 s, half of the clip,
/// the contact of the right one from 1.68 s across the seam to 0.55 s. The toe joint is in the middle of the foot, and
/// up to 0.25 legs above the ground when the tip lifts off.
#[test]
fn cesium_man_walks_on_a_ground_that_moves() {
    let Some(file) = collected_or_skip("gltf/CesiumMan/CesiumMan.glb", "contacts of a collected file") else { return };
    let mut library = Library::new();
    let asset = gltf::load(&mut library, &file).unwrap();
    let (quality, contacts) = MotionQuality::of_clip(&library, asset.clips[0], 60.0, GroundLevel::Auto).unwrap();
    let feet = quality.feet.clone().expect("a human");
    assert!(feet.ground_speed > 0.5 && feet.ground_speed < 3.0, "{feet:?}");
    assert!(feet.contact.iter().all(|share| (0.3..0.6).contains(share)), "{feet:?}");
    for (time, in_contact) in [(0.3, [false, true]), (1.0, [true, false]), (1.5, [true, false]), (1.9, [false, true])] {
        let frame = contacts.frame_at(time);
        assert_eq!([0, 1].map(|foot| contacts.at(foot, frame).is_some()), in_contact, "at {time} s");
    }
    assert!(contacts.is_loop());
    assert!(contacts.of_foot(0).len() <= 2 && contacts.of_foot(1).len() <= 2, "{contacts:?}");
    assert_eq!(quality.jumps.count, 0, "{quality:?}");
    assert!(quality.seam.is_some_and(|seam| seam.largest < 0.05), "{quality:?}");
}
