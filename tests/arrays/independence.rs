use posse::bake::{self, ArrayKind, ArrayRequest, FrameGrid, Moment};
use posse::compress::CompressedLibrary;
use posse::cpu::{CpuEngine, InstructionSet};
use posse::packed::PackedLibrary;
use posse::{Library, SkeletonId, demo};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::{fill, layout};
use crate::support::cases::cases;
use crate::support::scenes::scenes;
use crate::support::skip::report_skipped;

/// The arrays of all kinds of all joints, as bits.
fn bits(library: &Library, engine: &CpuEngine, skeleton: SkeletonId, moments: &[Moment]) -> Vec<Vec<u32>> {
    let joints: Vec<usize> = (0..library.skeleton(skeleton).joints().len()).collect();
    let kinds = ArrayKind::ALL.to_vec();
    let layout = layout(library, skeleton, &ArrayRequest { kinds, ..ArrayRequest::of_joints(&joints) });
    let arrays = fill(&layout, moments.len(), |out| layout.sample(engine, moments, out).unwrap());
    arrays.into_iter().map(|array| array.into_iter().map(f32::to_bits).collect()).collect()
}

#[test]
fn each_moment_is_computed_alone() {
    let library = demo::library().unwrap();
    let skeleton = library.skeleton_ids().next().unwrap();
    let mut moments = Vec::new();
    for clip in library.clip_ids() {
        let grid = FrameGrid::new(48.0, library.clip(clip).duration()).unwrap();
        moments.extend((0..grid.len()).map(|frame| grid.moment(clip, frame)));
    }
    assert!(moments.len() > 200);
    let packed = PackedLibrary::new(&library).unwrap();
    let engine = |threads| CpuEngine::from_packed(packed.clone(), threads);
    let all = bits(&library, &engine(1), skeleton, &moments);
    for threads in [2, 3, 64] {
        assert_eq!(bits(&library, &engine(threads), skeleton, &moments), all, "{threads} threads");
    }
    let alone = moments.iter().map(|moment| bits(&library, &engine(1), skeleton, &[*moment]));
    let mut joined = vec![Vec::new(); all.len()];
    alone.for_each(|arrays| joined.iter_mut().zip(arrays).for_each(|(joined, array)| joined.extend(array)));
    assert_eq!(joined, all);
    let backwards: Vec<Moment> = moments.iter().rev().copied().collect();
    for (array, reversed) in all.iter().zip(bits(&library, &engine(2), skeleton, &backwards)) {
        let width = array.len() / moments.len();
        assert!(array.chunks(width).eq(reversed.chunks(width).rev()));
    }
}

#[test]
fn engines_of_one_arithmetic_give_the_same_bits() {
    let fused = [InstructionSet::Avx512, InstructionSet::Avx2];
    if !fused.into_iter().all(InstructionSet::is_available) {
        return report_skipped("the bits of AVX-512 and AVX2: the machine does not have both");
    }
    let mut runner = TestRunner::new(cases(160, 14));
    for case in 0..runner.config().cases {
        let scene = scenes(150, 60).new_tree(&mut runner).unwrap().current().scene();
        let compressed = CompressedLibrary::with_width(&scene.library, 12).unwrap();
        for (library, packed) in [
            (&scene.library, PackedLibrary::new(&scene.library).unwrap()),
            (compressed.library(), compressed.pack().unwrap()),
        ] {
            let engines = fused.map(|set| CpuEngine::from_packed(packed.clone(), 1).with_instructions(set));
            assert_eq!(engines.each_ref().map(bake::arithmetic), ["fused"; 2]);
            for clip in library.clip_ids() {
                let (skeleton, end) = (library.clip(clip).skeleton, library.clip(clip).duration());
                let moments: Vec<Moment> =
                    (0..40).map(|part| Moment::new(clip, end * f64::from(part - 2) / 36.0, 0.01, end)).collect();
                let [one, other] = engines.each_ref().map(|engine| bits(library, engine, skeleton, &moments));
                assert!(one == other, "case {case}, clip {clip:?} differs");
            }
        }
    }
}
