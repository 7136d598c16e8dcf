//! Keys that are loaded into the caches before the instance that reads them is posed.

use glam::Vec4;

use crate::cpu::plan::{FirstKey, Plan};
use crate::cpu::source::Source;
use crate::cpu::stages::phase;
use crate::cpu::stages::search::Span;
use crate::pack::record::{ClipRecord, LayerRecord};

/// The most bytes of a row of keys that are loaded ahead of time. The processor notices longer reads by itself.
const MOST_BYTES: usize = 4096;

/// Size in bytes of the keys of a crowd above which they are loaded ahead of time: the cache of a core does not hold them.
const LARGER_THAN_CACHE: usize = 1 << 20;

/// Returns `true` if the keys that these layers read are larger than the cache of a core.
pub fn pays(plans: &[(u32, Plan)], layers: &[LayerRecord]) -> bool {
    let mut clips: Vec<u32> = layers.iter().map(|layer| layer.clip).collect();
    clips.sort_unstable();
    clips.dedup();
    let plan = |clip| plans.binary_search_by_key(clip, |(offset, _)| *offset).ok();
    let bytes = clips.iter().filter_map(plan).map(|plan| plans[plan].1.key_bytes);
    bytes.sum::<usize>() > LARGER_THAN_CACHE
}

/// Asks for the keys that a clip reads at the spans of its timelines.
pub fn request(source: Source, clip: u32, spans: &[Span]) {
    let arrays = &source.library.arrays;
    for (span, &first) in spans.iter().zip(&source.plan(clip).first_keys) {
        match first {
            FirstKey::None => {}
            FirstKey::Value(first) => span.request(&arrays.values, first, MOST_BYTES / size_of::<Vec4>()),
            FirstKey::Word(first) => span.request(&arrays.words, first, MOST_BYTES / size_of::<u32>()),
        }
    }
}

/// Asks for the keys that an instance with these layers reads. `spans` is memory to use.
pub fn request_layers(source: Source, layers: &[LayerRecord], now: i64, spans: &mut Vec<Span>) {
    for layer in layers {
        let clip: ClipRecord = source.library.arrays.record(layer.clip);
        spans.clear();
        source.search_all(&clip, phase::of_layer(layer, &clip, now), spans);
        request(source, layer.clip, spans);
    }
}
