//! The making of plans: which joints of a clip are sampled together.

use std::collections::BTreeSet;

use crate::cpu::decoded::nearness;
use crate::cpu::decoded_rows::RowPlaces;
use crate::cpu::plan::{FirstKey, KeyStorage, Keys, Kind, MOST_TURNING, NOT_TURNING, Nearness, Plan, Run};
use crate::cpu::simd::LARGEST_BLOCK;
use crate::cpu::stages::TransformPart;
use crate::cpu::stages::quantized::Column;
use crate::cpu::stages::search;
use crate::pack::record::{
    Channel, ClipRecord, MODE_CONSTANT, MODE_LINEAR, MODE_QUANTIZED, MODE_REST, MODE_STEP,
    QUANTIZED_NARROW_COLUMN_WORDS, SkeletonRecord, TimelineRecord, mode_of, timeline_of,
};
use crate::pack::{Arrays, JointChannels, PackedLibrary, column_words};

/// Runs of fewer joints than this do not get blocks of their own.
const SHORT_RUN: u32 = 4;

impl Plan {
    /// The plan of a clip. `clip` is the offset of its record.
    pub fn new(library: &PackedLibrary, skeleton: &SkeletonRecord, clip: u32) -> Self {
        let joints = skeleton.joint_count as usize;
        let clip: ClipRecord = library.arrays.record(clip);
        let channels: Vec<Channel> = JointChannels::new(&library.arrays.words, skeleton, &clip).all().collect();
        let (first_keys, key_bytes) = find_keys(&library.arrays, &clip, &channels);
        let mut builder = PlanBuilder::new(&library.arrays);
        let (mut runs, mut splits, mut animated) = (Vec::new(), [0; 3], Vec::new());
        for (part, channels) in TransformPart::ALL.into_iter().zip(channels.chunks_exact(joints.max(1))) {
            splits[part as usize] = runs.len() as u32;
            runs.extend(builder.runs(part, channels));
            let is_animated = |channel: &Channel| mode_of(channel.sampler) & !MODE_QUANTIZED != MODE_REST;
            let bits = |channels: &[Channel]| {
                channels.iter().rev().fold(0, |bits, channel| bits << 1 | u64::from(is_animated(channel)))
            };
            animated.extend(channels.chunks(64).map(bits));
        }
        let rows = builder.row_places(&clip, &runs);
        let PlanBuilder { gathered, scattered, turning, columns, .. } = builder;
        Self {
            runs: runs.into(),
            splits: [splits[1], splits[2]],
            gathered: gathered.into(),
            quantized: columns > 0 || scattered.iter().any(Keys::is_quantized),
            scattered: scattered.into(),
            rows,
            animated: animated.into(),
            references: Default::default(),
            turning: turning.into(),
            first_keys: first_keys.into(),
            key_bytes,
        }
    }
}

/// The first key of each timeline, and the bytes of all keys.
fn find_keys(arrays: &Arrays, clip: &ClipRecord, channels: &[Channel]) -> (Vec<FirstKey>, usize) {
    let mut first_keys = vec![FirstKey::None; clip.timeline_count as usize];
    for channel in channels {
        let key = match mode_of(channel.sampler) {
            MODE_STEP | MODE_LINEAR => FirstKey::Value(channel.values),
            mode if mode & MODE_QUANTIZED != 0 => {
                FirstKey::Word(Column::new(&arrays.words, channel.values).first as u32 / 4)
            }
            _ => continue,
        };
        if let Some(first) = first_keys.get_mut(timeline_of(channel.sampler)) {
            *first = first.min(key);
        }
    }
    let bytes = |(timeline, first): (u32, &FirstKey)| {
        let timeline: TimelineRecord = arrays.record(clip.timelines + TimelineRecord::WORDS as u32 * timeline);
        timeline.row as usize * timeline.key_count as usize * first.element_bytes()
    };
    let key_bytes = (0..).zip(&first_keys).map(bytes).sum();
    (first_keys, key_bytes)
}

/// The runs that were found, and what they refer to.
struct PlanBuilder<'a> {
    arrays: &'a Arrays,
    gathered: Vec<u32>,
    scattered: Vec<Keys>,
    turning: Vec<u32>,
    /// The columns of runs, each padded to whole blocks.
    columns: u32,
    /// The columns of joints of kind [`Kind::Scattered`].
    scattered_columns: u32,
}

impl<'a> PlanBuilder<'a> {
    fn new(arrays: &'a Arrays) -> Self {
        Self {
            arrays,
            gathered: Vec::new(),
            scattered: Vec::new(),
            turning: Vec::new(),
            columns: 0,
            scattered_columns: 0,
        }
    }

    /// The runs of one part of the transforms of all joints.
    fn runs(&mut self, part: TransformPart, channels: &[Channel]) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        // The offset after the first key, or after the record, of the joint before.
        let mut end = 0;
        for (joint, channel) in (0..).zip(channels) {
            let kind = self.kind(part, channel);
            match runs.last_mut() {
                Some(run) if continues(run, end, kind) => {
                    run.count += 1;
                    if let (Kind::Keys(all), Kind::Keys(own)) = (&mut run.kind, kind) {
                        all.storage = all.storage.with(own.storage);
                    }
                }
                _ => runs.push(Run { first: joint, count: 1, kind }),
            }
            if let Kind::Keys(keys) = kind {
                end = keys.end(&self.arrays.words);
            }
        }
        let mut runs = self.merge(runs, part);
        if part == TransformPart::Rotation {
            self.find_turning(&mut runs);
        }
        runs
    }

    /// The way to sample one joint.
    fn kind(&self, part: TransformPart, channel: &Channel) -> Kind {
        let (first, mode) = (channel.values, mode_of(channel.sampler));
        match mode & !MODE_QUANTIZED {
            MODE_REST => Kind::Rest,
            MODE_CONSTANT => Kind::Constant(first),
            MODE_STEP | MODE_LINEAR => match self.storage(part, first, mode & MODE_QUANTIZED != 0) {
                Some(storage) => Kind::Keys(Keys {
                    first,
                    timeline: timeline_of(channel.sampler) as u32,
                    columns: 0,
                    storage,
                    turning: NOT_TURNING,
                    step: mode & !MODE_QUANTIZED == MODE_STEP,
                    nearness: Nearness::Apart,
                }),
                None => Kind::Single,
            },
            _ => Kind::Single,
        }
    }

    /// The form of the keys of one joint; `None` if they are not sampled as a block.
    fn storage(&self, part: TransformPart, first: u32, is_quantized: bool) -> Option<KeyStorage> {
        let words = &self.arrays.words;
        if !is_quantized {
            Some(KeyStorage::Values)
        } else if !Column::new(words, first).decodes_in_block(part) {
            (part == TransformPart::Rotation).then_some(KeyStorage::MixedWithWhole)
        } else if column_words(words, first) == QUANTIZED_NARROW_COLUMN_WORDS {
            Some(KeyStorage::Narrow)
        } else {
            Some(KeyStorage::Wide)
        }
    }

    /// The places of the rows of all quantized keys.
    fn row_places(&self, clip: &ClipRecord, runs: &[Run]) -> RowPlaces {
        let row_count = |timeline: u32| {
            let record: TimelineRecord = self.arrays.record(clip.timelines + TimelineRecord::WORDS as u32 * timeline);
            (timeline, search::row_count(&self.arrays.words, &record))
        };
        let counts = |keys: &mut dyn Iterator<Item = Keys>| -> Vec<(u32, u32)> {
            let timelines: BTreeSet<u32> = keys.filter(Keys::is_quantized).map(|keys| keys.timeline).collect();
            timelines.into_iter().map(row_count).collect()
        };
        let mut of_runs = runs.iter().filter_map(|run| match run.kind {
            Kind::Keys(keys) => Some(keys),
            _ => None,
        });
        let of_runs = (self.columns, &*counts(&mut of_runs));
        let scattered = counts(&mut self.scattered.iter().copied());
        RowPlaces::new(of_runs, (self.scattered_columns.div_ceil(4), &scattered))
    }

    /// Lists the timelines of rotations that are interpolated in blocks.
    fn find_turning(&mut self, runs: &mut [Run]) {
        for run in runs {
            let Kind::Keys(keys) = &mut run.kind else { continue };
            if keys.step {
                continue;
            }
            let known = self.turning.iter().position(|&timeline| timeline == keys.timeline);
            let index = known.unwrap_or(self.turning.len());
            if index < MOST_TURNING {
                keys.turning = index as u8;
                if known.is_none() {
                    self.turning.push(keys.timeline);
                }
            }
        }
    }

    /// Joins neighbouring short runs into one, and counts the columns of all runs.
    fn merge(&mut self, runs: Vec<Run>, part: TransformPart) -> Vec<Run> {
        let mut merged: Vec<Run> = Vec::new();
        for mut run in runs {
            match &mut run.kind {
                Kind::Constant(first) if run.count < SHORT_RUN => {
                    let offsets = *first..*first + run.count;
                    run.kind = Kind::Gathered(self.gathered.len() as u32);
                    self.gathered.extend(offsets);
                }
                Kind::Keys(keys) if run.count < SHORT_RUN && !keys.step => {
                    let keys = *keys;
                    run.kind = Kind::Scattered(self.scattered.len() as u32);
                    for own in keys.each(&self.arrays.words).take(run.count as usize) {
                        self.scattered.push(Keys { columns: self.scattered_columns, ..own });
                        self.scattered_columns += u32::from(own.is_quantized());
                    }
                }
                Kind::Keys(keys) if keys.is_quantized() => {
                    keys.columns = self.columns;
                    self.columns += run.count.next_multiple_of(LARGEST_BLOCK as u32) / 4;
                    let columns: Vec<Column> = keys.decode(&self.arrays.words).take(run.count as usize).collect();
                    keys.nearness = nearness(&columns, part);
                }
                _ => {}
            }
            match (merged.last_mut(), run.kind) {
                (Some(Run { kind: Kind::Gathered(_), count, .. }), Kind::Gathered(_))
                | (Some(Run { kind: Kind::Scattered(_), count, .. }), Kind::Scattered(_)) => *count += run.count,
                _ => merged.push(run),
            }
        }
        merged
    }
}

/// Returns `true` if a joint continues a run. `end` is the offset after the first key, or after the record, of the joint before.
fn continues(run: &Run, end: u32, kind: Kind) -> bool {
    match (run.kind, kind) {
        (Kind::Constant(first), Kind::Constant(own)) => own == first + run.count,
        (Kind::Keys(keys), Kind::Keys(own)) => {
            let is_alike =
                (keys.timeline, keys.step, keys.is_quantized()) == (own.timeline, own.step, own.is_quantized());
            is_alike && own.first == end
        }
        (before, kind) => before == kind,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::CompressedLibrary;
    use crate::model::{Clip, ClipId, Curve, Interpolation, Joint, Library, Skeleton, Target, Timeline, Track};

    /// Six joints in a row. The clip turns all of them, moves the first one, and gives the middle two a scale.
    fn library() -> Library {
        let joint = |index: usize| Joint { parent: index.checked_sub(1), ..Joint::default() };
        let mut library = Library::new();
        let skeleton = Skeleton::new(None, (0..6).map(joint).collect(), vec![]).unwrap();
        let skeleton = library.add_skeleton(skeleton);
        let timeline = Arc::new(Timeline::new(vec![0.0, 1.0, 2.0]).unwrap());
        let linear = |width, values| Curve::new(timeline.clone(), Interpolation::Linear, width, values).unwrap();
        let turn = |index: usize| {
            let halves = [0.1, 0.3, 0.2].map(|half| half * (index + 1) as f64 / 6.0);
            linear(4, halves.iter().flat_map(|half: &f64| [half.sin(), 0.0, 0.0, half.cos()]).collect())
        };
        let mut tracks: Vec<Track> = (0..6).map(|index| Track::new(Target::Rotation(index), turn(index))).collect();
        let movement = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0];
        tracks.push(Track::new(Target::Translation(0), linear(3, movement)));
        for (index, scale) in [(2, 2.0), (3, 2.0)] {
            tracks.push(Track::new(Target::Scale(index), linear(3, vec![scale; 9])));
        }
        library.add_clip(Clip::new(None, skeleton, tracks)).unwrap();
        library
    }

    #[test]
    fn plans_have_the_size_worked_out_by_hand() {
        let runs = |plan: &Plan| -> Vec<Vec<(usize, &'static str)>> {
            let name = |run: &Run| match run.kind {
                Kind::Rest => "rest",
                Kind::Constant(_) => "constant",
                Kind::Gathered(_) => "gathered",
                Kind::Keys(_) => "keys",
                Kind::Scattered(_) => "scattered",
                Kind::Single => "single",
            };
            let of_part = |runs: &[Run]| runs.iter().map(|run| (run.joints().len(), name(run))).collect();
            TransformPart::ALL.map(|part| of_part(plan.runs(part))).into()
        };
        let library = library();
        let compressed = CompressedLibrary::with_width(&library, 16).unwrap();
        let packed = [PackedLibrary::with_threads(&library, 1).unwrap(), compressed.pack().unwrap()];
        // Compressed keys have rows to decode, of one timeline.
        for (packed, timelines_of_rows) in packed.into_iter().zip([0, 1]) {
            let clip = packed.clip(ClipId(0)).unwrap().offset;
            let plan = Plan::new(&packed, &packed.skeletons[0].record, clip);
            let expected = [
                vec![(1, "scattered"), (5, "rest")],
                vec![(6, "keys")],
                // Both joints share one value.
                vec![(2, "rest"), (2, "gathered"), (2, "rest")],
            ];
            assert_eq!(runs(&plan), expected);
            // Six runs of 24 bytes, one scattered joint of 16, two offsets of 4, three words of joints that the clip animates, 8 each,
            // an index of 4 of the timeline of rotations, the first key of the timeline, 8, and 8 per timeline of rows to decode.
            let expected = 6 * 24 + 16 + 2 * 4 + 3 * 8 + 4 + 8 + 8 * timelines_of_rows;
            assert_eq!(plan.heap_bytes(), expected);
        }
        #[cfg(target_pointer_width = "64")]
        assert_eq!(size_of::<(u32, Plan)>(), 192);
    }
}
