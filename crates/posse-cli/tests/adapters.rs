//! `posse adapters`, and the choice of an adapter by options and environment variables, in child processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use posse::wgpu;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::gltf_builder::something_of_everything;
use crate::support::skip::report_skipped;

/// The names of the variables that choose an adapter. Tests start without them.
const VARIABLES: [&str; 3] = ["WGPU_BACKEND", "WGPU_ADAPTER_NAME", "WGPU_POWER_PREF"];

/// A folder with a file, and the Vulkan drivers of its child processes.
struct Machine {
    folder: TempDir,
    /// The value of `VK_DRIVER_FILES`; `None` for the drivers of the machine.
    drivers: Option<String>,
}

impl Machine {
    /// The machine as it is.
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("scene.glb"), something_of_everything().glb()).unwrap();
        Self { folder, drivers: None }
    }

    /// A machine with two software drivers, Mesa's lavapipe and SwiftShader. Both have a parenthesis in the names of
    /// their adapters. `None` if one of them is not installed.
    fn with_two_adapters() -> Option<Self> {
        let mut machine = Self::new();
        let drivers = fs::read_dir("/usr/share/vulkan/icd.d").ok()?.filter_map(Result::ok).map(|entry| entry.path());
        let is_lavapipe = |path: &PathBuf| path.to_string_lossy().contains("/lvp_icd");
        let lavapipe = drivers.into_iter().find(is_lavapipe);
        let swiftshader = Path::new("/usr/lib/chromium/libvk_swiftshader.so");
        let (Some(lavapipe), true) = (lavapipe, swiftshader.exists()) else {
            report_skipped(
                "two adapters: lavapipe and SwiftShader (Debian: mesa-vulkan-drivers and chromium) are not both here",
            );
            return None;
        };
        let driver = machine.folder.path().join("swiftshader.json");
        let icd = serde_json::json!({
            "file_format_version": "1.0.0",
            "ICD": { "library_path": swiftshader, "api_version": "1.1.0" }
        });
        fs::write(&driver, icd.to_string()).unwrap();
        machine.drivers = Some(format!("{}:{}", lavapipe.display(), driver.display()));
        Some(machine)
    }

    /// Runs `posse` in the folder, with variables.
    fn posse(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posse"));
        // Without this variable, libwayland writes an error to stderr.
        command.current_dir(self.folder.path()).args(arguments).env("XDG_RUNTIME_DIR", self.folder.path());
        for name in VARIABLES {
            command.env_remove(name);
        }
        command.envs(self.drivers.iter().map(|files| ("VK_DRIVER_FILES", files)));
        command.envs(variables.iter().copied()).output().unwrap()
    }

    /// The adapters of `posse adapters --json`.
    fn adapters(&self, variables: &[(&str, &str)]) -> Vec<Value> {
        let output = self.posse(&["adapters", "--json"], variables);
        assert!(output.status.success(), "{}", stderr(&output));
        let list: Value = serde_json::from_slice(&output.stdout).unwrap();
        list["adapters"].as_array().unwrap().clone()
    }

    /// The adapter that `posse eval` reports.
    fn used(&self, arguments: &[&str], variables: &[(&str, &str)]) -> String {
        let eval = [&["eval", "scene.glb", "--times", "0.5", "--outputs", "model"], arguments].concat();
        let output = self.posse(&eval, variables);
        assert!(output.status.success(), "{}", stderr(&output));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["engine"], "gpu");
        answer["adapter"].as_str().unwrap().to_owned()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn assert_refused(output: &Output, parts: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(output.stdout.is_empty(), "{}", stdout(output));
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

#[test]
fn the_list_has_the_adapters_of_wgpu_with_their_limits() {
    if VARIABLES.iter().any(|name| std::env::var_os(name).is_some()) {
        report_skipped("the list of adapters compared with wgpu: a variable of wgpu is set");
        return;
    }
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::PRIMARY,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let expected: Vec<wgpu::Adapter> = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()))
        .into_iter()
        .filter(|adapter| adapter.get_info().backend != wgpu::Backend::Noop)
        .collect();
    let listed = Machine::new().adapters(&[]);
    assert_eq!(listed.len(), expected.len());
    for (index, (row, adapter)) in listed.iter().zip(&expected).enumerate() {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        assert_eq!(row["index"], index);
        assert_eq!(row["name"], info.name);
        assert_eq!(row["backend"], info.backend.to_str());
        assert_eq!([&row["driver"], &row["driver_version"]], [&info.driver, &info.driver_info]);
        let software = info.device_type == wgpu::DeviceType::Cpu;
        assert_eq!(row["type"] == "software", software);
        assert_eq!(row["clock"], adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY));
        let of = |name: &str| row["limits"][name].as_u64();
        assert_eq!(of("max_buffer_size"), Some(limits.max_buffer_size));
        assert_eq!(of("max_storage_buffer_binding_size"), Some(limits.max_storage_buffer_binding_size));
        let storage_buffers = limits.max_storage_buffers_per_shader_stage;
        assert_eq!(of("max_storage_buffers_per_shader_stage"), Some(storage_buffers.into()));
        let invocations = limits.max_compute_invocations_per_workgroup;
        assert_eq!(of("max_compute_invocations_per_workgroup"), Some(invocations.into()));
    }
    assert_eq!(listed.iter().filter(|row| row["default"] == true).count(), 1, "one adapter is the default");
}

#[test]
fn the_text_has_a_line_per_adapter_and_per_limit() {
    let machine = Machine::new();
    let output = machine.posse(&["adapters"], &[]);
    let text = stdout(&output);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", stderr(&output));
    for row in machine.adapters(&[]) {
        let start = format!("{:<7}{}", row["index"].to_string(), row["name"].as_str().unwrap());
        let line =
            text.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no {start:?} in {text}"));
        for part in ["backend", "type", "driver"] {
            assert!(line.contains(row[part].as_str().unwrap()), "{part}: {line}");
        }
        let line = text.lines().find(|line| line.starts_with("max_buffer_size ")).unwrap();
        assert!(line.contains(&row["limits"]["max_buffer_size"].to_string()), "{line}");
    }
}

#[test]
fn an_adapter_is_selected_by_index_and_by_part_of_its_name() {
    let Some(machine) = Machine::with_two_adapters() else { return };
    let listed = machine.adapters(&[]);
    assert_eq!(listed.len(), 2, "{listed:?}");
    for row in &listed {
        let name = row["name"].as_str().unwrap();
        let index = row["index"].to_string();
        let part: String = name.split(' ').next().unwrap().to_uppercase();
        for wanted in [index.as_str(), part.as_str(), name] {
            let used = machine.used(&["--adapter", wanted], &[]);
            assert!(used.starts_with(name), "--adapter {wanted} used {used}");
        }
    }
    // The option takes precedence over the variable.
    let [one, other] = [0, 1].map(|index| listed[index]["name"].as_str().unwrap());
    let used = machine.used(&["--engine", "gpu", "--adapter", one], &[("WGPU_ADAPTER_NAME", other)]);
    assert!(used.starts_with(one), "{used}");
}

#[test]
fn an_ambiguous_name_is_refused_with_a_list() {
    let Some(machine) = Machine::with_two_adapters() else { return };
    let names: Vec<String> =
        machine.adapters(&[]).iter().map(|row| format!("{} {}", row["index"], row["name"].as_str().unwrap())).collect();
    let output = machine.posse(&["eval", "scene.glb", "--times", "0", "--adapter", "("], &[]);
    assert_refused(&output, &["--adapter: 2 adapters have a name with \"(\"", "the index", &names[0], &names[1]]);
}

#[test]
fn every_command_refuses_an_unknown_adapter_before_it_works() {
    let machine = Machine::new();
    let first = format!("0 {}", machine.adapters(&[])[0]["name"].as_str().unwrap());
    for arguments in [
        ["demo"].as_slice(),
        &["eval", "scene.glb", "--times", "0", "-o", "out.json"],
        // The adapter is checked before any file is read.
        &["eval", "missing.glb", "--times", "0"],
        &["eval", "--crowd", "missing.json", "--times", "0"],
        &["verify", "scene.glb"],
        &["bake", "scene.glb", "-o", "baked", "--engine", "gpu"],
        &["render", "scene.glb", "-o", "out.png"],
        &["bench", "scene.glb"],
    ] {
        let output = machine.posse(&[arguments, &["--adapter", "nonesuch"]].concat(), &[]);
        assert_refused(&output, &["--adapter: no adapter has a name with \"nonesuch\"; there are: ", &first]);
        let output = machine.posse(&[arguments, &["--adapter", "77"]].concat(), &[]);
        assert_refused(&output, &["--adapter: no adapter has the index 77; there are: ", &first]);
    }
    let files: Vec<_> = fs::read_dir(machine.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["scene.glb"], "nothing was written");
}

#[test]
fn an_engine_without_an_adapter_refuses_one() {
    let machine = Machine::new();
    for arguments in [
        ["demo", "--engine", "cpu"].as_slice(),
        &["eval", "scene.glb", "--times", "0", "--engine", "reference"],
        &["verify", "scene.glb", "--engine", "cpu"],
        &["bake", "scene.glb", "-o", "baked"],
        &["bench", "scene.glb", "--engine", "cpu,reference"],
    ] {
        let output = machine.posse(&[arguments, &["--adapter", "0"]].concat(), &[]);
        assert_refused(&output, &["--adapter 0: the engine uses no adapter; use --engine gpu"]);
    }
}

#[test]
fn a_variable_names_the_adapter_of_all_commands() {
    let Some(machine) = Machine::with_two_adapters() else { return };
    for wanted in ["swiftshader", "LLVMPIPE"] {
        let variables = [("WGPU_ADAPTER_NAME", wanted)];
        let is_wanted = |name: &str| name.to_lowercase().starts_with(&wanted.to_lowercase());
        let listed = machine.adapters(&variables);
        assert_eq!(listed.len(), 2, "all adapters are listed");
        let default = listed.iter().find(|row| row["default"] == true).unwrap();
        assert!(is_wanted(default["name"].as_str().unwrap()), "{default}");
        let used = machine.used(&["--engine", "gpu"], &variables);
        assert!(is_wanted(&used), "{used}");
    }
}

#[test]
fn a_variable_limits_the_backends() {
    let machine = Machine::new();
    let all = machine.adapters(&[]);
    let vulkan = all.iter().filter(|row| row["backend"] == "vulkan").count();
    for value in ["vulkan", "VK", "vulkan, webgpu", ""] {
        let expected = if value.is_empty() { all.len() } else { vulkan };
        assert_eq!(machine.adapters(&[("WGPU_BACKEND", value)]).len(), expected, "{value:?}");
    }
    // A backend of another system.
    let absent = if cfg!(target_os = "linux") { "metal" } else { "webgpu" };
    let variables = [("WGPU_BACKEND", absent)];
    let output = machine.posse(&["adapters"], &variables);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "no adapters\n"));
    assert!(stderr(&output).contains("WGPU_BACKEND"), "{}", stderr(&output));
    let output = machine.posse(&["eval", "scene.glb", "--times", "0", "--engine", "gpu"], &variables);
    assert_refused(&output, &["no GPU adapter of the backends in WGPU_BACKEND", absent]);
    let output = machine.posse(&["eval", "scene.glb", "--times", "0", "--adapter", "0"], &variables);
    assert_refused(&output, &["no adapter has the index 0; there are no adapters"]);
}

#[test]
fn a_wrong_value_of_a_variable_is_refused_by_every_command() {
    let machine = Machine::new();
    for arguments in [
        ["adapters"].as_slice(),
        &["adapters", "--json"],
        &["demo"],
        &["eval", "scene.glb", "--times", "0", "--engine", "gpu"],
        &["eval", "scene.glb", "--times", "0", "--engine", "auto"],
        &["eval", "scene.glb", "--times", "0", "--adapter", "0"],
        &["render", "scene.glb", "-o", "out.png"],
    ] {
        for (name, value, valid) in [
            ("WGPU_BACKEND", "vulcan", "Valid values: vulkan (vk), metal (mtl), dx12 (d3d12)"),
            ("WGPU_BACKEND", "vulkan,gl", "OpenGL has too few storage buffers"),
            ("WGPU_POWER_PREF", "medium", "Valid values: low"),
        ] {
            let output = machine.posse(arguments, &[(name, value)]);
            assert_refused(&output, &[&format!("the environment variable {name} is {value:?}"), valid]);
        }
    }
    // The CPU engine reads none of them.
    let output =
        machine.posse(&["eval", "scene.glb", "--times", "0", "--engine", "cpu"], &[("WGPU_BACKEND", "vulcan")]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_power_preference_is_taken() {
    let machine = Machine::new();
    for value in ["low", "high", "none", "LOW"] {
        let listed = machine.adapters(&[("WGPU_POWER_PREF", value)]);
        let kind = listed.iter().find(|row| row["default"] == true).unwrap()["type"].clone();
        let has = |kind: &str| listed.iter().any(|row| row["type"] == kind);
        let order = match value.to_lowercase().as_str() {
            "low" => ["integrated", "discrete"],
            _ => ["discrete", "integrated"],
        };
        if let Some(best) = order.into_iter().find(|kind| has(kind)) {
            assert_eq!(kind, best, "{value}");
        }
    }
}
