//! A crowd file for tests of the command line.

use posse::Library;
use posse::import::crowd::{self, CrowdFile};

/// Two joints, and a clip `go` of a second.
const GLTF: &str = r#"{"asset":{"version":"2.0"},"nodes":[{"name":"a","children":[1]},
    {"name":"b","translation":[0,2,0]}],"scenes":[{"nodes":[0]}],
    "buffers":[{"byteLength":32,"uri":"data:application/octet-stream;base64,AAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAA="}],
    "bufferViews":[{"buffer":0,"byteLength":8},{"buffer":0,"byteOffset":8,"byteLength":24}],
    "accessors":[{"bufferView":0,"componentType":5126,"count":2,"type":"SCALAR","min":[0],"max":[1]},
        {"bufferView":1,"componentType":5126,"count":2,"type":"VEC3"}],
    "animations":[{"name":"go","samplers":[{"input":0,"output":1}],
        "channels":[{"sampler":0,"target":{"node":0,"path":"translation"}}]}]}"#;

/// The library and the crowd of a crowd file with this text. It may name the file `a.gltf`, which has a clip `go` of a second.
pub fn crowd_file(text: &str) -> (Library, CrowdFile) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.gltf"), GLTF).unwrap();
    let path = folder.path().join("crowd.json");
    std::fs::write(&path, text).unwrap();
    let mut library = Library::new();
    let file = crowd::load(&mut library, path).unwrap();
    (library, file)
}
