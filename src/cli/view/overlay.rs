//! The controls and the numbers over a frame.

use egui::{Align2, Area, Color32, Frame, Id, Rect, RichText, Shape, Slider, Stroke, Ui, vec2};

use crate::cli::view::clock::Clock;
use crate::cli::view::window_state::{Action, Limits, MOST_INSTANCES, WindowState};

/// What is said of a crowd.
pub struct Facts {
    /// The names of the clips.
    pub clips: Vec<String>,
    /// What instances do where no clip is chosen.
    pub own: &'static str,
    /// Layers of the instance that has the most, where it has layers of its own.
    pub layers: usize,
    /// Instances that there are.
    pub instances: usize,
    /// Joints of all instances together.
    pub joints: u64,
    /// The adapter that draws.
    pub adapter: String,
}

/// What was measured; `None` where nothing was, yet.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    /// Seconds of a frame.
    pub frame: Option<f64>,
    /// Frames in a second.
    pub rate: Option<f64>,
    /// Seconds of the GPU for the poses of a frame.
    pub poses: Option<f64>,
}

const BACK: Color32 = Color32::from_rgba_premultiplied(14, 16, 20, 205);
/// The least width in which the controls are in one row, in points.
const WIDE: f32 = 780.0;
const TEXT: Color32 = Color32::from_gray(232);
const FAINT: Color32 = Color32::from_gray(165);

/// Lays the controls out, and gives what was done with them.
pub fn draw(ui: &Ui, state: &WindowState, facts: &Facts, limits: &Limits, times: Times) -> Vec<Action> {
    let mut actions = Vec::new();
    let context = ui.ctx();
    let panel = |name: &str, align: Align2, offset: [f32; 2], contents: &mut dyn FnMut(&mut Ui)| {
        Area::new(Id::unique(name)).anchor(align, offset).show(context, |ui| {
            Frame::new().fill(BACK).corner_radius(8).inner_margin(10).show(ui, |ui| {
                let visuals = ui.visuals_mut();
                visuals.override_text_color = Some(TEXT);
                visuals.widgets.inactive.bg_fill = Color32::from_gray(88);
                visuals.widgets.inactive.weak_bg_fill = Color32::from_gray(62);
                contents(ui);
            });
        });
    };
    panel("numbers", Align2::LEFT_TOP, [12.0, 12.0], &mut |ui| numbers(ui, facts, times, state.clock.running));
    if let Some(message) = &state.message {
        panel("message", Align2::CENTER_TOP, [0.0, 12.0], &mut |ui| {
            ui.set_max_width(420.0);
            ui.label(RichText::new(message).color(Color32::from_rgb(255, 190, 120)));
        });
    }
    let width = (context.content_rect().width() - 44.0).clamp(200.0, 860.0);
    panel("controls", Align2::CENTER_BOTTOM, [0.0, -12.0], &mut |ui| {
        ui.set_width(width);
        timeline(ui, state, limits, &mut actions);
        ui.add_space(4.0);
        if limits.clips == 0 || (width >= WIDE && state.settings.second.is_none()) {
            ui.horizontal(|ui| {
                clips(ui, state, facts, limits, &mut actions);
                others(ui, state, &mut actions);
            });
        } else {
            ui.horizontal(|ui| clips(ui, state, facts, limits, &mut actions));
            ui.add_space(4.0);
            ui.horizontal(|ui| others(ui, state, &mut actions));
        }
        if facts.layers > 0 {
            ui.add_space(4.0);
            ui.horizontal_wrapped(|ui| layers(ui, state, facts, &mut actions));
        }
    });
    actions
}

fn numbers(ui: &mut Ui, facts: &Facts, times: Times, running: bool) {
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
        ui.label(RichText::new(format!("{} joints/s", short(rate * facts.joints as f64))).strong());
    }
    if let Some(poses) = times.poses {
        let rate = short(facts.joints as f64 / poses.max(1e-9));
        ui.label(RichText::new(format!("poses {:.3} ms on the GPU: {rate} joints/s", 1e3 * poses)));
    }
    let of = format!("{} instances, {} joints", grouped(facts.instances as u64), grouped(facts.joints));
    ui.label(RichText::new(of).color(FAINT));
    ui.label(RichText::new(&facts.adapter).color(FAINT).small());
}

fn timeline(ui: &mut Ui, state: &WindowState, limits: &Limits, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        if play_button(ui, state.clock.running) {
            actions.push(Action::Play);
        }
        let mut position = state.clock.position(limits.seconds);
        let text = format!("{position:.2} / {:.2} s", limits.seconds);
        ui.spacing_mut().slider_width = ui.available_width() - 112.0;
        let slider = Slider::new(&mut position, 0.0..=limits.seconds).show_value(false).trailing_fill(true);
        if ui.add(slider).changed() {
            actions.push(Action::Scrub(position));
        }
        ui.label(RichText::new(text).monospace());
    });
}

/// A button with the sign of what it does: two bars that pause, or a triangle that plays. True when it is clicked.
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

fn clips(ui: &mut Ui, state: &WindowState, facts: &Facts, limits: &Limits, actions: &mut Vec<Action>) {
    let settings = &state.settings;
    let name = |clip: Option<usize>, none: &str| {
        clip.and_then(|clip| facts.clips.get(clip)).map_or(none.to_string(), |name| shortened(name))
    };
    if limits.clips > 0 {
        ui.label(RichText::new("clip").color(FAINT));
        let several = limits.clips > 1 || limits.own;
        ui.add_enabled_ui(several, |ui| picker(ui, &name(settings.clip, facts.own), "[ and ]", actions, Action::Clip));
        ui.separator();
    }
    if limits.clips > 1 {
        ui.label(RichText::new("blend in").color(FAINT));
        picker(ui, &name(settings.second, "nothing"), ", and .", actions, Action::Second);
        if settings.second.is_some() {
            let mut part = settings.weight(1);
            ui.spacing_mut().slider_width = 70.0;
            if ui.add(Slider::new(&mut part, 0.0..=1.0).fixed_decimals(2)).changed() {
                actions.push(Action::Blend(part));
            }
        }
        ui.separator();
    }
}

fn others(ui: &mut Ui, state: &WindowState, actions: &mut Vec<Action>) {
    let instances = state.settings.instances;
    ui.label(RichText::new("speed").color(FAINT));
    let mut speed = state.clock.speed;
    ui.spacing_mut().slider_width = 80.0;
    let range = -Clock::FASTEST..=Clock::FASTEST;
    let slider = Slider::new(&mut speed, range).step_by(0.05).fixed_decimals(2).suffix("×");
    if ui.add(slider).on_hover_text("Down and Up").changed() {
        actions.push(Action::Speed(speed));
    }
    ui.separator();
    ui.label(RichText::new("crowd").color(FAINT));
    if ui.add_enabled(instances > 1, egui::Button::new("−")).on_hover_text("-").clicked() {
        actions.push(Action::Crowd(false));
    }
    ui.label(grouped(instances as u64));
    if ui.add_enabled(instances < MOST_INSTANCES, egui::Button::new("+")).on_hover_text("+").clicked() {
        actions.push(Action::Crowd(true));
    }
    ui.separator();
    if ui.button("fit").on_hover_text("F shows the whole crowd").clicked() {
        actions.push(Action::Fit);
    }
    if ui.button("hide").on_hover_text("H brings the controls back").clicked() {
        actions.push(Action::Controls);
    }
}

fn layers(ui: &mut Ui, state: &WindowState, facts: &Facts, actions: &mut Vec<Action>) {
    ui.label(RichText::new("layers").color(FAINT));
    ui.spacing_mut().slider_width = 70.0;
    for layer in 0..facts.layers {
        let mut weight = state.settings.weight(layer);
        let slider = Slider::new(&mut weight, 0.0..=1.0).fixed_decimals(2).prefix("× ");
        if ui.add(slider).on_hover_text(format!("of the weights of layers {layer}")).changed() {
            actions.push(Action::Weight(layer, weight));
        }
    }
}

/// A name between a button for the one before and a button for the next.
fn picker(ui: &mut Ui, name: &str, keys: &str, actions: &mut Vec<Action>, action: impl Fn(bool) -> Action) {
    if ui.button("‹").on_hover_text(keys).clicked() {
        actions.push(action(false));
    }
    ui.label(RichText::new(name).strong());
    if ui.button("›").on_hover_text(keys).clicked() {
        actions.push(action(true));
    }
}

/// A name's beginning, where it is long.
fn shortened(name: &str) -> String {
    const MOST: usize = 24;
    if name.chars().count() <= MOST {
        return name.into();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}

/// A number of three digits or so, with a word for its size.
fn short(number: f64) -> String {
    let (divisor, word) = match number {
        1e9.. => (1e9, " billion"),
        1e6.. => (1e6, " million"),
        1e3.. => (1e3, " thousand"),
        _ => (1.0, ""),
    };
    let number = number / divisor;
    let digits = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    format!("{number:.digits$}{word}")
}

/// A whole number, in groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_short_or_in_groups() {
        assert_eq!(
            [5.0, 12_345.0, 1.5e6, 2.0e9, 456e9].map(short),
            ["5.00", "12.3 thousand", "1.50 million", "2.00 billion", "456 billion"]
        );
        assert_eq!([0, 999, 1_000, 6_700_000].map(grouped), ["0", "999", "1,000", "6,700,000"]);
        assert_eq!(shortened("Walk"), "Walk");
        assert_eq!(shortened(&"é".repeat(30)).chars().count(), 24);
    }
}
