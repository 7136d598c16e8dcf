//! Records and constants that Rust and WGSL share, each declared once: WGSL is generated from the Rust declaration.

mod clip;
mod crowd;
mod declare;
mod wgsl;

pub use clip::*;
pub use crowd::*;

pub use declare::{Constant, Field, FieldType, Record, Shared, Value, constants, docs, loaded_from, record};

/// All records and constants that kernels share with Rust, file by file.
pub const SHARED: &[Shared] = &[
    Shared {
        file: "src/pack/record/clip.rs",
        constants: clip::CONSTANTS,
        records: &[
            clip::SkeletonRecord::RECORD,
            clip::TimelineRecord::RECORD,
            clip::Mapping::RECORD,
            clip::PartChannels::RECORD,
            clip::Channel::RECORD,
            clip::ValueChannel::RECORD,
            clip::ClipRecord::RECORD,
            clip::Root::RECORD,
        ],
    },
    Shared {
        file: "src/pack/record/crowd.rs",
        constants: crowd::CONSTANTS,
        records: &[
            crowd::Frame::RECORD,
            crowd::BatchRecord::RECORD,
            crowd::VisibleInstance::RECORD,
            crowd::LayerRecord::RECORD,
            crowd::SyncMark::RECORD,
            crowd::DriveRecord::RECORD,
            crowd::DriveBatch::RECORD,
            crowd::KnotRecord::RECORD,
            crowd::SpaceRecord::RECORD,
            crowd::TriangleRecord::RECORD,
            crowd::ChainRecord::RECORD,
            crowd::GoalRecord::RECORD,
            crowd::GoalBatch::RECORD,
            crowd::DisplacementRecord::RECORD,
            crowd::EventBatch::RECORD,
            crowd::OccurrenceRecord::RECORD,
            crowd::EventCount::RECORD,
        ],
    },
];
