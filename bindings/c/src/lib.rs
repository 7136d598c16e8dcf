//! The C interface of posse: a library of clips and skeletons, and crowds that threads of the caller pose on the CPU.
//!
//! `include/posse.h` is made of this crate by cbindgen; `README.md` beside this crate shows its use. From the bottom up:
//!
//! 1. [`types`]: numbers and structs as C has them; [`error`]: a code and a text; [`numbers`]: enumerators and indices.
//! 2. [`parts`], [`layer`], [`layout`], then [`library`] and [`crowd`]: what the calls do, in safe code.
//! 3. [`registry`]: the objects behind the handles.
//! 4. [`ffi`]: the calls. All code that reads and writes memory of the caller is there, and nowhere else.

// The header is made of comments on the items of this crate, which are public for C alone.
#![allow(unreachable_pub, missing_docs, reason = "only the functions of the header are called, by other languages")]

mod crowd;
mod error;
mod ffi;
mod layer;
mod layout;
mod library;
mod numbers;
mod parts;
mod registry;
mod types;
