//! The controls and the numbers over a frame.

use egui::{Align2, Area, Color32, Frame, Id, Rect, RichText, Shape, Slider, Stroke, Ui, vec2};
use posse::GpuContext;

use crate::drawn_crowd::DrawnCrowd;
use crate::drawn_crowd::crowd_source::{CrowdSource, clip_name};
use crate::view::clock::Clock;
use crate::view::clock::Direction;
use crate::view::parameter_panel::Parameters;
use crate::view::steering::Steering;
use crate::view::text::{FAINT, TEXT, abbreviated, grouped, shortened};
use crate::view::timeline::Timeline;
use crate::view::window_state::{Action, Limits, MAX_INSTANCES, WindowState};

/// The facts about a crowd that the overlay shows.
pub struct CrowdInfo {
    /// The names of the clips.
    pub clips: Vec<String>,
    /// The label of the first layer if no clip is selected.
    pub no_clip_label: &'static str,
    /// The largest number of layers of an instance of a crowd file; 0 for other sources.
    pub layers: usize,
    /// The number of instances.
    pub instances: usize,
    /// The number of joints of all instances together.
    pub joints: u64,
    /// The part of the crowd clock that the timeline shows.
    pub timeline: Timeline,
    /// The name of the adapter that draws.
    pub adapter: String,
}

impl CrowdInfo {
    /// The facts about a crowd on a device.
    pub fn new(drawn: &DrawnCrowd, gpu: &GpuContext) -> Self {
        let DrawnCrowd { library, source, crowd, .. } = drawn;
        let joints = |instance| library.skeleton(crowd.skeleton(instance)).joints().len() as u64;
        let layers = match source {
            CrowdSource::CrowdFile(_) => {
                (0..crowd.len()).map(|instance| crowd.layers(instance).len()).max().unwrap_or(0)
            }
            _ => 0,
        };
        Self {
            clips: source.clips().iter().map(|&clip| clip_name(library, clip).to_string()).collect(),
            no_clip_label: if matches!(source, CrowdSource::Demo { .. }) { "per instance" } else { "none" },
            layers,
            instances: crowd.len(),
            joints: (0..crowd.len()).map(joints).sum(),
            timeline: Timeline::new(drawn),
            adapter: gpu.name(),
        }
    }
}

/// Measured times; `None` before the first measurement.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    /// The seconds of a frame.
    pub frame: Option<f64>,
    /// The number of frames per second.
    pub rate: Option<f64>,
    /// The seconds that the GPU needs for the poses of a frame.
    pub poses: Option<f64>,
}

/// The height in points of the controls at the bottom, with their distances.
const CONTROLS_HEIGHT: f32 = 120.0;
const BACKGROUND: Color32 = Color32::from_rgba_premultiplied(14, 16, 20, 205);
/// The smallest width in points at which the controls fit in one row.
const ONE_ROW_WIDTH: f32 = 780.0;

/// Lays out the overlay. Returns the actions of its controls.
pub fn draw(
    ui: &Ui,
    state: &WindowState,
    info: &CrowdInfo,
    steering: &Steering,
    limits: &Limits,
    times: Times,
) -> Vec<Action> {
    let mut actions = Vec::new();
    let context = ui.ctx();
    let panel = |name: &str, align: Align2, offset: [f32; 2], contents: &mut dyn FnMut(&mut Ui)| {
        Area::new(Id::unique(name)).anchor(align, offset).show(context, |ui| {
            Frame::new().fill(BACKGROUND).corner_radius(8).inner_margin(10).show(ui, |ui| {
                let visuals = ui.visuals_mut();
                visuals.override_text_color = Some(TEXT);
                visuals.widgets.inactive.bg_fill = Color32::from_gray(88);
                visuals.widgets.inactive.weak_bg_fill = Color32::from_gray(62);
                contents(ui);
            });
        });
    };
    panel("statistics", Align2::LEFT_TOP, [12.0, 12.0], &mut |ui| statistics(ui, info, times, state.clock.running));
    if let Some(message) = &state.message {
        panel("message", Align2::CENTER_TOP, [0.0, 12.0], &mut |ui| {
            ui.set_max_width(420.0);
            ui.label(RichText::new(message).color(Color32::from_rgb(255, 190, 120)));
        });
    }
    if !steering.parameters.is_empty() {
        let height = (context.content_rect().height() - CONTROLS_HEIGHT - 54.0).max(100.0);
        let parameters = Parameters { steering, set: &state.set_values, now: state.clock.now };
        panel("parameters", Align2::RIGHT_TOP, [-12.0, 12.0], &mut |ui| parameters.draw(ui, height, &mut actions));
    }
    let width = (context.content_rect().width() - 44.0).clamp(200.0, 860.0);
    panel("controls", Align2::CENTER_BOTTOM, [0.0, -12.0], &mut |ui| {
        ui.set_width(width);
        timeline(ui, state, limits, &mut actions);
        ui.add_space(4.0);
        if limits.clips == 0 || (width >= ONE_ROW_WIDTH && state.settings.second.is_none()) {
            ui.horizontal(|ui| {
                clips(ui, state, info, limits, &mut actions);
                speed_and_crowd(ui, state, &mut actions);
            });
        } else {
            ui.horizontal(|ui| clips(ui, state, info, limits, &mut actions));
            ui.add_space(4.0);
            ui.horizontal(|ui| speed_and_crowd(ui, state, &mut actions));
        }
        if info.layers > 0 {
            ui.add_space(4.0);
            ui.horizontal_wrapped(|ui| layers(ui, state, info, &mut actions));
        }
    });
    actions
}

fn statistics(ui: &mut Ui, info: &CrowdInfo, times: Times, running: bool) {
    ui.spacing_mut().item_spacing.y = 2.0;
    let frame = match (times.frame, times.rate) {
        (Some(frame), Some(rate)) => {
            let digits = usize::from(rate < 10.0);
            format!("{:.1} ms   {rate:.digits$} frames/s", 1e3 * frame)
        }
        _ if running => "…".into(),
        _ => "paused".into(),
    };
    ui.label(RichText::new(frame).strong().size(17.0));
    if let Some(rate) = times.rate {
        ui.label(RichText::new(format!("{} joints/s", abbreviated(rate * info.joints as f64))).strong());
    }
    if let Some(poses) = times.poses {
        let rate = abbreviated(info.joints as f64 / poses.max(1e-9));
        ui.label(RichText::new(format!("poses {:.3} ms on the GPU: {rate} joints/s", 1e3 * poses)));
    }
    let sizes = format!("{} instances, {} joints", grouped(info.instances as u64), grouped(info.joints));
    ui.label(RichText::new(sizes).color(FAINT));
    ui.label(RichText::new(&info.adapter).color(FAINT).small());
}

fn timeline(ui: &mut Ui, state: &WindowState, limits: &Limits, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        if play_button(ui, state.clock.running) {
            actions.push(Action::TogglePlay);
        }
        let Timeline { seconds, .. } = limits.timeline;
        let mut position = limits.timeline.position(state.clock.now);
        let text = format!("{position:.2} / {seconds:.2} s");
        ui.spacing_mut().slider_width = ui.available_width() - 112.0;
        let slider = Slider::new(&mut position, 0.0..=seconds).show_value(false).trailing_fill(true);
        if ui.add(slider).changed() {
            actions.push(Action::Seek(position));
        }
        ui.label(RichText::new(text).monospace());
    });
}

/// Draws a button with the symbol of its action: two bars to pause, a triangle to play. Returns true if it was clicked.
fn play_button(ui: &mut Ui, running: bool) -> bool {
    let button = ui.add_sized([34.0, 24.0], egui::Button::new("")).on_hover_text("Space");
    let middle = button.rect.center();
    let painter = ui.painter();
    if running {
        for x in [-3.5, 3.5] {
            painter.rect_filled(Rect::from_center_size(middle + vec2(x, 0.0), vec2(3.5, 11.0)), 1.0, TEXT);
        }
    } else {
        let corners = [[-4.0, -6.0], [6.0, 0.0], [-4.0, 6.0]].map(|[x, y]| middle + vec2(x, y));
        painter.add(Shape::convex_polygon(corners.into(), TEXT, Stroke::NONE));
    }
    button.clicked()
}

fn clips(ui: &mut Ui, state: &WindowState, info: &CrowdInfo, limits: &Limits, actions: &mut Vec<Action>) {
    let settings = &state.settings;
    let name = |clip: Option<usize>, none: &str| {
        clip.and_then(|clip| info.clips.get(clip)).map_or(none.to_string(), |name| shortened(name))
    };
    if limits.clips > 0 {
        ui.label(RichText::new("clip").color(FAINT));
        let several = limits.clips > 1 || limits.own_clips;
        ui.add_enabled_ui(several, |ui| {
            picker(ui, &name(settings.clip, info.no_clip_label), "[ and ]", actions, Action::StepClip)
        });
        ui.separator();
    }
    if limits.clips > 1 {
        ui.label(RichText::new("blend in").color(FAINT));
        picker(ui, &name(settings.second, "nothing"), ", and .", actions, Action::StepSecondClip);
        if settings.second.is_some() {
            let mut weight = settings.weight(1);
            ui.spacing_mut().slider_width = 70.0;
            if ui.add(Slider::new(&mut weight, 0.0..=1.0).fixed_decimals(2)).changed() {
                actions.push(Action::SetBlend(weight));
            }
        }
        ui.separator();
    }
}

fn speed_and_crowd(ui: &mut Ui, state: &WindowState, actions: &mut Vec<Action>) {
    let instances = state.settings.instances;
    ui.label(RichText::new("speed").color(FAINT));
    let mut speed = state.clock.speed;
    ui.spacing_mut().slider_width = 80.0;
    let range = -Clock::MAX_SPEED..=Clock::MAX_SPEED;
    let slider = Slider::new(&mut speed, range).step_by(0.05).fixed_decimals(2).suffix("×");
    if ui.add(slider).on_hover_text("Down and Up").changed() {
        actions.push(Action::SetSpeed(speed));
    }
    ui.separator();
    ui.label(RichText::new("crowd").color(FAINT));
    if ui.add_enabled(instances > 1, egui::Button::new("−")).on_hover_text("-").clicked() {
        actions.push(Action::StepInstances(Direction::Previous));
    }
    ui.label(grouped(instances as u64));
    if ui.add_enabled(instances < MAX_INSTANCES, egui::Button::new("+")).on_hover_text("+").clicked() {
        actions.push(Action::StepInstances(Direction::Next));
    }
    ui.separator();
    if ui.button("fit").on_hover_text("F shows the whole crowd").clicked() {
        actions.push(Action::Fit);
    }
    if ui.button("hide").on_hover_text("H shows the controls again").clicked() {
        actions.push(Action::ToggleControls);
    }
}

fn layers(ui: &mut Ui, state: &WindowState, info: &CrowdInfo, actions: &mut Vec<Action>) {
    ui.label(RichText::new("layers").color(FAINT));
    ui.spacing_mut().slider_width = 70.0;
    for layer in 0..info.layers {
        let mut factor = state.settings.weight(layer);
        let slider = Slider::new(&mut factor, 0.0..=1.0).fixed_decimals(2).prefix("× ");
        if ui.add(slider).on_hover_text(format!("factor of the weights of layers {layer}")).changed() {
            actions.push(Action::SetWeight { layer, factor });
        }
    }
}

/// Draws a name between a button for the previous entry and a button for the next.
fn picker(ui: &mut Ui, name: &str, keys: &str, actions: &mut Vec<Action>, action: impl Fn(Direction) -> Action) {
    if ui.button("‹").on_hover_text(keys).clicked() {
        actions.push(action(Direction::Previous));
    }
    ui.label(RichText::new(name).strong());
    if ui.button("›").on_hover_text(keys).clicked() {
        actions.push(action(Direction::Next));
    }
}
