//! Records and constants that Rust and WGSL share, each declared once: WGSL is generated from the Rust declaration.

mod arithmetic;
mod batch;
mod channel;
mod clip;
mod declare;
mod displacement;
mod drive;
mod easing;
mod event;
mod frame;
mod goal;
mod layer;
mod quantized_column;
mod skeleton;
mod timeline;
mod wgsl;

pub use arithmetic::*;
pub use batch::*;
pub use channel::*;
pub use clip::*;
pub use displacement::*;
pub use drive::*;
pub use easing::*;
pub use event::*;
pub use frame::*;
pub use goal::*;
pub use layer::*;
pub use quantized_column::*;
pub use skeleton::*;
pub use timeline::*;

pub use declare::{Constant, Field, FieldType, Record, Shared, Value, constants, loaded_from, record};

constants! {
    /// The offset or index that stands for none.
    pub const NONE: u32 = u32::MAX;
}

/// All records and constants that kernels share with Rust, file by file.
pub const SHARED: &[Shared] = &[
    Shared { file: "src/pack/record/mod.rs", constants: CONSTANTS, records: &[] },
    Shared { file: "src/pack/record/arithmetic.rs", constants: arithmetic::CONSTANTS, records: &[] },
    Shared {
        file: "src/pack/record/batch.rs",
        constants: batch::CONSTANTS,
        records: &[batch::BatchRecord::RECORD, batch::VisibleInstance::RECORD],
    },
    Shared {
        file: "src/pack/record/channel.rs",
        constants: channel::CONSTANTS,
        records: &[
            channel::Channel::RECORD,
            channel::CompactChannels::RECORD,
            channel::ChannelGroup::RECORD,
            channel::ValueChannel::RECORD,
        ],
    },
    Shared {
        file: "src/pack/record/clip.rs",
        constants: clip::CONSTANTS,
        records: &[clip::ClipRecord::RECORD, clip::Root::RECORD],
    },
    Shared {
        file: "src/pack/record/quantized_column.rs",
        constants: quantized_column::CONSTANTS,
        records: &[quantized_column::QuantizedColumn::RECORD],
    },
    Shared {
        file: "src/pack/record/displacement.rs",
        constants: displacement::CONSTANTS,
        records: &[displacement::DisplacementRecord::RECORD],
    },
    Shared {
        file: "src/pack/record/drive.rs",
        constants: drive::CONSTANTS,
        records: &[
            drive::SyncMark::RECORD,
            drive::DriveRecord::RECORD,
            drive::DriveBatch::RECORD,
            drive::KnotRecord::RECORD,
            drive::SpaceRecord::RECORD,
            drive::TriangleRecord::RECORD,
        ],
    },
    Shared { file: "src/pack/record/easing.rs", constants: easing::CONSTANTS, records: &[] },
    Shared {
        file: "src/pack/record/event.rs",
        constants: &[],
        records: &[event::EventBatch::RECORD, event::OccurrenceRecord::RECORD, event::EventCount::RECORD],
    },
    Shared { file: "src/pack/record/frame.rs", constants: &[], records: &[frame::Frame::RECORD] },
    Shared {
        file: "src/pack/record/goal.rs",
        constants: goal::CONSTANTS,
        records: &[goal::ChainRecord::RECORD, goal::GoalRecord::RECORD, goal::GoalBatch::RECORD],
    },
    Shared { file: "src/pack/record/layer.rs", constants: layer::CONSTANTS, records: &[layer::LayerRecord::RECORD] },
    Shared {
        file: "src/pack/record/skeleton.rs",
        constants: skeleton::CONSTANTS,
        records: &[skeleton::SkeletonRecord::RECORD],
    },
    Shared {
        file: "src/pack/record/timeline.rs",
        constants: timeline::CONSTANTS,
        records: &[timeline::TimelineRecord::RECORD, timeline::Mapping::RECORD],
    },
];
