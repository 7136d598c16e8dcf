//! The library: skeletons, skins, clips, and for the GPU the meshes to draw.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Object;
#[cfg(not(feature = "gpu"))]
use posse::cpu::CpuEngine as Engine;
#[cfg(feature = "gpu")]
use posse::gpu::{GpuContext, GpuEngine as Engine, GpuLibrary};
use serde::Serialize;
use wasm_bindgen::prelude::*;

#[cfg(feature = "gpu")]
use crate::figure::{self, Drawn};
use crate::joints;
use crate::js::{self, Result, object, options};
use crate::source::{Files, Source};

/// Skeletons, skins and clips, and the meshes to draw.
#[wasm_bindgen]
pub struct Library {
    pub(crate) shared: Rc<SharedLibrary>,
}

/// A library that crowds and views share.
pub struct SharedLibrary {
    /// The content. Calls that await hold it, so that it is replaced rather than changed.
    source: RefCell<Rc<Source>>,
    /// The engine of the library, on the device that used it last.
    engine: RefCell<Option<Rc<Engine>>>,
    /// The figures with their bounds, once they have been drawn.
    #[cfg(feature = "gpu")]
    drawn: RefCell<Option<Drawn>>,
    /// True for the built-in human.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "its meshes are made when it is drawn"))]
    pub is_demo: bool,
}

#[derive(Serialize)]
struct ClipInfo {
    name: String,
    duration: f64,
    skeleton: usize,
    events: usize,
    #[serde(rename = "leftOut", skip_serializing_if = "std::ops::Not::not")]
    left_out: bool,
}

#[wasm_bindgen]
impl Library {
    /// The built-in human.
    pub fn demo() -> Result<Library> {
        Ok(Self::new(Source::demo()?, true))
    }

    /// Reads a file.
    pub fn load(name: &str, bytes: &JsValue, files: Option<Object>) -> Result<Library> {
        let bytes = js::bytes("bytes", bytes)?;
        Ok(Self::new(Source::read(name, &bytes, &beside(files)?)?, false))
    }

    /// Adds a Cocos clip that moves the nodes of the first skeleton. Returns the number of the clip.
    #[wasm_bindgen(js_name = addClip)]
    pub fn add_clip(&self, name: &str, bytes: &JsValue) -> Result<usize> {
        let bytes = js::bytes("bytes", bytes)?;
        self.shared.change(|source| source.add_cocos_clip(name, &bytes))
    }

    pub(crate) fn new(source: Source, is_demo: bool) -> Self {
        Self {
            shared: Rc::new(SharedLibrary {
                source: RefCell::new(Rc::new(source)),
                engine: RefCell::default(),
                #[cfg(feature = "gpu")]
                drawn: RefCell::default(),
                is_demo,
            }),
        }
    }

    /// The clips.
    #[wasm_bindgen(getter)]
    pub fn clips(&self) -> Result<JsValue> {
        let source = self.shared.source();
        let info = |(id, clip): (posse::ClipId, &posse::Clip)| ClipInfo {
            name: clip.name.clone().unwrap_or_else(|| id.index().to_string()),
            duration: clip.duration(),
            skeleton: clip.skeleton.index(),
            events: clip.events.len(),
            left_out: source.left_out.binary_search(&id).is_ok(),
        };
        object(&source.library.clip_ids().zip(source.library.clips()).map(info).collect::<Vec<_>>())
    }

    /// The number of skeletons.
    #[wasm_bindgen(getter)]
    pub fn skeletons(&self) -> usize {
        self.shared.source().library.skeletons().len()
    }

    /// True if the library has meshes to draw.
    #[cfg(feature = "gpu")]
    #[wasm_bindgen(getter, js_name = hasMeshes)]
    pub fn has_meshes(&self) -> bool {
        self.shared.is_demo || self.shared.source().figures.iter().any(|figure| !figure.meshes.is_empty())
    }

    /// The errors of the file that were repaired or passed over.
    #[wasm_bindgen(getter)]
    pub fn warnings(&self) -> Vec<String> {
        self.shared.source().warnings.clone()
    }

    /// The joints of a skeleton.
    pub fn joints(&self, skeleton: f64) -> Result<JsValue> {
        let source = self.shared.source();
        let skeleton = source.skeleton(skeleton)?;
        object(&joints::list(source.library.skeleton(skeleton), &source.nodes[skeleton.index()]))
    }

    /// The joint that a text selects.
    pub fn joint(&self, skeleton: f64, name: &str) -> Result<usize> {
        let source = self.shared.source();
        Ok(source.library.skeleton(source.skeleton(skeleton)?).select_joint(name)?)
    }

    /// Adds a mask and returns its number.
    pub fn mask(&self, skeleton: f64, weights: &JsValue, descendants: Option<bool>) -> Result<usize> {
        let weights: std::collections::BTreeMap<String, f64> = options("weights", weights)?;
        self.shared.change(|source| source.add_mask(skeleton, &weights, descendants.unwrap_or(true)))
    }
}

impl SharedLibrary {
    /// The content.
    pub fn source(&self) -> Rc<Source> {
        self.source.borrow().clone()
    }

    /// Changes a copy of the content, and keeps the copy if that succeeds. Crowds keep the library that they were made
    /// with.
    pub fn change<T>(&self, change: impl FnOnce(&mut Source) -> Result<T>) -> Result<T> {
        let mut source = (*self.source()).clone();
        let result = change(&mut source)?;
        self.source.replace(Rc::new(source));
        self.engine.replace(None);
        #[cfg(feature = "gpu")]
        self.drawn.replace(None);
        Ok(result)
    }
}

#[cfg(not(feature = "gpu"))]
impl SharedLibrary {
    /// The engine of the library, made when it is first needed.
    pub fn engine(&self) -> Result<Rc<Engine>> {
        if let Some(engine) = &*self.engine.borrow() {
            return Ok(engine.clone());
        }
        let engine = Rc::new(Engine::with_threads(&self.source().library, 1)?);
        self.engine.replace(Some(engine.clone()));
        Ok(engine)
    }
}

#[cfg(feature = "gpu")]
impl SharedLibrary {
    /// The figures for a crowd of `count` instances. Figures of files depend neither on the count nor on the device.
    pub fn drawn(&self, count: usize, is_software: bool) -> Result<Drawn> {
        let side = self.is_demo.then_some(figure::side(count, is_software));
        let known = self.drawn.borrow().clone();
        match known {
            Some(known) if known.side() == side => Ok(known),
            known => {
                let drawn = Drawn::new(&self.source(), side, known)?;
                self.drawn.replace(Some(drawn.clone()));
                Ok(drawn)
            }
        }
    }

    /// The library on a device. It is uploaded once per device.
    pub async fn engine(&self, context: &GpuContext) -> Result<Rc<Engine>> {
        let known = self.engine.borrow().clone();
        if let Some(engine) = known.filter(|engine| engine.gpu().device == context.device) {
            return Ok(engine);
        }
        let source = self.source();
        let library = GpuLibrary::new_async(context, &source.library).await?;
        let engine = Rc::new(Engine::with_library(context.clone(), library)?);
        // The content may have changed meanwhile.
        if Rc::ptr_eq(&source, &self.source()) {
            self.engine.replace(Some(engine.clone()));
        }
        Ok(engine)
    }
}

/// The bytes of the files of an object.
fn beside(files: Option<Object>) -> Result<Files> {
    let mut found = Files::new();
    for entry in files.iter().flat_map(|files| Object::entries(files).to_vec()) {
        let entry = js_sys::Array::from(&entry);
        let name = entry.get(0).as_string().unwrap_or_default();
        let bytes = js::bytes(&format!("files[{name:?}]"), &entry.get(1))?;
        found.insert(name, bytes);
    }
    Ok(found)
}
