//! The file of a crowd, which refers to the files of its characters.

use std::io::Write;

use posse::Error;

use super::names::{UniqueNames, prim_name};
use super::stage::{Stage, write_end};
use crate::draft::Draft;

/// A character of a crowd.
pub struct Character {
    /// The name.
    pub name: String,
    /// The path of its file, relative to that of the crowd, with `/` between folders.
    pub path: String,
    /// The number of its frames.
    pub frames: u64,
}

/// Writes a file that refers to the file of each character, in their order. All of them have the same rate and up axis.
pub fn write_crowd(mut draft: Draft, characters: &[Character], fps: f64, up: &str) -> Result<Draft, Error> {
    let frames = characters.iter().map(|character| character.frames).max().unwrap_or(0);
    Stage { facts: None, root: "Crowd", fps, frames, up }.write(&mut draft)?;
    let mut text = String::from("def Xform \"Crowd\" (\n    kind = \"assembly\"\n)\n{\n");
    let mut names = UniqueNames::default();
    for Character { name, path, .. } in characters {
        let name = names.add(prim_name(name));
        // Three @ may enclose a path with an @ in it; three in the path need a backslash.
        let path = path.replace("@@@", "\\@@@");
        text.push_str(&format!(
            "    def \"{name}\" (\n        prepend references = @@@./{path}@@@\n    )\n    {{\n    }}\n"
        ));
    }
    text.push_str("}\n");
    draft.write_all(text.as_bytes()).map_err(|error| draft.error(error))?;
    write_end(&mut draft)?;
    Ok(draft)
}
