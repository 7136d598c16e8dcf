//! The accessors and buffer views that a document refers to.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{index, items};

/// The indices of accessors or buffer views.
pub(super) type Indices = HashSet<usize>;

/// The accessors of the samplers of all animations.
pub(super) fn of_animations(json: &Map<String, Value>) -> Indices {
    let samplers = items(json, "animations").iter().filter_map(|animation| animation.get("samplers")?.as_array());
    samplers.flatten().flat_map(|sampler| [index(sampler, "input"), index(sampler, "output")]).flatten().collect()
}

/// The accessors to which anything but an animation may refer. Any whole number in an extension or in extras may be one.
pub(super) fn of_others(json: &Map<String, Value>) -> Indices {
    let mut found = free_numbers(json);
    for mesh in items(json, "meshes") {
        let primitives = mesh.get("primitives").and_then(Value::as_array);
        for primitive in primitives.into_iter().flatten() {
            found.extend(index(primitive, "indices"));
            let targets = primitive.get("targets").and_then(Value::as_array).into_iter().flatten();
            for attributes in primitive.get("attributes").into_iter().chain(targets).filter_map(Value::as_object) {
                found.extend(
                    attributes.values().filter_map(Value::as_u64).filter_map(|index| usize::try_from(index).ok()),
                );
            }
        }
    }
    found.extend(items(json, "skins").iter().filter_map(|skin| index(skin, "inverseBindMatrices")));
    found
}

/// The buffer views of an accessor.
pub(super) fn views_of_accessor(accessor: &Value) -> impl Iterator<Item = usize> {
    let sparse = accessor.get("sparse");
    let part = |name: &str| sparse.and_then(|sparse| index(sparse.get(name)?, "bufferView"));
    [index(accessor, "bufferView"), part("indices"), part("values")].into_iter().flatten()
}

/// The buffer views to which anything but an accessor may refer.
pub(super) fn views_of_others(json: &Map<String, Value>) -> Indices {
    let mut found = free_numbers(json);
    found.extend(items(json, "images").iter().filter_map(|image| index(image, "bufferView")));
    found
}

/// All whole numbers in extensions and extras, except in animations, and in compressed views, whose numbers are no such indices.
fn free_numbers(json: &Map<String, Value>) -> Indices {
    let mut found = HashSet::new();
    // Each with true if it lies in an extension.
    let mut stack: Vec<(&Value, bool)> = Vec::new();
    for (name, value) in json {
        match name.as_str() {
            "animations" | "bufferViews" => {}
            name => stack.push((value, is_free(name))),
        }
    }
    while let Some((value, is_inside)) = stack.pop() {
        match value {
            Value::Number(number) if is_inside => {
                found.extend(number.as_u64().and_then(|index| usize::try_from(index).ok()))
            }
            Value::Array(values) => stack.extend(values.iter().map(|value| (value, is_inside))),
            Value::Object(fields) => {
                stack.extend(fields.iter().map(|(name, value)| (value, is_inside || is_free(name))));
            }
            _ => {}
        }
    }
    found
}

fn is_free(name: &str) -> bool {
    matches!(name, "extensions" | "extras")
}
