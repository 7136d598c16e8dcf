//! All tests of the public API, one module per theme. Tests of single functions are beside the functions.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by a panic")]

/// Scenes, fixtures and comparisons that the themes share.
mod support;

/// Arrays of clips at many times: hand-worked cases, and random scenes compared with the reference.
mod arrays;
/// Broken glTF files: each is refused with the path of its error, and none does harm.
mod bad_input;
/// Features of clips that glTF lacks, with hand-worked cases, on every engine.
mod beyond_gltf;
/// Binding of clips with named targets to skeletons.
mod binding;
/// The BVH importer: hand-worked cases on every engine, spellings, parts, and broken files.
mod bvh;
/// Crowds of the CPU engine that change in place.
mod changes;
/// Time does not drift: after thirty days, every engine has the phase of exact arithmetic.
mod clock;
/// The importer of Cocos Creator clips, compared with hand-worked cases and with figures of Cocos Creator.
mod cocos_import;
/// Collected third-party files on every engine, compared with poses of another evaluator.
mod collection;
/// Compressed libraries: errors, sizes, and bounds that are refused.
mod compressed;
/// The error bound of compressed libraries at random times between keys.
mod compressed_between_keys;
/// Curves of every kind, compared with collected figures.
mod curves;
/// Pages for users, compared with the names in the code.
mod documents;
/// Easings, compared with hand-worked cases and with figures of Cocos Creator.
mod easing;
/// Events, and the player that fires them frame by frame, compared with figures of Cocos Creator.
mod events;
/// The FBX importer: hand-worked files on the reference, and damaged files.
#[cfg(feature = "fbx")]
mod fbx;
/// `tests/fetch`, which downloads the collected files.
#[cfg(unix)]
mod fetching;
/// Documents that the `gltf` crate has loaded, compared with their files.
#[cfg(feature = "gltf")]
mod gltf_documents;
/// Goals on the fast engines: rigs of all sizes and scales, visible instances, and goals that change on the GPU.
mod goals;
/// The GPU engine, apart from its values: limits of devices, many frames, failures.
mod gpu;
/// Hand-worked cases on every engine.
mod hand_worked;
/// The glTF importer.
mod import;
/// Custom interpolators, in Rust and in WGSL.
mod interpolators;
/// Inverse kinematics: hand-worked cases of each rule, on every engine.
mod inverse_kinematics;
/// Crowds larger than the caches, on the CPU engine.
mod large_crowds;
/// Blending of layers: hand-worked cases, on every engine.
mod layers;
/// Modules of a folder do not import each other in a circle, in any crate.
mod module_circles;
/// Parameters, synchronised layers and transitions, on every engine.
mod motion;
/// Parameters, blend spaces, synchronised layers and transitions: hand-worked cases of each rule, on every engine.
mod motion_rules;
/// Numbers of libraries and crowds, replaced by others within their ranges and beyond, on the reference and the CPU
/// engine.
mod mutated;
/// Names that stay few.
mod names;
/// Events that layers reach between two ticks: hand-worked, tick by tick, and random cases, on every engine.
mod occurrences;
/// The quality of motion: contacts of feet and measures of clips, hand-worked and on real captures.
mod quality;
/// Random scenes: every engine compared with the reference.
mod random_scenes;
/// Retargeting: hand-worked rigs, the rules on random pairs of rigs, maps of joints, and files.
mod retarget;
/// Key times that compression removes, and key times that tracks share.
mod retiming;
/// Root motion: hand-worked cases, on every engine.
mod root_motion;
/// Clips shared with other skeletons by joint name: driven joints, reported errors, and storage.
mod sharing;
/// Packed skin formats on every engine: hand-worked and random cases, and scales that dual quaternions cannot store.
mod skin_formats;
/// Files of SMPL: hand-worked cases on every engine, spellings, bodies, and files that are refused.
mod smpl;
/// Threads of the CPU engine: the same bits on any number, in every frame, from every caller.
mod threads;
/// Clips trimmed to a range of times, on every engine.
mod trim;
/// The packages of a release have one version.
mod versions;
/// Wrap modes, repeats and ranges, on every engine.
mod wrap;
