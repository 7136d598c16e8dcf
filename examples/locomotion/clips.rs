//! The clips of the gaits: keys of the legs from the ways of the feet, and arms of the built-in walk and run.

use std::f64::consts::TAU;
use std::sync::Arc;

use posse::curves::{Curve, Interpolation, Target, Timeline, Track};
use posse::glam::{DQuat, DVec3};
use posse::{Clip, ClipId, Crowd, Error, Evaluator, Layer, LayerTime, Library, Outputs, Pose, Reference, Ticks};

use super::gaits::Gait;
use super::legs::{Leg, Pelvis, find_joint};

/// The keys of pelvis and legs in a cycle. Between two keys, a planted foot moves by less than a millimetre.
const DENSE: usize = 96;
/// The keys of the other joints in a cycle.
const SPARSE: usize = 24;
/// The phase of the built-in walk and run at which the character is over its left foot.
const OVER: f64 = 0.5;

/// The clip of the built-in human with a name.
pub fn find(library: &Library, name: &str) -> Result<ClipId, Error> {
    library.find_clip(name).ok_or_else(|| Error::Usage(format!("the built-in human has no clip {name:?}")))
}

/// Adds the clip of a gait.
pub fn add(library: &mut Library, gait: &Gait) -> Result<ClipId, Error> {
    let [walk, run] = [find(library, "walk")?, find(library, "run")?];
    let arms = [cycle(library, walk)?, cycle(library, run)?];
    let id = library.clip(walk).skeleton;
    let skeleton = library.skeleton(id);
    let legs = [('L', 1.0, 0.0), ('R', -1.0, 0.5)].map(|(name, side, later)| (Leg::find(skeleton, name), side, later));
    let pelvis = find_joint(skeleton, "pelvis")?;
    let mut tracks = Vec::new();

    let dense = timeline(gait, DENSE)?;
    let moments: Vec<Pelvis> = phases(DENSE).map(|phase| gait.pelvis(phase)).collect();
    let positions = moments.iter().flat_map(|moment| moment.position.to_array()).collect();
    tracks.push(Track::new(Target::Translation(pelvis), Curve::new(dense.clone(), LINEAR, 3, positions)?));
    let rotations = moments.iter().map(|moment| moment.rotation);
    tracks.push(rotation_track(pelvis, &dense, rotations)?);
    let mut posed = vec![pelvis];
    for (leg, side, later) in legs {
        let leg = leg?;
        let at = |(phase, moment): (f64, &Pelvis)| leg.reach(moment, &gait.foot(side, phase - later));
        let rotations: Vec<[DQuat; 4]> = phases(DENSE).zip(&moments).map(at).collect();
        for (part, &joint) in leg.joints.iter().enumerate() {
            tracks.push(rotation_track(joint, &dense, rotations.iter().map(|all| all[part]))?);
        }
        posed.extend(leg.joints);
    }

    let sparse = timeline(gait, SPARSE)?;
    for (joint, facts) in skeleton.joints().iter().enumerate().filter(|(joint, _)| !posed.contains(joint)) {
        let name = facts.name.as_deref().unwrap_or_default();
        let rotation = |(key, phase): (usize, f64)| {
            let [walk, run] = [0, 1].map(|clip| arms[clip][key].local[joint].rotation);
            gait.trunk(name, phase).unwrap_or_else(|| walk.lerp(run, gait.run))
        };
        tracks.push(rotation_track(joint, &sparse, phases(SPARSE).enumerate().map(rotation))?);
    }
    library.add_clip(Clip::new(Some(gait.name.into()), id, tracks))
}

impl Gait {
    /// The pelvis at a phase. It leans into a turn, about the ground between the feet.
    fn pelvis(&self, phase: f64) -> Pelvis {
        let height = self.height + self.bob * (2.0 * TAU * phase).cos();
        let sway = 0.02 * (1.0 - self.run) * (TAU * phase).cos();
        let turn_per_second = self.turn / self.duration();
        let lean = DQuat::from_rotation_z(-0.7 * (self.speed * turn_per_second / 9.81).atan());
        let yaw = 0.1 * self.turn + 0.1 * (TAU * phase).sin();
        let forwards = 0.04 + 0.08 * self.run;
        let rotation = lean * DQuat::from_rotation_y(yaw) * DQuat::from_rotation_x(forwards);
        Pelvis { position: lean * DVec3::new(sway, height, 0.0), rotation }
    }

    /// The rotation of a joint of spine, neck and head: the shoulders turn against the pelvis, and the head looks
    /// ahead.
    fn trunk(&self, name: &str, phase: f64) -> Option<DQuat> {
        let wave = -(TAU * phase).sin();
        let (yaw, forwards) = match name.split('.').next()? {
            "spine" => (0.05 * wave + 0.03 * self.turn, 0.02 * self.run),
            "neck" | "head" => (-0.05 * wave + 0.05 * self.turn, -0.02 - 0.06 * self.run),
            _ => return None,
        };
        Some(DQuat::from_rotation_y(yaw) * DQuat::from_rotation_x(forwards))
    }
}

const LINEAR: Interpolation = Interpolation::Linear;

/// The phases of the keys of a cycle. The last one is the first one again.
fn phases(keys: usize) -> impl Iterator<Item = f64> {
    (0..=keys).map(move |key| key as f64 / keys as f64)
}

fn timeline(gait: &Gait, keys: usize) -> Result<Arc<Timeline>, Error> {
    Ok(Arc::new(Timeline::new(phases(keys).map(|phase| phase * gait.duration()).collect())?))
}

fn rotation_track(
    joint: usize,
    timeline: &Arc<Timeline>,
    rotations: impl Iterator<Item = DQuat>,
) -> Result<Track, Error> {
    let numbers = rotations.flat_map(|rotation| rotation.to_array()).collect();
    Ok(Track::new(Target::Rotation(joint), Curve::new(timeline.clone(), LINEAR, 4, numbers)?))
}

/// The poses of a built-in clip at the sparse keys of a cycle that begins when the character is over its
/// left foot.
fn cycle(library: &Library, clip: ClipId) -> Result<Vec<Pose>, Error> {
    let found = library.clip(clip);
    let mut crowd = Crowd::new();
    for phase in phases(SPARSE) {
        let time = found.duration() * (phase + OVER).rem_euclid(1.0);
        crowd.push(found.skeleton, &[Layer::new(clip, LayerTime::At(time))])?;
    }
    Ok(Reference::new(library).evaluate(&crowd, Ticks(0), Outputs { local: true, ..Outputs::NONE })?.instances)
}
