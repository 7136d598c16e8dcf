// The cost per character of two legs and a look-at in ozz-animation: the goals of `cargo bench --bench motion -- cpu 2000 goals`,
// solved one character at a time by its jobs, on a rig of 64 joints. Sampling is left out on both sides of the difference.
//
// In the sources of ozz-animation:
//
//   g++ -std=c++17 -O3 -march=native -DNDEBUG -Iinclude -Isrc ozz_goals.cc src/animation/offline/{skeleton_builder,raw_skeleton}.cc \
//       src/animation/runtime/{skeleton,ik_aim_job,ik_two_bone_job,local_to_model_job}.cc src/base/{log,platform}.cc \
//       src/base/{memory,io,containers,maths}/*.cc -o ozz_goals
//
// `./ozz_goals 3000` prints the median over 40 rounds of the difference with and without goals, within a round.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "ozz/animation/offline/raw_skeleton.h"
#include "ozz/animation/offline/skeleton_builder.h"
#include "ozz/animation/runtime/ik_aim_job.h"
#include "ozz/animation/runtime/ik_two_bone_job.h"
#include "ozz/animation/runtime/local_to_model_job.h"
#include "ozz/animation/runtime/skeleton.h"
#include "ozz/base/maths/simd_quaternion.h"
#include "ozz/base/maths/soa_transform.h"

using namespace ozz::animation;
using namespace ozz::math;
using RawJoint = offline::RawSkeleton::Joint;

constexpr int kJoints = 64;
constexpr int kRounds = 40;

struct Leg {
  int thigh, calf, foot;
};

RawJoint MakeJoint(const char* name, float x, float y, float z) {
  RawJoint joint;
  joint.name = name;
  joint.transform = Transform::identity();
  joint.transform.translation = Float3(x, y, z);
  return joint;
}

RawJoint MakeLine(const char* name, int count, float x, float y, float z) {
  RawJoint joint = MakeJoint(name, x, y, z);
  if (count > 1) joint.children.push_back(MakeLine(name, count - 1, 0.f, .03f, 0.f));
  return joint;
}

RawJoint MakeLeg(const char* const (&names)[3], float x) {
  RawJoint thigh = MakeJoint(names[0], x, -.05f, 0.f);
  RawJoint calf = MakeJoint(names[1], 0.f, -.43f, .02f);
  RawJoint foot = MakeJoint(names[2], 0.f, -.43f, -.02f);
  foot.children.push_back(MakeJoint("toe", 0.f, -.05f, .15f));
  calf.children.push_back(foot);
  thigh.children.push_back(calf);
  return thigh;
}

RawJoint MakeArm(float x) {
  RawJoint hand = MakeJoint("hand", 0.f, -.25f, 0.f);
  for (int finger = 0; finger < 5; ++finger) hand.children.push_back(MakeLine("finger", 3, .02f * finger, -.08f, 0.f));
  RawJoint lower = MakeJoint("lower arm", 0.f, -.28f, 0.f);
  RawJoint upper = MakeJoint("upper arm", 0.f, -.05f, 0.f);
  RawJoint clavicle = MakeJoint("clavicle", x, .15f, 0.f);
  lower.children.push_back(hand);
  upper.children.push_back(lower);
  clavicle.children.push_back(upper);
  return clavicle;
}

offline::RawSkeleton MakeHuman() {
  RawJoint pelvis = MakeJoint("pelvis", 0.f, 1.f, 0.f);
  pelvis.children.push_back(MakeLeg({"thigh.L", "calf.L", "foot.L"}, .1f));
  pelvis.children.push_back(MakeLeg({"thigh.R", "calf.R", "foot.R"}, -.1f));
  RawJoint chest = MakeJoint("chest", 0.f, .2f, 0.f);
  RawJoint neck = MakeJoint("neck", 0.f, .2f, 0.f);
  RawJoint head = MakeJoint("head", 0.f, .1f, 0.f);
  for (float x : {.03f, -.03f, 0.f}) head.children.push_back(MakeJoint("face", x, .05f, .1f));
  neck.children.push_back(head);
  chest.children.push_back(neck);
  chest.children.push_back(MakeArm(.1f));
  chest.children.push_back(MakeArm(-.1f));
  pelvis.children.push_back(chest);
  offline::RawSkeleton raw;
  raw.roots.push_back(pelvis);
  raw.roots[0].children.push_back(MakeLine("other", kJoints - raw.num_joints(), 0.f, 0.f, -.1f));
  return raw;
}

int Find(const Skeleton& skeleton, const char* name) {
  for (int joint = 0; joint < skeleton.num_joints(); ++joint)
    if (!std::strcmp(skeleton.joint_names()[joint], name)) return joint;
  std::abort();
}

// Local transforms are stored in groups of four: the rotation of one joint is transposed out, turned, and transposed back.
void Turn(int joint, const SimdQuaternion& turn, std::vector<SoaTransform>& locals) {
  SoaTransform& group = locals[joint / 4];
  SimdFloat4 rotations[4];
  Transpose4x4(&group.rotation.x, rotations);
  const SimdQuaternion before{rotations[joint % 4]};
  rotations[joint % 4] = (before * turn).xyzw;
  Transpose4x4(rotations, &group.rotation.x);
}

class Character {
 public:
  explicit Character(const Skeleton& skeleton) : skeleton_(skeleton), head_(Find(skeleton, "head")) {
    locals_.resize(skeleton.num_soa_joints());
    models_.resize(skeleton.num_joints());
    legs_[0] = {Find(skeleton, "thigh.L"), Find(skeleton, "calf.L"), Find(skeleton, "foot.L")};
    legs_[1] = {Find(skeleton, "thigh.R"), Find(skeleton, "calf.R"), Find(skeleton, "foot.R")};
    walk_.skeleton = &skeleton;
    walk_.input = ozz::make_span(locals_);
    walk_.output = ozz::make_span(models_);
  }

  void Pose() {
    std::copy(skeleton_.joint_rest_poses().begin(), skeleton_.joint_rest_poses().end(), locals_.begin());
    walk_.Run();
  }

  void Reach(int instance) {
    const float part = (instance % 97) / 97.f;
    Step(legs_[0], simd_float4::Load(.12f, .1f + .1f * part, .2f * part, 0.f));
    Step(legs_[1], simd_float4::Load(-.12f, .2f - .1f * part, .1f, 0.f));
    SimdQuaternion turn;
    IKAimJob look;
    look.forward = simd_float4::z_axis();
    look.target = simd_float4::Load(1.f - part, 1.5f, 2.f, 0.f);
    look.joint = &models_[head_];
    look.joint_correction = &turn;
    look.Run();
    Turn(head_, turn, locals_);
    Walk(head_, Skeleton::kMaxJoints);
  }

 private:
  // The foot goes to its target, and its sole keeps its direction.
  void Step(const Leg& leg, const SimdFloat4& target) {
    const Float4x4 held = models_[leg.foot];
    SimdQuaternion first, second;
    IKTwoBoneJob reach;
    reach.target = target;
    reach.pole_vector = simd_float4::z_axis();
    reach.mid_axis = simd_float4::x_axis();
    reach.start_joint = &models_[leg.thigh];
    reach.mid_joint = &models_[leg.calf];
    reach.end_joint = &models_[leg.foot];
    reach.start_joint_correction = &first;
    reach.mid_joint_correction = &second;
    reach.Run();
    Turn(leg.thigh, first, locals_);
    Turn(leg.calf, second, locals_);
    Walk(leg.thigh, leg.foot);
    IKAimJob hold;
    hold.forward = simd_float4::y_axis();
    hold.up = simd_float4::z_axis();
    hold.pole_vector = held.cols[2];
    hold.target = models_[leg.foot].cols[3] + held.cols[1];
    hold.joint = &models_[leg.foot];
    hold.joint_correction = &first;
    hold.Run();
    Turn(leg.foot, first, locals_);
    Walk(leg.foot, Skeleton::kMaxJoints);
  }

  void Walk(int from, int to) {
    LocalToModelJob walk = walk_;
    walk.from = from;
    walk.to = to;
    walk.Run();
  }

  const Skeleton& skeleton_;
  int head_;
  Leg legs_[2];
  std::vector<SoaTransform> locals_;
  std::vector<Float4x4> models_;
  LocalToModelJob walk_;
};

double Median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

int main(int count, char** arguments) {
  const int characters = count > 1 ? std::max(1, std::atoi(arguments[1])) : 3000;
  const auto skeleton = offline::SkeletonBuilder()(MakeHuman());
  if (!skeleton || skeleton->num_joints() != kJoints) return 1;
  Character character(*skeleton);
  std::vector<double> without, with, difference;
  for (int round = 0; round <= kRounds; ++round) {
    double nanoseconds[2];
    for (int goals = 0; goals < 2; ++goals) {
      const auto start = std::chrono::steady_clock::now();
      for (int instance = 0; instance < characters; ++instance) {
        character.Pose();
        if (goals) character.Reach(instance);
      }
      const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
      nanoseconds[goals] = taken.count() / characters;
    }
    // The first round warms up.
    if (round == 0) continue;
    without.push_back(nanoseconds[0]);
    with.push_back(nanoseconds[1]);
    difference.push_back(nanoseconds[1] - nanoseconds[0]);
  }
  std::printf("local to model %.0f ns, with goals %.0f ns, difference %.0f ns per character\n", Median(without), Median(with), Median(difference));
}
