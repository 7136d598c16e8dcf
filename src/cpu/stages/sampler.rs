//! The tracks of a clip at a time: parts of joints and single numbers, as in `shaders/pose/pose_part.wgsl`.

use std::ops::Range;
use std::sync::Arc;

use glam::Vec4;

use crate::cpu::stages::root_joint::{Rigid, Root};
use crate::cpu::stages::search::KeySpan;
use crate::cpu::stages::{TransformPart, quantized, quat};
use crate::model::Interpolator;
use crate::pack::record::{
    Channel, ClipRecord, MODE_CONSTANT, MODE_CUSTOM, MODE_EULER, MODE_LINEAR, MODE_QUANTIZED, MODE_REST, MODE_SLERP,
    MODE_SPLIT, MODE_STEP, SHAPE_REST, SHAPE_ROTATION, SkeletonRecord, ValueChannel, mode_of, timeline_of,
};
use crate::pack::{JointChannels, PackedLibrary};

/// A clip at a time: its channels, and the spans that the search found.
#[derive(Clone, Copy)]
pub struct Sampler<'a> {
    words: &'a [u32],
    values: &'a [Vec4],
    interpolators: &'a [Arc<dyn Interpolator>],
    joints: usize,
    channels: JointChannels<'a>,
    value_channels: &'a [ValueChannel],
    value_count: usize,
    spans: &'a [KeySpan],
    root: Option<Root>,
    rest: u32,
}

impl<'a> Sampler<'a> {
    /// The sampler of a clip. `spans` has the span of each timeline of the clip.
    #[inline]
    pub fn new(library: &'a PackedLibrary, skeleton: &SkeletonRecord, clip: &ClipRecord, spans: &'a [KeySpan]) -> Self {
        let (words, values) = (&library.arrays.words, &library.arrays.values);
        let joints = skeleton.joint_count as usize;
        let slice = |first: u32, count: usize| &words[first as usize..first as usize + count];
        let numbers = (skeleton.weight_count + skeleton.property_width) as usize;
        Self {
            words,
            values,
            interpolators: &library.interpolators,
            joints,
            channels: JointChannels::new(&library.arrays, skeleton, clip),
            value_channels: bytemuck::cast_slice(slice(
                clip.value_channels,
                ValueChannel::WORDS * clip.value_channel_count as usize,
            )),
            value_count: numbers,
            spans,
            root: Root::of_clip(words, clip),
            rest: skeleton.rest,
        }
    }

    /// The same clip at another time.
    pub fn at(&self, spans: &'a [KeySpan]) -> Self {
        Self { spans, ..*self }
    }

    /// A part of the transform of a joint, without the root motion. `None` if the clip has no track for it.
    #[inline(always)]
    pub fn part(&self, part: TransformPart, joint: usize) -> Option<Vec4> {
        let sampled = self.sampled(part, joint)?;
        match &self.root {
            Some(root) if root.joint as usize == joint => {
                Some(root.take_out(part, sampled, || self.whole(TransformPart::Rotation, joint)))
            }
            _ => Some(sampled),
        }
    }

    /// The root joint, if the clip has root motion.
    pub fn root_joint(&self) -> Option<usize> {
        self.root.as_ref().map(|root| root.joint as usize)
    }

    /// The part of the root joint that moves the instance, if the clip has root motion.
    pub fn root_part(&self) -> Option<Rigid> {
        let root = self.root.as_ref()?;
        let translation = self.whole(TransformPart::Translation, root.joint as usize);
        let rotation = self.whole(TransformPart::Rotation, root.joint as usize);
        Some(Rigid { translation: root.translation(translation), rotation: root.rotation(rotation) })
    }

    /// A part of the transform of a joint, with the root motion; at rest if the clip has no track for it.
    #[cold]
    fn whole(&self, part: TransformPart, joint: usize) -> Vec4 {
        let rest = self.rest as usize + part as usize * self.joints + joint;
        self.sampled(part, joint).unwrap_or_else(|| self.values[rest])
    }

    /// A part of the transform of a joint by its keys. `None` if the clip has no track for it.
    #[inline(always)]
    fn sampled(&self, part: TransformPart, joint: usize) -> Option<Vec4> {
        let channel = self.channels.get(part as u32, joint);
        let mode = mode_of(channel.sampler);
        Some(match mode & !MODE_QUANTIZED {
            MODE_REST => return None,
            MODE_CONSTANT => self.values[channel.values as usize],
            MODE_SPLIT.. => {
                let numbers = self.numbers(channel, mode & !MODE_EULER);
                if mode & MODE_EULER != 0 { quat::from_euler_angles(numbers) } else { numbers }
            }
            _ => {
                let (keys, span) = (self.keys(channel, mode), self.span_of(channel.sampler));
                if part == TransformPart::Rotation { keys.rotation(span) } else { keys.numbers(span) }
            }
        })
    }

    /// Three numbers that one channel samples, or three channels sample separately.
    #[cold]
    fn numbers(&self, channel: Channel, mode: u32) -> Vec4 {
        if mode != MODE_SPLIT {
            return self.keys(channel, mode).numbers(self.span_of(channel.sampler));
        }
        let first = channel.values as usize;
        let singles: &[Channel] = bytemuck::cast_slice(&self.words[first..first + 3 * Channel::WORDS]);
        let single = |channel: &Channel| match mode_of(channel.sampler) {
            MODE_CONSTANT => self.values[channel.values as usize].x,
            mode => self.keys(*channel, mode).numbers(self.span_of(channel.sampler)).x,
        };
        Vec4::new(single(&singles[0]), single(&singles[1]), single(&singles[2]), 0.0)
    }

    /// The keys of a channel. `mode` is without `MODE_EULER`.
    #[inline(always)]
    fn keys(&self, channel: Channel, mode: u32) -> ChannelKeys<'a> {
        ChannelKeys { words: self.words, values: self.values, offset: channel.values, mode }
    }

    /// All words of the library.
    pub fn words(&self) -> &'a [u32] {
        self.words
    }

    /// All values of the library.
    pub fn values(&self) -> &'a [Vec4] {
        self.values
    }

    /// The span of a timeline, by its index in the clip.
    pub fn span(&self, timeline: usize) -> &'a KeySpan {
        &self.spans[timeline]
    }

    /// The channels of morph weights and properties.
    pub fn value_channels(&self) -> &'a [ValueChannel] {
        self.value_channels
    }

    /// Samples a channel of morph weights or properties into the start of `to`.
    pub fn value(&self, channel: &ValueChannel, to: &mut [f32]) {
        let mode = mode_of(channel.sampler);
        if mode == MODE_CUSTOM {
            return self.custom(channel, to);
        }
        let constant = KeySpan::default();
        let span = if mode == MODE_CONSTANT { &constant } else { self.span_of(channel.sampler) };
        let keys = ChannelKeys { words: self.words, values: self.values, offset: channel.values, mode };
        let sampled = if channel.shape & SHAPE_ROTATION != 0 { keys.rotation(span) } else { keys.numbers(span) };
        let count = (channel.shape & (SHAPE_ROTATION - 1)) as usize;
        to[..count].copy_from_slice(&sampled.to_array()[..count]);
    }

    /// The channels of morph weights and properties, each with the numbers that it writes.
    pub fn value_outputs(&self) -> impl Iterator<Item = (&'a ValueChannel, Range<usize>)> + use<'a> {
        let firsts = self.value_channels.iter().map(|channel| channel.output as usize);
        let ends = firsts.clone().skip(1).chain([self.value_count]);
        self.value_channels.iter().zip(firsts.zip(ends).map(|(first, end)| first..end))
    }

    /// Returns `true` if the clip has a track for the numbers of a channel.
    pub fn is_animated(&self, channel: &ValueChannel) -> bool {
        mode_of(channel.sampler) == MODE_CUSTOM || channel.shape & SHAPE_REST == 0
    }

    /// Samples a channel of a caller's own interpolation.
    fn custom(&self, channel: &ValueChannel, to: &mut [f32]) {
        let interpolator = &*self.interpolators[channel.shape as usize];
        let span = self.span_of(channel.sampler);
        let element = |key: u32| -> Vec<f64> {
            let numbers: &[f32] = bytemuck::cast_slice(&self.values[key as usize..]);
            numbers[..interpolator.width()].iter().map(|&number| f64::from(number)).collect()
        };
        let from = element(channel.values + span.row);
        let mut result = vec![0.0; interpolator.result_width()];
        if span.interval == 0.0 {
            interpolator.no_lerp(&from, &mut result);
        } else {
            let to = element(channel.values + span.row + span.next);
            interpolator.lerp(&from, &to, span.fraction.into(), span.interval.into(), &mut result);
        }
        to.iter_mut().zip(result).for_each(|(to, number)| *to = number as f32);
    }

    /// The span of the timeline of a channel.
    fn span_of(&self, sampler: u32) -> &'a KeySpan {
        self.span(timeline_of(sampler))
    }
}

/// The keys of a channel in the arrays of a library.
#[derive(Clone, Copy)]
pub struct ChannelKeys<'a> {
    pub words: &'a [u32],
    pub values: &'a [Vec4],
    /// The offset of the first key in the values; of quantized keys, the offset of their column in the words.
    pub offset: u32,
    /// The mode of the channel, without `MODE_EULER`.
    pub mode: u32,
}

impl ChannelKeys<'_> {
    /// One element of the key in a row: the in-tangent, value or out-tangent of a spline.
    fn key(&self, row: u32, element: u32) -> Vec4 {
        if self.mode & MODE_QUANTIZED != 0 {
            return quantized::key(self.words, self.offset, row, element);
        }
        self.values[(self.offset + row + element) as usize]
    }

    /// Interpolates linearly between a key and the next.
    fn line(&self, span: &KeySpan, element: u32) -> Vec4 {
        let value = self.key(span.row, element);
        value + (self.key(span.row + span.next, element) - value) * span.fraction
    }

    /// Samples up to four numbers, each by itself, or a quaternion of any length.
    pub fn numbers(&self, span: &KeySpan) -> Vec4 {
        let straight = span.interval < 0.0;
        match self.mode & !MODE_QUANTIZED {
            MODE_CONSTANT => self.values[self.offset as usize],
            MODE_STEP if !straight => self.key(span.row, 0),
            MODE_LINEAR | MODE_STEP => self.line(span, 0),
            MODE_SLERP => quat::slerp_as_is(self.key(span.row, 0), self.key(span.row, 1), span.fraction),
            _ if straight => self.line(span, 1),
            _ => self.cubic(span),
        }
    }

    /// Samples a rotation. The result has unit length.
    pub fn rotation(&self, span: &KeySpan) -> Vec4 {
        match self.mode & !MODE_QUANTIZED {
            MODE_CONSTANT => self.values[self.offset as usize],
            MODE_STEP => self.key(span.row, 0),
            MODE_LINEAR => quat::slerp(self.key(span.row, 0), self.key(span.row + span.next, 0), span.fraction),
            _ => quat::normalize(self.cubic(span), self.key(span.row, 1)),
        }
    }

    /// Interpolates by a cubic Hermite spline. A key is in-tangent, value, out-tangent.
    fn cubic(&self, span: &KeySpan) -> Vec4 {
        let next = span.row + span.next;
        let (start, end) = (self.key(span.row, 1), self.key(next, 1));
        let t = span.fraction;
        let u = 1.0 - t;
        let leaving = self.key(span.row, 2) * (span.interval * t * u * u);
        let arriving = self.key(next, 0) * (span.interval * t * t * u);
        start + (end - start) * (t * t * (3.0 - 2.0 * t)) + leaving - arriving
    }
}
