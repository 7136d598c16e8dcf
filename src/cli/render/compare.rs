//! What the GPU engine poses beside what the reference poses, and what tells them apart.

use posse::Error;
use posse::render::{Picture, View};

use crate::cli::output::note;
use crate::cli::render::Span;
use crate::cli::render::frame_renderer::FrameRenderer;

/// What differences are multiplied by.
const FACTOR: u8 = 32;

/// Three pictures of a moment: of the GPU's poses, of the reference's, and their differences, amplified.
pub fn draw(renderer: &FrameRenderer, view: &View, span: Span) -> Result<Picture, Error> {
    let now = span.at(0, 1)?;
    let (gpu, reference) = (renderer.picture(now, view)?, renderer.reference_picture(now, view)?);
    let mut difference = Picture::filled(gpu.size, [0, 0, 0, 255]);
    let (mut largest, mut pixels) = (0, 0);
    let pairs = gpu.pixels.as_chunks::<4>().0.iter().zip(reference.pixels.as_chunks::<4>().0);
    for (shown, (one, other)) in difference.pixels.as_chunks_mut::<4>().0.iter_mut().zip(pairs) {
        let off = [0, 1, 2].map(|channel| one[channel].abs_diff(other[channel]));
        let most = off.into_iter().max().unwrap_or(0);
        (largest, pixels) = (most.max(largest), pixels + usize::from(most > 0));
        (0..3).for_each(|channel| shown[channel] = off[channel].saturating_mul(FACTOR));
    }
    let of = difference.pixels.len() / 4;
    note(&format!(
        "compare: left gpu, middle reference, right their difference x {FACTOR}; at most {largest} of 255, in {pixels} of {of} pixels"
    ));
    let [width, height] = gpu.size;
    let mut whole = Picture::filled([3 * width, height], [0; 4]);
    for (column, picture) in (0..).zip([&gpu, &reference, &difference]) {
        whole.paste(picture, column * width, 0);
    }
    Ok(whole)
}
