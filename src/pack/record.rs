//! Records that Rust writes and WGSL reads.
//!
//! Each is declared once here and once in `shaders/shared/records.wgsl`; a test compares the two, field by field.

use bytemuck::{Pod, Zeroable};

use crate::model::step::Step;
use crate::model::ticks::Ticks;

/// A field of a record, for the comparison with WGSL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type, as written.
    pub type_name: &'static str,
    /// Its offset in bytes.
    pub offset: usize,
}

macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ident,)* }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $name {
            /// The number of `u32` words of a record.
            pub const WORDS: usize = size_of::<Self>() / 4;
            /// The fields in order.
            pub const FIELDS: &'static [Field] = &[$(Field {
                name: stringify!($field),
                type_name: stringify!($type),
                offset: std::mem::offset_of!($name, $field),
            },)*];
        }
    };
}

/// No joint, no table, no matrix.
pub const NONE: u32 = u32::MAX;

/// No curve: the rest pose.
pub const MODE_REST: u32 = 0;
/// One value for all times.
pub const MODE_CONSTANT: u32 = 1;
/// The previous key's value.
pub const MODE_STEP: u32 = 2;
/// Linear between keys; rotations spherically.
pub const MODE_LINEAR: u32 = 3;
/// Cubic Hermite splines.
pub const MODE_CUBIC: u32 = 4;
/// Spherically between quaternions of any length. A key has two values: its own, and the next key's in its hemisphere.
pub const MODE_SLERP: u32 = 5;
/// By an interpolator, whose index is the channel's shape.
pub const MODE_CUSTOM: u32 = 6;
/// Three channels, one a number: the place of their records in the words.
pub const MODE_SPLIT: u32 = 7;
/// Bit of a mode: keys are integers, and the channel's values are the place of a [`CompactColumn`] in the words.
pub const MODE_COMPACT: u32 = 64;
/// Bit of a mode: the numbers are angles in degrees, about x, z and y, of a rotation.
pub const MODE_EULER: u32 = 128;
/// Bits of [`Channel::sampler`] that hold the mode; the timeline's index in its clip lies above them.
pub const MODE_BITS: u32 = 8;

/// Bits of [`CompactColumn::format`] that hold where in a word the first code begins, and of each code's width above it.
pub const COMPACT_BITS: u32 = 5;
/// The lowest bit of [`CompactColumn::format`] above the four widths: the form.
pub const COMPACT_FORM: u32 = 25;
/// Form of a key whose numbers are its value. Between the two forms lie, in order, those of a unit quaternion of which one
/// number is not stored.
pub const COMPACT_NUMBERS: u32 = 0;
/// Form of a key whose numbers are a quaternion that is normalised.
pub const COMPACT_UNIT: u32 = 5;
/// Bits of the form.
pub const COMPACT_FORM_BITS: u32 = 3;
/// Bit of [`CompactColumn::format`]: each least code has a word to itself.
pub const COMPACT_WIDE: u32 = 1 << 28;
/// Words of a column with its least codes, and of a wide one.
pub const COMPACT_COLUMN_WORDS: u32 = 5;
/// As above.
pub const COMPACT_WIDE_COLUMN_WORDS: u32 = 7;

/// Bit of [`Mapping::source`]: the way to the next key is a straight line, not eased.
pub const MAP_STRAIGHT: u32 = 1 << 31;
/// Bit of [`Mapping::source`]: the way is measured from the next key time back, so that nothing is lost near it.
pub const MAP_BACK: u32 = 1 << 30;
/// Bits of [`Mapping::source`] that are the key.
pub const MAP_KEY: u32 = MAP_BACK - 1;

/// Code of an easing that changes nothing.
pub const EASING_LINEAR: u32 = 0;
/// Code of the easing that stays at 0.
pub const EASING_CONSTANT: u32 = 1;
/// Code of the first easing of a family, to which the part is added; families follow one another in fours.
pub const EASING_QUAD: u32 = 2;
/// As above.
pub const EASING_CUBIC: u32 = 6;
/// As above.
pub const EASING_QUART: u32 = 10;
/// As above.
pub const EASING_QUINT: u32 = 14;
/// As above.
pub const EASING_SINE: u32 = 18;
/// As above.
pub const EASING_EXPO: u32 = 22;
/// As above.
pub const EASING_CIRC: u32 = 26;
/// As above.
pub const EASING_ELASTIC: u32 = 30;
/// As above.
pub const EASING_BACK: u32 = 34;
/// As above.
pub const EASING_BOUNCE: u32 = 38;
/// Code of an easing without a family.
pub const EASING_SMOOTH: u32 = 42;
/// Code of an easing without a family.
pub const EASING_FADE: u32 = 43;
/// First code of a Bezier curve, to which the place of its two values is added: its control points, then the parameter and
/// the x of its first and its second fold.
pub const EASING_BEZIER: u32 = 44;
/// Part of an easing family: as it is.
pub const EASING_IN: u32 = 0;
/// Turned by half a turn.
pub const EASING_OUT: u32 = 1;
/// The first half as it is, the second turned.
pub const EASING_IN_OUT: u32 = 2;
/// The first half turned, the second as it is.
pub const EASING_OUT_IN: u32 = 3;

/// Bit of [`ValueChannel::shape`]: the value is a quaternion that interpolates as a rotation.
pub const SHAPE_ROTATION: u32 = 8;
/// Bit of [`ValueChannel::shape`]: the clip has no track for it, and the value is the one at rest.
pub const SHAPE_REST: u32 = 16;

/// A number of a property, which belongs to no joint.
pub const VALUE_NUMBER: u32 = NONE;
/// The first number of a property that is a rotation.
pub const VALUE_ROTATION: u32 = NONE - 1;
/// Another number of a property that is a rotation.
pub const VALUE_ROTATION_REST: u32 = NONE - 2;

/// Bits of [`Layer::mode`]: how it joins the layers before it.
pub const LAYER_MODE: u32 = 3;
/// Mode of a layer that blends.
pub const LAYER_BLEND: u32 = 0;
/// Mode of a layer that overrides what is below.
pub const LAYER_OVERRIDE: u32 = 1;
/// Mode of a layer that adds its difference from its clip's time 0.
pub const LAYER_ADD_FIRST: u32 = 2;
/// Mode of a layer that adds its difference from the rest pose.
pub const LAYER_ADD_REST: u32 = 3;
/// Bit of [`Layer::mode`]: it fades in.
pub const LAYER_FADES_IN: u32 = 4;
/// Bit of [`Layer::mode`]: it fades out.
pub const LAYER_FADES_OUT: u32 = 8;
/// Bit of [`Layer::mode`]: it fades in smoothly.
pub const LAYER_SMOOTH_IN: u32 = 16;
/// Bit of [`Layer::mode`]: it fades out smoothly.
pub const LAYER_SMOOTH_OUT: u32 = 32;

/// Bit of [`Layer::clock`]: the layer plays; without it, it stands at its time.
pub const CLOCK_PLAYS: u32 = 1;
/// Bit of [`Layer::clock`]: it waits for its start.
pub const CLOCK_WAITS: u32 = 2;
/// Bit of [`Layer::clock`]: it never stops.
pub const CLOCK_ENDLESS: u32 = 4;
/// Bit of [`Layer::clock`]: its rate is negative.
pub const CLOCK_BACKWARDS: u32 = 8;
/// Bit of [`Layer::clock`]: every second pass goes the other way.
pub const CLOCK_PING_PONG: u32 = 16;
/// Bit of [`Layer::clock`]: the first pass goes from the end to the start.
pub const CLOCK_REVERSE: u32 = 32;

/// Bit of [`Batch::outputs`]: local transforms.
pub const OUTPUT_LOCAL: u32 = 1;
/// Bit of [`Batch::outputs`]: model matrices.
pub const OUTPUT_MODEL: u32 = 2;
/// Bit of [`Batch::outputs`]: skin matrices.
pub const OUTPUT_SKIN: u32 = 4;

/// Bit of [`Root::moves`]: along x.
pub const ROOT_X: u32 = 1;
/// Bit of [`Root::moves`]: along y.
pub const ROOT_Y: u32 = 2;
/// Bit of [`Root::moves`]: along z.
pub const ROOT_Z: u32 = 4;
/// Bit of [`Root::moves`]: the twist about the up axis turns the instance.
pub const ROOT_YAW: u32 = 8;
/// Bit of [`Root::moves`]: the whole rotation turns the instance.
pub const ROOT_FULL: u32 = 16;

record! {
    /// A skeleton with its skins.
    Skeleton {
        /// Joints, parents before children.
        joint_count: u32,
        /// Rounds of ancestor doubling until every joint has met its root: the logarithm of the depth.
        round_count: u32,
        /// Words: for each round, for each joint its ancestor 2^round levels up, or none.
        ancestors: u32,
        /// Values: rest translations of all joints, then rotations, then scales.
        rest: u32,
        /// Words: for each joint the place in the values of the three rows of its rest matrix, or none. None for all: none.
        matrices: u32,
        /// Joints of all skins together.
        skin_joint_count: u32,
        /// Words: the joint of each skin matrix.
        skin_joints: u32,
        /// Values: three rows of the inverse bind matrix of each skin matrix.
        inverse_binds: u32,
        /// Numbers of all morph weights together.
        weight_count: u32,
        /// Numbers of all properties together.
        property_width: u32,
        /// The most timelines of a clip.
        timeline_count: u32,
        /// Words: the record of the clip without tracks.
        rest_clip: u32,
        /// Words: for each number of morph weights and properties the joint that it belongs to, or one of the kinds below.
        value_kinds: u32,
        /// Words: the joints level by level, roots first, those of a level in their order.
        levels: u32,
        /// Fills the record to a multiple of 16 bytes, as a uniform needs.
        reserved_0: u32,
        /// As above.
        reserved_1: u32,
    }
}

record! {
    /// A clip, in the words.
    Clip {
        /// Words: its timeline records.
        timelines: u32,
        /// How many.
        timeline_count: u32,
        /// Words: channels of all joints' translations, then rotations, then scales.
        channels: u32,
        /// Words: channels of morph weights, then those of properties.
        value_channels: u32,
        /// Value channels of morph weights.
        weight_channel_count: u32,
        /// Value channels of morph weights and properties.
        value_channel_count: u32,
        /// Words: for each number of morph weights and properties the value channel that has it.
        value_table: u32,
        /// Seconds of 2^32 of the units in which playing layers count the clip's time, a power of two.
        time_unit: f32,
        /// Words: how many events, the index of the first, then for each its time in the clip's units, lower half first. None:
        /// no events.
        events: u32,
        /// Words: the record of its root joint. None: it moves nobody.
        root: u32,
    }
}

record! {
    /// A clip's root joint, in the words.
    Root {
        /// The joint.
        joint: u32,
        /// What of it moves the instance.
        moves: u32,
        /// The up axis in the space of its parent, of unit length.
        up_x: f32,
        /// As above.
        up_y: f32,
        /// As above.
        up_z: f32,
    }
}

record! {
    /// A timeline of a clip with the easing of the curves that share it, in the words.
    Timeline {
        /// Keys, at least 2.
        key_count: u32,
        /// Words: the time of each key as two `f32`, whose sum is exact to 48 bits.
        times: u32,
        /// Cells (of even timelines: keys) a second.
        cells_per_second: f32,
        /// Cells of the lookup table; of even timelines the number of gaps.
        cell_count: u32,
        /// Words: for each cell's start and the end of the last the last key at or before it; none where keys are even.
        table: u32,
        /// Values, or words of compact keys, from key to key.
        row: u32,
        /// Words: how many codes of easings, then the codes; the first rules the first interval, and so on, the last all
        /// that are left. None: no easing.
        easing: u32,
        /// Seconds before and after a key in which it is hit.
        window: f32,
        /// Words: for each key time a mapping. None: each stands for the key of its place.
        map: u32,
    }
}

record! {
    /// What lies at a key time of a timeline that goes on beyond its keys, and from there to the next, in the words.
    Mapping {
        /// The key that is hit there.
        hit: u32,
        /// The key from which the way leads on to the next, whether it is straight, and from where it is measured.
        source: u32,
        /// The fraction of that way where it is measured from.
        offset: f32,
        /// How much is added to it until the other key time.
        scale: f32,
    }
}

record! {
    /// What drives a joint's translation, rotation or scale, in the words.
    Channel {
        /// Values: the first key, or the one value. Words: the column of compact keys.
        values: u32,
        /// The mode, and above it the timeline's index in the clip.
        sampler: u32,
    }
}

record! {
    /// Up to four numbers of compact keys, in the words; of a spline's keys there are three such, one after the other. A key
    /// is a row of words, in which the codes lie bit by bit, and a number is `step * (least + code)`. The least codes of the
    /// four numbers follow the record: in a word each, or two in one.
    CompactColumn {
        /// Words: the one of the first key's row where the first code begins.
        first: u32,
        /// The bit of that word, the widths of the codes, and how the numbers become a value.
        format: u32,
        /// What a code is multiplied by.
        step: f32,
    }
}

record! {
    /// What drives up to four numbers of morph weights or properties, in the words.
    ValueChannel {
        /// Values: the first key, or the one value. Words: the column of compact keys.
        values: u32,
        /// The mode, and above it the timeline's index in the clip.
        sampler: u32,
        /// Place of the first number among an instance's weights and properties.
        output: u32,
        /// How many numbers, 1 to 4, and whether they are a rotation.
        shape: u32,
    }
}

record! {
    /// A layer of an instance.
    Layer {
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

record! {
    /// What all instances of a dispatch share: a uniform.
    Batch {
        /// The skeleton of all.
        skeleton: Skeleton,
        /// Instances.
        instance_count: u32,
        /// Lanes of an instance: a power of two, at most the workgroup's size.
        lane_count: u32,
        /// Timelines of an instance that have a place in workgroup memory.
        span_count: u32,
        /// Workgroups in a row of the dispatch.
        groups_per_row: u32,
        /// Which of local, model and skin are wanted.
        outputs: u32,
        /// The first number written of an instance's weights and properties.
        first_value: u32,
        /// How many are written.
        value_count: u32,
        /// Layers an instance has records of.
        layer_count: u32,
        /// Instances of a workgroup.
        instances_per_group: u32,
    }
}

record! {
    /// What changes from frame to frame, a step of the crowd's clock: a uniform.
    Frame {
        /// The tick to pose, lower half.
        now_low: u32,
        /// Upper half.
        now_high: u32,
        /// The tick before, lower half.
        from_low: u32,
        /// Upper half.
        from_high: u32,
        /// Whether only those instances are posed that are listed as seen: 1, else 0.
        seen_only: u32,
        /// The number of the frame, by which listed instances are due or not.
        number: u32,
        /// Fills the record to a multiple of 16 bytes, as a uniform needs.
        reserved_0: u32,
        /// As above.
        reserved_1: u32,
    }
}

record! {
    /// An instance that is seen, in the list of a chunk that a culling pass fills.
    SeenEntry {
        /// Its place in the chunk. An entry with a place beyond the last is skipped.
        place: u32,
        /// How many joints are sampled, level by level from the roots; the others keep their rest pose towards their
        /// parents. As many as there are, or more: all.
        joints: u32,
        /// It is posed in each frame where its place and the frame's number add up to a multiple of this. 0 and 1: in each.
        divider: u32,
    }
}

record! {
    /// What all instances of a dispatch that looks for events share: a uniform.
    EventBatch {
        /// Instances.
        instance_count: u32,
        /// Layers an instance has records of.
        layer_count: u32,
        /// Workgroups in a row of the dispatch.
        groups_per_row: u32,
        /// Occurrences that there is room for.
        capacity: u32,
    }
}

record! {
    /// An event that a layer has reached.
    Occurrence {
        /// The tick, lower half.
        tick_low: u32,
        /// Upper half.
        tick_high: u32,
        /// The crowd's index of the instance.
        instance: u32,
        /// The layer's index in the instance.
        layer: u32,
        /// The event's index in the clip.
        event: u32,
    }
}

record! {
    /// What stands before a list of occurrences.
    EventCount {
        /// Occurrences in the list.
        listed: u32,
        /// Those that found no room, lower half of their number.
        missed_low: u32,
        /// Upper half.
        missed_high: u32,
        /// 1 where there are more than that can hold.
        missed_many: u32,
    }
}

impl Channel {
    /// A channel of a mode, of the clip's timeline of this index.
    pub fn new(mode: u32, timeline: u32, values: u32) -> Self {
        Self { values, sampler: mode | timeline << MODE_BITS }
    }
}

/// The mode of a channel's sampler.
pub fn mode_of(sampler: u32) -> u32 {
    sampler & ((1 << MODE_BITS) - 1)
}

/// The timeline of a channel's sampler, by its index in the clip.
pub fn timeline_of(sampler: u32) -> usize {
    (sampler >> MODE_BITS) as usize
}

impl Frame {
    /// The frame of a step, in which all instances are posed.
    pub fn new(step: Step) -> Self {
        let halves = |tick: Ticks| (tick.0 as u32, (tick.0 >> 32) as u32);
        let ((now_low, now_high), (from_low, from_high)) = (halves(step.to), halves(step.from));
        Self { now_low, now_high, from_low, from_high, ..Self::default() }
    }

    /// The frame of a step, in which those instances are posed that are listed and due by the frame's number.
    pub fn seen(step: Step, number: u32) -> Self {
        Self { seen_only: 1, number, ..Self::new(step) }
    }

    /// The step.
    pub fn step(self) -> Step {
        let tick = |low: u32, high: u32| Ticks(i64::from(high as i32) << 32 | i64::from(low));
        Step { from: tick(self.from_low, self.from_high), to: tick(self.now_low, self.now_high) }
    }
}

/// Splits a number into an `f32` and the rest that the rounding left.
pub fn split(number: f64) -> (f32, f32) {
    let high = number as f32;
    (high, (number - f64::from(high)) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_survives_the_frame() {
        for tick in [0, 1, -1, i64::MAX, i64::MIN, 1 << 32, -(1 << 40) + 7] {
            let step = Step { from: Ticks(tick), to: Ticks(tick.wrapping_add(1)) };
            assert_eq!(Frame::new(step).step(), step);
        }
    }

    #[test]
    fn a_split_number_is_exact_to_48_bits() {
        for number in [0.1, 1.0 / 3.0, 12345.678901, -7.0e-3] {
            let (high, low) = split(number);
            assert!((f64::from(high) + f64::from(low) - number).abs() <= number.abs() * 2.0_f64.powi(-48));
        }
    }
}
