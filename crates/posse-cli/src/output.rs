//! Output: results to files or stdout, notes to stderr.

use std::borrow::Cow;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use posse::Error;
use posse::import::gltf::Outline;

use crate::draft::Draft;
use crate::write_error::with_hint;

/// True with `--strict`, which is an option of all commands.
static STRICT: AtomicBool = AtomicBool::new(false);

/// Sets whether warnings about files are errors.
pub fn set_strict(strict: bool) {
    STRICT.store(strict, Ordering::Relaxed);
}

/// Returns `true` if warnings about files are errors: with `--strict`.
pub fn is_strict() -> bool {
    STRICT.load(Ordering::Relaxed)
}

/// Passes the lines of warnings about a file to a function. With `--strict`, fails for the first of them.
pub fn warn_of_file(
    file: &Path,
    warnings: impl IntoIterator<Item = impl Display>,
    report: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    for warning in warnings {
        if is_strict() {
            return Err(Error::Usage(format!("{}: {warning} (--strict)", file.display())));
        }
        report(&format!("warning: {}: {warning}", file.display()));
    }
    Ok(())
}

/// Prints a line to stderr.
pub fn note(text: &str) {
    // A failed write of a note does not stop the command.
    let _ = writeln!(io::stderr(), "{}", printable(text));
}

/// A text in which control characters, which names of files may have and terminals obey, are escaped. Line breaks and
/// tabs remain.
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

/// A count with its noun, in the plural unless the count is 1.
pub fn plural(count: usize, noun: &str) -> String {
    let ending = if noun.ends_with("ch") { "es" } else { "s" };
    format!("{count} {noun}{}", if count == 1 { "" } else { ending })
}

/// The name of a file without its folder.
pub fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

/// The files that the command has named so far.
#[derive(Default)]
struct NamedFiles {
    inputs: Vec<NamedFile>,
    outputs: Vec<NamedFile>,
}

/// A file that is there.
struct NamedFile {
    /// The path as it was given.
    name: PathBuf,
    /// The canonical path: the same for another path, a link, or on macOS and Windows another case. A hard link has one
    /// of its own; an output there replaces a name, and leaves the file.
    place: PathBuf,
}

static NAMED_FILES: Mutex<NamedFiles> = Mutex::new(NamedFiles { inputs: Vec::new(), outputs: Vec::new() });

impl NamedFile {
    /// `None` for a file that is not there, and for a pipe or a device, which is no file to replace.
    fn new(name: &Path) -> Option<Self> {
        let place = name.canonicalize().ok().filter(|place| place.is_file())?;
        Some(Self { name: name.to_path_buf(), place })
    }
}

/// Fails if an output is an input, or a buffer or an image that the input names.
fn check_kept(input: &NamedFile, output: &NamedFile) -> Result<(), Error> {
    let role = if input.place == output.place {
        "the input"
    } else if is_beside(input, output) {
        "a file of the input"
    } else {
        return Ok(());
    };
    let (output, input) = (output.name.display(), input.name.display());
    Err(Error::Usage(format!("{output}: the output would replace {role} {input}; give the output another name")))
}

/// Returns `true` if a glTF file names another file as a buffer or an image.
fn is_beside(input: &NamedFile, other: &NamedFile) -> bool {
    let is_gltf = ["gltf", "glb", "vrm", "vrma"]
        .iter()
        .any(|known| input.name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(known)));
    // The importer reports what is wrong with the file.
    let Some(outline) = is_gltf.then(|| Outline::read(&input.place).ok()).flatten() else { return false };
    let folder = input.name.parent().unwrap_or(Path::new(""));
    let mut beside = outline.buffers.iter().chain(&outline.images);
    beside.any(|path| folder.join(path).canonicalize().is_ok_and(|place| place == other.place))
}

/// Forgets the inputs and outputs of an earlier command of the process.
pub fn forget_files() {
    *NAMED_FILES.lock().unwrap_or_else(PoisonError::into_inner) = NamedFiles::default();
}

/// Adds a file that the command reads. Fails if it is one of the outputs.
pub fn add_input(file: &Path) -> Result<(), Error> {
    let Some(input) = NamedFile::new(file) else { return Ok(()) };
    let mut files = NAMED_FILES.lock().unwrap_or_else(PoisonError::into_inner);
    files.outputs.iter().try_for_each(|output| check_kept(&input, output))?;
    files.inputs.push(input);
    Ok(())
}

/// Adds a file that the command replaces. Fails if it is one of the inputs.
fn add_output(file: &Path) -> Result<(), Error> {
    let Some(output) = NamedFile::new(file) else { return Ok(()) };
    let mut files = NAMED_FILES.lock().unwrap_or_else(PoisonError::into_inner);
    files.inputs.iter().try_for_each(|input| check_kept(input, &output))?;
    files.outputs.push(output);
    Ok(())
}

/// Adds an output of a command before its work begins. Fails if its folder does not exist, or if it is an input, even
/// one that is read later.
pub fn declare_output(file: &Path) -> Result<(), Error> {
    match file.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => {
            Err(Error::Usage(format!("{}: there is no folder {}", file.display(), folder.display())))
        }
        _ => add_output(file),
    }
}

/// A buffered writer: to the draft of a file, or to stdout, a pipe or a device.
pub enum Writer {
    Draft(Draft),
    Direct(BufWriter<Box<dyn Write>>),
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Draft(draft) => draft.write(bytes),
            Self::Direct(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Draft(draft) => draft.flush(),
            Self::Direct(writer) => writer.flush(),
        }
    }
}

/// The name of an output, for error messages.
#[derive(Clone, Copy)]
pub struct OutputName<'a>(&'a Path);

impl<'a> OutputName<'a> {
    /// The name as a path.
    pub fn path(self) -> &'a Path {
        self.0
    }

    /// Creates an error with this name, and with a hint if there is one.
    pub fn error(self, error: impl Into<io::Error>) -> Error {
        Error::Io { file: self.0.to_path_buf(), source: with_hint(error.into()) }
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

/// A file or stdout. Its errors contain its name. A file is a [`Draft`] until it is complete.
pub struct Output {
    name: PathBuf,
    writer: Writer,
}

impl Output {
    /// Opens a file, or stdout without one.
    pub fn create(file: Option<&Path>) -> Result<Self, Error> {
        let name = file.map_or_else(|| "standard output".into(), Path::to_path_buf);
        let writer = match file {
            None => direct(io::stdout().lock()),
            Some(file) => create(file)?,
        };
        Ok(Self { name, writer })
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
    pub fn finish(self) -> Result<(), Error> {
        match self.writer {
            Writer::Draft(draft) => draft.keep().map(drop),
            Writer::Direct(mut writer) => writer.flush().map_err(|error| OutputName(&self.name).error(error)),
        }
    }
}

fn direct(writer: impl Write + 'static) -> Writer {
    Writer::Direct(BufWriter::with_capacity(1 << 16, Box::new(writer)))
}

/// Opens a draft of a file. A pipe or a device is opened directly.
fn create(file: &Path) -> Result<Writer, Error> {
    add_output(file)?;
    let target = || match OpenOptions::new().write(true).open(file) {
        Ok(open) if !open.metadata()?.is_file() => Ok(Err(open)),
        // A link stays a link: its target is replaced.
        Ok(_) => file.canonicalize().map(Ok),
        Err(error) if error.kind() == ErrorKind::NotFound && file.file_name().is_none() => {
            Err(ErrorKind::InvalidFilename.into())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Ok(file.to_path_buf())),
        Err(error) => Err(error),
    };
    match target().map_err(|error| OutputName(file).error(error))? {
        Ok(target) => Ok(Writer::Draft(Draft::create(&target)?.with_permissions_of_replaced())),
        Err(open) => Ok(direct(open)),
    }
}

/// Returns `true` if stdout is a terminal.
pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}
