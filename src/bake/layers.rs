//! Arrays of an instance of a crowd, whose layers play on the crowd clock.

use std::ops::Range;

use crate::bake::{ArrayLayout, FrameGrid, any_engine};
use crate::error::Error;
use crate::evaluator::Evaluator;
use crate::model::{ClipId, Fade, Layer, LayerTime, Playback, Ticks};
use crate::pack::OutputNumbers;

impl ArrayLayout {
    /// Fills the arrays for an instance with these layers, at frames of the crowd clock, with the poses of any engine, rounded to
    /// `f32`.
    ///
    /// # Errors
    /// [`Error::Usage`] if a layer follows parameters or another layer, a slice has the wrong length, or a result exceeds the range of an `f32`; the errors of the engine.
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
            let at = times.iter().map(|at| layers.iter().map(|layer| earlier(layer, at.time)).collect());
            any_engine::evaluate(engine, self.skeleton, self.outputs, at, &mut numbers)?;
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
