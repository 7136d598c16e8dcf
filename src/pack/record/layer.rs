//! The record of a layer of an instance: its mixing and its time.

use crate::pack::record::{constants, record};

constants! {
    /// Bits of [`LayerRecord::mode`] that hold the mode.
    pub const LAYER_MODE: u32 = 3;
    /// Mode of a layer that blends.
    pub const LAYER_BLEND: u32 = 0;
    /// Mode of a layer that overrides the layers below.
    pub const LAYER_OVERRIDE: u32 = 1;
    /// Mode of a layer that adds its difference from its clip at time 0.
    pub const LAYER_ADD_FIRST: u32 = 2;
    /// Mode of a layer that adds its difference from the rest pose.
    pub const LAYER_ADD_REST: u32 = 3;
    /// Bit of [`LayerRecord::mode`]: the layer fades in.
    pub const LAYER_FADES_IN: u32 = 4;
    /// Bit of [`LayerRecord::mode`]: the layer fades out.
    pub const LAYER_FADES_OUT: u32 = 8;
    /// Bit of [`LayerRecord::mode`]: the fade in is smooth, not linear.
    pub const LAYER_SMOOTH_IN: u32 = 16;
    /// Bit of [`LayerRecord::mode`]: the fade out is smooth, not linear.
    pub const LAYER_SMOOTH_OUT: u32 = 32;

    /// Bit of [`LayerRecord::clock`]: the layer plays. Without it, the layer stays at its fixed time.
    pub const CLOCK_PLAYS: u32 = 1;
    /// Bit of [`LayerRecord::clock`]: before its start, the layer stays at the time of its start.
    pub const CLOCK_WAITS: u32 = 2;
    /// Bit of [`LayerRecord::clock`]: the layer never stops.
    pub const CLOCK_ENDLESS: u32 = 4;
    /// Bit of [`LayerRecord::clock`]: the rate is negative.
    pub const CLOCK_BACKWARDS: u32 = 8;
    /// Bit of [`LayerRecord::clock`]: every second pass goes in the opposite direction.
    pub const CLOCK_PING_PONG: u32 = 16;
    /// Bit of [`LayerRecord::clock`]: the first pass goes from the end to the start.
    pub const CLOCK_REVERSE: u32 = 32;
    /// Bit of [`LayerRecord::clock`]: the time follows from a parameter or from another layer. The fixed time is that of the
    /// frame; `start` is the position in the clip's units at the beginning of the step, `passes_2` and `passes_3` that at its end;
    /// `passes_0` and `passes_1` are the numbers of jumps at both.
    pub const CLOCK_DRIVEN: u32 = 64;
    /// A layer is at the end of a pass if its distance to the end is at most a tick divided by two to this power.
    pub const CLOCK_NEAR_BITS: u32 = 10;
}

record! {
    /// A layer of an instance.
    LayerRecord {
        /// The offset of the clip's record in the words.
        clip: u32,
        /// The `CLOCK_` bits.
        clock: u32,
        /// The fixed time in seconds, rounded to an `f32`. Of a layer that plays, the time at the tick of the frame, if `play.wgsl` has
        /// written it.
        time_high: f32,
        /// The remainder of that rounding.
        time_low: f32,
        /// The start tick, lower half.
        start_low: u32,
        /// The start tick, upper half.
        start_high: u32,
        /// The passes per tick in either direction, as an integer and a fraction of 96 bits: the lowest word of the fraction.
        passes_0: u32,
        /// The middle word of that fraction.
        passes_1: u32,
        /// The highest word of that fraction.
        passes_2: u32,
        /// The integer part of the passes per tick.
        passes_3: u32,
        /// The passes until the layer stops, as an integer and a fraction of 64 bits: lower half of the fraction.
        repeat_low: u32,
        /// The upper half of that fraction.
        repeat_high: u32,
        /// The integer part of the passes until the layer stops.
        repeat_count: u32,
        /// The start of the played part of the clip, in the clip's units: lower half.
        part_start_low: u32,
        /// The start of the played part, upper half.
        part_start_high: u32,
        /// The length of the played part, in the clip's units: lower half.
        part_length_low: u32,
        /// The length of the played part, upper half.
        part_length_high: u32,
        /// The weight without fades and mask.
        weight: f32,
        /// The mode and the bits of the fades.
        mode: u32,
        /// The offset in the words of one weight per joint. `NONE`: all weights are 1.
        mask: u32,
        /// The start tick of the fade in, lower half.
        fade_in_low: u32,
        /// The start tick of the fade in, upper half.
        fade_in_high: u32,
        /// The length of the fade in, in ticks.
        fade_in_length: f32,
        /// The start tick of the fade out, lower half.
        fade_out_low: u32,
        /// The start tick of the fade out, upper half.
        fade_out_high: u32,
        /// The length of the fade out, in ticks.
        fade_out_length: f32,
        /// The search result of the only timeline of the clip, if `play.wgsl` has written it: the row of the key, and the rows from
        /// there to the next key, as in `Span`.
        span_rows: [u32; 2],
        /// The fraction of that search result, and its interval.
        span_part: [f32; 2],
    }
}
