//! Signals that end the command. Its drafts are removed first, and its progress bars.

/// The longest time that the clean-up takes.
#[cfg(unix)]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// Handles the signals that end a process: SIGINT (Ctrl+C), SIGTERM and SIGHUP. The exit code is 128 plus the number of
/// the signal. A signal that the parent process ignores, for example by `nohup`, stays ignored on Linux. A write beyond
/// the largest size of a file becomes an error.
#[cfg(unix)]
pub fn install() {
    use std::sync::Arc;
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::{flag, low_level};

    use crate::{draft, progress};

    // Without handlers, the defaults of the system hold: the process ends at once.
    let _ = flag::register(SIGXFSZ, Arc::default());
    let ignored = ignored_signals();
    let ends = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    let ends: Vec<_> = ends.collect();
    let Ok(mut signals) = Signals::new(&ends) else { return };
    let wait = move || {
        let Some(signal) = signals.forever().next() else { return };
        // Without the code that drivers run at a normal exit, while other threads still use them.
        let end = move || low_level::exit(128 + signal);
        let at_last = thread::Builder::new().spawn(move || {
            // A disk that no longer answers holds the clean-up back.
            thread::sleep(PATIENCE);
            end();
        });
        // Without this thread, the clean-up takes its time.
        drop(at_last);
        draft::remove_all();
        // A terminal that takes no more text holds this back.
        progress::clear_all();
        end();
    };
    if let Err(error) = thread::Builder::new().name("signals".into()).spawn(wait) {
        crate::note(&format!("warning: signals cannot be handled: {error}"));
    }
}

/// Does nothing: signals belong to Unix.
#[cfg(not(unix))]
pub fn install() {}

/// The signals that the process ignores since its start, one bit each, from signal 1 on.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // Systems other than Linux do not tell.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
