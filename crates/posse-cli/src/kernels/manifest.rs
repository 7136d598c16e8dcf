//! The manifest `kernels.json`, in terms of docs/kernels.md.
//!
//! Nothing is described here for a second time: naga reads the bindings in the WGSL, the buffers behind them come from
//! the table that the wgpu engine binds by, the WGSL is generated from the same records, and the engine computes by the
//! same formulas.

use std::collections::BTreeMap;

use posse::gpu::KernelText;
use posse::kernels::{Buffer, Count, DeviceBatch, DeviceLimits};
use posse::low_level::record::{Record, SHARED};
use posse::{Crowd, Error, Joint, Library};
use serde_json::{Map, Value, json};

use crate::kernels::translate::{Language, MSL_SIZES, ParsedKernel, Translated};

/// The version of the format: it grows if a field changes its meaning or goes.
const FORMAT: u32 = 1;

/// The manifest as it grows.
pub struct Manifest {
    file: String,
    limits: DeviceLimits,
    kernels: Vec<Value>,
    /// The records that bindings name.
    records: BTreeMap<&'static str, Value>,
    library: Map<String, Value>,
    batches: Vec<Value>,
    instances: Vec<Value>,
    skeletons: Vec<Value>,
}

impl Manifest {
    /// A manifest without kernels and buffers.
    pub fn new(file: &str, library: &Library, limits: DeviceLimits) -> Self {
        let skeleton = |id| {
            let skeleton = library.skeleton(id);
            let joint =
                |(index, joint): (usize, &Joint)| json!({ "name": skeleton.joint_name(index), "parent": joint.parent });
            let joints: Vec<Value> = skeleton.joints().iter().enumerate().map(joint).collect();
            let skins: Vec<_> = library.skins_of(id).map(|(_, skin)| json!({ "joints": skin.joints })).collect();
            json!({ "name": skeleton.name(), "joints": joints, "skins": skins })
        };
        Self {
            file: file.to_owned(),
            limits,
            kernels: Vec::new(),
            records: BTreeMap::new(),
            library: Map::new(),
            batches: Vec::new(),
            instances: Vec::new(),
            skeletons: library.skeleton_ids().map(skeleton).collect(),
        }
    }

    /// Adds a kernel with its files: language, name, and translation.
    pub fn add_kernel(
        &mut self,
        text: &KernelText,
        parsed: &ParsedKernel,
        files: &[(Language, String, Translated)],
    ) -> Result<(), Error> {
        let (read, table) = (parsed.bindings(), text.pass.bindings());
        let mut bindings = Vec::new();
        for (at, binding) in read.iter().enumerate() {
            let known = table.get(at).filter(|known| known.name == binding.name);
            let Some(known) = known.filter(|known| known.access.name() == binding.access) else {
                let message = format!("binding {at} is {binding:?}, which its pass does not have there");
                return Err(Error::Shader { file: text.name.clone(), line: 0, message });
            };
            self.add_record(&binding.type_name);
            bindings.push(json!({
                "group": binding.group,
                "binding": binding.binding,
                "name": binding.name,
                "buffer": known.buffer.name(),
                "access": binding.access,
                "type": binding.type_name,
            }));
        }
        let files: Map<String, Value> = files
            .iter()
            .map(|(language, file, translated)| {
                let mut described = json!({ "file": file, "entry_point": translated.entry_point });
                if let Some(metal) = &translated.metal {
                    described["sizes"] = json!({ "buffer": MSL_SIZES, "bindings": metal.bindings });
                    described["threadgroup_bytes"] = json!(metal.threadgroup);
                }
                (language.name().to_owned(), described)
            })
            .collect();
        self.kernels.push(json!({
            "name": text.name,
            "pass": text.pass.entry_point(),
            "workgroup_size": parsed.workgroup_size(),
            "workgroup_bytes": parsed.workgroup_bytes(),
            "languages": files,
            "bindings": bindings,
        }));
        Ok(())
    }

    /// Adds the record of a type, and the records of its fields.
    fn add_record(&mut self, type_name: &str) {
        let name = type_name.strip_prefix("array<").and_then(|rest| rest.strip_suffix('>')).unwrap_or(type_name);
        let mut all = SHARED.iter().flat_map(|shared| shared.records);
        let Some(record) = all.find(|record| record.name == name) else { return };
        self.records.insert(record.name, record_value(record));
        record.fields.iter().for_each(|field| self.add_record(field.type_name));
    }

    /// Adds a buffer of the library.
    pub fn add_library_buffer(&mut self, buffer: Buffer, bytes: u64, file: &str) {
        self.library.insert(buffer.name().to_owned(), json!({ "bytes": bytes, "file": file }));
    }

    /// Adds a batch, with the file of each of its buffers; none for a buffer that begins empty.
    pub fn add_batch(&mut self, library: &Library, batch: &DeviceBatch, files: &[Option<String>]) {
        let dispatches = batch.dispatches.iter().map(|dispatch| {
            let [x, y] = dispatch.groups;
            json!({
                "pass": dispatch.pass.entry_point(),
                "kernel": dispatch.kernel,
                "workgroups": [x, y, 1],
                "formula": dispatch.formula.to_string(),
            })
        });
        let buffers = batch.buffers.iter().zip(files).map(|(found, file)| {
            let described = json!({ "bytes": found.bytes, "formula": found.formula.to_string(), "file": file });
            (found.buffer.name().to_owned(), described)
        });
        let counts: Map<String, Value> =
            Count::ALL.into_iter().map(|(count, name)| (name.to_owned(), batch.counts.get(count).into())).collect();
        let layout = &batch.layout;
        self.batches.push(json!({
            "skeleton": batch.skeleton.index(),
            "skeleton_name": library.skeleton(batch.skeleton).name(),
            "instances": batch.instances,
            "counts": counts,
            "dispatches": dispatches.collect::<Vec<_>>(),
            "buffers": buffers.collect::<Map<_, _>>(),
            "numbers_per_instance": {
                "local": layout.local,
                "model": layout.model,
                "skin": layout.skin,
                "numbers": layout.values,
                "root_motion": layout.root_motion,
            },
            "skin_format": layout.skin_format.name(),
        }));
    }

    /// Adds the instances of the crowd, in its order, with the names of their clips.
    pub fn add_instances(&mut self, library: &Library, crowd: &Crowd) {
        for instance in 0..crowd.len() {
            let clips = crowd.layers(instance).iter().map(|layer| library.clip(layer.clip).name.as_deref());
            let clips: Vec<_> = clips.collect();
            self.instances.push(json!({ "skeleton": crowd.skeleton(instance).index(), "clips": clips }));
        }
    }

    /// The text of the file.
    pub fn text(self) -> Result<String, Error> {
        let buffers: Map<String, Value> = Buffer::ALL
            .into_iter()
            .map(|buffer| {
                let of = if buffer.is_of_library() { "library" } else { "batch" };
                (buffer.name().to_owned(), json!({ "of": of, "contents": buffer.contents() }))
            })
            .collect();
        let manifest = json!({
            "format": FORMAT,
            "posse": env!("CARGO_PKG_VERSION"),
            "file": self.file,
            "ticks_per_second": posse::Ticks::PER_SECOND,
            "limits": {
                "max_binding_bytes": self.limits.max_binding_bytes,
                "max_groups_per_row": self.limits.max_groups_per_row,
            },
            "kernels": self.kernels,
            "buffers": buffers,
            "records": self.records,
            "library": self.library,
            "skeletons": self.skeletons,
            "batches": self.batches,
            "instances": self.instances,
        });
        let text = serde_json::to_string_pretty(&manifest).map_err(|error| Error::Usage(error.to_string()))?;
        Ok(text + "\n")
    }
}

/// The layout of a record.
fn record_value(record: &Record) -> Value {
    let meaning = |lines: &[&str]| lines.join("").trim().replace("[`", "`").replace("`]", "`");
    let fields: Vec<Value> = record
        .fields
        .iter()
        .map(|field| {
            json!({
                "name": field.name,
                "type": field.type_name,
                "offset": field.offset,
                "size": field.size,
                "meaning": meaning(field.docs),
            })
        })
        .collect();
    json!({ "size": record.size, "meaning": meaning(record.docs), "fields": fields })
}
