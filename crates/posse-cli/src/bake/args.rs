//! The arguments of `posse bake`.

use std::path::PathBuf;
use std::str::FromStr;

use posse::bake::{ArrayKind, QuaternionOrder, UpAxis};
use posse::export::bvh::RotationOrder;

use crate::arguments::{BvhArgs, parse_positive, parse_range, whole};
use crate::bake::format::{FormatName, NpzLayout};
use crate::bake::frames::FrameRange;
use crate::bake::share::{PlanChoice, ShardChoice, Share};
use crate::engine::{AdapterArgs, EngineChoice};
use crate::retargeting::MapArgs;
use crate::source::SkeletonArgs;
use crate::threads::ThreadArgs;

/// The end of `posse bake --help`.
pub const EXAMPLES: &str = "\
Examples:
  posse bake clips -o baked                                   every clip below clips/, one npz file each
  posse bake clips -o baked --fps 50 --arrays pos,quat,linvel,angvel --up z --quaternions wxyz
  posse bake walk.bvh -o baked --joints Hips,LeftFoot,RightFoot
  posse bake @list.txt -o baked --format parquet              one Parquet file with a row per frame
  posse bake clips -o baked --format packed                   all clips in one file of tensors per rig, for training
  posse bake --merge baked                                    the same of shares, once all of them are there
  posse bake nod.anim -o baked --rig Fox.glb                  a Cocos Creator clip on the nodes of a glTF file
  posse bake takes -o baked --rig demo --retarget             every clip on the built-in human
  posse bake takes -o baked --cuts cuts.csv                   a piece per row of takes/walk.bvh,10,70
  posse bake clips -o baked --shard auto --shards 64 --resume in each task of a Slurm, Kubernetes, AWS or Cloud Run job
  posse bake clips -o baked --plan 1000                       lists the inputs of 1000 shares once, in baked/plan.jsonl
  posse bake -o baked --plan baked/plan.jsonl --shard auto    bakes a share of that list
  posse bake AMASS/CMU -o baked --skeleton SMPLH_MALE.npz     every motion of SMPL, with the joints of a model file
  posse bake clips -o baked --format bvh --bvh-order ZYX      a BVH file per clip
  posse bake clips -o baked --mirror                          each clip and its mirror image, CLIP_mirror
  posse bake --check baked clips                              lists the clips that are missing

INPUT is a file (.glb, .gltf, .fbx, .bvh, an .npz of SMPL, a Cocos Creator clip with --rig, a crowd file), a folder, a
glob in quotes, or @LIST, a file with the path of a file per line, relative to --base or the working folder. A folder is
searched for .glb, .gltf, .fbx and .bvh files, and for .npz files with a motion of SMPL; OUT is left out. A clip is
named by its path below the folder, without extension; of a file by the file's own name. Of a file with several clips,
#NAME follows, or #INDEX if the name is missing or repeated. Clips of one name are bad inputs (--keep-extension,
--base). A bake whose outputs would replace an input is refused.

--cuts has a row per piece: a file as it is named below its INPUT, with or without folders and extension (of several
clips, FILE#CLIP), its first and last frame, and a name for the output if wanted. Without a name, it is CLIP@FIRST-LAST.
An empty first frame is the start of the clip, an empty last one its end. A head line may name the columns file, first,
last and name, or usual synonyms of them, in any order. A list with the columns X_START and X_STOP, like Frame_Cuts.csv
of 100STYLE, names the takes STYLE_X. A row that cannot be used is a bad input, which the first share reports.

Arrays (frames first, float32), of --arrays:
  pos, quat                positions (joints, 3) and rotations (joints, 4) in model space; the default
  linvel, angvel           velocities (joints, 3) in model space, per second: central differences over 1/fps on both
                           sides; of rotations, the mean of the differences on both sides
  local_pos, local_quat, local_scale
                           relative to the parent of the joint
  rot6d, local_rot6d       first two columns of the rotation matrix (joints, 6), in model space and relative to the
                           parent
  skin                     skin matrices (skin joints, 4, 4); skin_0, skin_1, ... for several skins. With --up z and
                           --scale they take the file's own vertices, unscaled and with y up, to the turned and scaled
                           model space
  weights, properties      morph weights and animated properties (count), in the order of `posse eval`; weight_names has
                           NODE.NAME of each weight, if the file names morph targets
  root                     position and rotation of the first joint written (7)
  root_motion              place and heading of the first joint written on the ground (7)
  contact                  booleans (feet), true for a foot of a human on the ground, the left one first; contact_feet
                           has the names. For npz, Parquet and packed

A share of the clips goes to each task of --shard I/N, by size. `--shard auto` takes I from SLURM_ARRAY_TASK_ID,
JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX or CLOUD_RUN_TASK_INDEX, counted from 0. Tasks may be killed at any
moment and run again: outputs appear when they are complete. --resume keeps outputs that are there already.

Exit codes: 0 ok; 1 an output cannot be written, or with --check is missing: try again; 2 bad usage or a bad input: do
not try again. Bad inputs are listed in OUT/failed-IIIII.jsonl, and do not stop the others. With --allow-failed, the
exit code is 0 then.";

/// Arguments of `posse bake`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files, folders, globs, or @LIST.
    #[arg(required_unless_present_any = ["plan", "merge"], value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// The folder of the paths of @LIST: they are relative to it, and clips are named by their paths below it.
    #[arg(long, value_name = "DIR")]
    pub base: Option<PathBuf>,
    /// Keeps the extension of the file in the name of a clip: walk.bvh.npz and walk.fbx.npz beside each other.
    #[arg(long)]
    pub keep_extension: bool,
    /// The folder of the outputs. It is created if necessary.
    #[arg(short, long, value_name = "OUT", required_unless_present_any = ["check", "merge"])]
    pub output: Option<PathBuf>,
    /// Lists the clips whose outputs are missing in OUT, or were made from another file, with other options or by
    /// another version of posse. Nothing is written.
    #[arg(long, value_name = "OUT", conflicts_with_all = ["output", "resume"])]
    pub check: Option<PathBuf>,
    /// Merges the shares of --format packed in OUT, when all of them are baked, and takes no other option. Without
    /// --shard, a bake does so itself.
    #[arg(long, value_name = "OUT", exclusive = true)]
    pub merge: Option<PathBuf>,
    /// Frames per second. Default: the rate of the keys of each clip if they are evenly spaced, otherwise 30; for FBX,
    /// the rate of the file, unless the keys are 20 per second or more.
    #[arg(long, value_name = "F", value_parser = parse_positive)]
    pub fps: Option<f64>,
    /// Only these clips of each file: all of a NAME, one of them as NAME#K counted from 0, or #INDEX.
    #[arg(long, value_name = "NAME|#INDEX")]
    pub clip: Vec<String>,
    #[command(flatten)]
    pub bvh: BvhArgs,
    /// The frames from A to B, both included, counted from 0; A: and :B are open. Frames of BVH, FBX and SMPL files
    /// are their own, whatever --fps is; other clips are counted at the rate of the bake.
    #[arg(long, value_name = "A:B", conflicts_with = "cuts", value_parser = FrameRange::from_str)]
    pub frame_range: Option<FrameRange>,
    /// The part of each clip from A to B, in seconds. The first frame is at A.
    #[arg(long, value_name = "A,B", conflicts_with_all = ["cuts", "frame_range"], allow_hyphen_values = true, value_parser = parse_range)]
    pub range: Option<[f64; 2]>,
    /// A CSV file of pieces: file,first,last, and a name if wanted. For each row, one piece is baked, of frames that
    /// are counted as for --frame-range. Clips without a row are left out.
    #[arg(long, value_name = "CUTS.csv")]
    pub cuts: Option<PathBuf>,
    /// The arrays. Default: pos,quat.
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = parse_kind)]
    pub arrays: Vec<ArrayKind>,
    /// The joints written, in this order: a file with a name per line, or names. Of several joints of a name, the end
    /// of a path such as Armature/Hips or NAME#K selects one; #INDEX is the index of the node. A text without a comma
    /// that names a file is this file, even if a joint has the same name. Default: all, in the order of the file.
    #[arg(long, value_name = "FILE|A,B")]
    pub joints: Option<String>,
    /// The morph weights of the array weights, in this order: names of morph targets, or NODE.NAME. Default: all, node
    /// after node.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub morphs: Vec<String>,
    /// A .glb, .gltf, .vrm, .fbx or .bvh file, or `demo` for the built-in human. The clips animate its nodes, matched
    /// by name. Cocos Creator clips need it.
    #[arg(long, value_name = "FILE")]
    pub rig: Option<PathBuf>,
    /// Retargets the clips to the skeleton of --rig, as `posse retarget` does, instead of matching joints by name.
    #[arg(long, requires = "rig")]
    pub retarget: bool,
    #[command(flatten)]
    pub map: MapArgs,
    #[command(flatten)]
    pub skeleton: SkeletonArgs,
    /// Writes the mirror image of each clip, too: CLIP_mirror beside CLIP, with left and right exchanged. With
    /// --retarget, it is the root motion of the retargeted clip.
    #[arg(long)]
    pub mirror: bool,
    /// Measures each clip as it is written, for the manifest and the lines of --json: contacts of feet, foot skate,
    /// jumps between frames, jitter, loop seam and ground penetration.
    #[arg(long)]
    pub quality: bool,
    /// Holds feet in contact with the ground where they are, by inverse kinematics of the legs. It implies --quality,
    /// with the measures of the feet before.
    #[arg(long)]
    pub foot_lock: bool,
    /// The axis that points up in model space. z rotates the model by 90 degrees about +X.
    #[arg(long, value_enum, default_value = "y")]
    pub up: UpName,
    /// The factor of all lengths.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = parse_positive)]
    pub scale: f64,
    /// The order of the numbers of quaternions. Default: xyzw.
    #[arg(long, value_enum)]
    pub quaternions: Option<OrderName>,
    /// The format of the outputs.
    #[arg(long, value_enum, default_value = "npz")]
    pub format: FormatName,
    /// The names of the arrays of npz files, as programs have them. Default: plain. The others have arrays and an order
    /// of quaternions of their own, but no --up z. The joints of the robot of mjlab and gmr are empty: robots cannot be
    /// trained with them.
    #[arg(long, value_enum)]
    pub layout: Option<NpzLayout>,
    /// The order of the rotations of BVH files, the first one outermost: XYZ, XZY, YXZ, YZX, ZXY or ZYX. Default: ZXY,
    /// the order of Biovision's files.
    #[arg(long, value_name = "ORDER")]
    pub bvh_order: Option<RotationOrder>,
    /// Bakes share I of N, counted from 0. auto takes I from the task of the scheduler, and N from --shards.
    #[arg(long, value_name = "I/N|auto")]
    pub shard: Option<ShardChoice>,
    /// The number of shares, for --shard auto.
    #[arg(long, value_name = "N", value_parser = whole(1..=Share::MAX_COUNT))]
    pub shards: Option<u32>,
    /// N writes OUT/plan.jsonl, the list of the inputs in N shares, and bakes nothing. FILE is such a list: a task that
    /// bakes a share of it searches no folder. All other options come from the plan.
    #[arg(long, value_name = "N|FILE")]
    pub plan: Option<PlanChoice>,
    #[command(flatten)]
    pub threads: ThreadArgs,
    /// The engine that evaluates the poses. The default is the CPU on every machine, so that outputs do not depend on
    /// it.
    #[arg(long, value_enum, default_value = "cpu")]
    pub engine: EngineName,
    #[command(flatten)]
    pub adapter: AdapterArgs,
    /// Keeps outputs that were made from the same file, with the same options, by the same version of posse.
    #[arg(long)]
    pub resume: bool,
    /// Bad inputs are no failure, once failed-*.jsonl lists them. With --check, neither are the clips that are listed
    /// there. With --strict, a file with a warning is a bad input, and the others are baked.
    #[arg(long)]
    pub allow_failed: bool,
    /// Prints a line of JSON per clip: its name, file and output, frames, fps, seconds, joints and skeleton.
    #[arg(long)]
    pub json: bool,
}

/// An axis, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum UpName {
    Y,
    Z,
}

/// An order of the numbers of quaternions, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum OrderName {
    Xyzw,
    Wxyz,
}

/// An engine, by name. The bytes of outputs must not depend on the machine, so that `auto` never selects a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineName {
    /// The same as cpu.
    Auto,
    /// The GPU, or a software adapter if there is no hardware GPU.
    Gpu,
    /// The CPU.
    Cpu,
    /// The f64 reference.
    Reference,
}

impl From<EngineName> for EngineChoice {
    fn from(name: EngineName) -> Self {
        match name {
            EngineName::Auto | EngineName::Cpu => Self::Cpu,
            EngineName::Gpu => Self::Gpu,
            EngineName::Reference => Self::Reference,
        }
    }
}

impl From<UpName> for UpAxis {
    fn from(name: UpName) -> Self {
        match name {
            UpName::Y => Self::Y,
            UpName::Z => Self::Z,
        }
    }
}

impl From<OrderName> for QuaternionOrder {
    fn from(name: OrderName) -> Self {
        match name {
            OrderName::Xyzw => Self::Xyzw,
            OrderName::Wxyz => Self::Wxyz,
        }
    }
}

fn parse_kind(name: &str) -> Result<ArrayKind, String> {
    name.trim().parse().map_err(|error: posse::Error| error.to_string())
}
