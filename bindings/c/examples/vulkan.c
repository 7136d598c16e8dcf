// Poses a crowd by the kernels of posse on a device of its own, in plain Vulkan, and compares the skin matrices with those
// of the CPU engine: vulkan KERNELS FILE
//
// KERNELS is the folder that `posse kernels FILE --emit spirv -o KERNELS` has written. The buffers and dispatches are those
// that the C interface tells; kernels.json describes the same for programs without it. docs/kernels.md has the steps.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>

#include "posse.h"

enum { MAX_BUFFERS = POSSE_BUFFER_ROOT_MOTION + 1, MAX_CLIPS = 6, PLAIN = 5, NO_DEVICE = 77 };

#define CHECK(condition)                                                                                      \
  do {                                                                                                        \
    if (!(condition)) {                                                                                       \
      fprintf(stderr, "%s:%d: %s; posse says: %s\n", __FILE__, __LINE__, #condition, posse_error_text());      \
      exit(1);                                                                                                \
    }                                                                                                         \
  } while (0)
#define OK(call) CHECK((call) == POSSE_STATUS_OK)
#define VK(call) CHECK((call) == VK_SUCCESS)

// --- A device with one queue, and buffers in memory that the host sees.

typedef struct {
  VkPhysicalDevice adapter;
  VkDevice device;
  VkQueue queue;
  uint32_t family;
  VkPhysicalDeviceLimits limits;
} gpu;

typedef struct {
  VkBuffer buffer;
  void *bytes;
  VkDeviceSize size;
} gpu_buffer;

static gpu open_gpu(void) {
  VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
  VkInstanceCreateInfo instance_info = {
      .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  VkInstance instance;
  VkPhysicalDevice adapters[8];
  VkQueueFamilyProperties families[16];
  VkPhysicalDeviceProperties properties;
  uint32_t count = 8, family_count = 16;
  float priority = 1;
  gpu found = {0};
  VkDeviceQueueCreateInfo queue_info = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
  VkDeviceCreateInfo device_info = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue_info};
  VkResult listed = vkCreateInstance(&instance_info, NULL, &instance);
  if (listed == VK_SUCCESS) listed = vkEnumeratePhysicalDevices(instance, &count, adapters);
  if ((listed != VK_SUCCESS && listed != VK_INCOMPLETE) || count == 0) {
    fprintf(stderr, "there is no Vulkan device\n");
    exit(NO_DEVICE);
  }
  found.adapter = adapters[0];
  vkGetPhysicalDeviceProperties(found.adapter, &properties);
  found.limits = properties.limits;
  printf("%s\n", properties.deviceName);
  vkGetPhysicalDeviceQueueFamilyProperties(found.adapter, &family_count, families);
  while (found.family < family_count && !(families[found.family].queueFlags & VK_QUEUE_COMPUTE_BIT)) ++found.family;
  CHECK(found.family < family_count);
  queue_info.queueFamilyIndex = found.family;
  VK(vkCreateDevice(found.adapter, &device_info, NULL, &found.device));
  vkGetDeviceQueue(found.device, found.family, 0, &found.queue);
  return found;
}

static gpu_buffer make_buffer(const gpu *on, VkDeviceSize size, VkBufferUsageFlags usage) {
  const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
  VkMemoryAllocateInfo memory_info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  VkPhysicalDeviceMemoryProperties kinds;
  VkMemoryRequirements needs;
  VkDeviceMemory memory;
  gpu_buffer made = {.size = size};
  VK(vkCreateBuffer(on->device, &info, NULL, &made.buffer));
  vkGetBufferMemoryRequirements(on->device, made.buffer, &needs);
  vkGetPhysicalDeviceMemoryProperties(on->adapter, &kinds);
  while (!(needs.memoryTypeBits >> memory_info.memoryTypeIndex & 1) ||
         (kinds.memoryTypes[memory_info.memoryTypeIndex].propertyFlags & wanted) != wanted) {
    CHECK(++memory_info.memoryTypeIndex < kinds.memoryTypeCount);
  }
  memory_info.allocationSize = needs.size;
  VK(vkAllocateMemory(on->device, &memory_info, NULL, &memory));
  VK(vkBindBufferMemory(on->device, made.buffer, memory, 0));
  VK(vkMapMemory(on->device, memory, 0, VK_WHOLE_SIZE, 0, &made.bytes));
  memset(made.bytes, 0, (size_t)size);
  return made;
}

static VkShaderModule load_shader(const gpu *on, const char *folder, const char *kernel) {
  VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  VkShaderModule module;
  char path[4096];
  uint32_t *words;
  long size;
  FILE *file;
  snprintf(path, sizeof path, "%s/%s.spv", folder, kernel);
  file = fopen(path, "rb");
  if (file == NULL) {
    fprintf(stderr, "%s is missing: posse kernels writes it for this file\n", path);
    exit(1);
  }
  CHECK(fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0 && fseek(file, 0, SEEK_SET) == 0);
  words = (uint32_t *)malloc((size_t)size);
  CHECK(words != NULL && fread(words, 1, (size_t)size, file) == (size_t)size);
  fclose(file);
  info.codeSize = (size_t)size;
  info.pCode = words;
  VK(vkCreateShaderModule(on->device, &info, NULL, &module));
  free(words);
  return module;
}

// --- A batch: its buffers, and a pipeline and a descriptor set per dispatch.

typedef struct {
  VkPipeline pipeline;
  VkPipelineLayout layout;
  VkDescriptorSet set;
  uint32_t groups[2];
} recorded_dispatch;

typedef struct {
  posse_packed_batch info;
  gpu_buffer buffers[MAX_BUFFERS];
  recorded_dispatch *dispatches;
  uint32_t *instances;
} batch;

static gpu_buffer fill_buffer(const gpu *on, const posse_packed *packed, uint32_t of, uint32_t which) {
  posse_packed_buffer sizes = {.struct_size = sizeof sizes};
  gpu_buffer made = {0};
  OK(posse_packed_get_buffer(packed, of, which, &sizes));
  if (sizes.bytes == 0) return made;
  made = make_buffer(on, sizes.bytes, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
  OK(posse_packed_read(packed, of, which, (uint8_t *)made.bytes, (size_t)made.size));
  return made;
}

static recorded_dispatch make_dispatch(const gpu *on, const batch *from, const posse_packed_dispatch *info,
                                       const char *folder, const char *kernel, const char *entry_point, gpu_buffer unused) {
  VkDescriptorSetLayoutBinding bindings[16];
  VkDescriptorPoolSize sizes[2] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 16}, {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 16}};
  VkDescriptorPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                          .maxSets = 1, .poolSizeCount = 2, .pPoolSizes = sizes};
  VkDescriptorSetLayoutCreateInfo set_info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                              .bindingCount = info->binding_count, .pBindings = bindings};
  VkPipelineLayoutCreateInfo layout_info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1};
  VkDescriptorSetAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, .descriptorSetCount = 1};
  VkComputePipelineCreateInfo pipeline_info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  VkDescriptorSetLayout set_layout;
  VkDescriptorPool pool;
  recorded_dispatch made = {0};
  uint32_t at;
  for (at = 0; at < info->binding_count; ++at) {
    const int is_uniform = info->access[at] == 2;
    memset(&bindings[at], 0, sizeof bindings[at]);
    bindings[at].binding = at;
    bindings[at].descriptorCount = 1;
    bindings[at].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    bindings[at].descriptorType = is_uniform ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  }
  VK(vkCreateDescriptorSetLayout(on->device, &set_info, NULL, &set_layout));
  layout_info.pSetLayouts = &set_layout;
  VK(vkCreatePipelineLayout(on->device, &layout_info, NULL, &made.layout));
  VK(vkCreateDescriptorPool(on->device, &pool_info, NULL, &pool));
  allocate.descriptorPool = pool;
  allocate.pSetLayouts = &set_layout;
  VK(vkAllocateDescriptorSets(on->device, &allocate, &made.set));
  for (at = 0; at < info->binding_count; ++at) {
    const gpu_buffer *bound = &from->buffers[info->buffers[at]];
    // A buffer of no bytes is not used.
    VkDescriptorBufferInfo place = {bound->size > 0 ? bound->buffer : unused.buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = made.set, .dstBinding = at,
                                  .descriptorCount = 1, .descriptorType = bindings[at].descriptorType, .pBufferInfo = &place};
    vkUpdateDescriptorSets(on->device, 1, &write, 0, NULL);
  }
  pipeline_info.layout = made.layout;
  pipeline_info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  pipeline_info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  pipeline_info.stage.module = load_shader(on, folder, kernel);
  pipeline_info.stage.pName = entry_point;
  VK(vkCreateComputePipelines(on->device, VK_NULL_HANDLE, 1, &pipeline_info, NULL, &made.pipeline));
  memcpy(made.groups, info->groups, sizeof made.groups);
  return made;
}

static batch make_batch(const gpu *on, const posse_packed *packed, uint32_t index, const char *folder, gpu_buffer unused) {
  static const char *const entry_points[] = {"drive_layers", "play_layers", "resolve_goals", "pose", "root_motion"};
  batch made = {.info = {.struct_size = sizeof made.info}};
  uint32_t at;
  OK(posse_packed_get_batch(packed, index, &made.info));
  for (at = 0; at < MAX_BUFFERS; ++at) made.buffers[at] = fill_buffer(on, packed, index, at);
  made.instances = (uint32_t *)malloc(made.info.instance_count * sizeof(uint32_t));
  made.dispatches = (recorded_dispatch *)malloc(made.info.dispatch_count * sizeof(recorded_dispatch));
  CHECK(made.instances != NULL && made.dispatches != NULL);
  OK(posse_packed_get_instances(packed, index, made.instances, made.info.instance_count));
  for (at = 0; at < made.info.dispatch_count; ++at) {
    posse_packed_dispatch info = {.struct_size = sizeof info};
    char kernel[256];
    OK(posse_packed_get_dispatch(packed, index, at, &info));
    OK(posse_packed_kernel(packed, index, at, kernel, sizeof kernel, NULL));
    made.dispatches[at] = make_dispatch(on, &made, &info, folder, kernel, entry_points[info.pass], unused);
    printf("batch %u: %u instances, %s, %u x %u workgroups\n", (unsigned)index, (unsigned)made.info.instance_count, kernel,
           (unsigned)info.groups[0], (unsigned)info.groups[1]);
  }
  return made;
}

// A frame: the dispatches of all batches, each after the writes of the one before it.
static void run_frame(const gpu *on, VkCommandBuffer commands, const batch *batches, uint32_t count) {
  VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                             .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT};
  VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
  uint32_t index, at;
  VK(vkResetCommandBuffer(commands, 0));
  VK(vkBeginCommandBuffer(commands, &begin));
  for (index = 0; index < count; ++index) {
    for (at = 0; at < batches[index].info.dispatch_count; ++at) {
      const recorded_dispatch *dispatch = &batches[index].dispatches[at];
      vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch->pipeline);
      vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch->layout, 0, 1, &dispatch->set, 0, NULL);
      vkCmdDispatch(commands, dispatch->groups[0], dispatch->groups[1], 1);
      vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                           VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    }
  }
  VK(vkEndCommandBuffer(commands));
  VK(vkQueueSubmit(on->queue, 1, &submit, VK_NULL_HANDLE));
  VK(vkQueueWaitIdle(on->queue));
}

// --- The crowd: clips that play, blends, additive and override layers, and layers that parameters drive.

static uint32_t add(posse_crowd *crowd, uint32_t skeleton, const posse_layer *layers, uint32_t count) {
  uint32_t instance;
  OK(posse_crowd_add(crowd, skeleton, layers, count, &instance));
  return instance;
}

static void fill_crowd(posse_crowd *crowd, const posse_library *library, uint32_t clip_count, uint32_t knots) {
  uint32_t clip, at;
  for (clip = 0; clip < clip_count && clip < MAX_CLIPS; ++clip) {
    posse_clip_info info = {.struct_size = sizeof info}, other = {.struct_size = sizeof other};
    posse_layer layers[3];
    const uint32_t next = (clip + 1) % clip_count;
    const float parameters[2] = {0.37f + (float)clip, 0.25f};
    OK(posse_library_get_clip(library, clip, &info));
    OK(posse_library_get_clip(library, next, &other));
    for (at = 0; at < PLAIN; ++at) {
      layers[0] = posse_layer_of(clip);
      layers[0].start = -posse_ticks_of(0.31 * at);
      layers[0].rate = 1.0 - 0.3 * at;
      add(crowd, info.skeleton, layers, 1);
    }
    if (other.skeleton != info.skeleton) continue;
    layers[0] = posse_layer_of(clip);
    layers[1] = posse_layer_of(next);
    layers[0].weight = 0.7;
    layers[1].weight = 0.4;
    layers[1].fade_in.shape = POSSE_FADE_SHAPE_SMOOTH;
    layers[1].fade_in.length = posse_ticks_of(2);
    add(crowd, info.skeleton, layers, 2);
    layers[1].mode = POSSE_MODE_ADDITIVE;
    layers[2] = posse_layer_of(next);
    layers[2].mode = POSSE_MODE_OVERRIDE;
    layers[2].weight = 0.3;
    add(crowd, info.skeleton, layers, 3);
    // A parameter counts cycles, a second layer follows the first, and another parameter is its weight.
    layers[0] = posse_layer_of(clip);
    layers[0].time = POSSE_TIME_PHASE;
    layers[1] = posse_layer_of(next);
    layers[1].time = POSSE_TIME_SYNCED;
    layers[1].driver = POSSE_DRIVER_KNOTS;
    layers[1].driver_index = knots;
    layers[1].driver_parameters[0] = 1;
    at = add(crowd, info.skeleton, layers, 2);
    OK(posse_crowd_set_parameters(crowd, at, 1, parameters, 2));
  }
}

// --- The comparison: points near each joint, moved by both skin matrices. Both engines are within 2e-6 times the levels of
// the skeleton times its size of the exact place (docs/contract.md), so that they differ by at most twice that.

static void affine_inverse(const float m[12], double to[12]) {
  const double a = m[0], b = m[1], c = m[2], d = m[4], e = m[5], f = m[6], g = m[8], h = m[9], i = m[10];
  const double u = e * i - f * h, v = f * g - d * i, w = d * h - e * g, scale = 1 / (a * u + b * v + c * w);
  const double rows[3][3] = {{u, c * h - b * i, b * f - c * e}, {v, a * i - c * g, c * d - a * f}, {w, b * g - a * h, a * e - b * d}};
  int row, column;
  for (row = 0; row < 3; ++row) {
    for (column = 0; column < 3; ++column) to[4 * row + column] = rows[row][column] * scale;
    to[4 * row + 3] = -(to[4 * row] * m[3] + to[4 * row + 1] * m[7] + to[4 * row + 2] * m[11]);
  }
}

typedef struct {
  double size;
  uint32_t levels;
} extent;

static extent extent_of(const posse_library *library, uint32_t skeleton, uint32_t joint_count) {
  posse_crowd_options options = {.struct_size = sizeof options, .outputs = POSSE_OUTPUT_MODEL};
  uint32_t *levels = (uint32_t *)calloc(joint_count + 1, sizeof(uint32_t)), instance, joint;
  extent found = {1e-30, 1};
  posse_crowd *crowd;
  OK(posse_crowd_create(library, &options, &crowd));
  OK(posse_crowd_add(crowd, skeleton, NULL, 0, &instance));
  CHECK(levels != NULL);
  for (joint = 0; joint < joint_count; ++joint) {
    posse_joint_info info = {.struct_size = sizeof info};
    float rows[12];
    double far;
    OK(posse_library_get_joint(library, skeleton, joint, &info));
    OK(posse_crowd_get_joint(crowd, instance, joint, 0, rows));
    levels[joint] = info.parent == POSSE_NONE ? 1 : levels[info.parent] + 1;
    if (levels[joint] > found.levels) found.levels = levels[joint];
    far = sqrt((double)rows[3] * rows[3] + (double)rows[7] * rows[7] + (double)rows[11] * rows[11]);
    if (far > found.size) found.size = far;
  }
  free(levels);
  OK(posse_crowd_destroy(crowd));
  return found;
}

// The largest difference as a share of the bound.
static double compare(const posse_library *library, uint32_t skeleton, const float *one, const float *other, uint32_t matrices,
                      extent rig) {
  double worst = 0;
  uint32_t joint;
  int axis, row, column;
  for (joint = 0; joint < matrices; ++joint) {
    posse_skin_joint_info info = {.struct_size = sizeof info};
    double bind[12];
    OK(posse_library_get_skin_joint(library, skeleton, joint, &info));
    affine_inverse(info.inverse_bind, bind);
    for (axis = 0; axis < 4; ++axis) {
      double point[4] = {bind[3], bind[7], bind[11], 1}, apart = 0;
      for (row = 0; row < 3 && axis < 3; ++row) point[row] += 0.03 * rig.size * bind[4 * row + axis];
      for (row = 0; row < 3; ++row) {
        double difference = 0;
        for (column = 0; column < 4; ++column) {
          const uint32_t at = 12 * joint + 4 * (uint32_t)row + (uint32_t)column;
          difference += ((double)one[at] - (double)other[at]) * point[column];
        }
        apart += difference * difference;
      }
      apart = sqrt(apart) / (2 * 2e-6 * rig.levels * rig.size);
      // Numbers that are not numbers are worse than any.
      if (!(apart <= worst)) worst = apart;
    }
  }
  return worst;
}

int main(int count, char **arguments) {
  static const double seconds[] = {0, 0.1, 0.7, 1.9, 3600.25, -2};
  static const float knot_pairs[] = {0.f, 0.f, 1.f, 1.f};
  posse_library_info library_info = {.struct_size = sizeof library_info};
  posse_crowd_options crowd_options = {.struct_size = sizeof crowd_options, .outputs = POSSE_OUTPUT_SKIN};
  posse_crowd_info crowd_info = {.struct_size = sizeof crowd_info};
  posse_pack_options pack_options = {.struct_size = sizeof pack_options};
  VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                       .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
  VkCommandBufferAllocateInfo commands_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                               .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = 1};
  VkCommandBuffer commands;
  posse_library *library;
  posse_crowd *crowd;
  posse_packed *packed;
  posse_ticks last = 0;
  gpu_buffer unused;
  batch *batches;
  float *expected;
  size_t stride = 0, frame;
  uint32_t batch_count, knots, index, compared = 0;
  double worst = 0, moved = 0;
  gpu on;

  if (count != 3) {
    fprintf(stderr, "usage: vulkan KERNELS FILE\n");
    return 2;
  }
  on = open_gpu();
  OK(posse_library_create(&library));
  OK(posse_library_load_file(library, arguments[2], NULL, NULL));
  OK(posse_library_add_knots(library, knot_pairs, 2, &knots));
  OK(posse_library_get_info(library, &library_info));
  OK(posse_crowd_create(library, &crowd_options, &crowd));
  fill_crowd(crowd, library, library_info.clip_count, knots);
  OK(posse_crowd_get_info(crowd, &crowd_info));

  // Once: the packed library and crowd, in buffers of the device.
  pack_options.max_binding_bytes = on.limits.maxStorageBufferRange;
  pack_options.max_groups_per_row = on.limits.maxComputeWorkGroupCount[0] < on.limits.maxComputeWorkGroupCount[1]
                                        ? on.limits.maxComputeWorkGroupCount[0]
                                        : on.limits.maxComputeWorkGroupCount[1];
  OK(posse_packed_create(crowd, &pack_options, &packed, &batch_count));
  unused = make_buffer(&on, 256, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  batches = (batch *)malloc(batch_count * sizeof(batch));
  CHECK(batches != NULL);
  for (index = 0; index < batch_count; ++index) batches[index] = make_batch(&on, packed, index, arguments[1], unused);
  OK(posse_packed_destroy(packed));

  for (index = 0; index < library_info.skeleton_count; ++index) {
    posse_layout layout = {.struct_size = sizeof layout};
    OK(posse_crowd_get_layout(crowd, index, POSSE_FORMAT_ROWS3X4, &layout));
    if (layout.skin > stride) stride = layout.skin;
  }
  expected = (float *)calloc(crowd_info.instance_count * stride, sizeof(float));
  CHECK(expected != NULL && stride > 0);
  pool_info.queueFamilyIndex = on.family;
  VK(vkCreateCommandPool(on.device, &pool_info, NULL, &commands_info.commandPool));
  VK(vkAllocateCommandBuffers(on.device, &commands_info, &commands));

  // Per frame: 32 bytes per batch, and the dispatches.
  for (frame = 0; frame < sizeof seconds / sizeof *seconds; ++frame) {
    const posse_ticks now = posse_ticks_of(seconds[frame]);
    const posse_frame step = posse_frame_of(last, now);
    posse_outputs outputs = {.struct_size = sizeof outputs, .format = POSSE_FORMAT_ROWS3X4};
    for (index = 0; index < batch_count; ++index) memcpy(batches[index].buffers[POSSE_BUFFER_FRAME].bytes, &step, sizeof step);
    run_frame(&on, commands, batches, batch_count);
    outputs.skin.numbers = expected;
    outputs.skin.count = crowd_info.instance_count * stride;
    outputs.skin.stride = stride;
    OK(posse_crowd_pose(crowd, POSSE_ALL_CHUNKS, last, now, &outputs));
    for (index = 0; index < batch_count; ++index) {
      const batch *posed = &batches[index];
      posse_skeleton_info skeleton = {.struct_size = sizeof skeleton};
      posse_layout layout = {.struct_size = sizeof layout};
      const float *found = (const float *)posed->buffers[POSSE_BUFFER_SKIN].bytes;
      extent rig;
      uint32_t slot;
      OK(posse_library_get_skeleton(library, posed->info.skeleton, &skeleton));
      OK(posse_crowd_get_layout(crowd, posed->info.skeleton, POSSE_FORMAT_ROWS3X4, &layout));
      rig = extent_of(library, posed->info.skeleton, skeleton.joint_count);
      for (slot = 0; slot < posed->info.instance_count; ++slot) {
        const float *own = found + (size_t)slot * layout.skin, *other = expected + posed->instances[slot] * stride;
        const double apart = compare(library, posed->info.skeleton, own, other, layout.skin / 12, rig);
        if (apart > worst) worst = apart;
        if (apart > 1 || isnan(apart)) {
          fprintf(stderr, "instance %u at %g s: the skin matrices are %g times the bound apart\n",
                  (unsigned)posed->instances[slot], seconds[frame], apart);
          return 1;
        }
        // Two instances of one clip at different times differ, or the comparison shows nothing.
        if (slot > 0) moved += compare(library, posed->info.skeleton, own, own - layout.skin, layout.skin / 12, rig);
        ++compared;
      }
    }
    last = now;
  }
  CHECK(compared == crowd_info.instance_count * (sizeof seconds / sizeof *seconds) && moved > 100);
  printf("%u poses of %u batches, off by at most %.2f of the bound\n", (unsigned)compared, (unsigned)batch_count, worst);
  OK(posse_crowd_destroy(crowd));
  OK(posse_library_destroy(library));
  vkDeviceWaitIdle(on.device);
  free(expected);
  return 0;
}
