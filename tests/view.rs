use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use posse::render::Picture;
use tempfile::TempDir;

use crate::render::likeness;
use crate::support::skip;

/// The seconds to wait for a picture or an end. Pictures take long while other tests draw too.
const PATIENCE: u64 = 120;
const SIZE: [u32; 2] = [640, 360];
/// The rows of the window between the numbers and the controls.
const BETWEEN: Range<u32> = 130..230;
/// The rows of the controls.
const CONTROLS: Range<u32> = 270..360;

/// A virtual X display with a folder.
struct Display {
    server: Child,
    name: String,
    folder: TempDir,
}

impl Display {
    /// Starts a display. Without Xvfb, it prints a note and returns `None`.
    fn start() -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0"])
            .arg(format!("{}x{}x24", SIZE[0], SIZE[1]))
            // The content of the screen is a file.
            .arg("-fbdir")
            .arg(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut server) = server else {
            skip::report_skipped("posse view on a display: there is no Xvfb (Debian and Ubuntu: apt-get install xvfb)");
            return None;
        };
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        Some(Self { server, name: format!(":{}", number.trim()), folder })
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).args(arguments);
        command.env("DISPLAY", &self.name).env("XDG_RUNTIME_DIR", self.folder.path()).env_remove("WAYLAND_DISPLAY");
        command
    }

    fn posse(&self, arguments: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_posse"), arguments).output().unwrap()
    }

    /// Runs a command, and reads the picture that it writes.
    fn picture(&self, arguments: &[&str], file: &str) -> Picture {
        let size = format!("{}x{}", SIZE[0], SIZE[1]);
        let output = self.posse(&[arguments, &["--size", &size]].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output));
        decode(&self.folder.path().join(file))
    }

    /// The content of the display, read from X's window dump format, version 7.
    fn shown(&self) -> Picture {
        let bytes = fs::read(self.folder.path().join("Xvfb_screen0")).unwrap();
        let field = |index: usize| u32::from_be_bytes(*bytes[4 * index..].first_chunk().unwrap()) as usize;
        let (header, width, height, row, colours) = (field(0), field(4), field(5), field(12), field(19));
        let rows = bytes[header + 12 * colours..].chunks(row).take(height);
        let pixels =
            rows.flat_map(|row| row[..4 * width].chunks(4)).flat_map(|pixel| [pixel[2], pixel[1], pixel[0], 255]);
        Picture { size: [width as u32, height as u32], pixels: pixels.collect() }
    }

    /// Waits until the content of the display is as wanted.
    fn wait(&self, what: &str, wanted: impl Fn(&Picture) -> bool) -> Picture {
        let start = Instant::now();
        loop {
            let shown = self.shown();
            if wanted(&shown) {
                return shown;
            }
            assert!(start.elapsed().as_secs() < PATIENCE, "{what}");
            sleep(Duration::from_millis(50));
        }
    }

    /// Presses a key in the window.
    fn press(&self, key: &str) {
        let window = ["search", "--sync", "--name", "^posse$", "windowfocus", "key", key];
        assert!(self.command("xdotool", &window).output().unwrap().status.success(), "{key}");
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn decode(file: &Path) -> Picture {
    let mut reader = png::Decoder::new(BufReader::new(File::open(file).unwrap())).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(frame.color_type, png::ColorType::Rgb);
    let pixels = pixels.as_chunks::<3>().0.iter().flat_map(|&[r, g, b]| [r, g, b, 255]).collect();
    Picture { size: [frame.width, frame.height], pixels }
}

/// These rows of a picture.
fn rows(picture: &Picture, rows: Range<u32>) -> Picture {
    let [width, _] = picture.size;
    let row = 4 * width as usize;
    let bytes = rows.start as usize * row..rows.end as usize * row;
    Picture { size: [width, rows.end - rows.start], pixels: picture.pixels[bytes].to_vec() }
}

fn alike(one: &Picture, other: &Picture) -> bool {
    likeness::fault(one, other).is_none()
}

#[test]
fn a_window_shows_the_picture_of_render() {
    let Some(display) = Display::start() else { return };
    let crowd = ["demo", "--instances", "200"];
    let render = |time: &str| {
        let arguments = [&["render"], &crowd[..], &["--time", time, "-o", "render.png"]].concat();
        display.picture(&arguments, "render.png")
    };
    let view = |more: &[&str]| {
        let arguments = [&["view"], &crowd[..], &["--screenshot", "view.png"], more].concat();
        display.picture(&arguments, "view.png")
    };
    let rendered = render("1.5");
    let bare = view(&["--bare", "--frames", "1", "--time", "1.5"]);
    assert_eq!(likeness::fault(&bare, &rendered), None);
    // Three frames later, which is 0.05 s.
    let later = view(&["--bare", "--frames", "4", "--time", "1.45"]);
    assert_eq!(likeness::fault(&later, &rendered), None);
    assert!(!alike(&bare, &render("1.9")), "another time gives another picture");
    // The controls are at the bottom and in a top corner.
    let controlled = view(&["--frames", "3", "--time", "1.5", "--paused"]);
    assert!(!alike(&rows(&controlled, CONTROLS), &rows(&rendered, CONTROLS)), "controls are visible");
    assert_eq!(likeness::fault(&rows(&controlled, BETWEEN), &rows(&rendered, BETWEEN)), None);
}

#[test]
fn keys_play_pause_hide_and_close() {
    let Some(display) = Display::start() else { return };
    if display.command("xdotool", &["version"]).output().is_err() {
        return skip::report_skipped(
            "keys of posse view: there is no xdotool (Debian and Ubuntu: apt-get install xdotool)",
        );
    }
    let crowd = ["demo", "--clip", "walk", "--instances", "3"];
    let rendered = display.picture(&[&["render"], &crowd[..], &["-o", "render.png"]].concat(), "render.png");
    let size = format!("{}x{}", SIZE[0], SIZE[1]);
    let arguments = [&["view"], &crowd[..], &["--bare", "--paused", "--size", &size]].concat();
    let mut window = display.command(env!("CARGO_BIN_EXE_posse"), &arguments).stderr(Stdio::null()).spawn().unwrap();
    display.wait("the first frame", |shown| alike(shown, &rendered));
    display.press("space");
    display.wait("the crowd plays", |shown| !alike(shown, &rendered));
    display.press("space");
    display.press("Home");
    display.wait("it is paused, and at the start", |shown| alike(shown, &rendered));
    display.press("h");
    display.wait("controls", |shown| !alike(&rows(shown, CONTROLS), &rows(&rendered, CONTROLS)));
    display.press("h");
    display.wait("no controls", |shown| alike(shown, &rendered));
    display.press("bracketright");
    display.wait("another clip", |shown| !alike(shown, &rendered));
    display.press("bracketleft");
    display.wait("the clip before", |shown| alike(shown, &rendered));
    display.press("plus");
    display.wait("a larger crowd", |shown| !alike(shown, &rendered));
    display.press("q");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = window.try_wait().unwrap() {
            break status;
        }
        if start.elapsed().as_secs() > PATIENCE {
            window.kill().unwrap();
            panic!("the window is not closed");
        }
        sleep(Duration::from_millis(50));
    };
    assert_eq!(status.code(), Some(0));
}

#[test]
fn without_a_display_there_is_an_error_with_a_remedy() {
    let folder = TempDir::new().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_posse"))
        .args(["view", "demo"])
        .current_dir(&folder)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(
        text(&output).contains("there is no display") && text(&output).contains("posse render"),
        "{}",
        text(&output)
    );
    assert!(!text(&output).contains("panicked"), "{}", text(&output));
}

#[test]
fn unusable_files_and_adapters_are_named() {
    let Some(display) = Display::start() else { return };
    let output = display.posse(&["view", "missing.glb"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("missing.glb"), "{}", text(&output));
    let mut command = display.command(env!("CARGO_BIN_EXE_posse"), &["view", "demo"]);
    let output = command.env("WGPU_ADAPTER_NAME", "no such adapter").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("can draw into a window"), "{}", text(&output));
}
