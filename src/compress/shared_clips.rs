//! Clips that share curves, rounded together: each curve as coarsely as all of them allow.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::compress::compensation::Corrected;
use crate::compress::curve::Resolution;
use crate::compress::displacement::{Displacement, Original, is_of_joint};
use crate::compress::member::Member;
use crate::compress::piece::{Candidate, Piece, goes_beyond, pieces};
use crate::compress::tolerance::joint_of;
use crate::model::{Clip, Curve, Timeline, Track};
use crate::pack::{PackedTimeline, QuantizedCurve};

/// A clip whose keys are compressed.
#[derive(Debug, Clone)]
pub struct CompressedClip {
    /// Its tracks, as the engines have them.
    pub tracks: Vec<Track>,
    /// For each track its keys as integers, where they are.
    pub curves: Vec<Option<Arc<QuantizedCurve>>>,
    /// The largest displacement of its joints.
    pub worst: Displacement,
}

/// Rounds in which tolerances are brought nearer to what the bound allows.
const ROUNDS: usize = 6;
/// How often all of them together are then scaled at most.
const SCALINGS: usize = 4;
/// What of the bound is aimed at, since only so many times are looked at.
const AIM: f64 = 0.98;
/// How often keys are made finer at the end, where times that the search passed over want them to be.
const MOST_REFINEMENTS: i32 = 10;
/// How often curves of the worst joint are left alone before all are.
const MOST_LEFT_ALONE: usize = 8;

/// The largest of all errors.
fn most(errors: &[Vec<f64>]) -> f64 {
    errors.iter().flatten().fold(0.0, |most, &error| error.max(most))
}

/// Clips and their curves, each once.
pub struct SharedClips<'a> {
    members: Vec<Member<'a>>,
    pieces: Vec<Piece>,
    /// For each member and track its piece.
    places: Vec<Vec<usize>>,
    /// Bytes of each timeline's times, and of what finds them.
    timelines: HashMap<*const Timeline, usize>,
}

impl<'a> SharedClips<'a> {
    /// Clips, as they were and as they are to be rounded. Rotations make up for those above where `corrects`; numbers that
    /// displace nothing may be off by what is `left` of the bound.
    pub fn new(originals: &'a [Original<'a>], clips: &'a [Clip], corrects: bool, left: f64) -> Self {
        let mut users: HashMap<usize, usize> = HashMap::new();
        for track in clips.iter().flat_map(|clip| &clip.tracks) {
            *users.entry(track.curve.values_identity()).or_default() += 1;
        }
        let own = |track: &Track| corrects && users[&track.curve.values_identity()] == 1;
        let members: Vec<Member> =
            originals.iter().zip(clips).map(|(original, clip)| Member::new(original, clip, own)).collect();
        let pieces = pieces(&members, left);
        let mut places: Vec<Vec<usize>> = members.iter().map(|member| vec![0; member.clip.tracks.len()]).collect();
        for (place, piece) in pieces.iter().enumerate() {
            piece.uses.iter().for_each(|&(number, track)| places[number][track] = place);
        }
        let curves = pieces.iter().flat_map(|piece| [&piece.original, &piece.curve]);
        let mut timelines = HashMap::new();
        for timeline in curves.map(Curve::timeline) {
            timelines.entry(Arc::as_ptr(timeline)).or_insert_with(|| PackedTimeline::bytes(timeline));
        }
        Self { members, pieces, places, timelines }
    }

    /// The curves.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// So many bits for each number, whatever the error.
    pub fn of_bits(&self, bits: u32) -> Vec<Candidate> {
        self.pieces.iter().map(|piece| piece.make(Resolution::bits(bits), false)).collect()
    }

    /// The smallest keys found that are within the bound.
    pub fn within(&mut self) -> Vec<Candidate> {
        // What goes beyond its keys can be off by more than any time that is looked at shows.
        self.pieces.iter_mut().for_each(|piece| piece.is_float |= goes_beyond(&piece.curve));
        let mut best: Option<(usize, Vec<f64>)> = None;
        for _ in 0..ROUNDS {
            let mut errors = Vec::new();
            for _ in 0..SCALINGS {
                let made = self.make_all();
                errors = (0..self.members.len()).map(|number| self.by_joint(&made, number)).collect();
                let used = most(&errors);
                let size = self.size(&made);
                if used <= AIM && best.as_ref().is_none_or(|(least, _)| size < *least) {
                    best = Some((size, self.pieces.iter().map(|piece| piece.tolerance).collect()));
                }
                if (0.95 * AIM..=AIM).contains(&used) {
                    break;
                }
                self.scale((AIM / used.max(1e-3)).clamp(0.125, 8.0));
            }
            // What is looser than it need be, while other joints are at the bound, is loosened.
            let used = most(&errors);
            let errors = &errors;
            let members = &self.members;
            let below = |piece: &Piece| {
                let joints = piece.uses.iter().filter_map(|&(number, track)| {
                    Some(errors[number][joint_of(members[number].clip.tracks[track].target)?])
                });
                joints.fold(0.0, f64::max)
            };
            for piece in self.pieces.iter_mut().filter(|piece| !piece.strict) {
                piece.tolerance *= (used / below(piece).max(1e-3)).clamp(1.0, 4.0).sqrt();
            }
        }
        match best {
            Some((_, tolerances)) => {
                self.pieces.iter_mut().zip(tolerances).for_each(|(piece, tolerance)| piece.tolerance = tolerance);
            }
            None => self.scale(0.1),
        }
        self.check()
    }

    /// Bytes that all keys take, about, with their times and what finds them.
    pub fn size(&self, made: &[Candidate]) -> usize {
        let moving = made.iter().map(|made| &made.curve).filter(|curve| !curve.is_constant());
        let timelines: HashSet<*const Timeline> = moving.map(|curve| Arc::as_ptr(curve.timeline())).collect();
        let keys: usize = self.pieces.iter().zip(made).map(|(piece, made)| piece.size(made)).sum();
        keys + timelines.iter().filter_map(|timeline| self.timelines.get(timeline)).sum::<usize>()
    }

    /// Scales the tolerances of all curves that displace joints.
    fn scale(&mut self, factor: f64) {
        for piece in self.pieces.iter_mut().filter(|piece| !piece.strict) {
            piece.tolerance *= factor;
        }
    }

    /// Makes sure of the bound at all times that count.
    fn check(&mut self) -> Vec<Candidate> {
        let mut left_alone = 0;
        let mut refined = 0;
        loop {
            let made = self.make_all();
            let worst = self.members.iter().enumerate().map(|(number, member)| {
                let worst = member.original.worst(&self.tracks(&made, number));
                (worst.distance / member.original.bound(), number, worst.joint)
            });
            let Some((used, number, joint)) = worst.max_by(|a, b| a.0.total_cmp(&b.0)) else { return made };
            // With all keys as they were there is nothing to be off by.
            if used <= 1.0 || left_alone > MOST_LEFT_ALONE {
                return made;
            }
            if refined < MOST_REFINEMENTS {
                refined += 1;
                self.scale((AIM.powi(refined) / used).clamp(0.1, AIM));
                continue;
            }
            // Finer keys do not help: those of the joint and of all above it are left as they are, then all.
            left_alone += 1;
            let all = left_alone > MOST_LEFT_ALONE;
            let chain = self.members[number].levers.chain(joint);
            for piece in &mut self.pieces {
                let is_above = |&(user, track): &(usize, usize)| {
                    let target = self.members[number].clip.tracks.get(track).map(|track| track.target);
                    user == number && target.and_then(joint_of).is_some_and(|joint| chain.contains(&joint))
                };
                piece.is_float |= all || piece.uses.iter().any(is_above);
            }
        }
    }

    fn make_all(&self) -> Vec<Candidate> {
        let mut made: Vec<Candidate> = self.pieces.iter().map(|piece| piece.make(piece.resolution(), true)).collect();
        for (member, own) in self.members.iter().zip(&self.places) {
            let skeleton = member.original.skeleton();
            let mut corrected = Corrected::new(&member.bearings, skeleton);
            for joint in 0..skeleton.joints().len() {
                let place = member.bearings.track(joint).map(|track| own[track]);
                let Some(place) = place else {
                    corrected.push(None);
                    continue;
                };
                let piece = &self.pieces[place];
                // A joint that stands still is not worth keys that make it move.
                let keys = corrected.keys(&piece.curve).filter(|_| made[place].compressed.is_some());
                let wanted = keys.and_then(|keys| piece.curve.with_values(piece.curve.interpolation(), 4, keys).ok());
                if let Some(wanted) = wanted {
                    made[place] = piece.make_of(&wanted, piece.resolution(), true);
                }
                corrected.push(Some(&made[place].curve));
            }
        }
        made
    }

    /// For each joint of a clip the largest displacement below it, as a share of what is allowed.
    fn by_joint(&self, made: &[Candidate], number: usize) -> Vec<f64> {
        let member = &self.members[number];
        let errors = member.original.by_joint(&self.tracks(made, number));
        member.levers.below(&errors).into_iter().map(|error| error / member.original.bound()).collect()
    }

    /// The tracks of a clip that move joints.
    fn tracks(&self, made: &[Candidate], number: usize) -> Vec<Track> {
        self.all_tracks(made, number).into_iter().map(|(track, _)| track).filter(is_of_joint).collect()
    }

    fn all_tracks(&self, made: &[Candidate], number: usize) -> Vec<(Track, Option<Arc<QuantizedCurve>>)> {
        let tracks = &self.members[number].clip.tracks;
        let mut found: Vec<_> = tracks.iter().map(|track| (track.clone(), None)).collect();
        for (piece, made) in self.pieces.iter().zip(made) {
            for &(_, index) in piece.uses.iter().filter(|(user, _)| *user == number) {
                found[index] = (Track { curve: made.curve.clone(), ..tracks[index].clone() }, made.compressed.clone());
            }
        }
        found
    }

    /// The tracks of each clip with what has become of them, and how far they are off.
    pub fn finish(&self, made: &[Candidate]) -> Vec<CompressedClip> {
        let clip = |number: usize| {
            let worst = self.members[number].original.worst(&self.tracks(made, number));
            let (tracks, curves) = self.all_tracks(made, number).into_iter().unzip();
            CompressedClip { tracks, curves, worst }
        };
        (0..self.members.len()).map(clip).collect()
    }
}
