//! Filling of arrays, from clips or from layers: in blocks that fit into a cache, on the threads of an engine.
//!
//! `layout` turns a request into names, shapes and the outputs that are needed. The moments are divided between threads
//! here, and into blocks that fit a cache; `block` lists the distinct poses of a block, since neighbouring frames share
//! poses for velocities. `cpu::clip_poser` poses them without a crowd, so that arrays need no wgpu. `rotation`
//! multiplies rotations from the root in `f64`, and `write` writes each array, in the space of `space`.

use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

use crate::bake::rotation::ModelRotations;
use crate::bake::write::{BlockMoments, PoseList, Posed, rotate};
use crate::bake::{ArrayKind, ArrayLayout, FrameGrid, Moment};
use crate::cpu::{ClipPoser, ClipTime, CpuEngine, InstructionSet};
use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::model::{
    ClipId, Contents, Crowd, Fade, Goal, Layer, LayerTime, Outputs, Playback, Pose, SkeletonId, Ticks, is_usable,
    no_such,
};
use crate::pack::{OutputLayout, OutputNumbers, rows};

/// Bytes of the poses of a block: they stay in the caches of a core until they are written.
const BLOCK_BYTES: usize = 256 << 10;

/// The least number of poses of a block, before the last moment of the block.
const MIN_POSES: usize = 8;

/// The largest number of poses of a block, before the last moment of the block.
const MAX_POSES: usize = 256;

/// Joints per thread. For fewer, starting a thread takes longer than posing them.
const JOINTS_WORTH_A_THREAD: usize = 16_384;

impl ArrayLayout {
    /// Fills the arrays for some moments, with the poses of the CPU engine, on its threads.
    ///
    /// `out` has one slice per array, with the numbers of one moment after the other. Each moment is computed alone:
    /// its numbers do not depend on the other moments and on the number of threads.
    ///
    /// # Errors
    /// * [`Error::Usage`] if a clip does not animate the skeleton, a time is not finite, a slice has the wrong length,
    ///   or a result exceeds the range of an `f32`.
    /// * [`Error::Usage`] if the engine was made for another library, or before the clip was added.
    pub fn sample(&self, engine: &CpuEngine, moments: &[Moment], out: &mut [&mut [f32]]) -> Result<(), Error> {
        self.check_slices(moments, out)?;
        self.check_engine(engine)?;
        self.check_clips(engine, moments)?;
        let joints = engine.library().skeletons[self.skeleton.index()].record.joint_count as usize;
        let work = joints.max(1).saturating_mul(moments.len());
        let threads = engine.threads().min(work.div_ceil(JOINTS_WORTH_A_THREAD)).max(1);
        let share = moments.len().div_ceil(threads).max(1);
        let mut shares = self.shares(moments, out, share);
        let fill = |(moments, mut out): ThreadShare| self.fill(engine, moments, &mut out);
        let own = shares.pop();
        thread::scope(|scope| {
            let started: Vec<_> = shares.into_iter().map(|share| scope.spawn(move || fill(share))).collect();
            let own = own.map_or(Ok(()), fill);
            let ended = started.into_iter().map(|thread| thread.join().unwrap_or_else(|cause| resume_unwind(cause)));
            // The first error belongs to the earliest moment.
            ended.collect::<Result<(), Error>>().and(own)
        })
    }

    /// Fills the arrays as [`sample`](Self::sample) does, with the poses of any engine, rounded to `f32`. It is slower.
    ///
    /// # Errors
    /// The errors of [`sample`](Self::sample), and the errors of the engine.
    pub fn sample_with(
        &self,
        engine: &mut dyn Evaluator,
        moments: &[Moment],
        out: &mut [&mut [f32]],
    ) -> Result<(), Error> {
        self.sample_with_goals(engine, moments, &|_, _| Vec::new(), out)
    }

    /// Fills the arrays as [`sample_with`](Self::sample_with) does, with goals of inverse kinematics in each pose.
    /// `goals` has the goals of a clip at a time in seconds, such as the goals of a
    /// [`FootLock`](crate::quality::FootLock).
    ///
    /// # Errors
    /// The errors of [`sample`](Self::sample), and the errors of the engine, as for a goal of another skeleton.
    pub fn sample_with_goals(
        &self,
        engine: &mut dyn Evaluator,
        moments: &[Moment],
        goals: &GoalsAt,
        out: &mut [&mut [f32]],
    ) -> Result<(), Error> {
        self.check_slices(moments, out)?;
        check_times(moments)?;
        let mut numbers = OutputNumbers::default();
        self.each_block(moments, out, &mut |times, block| {
            let at =
                times.iter().map(|at| (vec![Layer::new(at.clip, LayerTime::At(at.time))], goals(at.clip, at.time)));
            evaluate_poses(engine, self.skeleton, self.outputs, at, &mut numbers)?;
            block(&numbers)
        })
    }

    /// Fills the arrays as [`sample_with`](Self::sample_with) does, with the poses that a function returns for times in
    /// seconds: for example, the poses of an instance of a crowd by [`CpuEngine::query`]. They have the
    /// [`outputs`](Self::outputs) of the layout. The clips of the moments do not matter.
    ///
    /// # Errors
    /// [`Error::Usage`] if a time is not finite, a slice has the wrong length, a pose belongs to another skeleton or
    /// has other outputs, or a result exceeds the range of an `f32`; the errors of the function.
    pub fn sample_poses(&self, pose: &mut PoseAt, moments: &[Moment], out: &mut [&mut [f32]]) -> Result<(), Error> {
        self.check_slices(moments, out)?;
        check_times(moments)?;
        let mut numbers = OutputNumbers::default();
        self.each_block(moments, out, &mut |times, block| {
            clear(&mut numbers);
            for at in times {
                append(&pose(at.time)?, &mut numbers);
            }
            let OutputLayout { local, model, skin, values, .. } = self.numbers;
            let found = [&numbers.local, &numbers.model, &numbers.skin, &numbers.values].map(|numbers| numbers.len());
            if found != [local, model, skin, values].map(|width| width * times.len()) {
                return Err(Error::Usage(
                    "a pose has other joints than the skeleton, or other outputs than the arrays need".into(),
                ));
            }
            block(&numbers)
        })
    }

    /// Splits moments and arrays into parts of `share` moments.
    fn shares<'a>(&self, moments: &'a [Moment], out: &'a mut [&mut [f32]], share: usize) -> Vec<ThreadShare<'a>> {
        let mut rest: Vec<&mut [f32]> = out.iter_mut().map(|array| &mut **array).collect();
        let mut shares = Vec::new();
        for moments in moments.chunks(share) {
            let split = |(array, rest): (usize, &mut &'a mut [f32])| {
                rest.split_off_mut(..moments.len() * self.arrays()[array].width()).unwrap_or_default()
            };
            shares.push((moments, rest.iter_mut().enumerate().map(split).collect()));
        }
        shares
    }

    /// Fills the arrays on the calling thread.
    fn fill(&self, engine: &CpuEngine, moments: &[Moment], out: &mut [&mut [f32]]) -> Result<(), Error> {
        let mut poser = ClipPoser::new(engine, self.skeleton, self.outputs)?;
        self.each_block(moments, out, &mut |times, block| block(poser.pose(times)))
    }

    /// Fills the arrays block by block. `pose` takes the poses of a block, and passes their numbers on.
    pub(super) fn each_block(
        &self,
        moments: &[Moment],
        out: &mut [&mut [f32]],
        pose: &mut PoseBlock,
    ) -> Result<(), Error> {
        let chain_bytes = self.chain.len() * size_of::<[f64; 4]>();
        let pose_bytes = usize::try_from(self.numbers.bytes()).unwrap_or(usize::MAX).saturating_add(chain_bytes);
        let most = (BLOCK_BYTES / pose_bytes.max(1)).clamp(MIN_POSES, MAX_POSES);
        let velocities = self.has_velocities();
        let (mut list, mut model) = (PoseList::default(), ModelRotations::default());
        let mut first = 0;
        while first < moments.len() {
            let count = list.fill(&moments[first..], velocities, most);
            let PoseList { times, of_moments } = &list;
            let block = BlockMoments { moments: &moments[first..][..count], poses: of_moments };
            pose(times, &mut |numbers| {
                rotate(self, numbers, times.len(), &mut model);
                self.write_block(Posed { layout: self, numbers, rotations: &model }, first, block, out)
            })?;
            first += count;
        }
        Ok(())
    }

    /// Writes all arrays of a block, whose first moment has the index `first`.
    fn write_block(
        &self,
        posed: Posed,
        first: usize,
        block: BlockMoments,
        out: &mut [&mut [f32]],
    ) -> Result<(), Error> {
        let mut skin = 0;
        for (array, out) in self.arrays().iter().zip(out) {
            let width = array.width();
            // Contacts follow from whole clips: their array is the caller's.
            if width > 0 && array.kind != ArrayKind::Contact {
                let out = &mut out[first * width..][..block.moments.len() * width];
                posed.write(array.kind, skin, block, width, out);
                check_finite(&array.name, block.moments, out)?;
            }
            skin += usize::from(array.kind == ArrayKind::Skin);
        }
        Ok(())
    }

    /// Checks that the slices have the lengths of the arrays.
    pub(super) fn check_slices(&self, moments: &[Moment], out: &[&mut [f32]]) -> Result<(), Error> {
        if out.len() != self.arrays().len() {
            let (found, expected) = (out.len(), self.arrays().len());
            return Err(Error::Usage(format!("there are {found} slices for {expected} arrays; give one per array")));
        }
        let mut slices = self.arrays().iter().zip(out);
        match slices.find(|(array, out)| moments.len().checked_mul(array.width()) != Some(out.len())) {
            Some((array, out)) => Err(Error::Usage(format!(
                "the slice of {} has {} numbers; expected {} per moment for {} moments",
                array.name,
                out.len(),
                array.width(),
                moments.len()
            ))),
            None => Ok(()),
        }
    }

    /// Checks that the engine has the skeleton of the layout.
    fn check_engine(&self, engine: &CpuEngine) -> Result<(), Error> {
        let found = engine.library().skeletons.get(self.skeleton.index());
        if found.map(|skeleton| OutputLayout::new(&skeleton.record, self.outputs)) == Some(self.numbers) {
            return Ok(());
        }
        let index = self.skeleton.index();
        Err(Error::Usage(format!(
            "skeleton {index} of the engine is not the skeleton of the arrays; make both from the same library"
        )))
    }

    /// Checks the clips and times of moments for an engine.
    fn check_clips(&self, engine: &CpuEngine, moments: &[Moment]) -> Result<(), Error> {
        let library = engine.library();
        let mut known: Option<ClipId> = None;
        for (index, moment) in
            moments.iter().enumerate().filter(|(_, moment)| known.replace(moment.clip) != Some(moment.clip))
        {
            let error = |reason: String| Err(Error::Usage(format!("moment {index}: {reason}")));
            let clip = moment.clip.index();
            match library.clip(moment.clip) {
                None => {
                    let missing = no_such("clip", clip, "library of the engine", library.clip_count());
                    return error(format!("{missing}; make the engine after the clip was added"));
                }
                Some(found) if found.skeleton != self.skeleton => {
                    let (other, own) = (found.skeleton.index(), self.skeleton.index());
                    return error(format!(
                        "clip {clip} animates skeleton {other}, but the arrays are those of skeleton {own}"
                    ));
                }
                Some(_) => {}
            }
        }
        check_times(moments)
    }
}

/// Moments and the parts of the arrays for them.
type ThreadShare<'a> = (&'a [Moment], Vec<&'a mut [f32]>);

/// A function with the goals of a clip at a time in seconds.
pub type GoalsAt<'a> = dyn Fn(ClipId, f64) -> Vec<Goal> + 'a;

/// A function with the pose at a time in seconds.
pub type PoseAt<'a> = dyn FnMut(f64) -> Result<Pose, Error> + 'a;

/// A function that takes the numbers of the poses of a block.
pub type TakeNumbers<'a> = dyn FnMut(&OutputNumbers) -> Result<(), Error> + 'a;

/// A function that poses a block and passes its numbers on.
pub type PoseBlock<'a> = dyn FnMut(&[ClipTime], &mut TakeNumbers) -> Result<(), Error> + 'a;

/// Checks that all times of moments are finite.
fn check_times(moments: &[Moment]) -> Result<(), Error> {
    let error = moments.iter().position(|moment| !moment.times().into_iter().all(is_usable));
    error.map_or(Ok(()), |index| {
        let Moment { before, time, after, .. } = moments[index];
        let times = format!("{before} s, {time} s and {after} s");
        Err(Error::Usage(format!("moment {index}: its times are {times}; expected finite numbers of seconds")))
    })
}

/// Checks that the numbers of a block are finite.
fn check_finite(name: &str, moments: &[Moment], numbers: &[f32]) -> Result<(), Error> {
    if numbers.iter().fold(true, |finite, number| finite & number.is_finite()) {
        return Ok(());
    }
    let first = numbers.iter().position(|number| !number.is_finite()).unwrap_or_default();
    let moment = &moments[first * moments.len() / numbers.len()];
    let (clip, time) = (moment.clip.index(), moment.time);
    Err(Error::Usage(format!(
        "{name} of clip {clip} at {time} s exceeds the range of an f32; give a smaller scale, or check the clip"
    )))
}

impl ArrayLayout {
    /// Fills the arrays for an instance with these layers, at frames of the crowd clock, with the poses of any engine,
    /// rounded to `f32`.
    ///
    /// # Errors
    /// [`Error::Usage`] if a layer follows parameters or another layer, a slice has the wrong length, or a result
    /// exceeds the range of an `f32`; the errors of the engine.
    pub fn sample_layers(
        &self,
        engine: &mut dyn Evaluator,
        layers: &[Layer],
        grid: &FrameGrid,
        frames: Range<u64>,
        out: &mut [&mut [f32]],
    ) -> Result<(), Error> {
        if let Some(layer) = layers.iter().position(Layer::is_driven) {
            let reason =
                "follows parameters or another layer, which arrays of layers do not have; play it by the clock";
            return Err(Error::Usage(format!("layer {layer} {reason}")));
        }
        // The frames have times, but no clip of their own.
        let moments: Vec<_> = frames.map(|frame| grid.moment(ClipId(0), frame)).collect();
        self.check_slices(&moments, out)?;
        let mut numbers = OutputNumbers::default();
        self.each_block(&moments, out, &mut |times, block| {
            let at = times.iter().map(|at| {
                let layers: Vec<Layer> = layers.iter().map(|layer| earlier(layer, at.time)).collect();
                (layers, Vec::new())
            });
            evaluate_poses(engine, self.skeleton, self.outputs, at, &mut numbers)?;
            block(&numbers)
        })
    }
}

/// A layer that has at tick 0 the state that another has at a time of the crowd clock.
fn earlier(layer: &Layer, seconds: f64) -> Layer {
    let now = Ticks::from_seconds(seconds);
    let time = match layer.time {
        LayerTime::Playing(playback) => LayerTime::Playing(Playback { start: playback.start - now, ..playback }),
        fixed => fixed,
    };
    let fade = |fade: Fade| Fade { start: fade.start - now, ..fade };
    Layer { time, fade_in: layer.fade_in.map(fade), fade_out: layer.fade_out.map(fade), ..*layer }
}

/// Evaluates poses with an engine, and rounds their numbers to `f32`. `poses` has the layers and goals of each pose.
fn evaluate_poses(
    engine: &mut dyn Evaluator,
    skeleton: SkeletonId,
    outputs: Outputs,
    poses: impl Iterator<Item = (Vec<Layer>, Vec<Goal>)>,
    to: &mut OutputNumbers,
) -> Result<(), Error> {
    let mut crowd = Crowd::new();
    for (layers, goals) in poses {
        let instance = crowd.push(skeleton, &layers)?;
        if !goals.is_empty() {
            crowd.set_goals(instance, goals)?;
        }
    }
    let poses = engine.evaluate(&crowd, Ticks(0), outputs)?;
    clear(to);
    poses.instances.iter().for_each(|pose| append(pose, to));
    Ok(())
}

/// Removes the numbers of all poses.
fn clear(numbers: &mut OutputNumbers) {
    for numbers in [&mut numbers.local, &mut numbers.model, &mut numbers.skin, &mut numbers.values] {
        numbers.clear();
    }
}

/// Appends the numbers of a pose.
fn append(pose: &Pose, to: &mut OutputNumbers) {
    for local in &pose.local {
        to.local.extend(local.translation.as_vec3().extend(0.0).to_array());
        to.local.extend(local.rotation.as_quat().to_array());
        to.local.extend(local.scale.as_vec3().extend(0.0).to_array());
    }
    to.model.extend(pose.model.iter().flat_map(rows).flatten());
    to.skin.extend(pose.skins.iter().flatten().flat_map(rows).flatten());
    to.values.extend(pose.weights.iter().chain(&pose.properties).map(|&value| value as f32));
}

/// The name of the arithmetic in which an engine fills arrays. On processors of one architecture, engines with the same
/// name give the same bits.
///
/// * `fused`: AVX2 and AVX-512, on x86-64. A product and a sum are rounded once.
/// * `neon`: NEON, on 64-bit ARM. A product and a sum are rounded once, but sums of several numbers can have another
///   order than in `fused`.
/// * `portable`: all other machines. A product and a sum are rounded separately. The order of sums of several numbers
///   depends on the architecture.
///
/// # Examples
/// ```
/// use posse::cpu::{CpuEngine, InstructionSet};
/// use posse::{bake, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let engine = CpuEngine::new(&demo::library()?)?;
/// println!("{}", bake::arithmetic(&engine));
/// assert_eq!(bake::arithmetic(&engine.with_instructions(InstructionSet::Portable)), "portable");
/// # Ok(())
/// # }
/// ```
pub fn arithmetic(engine: &CpuEngine) -> &'static str {
    match engine.instructions() {
        InstructionSet::Avx512 | InstructionSet::Avx2 => "fused",
        InstructionSet::Neon => "neon",
        InstructionSet::Portable => "portable",
    }
}
