//! The C interface of posse: a library of clips and skeletons, and crowds that threads of the caller pose on the CPU.
//!
//! `include/posse.h` is made of this crate by cbindgen; `README.md` beside this crate shows its use. From the bottom up:
//!
//! 1. [`types`]: numbers and structs as C has them; [`error`]: a code and a text; [`numbers`]: enumerators, and the items
//!    of indices.
//! 2. [`layer`], [`layout`], [`packed`], then [`library`] and [`crowd`]: what the calls do, in safe code.
//! 3. [`registry`]: the objects behind the handles.
//! 4. [`ffi`]: the calls. All code that reads and writes memory of the caller is there, and nowhere else.

mod crowd;
mod error;
mod ffi;
mod layer;
mod layout;
mod library;
mod numbers;
mod packed;
mod registry;
mod types;
