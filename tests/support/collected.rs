//! Files of other people, and figures of other programs, which the repository does not have. `tests/collected.txt`
//! lists them.

use std::path::{Path, PathBuf};

/// The path of a collected file or folder, by its path below the folder of all of them; `None` if it is not there.
///
/// The folder is the one that the variable `POSSE_COLLECTED` names. Without it, the folder `shared` beside the checkout
/// comes first, and then `tests/collected`, where `tests/fetch` puts files.
pub fn collected(path: &str) -> Option<PathBuf> {
    let checkout =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|folder| folder.join("tests/fetch").is_file())?;
    let folders = match std::env::var("POSSE_COLLECTED") {
        Ok(folder) => vec![checkout.join(folder)],
        Err(_) => vec![checkout.join("../shared"), checkout.join("tests/collected")],
    };
    folders.into_iter().map(|folder| folder.join(path)).find(|path| path.exists())
}
