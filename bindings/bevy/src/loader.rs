//! Reads the rig of characters from a glTF file.

use std::path::Path;

use bevy::asset::io::Reader;
use bevy::asset::{AssetLoader, LoadContext, ReadAssetBytesError};
use bevy::gltf::Gltf;
use bevy::prelude::*;
use posse::{Library, import};

use crate::material::{CrowdSkinning, placeholder};
use crate::rig::CrowdRig;

/// Loads a [`CrowdRig`] from a `.glb` or `.gltf` file: skeleton, skins and clips by posse, meshes and materials by
/// Bevy.
///
/// It names no file extension, so that `.glb` files without a stated type go to Bevy's loader as before.
#[derive(Debug, Default, TypePath)]
pub struct CrowdRigLoader;

/// The reason for which a rig cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum CrowdRigError {
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// A buffer beside the file cannot be read.
    #[error("{file}: {source}; put it beside the document, or export a .glb")]
    Buffer {
        /// The path of the buffer, relative to the document.
        file: String,
        /// The reason.
        source: ReadAssetBytesError,
    },
    /// posse cannot use the file.
    #[error(transparent)]
    Posse(#[from] posse::Error),
}

impl AssetLoader for CrowdRigLoader {
    type Asset = CrowdRig;
    type Settings = ();
    type Error = CrowdRigError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        (): &Self::Settings,
        context: &mut LoadContext<'_>,
    ) -> Result<CrowdRig, CrowdRigError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await?;
        let path = context.path().clone_owned();
        let mut buffers: Vec<(String, Vec<u8>)> = Vec::new();
        let (library, asset) = loop {
            match read(path.path(), &bytes, &buffers) {
                (Ok(read), _) => break read,
                // The asset server reads asynchronously, so that the file is read again once the buffer is there.
                (Err(_), Some(file)) => {
                    let beside = path.path().parent().unwrap_or(Path::new("")).join(&file);
                    let beside = bevy::asset::AssetPath::from_path_buf(beside).with_source(path.source().clone());
                    let read = context.read_asset_bytes(beside).await;
                    let read = read.map_err(|source| CrowdRigError::Buffer { file: file.clone(), source })?;
                    buffers.push((file, read));
                }
                (Err(error), None) => return Err(error.into()),
            }
        };
        for warning in &asset.warnings {
            warn!("{path}: {warning}");
        }
        // A rig that is loaded again keeps its buffers, which characters show until the new ones are complete.
        let skinning = CrowdSkinning::new(|name| match context.has_labeled_asset(name) {
            true => context.get_label_handle(name),
            false => context.add_labeled_asset(name, placeholder()),
        });
        let gltf: Handle<Gltf> = context.load(path);
        let rig = CrowdRig::with_skinning(library, asset.skeleton, asset.skins, skinning)?;
        Ok(CrowdRig { gltf: Some(gltf), joints: asset.joints, left_out: asset.left_out_clips, ..rig })
    }
}

/// Reads a document with the buffers that are there; and the name of a buffer that is not.
fn read(
    name: &Path,
    document: &[u8],
    buffers: &[(String, Vec<u8>)],
) -> (Result<(Library, import::gltf::Asset), posse::Error>, Option<String>) {
    let missing = std::cell::RefCell::new(None);
    let given = |name: &str| {
        let found = buffers.iter().find(|(file, _)| file == name).map(|(_, bytes)| bytes.as_slice());
        if found.is_none() {
            missing.replace(Some(name.to_owned()));
        }
        found
    };
    let mut library = Library::new();
    let asset = import::gltf::from_slice_with(&mut library, name, document, &given);
    (asset.map(|asset| (library, asset)), missing.into_inner())
}
