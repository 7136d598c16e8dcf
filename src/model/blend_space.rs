//! Blend spaces: weights of clips by the position of two parameters among points of a plane.

use std::collections::HashSet;

use glam::DVec2;

use crate::error::Error;
use crate::model::no_such;

/// Points of a plane that share a weight of 1: each layer that plays the clip of a point gets that point's share.
///
/// An instance has one layer per clip, with [`WeightDriver::Point`](crate::parameters::WeightDriver::Point) for its
/// point; it has at most eight. For one parameter, give each layer [`Knots`](crate::parameters::Knots) that are 1 at
/// its value and 0 at the values of its neighbours.
///
/// The shares are the barycentric coordinates in the triangle that contains the position. Where triangles overlap, the
/// first one counts. A position outside of all triangles is first moved to the nearest point of their union.
///
/// # Examples
/// ```
/// use posse::parameters::BlendSpace;
///
/// # fn main() -> Result<(), posse::Error> {
/// // Standing, forwards, left and right, by the speeds forwards and to the side.
/// let space = BlendSpace::new(vec![[0.0, 0.0], [0.0, 2.0], [-1.0, 0.0], [1.0, 0.0]])?;
/// assert_eq!((0..4).map(|point| space.share(point, [0.25, 1.0])).collect::<Vec<_>>(), [0.25, 0.5, 0.0, 0.25]);
/// assert_eq!(space.share(1, [0.0, 5.0]), 1.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BlendSpace {
    points: Vec<[f64; 2]>,
    triangles: Vec<[usize; 3]>,
}

/// The triangle at a position, and the shares of its corners, which sum to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    /// The index of the triangle.
    pub triangle: usize,
    /// The shares of its corners, in order.
    pub shares: [f64; 3],
    /// `true` if the triangle contains the position.
    pub contains: bool,
    /// A number that grows with the distance from the position to the triangle: its square, less the square of the
    /// distance from the first corner of the first triangle to the position. Far away, both squares would hide the
    /// difference between two sides.
    pub distance: f64,
    /// The size of the terms of that number, to which its rounding is in proportion.
    pub size: f64,
}

impl BlendSpace {
    /// The largest magnitude of a number of a point.
    pub const FARTHEST: f64 = 1e15;
    /// The least height of a triangle, as a part of its longest side.
    const MIN_HEIGHT: f64 = 1.0 / (1 << 20) as f64;
    /// The part of the terms of a distance by which a later triangle must be nearer: it exceeds their rounding.
    const NEARER: f64 = 1.0 / (1_u64 << 48) as f64;

    /// A blend space with the Delaunay triangles of its points. Where four points lie on a circle, any two triangles of
    /// the four are made.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are fewer than three points, all are on a line, or a number is not from
    /// -1e15 to 1e15.
    pub fn new(points: Vec<[f64; 2]>) -> Result<Self, Error> {
        let error = |reason| Error::Usage(format!("blend space: {reason}"));
        check_points(&points).map_err(error)?;
        let triangles = delaunay(&points).map_err(error)?;
        Ok(Self { points, triangles })
    }

    /// A blend space with triangles by the indices of their corners.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no triangle; if a triangle names a point that does not exist or one point twice, or
    /// lies on a line; or if a number is not from -1e15 to 1e15.
    pub fn with_triangles(points: Vec<[f64; 2]>, triangles: Vec<[usize; 3]>) -> Result<Self, Error> {
        let error = |reason| Error::Usage(format!("blend space: {reason}"));
        check_points(&points).map_err(error)?;
        if let Some(reason) = no_triangles(&triangles) {
            return Err(error(reason));
        }
        for (index, triangle) in triangles.iter().enumerate() {
            check_triangle(&points, triangle).map_err(|reason| error(format!("triangle {index}: {reason}")))?;
        }
        Ok(Self { points, triangles })
    }

    /// All points.
    pub fn points(&self) -> &[[f64; 2]] {
        &self.points
    }

    /// All triangles, by the indices of their corners.
    pub fn triangles(&self) -> &[[usize; 3]] {
        &self.triangles
    }

    /// The share of a point at a position; 0 for a point that is no corner of the triangle there.
    pub fn share(&self, point: usize, position: [f64; 2]) -> f64 {
        let Some(found) = self.find(position) else { return 0.0 };
        let corner = self.triangles[found.triangle].iter().position(|&corner| corner == point);
        corner.map_or(0.0, |corner| found.shares[corner])
    }

    /// The size of the numbers that the shares at a position are computed from. The rounding of an `f32` engine is in
    /// proportion to it.
    pub(crate) fn size(&self, position: [f64; 2]) -> f64 {
        let Some(found) = self.find(position) else { return 1.0 };
        let corners = self.triangles[found.triangle].map(|corner| DVec2::from(self.points[corner]));
        let sides = [0, 1, 2].map(|corner| corners[corner].distance(corners[(corner + 1) % 3]));
        let longest = sides.into_iter().fold(0.0, f64::max);
        let shortest = sides.into_iter().fold(f64::INFINITY, f64::min);
        let away = DVec2::from(position).distance(corners[0]) + longest;
        if !found.contains {
            return away / shortest;
        }
        let area = (corners[1] - corners[0]).perp_dot(corners[2] - corners[0]).abs();
        away * longest / area
    }

    /// The first triangle that contains a position, or else the one nearest to it, and the shares of its corners.
    /// `None` without a triangle.
    pub(crate) fn find(&self, position: [f64; 2]) -> Option<Found> {
        let mut nearest: Option<Found> = None;
        for triangle in 0..self.triangles.len() {
            let found = self.at_triangle(triangle, position);
            if found.contains {
                return Some(found);
            }
            // The nearest point may be on two triangles that overlap. Rounding must not prefer the second one.
            let least = Self::NEARER * found.size;
            if nearest.is_none_or(|nearest| found.distance < nearest.distance - least) {
                nearest = Some(found);
            }
        }
        nearest
    }

    /// The point of a triangle that is nearest to a position.
    pub(crate) fn at_triangle(&self, triangle: usize, position: [f64; 2]) -> Found {
        let corners = self.triangles[triangle].map(|corner| DVec2::from(self.points[corner]));
        let position = DVec2::from(position);
        let area = (corners[1] - corners[0]).perp_dot(corners[2] - corners[0]);
        let opposite = |corner: usize| {
            let [next, last] = [corners[(corner + 1) % 3], corners[(corner + 2) % 3]];
            (next - position).perp_dot(last - position) / area
        };
        let shares = [0, 1, 2].map(opposite);
        if shares.iter().all(|&share| share >= 0.0) {
            return Found { triangle, shares, contains: true, distance: 0.0, size: 0.0 };
        }
        let origin = DVec2::from(self.points[self.triangles[0][0]]);
        let mut nearest = Found { triangle, shares, contains: false, distance: f64::INFINITY, size: 0.0 };
        for first in 0..3 {
            let second = (first + 1) % 3;
            let side = corners[second] - corners[first];
            let along = ((position - corners[first]).dot(side) / side.length_squared()).clamp(0.0, 1.0);
            let (point, wanted) = (corners[first] + side * along - origin, position - origin);
            let distance = point.dot(point - 2.0 * wanted);
            let size = point.length() * (point.length() + 2.0 * wanted.length());
            if distance < nearest.distance {
                let mut shares = [0.0; 3];
                (shares[first], shares[second]) = (1.0 - along, along);
                nearest = Found { triangle, shares, contains: false, distance, size };
            }
        }
        nearest
    }
}

/// Checks the numbers of points.
pub(crate) fn check_points(points: &[[f64; 2]]) -> Result<(), String> {
    for (index, point) in points.iter().enumerate() {
        if let Some(number) = point.iter().find(|number| number.is_nan() || number.abs() > BlendSpace::FARTHEST) {
            return Err(format!("point {index}: {number} is not a number from -1e15 to 1e15"));
        }
    }
    Ok(())
}

/// The message for an empty list of triangles.
pub(crate) fn no_triangles(triangles: &[[usize; 3]]) -> Option<String> {
    triangles.is_empty().then(|| "the list of triangles is empty; leave it out for Delaunay triangles".into())
}

/// Checks that a triangle has three different corners that are not on a line.
pub(crate) fn check_triangle(points: &[[f64; 2]], triangle: &[usize; 3]) -> Result<(), String> {
    if let Some(&corner) = triangle.iter().find(|&&corner| corner >= points.len()) {
        return Err(no_such("point", corner, "blend space", points.len()));
    }
    if triangle.iter().collect::<HashSet<_>>().len() < 3 {
        return Err(format!("it names a point twice: {triangle:?}"));
    }
    let corners = triangle.map(|corner| DVec2::from(points[corner]));
    if is_on_line(corners) {
        return Err(format!("its corners are on a line: {}, {} and {}", corners[0], corners[1], corners[2]));
    }
    Ok(())
}

/// Returns `true` if the height of a triangle is less than a millionth of its longest side.
fn is_on_line(corners: [DVec2; 3]) -> bool {
    let area = (corners[1] - corners[0]).perp_dot(corners[2] - corners[0]).abs();
    let sides = [0, 1, 2].map(|corner| corners[corner].distance_squared(corners[(corner + 1) % 3]));
    let longest = sides.into_iter().fold(0.0, f64::max);
    area <= BlendSpace::MIN_HEIGHT * longest
}

/// The Delaunay triangles of points. Triangles on a line at the border, which rounding makes, are left out.
pub(crate) fn delaunay(points: &[[f64; 2]]) -> Result<Vec<[usize; 3]>, String> {
    if points.len() < 3 {
        return Err(format!("there are {} points; three that are not on a line are needed", points.len()));
    }
    let sites: Vec<_> = points.iter().map(|point| delaunator::Point { x: point[0], y: point[1] }).collect();
    let corners = delaunator::triangulate(&sites).triangles;
    let triangles = corners.chunks_exact(3).map(|corners| [corners[0], corners[1], corners[2]]);
    let mut triangles: Vec<[usize; 3]> =
        triangles.filter(|triangle| !is_on_line(triangle.map(|corner| DVec2::from(points[corner])))).collect();
    if triangles.is_empty() {
        return Err("all points are on a line; give at least one beside it".into());
    }
    triangles.sort_unstable();
    Ok(triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];

    #[test]
    fn shares_are_barycentric_coordinates() {
        let space = BlendSpace::with_triangles(SQUARE.to_vec(), vec![[0, 1, 2], [3, 2, 1]]).unwrap();
        let shares = |position| [0, 1, 2, 3].map(|point| space.share(point, position));
        assert_eq!(shares([0.25, 0.5]), [0.25, 0.25, 0.5, 0.0]);
        assert_eq!(shares([0.75, 0.75]), [0.0, 0.25, 0.25, 0.5]);
        assert_eq!(shares([1.0, 0.0]), [0.0, 1.0, 0.0, 0.0]);
        // On the shared side both give the same.
        assert_eq!(shares([0.25, 0.75]), [0.0, 0.25, 0.75, 0.0]);
        // Outside: the nearest point of the union, on a side and at a corner.
        assert_eq!(shares([0.25, -3.0]), [0.75, 0.25, 0.0, 0.0]);
        assert_eq!(shares([9.0, 7.0]), [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn of_overlapping_triangles_the_first_counts() {
        let space = BlendSpace::with_triangles(SQUARE.to_vec(), vec![[0, 1, 2], [0, 1, 3]]).unwrap();
        assert_eq!(space.share(2, [0.5, 0.25]), 0.25);
        assert_eq!(space.share(3, [0.5, 0.25]), 0.0);
        assert_eq!(space.share(3, [0.75, 0.5]), 0.5);
    }

    #[test]
    fn delaunay_triangles_avoid_sharp_ones() {
        // By hand: of the two diagonals of a flat rhombus, the short one.
        let space = BlendSpace::new(vec![[-4.0, 0.0], [4.0, 0.0], [0.0, 1.0], [0.0, -1.0]]).unwrap();
        assert_eq!(space.share(2, [0.0, 0.0]), 0.5);
        assert_eq!(space.share(0, [-2.0, 0.0]), 0.5);
        assert_eq!(space.triangles().len(), 2);
        // A duplicate is in no triangle.
        let twice = BlendSpace::new(vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]).unwrap();
        assert_eq!(twice.share(1, [1.0, 0.0]) + twice.share(3, [1.0, 0.0]), 1.0);
    }

    #[test]
    fn unusable_spaces_are_refused() {
        let error = |points: &[[f64; 2]], triangles: Option<Vec<[usize; 3]>>| match triangles {
            None => BlendSpace::new(points.to_vec()).unwrap_err().to_string(),
            Some(triangles) => BlendSpace::with_triangles(points.to_vec(), triangles).unwrap_err().to_string(),
        };
        for (points, triangles, reason) in [
            (&SQUARE[..2], None, "there are 2 points"),
            (&[[0.0, 0.0], [0.1, 0.1], [0.3, 0.3]], None, "on a line"),
            (&[[0.0, 0.0], [f64::NAN, 0.1], [0.3, 0.3]], None, "point 1: NaN"),
            (&SQUARE, Some(vec![]), "empty"),
            (&SQUARE, Some(vec![[0, 1, 4]]), "there is no point 4"),
            (&SQUARE, Some(vec![[0, 1, 2], [0, 1, 0]]), "triangle 1: it names a point twice"),
            (&[[0.0, 0.0], [0.1, 0.1], [0.3, 0.3]], Some(vec![[0, 1, 2]]), "triangle 0: its corners are on a line"),
        ] {
            let error = error(points, triangles);
            assert!(error.contains(reason), "{error}");
        }
    }
}
