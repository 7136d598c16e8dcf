// A crowd in the Animation Compression Library (ACL) 2.1. ACL decompresses local poses; it has no further stage. The scene has one clip, whose
// keys must be evenly spaced, as many on each track that moves.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include "acl/compression/compress.h"
#include "acl/compression/track_array.h"
#include "acl/compression/transform_error_metrics.h"
#include "acl/core/ansi_allocator.h"
#include "acl/core/track_writer.h"
#include "acl/decompression/decompress.h"
#include "crowd.h"

// The error that is allowed, and its distance from a joint, in metres, as in `src/cpu.rs`.
constexpr float kPrecision = 1e-4f;
constexpr float kShellDistance = .03f;

struct Keys {
  std::vector<float> times;
  // Three or four numbers per key.
  std::vector<float> values;
};

Keys ReadKeys(int width) {
  Keys keys;
  for (int left = Read<int>(); left > 0; --left) {
    keys.times.push_back(Read<float>());
    for (int number = 0; number < width; ++number) keys.values.push_back(Read<float>());
  }
  return keys;
}

// Receives the local pose of an instance.
struct Writer : acl::track_writer {
  rtm::qvvf* pose;

  explicit Writer(rtm::qvvf* pose) : pose(pose) {}
  void RTM_SIMD_CALL write_rotation(uint32_t joint, rtm::quatf_arg0 rotation) { pose[joint].rotation = rotation; }
  void RTM_SIMD_CALL write_translation(uint32_t joint, rtm::vector4f_arg0 translation) { pose[joint].translation = translation; }
  void RTM_SIMD_CALL write_scale(uint32_t joint, rtm::vector4f_arg0 scale) { pose[joint].scale = scale; }
};

class Crowd {
 public:
  Crowd() {
    if (Read<int>() != 1) Fail("it decompresses local poses alone");
    duration_ = Read<double>();
    frame_ = Read<double>();
    ReadSkeleton();
    // The skin.
    for (int left = 17 * Read<int>(); left > 0; --left) Read<float>();
    if (Read<int>() != 1) Fail("it plays one clip");
    Compress();
    instances_ = Read<int>();
    for (int instance = 0; instance < instances_; ++instance) phases_.push_back(Read<double>());
    poses_.resize(static_cast<size_t>(instances_) * joints_, rtm::qvv_identity());
    if (!context_.initialize(*compressed_)) Fail("ACL does not read what it has compressed");
  }

  void Frame() {
    time_ += frame_;
    for (int instance = 0; instance < instances_; ++instance) {
      context_.seek(static_cast<float>(std::fmod(phases_[instance] + time_, duration_)), acl::sample_rounding_policy::none);
      Writer writer(&poses_[static_cast<size_t>(instance) * joints_]);
      context_.decompress_tracks(writer);
    }
  }

  void Print(int instance) {
    for (int joint = 0; instance >= 0 && instance < instances_ && joint < joints_; ++joint) {
      const rtm::qvvf& pose = poses_[static_cast<size_t>(instance) * joints_ + joint];
      float rotation[4], translation[4], scale[4];
      rtm::quat_store(pose.rotation, rotation);
      rtm::vector_store(pose.translation, translation);
      rtm::vector_store(pose.scale, scale);
      for (int number = 0; number < 3; ++number) std::cout << translation[number] << ' ';
      for (float number : rotation) std::cout << number << ' ';
      for (int number = 0; number < 3; ++number) std::cout << scale[number] << ' ';
    }
    std::cout << std::endl;
  }

 private:
  void ReadSkeleton() {
    joints_ = Read<int>();
    for (int joint = 0; joint < joints_; ++joint) {
      parents_.push_back(Read<int>());
      // The rest pose: joints without keys have one with its values.
      for (int number = 0; number < 10; ++number) Read<float>();
    }
  }

  void Compress() {
    std::vector<Keys> tracks[3];
    size_t samples = 1;
    for (int joint = 0; joint < joints_; ++joint) {
      for (int part = 0; part < 3; ++part) {
        tracks[part].push_back(ReadKeys(part == 1 ? 4 : 3));
        samples = std::max(samples, tracks[part].back().times.size());
      }
    }
    const float rate = static_cast<float>((samples - 1) / duration_);
    for (const auto& part : tracks) {
      for (const Keys& keys : part) {
        if (keys.times.size() != 1 && keys.times.size() != samples) Fail("tracks have different numbers of keys");
        for (size_t key = 0; key < keys.times.size(); ++key)
          if (std::abs(keys.times[key] - key / rate) > 1e-4) Fail("keys are not evenly spaced over the clip");
      }
    }
    acl::track_array_qvvf raw(allocator_, joints_);
    for (int joint = 0; joint < joints_; ++joint) {
      acl::track_desc_transformf about;
      about.output_index = joint;
      about.parent_index = parents_[joint] < 0 ? acl::k_invalid_track_index : parents_[joint];
      about.precision = kPrecision;
      about.shell_distance = kShellDistance;
      auto track = acl::track_qvvf::make_reserve(about, allocator_, static_cast<uint32_t>(samples), rate);
      for (size_t sample = 0; sample < samples; ++sample) {
        const auto at = [&](int part, int width) { return &tracks[part][joint].values[tracks[part][joint].times.size() > 1 ? width * sample : 0]; };
        const float *translation = at(0, 3), *rotation = at(1, 4), *scale = at(2, 3);
        track[static_cast<uint32_t>(sample)] =
            rtm::qvv_set(rtm::quat_set(rotation[0], rotation[1], rotation[2], rotation[3]),
                         rtm::vector_set(translation[0], translation[1], translation[2]), rtm::vector_set(scale[0], scale[1], scale[2]));
      }
      raw[joint] = std::move(track);
    }
    acl::compression_settings settings = acl::get_default_compression_settings();
    acl::qvvf_transform_error_metric metric;
    settings.error_metric = &metric;
    acl::output_stats stats;
    const acl::error_result result = acl::compress_track_list(allocator_, raw, settings, compressed_, stats);
    if (result.any()) Fail(result.c_str());
  }

  int joints_ = 0, instances_ = 0;
  double duration_, frame_, time_ = 0;
  std::vector<int> parents_;
  std::vector<double> phases_;
  acl::ansi_allocator allocator_;
  acl::compressed_tracks* compressed_ = nullptr;
  acl::decompression_context<acl::default_transform_decompression_settings> context_;
  std::vector<rtm::qvvf> poses_;
};

int main() { Serve<Crowd>(); }
