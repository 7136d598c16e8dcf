use std::io::{BufWriter, Write};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::*;

/// Runs a bake, and returns its largest resident memory in bytes.
fn peak_memory(bench: &Bench, arguments: &[&str]) -> u64 {
    let mut task = bench.command(arguments).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", task.id());
    let mut peak = 0;
    loop {
        // The last reading before the end holds the peak of all time before it.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let kilobytes = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak = kilobytes.map_or(peak, |kilobytes| kilobytes.trim().parse::<u64>().unwrap() << 10);
        if let Some(code) = task.try_wait().unwrap() {
            assert!(code.success());
            return peak;
        }
        sleep(Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_clips_take_the_memory_of_a_hundred() {
    if !long_tests_run("a bake of 10,000 clips") {
        return;
    }
    let bench = Bench::new();
    for index in 0..10_000 {
        let text = bvh(60 + index % 7, index as f64 * 0.01);
        bench.write(&format!("clips/{:02}/{index:05}.bvh", index % 50), &text);
        if index < 100 {
            bench.write(&format!("few/{index:05}.bvh"), text);
        }
    }
    let few = peak_memory(&bench, &["few", "-o", "few-baked", "--threads", "2"]);
    let many = peak_memory(&bench, &["clips", "-o", "baked", "--threads", "2"]);
    // The list itself takes a few hundred bytes per clip.
    assert!(many < few + (12 << 20), "{many} bytes for 10,000 clips, {few} for 100");
    fs::remove_file(bench.path("baked/17/00017.npz")).unwrap();
    let started = Instant::now();
    let output = bench.bake(&["--check", "baked", "clips"]);
    let seconds = started.elapsed().as_secs_f64();
    assert_code(&output, 1);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "17/00017: missing\n");
    assert!(seconds < 30.0, "{seconds} s");
    eprintln!("10,000 clips: {} MB, 100 clips: {} MB, check: {seconds:.1} s", many >> 20, few >> 20);
}

#[cfg(target_os = "linux")]
#[test]
fn four_hours_take_less_than_300_megabytes() {
    if !long_tests_run("a bake of four hours at 120 frames per second") {
        return;
    }
    let bench = Bench::new();
    let frames = 4 * 60 * 60 * 120;
    let mut file = BufWriter::new(fs::File::create(bench.path("clips/long.bvh")).unwrap());
    let head = bvh(0, 0.0).replace("Frames: 0", &format!("Frames: {frames}"));
    file.write_all(head.as_bytes()).unwrap();
    for frame in 0..frames {
        file.write_all(bvh_frame(frame, 0.0).as_bytes()).unwrap();
    }
    file.into_inner().unwrap().sync_all().unwrap();
    for format in ["npz", "glb", "usda"] {
        let arguments = ["clips", "-o", format, "--format", format, "--threads", "1"];
        let peak = peak_memory(&bench, &arguments);
        eprintln!("four hours as {format}: {} MB", peak >> 20);
        assert!(peak < 300 << 20, "{format}: {peak} bytes");
        assert_eq!(bench.names(format), [format!("long.{format}")]);
        fs::remove_dir_all(bench.path(format)).unwrap();
    }
}
