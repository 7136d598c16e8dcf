//! Short texts in pictures, such as the titles of a contact sheet.
//!
//! The letters are a raster of 5 by 9 points: two of the nine rows are below the line. A text is as large as a whole
//! multiple of that, so that its edges are sharp without a font and without smoothing. There are small letters, digits
//! and some signs.

use crate::Picture;

impl Picture {
    /// The width in pixels of a text whose points have `size` pixels per side, with the space after its last letter.
    pub fn text_width(text: &str, size: u32) -> u32 {
        u32::try_from(text.chars().count()).unwrap_or(u32::MAX).saturating_mul(ADVANCE.saturating_mul(size))
    }

    /// Writes a text with its upper left corner at a pixel. Each point of a letter has `size` pixels per side, so that
    /// a letter is 5 points wide, with its space 6, and 9 points high. Capitals become small letters, and characters
    /// that have no raster become `?`. Pixels beyond the edges are left out.
    ///
    /// # Examples
    /// ```
    /// use posse_render::Picture;
    ///
    /// let (white, black) = ([255; 4], [0, 0, 0, 255]);
    /// let mut picture = Picture::filled([24, 18], white);
    /// picture.write_text("l-", 0, 0, 2, black);
    /// // The stroke of the `l` is in its third column, the stroke of the `-` in its fourth row.
    /// assert_eq!([picture.pixel(4, 6), picture.pixel(0, 6), picture.pixel(16, 6)], [black, white, black]);
    /// ```
    pub fn write_text(&mut self, text: &str, left: u32, top: u32, size: u32, colour: [u8; 4]) {
        for (place, letter) in (0..).zip(text.chars()) {
            let left = left.saturating_add(ADVANCE.saturating_mul(size).saturating_mul(place));
            if left >= self.size[0] {
                return;
            }
            for (row, points) in (0..).zip(raster(letter)) {
                for column in (0..COLUMNS).filter(|column| points >> (COLUMNS - 1 - column) & 1 == 1) {
                    let [column, row] = [column, row].map(|index| index.saturating_mul(size));
                    self.fill([left.saturating_add(column), top.saturating_add(row)], [size; 2], colour);
                }
            }
        }
    }

    /// Fills a rectangle from its upper left corner. Pixels beyond the edges are left out.
    fn fill(&mut self, [left, top]: [u32; 2], [width, height]: [u32; 2], colour: [u8; 4]) {
        let [right, bottom] = [(left, width, 0), (top, height, 1)]
            .map(|(start, length, axis): (u32, u32, usize)| start.saturating_add(length).min(self.size[axis]) as usize);
        for y in top as usize..bottom {
            let row = y * self.size[0] as usize;
            for x in left as usize..right {
                self.pixels[4 * (row + x)..][..4].copy_from_slice(&colour);
            }
        }
    }
}

/// Points per row of a letter.
const COLUMNS: u32 = 5;
/// Points from a letter to the next.
const ADVANCE: u32 = 6;

/// The rows of a letter, from the top. The lowest bit is the right column.
fn raster(letter: char) -> [u8; 9] {
    let letter = letter.to_ascii_lowercase();
    let found = RASTERS.iter().find(|(other, _)| *other == letter || *other == '?' && letter != ' ');
    found.map_or([0; 9], |(_, rows)| *rows)
}

/// The letters. The last one stands for all others.
#[rustfmt::skip]
const RASTERS: [(char, [u8; 9]); 46] = [
    ('(', [0b00010, 0b00100, 0b01000, 0b01000, 0b01000, 0b00100, 0b00010, 0, 0]),
    (')', [0b01000, 0b00100, 0b00010, 0b00010, 0b00010, 0b00100, 0b01000, 0, 0]),
    (',', [0, 0, 0, 0, 0, 0b01100, 0b01100, 0b00100, 0b01000]),
    ('-', [0, 0, 0, 0b01110, 0, 0, 0, 0, 0]),
    ('.', [0, 0, 0, 0, 0, 0b01100, 0b01100, 0, 0]),
    ('/', [0b00001, 0b00001, 0b00010, 0b00100, 0b01000, 0b10000, 0b10000, 0, 0]),
    ('0', [0b01110, 0b10001, 0b10001, 0b10101, 0b10001, 0b10001, 0b01110, 0, 0]),
    ('1', [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110, 0, 0]),
    ('2', [0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b01000, 0b11111, 0, 0]),
    ('3', [0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110, 0, 0]),
    ('4', [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010, 0, 0]),
    ('5', [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110, 0, 0]),
    ('6', [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110, 0, 0]),
    ('7', [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000, 0, 0]),
    ('8', [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110, 0, 0]),
    ('9', [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100, 0, 0]),
    (':', [0, 0, 0b01100, 0b01100, 0, 0b01100, 0b01100, 0, 0]),
    ('_', [0, 0, 0, 0, 0, 0, 0, 0b11111, 0]),
    ('a', [0, 0, 0b01110, 0b00001, 0b01111, 0b10001, 0b01111, 0, 0]),
    ('b', [0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b10001, 0b11110, 0, 0]),
    ('c', [0, 0, 0b01111, 0b10000, 0b10000, 0b10000, 0b01111, 0, 0]),
    ('d', [0b00001, 0b00001, 0b01111, 0b10001, 0b10001, 0b10001, 0b01111, 0, 0]),
    ('e', [0, 0, 0b01110, 0b10001, 0b11111, 0b10000, 0b01111, 0, 0]),
    ('f', [0b00110, 0b01000, 0b11110, 0b01000, 0b01000, 0b01000, 0b01000, 0, 0]),
    ('g', [0, 0, 0b01111, 0b10001, 0b10001, 0b10001, 0b01111, 0b00001, 0b01110]),
    ('h', [0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0, 0]),
    ('i', [0b00100, 0, 0b01100, 0b00100, 0b00100, 0b00100, 0b01110, 0, 0]),
    ('j', [0b00010, 0, 0b00110, 0b00010, 0b00010, 0b00010, 0b00010, 0b00010, 0b01100]),
    ('k', [0b10000, 0b10000, 0b10010, 0b10100, 0b11000, 0b10100, 0b10010, 0, 0]),
    ('l', [0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110, 0, 0]),
    ('m', [0, 0, 0b11010, 0b10101, 0b10101, 0b10101, 0b10101, 0, 0]),
    ('n', [0, 0, 0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0, 0]),
    ('o', [0, 0, 0b01110, 0b10001, 0b10001, 0b10001, 0b01110, 0, 0]),
    ('p', [0, 0, 0b11110, 0b10001, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000]),
    ('q', [0, 0, 0b01111, 0b10001, 0b10001, 0b10001, 0b01111, 0b00001, 0b00001]),
    ('r', [0, 0, 0b10110, 0b11000, 0b10000, 0b10000, 0b10000, 0, 0]),
    ('s', [0, 0, 0b01111, 0b10000, 0b01110, 0b00001, 0b11110, 0, 0]),
    ('t', [0b01000, 0b01000, 0b11110, 0b01000, 0b01000, 0b01000, 0b00110, 0, 0]),
    ('u', [0, 0, 0b10001, 0b10001, 0b10001, 0b10001, 0b01111, 0, 0]),
    ('v', [0, 0, 0b10001, 0b10001, 0b10001, 0b01010, 0b00100, 0, 0]),
    ('w', [0, 0, 0b10001, 0b10101, 0b10101, 0b10101, 0b01010, 0, 0]),
    ('x', [0, 0, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001, 0, 0]),
    ('y', [0, 0, 0b10001, 0b10001, 0b10001, 0b10001, 0b01111, 0b00001, 0b01110]),
    ('z', [0, 0, 0b11111, 0b00010, 0b00100, 0b01000, 0b11111, 0, 0]),
    ('|', [0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0]),
    ('?', [0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0, 0b00100, 0, 0]),
];

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: [u8; 4] = [255; 4];
    const BLACK: [u8; 4] = [0, 0, 0, 255];

    /// The picture of a text of points of one pixel, as rows of `#` and `.`.
    fn drawn(text: &str) -> Vec<String> {
        let size = [Picture::text_width(text, 1), 9];
        let mut picture = Picture::filled(size, WHITE);
        picture.write_text(text, 0, 0, 1, BLACK);
        let row = |y| (0..size[0]).map(|x| if picture.pixel(x, y) == BLACK { '#' } else { '.' }).collect();
        (0..9).map(row).collect()
    }

    #[test]
    fn letters_stand_side_by_side() {
        let expected = [
            "............",
            "............",
            ".###..#...#.",
            "....#.#...#.",
            ".####.#...#.",
            "#...#.#...#.",
            ".####..####.",
            "..........#.",
            ".......###..",
        ];
        assert_eq!(drawn("ay"), expected);
        assert_eq!(drawn("AY"), expected);
        assert!(drawn(" ").iter().all(|row| row == "......"));
        assert_eq!(drawn("\u{e9}"), drawn("?"));
    }

    #[test]
    fn every_letter_differs_from_all_others() {
        for (index, (letter, rows)) in RASTERS.iter().enumerate() {
            assert!(rows.iter().all(|row| *row < 32) && rows.iter().any(|row| *row > 0), "{letter}");
            assert!(RASTERS[..index].iter().all(|(other, others)| other != letter && others != rows), "{letter}");
        }
    }

    #[test]
    fn what_is_beyond_the_edges_is_left_out() {
        let mut picture = Picture::filled([7, 5], WHITE);
        picture.write_text("mmm", 3, 2, 3, BLACK);
        picture.write_text("m", u32::MAX, u32::MAX, 9, BLACK);
        assert_eq!(picture.pixels.len(), 4 * 35);
        picture.write_text("1", 0, 0, 1, BLACK);
        assert_eq!(picture.pixel(2, 0), BLACK);
    }
}
