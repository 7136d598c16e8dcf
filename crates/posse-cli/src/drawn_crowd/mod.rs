//! A crowd that `posse render` and `posse view` draw: its library, its figures and the positions of its instances.

pub mod clocked_crowd;
pub mod crowd_source;

use std::path::{Path, PathBuf};

use glam::Vec3;
use posse::{ClipId, Crowd, Error, Library, Ticks, demo};
use posse_render::Arrangement;
use posse_render::{Bounds, Figure, Placement, Stage, crowd_bounds, gltf};

use crate::drawn_crowd::crowd_source::{CrowdSettings, CrowdSource, LoopedCrowd, clip_name};
use crate::output::note;
use crate::source::{Source, load_crowd_file};

/// The file name that selects the built-in rig.
const DEMO: &str = "demo";
/// The longest default duration of a loop in seconds.
const MAX_LOOP_SECONDS: f64 = 12.0;
/// The number of instances per skeleton that are posed to measure the bounds of the figures.
const MEASURED_INSTANCES: usize = 20;
/// The number of poses that are evaluated to measure the bounds of the figures.
const MEASURED_POSES: usize = 80;

/// The arguments that select a drawn crowd.
#[derive(Debug, clap::Args)]
pub struct DrawnCrowdArgs {
    /// A .glb, .gltf or .bvh file, a Cocos clip (with --rig), or `demo` for the built-in rig.
    #[arg(required_unless_present = "crowd")]
    file: Option<PathBuf>,
    /// A crowd file instead of FILE: JSON that names glTF files, masks, and groups of instances with their layers.
    /// `posse eval --help` has an example and all its fields.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "rig", "clip", "instances"])]
    crowd: Option<PathBuf>,
    /// A .glb, .gltf or .bvh file. The clip animates its nodes, matched by name. Default: the nodes of FILE.
    #[arg(long, value_name = "FILE")]
    rig: Option<PathBuf>,
    /// The clip, by name or by index. Default: the first clip; for `demo`, each instance plays one of all clips.
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Option<String>,
    /// The number of instances. Each plays at another time of the clip.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    instances: u32,
}

/// A crowd with everything that is needed to draw it.
pub struct DrawnCrowd {
    /// The library of all files.
    pub library: Library,
    /// The source of the instances.
    pub source: CrowdSource,
    /// The settings of the present crowd.
    pub settings: CrowdSettings,
    /// A figure per skeleton.
    pub figures: Vec<Figure>,
    /// The instances and their layers.
    pub crowd: Crowd,
    /// The position and the colours of each instance.
    pub placements: Vec<Placement>,
    /// The corners that the camera should show over the whole loop, in world space.
    pub corners: Vec<Vec3>,
    /// The ground and the bounds of the whole crowd.
    pub stage: Stage,
    /// The duration of the loop in seconds. Loops of crowd files are approximate.
    pub seconds: f64,
}

impl DrawnCrowd {
    /// Reads the files, and prints their warnings to stderr.
    pub fn load(args: &DrawnCrowdArgs) -> Result<Self, Error> {
        match (&args.crowd, &args.file) {
            (Some(path), _) => Self::load_crowd(path),
            (None, Some(file)) if file.as_os_str() == DEMO => Self::load_demo(args),
            (None, Some(file)) => Self::load_file(args, file),
            (None, None) => {
                Err(Error::Usage("no file was given; give a file, `demo`, or a crowd file with --crowd".into()))
            }
        }
    }

    fn load_file(args: &DrawnCrowdArgs, file: &Path) -> Result<Self, Error> {
        let source = Source::load(file, args.rig.as_deref())?;
        if !source.has_nodes() {
            let file = file.display();
            return Err(Error::Usage(format!(
                "{file} is a Cocos clip, which has no nodes; give a glTF or BVH file with --rig"
            )));
        }
        let Source { library, skeleton, clips, asset, .. } = source;
        // A BVH file has no meshes. Its bones are drawn.
        let figure = asset.as_ref().map_or_else(|| Ok(Figure::empty(skeleton)), load_figure)?;
        let clip = find_clip(&library, &clips, args.clip.as_deref())?;
        if let (Some(clip), None, 2..) = (clip, &args.clip, clips.len()) {
            let names: Vec<_> = clips.iter().map(|&clip| clip_name(&library, clip)).collect();
            let selected = names[clip];
            note(&format!("clip: {selected}, of {}; --clip selects another", names.join(", ")));
        }
        let settings = CrowdSettings { clip, ..CrowdSettings::new(args.instances as usize) };
        Self::new(library, vec![figure], CrowdSource::File { skeleton, clips }, settings)
    }

    fn load_demo(args: &DrawnCrowdArgs) -> Result<Self, Error> {
        let library = demo::library()?;
        let clips: Vec<ClipId> = library.clip_ids().collect();
        let clip = match &args.clip {
            Some(_) => find_clip(&library, &clips, args.clip.as_deref())?,
            None => None,
        };
        let settings = CrowdSettings { clip, ..CrowdSettings::new(args.instances as usize) };
        let source = CrowdSource::Demo { skeleton: library.clip(clips[0]).skeleton, clips };
        Self::new(library, Vec::new(), source, settings)
    }

    fn load_crowd(path: &Path) -> Result<Self, Error> {
        let mut library = Library::new();
        let file = load_crowd_file(&mut library, path)?;
        let mut figures: Vec<Figure> = Vec::new();
        for named in &file.files {
            if figures.iter().all(|figure| figure.skeleton != named.asset.skeleton) {
                figures.push(load_figure(&named.asset)?);
            }
        }
        let settings = CrowdSettings::new(file.len());
        Self::new(library, figures, CrowdSource::CrowdFile(file), settings)
    }

    fn new(
        library: Library,
        figures: Vec<Figure>,
        source: CrowdSource,
        settings: CrowdSettings,
    ) -> Result<Self, Error> {
        let mut drawn = Self {
            library,
            source,
            settings: settings.clone(),
            figures,
            crowd: Crowd::new(),
            placements: Vec::new(),
            corners: Vec::new(),
            stage: Stage::new(Bounds::EMPTY, 1.0),
            seconds: 1.0,
        };
        drawn.apply(settings)?;
        Ok(drawn)
    }

    /// Applies settings. Returns true if positions or figures have changed, false if only weights have. After an error, everything
    /// is as before.
    pub fn apply(&mut self, settings: CrowdSettings) -> Result<bool, Error> {
        let Self { library, source, .. } = self;
        let LoopedCrowd { crowd, seconds } = source.looped_crowd(library, &settings)?;
        let weights_only = CrowdSettings { weights: settings.weights.clone(), ..self.settings.clone() } == settings;
        if weights_only && crowd.len() == self.placements.len() {
            (self.settings, self.crowd) = (settings, crowd);
            return Ok(false);
        }
        let keeps_figures =
            !self.figures.is_empty() && source.triangle_side(&settings) == source.triangle_side(&self.settings);
        let new_figures = if keeps_figures { None } else { source.figures(library, &settings)? };
        let figures = new_figures.as_ref().unwrap_or(&self.figures);
        let bounds = figure_bounds(library, figures, &crowd, seconds)?;
        let Arrangement { placements, corners, stage } =
            Arrangement::new(&crowd, figures, &bounds, |instance| source.dyes(instance));
        self.stage = stage;
        self.seconds = if seconds > 0.0 { seconds.min(MAX_LOOP_SECONDS) } else { 1.0 };
        if let Some(figures) = new_figures {
            self.figures = figures;
        }
        (self.settings, self.crowd, self.placements, self.corners) = (settings, crowd, placements, corners);
        Ok(true)
    }

    /// Prints a warning if only the ground is visible.
    pub fn warn_if_empty(&self) {
        let is_visible = |figure: &Figure| {
            let joints = self.library.skeleton(figure.skeleton).joints();
            !figure.parts.is_empty() || joints.iter().any(|joint| joint.parent.is_some())
        };
        if self.crowd.is_empty() {
            note("warning: there is nothing to draw but the ground: the crowd has no instance");
        } else if !self.figures.iter().any(is_visible) {
            note("warning: there is nothing to draw but the ground: the file has neither a mesh nor a bone");
        }
    }
}

/// Reads the figure of a glTF file, and prints its warnings to stderr.
fn load_figure(asset: &posse::import::gltf::Asset) -> Result<Figure, Error> {
    let (figure, warnings) = gltf::load(asset)?;
    for warning in warnings {
        note(&format!("warning: {}: {warning}", asset.file.display()));
    }
    Ok(figure)
}

/// Measures the bounds of each figure over the loop, from a part of the instances.
fn figure_bounds(library: &Library, figures: &[Figure], crowd: &Crowd, seconds: f64) -> Result<Vec<Bounds>, Error> {
    let mut measured = Crowd::new();
    let mut counts = vec![0; library.skeletons().len()];
    for instance in 0..crowd.len() {
        let skeleton = crowd.skeleton(instance);
        let count = &mut counts[skeleton.index()];
        if *count < MEASURED_INSTANCES {
            *count += 1;
            measured.push_copy(crowd, instance);
        }
    }
    let count = (MEASURED_POSES / measured.len().max(1)).clamp(4, 40);
    let times = (0..count).map(|index| Ticks::from_seconds(seconds * index as f64 / count as f64));
    crowd_bounds(library, figures, &measured, &times.collect::<Vec<_>>())
}

/// Finds a clip by its name, otherwise by its index, and returns its index. `wanted: None` selects the first clip. Returns `None` if
/// there are no clips.
fn find_clip(library: &Library, clips: &[ClipId], wanted: Option<&str>) -> Result<Option<usize>, Error> {
    let Some(wanted) = wanted else { return Ok((!clips.is_empty()).then_some(0)) };
    let by_name = clips.iter().position(|&clip| library.clip(clip).name.as_deref() == Some(wanted));
    let by_index = || wanted.parse().ok().filter(|&index: &usize| index < clips.len());
    by_name.or_else(by_index).map(Some).ok_or_else(|| {
        let list = clips.iter().enumerate().map(|(index, &clip)| format!("{index} {}", clip_name(library, clip)));
        let list: Vec<_> = list.collect();
        let list = if list.is_empty() { "none".into() } else { list.join(", ") };
        Error::Usage(format!("there is no clip {wanted:?}; there are: {list}"))
    })
}
