//! The keys of clips: found, decoded and sampled for all instances of a group at once.
//!
//! From the bottom up; a file imports only what stands before it:
//!
//! * [`records`] decodes the records of quantized keys, a block of joints at a time.
//! * [`plan`] finds the joints of a clip that are sampled together, when an engine is made.
//! * [`source`] has a clip as the stages read it, and the instances that sample it together.
//! * [`search`] finds the key intervals of a group of instances, and the weights of their rotations.
//! * [`rows`] decodes quantized keys, row by row, and [`decoded`] keeps what a thread decoded of several clips.
//! * [`sampling`] interpolates joints between their keys. Keys of `f32` are read where they are, quantized ones from
//!   decoded rows.
//! * [`prefetch`] loads keys into the caches ahead of time.

pub mod decoded;
pub mod plan;
pub mod prefetch;
pub mod records;
pub mod rows;
pub mod sampling;
pub mod search;
pub mod source;
