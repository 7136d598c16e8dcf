//! Who is drawn, where, and doing what.

pub mod cast;

use std::path::PathBuf;

use glam::{Affine3A, Vec3};
use posse::import::crowd::CrowdFile;
use posse::low_level::render::sunflower;
use posse::render::{Bounds, Figure, Placement, Stage, crowd_bounds, gltf};
use posse::{ClipId, Crowd, Error, Library, SkeletonId, Ticks, demo};

use crate::cli::crowd;
use crate::cli::output::note;
use crate::cli::source::Source;
use crate::cli::subject::cast::{Cast, Choice, clip_name};

/// What stands for the built-in rig in place of a file.
const DEMO: &str = "demo";
/// The longest loop where nobody says otherwise, in seconds.
const LONGEST: f64 = 12.0;
/// Instances that bounds are measured by, and poses of them all.
const MEASURED: usize = 20;
const MEASURED_POSES: usize = 80;
/// The largest crowd to each of whose members the camera is fitted; of a larger one, to the box around all.
const MOST_CORNERED: usize = 20_000;

/// Names who is drawn.
#[derive(Debug, clap::Args)]
pub struct SubjectArgs {
    /// A .glb or .gltf file, a Cocos clip (with --rig), or `demo` for the built-in rig.
    #[arg(required_unless_present = "crowd")]
    file: Option<PathBuf>,
    /// A crowd file in place of FILE: JSON that names glTF files, masks, and groups of instances with their layers.
    /// `posse eval --help` has an example and all its fields.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "rig", "clip", "instances"])]
    crowd: Option<PathBuf>,
    /// A .glb or .gltf file whose nodes the clip is to move, found by their names; those of its own by default.
    #[arg(long, value_name = "FILE")]
    rig: Option<PathBuf>,
    /// The clip, by name or by index; the first by default, and of `demo` all.
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Option<String>,
    /// How many instances, each ahead of the others by a part of the clip.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    instances: u32,
}

/// Who is drawn, where, and doing what.
pub struct Subject {
    pub library: Library,
    /// Who there is to choose from.
    pub cast: Cast,
    /// What was chosen.
    pub choice: Choice,
    /// What they look like.
    pub figures: Vec<Figure>,
    pub crowd: Crowd,
    /// Where each stands.
    pub placements: Vec<Placement>,
    /// How far each reaches, whenever: corners of boxes in the world; none of a very large crowd.
    pub corners: Vec<Vec3>,
    /// The ground they stand on.
    pub stage: Stage,
    /// Seconds after which all is as before, or nearly so.
    pub seconds: f64,
}

impl Subject {
    /// Reads the files, warnings going to stderr.
    pub fn load(args: &SubjectArgs) -> Result<Self, Error> {
        match (&args.crowd, &args.file) {
            (Some(path), _) => Self::of_crowd_file(path),
            (None, Some(file)) if file.as_os_str() == DEMO => Self::of_demo(args),
            (None, Some(_)) => Self::of_file(args),
            (None, None) => Err(Error::Usage("which file? Give one, or `demo`".into())),
        }
    }

    fn of_file(args: &SubjectArgs) -> Result<Self, Error> {
        let file = args.file.as_deref().unwrap_or("".as_ref());
        let source = Source::load(file, args.rig.as_deref())?;
        let Some(asset) = &source.asset else {
            let file = file.display();
            return Err(Error::Usage(format!("{file} is a Cocos clip, which has no nodes; give a glTF file as --rig")));
        };
        let (figure, warnings) = gltf::load(asset)?;
        for warning in warnings {
            note(&format!("warning: {}: {warning}", asset.file.display()));
        }
        let clip = choose(&source.library, &source.clips, args.clip.as_deref())?;
        if let (Some(clip), None, 2..) = (clip, &args.clip, source.clips.len()) {
            let names: Vec<_> = source.clips.iter().map(|&clip| clip_name(&source.library, clip)).collect();
            let chosen = names[clip];
            note(&format!("clip: {chosen}, of {}; --clip chooses another", names.join(", ")));
        }
        let choice = Choice { clip, ..Choice::new(args.instances as usize) };
        let cast = Cast::File { skeleton: source.skeleton, clips: source.clips };
        Self::new(source.library, vec![figure], cast, choice)
    }

    fn of_demo(args: &SubjectArgs) -> Result<Self, Error> {
        let library = demo::library()?;
        let clips: Vec<ClipId> = library.clip_ids().collect();
        let clip = match &args.clip {
            Some(_) => choose(&library, &clips, args.clip.as_deref())?,
            None => None,
        };
        let cast = Cast::Demo { skeleton: library.clip(clips[0]).skeleton, clips };
        Self::new(library, Vec::new(), cast, Choice { clip, ..Choice::new(args.instances as usize) })
    }

    fn of_crowd_file(path: &std::path::Path) -> Result<Self, Error> {
        let mut library = Library::new();
        let file = crowd::load(&mut library, path)?;
        let mut figures: Vec<Figure> = Vec::new();
        for posed in &file.files {
            if figures.iter().all(|figure| figure.skeleton != posed.asset.skeleton) {
                let (figure, warnings) = gltf::load(&posed.asset)?;
                for warning in warnings {
                    note(&format!("warning: {}: {warning}", posed.asset.file.display()));
                }
                figures.push(figure);
            }
        }
        let choice = Choice::new(file.len());
        Self::new(library, figures, Cast::CrowdFile(file), choice)
    }

    fn new(library: Library, figures: Vec<Figure>, cast: Cast, choice: Choice) -> Result<Self, Error> {
        let mut subject = Self {
            library,
            cast,
            choice: choice.clone(),
            figures,
            crowd: Crowd::new(),
            placements: Vec::new(),
            corners: Vec::new(),
            stage: Stage::new(Bounds::EMPTY, 1.0),
            seconds: 1.0,
        };
        subject.choose(choice)?;
        Ok(subject)
    }

    /// Has the cast do something else, and says whether anyone or anything stands elsewhere or looks different then. Where
    /// that fails, all is as before.
    pub fn choose(&mut self, choice: Choice) -> Result<bool, Error> {
        let Self { library, cast, .. } = self;
        let (crowd, seconds) = cast.crowd(library, &choice)?;
        let weights_only = Choice { weights: choice.weights.clone(), ..self.choice.clone() } == choice;
        if weights_only && crowd.len() == self.placements.len() {
            (self.choice, self.crowd) = (choice, crowd);
            return Ok(false);
        }
        let as_before = !self.figures.is_empty() && cast.side(&choice) == cast.side(&self.choice);
        let new_figures = if as_before { None } else { cast.figures(library, &choice)? };
        let figures = new_figures.as_ref().unwrap_or(&self.figures);
        let reach = reach(library, figures, &crowd, seconds)?;
        let bounds_of = |skeleton: SkeletonId| {
            let found = figures.iter().position(|figure| figure.skeleton == skeleton);
            found.map_or(Bounds::EMPTY, |figure| reach[figure]).with_volume_or(1.0)
        };
        let across = |bounds: &Bounds| {
            let [x, z] = [bounds.size().x, bounds.size().z];
            (0.5 * (x + z)).max(0.75 * x.max(z))
        };
        let room = reach.iter().map(across).fold(0.0, f32::max);
        let figure_size = reach.iter().map(|bounds| bounds.size().max_element()).fold(0.0, f32::max);
        let alone = crowd.len() == 1;
        let (mut placements, mut corners, mut all) = (Vec::with_capacity(crowd.len()), Vec::new(), Bounds::EMPTY);
        for (instance, spot) in sunflower(crowd.len(), room).enumerate() {
            let bounds = bounds_of(crowd.skeleton(instance));
            let middle = bounds.middle();
            let foot = Affine3A::from_translation(-Vec3::new(middle.x, bounds.low.y, middle.z));
            let transform = if alone { spot } else { spot * foot };
            for corner in bounds.corners() {
                let corner = transform.transform_point3(corner);
                all.add(corner);
                corners.extend((crowd.len() <= MOST_CORNERED).then_some(corner));
            }
            placements.push(Placement { transform, dyes: cast.dyes(instance) });
        }
        self.stage = Stage::new(all, figure_size);
        self.seconds = if seconds > 0.0 { seconds.min(LONGEST) } else { 1.0 };
        if let Some(figures) = new_figures {
            self.figures = figures;
        }
        (self.choice, self.crowd, self.placements, self.corners) = (choice, crowd, placements, corners);
        Ok(true)
    }

    /// Says so where there is nothing to be seen but the ground.
    pub fn warn_of_nothing(&self) {
        let is_seen = |figure: &Figure| {
            let joints = self.library.skeleton(figure.skeleton).joints();
            !figure.parts.is_empty() || joints.iter().any(|joint| joint.parent.is_some())
        };
        if self.crowd.is_empty() {
            note("warning: there is nothing to draw but the ground: the crowd has no instance");
        } else if !self.figures.iter().any(is_seen) {
            note("warning: there is nothing to draw but the ground: the file has neither a mesh nor a bone");
        }
    }

    /// A time on the crowd's clock.
    pub fn ticks(seconds: f64) -> Result<Ticks, Error> {
        CrowdFile::ticks(seconds)
            .ok_or_else(|| Error::Usage(format!("{seconds:e} s is beyond the crowd's clock; give a time nearer to 0")))
    }
}

/// How far each figure reaches: some of the instances, at times all over the loop.
fn reach(library: &Library, figures: &[Figure], crowd: &Crowd, seconds: f64) -> Result<Vec<Bounds>, Error> {
    let mut some = Crowd::new();
    let mut counts = vec![0; library.skeletons().len()];
    for instance in 0..crowd.len() {
        let skeleton = crowd.skeleton(instance);
        let count = &mut counts[skeleton.index()];
        if *count < MEASURED {
            *count += 1;
            some.push(skeleton, crowd.layers(instance))?;
        }
    }
    let moments = (MEASURED_POSES / some.len().max(1)).clamp(4, 40);
    let moments = (0..moments).map(|moment| Ticks::from_seconds(seconds * moment as f64 / moments as f64));
    crowd_bounds(library, figures, &some, &moments.collect::<Vec<_>>())
}

/// The place of a clip by its name, else by its index; the first where nobody says which.
fn choose(library: &Library, clips: &[ClipId], wanted: Option<&str>) -> Result<Option<usize>, Error> {
    let Some(wanted) = wanted else { return Ok((!clips.is_empty()).then_some(0)) };
    let by_name = clips.iter().position(|&clip| library.clip(clip).name.as_deref() == Some(wanted));
    let by_index = || wanted.parse().ok().filter(|&index: &usize| index < clips.len());
    by_name.or_else(by_index).map(Some).ok_or_else(|| {
        let list = clips.iter().enumerate().map(|(index, &clip)| format!("{index} {}", clip_name(library, clip)));
        let list: Vec<_> = list.collect();
        let list = if list.is_empty() { "none".into() } else { list.join(", ") };
        Error::Usage(format!("there is no clip {wanted:?}, but: {list}"))
    })
}
