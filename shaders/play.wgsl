// Needs: phase, search
//! Layers at the tick of the frame: their clip times, and where a clip has one timeline its search result. One
//! invocation per layer.
//!
//! In the pose pass, every wave of an instance would compute 64-bit products and the search; on an NVIDIA H200 that
//! took a third of the pass. The additional dispatch costs 3 us (`docs/decisions/gpu-pose-kernel.md`).

/// Indices, key times and records of the library. This kernel reads clips, timelines, key times and easings.
@group(0) @binding(0) var<storage, read> words: array<u32>;
/// Values of the library. This kernel reads the values of easings.
@group(0) @binding(1) var<storage, read> values: array<vec4<u32>>;
/// The step of the clock.
@group(0) @binding(2) var<uniform> frame: Frame;
/// The record that all instances of the batch share.
@group(0) @binding(3) var<uniform> batch: BatchRecord;
/// The layers, `layer_count` per instance.
@group(0) @binding(4) var<storage, read_write> layers: array<LayerRecord>;

/// Writes the time of a layer that plays into its record, at the place of a fixed time, and its search result.
@compute @workgroup_size(WORKGROUP_SIZE)
fn play_layers(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
    let index = (group.y * batch.groups_per_row + group.x) * WORKGROUP_SIZE + invocation;
    if index >= batch.instance_count * batch.layer_count {
        return;
    }
    let layer = layers[index];
    let clip = clip_load(layer.clip);
    let time = phase_of_layer(layer, clip, frame);
    if (layer.clock & CLOCK_PLAYS) != 0u {
        layers[index].time_high = time.high;
        layers[index].time_low = time.low;
    }
    // Where a clip of the skeleton has several timelines, the kernels that pose search all; so do those for any mixing.
    if batch.skeleton.timeline_count == 1u && clip.timeline_count == 1u {
        let span = search_timeline(timeline_load(clip.timelines), time);
        layers[index].span_rows = vec2(span.row, span.next);
        layers[index].span_part = vec2(span.fraction, span.interval);
    }
}
