//! Contacts of feet with the ground. A contact is a matter of a whole clip, so that those of a clip are found when they
//! are first asked for, and kept.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use posse::Error;
use posse::quality::{FootContacts, GroundLevel, MotionQuality, measured_fps};

use crate::load::Collection;
use crate::work;

/// The contacts of clips, by the index of the clip and the bits of the frame rate.
#[derive(Debug, Default)]
pub struct ContactCache(Mutex<HashMap<(usize, u64), Arc<FootContacts>>>);

impl ContactCache {
    /// The contacts of clips at frame rates, in their order. Those that are not known yet are found on up to this many
    /// threads.
    ///
    /// # Errors
    /// Those of [`MotionQuality::of_clip`], and [`work::interrupted`].
    pub fn of_clips(
        &self,
        collection: &Collection,
        wanted: &[(usize, f64)],
        threads: usize,
        stop: &AtomicBool,
    ) -> Result<Vec<Arc<FootContacts>>, Error> {
        let found = work::map(threads, wanted.len(), stop, |index| -> Result<_, Error> {
            let (clip, fps) = wanted[index];
            let key = (clip, fps.to_bits());
            // What another thread that panicked has left is whole.
            if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
                return Ok(Arc::clone(known));
            }
            let id = collection.clips[clip].clip;
            let (_, contacts) = MotionQuality::of_clip(&collection.library, id, measured_fps(fps), GroundLevel::Auto)?;
            let contacts = Arc::new(contacts);
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&contacts));
            Ok(contacts)
        });
        found?.into_iter().collect()
    }
}
