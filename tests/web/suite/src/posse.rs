//! The crate `posse`, with the paths that the tests import: its engine of the GPU waits for answers, and comparisons
//! are noted.

pub use ::posse::*;

/// The engine of the GPU.
pub mod gpu {
    use std::ops::{Deref, DerefMut, Range};

    pub use ::posse::gpu::*;

    use crate::blocking::block_on;
    use crate::figures;
    use crate::posse::events::EventList;
    use crate::posse::packed::OutputNumbers;
    use crate::posse::{Crowd, Error, Evaluator, Library, Outputs, Pose, Poses, Step};

    /// The GPU engine as an [`Evaluator`].
    #[derive(Debug)]
    pub struct GpuEngine(::posse::gpu::GpuEngine);

    impl Deref for GpuEngine {
        type Target = ::posse::gpu::GpuEngine;

        fn deref(&self) -> &Self::Target {
            &self.0
        }
    }

    impl DerefMut for GpuEngine {
        fn deref_mut(&mut self) -> &mut Self::Target {
            &mut self.0
        }
    }

    impl GpuEngine {
        pub fn new(library: &Library, gpu: GpuContext) -> Result<Self, Error> {
            let library = block_on(GpuLibrary::new_async(&gpu, library))?;
            Self::with_library(gpu, library)
        }

        pub fn with_library(gpu: GpuContext, library: GpuLibrary) -> Result<Self, Error> {
            ::posse::gpu::GpuEngine::with_library(gpu, library).map(Self)
        }

        pub fn read(&self, batch: &GpuBatch, instances: Range<usize>) -> Result<OutputNumbers, Error> {
            block_on(self.read_async(batch, instances))
        }

        pub fn read_instance(&self, crowd: &GpuCrowd, instance: usize, outputs: Outputs) -> Result<Pose, Error> {
            block_on(self.read_instance_async(crowd, instance, outputs))
        }

        pub fn wait(&self) -> Result<(), Error> {
            block_on(self.wait_async())
        }
    }

    impl Evaluator for GpuEngine {
        fn engine(&self) -> &'static str {
            "gpu"
        }

        fn adapter(&self) -> String {
            self.gpu().name()
        }

        fn evaluate_step(&mut self, crowd: &Crowd, step: Step, outputs: Outputs) -> Result<Poses, Error> {
            let mut poses = block_on(self.evaluate_step_async(crowd, step, outputs))?;
            figures::note_poses(&mut poses);
            Ok(poses)
        }

        fn evaluate_events(&mut self, crowd: &Crowd, step: Step, capacity: usize) -> Result<EventList, Error> {
            let mut list = block_on(self.evaluate_events_async(crowd, step, capacity))?;
            figures::note_events(&mut list);
            Ok(list)
        }
    }
}

/// The numeric contract.
pub mod contract {
    pub use ::posse::contract::*;

    use crate::figures;
    use crate::posse::{Crowd, Library, Poses, SkinFormat, Step};

    pub fn compare(
        library: &Library,
        crowd: &Crowd,
        step: impl Into<Step>,
        expected: &Poses,
        actual: &Poses,
    ) -> Report {
        compare_as(SkinFormat::Matrix, library, crowd, step, expected, actual)
    }

    pub fn compare_as(
        format: SkinFormat,
        library: &Library,
        crowd: &Crowd,
        step: impl Into<Step>,
        expected: &Poses,
        actual: &Poses,
    ) -> Report {
        let report = ::posse::contract::compare_as(format, library, crowd, step, expected, actual);
        figures::note_report(format, actual, &report);
        report
    }
}
