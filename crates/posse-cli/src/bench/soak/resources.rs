//! The resources that this process uses.

use std::time::Duration;

use posse::Error;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// The resources of this process at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Resources {
    /// Resident memory in bytes. It holds the memory of a software device, too.
    pub memory: u64,
    /// Open files, with those of drivers; `None` if the system does not list them.
    pub files: Option<u64>,
    /// The processor time of all threads so far.
    pub processor: Duration,
}

/// This process, as the system sees it.
pub struct Process {
    system: System,
    id: Pid,
}

impl Process {
    /// This process.
    pub fn current() -> Self {
        Self { system: System::new(), id: Pid::from_u32(std::process::id()) }
    }

    /// Its resources now.
    pub fn resources(&mut self) -> Result<Resources, Error> {
        let kind = ProcessRefreshKind::nothing().with_memory().with_cpu();
        self.system.refresh_processes_specifics(ProcessesToUpdate::Some(&[self.id]), true, kind);
        let process = self.system.process(self.id);
        let process = process.ok_or_else(|| {
            Error::Usage("the system tells nothing of this process, so that --soak has nothing to measure".into())
        })?;
        Ok(Resources {
            memory: process.memory(),
            files: process.open_files().map(|count| count as u64),
            processor: Duration::from_millis(process.accumulated_cpu_time()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other tests of the process may free memory and close files meanwhile, but not as much.
    #[test]
    fn memory_and_files_are_counted() {
        let mut process = Process::current();
        let before = process.resources().unwrap();
        let block = vec![1_u8; 256 << 20];
        let files: Vec<_> = (0..200).map(|_| std::fs::File::open(std::env::current_exe().unwrap()).unwrap()).collect();
        let after = process.resources().unwrap();
        assert!(after.memory > before.memory + (128 << 20), "{before:?} {after:?}");
        if let (Some(before), Some(after)) = (before.files, after.files) {
            assert!(after > before + 100, "{before} {after}");
        }
        drop((block, files));
    }
}
