//! The capacity of a batch for transitions: a table with the displacement of each instance, and the displacements.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;
use crate::gpu::DeviceAndQueue;
use crate::gpu::allocation::write;
use crate::kernels::{displacement_entry, displacement_offset, displacement_words};
use crate::model::Ticks;
use crate::pack::PackedDisplacement;
use crate::pack::record::{DisplacementRecord, SkeletonRecord};

/// The capacity of a batch for transitions. It lies in the buffer of the lists of instances that are due, behind those.
#[derive(Debug)]
pub(super) struct TransitionCapacity {
    lists: wgpu::Buffer,
    instance_count: usize,
    /// The words of a displacement.
    words: usize,
    places: Mutex<Vec<Option<Occupant>>>,
}

/// The transition whose displacement occupies a place.
#[derive(Debug, Clone, Copy)]
struct Occupant {
    /// The slot of its instance in the batch.
    slot: usize,
    start: Ticks,
    seconds: f64,
}

impl Occupant {
    fn new(slot: usize, record: &DisplacementRecord) -> Self {
        let start = Ticks(i64::from(record.start_high as i32) << 32 | i64::from(record.start_low));
        Self { slot, start, seconds: record.seconds.into() }
    }

    fn is_over(&self, now: Ticks) -> bool {
        let elapsed = (i128::from(now.0) - i128::from(self.start.0)) as f64 / Ticks::PER_SECOND as f64;
        elapsed > self.seconds
    }
}

impl TransitionCapacity {
    /// Capacity for `count` transitions in lists of that size, whose words are 0.
    pub fn new(lists: wgpu::Buffer, instance_count: usize, skeleton: &SkeletonRecord, count: usize) -> Self {
        let words = displacement_words(skeleton);
        Self { lists, instance_count, words, places: Mutex::new(vec![None; count]) }
    }

    /// The number of transitions that there is capacity for.
    pub fn count(&self) -> usize {
        self.places().len()
    }

    fn places(&self) -> std::sync::MutexGuard<'_, Vec<Option<Occupant>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place for a transition of an instance: its own one, a free one, or the place of a transition which is over.
    fn find(places: &[Option<Occupant>], slot: usize, now: Ticks) -> Option<usize> {
        let own = |place: &Option<Occupant>| place.is_some_and(|occupant| occupant.slot == slot);
        let over = |place: &Option<Occupant>| place.is_some_and(|occupant| occupant.is_over(now));
        let position = |holds: &dyn Fn(&Option<Occupant>) -> bool| places.iter().position(holds);
        position(&own).or_else(|| position(&|place| place.is_none())).or_else(|| position(&over))
    }

    /// The number of transitions that find a place together, of the transitions of some slots at their ticks: all, or
    /// the ones before the first that finds none.
    pub fn places_for(&self, transitions: impl Iterator<Item = (usize, Ticks)>) -> usize {
        let mut places = self.places().clone();
        let take = |(slot, start): (usize, Ticks)| {
            let place = Self::find(&places, slot, start)?;
            places[place] = Some(Occupant { slot, start, seconds: f64::INFINITY });
            Some(())
        };
        transitions.map_while(take).count()
    }

    /// Uploads the displacement of an instance, before the next submission. Returns false if there is no place.
    pub fn begin(
        &self,
        gpu: DeviceAndQueue,
        slot: usize,
        displacement: &PackedDisplacement,
        now: Ticks,
    ) -> Result<bool, Error> {
        let mut places = self.places();
        let Some(place) = Self::find(&places, slot, now) else { return Ok(false) };
        if let Some(other) = places[place].filter(|other| other.slot != slot) {
            self.write_table(gpu, other.slot, 0)?;
        }
        places[place] = Some(Occupant::new(slot, &displacement.record));
        let at = displacement_offset(self.instance_count, place, self.words);
        let mut bytes = bytemuck::bytes_of(&displacement.record).to_vec();
        bytes.extend_from_slice(bytemuck::cast_slice(&displacement.numbers));
        write(gpu, &self.lists, 4 * at as u64, &bytes)?;
        self.write_table(gpu, slot, at as u32)?;
        Ok(true)
    }

    /// Ends the transitions of some instances, before the next submission.
    pub fn end(&self, gpu: DeviceAndQueue, slots: Range<usize>) -> Result<(), Error> {
        for place in self.places().iter_mut() {
            if let Some(occupant) = place.filter(|occupant| slots.contains(&occupant.slot)) {
                self.write_table(gpu, occupant.slot, 0)?;
                *place = None;
            }
        }
        Ok(())
    }

    /// Writes the offset of the displacement of an instance.
    fn write_table(&self, gpu: DeviceAndQueue, slot: usize, offset: u32) -> Result<(), Error> {
        let at = displacement_entry(self.instance_count, slot);
        write(gpu, &self.lists, 4 * at as u64, bytemuck::bytes_of(&offset))
    }
}
