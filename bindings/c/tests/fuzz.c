// Calls of all functions in random order, with arguments that are valid and arguments that are not: fuzz [CALLS [SEED]].
//
// All memory that calls are given is as large as they are told, and no larger, so that AddressSanitizer sees each byte that
// is read or written beyond it. What no library can see is left out: a wrong length, a pointer to nowhere, a text without
// an end. The program counts the results, and fails if a kind of result never occurs or an internal error does.

#include "rig.h"

enum { MAX_HANDLES = 12, INSTANCES = 10, MAX_INSTANCES = 40, FUNCTIONS = 34 };

static uint64_t state;
static posse_library *libraries[MAX_HANDLES];
static posse_crowd *crowds[MAX_HANDLES];
static posse_packed *packs[MAX_HANDLES];
static size_t results[POSSE_STATUS_INTERNAL + 1], by_function[FUNCTIONS][2];

static uint32_t random_below(uint32_t end) {
  // splitmix64
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (uint32_t)(((z ^ (z >> 31)) >> 32) * end >> 32);
}

static int rarely(void) { return random_below(32) == 0; }

// An index that is likely to be there.
static uint32_t index_below(uint32_t end) {
  static const uint32_t odd[] = {POSSE_NONE, 0x7fffffff, 0x80000000, 100, 0xfffffffe};
  return rarely() ? odd[random_below(5)] : random_below(end + (random_below(8) == 0));
}

static double random_number(void) {
  static const double odd[] = {0, -0.0, 1e30, -1, 1e-30, 1e300, -1e300};
  switch (random_below(24)) {
    case 0: return NAN;
    case 1: return random_below(2) ? INFINITY : -INFINITY;
    case 2: return odd[random_below(7)];
    default: return random_below(1000) / 250.0;
  }
}

static posse_ticks random_ticks(void) {
  static const posse_ticks odd[] = {INT64_MIN, INT64_MAX, -1, 0};
  if (rarely()) return odd[random_below(4)];
  return (posse_ticks)random_below(1u << 24) - (1 << 20);
}

static size_t size_of_struct(size_t size) {
  static const size_t odd[] = {0, 8, SIZE_MAX, 1};
  if (!rarely()) return size;
  return random_below(2) ? odd[random_below(4)] : size + 8 * random_below(3) - 8;
}

// Bytes on the heap, with nothing beyond them. Some are not aligned.
static void *memory(size_t size, char **base) {
  const size_t offset = rarely();
  *base = (char *)malloc(size + offset + (size + offset == 0));
  CHECK(*base != NULL);
  memset(*base, 0x5a, size + offset);
  return *base + offset;
}

static posse_library *some_library(void) {
  if (rarely()) return (posse_library *)(void *)(uintptr_t)(random_below(2) ? random_below(100) : 0);
  if (rarely()) return (posse_library *)(void *)crowds[random_below(MAX_HANDLES)];
  return libraries[random_below(MAX_HANDLES)];
}

static posse_crowd *some_crowd(void) {
  if (rarely()) return (posse_crowd *)(void *)(uintptr_t)(random_below(2) ? random_below(100) : SIZE_MAX);
  if (rarely()) return (posse_crowd *)(void *)libraries[random_below(MAX_HANDLES)];
  return crowds[random_below(MAX_HANDLES)];
}

static posse_packed *some_packed(void) {
  if (rarely()) return (posse_packed *)(void *)(uintptr_t)(random_below(2) ? random_below(100) : 0);
  if (rarely()) return (posse_packed *)(void *)crowds[random_below(MAX_HANDLES)];
  return packs[random_below(MAX_HANDLES)];
}

static posse_layer random_layer(void) {
  posse_layer layer = posse_layer_of(index_below(4));
  layer.struct_size = size_of_struct(sizeof layer);
  if (random_below(2)) layer.start = random_ticks();
  if (random_below(4) == 0) {
    layer.time = index_below(4);
    layer.seconds = random_number();
    layer.parameter = index_below(16);
    layer.leader = index_below(8);
  }
  if (random_below(8) == 0) layer.rate = random_number();
  if (random_below(8) == 0) layer.weight = random_number();
  if (random_below(8) == 0) layer.wrap = index_below(7);
  if (random_below(8) == 0) layer.mode = index_below(4);
  if (random_below(16) == 0) layer.mask = index_below(2);
  if (random_below(16) == 0) layer.repeat_count = random_number();
  if (random_below(16) == 0) layer.range[0] = random_number(), layer.range[1] = random_number();
  if (random_below(8) == 0) {
    layer.driver = index_below(3);
    layer.driver_index = index_below(2);
    layer.driver_parameters[0] = index_below(16);
    layer.driver_parameters[1] = index_below(16);
    layer.driver_point = index_below(3);
  }
  if (random_below(8) == 0) {
    layer.fade_in.start = random_ticks();
    layer.fade_in.length = random_ticks();
    layer.fade_in.shape = index_below(3);
  }
  return layer;
}

// Layers in memory of their own. `count` is what the call is told.
static posse_layer *random_layers(uint32_t *count, char **base) {
  posse_layer *layers;
  uint32_t index;
  *count = random_below(8) == 0 ? random_below(11) : random_below(3);
  *base = (char *)malloc(*count * sizeof(posse_layer) + (*count == 0));
  CHECK(*base != NULL);
  layers = (posse_layer *)(void *)*base;
  for (index = 0; index < *count; ++index) layers[index] = random_layer();
  if (rarely()) *count = 0;
  return rarely() ? NULL : layers;
}

static posse_output random_output(int wanted, char **base) {
  posse_output output = output_of(NULL, random_below(8) ? 8000 : random_below(2000), 40 + random_below(160));
  *base = NULL;
  if (rarely()) output.stride = random_below(2) ? SIZE_MAX / 2 : 0;
  if (wanted) output.numbers = (float *)memory(output.count * sizeof(float), base);
  return output;
}

static posse_status load(posse_library *library) {
  posse_loaded loaded;
  const char *texts[3], *text;
  static const char *const names[] = {"arm.gltf", "steps.anim", "nod.bvh", "a", "", "\xff"};
  char *bytes;
  size_t size;
  posse_status status;
  posse_load_options options;
  texts[0] = arm_gltf();
  texts[1] = steps_clip();
  texts[2] = nod_bvh();
  text = texts[random_below(3)];
  size = strlen(text);
  bytes = (char *)malloc(size);
  CHECK(bytes != NULL);
  memcpy(bytes, text, size);
  // Some files are damaged, or end early.
  if (random_below(4) == 0) bytes[random_below((uint32_t)size)] = (char)random_below(256);
  if (random_below(4) == 0) size = random_below((uint32_t)size + 1);
  memset(&options, 0, sizeof options);
  options.struct_size = size_of_struct(sizeof options);
  options.skeleton = index_below(1);
  options.fps = random_below(4) ? 0 : random_number();
  loaded.struct_size = size_of_struct(sizeof loaded);
  status = posse_library_load_memory(library, rarely() ? NULL : names[random_below(6)], (const uint8_t *)bytes, size,
                                     random_below(2) ? &options : NULL, random_below(2) ? &loaded : NULL);
  free(bytes);
  return status;
}

static posse_status pose(posse_crowd *crowd) {
  posse_outputs outputs = no_outputs(index_below(3));
  const uint32_t wanted = 1u << random_below(5) | (random_below(2) ? 1u << random_below(5) : 0), chunk = random_below(4) ? POSSE_ALL_CHUNKS : index_below(3);
  char *bases[5];
  posse_status status;
  int index;
  outputs.struct_size = size_of_struct(sizeof outputs);
  outputs.local = random_output(wanted & 1, &bases[0]);
  outputs.model = random_output(wanted & 2, &bases[1]);
  outputs.skin = random_output(wanted & 4, &bases[2]);
  outputs.values = random_output(wanted & 8, &bases[3]);
  outputs.root_motion = random_output(wanted & 16, &bases[4]);
  status = posse_crowd_pose(crowd, chunk, random_ticks(), random_ticks(), rarely() ? NULL : &outputs);
  for (index = 0; index < 5; ++index) free(bases[index]);
  return status;
}

static posse_status events(posse_crowd *crowd) {
  posse_event_list list;
  char *base;
  posse_status status;
  memset(&list, 0, sizeof list);
  list.struct_size = size_of_struct(sizeof list);
  list.capacity = random_below(20);
  list.events = (posse_event *)memory(list.capacity * sizeof(posse_event), &base);
  if (rarely()) list.events = NULL;
  status = posse_crowd_events(crowd, random_below(4) ? POSSE_ALL_CHUNKS : index_below(3), random_ticks(), random_ticks(), &list);
  free(base);
  return status;
}

static posse_status name(posse_library *library) {
  size_t length, capacity = random_below(20);
  char *base, *buffer = (char *)memory(capacity, &base);
  const posse_status status = posse_library_name(library, index_below(8), index_below(2), index_below(3), rarely() ? NULL : buffer,
                                                 capacity, random_below(2) ? &length : NULL);
  free(base);
  return status;
}

// `pairs` numbers per element.
static posse_status numbers(posse_library *library, uint32_t function, uint32_t pairs) {
  const size_t count = random_below(6);
  char *base;
  float *values = (float *)memory(pairs * count * sizeof(float), &base);
  uint32_t made, *to = rarely() ? NULL : &made;
  posse_status status;
  size_t index;
  if (base == (char *)values)
    for (index = 0; index < pairs * count; ++index)
      values[index] = random_below(8) ? (float)(index / pairs) + (float)random_below(3) : (float)random_number();
  if (rarely()) values = NULL;
  if (function == 6) status = posse_library_add_mask(library, index_below(1), values, count, to);
  else if (function == 7) status = posse_library_add_knots(library, values, count, to);
  else status = posse_library_add_blend_space(library, values, count, to);
  free(base);
  return status;
}

static posse_status call(uint32_t function) {
  posse_library *const library = some_library();
  posse_crowd *const crowd = some_crowd();
  const uint32_t slot = random_below(MAX_HANDLES);
  uint32_t index, count;
  char *base;
  posse_status status;
  switch (function) {
    case 0: {
      posse_library *made = NULL;
      // What a slot had is destroyed, and some of its keys are used later.
      status = posse_library_create(rarely() ? NULL : &made);
      if (status == POSSE_STATUS_OK) {
        (void)posse_library_destroy(libraries[slot]);
        libraries[slot] = made;
        OK(posse_library_load_memory(made, "arm.gltf", (const uint8_t *)arm_gltf(), strlen(arm_gltf()), NULL, NULL));
        if (random_below(2)) (void)posse_library_set_root_motion(made, 2, 0);
      }
      return status;
    }
    case 1: return random_below(64) ? POSSE_STATUS_OK : posse_library_destroy(library);
    case 2: return load(library);
    case 3: return posse_library_load_file(library, random_below(8) ? "no such file" : NULL, NULL, NULL);
    case 4: return posse_library_share_clip(library, index_below(3), index_below(2), rarely() ? NULL : &index);
    case 5: return posse_library_set_root_motion(library, index_below(3), index_below(2));
    case 6: return numbers(library, function, 1);
    case 7:
    case 8: return numbers(library, function, 2);
    case 9: {
      static const char *const texts[] = {"swing", "#1", "root/child", "child", "arm", "none", "", "swing#0", "\xc3("};
      return posse_library_find(library, index_below(8), index_below(1), rarely() ? NULL : texts[random_below(9)],
                                rarely() ? NULL : &index);
    }
    case 10: return name(library);
    case 11: {
      posse_library_info info;
      info.struct_size = size_of_struct(sizeof info);
      return posse_library_get_info(library, rarely() ? NULL : &info);
    }
    case 12: {
      posse_skeleton_info info;
      info.struct_size = size_of_struct(sizeof info);
      return posse_library_get_skeleton(library, index_below(1), &info);
    }
    case 13: {
      posse_joint_info info;
      info.struct_size = size_of_struct(sizeof info);
      return posse_library_get_joint(library, index_below(1), index_below(2), &info);
    }
    case 14: {
      posse_clip_info info;
      double seconds;
      info.struct_size = size_of_struct(sizeof info);
      if (random_below(2)) return posse_library_get_event(library, index_below(4), index_below(2), &seconds);
      return posse_library_get_clip(library, index_below(4), &info);
    }
    case 15: {
      posse_crowd *made = NULL;
      posse_crowd_options options;
      memset(&options, 0, sizeof options);
      options.struct_size = size_of_struct(sizeof options);
      options.outputs = random_below(4) ? 63 : index_below(64);
      options.skin_format = index_below(3);
      options.chunk_size = random_below(2) ? random_below(20) : index_below(2);
      status = posse_crowd_create(library, rarely() ? NULL : &options, &made);
      if (status == POSSE_STATUS_OK) {
        (void)posse_crowd_destroy(crowds[slot]);
        crowds[slot] = made;
        // Instances that are there, so that other calls find them.
        for (count = 0; count < INSTANCES; ++count) {
          const posse_layer layer = posse_layer_of(count % 3);
          (void)posse_crowd_add(made, 0, &layer, count % 4 != 0, NULL);
        }
      }
      return status;
    }
    case 16: return random_below(64) ? POSSE_STATUS_OK : posse_crowd_destroy(crowd);
    case 17: {
      posse_layer *layers;
      posse_crowd_info info;
      info.struct_size = sizeof info;
      if (posse_crowd_get_info(crowd, &info) == POSSE_STATUS_OK && info.instance_count >= MAX_INSTANCES)
        return posse_crowd_get_info(crowd, NULL);
      layers = random_layers(&count, &base);
      status = posse_crowd_add(crowd, index_below(1), layers, count, random_below(2) ? &index : NULL);
      free(base);
      return status;
    }
    case 18: {
      posse_layer *layers = random_layers(&count, &base);
      status = posse_crowd_set_layers(crowd, index_below(INSTANCES), layers, count);
      free(base);
      return status;
    }
    case 19: {
      posse_layer *layers = random_layers(&count, &base);
      posse_transition transition;
      memset(&transition, 0, sizeof transition);
      transition.struct_size = size_of_struct(sizeof transition);
      transition.half_life = random_number();
      transition.seconds = random_number();
      transition.kind = index_below(2);
      status = posse_crowd_begin_transition(crowd, index_below(INSTANCES), layers, count,
                                            random_below(2) ? &transition : NULL, random_ticks());
      free(base);
      return status;
    }
    case 20: {
      const uint32_t instances = random_below(20), width = random_below(8) ? 1 + random_below(16) : index_below(20);
      const size_t told = (size_t)instances * (width < 32 ? width : 0);
      float *values = (float *)memory(told * sizeof(float), &base);
      size_t at;
      if (base == (char *)values)
        for (at = 0; at < told; ++at) values[at] = random_below(64) ? (float)random_below(100) / 20 : (float)random_number();
      status = posse_crowd_set_parameters(crowd, index_below(8), instances, rarely() ? NULL : values, width);
      free(base);
      return status;
    }
    case 21: return pose(crowd);
    case 22: return events(crowd);
    case 23: {
      float *matrix = (float *)memory(12 * sizeof(float), &base);
      status = posse_crowd_get_joint(crowd, index_below(INSTANCES), index_below(2), random_ticks(), matrix);
      free(base);
      return status;
    }
    case 24: {
      posse_goal *goals;
      uint32_t at;
      count = random_below(16) ? random_below(4) : random_below(40);
      goals = (posse_goal *)malloc(count * sizeof *goals + (count == 0));
      CHECK(goals != NULL);
      for (at = 0; at < count; ++at) {
        goals[at] = posse_goal_of(index_below(3), random_number(), random_number(), random_number());
        goals[at].struct_size = size_of_struct(sizeof *goals);
        if (random_below(4) == 0) goals[at].weight = random_number();
        if (random_below(4) == 0) goals[at].weight_parameter = index_below(16);
        if (random_below(4) == 0)
          goals[at].target_parameters[0] = goals[at].target_parameters[1] = goals[at].target_parameters[2] = index_below(16);
      }
      status = posse_crowd_set_goals(crowd, index_below(INSTANCES), rarely() ? NULL : goals, count);
      free(goals);
      return status;
    }
    case 25: {
      posse_chain chain;
      memset(&chain, 0, sizeof chain);
      chain.struct_size = size_of_struct(sizeof chain);
      chain.kind = index_below(2);
      chain.skeleton = index_below(2);
      chain.joints[0] = index_below(1);
      chain.joints[1] = 1 + index_below(1);
      chain.joints[2] = 2 + index_below(1);
      chain.hold = random_below(2);
      chain.direction[1] = random_number();
      chain.limit = random_number();
      return posse_library_add_chain(library, rarely() ? NULL : &chain, rarely() ? NULL : &index);
    }
    case 26: {
      const posse_layer layer = random_layer();
      return posse_crowd_cross_fade(crowd, index_below(INSTANCES), rarely() ? NULL : &layer, random_ticks(), random_ticks());
    }
    case 27: {
      posse_skin_joint_info info;
      info.struct_size = size_of_struct(sizeof info);
      return posse_library_get_skin_joint(library, index_below(1), index_below(2), &info);
    }
    case 28: {
      posse_pack_options options = {0};
      posse_packed *made = NULL;
      options.struct_size = size_of_struct(sizeof options);
      options.max_binding_bytes = random_below(8) ? 0 : random_below(4096);
      options.max_groups_per_row = random_below(8) ? 0 : random_below(4);
      status = posse_packed_create(crowd, random_below(4) ? &options : NULL, rarely() ? NULL : &made, rarely() ? NULL : &count);
      if (made != NULL) {
        (void)posse_packed_destroy(packs[slot]);
        packs[slot] = made;
      }
      return status;
    }
    case 29: return random_below(64) ? POSSE_STATUS_OK : posse_packed_destroy(some_packed());
    case 30: {
      posse_packed *const packed = some_packed();
      posse_packed_batch info;
      info.struct_size = size_of_struct(sizeof info);
      index = index_below(2);
      status = posse_packed_get_batch(packed, index, &info);
      if (status == POSSE_STATUS_OK) {
        const uint32_t capacity = info.instance_count - (random_below(8) == 0);
        uint32_t *instances = (uint32_t *)memory(capacity * sizeof(uint32_t), &base);
        status = posse_packed_get_instances(packed, index, rarely() ? NULL : instances, capacity);
        free(base);
      }
      return status;
    }
    case 31: {
      posse_packed *const packed = some_packed();
      posse_packed_dispatch info;
      char text[128];
      size_t length;
      info.struct_size = size_of_struct(sizeof info);
      index = index_below(2);
      count = index_below(2);
      status = posse_packed_get_dispatch(packed, index, count, &info);
      if (status != POSSE_STATUS_OK) return status;
      return posse_packed_kernel(packed, index, count, text, random_below(sizeof text), rarely() ? NULL : &length);
    }
    case 32: {
      posse_packed *const packed = some_packed();
      posse_packed_buffer info = {0};
      size_t capacity;
      uint8_t *contents;
      info.struct_size = size_of_struct(sizeof info);
      index = index_below(2);
      count = index_below(POSSE_BUFFER_ROOT_MOTION + 1);
      status = posse_packed_get_buffer(packed, index, count, &info);
      if (status != POSSE_STATUS_OK || info.content_bytes == 0) return status;
      capacity = (size_t)info.content_bytes - (random_below(8) == 0);
      contents = (uint8_t *)memory(capacity, &base);
      status = posse_packed_read(packed, index, count, rarely() ? NULL : contents, capacity);
      free(base);
      return status;
    }
    default: {
      posse_layout layout;
      layout.struct_size = size_of_struct(sizeof layout);
      return posse_crowd_get_layout(crowd, index_below(1), index_below(3), &layout);
    }
  }
}

int main(int count, char **arguments) {
  const size_t calls = count > 1 ? (size_t)strtoull(arguments[1], NULL, 10) : 1000000;
  size_t done, function, status;
  int failed = 0;
  state = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
  for (done = 0; done < calls; ++done) {
    // Poses, changes and queries are as many as all other calls together; new libraries and files are rare.
    uint32_t at = random_below(2) ? 17 + random_below(8) : random_below(FUNCTIONS);
    posse_status found;
    if ((at == 0 || at == 2 || at == 4 || at == 15) && done > 5000 && random_below(8)) at = 17 + random_below(8);
    found = call(at);
    if (found == POSSE_STATUS_INTERNAL || (found != POSSE_STATUS_OK && posse_error_text()[0] == 0)) {
      fprintf(stderr, "call %zu, of function %u: status %d: %s\n", done, (unsigned)at, (int)found, posse_error_text());
      return 1;
    }
    ++results[found];
    ++by_function[at][found != POSSE_STATUS_OK];
  }
  for (status = 0; status < POSSE_STATUS_INTERNAL; ++status) {
    printf("status %zu: %zu\n", status, results[status]);
    failed += results[status] == 0;
  }
  for (function = 0; function < FUNCTIONS; ++function) {
    // The file that function 3 reads is never there.
    failed += by_function[function][1] == 0 || (by_function[function][0] == 0 && function != 3);
    printf("function %zu: %zu succeeded, %zu failed\n", function, by_function[function][0], by_function[function][1]);
  }
  for (function = 0; function < MAX_HANDLES; ++function) {
    (void)posse_library_destroy(libraries[function]);
    (void)posse_crowd_destroy(crowds[function]);
    (void)posse_packed_destroy(packs[function]);
  }
  if (failed && calls >= 100000) {
    fprintf(stderr, "a function or a status has not occurred\n");
    return 1;
  }
  printf("%zu calls\n", calls);
  return 0;
}
