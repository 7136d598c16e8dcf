//! The format vrma: a VRM animation, a glTF file of the bones of a human in T-pose, and of the expressions of its face.

use std::collections::BTreeSet;

use posse::bake::{ArrayKind, ArrayLayout, ArrayRequest};
use posse::export::gltf::VrmAnimation;
use posse::{Error, Library, Transform};

use crate::bake::facts::Facts;
use crate::bake::format::glb::{FrameMotion, Frames, write};
use crate::bake::format::{ClipHead, ClipWriter, OutputSpace, each_pose, in_space};
use crate::bake::spool::Spool;
use crate::draft::Draft;

/// Begins the file of a clip. Its arrays are the local translations, rotations and scales of all joints, and the morph
/// weights.
pub fn begin<'a>(head: ClipHead<'a>, draft: Draft) -> Result<Box<dyn ClipWriter + 'a>, Error> {
    // A skeleton that is no human is refused before its clip is posed.
    VrmAnimation::new(head.library, head.skeleton)?;
    let spool = Spool::new(head.layout, draft.folder());
    Ok(Box::new(VrmaWriter { head, draft, spool }))
}

/// A writer of one clip.
struct VrmaWriter<'a> {
    head: ClipHead<'a>,
    draft: Draft,
    spool: Spool,
}

impl ClipWriter for VrmaWriter<'_> {
    fn append(&mut self, times: &[f64], arrays: &[Vec<f32>]) -> Result<(), Error> {
        self.spool.append(times, arrays)
    }

    fn finish(self: Box<Self>, facts: &Facts) -> Result<Option<Draft>, Error> {
        let Self { head, mut draft, mut spool } = *self;
        let space = OutputSpace::new(facts);
        let (library, skeleton) = in_space(&head, space)?;
        // The translation of these joints is a weight, and no length.
        let drivers: BTreeSet<usize> =
            library.skeleton(skeleton).expressions().iter().filter_map(|expression| expression.driver).collect();
        let mut animation = VrmAnimation::new(&library, skeleton)?;
        let mut bones = Library::new();
        let bone_skeleton = bones.add_skeleton(animation.skeleton().clone());
        let joints = Vec::from_iter(0..animation.skeleton().joints().len());
        let kinds = vec![ArrayKind::LocalPos, ArrayKind::LocalQuat, ArrayKind::LocalScale];
        let request = ArrayRequest { kinds, ..ArrayRequest::of_joints(&joints) };
        let layout = ArrayLayout::new(&bones, bone_skeleton, &joints, &request)?;
        let (mut bone_spool, mut motion) = (Spool::new(&layout, draft.folder()), FrameMotion::new(&layout));
        let (mut local, mut pose) = (Vec::new(), Vec::new());
        each_pose(&head, library.skeleton(skeleton), &mut spool, |time, in_space, morphs| {
            local.clear();
            local.extend_from_slice(in_space);
            drivers.iter().for_each(|&driver| local[driver].translation /= space.scale());
            animation.pose(&local, morphs, &mut pose);
            let arrays = arrays(&pose);
            motion.append(&[time], &arrays).map_err(|reason| Error::Usage(format!("{}: {reason}", head.name)))?;
            bone_spool.append(&[time], &arrays)
        })?;
        animation.notes().iter().for_each(|note| head.progress.note_of_first(head.name, note));
        let (library, skeleton, nodes) = (&bones, bone_skeleton, animation.nodes());
        let head = ClipHead { library, skeleton, nodes: &nodes, layout: &layout, listed: None, ..head };
        // The file has expressions in place of morph weights.
        let facts = Facts { weight_names: Vec::new(), ..facts.clone() };
        write(&head, &mut draft, Frames { spool: &mut bone_spool, motion: &motion, is_vrm: true }, &facts)?;
        Ok(Some(draft))
    }
}

/// The arrays of one frame: translations, rotations and scales.
fn arrays(pose: &[Transform]) -> [Vec<f32>; 3] {
    let numbers = |of: &dyn Fn(&Transform) -> Vec<f32>| pose.iter().flat_map(of).collect::<Vec<f32>>();
    [
        numbers(&|transform| transform.translation.as_vec3().to_array().to_vec()),
        numbers(&|transform| transform.rotation.as_quat().to_array().to_vec()),
        numbers(&|transform| transform.scale.as_vec3().to_array().to_vec()),
    ]
}
