//! A grid over the triangles of a blend space, so that a position is compared with the few triangles near it.

use std::collections::HashMap;

use glam::{DVec2, IVec2};

use crate::model::BlendSpace;

/// The most triangles of a space without a grid: finding one among more of them takes longer than finding the cell.
const MAX_WITHOUT_GRID: usize = 8;
/// The most entries of all cells per triangle. A grid with more of them is made coarser.
const MAX_ENTRIES: usize = 16;
/// The most pairs of a cell and a triangle that are compared, per triangle.
const MAX_PAIRS: usize = 64;
/// The part of a cell by which it is enlarged on each side, so that the rounding of a position in an `f32` engine does
/// not matter.
const MARGIN: f64 = 0.01;

/// The triangles of a blend space by cells of a grid over its points.
pub struct TriangleGrid {
    /// The cells along x and along y.
    pub side: usize,
    /// The corner of the first cell.
    pub low: DVec2,
    /// The number of cells per unit, along x and along y.
    pub cells_per_unit: DVec2,
    /// For each cell, row by row, the triangles that may contain a position in it, in order.
    pub cells: Vec<Vec<u32>>,
    /// The triangles at the border of their union, in order: one of them or of the position's cell is nearest to a
    /// position that no triangle contains.
    pub border: Vec<u32>,
}

impl TriangleGrid {
    /// The finest grid that is useful for a space: of up to as many cells as triangles.
    pub fn new(space: &BlendSpace) -> Self {
        let count = space.triangles().len();
        let mut side = if count > MAX_WITHOUT_GRID { (count as f64).sqrt().ceil() as usize } else { 1 };
        while side > 1 {
            if let Some(grid) = Self::with_side(space, side) {
                return grid;
            }
            side /= 2;
        }
        let cells = vec![(0..count as u32).collect()];
        Self { side: 1, low: DVec2::ZERO, cells_per_unit: DVec2::ZERO, cells, border: Vec::new() }
    }

    /// The most words of the lists of a grid over a number of triangles.
    pub fn most_words(triangles: usize) -> usize {
        // (sqrt(n) + 1)^2 is at most 2 n + 2, and one more offset ends the last cell.
        2 * triangles + 3 + (MAX_ENTRIES + 1) * triangles
    }

    /// A grid of this many cells along x and y. `None` if it has too many entries, or if an `f32` engine could not find
    /// the cell of a position.
    fn with_side(space: &BlendSpace, side: usize) -> Option<Self> {
        let corners = space.triangles().iter().flatten().map(|&corner| DVec2::from(space.points()[corner]));
        let (low, high) =
            corners.fold((DVec2::MAX, DVec2::MIN), |(low, high), point| (low.min(point), high.max(point)));
        let cells_per_unit = DVec2::splat(side as f64) / (high - low);
        let rounding = low.abs() * cells_per_unit / (1_u64 << 46) as f64;
        if cells_per_unit.max_element() > 1e20 || cells_per_unit.min_element() < 1e-20 || rounding.max_element() > 1e-3
        {
            return None;
        }
        let mut cells = vec![Vec::new(); side * side];
        let (mut entries, mut pairs) = (0, 0);
        for (index, triangle) in (0_u32..).zip(space.triangles()) {
            let corners = triangle.map(|corner| (DVec2::from(space.points()[corner]) - low) * cells_per_unit);
            let [first, last] = cells_around(&corners, side);
            for row in first.y..=last.y {
                for column in first.x..=last.x {
                    pairs += 1;
                    if !touches(&corners, IVec2::new(column, row).as_dvec2()) {
                        continue;
                    }
                    entries += 1;
                    cells[row as usize * side + column as usize].push(index);
                }
                if entries > MAX_ENTRIES * space.triangles().len() || pairs > MAX_PAIRS * space.triangles().len() {
                    return None;
                }
            }
        }
        Some(Self { side, low, cells_per_unit, cells, border: border(space) })
    }
}

/// The first and the last cell that a triangle can touch. Its corners are in cells.
fn cells_around(corners: &[DVec2; 3], side: usize) -> [IVec2; 2] {
    let low = corners[0].min(corners[1]).min(corners[2]) - MARGIN;
    let high = corners[0].max(corners[1]).max(corners[2]) + MARGIN;
    [low, high].map(|cell| cell.floor().as_ivec2().clamp(IVec2::ZERO, IVec2::splat(side as i32 - 1)))
}

/// True unless a side of a triangle separates it from an enlarged cell. The corners of the triangle are in cells, and
/// `cell` is the low corner of the cell.
fn touches(corners: &[DVec2; 3], cell: DVec2) -> bool {
    let (middle, half) = (cell + 0.5, 0.5 + MARGIN);
    (0..3).all(|first| {
        let [start, next, opposite] = [0, 1, 2].map(|offset| corners[(first + offset) % 3]);
        let outwards = (next - start).perp() * -(next - start).perp_dot(opposite - start).signum();
        outwards.dot(middle - start) <= half * (outwards.x.abs() + outwards.y.abs())
    })
}

/// The triangles with a corner at the border of the union of all triangles.
///
/// A side between two triangles that lie on opposite sides of it is inside of the union. If all sides at a corner are,
/// then the triangles around it cover its surroundings, so that neither the corner nor any place on its triangles near
/// it is at the border.
fn border(space: &BlendSpace) -> Vec<u32> {
    let mut sides: HashMap<[usize; 2], [usize; 2]> = HashMap::new();
    for triangle in space.triangles() {
        for first in 0..3 {
            let [start, next, opposite] = [0, 1, 2].map(|offset| triangle[(first + offset) % 3]);
            let (start, next) = (start.min(next), start.max(next));
            let [from, to, beside] = [start, next, opposite].map(|point| DVec2::from(space.points()[point]));
            let is_left = (to - from).perp_dot(beside - from) > 0.0;
            sides.entry([start, next]).or_default()[usize::from(is_left)] += 1;
        }
    }
    let mut at_border = vec![false; space.points().len()];
    for (ends, _) in sides.into_iter().filter(|(_, triangles)| *triangles != [1, 1]) {
        ends.into_iter().for_each(|point| at_border[point] = true);
    }
    let triangles = (0_u32..).zip(space.triangles());
    let touching = triangles.filter(|(_, corners)| corners.iter().any(|&corner| at_border[corner]));
    touching.map(|(index, _)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The points of a square lattice, moved a little, with their Delaunay triangles.
    fn lattice(side: usize) -> BlendSpace {
        let place = |index: usize, seed: usize| (index as f64) + ((index * 7919 + seed * 104_729) % 97) as f64 / 400.0;
        let points =
            (0..side * side).map(|index| [place(index % side, index / side), place(index / side, index % side)]);
        BlendSpace::new(points.collect()).unwrap()
    }

    #[test]
    fn few_triangles_are_one_cell() {
        let grid = TriangleGrid::new(&lattice(2));
        assert_eq!((grid.side, grid.cells, grid.border), (1, vec![vec![0, 1]], vec![]));
    }

    #[test]
    fn the_border_of_a_fan_is_its_outer_points() {
        // A hexagon around its middle: all triangles touch the border. With a ring of six around it, the inner ones do
        // not.
        let ring = |radius: f64| {
            (0..6).map(move |corner| {
                let (sine, cosine) = (f64::from(corner) * 60.0_f64.to_radians()).sin_cos();
                [radius * cosine, radius * sine]
            })
        };
        let points: Vec<[f64; 2]> = std::iter::once([0.0, 0.0]).chain(ring(1.0)).chain(ring(2.0)).collect();
        let space = BlendSpace::new(points).unwrap();
        let inner = |triangle: &[usize; 3]| triangle.iter().all(|&corner| corner < 7);
        let expected: Vec<u32> =
            (0..).zip(space.triangles()).filter(|(_, triangle)| !inner(triangle)).map(|(index, _)| index).collect();
        assert_eq!(border(&space), expected);
        assert_eq!(expected.len(), 12);
    }

    #[test]
    fn a_cell_has_the_triangle_of_each_of_its_positions() {
        let space = lattice(30);
        let grid = TriangleGrid::new(&space);
        let entries: usize = grid.cells.iter().map(Vec::len).sum();
        assert!(grid.side >= 40 && entries < 6 * space.triangles().len(), "{}, {entries}", grid.side);
        assert!(grid.border.len() < 8 * 30, "{}", grid.border.len());
        for index in 0..20_000_u32 {
            let position =
                [12_345, 54_321].map(|seed| f64::from(index.wrapping_mul(seed) % 99_991) / 99_991.0 * 34.0 - 2.0);
            let found = space.find(position).unwrap();
            let cell = (DVec2::from(position) - grid.low) * grid.cells_per_unit;
            let cell = cell.floor().as_ivec2().clamp(IVec2::ZERO, IVec2::splat(grid.side as i32 - 1));
            let cell = &grid.cells[cell.y as usize * grid.side + cell.x as usize];
            let wanted = if found.contains { cell } else { &grid.border };
            assert!(wanted.contains(&(found.triangle as u32)), "{position:?}: {found:?}");
        }
    }

    #[test]
    fn a_grid_of_triangles_that_overlap_is_coarse() {
        // Each of 400 triangles covers the whole.
        let mut points = vec![[0.0, 0.0], [0.0, 9.0]];
        points.extend((0..400).map(|index| [9.0, f64::from(index) * 1e-3]));
        let triangles: Vec<[usize; 3]> = (0..400).map(|index| [0, 1, index + 2]).collect();
        let grid = TriangleGrid::new(&BlendSpace::with_triangles(points, triangles).unwrap());
        assert!((1..=5).contains(&grid.side), "{}", grid.side);
    }
}
