/// Times beyond the keys of a track, and keys of zeros.
mod beyond_keys;
/// Files as people have them, with the right figures.
mod cases;
/// One motion in the conventions of many tools.
mod conventions;
/// Odd glTF documents, and notes on what glTF cannot hold.
mod documents;
/// Clips from one skeleton to another, by hand.
mod hand_worked;
/// The rules of retargeting on random pairs of rigs.
mod invariants;
/// Skeletons of very many joints.
mod large;
/// What is lost, and errors.
mod losses;
/// Pairs of joints: by names, by roles, by files.
mod maps;
/// Mirror images of clips.
mod mirror;
/// Morph weights, by the names of morph targets and by expressions.
mod morphs;
/// Pairs of rigs, and poses of theirs in model space.
mod rigs;
/// Rigs of unusual structure, and files whose rest pose is none.
mod unusual;
/// glTF files with other animations: what they hold, and that all else stays.
mod written;
