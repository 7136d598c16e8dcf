use posse::curves::Timeline;
use posse::transitions::{Fade, FadeShape};
use posse::{
    AdditiveReference, ClipId, Crowd, Layer, LayerMode, LayerTime, Library, MaskId, Playback, SkeletonId, Ticks,
    WrapMode,
};

use super::Numbers;

/// A crowd of any mix of skeletons. Times are before, after, on, beside and between keys; some instances play, some
/// rest. Half of all crowds have several layers.
pub(super) fn crowd(numbers: &mut Numbers, library: &Library, now: Ticks, instances: usize) -> Crowd {
    let skeletons: Vec<SkeletonId> = library.skeleton_ids().collect();
    let find_clips = |id: &SkeletonId| library.clip_ids().filter(|&clip| library.clip(clip).skeleton == *id).collect();
    let clips: Vec<Vec<ClipId>> = skeletons.iter().map(find_clips).collect();
    let layered = numbers.below(2) == 0;
    let mut crowd = Crowd::new();
    for _ in 0..instances {
        let chosen = numbers.below(skeletons.len());
        let (skeleton, clips) = (skeletons[chosen], &clips[chosen]);
        let count = if layered { numbers.below(5) + numbers.below(5) } else { (numbers.below(8) > 0).into() };
        let mut layer = || {
            let clip = clips[numbers.below(clips.len())];
            let time = time(numbers, library, clip);
            if layered { mixed(numbers, library, now, Layer::new(clip, time)) } else { Layer::new(clip, time) }
        };
        let layers: Vec<Layer> = (0..count).map(|_| layer()).collect();
        crowd.push(skeleton, &layers).unwrap();
    }
    crowd
}

/// The time of a layer in its clip.
fn time(numbers: &mut Numbers, library: &Library, clip: ClipId) -> LayerTime {
    let timelines: Vec<&Timeline> = library.clip(clip).tracks.iter().map(|track| &**track.curve.timeline()).collect();
    if numbers.below(8) == 0 {
        let start = Ticks(numbers.ticks_below(1 << 42) - (1 << 41));
        let wrap = WrapMode::ALL[numbers.below(WrapMode::ALL.len())];
        let mut playback = Playback::new(wrap, start, numbers.within(-2.0, 2.0));
        if numbers.below(3) == 0 {
            playback.repeat_count = Some(numbers.within(0.0, 1e6));
        }
        if numbers.below(3) == 0 {
            let end = numbers.within(0.0, 5.0);
            playback.range = Some([numbers.within(0.0, end), end]);
        }
        return LayerTime::Playing(playback);
    }
    if timelines.is_empty() {
        return LayerTime::At(numbers.within(-1.0, 1.0));
    }
    let timeline = timelines[numbers.below(timelines.len())];
    let key = timeline.times()[numbers.below(timeline.len())];
    LayerTime::At(match numbers.below(6) {
        0 => timeline.first() - numbers.within(0.0, 1e6),
        1 => timeline.last() + numbers.within(0.0, 1e6),
        2 => key,
        3 => f64::from((key as f32).next_up()),
        4 => f64::from((key as f32).next_down()),
        _ => numbers.within(timeline.first(), timeline.last()),
    })
}

/// Gives a layer a weight, a mode, perhaps a mask, and perhaps fades that begin before or after now.
fn mixed(numbers: &mut Numbers, library: &Library, now: Ticks, layer: Layer) -> Layer {
    let mode = [
        LayerMode::Blend,
        LayerMode::Blend,
        LayerMode::Override,
        LayerMode::Additive(AdditiveReference::First),
        LayerMode::Additive(AdditiveReference::Rest),
    ][numbers.below(5)];
    let skeleton = library.clip(layer.clip).skeleton;
    let masks: Vec<MaskId> =
        library.mask_ids().filter(|mask| library.masks()[mask.index()].skeleton == skeleton).collect();
    let mask = (!masks.is_empty() && numbers.below(2) == 0).then(|| masks[numbers.below(masks.len())]);
    let mut fade = || {
        let length = Ticks([0, numbers.ticks_below(1 << 22)][numbers.below(2)]);
        let start = Ticks(now.0 + 1000 - numbers.ticks_below(1 << 22));
        let shape = [FadeShape::Linear, FadeShape::Smooth][numbers.below(2)];
        (numbers.below(3) == 0).then_some(Fade { start, length, shape })
    };
    let (fade_in, fade_out) = (fade(), fade());
    Layer { weight: numbers.weight(), mode, mask, fade_in, fade_out, ..layer }
}
