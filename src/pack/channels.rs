//! Packing of channels of morph weights and properties.

use std::collections::HashSet;

use glam::DQuat;

use crate::model::rotation::unit;
use crate::model::{NumberRange, Skeleton, Target};
use crate::pack::arrays::Arrays;
use crate::pack::column::{Channels, Column};
use crate::pack::record::{Channel, MODE_CONSTANT, SHAPE_REST, ValueChannel};

/// The channels of morph weights, then of properties, after their packing.
pub struct ValueChannels {
    /// The offset in the words of the table with the channel of each number.
    pub table: u32,
    /// The offset of the channels in the words.
    pub offset: u32,
    /// The number of channels of morph weights.
    pub weight_count: u32,
    /// The number of all channels.
    pub count: u32,
}

/// Packs channels that together write every morph weight and property: those of the clip, and constants with the rest values. A
/// property that is a rotation has one channel, so that a transition can turn it as soon as it is written.
pub fn pack_value_channels(
    arrays: &mut Arrays,
    skeleton: &Skeleton,
    columns: &[Column],
    channels: &Channels,
) -> ValueChannels {
    let mut first_weight = Vec::new();
    let mut rest: Vec<f64> = Vec::new();
    for joint in skeleton.joints() {
        first_weight.push(rest.len());
        rest.extend(&joint.weights);
    }
    let weight_count = rest.len();
    let mut first_property = Vec::new();
    let mut rotations = HashSet::new();
    for property in skeleton.properties() {
        first_property.push(rest.len());
        if property.rotation {
            rotations.insert(rest.len());
        }
        let unit = if property.rotation { unit(DQuat::from_slice(&property.rest)) } else { None };
        rest.extend(unit.map_or_else(|| property.rest.clone(), |unit| unit.to_array().to_vec()));
    }

    let mut records = Vec::new();
    let mut driven = vec![false; rest.len()];
    for column in columns {
        let first = match column.target {
            Target::Weights(joint) => first_weight[joint],
            Target::Property(property) => first_property[property],
            _ => continue,
        };
        let NumberRange { first: first_number, count } = column.target_numbers;
        let output = first + first_number;
        driven[output..output + count].fill(true);
        let Channel { values, sampler } = channels[&(column.target, column.target_numbers)];
        records.push(ValueChannel { values, sampler, output: output as u32, shape: column.shape() });
    }
    let mut output = 0;
    while output < rest.len() {
        let end = if output < weight_count { weight_count } else { rest.len() };
        let follows = |&number: &usize| !driven[number] && (number == output || !rotations.contains(&number));
        let count = (output..end).take(4).take_while(follows).count();
        if count > 0 {
            let mut value = [0.0; 4];
            value.iter_mut().zip(&rest[output..output + count]).for_each(|(to, from)| *to = *from as f32);
            let Channel { values, sampler } = Channel::new(MODE_CONSTANT, 0, arrays.push_value(value));
            let shape = count as u32 | SHAPE_REST;
            records.push(ValueChannel { values, sampler, output: output as u32, shape });
        }
        output += count.max(1);
    }
    records.sort_by_key(|record| record.output);
    let weight_channels = records.iter().filter(|record| (record.output as usize) < weight_count).count();
    let ends = records.iter().skip(1).map(|record| record.output as usize).chain([rest.len()]);
    let lengths = records.iter().zip(ends).map(|(record, end)| end - record.output as usize);
    let table: Vec<u32> = (0..).zip(lengths).flat_map(|(channel, length)| vec![channel; length]).collect();
    ValueChannels {
        table: arrays.push_records(&table),
        offset: arrays.push_records(&records),
        weight_count: weight_channels as u32,
        count: records.len() as u32,
    }
}
