//! All tests of the crate's face, one module a theme. Tests of single functions stand beside the functions.

/// What the themes share: scenes, fixtures, comparisons.
mod support;

/// Files that are broken are refused, each at its place, and never do harm.
mod bad_input;
/// `posse bench --report`: the page says what the JSON says.
#[cfg(feature = "cli")]
mod benchmark_page;
/// What clips can have beyond glTF, by hand, on every engine.
mod beyond_gltf;
/// Clips of named targets are bound to skeletons.
mod binding;
/// Time does not drift: thirty days later, every engine is where exact arithmetic says.
mod clock;
/// The `posse` command on Cocos clips, and any clip in any wrap mode.
#[cfg(feature = "cli")]
mod cocos_command_line;
/// Cocos Creator's clips become what they say, and what its engine made of them.
mod cocos_import;
/// Third-party files, where they are at hand, are posed by every engine as another evaluator posed them.
mod collection;
/// The `posse` command, as a shell sees it.
#[cfg(feature = "cli")]
mod command_line;
/// Compressed keys through the `posse` command.
#[cfg(feature = "cli")]
mod compress_command_line;
/// Compressed keys: what they may be off by, what they take, what is refused.
mod compressed;
/// `posse verify` and `posse bench` of crowd files, with every engine.
#[cfg(feature = "cli")]
mod crowd_commands;
/// Crowd files through the `posse` command: every rule by hand, every fault by its place.
#[cfg(feature = "cli")]
mod crowd_file;
/// Curves of every kind, against collected figures.
mod curves;
/// Easings, by hand and against the figures of the engine that they come from.
mod easing;
/// Events, and the player that fires them frame by frame, against the figures of the engine that they come from.
mod events;
/// Documents that the `gltf` crate has loaded become what their files are.
#[cfg(feature = "gltf")]
mod gltf_documents;
/// The GPU engine beyond the values it gives: limits of devices, many frames, failures.
mod gpu;
/// Cases small enough to be worked out by hand, asked of every engine.
mod hand_worked;
/// glTF files become what they say.
mod import;
/// Interpolation of one's own, in Rust and in WGSL.
mod interpolators;
/// Crowds larger than the caches, on the CPU engine.
mod large_crowds;
/// Layers over one another, by hand, on every engine.
mod layers;
/// `posse demo` and `posse bench`, with every engine.
#[cfg(feature = "cli")]
mod measuring;
/// Events that layers reach between two ticks: by hand, tick by tick, and at random, on every engine.
mod occurrences;
/// Random scenes, every engine against the reference.
mod random_scenes;
/// `posse render` and the renderer beneath it: vertices against the reference, pictures against stored ones, files, faults.
#[cfg(feature = "cli")]
mod render;
/// The renderer of the examples draws each character where the reference poses it.
mod renderer;
/// Key times that compressed keys do without, and those that they share.
mod retiming;
/// What instances move by, by hand, on every engine.
mod root_motion;
/// Clips shared with other skeletons by joint name: what moves, what is said, what it costs.
mod sharing;
/// Clips of one glTF file on the nodes of another, through the `posse` command.
#[cfg(feature = "cli")]
mod sharing_command_line;
/// Skin matrices in half the bytes, on every engine: by hand, at random, and refused where dual quaternions have no room.
mod skin_formats;
/// `posse view` on a virtual display: what the display shows, what keys do, how it ends.
#[cfg(all(feature = "view", target_os = "linux"))]
mod view;
/// Wrap modes, repeats and ranges, on every engine.
mod wrap;
