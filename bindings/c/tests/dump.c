// Prints the model matrices of a clip of a file at times: dump FILE CLIP SECONDS... A line per time and joint has the time,
// the name of the joint and three rows of four numbers. For eval.py, which compares them with `posse eval`.

#include "rig.h"

#ifdef ARM_TO_FILE
// Writes the arm of the tests to a file.
int main(int count, char **arguments) {
  FILE *file = count == 2 ? fopen(arguments[1], "w") : NULL;
  CHECK(file != NULL && fputs(arm_gltf(), file) >= 0 && fclose(file) == 0);
  return 0;
}
#else
int main(int count, char **arguments) {
  posse_library *library = NULL;
  posse_crowd *crowd;
  posse_clip_info clip;
  posse_skeleton_info skeleton;
  posse_layer layer;
  posse_outputs outputs = no_outputs(POSSE_FORMAT_ROWS3X4);
  float *numbers;
  uint32_t index, instance, joint;
  int at;
  if (count < 4) {
    fprintf(stderr, "usage: dump FILE CLIP SECONDS...\n");
    return 2;
  }
  OK(posse_library_create(&library));
  OK(posse_library_load_file(library, arguments[1], NULL, NULL));
  OK(posse_library_find(library, POSSE_ITEM_CLIP, POSSE_NONE, arguments[2], &index));
  memset(&clip, 0, sizeof clip);
  clip.struct_size = sizeof clip;
  OK(posse_library_get_clip(library, index, &clip));
  memset(&skeleton, 0, sizeof skeleton);
  skeleton.struct_size = sizeof skeleton;
  OK(posse_library_get_skeleton(library, clip.skeleton, &skeleton));
  crowd = make_crowd(library, POSSE_OUTPUT_MODEL, 0);
  for (at = 3; at < count; ++at) {
    layer = fixed_layer(index, atof(arguments[at]));
    OK(posse_crowd_add(crowd, clip.skeleton, &layer, 1, &instance));
  }
  numbers = (float *)malloc((size_t)(count - 3) * 12 * skeleton.joint_count * sizeof(float));
  CHECK(numbers != NULL);
  outputs.model = output_of(numbers, (size_t)(count - 3) * 12 * skeleton.joint_count, 12 * (size_t)skeleton.joint_count);
  OK(posse_crowd_pose(crowd, POSSE_ALL_CHUNKS, 0, 0, &outputs));
  for (at = 3; at < count; ++at) {
    for (joint = 0; joint < skeleton.joint_count; ++joint) {
      char name[256];
      const float *rows = numbers + ((size_t)(at - 3) * skeleton.joint_count + joint) * 12;
      int number;
      OK(posse_library_name(library, POSSE_ITEM_JOINT, clip.skeleton, joint, name, sizeof name, NULL));
      printf("%s\t%s", arguments[at], name);
      for (number = 0; number < 12; ++number) printf("\t%.9g", (double)rows[number]);
      putchar('\n');
    }
  }
  free(numbers);
  OK(posse_crowd_destroy(crowd));
  OK(posse_library_destroy(library));
  return 0;
}
#endif
