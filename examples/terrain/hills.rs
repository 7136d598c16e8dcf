//! Hills: heights on a grid, and linear between its points.

use posse::glam::{DVec2, DVec3};

/// The metres between two points of the grid, if the place is not too large for a texture.
const CELL: f64 = 0.5;
/// The most points on a side.
const MAX_SIDE: usize = 2048;
/// Waves of the ground: direction in radians, length in metres, height in metres.
const WAVES: [[f64; 3]; 5] = [[0.3, 41.0, 1.6], [1.9, 29.0, 1.0], [2.8, 17.0, 0.35], [0.9, 9.0, 0.1], [1.4, 23.0, 0.5]];

/// The ground of a square around the origin.
pub struct Hills {
    /// The metres between two points.
    pub cell: f64,
    /// The number of points on a side.
    pub side: usize,
    /// The heights in metres, from -x to +x in a row, and rows from -z to +z.
    pub heights: Vec<f32>,
}

impl Hills {
    /// Hills for a disc of this radius.
    pub fn new(radius: f64) -> Self {
        let half = radius + 4.0;
        let cell = CELL.max(2.0 * half / (MAX_SIDE - 1) as f64);
        let side = (2.0 * half / cell).ceil() as usize + 1;
        let middle = 0.5 * (side - 1) as f64;
        let point = |index: usize| cell * (index as f64 - middle);
        let heights = (0..side * side).map(|index| wave(DVec2::new(point(index % side), point(index / side))) as f32);
        Self { cell, side, heights: heights.collect() }
    }

    /// The position in metres of the first point, along both axes.
    pub fn first(&self) -> f64 {
        -0.5 * (self.side - 1) as f64 * self.cell
    }

    /// The height of the ground at x and z: between the four nearest points, as `terrain.wgsl` has it.
    pub fn height(&self, at: DVec2) -> f64 {
        let cells = ((at - self.first()) / self.cell).clamp(DVec2::ZERO, DVec2::splat(self.side as f64 - 1.001));
        let [x, z] = [cells.x as usize, cells.y as usize];
        let part = cells - cells.floor();
        let height = |x: usize, z: usize| f64::from(self.heights[z * self.side + x]);
        let row = |z| height(x, z) + (height(x + 1, z) - height(x, z)) * part.x;
        row(z) + (row(z + 1) - row(z)) * part.y
    }

    /// The point of the grid at a column and a row.
    pub fn point(&self, column: usize, row: usize) -> DVec3 {
        let [x, z] = [column, row].map(|index| self.first() + self.cell * index as f64);
        DVec3::new(x, self.heights[row * self.side + column].into(), z)
    }
}

fn wave(at: DVec2) -> f64 {
    let height = |[direction, length, height]: [f64; 3]| {
        height * (std::f64::consts::TAU * at.dot(DVec2::from_angle(direction)) / length).sin()
    };
    WAVES.into_iter().map(height).sum()
}
