//! Peers in C++: a program of the folder `native` each, compiled with the sources of its library, in a process of its
//! own.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use glam::{DAffine3, DMat4, DQuat, DVec3};
use posse::curves::Target;
use posse::{ClipId, Error, Pose, Transform};

use crate::scene::{Contender, FRAME, Scene, Workload};

/// A C++ library.
pub struct NativeLibrary {
    /// The name in the table.
    name: &'static str,
    /// The program in the folder `native`, without its ending.
    program: &'static str,
    /// The folders of headers below the folders of the sources.
    headers: &'static [&'static str],
    /// The files that are compiled, below the first folder of the sources.
    files: &'static [&'static str],
    /// The last workload that it plays, in the order of [`Workload::ALL`].
    last: Workload,
    /// The largest allowed difference of a number.
    bound: f64,
}

/// ozz-animation 0.16. Its program plays no additive layers.
pub const OZZ: NativeLibrary = NativeLibrary {
    name: "ozz-animation x1",
    program: "ozz",
    headers: &["include", "src"],
    files: &[
        "src/animation/offline/animation_builder.cc",
        "src/animation/offline/raw_animation.cc",
        "src/animation/offline/raw_animation_utils.cc",
        "src/animation/offline/raw_skeleton.cc",
        "src/animation/offline/skeleton_builder.cc",
        "src/animation/runtime/animation.cc",
        "src/animation/runtime/animation_utils.cc",
        "src/animation/runtime/blending_job.cc",
        "src/animation/runtime/local_to_model_job.cc",
        "src/animation/runtime/sampling_job.cc",
        "src/animation/runtime/skeleton.cc",
        "src/base/containers/string_archive.cc",
        "src/base/encode/group_varint.cc",
        "src/base/io/archive.cc",
        "src/base/io/stream.cc",
        "src/base/log.cc",
        "src/base/maths/math_archive.cc",
        "src/base/maths/simd_math.cc",
        "src/base/maths/simd_math_archive.cc",
        "src/base/maths/soa_math_archive.cc",
        "src/base/memory/allocator.cc",
        "src/base/platform.cc",
    ],
    last: Workload::Blend,
    // Translations and scales are halves, rotations have 15 bits per number.
    bound: 1e-2,
};

/// ACL 2.1, which decompresses local poses.
pub const ACL: NativeLibrary = NativeLibrary {
    name: "acl x1",
    program: "acl",
    headers: &["includes"],
    files: &[],
    last: Workload::Sample,
    // It allows 0.1 mm at a distance of 3 cm from a joint: rotations of a three hundredth.
    bound: 1e-2,
};

/// A compiled program.
pub struct Program {
    library: &'static NativeLibrary,
    path: PathBuf,
}

impl Program {
    /// Compiles the program of a library for this machine, with its sources. The first folder has the library,
    /// others the headers that it needs.
    ///
    /// # Errors
    /// [`Error::Usage`] if a folder or a C++ compiler is missing, or compiling fails.
    pub fn compile(library: &'static NativeLibrary, sources: &[PathBuf]) -> Result<Self, Error> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = here.join("target");
        std::fs::create_dir_all(&folder).map_err(|error| Error::Usage(format!("{}: {error}", folder.display())))?;
        let path = folder.join(library.program);
        let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
        let mut command = Command::new(&compiler);
        command.args(["-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w"]);
        let mut needed = Vec::new();
        for folder in sources.iter().flat_map(|folder| library.headers.iter().map(|headers| folder.join(headers))) {
            command.arg("-I").arg(&folder);
            needed.push(folder);
        }
        command.arg(here.join("native").join(library.program).with_extension("cc"));
        for file in sources.iter().take(1).flat_map(|folder| library.files.iter().map(|file| folder.join(file))) {
            command.arg(&file);
            needed.push(file);
        }
        if let Some(missing) = needed.iter().find(|path| !path.exists()) {
            let reason = format!("--{} names the folder of its sources; --help says which", library.program);
            return Err(Error::Usage(format!("{}: no such file or folder; {reason}", missing.display())));
        }
        let compiler = compiler.display();
        match command.arg("-o").arg(&path).status() {
            Ok(status) if status.success() => Ok(Self { library, path }),
            Ok(status) => Err(Error::Usage(format!("{compiler} cannot compile {}: {status}", library.name))),
            Err(error) => Err(Error::Usage(format!("{compiler}: {error}; install a C++ compiler, or name one in CXX"))),
        }
    }

    /// The name of its library in the table.
    pub fn name(&self) -> &'static str {
        self.library.name
    }

    /// Returns `true` if it can play a workload.
    pub fn plays(&self, workload: Workload) -> bool {
        workload <= self.library.last
    }
}

/// A program that runs and poses a crowd on one thread.
pub struct Native {
    library: &'static NativeLibrary,
    workload: Workload,
    instances: usize,
    process: RefCell<Process>,
}

/// The process, and its ends of pipes.
struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Native {
    /// Starts a program with a number of instances. The workload is one that it [`plays`](Program::plays).
    ///
    /// # Errors
    /// [`Error::Usage`] if the program does not start, or refuses the scene.
    pub fn new(program: &Program, scene: &Scene, workload: Workload, instances: usize) -> Result<Self, Error> {
        let Program { library, path } = program;
        let failed = |error| Error::Usage(format!("{}: {error}", path.display()));
        let mut child = Command::new(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both are pipes");
        };
        let process = RefCell::new(Process { child, input, output: BufReader::new(output) });
        let native = Self { library, workload, instances, process };
        native.send(&description(scene, workload, instances))?;
        native.expect_line("ready")?;
        Ok(native)
    }

    fn failed(&self, reason: impl std::fmt::Display) -> Error {
        Error::Usage(format!("{}, {}: {reason}", self.library.name, self.workload.name()))
    }

    /// The next line of the process.
    fn line(&self) -> Result<String, Error> {
        let mut line = String::new();
        match self.process.borrow_mut().output.read_line(&mut line) {
            Ok(1..) => Ok(line),
            Ok(0) => Err(self.failed("its program has ended; if it gave a reason, that is printed above")),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn expect_line(&self, expected: &str) -> Result<(), Error> {
        let line = self.line()?;
        if line.trim() == expected {
            return Ok(());
        }
        Err(self.failed(format!("it says {line:?} in place of {expected:?}")))
    }

    fn send(&self, text: &str) -> Result<(), Error> {
        let input = &mut self.process.borrow_mut().input;
        writeln!(input, "{text}").and_then(|()| input.flush()).map_err(|error| self.failed(error))
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        let Process { child, .. } = self.process.get_mut();
        // It has nothing to finish. If it has ended already, there is nothing to do.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Contender for Native {
    fn name(&self) -> String {
        self.library.name.into()
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn bound(&self) -> f64 {
        self.library.bound
    }

    fn frame(&mut self) -> Result<(), Error> {
        self.frames(1)
    }

    fn frames(&mut self, count: u32) -> Result<(), Error> {
        self.send(&format!("frames {count}"))?;
        self.expect_line("done")
    }

    fn pose(&self, instance: usize) -> Result<Pose, Error> {
        self.send(&format!("pose {instance}"))?;
        let numbers: Result<Vec<f64>, _> = self.line()?.split_whitespace().map(str::parse).collect();
        let numbers = numbers.map_err(|error| self.failed(error))?;
        let matrix = |columns: &[f64; 16]| DAffine3::from_mat4(DMat4::from_cols_array(columns));
        let matrices = || numbers.as_chunks().0.iter().map(matrix).collect();
        Ok(match stages(self.workload) {
            1 => Pose { local: numbers.as_chunks().0.iter().map(local).collect(), ..Pose::default() },
            2 => Pose { model: matrices(), ..Pose::default() },
            _ => Pose { skins: vec![matrices()], ..Pose::default() },
        })
    }
}

fn local(&[x, y, z, qx, qy, qz, qw, sx, sy, sz]: &[f64; 10]) -> Transform {
    Transform {
        translation: DVec3::new(x, y, z),
        rotation: DQuat::from_xyzw(qx, qy, qz, qw),
        scale: DVec3::new(sx, sy, sz),
    }
}

/// The number of stages of a workload: local poses, model matrices, skin matrices.
fn stages(workload: Workload) -> u32 {
    match workload {
        Workload::Sample => 1,
        Workload::Model => 2,
        Workload::Skin | Workload::Blend | Workload::Mixed => 3,
    }
}

/// The scene as a program reads it before commands.
fn description(scene: &Scene, workload: Workload, instances: usize) -> String {
    let mut text = String::new();
    let mut push = |numbers: &[f64]| {
        for number in numbers {
            // Writing to a string does not fail.
            let _ = write!(text, "{number} ");
        }
        text.push('\n');
    };
    push(&[f64::from(stages(workload)), scene.duration(), FRAME.to_seconds()]);
    let joints = scene.library.skeleton(scene.skeleton).joints();
    push(&[joints.len() as f64]);
    for joint in joints {
        push(&[joint.parent.map_or(-1.0, |parent| parent as f64)]);
        push(&joint.rest.translation.to_array());
        push(&joint.rest.rotation.to_array());
        push(&joint.rest.scale.to_array());
    }
    let skin = scene.skin();
    push(&[skin.joints.len() as f64]);
    for (&joint, &bind) in skin.joints.iter().zip(&skin.inverse_bind) {
        push(&[joint as f64]);
        push(&DMat4::from(bind).to_cols_array());
    }
    let clips = &scene.clips[..workload.layers()];
    push(&[clips.len() as f64]);
    for &clip in clips {
        for (index, joint) in joints.iter().enumerate() {
            push(&keys(scene, clip, Target::Translation(index), &joint.rest.translation.to_array()));
            push(&keys(scene, clip, Target::Rotation(index), &joint.rest.rotation.to_array()));
            push(&keys(scene, clip, Target::Scale(index), &joint.rest.scale.to_array()));
        }
    }
    push(&[instances as f64]);
    for instance in 0..instances {
        push(&scene.phases(workload, instance).map(|phase| phase.to_seconds())[..clips.len()]);
    }
    text
}

/// The number of keys of a target, and of each its time and value. Without a curve, that is one key with the value at
/// rest.
fn keys(scene: &Scene, clip: ClipId, target: Target, rest: &[f64]) -> Vec<f64> {
    let key = |(time, value): (&f64, &[f64])| [&[*time], value].concat();
    let Some(curve) = scene.curve(clip, target) else {
        return [vec![1.0], key((&0.0, rest))].concat();
    };
    let keys = curve.timeline().times().iter().zip(curve.values().chunks_exact(curve.width()));
    [curve.timeline().len() as f64].into_iter().chain(keys.flat_map(key)).collect()
}
