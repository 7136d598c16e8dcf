//! The outputs that are there: the facts that they state about themselves, by format.
//!
//! `fuzz/` compiles this folder as a part of its library, which cannot depend on a command. The folder therefore uses nothing of the
//! command but `facts` and `npy`.

pub mod glb;
pub mod npz;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(feature = "parquet")]
mod thrift;
pub mod usda;
