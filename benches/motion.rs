//! The cost of parameters, synchronised layers, transitions and goals: crowds with them beside the same crowds without,
//! in turn. `cargo bench --bench motion -- [cpu|gpu] [INSTANCES] [layers|goals]`; by default both of both, 10,000
//! instances on one thread of the CPU and 1,000 on the GPU, which may be a software adapter.
//!
//! Printed are the median over the rounds of the time per joint, and of the ratio to the case of the same layers
//! without drivers, within a round.

use std::time::Instant;

use posse::cpu::{CpuCrowd, CpuEngine, InstructionSet};
use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuLibrary};
use posse::ik::{Chain, ChainId, ChainKind, Goal, GoalTarget, GoalWeight};
use posse::packed::PackedLibrary;
use posse::parameters::{BlendSpace, BlendSpaceId, Knots, KnotsId, Parameter, WeightDriver};
use posse::transitions::{Transition, TransitionKind};
use posse::{Clip, Crowd, Error, Layer, LayerTime, Library, Outputs, Playback, Skeleton, Ticks, WrapMode, demo};

/// The joints of the rig and of the human.
const JOINTS: usize = 64;
/// The times that each case has its turn.
const ROUNDS: usize = 21;
/// One instance in this many is in a transition.
const ONE_OF: usize = 20;

/// A way in which the layers of all instances play.
#[derive(Clone, Copy, PartialEq)]
enum Case {
    /// One clip.
    One,
    /// One clip, and a twentieth of the instances in a transition.
    OneInTransition,
    /// Three clips with weights that sum to 1.
    Three,
    /// Three clips with weights by the knots of one parameter, of which two count.
    Knots,
    /// Three clips with weights by a blend space.
    Space,
    /// Three clips, two of which follow the first.
    Synced,
    /// The same by sync markers.
    Marked,
}

/// The cases, with a name and the index of the case that each is compared with.
const CASES: [(Case, &str, usize); 7] = [
    (Case::One, "one clip", 0),
    (Case::OneInTransition, "one clip, 5 % in transition", 0),
    (Case::Three, "three clips", 2),
    (Case::Knots, "three clips, 1D blend space", 2),
    (Case::Space, "three clips, 2D blend space", 2),
    (Case::Synced, "three clips, two synchronised", 2),
    (Case::Marked, "three clips, two synchronised by markers", 2),
];

/// The clips, knots and blend space of all crowds.
struct Rig {
    /// Three clips without markers, then three with.
    library: Library,
    /// The knots of three points on a line.
    knots: Vec<KnotsId>,
    /// The blend space of three points.
    space: BlendSpaceId,
}

/// Goals of all instances of the human, who walks.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    /// None.
    Nothing,
    /// Both feet and the head, with fixed targets.
    Fixed,
    /// The same with targets by parameters.
    ByParameters,
    /// The same with fixed targets and weights of a half.
    InPart,
    /// The same with fixed targets, of a human whose pelvis has a scale per axis.
    Uneven,
    /// None, of that human.
    UnevenNothing,
}

/// The goals, with a name and the index of the case that each is compared with.
const REACHES: [(Reach, &str, usize); 6] = [
    (Reach::Nothing, "a walk", 0),
    (Reach::Fixed, "two legs and a look-at", 0),
    (Reach::ByParameters, "two legs and a look-at, by parameters", 0),
    (Reach::InPart, "two legs and a look-at, weights of a half", 0),
    (Reach::UnevenNothing, "a walk, a scale per axis", 4),
    (Reach::Uneven, "two legs and a look-at, a scale per axis", 4),
];

/// The human of the demo with chains for the legs and the head; in `uneven` its pelvis has a scale per axis.
fn human(uneven: bool) -> Result<Library, Error> {
    let demo = demo::library()?;
    let mut library = Library::new();
    let mut joints = demo.skeletons()[0].joints().to_vec();
    if uneven {
        joints[0].rest.scale.x = 1.01;
    }
    let skeleton = library.add_skeleton(Skeleton::new(None, joints, demo.skeletons()[0].properties().to_vec())?);
    library.add_skin(demo.skins()[0].clone())?;
    let walk = demo.find_clip("walk").ok_or_else(|| Error::Usage("the demo has no walk".into()))?;
    library.add_clip(demo.clip(walk).clone())?;
    let find = |name: &str| {
        let found = demo.skeletons()[0].find_joint(name);
        found.ok_or_else(|| Error::Usage(format!("the demo has no joint {name}")))
    };
    for side in ["L", "R"] {
        let joints = [find(&format!("thigh.{side}"))?, find(&format!("calf.{side}"))?, find(&format!("foot.{side}"))?];
        let kind = ChainKind::TwoBone { joints, pole: Some([0.0, 0.0, 1.0]), hold: true };
        library.add_chain(Chain { name: None, skeleton, kind })?;
    }
    let kind = ChainKind::Aim { joint: find("head")?, forward: [0.0, 0.0, 1.0], limit: 1.2 };
    library.add_chain(Chain { name: None, skeleton, kind })?;
    Ok(library)
}

/// A crowd of humans that walk, each at its own time, with its own goals.
fn walkers(library: &Library, reach: Reach, instances: usize) -> Result<Crowd, Error> {
    let clip = library.clip_ids().next().ok_or_else(|| Error::Usage("no clip".into()))?;
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        let start = Ticks(-(instance as i64 * 9_973_217));
        let layer = Layer::new(clip, LayerTime::Playing(Playback::new(WrapMode::Loop, start, 1.0)));
        crowd.push(library.clip(clip).skeleton, &[layer])?;
        if matches!(reach, Reach::Nothing | Reach::UnevenNothing) {
            continue;
        }
        let part = (instance % 97) as f64 / 97.0;
        let targets = [[0.12, 0.1 + 0.1 * part, 0.2 * part], [-0.12, 0.2 - 0.1 * part, 0.1], [1.0 - part, 1.5, 2.0]];
        let by_parameters = reach == Reach::ByParameters;
        if by_parameters {
            let values: Result<Vec<_>, _> = targets.as_flattened().iter().map(|&x| Parameter::constant(x)).collect();
            crowd.set_parameters(instance, values?)?;
        }
        let goal = |(index, id): (usize, ChainId)| Goal {
            chain: id,
            target: if by_parameters {
                GoalTarget::Parameters([3 * index, 3 * index + 1, 3 * index + 2])
            } else {
                GoalTarget::Point(targets[index])
            },
            weight: GoalWeight::Fixed(if reach == Reach::InPart { 0.5 } else { 1.0 }),
        };
        let goals: Vec<Goal> = library.chain_ids().enumerate().map(goal).collect();
        crowd.set_goals(instance, goals)?;
    }
    Ok(crowd)
}

fn rig() -> Result<Rig, Error> {
    let mut library = Library::new();
    demo::add_rig(&mut library, JOINTS, 60, 10)?;
    let first = library.clips()[0].clone();
    for shift in 1..3 {
        library.add_clip(demo::shifted_clip(&first, shift)?)?;
    }
    for clip in library.clips().to_vec() {
        let markers = [0.1, 0.3, 0.6, 0.8].map(|part| part * clip.duration()).to_vec();
        library.add_clip(Clip { markers, ..clip })?;
    }
    let mut ids = Vec::new();
    for knots in [vec![[0.0, 1.0], [1.0, 0.0]], vec![[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]], vec![[1.0, 0.0], [2.0, 1.0]]]
    {
        ids.push(library.add_knots(Knots::new(knots)?));
    }
    let space = library.add_blend_space(BlendSpace::new(vec![[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])?);
    Ok(Rig { library, knots: ids, space })
}

/// A crowd that plays a case, each instance at its own time and with its own parameters.
fn crowd(rig: &Rig, case: Case, instances: usize) -> Result<Crowd, Error> {
    let Rig { library, knots, space } = rig;
    let clips: Vec<_> = library.clip_ids().collect();
    let mut crowd = Crowd::new();
    for instance in 0..instances {
        let playing = |clip: usize| {
            let start = Ticks(-((instance * 3 + clip) as i64) * 9_973_217);
            Layer::new(clips[clip], LayerTime::Playing(Playback::new(WrapMode::Loop, start, 1.0)))
        };
        let layer = |index: usize| {
            let whole = playing(index);
            match case {
                Case::Knots => {
                    Layer { driver: Some(WeightDriver::Knots { parameter: 0, knots: knots[index] }), ..whole }
                }
                Case::Space => {
                    let driver = WeightDriver::Point { space: *space, parameters: [0, 1], point: index };
                    Layer { driver: Some(driver), ..whole }
                }
                Case::Synced if index > 0 => Layer { time: LayerTime::Synced { leader: 0 }, ..whole },
                Case::Marked if index > 0 => Layer { time: LayerTime::Synced { leader: 0 }, ..playing(3 + index) },
                Case::Marked => playing(3),
                _ => Layer { weight: [0.5, 0.3, 0.2][index], ..whole },
            }
        };
        let count = if matches!(case, Case::One | Case::OneInTransition) { 1 } else { 3 };
        let layers: Vec<Layer> = (0..count).map(layer).collect();
        crowd.push(library.clip(clips[0]).skeleton, &layers)?;
        if matches!(case, Case::Knots | Case::Space) {
            // Between the knots, so that two clips have a weight; and inside the triangle.
            let part = (instance % 97) as f64 / 97.0;
            let values = if case == Case::Knots { [0.01 + 1.98 * part, 0.0] } else { [0.1 + 0.8 * part, 0.5] };
            let parameters: Result<Vec<_>, _> = values.map(Parameter::constant).into_iter().collect();
            crowd.set_parameters(instance, parameters?)?;
        }
        if case == Case::OneInTransition && instance % ONE_OF == 0 {
            let (start, kind) = (Ticks(0), TransitionKind::Inertial);
            let from = vec![playing(1)];
            let transition = Transition { start, from, kind, half_life: 60.0, before: None };
            crowd.set_transition(library, instance, Some(transition))?;
        }
    }
    Ok(crowd)
}

/// A crowd on an engine.
enum Posed<'a> {
    Cpu(&'a CpuEngine, Box<CpuCrowd>),
    Gpu(&'a GpuContext, Box<GpuCrowd>),
}

impl Posed<'_> {
    /// Poses a frame.
    fn pose(&mut self, now: Ticks) -> Result<(), Error> {
        match self {
            Self::Cpu(engine, crowd) => engine.pose(crowd, now),
            Self::Gpu(gpu, crowd) => {
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                crowd.encode(&mut encoder, now);
                gpu.queue.submit([encoder.finish()]);
                gpu.device
                    .poll(posse::wgpu::PollType::wait_indefinitely())
                    .map_err(|error| Error::Device(error.to_string()))?;
            }
        }
        Ok(())
    }
}

/// Measures all cases of an engine in turn.
fn measure(name: &str, instances: usize, cases: &[(&str, usize)], mut posed: Vec<Posed>) -> Result<(), Error> {
    if posed.is_empty() {
        return Ok(());
    }
    println!("{name}, {instances} instances of {JOINTS} joints, skin matrices");
    let mut now = Ticks(1_234_567);
    let mut seconds = vec![Vec::new(); posed.len()];
    for round in 0..=ROUNDS {
        for (posed, seconds) in posed.iter_mut().zip(&mut seconds) {
            let mut turns = [0.0; 5];
            for turn in &mut turns {
                now.0 += Ticks::PER_SECOND / 60;
                let start = Instant::now();
                posed.pose(now)?;
                *turn = start.elapsed().as_secs_f64();
            }
            // The first round warms up.
            if round > 0 {
                seconds.push(median(&mut turns));
            }
        }
    }
    for (index, &(case, base)) in cases.iter().enumerate() {
        let mut ratios: Vec<f64> = seconds[index].iter().zip(&seconds[base]).map(|(one, other)| one / other).collect();
        let joint = 1e9 * median(&mut seconds[index].clone()) / (instances * JOINTS) as f64;
        println!("  {case:42} {joint:7.2} ns per joint  x {:.3}", median(&mut ratios));
    }
    Ok(())
}

fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let wanted = |name: &str| arguments.first().is_none_or(|engine| engine == name);
    if !wanted("cpu") && !wanted("gpu") {
        return Err(Error::Usage(format!("{}: expected cpu or gpu", arguments[0])));
    }
    let count = arguments
        .get(1)
        .map(|count| count.parse().map_err(|_| Error::Usage(format!("{count}: expected a number of instances"))));
    let count: Option<usize> = count.transpose()?;
    let instances = |default: usize| count.unwrap_or(default);
    let has_part = |name: &str| arguments.get(2).is_none_or(|part| part == name);
    let rig = rig()?;
    let humans = [human(false)?, human(true)?];
    let is_uneven = |reach: Reach| usize::from(matches!(reach, Reach::Uneven | Reach::UnevenNothing));
    let cases = CASES.map(|(_, name, base)| (name, base));
    let reaches = REACHES.map(|(_, name, base)| (name, base));
    if wanted("cpu") {
        let engine = CpuEngine::with_threads(&rig.library, 1)?;
        let count = instances(10_000);
        let posed = |engine: &CpuEngine, crowd: Crowd| engine.crowd(&crowd, Outputs::SKIN).map(Box::new);
        let name = InstructionSet::widest().name();
        let mut all = Vec::new();
        for (case, ..) in CASES.into_iter().filter(|_| has_part("layers")) {
            all.push(Posed::Cpu(&engine, posed(&engine, crowd(&rig, case, count)?)?));
        }
        measure(name, count, &cases, all)?;
        let engines = [CpuEngine::with_threads(&humans[0], 1)?, CpuEngine::with_threads(&humans[1], 1)?];
        let mut all = Vec::new();
        for (reach, ..) in REACHES.into_iter().filter(|_| has_part("goals")) {
            let (engine, human) = (&engines[is_uneven(reach)], &humans[is_uneven(reach)]);
            all.push(Posed::Cpu(engine, posed(engine, walkers(human, reach, count)?)?));
        }
        measure(name, count, &reaches, all)?;
    }
    if wanted("gpu") {
        let gpu = GpuContext::new(AdapterKind::Any)?;
        let on_gpu = GpuLibrary::new(&gpu, &rig.library)?;
        let count = instances(1_000);
        let posed = |library: &GpuLibrary, crowd: Crowd| GpuCrowd::new(library, &crowd, Outputs::SKIN).map(Box::new);
        let mut all = Vec::new();
        for (case, ..) in CASES.into_iter().filter(|_| has_part("layers")) {
            all.push(Posed::Gpu(&gpu, posed(&on_gpu, crowd(&rig, case, count)?)?));
        }
        measure(&gpu.name(), count, &cases, all)?;
        let libraries =
            [on_gpu.repacked(PackedLibrary::new(&humans[0])?)?, on_gpu.repacked(PackedLibrary::new(&humans[1])?)?];
        let mut all = Vec::new();
        for (reach, ..) in REACHES.into_iter().filter(|_| has_part("goals")) {
            let (library, human) = (&libraries[is_uneven(reach)], &humans[is_uneven(reach)]);
            all.push(Posed::Gpu(&gpu, posed(library, walkers(human, reach, count)?)?));
        }
        measure(&gpu.name(), count, &reaches, all)?;
    }
    Ok(())
}
