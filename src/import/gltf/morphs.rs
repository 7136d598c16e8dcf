//! The names of morph targets, and the expressions of VRM, which move their weights.
//!
//! glTF has no names of morph targets. The specification suggests `extras.targetNames` of a mesh (section 3.7.2.2), and
//! exporters write it; UniVRM writes it into the primitives of VRM 0.x.
//!
//! A model of VRM 1.0 (`VRMC_vrm`) or 0.x (`VRM`) lists the morph weights that an expression moves. An animation
//! (`VRMC_vrm_animation`) names the node that drives an expression. Sources:
//! <https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm-1.0/expressions.md>,
//! <https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm_animation-1.0/README.md> and
//! <https://github.com/vrm-c/vrm-specification/blob/master/specification/0.0/schema/vrm.blendshape.group.schema.json>.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::import::gltf::document::Mesh;
use crate::import::gltf::reader::Reader;
use crate::import::{FileError, JsonPath};
use crate::model::{Expression, ExpressionOverride, Joint, MorphBind, is_usable};

/// The member of `extras` with the names.
const TARGET_NAMES: &str = "targetNames";

/// The parts of a document in which names of morph targets stand. Extras may hold anything.
#[derive(Deserialize)]
struct NamedMeshes {
    meshes: Vec<NamedMesh>,
}

#[derive(Deserialize)]
struct NamedMesh {
    extras: Option<Value>,
    #[serde(default)]
    primitives: Vec<NamedPrimitive>,
}

#[derive(Deserialize)]
struct NamedPrimitive {
    extras: Option<Value>,
}

impl NamedMesh {
    /// The list of names, of the mesh or else of its first primitive that has one.
    fn names(&self) -> Option<&Vec<Value>> {
        let extras = std::iter::once(&self.extras).chain(self.primitives.iter().map(|primitive| &primitive.extras));
        extras.flatten().filter_map(|extras| extras.get(TARGET_NAMES)?.as_array()).find(|names| !names.is_empty())
    }
}

/// Adds the names of morph targets to the joints. `json` is the text of the document, and `joints` has the joint of
/// each node. An error is a warning.
pub(super) fn add_names(reader: &mut Reader, json: &str, joints: &[usize], made: &mut [Joint]) {
    let document = reader.document;
    let has_targets = document.meshes.iter().any(|mesh| mesh.target_count() > 0);
    if !has_targets || !json.contains(TARGET_NAMES) {
        return;
    }
    // Most extras are of no concern, so that the document skips them. Here, an error in them costs the names alone.
    let named: NamedMeshes = match serde_json::from_str(json) {
        Ok(named) => named,
        Err(error) => {
            reader.warn("meshes", format!("the names of morph targets cannot be read, because of extras: {error}"));
            return;
        }
    };
    let mut of_meshes: Vec<Arc<[String]>> = Vec::with_capacity(document.meshes.len());
    for (index, (mesh, named)) in document.meshes.iter().zip(&named.meshes).enumerate() {
        of_meshes.push(names(index, mesh, named, reader).into());
    }
    for (node, &joint) in document.nodes.iter().zip(joints) {
        let names = node.mesh.and_then(|mesh| of_meshes.get(mesh));
        if let (Some(names), Some(joint)) = (names, made.get_mut(joint)) {
            joint.morph_names = names.clone();
        }
    }
}

/// The names of the morph targets of a mesh, one per target; empty without names.
fn names(index: usize, mesh: &Mesh, named: &NamedMesh, reader: &mut Reader) -> Vec<String> {
    let count = mesh.target_count();
    let Some(given) = named.names().filter(|_| count > 0) else { return Vec::new() };
    let name = |name: &Value| name.as_str().unwrap_or_default().to_owned();
    if given.len() != count || !given.iter().all(Value::is_string) {
        let texts = given.iter().filter(|name| name.is_string()).count();
        let effect = if given.len() > count { "names beyond them are ignored" } else { "the others have no name" };
        let message = format!("it has {texts} names for {count} morph targets; {effect}");
        reader.warn(JsonPath::top("meshes", index).field("extras").field(TARGET_NAMES), message);
    }
    given.iter().map(name).chain(std::iter::repeat(String::new())).take(count).collect()
}

/// The expressions of a document: of a VRM model, with the morph weights that they move, and of a VRM animation, with
/// the nodes that drive them. The expressions of VRM 0.x count only in a file without expressions of VRM 1.0: some
/// files have both, for old readers. `joints` has the joint of each node, and `made` all joints. An error is a warning.
///
/// # Errors
/// Morph weights out of proportion to the file: a mesh of many nodes in many expressions.
pub(super) fn read_expressions(
    reader: &mut Reader,
    joints: &[usize],
    made: &[Joint],
) -> Result<Vec<Expression>, FileError> {
    let document = reader.document;
    let Some(extensions) = &document.extensions else { return Ok(Vec::new()) };
    let mut expressions = Expressions { reader, joints, made, found: Vec::new(), names: HashSet::new() };
    if let Some(model) = &extensions.vrm {
        expressions.add_model(model);
    }
    if let Some(model) = extensions.vrm_0.as_ref().filter(|_| expressions.found.is_empty()) {
        expressions.add_model_of_vrm_0(model)?;
    }
    if let Some(animation) = &extensions.vrm_animation {
        expressions.add_animation(animation);
    }
    Ok(expressions.found)
}

/// The expressions that are read.
struct Expressions<'r, 'a> {
    reader: &'r mut Reader<'a>,
    /// The joint of each node.
    joints: &'r [usize],
    made: &'r [Joint],
    found: Vec<Expression>,
    /// The names of expressions of the model (false) and of the animation (true).
    names: HashSet<(bool, String)>,
}

/// The expressions of an extension of VRM 1.0: the group, the name and the object of each.
fn listed(extension: &Value) -> impl Iterator<Item = (&'static str, &String, &Value)> {
    ["preset", "custom"].into_iter().flat_map(move |group| {
        let expressions = extension.get("expressions").and_then(|expressions| expressions.get(group));
        let expressions = expressions.and_then(Value::as_object).into_iter().flatten();
        expressions.map(move |(name, value)| (group, name, value))
    })
}

/// An index in a JSON object.
fn index(value: &Value, member: &str) -> Option<usize> {
    value.get(member)?.as_u64().and_then(|index| usize::try_from(index).ok())
}

impl Expressions<'_, '_> {
    fn joint(&self, value: &Value) -> Option<usize> {
        self.joints.get(index(value, "node")?).copied()
    }

    /// Adds an expression, unless there is one of its name.
    fn add(&mut self, place: &str, expression: Expression) {
        if self.names.insert((expression.driver.is_some(), expression.name.clone())) {
            self.found.push(expression);
        } else {
            self.reader.warn(place, "an expression before it has its name, too; it is ignored");
        }
    }

    /// Warns of binds that are ignored, once for all of an expression: `errors` has their indices.
    fn warn_of_binds(&mut self, place: &str, binds: &str, errors: &[usize]) {
        let Some(first) = errors.first() else { return };
        let message = format!(
            "{} of them, the first at {first}, do not name a morph target that exists, with a weight; they are ignored",
            errors.len()
        );
        self.reader.warn(format_args!("{place}.{binds}"), message);
    }

    fn add_model(&mut self, model: &Value) {
        for (group, name, value) in listed(model) {
            let place = format!("extensions.VRMC_vrm.expressions.{group}.{name}");
            let (mut binds, mut errors) = (Vec::new(), Vec::new());
            let given = value.get("morphTargetBinds").and_then(Value::as_array);
            for (position, bind) in given.into_iter().flatten().enumerate() {
                match self.joint(bind).and_then(|joint| self.bind(joint, bind, 1.0)) {
                    Some(bind) => binds.push(bind),
                    None => errors.push(position),
                }
            }
            self.warn_of_binds(&place, "morphTargetBinds", &errors);
            let expression = Expression {
                name: name.clone(),
                is_binary: value.get("isBinary").and_then(Value::as_bool).unwrap_or(false),
                override_mouth: override_of(value, "overrideMouth"),
                override_blink: override_of(value, "overrideBlink"),
                override_look_at: override_of(value, "overrideLookAt"),
                driver: None,
                binds,
            };
            self.add(&place, expression);
        }
    }

    /// A morph weight of a joint that an expression moves, with its weight in parts of `full`.
    fn bind(&self, joint: usize, bind: &Value, full: f64) -> Option<MorphBind> {
        let weight = bind.get("weight")?.as_f64().map(|weight| weight / full).filter(|&weight| is_usable(weight))?;
        let count = self.made.get(joint)?.weights.len();
        let index = index(bind, "index").filter(|&index| index < count)?;
        Some(MorphBind { joint, index, weight })
    }

    /// Adds the blend shape groups of VRM 0.x. They name meshes in place of nodes, and weights are from 0 to 100.
    fn add_model_of_vrm_0(&mut self, model: &Value) -> Result<(), FileError> {
        let document = self.reader.document;
        let mut joints_of_meshes = vec![Vec::new(); document.meshes.len()];
        for (node, &joint) in document.nodes.iter().zip(self.joints) {
            if let Some(joints) = node.mesh.and_then(|mesh| joints_of_meshes.get_mut(mesh)) {
                joints.push(joint);
            }
        }
        let groups = model.pointer("/blendShapeMaster/blendShapeGroups").and_then(Value::as_array);
        for (position, group) in groups.into_iter().flatten().enumerate() {
            let place = format!("extensions.VRM.blendShapeMaster.blendShapeGroups[{position}]");
            let Some(name) = name_of_vrm_0(group) else {
                self.reader.warn(&place, "it has no name; it is ignored");
                continue;
            };
            let (mut binds, mut errors) = (Vec::new(), Vec::new());
            let given = group.get("binds").and_then(Value::as_array);
            for (position, bind) in given.into_iter().flatten().enumerate() {
                let joints =
                    index(bind, "mesh").and_then(|mesh| joints_of_meshes.get(mesh)).map_or(&[][..], Vec::as_slice);
                self.reader.charge(
                    &JsonPath::ROOT.field("extensions"),
                    joints.len() as u64,
                    size_of::<MorphBind>() as u64,
                )?;
                let before = binds.len();
                binds.extend(joints.iter().filter_map(|&joint| self.bind(joint, bind, 100.0)));
                if binds.len() == before {
                    errors.push(position);
                }
            }
            self.warn_of_binds(&place, "binds", &errors);
            let is_binary = group.get("isBinary").and_then(Value::as_bool).unwrap_or(false);
            self.add(&place, Expression { name, is_binary, binds, ..Expression::default() });
        }
        Ok(())
    }

    fn add_animation(&mut self, animation: &Value) {
        for (group, name, value) in listed(animation) {
            let place = format!("extensions.VRMC_vrm_animation.expressions.{group}.{name}");
            let is_gaze = group == "preset" && LOOKS.contains(&name.as_str());
            match self.joint(value) {
                Some(_) if is_gaze => self.reader.warn(&place, "the gaze of an animation is its lookAt; it is ignored"),
                Some(driver) => {
                    let expression = Expression { name: name.clone(), driver: Some(driver), ..Expression::default() };
                    self.add(&place, expression);
                }
                None => self.reader.warn(&place, "it has no node that exists; it is ignored"),
            }
        }
    }
}

/// The expressions of the gaze, which an animation must not have.
const LOOKS: [&str; 4] = ["lookUp", "lookDown", "lookLeft", "lookRight"];

fn override_of(expression: &Value, member: &str) -> ExpressionOverride {
    match expression.get(member).and_then(Value::as_str) {
        Some("block") => ExpressionOverride::Block,
        Some("blend") => ExpressionOverride::Blend,
        _ => ExpressionOverride::None,
    }
}

/// The name in VRM 1.0 of a blend shape group of VRM 0.x. Names there have no case. `surprised` is new in VRM 1.0;
/// VRoid Studio writes it under its name.
fn name_of_vrm_0(group: &Value) -> Option<String> {
    let text = |member: &str| group.get(member).and_then(Value::as_str).filter(|text| !text.is_empty());
    let preset = match text("presetName").unwrap_or("unknown").to_ascii_lowercase().as_str() {
        "a" => "aa",
        "i" => "ih",
        "u" => "ou",
        "e" => "ee",
        "o" => "oh",
        "blink" => "blink",
        "blink_l" => "blinkLeft",
        "blink_r" => "blinkRight",
        "joy" => "happy",
        "angry" => "angry",
        "sorrow" => "sad",
        "fun" => "relaxed",
        "lookup" => "lookUp",
        "lookdown" => "lookDown",
        "lookleft" => "lookLeft",
        "lookright" => "lookRight",
        "neutral" => "neutral",
        _ => match text("name")? {
            name if name.eq_ignore_ascii_case("surprised") => "surprised",
            name => name,
        },
    };
    Some(preset.to_owned())
}
