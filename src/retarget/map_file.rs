//! Map files: the pairs of a joint map as JSON.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::Error;
use crate::import::{Fault, JsonPath, parse_json, without_mark};
use crate::model::{Library, SkeletonId};
use crate::retarget::joint_map::{JointMap, JointPair, MapRemark, MatchedBy, RootTranslation};
use crate::retarget::joints::are_joints;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    joints: Option<Pairs>,
    root: Option<String>,
    #[serde(default)]
    translation: Translation,
    scale: Option<f64>,
}

#[derive(Default, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Translation {
    #[default]
    Scaled,
    Full,
    None,
}

/// The fields of an object in their order, of which several may have the same name.
struct Pairs(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Pairs;

            fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
                to.write_str("an object that names a joint of the target for each joint of the source")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        from.deserialize_map(Fields)
    }
}

impl JointMap {
    /// A map from the JSON of a map file. `name` is the name of the file in errors; it is not opened.
    ///
    /// ```json
    /// { "joints": { "SOURCE": "TARGET" }, "root": "SOURCE", "translation": "scaled", "scale": 1.1 }
    /// ```
    ///
    /// `joints` names the pairs; without it, they follow from names and roles as with [`by_names`](Self::by_names). `root` is a joint
    /// of the source. `translation` is `scaled`, the default, `full` or `none`, as in [`RootTranslation`]; `scale` is for `scaled`.
    /// A pair with a name that several joints have is left out, with a remark.
    ///
    /// # Errors
    /// [`Error::Import`] with a JSON path if the JSON cannot be read, a joint does not exist or has two partners, or the root is not
    /// mapped; [`Error::Usage`] if there is no such skeleton.
    pub fn from_json(
        library: &Library,
        source: SkeletonId,
        target: SkeletonId,
        name: &Path,
        json: &[u8],
    ) -> Result<Self, Error> {
        let mut map = Self::by_names(library, source, target)?;
        read(&mut map, library, json).map_err(|fault| fault.in_file(name))?;
        Ok(map)
    }
}

fn read(map: &mut JointMap, library: &Library, json: &[u8]) -> Result<(), Fault> {
    // The derived parser reads a list as the fields in their order.
    let json = without_mark(json);
    if json.trim_ascii_start().first() != Some(&b'{') {
        return Err(Fault::new("JSON", "a map file is an object, such as { \"joints\": { \"Hips\": \"pelvis\" } }"));
    }
    let Document { joints, root, translation, scale } = parse_json(json)?;
    let [source, target] = [map.source, map.target].map(|id| Names::new(library, id));
    if let Some(Pairs(pairs)) = joints {
        (map.pairs, map.remarks) = read_pairs(&source, &target, &pairs)?;
    }
    map.translation = match (translation, scale) {
        (Translation::Scaled, scale) => RootTranslation::Scaled(scale),
        (_, Some(_)) => {
            return Err(Fault::new("scale", "it is for \"translation\": \"scaled\"; remove one of the two"));
        }
        (Translation::Full, None) => RootTranslation::Full,
        (Translation::None, None) => RootTranslation::None,
    };
    if scale.is_some_and(|scale| !crate::model::is_usable(scale)) {
        return Err(Fault::new("scale", "it is not a finite number in the range of an f32"));
    }
    let Some(root) = root else { return Ok(()) };
    let place = JsonPath::ROOT;
    let path = place.field("root");
    let found = source.find(&root, "source", &path)?;
    match found.as_slice() {
        [joint] if map.target_of(*joint).is_some() => map.root = Some(*joint),
        [_] => {
            return Err(Fault::new(path, format!("joint {root:?} is not mapped; name a mapped joint of the source")));
        }
        several => {
            let count = several.len();
            return Err(Fault::new(path, format!("{count} joints of the source have the name {root:?}; rename one")));
        }
    }
    Ok(())
}

fn read_pairs(
    source: &Names,
    target: &Names,
    pairs: &[(String, String)],
) -> Result<(Vec<JointPair>, Vec<MapRemark>), Fault> {
    let (mut found, mut remarks): (Vec<JointPair>, _) = (Vec::new(), Vec::new());
    let (document, mut names) = (JsonPath::ROOT, HashMap::new());
    for (from, to) in pairs {
        let joints = document.field("joints");
        let path = joints.field(from);
        let (sources, targets) = (source.find(from, "source", &path)?, target.find(to, "target", &path)?);
        if names.insert(["source", from], from).is_some() {
            return Err(Fault::new(path, "the joint has two partners; give it one"));
        }
        if let Some(other) = names.insert(["target", to], from) {
            return Err(Fault::new(path, format!("joint {to:?} of the target is the partner of {other:?}, too")));
        }
        match (sources.as_slice(), targets.as_slice()) {
            (&[source], &[target]) => found.push(JointPair { source, target, by: MatchedBy::Caller }),
            _ => remarks.push(MapRemark::Ambiguous { name: from.clone(), by: MatchedBy::Caller, sources, targets }),
        }
    }
    found.sort_by_key(|pair| pair.source);
    Ok((found, remarks))
}

/// The nodes of a skeleton by their names.
struct Names<'a> {
    nodes: HashMap<&'a str, Vec<usize>>,
    is_joint: Vec<bool>,
}

impl<'a> Names<'a> {
    fn new(library: &'a Library, id: SkeletonId) -> Self {
        let mut nodes: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, joint) in library.skeleton(id).joints().iter().enumerate() {
            if let Some(name) = joint.name.as_deref() {
                nodes.entry(name).or_default().push(index);
            }
        }
        Self { nodes, is_joint: are_joints(library, id) }
    }

    /// The joints of a name, at least one.
    fn find(&self, name: &str, side: &str, path: &JsonPath) -> Result<Vec<usize>, Fault> {
        let Some(nodes) = self.nodes.get(name) else {
            return Err(Fault::new(path, format!("the {side} has no joint {name:?}; posse inspect lists them")));
        };
        let joints: Vec<usize> = nodes.iter().copied().filter(|&node| self.is_joint[node]).collect();
        if joints.is_empty() {
            let reason = "no skin names it, and it is not between joints of a skin";
            return Err(Fault::new(path, format!("node {name:?} of the {side} is no joint: {reason}")));
        }
        Ok(joints)
    }
}
