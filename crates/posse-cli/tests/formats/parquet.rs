//! Parquet files of `posse bake`, read with the crate `parquet`: rows, row groups and facts.

use std::fs::{self, File};
use std::path::Path;

use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ::parquet::file::metadata::RowGroupMetaData;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use serde_json::{Value, json};

use super::{Folder, Member, contents, figure};
use crate::support::walking;

/// A file with all its rows.
struct Table {
    rows: RecordBatch,
    groups: usize,
    /// The least and the greatest name of a clip in each row group, by its statistics.
    ranges: Vec<[Vec<u8>; 2]>,
    facts: Vec<(String, Value)>,
}

impl Table {
    fn read(file: &Path) -> Self {
        let builder =
            ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap().with_batch_size(1 << 20);
        let metadata = builder.metadata().clone();
        let facts = metadata.file_metadata().key_value_metadata().unwrap().iter();
        let facts = facts.filter(|fact| fact.key != "ARROW:schema");
        let facts = facts.map(|fact| (fact.key.clone(), serde_json::from_str(fact.value.as_ref().unwrap()).unwrap()));
        let (facts, schema) = (facts.collect(), builder.schema().clone());
        let mut batches = builder.build().unwrap();
        let rows = batches.next().map_or_else(|| RecordBatch::new_empty(schema), |batch| batch.unwrap());
        assert!(batches.next().is_none());
        let range = |group: &RowGroupMetaData| {
            let statistics = group.column(0).statistics().unwrap();
            [statistics.min_bytes_opt(), statistics.max_bytes_opt()].map(|name| name.unwrap().to_vec())
        };
        let ranges = metadata.row_groups().iter().map(range).collect();
        Self { rows, groups: metadata.num_row_groups(), ranges, facts }
    }

    fn clips(&self) -> Vec<&str> {
        self.rows.column_by_name("clip").unwrap().as_string::<i32>().iter().flatten().collect()
    }

    fn frames(&self) -> Vec<i64> {
        self.rows.column_by_name("frame").unwrap().as_primitive::<Int64Type>().values().to_vec()
    }

    fn times(&self) -> Vec<f64> {
        self.rows.column_by_name("time").unwrap().as_primitive::<Float64Type>().values().to_vec()
    }

    fn numbers(&self, name: &str) -> Vec<f32> {
        let lists = self.rows.column_by_name(name).unwrap().as_fixed_size_list();
        assert_eq!(lists.null_count(), 0);
        lists.values().as_primitive::<Float32Type>().values().to_vec()
    }

    fn columns(&self) -> Vec<String> {
        self.rows.schema().fields().iter().map(|field| field.name().clone()).collect()
    }
}

fn names(folder: &Path) -> Vec<String> {
    contents(folder).into_iter().map(|(name, _)| name.to_str().unwrap().to_owned()).collect()
}

#[test]
fn a_file_has_a_row_per_frame() {
    let folder = Folder::new();
    folder.add("other.glb", &figure());
    let options = "--fps 2 --arrays pos,quat,local_scale,weights";
    let out = folder.bake("out", &format!("{options} --format parquet"));
    let npz = folder.bake("npz", options).join("figure.npz");
    assert_eq!(names(&out), ["part-00000-of-00001.parquet"]);
    let table = Table::read(&out.join("part-00000-of-00001.parquet"));
    assert_eq!(table.columns(), ["clip", "frame", "time", "pos", "quat", "local_scale"]);
    assert_eq!(table.clips(), ["figure", "figure", "figure", "other", "other", "other"]);
    assert_eq!((table.frames(), table.groups), (vec![0, 1, 2, 0, 1, 2], 2));
    // Readers skip row groups by the names of clips.
    assert_eq!(table.ranges, [b"figure", b"other".as_slice()].map(|name| [name.to_vec(), name.to_vec()]));
    assert_eq!(table.times(), [0.0, 0.5, 1.0, 0.0, 0.5, 1.0]);
    for name in ["pos", "quat", "local_scale"] {
        assert_eq!(table.numbers(name), Member::read(&npz, name).singles().repeat(2), "{name}");
    }
    let clips: Vec<&str> = table.facts.iter().map(|(clip, _)| clip.as_str()).collect();
    assert_eq!(clips, ["figure", "other"]);
    let facts = &table.facts[1].1;
    assert_eq!((&facts["clip"], &facts["source"]["path"]), (&json!("other"), &json!("other.glb")));
    assert_eq!(facts["joint_names"], json!(["leg.l", "hip", "lamp", "socket"]));
}

#[test]
fn contacts_are_booleans() {
    let folder = Folder::new();
    fs::create_dir(folder.path("walks")).unwrap();
    fs::write(folder.path("walks/walk.bvh"), walking::bvh(walking::THIGH_AND_CALF, 61)).unwrap();
    let bake = |options: &str| {
        let output = folder.run(&format!("walks/walk.bvh --arrays contact {options}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    bake("-o out --format parquet");
    bake("-o npz");
    let table = Table::read(&folder.path("out/part-00000-of-00001.parquet"));
    let lists = table.rows.column_by_name("contact").unwrap().as_fixed_size_list();
    let found: Vec<u8> = lists.values().as_boolean().values().iter().map(u8::from).collect();
    assert_eq!(found, Member::read(&folder.path("npz/walk.npz"), "contact").bytes);
    assert_eq!((found.len(), found[0]), (122, 1));
    assert_eq!(table.facts[0].1["contact_feet"], json!(["LeftFoot", "RightFoot"]));
}

#[test]
fn long_clips_have_several_row_groups() {
    let folder = Folder::new();
    let out = folder.bake("out", "--fps 100000 --arrays pos --format parquet");
    let table = Table::read(&out.join("part-00000-of-00001.parquet"));
    assert_eq!((table.groups, table.rows.num_rows()), (2, 100_001));
    assert_eq!(table.frames(), (0..=100_000).collect::<Vec<i64>>());
    let npz = folder.bake("npz", "--fps 100000 --arrays pos").join("figure.npz");
    assert_eq!(table.numbers("pos"), Member::read(&npz, "pos").singles());
}

#[test]
fn rigs_that_differ_have_files_of_their_own() {
    let folder = Folder::new();
    let mut tall = figure();
    tall.push("nodes", json!({ "name": "hat" }));
    folder.add("hatted.glb", &tall);
    folder.add("other.glb", &figure());
    let out = folder.bake("out", "--format parquet");
    assert_eq!(names(&out), ["part-00000-of-00001-01.parquet", "part-00000-of-00001.parquet"]);
    let clips = |name: &str| {
        let table = Table::read(&out.join(name));
        let width = table.numbers("pos").len() / table.rows.num_rows() / 3;
        (table.facts.into_iter().map(|(clip, _)| clip).collect::<Vec<_>>(), width)
    };
    assert_eq!(clips("part-00000-of-00001.parquet"), (vec!["figure".into(), "other".into()], 4));
    assert_eq!(clips("part-00000-of-00001-01.parquet"), (vec!["hatted".into()], 5));
    // Without the second rig, its file goes.
    fs::remove_file(folder.path("clips/hatted.glb")).unwrap();
    folder.bake("out", "--format parquet");
    assert_eq!(names(&out), ["part-00000-of-00001.parquet"]);
}

#[test]
fn a_share_without_clips_has_an_empty_file_with_all_columns() {
    let folder = Folder::new();
    for share in 0..2 {
        folder.bake("out", &format!("--format parquet --shard {share}/2"));
    }
    let read = |name: &str| Table::read(&folder.path("out").join(name));
    let (full, empty) = (read("part-00000-of-00002.parquet"), read("part-00001-of-00002.parquet"));
    assert_eq!((full.rows.num_rows() > 0, empty.rows.num_rows()), (true, 0));
    assert_eq!(full.rows.schema(), empty.rows.schema());
    assert!(empty.facts.is_empty());
}
