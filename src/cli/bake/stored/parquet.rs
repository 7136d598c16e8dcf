//! Parquet files.

use std::fs::File;
use std::io;
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataReader;
use posse::Error;

use crate::cli::bake::facts::StoredFacts;

/// The facts of the clips of a file, in their order.
pub fn read_facts(file: &Path) -> Result<Vec<StoredFacts>, Error> {
    let failed = |source| Error::Io { file: file.to_path_buf(), source };
    let open = File::open(file).map_err(failed)?;
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&open).map_err(|error| failed(io_error(error)))?;
    let entries = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    // The schema of Arrow stands among the facts.
    let facts = |json: &String| serde_json::from_str::<StoredFacts>(json).ok();
    Ok(entries.filter_map(|entry| entry.value.as_ref().and_then(facts)).collect())
}

/// The error of the operating system in an error of the crate `parquet`.
pub fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}
