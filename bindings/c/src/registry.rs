//! The objects that C has handles of.
//!
//! A handle is not an address: it is a key of two halves, the number of a slot and the generation of its object. A key of
//! a destroyed object, of an object of another kind, or a number that was never a key is therefore an error and not a
//! read of foreign memory. An object lives until it is destroyed and no call uses it any more.

use std::sync::{Arc, PoisonError, RwLock};

use crate::crowd::Crowd;
use crate::error::{Error, Outcome};
use crate::library::Library;
use crate::packed::Packed;
use crate::types::Status;

/// The bits of each half of a key.
const HALF: u32 = usize::BITS / 2;

/// An object with a handle.
#[derive(Clone)]
pub enum Object {
    Library(Arc<Library>),
    Crowd(Arc<Crowd>),
    Packed(Arc<Packed>),
}

/// A type of objects with handles.
pub trait Kind: Sized {
    /// The name in messages.
    const NAME: &'static str;

    /// The object, if it is of this type.
    fn of(object: &Object) -> Option<&Arc<Self>>;
}

impl Kind for Library {
    const NAME: &'static str = "library";

    fn of(object: &Object) -> Option<&Arc<Self>> {
        if let Object::Library(library) = object { Some(library) } else { None }
    }
}

impl Kind for Crowd {
    const NAME: &'static str = "crowd";

    fn of(object: &Object) -> Option<&Arc<Self>> {
        if let Object::Crowd(crowd) = object { Some(crowd) } else { None }
    }
}

impl Kind for Packed {
    const NAME: &'static str = "packed crowd";

    fn of(object: &Object) -> Option<&Arc<Self>> {
        if let Object::Packed(packed) = object { Some(packed) } else { None }
    }
}

/// A place for an object.
struct Slot {
    /// The number of objects that have had the place, from 1; never more than half a key holds.
    generation: usize,
    object: Option<Object>,
}

struct Slots {
    all: Vec<Slot>,
    free: Vec<usize>,
}

static SLOTS: RwLock<Slots> = RwLock::new(Slots { all: Vec::new(), free: Vec::new() });

/// Adds an object, and returns its key, which is not 0.
pub fn add(object: Object) -> Outcome<usize> {
    // Nothing below panics while the lists differ from each other, so that a poisoned lock is of no matter.
    let mut slots = SLOTS.write().unwrap_or_else(PoisonError::into_inner);
    let Slots { all, free } = &mut *slots;
    let index = free.pop().unwrap_or(all.len());
    if index >> HALF != 0 {
        return Err(Error::new(Status::Limit, format!("{} handles are in use; destroy some", all.len())));
    }
    if index == all.len() {
        all.push(Slot { generation: 0, object: None });
    }
    let Some(slot) = all.get_mut(index) else { return Err(Error::poisoned()) };
    slot.generation += 1;
    slot.object = Some(object);
    Ok((slot.generation << HALF) | index)
}

/// The object of a key.
pub fn get<T: Kind>(key: usize) -> Outcome<Arc<T>> {
    let slots = SLOTS.read().unwrap_or_else(PoisonError::into_inner);
    let (index, generation) = halves(key);
    let slot = slots.all.get(index).filter(|slot| slot.generation == generation);
    find::<T>(key, slot.and_then(|slot| slot.object.as_ref())).cloned()
}

/// Removes the object of a key.
pub fn remove<T: Kind>(key: usize) -> Outcome<()> {
    let (index, generation) = halves(key);
    let removed = {
        let mut slots = SLOTS.write().unwrap_or_else(PoisonError::into_inner);
        let Slots { all, free } = &mut *slots;
        let mut slot = all.get_mut(index).filter(|slot| slot.generation == generation);
        find::<T>(key, slot.as_ref().and_then(|slot| slot.object.as_ref()))?;
        // A slot without generations left stays empty for ever.
        if (generation + 1) >> HALF == 0 {
            free.push(index);
        }
        slot.as_mut().and_then(|slot| slot.object.take())
    };
    // Outside of the lock: it may take long.
    drop(removed);
    Ok(())
}

fn halves(key: usize) -> (usize, usize) {
    (key & ((1 << HALF) - 1), key >> HALF)
}

fn find<T: Kind>(key: usize, object: Option<&Object>) -> Outcome<&Arc<T>> {
    let expected = T::NAME;
    let text = match object {
        None if key == 0 => format!("the handle of a {expected} is null"),
        None => format!("the handle is of no {expected}: it was destroyed, or never made"),
        Some(object) => match T::of(object) {
            Some(found) => return Ok(found),
            None => format!("the handle is of another kind; expected a {expected}"),
        },
    };
    Err(Error::new(Status::Handle, text))
}
