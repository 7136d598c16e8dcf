//! Key and fraction to value (glTF 2.0, appendix C).

use glam::Vec4;

use crate::cpu::search::Span;
use crate::cpu::{quantized, quat};
use crate::pack::record::{MODE_CONSTANT, MODE_LINEAR, MODE_QUANTIZED, MODE_SLERP, MODE_STEP};

/// What is sampled: a channel's keys in a library's arrays.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    pub words: &'a [u32],
    pub values: &'a [Vec4],
    /// The channel's place.
    pub at: u32,
    /// The channel's mode, without angles.
    pub mode: u32,
}

impl Keys<'_> {
    /// What a key has of this number in it, by its row.
    fn key(&self, row: u32, element: u32) -> Vec4 {
        if self.mode & MODE_QUANTIZED != 0 {
            return quantized::key(self.words, self.at, row, element);
        }
        self.values[(self.at + row + element) as usize]
    }

    /// Part of the way from a key to the next.
    fn line(&self, span: &Span, element: u32) -> Vec4 {
        let value = self.key(span.row, element);
        value + (self.key(span.row + span.next, element) - value) * span.fraction
    }

    /// Up to four numbers, each for itself, or a quaternion of any length.
    pub fn numbers(&self, span: &Span) -> Vec4 {
        let straight = span.interval < 0.0;
        match self.mode & !MODE_QUANTIZED {
            MODE_CONSTANT => self.values[self.at as usize],
            MODE_STEP if !straight => self.key(span.row, 0),
            MODE_LINEAR | MODE_STEP => self.line(span, 0),
            MODE_SLERP => quat::slerp_as_is(self.key(span.row, 0), self.key(span.row, 1), span.fraction),
            _ if straight => self.line(span, 1),
            _ => self.cubic(span),
        }
    }

    /// A rotation, of unit length.
    pub fn rotation(&self, span: &Span) -> Vec4 {
        match self.mode & !MODE_QUANTIZED {
            MODE_CONSTANT => self.values[self.at as usize],
            MODE_STEP => self.key(span.row, 0),
            MODE_LINEAR => quat::slerp(self.key(span.row, 0), self.key(span.row + span.next, 0), span.fraction),
            _ => quat::normalize(self.cubic(span), self.key(span.row, 1)),
        }
    }

    /// A cubic Hermite spline. A key is in-tangent, value, out-tangent.
    fn cubic(&self, span: &Span) -> Vec4 {
        let next = span.row + span.next;
        let (start, end) = (self.key(span.row, 1), self.key(next, 1));
        let t = span.fraction;
        let u = 1.0 - t;
        let leaving = self.key(span.row, 2) * (span.interval * t * u * u);
        let arriving = self.key(next, 0) * (span.interval * t * t * u);
        start + (end - start) * (t * t * (3.0 - 2.0 * t)) + leaving - arriving
    }
}
