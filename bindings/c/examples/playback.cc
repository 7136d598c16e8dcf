// A crowd that plays a clip: what the sample `playback` of ozz-animation does for one character, for many of them.
//
//   playback [INSTANCES [FRAMES]]
//
// Built with -DWITH_OZZ and the sources of ozz-animation 0.16, the program poses the same crowd with both libraries, on one
// thread. It prints some numbers side by side, the largest difference and both speeds. `../run` builds and runs it: POSSE_OZZ
// names the folder of the sources.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "posse.h"

#ifdef WITH_OZZ
#include "ozz/animation/offline/animation_builder.h"
#include "ozz/animation/offline/raw_animation.h"
#include "ozz/animation/offline/raw_skeleton.h"
#include "ozz/animation/offline/skeleton_builder.h"
#include "ozz/animation/runtime/animation.h"
#include "ozz/animation/runtime/local_to_model_job.h"
#include "ozz/animation/runtime/sampling_job.h"
#include "ozz/animation/runtime/skeleton.h"
#include "ozz/base/maths/simd_math.h"
#include "ozz/base/maths/soa_transform.h"
#endif

namespace {

constexpr int kJoints = 64, kKeys = 61;
constexpr double kDuration = 2, kPi = 3.14159265358979323846;
// A frame of 1/64 s, and phases that are 1/1024 s apart, are whole numbers of ticks.
constexpr posse_ticks kFrame = POSSE_TICKS_PER_SECOND / 64, kPhase = POSSE_TICKS_PER_SECOND / 1024;

// Ends the program if a call has failed.
void Check(posse_status status) {
  if (status == POSSE_STATUS_OK) return;
  std::fprintf(stderr, "posse: %s\n", posse_error_text());
  std::exit(1);
}

// The rig: eight chains of eight joints, all of which swing.
struct Quaternion {
  float x, y, z, w;
};

int Parent(int joint) { return joint == 0 ? -1 : joint % 8 == 0 ? 0 : joint - 1; }

std::vector<float> Offset(int joint) { return {.02f * static_cast<float>(joint % 3 - 1), .1f, .01f * static_cast<float>(joint / 8)}; }

float KeyTime(int key) { return static_cast<float>(kDuration * key / (kKeys - 1)); }

Quaternion KeyRotation(int joint, int key) {
  const double half = .25 * std::sin(2 * kPi * key / (kKeys - 1) + joint);
  const float sine = static_cast<float>(std::sin(half)), cosine = static_cast<float>(std::cos(half));
  switch (joint % 3) {
    case 0: return {sine, 0, 0, cosine};
    case 1: return {0, sine, 0, cosine};
    default: return {0, 0, sine, cosine};
  }
}

std::string Base64(const std::vector<float>& numbers) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  // The numbers are a multiple of three, so that nothing is left over.
  std::vector<unsigned char> bytes(4 * numbers.size());
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  std::string text;
  for (size_t at = 0; at + 2 < bytes.size(); at += 3) {
    const unsigned word = static_cast<unsigned>(bytes[at] << 16 | bytes[at + 1] << 8 | bytes[at + 2]);
    for (int shift = 18; shift >= 0; shift -= 6) text += letters[word >> shift & 63];
  }
  return text;
}

// The rig and its clip as a glTF file.
std::string GltfText() {
  std::vector<float> numbers;
  for (int key = 0; key < kKeys; ++key) numbers.push_back(KeyTime(key));
  std::string nodes, channels, samplers, accessors, views;
  const auto append = [](std::string& to, const std::string& item) { to += (to.empty() ? "" : ",") + item; };
  const auto view = [&](size_t offset, size_t count) {
    append(views, "{\"buffer\":0,\"byteOffset\":" + std::to_string(4 * offset) + ",\"byteLength\":" + std::to_string(4 * count) + "}");
  };
  view(0, kKeys);
  append(accessors, "{\"bufferView\":0,\"componentType\":5126,\"type\":\"SCALAR\",\"count\":" + std::to_string(kKeys) +
                        ",\"min\":[0],\"max\":[2]}");
  for (int joint = 0; joint < kJoints; ++joint) {
    const std::vector<float> offset = Offset(joint);
    std::string children;
    for (int child = 0; child < kJoints; ++child)
      if (Parent(child) == joint) append(children, std::to_string(child));
    append(nodes, "{\"name\":\"" + std::to_string(joint) + "\",\"translation\":[" + std::to_string(offset[0]) + "," +
                      std::to_string(offset[1]) + "," + std::to_string(offset[2]) + "]" +
                      (children.empty() ? "" : ",\"children\":[" + children + "]") + "}");
    view(numbers.size(), 4 * kKeys);
    for (int key = 0; key < kKeys; ++key) {
      const Quaternion rotation = KeyRotation(joint, key);
      numbers.insert(numbers.end(), {rotation.x, rotation.y, rotation.z, rotation.w});
    }
    const std::string index = std::to_string(joint), accessor = std::to_string(joint + 1);
    append(accessors, "{\"bufferView\":" + accessor + ",\"componentType\":5126,\"type\":\"VEC4\",\"count\":" + std::to_string(kKeys) + "}");
    append(samplers, "{\"input\":0,\"output\":" + accessor + "}");
    append(channels, "{\"sampler\":" + index + ",\"target\":{\"node\":" + index + ",\"path\":\"rotation\"}}");
  }
  while (numbers.size() % 3 != 0) numbers.push_back(0);
  return "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"scene\":0,\"nodes\":[" + nodes + "],\"animations\":[{\"name\":\"swing\",\"samplers\":[" +
         samplers + "],\"channels\":[" + channels + "]}],\"accessors\":[" + accessors + "],\"bufferViews\":[" + views +
         "],\"buffers\":[{\"byteLength\":" + std::to_string(4 * numbers.size()) + ",\"uri\":\"data:application/octet-stream;base64," +
         Base64(numbers) + "\"}]}";
}

// The crowd in posse. Its poses are model matrices of four columns, joint by joint.
class PosseCrowd {
 public:
  explicit PosseCrowd(int instances) : matrices_(16u * kJoints * static_cast<size_t>(instances)) {
    const std::string file = GltfText();
    Check(posse_library_create(&library_));
    Check(posse_library_load_memory(library_, "rig.gltf", reinterpret_cast<const uint8_t*>(file.data()), file.size(), nullptr, nullptr));
    uint32_t clip = 0, skeleton = 0;
    Check(posse_library_find(library_, POSSE_ITEM_CLIP, POSSE_NONE, "swing", &clip));
    Check(posse_library_find(library_, POSSE_ITEM_SKELETON, POSSE_NONE, "rig", &skeleton));
    for (uint32_t joint = 0; joint < kJoints; ++joint) {
      Check(posse_library_find(library_, POSSE_ITEM_JOINT, skeleton, std::to_string(joint).c_str(), &places_[joint]));
    }
    posse_crowd_options options{};
    options.struct_size = sizeof options;
    options.outputs = POSSE_OUTPUT_MODEL;
    Check(posse_crowd_create(library_, &options, &crowd_));
    for (int instance = 0; instance < instances; ++instance) {
      posse_layer layer = posse_layer_of(clip);
      layer.start = -kPhase * instance;
      Check(posse_crowd_add(crowd_, skeleton, &layer, 1, nullptr));
    }
    outputs_.struct_size = sizeof outputs_;
    outputs_.format = POSSE_FORMAT_COLUMNS4X4;
    outputs_.model = {matrices_.data(), matrices_.size(), 16 * kJoints};
    posse_crowd_info info{};
    info.struct_size = sizeof info;
    Check(posse_crowd_get_info(crowd_, &info));
    chunks_ = info.chunk_count;
  }

  ~PosseCrowd() {
    posse_crowd_destroy(crowd_);
    posse_library_destroy(library_);
  }

  void Frame(int frame) {
    const posse_ticks now = kFrame * frame;
    // An engine gives chunks to the threads of its job system. Here, one thread takes all.
    for (uint32_t chunk = 0; chunk < chunks_; ++chunk) Check(posse_crowd_pose(crowd_, chunk, now - kFrame, now, &outputs_));
  }

  // A number of the model matrix of a joint, column by column.
  float Number(int instance, int joint, int number) const {
    return matrices_[16u * (kJoints * static_cast<size_t>(instance) + places_[joint]) + static_cast<size_t>(number)];
  }

 private:
  posse_library* library_ = nullptr;
  posse_crowd* crowd_ = nullptr;
  uint32_t chunks_ = 0;
  // The index of each joint of the rig.
  uint32_t places_[kJoints] = {};
  posse_outputs outputs_ = {};
  std::vector<float> matrices_;
};

#ifdef WITH_OZZ
using ozz::animation::offline::RawAnimation;
using ozz::animation::offline::RawSkeleton;

RawSkeleton::Joint MakeJoint(int index) {
  RawSkeleton::Joint joint;
  joint.name = std::to_string(index).c_str();
  joint.transform = ozz::math::Transform::identity();
  const std::vector<float> offset = Offset(index);
  joint.transform.translation = ozz::math::Float3(offset[0], offset[1], offset[2]);
  for (int child = 0; child < kJoints; ++child)
    if (Parent(child) == index) joint.children.push_back(MakeJoint(child));
  return joint;
}

// The crowd in ozz-animation: the two jobs of its sample, per character.
class OzzCrowd {
 public:
  explicit OzzCrowd(int instances) {
    RawSkeleton raw_skeleton;
    raw_skeleton.roots.push_back(MakeJoint(0));
    skeleton_ = ozz::animation::offline::SkeletonBuilder()(raw_skeleton);
    for (int joint = 0; joint < kJoints; ++joint) places_[std::atoi(skeleton_->joint_names()[joint])] = joint;
    RawAnimation raw;
    raw.duration = static_cast<float>(kDuration);
    raw.tracks.resize(kJoints);
    for (int joint = 0; joint < kJoints; ++joint) {
      RawAnimation::JointTrack& track = raw.tracks[places_[joint]];
      const std::vector<float> offset = Offset(joint);
      track.translations.push_back({0.f, ozz::math::Float3(offset[0], offset[1], offset[2])});
      track.scales.push_back({0.f, ozz::math::Float3::one()});
      for (int key = 0; key < kKeys; ++key) {
        const Quaternion rotation = KeyRotation(joint, key);
        track.rotations.push_back({KeyTime(key), ozz::math::Quaternion(rotation.x, rotation.y, rotation.z, rotation.w)});
      }
    }
    animation_ = ozz::animation::offline::AnimationBuilder()(raw);
    for (int instance = 0; instance < instances; ++instance)
      contexts_.push_back(std::make_unique<ozz::animation::SamplingJob::Context>(kJoints));
    locals_.resize(skeleton_->num_soa_joints());
    models_.resize(static_cast<size_t>(instances) * kJoints, ozz::math::Float4x4::identity());
  }

  void Frame(int frame) {
    for (size_t instance = 0; instance < contexts_.size(); ++instance) {
      ozz::animation::SamplingJob sampling;
      sampling.animation = animation_.get();
      sampling.context = contexts_[instance].get();
      const posse_ticks played = kFrame * frame + kPhase * static_cast<posse_ticks>(instance);
      const double seconds = static_cast<double>(played) / POSSE_TICKS_PER_SECOND;
      sampling.ratio = static_cast<float>(std::fmod(seconds, kDuration) / kDuration);
      sampling.output = ozz::make_span(locals_);
      ozz::animation::LocalToModelJob walk;
      walk.skeleton = skeleton_.get();
      walk.input = ozz::make_span(locals_);
      walk.output = ozz::make_span(models_).subspan(instance * kJoints, kJoints);
      if (!sampling.Run() || !walk.Run()) std::exit(1);
    }
  }

  float Number(int instance, int joint, int number) const {
    float column[4];
    const ozz::math::Float4x4& matrix = models_[static_cast<size_t>(instance) * kJoints + static_cast<size_t>(places_[joint])];
    ozz::math::StorePtrU(matrix.cols[number / 4], column);
    return column[number % 4];
  }

 private:
  ozz::unique_ptr<ozz::animation::Skeleton> skeleton_;
  ozz::unique_ptr<ozz::animation::Animation> animation_;
  int places_[kJoints] = {};
  std::vector<std::unique_ptr<ozz::animation::SamplingJob::Context>> contexts_;
  std::vector<ozz::math::SoaTransform> locals_;
  std::vector<ozz::math::Float4x4> models_;
};
#endif

// The seconds that the processor works on each frame, so that other programs of a busy machine do not count.
class FrameTimes {
 public:
  template <typename Crowd>
  void Add(Crowd& crowd, int frame) {
    const std::clock_t start = std::clock();
    crowd.Frame(frame);
    seconds_.push_back(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }

  double Median() {
    std::sort(seconds_.begin(), seconds_.end());
    return seconds_[seconds_.size() / 2];
  }

 private:
  std::vector<double> seconds_;
};

}  // namespace

int main(int count, char** arguments) {
  const int instances = count > 1 ? std::atoi(arguments[1]) : 1000, frames = count > 2 ? std::atoi(arguments[2]) : 200;
  if (instances < 1 || frames < 1) {
    std::fprintf(stderr, "usage: playback [INSTANCES [FRAMES]]\n");
    return 2;
  }
  PosseCrowd posse(instances);
  FrameTimes posse_times;
  const auto rate = [&](double seconds) { return 1e-6 * kJoints * instances / seconds; };
  const int last = instances - 1, tip = kJoints - 1;
  std::printf("%d instances of %d joints, model matrices, one thread\n", instances, kJoints);
#ifdef WITH_OZZ
  OzzCrowd ozz(instances);
  FrameTimes ozz_times;
  for (int frame = 0; frame < frames; ++frame) {
    posse_times.Add(posse, frame);
    ozz_times.Add(ozz, frame);
  }
  const double posse_seconds = posse_times.Median(), ozz_seconds = ozz_times.Median();
  double largest = 0;
  for (int instance = 0; instance < instances; ++instance)
    for (int joint = 0; joint < kJoints; ++joint)
      for (int number = 0; number < 16; ++number)
        largest = std::max(largest, static_cast<double>(std::abs(posse.Number(instance, joint, number) - ozz.Number(instance, joint, number))));
  std::printf("the last joint of the last instance:\n  posse %9.6f %9.6f %9.6f\n  ozz   %9.6f %9.6f %9.6f\n", posse.Number(last, tip, 12),
              posse.Number(last, tip, 13), posse.Number(last, tip, 14), ozz.Number(last, tip, 12), ozz.Number(last, tip, 13),
              ozz.Number(last, tip, 14));
  std::printf("the largest difference of a number: %.1e\n", largest);
  std::printf("posse %.1f million joints/s, ozz-animation %.1f: %.2f times as many\n", rate(posse_seconds), rate(ozz_seconds),
              ozz_seconds / posse_seconds);
  // Keys of ozz are rounded: rotations to 15 bits per number. Eight joints are on one another.
  return largest < 1e-2 ? 0 : 1;
#else
  for (int frame = 0; frame < frames; ++frame) posse_times.Add(posse, frame);
  std::printf("the last joint of the last instance: %9.6f %9.6f %9.6f\n", posse.Number(last, tip, 12), posse.Number(last, tip, 13),
              posse.Number(last, tip, 14));
  std::printf("posse %.1f million joints/s\n", rate(posse_times.Median()));
  return 0;
#endif
}
