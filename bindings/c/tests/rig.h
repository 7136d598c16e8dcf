// Small rigs, made in code, and checks that end the program. For C11 and C++17.

#ifndef POSSE_TESTS_RIG_H
#define POSSE_TESTS_RIG_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posse.h"
// As in a program where several headers include it.
#include "posse.h"

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      fprintf(stderr, "%s:%d: %s; the last error is: %s\n", __FILE__, __LINE__, #condition, posse_error_text()); \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)
#define OK(call) CHECK((call) == POSSE_STATUS_OK)
#define NEAR(found, expected) CHECK(fabs((double)(found) - (double)(expected)) < 2e-6)

#define RIGHT 1.57079632679489662  // 90 degrees

static inline void append_base64(char *to, const void *bytes, size_t size) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *from = (const unsigned char *)bytes;
  char *at = to + strlen(to);
  size_t index;
  for (index = 0; index < size; index += 3) {
    const size_t left = size - index;
    const unsigned word = (unsigned)from[index] << 16 | (unsigned)(left > 1 ? from[index + 1] : 0) << 8 |
                          (unsigned)(left > 2 ? from[index + 2] : 0);
    *at++ = letters[word >> 18 & 63];
    *at++ = letters[word >> 12 & 63];
    *at++ = left > 1 ? letters[word >> 6 & 63] : '=';
    *at++ = left > 2 ? letters[word & 63] : '=';
  }
  *at = 0;
}

// An arm of two joints as a glTF file. `root` stands at (0, 1, 0), and `child` 2 above it. `swing` rotates the root about
// z from 0 to 90 degrees within a second, `rise` moves it from y = 1 to y = 3, `walk` from x = 0 to x = 2.
static inline const char *arm_gltf(void) {
  static const float numbers[] = {
      0.f, 1.f,                                              // times
      0.f, 0.f, 0.f, 1.f, 0.f, 0.f, .70710678f, .70710678f,  // rotations
      0.f, 1.f, 0.f, 0.f, 3.f, 0.f,                          // y
      0.f, 1.f, 0.f, 2.f, 1.f, 0.f,                          // x
      1.f, 0.f, 0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 0.f, 1.f, 0.f, 0.f, -1.f, 0.f, 1.f,  // inverse bind matrices
      1.f, 0.f, 0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 0.f, 1.f, 0.f, 0.f, -3.f, 0.f, 1.f,
  };
  static char text[4096];
  text[0] = 0;
  strcat(text, "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"scene\":0,\"nodes\":["
               "{\"name\":\"root\",\"translation\":[0,1,0],\"children\":[1]},{\"name\":\"child\",\"translation\":[0,2,0]}],"
               "\"skins\":[{\"joints\":[0,1],\"inverseBindMatrices\":4}],\"animations\":["
               "{\"name\":\"swing\",\"samplers\":[{\"input\":0,\"output\":1}],"
               "\"channels\":[{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"rotation\"}}]},"
               "{\"name\":\"rise\",\"samplers\":[{\"input\":0,\"output\":2}],"
               "\"channels\":[{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"translation\"}}]},"
               "{\"name\":\"walk\",\"samplers\":[{\"input\":0,\"output\":3}],"
               "\"channels\":[{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"translation\"}}]}],"
               "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"type\":\"SCALAR\",\"count\":2,\"min\":[0],\"max\":[1]},"
               "{\"bufferView\":1,\"componentType\":5126,\"type\":\"VEC4\",\"count\":2},"
               "{\"bufferView\":2,\"componentType\":5126,\"type\":\"VEC3\",\"count\":2},"
               "{\"bufferView\":3,\"componentType\":5126,\"type\":\"VEC3\",\"count\":2},"
               "{\"bufferView\":4,\"componentType\":5126,\"type\":\"MAT4\",\"count\":2}],"
               "\"bufferViews\":[{\"buffer\":0,\"byteLength\":8},{\"buffer\":0,\"byteOffset\":8,\"byteLength\":32},"
               "{\"buffer\":0,\"byteOffset\":40,\"byteLength\":24},{\"buffer\":0,\"byteOffset\":64,\"byteLength\":24},"
               "{\"buffer\":0,\"byteOffset\":88,\"byteLength\":128}],"
               "\"buffers\":[{\"byteLength\":216,\"uri\":\"data:application/octet-stream;base64,");
  append_base64(text, numbers, sizeof numbers);
  strcat(text, "\"}]}");
  return text;
}

// A clip of Cocos Creator of 1 s that moves the child of the arm from y = 2 to y = 4, with events at 0.25 s and 0.75 s.
static inline const char *steps_clip(void) {
  return
    "{\"__type__\":\"cc.AnimationClip\",\"_name\":\"steps\",\"_duration\":1,\"sample\":60,\"speed\":1,\"wrapMode\":2,"
    "\"events\":[{\"frame\":0.25,\"func\":\"left\",\"params\":[]},{\"frame\":0.75,\"func\":\"right\",\"params\":[]}],"
    "\"_keys\":[[0,1]],\"curveDatas\":{\"/root/child\":{\"props\":{\"position\":{\"keys\":0,\"values\":["
    "{\"__type__\":\"cc.Vec3\",\"x\":0,\"y\":2,\"z\":0},{\"__type__\":\"cc.Vec3\",\"x\":0,\"y\":4,\"z\":0}]}}}}}";
}

// A chain of two joints as a BVH file: at 0.5 s, the head is bent by 30 degrees about x.
static inline const char *nod_bvh(void) {
  return
    "HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\nJOINT Head\n{\nOFFSET 0 2 0\n"
    "CHANNELS 1 Xrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.5\n0 1 0 0\n0 1 0 30\n";
}

// A library with the arm.
static inline posse_library *arm_library(void) {
  posse_library *library = NULL;
  const char *text = arm_gltf();
  OK(posse_library_create(&library));
  OK(posse_library_load_memory(library, "arm.gltf", (const uint8_t *)text, strlen(text), NULL, NULL));
  return library;
}

// A layer that stays at a time of a clip.
static inline posse_layer fixed_layer(uint32_t clip, double seconds) {
  posse_layer layer = posse_layer_of(clip);
  layer.time = POSSE_TIME_FIXED;
  layer.seconds = seconds;
  return layer;
}

static inline posse_crowd *make_crowd(posse_library *library, uint32_t outputs, uint32_t chunk_size) {
  posse_crowd *crowd = NULL;
  posse_crowd_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.outputs = outputs;
  options.chunk_size = chunk_size;
  OK(posse_crowd_create(library, &options, &crowd));
  return crowd;
}

static inline posse_outputs no_outputs(uint32_t format) {
  posse_outputs outputs;
  memset(&outputs, 0, sizeof outputs);
  outputs.struct_size = sizeof outputs;
  outputs.format = format;
  return outputs;
}

static inline posse_output output_of(float *numbers, size_t count, size_t stride) {
  posse_output output;
  output.numbers = numbers;
  output.count = count;
  output.stride = stride;
  return output;
}

#endif
