//! The share of the contract that answers of the GPU use, by module of tests; and answers that are altered, so that
//! tests fail.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::page;
use crate::posse::contract::Report;
use crate::posse::events::EventList;
use crate::posse::{Poses, SkinFormat, Ticks};

#[derive(Default)]
struct Figures {
    /// The module of the test that runs.
    module: String,
    /// The last poses that the GPU engine gave.
    last: Poses,
    modules: BTreeMap<String, Module>,
}

/// The figures of a module of tests.
#[derive(Default)]
struct Module {
    answers: usize,
    poses: usize,
    events: usize,
    /// Comparisons within the contract, and their worst shares.
    within: usize,
    worst: Report,
    /// The worst shares of skin matrices in packed formats, whose errors come mostly from the format.
    packed_skin: BTreeMap<&'static str, f64>,
    /// Comparisons beyond the contract: cases that a test makes wrong on purpose, or holds to bounds of its own.
    beyond: usize,
}

thread_local! {
    static FIGURES: RefCell<Figures> = RefCell::default();
}

/// Notes that a test begins.
pub fn begin(test: &str) {
    let module = test.rsplit_once("::").map_or(test, |(module, _)| module);
    FIGURES.with_borrow_mut(|figures| figures.module = module.to_owned());
}

fn with_module(note: impl FnOnce(&mut Module)) {
    FIGURES.with_borrow_mut(|Figures { module, modules, .. }| note(modules.entry(module.clone()).or_default()));
}

/// The change of each answer, in metres and in ticks; 0 unless the page sets `ALTER`.
fn alteration() -> f64 {
    page::variable("ALTER").ok().and_then(|alter| alter.parse().ok()).unwrap_or(0.0)
}

/// Notes poses that the GPU engine gave.
pub fn note_poses(poses: &mut Poses) {
    let alteration = alteration();
    for pose in &mut poses.instances {
        let locals = pose.local.first_mut().into_iter().map(|local| &mut local.translation.x);
        let models = pose.model.last_mut().into_iter().map(|model| &mut model.translation.x);
        let motions = pose.root_motion.iter_mut().map(|motion| &mut motion.translation.x);
        let skins = pose.skins.iter_mut().flatten().map(|skin| &mut skin.translation.x);
        let numbers = pose.weights.iter_mut().chain(&mut pose.properties);
        locals.chain(models).chain(motions).chain(skins).chain(numbers).for_each(|number| *number += alteration);
    }
    with_module(|module| {
        module.answers += 1;
        module.poses += poses.instances.len();
    });
    FIGURES.with_borrow_mut(|figures| figures.last = poses.clone());
}

/// Notes events that the GPU engine gave.
pub fn note_events(list: &mut EventList) {
    if alteration() != 0.0 {
        list.events.iter_mut().for_each(|found| found.tick = Ticks(found.tick.0 + 2));
    }
    with_module(|module| {
        module.answers += 1;
        module.events += list.events.len();
    });
}

/// Notes a comparison, if it is of the last poses that the GPU engine gave.
pub fn note_report(format: SkinFormat, actual: &Poses, report: &Report) {
    if FIGURES.with_borrow(|figures| figures.last == *actual) {
        with_module(|module| {
            if report.is_within() {
                module.within += 1;
                let mut report = *report;
                if let (Some(name), Some(skin)) = (packed_skin(format), report.skin) {
                    let worst = module.packed_skin.entry(name).or_default();
                    *worst = worst.max(skin.share());
                    report.skin = None;
                }
                module.worst.merge(&report);
            } else {
                module.beyond += 1;
            }
        });
    }
}

/// The name of the skin matrices of a packed format; `None` for full matrices.
fn packed_skin(format: SkinFormat) -> Option<&'static str> {
    match format {
        SkinFormat::HalfMatrix => Some("skin of halves"),
        SkinFormat::DualQuaternion => Some("skin of dual quaternions"),
        _ => None,
    }
}

/// The figures by module, as JSON.
#[wasm_bindgen]
pub fn figures() -> String {
    let figures = |module: &Module| {
        let worst = module.worst.quantities().into_iter();
        let worst = worst.filter_map(|(name, worst)| Some((name.to_owned(), json!(worst?.share()))));
        let packed = module.packed_skin.iter().map(|(name, share)| (name.to_string(), json!(share)));
        let worst: serde_json::Map<String, Value> = worst.chain(packed).collect();
        let Module { answers, poses, events, within, beyond, .. } = module;
        json!({ "answers": answers, "poses": poses, "events": events, "within": within, "beyond": beyond, "worst": worst })
    };
    FIGURES.with_borrow(|all| {
        let modules = all.modules.iter().map(|(name, module)| (name.clone(), figures(module)));
        Value::Object(modules.collect()).to_string()
    })
}
