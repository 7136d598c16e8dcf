use std::io::{BufReader, Cursor};
use std::path::Path;

use posse::curves::{Target, Track};
use posse::import::bvh::{Keys, Reader};
use posse::{Error, Library};

use super::import;
use crate::support::bvh_leg::LEG;

/// A figure of 20 joints with this number of frames. Angles grow through many turns.
pub fn long_file(frames: usize) -> String {
    use std::fmt::Write;
    let mut text = String::from("HIERARCHY\n");
    for joint in 0..20 {
        let (kind, channels) = match joint {
            0 => ("ROOT", "6 Xposition Yposition Zposition Zrotation Yrotation Xrotation"),
            _ if joint % 3 == 0 => ("JOINT", "2 Xrotation Yposition"),
            _ => ("JOINT", "3 Zrotation Xrotation Yrotation"),
        };
        let _ = writeln!(text, "{kind} joint {joint}\n{{\nOFFSET 0 {joint} 0\nCHANNELS {channels}");
    }
    let _ = writeln!(text, "{}MOTION\nFrames: {frames}\nFrame Time: 0.0083333", "}\n".repeat(20));
    let columns = 6 + 6 * 2 + 13 * 3;
    for frame in 0..frames {
        for column in 0..columns {
            let angle = 200.0 * (0.01 * (frame * (column + 3)) as f64).sin() + (column * frame) as f64;
            let _ = write!(text, "{angle:.4} ");
        }
        text.push('\n');
    }
    text
}

/// All numbers of tracks, as bits, with the bits of their key times.
fn bits(tracks: &[Track]) -> Vec<(Target, Vec<u64>)> {
    let numbers = |track: &Track| {
        let curve = &track.curve;
        curve.timeline().times().iter().chain(curve.values()).map(|number| number.to_bits()).collect()
    };
    tracks.iter().map(|track| (track.target, numbers(track))).collect()
}

#[test]
fn parts_of_any_size_give_the_bits_of_the_whole() {
    let text = long_file(150);
    let (library, asset) = import(&text).unwrap();
    let whole = bits(&library.clip(asset.clip).tracks);
    for (part, buffer) in [(1, 1 << 16), (7, 64), (31, 1), (32, 777), (33, 1 << 16), (149, 4096), (usize::MAX, 100)] {
        let input = BufReader::with_capacity(buffer, text.as_bytes());
        let mut reader = Reader::new(Path::new("motion/leg.bvh"), input).unwrap();
        assert_eq!(
            (reader.frames(), reader.frame_time(), reader.duration()),
            (150, 1.0 / 120.0, 149.0 * (1.0 / 120.0))
        );
        assert!(reader.skeleton() == library.skeleton(asset.skeleton));
        let mut keys = Keys::new();
        let mut read = 0;
        while read < 150 {
            let count = reader.read(part, &mut keys).unwrap();
            assert_eq!(count, part.min(150 - read), "parts of {part}");
            read += count;
            assert_eq!((keys.first(), keys.len()), (0, read));
        }
        assert_eq!(reader.read(part, &mut keys).unwrap(), 0);
        assert!(bits(&keys.clip(asset.skeleton, None).unwrap().tracks) == whole, "parts of {part}, buffer of {buffer}");
    }
}

#[test]
fn a_window_of_keys_has_the_bits_of_its_part_of_the_whole() {
    let text = long_file(100);
    let (library, asset) = import(&text).unwrap();
    let mut reader = Reader::new(Path::new("a.bvh"), Cursor::new(&text)).unwrap();
    let mut keys = Keys::new();
    while reader.read(13, &mut keys).unwrap() > 0 {
        let clip = keys.clip(asset.skeleton, None).unwrap();
        let (first, len) = (keys.first() as usize, keys.len());
        for (track, whole) in clip.tracks.iter().zip(&library.clip(asset.clip).tracks) {
            let (own, whole, width) = (&track.curve, &whole.curve, track.curve.width());
            assert_eq!(own.timeline().times(), &whole.timeline().times()[first..first + len]);
            assert!(own.values() == &whole.values()[width * first..width * (first + len)], "from frame {first}");
        }
        // Two keys stay: the next frames interpolate from them.
        keys.drop_front(len - 2.min(len));
        assert_eq!((keys.first() as usize, keys.len()), (first + len - 2, 2));
    }
    assert_eq!(keys.first(), 98);
    keys.drop_front(9);
    assert_eq!((keys.first(), keys.len(), keys.is_empty()), (100, 0, true));
    assert!(keys.clip(asset.skeleton, None).unwrap().tracks.is_empty());
}

#[test]
fn emptied_keys_go_on_at_the_next_frame() {
    let text = long_file(40);
    let (library, asset) = import(&text).unwrap();
    let mut reader = Reader::new(Path::new("a.bvh"), text.as_bytes()).unwrap();
    let mut keys = Keys::new();
    reader.read(30, &mut keys).unwrap();
    keys.drop_front(30);
    reader.read(30, &mut keys).unwrap();
    assert_eq!((keys.first(), keys.len()), (30, 10));
    let clip = keys.into_clip(asset.skeleton, Some("end".into())).unwrap();
    assert_eq!(clip.name.as_deref(), Some("end"));
    assert_eq!(clip.tracks[1].curve.value(9), library.clip(asset.clip).tracks[1].curve.value(39));
}

#[test]
fn keys_of_another_place_or_file_are_refused() {
    let mut keys = Keys::new();
    let reader = || Reader::new(Path::new("a.bvh"), LEG.as_bytes()).unwrap();
    reader().read(1, &mut keys).unwrap();
    let error = reader().read(1, &mut keys).unwrap_err();
    assert!(matches!(&error, Error::Usage(reason) if reason.starts_with("the keys end before frame 1")), "{error}");
    let text = long_file(3);
    let mut other = Reader::new(Path::new("b.bvh"), text.as_bytes()).unwrap();
    other.read(1, &mut Keys::new()).unwrap();
    assert!(matches!(other.read(1, &mut keys), Err(Error::Usage(_))));
}

#[test]
fn the_end_is_checked_when_the_last_frame_is_read() {
    let text = format!("{LEG}2 10 0 0 0 0 90 0 0 0\n");
    let mut reader = Reader::new(Path::new("a.bvh"), text.as_bytes()).unwrap();
    let mut keys = Keys::new();
    assert_eq!(reader.read(1, &mut keys).unwrap(), 1);
    let error = reader.read(1, &mut keys).unwrap_err().to_string();
    assert!(error.starts_with("a.bvh: line 26: found more after the last of 2 frames"), "{error}");
}

#[test]
fn a_file_is_opened_by_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("walk.bvh");
    std::fs::write(&file, LEG).unwrap();
    let mut library = Library::new();
    let asset = posse::import::bvh::load(&mut library, &file).unwrap();
    let mut keys = Keys::new();
    let mut reader = Reader::open(&file).unwrap();
    assert_eq!(reader.read(9, &mut keys).unwrap(), 2);
    assert!(library.clip(asset.clip) == &keys.into_clip(asset.skeleton, Some("walk".into())).unwrap());
    assert!(matches!(Reader::open(folder.path().join("none.bvh")), Err(Error::Io { .. })));
    assert!(matches!(posse::import::bvh::load(&mut library, folder.path()), Err(Error::Io { .. })));
}
