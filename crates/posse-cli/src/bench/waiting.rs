//! How long the threads of this process wait for a core. A share of the time well above 0 says that other programs kept
//! the machine busy, and that the times of a measurement are not the times of the engine.

use std::fs;

/// The share of the time of its threads above which a case was measured on a busy machine. On an idle one it is below
/// 1 %.
pub const MAX_WAITED: f64 = 0.05;

/// The times of all threads of this process since each began, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ThreadTimes {
    ran: u64,
    waited: u64,
}

impl ThreadTimes {
    /// The present times. `None` if the system does not tell them: only Linux does.
    fn now() -> Option<Self> {
        let mut sum = Self { ran: 0, waited: 0 };
        for task in fs::read_dir("/proc/self/task").ok()? {
            // A thread that has ended meanwhile has no file.
            let Ok(text) = fs::read_to_string(task.ok()?.path().join("schedstat")) else { continue };
            let Self { ran, waited } = Self::parse(&text)?;
            (sum.ran, sum.waited) = (sum.ran.saturating_add(ran), sum.waited.saturating_add(waited));
        }
        Some(sum)
    }

    /// The times of a thread: nanoseconds on a core, nanoseconds in which it could run and had none, and a count.
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map_while(|number| number.parse().ok());
        Some(Self { ran: numbers.next()?, waited: numbers.next()? })
    }

    /// The share of the time since earlier times in which threads waited. `None` if none ran.
    fn waited_since(self, earlier: Self) -> Option<f64> {
        let (ran, waited) = (self.ran.saturating_sub(earlier.ran), self.waited.saturating_sub(earlier.waited));
        (ran > 0).then(|| waited as f64 / (ran as f64 + waited as f64))
    }
}

/// The result of some work, and the share of the time of the process's threads in which they waited for a core.
pub fn with_waited<T>(work: impl FnOnce() -> T) -> (T, Option<f64>) {
    let before = ThreadTimes::now();
    let result = work();
    (result, ThreadTimes::now().zip(before).and_then(|(now, before)| now.waited_since(before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_waiting_is_that_of_the_files() {
        let times = |text| ThreadTimes::parse(text).unwrap();
        let [before, after] = ["1000 500 2\n", "4000 1500 9\n"].map(times);
        assert_eq!(after.waited_since(before), Some(0.25));
        assert_eq!(before.waited_since(before), None, "nothing ran");
        assert_eq!(["", "1", "a 2 3", "1 b"].map(ThreadTimes::parse), [None; 4]);
        let (sum, waited) =
            with_waited(|| (0..1_000_000_u64).fold(0, |sum, number| sum ^ std::hint::black_box(number)));
        assert!(sum < 1 << 20 && waited.is_none_or(|waited| (0.0..1.0).contains(&waited)), "{waited:?}");
    }
}
