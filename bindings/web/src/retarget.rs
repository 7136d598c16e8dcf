//! Retargeting: the clips of a library on the skeleton and meshes of another one.

use std::path::Path;
use std::rc::Rc;

use posse::curves::{Target, Track};
use posse::retarget::{Facing, JointMap, RetargetOptions};
use posse::root_motion::{RootMotion, RootRotation};
use posse::{Clip, ClipId, SkeletonId};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::js::{Result, object, options};
use crate::library::Library;
use crate::names::ClipChoice;
use crate::source::Source;

/// The choices of a retargeting: `RetargetOptions` of `posse.d.ts`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct Choices {
    clips: Option<Vec<ClipChoice>>,
    /// The content of a map file.
    map: Option<serde_json::Value>,
    align: Option<String>,
    facing: Option<FacingChoice>,
    source_up: Option<String>,
    ground: Option<String>,
    translations: Option<String>,
    /// The distance over the ground beyond which clips stay in place; `None` for no clip.
    in_place: Option<f64>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected auto, keep or a number of degrees")]
enum FacingChoice {
    Degrees(f64),
    Word(String),
}

impl Choices {
    fn options(&self) -> Result<RetargetOptions> {
        let mut options = RetargetOptions::default();
        if let Some(text) = &self.align {
            options.align = value("align", RetargetOptions::parse_align(text))?;
        }
        match &self.facing {
            None => {}
            Some(FacingChoice::Degrees(degrees)) => options.facing = Facing::Degrees(*degrees),
            Some(FacingChoice::Word(text)) => options.facing = value("facing", text.parse())?,
        }
        if let Some(text) = &self.source_up {
            options.source_up = value("sourceUp", RetargetOptions::parse_source_up(text))?;
        }
        if let Some(text) = &self.ground {
            options.ground = value("ground", text.parse())?;
        }
        if let Some(text) = &self.translations {
            options.translations = value("translations", text.parse())?;
        }
        Ok(options)
    }
}

/// The value of an option, or an error with its name.
fn value<T>(option: &str, parsed: std::result::Result<T, String>) -> Result<T> {
    parsed.map_err(|reason| JsError::new(&format!("options.{option}: {reason}")))
}

#[wasm_bindgen]
impl Library {
    /// The clips of this library on the first skeleton of another one, with its meshes.
    pub fn retarget(&self, onto: &Library, retarget_options: JsValue) -> Result<Library> {
        let choices: Choices = options("options", &retarget_options)?;
        if let Some(distance) = choices.in_place.filter(|&distance| distance < 0.0) {
            return Err(JsError::new(&format!("options.inPlace: found {distance}, expected a distance of 0 or more")));
        }
        let (source, target) = (self.shared.source(), onto.shared.source());
        Ok(Self::new(retargeted(&source, &target, &choices)?, onto.shared.is_demo))
    }

    /// The report of the retargeting that made the clips; `undefined` for the library of a file.
    #[wasm_bindgen(getter)]
    pub fn retargeting(&self) -> Result<JsValue> {
        self.shared.source().retargeting.as_ref().map_or(Ok(JsValue::UNDEFINED), object)
    }
}

fn retargeted(source: &Source, target: &Source, choices: &Choices) -> Result<Source> {
    let mut library = source.library.clone();
    let clips = match &choices.clips {
        Some(clips) => clips.iter().map(|clip| clip.find(&library)).collect::<Result<_>>()?,
        None => library.clip_ids().collect::<Vec<_>>(),
    };
    let Some(from) = clips.first().map(|&clip| library.clip(clip).skeleton) else {
        return Err(JsError::new(&format!("{}: there are no clips to retarget", source.name)));
    };
    let Some(first) = target.library.skeleton_ids().next() else {
        return Err(JsError::new(&format!("{}: there is no skeleton", target.name)));
    };
    let onto = library.copy_skeleton(&target.library, first)?;
    let map = match &choices.map {
        Some(map) => {
            let json = serde_json::to_vec(map)?;
            JointMap::from_json(&library, from, onto, Path::new("options.map"), &json)?
        }
        None => JointMap::by_names(&library, from, onto)?,
    };
    if map.pairs.is_empty() {
        return Err(JsError::new(&format!(
            "{}: no joint has a partner in {}; a map names pairs of joints",
            source.name, target.name
        )));
    }
    let retargeting = library.retarget(&clips, &map, &choices.options()?)?;
    let report = retargeting.named(&library);
    let mut made = posse::Library::new();
    let skeleton: SkeletonId = made.copy_skeleton(&library, onto)?;
    let mut left_out = Vec::new();
    for clip in &retargeting.clips {
        let id = made.add_clip(Clip { skeleton, ..library.clip(clip.clip).clone() })?;
        left_out.extend(Some(id).filter(|_| source.left_out.binary_search(&clip.source).is_ok()));
        let is_root = |pair: &&posse::retarget::JointPair| Some(pair.source) == retargeting.map.root;
        if let (Some(distance), Some(root)) = (choices.in_place, retargeting.map.pairs.iter().find(is_root)) {
            keep_in_place(&mut made, id, root.target, distance)?;
        }
    }
    Ok(Source {
        left_out,
        nodes: vec![target.nodes[first.index()].clone()],
        figures: Rc::new(target.figures.iter().filter(|figure| figure.skeleton == first).cloned().collect()),
        retargeting: Some(report),
        ..Source::new(&source.name, made, source.warnings.clone())
    })
}

/// Leaves the movement over the ground out of a clip, if its root moves by more than a distance.
fn keep_in_place(library: &mut posse::Library, clip: ClipId, root: usize, distance: f64) -> Result<()> {
    let found = library.clip(clip);
    let is_of_root = |track: &&Track| track.target == Target::Translation(root) && track.component.is_none();
    let Some(track) = found.tracks.iter().find(is_of_root) else { return Ok(()) };
    // Without two horizontal axes, the movement stays in the pose.
    let Ok(on_ground) = RootMotion::on_ground(library.skeleton(found.skeleton), root) else { return Ok(()) };
    let range = |axis: usize| {
        let places = (0..track.curve.timeline().len()).filter_map(|key| track.curve.value(key).get(axis));
        let [low, high] =
            places.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &at| [low.min(at), high.max(at)]);
        high - low
    };
    let axes = (0..3).filter(|&axis| on_ground.translation[axis]);
    if axes.map(range).fold(0.0, f64::max) > distance {
        library.set_root_motion(clip, Some(RootMotion { rotation: RootRotation::None, ..on_ground }))?;
    }
    Ok(())
}
