//! The environment of a benchmark: its command, its start time and the machine.

use std::env;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use crate::output::file_name;

/// The environment of a benchmark.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RunEnvironment {
    /// The command, quoted for a shell.
    pub command: String,
    /// The start time in UTC: `2026-11-21T16:00:00Z`.
    pub began: String,
    /// The machine.
    pub machine: Machine,
}

/// A machine. Values that the system does not report are `None`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The name of the processor.
    pub processor: Option<String>,
    /// The number of physical cores.
    pub cores: Option<usize>,
    /// The number of threads that can run at once, within the limits of the process.
    pub threads: Option<usize>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// The operating system and its version.
    pub system: Option<String>,
    /// The instruction set: `x86_64`.
    pub architecture: String,
}

impl RunEnvironment {
    /// The environment of this process.
    pub fn current() -> Self {
        let began = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let arguments = env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        Self { command: command(arguments), began, machine: Machine::current() }
    }
}

impl Machine {
    /// This machine.
    fn current() -> Self {
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

/// The command that runs the program again in a shell. The program has no folder, and arguments are quoted if necessary.
fn command(mut arguments: impl Iterator<Item = String>) -> String {
    let program = arguments.next().map(|program| file_name(Path::new(&program)));
    program.into_iter().chain(arguments).map(quote).collect::<Vec<_>>().join(" ")
}

fn quote(argument: String) -> String {
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
    fn the_command_is_quoted_for_a_shell() {
        let arguments = ["/opt/bin/posse", "bench", "--report", "it's here.html", "--joints=1,2", ""];
        let expected = r"posse bench --report 'it'\''s here.html' --joints=1,2 ''";
        assert_eq!(command(arguments.iter().map(|argument| argument.to_string())), expected);
    }

    #[test]
    fn times_are_in_utc() {
        let began = RunEnvironment::current().began;
        assert_eq!((began.len(), began.ends_with('Z')), ("2026-11-21T16:00:00Z".len(), true), "{began}");
    }
}
