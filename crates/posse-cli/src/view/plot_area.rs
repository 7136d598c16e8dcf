//! The square in which a blend space is drawn. This file uses neither windows nor devices.

use posse::BlendSpace;

/// A square of the window that shows a rectangle of the positions of two parameters: x to the right, y upwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlotArea {
    /// The left and the upper edge in points of the window.
    pub corner: [f32; 2],
    /// The length of the sides in points of the window.
    pub side: f32,
    /// The least and the greatest x and y.
    pub ranges: [[f64; 2]; 2],
}

impl PlotArea {
    /// The place of a position in the window. A position outside of the ranges has a place on the edge.
    pub fn place(&self, position: [f64; 2]) -> [f32; 2] {
        let [right, up] = [0, 1].map(|axis| {
            let [least, greatest] = self.ranges[axis];
            ((position[axis] - least) / (greatest - least)).clamp(0.0, 1.0) as f32
        });
        [self.corner[0] + right * self.side, self.corner[1] + (1.0 - up) * self.side]
    }

    /// The position at a place in the window. A place outside of the square has a position on its edge.
    pub fn position(&self, place: [f32; 2]) -> [f64; 2] {
        let [right, down] = [0, 1].map(|axis| f64::from((place[axis] - self.corner[axis]) / self.side).clamp(0.0, 1.0));
        let along = |[least, greatest]: [f64; 2], part: f64| least + (greatest - least) * part;
        [along(self.ranges[0], right), along(self.ranges[1], 1.0 - down)]
    }
}

/// The shares of all points of a blend space at a position.
pub fn shares(space: &BlendSpace, position: [f64; 2]) -> Vec<f64> {
    (0..space.points().len()).map(|point| space.share(point, position)).collect()
}

/// The point that has given shares of the points of a blend space: for the shares at a position the nearest point of the triangles.
pub fn shared_point(space: &BlendSpace, shares: &[f64]) -> [f64; 2] {
    let sum = |axis: usize| space.points().iter().zip(shares).map(|(point, share)| point[axis] * share).sum();
    [sum(0), sum(1)]
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
