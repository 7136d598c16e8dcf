//! All tests of the public API, one module per theme. Tests of single functions are beside the functions.

/// Scenes, fixtures and comparisons that the themes share.
mod support;

/// `posse adapters`, and the choice of an adapter by options and environment variables.
#[cfg(feature = "cli")]
mod adapters;
/// Broken glTF files: each is refused with the path of its fault, and none does harm.
mod bad_input;
/// `posse bench --report`: the page has the figures of the JSON.
#[cfg(feature = "cli")]
mod benchmark_page;
/// Features of clips that glTF lacks, with hand-worked cases, on every engine.
mod beyond_gltf;
/// Binding of clips with named targets to skeletons.
mod binding;
/// Time does not drift: after thirty days, every engine has the phase of exact arithmetic.
mod clock;
/// The `posse` command with Cocos clips, and with wrap modes.
#[cfg(feature = "cli")]
mod cocos_command_line;
/// The importer of Cocos Creator clips, compared with hand-worked cases and with figures of Cocos Creator.
mod cocos_import;
/// Collected third-party files on every engine, compared with poses of another evaluator.
mod collection;
/// The `posse` command, run as from a shell.
#[cfg(feature = "cli")]
mod command_line;
/// Compressed libraries through the `posse` command.
#[cfg(feature = "cli")]
mod compress_command_line;
/// Compressed libraries: errors, sizes, and bounds that are refused.
mod compressed;
/// The error bound of compressed libraries at random times between keys.
mod compressed_between_keys;
/// `posse verify`, `render` and `bench` with crowd files, on every engine.
#[cfg(feature = "cli")]
mod crowd_commands;
/// Crowd files through the `posse` command: hand-worked cases, and faults with their paths.
#[cfg(feature = "cli")]
mod crowd_file;
/// Curves of every kind, compared with collected figures.
mod curves;
/// Easings, compared with hand-worked cases and with figures of Cocos Creator.
mod easing;
/// Events, and the player that fires them frame by frame, compared with figures of Cocos Creator.
mod events;
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
/// Signals in the middle of commands: exit codes, unfinished files, terminals, and readers that stop reading.
#[cfg(all(feature = "cli", unix))]
mod interrupted;
/// Inverse kinematics: hand-worked cases of each rule, on every engine.
mod inverse_kinematics;
/// Crowds larger than the caches, on the CPU engine.
mod large_crowds;
/// Blending of layers: hand-worked cases, on every engine.
mod layers;
/// The gaits of `examples/locomotion`: planted feet stay in place.
#[cfg(feature = "render")]
mod locomotion;
/// `posse demo` and `posse bench`, on every engine.
#[cfg(feature = "cli")]
mod measuring;
/// Parameters, synchronised layers and transitions, on every engine.
mod motion;
/// Parameters, blend spaces, synchronised layers and transitions: hand-worked cases of each rule, on every engine.
mod motion_rules;
/// Numbers of libraries and crowds, replaced by others within their ranges and beyond, on the reference and the CPU engine.
mod mutated;
/// Events that layers reach between two ticks: hand-worked, tick by tick, and random cases, on every engine.
mod occurrences;
/// Outputs that cannot be written, odd names, several writers, and inputs that change while they are read.
#[cfg(all(feature = "cli", unix))]
mod output_files;
/// Random scenes: every engine compared with the reference.
mod random_scenes;
/// `posse render` and its renderer: vertices compared with the reference, pictures with stored ones, files, faults.
#[cfg(feature = "cli")]
mod render;
/// The renderer of the examples: the positions of characters, compared with the reference.
mod renderer;
/// Retargeting: hand-worked rigs, the rules on random pairs of rigs, maps of joints, the command and its files.
mod retarget;
/// Key times that compression removes, and key times that tracks share.
mod retiming;
/// Root motion: hand-worked cases, on every engine.
mod root_motion;
/// Clips shared with other skeletons by joint name: driven joints, reported faults, and storage.
mod sharing;
/// Clips of one glTF file on the nodes of another file, through the `posse` command.
#[cfg(feature = "cli")]
mod sharing_command_line;
/// Packed skin formats on every engine: hand-worked and random cases, and scales that dual quaternions cannot store.
mod skin_formats;
/// Commands on a machine whose stacks are small.
#[cfg(all(feature = "cli", target_os = "linux"))]
mod small_stack;
/// `posse bench --soak`: a crowd that changes all the time, on devices that are lost.
#[cfg(feature = "cli")]
mod soak;
/// The feet of `examples/terrain` are on the ground.
#[cfg(feature = "render")]
mod terrain;
/// Threads of the CPU engine: the same bits on any number, in every frame, from every caller.
mod threads;
/// Clips trimmed to a range of times, on every engine.
mod trim;
/// `posse view` on a virtual display: pictures, keys, and errors.
#[cfg(all(feature = "view", target_os = "linux"))]
mod view;
/// Wrap modes, repeats and ranges, on every engine.
mod wrap;
