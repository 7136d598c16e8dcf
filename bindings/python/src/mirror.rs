//! Mirror images of the clips of a collection.

use std::path::PathBuf;

use posse::retarget::MirrorMap;
use posse::{Clip, Error};

use crate::load::{Collection, LoadedClip};

impl Collection {
    /// The clips of this collection, and after them the mirror images of some, in the order of their indices. Each file
    /// is looked at as if it were alone. Also returns what looks wrong, with the file.
    ///
    /// # Errors
    /// The errors of [`posse::Library::mirror`].
    pub fn with_mirror_images(&self, wanted: &[usize], paths: &[PathBuf]) -> Result<(Self, Vec<String>), Error> {
        let mut is_wanted = vec![false; self.clips.len()];
        wanted.iter().for_each(|&index| is_wanted[index] = true);
        let mut of_files: Vec<Vec<usize>> = vec![Vec::new(); paths.len()];
        self.clips.iter().enumerate().for_each(|(index, entry)| of_files[entry.file].push(index));
        let mut images: Vec<Option<Clip>> = vec![None; self.clips.len()];
        let mut remarks: Vec<String> = Vec::new();
        for (path, of_file) in paths.iter().zip(&of_files) {
            if !of_file.iter().any(|&index| is_wanted[index]) {
                continue;
            }
            let in_file = |text: String| format!("{}: mirror image: {text}", path.display());
            let (mut library, skeleton, clips) = self.alone(of_file)?;
            let map = MirrorMap::new(&library, skeleton)?;
            let first = remarks.len();
            for (&index, clip) in of_file.iter().zip(clips).filter(|(index, _)| is_wanted[**index]) {
                let made = library.mirror(&[clip], &map).map_err(|error| Error::Usage(in_file(error.to_string())))?;
                let dropped = made.clips.iter().flat_map(|clip| &clip.dropped);
                let dropped = dropped.map(|track| map.describe_dropped(&library, track));
                let found = made.remarks.iter().map(|remark| map.describe(&library, remark)).chain(dropped);
                // Clips of a file have most remarks in common.
                let found: Vec<String> =
                    found.map(in_file).filter(|remark| !remarks[first..].contains(remark)).collect();
                remarks.extend(found);
                images[index] = made.clips.first().map(|made| library.clip(made.clip).clone());
            }
        }
        let mut made = self.clone();
        made.warnings.clear();
        for &index in wanted {
            let LoadedClip { clip, file, fps } = self.clips[index];
            let skeleton = self.library.clip(clip).skeleton;
            if let Some(image) = images[index].take() {
                let clip = made.library.add_clip(Clip { skeleton, ..image })?;
                made.clips.push(LoadedClip { clip, file, fps });
            }
        }
        Ok((made, remarks))
    }
}
