use glam::DVec2;
use posse::parameters::{BlendSpace, Knots, Parameter, WeightDriver};
use posse::{Crowd, Layer, LayerTime, SkeletonId};

use super::{add_clip, assert_as_reference, assert_x, constant, crowd_of, ramp, rig, step, ticks};
use crate::support::scenes::Numbers;

#[test]
fn knots_weigh_layers_by_a_parameter() {
    let (mut library, skeleton) = rig();
    let clips = [0.0, 1.0, 4.0].map(|x| {
        let values = [x, 0.0, 0.0];
        let track = super::curve(posse::curves::Interpolation::Linear, 3, &[0.0], &values);
        crate::support::build::clip(&mut library, skeleton, vec![(posse::curves::Target::Translation(0), track)])
    });
    let lists: [Vec<[f64; 2]>; 3] =
        [vec![[0.0, 1.0], [1.5, 0.0]], vec![[0.0, 0.0], [1.5, 1.0], [4.0, 0.0]], vec![[1.5, 0.0], [4.0, 2.0]]];
    let knots = lists.map(|knots| library.add_knots(Knots::new(knots).unwrap()));
    let layer = |index: usize| Layer {
        driver: Some(WeightDriver::Knots { parameter: 1, knots: knots[index] }),
        ..Layer::new(clips[index], LayerTime::At(0.0))
    };
    let layers: Vec<Layer> = (0..3).map(layer).collect();
    // By hand: weights 1; 0.5 0.5; 1; 0.5 1 -> (0.5 x 1 + 1 x 4) / 1.5; 2.
    let cases = [(-1.0, 0.0), (0.75, 0.5), (1.5, 1.0), (2.75, 3.0), (9.0, 4.0), (4.0, 4.0), (3e38, 4.0), (-3e38, 0.0)];
    let values: Vec<[f64; 2]> = cases.iter().map(|case| [7.0, case.0]).collect();
    let crowd = crowd_of(skeleton, values.iter().map(|values| (layers.clone(), &values[..])));
    assert_x(&library, &crowd, ticks(0.0), &cases.map(|case| case.1));
}

#[test]
fn a_single_layer_with_a_weight_of_0_leaves_the_rest_pose() {
    let (mut library, skeleton) = rig();
    let clip = ramp(&mut library, skeleton, 1.0, &[]);
    let knots = library.add_knots(Knots::new(vec![[0.0, 0.0], [1.0, 1.0]]).unwrap());
    let driver = Some(WeightDriver::Knots { parameter: 0, knots });
    let layer = Layer { driver, ..Layer::new(clip, LayerTime::At(0.5)) };
    let crowd = crowd_of(skeleton, [(vec![layer], &[0.0][..]), (vec![layer], &[1.0][..]), (vec![layer], &[0.05][..])]);
    // The rest pose, at 0, fills a weight of 0.05 up to 0.1.
    assert_x(&library, &crowd, ticks(0.0), &[0.0, 0.5, 0.25]);
}

/// Layers that play a clip per point of a space.
fn space_layers(library: &mut posse::Library, skeleton: SkeletonId, space: BlendSpace) -> Vec<Layer> {
    let count = space.points().len();
    let space = library.add_blend_space(space);
    let layer = |point: usize| {
        let clip = add_clip(library, skeleton, 1.0 + 0.1 * point as f64, &[], 40 + point as u64);
        let driver = Some(WeightDriver::Point { space, parameters: [0, 1], point });
        Layer { driver, ..Layer::new(clip, LayerTime::At(0.3)) }
    };
    (0..count).map(layer).collect()
}

/// Positions of every kind about a space: at random, on its points, on sides, far away.
fn positions(space: &BlendSpace, size: f64) -> Vec<[f64; 2]> {
    let mut numbers = Numbers::new(8);
    let mut positions: Vec<[f64; 2]> =
        (0..150).map(|_| [numbers.within(-size, size), numbers.within(-size, size)]).collect();
    positions.extend_from_slice(space.points());
    for triangle in space.triangles() {
        let [a, b, c] = triangle.map(|corner| space.points()[corner]);
        positions.push([0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])]);
        positions.push([0.25 * a[0] + 0.75 * c[0], 0.25 * a[1] + 0.75 * c[1]]);
    }
    for far in [10.0, 300.0, 1e4, 1e7, 1e20] {
        positions.extend((0..20).map(|_| [numbers.within(-far, far), numbers.within(-far, far)]));
        positions.extend([[far, 0.3], [-far, 0.7], [0.3, far], [0.2, -far]]);
    }
    positions
}

#[test]
fn blend_spaces_are_within_the_contract_inside_and_outside() {
    let spaces = [
        BlendSpace::new(vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).unwrap(),
        BlendSpace::new(vec![[0.0, 0.0], [0.0, 2.0], [-1.0, 0.0], [1.0, 0.0], [0.1, 5.0], [0.3, -2.0], [3.0, 3.0]])
            .unwrap(),
        // Overlapping triangles, and one apart from them.
        BlendSpace::with_triangles(
            vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [3.0, 3.0], [4.0, 3.0], [3.0, 4.5]],
            vec![[0, 1, 2], [3, 1, 0], [4, 6, 5]],
        )
        .unwrap(),
        BlendSpace::new(vec![[1000.0, 1000.0], [1000.5, 1000.0], [1000.0, 1000.25]]).unwrap(),
        // Small beside large: the sides of the small triangle are near each other as seen from far away.
        kite(vec![[0, 1, 2], [1, 3, 2]]),
        kite(vec![[1, 3, 2], [0, 1, 2]]),
        BlendSpace::new(vec![[0.0, 0.0], [1.0, 0.0], [5e-4, 5e-4]]).unwrap(),
    ];
    for space in spaces {
        let (mut library, skeleton) = rig();
        let positions: Vec<[f64; 2]> = positions(&space, 4.0)
            .into_iter()
            .map(|position| {
                // Engines get the nearest `f32`.
                position.map(|number| f64::from(number as f32))
            })
            .collect();
        let layers = space_layers(&mut library, skeleton, space);
        let crowd = crowd_of(skeleton, positions.iter().map(|position| (layers.clone(), &position[..])));
        assert_as_reference(&library, &crowd, &[step(0.0, 0.0)]);
    }
}

/// A small triangle with a large one on one of its sides.
fn kite(triangles: Vec<[usize; 3]>) -> BlendSpace {
    let points = vec![[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [2000.0, 2000.0]];
    BlendSpace::with_triangles(points, triangles).unwrap()
}

#[test]
fn spaces_of_many_triangles_are_within_the_contract() {
    // A lattice with and without three holes, far from the origin in one case, and the fan of a hundred triangles that
    // overlap.
    let mut numbers = Numbers::new(21);
    for (origin, side, unit) in [(0.0, 14, 1.0), (5000.0, 9, 0.25)] {
        let place = |index: usize, offset: f64| f64::from((origin + unit * (index as f64 + offset)) as f32);
        let points: Vec<[f64; 2]> = (0..side * side)
            .map(|index| [index % side, index / side].map(|index| place(index, numbers.within(-0.3, 0.3))))
            .collect();
        let whole = BlendSpace::new(points.clone()).unwrap();
        let kept = |triangle: &&[usize; 3]| !triangle.iter().any(|corner| [16, 33, 40].contains(corner));
        let triangles: Vec<[usize; 3]> = whole.triangles().iter().filter(kept).copied().collect();
        let space = BlendSpace::with_triangles(points, triangles).unwrap();
        check_many(&space, &around(origin, unit * side as f64, &mut numbers));
        check_many(&whole, &beside_corners(&whole));
    }
    let mut points = vec![[0.0, 0.0], [0.0, 9.0]];
    points.extend((0..100).map(|index| [9.0, 0.0625 * f64::from(index)]));
    let triangles = (0..100).map(|index| [0, 1, index + 2]).collect();
    check_many(&BlendSpace::with_triangles(points, triangles).unwrap(), &around(0.0, 9.0, &mut numbers));
}

/// Random positions in and around a space whose points are from `origin` to `origin + size`.
fn around(origin: f64, size: f64, numbers: &mut Numbers) -> Vec<[f64; 2]> {
    let position = |index: usize| {
        let around = if index.is_multiple_of(8) { 3.0 * size } else { 0.2 * size };
        [0, 1].map(|_| origin + numbers.within(-around, size + around))
    };
    (0..400).map(position).collect()
}

/// Positions outside of a space whose nearest point is on a side of the border, a little before its end. An engine that
/// took the end would be off by that little.
fn beside_corners(space: &BlendSpace) -> Vec<[f64; 2]> {
    let triangles = space.triangles().iter();
    let sides = triangles.flat_map(|&[one, two, three]| [[one, two, three], [two, three, one], [three, one, two]]);
    let has = |ends: [usize; 2]| move |triangle: &&[usize; 3]| ends.iter().all(|end| triangle.contains(end));
    let at_border = |side: &[usize; 3]| space.triangles().iter().filter(has([side[0], side[1]])).count() == 1;
    let mut positions = Vec::new();
    for side in sides.filter(at_border) {
        let [start, end, opposite] = side.map(|point| DVec2::from(space.points()[point]));
        let along = (end - start).normalize();
        let outwards = -along.perp() * along.perp().dot(opposite - start).signum();
        for far in [1.0, 10.0, 100.0].map(|far| far * start.distance(end)) {
            for before in [0.004, 0.01, 0.04, 0.1].map(|part| part * start.distance(end)) {
                positions.push((start + along * before + outwards * far).to_array());
                positions.push((end - along * before + outwards * far).to_array());
            }
        }
    }
    positions
}

/// Checks the poses of instances at positions about a space of many points. Each has layers for the points that have
/// shares there, and for others near it.
fn check_many(space: &BlendSpace, positions: &[[f64; 2]]) {
    let (mut library, skeleton) = rig();
    let clips = [0, 1, 2, 3, 4].map(|seed| add_clip(&mut library, skeleton, 1.0, &[], 60 + seed));
    let id = library.add_blend_space(space.clone());
    let mut crowd = Crowd::new();
    for position in positions {
        // Engines get the nearest `f32`.
        let position = position.map(|number| f64::from(number as f32));
        let order = |point: usize| {
            let [x, y] = [0, 1].map(|axis| space.points()[point][axis] - position[axis]);
            if space.share(point, position) > 0.0 { 0.0 } else { x * x + y * y }
        };
        let mut points: Vec<(f64, usize)> = (0..space.points().len()).map(|point| (order(point), point)).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let layer = |&(_, point): &(f64, usize)| Layer {
            driver: Some(WeightDriver::Point { space: id, parameters: [0, 1], point }),
            ..Layer::new(clips[point % 5], LayerTime::At(0.1 * (point % 7) as f64))
        };
        let layers: Vec<Layer> = points[..8].iter().map(layer).collect();
        let instance = crowd.push(skeleton, &layers).unwrap();
        crowd.set_parameters(instance, position.map(constant).to_vec()).unwrap();
    }
    assert_as_reference(&library, &crowd, &[step(0.0, 0.0)]);
}

#[test]
fn the_shares_of_a_triangle_are_barycentric() {
    let (mut library, skeleton) = rig();
    let space = BlendSpace::with_triangles(vec![[0.0, 0.0], [2.0, 0.0], [0.0, 4.0]], vec![[0, 1, 2]]).unwrap();
    let space = library.add_blend_space(space);
    let layer = |point: usize, library: &mut posse::Library| {
        let clip = ramp(library, skeleton, 8.0, &[]);
        let driver = Some(WeightDriver::Point { space, parameters: [1, 0], point });
        Layer { driver, ..Layer::new(clip, LayerTime::At([0.0, 1.0, 8.0][point])) }
    };
    let layers: Vec<Layer> = (0..3).map(|point| layer(point, &mut library)).collect();
    // By hand, as y, x: inside, on sides, at corners, and outside beside sides and corners.
    let cases = [
        ([1.0, 0.5], 0.25 + 2.0),
        ([0.0, 1.0], 0.5),
        ([2.0, 1.0], 4.5),
        ([0.0, 2.0], 1.0),
        ([4.0, 0.0], 8.0),
        ([-3.0, 1.0], 0.5),
        ([1.0, -7.0], 2.0),
        ([-1.0, -1.0], 0.0),
        ([99.0, 0.0], 8.0),
        ([-5.0, 9.0], 1.0),
    ];
    let crowd = crowd_of(skeleton, cases.iter().map(|(values, _)| (layers.clone(), &values[..])));
    assert_x(&library, &crowd, ticks(2.0), &cases.map(|case| case.1));
}

#[test]
fn drivers_multiply_weights_fades_and_masks() {
    let (mut library, skeleton) = rig();
    let clips = [1, 2, 3].map(|seed| add_clip(&mut library, skeleton, 1.0, &[], seed));
    let mask = library.add_mask(posse::Mask { name: None, skeleton, weights: vec![1.0, 0.5, 0.25] }).unwrap();
    let knots = library.add_knots(Knots::new(vec![[-1.0, 0.1], [0.3, 2.0], [1.0, 0.0]]).unwrap());
    let fade = posse::transitions::Fade {
        start: ticks(0.0),
        length: ticks(1.0),
        shape: posse::transitions::FadeShape::Smooth,
    };
    let mut crowd = Crowd::new();
    let mut numbers = Numbers::new(2);
    for mode in [
        posse::LayerMode::Blend,
        posse::LayerMode::Override,
        posse::LayerMode::Additive(posse::AdditiveReference::First),
    ] {
        for _ in 0..20 {
            let driver = Some(WeightDriver::Knots { parameter: numbers.below(2), knots });
            let layers = [0, 1, 2].map(|index| Layer {
                weight: 0.7,
                driver,
                mode: if index == 0 { posse::LayerMode::Blend } else { mode },
                mask: (index == 2).then_some(mask),
                fade_in: (index == 1).then_some(fade),
                ..Layer::new(clips[index], LayerTime::At(0.2 * index as f64))
            });
            let instance = crowd.push(skeleton, &layers).unwrap();
            let keys = vec![[0.0, numbers.within(-1.5, 1.5)], [2.0, numbers.within(-1.5, 1.5)]];
            crowd.set_parameters(instance, vec![Parameter::new(keys).unwrap(), constant(0.3)]).unwrap();
        }
    }
    assert_as_reference(&library, &crowd, &[step(0.0, 0.4), step(0.4, 1.9)]);
}
