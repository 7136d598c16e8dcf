// A crowd in ozz-animation 0.16. As that library advises, each instance has a context per clip, which makes sampling forward fast.

#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "crowd.h"
#include "ozz/animation/offline/animation_builder.h"
#include "ozz/animation/offline/raw_animation.h"
#include "ozz/animation/offline/raw_skeleton.h"
#include "ozz/animation/offline/skeleton_builder.h"
#include "ozz/animation/runtime/animation.h"
#include "ozz/animation/runtime/blending_job.h"
#include "ozz/animation/runtime/local_to_model_job.h"
#include "ozz/animation/runtime/sampling_job.h"
#include "ozz/animation/runtime/skeleton.h"
#include "ozz/base/maths/simd_math.h"
#include "ozz/base/maths/soa_transform.h"

using namespace ozz::animation;
using namespace ozz::math;

Float3 ReadVector() {
  const float x = Read<float>(), y = Read<float>(), z = Read<float>();
  return Float3(x, y, z);
}

Quaternion ReadQuaternion() {
  const float x = Read<float>(), y = Read<float>(), z = Read<float>(), w = Read<float>();
  return Quaternion(x, y, z, w);
}

struct JointOfScene {
  int parent;
  Transform rest;
};

// The joint and all below it. Names are indices, since the runtime skeleton has an order of its own.
offline::RawSkeleton::Joint MakeJoint(const std::vector<JointOfScene>& joints, int index) {
  offline::RawSkeleton::Joint joint;
  joint.name = std::to_string(index).c_str();
  joint.transform = joints[index].rest;
  for (size_t child = 0; child < joints.size(); ++child)
    if (joints[child].parent == index) joint.children.push_back(MakeJoint(joints, static_cast<int>(child)));
  return joint;
}

template <typename Keys, typename ReadValue>
void ReadKeys(Keys& keys, ReadValue read) {
  for (int left = Read<int>(); left > 0; --left) {
    const float time = Read<float>();
    keys.push_back({time, read()});
  }
}

class Crowd {
 public:
  Crowd() {
    stages_ = Read<int>();
    duration_ = Read<double>();
    frame_ = Read<double>();
    ReadSkeleton();
    ReadSkin();
    ReadClips();
    instances_ = Read<int>();
    phases_.resize(instances_ * clips_.size());
    for (double& phase : phases_) phase = Read<double>();
    for (size_t index = 0; index < phases_.size(); ++index)
      contexts_.push_back(std::make_unique<SamplingJob::Context>(skeleton_->num_joints()));
    const bool keeps_locals = stages_ == 1, keeps_models = stages_ == 2;
    sampled_.resize(clips_.size(), std::vector<SoaTransform>(skeleton_->num_soa_joints()));
    locals_.resize((keeps_locals ? instances_ : 1) * skeleton_->num_soa_joints());
    models_.resize((keeps_models ? instances_ : 1) * skeleton_->num_joints());
    skins_.resize(stages_ == 3 ? instances_ * skin_.size() : 0);
    // Pages are there before time counts.
    for (Float4x4& matrix : skins_) matrix = Float4x4::identity();
  }

  void Frame() {
    time_ += frame_;
    for (int instance = 0; instance < instances_; ++instance) Pose(instance);
  }

  void Print(int instance) {
    if (instance < 0 || instance >= instances_) {
      std::cout << std::endl;
      return;
    }
    if (stages_ == 3) {
      for (size_t joint = 0; joint < skin_.size(); ++joint) PrintMatrix(skins_[instance * skin_.size() + joint]);
    } else {
      for (int joint : places_) {
        if (stages_ == 2) {
          PrintMatrix(models_[instance * skeleton_->num_joints() + joint]);
        } else {
          PrintLocal(locals_[instance * skeleton_->num_soa_joints() + joint / 4], joint % 4);
        }
      }
    }
    std::cout << std::endl;
  }

 private:
  struct SkinJoint {
    int joint;
    Float4x4 inverse_bind;
  };

  void ReadSkeleton() {
    std::vector<JointOfScene> joints(Read<int>());
    for (JointOfScene& joint : joints) {
      joint.parent = Read<int>();
      joint.rest.translation = ReadVector();
      joint.rest.rotation = ReadQuaternion();
      joint.rest.scale = ReadVector();
    }
    offline::RawSkeleton raw;
    for (size_t index = 0; index < joints.size(); ++index)
      if (joints[index].parent < 0) raw.roots.push_back(MakeJoint(joints, static_cast<int>(index)));
    skeleton_ = offline::SkeletonBuilder()(raw);
    if (!skeleton_) Fail("ozz-animation refuses the skeleton");
    places_.resize(skeleton_->num_joints());
    for (int joint = 0; joint < skeleton_->num_joints(); ++joint) places_[std::stoi(skeleton_->joint_names()[joint])] = joint;
  }

  void ReadSkin() {
    skin_.resize(Read<int>());
    for (SkinJoint& joint : skin_) {
      joint.joint = places_.at(Read<int>());
      float columns[4][4];
      for (auto& column : columns)
        for (float& number : column) number = Read<float>();
      for (int column = 0; column < 4; ++column) joint.inverse_bind.cols[column] = simd_float4::LoadPtrU(columns[column]);
    }
  }

  void ReadClips() {
    const int clips = Read<int>();
    for (int clip = 0; clip < clips; ++clip) {
      std::vector<offline::RawAnimation::JointTrack> tracks(skeleton_->num_joints());
      for (auto& track : tracks) {
        ReadKeys(track.translations, ReadVector);
        ReadKeys(track.rotations, ReadQuaternion);
        ReadKeys(track.scales, ReadVector);
      }
      offline::RawAnimation raw;
      raw.duration = static_cast<float>(duration_);
      raw.tracks.resize(tracks.size());
      for (size_t joint = 0; joint < tracks.size(); ++joint) raw.tracks[places_[joint]] = tracks[joint];
      clips_.push_back(offline::AnimationBuilder()(raw));
      if (!clips_.back()) Fail("ozz-animation refuses a clip");
    }
  }

  void Pose(int instance) {
    const int soa_joints = skeleton_->num_soa_joints();
    const auto locals = ozz::make_span(locals_).subspan(stages_ == 1 ? instance * soa_joints : 0, soa_joints);
    for (size_t clip = 0; clip < clips_.size(); ++clip) {
      const size_t index = instance * clips_.size() + clip;
      SamplingJob sampling;
      sampling.animation = clips_[clip].get();
      sampling.context = contexts_[index].get();
      sampling.ratio = static_cast<float>(std::fmod(phases_[index] + time_, duration_) / duration_);
      sampling.output = clips_.size() == 1 ? locals : ozz::make_span(sampled_[clip]);
      sampling.Run();
    }
    if (clips_.size() > 1) Blend(locals);
    if (stages_ == 1) return;
    LocalToModelJob walk;
    walk.skeleton = skeleton_.get();
    walk.input = locals;
    const int joints = skeleton_->num_joints();
    walk.output = ozz::make_span(models_).subspan(stages_ == 2 ? instance * joints : 0, joints);
    walk.Run();
    if (stages_ == 2) return;
    Float4x4* const to = &skins_[instance * skin_.size()];
    for (size_t joint = 0; joint < skin_.size(); ++joint) to[joint] = models_[skin_[joint].joint] * skin_[joint].inverse_bind;
  }

  void Blend(ozz::span<SoaTransform> to) {
    layers_.resize(clips_.size());
    for (size_t clip = 0; clip < clips_.size(); ++clip) {
      layers_[clip].weight = 1.f;
      layers_[clip].transform = ozz::make_span(sampled_[clip]);
    }
    BlendingJob blending;
    blending.layers = ozz::make_span(layers_);
    blending.rest_pose = skeleton_->joint_rest_poses();
    blending.output = to;
    blending.Run();
  }

  static void PrintMatrix(const Float4x4& matrix) {
    for (const SimdFloat4& column : matrix.cols) {
      float numbers[4];
      StorePtrU(column, numbers);
      for (float number : numbers) std::cout << number << ' ';
    }
  }

  static void PrintLocal(const SoaTransform& four, int joint) {
    const SoaFloat3 &translation = four.translation, &scale = four.scale;
    const SoaQuaternion& rotation = four.rotation;
    for (const SimdFloat4& number : {translation.x, translation.y, translation.z, rotation.x, rotation.y, rotation.z, rotation.w,
                                     scale.x, scale.y, scale.z}) {
      float numbers[4];
      StorePtrU(number, numbers);
      std::cout << numbers[joint] << ' ';
    }
  }

  int stages_, instances_;
  double duration_, frame_, time_ = 0;
  ozz::unique_ptr<Skeleton> skeleton_;
  // The place of each joint of the scene in the skeleton.
  std::vector<int> places_;
  std::vector<SkinJoint> skin_;
  std::vector<ozz::unique_ptr<Animation>> clips_;
  // By instance, then by clip.
  std::vector<double> phases_;
  std::vector<std::unique_ptr<SamplingJob::Context>> contexts_;
  std::vector<BlendingJob::Layer> layers_;
  // The poses of each clip, for blends.
  std::vector<std::vector<SoaTransform>> sampled_;
  // Of all instances if this is the last stage, otherwise of one.
  std::vector<SoaTransform> locals_;
  std::vector<Float4x4> models_;
  std::vector<Float4x4> skins_;
};

int main() { Serve<Crowd>(); }
