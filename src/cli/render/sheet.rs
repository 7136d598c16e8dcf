//! Contact sheets: pictures of several times beside and below each other.

use posse::Error;
use posse::render::{Picture, View};

use crate::cli::progress::Progress;
use crate::cli::render::Span;
use crate::cli::render::frame_renderer::FrameRenderer;

/// Pictures of evenly spaced times, row after row.
pub fn draw(renderer: &FrameRenderer, view: &View, span: Span, [columns, rows]: [u32; 2]) -> Result<Picture, Error> {
    let [width, height] = renderer.size();
    let mut sheet = Picture::filled([columns * width, rows * height], [0; 4]);
    let count = columns as usize * rows as usize;
    let progress = Progress::new(count, "pictures");
    for (number, (row, column)) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).enumerate() {
        sheet.paste(&renderer.picture(span.at(number, count)?, view)?, column * width, row * height);
        progress.add(1);
    }
    Ok(sheet)
}
