//! `posse bake`: clips of many files as arrays or animation files.

mod draft;
mod facts;
mod format;
mod spool;
