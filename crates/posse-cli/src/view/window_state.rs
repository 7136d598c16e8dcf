//! The state of a window: its camera, and the actions of keys, mouse and controls that change it. Tests need neither a
//! window nor a device.

use glam::Vec3;
use posse_render::Camera;
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use winit::keyboard::{Key, NamedKey};

use super::clock::{Clock, Direction, Timeline};
use super::steering::SetValues;
use crate::drawn_crowd::CrowdSettings;

/// The largest number of instances that an action selects.
pub const MAX_INSTANCES: usize = 100_000;

/// The state of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowState {
    pub clock: Clock,
    pub camera: Camera,
    /// The clips and the number of instances.
    pub settings: CrowdSettings,
    /// The values of parameters that do not follow the crowd file.
    pub set_values: SetValues,
    /// `true` if the controls are visible.
    pub controls: bool,
    /// `true` if the camera follows the bounds of the crowd.
    pub fitted: bool,
    /// `true` if the window is to be closed.
    pub closed: bool,
    /// An error for the user.
    pub message: Option<String>,
}

/// The limits of the actions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The number of clips.
    pub clips: usize,
    /// `true` if the first layer can be without a selected clip, because the instances then play clips of their own.
    pub own_clips: bool,
    /// The part of the crowd clock that the timeline shows.
    pub timeline: Timeline,
    /// The distances of the camera.
    pub distances: DistanceRange,
}

/// An action of the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    /// Plays, or pauses.
    TogglePlay,
    /// Moves the clock to a second of the timeline.
    Seek(f64),
    /// Moves the clock by seconds of its own time, and pauses it.
    Skip(f64),
    /// Sets the speed.
    SetSpeed(f64),
    /// Selects the next higher or lower speed.
    StepSpeed(Direction),
    /// Selects the next or the previous clip.
    StepClip(Direction),
    /// Selects the next or the previous clip of the second layer.
    StepSecondClip(Direction),
    /// Sets the weight of the second clip, from 0 to 1. The first clip has the rest.
    SetBlend(f64),
    /// Sets the factor of the weight of a layer, from 0 to 1.
    SetWeight { layer: usize, factor: f64 },
    /// Sets a parameter. It no longer follows the crowd file.
    SetParameter { parameter: usize, value: f64 },
    /// Lets a parameter follow the crowd file again.
    ReleaseParameter(usize),
    /// Selects the next larger or smaller crowd.
    StepInstances(Direction),
    /// Turns the camera.
    Turn(Drag),
    /// Moves the camera and its target.
    Pan(Drag),
    /// Moves the camera towards its target by steps of a wheel.
    Zoom(f32),
    /// Shows the whole crowd.
    Fit,
    /// Shows or hides the controls.
    ToggleControls,
    /// Closes the window.
    Close,
}

impl WindowState {
    /// Applies an action.
    pub fn apply(&mut self, action: Action, limits: &Limits) {
        if !matches!(action, Action::Turn(_) | Action::Pan(_) | Action::Zoom(_)) {
            self.message = None;
        }
        let Self { settings, camera, .. } = self;
        match action {
            Action::TogglePlay => self.clock.running ^= true,
            Action::Seek(position) => self.clock.now = limits.timeline.time(position, self.clock.now),
            Action::Skip(seconds) => {
                self.clock.running = false;
                self.clock.skip(seconds);
            }
            Action::SetSpeed(speed) => self.clock.set_speed(speed),
            Action::StepSpeed(direction) => self.clock.step_speed(direction),
            Action::StepClip(direction) => {
                settings.clip = step_clip(settings.clip, direction, limits.clips, limits.own_clips);
            }
            Action::StepSecondClip(direction) => {
                let second = match settings.second {
                    // The first selection is the neighbour of the clip of the first layer.
                    None => step_clip(settings.clip, direction, limits.clips, false),
                    second => step_clip(second, direction, limits.clips, true),
                };
                self.set_second_clip(second);
            }
            Action::SetBlend(weight) => settings.weights = vec![1.0 - weight.clamp(0.0, 1.0), weight.clamp(0.0, 1.0)],
            Action::SetWeight { layer, factor } => self.set_weight(layer, factor.clamp(0.0, 1.0)),
            Action::SetParameter { parameter, value } => self.set_parameter(parameter, value),
            Action::ReleaseParameter(parameter) => {
                self.set_values.get_mut(parameter).into_iter().for_each(|value| *value = None);
            }
            Action::StepInstances(direction) => settings.instances = step_instances(settings.instances, direction),
            Action::Turn(drag) => {
                self.fitted = false;
                turn(camera, drag);
            }
            Action::Pan(drag) => {
                self.fitted = false;
                pan(camera, drag);
            }
            Action::Zoom(steps) => {
                self.fitted = false;
                zoom(camera, steps, limits.distances);
            }
            Action::Fit => self.fitted = true,
            Action::ToggleControls => self.controls ^= true,
            Action::Close => self.closed = true,
        }
    }

    /// Sets the clip of the second layer. The weights start at one half each if there was none.
    fn set_second_clip(&mut self, second: Option<usize>) {
        if second.is_none() {
            self.settings.weights.clear();
        } else if self.settings.second.is_none() {
            self.settings.weights = vec![0.5, 0.5];
        }
        self.settings.second = second;
    }

    /// Sets a parameter to the nearest number that an `f32` can be. NaN is ignored.
    fn set_parameter(&mut self, parameter: usize, value: f64) {
        if value.is_nan() {
            return;
        }
        let values = &mut self.set_values;
        if values.len() <= parameter {
            values.resize(parameter + 1, None);
        }
        values[parameter] = Some((value as f32).clamp(f32::MIN, f32::MAX));
    }

    fn set_weight(&mut self, layer: usize, factor: f64) {
        let weights = &mut self.settings.weights;
        if weights.len() <= layer {
            weights.resize(layer + 1, 1.0);
        }
        weights[layer] = factor;
    }
}

/// The next or the previous of `count` clips; the ends of the list are joined. If `allow_none` is true, `None` lies
/// between the last clip and the first.
fn step_clip(clip: Option<usize>, direction: Direction, count: usize, allow_none: bool) -> Option<usize> {
    if count == 0 {
        return clip;
    }
    let choices = count + usize::from(allow_none);
    let choice = clip.unwrap_or(count).min(choices - 1);
    let choice = match direction {
        Direction::Next => (choice + 1) % choices,
        Direction::Previous => (choice + choices - 1) % choices,
    };
    (choice < count).then_some(choice)
}

/// The next larger or smaller size of a crowd: 1, 2 or 5 times a power of ten, up to [`MAX_INSTANCES`].
fn step_instances(instances: usize, direction: Direction) -> usize {
    let mut sizes: Vec<usize> = (0..6).flat_map(|power| [1, 2, 5].map(|step| step * 10_usize.pow(power))).collect();
    sizes.retain(|&size| size <= MAX_INSTANCES);
    let stepped = match direction {
        Direction::Next => sizes.iter().find(|&&size| size > instances),
        Direction::Previous => sizes.iter().rev().find(|&&size| size < instances),
    };
    stepped.copied().unwrap_or(instances)
}

/// The end of `posse view --help`.
pub const HELP: &str = "\
Mouse: drag turns the camera, the wheel zooms, drag with the right or the middle button moves it.
Keys:  Space       plays and pauses         [ ]    previous and next clip
       Left Right  one frame back, forward  , .    second clip, which is blended in
       Down Up     slower, faster           - +    smaller and larger crowd
       Home        to the start             F      shows the whole crowd
       H           hides the controls       Q Esc  closes the window

The parameters of a crowd file have sliders. A click or a drag in the plot of a blend space sets its two parameters. The button
`file` lets a parameter follow the crowd file again.

  posse view demo --instances 1000
  posse view Fox.glb --instances 200
  posse view --crowd crowd.json";

/// The step of an arrow key in seconds of the crowd clock.
const FRAME_SECONDS: f64 = 1.0 / 30.0;
/// The pixels on a touchpad that count as one step of a wheel.
const PIXELS_PER_STEP: f64 = 40.0;

/// The action of a key; `None` if it has none.
pub fn key_action(key: &Key) -> Option<Action> {
    match key {
        Key::Named(NamedKey::Space) => Some(Action::TogglePlay),
        Key::Named(NamedKey::ArrowLeft) => Some(Action::Skip(-FRAME_SECONDS)),
        Key::Named(NamedKey::ArrowRight) => Some(Action::Skip(FRAME_SECONDS)),
        Key::Named(NamedKey::ArrowDown) => Some(Action::StepSpeed(Direction::Previous)),
        Key::Named(NamedKey::ArrowUp) => Some(Action::StepSpeed(Direction::Next)),
        Key::Named(NamedKey::Home) => Some(Action::Seek(0.0)),
        Key::Named(NamedKey::Escape) => Some(Action::Close),
        Key::Character(text) => match text.to_lowercase().as_str() {
            "[" => Some(Action::StepClip(Direction::Previous)),
            "]" => Some(Action::StepClip(Direction::Next)),
            "," => Some(Action::StepSecondClip(Direction::Previous)),
            "." => Some(Action::StepSecondClip(Direction::Next)),
            "-" | "_" => Some(Action::StepInstances(Direction::Previous)),
            "+" | "=" => Some(Action::StepInstances(Direction::Next)),
            "f" => Some(Action::Fit),
            "h" => Some(Action::ToggleControls),
            "q" => Some(Action::Close),
            _ => None,
        },
        _ => None,
    }
}

/// The position of a mouse, and its pressed button.
#[derive(Debug, Default)]
pub struct Mouse {
    /// Pixels; `None` before the first movement.
    position: Option<[f64; 2]>,
    pressed: Option<MouseButton>,
}

impl Mouse {
    /// The action of an event in a window of a height in pixels. An event that a control consumed has no action, and
    /// ends a drag if it is a button.
    pub fn action(&mut self, event: &WindowEvent, consumed: bool, height: f64) -> Option<Action> {
        match *event {
            WindowEvent::MouseInput { state, button, .. } => {
                self.pressed = (state == ElementState::Pressed && !consumed).then_some(button);
                None
            }
            WindowEvent::CursorMoved { position, .. } => {
                let [x, y] = self.position.replace([position.x, position.y])?;
                let heights = |pixels: f64| (pixels / height.max(1.0)) as f32;
                let drag = Drag { right: heights(position.x - x), down: heights(position.y - y) };
                match self.pressed? {
                    MouseButton::Left => Some(Action::Turn(drag)),
                    MouseButton::Right | MouseButton::Middle => Some(Action::Pan(drag)),
                    _ => None,
                }
            }
            WindowEvent::MouseWheel { delta, .. } if !consumed => Some(Action::Zoom(match delta {
                MouseScrollDelta::LineDelta(_, steps) => steps,
                MouseScrollDelta::PixelDelta(pixels) => (pixels.y / PIXELS_PER_STEP) as f32,
            })),
            _ => None,
        }
    }
}

/// The largest elevation of the camera in radians, above and below.
const MAX_ELEVATION: f32 = 1.5;
/// The factor of the distance for one step of the wheel.
const ZOOM_FACTOR: f32 = 0.88;

/// A movement of the mouse with a pressed button, in heights of the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drag {
    right: f32,
    down: f32,
}

/// The range of the camera's distance from its target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistanceRange {
    pub nearest: f32,
    pub farthest: f32,
}

impl DistanceRange {
    /// The range for a scene of an extent, with figures of a size.
    pub fn new(extent: Vec3, figure_size: f32) -> Self {
        let nearest = 0.02 * figure_size;
        Self { nearest, farthest: (20.0 * extent.length()).max(100.0 * nearest) }
    }
}

/// Turns a camera about its target. A drag by the height of the window is half a turn. The elevation is clamped.
pub fn turn(camera: &mut Camera, drag: Drag) {
    let half = std::f32::consts::PI;
    camera.azimuth = (camera.azimuth - half * drag.right).rem_euclid(2.0 * half);
    camera.elevation = (camera.elevation + half * drag.down).clamp(-MAX_ELEVATION, MAX_ELEVATION);
}

/// Moves a camera and its target so that the scene at the target follows the mouse.
fn pan(camera: &mut Camera, drag: Drag) {
    let [across, up, _] = camera.axes();
    let height = 2.0 * camera.distance * (0.5 * camera.field_of_view).tan();
    let target = camera.target + height * (drag.down * up - drag.right * across);
    if target.is_finite() {
        camera.target = target;
    }
}

/// Moves a camera towards its target by steps of a wheel, or away from it if they are negative. The distance is clamped
/// to a range.
fn zoom(camera: &mut Camera, steps: f32, range: DistanceRange) {
    let distance = camera.distance * ZOOM_FACTOR.powf(steps.clamp(-20.0, 20.0));
    camera.distance = distance.clamp(range.nearest, range.farthest);
}

#[cfg(test)]
mod tests {
    use std::f32::consts::{FRAC_PI_2, PI};

    use posse::Ticks;

    use super::*;

    const LIMITS: Limits = Limits {
        clips: 3,
        own_clips: false,
        timeline: Timeline { seconds: 4.0, repeats: true },
        distances: DistanceRange { nearest: 0.1, farthest: 100.0 },
    };
    const NEXT_CLIP: Action = Action::StepClip(Direction::Next);
    const PREVIOUS_CLIP: Action = Action::StepClip(Direction::Previous);
    const LARGER: Action = Action::StepInstances(Direction::Next);

    fn initial_state() -> WindowState {
        WindowState {
            clock: Clock::new(Ticks(0)),
            camera: Camera::default(),
            settings: CrowdSettings { clip: Some(0), ..CrowdSettings::new(1) },
            set_values: SetValues::new(),
            controls: true,
            fitted: true,
            closed: false,
            message: None,
        }
    }

    fn state_after(actions: &[Action], limits: &Limits) -> WindowState {
        let mut state = initial_state();
        actions.iter().for_each(|&action| state.apply(action, limits));
        state
    }

    #[test]
    fn crowds_grow_and_shrink_by_1_2_5_from_1_to_100_000() {
        let mut sizes = vec![1];
        while sizes.len() < 18 {
            sizes.push(step_instances(sizes[sizes.len() - 1], Direction::Next));
        }
        assert_eq!(sizes[..7], [1, 2, 5, 10, 20, 50, 100]);
        assert_eq!(sizes[14..], [50_000, 100_000, 100_000, 100_000]);
        let smaller = [1, 2, 70, 1_000_000].map(|size| step_instances(size, Direction::Previous));
        assert_eq!(smaller, [1, 1, 50, 100_000]);
        assert_eq!(state_after(&[LARGER; 3], &LIMITS).settings.instances, 10);
    }

    #[test]
    fn clips_wrap_around_and_include_none_if_instances_have_clips_of_their_own() {
        let clip_after = |actions: &[Action], limits| state_after(actions, limits).settings.clip;
        assert_eq!(clip_after(&[NEXT_CLIP], &LIMITS), Some(1));
        assert_eq!(clip_after(&[PREVIOUS_CLIP], &LIMITS), Some(2));
        assert_eq!(clip_after(&[NEXT_CLIP; 3], &LIMITS), Some(0));
        let own_clips = Limits { own_clips: true, ..LIMITS };
        assert_eq!(clip_after(&[PREVIOUS_CLIP], &own_clips), None);
        assert_eq!(clip_after(&[NEXT_CLIP; 3], &own_clips), None);
        assert_eq!(clip_after(&[NEXT_CLIP; 4], &own_clips), Some(0));
        assert_eq!(clip_after(&[NEXT_CLIP], &Limits { clips: 0, ..LIMITS }), Some(0));
    }

    #[test]
    fn a_second_clip_starts_at_half_and_its_removal_clears_the_weights() {
        let second = Action::StepSecondClip(Direction::Next);
        let state = state_after(&[second], &LIMITS);
        assert_eq!((state.settings.second, &state.settings.weights[..]), (Some(1), &[0.5, 0.5][..]));
        let state = state_after(&[second, Action::SetBlend(0.25), second], &LIMITS);
        assert_eq!((state.settings.second, &state.settings.weights[..]), (Some(2), &[0.75, 0.25][..]));
        let state = state_after(&[second, Action::SetBlend(0.25), second, second], &LIMITS);
        assert_eq!((state.settings.second, state.settings.weights.len()), (None, 0));
    }

    #[test]
    fn weights_are_clamped_to_0_and_1_and_are_1_by_default() {
        let actions = [(2, 7.0), (1, 0.25)].map(|(layer, factor)| Action::SetWeight { layer, factor });
        let state = state_after(&actions, &LIMITS);
        assert_eq!([0, 1, 2, 3].map(|layer| state.settings.weight(layer)), [1.0, 0.25, 1.0, 1.0]);
    }

    #[test]
    fn a_parameter_keeps_the_value_of_the_user_until_it_is_released() {
        let set = |parameter, value| Action::SetParameter { parameter, value };
        let values = |actions: &[Action]| state_after(actions, &LIMITS).set_values;
        assert!(values(&[Action::ReleaseParameter(3)]).is_empty());
        assert_eq!(values(&[set(1, 0.5), set(1, -2.0), Action::Seek(1.0)]), [None, Some(-2.0)]);
        assert_eq!(values(&[set(1, 0.5), set(0, f64::NAN), set(0, 1e300)]), [Some(f32::MAX), Some(0.5)]);
        assert_eq!(values(&[set(0, 1.0), set(1, 0.5), Action::ReleaseParameter(0)]), [None, Some(0.5)]);
    }

    #[test]
    fn the_camera_follows_the_crowd_until_the_user_moves_it() {
        assert!(state_after(&[LARGER, Action::TogglePlay], &LIMITS).fitted);
        let drag = Drag { right: 0.1, down: 0.0 };
        for movement in [Action::Turn(drag), Action::Pan(drag), Action::Zoom(1.0)] {
            assert!(!state_after(&[movement, LARGER], &LIMITS).fitted);
            assert!(state_after(&[movement, Action::Fit], &LIMITS).fitted);
        }
    }

    #[test]
    fn skipping_pauses_and_seeking_does_not() {
        let state = state_after(&[Action::Seek(3.0)], &LIMITS);
        assert_eq!((state.clock.now, state.clock.running), (Ticks::from_seconds(3.0), true));
        let state = state_after(&[Action::Seek(3.0), Action::Skip(-0.5)], &LIMITS);
        assert_eq!((state.clock.now, state.clock.running), (Ticks::from_seconds(2.5), false));
        assert!(state_after(&[Action::TogglePlay, Action::TogglePlay], &LIMITS).clock.running);
    }

    const RANGE: DistanceRange = DistanceRange { nearest: 0.1, farthest: 100.0 };

    fn camera() -> Camera {
        Camera { target: Vec3::ZERO, azimuth: 0.0, elevation: 0.0, distance: 10.0, field_of_view: FRAC_PI_2 }
    }

    #[test]
    fn a_drag_to_the_left_moves_the_camera_to_the_right() {
        let mut camera = camera();
        turn(&mut camera, Drag { right: -0.5, down: 0.0 });
        assert!(camera.eye().abs_diff_eq(Vec3::new(10.0, 0.0, 0.0), 1e-4), "{}", camera.eye());
        turn(&mut camera, Drag { right: 0.0, down: 100.0 });
        assert_eq!(camera.elevation, MAX_ELEVATION);
        turn(&mut camera, Drag { right: -1.5, down: 0.0 });
        assert!(camera.azimuth.abs() < 1e-4 || (camera.azimuth - 2.0 * PI).abs() < 1e-4, "{}", camera.azimuth);
    }

    #[test]
    fn the_scene_at_the_target_follows_the_mouse() {
        let mut camera = camera();
        // A field of view of a quarter turn is 20 high at a distance of 10.
        pan(&mut camera, Drag { right: 0.5, down: 0.25 });
        assert!(camera.target.abs_diff_eq(Vec3::new(-10.0, 5.0, 0.0), 1e-4), "{}", camera.target);
        let projected = camera.clip_from_world(1.0).project_point3(Vec3::ZERO);
        assert!((projected.x - 1.0).abs() < 1e-5 && (projected.y + 0.5).abs() < 1e-5, "{projected}");
    }

    #[test]
    fn the_wheel_zooms_in_and_out_within_the_range() {
        let mut camera = camera();
        zoom(&mut camera, 3.0, RANGE);
        assert!((camera.distance - 10.0 * 0.88_f32.powi(3)).abs() < 1e-4);
        zoom(&mut camera, -3.0, RANGE);
        assert!((camera.distance - 10.0).abs() < 1e-4);
        (0..10).for_each(|_| zoom(&mut camera, 1e9, RANGE));
        assert_eq!(camera.distance, 0.1);
        (0..10).for_each(|_| zoom(&mut camera, -1e9, RANGE));
        assert_eq!(camera.distance, 100.0);
    }
}
