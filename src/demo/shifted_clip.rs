//! Clips for measurements with many clips: they differ from another clip only in the key that they begin with.

use std::sync::Arc;

use crate::error::Error;
use crate::model::{Clip, Curve, Timeline, Track};

/// A copy of a clip that begins `shift` keys later, modulo its number of keys. Its last key repeats its first, as in the clip of a
/// [`rig`](crate::demo::rig()). It has timelines and keys of its own, so that both clips share no memory in a packed library.
///
/// Of its curves, it keeps the interpolation only: easings, events and behaviour beyond the keys are those of a new clip.
///
/// # Errors
/// None in practice. The result passes on the checks of the model.
pub fn shifted_clip(clip: &Clip, shift: usize) -> Result<Clip, Error> {
    let mut timelines: Vec<(&Arc<Timeline>, Arc<Timeline>)> = Vec::new();
    let mut tracks = Vec::with_capacity(clip.tracks.len());
    for track in &clip.tracks {
        let (curve, timeline) = (&track.curve, track.curve.timeline());
        let known = timelines.iter().position(|(known, _)| Arc::ptr_eq(known, timeline));
        let index = match known {
            Some(index) => index,
            None => {
                timelines.push((timeline, Arc::new(Timeline::new(timeline.times().to_vec())?)));
                timelines.len() - 1
            }
        };
        let (keys, numbers) = (timeline.len(), curve.values().len() / timeline.len());
        let period = (keys - 1).max(1);
        let key = |key: usize| &curve.values()[(key + shift) % period * numbers..][..numbers];
        let values = (0..keys).flat_map(|index| key(index).iter().copied()).collect();
        let curve = Curve::new(timelines[index].1.clone(), curve.interpolation(), curve.width(), values)?;
        tracks.push(Track::new(track.target, curve));
    }
    Ok(Clip::new(clip.name.clone(), clip.skeleton, tracks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;

    /// The keys of a track of a rig, of which the last repeats the first: A B C A. One key later: B C A B.
    #[test]
    fn a_shifted_clip_begins_at_a_later_key_and_closes_its_loop() {
        let library = demo::rig(2, 4, 2).unwrap();
        let clip = &library.clips()[0];
        let shifted = shifted_clip(clip, 1).unwrap();
        assert_eq!((shifted.tracks.len(), shifted.duration()), (6, clip.duration()));
        for (track, shifted) in clip.tracks.iter().zip(&shifted.tracks) {
            let [keys, later] = [track, shifted].map(|track| {
                track.curve.values().chunks_exact(track.curve.width()).map(<[f64]>::to_vec).collect::<Vec<_>>()
            });
            assert_eq!(keys[0], keys[3]);
            assert_eq!(later, [1, 2, 0, 1].map(|key: usize| keys[key].clone()));
            assert_eq!(track.target, shifted.target);
            assert!(!Arc::ptr_eq(track.curve.timeline(), shifted.curve.timeline()));
        }
        let first = &shifted.tracks[0].curve;
        assert!(shifted.tracks.iter().all(|track| Arc::ptr_eq(track.curve.timeline(), first.timeline())));
        assert_eq!(shifted_clip(&demo::rig(1, 1, 1).unwrap().clips()[0], 7).unwrap().tracks.len(), 3, "one key");
    }
}
