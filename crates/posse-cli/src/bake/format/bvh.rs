//! The format bvh: a BVH file, whose zero pose is the rest pose.

use std::io::Write;

use posse::Error;
use posse::export::bvh::{Options, RotationOrder, Writer};

use crate::bake::facts::Facts;
use crate::bake::format::{ClipHead, ClipWriter, OutputSpace, each_pose, in_space};
use crate::bake::spool::Spool;
use crate::draft::Draft;

/// Begins the file of a clip. Its arrays are the local translations, rotations and scales of all joints.
pub fn begin<'a>(head: ClipHead<'a>, draft: Draft, order: RotationOrder) -> Box<dyn ClipWriter + 'a> {
    let spool = Spool::new(head.layout, draft.folder());
    Box::new(BvhWriter { head, draft, spool, order })
}

/// A writer of one clip. The channels of a joint follow from all of its frames, so that frames wait until all of them
/// are there.
struct BvhWriter<'a> {
    head: ClipHead<'a>,
    draft: Draft,
    spool: Spool,
    order: RotationOrder,
}

impl ClipWriter for BvhWriter<'_> {
    fn append(&mut self, times: &[f64], arrays: &[Vec<f32>]) -> Result<(), Error> {
        self.spool.append(times, arrays)
    }

    fn finish(self: Box<Self>, facts: &Facts) -> Result<Option<Draft>, Error> {
        let Self { head, mut draft, mut spool, order } = *self;
        let (library, skeleton) = in_space(&head, OutputSpace::new(facts))?;
        let options = Options { order, joints: head.listed.map(<[usize]>::to_vec) };
        let mut writer = Writer::new(&library, skeleton, &options)?;
        let skeleton = library.skeleton(skeleton);
        each_pose(&head, skeleton, &mut spool, |_, local, _| writer.survey(local))?;
        writer.notes().iter().for_each(|note| head.progress.note_of_first(head.name, note));
        let mut text = writer.head(spool.frames(), facts.fps);
        each_pose(&head, skeleton, &mut spool, |_, local, _| {
            writer.row(local, &mut text);
            draft.write_all(text.as_bytes()).map_err(|error| draft.error(error))?;
            text.clear();
            Ok(())
        })?;
        // Without frames.
        draft.write_all(text.as_bytes()).map_err(|error| draft.error(error))?;
        Ok(Some(draft))
    }
}
