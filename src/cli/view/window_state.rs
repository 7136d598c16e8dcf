//! What a window shows, and what can be done to it. Nothing here knows of windows or devices.

use posse::render::Camera;

use crate::cli::drawn_crowd::crowd_source::CrowdSettings;
use crate::cli::view::clock::Clock;
use crate::cli::view::orbit;

/// The largest crowd.
pub const MOST_INSTANCES: usize = 100_000;

/// What is to be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowState {
    pub clock: Clock,
    pub camera: Camera,
    /// Who, and what they do.
    pub settings: CrowdSettings,
    /// Whether the controls are seen.
    pub controls: bool,
    /// Whether the camera is to see the whole crowd, whatever happens to that.
    pub fitted: bool,
    /// Whether the window is to be closed.
    pub over: bool,
    /// What the user is told.
    pub message: Option<String>,
}

/// What actions depend on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// How many clips there are.
    pub clips: usize,
    /// Whether instances have something to do where no clip is chosen.
    pub own: bool,
    /// Seconds of the loop.
    pub seconds: f64,
    /// The nearest and the farthest that the camera goes.
    pub distances: [f32; 2],
}

/// What can be done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    /// Plays, or pauses.
    Play,
    /// Goes to a second of the loop.
    Scrub(f64),
    /// Goes on by seconds of the crowd's clock, and pauses.
    Step(f64),
    /// Plays at a speed.
    Speed(f64),
    /// The next speed, up or down.
    ShiftSpeed(bool),
    /// The next clip, or the one before.
    Clip(bool),
    /// The next clip of the second layer, or the one before.
    Second(bool),
    /// How much of the second clip: 0 to 1.
    Blend(f64),
    /// What a layer's weight is multiplied by.
    Weight(usize, f64),
    /// The next size of the crowd, or the one before.
    Crowd(bool),
    /// Turns the camera, in heights of the window.
    Turn([f32; 2]),
    /// Moves the camera, in heights of the window.
    Pan([f32; 2]),
    /// Brings the camera nearer, in steps of a wheel.
    Zoom(f32),
    /// Shows the whole crowd.
    Fit,
    /// Shows or hides the controls.
    Controls,
    /// Closes the window.
    Quit,
}

impl WindowState {
    /// Does something.
    pub fn act(&mut self, action: Action, limits: &Limits) {
        if !matches!(action, Action::Turn(_) | Action::Pan(_) | Action::Zoom(_)) {
            self.message = None;
        }
        match action {
            Action::Play => self.clock.running ^= true,
            Action::Scrub(position) => self.clock.scrub(position, limits.seconds),
            Action::Step(seconds) => {
                self.clock.running = false;
                self.clock.skip(seconds);
            }
            Action::Speed(speed) => self.clock.set_speed(speed),
            Action::ShiftSpeed(up) => self.clock.shift(up),
            Action::Clip(next) => self.settings.clip = neighbour(self.settings.clip, next, limits.clips, limits.own),
            Action::Second(next) => self.second(match self.settings.second {
                // It begins beside the first.
                None => neighbour(self.settings.clip, next, limits.clips, false),
                second => neighbour(second, next, limits.clips, true),
            }),
            Action::Blend(part) => self.settings.weights = vec![1.0 - part.clamp(0.0, 1.0), part.clamp(0.0, 1.0)],
            Action::Weight(layer, weight) => self.weight(layer, weight.clamp(0.0, 1.0)),
            Action::Crowd(more) => self.settings.instances = crowd_size(self.settings.instances, more),
            Action::Turn(by) => {
                self.fitted = false;
                orbit::turn(&mut self.camera, by);
            }
            Action::Pan(by) => {
                self.fitted = false;
                orbit::pan(&mut self.camera, by);
            }
            Action::Zoom(steps) => {
                self.fitted = false;
                orbit::zoom(&mut self.camera, steps, limits.distances);
            }
            Action::Fit => self.fitted = true,
            Action::Controls => self.controls ^= true,
            Action::Quit => self.over = true,
        }
    }

    /// Another clip on the second layer, or none. A new one begins as half of the blend.
    fn second(&mut self, second: Option<usize>) {
        if second.is_none() {
            self.settings.weights.clear();
        } else if self.settings.second.is_none() {
            self.settings.weights = vec![0.5, 0.5];
        }
        self.settings.second = second;
    }

    fn weight(&mut self, layer: usize, weight: f64) {
        let weights = &mut self.settings.weights;
        if weights.len() <= layer {
            weights.resize(layer + 1, 1.0);
        }
        weights[layer] = weight;
    }
}

/// The next of so many places, or the one before, all around; with none among them where there may be none.
fn neighbour(place: Option<usize>, next: bool, count: usize, none: bool) -> Option<usize> {
    if count == 0 {
        return place;
    }
    // None comes after the last.
    let all = count + usize::from(none);
    let at = place.unwrap_or(count).min(all - 1);
    let at = if next { (at + 1) % all } else { (at + all - 1) % all };
    (at < count).then_some(at)
}

/// The next size of a crowd, or the one before: 1, 2 or 5 times a power of ten, up to the largest crowd.
fn crowd_size(size: usize, more: bool) -> usize {
    let mut sizes: Vec<usize> = (0..6).flat_map(|power| [1, 2, 5].map(|step| step * 10_usize.pow(power))).collect();
    sizes.retain(|&size| size <= MOST_INSTANCES);
    let next = match more {
        true => sizes.iter().find(|&&other| other > size),
        false => sizes.iter().rev().find(|&&other| other < size),
    };
    next.copied().unwrap_or(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use posse::Ticks;

    const LIMITS: Limits = Limits { clips: 3, own: false, seconds: 4.0, distances: [0.1, 100.0] };

    fn show() -> WindowState {
        WindowState {
            clock: Clock::new(Ticks(0)),
            camera: Camera::default(),
            settings: CrowdSettings { clip: Some(0), ..CrowdSettings::new(1) },
            controls: true,
            fitted: true,
            over: false,
            message: None,
        }
    }

    fn after(actions: &[Action], limits: &Limits) -> WindowState {
        let mut state = show();
        actions.iter().for_each(|&action| state.act(action, limits));
        state
    }

    #[test]
    fn crowds_grow_and_shrink_by_1_2_5_from_1_to_100_000() {
        let mut sizes = vec![1];
        while sizes.len() < 18 {
            sizes.push(crowd_size(sizes[sizes.len() - 1], true));
        }
        assert_eq!(sizes[..7], [1, 2, 5, 10, 20, 50, 100]);
        assert_eq!(sizes[14..], [50_000, 100_000, 100_000, 100_000]);
        assert_eq!([1, 2, 70, 1_000_000].map(|size| crowd_size(size, false)), [1, 1, 50, 100_000]);
        assert_eq!(after(&[Action::Crowd(true); 3], &LIMITS).settings.instances, 10);
    }

    #[test]
    fn clips_go_round_and_by_none_where_there_is_something_else_to_do() {
        let clip = |actions: &[Action], limits| after(actions, limits).settings.clip;
        assert_eq!(clip(&[Action::Clip(true)], &LIMITS), Some(1));
        assert_eq!(clip(&[Action::Clip(false)], &LIMITS), Some(2));
        assert_eq!(clip(&[Action::Clip(true); 3], &LIMITS), Some(0));
        let own = Limits { own: true, ..LIMITS };
        assert_eq!(clip(&[Action::Clip(false)], &own), None);
        assert_eq!(clip(&[Action::Clip(true); 3], &own), None);
        assert_eq!(clip(&[Action::Clip(true); 4], &own), Some(0));
        assert_eq!(clip(&[Action::Clip(true)], &Limits { clips: 0, ..LIMITS }), Some(0));
    }

    #[test]
    fn a_second_clip_begins_as_half_and_leaves_nothing_behind() {
        let second = Action::Second(true);
        let state = after(&[second], &LIMITS);
        assert_eq!((state.settings.second, &state.settings.weights[..]), (Some(1), &[0.5, 0.5][..]));
        let state = after(&[second, Action::Blend(0.25), second], &LIMITS);
        assert_eq!((state.settings.second, &state.settings.weights[..]), (Some(2), &[0.75, 0.25][..]));
        let state = after(&[second, Action::Blend(0.25), second, second], &LIMITS);
        assert_eq!((state.settings.second, state.settings.weights.len()), (None, 0));
    }

    #[test]
    fn weights_are_kept_from_0_to_1_and_are_1_where_nothing_is_said() {
        let state = after(&[Action::Weight(2, 7.0), Action::Weight(1, 0.25)], &LIMITS);
        assert_eq!([0, 1, 2, 3].map(|layer| state.settings.weight(layer)), [1.0, 0.25, 1.0, 1.0]);
    }

    #[test]
    fn the_camera_is_the_users_until_the_whole_crowd_is_asked_for() {
        assert!(after(&[Action::Crowd(true), Action::Play], &LIMITS).fitted);
        for moved in [Action::Turn([0.1, 0.0]), Action::Pan([0.1, 0.0]), Action::Zoom(1.0)] {
            assert!(!after(&[moved, Action::Crowd(true)], &LIMITS).fitted);
            assert!(after(&[moved, Action::Fit], &LIMITS).fitted);
        }
    }

    #[test]
    fn stepping_pauses_and_scrubbing_does_not() {
        let state = after(&[Action::Scrub(3.0)], &LIMITS);
        assert_eq!((state.clock.now, state.clock.running), (Ticks::from_seconds(3.0), true));
        let state = after(&[Action::Scrub(3.0), Action::Step(-0.5)], &LIMITS);
        assert_eq!((state.clock.now, state.clock.running), (Ticks::from_seconds(2.5), false));
        assert!(after(&[Action::Play, Action::Play], &LIMITS).clock.running);
    }
}
