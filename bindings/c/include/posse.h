#ifndef POSSE_H
#define POSSE_H
#include <stddef.h>
#include <stdint.h>
#define POSSE_ABI_VERSION 65536
#define POSSE_TICKS_PER_SECOND 1048576
#define POSSE_NONE 4294967295
#define POSSE_ALL_CHUNKS 4294967295
#define POSSE_MAX_LAYERS 8
#define POSSE_MAX_GOALS 32
#define POSSE_MAX_PARAMETERS 16
#define POSSE_OUTPUT_LOCAL 1
#define POSSE_OUTPUT_MODEL 2
#define POSSE_OUTPUT_SKIN 4
#define POSSE_OUTPUT_WEIGHTS 8
#define POSSE_OUTPUT_PROPERTIES 16
#define POSSE_OUTPUT_ROOT_MOTION 32
typedef int64_t posse_ticks;
typedef struct posse_library posse_library;
typedef struct posse_crowd posse_crowd;
typedef enum posse_status { POSSE_STATUS_OK = 0, POSSE_STATUS_ARGUMENT = 1, POSSE_STATUS_HANDLE = 2, POSSE_STATUS_INDEX = 3, POSSE_STATUS_BUFFER = 4, POSSE_STATUS_FILE = 5, POSSE_STATUS_NAME = 6, POSSE_STATUS_LIMIT = 7, POSSE_STATUS_INTERNAL = 8 } posse_status;
typedef enum posse_item { POSSE_ITEM_SKELETON = 0, POSSE_ITEM_CLIP = 1, POSSE_ITEM_JOINT = 2, POSSE_ITEM_EVENT = 3, POSSE_ITEM_WEIGHT = 4, POSSE_ITEM_PROPERTY = 5, POSSE_ITEM_WARNING = 6 } posse_item;
typedef enum posse_time { POSSE_TIME_PLAYING = 0, POSSE_TIME_FIXED = 1, POSSE_TIME_PHASE = 2, POSSE_TIME_SYNCED = 3 } posse_time;
typedef enum posse_wrap { POSSE_WRAP_DEFAULT = 0, POSSE_WRAP_NORMAL = 1, POSSE_WRAP_LOOP = 2, POSSE_WRAP_PING_PONG = 3, POSSE_WRAP_REVERSE = 4, POSSE_WRAP_LOOP_REVERSE = 5, POSSE_WRAP_PING_PONG_REVERSE = 6 } posse_wrap;
typedef enum posse_mode { POSSE_MODE_BLEND = 0, POSSE_MODE_OVERRIDE = 1, POSSE_MODE_ADDITIVE = 2, POSSE_MODE_ADDITIVE_REST = 3 } posse_mode;
typedef enum posse_driver { POSSE_DRIVER_NONE = 0, POSSE_DRIVER_KNOTS = 1, POSSE_DRIVER_POINT = 2 } posse_driver;
typedef enum posse_fade_shape { POSSE_FADE_SHAPE_NONE = 0, POSSE_FADE_SHAPE_LINEAR = 1, POSSE_FADE_SHAPE_SMOOTH = 2 } posse_fade_shape;
typedef enum posse_transition_kind { POSSE_TRANSITION_KIND_INERTIAL = 0, POSSE_TRANSITION_KIND_DEAD = 1 } posse_transition_kind;
typedef enum posse_chain_kind { POSSE_CHAIN_KIND_TWO_BONE = 0, POSSE_CHAIN_KIND_AIM = 1 } posse_chain_kind;
typedef enum posse_format { POSSE_FORMAT_ROWS3X4 = 0, POSSE_FORMAT_COLUMNS4X4 = 1, POSSE_FORMAT_SOA = 2 } posse_format;
typedef enum posse_skin_format { POSSE_SKIN_FORMAT_MATRIX = 0, POSSE_SKIN_FORMAT_HALF_MATRIX = 1, POSSE_SKIN_FORMAT_DUAL_QUATERNION = 2 } posse_skin_format;
typedef struct posse_load_options {
  size_t struct_size;
  double fps;
  uint32_t skeleton;
  uint32_t reserved;
} posse_load_options;
typedef struct posse_loaded {
  size_t struct_size;
  uint32_t first_skeleton;
  uint32_t skeleton_count;
  uint32_t first_clip;
  uint32_t clip_count;
  uint32_t first_warning;
  uint32_t warning_count;
} posse_loaded;
typedef struct posse_library_info {
  size_t struct_size;
  uint32_t skeleton_count;
  uint32_t clip_count;
  uint32_t mask_count;
  uint32_t warning_count;
} posse_library_info;
typedef struct posse_skeleton_info {
  size_t struct_size;
  uint32_t joint_count;
  uint32_t skin_count;
  uint32_t skin_joint_count;
  uint32_t weight_count;
  uint32_t property_count;
  uint32_t property_width;
} posse_skeleton_info;
typedef struct posse_joint_info {
  size_t struct_size;
  uint32_t parent;
  uint32_t weight_count;
  float translation[3];
  float rotation[4];
  float scale[3];
} posse_joint_info;
typedef struct posse_clip_info {
  size_t struct_size;
  double duration;
  double speed;
  uint32_t skeleton;
  uint32_t wrap;
  uint32_t event_count;
  uint32_t has_root_motion;
} posse_clip_info;
typedef struct posse_fade {
  posse_ticks start;
  posse_ticks length;
  uint32_t shape;
  uint32_t reserved;
} posse_fade;
typedef struct posse_layer {
  size_t struct_size;
  uint32_t clip;
  uint32_t time;
  posse_ticks start;
  double rate;
  double repeat_count;
  double range[2];
  double seconds;
  double weight;
  uint32_t wrap;
  uint32_t parameter;
  uint32_t leader;
  uint32_t mode;
  uint32_t mask;
  uint32_t driver;
  uint32_t driver_index;
  uint32_t driver_parameters[2];
  uint32_t driver_point;
  posse_fade fade_in;
  posse_fade fade_out;
} posse_layer;
typedef struct posse_transition {
  size_t struct_size;
  double half_life;
  double seconds;
  uint32_t kind;
  uint32_t reserved;
} posse_transition;
typedef struct posse_chain {
  size_t struct_size;
  double direction[3];
  double limit;
  uint32_t kind;
  uint32_t skeleton;
  uint32_t joints[3];
  uint32_t hold;
} posse_chain;
typedef struct posse_goal {
  size_t struct_size;
  double target[3];
  double weight;
  uint32_t chain;
  uint32_t target_parameters[3];
  uint32_t weight_parameter;
  uint32_t reserved;
} posse_goal;
typedef struct posse_crowd_options {
  size_t struct_size;
  uint32_t outputs;
  uint32_t skin_format;
  uint32_t chunk_size;
  uint32_t reserved;
} posse_crowd_options;
typedef struct posse_crowd_info {
  size_t struct_size;
  uint32_t instance_count;
  uint32_t chunk_count;
  uint32_t chunk_size;
  uint32_t reserved;
} posse_crowd_info;
typedef struct posse_layout {
  size_t struct_size;
  uint32_t local;
  uint32_t model;
  uint32_t skin;
  uint32_t values;
  uint32_t root_motion;
  uint32_t reserved;
} posse_layout;
typedef struct posse_output {
  float * numbers;
  size_t count;
  size_t stride;
} posse_output;
typedef struct posse_outputs {
  size_t struct_size;
  uint32_t format;
  uint32_t reserved;
  posse_output local;
  posse_output model;
  posse_output skin;
  posse_output values;
  posse_output root_motion;
} posse_outputs;
typedef struct posse_event {
  posse_ticks tick;
  uint32_t instance;
  uint32_t layer;
  uint32_t clip;
  uint32_t event;
} posse_event;
typedef struct posse_event_list {
  size_t struct_size;
  posse_event * events;
  size_t capacity;
  size_t count;
  uint64_t missed;
} posse_event_list;
#ifdef __cplusplus
extern "C" {
#endif
uint32_t posse_abi_version(void);
const char * posse_version(void);
const char * posse_error_text(void);
posse_ticks posse_ticks_of(double seconds);
posse_status posse_library_create(posse_library * * library);
posse_status posse_library_destroy(posse_library * library);
posse_status posse_library_load_file(posse_library * library, const char * path, const posse_load_options * options, posse_loaded * loaded);
posse_status posse_library_load_memory(posse_library * library, const char * name, const uint8_t * bytes, size_t size, const posse_load_options * options, posse_loaded * loaded);
posse_status posse_library_share_clip(posse_library * library, uint32_t clip, uint32_t skeleton, uint32_t * new_clip);
posse_status posse_library_set_root_motion(posse_library * library, uint32_t clip, uint32_t joint);
posse_status posse_library_add_mask(posse_library * library, uint32_t skeleton, const float * weights, size_t count, uint32_t * mask);
posse_status posse_library_add_chain(posse_library * library, const posse_chain * chain, uint32_t * index);
posse_status posse_library_add_knots(posse_library * library, const float * pairs, size_t count, uint32_t * knots);
posse_status posse_library_add_blend_space(posse_library * library, const float * points, size_t count, uint32_t * blend_space);
posse_status posse_library_find(const posse_library * library, uint32_t kind, uint32_t owner, const char * text, uint32_t * index);
posse_status posse_library_name(const posse_library * library, uint32_t kind, uint32_t owner, uint32_t index, char * buffer, size_t capacity, size_t * length);
posse_status posse_library_get_info(const posse_library * library, posse_library_info * info);
posse_status posse_library_get_skeleton(const posse_library * library, uint32_t skeleton, posse_skeleton_info * info);
posse_status posse_library_get_joint(const posse_library * library, uint32_t skeleton, uint32_t joint, posse_joint_info * info);
posse_status posse_library_get_clip(const posse_library * library, uint32_t clip, posse_clip_info * info);
posse_status posse_library_get_event(const posse_library * library, uint32_t clip, uint32_t event, double * seconds);
posse_status posse_crowd_create(const posse_library * library, const posse_crowd_options * options, posse_crowd * * crowd);
posse_status posse_crowd_destroy(posse_crowd * crowd);
posse_status posse_crowd_add(posse_crowd * crowd, uint32_t skeleton, const posse_layer * layers, uint32_t layer_count, uint32_t * instance);
posse_status posse_crowd_set_layers(posse_crowd * crowd, uint32_t instance, const posse_layer * layers, uint32_t layer_count);
posse_status posse_crowd_set_goals(posse_crowd * crowd, uint32_t instance, const posse_goal * goals, uint32_t goal_count);
posse_status posse_crowd_begin_transition(posse_crowd * crowd, uint32_t instance, const posse_layer * layers, uint32_t layer_count, const posse_transition * transition, posse_ticks start);
posse_status posse_crowd_set_parameters(posse_crowd * crowd, uint32_t first_instance, uint32_t instance_count, const float * values, uint32_t count);
posse_status posse_crowd_pose(posse_crowd * crowd, uint32_t chunk, posse_ticks from, posse_ticks to, const posse_outputs * outputs);
posse_status posse_crowd_events(posse_crowd * crowd, uint32_t chunk, posse_ticks from, posse_ticks to, posse_event_list * list);
posse_status posse_crowd_get_joint(posse_crowd * crowd, uint32_t instance, uint32_t joint, posse_ticks now, float * matrix);
posse_status posse_crowd_get_info(const posse_crowd * crowd, posse_crowd_info * info);
posse_status posse_crowd_get_layout(const posse_crowd * crowd, uint32_t skeleton, uint32_t format, posse_layout * layout);
#ifdef __cplusplus
}
#endif
#ifdef __cplusplus
extern "C" {
#endif

/// A layer that plays a clip as a loop, at the speed of its author, with full weight. Change what should be different.
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

#ifdef __cplusplus
}
#endif

#endif
