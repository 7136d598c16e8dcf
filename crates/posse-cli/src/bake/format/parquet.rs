//! The format Parquet: one file per share, a row per frame.
//!
//! The clips of a file have the same arrays. A share with different rigs has several files, in the order in which the
//! rigs come.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use arrow_array::{
    ArrayRef, BooleanArray, FixedSizeListArray, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use posse::Error;
use posse::bake::{ArrayKind, ArrayLayout};

use crate::bake::facts::{Facts, RowFacts};
use crate::bake::format::packed::IndexLine;
use crate::bake::format::{ClipHead, PartPlace, PartWriter, part_name, part_names};
use crate::bake::manifest::ListedSource;
use crate::bake::spool::Spool;
use crate::draft::Draft;
use crate::write_error::with_hint;

/// The extension of the files.
const EXTENSION: &str = "parquet";

/// Begins the files of a share.
pub fn begin<'a>(place: PartPlace<'a>) -> Result<Box<dyn PartWriter + 'a>, Error> {
    Ok(Box::new(ParquetWriter { place, parts: Vec::new() }))
}

/// A writer of the files of a share.
struct ParquetWriter<'a> {
    place: PartPlace<'a>,
    parts: Vec<ParquetFile>,
}

impl PartWriter for ParquetWriter<'_> {
    fn add(&mut self, head: &ClipHead, clip: &mut Spool, facts: &Facts) -> Result<String, Error> {
        let columns = columns(head.layout);
        let index = match self.parts.iter().position(|part| part.columns() == columns) {
            Some(index) => index,
            None => {
                self.begin_part(columns)?;
                self.parts.len() - 1
            }
        };
        self.parts[index].add(clip, facts)?;
        Ok(part_name(self.place.share, index, EXTENSION))
    }

    fn declare(&mut self, head: &ClipHead) -> Result<(), Error> {
        if self.parts.is_empty() { self.begin_part(columns(head.layout)) } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> Result<(), Error> {
        if self.parts.is_empty() {
            self.begin_part(Vec::new())?;
        }
        let PartPlace { folder, share, manifest, .. } = self.place;
        let written: Vec<String> = (0..self.parts.len()).map(|rig| part_name(share, rig, EXTENSION)).collect();
        for (part, name) in self.parts.into_iter().zip(&written) {
            let (draft, clips) = part.finish()?;
            manifest.keep(draft, name, clips)?;
        }
        for old in part_names(folder, share, EXTENSION)?.iter().filter(|name| !written.contains(name)) {
            let file = folder.join(old);
            fs::remove_file(&file).map_err(|source| Error::Io { file, source })?;
        }
        Ok(())
    }
}

impl ParquetWriter<'_> {
    fn begin_part(&mut self, columns: Vec<Column>) -> Result<(), Error> {
        let file = self.place.folder.join(part_name(self.place.share, self.parts.len(), EXTENSION));
        let draft = self.place.tag.create(&file)?;
        self.parts.push(ParquetFile::new(draft, columns)?);
        Ok(())
    }
}

/// The most rows of a row group.
const ROWS: usize = 1 << 16;

/// The most bytes of a row group. The writer holds a row group in memory, so that groups of wide arrays have fewer
/// rows.
const GROUP: usize = 64 << 20;

/// The bytes that are handed to the writer at a time.
const BATCH: usize = 1 << 20;

/// The number of row groups from which on several clips share one. Some readers allow 32,767.
const MANY_GROUPS: usize = 1 << 14;

/// A column of lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    name: String,
    /// The index of the array.
    array: usize,
    /// Numbers per row.
    width: usize,
    /// `true` if the numbers are booleans.
    is_boolean: bool,
}

impl Column {
    /// The description of its elements, which are never missing.
    fn element(&self) -> Arc<Field> {
        let kind = if self.is_boolean { DataType::Boolean } else { DataType::Float32 };
        Arc::new(Field::new("element", kind, false))
    }
}

/// The columns of the arrays of a clip. Parquet has no lists of length 0: such arrays have no column.
pub fn columns(layout: &ArrayLayout) -> Vec<Column> {
    let columns = layout.arrays().iter().zip(0..);
    let columns = columns.map(|(shape, array)| Column {
        name: shape.name.clone(),
        array,
        width: shape.width(),
        is_boolean: shape.kind == ArrayKind::Contact,
    });
    columns.filter(|column| column.width > 0).collect()
}

/// The columns of a file, in their order.
fn schema(file: &Path, columns: &[Column]) -> Result<Schema, Error> {
    let mut fields = vec![
        // No dictionary: readers skip row groups by the least and the greatest name of plain texts alone.
        Field::new("clip", DataType::Utf8, false),
        Field::new("frame", DataType::Int64, false),
        Field::new("time", DataType::Float64, false),
    ];
    for column in columns {
        let Column { name, width, .. } = column;
        let too_wide = |_| Error::Limit {
            what: format!("{}: {name}: numbers per row", file.display()),
            needed: *width as u64,
            allowed: i32::MAX as u64,
        };
        let width = i32::try_from(*width).map_err(too_wide)?;
        fields.push(Field::new(name, DataType::FixedSizeList(column.element(), width), false));
    }
    Ok(Schema::new(fields))
}

/// The settings of a file. Numbers are stored as they are; only the pages of the names of clips have a dictionary.
fn properties() -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("posse version ", env!("CARGO_PKG_VERSION")).into())
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_column_dictionary_enabled(ColumnPath::from("clip"), true)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(None);
    for column in ["clip", "frame", "time"] {
        properties = properties.set_column_statistics_enabled(ColumnPath::from(column), EnabledStatistics::Chunk);
    }
    properties.build()
}

/// A file.
pub struct ParquetFile {
    file: PathBuf,
    columns: Vec<Column>,
    schema: Arc<Schema>,
    writer: ArrowWriter<Draft>,
    /// The number of complete row groups.
    groups: usize,
    /// The rows of the row group that is being written.
    rows: usize,
    /// The clips, for the manifest.
    clips: Vec<ListedSource>,
}

impl ParquetFile {
    /// Begins a file. `file` is the place of the draft.
    pub fn new(draft: Draft, columns: Vec<Column>) -> Result<Self, Error> {
        let file = draft.place().to_path_buf();
        let schema = Arc::new(schema(&file, &columns)?);
        let writer = ArrowWriter::try_new(draft, schema.clone(), Some(properties()))
            .map_err(|error| Error::Io { file: file.clone(), source: with_hint(io_error(error)) })?;
        Ok(Self { file, columns, schema, writer, groups: 0, rows: 0, clips: Vec::new() })
    }

    /// The columns of lists.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The most rows of a row group, and of a batch.
    fn limits(&self) -> [usize; 2] {
        let row = 4 * self.columns.iter().map(|column| column.width).sum::<usize>() + 24;
        [GROUP, BATCH].map(|bytes| (bytes / row).clamp(1, ROWS))
    }

    /// Appends a clip. A row group ends with it, or sooner at the limit of rows.
    pub fn add(&mut self, clip: &mut Spool, facts: &Facts) -> Result<(), Error> {
        let json = serde_json::to_string(facts).map_err(|error| self.error(error))?;
        self.writer.append_key_value_metadata(KeyValue::new(facts.clip.clone(), json));
        self.clips.push(ListedSource::new(facts));
        let ([group, batch], mut frame) = (self.limits(), 0);
        clip.rewind()?;
        loop {
            let (times, arrays) = clip.read(batch.min(group - self.rows))?;
            if times.is_empty() {
                break;
            }
            let count = times.len();
            let rows =
                self.rows_of(&facts.clip, frame, times, arrays).map_err(|error| self.error(io::Error::other(error)))?;
            self.writer.write(&rows).map_err(|error| self.error(io_error(error)))?;
            frame += count;
            self.rows += count;
            if self.rows == group {
                self.end_group()?;
            }
        }
        if self.groups < MANY_GROUPS { self.end_group() } else { Ok(()) }
    }

    /// Consecutive frames of a clip as rows.
    fn rows_of(
        &self,
        clip: &str,
        first: usize,
        times: Vec<f64>,
        mut arrays: Vec<Vec<f32>>,
    ) -> Result<RecordBatch, ArrowError> {
        let count = times.len();
        let clips = StringArray::from_iter_values(std::iter::repeat_n(clip, count));
        let frames = Int64Array::from_iter_values((first..first + count).map(|frame| frame as i64));
        let mut rows: Vec<ArrayRef> = vec![Arc::new(clips), Arc::new(frames), Arc::new(Float64Array::from(times))];
        for column in &self.columns {
            let numbers = std::mem::take(&mut arrays[column.array]);
            let numbers: ArrayRef = if column.is_boolean {
                Arc::new(BooleanArray::from(numbers.iter().map(|&number| number != 0.0).collect::<Vec<bool>>()))
            } else {
                Arc::new(Float32Array::from(numbers))
            };
            // The schema has checked the width.
            rows.push(Arc::new(FixedSizeListArray::try_new(column.element(), column.width as i32, numbers, None)?));
        }
        RecordBatch::try_new(self.schema.clone(), rows)
    }

    fn end_group(&mut self) -> Result<(), Error> {
        if self.rows > 0 {
            self.writer.flush().map_err(|error| self.error(io_error(error)))?;
            self.groups += 1;
            self.rows = 0;
        }
        Ok(())
    }

    /// Completes the file. Returns its draft, and its clips.
    pub fn finish(mut self) -> Result<(Draft, Vec<ListedSource>), Error> {
        self.end_group()?;
        let Self { file, writer, clips, .. } = self;
        let draft = writer.into_inner().map_err(|error| Error::Io { file, source: with_hint(io_error(error)) })?;
        Ok((draft, clips))
    }

    fn error(&self, source: impl Into<io::Error>) -> Error {
        Error::Io { file: self.file.clone(), source: with_hint(source.into()) }
    }
}

/// The lines of an index that are handed to the writer at a time.
const LINES: usize = 1 << 12;

/// Writes an index of the format packed, a row per line. The column `facts` has the line itself.
pub fn write_index<'a>(draft: Draft, lines: impl Iterator<Item = IndexLine<'a>>) -> Result<Draft, Error> {
    let file = draft.place().to_path_buf();
    let failed = |error: io::Error| Error::Io { file: file.clone(), source: with_hint(error) };
    let field = |name: &str, kind: DataType| Field::new(name, kind, false);
    let schema = Arc::new(Schema::new(vec![
        field("clip", DataType::Utf8),
        field("rig", DataType::Utf8),
        field("first_row", DataType::Int64),
        field("frames", DataType::Int64),
        field("rest", DataType::Int64),
        field("fps", DataType::Float64),
        field("seconds", DataType::Float64),
        field("joints", DataType::Int64),
        field("skeleton", DataType::Utf8),
        field("source", DataType::Utf8),
        field("sha256", DataType::Utf8),
        field("mirrored", DataType::Boolean),
        field("facts", DataType::Utf8),
    ]));
    let properties = WriterProperties::builder()
        .set_created_by(concat!("posse version ", env!("CARGO_PKG_VERSION")).into())
        .set_compression(Compression::UNCOMPRESSED)
        .build();
    let writer = ArrowWriter::try_new(draft, schema.clone(), Some(properties));
    let mut writer = writer.map_err(|error| failed(io_error(error)))?;
    let mut lines = lines.peekable();
    while lines.peek().is_some() {
        let block: Vec<IndexLine> = lines.by_ref().take(LINES).collect();
        let texts = |text: for<'l> fn(&'l IndexLine<'a>) -> &'l str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(block.iter().map(text)))
        };
        let rows = || block.iter().map(|line| line.listed.rows.as_ref());
        let integers = |numbers: Vec<u64>| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(numbers.into_iter().map(|number| number as i64)))
        };
        let doubles = |number: fn(&RowFacts) -> f64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(rows().map(|rows| rows.map_or(0.0, number))))
        };
        let facts = block.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
        let facts = facts.map_err(|error| failed(error.into()))?;
        let columns: Vec<ArrayRef> = vec![
            texts(|line| &line.listed.clip),
            texts(|line| &line.rig),
            integers(block.iter().map(|line| line.first_row).collect()),
            integers(rows().map(|rows| rows.map_or(0, |rows| rows.frames)).collect()),
            integers(block.iter().map(|line| line.rest).collect()),
            doubles(|rows| rows.fps),
            doubles(|rows| rows.seconds),
            integers(rows().map(|rows| rows.map_or(0, |rows| rows.joints as u64)).collect()),
            texts(|line| line.listed.rows.as_ref().map_or("", |rows| &rows.skeleton)),
            texts(|line| &line.listed.source.path),
            texts(|line| &line.listed.source.sha256),
            Arc::new(BooleanArray::from(block.iter().map(|line| line.listed.source.mirrored).collect::<Vec<bool>>())),
            Arc::new(StringArray::from_iter_values(facts)),
        ];
        let rows = RecordBatch::try_new(schema.clone(), columns).map_err(|error| failed(io::Error::other(error)))?;
        writer.write(&rows).map_err(|error| failed(io_error(error)))?;
    }
    let mut draft = writer.into_inner().map_err(|error| failed(io_error(error)))?;
    draft.close()?;
    Ok(draft)
}

/// The error of the operating system in an error of the crate `parquet`.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}
