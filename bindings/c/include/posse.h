// posse: crowds of animated characters on the CPU. Made of bindings/c/src by cbindgen; do not edit.
//
// Every call that returns a posse_status takes these arguments:
//
// * A handle is a key, not an address. A handle that was destroyed, is of another kind or was never made is an error.
// * A pointer is null or points to as much memory as the arguments beside it say, which no other thread writes during
//   the call. Null is an error unless the call says otherwise. Numbers are aligned as their type demands.
// * A struct begins with its size: struct_size is sizeof the struct, so that later versions can add fields.
// * A text is UTF-8 and ends with 0.
//
// All calls can be made from any thread at any time. Calls on one chunk of a crowd wait for each other.
//
// Seconds, metres, radians. Quaternions are x y z w. Matrices multiply columns from the left. Coordinates are right-handed
// with y up, as in glTF; FBX files are converted to this, BVH files keep their own unit and axes.

#ifndef POSSE_H
#define POSSE_H

#include <stddef.h>
#include <stdint.h>

// The version of the interface that the header describes: the upper 16 bits change if programs must be changed, the
// lower 16 bits count additions. A program runs with a library whose upper bits are equal and whose lower bits are
// equal or larger: `posse_abi_version`.
#define POSSE_ABI_VERSION 65536

// Ticks per second of the crowd clock.
#define POSSE_TICKS_PER_SECOND 1048576

// No index: a joint without a parent, a layer without a mask, clips of any skeleton.
#define POSSE_NONE 4294967295

// All chunks of a crowd, one after the other.
#define POSSE_ALL_CHUNKS 4294967295

// The most layers of an instance.
#define POSSE_MAX_LAYERS 8

// The most goals of an instance.
#define POSSE_MAX_GOALS 32

// The most parameters of an instance.
#define POSSE_MAX_PARAMETERS 16

// Local transforms: translation, rotation (x, y, z, w) and scale of each joint.
#define POSSE_OUTPUT_LOCAL 1

// Model matrices of all joints: `model(joint) = model(parent) * local(joint)`.
#define POSSE_OUTPUT_MODEL 2

// Skin matrices of the joints of all skins: `model(joint) * inverse_bind(joint)`.
#define POSSE_OUTPUT_SKIN 4

// Morph weights of all joints, the first part of the values.
#define POSSE_OUTPUT_WEIGHTS 8

// Properties, the second part of the values.
#define POSSE_OUTPUT_PROPERTIES 16

// The motion of each instance in the step: translation x y z, 1 if a clip has root motion and else 0, rotation x y z
// w, in the space of the parent of the root joint.
#define POSSE_OUTPUT_ROOT_MOTION 32

// The result of a call. `posse_error_text` has the reason of an error.
typedef enum posse_status {
  // The call succeeded.
  POSSE_STATUS_OK = 0,
  // An argument cannot be used: a null pointer, a number that is not finite or out of range, an unknown enumerator, a
  // struct of an unknown size.
  POSSE_STATUS_ARGUMENT = 1,
  // The handle is of another kind, destroyed, or was never made.
  POSSE_STATUS_HANDLE = 2,
  // There is no item of that index.
  POSSE_STATUS_INDEX = 3,
  // A buffer is too short or not aligned.
  POSSE_STATUS_BUFFER = 4,
  // A file cannot be read or used.
  POSSE_STATUS_FILE = 5,
  // A name selects no item, or several.
  POSSE_STATUS_NAME = 6,
  // More than a limit of the library.
  POSSE_STATUS_LIMIT = 7,
  // An error of the library itself: please report it.
  POSSE_STATUS_INTERNAL = 8,
} posse_status;

// The kinds of items that have names.
typedef enum posse_item {
  // A skeleton; without an owner.
  POSSE_ITEM_SKELETON = 0,
  // A clip. To find one among the clips of a skeleton, that skeleton is the owner; otherwise `POSSE_NONE`.
  POSSE_ITEM_CLIP = 1,
  // A joint; the owner is its skeleton.
  POSSE_ITEM_JOINT = 2,
  // An event; the owner is its clip. Its name is the name of the function to call.
  POSSE_ITEM_EVENT = 3,
  // A morph weight among the weights of all joints; the owner is the skeleton.
  POSSE_ITEM_WEIGHT = 4,
  // A property; the owner is the skeleton.
  POSSE_ITEM_PROPERTY = 5,
  // A warning about a file: what was repaired or left out; without an owner. Its name is its text.
  POSSE_ITEM_WARNING = 6,
  // A skin; the owner is its skeleton.
  POSSE_ITEM_SKIN = 7,
} posse_item;

// How the time of a layer in its clip is given.
typedef enum posse_time {
  // It follows from the crowd clock: `start`, `rate`, `wrap`, `repeat_count` and `range`.
  POSSE_TIME_PLAYING = 0,
  // It is `seconds`, whatever the clock shows.
  POSSE_TIME_FIXED = 1,
  // The parameter `parameter` of the instance counts cycles of the clip, in mode `wrap`.
  POSSE_TIME_PHASE = 2,
  // It follows from the time of the earlier layer `leader`: the same part of the clip, or of the way between sync
  // markers.
  POSSE_TIME_SYNCED = 3,
} posse_time;

// The behaviour at the ends of a clip.
typedef enum posse_wrap {
  // The mode of the clip.
  POSSE_WRAP_DEFAULT = 0,
  // Once from start to end.
  POSSE_WRAP_NORMAL = 1,
  // From start to end, repeatedly.
  POSSE_WRAP_LOOP = 2,
  // From start to end and back, repeatedly.
  POSSE_WRAP_PING_PONG = 3,
  // Once from end to start.
  POSSE_WRAP_REVERSE = 4,
  // From end to start, repeatedly.
  POSSE_WRAP_LOOP_REVERSE = 5,
  // From end to start and back, repeatedly.
  POSSE_WRAP_PING_PONG_REVERSE = 6,
} posse_wrap;

// The way in which a layer joins the layers before it.
typedef enum posse_mode {
  // The mean of all layers that blend, by weight.
  POSSE_MODE_BLEND = 0,
  // Interpolation from the pose below to the layer, by the weight.
  POSSE_MODE_OVERRIDE = 1,
  // The difference of the clip from its first frame is added to the pose below.
  POSSE_MODE_ADDITIVE = 2,
  // The difference of the clip from the rest pose is added to the pose below.
  POSSE_MODE_ADDITIVE_REST = 3,
} posse_mode;

// What drives the weight of a layer.
typedef enum posse_driver {
  // Nothing.
  POSSE_DRIVER_NONE = 0,
  // The knots `driver_index`, a function of the parameter `driver_parameters[0]`.
  POSSE_DRIVER_KNOTS = 1,
  // The share of the point `driver_point` of the blend space `driver_index`, at the position of two parameters.
  POSSE_DRIVER_POINT = 2,
} posse_driver;

// The shape of a fade.
typedef enum posse_fade_shape {
  // There is no fade.
  POSSE_FADE_SHAPE_NONE = 0,
  // Linear.
  POSSE_FADE_SHAPE_LINEAR = 1,
  // Slow at both ends.
  POSSE_FADE_SHAPE_SMOOTH = 2,
} posse_fade_shape;

// The kind of a transition.
typedef enum posse_transition_kind {
  // Inertialization: the difference of the two poses and of their speeds decays.
  POSSE_TRANSITION_KIND_INERTIAL = 0,
  // Dead blending: the old pose moves on with a speed that decays, and the new one takes over.
  POSSE_TRANSITION_KIND_DEAD = 1,
} posse_transition_kind;

// The kind of a chain of inverse kinematics.
typedef enum posse_chain_kind {
  // Two bones, such as a leg: `joints` are hip, knee and ankle.
  POSSE_CHAIN_KIND_TWO_BONE = 0,
  // One joint that looks at the target: `joints[0]`.
  POSSE_CHAIN_KIND_AIM = 1,
} posse_chain_kind;

// The arrangement of the numbers of an instance in an output.
typedef enum posse_format {
  // Matrices are three rows of four numbers, the translation in the last column: 12 numbers per joint. Local
  // transforms have 12 numbers: translation x y z, 0, rotation x y z w, scale x y z, 0.
  POSSE_FORMAT_ROWS3X4 = 0,
  // Matrices are four columns of four numbers, 16 per joint, as OpenGL and ozz-animation have them. Local transforms
  // are as in `POSSE_FORMAT_ROWS3X4`.
  POSSE_FORMAT_COLUMNS4X4 = 1,
  // Structure of arrays: number k of four joints lie side by side, then number k + 1. A group of four joints has 12
  // numbers each of matrices, in the order of `POSSE_FORMAT_ROWS3X4`, or 10 of local transforms: translation x y z,
  // rotation x y z w, scale x y z, as `SoaTransform` of ozz-animation. The last group is filled with identities.
  POSSE_FORMAT_SOA = 2,
} posse_format;

// The format of skin matrices.
typedef enum posse_skin_format {
  // 32-bit numbers, arranged as `posse_format` tells.
  POSSE_SKIN_FORMAT_MATRIX = 0,
  // Three rows of four 16-bit numbers: 6 words of 32 bits per joint, whatever the arrangement.
  POSSE_SKIN_FORMAT_HALF_MATRIX = 1,
  // A rotation of four normalised 16-bit numbers, a translation and a uniform scale: 6 words of 32 bits per joint,
  // whatever the arrangement.
  POSSE_SKIN_FORMAT_DUAL_QUATERNION = 2,
} posse_skin_format;

// A pass of a frame on a device of the caller: a kernel of `posse kernels` with its bindings.
typedef enum posse_pass {
  // Parameters and leaders to times and weights of layers.
  POSSE_PASS_DRIVE = 0,
  // Ticks to the times of layers that play, and their key intervals.
  POSSE_PASS_PLAY = 1,
  // The parameters of goals to their targets and weights.
  POSSE_PASS_GOALS = 2,
  // Layers to local transforms, model matrices, skin matrices and numbers.
  POSSE_PASS_POSE = 3,
  // The movement of each instance in the step.
  POSSE_PASS_ROOT_MOTION = 4,
} posse_pass;

// A buffer that kernels bind. `kernels.json` describes the records in it.
typedef enum posse_buffer {
  // Of the library: indices, key times and records.
  POSSE_BUFFER_WORDS = 0,
  // Of the library: keys, rest poses, inverse bind matrices and channels.
  POSSE_BUFFER_VALUES = 1,
  // The step of the crowd clock: a `posse_frame`, which the caller writes before each frame.
  POSSE_BUFFER_FRAME = 2,
  // The layers. Kernels write times into them.
  POSSE_BUFFER_LAYERS = 3,
  // What all instances of the batch share.
  POSSE_BUFFER_BATCH = 4,
  // The drivers of the layers.
  POSSE_BUFFER_DRIVES = 5,
  // The size of the batch for the pass that drives layers.
  POSSE_BUFFER_DRIVE_BATCH = 6,
  // The parameters of all instances, `float`, which the caller writes.
  POSSE_BUFFER_PARAMETERS = 7,
  // The parameters of the previous frame, which the caller copies here after each frame.
  POSSE_BUFFER_PARAMETERS_BEFORE = 8,
  // The goals of inverse kinematics.
  POSSE_BUFFER_GOALS = 9,
  // The size of the batch for the pass that reads the parameters of goals.
  POSSE_BUFFER_GOAL_BATCH = 10,
  // Displacements of transitions, and goals.
  POSSE_BUFFER_LISTS = 11,
  // Output: local transforms, as `POSSE_FORMAT_ROWS3X4` has them.
  POSSE_BUFFER_LOCAL = 12,
  // Output: model matrices, three rows of four `float`.
  POSSE_BUFFER_MODEL = 13,
  // Output: skin matrices, three rows of four `float`, or in the skin format of the crowd.
  POSSE_BUFFER_SKIN = 14,
  // Output: morph weights, then properties.
  POSSE_BUFFER_NUMBERS = 15,
  // Output: root motion, 8 `float` per instance.
  POSSE_BUFFER_ROOT_MOTION = 16,
} posse_buffer;

// Opaque: instances with layers, and the CPU engine that poses them.
typedef struct posse_crowd posse_crowd;

// Opaque: skeletons, skins, clips and masks.
typedef struct posse_library posse_library;

// Opaque: the buffers and dispatches of a crowd, for kernels on a device of the caller.
typedef struct posse_packed posse_packed;

// A point in time or a duration on the crowd clock, in ticks of 2^-20 s.
typedef int64_t posse_ticks;

// Options of a crowd.
typedef struct posse_crowd_options {
  // `sizeof(posse_crowd_options)`.
  size_t struct_size;
  // The outputs that the crowd computes: a sum of `POSSE_OUTPUT_` numbers.
  uint32_t outputs;
  // The format of the skin matrices: a `posse_skin_format`.
  uint32_t skin_format;
  // The number of instances per chunk; 0 for as many as have about 4096 joints.
  uint32_t chunk_size;
  // 0.
  uint32_t reserved;
} posse_crowd_options;

// A ramp from 0 to 1 on the crowd clock. This struct never grows.
typedef struct posse_fade {
  // The tick at which it begins.
  posse_ticks start;
  // The length in ticks, 0 or more.
  posse_ticks length;
  // The shape: a `posse_fade_shape`. Without one, there is no fade.
  uint32_t shape;
  // 0.
  uint32_t reserved;
} posse_fade;

// A layer: a clip at work on an instance. `posse_layer_of` makes one that plays a clip as a loop with full weight.
typedef struct posse_layer {
  // `sizeof(posse_layer)`.
  size_t struct_size;
  // The clip. It must animate the skeleton of the instance.
  uint32_t clip;
  // How its time is given: a `posse_time`.
  uint32_t time;
  // Playing: the tick at which the play begins. A mode that repeats has played for ever, so that a spread of starts is
  // a spread of phases.
  posse_ticks start;
  // Playing: seconds of the clip per second of the crowd clock, from -1e4 to 1e4.
  double rate;
  // Playing: passes until it stops; 0 for the count of the mode, which is 1 or infinite.
  double repeat_count;
  // Playing: start and end of the played part of the clip in seconds; twice 0 for the whole clip.
  double range[2];
  // Fixed: the time in seconds.
  double seconds;
  // The weight, 0 or more.
  double weight;
  // Playing, phase: the behaviour at the ends: a `posse_wrap`.
  uint32_t wrap;
  // Phase: the index of the parameter.
  uint32_t parameter;
  // Synced: the index of the layer that it follows.
  uint32_t leader;
  // The way in which it joins the layers before it: a `posse_mode`.
  uint32_t mode;
  // The mask, or `POSSE_NONE`.
  uint32_t mask;
  // What drives its weight: a `posse_driver`.
  uint32_t driver;
  // The knots or the blend space that drives it.
  uint32_t driver_index;
  // The indices of the parameters of the driver.
  uint32_t driver_parameters[2];
  // The point of the blend space.
  uint32_t driver_point;
  // The ramp from 0 to the weight.
  struct posse_fade fade_in;
  // The ramp from the weight to 0.
  struct posse_fade fade_out;
} posse_layer;

// A target for a chain of an instance. `posse_goal_of` makes one with weight 1.
typedef struct posse_goal {
  // `sizeof(posse_goal)`.
  size_t struct_size;
  // The point in model space.
  double target[3];
  // The weight, from 0 to 1.
  double weight;
  // The chain. It must belong to the skeleton of the instance.
  uint32_t chain;
  // The parameters that the point follows from instead; `POSSE_NONE` in the first for none.
  uint32_t target_parameters[3];
  // The parameter that the weight follows from instead; `POSSE_NONE` for none.
  uint32_t weight_parameter;
  // 0.
  uint32_t reserved;
} posse_goal;

// A transition. With 0 everywhere, it is inertial with a half-life of 0.1 s.
typedef struct posse_transition {
  // `sizeof(posse_transition)`.
  size_t struct_size;
  // The time in seconds that sets the pace of the decay, more than 0; 0 for 0.1 s.
  double half_life;
  // The length of a dead transition in seconds, more than 0.
  double seconds;
  // The kind: a `posse_transition_kind`.
  uint32_t kind;
  // 0.
  uint32_t reserved;
} posse_transition;

// Memory of the caller for one output of all instances. This struct never grows.
typedef struct posse_output {
  // The numbers of instance 0; the numbers of instance `i` begin at `i * stride`. Null if the output is not wanted.
  float *numbers;
  // The number of numbers that the memory has.
  size_t count;
  // The distance of two instances in numbers.
  size_t stride;
} posse_output;

// Memory of the caller for all outputs.
typedef struct posse_outputs {
  // `sizeof(posse_outputs)`.
  size_t struct_size;
  // The arrangement of matrices and local transforms: a `posse_format`.
  uint32_t format;
  // 0.
  uint32_t reserved;
  // The local transforms.
  struct posse_output local;
  // The model matrices.
  struct posse_output model;
  // The skin matrices.
  struct posse_output skin;
  // The morph weights of all joints, then the numbers of all properties.
  struct posse_output values;
  // The root motion.
  struct posse_output root_motion;
} posse_outputs;

// An event that a layer has reached. This struct never grows.
typedef struct posse_event {
  // The tick at which it was reached.
  posse_ticks tick;
  // The index of the instance.
  uint32_t instance;
  // The index of the layer.
  uint32_t layer;
  // The clip of the layer.
  uint32_t clip;
  // The index of the event in the clip: `posse_library_name` has its name.
  uint32_t event;
} posse_event;

// Memory of the caller for events, and how many there are.
typedef struct posse_event_list {
  // `sizeof(posse_event_list)`.
  size_t struct_size;
  // Memory for events; null if `capacity` is 0.
  struct posse_event *events;
  // The number of events that the memory has room for.
  size_t capacity;
  // Set by the call: the number of events that it has written.
  size_t count;
  // Set by the call: the number of events that had no room. The events of the first instances are written.
  uint64_t missed;
} posse_event_list;

// The size of a crowd.
typedef struct posse_crowd_info {
  // `sizeof(posse_crowd_info)`, set by the caller.
  size_t struct_size;
  // The number of instances.
  uint32_t instance_count;
  // The number of chunks.
  uint32_t chunk_count;
  // The number of instances per chunk: chunk `c` has the instances from `c * chunk_size` on.
  uint32_t chunk_size;
  // 0.
  uint32_t reserved;
} posse_crowd_info;

// The numbers per instance of a skeleton in each output; 0 for outputs that the crowd does not compute.
typedef struct posse_layout {
  // `sizeof(posse_layout)`, set by the caller.
  size_t struct_size;
  // Of the local transforms.
  uint32_t local;
  // Of the model matrices.
  uint32_t model;
  // Of the skin matrices, one skin after the other.
  uint32_t skin;
  // Of the morph weights and properties.
  uint32_t values;
  // Of the root motion: 8.
  uint32_t root_motion;
  // 0.
  uint32_t reserved;
} posse_layout;

// Options of `posse_library_load_file` and `posse_library_load_memory`. With 0 everywhere, they are the defaults.
typedef struct posse_load_options {
  // `sizeof(posse_load_options)`.
  size_t struct_size;
  // The frames per second of a BVH file; 0 for the rate of the file.
  double fps;
  // The skeleton whose joints a clip of Cocos Creator moves.
  uint32_t skeleton;
  // 0.
  uint32_t reserved;
} posse_load_options;

// What a file has added to a library.
typedef struct posse_loaded {
  // `sizeof(posse_loaded)`, set by the caller.
  size_t struct_size;
  // The index of the first new skeleton.
  uint32_t first_skeleton;
  // The number of new skeletons: 1, or 0 for a clip of Cocos Creator.
  uint32_t skeleton_count;
  // The index of the first new clip.
  uint32_t first_clip;
  // The number of new clips.
  uint32_t clip_count;
  // The index of the first new warning.
  uint32_t first_warning;
  // The number of new warnings: what was repaired or left out.
  uint32_t warning_count;
} posse_loaded;

// Joints of a skeleton that inverse kinematics rotates towards a target.
typedef struct posse_chain {
  // `sizeof(posse_chain)`.
  size_t struct_size;
  // Two bones: the direction in model space to which the middle joint points; three times 0 leaves it in the plane
  // of the pose. Aim: the direction in the joint's own space that rotates to the target.
  double direction[3];
  // Aim: the largest rotation in radians; pi is no limit.
  double limit;
  // The kind: a `posse_chain_kind`.
  uint32_t kind;
  // The skeleton.
  uint32_t skeleton;
  // The joints, each below the one before it.
  uint32_t joints[3];
  // Two bones: 1 if the third joint keeps its model rotation, as a foot on the ground does, else 0.
  uint32_t hold;
} posse_chain;

// The numbers of items of a library.
typedef struct posse_library_info {
  // `sizeof(posse_library_info)`, set by the caller.
  size_t struct_size;
  // The number of skeletons.
  uint32_t skeleton_count;
  // The number of clips.
  uint32_t clip_count;
  // The number of masks.
  uint32_t mask_count;
  // The number of warnings of all files.
  uint32_t warning_count;
} posse_library_info;

// A skeleton.
typedef struct posse_skeleton_info {
  // `sizeof(posse_skeleton_info)`, set by the caller.
  size_t struct_size;
  // The number of joints, parents before children.
  uint32_t joint_count;
  // The number of skins.
  uint32_t skin_count;
  // The number of joints of all skins together: as many as skin matrices.
  uint32_t skin_joint_count;
  // The number of morph weights of all joints.
  uint32_t weight_count;
  // The number of properties.
  uint32_t property_count;
  // The number of numbers of all properties.
  uint32_t property_width;
} posse_skeleton_info;

// A joint.
typedef struct posse_joint_info {
  // `sizeof(posse_joint_info)`, set by the caller.
  size_t struct_size;
  // The index of the parent, smaller than the index of the joint; `POSSE_NONE` for a root.
  uint32_t parent;
  // The number of morph weights.
  uint32_t weight_count;
  // The local translation in the rest pose.
  float translation[3];
  // The local rotation in the rest pose, x y z w.
  float rotation[4];
  // The local scale in the rest pose.
  float scale[3];
} posse_joint_info;

// A joint of a skin.
typedef struct posse_skin_joint_info {
  // `sizeof(posse_skin_joint_info)`, set by the caller.
  size_t struct_size;
  // The index of the skin among the skins of the skeleton.
  uint32_t skin;
  // The index of the joint in the skeleton.
  uint32_t joint;
  // The matrix from the space of the mesh to the space of the joint in the bind pose: three rows of four numbers.
  float inverse_bind[12];
} posse_skin_joint_info;

// A clip.
typedef struct posse_clip_info {
  // `sizeof(posse_clip_info)`, set by the caller.
  size_t struct_size;
  // The duration in seconds.
  double duration;
  // The default rate: seconds of the clip per second of the crowd clock.
  double speed;
  // The skeleton that it animates.
  uint32_t skeleton;
  // The default behaviour at the ends: a `posse_wrap`.
  uint32_t wrap;
  // The number of events.
  uint32_t event_count;
  // 1 if it has root motion, else 0.
  uint32_t has_root_motion;
} posse_clip_info;

// The device for which a crowd is packed. With 0 everywhere, it has the limits of every device: bindings of 128 MiB and
// 65535 workgroups.
typedef struct posse_pack_options {
  // `sizeof(posse_pack_options)`.
  size_t struct_size;
  // The largest storage buffer that a kernel can bind, in bytes; 0 for 128 MiB.
  uint64_t max_binding_bytes;
  // The most workgroups of a dispatch in x and in y; 0 for 65535.
  uint32_t max_groups_per_row;
  // 0.
  uint32_t reserved;
} posse_pack_options;

// A batch: instances of one skeleton that one kernel poses.
typedef struct posse_packed_batch {
  // `sizeof(posse_packed_batch)`, set by the caller.
  size_t struct_size;
  // The skeleton.
  uint32_t skeleton;
  // The number of instances.
  uint32_t instance_count;
  // The number of dispatches of a frame.
  uint32_t dispatch_count;
  // 0.
  uint32_t reserved;
} posse_packed_batch;

// A dispatch of a batch. Binding `i` of group 0 is the buffer `buffers[i]`.
typedef struct posse_packed_dispatch {
  // `sizeof(posse_packed_dispatch)`, set by the caller.
  size_t struct_size;
  // The pass: a `posse_pass`.
  uint32_t pass;
  // The workgroups in x and y; 1 in z.
  uint32_t groups[2];
  // The number of bindings.
  uint32_t binding_count;
  // The buffer of each binding: a `posse_buffer`.
  uint32_t buffers[16];
  // The access to each buffer: 0 storage that is read, 1 storage that is written, 2 a uniform.
  uint32_t access[16];
} posse_packed_dispatch;

// A buffer of a batch, or of the library.
typedef struct posse_packed_buffer {
  // `sizeof(posse_packed_buffer)`, set by the caller.
  size_t struct_size;
  // The size in bytes; 0 if no dispatch uses the buffer, in which case a dispatch that binds it can bind any other.
  uint64_t bytes;
  // The bytes that `posse_packed_read` writes, for the beginning of the buffer; the rest begins as zeros.
  uint64_t content_bytes;
} posse_packed_buffer;

// The step of the crowd clock that kernels pose: the contents of `POSSE_BUFFER_FRAME`. `posse_frame_of` makes one. This
// struct never grows.
typedef struct posse_frame {
  // The tick to pose.
  posse_ticks now;
  // The tick of the previous frame.
  posse_ticks from;
  // 0.
  uint32_t reserved[4];
} posse_frame;



#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the interface of this library, to be compared with `POSSE_ABI_VERSION` of the header:
// `posse_abi_version() >> 16 == POSSE_ABI_VERSION >> 16 && posse_abi_version() >= POSSE_ABI_VERSION`.
uint32_t posse_abi_version(void);

// Returns the version of posse, for people: a text that lasts as long as the program.
const char *posse_version(void);

// Returns the reason of the last error of the calling thread, in UTF-8; empty if no call of it has failed. The text lasts
// until the next call that fails on this thread.
const char *posse_error_text(void);

// Returns the tick nearest to a time in seconds. Beyond the range of ticks it is the last one; for NaN it is 0.
posse_ticks posse_ticks_of(double seconds);

// Makes a crowd without instances. It keeps the library as it is now: what is added to the library later is not there
// for its instances.
enum posse_status posse_crowd_create(const struct posse_library *library,
                                     const struct posse_crowd_options *options,
                                     struct posse_crowd **crowd);

// Destroys a crowd. Null is no error.
enum posse_status posse_crowd_destroy(struct posse_crowd *crowd);

// Adds an instance of a skeleton, and gives its index. Without layers it stands in the rest pose.
enum posse_status posse_crowd_add(struct posse_crowd *crowd,
                                  uint32_t skeleton,
                                  const struct posse_layer *layers,
                                  uint32_t layer_count,
                                  uint32_t *instance);

// Replaces the layers of an instance. A transition ends; the parameters and goals of the instance stay.
enum posse_status posse_crowd_set_layers(struct posse_crowd *crowd,
                                         uint32_t instance,
                                         const struct posse_layer *layers,
                                         uint32_t layer_count);

// Fades an instance to another layer between two ticks: its layers that blend fade out smoothly, and the new one, which
// must blend, fades in. Layers that override or add stay. Layers that have faded out at the start are dropped, so that an
// instance that changes again and again has few. A transition ends. The leader of `into` is an index among the layers as
// they were.
enum posse_status posse_crowd_cross_fade(struct posse_crowd *crowd,
                                         uint32_t instance,
                                         const struct posse_layer *into,
                                         posse_ticks start,
                                         posse_ticks end);

// Replaces the goals of an instance, at most `POSSE_MAX_GOALS`. They act in order, after the layers and a transition, each
// on the pose that the one before left.
enum posse_status posse_crowd_set_goals(struct posse_crowd *crowd,
                                        uint32_t instance,
                                        const struct posse_goal *goals,
                                        uint32_t goal_count);

// Begins a transition of an instance to other layers at a tick, from the pose that it shows then, without a jump and
// without playing the old layers on. It may interrupt a transition. `transition` can be null: inertialization with a
// half-life of 0.1 s. At ticks before the start, the crowd shows the instance as at the start.
enum posse_status posse_crowd_begin_transition(struct posse_crowd *crowd,
                                               uint32_t instance,
                                               const struct posse_layer *layers,
                                               uint32_t layer_count,
                                               const struct posse_transition *transition,
                                               posse_ticks start);

// Sets the parameters of `instance_count` instances from `first_instance` on for the next frame: `count` values each,
// instance after instance.
enum posse_status posse_crowd_set_parameters(struct posse_crowd *crowd,
                                             uint32_t first_instance,
                                             uint32_t instance_count,
                                             const float *values,
                                             uint32_t count);

// Poses the instances of a chunk at the tick `to`, and writes their outputs to the memory of the caller. Root motion is
// that from `from` to `to`. `POSSE_ALL_CHUNKS` poses all chunks, one after the other.
//
// Threads can pose different chunks of a crowd at the same time. A frame without changes of layers allocates nothing
// once each thread has posed a chunk. On an error, the content of the memory is not defined.
enum posse_status posse_crowd_pose(struct posse_crowd *crowd,
                                   uint32_t chunk,
                                   posse_ticks from,
                                   posse_ticks to,
                                   const struct posse_outputs *outputs);

// Writes the events that layers of a chunk reach after the tick `from`, up to the tick `to`, ordered by tick, to the
// memory that `list` names, and sets the counts of the list. `POSSE_ALL_CHUNKS` means all instances.
//
// Ask for the events of a step before its pose if a parameter is the time of a layer: a pose ends the step of parameters.
enum posse_status posse_crowd_events(struct posse_crowd *crowd,
                                     uint32_t chunk,
                                     posse_ticks from,
                                     posse_ticks to,
                                     struct posse_event_list *list);

// Writes the model matrix of a joint of one instance at a tick: three rows of four numbers. The poses of the crowd stay
// as they are.
enum posse_status posse_crowd_get_joint(struct posse_crowd *crowd,
                                        uint32_t instance,
                                        uint32_t joint,
                                        posse_ticks now,
                                        float *matrix);

// Writes the size of a crowd.
enum posse_status posse_crowd_get_info(const struct posse_crowd *crowd, struct posse_crowd_info *info);

// Writes how many numbers an instance of a skeleton has in each output. `format` is a `posse_format`.
enum posse_status posse_crowd_get_layout(const struct posse_crowd *crowd,
                                         uint32_t skeleton,
                                         uint32_t format,
                                         struct posse_layout *layout);

// Makes an empty library.
enum posse_status posse_library_create(struct posse_library **library);

// Destroys a library. Its crowds keep what they need of it. Null is no error.
enum posse_status posse_library_destroy(struct posse_library *library);

// Reads a file into a library: glTF (.glb, .gltf, .vrm), FBX, BVH, or a clip of Cocos Creator. The content tells the
// format. `options` and `loaded` can be null. If the file cannot be used, the library stays as it is.
enum posse_status posse_library_load_file(struct posse_library *library,
                                          const char *path,
                                          const struct posse_load_options *options,
                                          struct posse_loaded *loaded);

// Reads the bytes of a file into a library, as `posse_library_load_file`. `name` stands for the file in names and errors;
// it is not opened. A .gltf file must have its buffers within itself.
enum posse_status posse_library_load_memory(struct posse_library *library,
                                            const char *name,
                                            const uint8_t *bytes,
                                            size_t size,
                                            const struct posse_load_options *options,
                                            struct posse_loaded *loaded);

// Gives a clip to another skeleton, by the names of joints, and adds the new clip. Tracks without a joint of their name
// are left out, with a warning. Values are not adapted.
enum posse_status posse_library_share_clip(struct posse_library *library,
                                           uint32_t clip,
                                           uint32_t skeleton,
                                           uint32_t *new_clip);

// Sets the joint of a clip whose movement over the ground moves the instance, and is taken out of its pose: along the
// two horizontal axes, and about the vertical one. `POSSE_NONE` removes it.
enum posse_status posse_library_set_root_motion(struct posse_library *library, uint32_t clip, uint32_t joint);

// Adds a mask: one weight per joint of a skeleton, 0 or more.
enum posse_status posse_library_add_mask(struct posse_library *library,
                                         uint32_t skeleton,
                                         const float *weights,
                                         size_t count,
                                         uint32_t *mask);

// Adds a chain: joints that inverse kinematics rotates.
enum posse_status posse_library_add_chain(struct posse_library *library,
                                          const struct posse_chain *chain,
                                          uint32_t *index);

// Adds knots: a weight as a function of a parameter, linear between `count` pairs of a value and a weight. The values
// increase.
enum posse_status posse_library_add_knots(struct posse_library *library,
                                          const float *pairs,
                                          size_t count,
                                          uint32_t *knots);

// Adds a blend space of `count` points, pairs of x and y, which are joined to triangles.
enum posse_status posse_library_add_blend_space(struct posse_library *library,
                                                const float *points,
                                                size_t count,
                                                uint32_t *blend_space);

// Finds the only item that a text selects: its name; of clips and joints also `NAME#K`, the K-th of that name, and `#I`,
// the index; of joints also the end of a path such as `Armature/Hips`. `kind` is a `posse_item`, which tells what the
// owner is.
enum posse_status posse_library_find(const struct posse_library *library,
                                     uint32_t kind,
                                     uint32_t owner,
                                     const char *text,
                                     uint32_t *index);

// Writes the name of an item in UTF-8, with a 0 at its end, to a buffer of `capacity` bytes. `kind` is a `posse_item`,
// which tells what the owner is. `length` gets the number of bytes without the 0, also if the buffer is too short; it can
// be null. To ask for the length alone, let the buffer be null and its capacity 0.
enum posse_status posse_library_name(const struct posse_library *library,
                                     uint32_t kind,
                                     uint32_t owner,
                                     uint32_t index,
                                     char *buffer,
                                     size_t capacity,
                                     size_t *length);

// Writes the numbers of items of a library.
enum posse_status posse_library_get_info(const struct posse_library *library, struct posse_library_info *info);

// Writes what a skeleton has.
enum posse_status posse_library_get_skeleton(const struct posse_library *library,
                                             uint32_t skeleton,
                                             struct posse_skeleton_info *info);

// Writes what a joint has.
enum posse_status posse_library_get_joint(const struct posse_library *library,
                                          uint32_t skeleton,
                                          uint32_t joint,
                                          struct posse_joint_info *info);

// Writes what a joint of the skins of a skeleton has. `index` counts skin matrices: the skins of a skeleton follow one
// another, each with its joints in the order to which the vertices of its mesh refer.
enum posse_status posse_library_get_skin_joint(const struct posse_library *library,
                                               uint32_t skeleton,
                                               uint32_t index,
                                               struct posse_skin_joint_info *info);

// Writes what a clip has.
enum posse_status posse_library_get_clip(const struct posse_library *library,
                                         uint32_t clip,
                                         struct posse_clip_info *info);

// Writes the time of an event in its clip, in seconds.
enum posse_status posse_library_get_event(const struct posse_library *library,
                                          uint32_t clip,
                                          uint32_t event,
                                          double *seconds);

// Packs the instances of a crowd, as they are now, for the kernels that the command `posse kernels` writes, on a device of
// the caller: Vulkan, Metal, Direct3D 12 or WebGPU. docs/kernels.md describes it. `options` can be null. The packed crowd
// does not change with the crowd; `batch_count` gets the number of its batches.
enum posse_status posse_packed_create(const struct posse_crowd *crowd,
                                      const struct posse_pack_options *options,
                                      struct posse_packed **packed,
                                      uint32_t *batch_count);

// Destroys a packed crowd. Null is no error.
enum posse_status posse_packed_destroy(struct posse_packed *packed);

// Writes what a batch has.
enum posse_status posse_packed_get_batch(const struct posse_packed *packed,
                                         uint32_t batch,
                                         struct posse_packed_batch *info);

// Writes the index in the crowd of each instance of a batch, in the order of its buffers: instance `i` of the batch has its
// outputs at `i` times the numbers of `posse_crowd_get_layout`.
enum posse_status posse_packed_get_instances(const struct posse_packed *packed,
                                             uint32_t batch,
                                             uint32_t *instances,
                                             size_t capacity);

// Writes a dispatch of a batch. A frame has them in order, each after the writes of the one before it.
enum posse_status posse_packed_get_dispatch(const struct posse_packed *packed,
                                            uint32_t batch,
                                            uint32_t dispatch,
                                            struct posse_packed_dispatch *info);

// Writes the name of the kernel of a dispatch: its file without the extension, as `posse_library_name` writes names.
// Kernels of another version of posse or of a library of other features have other names or meanings: write them for
// this library, by the command of the same version.
enum posse_status posse_packed_kernel(const struct posse_packed *packed,
                                      uint32_t batch,
                                      uint32_t dispatch,
                                      char *buffer,
                                      size_t capacity,
                                      size_t *length);

// Writes the sizes of a buffer of a batch. `buffer` is a `posse_buffer`. Buffers of the library are the same for all
// batches of all crowds of the library.
enum posse_status posse_packed_get_buffer(const struct posse_packed *packed,
                                          uint32_t batch,
                                          uint32_t buffer,
                                          struct posse_packed_buffer *info);

// Writes the contents of a buffer, `content_bytes` of `posse_packed_get_buffer`, for example to mapped memory of the device.
enum posse_status posse_packed_read(const struct posse_packed *packed,
                                    uint32_t batch,
                                    uint32_t buffer,
                                    uint8_t *contents,
                                    size_t capacity);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* POSSE_H */

#ifndef POSSE_INLINE_H
#define POSSE_INLINE_H

#ifdef __cplusplus
extern "C" {
#endif

/// A layer that plays a clip as a loop, at rate 1, with full weight. Change what should be different.
static inline posse_layer posse_layer_of(uint32_t clip) {
  posse_layer layer;
  unsigned char *bytes = (unsigned char *)&layer;
  size_t at;
  for (at = 0; at < sizeof layer; ++at) bytes[at] = 0;
  layer.struct_size = sizeof layer;
  layer.clip = clip;
  layer.time = POSSE_TIME_PLAYING;
  layer.rate = 1.0;
  layer.wrap = POSSE_WRAP_LOOP;
  layer.weight = 1.0;
  layer.mask = POSSE_NONE;
  return layer;
}

/// A goal with weight 1 for a chain at a point in model space.
static inline posse_goal posse_goal_of(uint32_t chain, double x, double y, double z) {
  posse_goal goal;
  goal.struct_size = sizeof goal;
  goal.target[0] = x;
  goal.target[1] = y;
  goal.target[2] = z;
  goal.weight = 1.0;
  goal.chain = chain;
  goal.target_parameters[0] = goal.target_parameters[1] = goal.target_parameters[2] = POSSE_NONE;
  goal.weight_parameter = POSSE_NONE;
  goal.reserved = 0;
  return goal;
}

/// The step of the crowd clock from one tick to another, for kernels. The byte order of the machine must be little endian,
/// as that of graphics devices is.
static inline posse_frame posse_frame_of(posse_ticks from, posse_ticks now) {
  posse_frame frame;
  frame.now = now;
  frame.from = from;
  frame.reserved[0] = frame.reserved[1] = frame.reserved[2] = frame.reserved[3] = 0;
  return frame;
}

#ifdef __cplusplus
}
#endif

#endif
