//! The device of a long run, which is lost now and then, with two crowds: one that goes on, and one that begins anew on each device.

use posse::{AdapterKind, Error, GpuEngine, contract};

use super::changing::{Changes, ChangingCrowd, Contents};
use super::frame_time::{Clock, FrameTime};
use crate::engine::AdapterArgs;

/// The crowds and their engine.
pub struct Stage<'a> {
    adapter: &'a AdapterArgs,
    contents: Contents,
    engine: GpuEngine,
    /// The crowd that goes on.
    crowd: ChangingCrowd,
    /// The crowd that begins anew on each device, so that its frames are those of a new process.
    repeated: ChangingCrowd,
    /// The instances that were requested.
    requested: usize,
}

impl<'a> Stage<'a> {
    /// Two crowds of about this many instances each.
    pub fn new(adapter: &'a AdapterArgs, requested: usize) -> Result<Self, Error> {
        let contents = Contents::new()?;
        let engine = GpuEngine::new(&contents.library, adapter.open(AdapterKind::Any)?)?;
        let crowd = ChangingCrowd::new(&contents, &engine, requested)?;
        let repeated = ChangingCrowd::new(&contents, &engine, requested)?;
        Ok(Self { adapter, contents, engine, crowd, repeated, requested })
    }

    /// The name of the device.
    pub fn adapter(&self) -> String {
        self.engine.gpu().name()
    }

    /// The number of instances of the crowd that goes on.
    pub fn instances(&self) -> usize {
        self.crowd.len()
    }

    /// The changes of the crowd that goes on.
    pub fn changes(&self) -> Changes {
        self.crowd.changes
    }

    /// The next frame of the crowd that goes on.
    pub fn frame(&mut self) -> Result<(), Error> {
        self.crowd.frame(&self.contents, &self.engine)
    }

    /// The next frame of the crowd that began with the device, and its time.
    pub fn repeated_frame(&mut self) -> Result<FrameTime, Error> {
        let clock = Clock::start();
        self.repeated.frame(&self.contents, &self.engine)?;
        Ok(clock.elapsed())
    }

    /// Compares the poses of the last frame with those of the reference.
    pub fn check(&self) -> Result<contract::Report, Error> {
        self.crowd.check(&self.contents, &self.engine)
    }

    /// Loses the device, sees the loss in the next frame, and poses the same crowd on a new device. The other crowd begins anew.
    pub fn lose_device(&mut self) -> Result<(), Error> {
        self.engine.gpu().device.destroy();
        match self.crowd.pose(&self.engine) {
            Err(Error::Device(_)) => {}
            Err(error) => return Err(error),
            Ok(()) => return Err(Error::Device("a destroyed device still answers".into())),
        }
        self.engine = GpuEngine::new(&self.contents.library, self.adapter.open(AdapterKind::Any)?)?;
        self.repeated = ChangingCrowd::new(&self.contents, &self.engine, self.requested)?;
        self.crowd.move_to(&self.engine)
    }
}
