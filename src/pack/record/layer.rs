//! A layer of an instance: how it joins those before it, and how it plays.

use crate::pack::record::{constants, record};

constants! {
    /// Bits of [`LayerRecord::mode`]: how it joins the layers before it.
    pub const LAYER_MODE: u32 = 3;
    /// Mode of a layer that blends.
    pub const LAYER_BLEND: u32 = 0;
    /// Mode of a layer that overrides what is below.
    pub const LAYER_OVERRIDE: u32 = 1;
    /// Mode of a layer that adds its difference from its clip's time 0.
    pub const LAYER_ADD_FIRST: u32 = 2;
    /// Mode of a layer that adds its difference from the rest pose.
    pub const LAYER_ADD_REST: u32 = 3;
    /// Bit of [`LayerRecord::mode`]: it fades in.
    pub const LAYER_FADES_IN: u32 = 4;
    /// Bit of [`LayerRecord::mode`]: it fades out.
    pub const LAYER_FADES_OUT: u32 = 8;
    /// Bit of [`LayerRecord::mode`]: it fades in smoothly.
    pub const LAYER_SMOOTH_IN: u32 = 16;
    /// Bit of [`LayerRecord::mode`]: it fades out smoothly.
    pub const LAYER_SMOOTH_OUT: u32 = 32;

    /// Bit of [`LayerRecord::clock`]: the layer plays; without it, it stands at its time.
    pub const CLOCK_PLAYS: u32 = 1;
    /// Bit of [`LayerRecord::clock`]: it waits for its start.
    pub const CLOCK_WAITS: u32 = 2;
    /// Bit of [`LayerRecord::clock`]: it never stops.
    pub const CLOCK_ENDLESS: u32 = 4;
    /// Bit of [`LayerRecord::clock`]: its rate is negative.
    pub const CLOCK_BACKWARDS: u32 = 8;
    /// Bit of [`LayerRecord::clock`]: every second pass goes the other way.
    pub const CLOCK_PING_PONG: u32 = 16;
    /// Bit of [`LayerRecord::clock`]: the first pass goes from the end to the start.
    pub const CLOCK_REVERSE: u32 = 32;
}

record! {
    /// A layer of an instance.
    LayerRecord {
        /// Words: the clip's record.
        clip: u32,
        /// How it plays, if it does.
        clock: u32,
        /// The fixed time in seconds, rounded.
        time_high: f32,
        /// What the rounding left.
        time_low: f32,
        /// Start tick, lower half.
        start_low: u32,
        /// Start tick, upper half.
        start_high: u32,
        /// Passes a tick, whatever the direction, as an integer and a fraction of 96 bits: lowest word of the fraction.
        passes_0: u32,
        /// Its middle word.
        passes_1: u32,
        /// Its highest word.
        passes_2: u32,
        /// The integer.
        passes_3: u32,
        /// Passes until it stops, as an integer and a fraction of 64 bits: lower half of the fraction.
        repeat_low: u32,
        /// Upper half of the fraction.
        repeat_high: u32,
        /// The integer.
        repeat_count: u32,
        /// Where the part of the clip that is played begins, in the clip's units: lower half.
        part_start_low: u32,
        /// Upper half.
        part_start_high: u32,
        /// How long that part is, in the clip's units: lower half.
        part_length_low: u32,
        /// Upper half.
        part_length_high: u32,
        /// Its weight without fades and mask.
        weight: f32,
        /// How it joins the layers before it, and how it fades.
        mode: u32,
        /// Words: a weight a joint. None: 1.
        mask: u32,
        /// Tick at which it begins to fade in, lower half.
        fade_in_low: u32,
        /// Upper half.
        fade_in_high: u32,
        /// Ticks that it takes to.
        fade_in_length: f32,
        /// Tick at which it begins to fade out, lower half.
        fade_out_low: u32,
        /// Upper half.
        fade_out_high: u32,
        /// Ticks that it takes to.
        fade_out_length: f32,
    }
}
