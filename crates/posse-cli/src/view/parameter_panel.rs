//! The controls of the parameters: a slider for each, and a plot of each blend space.

use egui::{
    Align2, Color32, FontId, Grid, Label, Painter, Pos2, Response, RichText, ScrollArea, Sense, Slider, SliderClamping,
    Stroke, Ui, pos2, vec2,
};
use posse::Ticks;

use crate::view::plot_area::{PlotArea, shared_point, shares};
use crate::view::steering::{SetValues, SteeredSpace, Steering, set_value};
use crate::view::text::{FAINT, TEXT, shortened};
use crate::view::window_state::Action;

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
pub struct Parameters<'a> {
    pub steering: &'a Steering,
    pub set: &'a SetValues,
    pub now: Ticks,
}

impl Parameters<'_> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_about_three_digits() {
        assert_eq!([0.001, 0.5, 1.0, 2.5, 30.0, 1e9].map(decimals), [5, 3, 2, 2, 1, 0]);
    }
}
