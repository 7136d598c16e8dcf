//! The threads of an engine. They stay alive between frames.
//!
//! Waking a thread that sleeps takes its caller 12 us, and the thread begins 22 to 40 us after the frame, of 280 us
//! that 1,000 instances take. A thread that finds no more chunks therefore waits awake for the others, up to 0.1 ms,
//! and is still awake when the next frame comes. `docs/decisions/threads.md` has the numbers.

#[cfg(not(target_arch = "wasm32"))]
use std::sync::OnceLock;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::atomic::{AtomicUsize, Ordering};
#[cfg(not(target_arch = "wasm32"))]
use std::time::{Duration, Instant};

#[cfg(not(target_arch = "wasm32"))]
use rayon_core::{ThreadPool, ThreadPoolBuilder};

/// The stack of a thread. Kernels of builds without optimisation need more than the 2 MiB that threads have by default.
#[cfg(not(target_arch = "wasm32"))]
const STACK: usize = 8 << 20;

/// The longest time that a thread without work waits for the others before it may sleep. Waking it takes tens of
/// microseconds.
#[cfg(not(target_arch = "wasm32"))]
const MAX_WAIT: Duration = Duration::from_micros(100);

/// A number of threads: the calling one, and others that start with the first work that needs them. On the web, the
/// calling thread does all work.
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    /// The other threads; `None` if the system refuses them.
    #[cfg(not(target_arch = "wasm32"))]
    others: OnceLock<Option<ThreadPool>>,
}

impl Pool {
    /// A pool of `threads` threads. 0 counts as 1.
    pub fn new(threads: usize) -> Self {
        Self {
            threads: threads.max(1),
            #[cfg(not(target_arch = "wasm32"))]
            others: OnceLock::new(),
        }
    }

    /// The number of threads, at least 1.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `work` on up to `threads` threads at the same time, of which the calling thread is one.
    ///
    /// A thread that has ended its work waits up to 0.1 ms for the others, so that it is awake for the next call. It
    /// yields meanwhile: the time counts as used, but other programs can take it.
    ///
    /// # Panics
    /// If `work` panics on any thread.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(&self, threads: usize, work: impl Fn() + Sync) {
        match self.others(threads) {
            None => work(),
            Some(others) => {
                let count = threads.min(self.threads);
                let (at_work, unreturned) = (AtomicUsize::new(1), AtomicUsize::new(count - 1));
                others.in_place_scope(|scope| {
                    for _ in 1..count {
                        scope.spawn(|_| {
                            let _returns = Leaves(&unreturned);
                            at_work.fetch_add(1, Ordering::Relaxed);
                            let leaves = Leaves(&at_work);
                            work();
                            drop(leaves);
                            yield_until_zero(&at_work, Instant::now() + MAX_WAIT);
                        });
                    }
                    let leaves = Leaves(&at_work);
                    work();
                    drop(leaves);
                    // Without this, the scope sleeps until the others have returned. A thread of another pool has other
                    // work meanwhile.
                    if rayon_core::current_thread_index().is_none() {
                        yield_until_zero(&unreturned, Instant::now() + MAX_WAIT);
                    }
                });
            }
        }
    }

    /// Runs `work` on the calling thread.
    #[cfg(target_arch = "wasm32")]
    pub fn run(&self, _: usize, work: impl Fn() + Sync) {
        work();
    }

    /// The threads beside the calling one, if `threads` are more than one.
    #[cfg(not(target_arch = "wasm32"))]
    fn others(&self, threads: usize) -> Option<&ThreadPool> {
        if threads.min(self.threads) < 2 {
            return None;
        }
        let start = || {
            let name = |index| format!("posse {}", index + 1);
            let builder = ThreadPoolBuilder::new().num_threads(self.threads - 1).thread_name(name);
            builder.stack_size(STACK).build().ok()
        };
        self.others.get_or_init(start).as_ref()
    }
}

/// A thread that is counted until this is dropped, also by a panic.
#[cfg(not(target_arch = "wasm32"))]
struct Leaves<'a>(&'a AtomicUsize);

#[cfg(not(target_arch = "wasm32"))]
impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits until a count is 0, at most until a moment. Other programs can run meanwhile.
#[cfg(not(target_arch = "wasm32"))]
fn yield_until_zero(count: &AtomicUsize, end: Instant) {
    while count.load(Ordering::Relaxed) > 0 && Instant::now() < end {
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Barrier, mpsc};
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// Runs work on all threads of a pool. Each waits for the others, so that none does the work of two.
    fn on_all_threads(pool: &Pool, work: impl Fn() + Sync) {
        let barrier = Barrier::new(pool.threads());
        pool.run(pool.threads(), || {
            barrier.wait();
            work();
        });
    }

    #[test]
    fn work_runs_once_on_each_thread() {
        for threads in [0, 1, 2, 5] {
            let pool = Pool::new(threads);
            let count = AtomicUsize::new(0);
            for _ in 0..100 {
                on_all_threads(&pool, || {
                    count.fetch_add(1, Ordering::Relaxed);
                });
            }
            assert_eq!(count.into_inner(), 100 * threads.max(1));
        }
    }

    #[test]
    fn one_thread_is_the_calling_one() {
        let pool = Pool::new(3);
        let caller = thread::current().id();
        pool.run(1, || assert_eq!(thread::current().id(), caller));
        assert!(pool.others.get().is_none(), "no thread was started");
    }

    #[test]
    fn a_panic_of_any_thread_reaches_the_caller_and_leaves_the_pool_intact() {
        let pool = Pool::new(3);
        let caller = thread::current().id();
        for on_caller in [true, false] {
            let work = || {
                on_all_threads(&pool, || {
                    assert!((thread::current().id() == caller) != on_caller, "on purpose");
                })
            };
            let panic = catch_unwind(AssertUnwindSafe(work)).unwrap_err();
            let message = panic.downcast_ref::<&str>().copied().map(str::to_owned);
            assert_eq!(message.or(panic.downcast_ref().cloned()).as_deref(), Some("on purpose"));
        }
        on_all_threads(&pool, || {});
    }

    /// Sends a message when its thread ends.
    struct LastWord(mpsc::Sender<()>);

    impl Drop for LastWord {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }

    thread_local! {
        static LAST_WORD: RefCell<Option<LastWord>> = const { RefCell::new(None) };
    }

    #[test]
    fn a_dropped_pool_ends_its_threads() {
        let pool = Pool::new(4);
        let (sender, receiver) = mpsc::channel();
        let caller = thread::current().id();
        on_all_threads(&pool, || {
            if thread::current().id() != caller {
                LAST_WORD.set(Some(LastWord(sender.clone())));
            }
        });
        assert!(receiver.try_recv().is_err(), "all threads are alive");
        drop(pool);
        for _ in 0..3 {
            receiver.recv_timeout(Duration::from_secs(60)).expect("a thread ends");
        }
    }
}
