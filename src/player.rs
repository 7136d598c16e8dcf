//! One play of a clip, stepped frame by frame as in the update loop of Cocos Creator.
//!
//! Events fire as in that loop: an end is passed at most once per frame. `GpuEvents` and `CpuEngine::events` list every
//! pass.

use crate::error::Error;
use crate::model::{Clip, Playback, WrapMode};
use crate::reference::phase::{Phase, phase};
use crate::reference::player_events::{EventMark, Events};

/// One play of a clip that accumulates the seconds of its frames.
///
/// It serves callers without a crowd clock. It behaves as the update loop of Cocos Creator: a delay before the play, a
/// first frame that does not advance, and events per frame. The time that it returns is for
/// [`LayerTime::At`](crate::LayerTime::At). Layers that play by the crowd clock ([`Playback`]) need no player.
///
/// # Examples
/// ```
/// use posse::playback::Player;
/// use posse::{Playback, Ticks, WrapMode, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let library = demo::library()?;
/// let clip = library.clip(library.find_clip("walk").expect("the demo walks"));
/// let mut player = Player::new(clip, Playback::new(WrapMode::Normal, Ticks(0), 1.0), 0.0)?;
/// player.play();
/// assert_eq!(player.update(0.25).expect("it plays").time, 0.0); // the first frame does not advance
/// assert_eq!(player.update(0.25).expect("it plays").time, 0.25);
/// assert!(player.update(1.0).expect("the last frame").stopped);
/// assert!(!player.is_playing());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Player {
    playback: Playback,
    delay: f64,
    duration: f64,
    /// The mode of the clip, for [`WrapMode::Default`].
    own_wrap: WrapMode,
    events: Events,
    playing: bool,
    /// The rest of the delay, in seconds.
    wait: f64,
    accumulated: f64,
    /// `true` if the next frame does not advance.
    unadvanced: bool,
    mark: Option<EventMark>,
    fired: Vec<usize>,
}

impl Player {
    /// A player of a clip that does not play yet. The start of the playback is ignored. The delay, in seconds, comes
    /// before each play.
    ///
    /// # Errors
    /// [`Error::Usage`] if the rate is not from -1e4 to 1e4, the repeat count is negative, or the range ends before it
    /// starts.
    pub fn new(clip: &Clip, playback: Playback, delay: f64) -> Result<Self, Error> {
        let mut player = Self {
            playback,
            delay,
            duration: clip.duration(),
            own_wrap: clip.wrap,
            events: Events::new(clip),
            playing: false,
            wait: 0.0,
            accumulated: 0.0,
            unadvanced: true,
            mark: None,
            fired: Vec::new(),
        };
        player.set_playback(playback)?;
        Ok(player)
    }

    /// Plays from the start of the range, after the delay.
    pub fn play(&mut self) {
        self.set_time(self.start());
        self.wait = self.delay;
        self.playing = true;
    }

    /// Stops at the present time.
    pub fn stop(&mut self) {
        self.playing = false;
    }

    /// Advances by `dt` seconds and returns the phase of the clip; `None` during the delay and while it does not play.
    ///
    /// The first frame of a play is its beginning. The last frame is the one in which the last pass ends.
    pub fn update(&mut self, dt: f64) -> Option<Phase> {
        self.fired.clear();
        if !self.playing {
            return None;
        }
        if self.wait > 0.0 {
            self.wait -= dt;
            if self.wait > 0.0 {
                return None;
            }
        }
        if !std::mem::take(&mut self.unadvanced) {
            self.accumulated += dt * self.playback.rate;
        }
        let phase = phase(&self.playback, self.accumulated - self.start(), self.duration);
        let (fired, mark) = self.events.step(self.playback.wrap, self.mark, &phase);
        (self.fired, self.mark) = (fired, Some(mark));
        self.playing = !phase.stopped;
        Some(phase)
    }

    /// The events that the last update fired, as indices into the events of the clip, in order.
    pub fn fired(&self) -> &[usize] {
        &self.fired
    }

    /// True while it plays or waits for the delay.
    pub fn is_playing(&self) -> bool {
        self.playing
    }

    /// Accumulated seconds of the clip. A play begins at the start of the range; a negative rate counts down from
    /// there.
    pub fn accumulated(&self) -> f64 {
        self.accumulated
    }

    /// Sets the accumulated seconds. The next update samples them without advancing.
    pub fn set_time(&mut self, accumulated: f64) {
        self.accumulated = accumulated;
        self.unadvanced = true;
        self.mark = None;
    }

    /// Sets the wrap mode, resets the accumulated seconds to 0 and the repeat count to the count of the mode.
    pub fn set_wrap(&mut self, wrap: WrapMode) {
        self.playback = Playback { wrap, repeat_count: None, ..self.playback }.resolve_wrap(self.own_wrap);
        self.accumulated = 0.0;
    }

    /// Sets the number of passes; `None` is the number of the mode.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is negative or NaN.
    pub fn set_repeat_count(&mut self, repeat_count: Option<f64>) -> Result<(), Error> {
        self.set_playback(Playback { repeat_count, ..self.playback })
    }

    /// Sets the seconds of the clip per second of frames.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is not from -1e4 to 1e4.
    pub fn set_rate(&mut self, rate: f64) -> Result<(), Error> {
        self.set_playback(Playback { rate, ..self.playback })
    }

    fn set_playback(&mut self, playback: Playback) -> Result<(), Error> {
        if let Some(error) = playback.error() {
            return Err(Error::Usage(error));
        }
        self.playback = playback.resolve_wrap(self.own_wrap);
        Ok(())
    }

    fn start(&self) -> f64 {
        self.playback.part(self.duration)[0]
    }
}
