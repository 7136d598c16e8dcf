// Poses worked out by hand, through each part of the interface. Compiled as C11 and as C++17.
//
// A joint that is rotated by an angle `a` about z has the rows (cos a, -sin a, 0) and (sin a, cos a, 0). The root of the
// arm is at (0, 1, 0), so that its child is at (-2 sin a, 1 + 2 cos a, 0).

#include <pthread.h>

#include "rig.h"

enum { SWING, RISE, WALK };

// The angle of the root of an instance at a tick, by a query, whose matrix is checked as a whole.
static double angle_at(posse_crowd *crowd, uint32_t instance, double seconds) {
  float root[12], child[12];
  double a, s, c;
  const posse_ticks now = posse_ticks_of(seconds);
  int number;
  OK(posse_crowd_get_joint(crowd, instance, 0, now, root));
  OK(posse_crowd_get_joint(crowd, instance, 1, now, child));
  a = atan2(root[4], root[0]);
  s = sin(a);
  c = cos(a);
  {
    const double rows[12] = {c, -s, 0, 0, s, c, 0, 1, 0, 0, 1, 0};
    for (number = 0; number < 12; ++number) NEAR(root[number], rows[number]);
  }
  NEAR(child[3], -2 * s);
  NEAR(child[7], 1 + 2 * c);
  return a;
}

static void test_library(void) {
  posse_library *library = NULL;
  posse_loaded loaded;
  posse_library_info info;
  posse_skeleton_info skeleton;
  posse_joint_info joint;
  posse_skin_joint_info bone;
  posse_clip_info clip;
  char name[16];
  size_t length = 0;
  uint32_t index = 7, shared = 7;
  const char *text = arm_gltf();

  CHECK(posse_abi_version() >> 16 == POSSE_ABI_VERSION >> 16 && posse_abi_version() >= POSSE_ABI_VERSION);
  CHECK(strlen(posse_version()) >= 5);
  memset(&loaded, 0, sizeof loaded);
  loaded.struct_size = sizeof loaded;
  OK(posse_library_create(&library));
  OK(posse_library_load_memory(library, "arm.gltf", (const uint8_t *)text, strlen(text), NULL, &loaded));
  CHECK(loaded.first_skeleton == 0 && loaded.skeleton_count == 1 && loaded.first_clip == 0 && loaded.clip_count == 3);
  CHECK(loaded.warning_count == 0);

  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  OK(posse_library_get_info(library, &info));
  CHECK(info.skeleton_count == 1 && info.clip_count == 3 && info.mask_count == 0);
  memset(&skeleton, 0, sizeof skeleton);
  skeleton.struct_size = sizeof skeleton;
  OK(posse_library_get_skeleton(library, 0, &skeleton));
  CHECK(skeleton.joint_count == 2 && skeleton.skin_count == 1 && skeleton.skin_joint_count == 2);
  memset(&joint, 0, sizeof joint);
  joint.struct_size = sizeof joint;
  OK(posse_library_get_joint(library, 0, 1, &joint));
  CHECK(joint.parent == 0 && joint.translation[1] == 2.f && joint.rotation[3] == 1.f && joint.scale[2] == 1.f);
  OK(posse_library_get_joint(library, 0, 0, &joint));
  CHECK(joint.parent == POSSE_NONE);
  // The skin binds the child at (0, 3, 0).
  memset(&bone, 0, sizeof bone);
  bone.struct_size = sizeof bone;
  OK(posse_library_get_skin_joint(library, 0, 1, &bone));
  CHECK(bone.skin == 0 && bone.joint == 1);
  for (index = 0; index < 12; ++index) CHECK(bone.inverse_bind[index] == (index == 7 ? -3.f : index % 5 == 0 ? 1.f : 0.f));
  CHECK(posse_library_get_skin_joint(library, 0, 2, &bone) == POSSE_STATUS_INDEX);
  memset(&clip, 0, sizeof clip);
  clip.struct_size = sizeof clip;
  OK(posse_library_get_clip(library, RISE, &clip));
  CHECK(clip.duration == 1.0 && clip.skeleton == 0 && clip.event_count == 0 && clip.has_root_motion == 0);

  OK(posse_library_find(library, POSSE_ITEM_CLIP, POSSE_NONE, "walk", &index));
  CHECK(index == WALK);
  OK(posse_library_find(library, POSSE_ITEM_JOINT, 0, "root/child", &index));
  CHECK(index == 1);
  OK(posse_library_find(library, POSSE_ITEM_SKELETON, POSSE_NONE, "arm", &index));
  CHECK(index == 0);
  CHECK(posse_library_find(library, POSSE_ITEM_CLIP, POSSE_NONE, "wlak", &index) == POSSE_STATUS_NAME);
  CHECK(index == POSSE_NONE && strstr(posse_error_text(), "walk"));
  OK(posse_library_name(library, POSSE_ITEM_JOINT, 0, 1, name, sizeof name, &length));
  CHECK(strcmp(name, "child") == 0 && length == 5);
  OK(posse_library_name(library, POSSE_ITEM_CLIP, 0, 0, NULL, 0, &length));
  CHECK(length == 5);
  CHECK(posse_library_name(library, POSSE_ITEM_CLIP, 0, 0, name, 5, &length) == POSSE_STATUS_BUFFER);
  OK(posse_library_name(library, POSSE_ITEM_CLIP, 0, 0, name, 6, &length));
  CHECK(strcmp(name, "swing") == 0);

  // A second arm, and a clip of the first one for it. The clip `rise` of skeleton 1 is that of the file.
  OK(posse_library_load_memory(library, "arm.gltf", (const uint8_t *)text, strlen(text), NULL, &loaded));
  CHECK(loaded.first_skeleton == 1 && loaded.first_clip == 3);
  OK(posse_library_share_clip(library, SWING, 1, &shared));
  OK(posse_library_get_clip(library, shared, &clip));
  CHECK(shared == 6 && clip.skeleton == 1 && clip.duration == 1.0);
  OK(posse_library_find(library, POSSE_ITEM_CLIP, 1, "rise", &index));
  CHECK(index == 4);
  OK(posse_library_destroy(library));
}

// The skin matrices of the rest pose are identities. The half 1 is 0x3c00, and the first number is the lower half of a word.
static void test_half_matrices(const posse_library *library) {
  static const uint32_t expected[6] = {0x3c00, 0, 0x3c000000, 0, 0, 0x3c00};
  posse_crowd *crowd = NULL;
  posse_crowd_options options;
  posse_layout layout;
  posse_outputs outputs = no_outputs(POSSE_FORMAT_COLUMNS4X4);
  float skin[12];
  uint32_t words[12];
  int word;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.outputs = POSSE_OUTPUT_SKIN;
  options.skin_format = POSSE_SKIN_FORMAT_HALF_MATRIX;
  OK(posse_crowd_create(library, &options, &crowd));
  OK(posse_crowd_add(crowd, 0, NULL, 0, NULL));
  memset(&layout, 0, sizeof layout);
  layout.struct_size = sizeof layout;
  OK(posse_crowd_get_layout(crowd, 0, POSSE_FORMAT_COLUMNS4X4, &layout));
  CHECK(layout.skin == 12 && layout.model == 0);
  outputs.skin = output_of(skin, 12, 12);
  OK(posse_crowd_pose(crowd, 0, 0, 0, &outputs));
  memcpy(words, skin, sizeof words);
  // Without the signs of zeros.
  for (word = 0; word < 12; ++word) CHECK((words[word] & 0x7fff7fff) == expected[word % 6]);
  OK(posse_crowd_destroy(crowd));
}

static void test_outputs(void) {
  posse_library *library = arm_library();
  const uint32_t all = POSSE_OUTPUT_LOCAL | POSSE_OUTPUT_MODEL | POSSE_OUTPUT_SKIN;
  posse_crowd *crowd = make_crowd(library, all, 0);
  const posse_layer swing = fixed_layer(SWING, 0.5), rise = fixed_layer(RISE, 0.5);
  const double s = sin(RIGHT / 2), c = s;
  float local[3 * 40], model[3 * 48], skin[3 * 48];
  posse_outputs outputs = no_outputs(POSSE_FORMAT_ROWS3X4);
  posse_layout layout;
  posse_crowd_info info;
  uint32_t instance = 9;
  int lane, number;

  OK(posse_crowd_add(crowd, 0, &swing, 1, &instance));
  CHECK(instance == 0);
  OK(posse_crowd_add(crowd, 0, &rise, 1, &instance));
  OK(posse_crowd_add(crowd, 0, NULL, 0, &instance));
  CHECK(instance == 2);
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  OK(posse_crowd_get_info(crowd, &info));
  CHECK(info.instance_count == 3 && info.chunk_count == 1 && info.chunk_size >= 16);
  memset(&layout, 0, sizeof layout);
  layout.struct_size = sizeof layout;
  OK(posse_crowd_get_layout(crowd, 0, POSSE_FORMAT_ROWS3X4, &layout));
  CHECK(layout.local == 24 && layout.model == 24 && layout.skin == 24 && layout.values == 0 && layout.root_motion == 0);

  // Rows. The matrices of an instance are one after the other, with a gap before those of the next one.
  outputs.local = output_of(local, 72, 24);
  outputs.model = output_of(model, 30 + 30 + 24, 30);
  outputs.skin = output_of(skin, 72, 24);
  OK(posse_crowd_pose(crowd, 0, 0, 0, &outputs));
  {
    const double rows[24] = {c, -s, 0, 0, s, c, 0, 1, 0, 0, 1, 0, c, -s, 0, -2 * s, s, c, 0, 1 + 2 * c, 0, 0, 1, 0};
    for (number = 0; number < 24; ++number) NEAR(model[number], rows[number]);
    // The skin matrix of the root leads a point first by (0, -1, 0); that of the child by (0, -3, 0): both are (s, 1 - c).
    NEAR(skin[3], s);
    NEAR(skin[7], 1 - c);
    NEAR(skin[12 + 3], -2 * s + 3 * s);
    NEAR(skin[12 + 7], 1 + 2 * c - 3 * c);
  }
  NEAR(local[1], 1);
  NEAR(local[6], sin(RIGHT / 4));
  NEAR(local[7], cos(RIGHT / 4));
  NEAR(local[8], 1);
  NEAR(local[13], 2);
  NEAR(model[30 + 7], 2);
  NEAR(model[30 + 12 + 7], 4);
  NEAR(model[60 + 12 + 7], 3);

  // Columns: the translation is the last of four.
  outputs = no_outputs(POSSE_FORMAT_COLUMNS4X4);
  outputs.model = output_of(model, 96, 32);
  OK(posse_crowd_get_layout(crowd, 0, POSSE_FORMAT_COLUMNS4X4, &layout));
  CHECK(layout.local == 24 && layout.model == 32 && layout.skin == 32);
  OK(posse_crowd_pose(crowd, POSSE_ALL_CHUNKS, 0, 0, &outputs));
  {
    const double columns[16] = {c, s, 0, 0, -s, c, 0, 0, 0, 0, 1, 0, -2 * s, 1 + 2 * c, 0, 1};
    for (number = 0; number < 16; ++number) NEAR(model[16 + number], columns[number]);
  }

  // A structure of arrays: four joints side by side, of which two are identities.
  outputs = no_outputs(POSSE_FORMAT_SOA);
  outputs.local = output_of(local, 120, 40);
  outputs.model = output_of(model, 144, 48);
  OK(posse_crowd_get_layout(crowd, 0, POSSE_FORMAT_SOA, &layout));
  CHECK(layout.local == 40 && layout.model == 48 && layout.skin == 48);
  OK(posse_crowd_pose(crowd, 0, 0, 0, &outputs));
  for (lane = 0; lane < 4; ++lane) {
    const double y[4] = {1, 2, 0, 0}, z[4] = {sin(RIGHT / 4), 0, 0, 0}, w[4] = {cos(RIGHT / 4), 1, 1, 1};
    const double row[4] = {0, -2 * s, 0, 0};
    NEAR(local[4 * 1 + lane], y[lane]);
    NEAR(local[4 * 5 + lane], z[lane]);
    NEAR(local[4 * 6 + lane], w[lane]);
    NEAR(local[4 * 9 + lane], 1);
    NEAR(model[4 * 3 + lane], row[lane]);
    NEAR(model[4 * 10 + lane], 1);
  }
  OK(posse_crowd_destroy(crowd));
  test_half_matrices(library);
  OK(posse_library_destroy(library));
}

static void test_layers(void) {
  posse_library *library = arm_library();
  posse_crowd *crowd;
  posse_layer layers[2];
  const float up[4] = {0.f, 0.f, 1.f, 1.f}, down[4] = {0.f, 1.f, 1.f, 0.f}, weights[2] = {0.f, 1.f};
  const float triangle[6] = {0.f, 0.f, 1.f, 0.f, 0.f, 1.f};
  float values[6], matrix[12];
  uint32_t rising = 9, falling = 9, space = 9, mask = 9, instance;
  double z, w;

  OK(posse_library_add_knots(library, up, 2, &rising));
  OK(posse_library_add_knots(library, down, 2, &falling));
  OK(posse_library_add_blend_space(library, triangle, 3, &space));
  OK(posse_library_add_mask(library, 0, weights, 2, &mask));
  CHECK(rising == 0 && falling == 1 && space == 0 && mask == 0);
  crowd = make_crowd(library, POSSE_OUTPUT_MODEL, 0);

  // Instance 0 plays a loop that began a quarter of its cycle before tick 0.
  layers[0] = posse_layer_of(SWING);
  layers[0].start = posse_ticks_of(-0.25);
  OK(posse_crowd_add(crowd, 0, layers, 1, &instance));
  NEAR(angle_at(crowd, 0, 0.0), RIGHT * 0.25);
  NEAR(angle_at(crowd, 0, 0.5), RIGHT * 0.75);
  NEAR(angle_at(crowd, 0, 10.5), RIGHT * 0.75);
  layers[0].wrap = POSSE_WRAP_PING_PONG;
  layers[0].range[0] = 0.25;
  layers[0].range[1] = 0.75;
  layers[0].start = 0;
  OK(posse_crowd_set_layers(crowd, 0, layers, 1));
  NEAR(angle_at(crowd, 0, 0.25), RIGHT * 0.5);
  NEAR(angle_at(crowd, 0, 0.625), RIGHT * 0.625);

  // Instance 1 fades from 0 to 90 degrees between seconds 1 and 2. At a fraction k, the quaternion is the mean of (0, 1)
  // and (sin 45, cos 45) with the weights 1 - k and k.
  layers[0] = fixed_layer(SWING, 0);
  layers[1] = fixed_layer(SWING, 1);
  layers[0].fade_out.start = layers[1].fade_in.start = POSSE_TICKS_PER_SECOND;
  layers[0].fade_out.length = layers[1].fade_in.length = POSSE_TICKS_PER_SECOND;
  layers[0].fade_out.shape = layers[1].fade_in.shape = POSSE_FADE_SHAPE_LINEAR;
  OK(posse_crowd_add(crowd, 0, layers, 2, &instance));
  NEAR(angle_at(crowd, 1, 1.0), 0);
  NEAR(angle_at(crowd, 1, 1.5), RIGHT / 2);
  z = 0.75 * sin(RIGHT / 2);
  w = 0.25 + 0.75 * cos(RIGHT / 2);
  NEAR(angle_at(crowd, 1, 1.75), 2 * atan2(z, w));
  layers[0].fade_out.shape = layers[1].fade_in.shape = POSSE_FADE_SHAPE_SMOOTH;
  OK(posse_crowd_set_layers(crowd, 1, layers, 2));
  z = 0.84375 * sin(RIGHT / 2);
  w = 0.15625 + 0.84375 * cos(RIGHT / 2);
  NEAR(angle_at(crowd, 1, 1.75), 2 * atan2(z, w));

  // Instance 2: the parameter 0 is the phase. Instance 3: it drives the weights of two layers by knots. Instance 4: two
  // parameters are the position in a blend space, and two of the points are the ends of the swing.
  layers[0] = posse_layer_of(SWING);
  layers[0].time = POSSE_TIME_PHASE;
  OK(posse_crowd_add(crowd, 0, layers, 1, &instance));
  layers[0] = fixed_layer(SWING, 0);
  layers[1] = fixed_layer(SWING, 1);
  layers[0].driver = layers[1].driver = POSSE_DRIVER_KNOTS;
  layers[0].driver_index = falling;
  layers[1].driver_index = rising;
  OK(posse_crowd_add(crowd, 0, layers, 2, &instance));
  layers[0].driver = layers[1].driver = POSSE_DRIVER_POINT;
  layers[0].driver_index = layers[1].driver_index = space;
  layers[0].driver_parameters[1] = layers[1].driver_parameters[1] = 1;
  layers[1].driver_point = 1;
  OK(posse_crowd_add(crowd, 0, layers, 2, &instance));
  values[0] = 0.25f, values[1] = 0.f;
  values[2] = 0.75f, values[3] = 0.f;
  values[4] = 0.5f, values[5] = 0.f;
  OK(posse_crowd_set_parameters(crowd, 2, 3, values, 2));
  z = 0.75 * sin(RIGHT / 2);
  w = 0.25 + 0.75 * cos(RIGHT / 2);
  NEAR(angle_at(crowd, 2, 3.0), RIGHT * 0.25);
  NEAR(angle_at(crowd, 3, 3.0), 2 * atan2(z, w));
  NEAR(angle_at(crowd, 4, 3.0), RIGHT / 2);

  // Instance 5: a layer over another one, masked to the child alone, so that the swing of the root stays.
  layers[0] = fixed_layer(SWING, 1);
  layers[1] = fixed_layer(SWING, 0);
  layers[1].mode = POSSE_MODE_OVERRIDE;
  OK(posse_crowd_add(crowd, 0, layers, 2, &instance));
  NEAR(angle_at(crowd, 5, 0.0), 0);
  layers[1].mask = mask;
  OK(posse_crowd_set_layers(crowd, 5, layers, 2));
  NEAR(angle_at(crowd, 5, 0.0), RIGHT);

  // Instance 6 is at x = 1, and half of the rise by 2 is added. Then two heights are mixed with the weights 1 and 3. Then
  // the rise follows the walk, wherever it would be by itself.
  layers[0] = fixed_layer(WALK, 0.5);
  layers[1] = fixed_layer(RISE, 1);
  layers[1].mode = POSSE_MODE_ADDITIVE;
  layers[1].weight = 0.5;
  OK(posse_crowd_add(crowd, 0, layers, 2, &instance));
  OK(posse_crowd_get_joint(crowd, 6, 0, 0, matrix));
  NEAR(matrix[3], 1);
  NEAR(matrix[7], 2);
  layers[0] = fixed_layer(RISE, 0);
  layers[1] = fixed_layer(RISE, 1);
  layers[1].weight = 3;
  OK(posse_crowd_set_layers(crowd, 6, layers, 2));
  OK(posse_crowd_get_joint(crowd, 6, 0, 0, matrix));
  NEAR(matrix[7], 2.5);
  layers[0] = posse_layer_of(WALK);
  layers[1] = posse_layer_of(RISE);
  layers[1].time = POSSE_TIME_SYNCED;
  layers[1].start = posse_ticks_of(-0.3);
  layers[1].mode = POSSE_MODE_OVERRIDE;
  OK(posse_crowd_set_layers(crowd, 6, layers, 2));
  OK(posse_crowd_get_joint(crowd, 6, 0, posse_ticks_of(3.25), matrix));
  NEAR(matrix[7], 1.5);

  // Instance 7 is faded from 90 degrees to 0, as instance 1 is from 0 to 90.
  layers[0] = fixed_layer(SWING, 1);
  layers[1] = fixed_layer(SWING, 0);
  OK(posse_crowd_add(crowd, 0, layers, 1, &instance));
  OK(posse_crowd_cross_fade(crowd, 7, &layers[1], posse_ticks_of(1), posse_ticks_of(2)));
  z = 0.15625 * sin(RIGHT / 2);
  w = 0.84375 + 0.15625 * cos(RIGHT / 2);
  NEAR(angle_at(crowd, 7, 1.0), RIGHT);
  NEAR(angle_at(crowd, 7, 1.5), RIGHT / 2);
  NEAR(angle_at(crowd, 7, 1.75), 2 * atan2(z, w));
  NEAR(angle_at(crowd, 7, 2.0), 0);
  CHECK(posse_crowd_cross_fade(crowd, 7, &layers[1], posse_ticks_of(2), posse_ticks_of(1)) == POSSE_STATUS_ARGUMENT);
  CHECK(posse_crowd_cross_fade(crowd, 8, &layers[1], posse_ticks_of(1), posse_ticks_of(2)) == POSSE_STATUS_INDEX);
  layers[1].mode = POSSE_MODE_OVERRIDE;
  CHECK(posse_crowd_cross_fade(crowd, 7, &layers[1], posse_ticks_of(1), posse_ticks_of(2)) == POSSE_STATUS_ARGUMENT);
  OK(posse_crowd_destroy(crowd));
  OK(posse_library_destroy(library));
}

// Changed layers are posed, whether they fit the place of the old ones or not, and the neighbours stay.
static void test_changes(void) {
  posse_library *library = arm_library();
  posse_crowd *crowd = make_crowd(library, POSSE_OUTPUT_MODEL, 0);
  posse_layer layers[2];
  posse_outputs outputs = no_outputs(POSSE_FORMAT_ROWS3X4);
  float model[72];
  int index;
  layers[0] = fixed_layer(SWING, 1);
  for (index = 0; index < 3; ++index) OK(posse_crowd_add(crowd, 0, layers, 1, NULL));
  outputs.model = output_of(model, 72, 24);
  OK(posse_crowd_pose(crowd, 0, 0, 0, &outputs));
  layers[0] = fixed_layer(SWING, 0.5);
  OK(posse_crowd_set_layers(crowd, 1, layers, 1));
  OK(posse_crowd_pose(crowd, 0, 0, 0, &outputs));
  NEAR(atan2(model[24 + 4], model[24]), RIGHT / 2);
  layers[1] = fixed_layer(RISE, 1);
  layers[1].mode = POSSE_MODE_OVERRIDE;
  OK(posse_crowd_set_layers(crowd, 1, layers, 2));
  OK(posse_crowd_pose(crowd, 0, 0, 0, &outputs));
  NEAR(model[24 + 7], 3);
  OK(posse_crowd_set_layers(crowd, 1, layers, 1));
  OK(posse_crowd_pose(crowd, 0, 0, 0, &outputs));
  NEAR(atan2(model[24 + 4], model[24]), RIGHT / 2);
  NEAR(model[24 + 7], 1);
  for (index = 0; index < 3; index += 2) NEAR(atan2(model[24 * index + 4], model[24 * index]), RIGHT);
  OK(posse_crowd_destroy(crowd));
  OK(posse_library_destroy(library));
}

// Of a critically damped spring that begins at rest, (1 + r t) exp(-r t) is left, with r = 2 ln 2 / half-life: after a
// half-life (1 + 2 ln 2) / 4.
static void test_transitions(void) {
  posse_library *library = arm_library();
  posse_crowd *crowd = make_crowd(library, POSSE_OUTPUT_MODEL, 0);
  const posse_layer from = fixed_layer(SWING, 1), to = fixed_layer(SWING, 0);
  const posse_ticks start = posse_ticks_of(2);
  const double half_life = 0.125, left = (1 + 2 * log(2.0)) / 4;
  posse_transition transition;
  posse_outputs outputs = no_outputs(POSSE_FORMAT_ROWS3X4);
  float model[48];
  uint32_t instance;

  memset(&transition, 0, sizeof transition);
  transition.struct_size = sizeof transition;
  transition.half_life = half_life;
  OK(posse_crowd_add(crowd, 0, &from, 1, &instance));
  OK(posse_crowd_add(crowd, 0, &from, 1, &instance));
  OK(posse_crowd_begin_transition(crowd, 0, &to, 1, &transition, start));
  NEAR(angle_at(crowd, 0, 1.0), RIGHT);
  NEAR(angle_at(crowd, 0, 2.0), RIGHT);
  NEAR(angle_at(crowd, 0, 2 + half_life), RIGHT * left);
  NEAR(angle_at(crowd, 0, 2 + 17 * half_life), 0);
  // The same by the crowd itself, and the other instance has not changed.
  outputs.model = output_of(model, 48, 24);
  OK(posse_crowd_pose(crowd, 0, 0, posse_ticks_of(2 + half_life), &outputs));
  NEAR(atan2(model[4], model[0]), RIGHT * left);
  NEAR(atan2(model[24 + 4], model[24]), RIGHT);

  transition.kind = POSSE_TRANSITION_KIND_DEAD;
  CHECK(posse_crowd_begin_transition(crowd, 1, &to, 1, &transition, start) == POSSE_STATUS_ARGUMENT);
  transition.seconds = 0.5;
  OK(posse_crowd_begin_transition(crowd, 1, &to, 1, &transition, start));
  NEAR(angle_at(crowd, 1, 2.0), RIGHT);
  NEAR(angle_at(crowd, 1, 2.5), 0);
  OK(posse_crowd_destroy(crowd));
  OK(posse_library_destroy(library));
}

// The root looks with its y axis at a point to its left: it rotates by 90 degrees.
static void test_goals(void) {
  posse_library *library = arm_library();
  posse_crowd *crowd;
  posse_chain chain;
  posse_goal goal;
  uint32_t index = 9;
  memset(&chain, 0, sizeof chain);
  chain.struct_size = sizeof chain;
  chain.kind = POSSE_CHAIN_KIND_AIM;
  chain.direction[1] = 1;
  chain.limit = 2 * RIGHT;
  OK(posse_library_add_chain(library, &chain, &index));
  CHECK(index == 0);
  crowd = make_crowd(library, POSSE_OUTPUT_MODEL, 0);
  OK(posse_crowd_add(crowd, 0, NULL, 0, NULL));
  goal = posse_goal_of(0, -5, 1, 0);
  OK(posse_crowd_set_goals(crowd, 0, &goal, 1));
  NEAR(angle_at(crowd, 0, 0), RIGHT);
  goal.weight_parameter = 3;
  OK(posse_crowd_set_goals(crowd, 0, &goal, 1));
  NEAR(angle_at(crowd, 0, 0), 0);
  {
    const float values[4] = {0.f, 0.f, 0.f, 1.f};
    OK(posse_crowd_set_parameters(crowd, 0, 1, values, 4));
    NEAR(angle_at(crowd, 0, 0), RIGHT);
  }
  goal.weight = NAN;
  goal.weight_parameter = POSSE_NONE;
  CHECK(posse_crowd_set_goals(crowd, 0, &goal, 1) == POSSE_STATUS_ARGUMENT);
  goal = posse_goal_of(1, 0, 0, 0);
  CHECK(posse_crowd_set_goals(crowd, 0, &goal, 1) == POSSE_STATUS_INDEX);
  OK(posse_crowd_destroy(crowd));
  OK(posse_library_destroy(library));
}

static void test_events_and_motion(void) {
  posse_library *library = arm_library();
  posse_crowd *crowd;
  posse_layer layer;
  posse_loaded loaded;
  posse_event events[4];
  posse_event_list list;
  posse_outputs outputs = no_outputs(POSSE_FORMAT_ROWS3X4);
  float motion[24], model[72];
  char name[8];
  uint32_t instance, steps;
  double seconds = 0;

  memset(&loaded, 0, sizeof loaded);
  loaded.struct_size = sizeof loaded;
  OK(posse_library_load_memory(library, "steps.anim", (const uint8_t *)steps_clip(), strlen(steps_clip()), NULL, &loaded));
  CHECK(loaded.skeleton_count == 0 && loaded.clip_count == 1);
  steps = loaded.first_clip;
  OK(posse_library_get_event(library, steps, 1, &seconds));
  CHECK(seconds == 0.75);
  OK(posse_library_name(library, POSSE_ITEM_EVENT, steps, 0, name, sizeof name, NULL));
  CHECK(strcmp(name, "left") == 0);
  OK(posse_library_load_memory(library, "nod.bvh", (const uint8_t *)nod_bvh(), strlen(nod_bvh()), NULL, &loaded));
  CHECK(loaded.skeleton_count == 1 && loaded.clip_count == 1);
  OK(posse_library_set_root_motion(library, WALK, 0));

  crowd = make_crowd(library, POSSE_OUTPUT_MODEL | POSSE_OUTPUT_ROOT_MOTION, 0);
  layer = posse_layer_of(steps);
  OK(posse_crowd_add(crowd, 0, &layer, 1, &instance));
  layer = posse_layer_of(WALK);
  OK(posse_crowd_add(crowd, 0, &layer, 1, &instance));
  layer = fixed_layer(loaded.first_clip, 0.5);
  OK(posse_crowd_add(crowd, loaded.first_skeleton, &layer, 1, &instance));

  // The second event comes a quarter of a second before the end of a loop.
  memset(&list, 0, sizeof list);
  list.struct_size = sizeof list;
  list.events = events;
  list.capacity = 4;
  OK(posse_crowd_events(crowd, POSSE_ALL_CHUNKS, posse_ticks_of(0.5), posse_ticks_of(1.25), &list));
  CHECK(list.count == 2 && list.missed == 0);
  CHECK(events[0].tick == posse_ticks_of(0.75) && events[0].event == 1 && events[0].clip == steps);
  CHECK(events[1].tick == posse_ticks_of(1.25) && events[1].event == 0 && events[1].instance == 0 && events[1].layer == 0);
  list.capacity = 1;
  OK(posse_crowd_events(crowd, 0, posse_ticks_of(0.5), posse_ticks_of(1.25), &list));
  CHECK(list.count == 1 && list.missed == 1);

  // The walk moves by 2 per second, and over the end of its loop.
  outputs.root_motion = output_of(motion, 24, 8);
  // The third instance has three joints, which need a larger stride.
  outputs.model = output_of(model, 72, 24);
  CHECK(posse_crowd_pose(crowd, 0, posse_ticks_of(0.75), posse_ticks_of(1.25), &outputs) == POSSE_STATUS_BUFFER);
  outputs.model.numbers = NULL;
  OK(posse_crowd_pose(crowd, 0, posse_ticks_of(0.75), posse_ticks_of(1.25), &outputs));
  NEAR(motion[8], 1);
  NEAR(motion[9], 0);
  CHECK(motion[11] == 1.f && motion[3] == 0.f);
  NEAR(motion[15], 1);
  {
    // The place of the pose does not move along x. The child of `steps` is at 1 + 2 + 0.5 at a quarter of its clip.
    float matrix[12];
    OK(posse_crowd_get_joint(crowd, 1, 0, posse_ticks_of(1.25), matrix));
    NEAR(matrix[3], 0);
    NEAR(matrix[7], 1);
    OK(posse_crowd_get_joint(crowd, 0, 1, posse_ticks_of(1.25), matrix));
    NEAR(matrix[7], 3.5);
    // The nod: the head is at (0, 1 + 2, 0), bent by 30 degrees about x.
    OK(posse_crowd_get_joint(crowd, 2, 1, 0, matrix));
    NEAR(matrix[7], 3);
    NEAR(matrix[5], cos(RIGHT / 3));
    NEAR(matrix[9], 0.5);
  }
  {
    // Another nod is added, as a difference from its first frame, whose hips are 1 above those of the rest pose, and then
    // from the rest pose.
    posse_layer layers[2];
    float matrix[12];
    layers[0] = layers[1] = layer;
    layers[1].mode = POSSE_MODE_ADDITIVE;
    OK(posse_crowd_add(crowd, loaded.first_skeleton, layers, 2, &instance));
    OK(posse_crowd_get_joint(crowd, instance, 1, 0, matrix));
    NEAR(matrix[7], 3);
    NEAR(matrix[5], 0.5);
    layers[1].mode = POSSE_MODE_ADDITIVE_REST;
    OK(posse_crowd_set_layers(crowd, instance, layers, 2));
    OK(posse_crowd_get_joint(crowd, instance, 1, 0, matrix));
    NEAR(matrix[7], 4);
    NEAR(matrix[5], 0.5);
  }
  {
    // A parameter that is the phase moves an instance, but not by its first value, also if others were set before.
    posse_crowd *driven = make_crowd(library, POSSE_OUTPUT_ROOT_MOTION, 0);
    const float one[1] = {9.f}, two[2] = {9.f, 0.25f}, later[2] = {9.f, 0.75f};
    outputs = no_outputs(POSSE_FORMAT_ROWS3X4);
    outputs.root_motion = output_of(motion, 8, 8);
    layer = posse_layer_of(WALK);
    layer.time = POSSE_TIME_PHASE;
    layer.parameter = 1;
    OK(posse_crowd_add(driven, 0, &layer, 1, NULL));
    OK(posse_crowd_set_parameters(driven, 0, 1, one, 1));
    OK(posse_crowd_pose(driven, 0, 0, posse_ticks_of(0.5), &outputs));
    NEAR(motion[0], 0);
    OK(posse_crowd_set_parameters(driven, 0, 1, two, 2));
    OK(posse_crowd_pose(driven, 0, posse_ticks_of(0.5), posse_ticks_of(1), &outputs));
    NEAR(motion[0], 0);
    OK(posse_crowd_set_parameters(driven, 0, 1, later, 2));
    OK(posse_crowd_pose(driven, 0, posse_ticks_of(1), posse_ticks_of(1.5), &outputs));
    NEAR(motion[0], 1);
    OK(posse_crowd_destroy(driven));
  }
  OK(posse_crowd_destroy(crowd));
  OK(posse_library_destroy(library));
}

struct Half {
  posse_crowd *crowd;
  uint32_t first, chunks;
  float *model;
};

static void *pose_half(void *argument) {
  const struct Half *half = (const struct Half *)argument;
  posse_outputs outputs = no_outputs(POSSE_FORMAT_ROWS3X4);
  uint32_t chunk;
  int frame;
  outputs.model = output_of(half->model, 1000 * 24, 24);
  for (frame = 0; frame < 50; ++frame)
    for (chunk = half->first; chunk < half->chunks; chunk += 2)
      OK(posse_crowd_pose(half->crowd, chunk, 0, posse_ticks_of(frame / 50.0), &outputs));
  return NULL;
}

static void test_threads(void) {
  posse_library *library = arm_library();
  posse_crowd *crowd = make_crowd(library, POSSE_OUTPUT_MODEL, 16);
  static float model[24000], alone[24000];
  posse_crowd_info info;
  posse_outputs outputs = no_outputs(POSSE_FORMAT_ROWS3X4);
  struct Half halves[2];
  pthread_t threads[2];
  int index;
  for (index = 0; index < 1000; ++index) {
    posse_layer layer = posse_layer_of(SWING);
    layer.start = -index * (posse_ticks)1049;
    OK(posse_crowd_add(crowd, 0, &layer, 1, NULL));
  }
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  OK(posse_crowd_get_info(crowd, &info));
  CHECK(info.instance_count == 1000 && info.chunk_count == 63 && info.chunk_size == 16);
  for (index = 0; index < 2; ++index) {
    halves[index].crowd = crowd;
    halves[index].first = (uint32_t)index;
    halves[index].chunks = info.chunk_count;
    halves[index].model = model;
    CHECK(pthread_create(&threads[index], NULL, pose_half, &halves[index]) == 0);
  }
  for (index = 0; index < 2; ++index) CHECK(pthread_join(threads[index], NULL) == 0);
  outputs.model = output_of(alone, 24000, 24);
  OK(posse_crowd_pose(crowd, POSSE_ALL_CHUNKS, 0, posse_ticks_of(49 / 50.0), &outputs));
  CHECK(memcmp(model, alone, sizeof model) == 0);
  OK(posse_crowd_destroy(crowd));
  OK(posse_library_destroy(library));
}

static void test_errors(void) {
  posse_library *library = arm_library(), *other = NULL;
  posse_crowd *crowd = make_crowd(library, POSSE_OUTPUT_MODEL, 0);
  posse_layer layer = posse_layer_of(SWING), layers[9];
  posse_outputs outputs = no_outputs(POSSE_FORMAT_ROWS3X4);
  posse_library_info info;
  float model[25], value = 0.f;
  uint32_t index;
  OK(posse_crowd_add(crowd, 0, &layer, 1, NULL));

  // Handles: null, of another kind, no handle at all, destroyed.
  CHECK(posse_library_create(NULL) == POSSE_STATUS_ARGUMENT);
  CHECK(posse_library_set_root_motion(NULL, 0, 0) == POSSE_STATUS_HANDLE);
  CHECK(posse_library_set_root_motion((posse_library *)(void *)crowd, 0, 0) == POSSE_STATUS_HANDLE);
  CHECK(strstr(posse_error_text(), "another kind"));
  CHECK(posse_library_set_root_motion((posse_library *)(void *)&layer, 0, 0) == POSSE_STATUS_HANDLE);
  OK(posse_library_create(&other));
  OK(posse_library_destroy(other));
  CHECK(posse_library_destroy(other) == POSSE_STATUS_HANDLE);
  CHECK(strstr(posse_error_text(), "destroyed"));
  OK(posse_library_destroy(NULL));
  OK(posse_crowd_destroy(NULL));

  // Structs and enumerators.
  memset(&info, 0, sizeof info);
  CHECK(posse_library_get_info(library, &info) == POSSE_STATUS_ARGUMENT);
  CHECK(strstr(posse_error_text(), "struct_size"));
  info.struct_size = sizeof info + 8;
  CHECK(posse_library_get_info(library, &info) == POSSE_STATUS_ARGUMENT);
  CHECK(posse_library_get_info(library, NULL) == POSSE_STATUS_ARGUMENT);
  CHECK(posse_library_find(library, 99, 0, "a", &index) == POSSE_STATUS_ARGUMENT);
  CHECK(posse_library_find(library, POSSE_ITEM_CLIP, POSSE_NONE, "\xff", &index) == POSSE_STATUS_ARGUMENT);
  layer.mode = 77;
  CHECK(posse_crowd_set_layers(crowd, 0, &layer, 1) == POSSE_STATUS_ARGUMENT);

  // Numbers and indices.
  layer = posse_layer_of(SWING);
  layer.weight = NAN;
  CHECK(posse_crowd_set_layers(crowd, 0, &layer, 1) == POSSE_STATUS_ARGUMENT);
  layer = posse_layer_of(3);
  CHECK(posse_crowd_set_layers(crowd, 0, &layer, 1) == POSSE_STATUS_INDEX);
  layer = posse_layer_of(SWING);
  layer.mask = 0;
  CHECK(posse_crowd_set_layers(crowd, 0, &layer, 1) == POSSE_STATUS_INDEX);
  layer = posse_layer_of(SWING);
  CHECK(posse_crowd_set_layers(crowd, 1, &layer, 1) == POSSE_STATUS_INDEX);
  for (index = 0; index < 9; ++index) layers[index] = layer;
  CHECK(posse_crowd_set_layers(crowd, 0, layers, 9) == POSSE_STATUS_LIMIT);
  OK(posse_crowd_set_layers(crowd, 0, layers, 8));
  layers[3].struct_size -= 8;
  CHECK(posse_crowd_set_layers(crowd, 0, layers, 8) == POSSE_STATUS_ARGUMENT);
  value = INFINITY;
  CHECK(posse_crowd_set_parameters(crowd, 0, 1, &value, 1) == POSSE_STATUS_ARGUMENT);
  CHECK(posse_crowd_set_parameters(crowd, 0, 2, &value, 1) == POSSE_STATUS_INDEX);
  CHECK(posse_crowd_set_parameters(crowd, 0, 1, &value, 17) == POSSE_STATUS_LIMIT);
  CHECK(posse_crowd_get_joint(crowd, 0, 2, 0, model) == POSSE_STATUS_INDEX);

  // Buffers: too short, a stride too small, not aligned, an output that the crowd does not compute, no such chunk.
  outputs.model = output_of(model, 23, 24);
  CHECK(posse_crowd_pose(crowd, 0, 0, 0, &outputs) == POSSE_STATUS_BUFFER);
  outputs.model = output_of(model, 24, 23);
  CHECK(posse_crowd_pose(crowd, 0, 0, 0, &outputs) == POSSE_STATUS_BUFFER);
  outputs.model = output_of((float *)(void *)((char *)model + 1), 24, 24);
  CHECK(posse_crowd_pose(crowd, 0, 0, 0, &outputs) == POSSE_STATUS_BUFFER);
  outputs.model = output_of(model, SIZE_MAX, SIZE_MAX);
  CHECK(posse_crowd_pose(crowd, 0, 0, 0, &outputs) == POSSE_STATUS_BUFFER);
  outputs.model = output_of(model, 24, 24);
  CHECK(posse_crowd_pose(crowd, 1, 0, 0, &outputs) == POSSE_STATUS_INDEX);
  outputs.skin = output_of(model, 24, 24);
  CHECK(posse_crowd_pose(crowd, 0, 0, 0, &outputs) == POSSE_STATUS_ARGUMENT);
  CHECK(posse_library_load_file(library, "no such file", NULL, NULL) == POSSE_STATUS_FILE);
  CHECK(posse_library_load_memory(library, "a.glb", (const uint8_t *)"glTF", 4, NULL, NULL) == POSSE_STATUS_FILE);
  OK(posse_crowd_destroy(crowd));
  OK(posse_library_destroy(library));
}

// A crowd packed for a device: sizes worked out by hand, and what is refused.
static void test_packed(void) {
  posse_library *library = arm_library();
  posse_crowd *crowd = make_crowd(library, POSSE_OUTPUT_SKIN, 2);
  posse_packed *packed = NULL;
  posse_packed_batch batch;
  posse_packed_dispatch dispatch;
  posse_packed_buffer buffer;
  posse_pack_options options;
  // Of 3 instances in two chunks: 120 bytes per layer, 48 per joint of the skin.
  const struct {
    uint32_t buffer;
    size_t bytes, contents;
  } expected[] = {{POSSE_BUFFER_FRAME, 32, 32}, {POSSE_BUFFER_LAYERS, 360, 360}, {POSSE_BUFFER_SKIN, 288, 0},
                  {POSSE_BUFFER_MODEL, 0, 0},   {POSSE_BUFFER_DRIVES, 0, 0},     {POSSE_BUFFER_LISTS, 0, 0}};
  static const uint32_t played[] = {POSSE_BUFFER_WORDS, POSSE_BUFFER_VALUES, POSSE_BUFFER_FRAME, POSSE_BUFFER_BATCH,
                                    POSSE_BUFFER_LAYERS};
  static const char *const kernels[] = {"play_layers_f", "pose_none_64_shared_"};
  const posse_frame frame = posse_frame_of(-1, 0x100000002);
  uint32_t instances[3] = {9, 9, 9}, count = 7, at, words[8];
  uint8_t bytes[360];
  char name[128];
  for (at = 0; at < 3; ++at) {
    const posse_layer layer = posse_layer_of(at);
    OK(posse_crowd_add(crowd, 0, &layer, 1, NULL));
  }
  OK(posse_packed_create(crowd, NULL, &packed, &count));
  CHECK(count == 1);
  memset(&batch, 0, sizeof batch);
  batch.struct_size = sizeof batch;
  OK(posse_packed_get_batch(packed, 0, &batch));
  CHECK(batch.skeleton == 0 && batch.instance_count == 3 && batch.dispatch_count == 2);
  CHECK(posse_packed_get_batch(packed, 1, &batch) == POSSE_STATUS_INDEX);
  CHECK(posse_packed_get_instances(packed, 0, instances, 2) == POSSE_STATUS_BUFFER);
  OK(posse_packed_get_instances(packed, 0, instances, 3));
  CHECK(instances[0] == 0 && instances[1] == 1 && instances[2] == 2);
  for (at = 0; at < 2; ++at) {
    memset(&dispatch, 0, sizeof dispatch);
    dispatch.struct_size = sizeof dispatch;
    OK(posse_packed_get_dispatch(packed, 0, at, &dispatch));
    // 64 layers or 32 instances of two joints share a workgroup.
    CHECK(dispatch.pass == (at == 0 ? POSSE_PASS_PLAY : POSSE_PASS_POSE) && dispatch.groups[0] == 1 && dispatch.groups[1] == 1);
    CHECK(dispatch.binding_count == (at == 0 ? 5 : 10));
    OK(posse_packed_kernel(packed, 0, at, name, sizeof name, NULL));
    CHECK(strncmp(name, kernels[at], strlen(kernels[at])) == 0);
    if (at == 0) CHECK(memcmp(dispatch.buffers, played, sizeof played) == 0 && dispatch.access[2] == 2 && dispatch.access[4] == 1);
  }
  for (at = 0; at < sizeof expected / sizeof *expected; ++at) {
    memset(&buffer, 0, sizeof buffer);
    buffer.struct_size = sizeof buffer;
    OK(posse_packed_get_buffer(packed, 0, expected[at].buffer, &buffer));
    CHECK(buffer.bytes == expected[at].bytes && buffer.content_bytes == expected[at].contents);
  }
  OK(posse_packed_get_buffer(packed, 0, POSSE_BUFFER_WORDS, &buffer));
  CHECK(buffer.bytes == buffer.content_bytes);
  CHECK(posse_packed_get_buffer(packed, 0, POSSE_BUFFER_ROOT_MOTION + 1, &buffer) == POSSE_STATUS_ARGUMENT);
  CHECK(posse_packed_read(packed, 0, POSSE_BUFFER_LAYERS, bytes, 359) == POSSE_STATUS_BUFFER);
  OK(posse_packed_read(packed, 0, POSSE_BUFFER_LAYERS, bytes, sizeof bytes));
  // The clips are the records that begin the layers, one behind the other in the words.
  CHECK(memcmp(bytes, bytes + 120, 4) != 0 && memcmp(bytes + 120, bytes + 240, 4) != 0);
  // The clock is a number of 64 bits, lower half first: 2^32 + 2 after -1.
  memcpy(words, &frame, sizeof words);
  CHECK(words[0] == 2 && words[1] == 1 && words[2] == 0xffffffff && words[3] == 0xffffffff && words[4] == 0);
  OK(posse_packed_destroy(packed));
  // One instance of a skin of two joints has 96 bytes, and a layer 120.
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.max_binding_bytes = 100;
  CHECK(posse_packed_create(crowd, &options, &packed, &count) == POSSE_STATUS_LIMIT && packed == NULL && count == 0);
  OK(posse_crowd_destroy(crowd));
  OK(posse_library_destroy(library));
  CHECK(posse_packed_destroy((posse_packed *)(void *)library) == POSSE_STATUS_HANDLE);
}

int main(void) {
  test_library();
  test_outputs();
  test_layers();
  test_changes();
  test_transitions();
  test_goals();
  test_events_and_motion();
  test_threads();
  test_packed();
  test_errors();
  puts("10 passed, 0 failed");
  return 0;
}
