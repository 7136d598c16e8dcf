use base64::Engine;
use posse::import::gltf::{self, Asset};
use posse::{Error, Library};
use serde_json::{Value, json};

/// A glTF file under construction: a document that a test can change freely, and one binary buffer.
#[derive(Clone)]
pub struct GltfBuilder {
    pub json: Value,
    pub bin: Vec<u8>,
}

impl GltfBuilder {
    pub fn new() -> Self {
        let json = json!({
            "asset": { "version": "2.0" }, "buffers": [], "bufferViews": [], "accessors": [], "nodes": [],
            "meshes": [], "skins": [], "animations": [],
        });
        Self { json, bin: Vec::new() }
    }

    /// Adds an item to one of the document's arrays, and returns its index.
    pub fn push(&mut self, array: &str, item: Value) -> usize {
        let array = self.json[array].as_array_mut().unwrap();
        array.push(item);
        array.len() - 1
    }

    /// Adds a buffer view of these bytes, and returns its index.
    pub fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let offset = self.bin.len();
        self.bin.extend_from_slice(bytes);
        self.push("bufferViews", json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() }))
    }

    /// Adds an accessor of these bytes with its own view, and returns its index.
    pub fn accessor(&mut self, kind: &str, component: u32, normalized: bool, count: usize, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        let accessor = json!({
            "bufferView": view, "componentType": component, "normalized": normalized, "count": count, "type": kind,
        });
        self.push("accessors", accessor)
    }

    /// Adds an accessor of floats, and returns its index.
    pub fn floats(&mut self, kind: &str, numbers: &[f32]) -> usize {
        let width = match kind {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" | "MAT2" => 4,
            _ => 16,
        };
        self.accessor(kind, 5126, false, numbers.len() / width, &bytes(numbers))
    }

    /// Adds an animation of one channel, and returns its index.
    pub fn animate(&mut self, target: Value, input: usize, output: usize, interpolation: &str) -> usize {
        let sampler = json!({ "input": input, "output": output, "interpolation": interpolation });
        self.push("animations", json!({ "channels": [{ "sampler": 0, "target": target }], "samplers": [sampler] }))
    }

    /// Sets the value at a JSON pointer. Its parent must exist.
    pub fn set(&mut self, pointer: &str, value: Value) {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match self.json.pointer_mut(parent).unwrap() {
            Value::Array(array) => array[key.parse::<usize>().unwrap()] = value,
            other => other[key] = value,
        }
    }

    /// Removes the value at a JSON pointer.
    pub fn remove(&mut self, pointer: &str) {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        self.json.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key).unwrap();
    }

    /// The bytes of the document, with the buffer unless the test has set one.
    fn document(&self, uri: Option<&str>) -> Vec<u8> {
        let mut json = self.json.clone();
        if json["buffers"].as_array().is_some_and(Vec::is_empty) {
            json["buffers"] = json!([{ "byteLength": self.bin.len() }]);
            if let Some(uri) = uri {
                json["buffers"][0]["uri"] = json!(uri);
            }
        }
        serde_json::to_vec(&json).unwrap()
    }

    /// A GLB file.
    pub fn glb(&self) -> Vec<u8> {
        let (mut json, mut bin) = (self.document(None), self.bin.clone());
        json.resize(json.len().next_multiple_of(4), b' ');
        bin.resize(bin.len().next_multiple_of(4), 0);
        let length = 12 + 8 + json.len() + 8 + bin.len();
        let mut glb = b"glTF".to_vec();
        glb.extend([2, length as u32, json.len() as u32].iter().flat_map(|word| word.to_le_bytes()));
        glb.extend_from_slice(b"JSON");
        glb.extend(json);
        glb.extend((bin.len() as u32).to_le_bytes());
        glb.extend_from_slice(b"BIN\0");
        glb.extend(bin);
        glb
    }

    /// A `.gltf` file that names its buffer by this uri.
    pub fn gltf(&self, uri: &str) -> Vec<u8> {
        self.document(Some(uri))
    }

    /// A `.gltf` file that holds its buffer.
    pub fn gltf_with_data_uri(&self) -> Vec<u8> {
        let data = base64::engine::general_purpose::STANDARD.encode(&self.bin);
        self.gltf(&format!("data:application/octet-stream;base64,{data}"))
    }

    /// Loads the file into a new library.
    pub fn load(&self) -> Result<(Library, Asset), Error> {
        load(&self.glb())
    }
}

/// Loads a file into a new library.
pub fn load(file: &[u8]) -> Result<(Library, Asset), Error> {
    let mut library = Library::new();
    let asset = gltf::from_slice(&mut library, "made.glb".as_ref(), file, None)?;
    Ok((library, asset))
}

/// The little-endian bytes of numbers.
pub fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A file with something of everything: three nodes, a skin, morph targets, a sparse accessor, an animation pointer.
pub fn something_of_everything() -> GltfBuilder {
    let mut file = GltfBuilder::new();
    file.json["materials"] = json!([{ "pbrMetallicRoughness": { "baseColorFactor": [1, 0.5, 0.25, 1] } }]);
    file.push("nodes", json!({ "name": "root", "children": [1, 2] }));
    file.push("nodes", json!({ "translation": [1, 2, 3], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1] }));
    file.push("nodes", json!({ "mesh": 0 }));
    file.push("meshes", json!({ "primitives": [{ "attributes": {}, "targets": [{}, {}] }], "weights": [0.5, 0.25] }));
    let identity = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];

    file.floats("SCALAR", &[0.0, 1.0, 2.0]);
    file.floats("VEC3", &[1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0, 0.0]);
    let turns: [i16; 12] = [0, 0, 0, 32767, 0, 32767, 0, 0, 0, 0, 0, -32768];
    file.accessor("VEC4", 5122, true, 3, &turns.map(i16::to_le_bytes).concat());
    file.accessor("SCALAR", 5121, true, 6, &[0, 255, 51, 102, 153, 204]);
    file.floats("MAT4", &[identity, identity].concat());
    let (indices, values) = (file.view(&[1]), file.view(&bytes(&[7.0, 8.0, 9.0])));
    file.push(
        "accessors",
        json!({ "componentType": 5126, "count": 3, "type": "VEC3", "sparse": {
            "count": 1,
            "indices": { "bufferView": indices, "componentType": 5121 },
            "values": { "bufferView": values },
        } }),
    );
    file.floats("VEC4", &[0.5; 12]);
    file.push("skins", json!({ "joints": [1, 0], "inverseBindMatrices": 4 }));
    let pointer = "/materials/0/pbrMetallicRoughness/baseColorFactor";
    file.push(
        "animations",
        json!({
            "name": "all",
            "channels": [
                { "sampler": 0, "target": { "node": 1, "path": "translation" } },
                { "sampler": 1, "target": { "node": 1, "path": "rotation" } },
                { "sampler": 2, "target": { "node": 2, "path": "weights" } },
                { "sampler": 3, "target": { "node": 0, "path": "scale" } },
                { "sampler": 4, "target": {
                    "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": pointer } }
                } },
            ],
            "samplers": [
                { "input": 0, "output": 1, "interpolation": "LINEAR" },
                { "input": 0, "output": 2 },
                { "input": 0, "output": 3, "interpolation": "STEP" },
                { "input": 0, "output": 5 },
                { "input": 0, "output": 6 },
            ],
        }),
    );
    file
}
