//! Signals in the middle of commands: exit codes, unfinished files, and readers that stop reading.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::running::{Running, files_below};
use crate::support::gltf_builder::something_of_everything;
use crate::support::skip::report_skipped;

/// A folder with a file of clips.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("scene.glb"), something_of_everything().glb()).unwrap();
        Self { folder }
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        // Without this variable, libwayland writes an error to stderr.
        command.args(arguments).current_dir(self.folder.path()).env("XDG_RUNTIME_DIR", self.folder.path());
        command
    }

    /// Starts `posse` in the folder.
    fn posse(&self, arguments: &[&str]) -> Running {
        Running::start(&mut self.command(POSSE, arguments))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The files in the folder and below it.
    fn files(&self) -> Vec<String> {
        files_below(self.folder.path())
    }

    /// Returns `true` if there is an unfinished file.
    fn has_unfinished(&self) -> bool {
        self.files().iter().any(|name| name.ends_with(".part"))
    }
}

const POSSE: &str = env!("CARGO_BIN_EXE_posse");

/// The signals that end a command, with the exit codes of a shell.
const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

/// Commands that write for a long time. Each writes the named output.
const LONG: [(&str, &[&str]); 5] = [
    (
        "out.json",
        &[
            "eval",
            "scene.glb",
            "--clip",
            "0",
            "--engine",
            "cpu",
            "--fps",
            "30000",
            "--instances",
            "500",
            "-o",
            "out.json",
        ],
    ),
    (
        "out.npz",
        &[
            "eval",
            "scene.glb",
            "--clip",
            "0",
            "--engine",
            "cpu",
            "--fps",
            "30000",
            "--instances",
            "500",
            "--format",
            "npz",
            "-o",
            "out.npz",
        ],
    ),
    ("out.gif", &["render", "demo", "--seconds", "60", "--size", "64x48", "-o", "out.gif"]),
    (
        "page.html",
        &["bench", "--engine", "cpu", "--seconds", "5", "--instances", "50", "--joints", "16", "--report", "page.html"],
    ),
    ("baked", &["bake", "scene.glb", "-o", "baked", "--fps", "500000", "--format", "glb"]),
];

#[test]
fn a_signal_leaves_neither_outputs_nor_temporary_files() {
    for (name, arguments) in LONG {
        for (signal, code) in SIGNALS {
            let scene = Scene::new();
            let mut child = scene.posse(arguments);
            child.wait_until("an unfinished file", || scene.has_unfinished());
            child.signal(signal);
            let ended = child.end();
            assert_eq!(ended.status.code(), Some(code), "{name}, SIG{signal}: {ended:?}");
            let left = scene.files();
            // The list of shares and the like are complete files.
            assert!(!scene.has_unfinished() && !left.iter().any(|left| left == name), "{name}: {left:?}");
            assert!(!ended.stderr.contains("panicked") && !ended.stderr.contains("error"), "{name}: {}", ended.stderr);
        }
    }
}

#[test]
fn an_old_output_survives_a_signal() {
    let (name, arguments) = LONG[0];
    let scene = Scene::new();
    fs::write(scene.path(name), "old").unwrap();
    let mut child = scene.posse(arguments);
    child.wait_until("an unfinished file", || scene.has_unfinished());
    child.signal("TERM");
    assert_eq!(child.end().status.code(), Some(143));
    assert_eq!(fs::read_to_string(scene.path(name)).unwrap(), "old");
    assert_eq!(scene.files(), [name, "scene.glb"]);
}

#[test]
fn a_signal_at_any_moment_leaves_a_whole_output_or_none() {
    for delay in 0..24 {
        let scene = Scene::new();
        let arguments = ["retarget", "scene.glb", "--onto", "scene.glb", "-o", "out.glb"];
        let mut child = scene.posse(&arguments);
        thread::sleep(Duration::from_millis(delay * 3));
        let signalled = child.is_running();
        if signalled {
            child.signal("INT");
        }
        let ended = child.end();
        // Before the handlers are there, the signal itself, whose number is 2, ends the process.
        let by_signal = ended.status.code() == Some(130) || ended.status.signal() == Some(2);
        assert!(ended.status.success() || (signalled && by_signal), "{signalled}: {ended:?}");
        assert!(!ended.status.success() || scene.path("out.glb").exists(), "{ended:?}");
        assert!(!scene.has_unfinished(), "{:?}", scene.files());
        if scene.path("out.glb").exists() {
            let ended = scene.posse(&["inspect", "out.glb"]).end();
            assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        }
    }
}

#[test]
fn a_film_ends_with_its_encoder() {
    use std::os::unix::fs::PermissionsExt;
    // In place of ffmpeg: a program that writes until its input ends, and names its process.
    let scene = Scene::new();
    let bin = scene.path("bin");
    fs::create_dir(&bin).unwrap();
    let text = "#!/bin/sh\necho $$ > \"$POSSE_TEST_PID\"\nfor last; do :; done\nexec cat > \"${last#file:}\"\n";
    fs::write(bin.join("ffmpeg"), text).unwrap();
    fs::set_permissions(bin.join("ffmpeg"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let arguments = ["render", "demo", "--seconds", "60", "--size", "64x48", "-o", "out.mp4"];
    let mut command = scene.command(POSSE, &arguments);
    let mut child = Running::start(command.env("PATH", path).env("POSSE_TEST_PID", scene.path("pid")));
    child.wait_until("an encoder", || fs::read_to_string(scene.path("pid")).is_ok_and(|text| text.ends_with('\n')));
    child.wait_until("an unfinished file", || scene.has_unfinished());
    child.signal("TERM");
    let ended = child.end();
    assert_eq!(ended.status.code(), Some(143), "{ended:?}");
    assert!(!scene.has_unfinished() && !scene.path("out.mp4").exists(), "{:?}", scene.files());
    let encoder = fs::read_to_string(scene.path("pid")).unwrap();
    let lives = Command::new("sh").args(["-c", "kill -0 $0 2>/dev/null", encoder.trim()]).status().unwrap();
    assert!(!lives.success(), "the encoder {encoder} lives on");
}

#[test]
#[cfg(target_os = "linux")]
fn a_signal_that_is_ignored_stays_ignored() {
    let (_, arguments) = LONG[0];
    let scene = Scene::new();
    // As `nohup` and the background jobs of scripts do.
    let script = "trap '' INT HUP; exec \"$0\" \"$@\"";
    let mut child = Running::start(&mut scene.command("sh", &[&["-c", script, POSSE], arguments].concat()));
    child.wait_until("an unfinished file", || scene.has_unfinished());
    child.signal("INT");
    child.signal("HUP");
    thread::sleep(Duration::from_millis(300));
    assert!(child.is_running(), "{:?}", child.end());
    child.signal("TERM");
    assert_eq!(child.end().status.code(), Some(143));
    assert!(!scene.has_unfinished());
}

#[test]
fn a_terminal_is_left_as_it_was() {
    let scene = Scene::new();
    if Command::new("script").arg("--version").output().is_err() {
        return report_skipped("signals on a terminal: `script` (Debian: bsdutils) is not installed");
    }
    // A terminal with a bar on it. Its settings are printed before and after.
    let text = format!(
        "stty -g; timeout --foreground --preserve-status -s INT 2 '{POSSE}' bake scene.glb -o baked --fps 4000000 --format glb; echo \
         \"code $?\"; stty -g"
    );
    let ended = Running::start(&mut scene.command("script", &["-qec", &text, "/dev/null"])).end();
    let lines: Vec<&str> = ended.stdout.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    assert_eq!(lines.first(), lines.iter().rev().find(|line| !line.is_empty()), "{ended:?}");
    assert!(ended.stdout.contains("clips"), "there was no bar: {ended:?}");
    // The bar is removed: nothing is left on the line but the command that clears it.
    let code = lines.iter().find(|line| line.contains("code")).unwrap();
    let left = code.rsplit("\u{1b}[2K").next().unwrap_or_default().replace("\u{1b}[1A", "");
    assert_eq!(left, "code 130", "{ended:?}");
    assert!(!ended.stdout.contains("\u{1b}[?25l"), "the cursor is hidden: {ended:?}");
    assert!(!scene.has_unfinished());
}

#[test]
fn a_reader_that_stops_early_is_not_an_error_of_any_command() {
    let scene = Scene::new();
    for arguments in [
        ["--help"].as_slice(),
        &["eval", "--help"],
        &["inspect", "scene.glb"],
        &["inspect", "scene.glb", "--json", "--joints"],
        &["adapters"],
        &["adapters", "--json"],
        &["eval", "scene.glb", "--clip", "0", "--engine", "cpu", "--fps", "1000"],
        &["eval", "scene.glb", "--clip", "0", "--engine", "cpu", "--fps", "1000", "--format", "npz"],
        &["verify", "scene.glb", "--engine", "cpu", "--samples", "2"],
        &["bake", "scene.glb", "-o", "baked", "--json"],
        &["bake", "--check", "baked", "scene.glb"],
        &["retarget", "scene.glb", "--onto", "scene.glb", "-o", "out.glb"],
        &["demo", "--instances", "2", "--engine", "cpu"],
    ] {
        let mut command = scene.command(POSSE, arguments);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked") && !stderr.contains("error:"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn the_first_lines_of_a_report_are_enough_for_a_shell() {
    let scene = Scene::new();
    let script = "\"$0\" inspect scene.glb --json | head -n 1";
    let ended = Running::start(&mut scene.command("sh", &["-c", script, POSSE])).end();
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("{\n", ""));
}
