//! The numbers and structs of the interface, as C sees them. Enumerations reach Rust as `u32`, since C can pass any
//! number; `numbers.rs` makes values of them.

/// The version of the interface that the header describes: the upper 16 bits change if programs must be changed, the
/// lower 16 bits count additions. A program runs with a library whose upper bits are equal and whose lower bits are
/// equal or larger: `posse_abi_version`.
pub const POSSE_ABI_VERSION: u32 = 0x0001_0000;
/// Ticks per second of the crowd clock.
pub const POSSE_TICKS_PER_SECOND: i64 = 1_048_576;
/// No index: a joint without a parent, a layer without a mask, clips of any skeleton.
pub const POSSE_NONE: u32 = 0xffff_ffff;
/// All chunks of a crowd, one after the other.
pub const POSSE_ALL_CHUNKS: u32 = 0xffff_ffff;
/// The most layers of an instance.
pub const POSSE_MAX_LAYERS: u32 = 8;
/// The most goals of an instance.
pub const POSSE_MAX_GOALS: u32 = 32;
/// The most parameters of an instance.
pub const POSSE_MAX_PARAMETERS: u32 = 16;
/// Local transforms: translation, rotation (x, y, z, w) and scale of each joint.
pub const POSSE_OUTPUT_LOCAL: u32 = 1;
/// Model matrices of all joints: `model(joint) = model(parent) * local(joint)`.
pub const POSSE_OUTPUT_MODEL: u32 = 2;
/// Skin matrices of the joints of all skins: `model(joint) * inverse_bind(joint)`.
pub const POSSE_OUTPUT_SKIN: u32 = 4;
/// Morph weights of all joints, the first part of the values.
pub const POSSE_OUTPUT_WEIGHTS: u32 = 8;
/// Properties, the second part of the values.
pub const POSSE_OUTPUT_PROPERTIES: u32 = 16;
/// The motion of each instance in the step: translation x y z, 1 if a clip has root motion and else 0, rotation x y z
/// w, in the space of the parent of the root joint.
pub const POSSE_OUTPUT_ROOT_MOTION: u32 = 32;

/// A point in time or a duration on the crowd clock, in ticks of 2^-20 s.
pub type Ticks = i64;

/// Opaque: skeletons, skins, clips and masks.
pub struct LibraryHandle;
/// Opaque: instances with layers, and the CPU engine that poses them.
pub struct CrowdHandle;

/// Opaque: the buffers and dispatches of a crowd, for kernels on a device of the caller.
pub struct PackedHandle;

/// The result of a call. `posse_error_text` has the reason of an error.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The call succeeded.
    Ok = 0,
    /// An argument cannot be used: a null pointer, a number that is not finite or out of range, an unknown enumerator, a
    /// struct of an unknown size.
    Argument = 1,
    /// The handle is of another kind, destroyed, or was never made.
    Handle = 2,
    /// There is no item of that index.
    Index = 3,
    /// A buffer is too short or not aligned.
    Buffer = 4,
    /// A file cannot be read or used.
    File = 5,
    /// A name selects no item, or several.
    Name = 6,
    /// More than a limit of the library.
    Limit = 7,
    /// An error of the library itself: please report it.
    Internal = 8,
}

/// The kinds of items that have names.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// A skeleton; without an owner.
    Skeleton = 0,
    /// A clip. To find one among the clips of a skeleton, that skeleton is the owner; otherwise `POSSE_NONE`.
    Clip = 1,
    /// A joint; the owner is its skeleton.
    Joint = 2,
    /// An event; the owner is its clip. Its name is the name of the function to call.
    Event = 3,
    /// A morph weight among the weights of all joints; the owner is the skeleton.
    Weight = 4,
    /// A property; the owner is the skeleton.
    Property = 5,
    /// A warning about a file: what was repaired or left out; without an owner. Its name is its text.
    Warning = 6,
    /// A skin; the owner is its skeleton.
    Skin = 7,
}

/// How the time of a layer in its clip is given.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// It follows from the crowd clock: `start`, `rate`, `wrap`, `repeat_count` and `range`.
    Playing = 0,
    /// It is `seconds`, whatever the clock shows.
    Fixed = 1,
    /// The parameter `parameter` of the instance counts cycles of the clip, in mode `wrap`.
    Phase = 2,
    /// It follows from the time of the earlier layer `leader`: the same part of the clip, or of the way between sync
    /// markers.
    Synced = 3,
}

/// The behaviour at the ends of a clip.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrap {
    /// The mode of the clip.
    Default = 0,
    /// Once from start to end.
    Normal = 1,
    /// From start to end, repeatedly.
    Loop = 2,
    /// From start to end and back, repeatedly.
    PingPong = 3,
    /// Once from end to start.
    Reverse = 4,
    /// From end to start, repeatedly.
    LoopReverse = 5,
    /// From end to start and back, repeatedly.
    PingPongReverse = 6,
}

/// The way in which a layer joins the layers before it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The mean of all layers that blend, by weight.
    Blend = 0,
    /// Interpolation from the pose below to the layer, by the weight.
    Override = 1,
    /// The difference of the clip from its first frame is added to the pose below.
    Additive = 2,
    /// The difference of the clip from the rest pose is added to the pose below.
    AdditiveRest = 3,
}

/// What drives the weight of a layer.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// Nothing.
    None = 0,
    /// The knots `driver_index`, a function of the parameter `driver_parameters[0]`.
    Knots = 1,
    /// The share of the point `driver_point` of the blend space `driver_index`, at the position of two parameters.
    Point = 2,
}

/// The shape of a fade.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FadeShape {
    /// There is no fade.
    None = 0,
    /// Linear.
    Linear = 1,
    /// Slow at both ends.
    Smooth = 2,
}

/// The kind of a transition.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransitionKind {
    /// Inertialization: the difference of the two poses and of their speeds decays.
    Inertial = 0,
    /// Dead blending: the old pose moves on with a speed that decays, and the new one takes over.
    Dead = 1,
}

/// The kind of a chain of inverse kinematics.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainKind {
    /// Two bones, such as a leg: `joints` are hip, knee and ankle.
    TwoBone = 0,
    /// One joint that looks at the target: `joints[0]`.
    Aim = 1,
}

/// The arrangement of the numbers of an instance in an output.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Matrices are three rows of four numbers, the translation in the last column: 12 numbers per joint. Local
    /// transforms have 12 numbers: translation x y z, 0, rotation x y z w, scale x y z, 0.
    Rows3x4 = 0,
    /// Matrices are four columns of four numbers, 16 per joint, as OpenGL and ozz-animation have them. Local transforms
    /// are as in `POSSE_FORMAT_ROWS3X4`.
    Columns4x4 = 1,
    /// Structure of arrays: number k of four joints lie side by side, then number k + 1. A group of four joints has 12
    /// numbers each of matrices, in the order of `POSSE_FORMAT_ROWS3X4`, or 10 of local transforms: translation x y z,
    /// rotation x y z w, scale x y z, as `SoaTransform` of ozz-animation. The last group is filled with identities.
    Soa = 2,
}

/// The format of skin matrices.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkinFormat {
    /// 32-bit numbers, arranged as `posse_format` tells.
    Matrix = 0,
    /// Three rows of four 16-bit numbers: 6 words of 32 bits per joint, whatever the arrangement.
    HalfMatrix = 1,
    /// A rotation of four normalised 16-bit numbers, a translation and a uniform scale: 6 words of 32 bits per joint,
    /// whatever the arrangement.
    DualQuaternion = 2,
}

/// Options of `posse_library_load_file` and `posse_library_load_memory`. With 0 everywhere, they are the defaults.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadOptions {
    /// `sizeof(posse_load_options)`.
    pub struct_size: usize,
    /// The frames per second of a BVH file; 0 for the rate of the file.
    pub fps: f64,
    /// The skeleton whose joints a clip of Cocos Creator moves.
    pub skeleton: u32,
    /// 0.
    pub reserved: u32,
}

/// What a file has added to a library.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Loaded {
    /// `sizeof(posse_loaded)`, set by the caller.
    pub struct_size: usize,
    /// The index of the first new skeleton.
    pub first_skeleton: u32,
    /// The number of new skeletons: 1, or 0 for a clip of Cocos Creator.
    pub skeleton_count: u32,
    /// The index of the first new clip.
    pub first_clip: u32,
    /// The number of new clips.
    pub clip_count: u32,
    /// The index of the first new warning.
    pub first_warning: u32,
    /// The number of new warnings: what was repaired or left out.
    pub warning_count: u32,
}

/// The numbers of items of a library.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct LibraryInfo {
    /// `sizeof(posse_library_info)`, set by the caller.
    pub struct_size: usize,
    /// The number of skeletons.
    pub skeleton_count: u32,
    /// The number of clips.
    pub clip_count: u32,
    /// The number of masks.
    pub mask_count: u32,
    /// The number of warnings of all files.
    pub warning_count: u32,
}

/// A skeleton.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct SkeletonInfo {
    /// `sizeof(posse_skeleton_info)`, set by the caller.
    pub struct_size: usize,
    /// The number of joints, parents before children.
    pub joint_count: u32,
    /// The number of skins.
    pub skin_count: u32,
    /// The number of joints of all skins together: as many as skin matrices.
    pub skin_joint_count: u32,
    /// The number of morph weights of all joints.
    pub weight_count: u32,
    /// The number of properties.
    pub property_count: u32,
    /// The number of numbers of all properties.
    pub property_width: u32,
}

/// A joint.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct JointInfo {
    /// `sizeof(posse_joint_info)`, set by the caller.
    pub struct_size: usize,
    /// The index of the parent, smaller than the index of the joint; `POSSE_NONE` for a root.
    pub parent: u32,
    /// The number of morph weights.
    pub weight_count: u32,
    /// The local translation in the rest pose.
    pub translation: [f32; 3],
    /// The local rotation in the rest pose, x y z w.
    pub rotation: [f32; 4],
    /// The local scale in the rest pose.
    pub scale: [f32; 3],
}

/// A joint of a skin.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct SkinJointInfo {
    /// `sizeof(posse_skin_joint_info)`, set by the caller.
    pub struct_size: usize,
    /// The index of the skin among the skins of the skeleton.
    pub skin: u32,
    /// The index of the joint in the skeleton.
    pub joint: u32,
    /// The matrix from the space of the mesh to the space of the joint in the bind pose: three rows of four numbers.
    pub inverse_bind: [f32; 12],
}

/// A clip.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct ClipInfo {
    /// `sizeof(posse_clip_info)`, set by the caller.
    pub struct_size: usize,
    /// The duration in seconds.
    pub duration: f64,
    /// The default rate: seconds of the clip per second of the crowd clock.
    pub speed: f64,
    /// The skeleton that it animates.
    pub skeleton: u32,
    /// The default behaviour at the ends: a `posse_wrap`.
    pub wrap: u32,
    /// The number of events.
    pub event_count: u32,
    /// 1 if it has root motion, else 0.
    pub has_root_motion: u32,
}

/// A ramp from 0 to 1 on the crowd clock. This struct never grows.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Fade {
    /// The tick at which it begins.
    pub start: Ticks,
    /// The length in ticks, 0 or more.
    pub length: Ticks,
    /// The shape: a `posse_fade_shape`. Without one, there is no fade.
    pub shape: u32,
    /// 0.
    pub reserved: u32,
}

/// A layer: a clip at work on an instance. `posse_layer_of` makes one that plays a clip as a loop with full weight.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Layer {
    /// `sizeof(posse_layer)`.
    pub struct_size: usize,
    /// The clip. It must animate the skeleton of the instance.
    pub clip: u32,
    /// How its time is given: a `posse_time`.
    pub time: u32,
    /// Playing: the tick at which the play begins. A mode that repeats has played for ever, so that a spread of starts is
    /// a spread of phases.
    pub start: Ticks,
    /// Playing: seconds of the clip per second of the crowd clock, from -1e4 to 1e4.
    pub rate: f64,
    /// Playing: passes until it stops; 0 for the count of the mode, which is 1 or infinite.
    pub repeat_count: f64,
    /// Playing: start and end of the played part of the clip in seconds; twice 0 for the whole clip.
    pub range: [f64; 2],
    /// Fixed: the time in seconds.
    pub seconds: f64,
    /// The weight, 0 or more.
    pub weight: f64,
    /// Playing, phase: the behaviour at the ends: a `posse_wrap`.
    pub wrap: u32,
    /// Phase: the index of the parameter.
    pub parameter: u32,
    /// Synced: the index of the layer that it follows.
    pub leader: u32,
    /// The way in which it joins the layers before it: a `posse_mode`.
    pub mode: u32,
    /// The mask, or `POSSE_NONE`.
    pub mask: u32,
    /// What drives its weight: a `posse_driver`.
    pub driver: u32,
    /// The knots or the blend space that drives it.
    pub driver_index: u32,
    /// The indices of the parameters of the driver.
    pub driver_parameters: [u32; 2],
    /// The point of the blend space.
    pub driver_point: u32,
    /// The ramp from 0 to the weight.
    pub fade_in: Fade,
    /// The ramp from the weight to 0.
    pub fade_out: Fade,
}

/// A transition. With 0 everywhere, it is inertial with a half-life of 0.1 s.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Transition {
    /// `sizeof(posse_transition)`.
    pub struct_size: usize,
    /// The time in seconds that sets the pace of the decay, more than 0; 0 for 0.1 s.
    pub half_life: f64,
    /// The length of a dead transition in seconds, more than 0.
    pub seconds: f64,
    /// The kind: a `posse_transition_kind`.
    pub kind: u32,
    /// 0.
    pub reserved: u32,
}

/// Joints of a skeleton that inverse kinematics rotates towards a target.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Chain {
    /// `sizeof(posse_chain)`.
    pub struct_size: usize,
    /// Two bones: the direction in model space to which the middle joint points; three times 0 leaves it in the plane
    /// of the pose. Aim: the direction in the joint's own space that rotates to the target.
    pub direction: [f64; 3],
    /// Aim: the largest rotation in radians; pi is no limit.
    pub limit: f64,
    /// The kind: a `posse_chain_kind`.
    pub kind: u32,
    /// The skeleton.
    pub skeleton: u32,
    /// The joints, each below the one before it.
    pub joints: [u32; 3],
    /// Two bones: 1 if the third joint keeps its model rotation, as a foot on the ground does, else 0.
    pub hold: u32,
}

/// A target for a chain of an instance. `posse_goal_of` makes one with weight 1.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Goal {
    /// `sizeof(posse_goal)`.
    pub struct_size: usize,
    /// The point in model space.
    pub target: [f64; 3],
    /// The weight, from 0 to 1.
    pub weight: f64,
    /// The chain. It must belong to the skeleton of the instance.
    pub chain: u32,
    /// The parameters that the point follows from instead; `POSSE_NONE` in the first for none.
    pub target_parameters: [u32; 3],
    /// The parameter that the weight follows from instead; `POSSE_NONE` for none.
    pub weight_parameter: u32,
    /// 0.
    pub reserved: u32,
}

/// Options of a crowd.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct CrowdOptions {
    /// `sizeof(posse_crowd_options)`.
    pub struct_size: usize,
    /// The outputs that the crowd computes: a sum of `POSSE_OUTPUT_` numbers.
    pub outputs: u32,
    /// The format of the skin matrices: a `posse_skin_format`.
    pub skin_format: u32,
    /// The number of instances per chunk; 0 for as many as have about 4096 joints.
    pub chunk_size: u32,
    /// 0.
    pub reserved: u32,
}

/// The size of a crowd.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct CrowdInfo {
    /// `sizeof(posse_crowd_info)`, set by the caller.
    pub struct_size: usize,
    /// The number of instances.
    pub instance_count: u32,
    /// The number of chunks.
    pub chunk_count: u32,
    /// The number of instances per chunk: chunk `c` has the instances from `c * chunk_size` on.
    pub chunk_size: u32,
    /// 0.
    pub reserved: u32,
}

/// The numbers per instance of a skeleton in each output; 0 for outputs that the crowd does not compute.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Layout {
    /// `sizeof(posse_layout)`, set by the caller.
    pub struct_size: usize,
    /// Of the local transforms.
    pub local: u32,
    /// Of the model matrices.
    pub model: u32,
    /// Of the skin matrices, one skin after the other.
    pub skin: u32,
    /// Of the morph weights and properties.
    pub values: u32,
    /// Of the root motion: 8.
    pub root_motion: u32,
    /// 0.
    pub reserved: u32,
}

/// Memory of the caller for one output of all instances. This struct never grows.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Output {
    /// The numbers of instance 0; the numbers of instance `i` begin at `i * stride`. Null if the output is not wanted.
    pub numbers: *mut f32,
    /// The number of numbers that the memory has.
    pub count: usize,
    /// The distance of two instances in numbers.
    pub stride: usize,
}

/// Memory of the caller for all outputs.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Outputs {
    /// `sizeof(posse_outputs)`.
    pub struct_size: usize,
    /// The arrangement of matrices and local transforms: a `posse_format`.
    pub format: u32,
    /// 0.
    pub reserved: u32,
    /// The local transforms.
    pub local: Output,
    /// The model matrices.
    pub model: Output,
    /// The skin matrices.
    pub skin: Output,
    /// The morph weights of all joints, then the numbers of all properties.
    pub values: Output,
    /// The root motion.
    pub root_motion: Output,
}

/// An event that a layer has reached. This struct never grows.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Event {
    /// The tick at which it was reached.
    pub tick: Ticks,
    /// The index of the instance.
    pub instance: u32,
    /// The index of the layer.
    pub layer: u32,
    /// The clip of the layer.
    pub clip: u32,
    /// The index of the event in the clip: `posse_library_name` has its name.
    pub event: u32,
}

/// Memory of the caller for events, and how many there are.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct EventList {
    /// `sizeof(posse_event_list)`.
    pub struct_size: usize,
    /// Memory for events; null if `capacity` is 0.
    pub events: *mut Event,
    /// The number of events that the memory has room for.
    pub capacity: usize,
    /// Set by the call: the number of events that it has written.
    pub count: usize,
    /// Set by the call: the number of events that had no room. The events of the first instances are written.
    pub missed: u64,
}

/// A pass of a frame on a device of the caller: a kernel of `posse kernels` with its bindings.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Parameters and leaders to times and weights of layers.
    Drive = 0,
    /// Ticks to the times of layers that play, and their key intervals.
    Play = 1,
    /// The parameters of goals to their targets and weights.
    Goals = 2,
    /// Layers to local transforms, model matrices, skin matrices and numbers.
    Pose = 3,
    /// The movement of each instance in the step.
    RootMotion = 4,
}

/// A buffer that kernels bind. `kernels.json` describes the records in it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// Of the library: indices, key times and records.
    Words = 0,
    /// Of the library: keys, rest poses, inverse bind matrices and channels.
    Values = 1,
    /// The step of the crowd clock: a `posse_frame`, which the caller writes before each frame.
    Frame = 2,
    /// The layers. Kernels write times into them.
    Layers = 3,
    /// What all instances of the batch share.
    Batch = 4,
    /// The drivers of the layers.
    Drives = 5,
    /// The size of the batch for the pass that drives layers.
    DriveBatch = 6,
    /// The parameters of all instances, `float`, which the caller writes.
    Parameters = 7,
    /// The parameters of the previous frame, which the caller copies here after each frame.
    ParametersBefore = 8,
    /// The goals of inverse kinematics.
    Goals = 9,
    /// The size of the batch for the pass that reads the parameters of goals.
    GoalBatch = 10,
    /// Displacements of transitions, and goals.
    Lists = 11,
    /// Output: local transforms, as `POSSE_FORMAT_ROWS3X4` has them.
    Local = 12,
    /// Output: model matrices, three rows of four `float`.
    Model = 13,
    /// Output: skin matrices, three rows of four `float`, or in the skin format of the crowd.
    Skin = 14,
    /// Output: morph weights, then properties.
    Numbers = 15,
    /// Output: root motion, 8 `float` per instance.
    RootMotion = 16,
}

/// The step of the crowd clock that kernels pose: the contents of `POSSE_BUFFER_FRAME`. `posse_frame_of` makes one. This
/// struct never grows.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Frame {
    /// The tick to pose.
    pub now: Ticks,
    /// The tick of the previous frame.
    pub from: Ticks,
    /// 0.
    pub reserved: [u32; 4],
}

/// The device for which a crowd is packed. With 0 everywhere, it has the limits of every device: bindings of 128 MiB and
/// 65535 workgroups.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct PackOptions {
    /// `sizeof(posse_pack_options)`.
    pub struct_size: usize,
    /// The largest storage buffer that a kernel can bind, in bytes; 0 for 128 MiB.
    pub max_binding_bytes: u64,
    /// The most workgroups of a dispatch in x and in y; 0 for 65535.
    pub max_groups_per_row: u32,
    /// 0.
    pub reserved: u32,
}

/// A batch: instances of one skeleton that one kernel poses.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct PackedBatch {
    /// `sizeof(posse_packed_batch)`, set by the caller.
    pub struct_size: usize,
    /// The skeleton.
    pub skeleton: u32,
    /// The number of instances.
    pub instance_count: u32,
    /// The number of dispatches of a frame.
    pub dispatch_count: u32,
    /// 0.
    pub reserved: u32,
}

/// A dispatch of a batch. Binding `i` of group 0 is the buffer `buffers[i]`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct PackedDispatch {
    /// `sizeof(posse_packed_dispatch)`, set by the caller.
    pub struct_size: usize,
    /// The pass: a `posse_pass`.
    pub pass: u32,
    /// The workgroups in x and y; 1 in z.
    pub groups: [u32; 2],
    /// The number of bindings.
    pub binding_count: u32,
    /// The buffer of each binding: a `posse_buffer`.
    pub buffers: [u32; 16],
    /// The access to each buffer: 0 storage that is read, 1 storage that is written, 2 a uniform.
    pub access: [u32; 16],
}

/// A buffer of a batch, or of the library.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct PackedBuffer {
    /// `sizeof(posse_packed_buffer)`, set by the caller.
    pub struct_size: usize,
    /// The size in bytes; 0 if no dispatch uses the buffer, in which case a dispatch that binds it can bind any other.
    pub bytes: u64,
    /// The bytes that `posse_packed_read` writes, for the beginning of the buffer; the rest begins as zeros.
    pub content_bytes: u64,
}
