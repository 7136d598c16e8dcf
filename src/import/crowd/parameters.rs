//! Parameters of a group, and their indices by name.

use std::fmt;
use std::sync::Arc;

use crate::import::crowd::motion_entries::{Named, ParameterEntry};
use crate::import::{Fault, JsonPath, list_names};
use crate::model::{Crowd, Parameter};

/// The parameters of a group, in the order of the file.
pub(super) fn read(group: &JsonPath, entries: &Named<ParameterEntry>) -> Result<Arc<[Parameter]>, Fault> {
    let (path, count) = (group.field("parameters"), entries.0.len());
    if count > Crowd::MAX_PARAMETERS {
        let reason = format!("there are {count} parameters; an instance has at most {}", Crowd::MAX_PARAMETERS);
        return Err(Fault::new(path, reason));
    }
    let read = |(name, entry): &(String, ParameterEntry)| {
        let keys = match entry {
            ParameterEntry::Constant(value) => vec![[0.0, *value]],
            ParameterEntry::Keys(keys) => keys.clone(),
        };
        match Parameter::fault(&keys) {
            Some(reason) => Err(Fault::new(path.field(name), reason)),
            None => Parameter::new(keys).map_err(|error| Fault::new(path.field(name), error.to_string())),
        }
    };
    entries.0.iter().map(read).collect()
}

/// The index of the parameter of a name. The path is that of the name; `owner` precedes the message, and may be empty.
pub(super) fn find(
    entries: &Named<ParameterEntry>,
    path: impl fmt::Display,
    name: &str,
    owner: &str,
) -> Result<usize, Fault> {
    entries.0.iter().position(|(other, _)| other == name).ok_or_else(|| {
        let names: Vec<_> = entries.0.iter().map(|(name, _)| name.as_str()).collect();
        Fault::new(path, format!("{owner}the group has no parameter {name:?}; it has: {}", list_names(&names)))
    })
}
