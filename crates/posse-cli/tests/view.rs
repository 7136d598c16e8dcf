use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use posse_render::Picture;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::likeness;
use crate::support::gltf_builder::GltfBuilder;
use crate::support::skip;

/// The seconds to wait for a picture or an end. Pictures take long while other tests draw too.
const PATIENCE: u64 = 120;
const SIZE: [u32; 2] = [640, 360];
/// The rows of the window between the numbers and the controls.
const BETWEEN: Range<u32> = 130..230;
/// The columns of the window beside the controls of the parameters.
const BESIDE: Range<u32> = 0..328;
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

    /// Clicks at a pixel of the window.
    fn click(&self, [x, y]: [u32; 2]) {
        let [x, y] = [x, y].map(|pixel| pixel.to_string());
        let window = ["search", "--sync", "--name", "^posse$", "mousemove", "--window", "%1", &x, &y, "click", "1"];
        assert!(self.command("xdotool", &window).output().unwrap().status.success(), "{x} {y}");
    }

    /// Returns true if keys can be pressed. Otherwise, it prints a note.
    fn has_keys(&self) -> bool {
        let has_keys = self.command("xdotool", &["version"]).output().is_ok();
        if !has_keys {
            skip::report_skipped(
                "keys and the mouse of posse view: there is no xdotool (Debian and Ubuntu: apt-get install xdotool)",
            );
        }
        has_keys
    }

    /// Writes `crowd.json`, and `arm.glb`: three joints, the clips `up`, `left` and `right`, which stand still, and
    /// `swing`.
    fn write_crowd(&self, crowd: &Value) {
        let mut arm = GltfBuilder::new();
        for (name, children) in [("shoulder", json!([1])), ("elbow", json!([2]))] {
            arm.push("nodes", json!({ "name": name, "translation": [0, 1, 0], "children": children }));
        }
        arm.push("nodes", json!({ "name": "hand", "translation": [0, 1, 0] }));
        let half = 0.5_f32.sqrt();
        let [up, left, right] = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, half, half], [0.0, 0.0, -half, half]];
        for (name, from, to) in [("up", up, up), ("left", left, left), ("right", right, right), ("swing", up, left)] {
            let input = arm.floats("SCALAR", &[0.0, 2.0]);
            let output = arm.floats("VEC4", &[from, to].concat());
            let channels = json!([{ "sampler": 0, "target": { "node": 0, "path": "rotation" } }]);
            let samplers = json!([{ "input": input, "output": output }]);
            arm.push("animations", json!({ "name": name, "channels": channels, "samplers": samplers }));
        }
        fs::write(self.folder.path().join("arm.glb"), arm.glb()).unwrap();
        fs::write(self.folder.path().join("crowd.json"), crowd.to_string()).unwrap();
    }
}

/// The triangle of a blend space of two parameters, with a still clip at each corner.
fn blend_space() -> Value {
    json!({ "pose": { "x": "side", "y": "lift", "points": [[0, 0], [1, 0], [0, 1]] } })
}

/// The layers of the corners of the blend space.
fn corner_layers() -> Value {
    let layer =
        |(point, clip): (usize, &str)| json!({ "clip": clip, "weight": { "blend_space": "pose", "point": point } });
    ["up", "left", "right"].into_iter().enumerate().map(layer).collect()
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

/// These columns of a picture.
fn columns(picture: &Picture, columns: Range<u32>) -> Picture {
    let [width, height] = picture.size;
    let bytes = 4 * columns.start as usize..4 * columns.end as usize;
    let rows = picture.pixels.chunks(4 * width as usize);
    Picture {
        size: [columns.end - columns.start, height],
        pixels: rows.flat_map(|row| &row[bytes.clone()]).copied().collect(),
    }
}

fn alike(one: &Picture, other: &Picture) -> bool {
    likeness::error(one, other).is_none()
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
    assert_eq!(likeness::error(&bare, &rendered), None);
    // Three frames later, which is 0.05 s.
    let later = view(&["--bare", "--frames", "4", "--time", "1.45"]);
    assert_eq!(likeness::error(&later, &rendered), None);
    assert!(!alike(&bare, &render("1.9")), "another time gives another picture");
    // The controls are at the bottom and in a top corner.
    let controlled = view(&["--frames", "3", "--time", "1.5", "--paused"]);
    assert!(!alike(&rows(&controlled, CONTROLS), &rows(&rendered, CONTROLS)), "controls are visible");
    assert_eq!(likeness::error(&rows(&controlled, BETWEEN), &rows(&rendered, BETWEEN)), None);
}

#[test]
fn keys_play_pause_hide_and_close() {
    let Some(display) = Display::start() else { return };
    if !display.has_keys() {
        return;
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
    assert_closed(&mut window);
}

/// Waits until a window is closed, with exit code 0.
fn assert_closed(window: &mut Child) {
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
fn a_crowd_file_is_shown_with_its_parameters_and_transitions() {
    let Some(display) = Display::start() else { return };
    display.write_crowd(&json!({
        "files": ["arm.glb"],
        "blend_spaces": blend_space(),
        "instances": [
            { "count": 3, "parameters": { "side": [[0, 0], [2, 1]], "lift": [[0, 1], [2, 0]] }, "layers": corner_layers() },
            { "count": 2, "layers": [{ "clip": "swing", "wrap": "loop" }],
              "transition": { "start": 1.5, "half_life": 0.1, "from": [{ "clip": "right" }] } },
        ],
    }));
    let crowd = ["--crowd", "crowd.json"];
    let render = |time: &str| {
        let arguments = [&["render"], &crowd[..], &["--time", time, "-o", "render.png"]].concat();
        display.picture(&arguments, "render.png")
    };
    let view = |time: &str, frames: &str| {
        let more = ["--bare", "--screenshot", "view.png", "--time", time, "--frames", frames];
        display.picture(&[&["view"], &crowd[..], &more].concat(), "view.png")
    };
    let rendered = ["0", "1", "1.6"].map(render);
    assert!(!alike(&rendered[0], &rendered[1]) && !alike(&rendered[1], &rendered[2]), "the crowd moves");
    assert_eq!(likeness::error(&view("1", "1"), &rendered[1]), None);
    // From before the start of the transition, 0.2 s or 12 frames earlier.
    assert_eq!(likeness::error(&view("1.4", "13"), &rendered[2]), None);
}

#[test]
fn clicks_in_the_plot_of_a_blend_space_set_its_parameters() {
    let Some(display) = Display::start() else { return };
    if !display.has_keys() {
        return;
    }
    // The plot shows -2.625 to 3.625 of both parameters.
    display.write_crowd(&json!({
        "files": ["arm.glb"],
        "blend_spaces": blend_space(),
        "instances": [{
            "count": 12,
            "parameters": { "side": [[0, 0.5], [2, -2], [4, 3]], "lift": [[0, 0], [2, -2], [4, -1], [5, 3]] },
            "layers": corner_layers(),
        }],
    }));
    let visible = |picture: &Picture| columns(&rows(picture, BETWEEN), BESIDE);
    // At second 2 only the first corner of the triangle counts, at second 4 only the second one.
    let [middle, first, second] = ["0", "2", "4"].map(|time| {
        let arguments = ["render", "--crowd", "crowd.json", "--time", time, "-o", "render.png"];
        visible(&display.picture(&arguments, "render.png"))
    });
    assert!(!alike(&middle, &first) && !alike(&first, &second), "the corners differ");
    let size = format!("{}x{}", SIZE[0], SIZE[1]);
    let arguments = ["view", "--crowd", "crowd.json", "--paused", "--size", &size];
    let mut window = display.command(env!("CARGO_BIN_EXE_posse"), &arguments).stderr(Stdio::null()).spawn().unwrap();
    display.wait("the first frame", |shown| alike(&visible(shown), &middle));
    // The plot takes up about the columns 352 to 462 and the rows 109 to 219. The triangle is small, in its middle.
    display.click([356, 209]);
    display.wait("the first corner", |shown| alike(&visible(shown), &first));
    display.click([446, 190]);
    display.wait("the second corner", |shown| alike(&visible(shown), &second));
    display.press("q");
    assert_closed(&mut window);
}

#[test]
fn without_a_display_there_is_an_error_with_a_hint() {
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

/// `examples/skinned_gltf.rs`, which `cargo test` builds unless it is given a target.
#[test]
fn the_example_with_a_renderer_of_its_own_shows_its_crowd_in_a_window() {
    let Some(display) = Display::start() else { return };
    let tests = std::env::current_exe().unwrap();
    let example = tests.ancestors().nth(2).unwrap().join("examples/skinned_gltf");
    if !example.exists() {
        return skip::report_skipped("examples/skinned_gltf.rs in a window: build it by cargo build --example");
    }
    let mut window = display.command(&example.to_string_lossy(), &[]).spawn().unwrap();
    // The linear colour of its sky, (0.6, 0.7, 0.8), in sRGB.
    let sky = [203, 218, 231, 255];
    display.wait("the crowd of the example", |shown| {
        let others = shown.pixels.as_chunks::<4>().0.iter().filter(|pixel| **pixel != sky).count();
        shown.pixel(2, 2) == sky && others > 5000
    });
    window.kill().unwrap();
    window.wait().unwrap();
}
