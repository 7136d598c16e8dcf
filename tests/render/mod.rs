mod command;
mod files;
pub mod likeness;
mod pictures;
mod positions;
mod scenes;
