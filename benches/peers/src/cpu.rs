//! The CPU engine of posse.

use posse::compress::{CompressedLibrary, ErrorBound, Length};
use posse::cpu::{CpuCrowd, CpuEngine, InstructionSet};
use posse::packed::PackedLibrary;
use posse::{Error, Library, Outputs, Pose, Ticks};

use crate::scene::{Contender, FRAME, Scene, Workload};

/// The CPU engine of posse on a number of threads, with an instruction set.
pub struct Cpu {
    name: String,
    engine: CpuEngine,
    crowd: CpuCrowd,
    outputs: Outputs,
    instances: usize,
    now: Ticks,
    bound: f64,
}

impl Cpu {
    /// The engine for a number of instances.
    ///
    /// # Errors
    /// The errors of the engine.
    pub fn new(
        scene: &Scene,
        workload: Workload,
        instances: usize,
        instructions: InstructionSet,
        threads: usize,
    ) -> Result<Self, Error> {
        let engine = CpuEngine::with_threads(&scene.library, threads)?.with_instructions(instructions);
        Self::of(engine, name(instructions, threads), 5e-6, scene, workload, instances)
    }

    /// The engine on one thread, with the widest instruction set, and with keys that [`compress`] has compressed.
    ///
    /// # Errors
    /// The errors of the engine.
    pub fn compressed(
        scene: &Scene,
        compressed: PackedLibrary,
        workload: Workload,
        instances: usize,
    ) -> Result<Self, Error> {
        // The bound of a displacement is 1e-4; numbers of matrices show a shell at a distance of 3e-2.
        Self::of(CpuEngine::from_packed(compressed, 1), compressed_name(), 1e-2, scene, workload, instances)
    }

    fn of(
        engine: CpuEngine,
        name: String,
        bound: f64,
        scene: &Scene,
        workload: Workload,
        instances: usize,
    ) -> Result<Self, Error> {
        let outputs = workload.outputs();
        let crowd = engine.crowd(&scene.crowd(workload, 0..instances)?, outputs)?;
        Ok(Self { name, engine, crowd, outputs, instances, now: Ticks(0), bound })
    }
}

/// Compresses a library within the bound that `native/acl.cc` has, too: 0.1 mm at 3 cm from a joint.
///
/// # Errors
/// The errors of packing.
pub fn compress(library: &Library) -> Result<PackedLibrary, Error> {
    let bound = ErrorBound { error: Length::Units(1e-4), shell: Length::Units(0.03) };
    CompressedLibrary::new(library, bound)?.pack()
}

/// The name of the engine with compressed keys in the table.
pub fn compressed_name() -> String {
    format!("{}, compressed", name(InstructionSet::widest(), 1))
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
        self.bound
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
