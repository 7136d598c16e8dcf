//! Where results and notes go.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use posse::error::Error;
use posse::import::gltf::{self, Asset};
use posse::model::library::Library;

/// Says something on stderr that is not a result.
pub fn note(text: &str) {
    // Notes are not worth stopping for.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Reads a glTF file, its warnings going to stderr.
pub fn load(file: &Path) -> Result<(Library, Asset), Error> {
    let mut library = Library::new();
    let asset = gltf::load(&mut library, file)?;
    for warning in &asset.warnings {
        note(&format!("warning: {}: {warning}", file.display()));
    }
    Ok((library, asset))
}

/// A file's name without its folder.
pub fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
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

/// A file or stdout, with errors that name it.
pub struct Output {
    name: PathBuf,
    writer: Writer,
}

impl Output {
    /// The file, or stdout where there is none.
    pub fn create(file: Option<&Path>) -> Result<Self, Error> {
        let name = file.map_or_else(|| "standard output".into(), Path::to_path_buf);
        let writer: Box<dyn Write> = match file {
            None => Box::new(io::stdout().lock()),
            Some(file) => match File::create(file) {
                Ok(file) => Box::new(file),
                Err(source) => return Err(Error::Io { file: name, source }),
            },
        };
        Ok(Self { name, writer: BufWriter::with_capacity(1 << 16, writer) })
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

    /// Writes what is still buffered. Without it an error would go unseen.
    pub fn finish(mut self) -> Result<(), Error> {
        self.write(|writer| writer.flush())
    }
}

/// Whether results on stdout would be seen on a terminal.
pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}
