//! The part of a root joint that moves its instance, as in `shaders/shared/root_joint.wgsl`.

use glam::{Vec3, Vec4, Vec4Swizzles};

use crate::cpu::stages::{TransformPart, quat};
use crate::pack::record::{ClipRecord, NONE, ROOT_FULL, ROOT_X, ROOT_Y, ROOT_YAW, ROOT_Z, Root as RootRecord};

/// The root joint of a clip, and the components of its transform that move the instance.
#[derive(Debug, Clone, Copy)]
pub struct Root {
    pub joint: u32,
    moves: u32,
    axes: Vec4,
    up: Vec3,
}

impl Root {
    /// The root joint of a clip. `None` if the clip has no root motion.
    pub fn of_clip(words: &[u32], clip: &ClipRecord) -> Option<Self> {
        if clip.root == NONE {
            return None;
        }
        let first = clip.root as usize;
        let record: RootRecord =
            bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words[first..first + RootRecord::WORDS]));
        let axis = |bit: u32| if record.moves & bit != 0 { 1.0 } else { 0.0 };
        Some(Self {
            joint: record.joint,
            moves: record.moves,
            axes: Vec4::new(axis(ROOT_X), axis(ROOT_Y), axis(ROOT_Z), 0.0),
            up: Vec3::new(record.up_x, record.up_y, record.up_z),
        })
    }

    /// The part of a translation that moves the instance.
    pub fn translation(&self, translation: Vec4) -> Vec4 {
        self.axes * translation
    }

    /// The part of a rotation of unit length that turns the instance.
    pub fn rotation(&self, rotation: Vec4) -> Vec4 {
        if self.moves & ROOT_FULL != 0 {
            return rotation;
        }
        if self.moves & ROOT_YAW == 0 {
            return Vec4::W;
        }
        quat::normalize((rotation.xyz().dot(self.up) * self.up).extend(rotation.w), Vec4::W)
    }

    /// The rest of a part of the transform, without the root motion. `rotation` returns the whole rotation of the
    /// joint.
    pub fn take_out(&self, part: TransformPart, sampled: Vec4, rotation: impl Fn() -> Vec4) -> Vec4 {
        match part {
            TransformPart::Translation => {
                let rest = sampled - self.translation(sampled);
                if self.moves & (ROOT_YAW | ROOT_FULL) == 0 {
                    return rest;
                }
                quat::rotate(quat::conjugate(self.rotation(rotation())), rest)
            }
            TransformPart::Rotation => quat::multiply(quat::conjugate(self.rotation(sampled)), sampled),
            TransformPart::Scale => sampled,
        }
    }
}

/// A rotation, then a translation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rigid {
    pub translation: Vec4,
    pub rotation: Vec4,
}

impl Rigid {
    /// No movement.
    pub const IDENTITY: Self = Self { translation: Vec4::ZERO, rotation: Vec4::W };

    /// The product: it applies the right one first, then this one.
    pub fn multiply(self, right: Self) -> Self {
        Self {
            translation: self.translation + quat::rotate(self.rotation, right.translation),
            rotation: quat::normalize(quat::multiply(self.rotation, right.rotation), Vec4::W),
        }
    }

    /// The inverse.
    pub fn inverse(self) -> Self {
        let rotation = quat::conjugate(self.rotation);
        Self { translation: quat::rotate(rotation, -self.translation), rotation }
    }

    /// The movement from this one to another: `self^-1 other`. Translations are subtracted first, so that no precision
    /// is lost far from the origin.
    pub fn to(self, other: Self) -> Self {
        let back = quat::conjugate(self.rotation);
        Self {
            translation: quat::rotate(back, other.translation - self.translation),
            rotation: quat::normalize(quat::multiply(back, other.rotation), Vec4::W),
        }
    }

    /// The product of `times` copies. If `times` is negative, the product of copies of the inverse.
    pub fn power(self, times: i128) -> Self {
        let (mut result, mut square) = (Self::IDENTITY, if times < 0 { self.inverse() } else { self });
        let mut remaining = times.unsigned_abs();
        while remaining > 0 {
            if remaining & 1 == 1 {
                result = result.multiply(square);
            }
            square = square.multiply(square);
            remaining >>= 1;
        }
        result
    }
}
