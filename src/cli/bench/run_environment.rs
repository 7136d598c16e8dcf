//! Where, when and by which command a benchmark was run.

use std::env;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use crate::cli::output::file_name;

/// What figures are to be read with.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RunEnvironment {
    /// The command, as a shell takes it.
    pub command: String,
    /// When it began, in UTC: `2026-11-21T16:00:00Z`.
    pub began: String,
    /// The machine.
    pub machine: Machine,
}

/// A machine, as far as its system tells.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: Option<String>,
    /// Cores, where two threads of one count once.
    pub cores: Option<usize>,
    /// Threads that run at once, as far as they are granted.
    pub threads: Option<usize>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// The operating system and its version.
    pub system: Option<String>,
    /// Of programs: `x86_64`.
    pub architecture: String,
}

impl RunEnvironment {
    /// Of this run.
    pub fn here() -> Self {
        let began = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let arguments = env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        Self { command: command(arguments), began, machine: Machine::this() }
    }
}

impl Machine {
    fn this() -> Self {
        let wanted = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(wanted);
        let processor = system.cpus().first().map(|cpu| cpu.brand().trim().to_owned());
        Self {
            processor: processor.filter(|name| !name.is_empty()),
            cores: System::physical_core_count(),
            threads: std::thread::available_parallelism().ok().map(Into::into),
            memory: Some(system.total_memory()).filter(|&bytes| bytes > 0),
            system: System::long_os_version(),
            architecture: env::consts::ARCH.into(),
        }
    }
}

/// A command for a shell to run again: the program without its folder, and in quotes what a shell would take apart.
fn command(mut arguments: impl Iterator<Item = String>) -> String {
    let program = arguments.next().map(|program| file_name(Path::new(&program)));
    program.into_iter().chain(arguments).map(quoted).collect::<Vec<_>>().join(" ")
}

fn quoted(argument: String) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument;
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_can_run_the_command_again() {
        let arguments = ["/opt/bin/posse", "bench", "--report", "it's here.html", "--joints=1,2", ""];
        let expected = r"posse bench --report 'it'\''s here.html' --joints=1,2 ''";
        assert_eq!(command(arguments.iter().map(|argument| argument.to_string())), expected);
    }

    #[test]
    fn times_are_in_utc() {
        let began = RunEnvironment::here().began;
        assert_eq!((began.len(), began.ends_with('Z')), ("2026-11-21T16:00:00Z".len(), true), "{began}");
    }
}
