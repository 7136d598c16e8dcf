//! The command on machines without a desktop.

/// A folder that does not exist. It therefore holds no socket of a Wayland display.
#[cfg(target_os = "linux")]
const NO_FOLDER: &str = "/nonexistent";

/// Starts the program again with `XDG_RUNTIME_DIR` set, if it is not set and a Wayland display has no other address.
///
/// wgpu asks Vulkan for Wayland surfaces whenever the driver offers them. Mesa's layer for the selection of a device then
/// connects to the Wayland display each time that adapters are listed. Without the variable, libwayland prints an error to
/// stderr each time, although nothing is wrong. Neither wgpu nor the layer has a switch for it. A process cannot set its own
/// variables without `unsafe` code, so that a new process image takes this one's place: the same process id and the same
/// arguments. If that fails, the program goes on as it is.
#[cfg(target_os = "linux")]
pub fn suppress_wayland_errors() {
    use std::env;
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    use std::process::Command;

    let is_absolute = |name| env::var_os(name).is_some_and(|value| Path::new(&value).is_absolute());
    if is_absolute("XDG_RUNTIME_DIR") || is_absolute("WAYLAND_DISPLAY") || env::var_os("WAYLAND_SOCKET").is_some() {
        return;
    }
    let Ok(program) = env::current_exe() else { return };
    let mut arguments = env::args_os();
    let Some(name) = arguments.next() else { return };
    let _ = Command::new(program).arg0(name).args(arguments).env("XDG_RUNTIME_DIR", NO_FOLDER).exec();
}

/// Does nothing: only Linux has Wayland displays.
#[cfg(not(target_os = "linux"))]
pub fn suppress_wayland_errors() {}
