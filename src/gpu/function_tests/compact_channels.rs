use crate::gpu::function_tests::harness::run;
use crate::pack::record::{
    Channel, MODE_CONSTANT, MODE_CUBIC, MODE_EULER, MODE_LINEAR, MODE_QUANTIZED, MODE_REST, MODE_SLERP, MODE_SPLIT,
    MODE_STEP,
};
use crate::pack::{Arrays, pack_compact};

/// The channel of an index, of every mode in turn. The rest pose begins at 0 in the values.
fn channel(index: u32, shift: u32, other: u32) -> Channel {
    match (index * 7 + shift) % 11 {
        0 => Channel::new(MODE_REST, 0, index),
        1 => Channel::new(MODE_CONSTANT, 0, index),
        2 => Channel::new(MODE_CONSTANT, 0, other),
        3 => Channel::new(MODE_LINEAR | MODE_QUANTIZED, index % 5, 1000 + 4 * index),
        4 => Channel::new(MODE_CUBIC | MODE_QUANTIZED, 255, 2000 + 4 * index),
        5 => Channel::new(MODE_STEP | MODE_QUANTIZED, 7, 65_000 + index),
        6 => Channel::new(MODE_LINEAR | MODE_QUANTIZED | MODE_EULER, 1, 3000 + index),
        7 => Channel::new(MODE_SPLIT, 0, 4000 + index),
        8 => Channel::new(MODE_SPLIT | MODE_EULER, 0, 5000 + index),
        9 => Channel::new(MODE_SLERP, 2, 40_000 + index),
        _ => Channel::new(MODE_STEP, 3, 3000 + index),
    }
}

#[test]
fn compact_channels_are_those_that_were_packed() {
    let mut arrays = Arrays::default();
    for index in 0..3 * 65 {
        arrays.push_value([index as f32; 4]);
    }
    let other = arrays.push_value([-1.0; 4]);
    let (mut queries, mut wanted) = (Vec::new(), Vec::new());
    // One joint fills a part of a group of 32 channels, 11 joints fill one and a channel of the next, 32 joints fill
    // three.
    for joints in [1, 10, 11, 32, 65] {
        for shift in 0..11 {
            let mut channels: Vec<Channel> = (0..3 * joints).map(|index| channel(index, shift, other)).collect();
            // Without a quantized column, channels are not compact.
            channels[0] = Channel::new(MODE_LINEAR | MODE_QUANTIZED, 1, 1000);
            let offset = pack_compact(&mut arrays, 0, &channels).unwrap();
            queries.extend((0..3 * joints).flat_map(|index| [offset, index]));
            wanted.extend((0..).zip(channels));
        }
    }
    let first_query = arrays.words.len();
    arrays.words.extend(queries);
    let body = format!(
        "let at = {first_query}u + 2u * i;
        let channel = pose_compact_channel(words[at], words[at + 1u]);
        return vec4(f32(channel.values), f32(channel.sampler), 0.0, 0.0);"
    );
    for (found, (index, wanted)) in run(wanted.len(), &body, &arrays.words, &[]).into_iter().zip(wanted) {
        assert_eq!(found.y, f64::from(wanted.sampler), "channel {index}");
        assert_eq!(found.x, f64::from(wanted.values), "channel {index}, {wanted:?}");
    }
}
