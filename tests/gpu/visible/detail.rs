use posse::curves::Target;
use posse::gpu::VisibleInstance;
use posse::{
    AdditiveReference, Clip, Crowd, Layer, LayerMode, LayerTime, Library, Mask, Outputs, Poses, Skeleton, demo,
};

use super::{ALL, Stage, VISIBLE, branches, tree};
use crate::gpu::{NOW, assert_right};
use crate::support::build;
use crate::support::scenes::Numbers;

/// The joints of a skeleton level by level. The level of a joint is found by walking up from it.
fn level_order(skeleton: &Skeleton) -> Vec<usize> {
    let joints = skeleton.joints();
    let level = |joint: usize| std::iter::successors(joints[joint].parent, |&above| joints[above].parent).count();
    let mut order: Vec<usize> = (0..joints.len()).collect();
    order.sort_by_key(|&joint| (level(joint), joint));
    order
}

/// The library with tracks of only these joints. Tracks of weights and properties stay.
fn without_others(library: &Library, joints: &[usize]) -> Library {
    let mut less = Library::new();
    library.skeletons().iter().for_each(|skeleton| _ = less.add_skeleton(skeleton.clone()));
    library.skins().iter().for_each(|skin| _ = less.add_skin(skin.clone()).unwrap());
    library.masks().iter().for_each(|mask| _ = less.add_mask(mask.clone()).unwrap());
    for clip in library.clips() {
        let mut tracks = clip.tracks.clone();
        tracks.retain(|track| match track.target {
            Target::Translation(joint)
            | Target::Rotation(joint)
            | Target::EulerAngles(joint)
            | Target::Scale(joint) => joints.contains(&joint),
            Target::Weights(_) | Target::Property(_) => true,
        });
        less.add_clip(Clip { tracks, ..clip.clone() }).unwrap();
    }
    less
}

/// Instances with one layer each, at a fixed time in a clip of a library.
fn plain(library: &Library, instances: usize) -> Crowd {
    let clips: Vec<_> = library.clip_ids().collect();
    let mut numbers = Numbers::new(1);
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        let clip = clips[instance % clips.len()];
        let layer = Layer::new(clip, LayerTime::At(numbers.within(0.1, 0.9)));
        crowd.push(library.clip(clip).skeleton, &[layer]).unwrap();
    }
    crowd
}

/// Instances with three layers, of all modes, one of them with a mask.
fn layered(library: &mut Library, instances: usize) -> Crowd {
    let clips: Vec<_> = library.clip_ids().collect();
    let skeleton = library.clips()[0].skeleton;
    let weights = (0..library.skeleton(skeleton).joints().len()).map(|joint| 0.25 * (joint % 6) as f64).collect();
    let mask = library.add_mask(Mask { name: None, skeleton, weights }).unwrap();
    let mut numbers = Numbers::new(2);
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        let mut layer = |number: usize| {
            let clip = clips[(instance + number) % clips.len()];
            Layer { weight: numbers.within(0.2, 0.8), ..Layer::new(clip, LayerTime::At(numbers.within(0.1, 0.9))) }
        };
        let modes = [LayerMode::Override, LayerMode::Additive(AdditiveReference::First)];
        let layers = [
            layer(0),
            Layer { mask: Some(mask), ..layer(1) },
            Layer { mode: modes[instance % 2], mask: (instance % 3 == 0).then_some(mask), ..layer(2) },
        ];
        crowd.push(skeleton, &layers).unwrap();
    }
    crowd
}

/// Asserts that each instance with fewer joints is posed as by clips that drive only those joints.
#[track_caller]
fn assert_detail(library: Library, crowd: Crowd, outputs: Outputs, joints: impl Fn(usize) -> u32) {
    let order = level_order(&library.skeletons()[0]);
    let stage = Stage::new(library, crowd, outputs, VISIBLE);
    stage.write_sentinel();
    stage.list_instances(|instance| Some((joints(instance), 1)));
    stage.run_frame(NOW, 0);
    for instance in 0..stage.crowd.len() {
        let wanted = &order[..order.len().min(joints(instance) as usize)];
        let less = without_others(&stage.library, wanted);
        let poses = Poses { instances: vec![stage.pose(instance)] };
        assert_right(&less, &stage.part(&[instance]), NOW, outputs, &poses);
    }
}

#[test]
fn levels_of_a_small_tree_are_as_worked_by_hand() {
    // Joints 0 and 4 are roots. The children of 0 are 1, whose child is 2, and 3, whose child is 5.
    let library = tree(&[None, Some(0), Some(1), Some(0), None, Some(3)]);
    let by_hand = [0, 4, 1, 3, 2, 5];
    let stage = Stage::new(library.clone(), plain(&library, 8), Outputs::ALL, VISIBLE);
    stage.list_instances(|instance| Some((instance as u32, 1)));
    stage.run_frame(NOW, 0);
    let rest = library.skeletons()[0].joints()[0].rest;
    for instance in 0..8 {
        let pose = stage.pose(instance);
        for (joint, local) in pose.local.iter().enumerate() {
            let sampled = by_hand[..instance.min(6)].contains(&joint);
            let at_rest = local.translation.abs_diff_eq(rest.translation, 1e-7) && local.rotation == rest.rotation;
            assert_eq!(at_rest, !sampled, "joint {joint} of the first {instance}");
        }
    }
}

#[test]
fn rigs_of_all_sizes_are_posed_with_fewer_joints() {
    // Rigs that fill a workgroup, several instances per workgroup, several joints per lane, matrices in storage.
    for joints in [2, 6, 24, 33, 60, 100, 150, 200, 300, 530] {
        let library = branches(joints, 13);
        let details = [0, 1, 2, joints as u32 / 5, joints as u32 / 2, joints as u32 - 1, joints as u32, ALL, ALL - 1];
        for outputs in [Outputs::ALL, Outputs::SKIN] {
            assert_detail(library.clone(), plain(&library, 20), outputs, |instance| details[instance % details.len()]);
        }
        let mut library = library;
        let crowd = layered(&mut library, 12);
        assert_detail(library, crowd, Outputs::ALL, |instance| details[instance % details.len()]);
    }
}

#[test]
fn a_human_with_fewer_joints_keeps_weights_and_properties() {
    let library = demo::library().unwrap();
    assert_detail(library.clone(), plain(&library, 67), Outputs::ALL, |instance| instance as u32);
    let mut library = library;
    let crowd = layered(&mut library, 67);
    assert_detail(library, crowd, Outputs::ALL, |instance| instance as u32);
}

#[test]
fn joints_with_matrices_keep_them() {
    let mut joints = vec![build::joint(None, [0.0; 3]), build::joint(Some(0), [1.0, 0.0, 0.0])];
    joints.push(build::joint(Some(1), [0.0, 1.0, 0.0]));
    joints[1].matrix = Some(glam::DAffine3::from_scale(glam::DVec3::new(2.0, 1.0, 3.0)));
    let (mut library, skeleton) = build::library(joints);
    let curve = |values: &[f64]| build::curve(posse::curves::Interpolation::Linear, 3, &[0.0, 1.0], values);
    let tracks = vec![
        (Target::Translation(0), curve(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0])),
        (Target::Translation(2), curve(&[5.0, 0.0, 0.0, 6.0, 1.0, 1.0])),
    ];
    build::clip(&mut library, skeleton, tracks);
    let crowd = plain(&library, 4);
    assert_detail(library, crowd, Outputs::ALL, |instance| instance as u32);
}

#[test]
fn an_instance_listed_several_times_has_the_most_joints() {
    for joints in [40, 300] {
        let library = branches(joints, 7);
        let stage = Stage::new(library.clone(), plain(&library, 3), Outputs::ALL, VISIBLE);
        let entry = |joints, update_interval| VisibleInstance { slot: 1, joints, update_interval };
        // The last entry is not due, since slot and frame add up to 1.
        stage.list(&stage.on_gpu.batches()[0], 3, &[entry(2, 1), entry(5, 1), entry(ALL, 2)]);
        stage.write_sentinel();
        stage.run_frame(NOW, 0);
        let less = without_others(&library, &level_order(&library.skeletons()[0])[..5]);
        let poses = Poses { instances: vec![stage.pose(1)] };
        assert_right(&less, &stage.part(&[1]), NOW, Outputs::ALL, &poses);
        [0, 2].into_iter().for_each(|instance| stage.assert_untouched(instance));
    }
}
