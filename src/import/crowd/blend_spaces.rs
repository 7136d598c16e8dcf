//! Blend spaces of a crowd file, and their use by the layers of a group.

use std::collections::HashMap;

use crate::import::crowd::document::Document;
use crate::import::crowd::motion_entries::BlendSpaceEntry;
use crate::import::{Fault, JsonPath, list_names};
use crate::model::{BlendSpace, BlendSpaceId, Library, check_points, check_triangle, delaunay, no_triangles};

/// The blend spaces of a file, by name.
pub(super) type BlendSpaces<'a> = HashMap<&'a str, NamedSpace<'a>>;

/// A blend space in the library, with the names of its parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedSpace<'a> {
    pub id: BlendSpaceId,
    pub x: &'a str,
    pub y: &'a str,
    pub points: usize,
}

/// Adds the blend spaces of a file to a library, including those that no layer uses.
pub(super) fn add<'a>(library: &mut Library, document: &'a Document) -> Result<BlendSpaces<'a>, Fault> {
    let mut spaces = BlendSpaces::new();
    for (name, entry) in &document.blend_spaces.0 {
        let all = JsonPath::ROOT.field("blend_spaces");
        let space = blend_space(&all.field(name), entry)?;
        let id = library.add_blend_space(space);
        spaces.insert(name, NamedSpace { id, x: &entry.x, y: &entry.y, points: entry.points.len() });
    }
    Ok(spaces)
}

fn blend_space(path: &JsonPath, entry: &BlendSpaceEntry) -> Result<BlendSpace, Fault> {
    let points = path.field("points");
    check_points(&entry.points).map_err(|reason| Fault::new(&points, reason))?;
    let triangles = match &entry.triangles {
        None => delaunay(&entry.points).map_err(|reason| Fault::new(&points, reason))?,
        Some(triangles) => {
            if let Some(reason) = no_triangles(triangles) {
                return Err(Fault::new(path.field("triangles"), reason));
            }
            for (index, triangle) in triangles.iter().enumerate() {
                let fault = |reason| Fault::new(path.element("triangles", index), reason);
                check_triangle(&entry.points, triangle).map_err(fault)?;
            }
            triangles.clone()
        }
    };
    BlendSpace::with_triangles(entry.points.clone(), triangles).map_err(|error| Fault::new(path, error.to_string()))
}

/// The blend space of a name that a layer gives.
pub(super) fn find<'a>(spaces: &BlendSpaces<'a>, path: &JsonPath, name: &str) -> Result<NamedSpace<'a>, Fault> {
    spaces.get(name).copied().ok_or_else(|| {
        let mut names: Vec<_> = spaces.keys().copied().collect();
        names.sort_unstable();
        Fault::new(path, format!("there is no blend space {name:?}; the file has: {}", list_names(&names)))
    })
}
