//! The body of the built-in human as a mesh of a document.

use serde_json::{Value, json};

use super::{Document, items};

/// A mesh of triangles around the joints of the human, anticlockwise as seen from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct HumanMesh {
    /// The vertices.
    pub vertices: Vec<BodyVertex>,
    /// Three indices of vertices per triangle.
    pub indices: Vec<u32>,
}

/// A vertex of a [`HumanMesh`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyVertex {
    /// The position in metres, in the bind pose.
    pub position: [f32; 3],
    /// The normal of length 1, in the bind pose.
    pub normal: [f32; 3],
    /// Indices into the joints of the skin.
    pub joints: [u16; 4],
    /// One weight per joint, with sum 1.
    pub weights: [f32; 4],
    /// The shares of hair, shirt, shorts and shoe, each from 0 to 1. The rest is skin.
    pub parts: [f32; 4],
}

/// The linear colours of hair, shirt, shorts, shoes and skin.
const COLOURS: [[f32; 3]; 5] =
    [[0.12, 0.06, 0.03], [0.03, 0.26, 0.52], [0.03, 0.035, 0.06], [0.75, 0.75, 0.75], [0.62, 0.36, 0.23]];

/// The targets of views of vertices and of indices (glTF 2.0, section 5.11.5).
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

impl Document {
    /// Adds a body as a mesh with vertex colours, on a node of its own. The document must be of the skeleton of the
    /// body.
    ///
    /// The node has the first skin; in a document without skins, the body keeps its pose. It is in the scene that is
    /// shown; a document without scenes stays without. A body without triangles adds nothing.
    pub fn add_body(&mut self, body: &HumanMesh) {
        if body.vertices.is_empty() || body.indices.is_empty() {
            return;
        }
        let mut primitive = self.body_triangles(body);
        let material = json!({ "pbrMetallicRoughness": { "metallicFactor": 0, "roughnessFactor": 0.8 } });
        primitive["material"] = self.put("materials", material, None).into();
        let mesh = self.put("meshes", json!({ "name": "body", "primitives": [primitive] }), None);
        let mut node = json!({ "name": "body", "mesh": mesh });
        if !items(&self.json, "skins").is_empty() {
            node["skin"] = 0.into();
        }
        let node = self.put("nodes", node, None);
        self.show(node);
    }

    /// Adds the data of a body. Returns the primitive, without a material.
    fn body_triangles(&mut self, body: &HumanMesh) -> Value {
        let vertices = &body.vertices;
        let floats = |values: Vec<f32>| values.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
        let attributes = [
            ("POSITION", floats(vertices.iter().flat_map(|vertex| vertex.position).collect()), 5126, "VEC3"),
            ("NORMAL", floats(vertices.iter().flat_map(|vertex| vertex.normal).collect()), 5126, "VEC3"),
            ("COLOR_0", floats(vertices.iter().flat_map(|vertex| colour(vertex.parts)).collect()), 5126, "VEC4"),
            ("WEIGHTS_0", floats(vertices.iter().flat_map(|vertex| vertex.weights).collect()), 5126, "VEC4"),
            ("JOINTS_0", vertices.iter().flat_map(joint_bytes).collect(), 5123, "VEC4"),
        ];
        let mut primitive = json!({ "attributes": {} });
        for (name, bytes, component, kind) in attributes {
            let view = self.add_view(&bytes);
            self.array("bufferViews")[view]["target"] = ARRAY_BUFFER.into();
            let mut accessor =
                json!({ "bufferView": view, "componentType": component, "count": vertices.len(), "type": kind });
            if name == "POSITION" {
                let bound = |pick: fn(f32, f32) -> f32| {
                    [0, 1, 2].map(|axis| vertices.iter().map(|vertex| vertex.position[axis]).reduce(pick))
                };
                accessor["min"] = json!(bound(f32::min));
                accessor["max"] = json!(bound(f32::max));
            }
            primitive["attributes"][name] = self.add_accessor(accessor).into();
        }
        let view = self.add_view(&body.indices.iter().flat_map(|index| index.to_le_bytes()).collect::<Vec<u8>>());
        self.array("bufferViews")[view]["target"] = ELEMENT_ARRAY_BUFFER.into();
        let count = body.indices.len();
        let indices =
            self.add_accessor(json!({ "bufferView": view, "componentType": 5125, "count": count, "type": "SCALAR" }));
        primitive["indices"] = indices.into();
        primitive
    }

    /// Adds a node to the scene that is shown, if there is one.
    fn show(&mut self, node: usize) {
        let scene = self.json.get("scene").and_then(Value::as_u64).unwrap_or(0);
        let scenes = self.json.get_mut("scenes").and_then(Value::as_array_mut);
        let scene =
            scenes.and_then(|scenes| scenes.get_mut(usize::try_from(scene).ok()?)).and_then(Value::as_object_mut);
        let roots = scene.map(|scene| scene.entry("nodes").or_insert_with(|| json!([])));
        if let Some(roots) = roots.and_then(Value::as_array_mut) {
            roots.push(node.into());
        }
    }
}

/// The linear colour of a vertex with these shares of hair, shirt, shorts and shoe.
fn colour(parts: [f32; 4]) -> [f32; 4] {
    let skin = (1.0 - parts.iter().sum::<f32>()).max(0.0);
    let shares = [parts[0], parts[1], parts[2], parts[3], skin];
    let mix = |channel: usize| -> f32 {
        shares.iter().zip(COLOURS).map(|(share, colour)| share * colour[channel]).sum::<f32>().min(1.0)
    };
    [mix(0), mix(1), mix(2), 1.0]
}

/// The joints of a vertex. A joint without weight is 0.
fn joint_bytes(vertex: &BodyVertex) -> impl Iterator<Item = u8> {
    let joints = vertex.joints.into_iter().zip(vertex.weights);
    joints.flat_map(|(joint, weight)| if weight > 0.0 { joint } else { 0 }.to_le_bytes())
}
