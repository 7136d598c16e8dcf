//! Records that Rust writes: the twins of `src/pack/record`, where each field is described. A test compares the two.
//!
//! Clips, timelines and channels lie in the words; `*_load` reads one at its place.

/// No joint, no table, no matrix.
const NONE: u32 = 0xffffffffu;

const MODE_REST: u32 = 0u;
const MODE_CONSTANT: u32 = 1u;
const MODE_STEP: u32 = 2u;
const MODE_LINEAR: u32 = 3u;
const MODE_CUBIC: u32 = 4u;
const MODE_SLERP: u32 = 5u;
const MODE_CUSTOM: u32 = 6u;
const MODE_SPLIT: u32 = 7u;
const MODE_QUANTIZED: u32 = 64u;
const MODE_EULER: u32 = 128u;
const MODE_BITS: u32 = 8u;

const QUANTIZED_BITS: u32 = 5u;
const QUANTIZED_FORM: u32 = 25u;
const QUANTIZED_NUMBERS: u32 = 0u;
const QUANTIZED_UNIT: u32 = 5u;
const QUANTIZED_FORM_BITS: u32 = 3u;
const QUANTIZED_WIDE: u32 = 0x10000000u;
const QUANTIZED_COLUMN_WORDS: u32 = 5u;
const QUANTIZED_WIDE_COLUMN_WORDS: u32 = 7u;

const MAP_STRAIGHT: u32 = 0x80000000u;
const MAP_BACK: u32 = 0x40000000u;
const MAP_KEY: u32 = 0x3fffffffu;

const EASING_LINEAR: u32 = 0u;
const EASING_CONSTANT: u32 = 1u;
const EASING_QUAD: u32 = 2u;
const EASING_CUBIC: u32 = 6u;
const EASING_QUART: u32 = 10u;
const EASING_QUINT: u32 = 14u;
const EASING_SINE: u32 = 18u;
const EASING_EXPO: u32 = 22u;
const EASING_CIRC: u32 = 26u;
const EASING_ELASTIC: u32 = 30u;
const EASING_BACK: u32 = 34u;
const EASING_BOUNCE: u32 = 38u;
const EASING_SMOOTH: u32 = 42u;
const EASING_FADE: u32 = 43u;
const EASING_BEZIER: u32 = 44u;
const EASING_IN: u32 = 0u;
const EASING_OUT: u32 = 1u;
const EASING_IN_OUT: u32 = 2u;
const EASING_OUT_IN: u32 = 3u;

const SHAPE_ROTATION: u32 = 8u;
const SHAPE_REST: u32 = 16u;

const VALUE_NUMBER: u32 = 0xffffffffu;
const VALUE_ROTATION: u32 = 0xfffffffeu;
const VALUE_ROTATION_REST: u32 = 0xfffffffdu;

const LAYER_MODE: u32 = 3u;
const LAYER_BLEND: u32 = 0u;
const LAYER_OVERRIDE: u32 = 1u;
const LAYER_ADD_FIRST: u32 = 2u;
const LAYER_ADD_REST: u32 = 3u;
const LAYER_FADES_IN: u32 = 4u;
const LAYER_FADES_OUT: u32 = 8u;
const LAYER_SMOOTH_IN: u32 = 16u;
const LAYER_SMOOTH_OUT: u32 = 32u;

const CLOCK_PLAYS: u32 = 1u;
const CLOCK_WAITS: u32 = 2u;
const CLOCK_ENDLESS: u32 = 4u;
const CLOCK_BACKWARDS: u32 = 8u;
const CLOCK_PING_PONG: u32 = 16u;
const CLOCK_REVERSE: u32 = 32u;

const ROOT_X: u32 = 1u;
const ROOT_Y: u32 = 2u;
const ROOT_Z: u32 = 4u;
const ROOT_YAW: u32 = 8u;
const ROOT_FULL: u32 = 16u;

const OUTPUT_LOCAL: u32 = 1u;
const OUTPUT_MODEL: u32 = 2u;
const OUTPUT_SKIN: u32 = 4u;

struct SkeletonRecord {
    joint_count: u32,
    round_count: u32,
    ancestors: u32,
    rest: u32,
    matrices: u32,
    skin_joint_count: u32,
    skin_joints: u32,
    inverse_binds: u32,
    weight_count: u32,
    property_width: u32,
    timeline_count: u32,
    rest_clip: u32,
    value_kinds: u32,
    levels: u32,
    reserved_0: u32,
    reserved_1: u32,
}

struct ClipRecord {
    timelines: u32,
    timeline_count: u32,
    channels: u32,
    value_channels: u32,
    weight_channel_count: u32,
    value_channel_count: u32,
    value_table: u32,
    time_unit: f32,
    events: u32,
    root: u32,
}

struct Root {
    joint: u32,
    moves: u32,
    up_x: f32,
    up_y: f32,
    up_z: f32,
}

struct TimelineRecord {
    key_count: u32,
    times: u32,
    cells_per_second: f32,
    cell_count: u32,
    table: u32,
    row: u32,
    easing: u32,
    window: f32,
    map: u32,
}

struct Mapping {
    hit: u32,
    source: u32,
    offset: f32,
    scale: f32,
}

struct Channel {
    values: u32,
    sampler: u32,
}

struct QuantizedColumn {
    first: u32,
    format: u32,
    step: f32,
}

struct ValueChannel {
    values: u32,
    sampler: u32,
    output: u32,
    shape: u32,
}

struct LayerRecord {
    clip: u32,
    clock: u32,
    time_high: f32,
    time_low: f32,
    start_low: u32,
    start_high: u32,
    passes_0: u32,
    passes_1: u32,
    passes_2: u32,
    passes_3: u32,
    repeat_low: u32,
    repeat_high: u32,
    repeat_count: u32,
    part_start_low: u32,
    part_start_high: u32,
    part_length_low: u32,
    part_length_high: u32,
    weight: f32,
    mode: u32,
    mask: u32,
    fade_in_low: u32,
    fade_in_high: u32,
    fade_in_length: f32,
    fade_out_low: u32,
    fade_out_high: u32,
    fade_out_length: f32,
}

struct BatchRecord {
    skeleton: SkeletonRecord,
    instance_count: u32,
    lane_count: u32,
    span_count: u32,
    groups_per_row: u32,
    outputs: u32,
    first_value: u32,
    value_count: u32,
    layer_count: u32,
    instances_per_group: u32,
}

struct Frame {
    now_low: u32,
    now_high: u32,
    from_low: u32,
    from_high: u32,
    visible_only: u32,
    number: u32,
    reserved_0: u32,
    reserved_1: u32,
}

struct VisibleInstance {
    slot: u32,
    joints: u32,
    update_interval: u32,
}

struct EventBatch {
    instance_count: u32,
    layer_count: u32,
    groups_per_row: u32,
    capacity: u32,
}

struct OccurrenceRecord {
    tick_low: u32,
    tick_high: u32,
    instance: u32,
    layer: u32,
    event: u32,
}

struct EventCount {
    listed: u32,
    missed_low: u32,
    missed_high: u32,
    missed_many: u32,
}

const CLIP_WORDS: u32 = 10u;
const ROOT_WORDS: u32 = 5u;
const TIMELINE_WORDS: u32 = 9u;
const MAPPING_WORDS: u32 = 4u;
const CHANNEL_WORDS: u32 = 2u;
const VALUE_CHANNEL_WORDS: u32 = 4u;

fn clip_load(at: u32) -> ClipRecord {
    return ClipRecord(
        words[at],
        words[at + 1u],
        words[at + 2u],
        words[at + 3u],
        words[at + 4u],
        words[at + 5u],
        words[at + 6u],
        bitcast<f32>(words[at + 7u]),
        words[at + 8u],
        words[at + 9u],
    );
}

fn root_load(at: u32) -> Root {
    return Root(
        words[at],
        words[at + 1u],
        bitcast<f32>(words[at + 2u]),
        bitcast<f32>(words[at + 3u]),
        bitcast<f32>(words[at + 4u]),
    );
}

fn timeline_load(at: u32) -> TimelineRecord {
    return TimelineRecord(
        words[at],
        words[at + 1u],
        bitcast<f32>(words[at + 2u]),
        words[at + 3u],
        words[at + 4u],
        words[at + 5u],
        words[at + 6u],
        bitcast<f32>(words[at + 7u]),
        words[at + 8u],
    );
}

fn mapping_load(at: u32) -> Mapping {
    return Mapping(words[at], words[at + 1u], bitcast<f32>(words[at + 2u]), bitcast<f32>(words[at + 3u]));
}

fn channel_load(at: u32) -> Channel {
    return Channel(words[at], words[at + 1u]);
}

fn quantized_column_load(at: u32) -> QuantizedColumn {
    return QuantizedColumn(words[at], words[at + 1u], bitcast<f32>(words[at + 2u]));
}

fn value_channel_load(at: u32) -> ValueChannel {
    return ValueChannel(words[at], words[at + 1u], words[at + 2u], words[at + 3u]);
}
