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
/// triangles per edge that it crosses (S. F. F. Gibson, "Constrained elastic surface nets", 1998). The function changes by at most
/// `steepest` per unit of length.
pub fn surface(distance: impl Fn(DVec3) -> f64, steepest: f64, low: DVec3, high: DVec3, cell: f64) -> Surface {
    let counts = ((high - low) / cell).ceil().as_usizevec3() + 1;
    let position = |corner: USizeVec3| low + cell * corner.as_dvec3();
    let index = |corner: USizeVec3| (corner.z * counts.y + corner.y) * counts.x + corner.x;
    let corners = || {
        let USizeVec3 { x, y, z } = counts;
        (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| USizeVec3::new(x, y, z))))
    };
    let mut are_inside: Vec<bool> = Vec::with_capacity(counts.element_product());
    for first in corners().step_by(counts.x) {
        let row_end = are_inside.len() + counts.x;
        while are_inside.len() < row_end {
            let x = counts.x - (row_end - are_inside.len());
            let value = distance(position(first.with_x(x)));
            // The sign is the same for all corners that are nearer than the surface.
            let nearer = (value.abs() / (steepest * cell)).ceil().max(1.0) as usize;
            are_inside.resize(are_inside.len().saturating_add(nearer).min(row_end), value < 0.0);
        }
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
