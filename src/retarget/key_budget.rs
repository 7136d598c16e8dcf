//! A limit to the keys of sampled tracks.

use crate::error::Error;
use crate::model::Clip;

/// The keys that sampled tracks may still get, all together.
///
/// Few keys can become many: below a joint that turns far and has no partner, each interval becomes hundreds of keys in each track. The
/// limit is 8 keys per key of the clips and 2^22 more, so that memory stays in proportion to the input.
#[derive(Debug, Clone)]
pub(crate) struct KeyBudget {
    left: usize,
    allowed: usize,
}

/// Keys of sampled tracks per key of the clips.
const GROWTH: usize = 8;
/// The keys that sampled tracks may have in any case.
const ALLOWANCE: usize = 1 << 22;

impl KeyBudget {
    /// A budget that no clip has raised yet.
    pub fn new() -> Self {
        Self::of(ALLOWANCE)
    }

    /// A budget of this number of keys.
    pub fn of(keys: usize) -> Self {
        Self { left: keys, allowed: keys }
    }

    /// Raises the limit by a clip that is sampled.
    pub fn add_clip(&mut self, clip: &Clip) {
        let keys: usize = clip.tracks.iter().map(|track| track.curve.timeline().len()).sum();
        let more = keys.saturating_mul(GROWTH);
        self.left = self.left.saturating_add(more);
        self.allowed = self.allowed.saturating_add(more);
    }

    /// Takes keys from the budget. To be called before they are made.
    ///
    /// # Errors
    /// [`Error::Usage`] if too few are left.
    pub fn charge(&mut self, keys: usize) -> Result<(), Error> {
        let Some(left) = self.left.checked_sub(keys) else {
            return Err(Error::Usage(format!(
                "the sampled tracks need more than {} keys, {GROWTH} per key of the clips and {ALLOWANCE} more; take fewer or \
                 shorter clips at once, or a larger error bound",
                self.allowed
            )));
        };
        self.left = left;
        Ok(())
    }
}
