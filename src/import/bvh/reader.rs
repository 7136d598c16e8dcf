//! A BVH file, read in parts.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::LoadOptions;
use super::frame::{is_blank, longest_line, read_decimal_commas, read_line};
use super::frame_rate;
use super::half_angle::{BLOCK, FrameColumn};
use super::hierarchy::{Columns, Hierarchy};
use super::keys::{Keys, frame_seconds};
use super::lines::{DECIMAL_COMMA, Lines, Words};
use super::rotation::RotationState;
use crate::error::Error;
use crate::import::Warning;
use crate::import::file_error::shorten;
use crate::model::{Skeleton, is_usable};

/// The buffer of a file in bytes.
const BUFFER: usize = 1 << 20;

/// A BVH file, read in parts, for motion that does not fit into memory.
///
/// The keys are the same, bit for bit, for all sizes of the parts. After an error, the reader is of no use.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// use posse::Library;
/// use posse::import::bvh::{Keys, Reader};
///
/// # fn main() -> Result<(), posse::Error> {
/// let file = b"HIERARCHY ROOT hip
/// { OFFSET 0 1 0 CHANNELS 2 Yposition Zrotation }
/// MOTION Frames: 3 Frame Time: 0.5
/// 1 0
/// 2 45
/// 3 90
/// ";
/// let mut reader = Reader::new(Path::new("turn.bvh"), &file[..])?;
/// let mut library = Library::new();
/// let skeleton = library.add_skeleton(reader.skeleton().clone());
/// let mut keys = Keys::new();
/// while reader.read(2, &mut keys)? > 0 {
///     let clip = keys.clip(skeleton, None)?;
///     println!("frames {} to {}", keys.first(), keys.first() as usize + keys.len() - 1);
///     assert_eq!(clip.tracks.len(), 2);
///     keys.drop_front(2);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Reader<R: BufRead> {
    lines: Lines<R>,
    skeleton: Skeleton,
    tracks: Vec<Columns>,
    /// Per track, the last rotation.
    states: Vec<RotationState>,
    /// The numbers of the frames of a block, per channel.
    columns: Vec<FrameColumn>,
    frames: u64,
    frame_time: f64,
    /// The next frame.
    next: u64,
    /// `true` if nothing follows the last frame.
    is_complete: bool,
    /// True after a warning about decimal commas.
    has_decimal_commas: bool,
    warnings: Vec<Warning>,
}

impl Reader<BufReader<File>> {
    /// Opens a file, and reads HIERARCHY and the head of MOTION.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read; [`Error::Import`] with a line if it cannot be used.
    pub fn open(file: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(file, &LoadOptions::default())
    }

    /// The same as [`open`](Self::open), with options.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open), and [`Error::Usage`] if the frames per second are not above 0.
    pub fn open_with(file: impl AsRef<Path>, options: &LoadOptions) -> Result<Self, Error> {
        let file = file.as_ref();
        let input = File::open(file).map_err(|source| Error::Io { file: file.to_path_buf(), source })?;
        Self::with_options(file, BufReader::with_capacity(BUFFER, input), options)
    }
}

impl<R: BufRead> Reader<R> {
    /// Reads HIERARCHY and the head of MOTION of an input. `name` is the name of the file in errors; it is not opened.
    /// Its stem is the name of the skeleton.
    ///
    /// # Errors
    /// [`Error::Io`] if the input cannot be read; [`Error::Import`] with a line if it cannot be used.
    pub fn new(name: &Path, input: R) -> Result<Self, Error> {
        Self::with_options(name, input, &LoadOptions::default())
    }

    /// The same as [`new`](Self::new), with options.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new), and [`Error::Usage`] if the frames per second are not above 0.
    pub fn with_options(name: &Path, input: R, options: &LoadOptions) -> Result<Self, Error> {
        options.check()?;
        let mut words = Words::new(Lines::new(PathBuf::from(name), input));
        let Hierarchy { joints, tracks, columns, mut warnings } = Hierarchy::read(&mut words, options.end_sites)?;

        let MotionHead { mut frames, frame_time } = MotionHead::read(&mut words, options.fps)?;
        warnings.extend(words.warnings());
        let lines = words.into_lines();
        if columns == 0 && frames > 0 {
            let message =
                format!("no joint has a channel; the {frames} frames are left out, and the rest pose is kept");
            warnings.push(Warning { path: format!("line {}", lines.number()), message });
            frames = 0;
        }
        let skeleton_name = name.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        // The hierarchy has checked all that the model checks. If it misses an error, the error still names the file.
        let skeleton =
            Skeleton::new(skeleton_name, joints, Vec::new()).map_err(|error| lines.error(error.to_string()))?;
        let states = vec![RotationState::default(); tracks.len()];
        let columns = vec![[0.0; BLOCK]; columns];
        let (next, is_complete, has_decimal_commas) = (0, false, false);
        Ok(Self {
            lines,
            skeleton,
            tracks,
            states,
            columns,
            frames,
            frame_time,
            next,
            is_complete,
            has_decimal_commas,
            warnings,
        })
    }

    /// The joints of the file, with the OFFSETs as their rest pose.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The number of frames that the file announces, or that [`set_frames`](Self::set_frames) has set; 0 if no joint
    /// has a channel.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Seconds from frame to frame. It is above 0 if there are two frames or more.
    pub fn frame_time(&self) -> f64 {
        self.frame_time
    }

    /// Frames per second; `None` without a usable frame time.
    pub fn fps(&self) -> Option<f64> {
        frame_rate::of_frame_time(self.frame_time)
    }

    /// The time of the last frame in seconds; 0 without frames.
    pub fn duration(&self) -> f64 {
        frame_seconds(self.frames.saturating_sub(1), self.frame_time)
    }

    /// The errors that were passed over.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Reads up to `count` frames, and appends their keys. Returns the number of frames that were read: 0 only after
    /// the last frame, or for a `count` of 0. After the last frame, it reads to the end of the file.
    ///
    /// # Errors
    /// [`Error::Io`] if the input cannot be read; [`Error::Import`] with a line if a frame cannot be used, frames are
    /// missing, or more than spaces follow the last frame; [`Error::Usage`] if `keys` has keys that do not end before
    /// the next frame.
    pub fn read(&mut self, count: usize, keys: &mut Keys) -> Result<usize, Error> {
        self.begin(keys)?;
        let done = self.read_frames(count, keys)?;
        if self.next == self.frames && !self.is_complete {
            self.check_end()?;
            self.is_complete = true;
        }
        Ok(done)
    }

    /// Sets the number of frames of a file whose rows are others than Frames announces. [`count_frames`] counts the
    /// rows of a file.
    ///
    /// # Errors
    /// [`Error::Import`] if the frame time is not above 0 with two frames or more, or the duration is beyond the range
    /// of an `f32`; [`Error::Usage`] if more frames have been read already.
    pub fn set_frames(&mut self, frames: u64) -> Result<(), Error> {
        if frames < self.next {
            return Err(Error::Usage(format!("the reader has read {} frames; expected at least as many", self.next)));
        }
        if self.columns.is_empty() {
            return Ok(());
        }
        check_duration(frames, self.frame_time).map_err(|reason| self.lines.error(reason))?;
        let announced = std::mem::replace(&mut self.frames, frames);
        self.is_complete = false;
        self.warn_of_rows(announced);
        Ok(())
    }

    /// Reads all frames, those beyond the announced number with a warning.
    pub(super) fn read_all(&mut self, keys: &mut Keys) -> Result<(), Error> {
        self.begin(keys)?;
        self.read_frames(usize::MAX, keys)?;
        if !self.columns.is_empty() {
            let announced = self.next;
            loop {
                let rows = self.buffered_rows()?;
                let Some(rows) = rows else { break };
                check_duration(self.frames + rows as u64, self.frame_time)
                    .map_err(|reason| self.lines.error(reason))?;
                self.frames += rows as u64;
                self.read_frames(rows, keys)?;
            }
            self.warn_of_rows(announced);
        }
        self.check_end()?;
        self.is_complete = true;
        Ok(())
    }

    /// Warns if there are other rows than Frames announces.
    fn warn_of_rows(&mut self, announced: u64) {
        let rows = self.frames;
        if rows != announced {
            let path = format!("line {}", self.lines.number());
            let message = format!("Frames announces {announced}, but there are {rows} rows, which are all read");
            self.warnings.push(Warning { path, message });
        }
    }

    /// The number of rows that the buffer of the input holds, at least 1; `None` at the end of the file. Empty lines
    /// before the rows are consumed.
    fn buffered_rows(&mut self) -> Result<Option<usize>, Error> {
        loop {
            let Some(text) = self.lines.whole_lines(longest_line(self.columns.len()))? else { return Ok(None) };
            let is_row = |line: &&[u8]| !is_blank(line);
            let rows = text.split(|&byte| byte == b'\n').filter(is_row).count();
            if rows > 0 {
                return Ok(Some(rows));
            }
            self.consume_buffered()?;
        }
    }

    /// Consumes the lines that the buffer of the input holds.
    fn consume_buffered(&mut self) -> Result<(), Error> {
        let text = self.lines.whole_lines(longest_line(self.columns.len()))?.unwrap_or_default();
        let (bytes, lines) = (text.len(), text.iter().filter(|&&byte| byte == b'\n').count() as u64);
        self.lines.consume(bytes, lines);
        Ok(())
    }

    /// Reads up to `count` of the frames that are left.
    fn read_frames(&mut self, count: usize, keys: &mut Keys) -> Result<usize, Error> {
        let left = usize::try_from(self.frames - self.next).unwrap_or(usize::MAX);
        let count = count.min(left);
        let mut done = 0;
        while done < count {
            let frames = (count - done).min(BLOCK);
            self.read_block(frames, keys)?;
            done += frames;
        }
        Ok(done)
    }

    /// Prepares keys for the next frame.
    pub(super) fn begin(&self, keys: &mut Keys) -> Result<(), Error> {
        keys.begin(self.next, self.frame_time, self.tracks.iter().map(Columns::target))
    }

    /// The number of channels of all joints.
    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Reads at most [`BLOCK`] frames.
    fn read_block(&mut self, frames: usize, keys: &mut Keys) -> Result<(), Error> {
        let mut done = 0;
        while done < frames {
            done = self.read_lines(done, frames)?;
        }
        for ((track, state), keys) in self.tracks.iter().zip(&mut self.states).zip(&mut keys.tracks) {
            match track {
                Columns::Translation { offset, columns, .. } => {
                    append_translations(offset, columns, &self.columns, frames, &mut keys.values);
                }
                Columns::Rotation { turns, .. } => {
                    state.append(turns, |column| &self.columns[column], frames, &mut keys.values);
                }
            }
        }
        keys.grow(frames);
        self.next += frames as u64;
        Ok(())
    }

    /// Reads frames of the block from `done` to `frames`, as many as the buffer of the input holds, but at least one
    /// line. Returns the number of frames that the block has then.
    fn read_lines(&mut self, mut done: usize, frames: usize) -> Result<usize, Error> {
        let Some(text) = self.lines.whole_lines(longest_line(self.columns.len()))? else {
            let (found, frames) = (self.next + done as u64, self.frames);
            return Err(self.lines.error(format!(
                "the file ends after {found} frames; expected {frames}, as Frames announces. It may be truncated"
            )));
        };
        let (mut bytes, mut lines) = (0, 0);
        let mut first_comma: Option<u64> = None;
        while done < frames && bytes < text.len() {
            let line = read_line(&text[bytes..], done, &mut self.columns);
            let line = match line {
                Err(reason) => {
                    let line = read_decimal_commas(&text[bytes..], done, &mut self.columns);
                    first_comma = first_comma.or(line.is_some().then_some(lines));
                    line.ok_or(reason)
                }
                read => read,
            };
            match line {
                Ok(line) => {
                    bytes += line.bytes;
                    lines += 1;
                    done += usize::from(line.is_frame);
                }
                Err(reason) => return Err(self.lines.error_after(lines + 1, reason)),
            }
        }
        if let Some(lines) = first_comma.filter(|_| !self.has_decimal_commas) {
            self.has_decimal_commas = true;
            let path = format!("line {}", self.lines.number() + lines + 1);
            self.warnings.push(Warning { path, message: DECIMAL_COMMA.into() });
        }
        self.lines.consume(bytes, lines);
        Ok(done)
    }

    /// Checks that nothing but space follows the last frame.
    fn check_end(&mut self) -> Result<(), Error> {
        let mut line = Vec::new();
        while self.lines.read_line(longest_line(self.columns.len()), &mut line)? {
            if is_blank(&line) {
                continue;
            }
            read_line(&line, 0, &mut self.columns).map_err(|reason| self.lines.error(reason))?;
            let frames = self.frames;
            return Err(self.lines.error(format!(
                "found more after the last of {frames} frames; expected the end of the file. Frames may announce too few"
            )));
        }
        Ok(())
    }
}

/// The number of frames of a BVH file: the rows of MOTION, whatever Frames announces. It reads the whole file, in
/// parts.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::Import`] with a line if HIERARCHY or the head of MOTION cannot be
/// used, or a line is too long for a frame; [`Error::Usage`] if the frames per second are not above 0.
pub fn count_frames(file: impl AsRef<Path>, options: &LoadOptions) -> Result<u64, Error> {
    let mut reader = Reader::open_with(file, options)?;
    let mut frames = 0;
    if reader.columns.is_empty() {
        return Ok(frames);
    }
    while let Some(rows) = reader.buffered_rows()? {
        frames += rows as u64;
        reader.consume_buffered()?;
    }
    Ok(frames)
}

/// Appends the translations of the first frames of a block.
fn append_translations(
    offset: &[f64; 3],
    columns: &[Option<usize>; 3],
    block: &[FrameColumn],
    frames: usize,
    values: &mut Vec<f64>,
) {
    let start = values.len();
    values.resize(start + 3 * frames, 0.0);
    for (axis, (&column, &offset)) in columns.iter().zip(offset).enumerate() {
        let still = [offset; BLOCK];
        let numbers = column.map_or(&still, |column| &block[column]);
        values[start..].iter_mut().skip(axis).step_by(3).zip(numbers).for_each(|(value, &number)| *value = number);
    }
}

/// The head of MOTION.
struct MotionHead {
    frames: u64,
    frame_time: f64,
}

impl MotionHead {
    /// Reads the words after MOTION, up to the end of the line of the frame time. With frames per second, the frame
    /// time need not be there, and does not count.
    fn read(words: &mut Words<impl BufRead>, fps: Option<f64>) -> Result<Self, Error> {
        words.keyword("FRAMES", "`Frames:`")?;
        words.skip_colon();
        let frames = words.count("the number of frames, a whole number of 0 or more")?;
        let line = words.line();
        let next = words.peek()?;
        let is_there = next.as_ref().is_some_and(|word| word.eq_ignore_ascii_case("FRAME"));
        let frame_time = match (next, fps) {
            (None, _) if frames == 0 => return Ok(Self { frames, frame_time: 0.0 }),
            (None, _) => return Err(words.error("the file ends; expected `Frame Time:`. It may be truncated")),
            (Some(_), fps) if is_there => read_frame_time(words, fps)?,
            // The first frame begins on a line of its own.
            (Some(_), Some(fps)) if words.line() > line => {
                words.give_back_line();
                1.0 / fps
            }
            (Some(word), _) => {
                let hint = match word.parse::<f64>() {
                    Ok(_) => format!(
                        ". The file does not say how long a frame lasts; write `Frame Time: 0.033333`, the seconds per \
                         frame, on a line before the first frame, {}",
                        LoadOptions::NEEDS_FPS
                    ),
                    Err(_) => String::new(),
                };
                let word = shorten(&word);
                return Err(words.error(format!("found {word:?}; expected `Frame Time:`{hint}")));
            }
        };
        check_duration(frames, frame_time)
            .map_err(|reason| words.error(format!("{reason}; Frames stands in line {line}")))?;
        Ok(Self { frames, frame_time })
    }
}

/// Reads the line of the frame time. With frames per second, the number on it does not count.
fn read_frame_time(words: &mut Words<impl BufRead>, fps: Option<f64>) -> Result<f64, Error> {
    let expected = "`Frame Time:`";
    words.keyword("FRAME", expected)?;
    words.keyword("TIME", expected)?;
    words.skip_colon();
    if let Some(fps) = fps {
        words.skip_line();
        return Ok(1.0 / fps);
    }
    let (seconds, written) = words.written_number("the seconds per frame, a finite number")?;
    match words.rest_of_line() {
        rest if rest.is_empty() => Ok(frame_rate::exact_frame_time(seconds, &written)),
        rest => {
            let rest = shorten(&rest);
            Err(words.error(format!(
                "found {rest:?} after the frame time; expected the first frame on the next line, because a frame is one line"
            )))
        }
    }
}

/// Checks the length of a clip. Fails with a reason.
fn check_duration(frames: u64, frame_time: f64) -> Result<(), String> {
    if frames > 1 && frame_time <= 0.0 {
        return Err(format!(
            "the frame time is {frame_time} s with {frames} frames; expected more than 0, for example 0.033333; correct it, {}",
            LoadOptions::NEEDS_FPS
        ));
    }
    if !is_usable(frame_seconds(frames.saturating_sub(1), frame_time)) {
        let reason = "Frames times Frame Time is not a finite number in the range of an f32";
        return Err(format!("{frames} frames of {frame_time} s: {reason}"));
    }
    Ok(())
}
