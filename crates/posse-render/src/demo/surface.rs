//! A mesh of the zero surface of a function, by surface nets.

use std::collections::HashMap;

use glam::{DVec3, USizeVec3};

/// Points and triangles, anticlockwise as seen from the side on which the function is positive.
pub struct Surface {
    /// The points.
    pub points: Vec<DVec3>,
    /// Three indices of points per triangle.
    pub indices: Vec<u32>,
}

/// Makes the surface of a distance function within a box of cubic cells: one point per cell that the surface crosses, and two
/// triangles per edge that it crosses (S. F. F. Gibson, "Constrained elastic surface nets", 1998). The function must
/// change by at most `steepest` per unit of length; otherwise parts of the surface are missing. With infinity, it is evaluated at each corner.
pub fn surface(distance: impl Fn(DVec3) -> f64, steepest: f64, low: DVec3, high: DVec3, cell: f64) -> Surface {
    let counts = ((high - low) / cell).ceil().as_usizevec3() + 1;
    let position = |corner: USizeVec3| low + cell * corner.as_dvec3();
    let index = |corner: USizeVec3| (corner.z * counts.y + corner.y) * counts.x + corner.x;
    let corners = || {
        let USizeVec3 { x, y, z } = counts;
        (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| USizeVec3::new(x, y, z))))
    };
    let mut are_inside: Vec<bool> = Vec::with_capacity(counts.element_product());
    for corner in corners() {
        if index(corner) < are_inside.len() {
            continue;
        }
        let value = distance(position(corner));
        // The corners of the row that are nearer than the surface have the same sign.
        let same_sign = (value.abs() / (steepest * cell)).ceil() as usize;
        are_inside.resize(index(corner) + same_sign.clamp(1, counts.x - corner.x), value < 0.0);
    }
    let inside = |corner: USizeVec3| are_inside[index(corner)];
    let axes = [USizeVec3::X, USizeVec3::Y, USizeVec3::Z];

    let mut surface = Surface { points: Vec::new(), indices: Vec::new() };
    let mut points: HashMap<USizeVec3, u32> = HashMap::new();
    for corner in corners().filter(|corner| corner.cmplt(counts - 1).all()) {
        let around = [0, 1, 2, 3, 4, 5, 6, 7].map(|bits| corner + USizeVec3::new(bits & 1, bits >> 1 & 1, bits >> 2));
        let within = around.iter().filter(|corner| inside(**corner)).count();
        if within % 8 == 0 {
            continue;
        }
        // The centre of the cell, moved to the surface.
        let mut point = position(corner) + 0.5 * cell;
        for _ in 0..4 {
            let slope = |axis: DVec3| distance(point + 1e-4 * axis) - distance(point - 1e-4 * axis);
            let slope = DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z)).normalize_or_zero();
            point -= distance(point) * slope;
        }
        points.insert(corner, surface.points.len() as u32);
        surface.points.push(point);
    }
    for corner in corners() {
        for turn in 0..3 {
            let [along, right, up] = [0, 1, 2].map(|axis| axes[(turn + axis) % 3]);
            let next = corner + along;
            if next.cmpge(counts).any() || inside(corner) == inside(next) {
                continue;
            }
            let around = [right + up, up, USizeVec3::ZERO, right].map(|back| {
                let cell = corner.cmpge(back).all().then(|| corner - back);
                cell.and_then(|cell| points.get(&cell).copied())
            });
            if let [Some(a), Some(b), Some(c), Some(d)] = around {
                let quad = if inside(corner) { [a, b, c, a, c, d] } else { [a, c, b, a, d, c] };
                surface.indices.extend(quad);
            }
        }
    }
    surface
}

#[cfg(test)]
mod tests {
    use super::*;

    const CENTRE: DVec3 = DVec3::new(0.1, 0.0, -0.1);

    /// The surface of a ball of radius 0.7, and the number of evaluations.
    fn ball(steepest: f64) -> (Surface, usize) {
        let count = std::cell::Cell::new(0);
        let distance = |point: DVec3| {
            count.set(count.get() + 1);
            point.distance(CENTRE) - 0.7
        };
        let surface = surface(distance, steepest, DVec3::new(-1.0, -0.9, -0.85), DVec3::new(1.1, 0.9, 0.65), 0.05);
        (surface, count.get())
    }

    #[test]
    fn the_surface_of_a_ball_is_found_with_fewer_evaluations() {
        let (all, all_count) = ball(f64::INFINITY);
        let (found, count) = ball(1.0);
        assert!(found.points == all.points && found.indices == all.indices);
        // Of at least 43 x 37 x 31 corners.
        assert!(count < all_count - 35_000, "{count} of {all_count}");
        assert!(found.points.iter().all(|point| (point.distance(CENTRE) - 0.7).abs() < 1e-6));
        // A closed surface of triangles without holes has two per point, less four (Euler).
        assert!(found.points.len() > 2000 && found.indices.len() == 3 * (2 * found.points.len() - 4));
        // A bound below the slope of the function.
        assert!(ball(0.5).0.points != all.points);
    }

    #[test]
    fn a_function_without_a_zero_has_no_surface() {
        for value in [1.0, -1.0, f64::INFINITY, f64::NAN] {
            let found = surface(|_| value, 1.0, DVec3::ZERO, DVec3::ONE, 0.1);
            assert!(found.points.is_empty() && found.indices.is_empty(), "{value}");
        }
    }
}
