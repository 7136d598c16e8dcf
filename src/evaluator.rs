//! The trait that all engines implement.

use crate::error::Error;
use crate::model::{Crowd, EventList, Outputs, Poses, Step, Ticks};

/// An engine that poses crowds of one library.
///
/// Evaluation has no state: the same crowd and time give the same poses, in any order of calls.
///
/// The trait is convenient but slow: each call packs the crowd and converts all poses to `f64`. To pose frame after
/// frame, keep a [`CpuCrowd`](crate::cpu::CpuCrowd) for [`CpuEngine::pose`](crate::cpu::CpuEngine::pose), or a
/// [`GpuCrowd`](crate::gpu::GpuCrowd), whose poses stay on the GPU.
///
/// # Examples
/// ```
/// use posse::cpu::CpuEngine;
/// use posse::{Error, Evaluator, Outputs, Reference, Ticks, demo};
///
/// fn head_height(engine: &mut dyn Evaluator, crowd: &posse::Crowd, head: usize) -> Result<f64, Error> {
///     let poses = engine.evaluate(crowd, Ticks::from_seconds(0.5), Outputs { model: true, ..Outputs::NONE })?;
///     Ok(poses.instances[0].model[head].translation.y)
/// }
///
/// # fn main() -> Result<(), Error> {
/// let library = demo::library()?;
/// let crowd = demo::crowd(&library, 1)?;
/// let head = library.skeletons()[0].find_joint("head").expect("a head");
/// let expected = head_height(&mut Reference::new(&library), &crowd, head)?;
/// let height = head_height(&mut CpuEngine::new(&library)?, &crowd, head)?;
/// assert!((height - expected).abs() < 1e-5);
/// # Ok(())
/// # }
/// ```
pub trait Evaluator {
    /// The name of the engine: `gpu`, `cpu` or `reference`.
    fn engine(&self) -> &'static str;

    /// The hardware that the engine runs on, as the system names it: the GPU and its driver, or the number of threads.
    fn adapter(&self) -> String;

    /// Poses a crowd at the end of a step of its clock.
    ///
    /// # Errors
    /// * [`Error::Instance`] if the crowd does not fit the library.
    /// * [`Error::Skeleton`], [`Error::Skin`] or [`Error::Track`] if `outputs` asks for dual quaternions and the crowd
    ///   uses a scale that is not uniform ([`SkinFormat::DualQuaternion`](crate::SkinFormat)).
    /// * The errors of a device, on the GPU.
    fn evaluate_step(&mut self, crowd: &Crowd, step: Step, outputs: Outputs) -> Result<Poses, Error>;

    /// Poses a crowd at a time of its clock.
    ///
    /// # Errors
    /// The same as [`evaluate_step`](Self::evaluate_step).
    fn evaluate(&mut self, crowd: &Crowd, now: Ticks, outputs: Outputs) -> Result<Poses, Error> {
        self.evaluate_step(crowd, now.into(), outputs)
    }

    /// Lists the events that the layers of a crowd reach in a step of its clock, at most `capacity` of them. Further
    /// events are counted. The engine chooses the events that the list contains.
    ///
    /// # Errors
    /// The same as [`evaluate_step`](Self::evaluate_step); [`Error::Limit`] if a list of `capacity` events is too
    /// large for a device.
    fn evaluate_events(&mut self, crowd: &Crowd, step: Step, capacity: usize) -> Result<EventList, Error>;
}
