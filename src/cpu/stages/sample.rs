//! Keys and fraction to a value, as in `shaders/shared/sample.wgsl` (glTF 2.0, appendix C).

use glam::Vec4;

use crate::cpu::stages::search::Span;
use crate::cpu::stages::{quantized, quat};
use crate::pack::record::{MODE_CONSTANT, MODE_LINEAR, MODE_QUANTIZED, MODE_SLERP, MODE_STEP};

/// The keys of a channel in the arrays of a library.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    pub words: &'a [u32],
    pub values: &'a [Vec4],
    /// The offset of the first key in the values; of quantized keys, the offset of their column in the words.
    pub offset: u32,
    /// The mode of the channel, without `MODE_EULER`.
    pub mode: u32,
}

impl Keys<'_> {
    /// One element of the key in a row: the in-tangent, value or out-tangent of a spline.
    fn key(&self, row: u32, element: u32) -> Vec4 {
        if self.mode & MODE_QUANTIZED != 0 {
            return quantized::key(self.words, self.offset, row, element);
        }
        self.values[(self.offset + row + element) as usize]
    }

    /// Interpolates linearly between a key and the next.
    fn line(&self, span: &Span, element: u32) -> Vec4 {
        let value = self.key(span.row, element);
        value + (self.key(span.row + span.next, element) - value) * span.fraction
    }

    /// Samples up to four numbers, each by itself, or a quaternion of any length.
    pub fn numbers(&self, span: &Span) -> Vec4 {
        let straight = span.interval < 0.0;
        match self.mode & !MODE_QUANTIZED {
            MODE_CONSTANT => self.values[self.offset as usize],
            MODE_STEP if !straight => self.key(span.row, 0),
            MODE_LINEAR | MODE_STEP => self.line(span, 0),
            MODE_SLERP => quat::slerp_as_is(self.key(span.row, 0), self.key(span.row, 1), span.fraction),
            _ if straight => self.line(span, 1),
            _ => self.cubic(span),
        }
    }

    /// Samples a rotation. The result has unit length.
    pub fn rotation(&self, span: &Span) -> Vec4 {
        match self.mode & !MODE_QUANTIZED {
            MODE_CONSTANT => self.values[self.offset as usize],
            MODE_STEP => self.key(span.row, 0),
            MODE_LINEAR => quat::slerp(self.key(span.row, 0), self.key(span.row + span.next, 0), span.fraction),
            _ => quat::normalize(self.cubic(span), self.key(span.row, 1)),
        }
    }

    /// Interpolates by a cubic Hermite spline. A key is in-tangent, value, out-tangent.
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
