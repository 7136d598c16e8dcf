//! The kernels to compile, by the rigs and the layers that need them.

use std::sync::Arc;

use posse::low_level::KernelText;
use posse::{
    Clip, CompressedLibrary, Curve, Error, ErrorBound, Interpolation, Joint, KernelForm, Length, Library, Mixing,
    PackedLibrary, RootMotion, RootRotation, Skeleton, SkeletonId, SkinFormat, Target, Timeline, Track, demo,
};

/// A kernel with the name of its case.
pub struct Kernel {
    /// The name, for tables and limits.
    pub name: String,
    /// Its text and entry point.
    pub text: KernelText,
    /// The joints of the rig; 0 for kernels that do not pose.
    pub joints: u32,
    /// True if `issue.rs` knows how often its loops run.
    pub counted: bool,
}

/// The keys per track of a rig, and its levels.
const KEYS: usize = 60;
const LEVELS: usize = 10;

/// All kernels, in the order of the table.
///
/// # Errors
/// None in practice: the rigs are valid.
pub fn all() -> Result<Vec<Kernel>, Error> {
    let mut kernels = Vec::new();
    for joints in [64, 16, 32, 128, 256, 300] {
        kernels.push(Rig::new(joints, false)?.kernel("plain", Mixing::None, 1, SkinFormat::Matrix));
    }
    let rig = Rig::new(64, false)?;
    kernels.push(rig.kernel("half matrices", Mixing::None, 1, SkinFormat::HalfMatrix));
    kernels.push(rig.kernel("dual quaternions", Mixing::None, 1, SkinFormat::DualQuaternion));
    kernels.push(rig.kernel("blend of 2", Mixing::Blend, 2, SkinFormat::Matrix));
    kernels.push(rig.kernel("2 layers", Mixing::Any, 2, SkinFormat::Matrix));
    let compressed = Rig::compressed(64)?;
    kernels.push(compressed.kernel("compressed keys", Mixing::None, 1, SkinFormat::Matrix));
    kernels.push(compressed.kernel("compressed, blend of 2", Mixing::Blend, 2, SkinFormat::Matrix));
    let complete = Rig::new(64, true)?;
    kernels.push(complete.kernel("all features", Mixing::None, 1, SkinFormat::Matrix));
    kernels.push(complete.kernel("all features, 2 layers", Mixing::Any, 2, SkinFormat::Matrix));
    let serial = KernelText::pose(&rig.packed, rig.skeleton, KernelForm::Serial, Mixing::None, 1, SkinFormat::Matrix);
    kernels.push(Kernel { name: "plain, serial form, 64 joints".into(), text: serial, joints: 64, counted: false });
    for (name, form, rigid) in [
        ("goals, 64 joints", KernelForm::Parallel, true),
        ("goals of uneven scales, 64 joints", KernelForm::Parallel, false),
        ("goals, serial form, 64 joints", KernelForm::Serial, true),
    ] {
        let text = KernelText::goals(&rig.packed, rig.skeleton, form, rigid);
        kernels.push(Kernel { name: name.into(), text, joints: 64, counted: false });
    }
    for text in KernelText::others(&complete.packed) {
        let entry_point = text.entry_point.replace('_', " ");
        // The events of synchronised layers come after those of others.
        let is_second = kernels.iter().any(|kernel| kernel.name == entry_point);
        let name = if is_second { format!("{entry_point}, synchronised layers") } else { entry_point };
        kernels.push(Kernel { name, text, joints: 0, counted: false });
    }
    Ok(kernels)
}

/// A rig, packed.
struct Rig {
    packed: PackedLibrary,
    skeleton: SkeletonId,
    joints: usize,
    /// True if the library uses all features of kernels.
    complete: bool,
}

impl Rig {
    /// A rig of linear keys; if `complete`, in a library that uses all features of kernels.
    fn new(joints: usize, complete: bool) -> Result<Self, Error> {
        let mut library = Library::new();
        let skeleton = demo::add_rig(&mut library, joints, KEYS, LEVELS)?;
        if complete {
            add_features(&mut library)?;
        }
        Ok(Self { packed: PackedLibrary::new(&library)?, skeleton, joints, complete })
    }

    /// A rig of compressed keys.
    fn compressed(joints: usize) -> Result<Self, Error> {
        let mut library = Library::new();
        let skeleton = demo::add_rig(&mut library, joints, KEYS, LEVELS)?;
        let bound = ErrorBound { error: Length::Share(1e-4), ..ErrorBound::default() };
        Ok(Self { packed: CompressedLibrary::new(&library, bound)?.pack()?, skeleton, joints, complete: false })
    }

    /// A kernel in the form for hardware.
    fn kernel(&self, name: &str, mixing: Mixing, layers: u32, skin_format: SkinFormat) -> Kernel {
        let text = KernelText::pose(&self.packed, self.skeleton, KernelForm::Parallel, mixing, layers, skin_format);
        let counted =
            mixing == Mixing::None && self.joints <= 64 && skin_format == SkinFormat::Matrix && !self.complete;
        Kernel { name: format!("{name}, {} joints", self.joints), text, joints: self.joints as u32, counted }
    }
}

/// Adds a clip of steps, of single numbers and with root motion, of a skeleton with a matrix.
fn add_features(library: &mut Library) -> Result<(), Error> {
    let matrix = Some(posse::glam::DAffine3::IDENTITY);
    let joints = vec![Joint::default(), Joint { matrix, ..Joint::default() }];
    let skeleton = library.add_skeleton(Skeleton::new(None, joints, Vec::new())?);
    let timeline = Arc::new(Timeline::new(vec![0.0, 1.0])?);
    let curve = Curve::new(timeline, Interpolation::Step, 1, vec![0.0, 1.0])?;
    let track = Track { component: Some(1), ..Track::new(Target::Translation(0), curve) };
    let root = RootMotion { joint: 0, translation: [true; 3], rotation: RootRotation::None };
    library.add_clip(Clip { root_motion: Some(root), ..Clip::new(None, skeleton, vec![track]) })?;
    Ok(())
}
