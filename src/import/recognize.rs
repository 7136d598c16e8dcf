//! Which format a file has: by its content, and by its name where the content does not tell.
//!
//! All commands and bindings ask here. A further format that is read is a variant of [`FileFormat`]; one that is only
//! known has a row in `UNREAD`.

use std::collections::HashMap;
use std::path::Path;

use serde::de::IgnoredAny;

use super::json::without_mark;
use super::{FileError, smpl};
use crate::error::Error;

/// A format of files that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileFormat {
    /// glTF 2.0 and its relatives: `.glb`, `.gltf`, `.vrm` and `.vrma`, for [`gltf`](super::gltf).
    Gltf,
    /// BVH: `.bvh`, for [`bvh`](super::bvh).
    Bvh,
    /// FBX, binary or ASCII: `.fbx`, for [`fbx`](super::fbx), which a build without the feature `fbx` does not read.
    Fbx,
    /// Arrays of NumPy: `.npz`, for [`super::smpl`].
    Smpl,
    /// An animation clip of Cocos Creator: `.anim` and `.json`, for [`cocos`](super::cocos).
    CocosClip,
    /// A crowd file: `.json`, for [`crowd`](super::crowd).
    Crowd,
}

impl FileFormat {
    /// The format that the extension of a name stands for, in any case; `None` for an extension that is not read.
    /// `.json` is a clip of Cocos Creator.
    pub fn of_name(file: &Path) -> Option<Self> {
        match extension_of(file).as_str() {
            "glb" | "gltf" | "vrm" | "vrma" => Some(Self::Gltf),
            "bvh" => Some(Self::Bvh),
            "fbx" => Some(Self::Fbx),
            "npz" => Some(Self::Smpl),
            "anim" | "json" => Some(Self::CocosClip),
            _ => None,
        }
    }

    /// True for a format of files with joints, and false for clips and crowds, which need the joints of another file.
    pub fn has_joints(self) -> bool {
        matches!(self, Self::Gltf | Self::Bvh | Self::Fbx | Self::Smpl)
    }
}

/// The format of a file, by its bytes and its name, which is not opened. The content decides; where it does not tell,
/// for example because it is broken, the extension does.
///
/// # Errors
/// [`Error::Import`] for a file that is none of the formats. For a format that is known but not read, such as `.c3d`,
/// it names the format and what to do.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// use posse::import::{FileFormat, recognize};
///
/// # fn main() -> Result<(), posse::Error> {
/// assert_eq!(recognize(Path::new("walk.txt"), b"HIERARCHY\nROOT Hips")?, FileFormat::Bvh);
/// let error = recognize(Path::new("walk.c3d"), b"\x02\x50").expect_err("not read").to_string();
/// assert!(error.starts_with("walk.c3d: file: it is C3D, which is not read"), "{error}");
/// # Ok(())
/// # }
/// ```
pub fn recognize(file: &Path, bytes: &[u8]) -> Result<FileFormat, Error> {
    if let Some(found) = recognize_head(file, bytes)? {
        return Ok(found);
    }
    let json = without_mark(bytes);
    let is_object = json.trim_ascii_start().starts_with(b"{");
    let text = if is_object { String::from_utf8_lossy(json) } else { "".into() };
    let mut values = serde_json::Deserializer::from_str(&text).into_iter::<HashMap<String, IgnoredAny>>();
    if let Some(Ok(object)) = values.next() {
        const OF_COCOS: [&str; 5] = ["__type__", "curveDatas", "curveData", "_curves", "_tracks"];
        let has = |field: &&str| object.contains_key(*field);
        if has(&"asset") {
            return Ok(FileFormat::Gltf);
        }
        if ["files", "instances"].iter().all(has) {
            return Ok(FileFormat::Crowd);
        }
        if OF_COCOS.iter().any(has) {
            return Ok(FileFormat::CocosClip);
        }
    }
    // Clips of Cocos Creator can be lists.
    let is_list = json.trim_ascii_start().starts_with(b"[") && !json.trim_ascii().ends_with(b"[]");
    let is_clip = is_list || FileFormat::of_name(file) == Some(FileFormat::CocosClip);
    Ok(if is_clip { FileFormat::CocosClip } else { FileFormat::Gltf })
}

/// The format of a file, by its first bytes, some hundred or more, and its name; `None` for JSON, of which all of it
/// tells the format.
///
/// # Errors
/// The errors of [`recognize`].
pub fn recognize_head(file: &Path, head: &[u8]) -> Result<Option<FileFormat>, Error> {
    let text = without_mark(head).trim_ascii_start();
    if head.starts_with(b"glTF") {
        return Ok(Some(FileFormat::Gltf));
    }
    if head.starts_with(b"Kaydara FBX Binary") || text.starts_with(b"; FBX ") {
        return Ok(Some(FileFormat::Fbx));
    }
    if head.starts_with(b"CCON") {
        return Ok(Some(FileFormat::CocosClip));
    }
    if is_hierarchy(text) || is_hierarchy(&start_of_utf16(head)) {
        return Ok(Some(FileFormat::Bvh));
    }
    if matches!(text.first(), Some(b'{' | b'[')) {
        return Ok(None);
    }
    if let Some(found) = UNREAD.iter().find(|format| format.has_begin(head, text)) {
        return Err(found.error(file));
    }
    let extension = extension_of(file);
    let unread = UNREAD.iter().find(|format| format.extensions.contains(&extension.as_str()));
    // Some files that are not read are zip files, too.
    if smpl::is_npz(head) && unread.is_none() {
        return Ok(Some(FileFormat::Smpl));
    }
    if let Some(format) = FileFormat::of_name(file) {
        return Ok(Some(format));
    }
    match unread {
        Some(found) => Err(found.error(file)),
        None => {
            let reason = "it is no glTF (.glb, .gltf, .vrm, .vrma), FBX (.fbx), BVH (.bvh), motion of SMPL (.npz), clip of Cocos \
                          Creator (.anim, .json) or crowd file (.json), by its content or its name; check the file, or \
                          convert it to glTF or BVH";
            Err(FileError::new("file", reason).in_file(file))
        }
    }
}

/// The extension of a name, in lower case.
fn extension_of(file: &Path) -> String {
    file.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// True for a text that begins with the first word of BVH.
fn is_hierarchy(text: &[u8]) -> bool {
    const FIRST: &[u8] = b"HIERARCHY";
    text.get(..FIRST.len()).is_some_and(|word| word.eq_ignore_ascii_case(FIRST))
}

/// The first letters of a text in UTF-16 with a byte order mark, without spaces before them; nothing of other texts.
fn start_of_utf16(head: &[u8]) -> Vec<u8> {
    let unit = match head {
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        _ => return Vec::new(),
    };
    let letters = head.as_chunks().0.iter().skip(1).map(|&pair| u8::try_from(unit(pair)).unwrap_or(u8::MAX));
    letters.skip_while(u8::is_ascii_whitespace).take(16).collect()
}

/// A format that is known, but not read.
struct UnreadFormat {
    name: &'static str,
    /// The extensions, in lower case.
    extensions: &'static [&'static str],
    /// What files begin with; nothing if that does not tell.
    begins: &'static [&'static [u8]],
    /// What to do.
    hint: &'static str,
}

impl UnreadFormat {
    /// True for the first bytes of a file of this format. `text` is the same without a byte order mark and spaces.
    fn has_begin(&self, head: &[u8], text: &[u8]) -> bool {
        self.begins.iter().any(|begin| head.starts_with(begin) || text.starts_with(begin))
    }

    fn error(&self, file: &Path) -> Error {
        let Self { name, hint, .. } = self;
        FileError::new("file", format!("it is {name}, which is not read; {hint}")).in_file(file)
    }
}

const CONVERT: &str = "convert it to glTF 2.0, for example with Blender (File > Import, File > Export > glTF 2.0)";
const SOLVE: &str = "it has the positions of markers but no joints: solve a skeleton in the program of the capture, and \
                     export BVH, or glTF";

/// The formats that are known, but not read.
const UNREAD: [UnreadFormat; 13] = [
    UnreadFormat {
        name: "a pointer of Git LFS",
        extensions: &[],
        begins: &[b"version https://git-lfs.github.com/"],
        hint: "fetch the file that it stands for with git lfs pull",
    },
    UnreadFormat {
        name: "an Acclaim skeleton (ASF)",
        extensions: &["asf"],
        begins: &[b":version"],
        hint: "convert it with the motion in its .amc file to BVH, for example with amc2bvh",
    },
    UnreadFormat {
        name: "an Acclaim motion (AMC)",
        extensions: &["amc"],
        begins: &[b":FULLY-SPECIFIED", b":fully-specified"],
        hint: "convert it with the skeleton in its .asf file to BVH, for example with amc2bvh",
    },
    // The second byte of C3D tells it, but the first one is free.
    UnreadFormat { name: "C3D", extensions: &["c3d"], begins: &[b"\x02\x50"], hint: SOLVE },
    UnreadFormat { name: "TRC", extensions: &["trc"], begins: &[b"PathFileType"], hint: SOLVE },
    UnreadFormat {
        name: "USD",
        extensions: &["usd", "usda", "usdc", "usdz"],
        begins: &[b"#usda", b"PXR-USDC"],
        hint: CONVERT,
    },
    UnreadFormat {
        name: "a Python pickle",
        extensions: &["pkl", "pickle"],
        // The opcode PROTO with the versions 2 to 5.
        begins: &[b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"],
        hint: "it can run code when it is opened: convert it to BVH or glTF with the Python program that it comes from",
    },
    UnreadFormat {
        name: "a single NumPy array",
        extensions: &["npy"],
        begins: &[b"\x93NUMPY"],
        hint: "it has numbers without joints: convert it to BVH or glTF with the program that it comes from",
    },
    UnreadFormat {
        name: "Alembic",
        extensions: &["abc"],
        begins: &[b"Ogawa", b"\x89HDF\r\n"],
        hint: "it has moving vertices without joints: export the rig that moves them as glTF 2.0",
    },
    UnreadFormat { name: "COLLADA", extensions: &["dae"], begins: &[], hint: CONVERT },
    UnreadFormat {
        name: "Wavefront OBJ",
        extensions: &["obj"],
        begins: &[],
        hint: "it has a mesh without joints and motion: give the file with the rig, as glTF 2.0",
    },
    UnreadFormat {
        name: "a scene of Blender",
        extensions: &["blend"],
        begins: &[b"BLENDER"],
        hint: "export it from Blender with File > Export > glTF 2.0",
    },
    UnreadFormat {
        name: "a scene of Maya or 3ds Max",
        extensions: &["ma", "mb", "max"],
        begins: &[b"//Maya ASCII"],
        hint: "export it as glTF 2.0 or BVH from that program",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_of_a_file_decides_its_format_before_its_name() {
        use FileFormat::{Bvh, CocosClip, Crowd, Fbx, Gltf, Smpl};
        // The header of a member of a zip file, whose name has nine letters.
        let npz = format!("PK\u{3}\u{4}{}\u{9}\0\0\0poses.npy", "\0".repeat(22));
        for (name, text, expected) in [
            ("a.txt", "\u{feff}\r\n hierarchy\nROOT", Bvh),
            ("a.fbx", "HIERARCHY", Bvh),
            ("a.fbx", "", Fbx),
            ("a.fbx", r#"{ "x": {} }"#, Gltf),
            ("a.glb", "Kaydara FBX Binary  \0\u{1a}\0", Fbx),
            ("a.txt", "; FBX 7.4.0 project file", Fbx),
            ("a.BVH", "", Bvh),
            ("a.bvh", "broken", Bvh),
            ("a.bvh", r#"{ "asset": {} }"#, Gltf),
            ("a.bvh", r#"{ "x": {} }"#, Gltf),
            ("a.bvh", "glTF\u{2}", Gltf),
            ("a.glb", "HIER", Gltf),
            ("a.VRMA", "", Gltf),
            ("a.json", r#"{ "asset": { "version": "2.0" }, "nodes": [] }"#, Gltf),
            ("a.anim", r#"{ "nodes": [], "asset": {} }"#, Gltf),
            ("a.gltf", r#"{ "curveDatas": {} }"#, CocosClip),
            ("a", "\u{feff} [{ \"__type__\": \"cc.AnimationClip\" }]", CocosClip),
            ("a.ANIM", "{}", CocosClip),
            ("a.json", "{ broken", CocosClip),
            ("a.gltf", "{ broken", Gltf),
            ("a", "[]", Gltf),
            ("a.json", "glTF", Gltf),
            ("a.bin", "CCON", CocosClip),
            ("a.bin", &npz, Smpl),
            ("a.bvh", &npz, Smpl),
            ("a.bvh", &npz.replace("poses.npy", "pages.txt"), Bvh),
            ("a.NPZ", "", Smpl),
            ("a.gltf", r#"{ "files": [], "instances": [] }"#, Crowd),
            ("a.json", r#"{ "files": [], "instances": [], "asset": {} }"#, Gltf),
        ] {
            assert_eq!(recognize(Path::new(name), text.as_bytes()).unwrap(), expected, "{name}: {text}");
        }
        let utf16 = |to_bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{feff} HIERARCHY\nROOT a".encode_utf16().flat_map(to_bytes).collect()
        };
        for text in [utf16(u16::to_le_bytes), utf16(u16::to_be_bytes)] {
            assert_eq!(recognize(Path::new("a.txt"), &text).unwrap(), Bvh);
        }
    }

    #[test]
    fn formats_that_are_not_read_are_named_with_what_to_do() {
        for (name, bytes, saying) in [
            (
                "01.asf",
                &b"# AST/ASF file\n:version 1.10"[..],
                "(ASF), which is not read; convert it with the motion in its .amc",
            ),
            (
                "01_01.amc",
                b"#!OML:ASF F:\\x.ASF\n:FULLY-SPECIFIED",
                "(AMC), which is not read; convert it with the skeleton",
            ),
            ("a.c3d", b"\x02\x50", "it is C3D, which is not read; it has the positions of markers"),
            ("a.TRC", b"PathFileType\t4", "it is TRC"),
            ("a.usda", b"#usda 1.0", "it is USD"),
            ("a.usdz", b"PK\x03\x04", "it is USD"),
            ("poses", b"PXR-USDC", "it is USD"),
            ("a.pkl", b"\x80\x04\x95", "it is a Python pickle, which is not read; it can run code"),
            ("a.npy", b"\x93NUMPY\x01", "it is a single NumPy array"),
            ("a.abc", b"Ogawa", "it is Alembic"),
            ("a.fbx", b"version https://git-lfs.github.com/spec/v1\noid sha256:", "fetch the file that it stands for"),
            ("a.dae", b"<?xml version=\"1.0\"?>", "it is COLLADA"),
            ("a.obj", b"v 0 0 0", "it is Wavefront OBJ"),
            ("a.blend", b"BLENDER-v300", "it is a scene of Blender"),
            ("notes.txt", b"hello", "it is no glTF (.glb, .gltf, .vrm, .vrma), FBX (.fbx), BVH (.bvh)"),
            ("none", b"", "it is no glTF"),
        ] {
            let error = recognize(Path::new(name), bytes).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name}: file: ")) && error.contains(saying), "{error}");
        }
    }
}
