//! The option `--threads`, and its default.

use std::env;

use posse::low_level::all_threads;

/// The largest number of threads.
const MAX_THREADS: u64 = 1024;

/// The option `--threads`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct ThreadArgs {
    /// The number of threads. Default: the cores that this process may use, by its affinity, the quota of its cgroup, and
    /// SLURM_CPUS_PER_TASK.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_THREADS))]
    threads: Option<u64>,
}

impl ThreadArgs {
    /// The number of threads; by default [`default_threads`].
    pub fn count(self) -> usize {
        self.threads.map_or_else(default_threads, |threads| threads as usize)
    }
}

/// The number of cores that the process may use, at least 1.
///
/// The standard library counts the cores of the process's affinity, and stays within the quota of its cgroup. Slurm without
/// cgroups restricts neither, so that its variable counts too.
pub fn default_threads() -> usize {
    within_slurm_task(all_threads(), env::var("SLURM_CPUS_PER_TASK").ok().as_deref())
}

/// The cores, but at most those of a Slurm task. A value that is no number above 0 is ignored.
fn within_slurm_task(cores: usize, cpus_per_task: Option<&str>) -> usize {
    let cpus = cpus_per_task.and_then(|cpus| cpus.trim().parse::<usize>().ok()).filter(|&cpus| cpus > 0);
    cpus.map_or(cores, |cpus| cpus.min(cores))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slurm_task_uses_no_more_threads_than_its_cores() {
        for (cores, cpus, threads) in [
            (16, None, 16),
            (16, Some("4"), 4),
            (2, Some("4"), 2),
            (16, Some("0"), 16),
            (16, Some(""), 16),
            (16, Some("all"), 16),
        ] {
            assert_eq!(within_slurm_task(cores, cpus), threads, "{cores} cores, {cpus:?}");
        }
    }
}
