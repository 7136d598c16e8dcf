//! A clip at a time: what it gives for a joint's parts and for single numbers.

use std::sync::Arc;

use glam::Vec4;

use crate::cpu::quat;
use crate::cpu::root_motion::{Rigid, Root};
use crate::cpu::sample::Keys;
use crate::cpu::search::Span;
use crate::model::Interpolator;
use crate::pack::record::{
    Channel, ClipRecord, MODE_CONSTANT, MODE_CUSTOM, MODE_EULER, MODE_QUANTIZED, MODE_REST, MODE_SPLIT, SHAPE_REST,
    SHAPE_ROTATION, SkeletonRecord, ValueChannel, mode_of, timeline_of,
};

/// A clip whose keys around a time were found.
#[derive(Clone, Copy)]
pub struct Sampler<'a> {
    words: &'a [u32],
    values: &'a [Vec4],
    interpolators: &'a [Arc<dyn Interpolator>],
    joints: usize,
    channels: &'a [Channel],
    value_channels: &'a [ValueChannel],
    value_table: &'a [u32],
    spans: &'a [Span],
    root: Option<Root>,
    rest: u32,
}

impl<'a> Sampler<'a> {
    pub fn new(
        (words, values): (&'a [u32], &'a [Vec4]),
        interpolators: &'a [Arc<dyn Interpolator>],
        skeleton: &SkeletonRecord,
        clip: &ClipRecord,
        spans: &'a [Span],
    ) -> Self {
        let joints = skeleton.joint_count as usize;
        let part = |first: u32, count: usize| &words[first as usize..first as usize + count];
        let numbers = (skeleton.weight_count + skeleton.property_width) as usize;
        Self {
            words,
            values,
            interpolators,
            joints,
            channels: bytemuck::cast_slice(part(clip.channels, 3 * Channel::WORDS * joints)),
            value_channels: bytemuck::cast_slice(part(
                clip.value_channels,
                ValueChannel::WORDS * clip.value_channel_count as usize,
            )),
            value_table: part(clip.value_table, numbers),
            spans,
            root: Root::of_clip(words, clip),
            rest: skeleton.rest,
        }
    }

    /// The same clip, its keys found around another time.
    pub fn at(&self, spans: &'a [Span]) -> Self {
        Self { spans, ..*self }
    }

    /// A joint's translation, rotation or scale, part 0, 1 or 2, less what of it moves the instance; none where the clip has
    /// no track for it.
    #[inline(always)]
    pub fn part(&self, part: usize, joint: usize) -> Option<Vec4> {
        let sampled = self.sampled(part, joint)?;
        match &self.root {
            Some(root) if root.joint as usize == joint => Some(root.take_out(part, sampled, || self.whole(1, joint))),
            _ => Some(sampled),
        }
    }

    /// The root joint that the clip names.
    pub fn root_joint(&self) -> Option<usize> {
        self.root.as_ref().map(|root| root.joint as usize)
    }

    /// What of the root joint moves the instance, where the clip names one.
    pub fn root_part(&self) -> Option<Rigid> {
        let root = self.root.as_ref()?;
        let [translation, rotation] = [0, 1].map(|part| self.whole(part, root.joint as usize));
        Some(Rigid { translation: root.translation(translation), rotation: root.rotation(rotation) })
    }

    /// All of a joint's translation, rotation or scale; as at rest where the clip has no track for it.
    #[cold]
    fn whole(&self, part: usize, joint: usize) -> Vec4 {
        let rest = self.rest as usize + part * self.joints + joint;
        self.sampled(part, joint).unwrap_or_else(|| self.values[rest])
    }

    /// A joint's translation, rotation or scale as the keys have it.
    #[inline(always)]
    fn sampled(&self, part: usize, joint: usize) -> Option<Vec4> {
        let channel = self.channels[part * self.joints + joint];
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
                if part == 1 { keys.rotation(span) } else { keys.numbers(span) }
            }
        })
    }

    /// Three numbers that are sampled together, or each by a channel of its own.
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

    /// The keys of a channel, in a mode without angles.
    #[inline(always)]
    fn keys(&self, channel: Channel, mode: u32) -> Keys<'a> {
        Keys { words: self.words, values: self.values, at: channel.values, mode }
    }

    /// All words of the library.
    pub fn words(&self) -> &'a [u32] {
        self.words
    }

    /// All values of the library.
    pub fn values(&self) -> &'a [Vec4] {
        self.values
    }

    /// Where the time lies on a timeline, by its index in the clip.
    pub fn span(&self, timeline: usize) -> &'a Span {
        &self.spans[timeline]
    }

    /// The channels of morph weights and properties.
    pub fn value_channels(&self) -> &'a [ValueChannel] {
        self.value_channels
    }

    /// The numbers of a channel of morph weights or properties.
    pub fn value(&self, channel: &ValueChannel, to: &mut [f32]) {
        let mode = mode_of(channel.sampler);
        if mode == MODE_CUSTOM {
            return self.custom(channel, to);
        }
        let constant = Span::default();
        let span = if mode == MODE_CONSTANT { &constant } else { self.span_of(channel.sampler) };
        let keys = Keys { words: self.words, values: self.values, at: channel.values, mode };
        let sampled = if channel.shape & SHAPE_ROTATION != 0 { keys.rotation(span) } else { keys.numbers(span) };
        let count = (channel.shape & (SHAPE_ROTATION - 1)) as usize;
        to[..count].copy_from_slice(&sampled.to_array()[..count]);
    }

    /// The channel that has a number of morph weights or properties, and the number's place in it; none where the clip has
    /// no track for it.
    pub fn value_channel(&self, number: usize) -> Option<(&'a ValueChannel, usize)> {
        let channel = &self.value_channels[self.value_table[number] as usize];
        let rests = mode_of(channel.sampler) != MODE_CUSTOM && channel.shape & SHAPE_REST != 0;
        (!rests).then_some((channel, number - channel.output as usize))
    }

    /// What an interpolator makes.
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

    fn span_of(&self, sampler: u32) -> &'a Span {
        self.span(timeline_of(sampler))
    }
}
