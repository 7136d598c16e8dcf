//! The option `--threads`, its default, and work on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::{env, thread};

use crate::arguments::whole;
use crate::output::note;

/// The variable of Slurm with the number of cores of a task.
const VARIABLE: &str = "SLURM_CPUS_PER_TASK";

/// The warning about its value, printed once.
static WARNING: Once = Once::new();

/// The largest number of threads.
pub const MAX_THREADS: usize = 1024;

/// The option `--threads`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct ThreadArgs {
    /// The number of threads. Default: the cores that this process may use, by its affinity, the quota of its cgroup,
    /// and SLURM_CPUS_PER_TASK.
    #[arg(long, value_name = "N", value_parser = whole(1..=MAX_THREADS))]
    threads: Option<usize>,
}

impl ThreadArgs {
    /// The number of threads; by default [`default_threads`].
    pub fn count(self) -> usize {
        self.threads.unwrap_or_else(default_threads)
    }
}

/// The number of cores that the process may use, at least 1.
///
/// The standard library counts the cores of the process's affinity, and stays within the quota of its cgroup. Slurm
/// without cgroups restricts neither, so that its variable counts too.
pub fn default_threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let Some(cpus) = env::var_os(VARIABLE).filter(|cpus| !cpus.is_empty()) else { return cores };
    let cpus = cpus.to_string_lossy();
    within_slurm_task(cores, &cpus).unwrap_or_else(|| {
        WARNING.call_once(|| {
            note(&format!("warning: {VARIABLE} is {cpus:?}, not a number above 0; the number of threads is {cores}"));
        });
        cores
    })
}

/// The cores, but at most as many as a Slurm task has. `None` for a value that is no number above 0.
fn within_slurm_task(cores: usize, cpus_per_task: &str) -> Option<usize> {
    let cpus = cpus_per_task.trim().parse::<usize>().ok().filter(|&cpus| cpus > 0)?;
    Some(cpus.min(cores))
}

/// Calls a function for each index below `count`, in order, on several threads. The calls with the lowest indices begin
/// first.
pub fn for_each(threads: usize, count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let run = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            work(index);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(run);
        }
        run();
    });
}

/// The results of a function for each item, in their order, computed on several threads.
pub fn map<T: Sync, R: Send>(threads: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let results = Mutex::new(Vec::with_capacity(items.len()));
    for_each(threads, items.len(), |index| {
        let result = work(&items[index]);
        results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slurm_task_uses_no_more_threads_than_its_cores() {
        for (cores, cpus, threads) in
            [(16, "4", Some(4)), (2, "4", Some(2)), (16, " 3 ", Some(3)), (16, "0", None), (16, "all", None)]
        {
            assert_eq!(within_slurm_task(cores, cpus), threads, "{cores} cores, {cpus:?}");
        }
    }
}
