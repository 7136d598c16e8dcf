//! The controls and the numbers over a frame.

use egui::{
    Align2, Area, Color32, FontId, Frame, Grid, Id, Label, Painter, Pos2, Rect, Response, RichText, ScrollArea, Sense,
    Shape, Slider, SliderClamping, Stroke, Ui, pos2, vec2,
};
use posse::Ticks;
use posse::gpu::GpuContext;
use posse::parameters::BlendSpace;

use super::clock::{Clock, Direction, Timeline};
use super::steering::{SetValues, SteeredSpace, Steering, set_value};
use super::window_state::{Action, Limits, MAX_INSTANCES, WindowState};
use crate::drawn_crowd::{CrowdSource, DrawnCrowd, clip_name};

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
        let parameters = SetParameters { steering, set: &state.set_values, now: state.clock.now };
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

/// Draws a button with the symbol of its action: two bars to pause, a triangle to play. Returns `true` if it was
/// clicked.
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

/// The width in points. It does not depend on the values, so that no control moves away from the mouse.
const WIDTH: f32 = 262.0;
const NAME_WIDTH: f32 = 66.0;
const SLIDER_WIDTH: f32 = 84.0;
const NUMBER_WIDTH: f32 = 52.0;
/// The height of a row in points, with its distance from the next one.
const ROW_HEIGHT: f32 = 24.0;
/// The least and the greatest side of a plot in points.
const PLOT_SIDES: [f32; 2] = [80.0, 230.0];
const GROUND: Color32 = Color32::from_gray(30);
const SIDES: Color32 = Color32::from_gray(92);
const POINTS: Color32 = Color32::from_rgb(120, 170, 230);
const POSITION: Color32 = Color32::from_rgb(255, 190, 120);

/// The parameters, with the values that the user has set, at a time of the crowd clock.
pub struct SetParameters<'a> {
    pub steering: &'a Steering,
    pub set: &'a SetValues,
    pub now: Ticks,
}

impl SetParameters<'_> {
    /// Lays out the controls of all parameters in a height in points.
    pub fn draw(&self, ui: &mut Ui, height: f32, actions: &mut Vec<Action>) {
        ui.set_width(WIDTH);
        ui.label(RichText::new("Parameters").strong());
        ScrollArea::vertical().max_height(height).show(ui, |ui| {
            Grid::new("parameters").num_columns(3).spacing([8.0, 4.0]).show(ui, |ui| {
                for parameter in 0..self.steering.parameters.len() {
                    self.row(ui, parameter, actions);
                    ui.end_row();
                }
            });
            let rows = ROW_HEIGHT * self.steering.parameters.len() as f32;
            let side = (height - rows - ROW_HEIGHT - 4.0).clamp(PLOT_SIDES[0], PLOT_SIDES[1]);
            for space in &self.steering.spaces {
                ui.add_space(4.0);
                self.plot(ui, space, side, actions);
            }
        });
    }

    /// The name of a parameter, its slider, and a button that lets it follow the file again.
    fn row(&self, ui: &mut Ui, parameter: usize, actions: &mut Vec<Action>) {
        let steered = &self.steering.parameters[parameter];
        let is_set = set_value(self.set, parameter).is_some();
        let color = if is_set { POSITION } else { FAINT };
        let name = Label::new(RichText::new(&steered.name).color(color)).truncate();
        ui.scope(|ui| {
            ui.set_width(NAME_WIDTH);
            ui.add(name).on_hover_text(&steered.name);
        });
        let mut value = f64::from(self.steering.value(self.set, parameter, self.now));
        let [least, greatest] = steered.range;
        ui.spacing_mut().slider_width = SLIDER_WIDTH;
        ui.spacing_mut().interact_size.x = NUMBER_WIDTH;
        // A typed number may be outside of the range.
        let slider = Slider::new(&mut value, least..=greatest).clamping(SliderClamping::Never);
        if ui.add(slider.fixed_decimals(decimals(greatest - least))).changed() {
            actions.push(Action::SetParameter { parameter, value });
        }
        let button = ui.add_enabled(is_set, egui::Button::new("file").small());
        if button.on_hover_text("follows the crowd file again").clicked() {
            actions.push(Action::ReleaseParameter(parameter));
        }
    }

    /// The plot of a blend space. A click or a drag sets the position.
    fn plot(&self, ui: &mut Ui, space: &SteeredSpace, side: f32, actions: &mut Vec<Action>) {
        let names = space.parameters.map(|parameter| shortened(&self.steering.parameters[parameter].name));
        let title = format!("{}: {} across, {} upwards", shortened(&space.name), names[0], names[1]);
        ui.add(Label::new(RichText::new(title).color(FAINT)).truncate());
        let (response, painter) = ui.allocate_painter(vec2(side, side), Sense::click_and_drag());
        let ranges = space.parameters.map(|parameter| self.steering.parameters[parameter].range);
        let area = PlotArea { corner: response.rect.min.into(), side, ranges };
        let present = space.parameters.map(|parameter| self.steering.value(self.set, parameter, self.now));
        let position = pointed(&response, &area).unwrap_or(present.map(f64::from));
        for (parameter, value) in space.parameters.into_iter().zip(position) {
            // A space with one parameter for both axes is a line, which x alone sets.
            if actions
                .iter()
                .any(|action| matches!(action, Action::SetParameter { parameter: set, .. } if *set == parameter))
            {
                continue;
            }
            let is_new = set_value(self.set, parameter) != Some(value as f32);
            if is_new && pointed(&response, &area).is_some() {
                actions.push(Action::SetParameter { parameter, value });
            }
        }
        painter.rect_filled(response.rect, 4.0, GROUND);
        paint(&painter, &area, space, position);
    }
}

/// The position at which the mouse is pressed or was clicked.
fn pointed(response: &Response, area: &PlotArea) -> Option<[f64; 2]> {
    let is_pressed = response.is_pointer_button_down_on() || response.clicked();
    response.interact_pointer_pos().filter(|_| is_pressed).map(|pointer| area.position(pointer.into()))
}

/// Draws the points and triangles of a blend space, and the position with the nearest point of the triangles.
fn paint(painter: &Painter, area: &PlotArea, space: &SteeredSpace, position: [f64; 2]) {
    let place = |position: [f64; 2]| Pos2::from(area.place(position));
    let points = space.space.points();
    for triangle in space.space.triangles() {
        let corners = triangle.map(|corner| place(points[corner]));
        for corner in 0..3 {
            painter.line_segment([corners[corner], corners[(corner + 1) % 3]], Stroke::new(1.0, SIDES));
        }
    }
    let shares = shares(&space.space, position);
    let [middle_x, middle_y] = area.corner.map(|edge| edge + 0.5 * area.side);
    for ((point, share), label) in points.iter().zip(&shares).zip(&space.labels) {
        let center = place(*point);
        // The area of a dot grows with the share.
        painter.circle_filled(center, 2.5 + 6.0 * share.sqrt() as f32, POINTS);
        // A label is on the side of the middle, so that it is not cut off.
        let (align, right, down) = match (center.x > middle_x, center.y > middle_y) {
            (false, false) => (Align2::LEFT_TOP, 6.0, 6.0),
            (false, true) => (Align2::LEFT_BOTTOM, 6.0, -6.0),
            (true, false) => (Align2::RIGHT_TOP, -6.0, 6.0),
            (true, true) => (Align2::RIGHT_BOTTOM, -6.0, -6.0),
        };
        let beside = pos2(center.x + right, center.y + down);
        painter.text(beside, align, shortened(label), FontId::proportional(9.5), TEXT);
    }
    let [marked, nearest] = [position, shared_point(&space.space, &shares)].map(place);
    painter.line_segment([marked, nearest], Stroke::new(1.0, POSITION));
    painter.circle_stroke(nearest, 3.0, Stroke::new(1.5, POSITION));
    painter.circle_stroke(marked, 5.5, Stroke::new(2.0, POSITION));
}

/// The decimals of the values of a range of a size, so that they have about three digits.
fn decimals(size: f64) -> usize {
    (2.0 - size.log10()).ceil().clamp(0.0, 6.0) as usize
}

/// A square of the window that shows a rectangle of the positions of two parameters: x to the right, y upwards.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PlotArea {
    /// The left and the upper edge in points of the window.
    corner: [f32; 2],
    /// The length of the sides in points of the window.
    side: f32,
    /// The least and the greatest x and y.
    ranges: [[f64; 2]; 2],
}

impl PlotArea {
    /// The place of a position in the window. A position outside of the ranges has a place on the edge.
    fn place(&self, position: [f64; 2]) -> [f32; 2] {
        let [right, up] = [0, 1].map(|axis| {
            let [least, greatest] = self.ranges[axis];
            ((position[axis] - least) / (greatest - least)).clamp(0.0, 1.0) as f32
        });
        [self.corner[0] + right * self.side, self.corner[1] + (1.0 - up) * self.side]
    }

    /// The position at a place in the window. A place outside of the square has a position on its edge.
    fn position(&self, place: [f32; 2]) -> [f64; 2] {
        let [right, down] = [0, 1].map(|axis| f64::from((place[axis] - self.corner[axis]) / self.side).clamp(0.0, 1.0));
        let along = |[least, greatest]: [f64; 2], part: f64| least + (greatest - least) * part;
        [along(self.ranges[0], right), along(self.ranges[1], 1.0 - down)]
    }
}

/// The shares of all points of a blend space at a position.
pub fn shares(space: &BlendSpace, position: [f64; 2]) -> Vec<f64> {
    (0..space.points().len()).map(|point| space.share(point, position)).collect()
}

/// The point that has given shares of the points of a blend space: for the shares at a position the nearest point of
/// the triangles.
fn shared_point(space: &BlendSpace, shares: &[f64]) -> [f64; 2] {
    let sum = |axis: usize| space.points().iter().zip(shares).map(|(point, share)| point[axis] * share).sum();
    [sum(0), sum(1)]
}

/// The colour of text.
const TEXT: Color32 = Color32::from_gray(232);
/// The colour of labels, and of text of less weight.
const FAINT: Color32 = Color32::from_gray(165);

/// Cuts a name of more than 24 characters.
fn shortened(name: &str) -> String {
    const MAX_CHARACTERS: usize = 24;
    if name.chars().count() <= MAX_CHARACTERS {
        return name.into();
    }
    name.chars().take(MAX_CHARACTERS - 1).chain(['…']).collect()
}

/// Formats a number with about three digits and a word for its size.
fn abbreviated(number: f64) -> String {
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

/// Formats an integer in groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_about_three_digits() {
        assert_eq!([0.001, 0.5, 1.0, 2.5, 30.0, 1e9].map(decimals), [5, 3, 2, 2, 1, 0]);
    }

    /// 100 points wide, 2 units of x and 8 units of y.
    const AREA: PlotArea = PlotArea { corner: [10.0, 20.0], side: 100.0, ranges: [[-1.0, 1.0], [0.0, 8.0]] };

    #[test]
    fn places_and_positions_are_those_by_hand() {
        assert_eq!(AREA.place([-1.0, 0.0]), [10.0, 120.0]);
        assert_eq!(AREA.place([0.0, 6.0]), [60.0, 45.0]);
        assert_eq!(AREA.place([3.0, 9.0]), [110.0, 20.0]);
        assert_eq!(AREA.position([10.0, 120.0]), [-1.0, 0.0]);
        assert_eq!(AREA.position([60.0, 45.0]), [0.0, 6.0]);
        assert_eq!(AREA.position([500.0, -7.0]), [1.0, 8.0]);
    }

    #[test]
    fn a_position_is_that_of_its_place() {
        for x in [-1.0, -0.37, 0.5, 1.0] {
            for y in [0.0, 0.11, 5.3, 8.0] {
                let [found_x, found_y] = AREA.position(AREA.place([x, y]));
                assert!((found_x - x).abs() < 1e-6 && (found_y - y).abs() < 1e-5, "{x} {y}: {found_x} {found_y}");
            }
        }
    }

    #[test]
    fn outside_of_the_triangles_the_nearest_point_counts() {
        let space = BlendSpace::new(vec![[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]).unwrap();
        let nearest = |position| shared_point(&space, &shares(&space, position));
        assert_eq!(shares(&space, [0.5, 0.25]), [0.5, 0.25, 0.25]);
        assert_eq!(nearest([0.5, 0.25]), [0.5, 0.25]);
        assert_eq!(nearest([1.5, -4.0]), [1.5, 0.0]);
        assert_eq!(nearest([-3.0, 7.0]), [0.0, 1.0]);
    }

    #[test]
    fn numbers_are_abbreviated_or_grouped() {
        assert_eq!(
            [5.0, 12_345.0, 1.5e6, 2.0e9, 456e9].map(abbreviated),
            ["5.00", "12.3 thousand", "1.50 million", "2.00 billion", "456 billion"]
        );
        assert_eq!([0, 999, 1_000, 6_700_000].map(grouped), ["0", "999", "1,000", "6,700,000"]);
        assert_eq!(shortened("Walk"), "Walk");
        assert_eq!(shortened(&"é".repeat(30)).chars().count(), 24);
    }
}
