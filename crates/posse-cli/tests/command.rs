//! Tests of the command `posse`, run as from a shell, one module per theme.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by a panic")]

/// Builders of files that the tests of the library use, too.
#[path = "../../../tests/support/mod.rs"]
#[allow(dead_code, reason = "each test binary needs a part of it")]
mod support;

/// `posse adapters`, and the choice of an adapter by options and environment variables.
mod adapters;
/// glTF files as people have them: what is left out, `--strict`, ranges, and the ends of baked clips.
mod as_found;
/// `posse bake`, run as from a shell.
mod bake_command;
/// `posse bench --report`: the page has the JSON of the run, and requests no other file.
mod benchmark_page;
/// The commands with BVH files.
mod bvh_command_line;
/// The `posse` command with Cocos clips, and with wrap modes.
mod cocos_command_line;
/// The `posse` command, run as from a shell.
mod command_line;
/// Compressed libraries through the `posse` command.
mod compress_command_line;
/// `posse verify`, `render` and `bench` with crowd files, on every engine.
mod crowd_commands;
/// Crowd files through the `posse` command: hand-worked cases, and errors with their paths.
mod crowd_file;
/// Parts of glTF files for pictures.
#[path = "../../posse-render/tests/cube.rs"]
mod cube;
/// `posse eval --fps`: the frames of a clip.
mod eval_frames;
/// `posse eval --format npz`: the bits of the arrays, and the option `--threads`.
mod eval_npz;
/// The commands with FBX files.
#[cfg(feature = "fbx")]
mod fbx_command_line;
/// The files of each format of `posse bake`, as other readers see them.
mod formats;
/// Signals in the middle of commands: exit codes, unfinished files, terminals, and readers that stop reading.
#[cfg(unix)]
mod interrupted;
/// Outputs that would replace an input.
mod kept_inputs;
/// `posse kernels`: the files beside the library that they come from.
mod kernels_command;
/// The likeness of two pictures.
#[cfg(all(feature = "view", target_os = "linux"))]
#[path = "../../posse-render/tests/likeness.rs"]
mod likeness;
/// `posse demo` and `posse bench`, on every engine.
mod measuring;
/// `posse merge`: clips of many files in one.
mod merge_command;
/// Contacts of feet, measures of clips and held feet.
mod motion_quality;
/// Outputs that cannot be written, odd names, several writers, and inputs that change while they are read.
#[cfg(unix)]
mod output_files;
/// `posse render`: files, loops, films, and refused options.
mod render_command;
/// `posse retarget` and `posse eval --retarget`.
mod retarget_command;
/// `posse retarget --picture`: the places and the colours of figures, and refused options.
mod retarget_picture;
/// Pairs of rigs, and their poses in model space.
#[path = "../../../tests/retarget/rigs.rs"]
#[allow(dead_code, reason = "the tests of the library need the rest")]
mod rigs;
/// Child processes that tests start, watch and end.
#[cfg(unix)]
mod running;
/// Clips of one glTF file on the nodes of another file, through the `posse` command.
mod sharing_command_line;
/// The characters of `examples/skinned_gltf.rs` where the reference poses them.
mod skinned_example;
/// Commands on a machine whose stacks are small.
#[cfg(target_os = "linux")]
mod small_stack;
/// The commands with files of SMPL.
mod smpl_command_line;
/// `posse view` on a virtual display: pictures, keys, and errors.
#[cfg(all(feature = "view", target_os = "linux"))]
mod view;
/// The command on a machine without the adapter that is asked for.
mod without_adapter;
