//! The rigs that `posse bench` plays: that of a file, or generated ones, in crowds of several sizes.

use posse::{ClipId, Crowd, Error, Layer, LayerTime, Library, Playback, SkeletonId, SkinFormat, Ticks};

use super::MAX_JOINTS;
use super::args::Args;
use super::cost::PlannedCase;
use super::report::Report;
use super::size::Size;
use crate::cli::arguments::check_limit;
use crate::cli::output::file_name;
use crate::cli::source::Source;
use crate::cli::start_up::StartUp;

/// A library, and the cases that play it.
pub struct Rig {
    pub library: Library,
    /// The cases; at least one.
    pub cases: Vec<PlannedCase>,
}

/// Loads or generates the rigs of all cases. The load time of the first rig is added to `load`.
pub fn load_rigs(args: &Args, load: &mut StartUp, report: &mut Report) -> Result<Vec<Rig>, Error> {
    let size = Size {
        instances: 0,
        skeletons: 1,
        joints: 0,
        keys: None,
        depth: None,
        layers: 0,
        skin_format: SkinFormat::Matrix,
    };
    if let Some(file) = &args.file {
        let Source { library, skeleton, .. } = load.step("load", || Source::load_nodes(file))?;
        report.file = Some(file_name(file));
        let joints = library.skeleton(skeleton).joints().len();
        let cases: Vec<_> = cases_of_rig(args, Size { joints, ..size }).collect();
        check_joints(&cases)?;
        return Ok(vec![Rig { library, cases }]);
    }
    let cases: Vec<PlannedCase> = if args.table.is_empty() {
        let rig = |&joints: &u32| {
            let depth = Some(args.depth.min(joints));
            cases_of_rig(args, Size { joints: joints as usize, keys: Some(args.keys), depth, ..size })
        };
        args.joints.iter().flat_map(rig).collect()
    } else {
        cases_of_tables(args, report)
    };
    check_joints(&cases)?;
    let mut rigs: Vec<Rig> = Vec::new();
    for case in cases {
        let generate = || case.size.library(args.needs_uniform_scale());
        match rigs.last_mut() {
            Some(rig) if rig.cases[0].size.is_same_rig(&case.size) => rig.cases.push(case),
            None => rigs.push(Rig { library: load.step("load", generate)?, cases: vec![case] }),
            Some(_) => rigs.push(Rig { library: generate()?, cases: vec![case] }),
        }
    }
    Ok(rigs)
}

/// The cases of a rig: each number of instances, of layers, and each skin format.
fn cases_of_rig(args: &Args, size: Size) -> impl Iterator<Item = PlannedCase> {
    let with_layers = move |&instances: &u32| {
        args.layers.iter().map(move |&layers| Size { instances: instances as usize, layers, ..size })
    };
    let with_skin_formats = |size| args.skin_formats().map(move |skin_format| Size { skin_format, ..size });
    let sizes = args.instances.iter().flat_map(with_layers).flat_map(with_skin_formats);
    sizes.map(|size| PlannedCase { size, step: None })
}

/// The cases of the cost tables. Cases that need too much memory are skipped.
fn cases_of_tables(args: &Args, report: &mut Report) -> Vec<PlannedCase> {
    let joints = args.joints_per_table_case();
    let with_skin_formats = |case: PlannedCase| {
        args.skin_formats().map(move |skin_format| PlannedCase { size: Size { skin_format, ..case.size }, ..case })
    };
    let cases = args.table.iter().flat_map(|table| table.cases(joints));
    let mut cases: Vec<_> = cases.flat_map(with_skin_formats).collect();
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

/// A crowd that plays all clips in turn. Each layer begins at another time.
pub fn crowd(library: &Library, instances: usize, layers: u32) -> Result<Crowd, Error> {
    let clips: Vec<ClipId> = library.clip_ids().collect();
    let clips_of =
        |skeleton: SkeletonId| clips.iter().copied().filter(move |&clip| library.clip(clip).skeleton == skeleton);
    let by_skeleton: Vec<Vec<ClipId>> = library.skeleton_ids().map(|skeleton| clips_of(skeleton).collect()).collect();
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        let skeleton = library.clip(clips[instance % clips.len()]).skeleton;
        let own = &by_skeleton[skeleton.index()];
        let layer = |layer: usize| {
            let clip = own[(instance + layer) % own.len()];
            // Multiples of the golden ratio spread any number of start times evenly over a minute.
            let spread = (instance * layers as usize + layer) as f64 * 0.618_033_988_749_894_9;
            Layer::new(clip, LayerTime::Playing(Playback::looping(Ticks::from_seconds(-60.0 * spread.fract()), 1.0)))
        };
        crowd.push(skeleton, &(0..layers as usize).map(layer).collect::<Vec<_>>())?;
    }
    Ok(crowd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::bench::size::tests::SIZE;

    #[test]
    fn mixed_crowds_take_their_skeletons_in_turn() {
        let library = SIZE.library(false).unwrap();
        let joints: Vec<usize> = library.skeletons().iter().map(|skeleton| skeleton.joints().len()).collect();
        assert_eq!(joints, [5, 4, 3]);
        let crowd = crowd(&library, SIZE.instances, SIZE.layers).unwrap();
        assert!(crowd.check(&library).is_ok(), "each clip animates the skeleton of its instance");
        let skeletons: Vec<usize> = (0..crowd.len()).map(|instance| crowd.skeleton(instance).index()).collect();
        assert_eq!(skeletons, [0, 1, 2, 0, 1, 2]);
        assert!((0..crowd.len()).all(|instance| crowd.layers(instance).len() == 2));
    }
}
