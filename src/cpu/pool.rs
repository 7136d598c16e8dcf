//! The threads of an engine. They stay alive between frames.

use std::sync::OnceLock;

use rayon_core::{ThreadPool, ThreadPoolBuilder};

/// A number of threads: the calling one, and others that start with the first work that needs them.
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    /// The other threads; `None` if the system refuses them.
    others: OnceLock<Option<ThreadPool>>,
}

impl Pool {
    /// A pool of `threads` threads. 0 counts as 1.
    pub fn new(threads: usize) -> Self {
        Self { threads: threads.max(1), others: OnceLock::new() }
    }

    /// The number of threads, at least 1.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `work` on up to `threads` threads at the same time, of which the calling thread is one.
    ///
    /// # Panics
    /// If `work` panics on any thread.
    pub fn run(&self, threads: usize, work: impl Fn() + Sync) {
        match self.others(threads) {
            None => work(),
            Some(others) => others.in_place_scope(|scope| {
                for _ in 1..threads.min(self.threads) {
                    scope.spawn(|_| work());
                }
                work();
            }),
        }
    }

    /// The threads beside the calling one, if `threads` are more than one.
    fn others(&self, threads: usize) -> Option<&ThreadPool> {
        if threads.min(self.threads) < 2 {
            return None;
        }
        let start = || {
            let name = |index| format!("posse {}", index + 1);
            ThreadPoolBuilder::new().num_threads(self.threads - 1).thread_name(name).build().ok()
        };
        self.others.get_or_init(start).as_ref()
    }
}
