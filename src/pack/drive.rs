//! Packing of what drivers read: knots, blend spaces and sync marks in the words.

use glam::DVec2;

use crate::model::{BlendSpace, Clip, Knots};
use crate::pack::arrays::{Arrays, Sizes};
use crate::pack::playback::{time_unit, units};
use crate::pack::record::{KnotRecord, NONE, SpaceRecord, SyncMark, TriangleRecord, split};
use crate::pack::triangle_grid::TriangleGrid;

/// Packs knots, and returns the offset of their number in the words.
pub fn pack_knots(arrays: &mut Arrays, knots: &Knots) -> u32 {
    let knots = knots.knots();
    let offset = arrays.push_records(&[knots.len() as u32]);
    for (index, knot) in knots.iter().enumerate() {
        let (value_high, value_low) = split(knot[0]);
        let inverse = knots.get(index + 1).map_or(0.0, |next| finite(1.0 / (next[0] - knot[0])));
        arrays.push_records(&[KnotRecord { value_high, value_low, weight: knot[1] as f32, inverse }]);
    }
    offset
}

/// Packs a blend space, and returns the offset of its record in the words.
pub fn pack_blend_space(arrays: &mut Arrays, space: &BlendSpace) -> u32 {
    let grid = TriangleGrid::new(space);
    let lists: Vec<u32> = grid.cells.iter().map(|triangles| arrays.push_records(triangles)).collect();
    let border = arrays.push_records(&grid.border);
    let border_end = border + grid.border.len() as u32;
    // The list of the last cell ends where the list of the border begins.
    let cells = arrays.push_records(&[lists, vec![border]].concat());
    let (x_high, x_low) = split(grid.low.x);
    let (y_high, y_low) = split(grid.low.y);
    let [cells_per_x, cells_per_y] = grid.cells_per_unit.to_array().map(finite);
    let (triangle_count, side) = (space.triangles().len() as u32, grid.side as u32);
    let record = SpaceRecord {
        triangle_count,
        cells,
        side,
        x_high,
        x_low,
        y_high,
        y_low,
        cells_per_x,
        cells_per_y,
        border,
        border_end,
    };
    let offset = arrays.push_records(&[record]);
    for triangle in space.triangles() {
        let corners = triangle.map(|corner| DVec2::from(space.points()[corner]));
        let [one, two] = [corners[1] - corners[0], corners[2] - corners[0]];
        let area = one.perp_dot(two);
        // The gradient of a share is perpendicular to the opposite side.
        let (share_1, share_2) = (DVec2::new(two.y, -two.x) / area, DVec2::new(-one.y, one.x) / area);
        let (x_high, x_low) = split(corners[0].x);
        let (y_high, y_low) = split(corners[0].y);
        let [corner_0, corner_1, corner_2] = triangle.map(|corner| corner as u32);
        arrays.push_records(&[TriangleRecord {
            corner_0,
            corner_1,
            corner_2,
            x_high,
            x_low,
            y_high,
            y_low,
            share_1_x: finite(share_1.x),
            share_1_y: finite(share_1.y),
            share_2_x: finite(share_2.x),
            share_2_y: finite(share_2.y),
            side_1_x: one.x as f32,
            side_1_y: one.y as f32,
            side_2_x: two.x as f32,
            side_2_y: two.y as f32,
        }]);
    }
    offset
}

/// Packs the sync marks of a clip, and returns their offset in the words; [`NONE`] if it has none.
pub fn pack_marks(arrays: &mut Arrays, clip: &Clip) -> u32 {
    let duration = clip.duration();
    let Some(unit) = time_unit(duration).filter(|_| !clip.markers.is_empty()) else { return NONE };
    let starts: Vec<u64> = clip.markers.iter().map(|&time| units(time, unit)).collect();
    let next_pass = units(duration, unit).wrapping_add(starts[0]);
    let ends = starts[1..].iter().copied().chain([next_pass]);
    let marks: Vec<SyncMark> =
        starts.iter().zip(ends).map(|(&start, end)| sync_mark(start, end.wrapping_sub(start))).collect();
    arrays.push_records(&marks)
}

/// The most words of the marks of a clip, of knots and of blend spaces.
pub fn sizes(clips: &[Clip], knots: &[Knots], spaces: &[BlendSpace]) -> Sizes {
    let marks: usize = clips.iter().map(|clip| SyncMark::WORDS * clip.markers.len()).sum();
    let knots: usize = knots.iter().map(|knots| 1 + KnotRecord::WORDS * knots.knots().len()).sum();
    let space = |space: &BlendSpace| {
        let triangles = space.triangles().len();
        SpaceRecord::WORDS + TriangleRecord::WORDS * triangles + TriangleGrid::most_words(triangles)
    };
    Sizes { words: marks + knots + spaces.iter().map(space).sum::<usize>(), values: 0 }
}

/// The span of a clip from a start on.
pub fn sync_mark(start: u64, length: u64) -> SyncMark {
    let shift = length.leading_zeros() % 64;
    let inverse = (1_u128 << 127).checked_div(u128::from(length << shift)).unwrap_or(0);
    let inverse = u64::try_from(inverse).unwrap_or(u64::MAX);
    SyncMark {
        start_low: start as u32,
        start_high: (start >> 32) as u32,
        length_low: length as u32,
        length_high: (length >> 32) as u32,
        shift,
        inverse_low: inverse as u32,
        inverse_high: (inverse >> 32) as u32,
    }
}

/// The number nearest to an `f64` among the finite `f32`.
fn finite(number: f64) -> f32 {
    (number as f32).clamp(f32::MIN, f32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_holds_the_reciprocal_of_its_length() {
        let inverse = |length: u64| {
            let mark = sync_mark(0, length);
            (mark.shift, u64::from(mark.inverse_high) << 32 | u64::from(mark.inverse_low))
        };
        assert_eq!(inverse(1 << 63), (0, u64::MAX), "2^64, clamped");
        assert_eq!(inverse(3 << 62), (0, 0xaaaa_aaaa_aaaa_aaaa), "2^65 / 3");
        assert_eq!(inverse(3), (62, 0xaaaa_aaaa_aaaa_aaaa));
        assert_eq!(inverse(0), (0, 0));
    }

    #[test]
    fn the_gradients_of_shares_are_1_at_their_corners() {
        let mut arrays = Arrays::default();
        let space = BlendSpace::with_triangles(vec![[1.0, 1.0], [3.0, 1.0], [1.0, 5.0]], vec![[0, 1, 2]]).unwrap();
        let offset = pack_blend_space(&mut arrays, &space);
        let triangle: TriangleRecord = arrays.record(offset + SpaceRecord::WORDS as u32);
        assert_eq!([triangle.share_1_x, triangle.share_1_y], [0.5, 0.0]);
        assert_eq!([triangle.share_2_x, triangle.share_2_y], [0.0, 0.25]);
        assert_eq!([triangle.side_2_x, triangle.side_2_y], [0.0, 4.0]);
        assert!(arrays.words.len() <= sizes(&[], &[], &[space]).words);
        // A space with a grid: a lattice, bent so that no four points are on a circle.
        let points = (0..400).map(|index| [index % 20, index / 20].map(f64::from)).map(|[x, y]| [x + 0.01 * y * y, y]);
        let mut arrays = Arrays::default();
        let space = BlendSpace::new(points.collect()).unwrap();
        pack_blend_space(&mut arrays, &space);
        let words = TriangleRecord::WORDS * space.triangles().len();
        assert!((words + 2000..=sizes(&[], &[], &[space]).words).contains(&arrays.words.len()));
    }
}
