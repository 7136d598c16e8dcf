//! Where results and notes go.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use posse::Error;

/// Says something on stderr that is not a result.
pub fn note(text: &str) {
    // Notes are not worth stopping for.
    let _ = writeln!(io::stderr(), "{text}");
}

/// A file's name without its folder.
pub fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

/// Refuses a file whose folder is not there, before anything is made that would go into it.
pub fn check_folder(file: &Path) -> Result<(), Error> {
    match file.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => {
            Err(Error::Usage(format!("{}: there is no folder {}", file.display(), folder.display())))
        }
        _ => Ok(()),
    }
}

/// A buffered file or stdout.
pub type Writer = BufWriter<Box<dyn Write>>;

/// Names what is written to.
#[derive(Clone, Copy)]
pub struct Place<'a>(&'a Path);

impl Place<'_> {
    /// An error of writing there.
    pub fn fault(self, error: impl Into<io::Error>) -> Error {
        Error::Io { file: self.0.to_path_buf(), source: error.into() }
    }
}

/// Prints a report on stdout. It is no error where nobody reads it to its end: what it says is in the exit code too.
pub fn print<E: Into<io::Error>>(write: impl FnOnce(&mut Writer) -> Result<(), E>) -> Result<(), Error> {
    let mut output = Output::create(None)?;
    match output.write(write).and_then(|()| output.finish()) {
        Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// A file or stdout, with errors that name it.
///
/// A file appears under its name when it is complete: until then it is written beside it, and removed should that fail.
pub struct Output {
    name: PathBuf,
    writer: Writer,
    draft: Option<Draft>,
}

impl Output {
    /// The file, or stdout where there is none.
    pub fn create(file: Option<&Path>) -> Result<Self, Error> {
        let name = file.map_or_else(|| "standard output".into(), Path::to_path_buf);
        let created = match file {
            None => Ok((Box::new(io::stdout().lock()) as Box<dyn Write>, None)),
            Some(file) => create(file),
        };
        let (writer, draft) = created.map_err(|error| Place(&name).fault(error))?;
        Ok(Self { name, writer: BufWriter::with_capacity(1 << 16, writer), draft })
    }

    /// Runs a function that writes, and gives its error a name.
    pub fn write<T, E: Into<io::Error>>(
        &mut self,
        write: impl FnOnce(&mut Writer) -> Result<T, E>,
    ) -> Result<T, Error> {
        let (writer, place) = self.split();
        write(writer).map_err(|error| place.fault(error))
    }

    /// What to write to, and what errors of it are to be called.
    pub fn split(&mut self) -> (&mut Writer, Place<'_>) {
        (&mut self.writer, Place(&self.name))
    }

    /// Writes what is still buffered, and gives the file its name. Without it an error would go unseen.
    pub fn finish(mut self) -> Result<(), Error> {
        self.write(|writer| writer.flush())?;
        let Self { name, writer, draft } = self;
        // Not every system renames a file that is still open.
        drop(writer);
        draft.map_or(Ok(()), Draft::keep).map_err(|error| Place(&name).fault(error))
    }
}

/// Opens a file, or a draft that is to become it.
fn create(file: &Path) -> io::Result<(Box<dyn Write>, Option<Draft>)> {
    let target = match OpenOptions::new().write(true).open(file) {
        // A pipe or a device can only be written as it stands.
        Ok(open) if !open.metadata()?.is_file() => return Ok((Box::new(open), None)),
        // Behind a link, the file that it leads to is written.
        Ok(_) => file.canonicalize()?,
        Err(error) if error.kind() == ErrorKind::NotFound => file.to_path_buf(),
        Err(error) => return Err(error),
    };
    let mut name = target.file_name().ok_or(ErrorKind::InvalidFilename)?.to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let draft = Draft { path: target.with_file_name(name), target };
    let open = OpenOptions::new().write(true).create_new(true).open(&draft.path)?;
    Ok((Box::new(open), Some(draft)))
}

/// A file that is being written.
struct Draft {
    path: PathBuf,
    target: PathBuf,
}

impl Draft {
    fn keep(self) -> io::Result<()> {
        if let Ok(replaced) = fs::metadata(&self.target) {
            fs::set_permissions(&self.path, replaced.permissions())?;
        }
        fs::rename(&self.path, &self.target)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // It is gone where it has been kept.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether results on stdout would be seen on a terminal.
pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}
