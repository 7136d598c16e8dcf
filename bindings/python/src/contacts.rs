//! Contacts of feet with the ground. A contact is a matter of a whole clip, so that the contacts of a clip are found
//! when they are first asked for, and kept.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posse::Error;
use posse::quality::{FootContacts, GroundLevel, MotionQuality, measured_fps};

use crate::keys::KeyStore;
use crate::load::Collection;
use crate::work;

/// The contacts of clips, by the index of the clip and the bits of the frame rate.
type Known = HashMap<(usize, u64), Arc<FootContacts>>;

/// The contacts of the clips of a library that were asked for.
#[derive(Debug, Default)]
pub struct ContactCache(Mutex<Known>);

impl ContactCache {
    /// The contacts of clips of a collection at frame rates, in their order. Contacts that are not known yet are found
    /// on up to this many threads; a file is read once for all of its clips.
    ///
    /// # Errors
    /// The errors of [`MotionQuality::of_clip`] and [`KeyStore::of_file`], and [`work::interrupted`].
    pub fn of_clips(
        &self,
        keys: &KeyStore,
        collection: &Collection,
        wanted: &[(usize, f64)],
        threads: usize,
        stop: &AtomicBool,
    ) -> Result<Vec<Arc<FootContacts>>, Error> {
        let mut unknown: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
        for &(clip, fps) in wanted.iter().filter(|(clip, fps)| self.find(*clip, *fps).is_none()) {
            unknown.entry(collection.clips[clip].file).or_default().push((clip, fps));
        }
        let files: Vec<_> = unknown.into_iter().collect();
        let of_clips = threads.div_ceil(files.len().max(1));
        let found = work::map(threads, files.len(), stop, |index| -> Result<(), Error> {
            let (file, ref clips) = files[index];
            let first = collection.clips.iter().position(|entry| entry.file == file).unwrap_or_default();
            let (with_keys, first) = keys.of_file(file, first, stop)?;
            let found = work::map(of_clips, clips.len(), stop, |index| -> Result<(), Error> {
                let (clip, fps) = clips[index];
                let (library, id) = (&with_keys.library, with_keys.clips[clip - first].clip);
                let (_, contacts) = MotionQuality::of_clip(library, id, measured_fps(fps), GroundLevel::Auto)?;
                self.lock().insert((clip, fps.to_bits()), Arc::new(contacts));
                Ok(())
            });
            found?.into_iter().collect()
        });
        found?.into_iter().collect::<Result<(), Error>>()?;
        // All of them are known now.
        Ok(wanted.iter().filter_map(|&(clip, fps)| self.find(clip, fps)).collect())
    }

    fn find(&self, clip: usize, fps: f64) -> Option<Arc<FootContacts>> {
        self.lock().get(&(clip, fps.to_bits())).cloned()
    }

    /// What another thread that panicked has left is whole.
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
