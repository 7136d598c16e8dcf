//! Root motion: the root joints that a page gives to clips, and the movements of instances in a step.

use js_sys::{Float32Array, Object};
use posse::glam::{DAffine3, DQuat, DVec3};
use posse::root_motion::{Motion, RootMotion, RootRotation};
use posse::{Crowd, Skeleton};
use wasm_bindgen::prelude::*;

use crate::fields::{Fields, text};
use crate::js::{self, Result};
use crate::library::Library;
use crate::names;

/// The numbers of a movement in the outputs: translation, 1 or 0 for a clip with or without a root, rotation.
const NUMBERS: usize = 8;

/// The axes of a text of letters; `none` has none.
fn axes(text: &str) -> Result<[bool; 3]> {
    match text {
        "none" => Ok([false; 3]),
        letters if !letters.is_empty() && letters.chars().all(|letter| "xyz".contains(letter)) => {
            Ok(['x', 'y', 'z'].map(|axis| letters.contains(axis)))
        }
        _ => Err(JsError::new(&format!("root.translation: found {text:?}, expected letters of xyz, or none"))),
    }
}

/// The root joint of a clip: `RootOptions` of `types.d.ts`.
fn read_root(skeleton: &Skeleton, value: &JsValue) -> Result<RootMotion> {
    let fields = Fields::new("root".into(), value, &["joint", "translation", "rotation"])?;
    let joint = fields.required("joint", |place, value| names::joint(skeleton, place, value))?;
    let rotations = [RootRotation::Yaw, RootRotation::None, RootRotation::Full];
    let rotation = rotations[fields.choice("rotation", &["yaw", "none", "full"])?];
    Ok(match fields.read("translation", text)? {
        Some(letters) => RootMotion { joint, translation: axes(&letters)?, rotation },
        None => RootMotion { rotation, ..RootMotion::on_ground(skeleton, joint)? },
    })
}

#[wasm_bindgen]
impl Library {
    /// Gives a clip a root joint that moves its instances, or takes it away. Returns true if a track of the clip moves
    /// the joint.
    #[wasm_bindgen(js_name = setRootMotion)]
    pub fn set_root_motion(&self, clip: &JsValue, root: &JsValue) -> Result<bool> {
        self.shared.change(|source| {
            let library = &mut source.library;
            let clip = names::clip(library, "clip", clip)?;
            let skeleton = library.skeleton(library.clip(clip).skeleton);
            let root = if root.is_null() { None } else { Some(read_root(skeleton, root)?) };
            library.set_root_motion(clip, root)?;
            Ok(root.is_some_and(|root| root.is_moved_by(&library.clip(clip).tracks)))
        })
    }
}

/// The error for a crowd without the output.
pub fn missing() -> JsError {
    JsError::new("the crowd has no root motion; create it with { rootMotion: true }")
}

/// The movements of all instances of a crowd in a step: `RootMotions` of `types.d.ts`.
pub struct RootMotions {
    translations: Vec<f32>,
    rotations: Vec<f32>,
}

impl RootMotions {
    /// No movement of any instance.
    pub fn new(count: usize) -> Self {
        let rotations = std::iter::repeat_n([0.0, 0.0, 0.0, 1.0], count).flatten().collect();
        Self { translations: vec![0.0; 3 * count], rotations }
    }

    /// Sets the movements of the instances of a batch to the movements of its outputs, in the spaces of the instances.
    pub fn set_batch(&mut self, library: &posse::Library, crowd: &Crowd, instances: &[usize], numbers: &[f32]) {
        for (&instance, numbers) in instances.iter().zip(numbers.chunks_exact(NUMBERS)) {
            self.set(library, crowd, instance, numbers);
        }
    }

    fn set(&mut self, library: &posse::Library, crowd: &Crowd, instance: usize, numbers: &[f32]) {
        let &[x, y, z, moves, qx, qy, qz, qw] = numbers else {
            return;
        };
        let root = crowd.layers(instance).iter().find_map(|layer| library.clip(layer.clip).root_motion);
        let Some(root) = root.filter(|_| moves != 0.0) else {
            return;
        };
        let [x, y, z, qx, qy, qz, qw] = [x, y, z, qx, qy, qz, qw].map(f64::from);
        let motion = Motion { translation: DVec3::new(x, y, z), rotation: DQuat::from_xyzw(qx, qy, qz, qw) };
        let space: DAffine3 = root.space(library.skeleton(crowd.skeleton(instance)));
        let Motion { translation, rotation } = motion.in_space(&space);
        self.translations[3 * instance..][..3].copy_from_slice(&translation.as_vec3().to_array());
        self.rotations[4 * instance..][..4].copy_from_slice(&rotation.as_quat().to_array());
    }

    /// The object for JavaScript.
    pub fn object(&self) -> JsValue {
        let object = Object::new();
        js::set(&object, "translations", &Float32Array::from(&self.translations[..]));
        js::set(&object, "rotations", &Float32Array::from(&self.rotations[..]));
        object.into()
    }
}
