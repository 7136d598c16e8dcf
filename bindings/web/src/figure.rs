//! The figures of a library: its meshes, and the space that they take in motion.

use std::rc::Rc;

use posse::{Crowd, Layer, LayerTime, Ticks};
use posse_render::demo;
use posse_render::{Bounds, Figure, crowd_bounds};

use crate::js::Result;
use crate::source::Source;

/// The most clips whose poses are measured.
const MEASURED_CLIPS: usize = 12;
/// The poses per clip that are measured.
const MEASURED_POSES: usize = 6;

/// The figures of a library, one per skeleton, with their bounds.
#[derive(Clone)]
pub struct Drawn {
    pub figures: Rc<Vec<Figure>>,
    /// The bounds of each figure in the space of an instance, over its clips.
    pub bounds: Rc<Vec<Bounds>>,
    /// The length of a triangle's side of the built-in human, in metres.
    side: Option<f64>,
}

impl Drawn {
    /// The figures of a library. `side` is the length of a triangle's side of the built-in human; `None` for the
    /// figures of files. `known` are figures of the same library with another side, which have the same bounds.
    pub fn new(content: &Source, side: Option<f64>, known: Option<Self>) -> Result<Self> {
        let mut figures = content.figures.clone();
        for skeleton in content.library.skeleton_ids() {
            match side {
                Some(side) => Rc::make_mut(&mut figures).push(demo::figure(&content.library, skeleton, side)?),
                None if figures.iter().all(|figure| figure.skeleton != skeleton) => {
                    Rc::make_mut(&mut figures).push(Figure::empty(skeleton))
                }
                None => {}
            }
        }
        let bounds = match known {
            Some(known) => known.bounds,
            None => Rc::new(bounds(&content.library, &figures)?),
        };
        Ok(Self { figures, bounds, side })
    }

    /// The length of a triangle's side of the built-in human; `None` for the figures of files.
    pub fn side(&self) -> Option<f64> {
        self.side
    }

    /// True if any figure has meshes.
    pub fn has_meshes(&self) -> bool {
        self.figures.iter().any(|figure| !figure.meshes.is_empty())
    }
}

/// The length of a triangle's side of the built-in human. In large crowds, each figure is small in the picture. A
/// software renderer needs about a microsecond per triangle and pass.
pub fn side(count: usize, is_software: bool) -> f64 {
    match count {
        0..=16 => 0.025,
        17..=64 => 0.036,
        65..=2000 if !is_software => 0.036,
        501.. if is_software => 0.1,
        _ => 0.06,
    }
}

/// The bounds of figures over poses of all clips.
fn bounds(library: &posse::Library, figures: &[Figure]) -> Result<Vec<Bounds>> {
    let mut crowd = Crowd::new();
    for skeleton in library.skeleton_ids() {
        crowd.push(skeleton, &[])?;
    }
    for id in library.clip_ids().take(MEASURED_CLIPS) {
        let clip = library.clip(id);
        for pose in 0..MEASURED_POSES {
            let time = clip.duration() * pose as f64 / MEASURED_POSES as f64;
            crowd.push(clip.skeleton, &[Layer::new(id, LayerTime::At(time))])?;
        }
    }
    Ok(crowd_bounds(library, figures, &crowd, &[Ticks(0)])?)
}
