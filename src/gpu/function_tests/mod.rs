//! Tests of single shader functions on the GPU, against exact or `f64` arithmetic.

mod harness;
mod skin_formats;

use glam::{DAffine3, DQuat, DVec3, DVec4};

use crate::gpu::function_tests::harness::{Random, run, single, words};
use crate::model::Timeline;
use crate::pack::Arrays;
use crate::pack::record::{MODE_FOURTH, MODE_SWAPPED_X, MODE_UPPER, NONE, QUAT_SHORT_ARC, split};
use crate::pack::{Beyond, PackedTimeline};
use crate::reference::search;

/// The angle between the rotations of two unit quaternions.
fn angle(a: DQuat, b: DQuat) -> f64 {
    4.0 * (0.5 * (a - b).length()).asin()
}

#[test]
fn slerp_is_right_within_3e_7_rad() {
    let mut random = Random(1);
    let mut truth = Vec::new();
    let mut values = Vec::new();
    for case in 0..20_000 {
        let start = random.rotation();
        let axis = random.vector().truncate().normalize();
        // The last ones are about as far apart as short arcs may be.
        let turn = match case / 4 % 3 {
            0 => random.within(0.0..std::f64::consts::PI),
            1 => 10.0_f64.powf(random.within(-9.0..0.0)),
            _ => 2.0 * (f64::from(QUAT_SHORT_ARC) + random.within(-1e-6..1e-6)).acos(),
        };
        let end = single(start * DQuat::from_axis_angle(axis, turn));
        let fraction = f64::from([0.0, 0.5, 1.0, random.within(0.0..1.0)][case % 4] as f32);
        values.extend([start, end].map(|q| q.as_quat().to_array()));
        values.push([fraction as f32; 4]);
        let (a, b) = (start.normalize(), end.normalize());
        let arc = 2.0 * (a - b).length().atan2((a + b).length());
        let weight = |part: f64| if arc < 1e-12 { part } else { (part * arc).sin() / arc.sin() };
        truth.push(a * weight(1.0 - fraction) + b * weight(fraction));
    }
    let body = "return quat_slerp(value_load(3u * i), value_load(3u * i + 1u), value_load(3u * i + 2u).x);";
    let found = run(truth.len(), body, &[], &values).into_iter().map(DQuat::from_vec4);
    let errors = found.zip(&truth).map(|(found, &truth)| angle(found, truth).max((found.length() - 1.0).abs()));
    let worst = errors.fold(0.0, f64::max);
    assert!(worst < 3e-7, "{worst} rad");
}

#[test]
fn any_quaternion_is_normalised() {
    let mut random = Random(2);
    let mut values: Vec<[f32; 4]> = vec![[0.0; 4], [f32::MAX; 4], [-1e-29; 4], [0.0, 1e-40, 0.0, 0.0]];
    for _ in 0..5000 {
        let size = 10.0_f64.powf(random.within(-29.0..38.0));
        values.push((random.vector().normalize() * size).as_vec4().to_array());
    }
    let fallback = DQuat::from_xyzw(0.6, 0.0, 0.8, 0.0);
    let body = |fallback: &str| format!("return quat_normalize(value_load(i), {fallback});");
    let found = run(values.len(), &body("vec4(0.6, 0.0, 0.8, 0.0) * 7.0"), &[], &values);
    for (found, value) in found.into_iter().zip(&values) {
        let whole = DVec4::from_array(value.map(f64::from));
        let truth = if whole.length() > 1e-30 { DQuat::from_vec4(whole.normalize()) } else { fallback };
        assert!(angle(DQuat::from_vec4(found), truth) < 5e-7, "{value:?}: {found}");
    }
    assert_eq!(run(1, &body("vec4(0.0)"), &[], &values)[0], DVec4::W, "zero length becomes the identity");
}

/// WGSL that returns a pair of words in four parts of 16 bits, which an `f32` holds exactly.
const PARTS: &str = "return vec4<f32>(vec4(p.x & 0xffffu, p.x >> 16u, p.y & 0xffffu, p.y >> 16u));";

fn joined(parts: DVec4) -> u64 {
    let [a, b, c, d] = parts.to_array().map(|part| part as u64);
    a | b << 16 | c << 32 | d << 48
}

#[test]
fn words_are_multiplied_exactly() {
    let mut random = Random(3);
    let pairs: Vec<u32> = (0..20_000).map(|_| random.rough_bits() as u32).collect();
    let found =
        run(10_000, &format!("let p = phase_multiply(words[2u * i], words[2u * i + 1u]); {PARTS}"), &pairs, &[]);
    for (found, pair) in found.into_iter().zip(pairs.chunks(2)) {
        assert_eq!(joined(found), u64::from(pair[0]) * u64::from(pair[1]), "{pair:?}");
    }
}

#[test]
fn passes_are_counted_exactly() {
    let mut random = Random(4);
    let cases: Vec<[u64; 3]> = (0..10_000).map(|_| [(); 3].map(|()| random.rough_bits())).collect();
    // Ticks, and the 128 bits of passes per tick.
    let input: Vec<u32> = cases.iter().flat_map(|case| case.map(words)).flatten().collect();
    let body = "var layer: LayerRecord;
        layer.passes_0 = words[6u * i + 2u];
        layer.passes_1 = words[6u * i + 3u];
        layer.passes_2 = words[6u * i + 4u];
        layer.passes_3 = words[6u * i + 5u];
        let passes = phase_passes(layer, vec2(words[6u * i], words[6u * i + 1u]));";
    let fractions = run(cases.len(), &format!("{body} let p = passes.fraction; {PARTS}"), &input, &[]);
    let counts =
        run(cases.len(), &format!("{body} let p = vec2(passes.count, u32(passes.many)); {PARTS}"), &input, &[]);
    for ((fraction, count), [ticks, low, high]) in fractions.into_iter().zip(counts).zip(cases) {
        let [low, high] = [low, high].map(|half| u128::from(half) * u128::from(ticks));
        // In units of 2^-96 and 2^-32.
        let whole = high + (low >> 64);
        let truth = ((whole as u64) << 32) | (low as u64 >> 32);
        assert_eq!(joined(fraction), truth, "{ticks:x} {low:x} {high:x}");
        let (passes, many) = ((whole >> 32) as u32, whole >> 64 > 0);
        assert_eq!(joined(count), u64::from(passes) | u64::from(many) << 32, "{ticks:x} {low:x} {high:x}");
    }
}

#[test]
fn a_fraction_of_a_length_is_cut_to_the_last_bit() {
    let mut random = Random(5);
    let cases: Vec<[u64; 2]> = (0..10_000).map(|_| [random.rough_bits(), random.rough_bits()]).collect();
    let input: Vec<u32> = cases.iter().flat_map(|case| case.map(words)).flatten().collect();
    let body = "let w = 4u * i;
        let p = phase_scale(vec2(words[w], words[w + 1u]), vec2(words[w + 2u], words[w + 3u]));";
    for (found, [fraction, length]) in run(cases.len(), &format!("{body} {PARTS}"), &input, &[]).into_iter().zip(cases)
    {
        let truth = ((u128::from(fraction) * u128::from(length)) >> 64) as u64;
        assert_eq!(joined(found), truth, "{fraction:x} of {length:x}");
    }
}

#[test]
fn positions_become_seconds_exact_to_47_bits() {
    let mut random = Random(6);
    let cases: Vec<u64> = (0..10_000).map(|_| random.rough_bits()).collect();
    let input: Vec<u32> = cases.iter().flat_map(|&case| words(case)).collect();
    let body = "var clip: ClipRecord;
        clip.time_unit = 1.0 / 1048576.0;
        let time = phase_time(vec2(words[2u * i], words[2u * i + 1u]), clip);
        return vec4(time.high, time.low, 0.0, 0.0);";
    for (found, position) in run(cases.len(), body, &input, &[]).into_iter().zip(cases) {
        let truth = position as f64 * 2.0_f64.powi(-52);
        let error = (found.x + found.y - truth).abs();
        assert!(error <= 2.0_f64.powi(-52 + 17), "{position:x}: {error:e} s off");
    }
}

#[test]
fn keys_are_found_on_any_timeline() {
    let mut random = Random(6);
    let mut timelines = Vec::new();
    for first in [0.0, -3.0, 1000.0, 1e5] {
        timelines.push((0..3000).map(|key| first + f64::from(key) / 1000.0).collect());
        timelines.push((0..3000).map(|key| first + f64::from(key) / 1000.0 + random.within(0.0..2e-4)).collect());
        timelines.push((0..3000).map(|key| first + (f64::from(key) / 1000.0).powi(2)).collect());
        timelines.push(vec![first, first + 0.25]);
    }
    let timelines: Vec<Timeline> = timelines.into_iter().map(|times| Timeline::new(times).unwrap()).collect();
    let mut arrays = Arrays::default();
    let mut queries: Vec<(u32, f32, f32)> = Vec::new();
    let mut truth = Vec::new();
    for timeline in &timelines {
        let record = PackedTimeline::new(&mut arrays, timeline, Beyond::default()).record(2, NONE);
        let offset = arrays.push_records(&[record]);
        for case in 0..1000 {
            let key = timeline.times()[random.bits() as usize % timeline.len()];
            let time = if case % 3 == 0 { key } else { random.within(timeline.first() - 0.1..timeline.last() + 0.1) };
            let (high, low) = split(time);
            queries.push((offset, high, low));
            truth.push((timeline, time));
        }
    }
    let spans = search_all(&mut arrays, &queries);
    for (found, (timeline, time)) in spans.into_iter().zip(truth) {
        let [row, next, fraction, interval] = found.to_array();
        let expected = search::find(timeline, time);
        // Just before and just after a key, key index plus fraction is nearly the same.
        let error = (row / 2.0 + fraction) - (expected.key as f64 + expected.fraction);
        let key = (row / 2.0) as usize;
        let gap = timeline.times().get(key + 1).map_or(1.0, |after| after - timeline.times()[key]);
        let allowed = 2e-7 + time.abs() * 2.0_f64.powi(-46) / gap;
        assert!(error.abs() <= allowed, "{time} s from {} s: {found}, {expected:?}", timeline.first());
        let hit = interval == 0.0;
        assert_eq!(next, if hit { 0.0 } else { 2.0 });
        // A time very near a key may count as a hit; the time of the key itself must.
        let beside = timeline.times().iter().any(|key| (time - key).abs() <= time.abs() * 2.0_f64.powi(-46));
        assert!(if hit { expected.hit || beside } else { !expected.hit }, "{time} s: {found}, {expected:?}");
        assert!(interval == 0.0 || (interval - gap).abs() <= gap * allowed, "{interval}, not {gap}");
    }
}

/// The spans that the kernel's search finds: row, next, fraction and interval. A query is the offset of a timeline, and
/// the two parts of a time.
fn search_all(arrays: &mut Arrays, queries: &[(u32, f32, f32)]) -> Vec<DVec4> {
    let first_query = arrays.words.len();
    arrays.words.extend(queries.iter().flat_map(|&(offset, high, low)| [offset, high.to_bits(), low.to_bits()]));
    let body = format!(
        "let at = {first_query}u + 3u * i;
        let time = Time(bitcast<f32>(words[at + 1u]), bitcast<f32>(words[at + 2u]));
        let span = search_timeline(timeline_load(words[at]), time);
        return vec4(f32(span.row), f32(span.next), span.fraction, span.interval);"
    );
    run(queries.len(), &body, &arrays.words, &[])
}

#[test]
fn matrices_are_composed_and_multiplied() {
    let mut random = Random(7);
    let mut values: Vec<[f32; 4]> = Vec::new();
    let mut truth = Vec::new();
    for _ in 0..3000 {
        let mut matrix = || {
            let (translation, scale) = (random.vector().as_vec4(), random.vector().as_vec4());
            let rotation = random.rotation();
            values.extend([translation.to_array(), rotation.as_quat().to_array(), scale.to_array()]);
            let [translation, scale] = [translation, scale].map(|vector| vector.truncate().as_dvec3());
            DAffine3::from_scale_rotation_translation(scale, rotation, translation)
        };
        truth.push(matrix() * matrix());
    }
    let body = "let at = 6u * (i / 3u);
        let left = matrix_compose(value_load(at).xyz, value_load(at + 1u), value_load(at + 2u).xyz);
        let right = matrix_compose(value_load(at + 3u).xyz, value_load(at + 4u), value_load(at + 5u).xyz);
        let product = matrix_multiply(left, right);
        return array(product.x, product.y, product.z)[i % 3u];";
    for (row, found) in run(3 * truth.len(), body, &[], &values).into_iter().enumerate() {
        let matrix = &truth[row / 3];
        let linear = matrix.matrix3.transpose().to_cols_array_2d()[row % 3];
        let expected = DVec3::from_array(linear).extend(matrix.translation[row % 3]);
        assert!((found - expected).abs().max_element() < 1e-6, "row {row}: {found}, expected {expected}");
    }
}

#[test]
fn splines_follow_the_formula_of_gltf() {
    let mut random = Random(8);
    let cases: Vec<([DVec4; 6], f64)> = (0..5000)
        .map(|_| ([(); 6].map(|()| random.vector().as_vec4().as_dvec4()), f64::from(random.within(0.0..1.0) as f32)))
        .collect();
    let single = |vector: &DVec4| vector.as_vec4().to_array();
    let values: Vec<[f32; 4]> =
        cases.iter().flat_map(|(keys, t)| keys.iter().map(single).chain([[*t as f32; 4]])).collect();
    let body = "let span = Span(0u, 3u, value_load(7u * i + 6u).x, 0.75);
        let loaded = sample_load(7u * i, MODE_CUBIC, span);
        return sample_cubic(sample_keys(loaded, 7u * i, MODE_CUBIC, 0.0, span, PART_TRANSLATION), span);";
    for (found, (keys, t)) in run(cases.len(), body, &[], &values).into_iter().zip(cases) {
        let [_, start, leaving, arriving, end, _] = keys;
        let (t2, t3) = (t * t, t * t * t);
        let ends = start * (2.0 * t3 - 3.0 * t2 + 1.0) + end * (3.0 * t2 - 2.0 * t3);
        let expected = ends + (leaving * (t3 - 2.0 * t2 + t) + arriving * (t3 - t2)) * 0.75;
        assert!((found - expected).abs().max_element() < 4e-7, "at {t}: {found}, expected {expected}");
    }
}

#[test]
fn codes_become_numbers_and_rotations() {
    let element = |halves: [[i16; 4]; 2]| bytemuck::cast::<[[i16; 4]; 2], [f32; 4]>(halves);
    // With a step of 2^-15, codes of 0.5 and -0.25 are 16384 and -8192. 1 - 0.5^2 - 0.5^2 - 0.5^2 is 0.5^2.
    let (half, quarter) = (1 << 14, -(1 << 13));
    let values = [element([[half, quarter, i16::MIN, 1], [half, -half, half, i16::MAX]])];
    let step = 2.0_f64.powi(-15);
    let lower = DVec4::new(0.5, -0.25, -1.0, 0.0);
    let upper = DVec4::new(0.5, -0.5, 0.5, 0.0);
    let rest = (1.0 - 3.0 * 0.25_f64).sqrt();
    for (part, mode, wanted) in [
        ("PART_TRANSLATION", 0, lower),
        ("PART_TRANSLATION", MODE_UPPER, upper),
        ("PART_SCALE", 0, lower),
        ("PART_SCALE", MODE_FOURTH, DVec3::splat(step).extend(0.0)),
        ("PART_SCALE", MODE_UPPER | MODE_FOURTH, DVec3::splat(1.0 - step).extend(0.0)),
        ("PART_ROTATION", MODE_UPPER, DVec4::new(0.5, -0.5, 0.5, rest)),
        ("PART_ROTATION", MODE_UPPER | MODE_SWAPPED_X, DVec4::new(rest, -0.5, 0.5, 0.5)),
        ("PART_ROTATION", MODE_UPPER | (2 * MODE_SWAPPED_X), DVec4::new(0.5, rest, 0.5, -0.5)),
        ("PART_ROTATION", MODE_UPPER | (3 * MODE_SWAPPED_X), DVec4::new(0.5, -0.5, rest, 0.5)),
    ] {
        let body = format!(
            "let mode = MODE_LINEAR | MODE_QUANTIZED | {mode}u;
            return sample_any(0u, mode, {step:e}, Span(0u, 0u, 0.0, 0.0), {part}, {part} == PART_ROTATION);"
        );
        let found = run(1, &body, &[], &values)[0];
        assert!((found - wanted).abs().max_element() < 2e-7, "{part}, {mode}: {found}, not {wanted}");
    }
}
