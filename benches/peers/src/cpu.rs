//! The CPU engine of posse.

use posse::{CpuCrowd, CpuEngine, Error, InstructionSet, Outputs, Pose, Ticks};

use crate::scene::{Contender, FRAME, Scene, Workload};

/// The CPU engine of posse on a number of threads, with an instruction set.
pub struct Cpu {
    name: String,
    engine: CpuEngine,
    crowd: CpuCrowd,
    outputs: Outputs,
    instances: usize,
    now: Ticks,
}

impl Cpu {
    /// The engine for a number of instances.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn new(
        scene: &Scene,
        workload: Workload,
        instances: usize,
        instructions: InstructionSet,
        threads: usize,
    ) -> Result<Self, Error> {
        let engine = CpuEngine::with_threads(&scene.library, threads)?.with_instructions(instructions);
        let outputs = workload.outputs();
        let crowd = engine.crowd(&scene.crowd(workload, 0..instances)?, outputs)?;
        Ok(Self { name: name(instructions, threads), engine, crowd, outputs, instances, now: Ticks(0) })
    }
}

/// The name of the engine in the table.
pub fn name(instructions: InstructionSet, threads: usize) -> String {
    format!("posse cpu {} x{threads}", instructions.name())
}

impl Contender for Cpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn bound(&self) -> f64 {
        5e-6
    }

    fn frame(&mut self) -> Result<(), Error> {
        self.now.0 += FRAME.0;
        self.engine.pose(&mut self.crowd, self.now);
        Ok(())
    }

    fn pose(&self, instance: usize) -> Result<Pose, Error> {
        Ok(self.engine.read(&self.crowd, instance, self.outputs))
    }
}
