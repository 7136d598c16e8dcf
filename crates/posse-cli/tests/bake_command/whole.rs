use super::*;

/// The bytes of a file without some of them.
fn without(bytes: &[u8], range: std::ops::Range<usize>) -> Vec<u8> {
    [&bytes[..range.start], &bytes[range.end..]].concat()
}

/// Asserts that an output of another size is damaged, and that `--resume` makes it anew.
#[track_caller]
fn assert_made_anew(bench: &Bench, output: &str, lost: &[u8], arguments: &[&str]) {
    let whole = bench.files("baked");
    bench.write(&format!("baked/{output}"), lost);
    let checked = bench.bake(&[&["--check", "baked"], arguments].concat());
    assert_code(&checked, 1);
    let lines = String::from_utf8(checked.stdout).unwrap();
    assert!(lines.lines().count() == 1 && lines.contains("damaged: it has "), "{output}: {lines}");
    bench.baked(&[&["-o", "baked", "--resume"], arguments].concat());
    assert!(bench.files("baked") == whole, "{output}");
}

#[test]
fn outputs_that_have_lost_bytes_are_made_anew() {
    for format in ["npz", "glb", "usda"] {
        let bench = Bench::new();
        bench.write("clips/walk.bvh", bvh(300, 0.0));
        let arguments = ["clips", "--format", format];
        bench.baked(&[arguments.as_slice(), &["-o", "baked"]].concat());
        let name = format!("walk.{format}");
        let bytes = bench.files("baked").remove(&name).unwrap();
        let (length, middle) = (bytes.len(), bytes.len() / 2);
        // Cut off at the end, and parts of the arrays.
        for range in
            [length - 1..length, length - 40..length, middle..length, middle..middle + 1, middle..middle + 4096]
        {
            assert_made_anew(&bench, &name, &without(&bytes, range), &arguments);
        }
        // Bytes at the end that are none of posse.
        assert_made_anew(&bench, &name, &[bytes.as_slice(), b"0\n"].concat(), &arguments);
    }
}

#[test]
fn the_file_of_a_crowd_that_has_lost_bytes_is_made_anew() {
    let bench = Bench::new();
    bench.write("rig.gltf", gltf(&[Some("go")]));
    let crowd =
        json!({ "files": ["rig.gltf"], "instances": [{ "file": 0, "count": 2, "layers": [{ "clip": "go" }] }] });
    bench.write("two.json", crowd.to_string());
    let arguments = ["two.json", "--format", "usda"];
    bench.baked(&[arguments.as_slice(), &["-o", "baked"]].concat());
    let bytes = bench.files("baked").remove("two.usda").unwrap();
    assert_made_anew(&bench, "two.usda", &bytes[..bytes.len() - 60], &arguments);
}

#[test]
fn the_end_of_a_usda_file_states_its_bytes() {
    let bench = Bench::with_clips();
    bench.baked(&["clips", "-o", "baked", "--format", "usda"]);
    for (name, bytes) in bench.files("baked") {
        let text = String::from_utf8(bytes).unwrap();
        let last = text.lines().last().unwrap();
        let stated: usize = last.strip_prefix("# bytes before this line: ").unwrap().parse().unwrap();
        assert_eq!(text.len() - last.len() - 1, stated, "{name}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_file_that_has_lost_bytes_is_made_anew() {
    let bench = Bench::new();
    for index in 0..3 {
        bench.write(&format!("clips/{index}.bvh"), bvh(100, f64::from(index)));
    }
    let arguments = ["clips", "--format", "parquet"];
    bench.baked(&[arguments.as_slice(), &["-o", "baked"]].concat());
    let (whole, name) = (bench.files("baked"), "part-00000-of-00001.parquet");
    let bytes = &whole[name];
    let footer = bytes.len() - 8 - u32::from_le_bytes(*bytes[..bytes.len() - 4].last_chunk().unwrap()) as usize;
    let lost = |range| without(bytes, range);
    let with_more = |at: usize| [&bytes[..at], b"0", &bytes[at..]].concat();
    for (what, broken) in [
        ("the end", lost(bytes.len() - 1..bytes.len())),
        ("the beginning", lost(0..1)),
        ("one byte of the first column", lost(4..5)),
        ("one byte in the middle", lost(footer / 2..footer / 2 + 1)),
        ("4,096 bytes in the middle", lost(footer / 2..footer / 2 + 4096)),
        ("all columns", lost(4..footer)),
        ("the byte before the footer", lost(footer - 1..footer)),
        ("a byte of the footer", lost(footer + 40..footer + 41)),
        ("one byte more in the middle", with_more(footer / 2)),
        ("one byte more at the end", with_more(bytes.len())),
        ("nothing but four bytes", bytes[..4].to_vec()),
        ("all", Vec::new()),
    ] {
        bench.write(&format!("baked/{name}"), broken);
        let checked = bench.bake(&[&["--check", "baked"], arguments.as_slice()].concat());
        assert_code(&checked, 1);
        let lines = String::from_utf8(checked.stdout).unwrap();
        let names_file = |line: &str| line.contains(&format!(": {name}: damaged: it has "));
        assert!(lines.lines().count() == 3 && lines.lines().all(names_file), "{what}: {lines}");
    }
    bench.write(&format!("baked/{name}"), lost(footer / 2..footer / 2 + 1));
    bench.baked(&[arguments.as_slice(), &["-o", "baked", "--resume"]].concat());
    assert!(bench.files("baked") == whole);
}
