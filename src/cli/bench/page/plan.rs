//! What is measured for a page where nobody says what.

use clap::builder::ArgPredicate;
use posse::{AdapterKind, GpuContext};

use crate::cli::bench::size::Size;
use crate::cli::engine::Engine;

/// Joints of each case of a cost table, and of a page that has a software adapter on it.
const TABLE_JOINTS: [u32; 2] = [640_000, 64_000];
/// The most joints of a page's case that a software adapter poses.
const MOST_IN_SOFTWARE: u64 = 2_000_000;

/// The cost tables, by the arguments that stand against them: all where a page is wanted, and no sizes are given.
pub const TABLES: [(&str, ArgPredicate, Option<&str>); 9] = [
    ("from", ArgPredicate::IsPresent, None),
    ("file", ArgPredicate::IsPresent, None),
    ("crowd", ArgPredicate::IsPresent, None),
    ("instances", ArgPredicate::IsPresent, None),
    ("joints", ArgPredicate::IsPresent, None),
    ("keys", ArgPredicate::IsPresent, None),
    ("depth", ArgPredicate::IsPresent, None),
    ("layers", ArgPredicate::IsPresent, None),
    ("report", ArgPredicate::IsPresent, Some("instances,layers,keys,depth,joints,skeletons")),
];

/// Joints of each case of a cost table. What is drawn side by side with the GPU's cases is of one size, which a software adapter
/// can pose too.
pub fn table_joints(is_drawn: bool) -> u32 {
    let [usual, in_software] = TABLE_JOINTS;
    let is_slow = is_drawn && GpuContext::new(AdapterKind::Any).is_ok_and(|gpu| !gpu.is_hardware());
    if is_slow { in_software } else { usual }
}

/// Whether it is a case that a page would wait long for.
pub fn takes_long(engine: &Engine, size: Size) -> bool {
    let is_slow = matches!(engine, Engine::Gpu(engine) if !engine.gpu().is_hardware());
    is_slow && (size.instances as u64).saturating_mul(size.joints as u64) > MOST_IN_SOFTWARE
}
