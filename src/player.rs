//! A play that is stepped frame by frame, as Cocos Creator's update loop does it.

use crate::error::Error;
use crate::model::{Clip, Playback, WrapMode};
use crate::reference::events::{Events, Mark};
use crate::reference::phase::{Phase, phase};

/// One play of a clip that accumulates the seconds of its frames.
///
/// It is for who wants what the engine's own loop gives: a delay, the first frame unadvanced, events by frame. The time it
/// gives is for [`LayerTime::At`](crate::LayerTime::At). A crowd that plays by its clock, a [`Playback`], needs none.
#[derive(Debug, Clone, PartialEq)]
pub struct Player {
    playback: Playback,
    delay: f64,
    duration: f64,
    /// Of the clip, where none is set.
    own_wrap: WrapMode,
    events: Events,
    playing: bool,
    /// What is left of the delay.
    wait: f64,
    accumulated: f64,
    /// Whether the next frame is sampled where it is.
    unadvanced: bool,
    mark: Option<Mark>,
    fired: Vec<usize>,
}

impl Player {
    /// A player of a clip, not playing yet. The playback's start is of no account; the delay, in seconds, comes before each
    /// play.
    ///
    /// # Errors
    /// [`Error::Usage`] where the rate is not from -1e4 to 1e4, the repeat count not 0 or more, or the range not from a start
    /// to an end.
    pub fn new(clip: &Clip, playback: Playback, delay: f64) -> Result<Self, Error> {
        let mut player = Self {
            playback,
            delay,
            duration: clip.duration(),
            own_wrap: clip.wrap,
            events: Events::of(clip),
            playing: false,
            wait: 0.0,
            accumulated: 0.0,
            unadvanced: true,
            mark: None,
            fired: Vec::new(),
        };
        player.set(playback)?;
        Ok(player)
    }

    /// Plays from the start of the range, after the delay.
    pub fn play(&mut self) {
        self.set_time(self.start());
        self.wait = self.delay;
        self.playing = true;
    }

    /// Stops where it is.
    pub fn stop(&mut self) {
        self.playing = false;
    }

    /// Goes on by `dt` seconds, and gives where the clip is; `None` while it waits for the delay or does not play. The first
    /// frame of a play is where the play begins, and the frame in which the last pass ends is the last.
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

    /// The events that the last update fired: their indices in the clip, in order.
    pub fn fired(&self) -> &[usize] {
        &self.fired
    }

    /// Whether it plays, or waits to.
    pub fn is_playing(&self) -> bool {
        self.playing
    }

    /// Seconds of the clip accumulated, from the start of the range on; negative where it plays backwards.
    pub fn accumulated(&self) -> f64 {
        self.accumulated
    }

    /// Sets the accumulated seconds, which the next update samples as they are.
    pub fn set_time(&mut self, accumulated: f64) {
        self.accumulated = accumulated;
        self.unadvanced = true;
        self.mark = None;
    }

    /// Sets what happens at the ends. The accumulated seconds are 0 again, and the repeat count is the mode's own.
    pub fn set_wrap(&mut self, wrap: WrapMode) {
        self.playback = Playback { wrap, repeat_count: None, ..self.playback }.resolve_wrap(self.own_wrap);
        self.accumulated = 0.0;
    }

    /// Sets the passes until it stops; `None` is the mode's own.
    ///
    /// # Errors
    /// [`Error::Usage`] where it is not 0 or more.
    pub fn set_repeat_count(&mut self, repeat_count: Option<f64>) -> Result<(), Error> {
        self.set(Playback { repeat_count, ..self.playback })
    }

    /// Sets the seconds of the clip in a second of frames.
    ///
    /// # Errors
    /// [`Error::Usage`] where it is not from -1e4 to 1e4.
    pub fn set_rate(&mut self, rate: f64) -> Result<(), Error> {
        self.set(Playback { rate, ..self.playback })
    }

    fn set(&mut self, playback: Playback) -> Result<(), Error> {
        if let Some(fault) = playback.fault() {
            return Err(Error::Usage(fault));
        }
        self.playback = playback.resolve_wrap(self.own_wrap);
        Ok(())
    }

    fn start(&self) -> f64 {
        self.playback.part(self.duration)[0]
    }
}
