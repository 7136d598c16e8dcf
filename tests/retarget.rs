/// Clips from one skeleton to another, by hand.
mod hand_worked;
/// The rules of retargeting on random pairs of rigs.
mod invariants;
/// Pairs of joints: by names, by roles, by files.
mod maps;
/// Pairs of rigs, and poses of theirs in model space.
mod rigs;
