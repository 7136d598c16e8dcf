//! What kind of file a report is.

use std::path::Path;

use posse::Error;

/// A kind of file, by its name's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A page of plots and tables.
    Page,
    /// The first of its plots.
    Plot,
}

impl Format {
    /// The kind of a file.
    pub fn of(file: &Path) -> Result<Self, Error> {
        let extension = file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match extension.as_str() {
            "html" | "htm" => Ok(Self::Page),
            "svg" => Ok(Self::Plot),
            _ => {
                let file = file.display();
                Err(Error::Usage(format!("{file}: a report is a page, .html, or its first plot, .svg; name it so")))
            }
        }
    }
}
