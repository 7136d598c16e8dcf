//! `import::gltf::from_document`: a document that the `gltf` crate loaded gives the library that `load` makes of its
//! file.

use std::path::{Path, PathBuf};

use gltf::Gltf;
use gltf::buffer::Data;
use posse::import::gltf::{self as import, Asset};
use posse::{Error, Joint, Library};
use proptest::prelude::*;
use serde_json::json;

use crate::support::gltf_builder::{GltfBuilder, something_of_everything};
use crate::support::skip::collected_folder_or_skip;

/// A document of the `gltf` crate, with its buffers.
struct Document {
    document: gltf::Document,
    buffers: Vec<Data>,
}

/// An imported file.
#[derive(Debug)]
struct Loaded {
    library: Library,
    asset: Asset,
}

/// Reads a file with the `gltf` crate; `None` if the crate refuses it.
fn document(bytes: &[u8], folder: Option<&Path>) -> Option<Document> {
    let Gltf { document, mut blob } = Gltf::from_slice_without_validation(bytes).ok()?;
    // A buffer that is only a fallback for compressed views has no data.
    let data =
        |buffer: gltf::Buffer| Data::from_source_and_blob(buffer.source(), folder, &mut blob).unwrap_or(Data(vec![]));
    let buffers = document.buffers().map(data).collect();
    Some(Document { document, buffers })
}

fn from_document(document: &Document) -> Result<Loaded, Error> {
    let mut library = Library::new();
    let asset = import::from_document(&mut library, &document.document, &document.buffers)?;
    Ok(Loaded { library, asset })
}

/// Imports the file itself, under no name.
fn load(bytes: &[u8], folder: Option<&Path>) -> Result<Loaded, Error> {
    let mut library = Library::new();
    let asset = import::from_slice(&mut library, Path::new(""), bytes, folder)?;
    Ok(Loaded { library, asset })
}

/// A file without animation pointers, since the `gltf` crate drops them.
fn without_pointers() -> GltfBuilder {
    let mut file = something_of_everything();
    file.json["animations"][0]["channels"].as_array_mut().unwrap().pop();
    file
}

/// Asserts that a document and its file give the same library, except for rounding in the rest poses of nodes.
fn assert_same(of_document: &Loaded, of_file: &Loaded, name: &str) {
    let Loaded { library, asset } = of_document;
    let Loaded { library: of_file, asset: of_asset } = of_file;
    let mut asset = asset.clone();
    let mut expected = Asset { file: "gltf::Document".into(), ..of_asset.clone() };
    // The `gltf` crate does not keep a code or a word that it does not know.
    for warning in asset.warnings.iter_mut().chain(&mut expected.warnings) {
        if let Some(place) = warning.message.find(" is not a") {
            warning.message.replace_range(..place, "");
        }
    }
    assert_eq!(asset, expected, "{name}");
    assert_eq!((library.clips(), library.skins()), (of_file.clips(), of_file.skins()), "{name}");
    let [joints, of_joints] = [library, of_file].map(|library| library.skeletons()[0].joints());
    assert_eq!(joints.len(), of_joints.len(), "{name}");
    for (joint, of_joint) in joints.iter().zip(of_joints) {
        assert_eq!((&joint.name, joint.parent), (&of_joint.name, of_joint.parent), "{name}");
        let [numbers, of_numbers] = [numbers(joint), numbers(of_joint)];
        assert_eq!(numbers.len(), of_numbers.len(), "{name}");
        for (number, of_number) in numbers.iter().zip(&of_numbers) {
            let off = (number - of_number).abs();
            assert!(off <= 1e-6 * of_number.abs().max(1.0), "{name}: {number} for {of_number}");
        }
    }
}

fn numbers(joint: &Joint) -> Vec<f64> {
    let rest = joint.rest;
    let matrix = joint.matrix.map(|matrix| matrix.to_cols_array());
    let parts =
        [rest.translation.to_array().to_vec(), rest.rotation.to_array().to_vec(), rest.scale.to_array().to_vec()];
    parts.into_iter().flatten().chain(matrix.into_iter().flatten()).chain(joint.weights.clone()).collect()
}

#[test]
fn a_document_is_the_library_of_its_file() {
    let file = without_pointers();
    for bytes in [file.glb(), file.gltf_with_data_uri()] {
        let Loaded { library, asset } = from_document(&document(&bytes, None).unwrap()).unwrap();
        // All its numbers are exact in `f32`.
        let of_file = load(&bytes, None).unwrap();
        assert_eq!(library, of_file.library);
        assert_eq!(asset, Asset { file: "gltf::Document".into(), ..of_file.asset });
    }
}

#[test]
fn every_collected_document_is_the_library_of_its_file() {
    let Some(folder) = collected_folder_or_skip("gltf", "documents of collected files") else { return };
    let mut files = Vec::new();
    find(&folder, &mut files);
    assert!(files.len() >= 30, "only {} glTF files", files.len());
    let mut refused = Vec::new();
    for file in &files {
        let (bytes, folder) = (std::fs::read(file).unwrap(), file.parent());
        let name = file.display().to_string();
        match document(&bytes, folder) {
            Some(document) => {
                assert_same(&from_document(&document).unwrap(), &load(&bytes, folder).unwrap(), &name);
            }
            None => refused.push(name),
        }
    }
    // Channels without a node.
    assert!(refused.len() <= 2, "{refused:?}");
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.extension().and_then(|extension| extension.to_str()) {
            _ if path.is_dir() => find(&path, files),
            Some("glb" | "gltf") => files.push(path),
            _ => {}
        }
    }
}

#[test]
fn missing_buffers_are_named_and_the_library_stays_unchanged() {
    let Document { document, buffers } = document(&without_pointers().glb(), None).unwrap();
    let short = [Data(buffers[0][..8].to_vec())];
    let cases = [
        (&[][..], "gltf::Document: buffers[0]: it has no uri, and the file has no binary chunk or data for it"),
        (&short[..], "gltf::Document: buffers[0].byteLength: "),
    ];
    for (buffers, expected) in cases {
        let mut library = Library::new();
        let error = import::from_document(&mut library, &document, buffers).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
        assert_eq!(library, Library::new());
    }
}

#[test]
fn words_that_the_crate_does_not_know_are_named_by_their_path() {
    let change = |pointer: &str| {
        let mut file = without_pointers();
        file.set(pointer, json!("whatever"));
        from_document(&document(&file.glb(), None).unwrap())
    };
    let Loaded { library, asset } = change("/animations/0/channels/0/target/path").unwrap();
    let [warning] = &asset.warnings[..] else { panic!("{:?}", asset.warnings) };
    let expected =
        "animations[0].channels[0].target.path: \"a word that the gltf crate does not know\" is not a known path";
    assert!(warning.to_string().starts_with(expected), "{warning}");
    assert_eq!(library.clip(asset.clips[0]).tracks.len(), 3);
    for (pointer, path, tracks) in [
        ("/animations/0/samplers/0/interpolation", "animations[0].samplers[0].interpolation", 3),
        ("/accessors/0/type", "accessors[0].type", 0),
    ] {
        let Loaded { library, asset } = change(pointer).unwrap();
        assert_eq!((asset.warnings[0].path.as_str(), library.clip(asset.clips[0]).tracks.len()), (path, tracks));
    }
}

proptest! {
    /// A changed document is refused exactly if its file is. Otherwise both give the same library.
    #[test]
    fn changed_documents_are_the_libraries_of_their_files(which in any::<prop::sample::Index>(), digit in b'0'..=b'9') {
        let mut bytes = without_pointers().glb();
        // After the header and before the binary chunk.
        let json = 20..20 + u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]) as usize;
        let digits: Vec<usize> = json.filter(|&place| bytes[place].is_ascii_digit()).collect();
        bytes[digits[which.index(digits.len())]] = digit;
        if let Some(document) = document(&bytes, None) {
            match (from_document(&document), load(&bytes, None)) {
                (Ok(document), Ok(file)) => assert_same(&document, &file, "changed"),
                (Err(_), Err(_)) => {}
                (document, file) => panic!("{document:?} for {file:?}"),
            }
        }
    }
}
