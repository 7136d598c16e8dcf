//! Calls of crowds.

use std::ptr::without_provenance_mut;
use std::sync::Arc;

use posse::Step;

use super::entry;
use super::library::library;
use crate::crowd::Crowd;
use crate::error::{Error, Outcome};
use crate::numbers::numbered;
use crate::registry::{self, Object};
use crate::types::{
    CrowdHandle, CrowdInfo, CrowdOptions, EventList, Goal, Layer, Layout, LibraryHandle, Outputs, POSSE_MAX_GOALS,
    POSSE_MAX_LAYERS, Status, Ticks, Transition,
};

/// The crowd of a handle.
pub fn crowd(handle: *const CrowdHandle) -> Outcome<Arc<Crowd>> {
    registry::get(handle.addr())
}

fn step(from: Ticks, to: Ticks) -> Step {
    Step { from: posse::Ticks(from), to: posse::Ticks(to) }
}

/// Makes a crowd without instances. It keeps the library as it is now: what is added to the library later is not there
/// for its instances.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_crowd_create(
    library: *const LibraryHandle,
    options: *const CrowdOptions,
    crowd: *mut *mut CrowdHandle,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let (library, options) = (self::library(library)?, caller.read("options", options)?);
            caller.write_result("crowd", without_provenance_mut(0), crowd, || {
                let made = Crowd::new(library.snapshot()?, &options)?;
                let key = registry::add(Object::Crowd(Arc::new(made)))?;
                Ok(without_provenance_mut(key))
            })
        })
    }
}

/// Destroys a crowd. Null is no error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_crowd_destroy(crowd: *mut CrowdHandle) -> Status {
    // SAFETY: no memory of the caller is used.
    unsafe { entry(|_| if crowd.is_null() { Ok(()) } else { registry::remove::<Crowd>(crowd.addr()) }) }
}

/// Adds an instance of a skeleton, and gives its index. Without layers it stands in the rest pose.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_crowd_add(
    crowd: *mut CrowdHandle,
    skeleton: u32,
    layers: *const Layer,
    layer_count: u32,
    instance: *mut u32,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let crowd = self::crowd(crowd)?;
            let layers = caller.read_all("layers", layers, layer_count, POSSE_MAX_LAYERS)?;
            if !instance.is_null() {
                caller.write_one("instance", u32::MAX, instance)?;
            }
            let added = crowd.add(skeleton, &layers)?;
            if instance.is_null() { Ok(()) } else { caller.write_one("instance", added, instance) }
        })
    }
}

/// Replaces the layers of an instance. A transition ends; the parameters and goals of the instance stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_crowd_set_layers(
    crowd: *mut CrowdHandle,
    instance: u32,
    layers: *const Layer,
    layer_count: u32,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let crowd = self::crowd(crowd)?;
            crowd.set_layers(instance, &caller.read_all("layers", layers, layer_count, POSSE_MAX_LAYERS)?)
        })
    }
}

/// Fades an instance to another layer between two ticks: its layers that blend fade out smoothly, and the new one, which
/// must blend, fades in. Layers that override or add stay. Layers that have faded out at the start are dropped, so that an
/// instance that changes again and again has few. A transition ends. The leader of `into` is an index among the layers as
/// they were.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_crowd_cross_fade(
    crowd: *mut CrowdHandle,
    instance: u32,
    into: *const Layer,
    start: Ticks,
    end: Ticks,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe { entry(|caller| self::crowd(crowd)?.cross_fade(instance, &caller.read("into", into)?, step(start, end))) }
}

/// Replaces the goals of an instance, at most `POSSE_MAX_GOALS`. They act in order, after the layers and a transition, each
/// on the pose that the one before left.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_crowd_set_goals(
    crowd: *mut CrowdHandle,
    instance: u32,
    goals: *const Goal,
    goal_count: u32,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let crowd = self::crowd(crowd)?;
            crowd.set_goals(instance, &caller.read_all("goals", goals, goal_count, POSSE_MAX_GOALS)?)
        })
    }
}

/// Begins a transition of an instance to other layers at a tick, from the pose that it shows then, without a jump and
/// without playing the old layers on. It may interrupt a transition. `transition` can be null: inertialization with a
/// half-life of 0.1 s. At ticks before the start, the crowd shows the instance as at the start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_crowd_begin_transition(
    crowd: *mut CrowdHandle,
    instance: u32,
    layers: *const Layer,
    layer_count: u32,
    transition: *const Transition,
    start: Ticks,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let crowd = self::crowd(crowd)?;
            let layers = caller.read_all("layers", layers, layer_count, POSSE_MAX_LAYERS)?;
            let transition = caller.read_or_default("transition", transition)?;
            crowd.begin_transition(instance, &layers, &transition, start)
        })
    }
}

/// Sets the parameters of `instance_count` instances from `first_instance` on for the next frame: `count` values each,
/// instance after instance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_crowd_set_parameters(
    crowd: *mut CrowdHandle,
    first_instance: u32,
    instance_count: u32,
    values: *const f32,
    count: u32,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let (crowd, width) = (self::crowd(crowd)?, count as usize);
            // Before the values are read: a wrong count would need as much memory.
            crowd.check_parameters(first_instance, instance_count, width)?;
            let numbers = (instance_count as usize).saturating_mul(width);
            crowd.set_parameters(first_instance, instance_count, caller.slice("values", values, numbers)?, width)
        })
    }
}

/// Poses the instances of a chunk at the tick `to`, and writes their outputs to the memory of the caller. Root motion is
/// that from `from` to `to`. `POSSE_ALL_CHUNKS` poses all chunks, one after the other.
///
/// Threads can pose different chunks of a crowd at the same time. A frame without changes of layers allocates nothing
/// once each thread has posed a chunk. On an error, the content of the memory is not defined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_crowd_pose(
    crowd: *mut CrowdHandle,
    chunk: u32,
    from: Ticks,
    to: Ticks,
    outputs: *const Outputs,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let (crowd, outputs) = (self::crowd(crowd)?, caller.read("outputs", outputs)?);
            crowd.pose(chunk, step(from, to), numbered(outputs.format)?, &mut caller.targets(&outputs)?)
        })
    }
}

/// Writes the events that layers of a chunk reach after the tick `from`, up to the tick `to`, ordered by tick, to the
/// memory that `list` names, and sets the counts of the list. `POSSE_ALL_CHUNKS` means all instances.
///
/// Ask for the events of a step before its pose if a parameter is the time of a layer: a pose ends the step of parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_crowd_events(
    crowd: *mut CrowdHandle,
    chunk: u32,
    from: Ticks,
    to: Ticks,
    list: *mut EventList,
) -> Status {
    // SAFETY: the pointers are arguments of this call, or stand in their structs.
    unsafe {
        entry(|caller| {
            let (crowd, given) = (self::crowd(crowd)?, caller.read("list", list)?);
            let EventList { events, capacity, .. } = given;
            caller.write_struct("list", &EventList { count: 0, missed: 0, ..given }, list)?;
            if events.is_null() && capacity > 0 {
                return Err(Error::argument("list.events is null"));
            }
            let (found, missed) = crowd.events(chunk, step(from, to), capacity)?;
            caller.write("list.events", &found, events, capacity)?;
            caller.write_struct("list", &EventList { count: found.len(), missed, ..given }, list)
        })
    }
}

/// Writes the model matrix of a joint of one instance at a tick: three rows of four numbers. The poses of the crowd stay
/// as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_crowd_get_joint(
    crowd: *mut CrowdHandle,
    instance: u32,
    joint: u32,
    now: Ticks,
    matrix: *mut f32,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let numbers = self::crowd(crowd)?.joint(instance, joint, now)?;
            caller.write("matrix", &numbers, matrix, numbers.len())
        })
    }
}

/// Writes the size of a crowd.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_crowd_get_info(crowd: *const CrowdHandle, info: *mut CrowdInfo) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe { entry(|caller| caller.write_struct("info", &self::crowd(crowd)?.info()?, info)) }
}

/// Writes how many numbers an instance of a skeleton has in each output. `format` is a `posse_format`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posse_crowd_get_layout(
    crowd: *const CrowdHandle,
    skeleton: u32,
    format: u32,
    layout: *mut Layout,
) -> Status {
    // SAFETY: the pointers are arguments of this call.
    unsafe {
        entry(|caller| {
            let found = self::crowd(crowd)?.layout(skeleton, numbered(format)?)?;
            caller.write_struct("layout", &found, layout)
        })
    }
}
