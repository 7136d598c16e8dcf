// A frame allocates nothing: the linker leads all calls of the allocator to the functions below (--wrap).

#include "rig.h"

static size_t allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
int __real_posix_memalign(void **to, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __wrap_posix_memalign(void **to, size_t alignment, size_t size);

void *__wrap_malloc(size_t size) {
  ++allocations;
  return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
  ++allocations;
  return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size) {
  ++allocations;
  return __real_realloc(old, size);
}

int __wrap_posix_memalign(void **to, size_t alignment, size_t size) {
  ++allocations;
  return __real_posix_memalign(to, alignment, size);
}

int main(void) {
  posse_library *library = arm_library();
  posse_crowd *crowd;
  static float model[300 * 32], motion[300 * 8], values[300];
  posse_outputs outputs = no_outputs(POSSE_FORMAT_COLUMNS4X4);
  size_t before;
  int index, frame;

  OK(posse_library_set_root_motion(library, 2, 0));
  crowd = make_crowd(library, POSSE_OUTPUT_MODEL | POSSE_OUTPUT_ROOT_MOTION, 32);
  for (index = 0; index < 300; ++index) {
    posse_layer layers[2];
    layers[0] = posse_layer_of((uint32_t)index % 3);
    layers[0].start = -index * (posse_ticks)1049;
    layers[1] = posse_layer_of(0);
    layers[1].time = POSSE_TIME_PHASE;
    OK(posse_crowd_add(crowd, 0, layers, 1 + (uint32_t)index % 2, NULL));
    if (index % 5 == 0) OK(posse_crowd_begin_transition(crowd, (uint32_t)index, layers, 1, NULL, 0));
  }
  CHECK(allocations > 300);
  outputs.model = output_of(model, 300 * 32, 32);
  outputs.root_motion = output_of(motion, 300 * 8, 8);
  for (index = 0; index < 300; ++index) values[index] = (float)index / 300;
  OK(posse_crowd_set_parameters(crowd, 0, 300, values, 1));
  OK(posse_crowd_pose(crowd, POSSE_ALL_CHUNKS, 0, 0, &outputs));

  before = allocations;
  for (frame = 0; frame < 100; ++frame) {
    const posse_ticks now = frame * (posse_ticks)17476;
    for (index = 0; index < 300; ++index) values[index] += 0.01f;
    OK(posse_crowd_set_parameters(crowd, 0, 300, values, 1));
    OK(posse_crowd_pose(crowd, POSSE_ALL_CHUNKS, now, now + 17476, &outputs));
  }
  if (allocations != before) {
    fprintf(stderr, "100 frames allocated %zu times\n", allocations - before);
    return 1;
  }
  OK(posse_crowd_destroy(crowd));
  OK(posse_library_destroy(library));
  puts("1 passed, 0 failed");
  return 0;
}
