//! Outputs that cannot be written, names of all kinds, several writers of one file, and inputs that change while they
//! are read.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::running::{Running, files_below};
use crate::support::gltf_builder::something_of_everything;
use crate::support::skip::report_skipped;

const POSSE: &str = env!("CARGO_BIN_EXE_posse");

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

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a program in the folder.
    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        Command::new(program).args(arguments).current_dir(self.folder.path()).output().unwrap()
    }

    /// Runs a shell script in the folder, of which `$0` is `posse`.
    fn shell(&self, script: &str, arguments: &[&str]) -> Output {
        self.run("sh", &[&["-c", script, POSSE], arguments].concat())
    }

    fn files(&self) -> Vec<String> {
        files_below(self.folder.path())
    }
}

/// Commands with outputs of more than 2 KiB: the name of the output, and the arguments.
const COMMANDS: [(&str, &[&str]); 6] = [
    ("out.json", &["eval", "scene.glb", "--clip", "0", "--engine", "cpu", "--fps", "200", "-o", "out.json"]),
    (
        "out.npz",
        &["eval", "scene.glb", "--clip", "0", "--engine", "cpu", "--fps", "500", "--format", "npz", "-o", "out.npz"],
    ),
    ("out.png", &["render", "demo", "--size", "320x240", "-o", "out.png"]),
    ("out.gif", &["render", "demo", "--seconds", "0.2", "--size", "320x240", "-o", "out.gif"]),
    ("out.glb", &["retarget", "scene.glb", "--onto", "scene.glb", "-o", "out.glb"]),
    (
        "page.html",
        &["bench", "--engine", "cpu", "--seconds", "0", "--instances", "5", "--joints", "16", "--report", "page.html"],
    ),
];

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn assert_refused(output: &Output, parts: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

#[test]
fn a_file_beyond_the_limit_of_sizes_is_an_error_with_a_hint() {
    for (name, arguments) in COMMANDS {
        let scene = Scene::new();
        // Blocks of 512 or 1024 bytes.
        let output = scene.shell("ulimit -f 2; exec \"$0\" \"$@\"", arguments);
        assert_refused(&output, &["error: ", name, "File too large", "ulimit -f"]);
        assert_eq!(scene.files(), ["scene.glb"], "{name}");
        // The same command succeeds without the limit.
        let output = scene.run(POSSE, arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(scene.files().len(), 2, "{:?}", scene.files());
    }
    let scene = Scene::new();
    let output = scene.shell("ulimit -f 4; exec \"$0\" bake scene.glb -o baked --fps 500", &[]);
    // Of `bake`, this code asks for another attempt.
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("File too large") && stderr(&output).contains("ulimit -f"), "{}", stderr(&output));
    assert!(
        scene.files().iter().all(|name| !name.ends_with(".part") && !name.ends_with(".npz")),
        "{:?}",
        scene.files()
    );
}

#[test]
fn a_full_disk_is_an_error_with_a_hint() {
    for (name, arguments) in COMMANDS {
        let scene = Scene::new();
        fs::create_dir(scene.path("disk")).unwrap();
        // In a name space of its own, so that the disk ends with the shell.
        let script = "mount -t tmpfs -o size=4k none disk 2>/dev/null || exit 77; cd disk && echo kept > \
                      \"$1\"; name=$1; shift; \"$0\" \"$@\"; code=$?; ls -A >&2; cat \"$name\" >&2; exit $code";
        let arguments = [&[name], arguments].concat();
        let arguments: Vec<&str> =
            arguments.iter().map(|&argument| if argument == "scene.glb" { "../scene.glb" } else { argument }).collect();
        let command = [&["--mount", "sh", "-c", script, POSSE], arguments.as_slice()].concat();
        let Ok(output) = Command::new("unshare").args(&command).current_dir(scene.folder.path()).output() else {
            return report_skipped("a full disk: `unshare` is not installed");
        };
        if output.status.code() == Some(77) || stderr(&output).contains("unshare") {
            return report_skipped("a full disk: this user may not mount a disk in memory");
        }
        assert_refused(&output, &["error: ", name, "No space left on device", "free some space", "kept"]);
        assert!(!stderr(&output).contains(".part"), "{}", stderr(&output));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_an_error_with_a_hint() {
    let scene = Scene::new();
    let eval = "\"$0\" eval scene.glb --clip 0 --engine cpu --times 0";
    for script in
        [format!("{eval} > /dev/full"), format!("{eval} --format npz > /dev/full"), format!("{eval} -o /dev/full")]
    {
        assert_refused(&scene.shell(&script, &[]), &["No space left on device", "free some space there"]);
    }
    for script in ["\"$0\" inspect scene.glb > /dev/full", "\"$0\" adapters > /dev/full"] {
        assert_refused(&scene.shell(script, &[]), &["standard output: No space left on device"]);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_with_a_hint() {
    let scene = Scene::new();
    fs::create_dir(scene.path("sealed")).unwrap();
    fs::set_permissions(scene.path("sealed"), fs::Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(scene.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let script = "cd sealed && if touch probe 2>/dev/null; then rm probe; exit 77; fi; exec \"$0\" \"$@\"";
    for (name, arguments) in COMMANDS {
        let arguments: Vec<&str> =
            arguments.iter().map(|&argument| if argument == "scene.glb" { "../scene.glb" } else { argument }).collect();
        let mut output = scene.shell(script, &arguments);
        if output.status.code() == Some(77) {
            // The superuser may write everywhere. As another user, unless that one may not even start the command.
            let as_user = "exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c \"$1\" \"$0\"";
            let quoted: Vec<String> = arguments.iter().map(|argument| format!("'{argument}'")).collect();
            let inner = script.replace("\"$@\"", &quoted.join(" "));
            output = scene.shell(as_user, &[&inner]);
            if matches!(output.status.code(), Some(126 | 127)) {
                return report_skipped("a read-only folder: no other user can start the command");
            }
        }
        assert_refused(
            &output,
            &["error: ", name, "Permission denied", "change the permissions of the file and its folder"],
        );
    }
    // A file in a folder that can be written.
    let missing =
        scene.run(POSSE, &["eval", "scene.glb", "--clip", "0", "--times", "0", "--engine", "cpu", "-o", "no/out.json"]);
    assert_refused(&missing, &["no/out.json", "No such file or directory", "create the folder first"]);
}

/// Names of files that a shell or a terminal may stumble over, but the system stores.
fn odd_names() -> Vec<OsString> {
    let long = "n".repeat(255 - ".glb".len());
    let texts =
        ["two words", "line\nbreak", "tab\tand\u{1b}[31mred", "-dash", "na\u{ef}ve \u{1f57a}", "'quo\"te$(x)`", &long];
    let mut names: Vec<OsString> = texts.iter().map(Into::into).collect();
    // Some systems, such as macOS, store UTF-8 only.
    if cfg!(target_os = "linux") {
        names.push(OsString::from_vec(b"not \xff UTF-8 \xc3".to_vec()));
    }
    names
}

#[test]
fn names_of_all_kinds_are_read_and_written() {
    for name in odd_names() {
        let scene = Scene::new();
        let named = |extension: &str| {
            let mut path = scene.folder.path().join(&name).into_os_string();
            path.push(extension);
            path
        };
        let input = named(".glb");
        fs::copy(scene.path("scene.glb"), &input).unwrap();
        let run = |arguments: &[&OsStr]| {
            let output = Command::new(POSSE).args(arguments).current_dir(scene.folder.path()).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{name:?}: {}", stderr(&output));
            output
        };
        let words = |text: &'static str| text.split(' ').map(OsStr::new).collect::<Vec<_>>();
        run(&[&words("inspect")[..], &[&input]].concat());
        // The extension of the output is as long as the extension of the input.
        for extension in [".jsn", ".npz"] {
            let output = named(extension);
            let format = if extension == ".npz" { "npz" } else { "json" };
            let arguments = words("eval --clip 0 --engine cpu --times 0 --format");
            run(&[&arguments[..], &[OsStr::new(format), &input, OsStr::new("-o"), &output]].concat());
            assert!(fs::metadata(&output).unwrap().len() > 100, "{name:?}");
        }
        let retargeted = named(".GLB");
        run(&[&words("retarget --onto")[..], &[&input, &input, OsStr::new("-o"), &retargeted]].concat());
        run(&[&words("inspect")[..], &[&retargeted]].concat());
        run(&[&words("render demo --size 16x16 -o")[..], &[&named(".png")]].concat());
        let left = scene.files();
        assert!(left.iter().all(|name| !name.ends_with(".part")), "{left:?}");
        assert_eq!(left.len(), 6, "{left:?}");
    }
}

#[test]
fn a_name_that_is_too_long_is_an_error_with_a_hint() {
    let scene = Scene::new();
    let name = format!("{}.json", "n".repeat(300));
    let output =
        scene.run(POSSE, &["eval", "scene.glb", "--clip", "0", "--engine", "cpu", "--times", "0", "-o", &name]);
    assert_refused(&output, &["File name too long", "a shorter one"]);
    assert_eq!(scene.files(), ["scene.glb"]);
}

#[test]
fn of_two_writers_of_one_file_the_last_one_wins_as_a_whole() {
    let scene = Scene::new();
    let arguments = |instances: &'static str, to: &'static str| {
        ["eval", "scene.glb", "--clip", "0", "--engine", "cpu", "--fps", "100", "--instances", instances, "-o", to]
    };
    let kinds = ["1", "40"];
    let expected = kinds.map(|instances| {
        let output = scene.run(POSSE, &arguments(instances, "expected.json"));
        assert!(output.status.success(), "{}", stderr(&output));
        fs::read(scene.path("expected.json")).unwrap()
    });
    assert_ne!(expected[0], expected[1]);
    for _ in 0..5 {
        let start = |index: usize| {
            let mut command = Command::new(POSSE);
            Running::start(command.args(arguments(kinds[index % 2], "out.json")).current_dir(scene.folder.path()))
        };
        let mut writers: Vec<Running> = (0..6).map(start).collect();
        // Readers never see a part either.
        while writers.iter_mut().any(Running::is_running) {
            if let Ok(bytes) = fs::read(scene.path("out.json")) {
                assert!(expected.contains(&bytes), "a mixture of {} bytes", bytes.len());
            }
        }
        writers.into_iter().for_each(|writer| assert_eq!(writer.end().status.code(), Some(0)));
        assert!(expected.contains(&fs::read(scene.path("out.json")).unwrap()));
        assert_eq!(scene.files(), ["expected.json", "out.json", "scene.glb"]);
    }
}

/// A BVH file of about 12 MB: above the size from which `bake` reads files in parts.
fn long_bvh(path: &Path) {
    let head = "HIERARCHY\nROOT hips\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
                End Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 250000\nFrame Time: 0.0333333\n";
    fs::write(
        path,
        head.to_owned() + &"0.125 0.25 0.5 10.5 20.25 30.125 \n".repeat(250_000).replace(" \n", "        \n"),
    )
    .unwrap();
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    let mut refused = 0;
    for delay in [0, 5, 10, 20, 40, 80, 160] {
        for arguments in [["inspect", "long.bvh"].as_slice(), &["bake", "long.bvh", "-o", "baked", "--fps", "30"]] {
            let scene = Scene::new();
            long_bvh(&scene.path("long.bvh"));
            let child = Running::start(Command::new(POSSE).args(arguments).current_dir(scene.folder.path()));
            thread::sleep(Duration::from_millis(delay));
            fs::OpenOptions::new().write(true).open(scene.path("long.bvh")).unwrap().set_len(100_000).unwrap();
            let ended = child.end();
            // The child may have read all before.
            let code = ended.status.code();
            assert!(matches!(code, Some(0 | 2)), "{arguments:?} after {delay} ms: {ended:?}");
            if code == Some(2) {
                refused += 1;
                assert!(ended.stderr.contains("long.bvh: ") && !ended.stderr.contains("panicked"), "{ended:?}");
                assert!(!scene.files().iter().any(|name| name.ends_with(".part") || name.ends_with(".npz")));
            }
        }
    }
    assert!(refused > 0, "no child noticed");
}
