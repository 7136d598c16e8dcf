//! Files of other people, and figures of other programs, which the repository does not have. `tests/collected.txt`
//! lists them.

use std::path::{Path, PathBuf};

/// The path of a collected file or folder, by its path below the folder of all of them; `None` if it is not there.
///
/// The folder is the one that the variable `POSSE_COLLECTED` names, from the root of the checkout. If the variable is
/// not set or empty, `tests/collected` comes first, where `tests/fetch` puts files, and then the folder `shared` beside
/// the checkout.
pub fn collected(path: &str) -> Option<PathBuf> {
    let checkout =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|folder| folder.join("tests/fetch").is_file())?;
    let folders = match std::env::var_os("POSSE_COLLECTED").filter(|folder| !folder.is_empty()) {
        Some(folder) => vec![checkout.join(folder)],
        None => vec![checkout.join("tests/collected"), checkout.join("../shared")],
    };
    folders.into_iter().map(|folder| folder.join(path)).find(|path| path.exists())
}
