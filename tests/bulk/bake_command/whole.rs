use super::*;

/// The bytes of a file without some of them.
fn without(bytes: &[u8], range: std::ops::Range<usize>) -> Vec<u8> {
    [&bytes[..range.start], &bytes[range.end..]].concat()
}

/// Asserts that an output which has lost bytes is unreadable, and that `--resume` makes it anew.
#[track_caller]
fn assert_made_anew(bench: &Bench, output: &str, lost: &[u8], arguments: &[&str]) {
    let whole = bench.files("baked");
    bench.write(&format!("baked/{output}"), lost);
    let checked = bench.bake(&[&["--check", "baked"], arguments].concat());
    assert_code(&checked, 1);
    let lines = String::from_utf8(checked.stdout).unwrap();
    assert!(lines.lines().count() == 1 && lines.contains("unreadable: "), "{output}: {lines}");
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

/// A schema of 200,000 groups, each in the one before it. The crate `parquet` reads it by as many nested calls.
#[cfg(feature = "parquet")]
#[test]
fn a_parquet_file_with_a_deep_schema_is_made_anew() {
    let bench = Bench::new();
    bench.write("clips/walk.bvh", bvh(3, 0.0));
    let arguments = ["clips", "--format", "parquet"];
    bench.baked(&[arguments.as_slice(), &["-o", "baked"]].concat());
    let (whole, name) = (bench.files("baked"), "baked/part-00000-of-00001.parquet");
    // In Thrift's compact protocol: the version, and a list of groups that have the name `a` and one child.
    let mut footer = vec![0x15, 4, 0x19, 0xfc, 0xc0, 0x9a, 0x0c];
    footer.extend([0x48, 1, b'a', 0x15, 2, 0].repeat(200_000));
    footer.extend([0x16, 0, 0x19, 0x0c, 0]);
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    for footer in [footer.as_slice(), &footer[..100]] {
        bench.write(name, [b"PAR1".as_slice(), footer, &length, b"PAR1"].concat());
        let checked = bench.bake(&[&["--check", "baked"], arguments.as_slice()].concat());
        assert_code(&checked, 1);
        assert_eq!(String::from_utf8(checked.stdout).unwrap(), "walk: missing\n");
    }
    bench.baked(&[arguments.as_slice(), &["-o", "baked", "--resume"]].concat());
    assert!(bench.files("baked") == whole);
}
