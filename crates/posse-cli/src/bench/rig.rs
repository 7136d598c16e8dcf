//! The rigs that `posse bench` plays: the rig of a file, or generated ones, in crowds of several sizes.

use posse::{
    AdditiveReference, ClipId, Crowd, Error, Layer, LayerMode, LayerTime, Library, Playback, SkeletonId, Ticks,
    WrapMode,
};

use super::args::Args;
use super::case::{CrowdShape, MAX_JOINTS, PlannedCase, Scales, Size};
use super::report::Report;
use crate::arguments::{BvhArgs, check_limit};
use crate::engine::StartUp;
use crate::output::file_name;
use crate::source::Source;

/// A library, and the cases that play it.
pub struct BenchRig {
    pub library: Library,
    /// The cases; at least one.
    pub cases: Vec<PlannedCase>,
}

/// Loads or generates the rigs of all cases. The load time of the first rig is added to `load`.
pub fn load_rigs(args: &Args, load: &mut StartUp, report: &mut Report) -> Result<Vec<BenchRig>, Error> {
    if let Some(file) = &args.file {
        let Source { library, skeleton, .. } = load.step("load", || Source::load_nodes(file, BvhArgs::default()))?;
        report.file = Some(file_name(file));
        let joints = library.skeleton(skeleton).joints().len();
        let cases: Vec<_> = cases_of_rig(args, Size::of_rig(joints)).collect();
        check_joints(&cases)?;
        return Ok(vec![BenchRig { library, cases }]);
    }
    let cases: Vec<PlannedCase> = if args.table.is_empty() {
        let rig = |&joints: &u32| {
            let (keys, depth) = (Some(args.keys), Some(args.depth.min(joints)));
            let of_scales = move |&scales: &Scales| {
                let (scales, key_angle) = (Some(scales), args.key_angle);
                let rig = Size { keys, depth, clips: Some(1), scales, key_angle, ..Size::of_rig(joints as usize) };
                cases_of_rig(args, rig)
            };
            args.scales().iter().flat_map(of_scales)
        };
        args.joints.iter().flat_map(rig).collect()
    } else {
        cases_of_tables(args, report)
    };
    if cases.is_empty() && report.skipped.is_empty() {
        return Err(Error::Usage("dual quaternions need uniform scales; add --scales uniform".into()));
    }
    check_joints(&cases)?;
    let mut rigs: Vec<BenchRig> = Vec::new();
    for case in cases {
        let generate = || case.size.library();
        match rigs.last_mut() {
            Some(rig) if rig.cases[0].size.is_same_rig(&case.size) => rig.cases.push(case),
            None => rigs.push(BenchRig { library: load.step("load", generate)?, cases: vec![case] }),
            Some(_) => rigs.push(BenchRig { library: generate()?, cases: vec![case] }),
        }
    }
    Ok(rigs)
}

/// The cases of a rig: each number of instances, of layers, and each skin format.
fn cases_of_rig(args: &Args, size: Size) -> impl Iterator<Item = PlannedCase> {
    let with_layers = move |&instances: &u32| {
        args.layers.iter().map(move |&layers| Size { instances: instances as usize, layers, ..size })
    };
    let sizes = args.instances.iter().flat_map(with_layers).flat_map(|size| args.with_skin_formats(size));
    sizes.map(|size| PlannedCase { size, step: None })
}

/// The cases of the cost tables. Cases that need too much memory are skipped.
fn cases_of_tables(args: &Args, report: &mut Report) -> Vec<PlannedCase> {
    let joints = args.joints_per_table_case();
    let cases = args.scales().iter().flat_map(|&scales| {
        let cases = args.table.iter().flat_map(move |table| table.cases(joints));
        cases.flat_map(move |PlannedCase { size, step }| {
            let size = Size { scales: Some(scales), key_angle: args.key_angle, ..size };
            args.with_skin_formats(size).map(move |size| PlannedCase { size, step })
        })
    });
    let mut cases: Vec<_> = cases.collect();
    cases.retain(|PlannedCase { size, .. }| {
        let needed = size.bytes() as f64 / 1e9;
        if needed > args.memory {
            report.skip(format!("without {size}: it takes {needed:.2} GB, --memory allows {}", args.memory));
        }
        needed <= args.memory
    });
    cases
}

fn check_joints(cases: &[PlannedCase]) -> Result<(), Error> {
    let joints = |case: &PlannedCase| (case.size.instances as u64).saturating_mul(case.size.joints as u64);
    check_limit("instances x joints of a case", cases.iter().map(joints).max().unwrap_or(0), MAX_JOINTS)
}

/// A crowd that plays all clips in turn. Each layer is at a random time of its clip.
pub fn crowd(library: &Library, shape: CrowdShape) -> Result<Crowd, Error> {
    let CrowdShape { instances, layers, additive } = shape;
    let clips: Vec<ClipId> = library.clip_ids().collect();
    let clips_of =
        |skeleton: SkeletonId| clips.iter().copied().filter(move |&clip| library.clip(clip).skeleton == skeleton);
    let by_skeleton: Vec<Vec<ClipId>> = library.skeleton_ids().map(|skeleton| clips_of(skeleton).collect()).collect();
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        let skeleton = library.clip(clips[instance % clips.len()]).skeleton;
        let own = &by_skeleton[skeleton.index()];
        let layer = |layer: u32| {
            let clip = own[(instance + layer as usize) % own.len()];
            // Multiples of the golden ratio would spread more evenly, but every n-th of them, which are the instances
            // of one of n clips, need not: every 500th begins within a third of the clip.
            let part = random_share((instance as u64) << 32 | u64::from(layer));
            let start = Ticks::from_seconds(-part * library.clip(clip).duration());
            let mode = if layer < layers - additive {
                LayerMode::Blend
            } else {
                LayerMode::Additive(AdditiveReference::First)
            };
            Layer { mode, ..Layer::new(clip, LayerTime::Playing(Playback::new(WrapMode::Loop, start, 1.0))) }
        };
        crowd.push(skeleton, &(0..layers).map(layer).collect::<Vec<_>>())?;
    }
    Ok(crowd)
}

/// Number `index` of SplitMix64 from the seed 0 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014), as a number from 0 to 1.
fn random_share(index: u64) -> f64 {
    (mixed(index) >> 11) as f64 / (1_u64 << 53) as f64
}

/// The 64 bits of number `index` of SplitMix64 from the seed 0.
fn mixed(index: u64) -> u64 {
    // 2^64 divided by the golden ratio.
    let bits = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::case::tests::SIZE;

    #[test]
    fn mixed_crowds_take_their_skeletons_in_turn() {
        let library = SIZE.library().unwrap();
        let joints: Vec<usize> = library.skeletons().iter().map(|skeleton| skeleton.joints().len()).collect();
        assert_eq!(joints, [5, 4, 3]);
        let crowd = crowd(&library, SIZE.crowd()).unwrap();
        assert!(crowd.check(&library).is_ok(), "each clip animates the skeleton of its instance");
        let skeletons: Vec<usize> = (0..crowd.len()).map(|instance| crowd.skeleton(instance).index()).collect();
        // Two clips each.
        assert_eq!(skeletons, [0, 0, 1, 1, 2, 2]);
        let additive = LayerMode::Additive(AdditiveReference::First);
        for instance in 0..crowd.len() {
            let layers = crowd.layers(instance);
            let modes: Vec<LayerMode> = layers.iter().map(|layer| layer.mode).collect();
            assert_eq!(modes, [LayerMode::Blend, additive]);
            assert!(layers[0].clip != layers[1].clip);
        }
    }

    /// Each tenth of a clip, also of one of 333 s with 10,000 keys, is the start of a tenth of the instances.
    #[test]
    fn starts_cover_the_whole_clip() {
        for (keys, clips) in [(10_000, 1), (2, 2), (2, 500)] {
            let (keys, clips) = (Some(keys), Some(clips));
            let rig = Size { skeletons: 1, joints: 1, keys, depth: Some(1), clips, ..SIZE };
            let size = Size { instances: 5_000, layers: 1, additive: 0, ..rig };
            let library = size.library().unwrap();
            let crowd = crowd(&library, size.crowd()).unwrap();
            let mut tenths = [0; 10];
            for instance in 0..crowd.len() {
                let layer = crowd.layers(instance)[0];
                let LayerTime::Playing(playback) = layer.time else { panic!("{layer:?}") };
                let part = -playback.start.to_seconds() / library.clip(layer.clip).duration();
                tenths[(10.0 * part) as usize] += 1;
            }
            // A binomial count of 500 has a standard deviation of 21.
            assert!(tenths.iter().all(|count| (410..590).contains(count)), "{size}: {tenths:?}");
        }
    }

    #[test]
    fn starts_are_random_numbers_from_0_to_1() {
        assert!((0..1000).all(|index| (0.0..1.0).contains(&random_share(index))));
        // The first numbers of the generator's published test, from the seed 0.
        assert_eq!([0, 1, 2].map(mixed), [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]);
    }
}
