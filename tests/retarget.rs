/// `posse retarget` and `posse eval --retarget`.
#[cfg(feature = "cli")]
mod command;
/// Clips from one skeleton to another, by hand.
mod hand_worked;
/// The rules of retargeting on random pairs of rigs.
mod invariants;
/// Pairs of joints: by names, by roles, by files.
mod maps;
/// Pairs of rigs, and poses of theirs in model space.
mod rigs;
/// glTF files with other animations: what they hold, and that all else stays.
mod written;
