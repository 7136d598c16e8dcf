mod command;
mod files;
mod likeness;
mod pictures;
mod positions;
mod scenes;
