//! The WGSL files of `shaders/`, and the WGSL that is generated from Rust.
//!
//! The first lines of a file, `// Needs: ...`, name the files whose functions, structures and constants it uses. The
//! records and constants of Rust are in each kernel. The file with the entry point, or the file that it needs first,
//! declares the bindings.
//!
//! Two files may need each other: WGSL functions may call functions that are declared later, and so the order of the
//! files does not matter to a compiler. It matters to `shader_pruning`, which knows the value of a constant only in the
//! lines after it: a constant that guards code stands in a file before all files that read it.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::{Interpolator, SkinFormat};
use crate::pack::record;

/// A shader file, or a text in its place.
#[derive(Debug, Clone)]
pub(super) struct ShaderFile {
    /// The path from the root of the repository, or a name for the text.
    pub name: Cow<'static, str>,
    /// The WGSL.
    pub text: Cow<'static, str>,
    /// The interpolator that the text calls. A compile error in the text is an error of the interpolator.
    pub calls: Option<Arc<dyn Interpolator>>,
    /// True for files of this crate, from which unused branches and functions are removed. Interpolators stay whole, so
    /// that all their errors are reported.
    pub is_own: bool,
}

impl ShaderFile {
    /// A text with a name, which calls no interpolator.
    pub fn new(name: impl Into<Cow<'static, str>>, text: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), text: text.into(), calls: None, is_own: false }
    }

    /// The name without folder and extension.
    pub fn stem(&self) -> &str {
        let name = self.name.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".wgsl").unwrap_or(name)
    }

    /// The stems of the files that the first lines name: each list has alternatives, of which a kernel has one.
    pub fn needs(&self) -> impl Iterator<Item = Vec<&str>> {
        let lines = self.text.lines().map_while(|line| line.strip_prefix("// Needs: "));
        let needs = lines.flat_map(|line| line.split(", ")).filter(|need| *need != "nothing");
        needs.map(|need| need.split(" | ").collect())
    }
}

/// Copies WGSL without comments, except in its first lines, to the beginning of `to`. If `to` is too short, the
/// rest is left out. Returns the length of the whole text without comments.
///
/// All lines stay, so that messages of compilers name the lines of the file.
pub const fn copy_code(text: &[u8], to: &mut [u8]) -> usize {
    let (mut from, mut length) = (0, 0);
    let (mut is_head, mut is_comment) = (true, false);
    while from < text.len() {
        let starts_comment = text[from] == b'/' && from + 1 < text.len() && text[from + 1] == b'/';
        if from == 0 || text[from - 1] == b'\n' {
            is_head = is_head && starts_comment && from + 2 < text.len() && text[from + 2] == b' ';
        }
        is_comment = (is_comment || starts_comment && !is_head) && text[from] != b'\n';
        if !is_comment {
            if length < to.len() {
                to[length] = text[from];
            }
            length += 1;
        }
        from += 1;
    }
    length
}

/// The text of a WGSL file; on the web, where every byte is downloaded, without comments.
#[doc(hidden)]
#[macro_export]
macro_rules! shader_text {
    ($path:expr) => {{
        const TEXT: &str = include_str!($path);
        const LENGTH: usize = $crate::low_level::device::copy_code(TEXT.as_bytes(), &mut []);
        const BYTES: [u8; LENGTH] = {
            let mut bytes = [0; LENGTH];
            $crate::low_level::device::copy_code(TEXT.as_bytes(), &mut bytes);
            bytes
        };
        const CODE: &str = match std::str::from_utf8(&BYTES) {
            Ok(code) => code,
            Err(_) => TEXT,
        };
        if cfg!(target_arch = "wasm32") { CODE } else { TEXT }
    }};
}
pub use shader_text;

macro_rules! file {
    ($path:literal) => {
        ShaderFile {
            name: Cow::Borrowed(concat!("shaders/", $path)),
            text: Cow::Borrowed(shader_text!(concat!("../../shaders/", $path))),
            calls: None,
            is_own: true,
        }
    };
}

/// The kernels that measure the bandwidth.
pub(super) const BANDWIDTH: ShaderFile = file!("bandwidth.wgsl");

/// The files of all kernels.
pub(super) static FILES: [ShaderFile; 38] = [
    BANDWIDTH,
    file!("drive.wgsl"),
    file!("events.wgsl"),
    file!("play.wgsl"),
    file!("resolve_goals.wgsl"),
    file!("root_motion.wgsl"),
    file!("test_packing.wgsl"),
    file!("visible.wgsl"),
    file!("pose/displace.wgsl"),
    file!("pose/displace_nothing.wgsl"),
    file!("pose/goals.wgsl"),
    file!("pose/goals_general.wgsl"),
    file!("pose/goals_nothing.wgsl"),
    file!("pose/goals_rigid.wgsl"),
    file!("pose/pose.wgsl"),
    file!("pose/pose_common.wgsl"),
    file!("pose/pose_joint.wgsl"),
    file!("pose/pose_layers.wgsl"),
    file!("pose/pose_part.wgsl"),
    file!("pose/skin_dual_quaternion.wgsl"),
    file!("pose/skin_half.wgsl"),
    file!("pose/skin_matrix.wgsl"),
    file!("shared/blend.wgsl"),
    file!("shared/ease.wgsl"),
    file!("shared/hierarchy.wgsl"),
    file!("shared/hierarchy_uniform.wgsl"),
    file!("shared/inverse_kinematics.wgsl"),
    file!("shared/joints_in_storage.wgsl"),
    file!("shared/joints_in_workgroup.wgsl"),
    file!("shared/matrix.wgsl"),
    file!("shared/pack.wgsl"),
    file!("shared/phase.wgsl"),
    file!("shared/quat.wgsl"),
    file!("shared/root_joint.wgsl"),
    file!("shared/sample.wgsl"),
    file!("shared/search.wgsl"),
    file!("shared/sync.wgsl"),
    file!("shared/value.wgsl"),
];

/// A file with all files that it needs, directly or not. The file comes last. Where a file needs one of several
/// alternatives, `chosen` has the name of that one.
pub(super) fn with_needs(entry: &str, chosen: &[&str]) -> Vec<ShaderFile> {
    let mut names = vec![entry];
    let mut files = Vec::new();
    while let Some(&name) = names.get(files.len()) {
        let file = FILES.iter().find(|file| file.stem() == name);
        debug_assert!(file.is_some(), "{name} is needed, but is no shader file");
        let Some(file) = file else { break };
        for alternatives in file.needs() {
            let need = alternatives.iter().find(|name| chosen.contains(*name));
            debug_assert!(
                need.is_some() || alternatives.len() == 1,
                "{name} needs one of {alternatives:?}, but {chosen:?} has none of them"
            );
            let need = need.unwrap_or(&alternatives[0]);
            if !names.contains(need) {
                names.push(*need);
            }
        }
        files.push(file.clone());
    }
    files.reverse();
    files
}

impl SkinFormat {
    /// WGSL functions for a shader that reads skin matrices in this format. Put them before the shader. They declare no
    /// binding and no entry point, and their names begin with `full_`, `half_` or `dual_quaternion`.
    /// [`OutputLayout::skin_start`](crate::pack::OutputLayout::skin_start) returns the position of a skin's matrices.
    ///
    /// ```wgsl
    /// @group(0) @binding(0) var<storage, read> joints: array<vec2<u32>>;
    ///
    /// fn joint(index: u32) -> DualQuaternion {
    ///     return dual_quaternion(joints[3u * index], joints[3u * index + 1u], joints[3u * index + 2u]);
    /// }
    /// ```
    pub const fn wgsl(self) -> &'static str {
        match self {
            Self::Matrix => shader_text!("../../shaders/read/full_matrix.wgsl"),
            Self::HalfMatrix => shader_text!("../../shaders/read/half_matrix.wgsl"),
            Self::DualQuaternion => shader_text!("../../shaders/read/dual_quaternion.wgsl"),
        }
    }
}

/// The records and constants that Rust declares: a text for each Rust file. Errors name the Rust file.
pub(super) fn generated() -> impl Iterator<Item = ShaderFile> {
    record::SHARED.iter().map(|shared| {
        let file = ShaderFile::new(format!("{} (generated)", shared.file), shared.wgsl());
        ShaderFile { is_own: true, ..file }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn code_has_the_lines_of_the_text() {
        let text = "// Needs: a\n//! A file. // Here.\n\nlet a = 1.0 / 2.0; // half\n    // indented\n}\n/";
        let mut bytes = [b'?'; 64];
        let length = copy_code(text.as_bytes(), &mut bytes);
        assert_eq!(&bytes[..length], b"// Needs: a\n\n\nlet a = 1.0 / 2.0; \n    \n}\n/");
        assert_eq!(copy_code(text.as_bytes(), &mut []), length);
    }

    /// The shader files of the renderer.
    const RENDERER: &str = "crates/posse-render/shaders";

    /// All shader files of the library, and the files of the renderer if they are there: the package of the library has
    /// none.
    fn files_on_disk() -> Vec<ShaderFile> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folders = ["shaders", "shaders/pose", "shaders/read", "shaders/shared", RENDERER];
        let folders = folders.into_iter().filter(|folder| *folder != RENDERER || root.join(folder).exists());
        let entries = folders.flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap());
        let paths = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let file = |path: PathBuf| {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            ShaderFile::new(name, std::fs::read_to_string(&path).unwrap())
        };
        paths.map(file).collect()
    }

    /// True for a file of public WGSL, which needs nothing and says nothing about files of this repository.
    fn is_public(file: &ShaderFile) -> bool {
        file.name.starts_with("shaders/read/")
    }

    /// The lines of a file, without comments.
    fn code(file: &ShaderFile) -> impl Iterator<Item = &str> {
        file.text.lines().map(|line| line.split("//").next().unwrap_or_default())
    }

    fn words(code: &str) -> impl DoubleEndedIterator<Item = &str> {
        code.split(|character: char| !character.is_alphanumeric() && character != '_').filter(|word| !word.is_empty())
    }

    /// The functions, structures and constants that a file defines.
    fn definitions(file: &ShaderFile) -> impl Iterator<Item = &str> {
        let keywords = ["fn ", "struct ", "const "];
        code(file)
            .filter(move |line| keywords.iter().any(|word| line.starts_with(word)))
            .filter_map(|line| words(line).nth(1))
    }

    /// The names that a file gives to variables, parameters and fields.
    fn variables(file: &ShaderFile) -> impl Iterator<Item = &str> {
        let typed = code(file).flat_map(|line| line.split(':').filter_map(|part| words(part).next_back()));
        let inferred = code(file).filter_map(|line| line.trim_start().strip_prefix("let "));
        typed.chain(inferred.filter_map(|rest| words(rest).next()))
    }

    #[test]
    fn each_file_names_what_it_needs_and_nothing_else() {
        let all = files_on_disk();
        let mut files_of = HashMap::<&str, HashSet<&str>>::new();
        for file in &all {
            for name in definitions(file) {
                files_of.entry(name).or_default().insert(file.stem());
            }
        }
        // The kernel defines it, for the files that it needs.
        files_of.remove("pose_span");
        for file in &all {
            assert_eq!(file.text.starts_with("// Needs: "), !is_public(file), "{}", file.name);
            let used: HashSet<_> = code(file).flat_map(words).collect();
            for needs in file.needs() {
                let found = |files: &HashSet<&str>| needs.iter().any(|need| files.contains(need));
                let is_used = used.iter().filter_map(|word| files_of.get(word)).any(found);
                assert!(is_used, "{} needs nothing of {needs:?}", file.name);
            }
            let own: HashSet<_> = definitions(file).chain(variables(file)).collect();
            for word in used.difference(&own) {
                let Some(files) = files_of.get(word) else { continue };
                let is_named = file.needs().any(|needs| needs.iter().all(|need| files.contains(need)));
                assert!(is_named, "{} needs one of {files:?} for {word}", file.name);
            }
        }
    }

    #[test]
    fn the_files_of_kernels_are_all_but_those_of_other_shaders() {
        let is_of_kernel = |file: &ShaderFile| !is_public(file) && !file.name.starts_with(RENDERER);
        let on_disk = files_on_disk().into_iter().filter(is_of_kernel).map(|file| file.name).collect::<HashSet<_>>();
        assert_eq!(on_disk, FILES.iter().map(|file| file.name.clone()).collect());
    }
}
