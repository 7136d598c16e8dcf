use std::path::Path;

use posse::import::bvh::{self, Keys, Reader};
use posse::{Error, Library};

use super::parts::long_file;
use crate::support::bvh_leg::LEG;

/// Asserts that a text is refused at a line, for a reason that contains these words, whole and in parts.
#[track_caller]
fn refused(text: &[u8], line: usize, reason: &str) {
    let shown = String::from_utf8_lossy(&text[..text.len().min(2000)]);
    let mut library = Library::new();
    let error = bvh::from_slice(&mut library, Path::new("a.bvh"), text).expect_err(&shown);
    let Error::Import { path, reason: found, .. } = &error else { panic!("{error:?}") };
    assert_eq!(path, &format!("line {line}"), "{error}\n{shown}");
    assert!(found.contains(reason), "{error}\nexpected {reason:?}\n{shown}");
    assert!(library == Library::new());
    assert_eq!(in_parts(text).unwrap_err().to_string(), error.to_string());
}

/// Reads a text in parts, through a small buffer.
fn in_parts(text: &[u8]) -> Result<u64, Error> {
    let mut reader = Reader::new(Path::new("a.bvh"), std::io::BufReader::with_capacity(50, text))?;
    let mut keys = Keys::new();
    while reader.read(3, &mut keys)? > 0 {
        keys.drop_front(2);
    }
    Ok(reader.frames())
}

#[test]
fn the_hierarchy_is_refused_with_the_line_of_its_error() {
    let cases: &[(&str, &str, usize, &str)] = &[
        ("HIERARCHY", "HIERACHY", 1, "found \"HIERACHY\"; expected HIERARCHY"),
        ("HIERARCHY\n", "", 1, "found \"ROOT\"; expected HIERARCHY"),
        ("ROOT Hips", "JOINT Hips", 2, "A joint outside all others is a ROOT"),
        ("ROOT Hips", "ROOT", 2, "ROOT has no name"),
        ("ROOT Hips", "ROOT \t ", 2, "ROOT has no name"),
        ("ROOT Hips", "BONE Hips", 2, "found \"BONE\"; expected ROOT or MOTION"),
        ("ROOT Hips\n{", "ROOT Hips\n", 4, "found \"OFFSET\"; expected `{` after the name of \"Hips\""),
        ("ROOT Hips\n{", "ROOT Hips\n{\n{", 4, "found \"{\"; expected OFFSET"),
        ("OFFSET 1.0 2.0 3.0", "OFFSET 1.0 2.0", 5, "found \"CHANNELS\"; expected the z of OFFSET"),
        ("OFFSET 1.0 2.0 3.0", "OFFSET 1.0 2.0 3.0 4.0", 4, "found \"4.0\"; expected OFFSET, CHANNELS"),
        ("OFFSET 1.0 2.0 3.0", "OFFSET 1,0,2,0,3,0", 4, "found \"1,0,2,0,3,0\"; expected the x of OFFSET"),
        ("OFFSET 1.0 2.0 3.0", "OFFSET 1.0 nan 3.0", 4, "found \"nan\"; expected the y of OFFSET"),
        ("OFFSET 1.0 2.0 3.0", "OFFSET 1.0 2.0 inf", 4, "found \"inf\"; expected the z of OFFSET"),
        ("OFFSET 1.0 2.0 3.0", "OFFSET 1.0 2.0 1e60", 4, "found \"1e60\"; expected the z of OFFSET"),
        ("\tOFFSET 1.0 2.0 3.0\n", "", 19, "\"Hips\" of line 2 ends without an OFFSET"),
        ("\tOFFSET 1.0 2.0 3.0\n", "OFFSET 1 2 3\nOFFSET 1 2 3\n", 5, "OFFSET stands twice"),
        ("CHANNELS 1 X", "CHANNELS 1 Xrotation\nCHANNELS 1 X", 14, "CHANNELS stands twice"),
        ("CHANNELS 6", "CHANNELS six", 5, "found \"six\"; expected the number of channels"),
        ("CHANNELS 6", "CHANNELS -6", 5, "found \"-6\"; expected the number of channels"),
        ("CHANNELS 6", "CHANNELS 6.0", 5, "found \"6.0\"; expected the number of channels"),
        ("CHANNELS 6", "CHANNELS 7", 5, "found 7 channels; expected 0 to 6"),
        ("CHANNELS 6", "CHANNELS 18446744073709551616", 5, "expected the number of channels"),
        ("CHANNELS 6", "CHANNELS 5", 5, "CHANNELS announces fewer channels than it lists"),
        ("CHANNELS 1", "CHANNELS 2", 14, "found \"End\"; expected channel 2 of 2: Xposition"),
        ("Xposition", "Xscale", 5, "found \"Xscale\"; expected channel 1 of 6"),
        ("Xposition", "Wposition", 5, "found \"Wposition\"; expected channel 1 of 6"),
        ("Xposition Yposition", "Xposition Xposition", 5, "Xposition stands twice"),
        ("Xposition Y", "Xrotation Y", 5, "CHANNELS has 4 rotations; expected at most 3"),
        ("\t\tJOINT Foot", "\t\tROOT Foot", 10, "found \"ROOT\"; expected OFFSET, CHANNELS, JOINT"),
        ("End Site\n\t\t\t{", "End Site\n", 16, "found \"OFFSET\"; expected `{` after the name of \"Foot_end\""),
        ("OFFSET 0 0 2", "OFFSET 0 0 2\nCHANNELS 0", 17, "An End Site has no channels"),
        ("OFFSET 0 0 2", "JOINT toe", 16, "found \"JOINT\"; expected OFFSET or `}`, as it is inside an End Site"),
        ("\t\t\t}\n", "", 20, "A `}` is missing before MOTION"),
        ("}\nMOTION", "}\n}\nMOTION", 21, "There is one `}` more than `{`"),
        ("MOTION\n", "", 21, "found \"Frames\"; expected ROOT or MOTION"),
        ("\t}\n}\nMOTION", "\t}\nOFFSET 1 2 3\n}\nMOTION", 20, "OFFSET stands twice"),
        ("\t}\n}\nMOTION", "\t}\nCHANNELS 1 Xrotation\n}\nMOTION", 20, "CHANNELS stands twice"),
    ];
    for &(from, to, line, reason) in cases {
        assert!(LEG.contains(from), "{from}");
        refused(LEG.replacen(from, to, 1).as_bytes(), line, reason);
    }
    refused(b"HIERARCHY MOTION Frames: 0", 1, "There is no joint before MOTION");
    refused(b"", 1, "the file ends; expected HIERARCHY");
    refused(b"\n\n \n", 3, "the file ends; expected HIERARCHY");
    refused(&[0xff, 0xfe, b'H', 0, b'I', 0, b'E', 0], 1, "found \"HIE\"; expected HIERARCHY");
    let late = "HIERARCHY ROOT a { OFFSET 0 0 0\nEnd Site { OFFSET 0 0 1 }\nCHANNELS 1 Xrotation } MOTION";
    refused(late.as_bytes(), 3, "CHANNELS stands after a child of the joint");
    let long_name = LEG.replace("Hips", &"h".repeat(513));
    refused(long_name.as_bytes(), 2, "has 513 bytes; expected at most 512");
}

#[test]
fn the_motion_is_refused_with_the_line_of_its_error() {
    let first = "0 10 0 0 0 0 90 0 0 0\n";
    let cases: &[(&str, &str, usize, &str)] = &[
        ("Frames: 2", "Frames: two", 22, "found \"two\"; expected the number of frames"),
        ("Frames: 2", "Frames: -2", 22, "found \"-2\"; expected the number of frames"),
        ("Frames: 2", "Frames: 2.5", 22, "found \"2.5\"; expected the number of frames"),
        ("Frames: 2", "Frames: 99999999999999999999", 22, "expected the number of frames"),
        ("Frames: 2", "Frame: 2", 22, "found \"Frame\"; expected `Frames:`"),
        ("Frames: 2\n", "", 22, "found \"Frame\"; expected `Frames:`"),
        ("Frame Time: 0.5\n", "", 23, "The file does not say how long a frame lasts; write `Frame Time: 0.033333`"),
        ("Frame Time", "Frame Rate", 23, "found \"Rate\"; expected `Frame Time:`"),
        ("Time: 0.5", "Time: 0", 23, "the frame time is 0 s with 2 frames; expected more than 0"),
        ("Time: 0.5", "Time: -0.5", 23, "the frame time is -0.5 s with 2 frames"),
        ("Time: 0.5", "Time: nan", 23, "found \"nan\"; expected the seconds per frame"),
        ("Time: 0.5", "Time: inf", 23, "found \"inf\"; expected the seconds per frame"),
        ("Time: 0.5", "Time: 1/30", 23, "found \"1/30\"; expected the seconds per frame"),
        ("Time: 0.5\n", "Time: 0.5 ", 23, "expected the first frame on the next line"),
        ("Frames: 2\nFrame Time: 0.5", "Frames: 20\nFrame Time: 3e38", 23, "not a finite number in the range"),
        ("Frames: 2", "Frames: 3", 25, "the file ends after 2 frames; expected 3"),
        ("Frames: 2", "Frames: 4000000000", 25, "the file ends after 2 frames; expected 4000000000"),
        (first, "", 24, "the file ends after 1 frames; expected 2"),
        (first, "0 10 0 0 0 0 90 0 0\n", 24, "found 9 numbers; expected 10, one per channel"),
        (first, "0 10 0 0 0 0 90 0 0 0 0\n", 24, "found 11 numbers; expected 10, one per channel"),
        (first, "0 10 0 0 0\n0 90 0 0 0\n", 24, "found 5 numbers; expected 10"),
        (first, "0 10 0 0 0 0 90 0 0 0 2 10 0 90 0 0 90 90 0 -90\n", 24, "found 20 numbers; expected 10"),
        (first, "0 10 0 nan 0 0 90 0 0 0\n", 24, "number 4 of 10: found \"nan\""),
        (first, "0 10 0 -nan(ind) 0 0 90 0 0 0\n", 24, "number 4 of 10: found \"-nan(ind)\""),
        (first, "0 10 0 0 0 0 90 0 0 inf\n", 24, "number 10 of 10: found \"inf\""),
        (first, "0 10 0 0 0 0 90 0 0 -1.#INF\n", 24, "number 10 of 10: found \"-1.#INF\""),
        (first, "1e300 10 0 0 0 0 90 0 0 0\n", 24, "number 1 of 10: found \"1e300\""),
        (first, "0,0 10.5 0 0 0 0 90 0 0 0\n", 24, "write a point before the decimals"),
        (first, "0 ten 0 0 0 0 90 0 0 0\n", 24, "number 2 of 10: found \"ten\""),
        (first, "0 0x10 0 0 0 0 90 0 0 0\n", 24, "number 2 of 10: found \"0x10\""),
        (first, "0;10;0;0;0;0;90;0;0;0\n", 24, "number 1 of 10: found \"0;10;0;0;0;0;90;0;0;0\""),
        (first, "0 10 0 0 0 0 90 0 0 0 }\n", 24, "found 11 numbers; expected 10"),
        (first, "0 10 0 0\x000 0 90 0 0 0\n", 24, "number 4 of 10"),
        (first, "MOTION\n", 24, "a second part belongs in a file of its own"),
    ];
    for &(from, to, line, reason) in cases {
        assert!(LEG.contains(from), "{from}");
        refused(LEG.replacen(from, to, 1).as_bytes(), line, reason);
    }
    refused(format!("{LEG}{LEG}").as_bytes(), 26, "a second part belongs in a file of its own");
    refused(format!("{LEG}\n\n  x").as_bytes(), 28, "number 1 of 10: found \"x\"");
    let long_line = LEG.replacen(first, &format!("{}{first}", " ".repeat(8000)), 1);
    refused(long_line.as_bytes(), 24, "the line is longer than 6656 bytes");
}

#[test]
fn a_file_may_end_at_any_byte() {
    // The last byte is the end of the last line, which may be missing. Digits may be missing, too.
    for end in 0..LEG.len() - 3 {
        let error = bvh::from_slice(&mut Library::new(), Path::new("a.bvh"), &LEG.as_bytes()[..end]).unwrap_err();
        let Error::Import { path, .. } = &error else { panic!("{error:?}") };
        let line: usize = path.strip_prefix("line ").unwrap().parse().unwrap();
        assert!((1..=25).contains(&line), "{end} bytes: {error}");
    }
}

#[test]
fn memory_follows_the_file_and_not_what_it_announces() {
    // Without a bound, each of these would ask for more memory than there is.
    let frames = LEG.replace("Frames: 2", "Frames: 18446744073709551615").replace("0.5", "1e-9");
    refused(frames.as_bytes(), 25, "the file ends after 2 frames; expected 18446744073709551615");
    let reader = Reader::new(Path::new("a.bvh"), frames.as_bytes()).unwrap();
    assert_eq!(reader.frames(), u64::MAX);
}

/// Numbers of xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }
}

#[test]
fn mutated_bytes_give_a_library_or_an_error_with_a_line() {
    let words: [&[u8]; 12] = [
        b"{",
        b"}",
        b"\n",
        b"-",
        b"9999999999",
        b"nan",
        b"CHANNELS 6",
        b"JOINT x {",
        b"End Site {",
        b"Frames:",
        b"e308",
        b"\r",
    ];
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let long = long_file(3);
    let (mut read, mut refused) = (0, 0);
    for case in 0..6000 {
        let mut text = if case % 2 == 0 { LEG.as_bytes().to_vec() } else { long.as_bytes().to_vec() };
        for _ in 0..=random.below(4) {
            let at = random.below(text.len());
            match random.below(5) {
                0 => text[at] = random.below(256) as u8,
                1 => drop(text.remove(at)),
                2 => drop(text.splice(at..at, words[random.below(words.len())].iter().copied())),
                3 => text.truncate(at.max(1)),
                _ => {
                    let end = (at + random.below(200)).min(text.len());
                    let copy = text[at..end].to_vec();
                    let to = random.below(text.len());
                    text.splice(to..to, copy);
                }
            }
        }
        let mut library = Library::new();
        let whole = bvh::from_slice(&mut library, Path::new("a.bvh"), &text);
        match &whole {
            Ok(asset) => {
                read += 1;
                let clip = library.clip(asset.clip);
                let keys: usize = clip.tracks.iter().map(|track| track.curve.timeline().len()).sum();
                assert!(
                    keys * 2 <= text.len() + 2 * clip.tracks.len(),
                    "case {case}: {keys} keys of {} bytes",
                    text.len()
                );
            }
            Err(Error::Import { path, .. }) => {
                refused += 1;
                let line: usize = path.strip_prefix("line ").unwrap().parse().unwrap();
                let lines = text.iter().filter(|&byte| b"\n\r".contains(byte)).count() + 1;
                assert!((1..=lines).contains(&line), "case {case}: {whole:?}");
            }
            Err(error) => panic!("case {case}: {error:?}"),
        }
        // Parts agree with the whole, except that they need to be told of rows beyond the announced ones.
        let parts = in_parts(&text);
        let is_beyond = |asset: &bvh::Asset| asset.warnings.iter().any(|warning| warning.message.contains("all read"));
        let agrees = match (&parts, &whole) {
            (Err(error), Ok(asset)) => is_beyond(asset) && error.to_string().contains("found more after the last"),
            (Ok(_), Ok(asset)) => !is_beyond(asset),
            (parts, whole) => parts.is_err() == whole.is_err(),
        };
        assert!(agrees, "case {case}: {parts:?}, {whole:?}\n{}", String::from_utf8_lossy(&text));
    }
    assert!(read > 100 && refused > 3000, "{read} read, {refused} refused");
}
