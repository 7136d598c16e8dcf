//! The parts of a file that are known without its buffers.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::document::{BufferSource, Text};
use super::{files, parse};
use crate::error::Error;
use crate::import::{FileError, json};

/// The bytes of the header of a GLB container and of its first chunk.
const HEADER: usize = 20;

/// The names of the clips of a file, and of the files beside it.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// use posse::import::gltf::Outline;
///
/// # fn main() -> Result<(), posse::Error> {
/// let file = br#"{ "asset": { "version": "2.0" }, "animations": [{ "name": "walk" }, {}], "buffers": [{ "uri": "a%20b.bin" }],
///     "images": [{ "uri": "skin.png" }] }"#;
/// let outline = Outline::from_slice(Path::new("hero.gltf"), file)?;
/// assert_eq!(outline.clips, [Some("walk".into()), None]);
/// assert_eq!(outline.buffers, ["a b.bin"]);
/// assert_eq!(outline.images, ["skin.png"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// The names of the clips, by glTF animation index.
    pub clips: Vec<Option<String>>,
    /// The paths of external buffers, relative to the folder of the file, in the order of their first mention.
    pub buffers: Vec<String>,
    /// The paths of external images, relative to the folder of the file, in the order of their first mention.
    pub images: Vec<String>,
}

/// The fields of a document that an outline needs.
#[derive(Deserialize)]
struct DocumentOutline<'a> {
    #[serde(borrow, default)]
    animations: Vec<Animation<'a>>,
    #[serde(borrow, default)]
    buffers: Vec<BufferSource<'a>>,
    #[serde(borrow, default)]
    images: Images<'a>,
}

/// The images, which no importer of this crate reads: what is wrong with them is no error of an outline.
#[derive(Deserialize)]
#[serde(untagged)]
enum Images<'a> {
    #[serde(borrow)]
    Listed(Vec<ImageSource<'a>>),
    Unknown(IgnoredAny),
}

impl Default for Images<'_> {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

#[derive(Deserialize)]
struct ImageSource<'a> {
    #[serde(borrow)]
    uri: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Animation<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
}

impl Outline {
    /// Reads the outline of a file. Of a GLB file, only the JSON is read.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read; [`Error::Import`] with a JSON path if the JSON cannot be used.
    pub fn read(file: impl AsRef<Path>) -> Result<Self, Error> {
        let name = file.as_ref();
        let failed = |source| Error::Io { file: name.to_path_buf(), source };
        let mut file = File::open(name).map_err(failed)?;
        let mut bytes = Vec::new();
        (&mut file).take(HEADER as u64).read_to_end(&mut bytes).map_err(failed)?;
        if let Some(length) = parse::first_json_chunk(&bytes) {
            file.take(length.into()).read_to_end(&mut bytes).map_err(failed)?;
            return Self::from_json(&bytes[HEADER..]).map_err(|error| error.in_file(name));
        }
        file.read_to_end(&mut bytes).map_err(failed)?;
        Self::from_slice(name, &bytes)
    }

    /// Reads the outline of the bytes of a `.glb` or `.gltf` file. `name` is the name of the file in errors; it is not
    /// opened.
    ///
    /// # Errors
    /// [`Error::Import`] with a JSON path if the JSON cannot be used.
    pub fn from_slice(name: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let json = parse::open(bytes, &mut Vec::new()).map(|container| container.json);
        json.and_then(Self::from_json).map_err(|error| error.in_file(name))
    }

    fn from_json(text: &[u8]) -> Result<Self, FileError> {
        let text = parse::text(text, &mut Vec::new())?;
        // Of an error, the importer knows more.
        let document: DocumentOutline =
            json::parse_text(&text).or_else(|error| super::GltfDocument::parse(&text).and(Err(error)))?;
        let buffers = external_paths(document.buffers.iter().filter_map(|buffer| buffer.uri.as_deref()));
        let images = match &document.images {
            Images::Listed(images) => external_paths(images.iter().filter_map(|image| image.uri.as_deref())),
            Images::Unknown(_) => Vec::new(),
        };
        let clips = document.animations.into_iter().map(|animation| animation.name.map(|name| name.0.into_owned()));
        Ok(Self { clips: clips.collect(), buffers, images })
    }
}

/// The paths of URIs that name other files, each once.
fn external_paths<'a>(uris: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut known = HashSet::new();
    let paths = uris.filter(|uri| !files::is_data_uri(uri)).filter_map(files::decode_uri_path);
    paths.filter(|path| known.insert(path.clone())).collect()
}
