//! What all engines have in common.

use crate::error::Error;
use crate::model::{Crowd, EventList, Outputs, Poses, Step, Ticks};

/// An engine that poses crowds of the library it was made for.
///
/// Evaluation has no state: the same crowd and time give the same poses, in whatever order they are asked for.
///
/// It is the convenient way, and the slow one: each call packs the crowd, and makes `f64` poses of everything. Who poses frame
/// after frame keeps a [`CpuCrowd`](crate::cpu::CpuCrowd) for [`CpuEngine::pose`](crate::CpuEngine::pose), or a
/// [`GpuCrowd`](crate::GpuCrowd), whose poses stay on the GPU.
pub trait Evaluator {
    /// What the engine is: `gpu`, `cpu` or `reference`.
    fn engine(&self) -> &'static str;

    /// What it runs on, in the words of the system: the GPU's name and driver, or the number of threads.
    fn adapter(&self) -> String;

    /// The poses of a crowd at the end of a step of its clock.
    ///
    /// # Errors
    /// [`Error::Instance`] where the crowd does not fit the library; [`Error::Skeleton`], [`Error::Skin`] or
    /// [`Error::Track`] where dual quaternions are wanted and what it uses of the library there does not scale alike along
    /// all axes ([`SkinFormat::DualQuaternion`](crate::SkinFormat)); what a device can report.
    fn evaluate_step(&mut self, crowd: &Crowd, step: Step, outputs: Outputs) -> Result<Poses, Error>;

    /// The poses of a crowd at a time of its clock.
    ///
    /// # Errors
    /// As [`evaluate_step`](Self::evaluate_step).
    fn evaluate(&mut self, crowd: &Crowd, now: Ticks, outputs: Outputs) -> Result<Poses, Error> {
        self.evaluate_step(crowd, now.into(), outputs)
    }

    /// The events that a crowd's layers reach in a step of its clock, at most so many of them; the others are counted. Which
    /// of them find room is the engine's choice.
    ///
    /// # Errors
    /// As [`evaluate_step`](Self::evaluate_step); [`Error::Limit`] where a device has no room for so many.
    fn evaluate_events(&mut self, crowd: &Crowd, step: Step, capacity: usize) -> Result<EventList, Error>;
}
