use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::mutation::{Change, Mutation};
use super::trial::try_scene;
use crate::support::scenes::Scene;

/// The longest time of a trial. Most take a few milliseconds; the longest unroll a million keys.
const LONGEST: Duration = Duration::from_secs(120);

/// The errors after which trials end.
const MAX_ERRORS: usize = 20;

/// A scene with changes.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The index of the scene.
    pub scene: usize,
    /// The changes of its numbers.
    pub changes: Vec<Change>,
}

/// The number of trials by how they ended.
#[derive(Debug, Default)]
pub struct Outcome {
    pub tried: usize,
    /// Trials whose scene was refused.
    pub refused: usize,
    /// Trials whose scene was posed.
    pub posed: usize,
}

/// A message of the thread that tries scenes.
enum Message {
    Begun(Trial),
    Ended { is_refused: bool },
    Failed(String),
}

/// Tries scenes on a thread of its own.
///
/// # Panics
/// If a trial panics or does not end in time.
pub fn watch(scenes: Vec<Scene>, trials: impl Iterator<Item = Trial> + Send + 'static) -> Outcome {
    let (sender, messages) = channel();
    thread::spawn(move || {
        for trial in trials {
            let mut mutation = Mutation::new(&trial.changes);
            let scene = &scenes[trial.scene];
            // Nobody listens after too many errors.
            let Ok(()) = sender.send(Message::Begun(trial)) else { return };
            let tried = catch_unwind(AssertUnwindSafe(|| try_scene(scene, &mut mutation)));
            let message = match tried {
                Ok(result) => Message::Ended { is_refused: result.is_err() },
                Err(cause) => {
                    let cause = cause.downcast_ref::<String>().cloned();
                    Message::Failed(format!("{}: {}", mutation.made(), cause.unwrap_or_else(|| "a panic".into())))
                }
            };
            let Ok(()) = sender.send(message) else { return };
        }
    });
    let (mut outcome, mut errors, mut last) = (Outcome::default(), Vec::new(), None);
    loop {
        match messages.recv_timeout(LONGEST) {
            Ok(Message::Begun(trial)) => last = Some(trial),
            Ok(Message::Ended { is_refused: true }) => outcome.refused += 1,
            Ok(Message::Ended { is_refused: false }) => outcome.posed += 1,
            Ok(Message::Failed(error)) => errors.push(error),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("{last:?} has not ended within {LONGEST:?}; {errors:#?}"),
        }
        if errors.len() == MAX_ERRORS {
            break;
        }
    }
    assert!(errors.is_empty(), "{errors:#?}");
    outcome.tried = outcome.refused + outcome.posed;
    outcome
}
