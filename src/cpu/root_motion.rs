//! What of a clip's root joint moves its instance: the twin of `shaders/shared/root_motion.wgsl`.

use glam::{Vec3, Vec4, Vec4Swizzles};

use crate::cpu::quat;
use crate::pack::record::{ClipRecord, NONE, ROOT_FULL, ROOT_X, ROOT_Y, ROOT_YAW, ROOT_Z, Root as RootRecord};

/// A clip's root joint.
#[derive(Debug, Clone, Copy)]
pub struct Root {
    pub joint: u32,
    moves: u32,
    axes: Vec4,
    up: Vec3,
}

impl Root {
    /// The root joint that a clip names.
    pub fn of_clip(words: &[u32], clip: &ClipRecord) -> Option<Self> {
        if clip.root == NONE {
            return None;
        }
        let at = clip.root as usize;
        let record: RootRecord = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words[at..at + RootRecord::WORDS]));
        let axis = |bit: u32| if record.moves & bit != 0 { 1.0 } else { 0.0 };
        Some(Self {
            joint: record.joint,
            moves: record.moves,
            axes: Vec4::new(axis(ROOT_X), axis(ROOT_Y), axis(ROOT_Z), 0.0),
            up: Vec3::new(record.up_x, record.up_y, record.up_z),
        })
    }

    /// What of a translation moves the instance.
    pub fn translation(&self, translation: Vec4) -> Vec4 {
        self.axes * translation
    }

    /// What of a rotation of unit length turns the instance.
    pub fn rotation(&self, rotation: Vec4) -> Vec4 {
        if self.moves & ROOT_FULL != 0 {
            return rotation;
        }
        if self.moves & ROOT_YAW == 0 {
            return Vec4::W;
        }
        quat::normalize((rotation.xyz().dot(self.up) * self.up).extend(rotation.w), Vec4::W)
    }

    /// What is left of a translation, a rotation or a scale, part 0, 1 or 2, where the joint is turned by a rotation.
    pub fn take_out(&self, part: usize, sampled: Vec4, rotation: impl Fn() -> Vec4) -> Vec4 {
        match part {
            0 => {
                let left = sampled - self.translation(sampled);
                if self.moves & (ROOT_YAW | ROOT_FULL) == 0 {
                    return left;
                }
                quat::rotate(quat::conjugate(self.rotation(rotation())), left)
            }
            1 => quat::multiply(quat::conjugate(self.rotation(sampled)), sampled),
            _ => sampled,
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

    /// The product: first the right one, then this one.
    pub fn multiply(self, right: Self) -> Self {
        Self {
            translation: self.translation + quat::rotate(self.rotation, right.translation),
            rotation: quat::normalize(quat::multiply(self.rotation, right.rotation), Vec4::W),
        }
    }

    /// What undoes it.
    pub fn inverse(self) -> Self {
        let rotation = quat::conjugate(self.rotation);
        Self { translation: quat::rotate(rotation, -self.translation), rotation }
    }

    /// From here to another place: `self^-1 other`, places subtracted first, so that nothing is lost far from the origin.
    pub fn to(self, other: Self) -> Self {
        let back = quat::conjugate(self.rotation);
        Self {
            translation: quat::rotate(back, other.translation - self.translation),
            rotation: quat::normalize(quat::multiply(back, other.rotation), Vec4::W),
        }
    }

    /// The same so many times; negative undoes it.
    pub fn power(self, times: i128) -> Self {
        let (mut result, mut square) = (Self::IDENTITY, if times < 0 { self.inverse() } else { self });
        let mut left = times.unsigned_abs();
        while left > 0 {
            if left & 1 == 1 {
                result = result.multiply(square);
            }
            square = square.multiply(square);
            left >>= 1;
        }
        result
    }
}
