//! Constants and records of a packed library: skeletons, timelines, clips and their channels.

use std::f32::consts::{FRAC_PI_2, LN_2};

use crate::half::LARGEST_HALF;
use crate::model::rotation::{MAX_ARCS, MIN_ARC};
use crate::model::{Easing, Layer};
use crate::pack::record::{constants, record};

constants! {
    /// The offset or index that stands for none.
    pub const NONE: u32 = u32::MAX;
    /// The largest overshoot of an eased rotation past either end of its arc, in lengths of the arc. Fractions beyond
    /// are clamped.
    pub const QUAT_MAX_ARCS: f32 = MAX_ARCS as f32;
    /// The largest `1 - cos` of the angle between two quaternions that slerp of unnormalised quaternions interpolates
    /// linearly.
    pub const QUAT_MIN_ARC: f32 = MIN_ARC as f32;
    /// The least absolute value of a quaternion's largest number for which it can be normalised.
    pub const QUAT_MIN_NUMBER: f32 = 1e-30;
    /// The factors `n n` of the terms n = 1, 2, ... of the series of `sin(t a) / sin(a)` (D. Eberly, "A Fast and
    /// Accurate Algorithm for Computing SLERP", 2011).
    pub const QUAT_SINE_SQUARES: [f32; 8] = [1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0, 64.0];
    /// The divisors `n (2 n + 1)` of the same terms.
    pub const QUAT_SINE_DIVISORS: [f32; 8] = [3.0, 10.0, 21.0, 36.0, 55.0, 78.0, 105.0, 136.0];
    /// The cosine of the angle between two quaternions above which three terms of the series are off by at most 8.1e-8.
    /// The angle is 19 degrees, and the angle of the rotations 38.
    pub const QUAT_SHORT_ARC: f32 = 0.945;

    /// The largest fraction that is eased: the largest `f32` below 1.
    pub const EASE_LAST: f32 = 1.0_f32.next_down();
    /// The overshoot of the `back` easings.
    pub const EASE_OVERSHOOT: f32 = Easing::BACK_OVERSHOOT as f32;
    /// The overshoot of `backInOut`, per half.
    pub const EASE_OVERSHOOT_IN_OUT: f32 = Easing::BACK_OVERSHOOT_IN_OUT as f32;
    /// The polynomial of the sine of `x` quarter turns, divided by `x`, in `x x`. The highest coefficient comes first.
    /// It interpolates at Chebyshev points.
    pub const EASE_SINE: [f32; 6] =
        [-3.431_789e-6, 0.000_160_254_6, -0.004_681_657_7, 0.079_692_6, -0.645_964_1, FRAC_PI_2];
    /// The polynomial of 2 to a power from -0.5 to 0.5. The highest coefficient comes first. It interpolates at
    /// Chebyshev points.
    pub const EASE_EXP2: [f32; 7] =
        [0.000_154_531_63, 0.001_339_086_3, 0.009_618_083, 0.055_503_57, 0.240_226_5, LN_2, 1.0];
    /// The most iterations to the parameter of a Bezier curve.
    pub const EASE_BEZIER_STEPS: u32 = 40;
    /// The iteration ends after a change of the parameter by at most this.
    pub const EASE_BEZIER_MIN_STEP: f32 = 3e-8;

    /// The least sum of the weights of blended layers. If the sum is less, the rest pose gets the difference.
    pub const BLEND_MIN_WEIGHT: f32 = Layer::MIN_WEIGHT as f32;
    /// The smallest scale that an additive layer divides by. The ratio to a smaller reference scale counts as 1.
    pub const BLEND_SMALLEST_SCALE: f32 = Layer::SMALLEST_SCALE as f32;

    /// The least square of a scale. Smaller squares are raised to it, to keep a division finite.
    pub const SKIN_MIN_SQUARE: f32 = 1e-30;
    /// The bits, as an `f32`, of the largest `f16`.
    pub const SKIN_LARGEST_HALF: u32 = LARGEST_HALF.to_bits();
    /// Code of the linear easing.
    pub const EASING_LINEAR: u32 = 0;
    /// Code of the easing that is 0 up to the end.
    pub const EASING_CONSTANT: u32 = 1;
    /// First code of the `quad` easings. A variant, `EASING_IN` to `EASING_OUT_IN`, is added to it. Each name has four
    /// codes.
    pub const EASING_QUAD: u32 = 2;
    /// First code of the `cubic` easings.
    pub const EASING_CUBIC: u32 = 6;
    /// First code of the `quart` easings.
    pub const EASING_QUART: u32 = 10;
    /// First code of the `quint` easings.
    pub const EASING_QUINT: u32 = 14;
    /// First code of the `sine` easings.
    pub const EASING_SINE: u32 = 18;
    /// First code of the `expo` easings.
    pub const EASING_EXPO: u32 = 22;
    /// First code of the `circ` easings.
    pub const EASING_CIRC: u32 = 26;
    /// First code of the `elastic` easings.
    pub const EASING_ELASTIC: u32 = 30;
    /// First code of the `back` easings.
    pub const EASING_BACK: u32 = 34;
    /// First code of the `bounce` easings.
    pub const EASING_BOUNCE: u32 = 38;
    /// Code of the `smooth` easing, which has no variants.
    pub const EASING_SMOOTH: u32 = 42;
    /// Code of the `fade` easing, which has no variants.
    pub const EASING_FADE: u32 = 43;
    /// First code of a Bezier curve. The offset of its two values is added to it: the control points, then the
    /// parameter and the x of its first and its second fold.
    pub const EASING_BEZIER: u32 = 44;
    /// Variant of an easing: the function itself.
    pub const EASING_IN: u32 = 0;
    /// Variant of an easing: the function rotated by half a turn.
    pub const EASING_OUT: u32 = 1;
    /// Variant of an easing: the first half as `in`, the second as `out`.
    pub const EASING_IN_OUT: u32 = 2;
    /// Variant of an easing: the first half as `out`, the second as `in`.
    pub const EASING_OUT_IN: u32 = 3;
    /// Kind of a number of a property, which belongs to no joint.
    pub const VALUE_NUMBER: u32 = NONE;
    /// Kind of the first number of a property that is a rotation.
    pub const VALUE_ROTATION: u32 = NONE - 1;
    /// Kind of the other numbers of a property that is a rotation.
    pub const VALUE_ROTATION_REST: u32 = NONE - 2;
    /// Bit of [`Mapping::source`]: the interval is a straight line, without easing.
    pub const MAP_STRAIGHT: u32 = 1 << 31;
    /// Bit of [`Mapping::source`]: the fraction is measured back from the next key time, which loses no precision near
    /// it.
    pub const MAP_BACK: u32 = 1 << 30;
    /// Bits of [`Mapping::source`] that hold the key.
    pub const MAP_KEY: u32 = MAP_BACK - 1;
    /// [`TimelineRecord::table`] of key times that a packed library does not store: multiples of a step after a first
    /// time. `times` is the offset of both, as two `f32` each. A GPU has all key times.
    pub const TIMES_EVEN: u32 = 0xffff_fffe;
    /// The most joints of a skeleton whose ancestors are bytes.
    pub const MAX_BYTE_JOINTS: u32 = 256;
    /// The byte that stands for no ancestor. No joint of such a skeleton has joint 255 as an ancestor.
    pub const NO_ANCESTOR: u32 = 255;
    /// Mode without a curve: the rest pose.
    pub const MODE_REST: u32 = 0;
    /// Mode of one value for all times.
    pub const MODE_CONSTANT: u32 = 1;
    /// Mode of the previous key's value.
    pub const MODE_STEP: u32 = 2;
    /// Mode of linear interpolation; slerp for rotations.
    pub const MODE_LINEAR: u32 = 3;
    /// Mode of cubic Hermite splines.
    pub const MODE_CUBIC: u32 = 4;
    /// Mode of slerp between quaternions of any length. A key has two values: its own, and the next key's in its
    /// hemisphere.
    pub const MODE_SLERP: u32 = 5;
    /// Mode of a caller's interpolator. Its index is the shape of the channel.
    pub const MODE_CUSTOM: u32 = 6;
    /// Mode of three channels, one per number. The channel's values are the offset of their records in the words.
    pub const MODE_SPLIT: u32 = 7;
    /// Bit of a mode: the keys are quantized. In a packed library, the channel's values are the offset of a
    /// [`QuantizedColumn`] in the words. On a GPU, they are the offset of the first key in the values: four codes of 16
    /// bits in half of an element.
    pub const MODE_QUANTIZED: u32 = 64;
    /// Bit of a mode on a GPU: the codes of quantized keys are in the upper half of the element.
    pub const MODE_UPPER: u32 = 8;
    /// Bits of a mode on a GPU: the number of a rotation that follows from the others, if it is not the last, which has
    /// its code in the place of the missing one.
    pub const MODE_SWAPPED: u32 = 48;
    /// The same bits of a rotation without x. Twice that is without y, three times that without z.
    pub const MODE_SWAPPED_X: u32 = 16;
    /// Bit of a mode on a GPU: all numbers of a scale are the fourth code.
    pub const MODE_FOURTH: u32 = 16;
    /// Bit of a mode: the numbers are the angles of a rotation in degrees, about x, z and y.
    pub const MODE_EULER: u32 = 128;
    /// The number of low bits of [`Channel::sampler`] that hold the mode. The bits above hold the index of the timeline
    /// in its clip.
    pub const MODE_BITS: u32 = 8;

    /// The index of a joint's translation among its channels and rest values.
    pub const PART_TRANSLATION: u32 = 0;
    /// The index of a joint's rotation.
    pub const PART_ROTATION: u32 = 1;
    /// The index of a joint's scale.
    pub const PART_SCALE: u32 = 2;

    /// The number of elements of the values of a [`PartChannels`].
    pub const PART_CHANNELS_ELEMENTS: u32 = 2;

    /// The number of channels that a [`ChannelGroup`] describes.
    pub const GROUP_CHANNELS: u32 = 32;
    /// The number of low bits of an entry of compact channels that hold the sampler. The bits above hold the distance
    /// of the channel's values from an offset in [`CompactChannels`].
    pub const ENTRY_SAMPLER_BITS: u32 = 16;

    /// Bit of [`ValueChannel::shape`]: the value is a quaternion that interpolates as a rotation.
    pub const SHAPE_ROTATION: u32 = 8;
    /// Bit of [`ValueChannel::shape`]: the clip has no track for it. The value is the rest value.
    pub const SHAPE_REST: u32 = 16;
    /// The number of bits of each width in [`QuantizedColumn::format`].
    pub const QUANTIZED_BITS: u32 = 5;
    /// The number of low bits of [`QuantizedColumn::place`] that hold the place.
    pub const QUANTIZED_PLACE_BITS: u32 = 20;
    /// The lowest bit of the form in [`QuantizedColumn::place`].
    pub const QUANTIZED_FORM: u32 = 20;
    /// Form of keys with numbers that are the value. The next four forms are for unit quaternions without
    /// component 0, 1, 2 or 3.
    pub const QUANTIZED_NUMBERS: u32 = 0;
    /// Form of keys with numbers that are a quaternion, which is then normalised.
    pub const QUANTIZED_UNIT: u32 = 5;
    /// The number of bits of the form.
    pub const QUANTIZED_FORM_BITS: u32 = 3;
    /// Bit of [`QuantizedColumn::place`]: the place and each least value take a whole word.
    pub const QUANTIZED_WIDE: u32 = 1 << 23;
    /// The lowest bit of the upper part of the step in [`QuantizedColumn::format`], above four widths.
    pub const QUANTIZED_STEP_HIGH: u32 = 20;
    /// The lowest bit of the lower part of the step in [`QuantizedColumn::place`].
    pub const QUANTIZED_STEP_LOW: u32 = 24;
    /// The words of a column with least values of half a word.
    pub const QUANTIZED_NARROW_COLUMN_WORDS: u32 = 4;
    /// The words of a column with a place and least values of a whole word.
    pub const QUANTIZED_WIDE_COLUMN_WORDS: u32 = 7;
    /// Bit of [`Root::moves`]: the translation along x moves the instance.
    pub const ROOT_X: u32 = 1;
    /// Bit of [`Root::moves`]: the translation along y moves the instance.
    pub const ROOT_Y: u32 = 2;
    /// Bit of [`Root::moves`]: the translation along z moves the instance.
    pub const ROOT_Z: u32 = 4;
    /// Bit of [`Root::moves`]: the rotation about the up axis turns the instance.
    pub const ROOT_YAW: u32 = 8;
    /// Bit of [`Root::moves`]: the whole rotation turns the instance.
    pub const ROOT_FULL: u32 = 16;
}

record! {
    /// A skeleton with its skins.
    SkeletonRecord {
        /// The number of joints. Parents come before children.
        joint_count: u32,
        /// The rounds of ancestor doubling until every joint has reached its root: the number of bits of the depth.
        round_count: u32,
        /// The offset in the words: for each round and each joint its ancestor 2^round levels up, or `NONE`. Up to
        /// `MAX_BYTE_JOINTS` joints, the ancestors of four rounds are the bytes of a word, the ancestor of the first
        /// round the lowest, and `NO_ANCESTOR` stands for none.
        ancestors: u32,
        /// The offset of the rest pose in the values: translations of all joints, then rotations, then scales.
        rest: u32,
        /// The offset in the words: for each joint the offset in the values of the three rows of its rest matrix, or
        /// `NONE`. `NONE`: no joint has a matrix.
        matrices: u32,
        /// The number of joints of all skins together.
        skin_joint_count: u32,
        /// The offset in the words: the joint of each skin matrix.
        skin_joints: u32,
        /// The offset in the values: three rows of the inverse bind matrix of each skin matrix.
        inverse_binds: u32,
        /// The number of morph weights.
        weight_count: u32,
        /// The number of numbers of all properties together.
        property_width: u32,
        /// The most timelines of a clip of this skeleton.
        timeline_count: u32,
        /// The offset in the words of the record of the clip without tracks.
        rest_clip: u32,
        /// The offset in the words: for each number of morph weights and properties its joint, or a `VALUE_` kind.
        value_kinds: u32,
        /// The offset in the words: the joints level by level, roots first. Joints of a level keep their order.
        levels: u32,
        /// The offset in the words: for each joint the index of its skin matrix, or `NONE`. `NONE`: a joint has
        /// several.
        skin_matrices: u32,
        /// The offset in the values: for each skin matrix the rotation of the inverse bind matrix, then its bind offset
        /// with its scale. The matrix adds the bind offset before it rotates and scales. Zeros: the matrix has no such
        /// parts. The field makes the record a multiple of 16 bytes, as a uniform needs.
        uniform_binds: u32,
    }
}

record! {
    /// A timeline of a clip with the easings of the curves that share it, in the words.
    TimelineRecord in words {
        /// The number of key times, at least 2.
        key_count: u32,
        /// The offset in the words of the time of each key, as two `f32` with a sum that is exact to 48 bits.
        times: u32,
        /// The cells of the lookup table per second; if the keys are evenly spaced, the keys per second.
        cells_per_second: f32,
        /// The number of cells of the lookup table; if the keys are evenly spaced, the number of intervals.
        cell_count: u32,
        /// The offset of the lookup table in the words: for the start of each cell and the end of the last one, the
        /// last key at or before it. `NONE`, and in a packed library `TIMES_EVEN`: the keys are evenly spaced.
        table: u32,
        /// The number of values from key to key; in a packed library, words if the keys are quantized.
        row: u32,
        /// The offset of the easings in the words: their number, then one code per interval. The last code rules all
        /// remaining intervals. `NONE`: no easing.
        easing: u32,
        /// The seconds before and after a key within which it is hit.
        window: f32,
        /// The offset in the words of one mapping per key time. `NONE`: each key time belongs to the key of the same
        /// index.
        map: u32,
        /// The offset in the words of the first row of quantized keys of a packed library; 0 of other keys and on a GPU,
        /// where channels hold the offset of their keys.
        keys: u32,
    }
}

record! {
    /// The key at an unrolled key time, and the interval from there to the next key time, in the words.
    Mapping in words {
        /// The key that is hit at this time.
        hit: u32,
        /// The first key of the interval, and the bits `MAP_STRAIGHT` and `MAP_BACK`.
        source: u32,
        /// The fraction of the interval at the key time from which it is measured.
        offset: f32,
        /// The change of the fraction up to the other key time.
        scale: f32,
    }
}

/// Splits a number into the nearest `f32` and the remainder as an `f32`. Their sum is exact to 48 bits.
pub fn split(number: f64) -> (f32, f32) {
    let high = number as f32;
    (high, (number - f64::from(high)) as f32)
}

record! {
    /// The channels of a joint's translation, rotation and scale: two elements of the values, whose bits are integers. A
    /// GPU loads an element at once.
    PartChannels {
        /// The values of each channel, as in `Channel`; then their modes, `MODE_BITS` each, from the lowest bits on.
        values: [u32; 4],
        /// The timeline of each channel, by its index in the clip; then 0.
        timelines: [u32; 4],
    }
}

impl PartChannels {
    /// The number of elements of the values.
    pub const ELEMENTS: usize = PART_CHANNELS_ELEMENTS as usize;

    /// The channels of a translation, a rotation and a scale.
    pub fn new(channels: [Channel; 3]) -> Self {
        let modes = (0..).zip(channels).map(|(part, channel)| mode_of(channel.sampler) << (MODE_BITS * part)).sum();
        let values = channels.map(|channel| channel.values);
        let timelines = channels.map(|channel| timeline_of(channel.sampler) as u32);
        Self {
            values: [values[0], values[1], values[2], modes],
            timelines: [timelines[0], timelines[1], timelines[2], 0],
        }
    }

    /// The channel of the translation, the rotation or the scale, by `PART_TRANSLATION`, `PART_ROTATION` or
    /// `PART_SCALE`.
    pub fn get(&self, part: u32) -> Channel {
        let mode = mode_of(self.values[3] >> (MODE_BITS * part));
        Channel::new(mode, self.timelines[part as usize], self.values[part as usize])
    }
}

record! {
    /// The source of a translation, rotation or scale, or of one number of it. Stored in the words are those of single
    /// numbers.
    Channel in words {
        /// The offset of the first key, of the constant value or of the value of the rest pose in the values; in a packed
        /// library, of a column of quantized keys in the words.
        values: u32,
        /// The mode, and above it the index of the timeline in the clip.
        sampler: u32,
    }
}

record! {
    /// Channels of all joints with less than two words per channel, in the words. After the record come a
    /// [`ChannelGroup`] per `GROUP_CHANNELS` channels, and then the entries: one word per channel that has one, in the
    /// order of the channels.
    CompactChannels in words {
        /// The offset in the words from which entries with `MODE_QUANTIZED` or `MODE_SPLIT` count.
        words: u32,
        /// The offset in the values from which the other entries count.
        values: u32,
    }
}

record! {
    /// Neighbouring compact channels, a bit each, in the words.
    ChannelGroup in words {
        /// The channels with an entry.
        entries: u32,
        /// The channels with one constant value, the value of the rest pose. Channels without a bit are at rest.
        constants: u32,
        /// The offset of the first entry in the words.
        first: u32,
    }
}

record! {
    /// The source of up to four numbers of morph weights or properties, in the words.
    ValueChannel in words {
        /// The offset of the first key or of the constant value in the values; in a packed library, of a column of
        /// quantized keys in the words.
        values: u32,
        /// The mode, and above it the index of the timeline in the clip.
        sampler: u32,
        /// The index of the first number among an instance's morph weights and properties.
        output: u32,
        /// The count of numbers, 1 to 4, and the bits `SHAPE_ROTATION` and `SHAPE_REST`; or the index of an
        /// interpolator.
        shape: u32,
    }
}

impl Channel {
    /// A channel with a mode and the index of its timeline in the clip.
    pub fn new(mode: u32, timeline: u32, values: u32) -> Self {
        Self { values, sampler: mode | timeline << MODE_BITS }
    }
}

/// The mode in a channel's sampler.
pub fn mode_of(sampler: u32) -> u32 {
    sampler & ((1 << MODE_BITS) - 1)
}

/// The index of the timeline in a channel's sampler.
pub fn timeline_of(sampler: u32) -> usize {
    (sampler >> MODE_BITS) as usize
}

record! {
    /// Up to four numbers of quantized keys, in the words. A spline has three such records, one after the other. A key
    /// is a row of words with the codes bit by bit. A number is `step * (least + code)`.
    ///
    /// The step is an `f32` with a mantissa of 12 bits and no sign: 12 bits of it are in `format`, the next 8 in
    /// `place`. The least values of the four numbers follow the record, two per word. If `QUANTIZED_WIDE` is set, one
    /// word with the place and one word per least value follow it instead.
    QuantizedColumn in words {
        /// The bit of the row at which the first code begins, the form, `QUANTIZED_WIDE`, and the lower part of the
        /// step.
        place: u32,
        /// The widths of the four codes, and the upper part of the step.
        format: u32,
    }
}

record! {
    /// A clip, in the words.
    ClipRecord in words {
        /// The offset of the timeline records in the words.
        timelines: u32,
        /// The number of timelines.
        timeline_count: u32,
        /// The offset of the [`PartChannels`] of the first joint in the values. If `compact` is set, the offset of
        /// [`CompactChannels`] with the same channels in the words. On a GPU, no channels are compact.
        channels: u32,
        /// The offset of the value channels in the words: channels of morph weights, then of properties.
        value_channels: u32,
        /// The number of value channels of morph weights.
        weight_channel_count: u32,
        /// The number of all value channels.
        value_channel_count: u32,
        /// The offset in the words of a table with the value channel of each number of morph weights and properties.
        value_table: u32,
        /// The seconds of 2^32 units of the clip's time, a power of two. Playing layers count in these units.
        time_unit: f32,
        /// The offset of the events in the words: their number, the index of the first, then the time of each in the
        /// clip's units, lower half first. `NONE`: no events.
        events: u32,
        /// The offset of the root motion record in the words. `NONE`: no root motion.
        root: u32,
        /// 1 if the channels of joints are compact, as in clips with quantized keys; otherwise 0.
        compact: u32,
        /// On a GPU, the offset in the values of the quantization steps of each joint's translation, rotation and scale,
        /// in a clip with quantized keys; 0 in other clips.
        steps: u32,
    }
}

record! {
    /// The root motion of a clip, in the words.
    Root in words {
        /// The index of the root joint.
        joint: u32,
        /// The parts of its transform that move the instance.
        moves: u32,
        /// The x of the up axis, a unit vector in the space of the joint's parent.
        up_x: f32,
        /// The y of the up axis.
        up_y: f32,
        /// The z of the up axis.
        up_z: f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_number_is_exact_to_48_bits() {
        for number in [0.1, 1.0 / 3.0, 12345.678901, -7.0e-3] {
            let (high, low) = split(number);
            assert!((f64::from(high) + f64::from(low) - number).abs() <= number.abs() * 2.0_f64.powi(-48));
        }
    }
}
