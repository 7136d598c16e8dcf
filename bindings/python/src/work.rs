//! Long work: on several threads, and ended by Ctrl-C.
//!
//! Python runs the handler of a signal when its main thread asks for signals. [`run`] asks while another thread does
//! the work: a part of it may be long, such as a large file. [`Watch`] asks between the pieces of work that borrows
//! arrays of the caller, which must not go on without the call.

use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::error::{Error, to_python};

/// The time between two looks for signals.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The stack of a thread that does the work of a call: as large as the stack of most main threads.
const STACK: usize = 8 << 20;

/// Runs work on a thread of its own, with the interpreter released. A signal whose handler raises ends the call at
/// once. The flag that the work gets is then true: it goes on in the background until it looks at the flag.
///
/// # Errors
/// The errors of the work, as Python exceptions, and exceptions of handlers of signals.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> Result<T, posse::Error> + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    let stopped = Arc::clone(&stop);
    let body = move || {
        // Nobody waits for the result of a call that has ended.
        let _ = sender.send(work(&stopped));
    };
    let worker = thread::Builder::new().name("posse".into()).stack_size(STACK).spawn(body)?;
    py.detach(move || {
        loop {
            match receiver.recv_timeout(LOOK_EVERY) {
                Ok(result) => return result.map_err(to_python),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(raised) = Python::attach(|py| py.check_signals()) {
                        stop.store(true, Ordering::Relaxed);
                        return Err(raised);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(()) => return Err(Error::new_err("a thread has ended without a result")),
                },
            }
        }
    })
}

/// The error of work that has ended because its flag is true. Nobody sees it.
pub fn interrupted() -> posse::Error {
    posse::Error::Io { file: Default::default(), source: io::ErrorKind::Interrupted.into() }
}

/// Looks for signals while the threads of a call work.
pub struct Watch {
    /// The thread of the call, which alone looks.
    caller: ThreadId,
    stop: AtomicBool,
    /// The time of the next look, and what a handler has raised.
    seen: Mutex<(Instant, Option<PyErr>)>,
}

impl Watch {
    /// A watch of the calling thread.
    pub fn new() -> Self {
        let seen = Mutex::new((Instant::now() + LOOK_EVERY, None));
        Self { caller: thread::current().id(), stop: AtomicBool::new(false), seen }
    }

    /// True if a handler of a signal has raised, so that the work must end.
    pub fn is_stopped(&self) -> bool {
        if thread::current().id() == self.caller
            && let Ok(mut seen) = self.seen.lock()
            && seen.0 <= Instant::now()
        {
            if let Err(raised) = Python::attach(|py| py.check_signals()) {
                self.stop.store(true, Ordering::Relaxed);
                seen.1 = Some(raised);
            }
            seen.0 = Instant::now() + LOOK_EVERY;
        }
        self.stop.load(Ordering::Relaxed)
    }

    /// The error that a handler has raised.
    pub fn result(self) -> PyResult<()> {
        match self.seen.into_inner() {
            Ok((_, Some(raised))) => Err(raised),
            _ => Ok(()),
        }
    }
}

/// The results of a function for the numbers from 0 to before `count`, each on the next free one of up to this many
/// threads. They are in order, and do not depend on the number of threads.
///
/// # Errors
/// [`interrupted`] if `stop` becomes true before the last number.
pub fn map<T: Send>(
    threads: usize,
    count: usize,
    stop: &AtomicBool,
    function: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>, posse::Error> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(count));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count || stop.load(Ordering::Relaxed) {
                return;
            }
            let result = function(index);
            // A poisoned lock means that another thread has panicked, which the scope reports.
            if let Ok(mut results) = results.lock() {
                results.push((index, result));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(work);
        }
        work();
    });
    let mut results = results.into_inner().unwrap_or_default();
    if results.len() < count {
        return Err(interrupted());
    }
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
