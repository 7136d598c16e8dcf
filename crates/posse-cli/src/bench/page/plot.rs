//! Plots as SVG.

use plotters::backend::SVGBackend;
use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::figure::{Figure, Series};
use super::number::short;
use super::palette::{self, FINE, GRID, INK, MUTED, SERIES, SURFACE};
use super::scale::Scale;

/// Units of the drawing per point of the page. The drawing library has integer coordinates.
const UNIT: i32 = 4;
/// Width and height, in points.
const SIZE: (i32, i32) = (500, 340);
/// The distances from the sides to the axes in points: left, right, top, bottom.
const MARGIN: [i32; 4] = [46, 128, 82, 44];
/// The opacity of the band that contains 90 % of the frames.
const BAND: f64 = 0.15;
/// The opacity of the line from a series to its name.
const LEADER: f64 = 0.4;
/// The height of a line of text, in points.
const LINE: i32 = 16;

/// The drawing, in its own units.
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// The part of the drawing within the axes, in positions on their scales.
type Plane<'a> = DrawingArea<SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Fault = DrawingAreaErrorKind<std::io::Error>;

impl Figure {
    /// The SVG of the plot. The program that shows it selects the font.
    ///
    /// # Errors
    /// The errors of the backend. Drawing into a string does not fail.
    pub fn svg(&self, id: &str) -> Result<String, Fault> {
        let mut svg = String::new();
        let area =
            SVGBackend::with_string(&mut svg, ((SIZE.0 * UNIT) as u32, (SIZE.1 * UNIT) as u32)).into_drawing_area();
        self.draw(&area)?;
        area.present()?;
        drop(area);
        // The size of the picture is in points.
        let size = |unit: i32| format!("width=\"{}\" height=\"{}\"", SIZE.0 * unit, SIZE.1 * unit);
        let svg = svg.replacen(&size(UNIT), &size(1), 1);
        let (title, description) = (escaped(&self.heading), escaped(&self.description()));
        let names = format!("role=\"img\" aria-labelledby=\"{id}-title {id}-text\">\n");
        let words = format!("<title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-text\">{description}</desc>\n");
        Ok(svg.replacen(">\n", &format!(" {names}{words}"), 1))
    }

    fn draw(&self, area: &Area) -> Result<(), Fault> {
        area.fill(&SURFACE.light)?;
        let [left, right, top, bottom] = MARGIN.map(|margin| margin * UNIT);
        let heading = text(15.0, INK.light, HPos::Left);
        let heading = TextStyle { font: heading.font.style(FontStyle::Bold), ..heading };
        let middle = (left + SIZE.0 * UNIT - right) / 2;
        write(area, &self.heading, (12 * UNIT, 18 * UNIT), heading)?;
        write(area, &self.fixed, (12 * UNIT, 38 * UNIT), text(12.0, MUTED.light, HPos::Left))?;
        write(area, self.up, (12 * UNIT, 59 * UNIT), text(12.0, MUTED.light, HPos::Left))?;
        write(area, self.across, (middle, (SIZE.1 - 12) * UNIT), text(12.0, MUTED.light, HPos::Center))?;

        let [across, up] = &self.scales;
        let range = |scale: &Scale| scale.position(scale.range[0])..scale.position(scale.range[1]);
        let chart = ChartBuilder::on(area)
            .margin_top(top)
            .margin_right(right)
            .margin_bottom(bottom)
            .margin_left(left)
            .build_cartesian_2d(range(across), range(up))?;
        self.draw_grid(area, chart.plotting_area())?;
        self.draw_series(chart.plotting_area())?;
        self.name_series(area, chart.plotting_area())
    }

    /// The position of a pair of values on the plane.
    fn at(&self, across: f64, up: f64) -> (f64, f64) {
        (self.scales[0].position(across), self.scales[1].position(up))
    }

    /// Draws the grid lines and their labels.
    fn draw_grid(&self, area: &Area, plane: &Plane) -> Result<(), Fault> {
        let [across, up] = &self.scales;
        let ([west, east], [south, north]) = (across.range, up.range);
        for (values, line) in [(&up.between, FINE), (&up.labels, GRID)] {
            for &value in values {
                plane.draw(&PathElement::new([self.at(west, value), self.at(east, value)], stroke(line.light, 1)))?;
            }
        }
        for &value in &across.labels {
            plane.draw(&PathElement::new([self.at(value, south), self.at(value, north)], stroke(GRID.light, 1)))?;
            let (x, y) = plane.map_coordinate(&self.at(value, south));
            write(area, &short(value), (x, y + 12 * UNIT), text(12.0, MUTED.light, HPos::Center))?;
        }
        for &value in &up.labels {
            let (x, y) = plane.map_coordinate(&self.at(west, value));
            write(area, &short(value), (x - 7 * UNIT, y), text(12.0, MUTED.light, HPos::Right))?;
        }
        Ok(())
    }

    /// Draws all bands, then the lines and points over them.
    fn draw_series(&self, plane: &Plane) -> Result<(), Fault> {
        for series in &self.series {
            let low = series.points.iter().map(|point| self.at(point.across, point.spread[0]));
            let high = series.points.iter().rev().map(|point| self.at(point.across, point.spread[1]));
            plane.draw(&Polygon::new(low.chain(high).collect::<Vec<_>>(), colour(series).mix(BAND)))?;
        }
        for series in &self.series {
            let line: Vec<_> = series.points.iter().map(|point| self.at(point.across, point.up)).collect();
            for &point in &line {
                plane.draw(&Circle::new(point, 3 * UNIT, colour(series).filled()))?;
            }
            plane.draw(&PathElement::new(line, stroke(colour(series), 2)))?;
        }
        Ok(())
    }

    /// Writes the name of each series to the right of its last point.
    fn name_series(&self, area: &Area, plane: &Plane) -> Result<(), Fault> {
        let [_, right, top, bottom] = MARGIN.map(|margin| margin * UNIT);
        let last = self.series.iter().filter_map(|series| series.points.last());
        let ends: Vec<(i32, i32)> = last.map(|point| plane.map_coordinate(&self.at(point.across, point.up))).collect();
        let edge = SIZE.0 * UNIT - right;
        let heights = apart(&ends.iter().map(|&(_, y)| y).collect::<Vec<_>>(), top, SIZE.1 * UNIT - bottom);
        for ((series, end), y) in self.series.iter().zip(ends).zip(heights) {
            // The line to the name is fainter than the series, because it is not a measurement.
            let leader = colour(series).mix(LEADER).stroke_width(UNIT as u32);
            area.draw(&PathElement::new([end, (edge + 8 * UNIT, y)], leader))?;
            write(area, &series.label, (edge + 11 * UNIT, y), text(12.0, colour(series), HPos::Left))?;
        }
        Ok(())
    }
}

fn write(area: &Area, text: &str, position: (i32, i32), style: TextStyle) -> Result<(), Fault> {
    area.draw(&Text::new(text.to_owned(), position, style))
}

fn colour(series: &Series) -> RGBColor {
    SERIES[series.engine % SERIES.len()].light
}

fn stroke(colour: RGBColor, points: u32) -> ShapeStyle {
    colour.stroke_width(points * UNIT as u32)
}

/// A style for vertically centred text.
fn text(points: f64, colour: RGBColor, h_pos: HPos) -> TextStyle<'static> {
    // plotters writes a font's size divided by 1.24.
    ("sans-serif", 1.24 * points * f64::from(UNIT)).into_font().color(&colour).pos(Pos::new(h_pos, VPos::Center))
}

/// Moves labels apart by at least a line of text, and keeps them between top and bottom if there is room. `ends` has the wanted
/// heights.
fn apart(ends: &[i32], top: i32, bottom: i32) -> Vec<i32> {
    let line = LINE * UNIT;
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by_key(|&index| ends[index]);
    let mut heights = ends.to_vec();
    // A pass from the top moves labels down, then a pass from the bottom moves them up.
    let mut next = top;
    for &index in &order {
        heights[index] = heights[index].max(next);
        next = heights[index] + line;
    }
    let mut last = bottom;
    for &index in order.iter().rev() {
        heights[index] = heights[index].min(last);
        last = heights[index] - line;
    }
    heights
}

/// Escapes text for markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A plot as a separate file, with its style.
pub fn alone(svg: &str) -> String {
    let mut parts = svg.splitn(2, "<title");
    let (head, rest) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("{head}<style>\n{}</style>\n<title{rest}", palette::style())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_a_line_apart_and_inside() {
        let line = LINE * UNIT;
        let heights = apart(&[100, 101, 500, 99], 0, 1000);
        assert_eq!(heights, [99 + line, 99 + 2 * line, 500, 99]);
        assert_eq!(apart(&[1000, 1000], 0, 1000), [1000 - line, 1000]);
        assert_eq!(apart(&[-5], 0, 1000), [0]);
    }
}
