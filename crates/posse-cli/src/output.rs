//! Output: results to files or stdout, notes to stderr.

use std::borrow::Cow;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use posse::Error;

use crate::unfinished::Unfinished;
use crate::write_error::with_remedy;

/// Prints a line to stderr.
pub fn note(text: &str) {
    // A failed write of a note does not stop the command.
    let _ = writeln!(io::stderr(), "{}", printable(text));
}

/// A text in which control characters, which names of files may have and terminals obey, are escaped. Line breaks and tabs remain.
fn printable(text: &str) -> Cow<'_, str> {
    escape(text, |letter| letter.is_control() && !matches!(letter, '\n' | '\t'))
}

/// A text in which all control characters are escaped, so that it is one line.
pub fn printable_line(text: &str) -> Cow<'_, str> {
    escape(text, char::is_control)
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return text.into();
    }
    let escaped = |letter: char| if is_escaped(letter) { letter.escape_default().to_string() } else { letter.into() };
    text.chars().map(escaped).collect()
}

/// The name of a file without its folder.
pub fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

/// Fails if the folder of an output file does not exist. Commands call it before their work begins.
pub fn check_folder(file: &Path) -> Result<(), Error> {
    match file.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => {
            Err(Error::Usage(format!("{}: there is no folder {}", file.display(), folder.display())))
        }
        _ => Ok(()),
    }
}

/// A buffered writer to a file or to stdout.
pub type Writer = BufWriter<Box<dyn Write>>;

/// The name of an output, for error messages.
#[derive(Clone, Copy)]
pub struct OutputName<'a>(&'a Path);

impl OutputName<'_> {
    /// Creates an error with this name, and with a remedy if there is one.
    pub fn error(self, error: impl Into<io::Error>) -> Error {
        Error::Io { file: self.0.to_path_buf(), source: with_remedy(error.into()) }
    }
}

/// Prints a report to stdout. A reader that stops early is not an error: the exit code holds the result too.
pub fn print<E: Into<io::Error>>(write: impl FnOnce(&mut Writer) -> Result<(), E>) -> Result<(), Error> {
    let mut output = Output::create(None)?;
    match output.write(write).and_then(|()| output.finish()) {
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// An output that takes nothing more after its first error. `ZipWriter` goes on writing when it is dropped, and would print a second
/// error.
pub struct UntilError<W> {
    output: W,
    has_failed: bool,
    /// The place of the next byte, also after an error.
    place: u64,
}

impl<W> UntilError<W> {
    /// Wraps an output that is at its beginning.
    pub fn new(output: W) -> Self {
        Self { output, has_failed: false, place: 0 }
    }

    /// Calls a function of the output; after an error, returns `instead`.
    fn call<T>(&mut self, instead: T, call: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.has_failed {
            return Ok(instead);
        }
        let result = call(&mut self.output);
        // Callers write again after an interruption.
        self.has_failed = result.as_ref().is_err_and(|error| error.kind() != ErrorKind::Interrupted);
        result
    }
}

impl<W: Write> Write for UntilError<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.call(bytes.len(), |output| output.write(bytes))?;
        self.place += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.call((), Write::flush)
    }
}

impl<W: Seek> Seek for UntilError<W> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        let instead = match position {
            SeekFrom::Start(place) => place,
            SeekFrom::Current(distance) | SeekFrom::End(distance) => self.place.saturating_add_signed(distance),
        };
        self.place = self.call(instead, |output| output.seek(position))?;
        Ok(self.place)
    }
}

/// A file or stdout. Its errors contain its name.
///
/// A file is written under a temporary name in the same folder. It gets its name when it is complete, and is removed if that
/// fails or if a signal ends the process.
pub struct Output {
    name: PathBuf,
    writer: Writer,
    draft: Option<Draft>,
}

impl Output {
    /// Opens a file, or stdout without one.
    pub fn create(file: Option<&Path>) -> Result<Self, Error> {
        let name = file.map_or_else(|| "standard output".into(), Path::to_path_buf);
        let created = match file {
            None => Ok((Box::new(io::stdout().lock()) as Box<dyn Write>, None)),
            Some(file) => create(file),
        };
        let (writer, draft) = created.map_err(|error| OutputName(&name).error(error))?;
        Ok(Self { name, writer: BufWriter::with_capacity(1 << 16, writer), draft })
    }

    /// Calls a function that writes. Its error gets the name of the output.
    pub fn write<T, E: Into<io::Error>>(
        &mut self,
        write: impl FnOnce(&mut Writer) -> Result<T, E>,
    ) -> Result<T, Error> {
        let (writer, name) = self.split();
        write(writer).map_err(|error| name.error(error))
    }

    /// The writer, and the name for its errors.
    pub fn split(&mut self) -> (&mut Writer, OutputName<'_>) {
        (&mut self.writer, OutputName(&self.name))
    }

    /// Flushes the buffer, and gives the file its name. Without this call, the file is removed.
    pub fn finish(mut self) -> Result<(), Error> {
        self.write(|writer| writer.flush())?;
        let Self { name, writer, draft } = self;
        // Some systems cannot rename an open file.
        drop(writer);
        draft.map_or(Ok(()), Draft::keep).map_err(|error| OutputName(&name).error(error))
    }
}

/// Opens a draft of a file. A pipe or a device is opened directly.
fn create(file: &Path) -> io::Result<(Box<dyn Write>, Option<Draft>)> {
    let target = match OpenOptions::new().write(true).open(file) {
        Ok(open) if !open.metadata()?.is_file() => return Ok((Box::new(open), None)),
        // A link stays a link: its target is replaced.
        Ok(_) => file.canonicalize()?,
        Err(error) if error.kind() == ErrorKind::NotFound => file.to_path_buf(),
        Err(error) => return Err(error),
    };
    target.file_name().ok_or(ErrorKind::InvalidFilename)?;
    let (unfinished, open) = Unfinished::create_beside(&target)?;
    Ok((Box::new(open), Some(Draft { unfinished, target })))
}

/// A file under its temporary name. It is removed on drop unless it was kept.
struct Draft {
    unfinished: Unfinished,
    target: PathBuf,
}

impl Draft {
    /// Renames the draft to its target, with the permissions of the file that it replaces.
    fn keep(self) -> io::Result<()> {
        if let Ok(replaced) = fs::metadata(&self.target) {
            fs::set_permissions(self.unfinished.path(), replaced.permissions())?;
        }
        self.unfinished.rename(&self.target)
    }
}

/// Returns true if stdout is a terminal.
pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}
