//! A crowd that `posse render` and `posse view` draw: its library, its figures and the positions of its instances.

use std::path::{Path, PathBuf};

use glam::Vec3;
use posse::gpu::{GpuCrowd, GpuLibrary};
use posse::import::crowd::CrowdFile;
use posse::transitions::Transition;
use posse::{
    ClipId, Crowd, CrowdOptions, Error, Layer, LayerTime, Library, Mixing, Outputs, Playback, SkeletonId, Ticks, demo,
};
use posse_render::{Arrangement, Bounds, Figure, Placement, Stage, crowd_bounds, gltf, tint};

use crate::arguments::{BvhArgs, whole};
use crate::output::{note, warn_of_file};
use crate::source::{ReadOptions, SkeletonArgs, Source, is_demo, load_crowd_file};

/// The longest default duration of a loop in seconds.
const MAX_LOOP_SECONDS: f64 = 12.0;
/// The number of instances per skeleton that are posed to measure the bounds of the figures.
const MEASURED_INSTANCES: usize = 20;
/// The number of poses that are evaluated to measure the bounds of the figures.
const MEASURED_POSES: usize = 80;

/// The arguments that select a drawn crowd.
#[derive(Debug, clap::Args)]
pub struct DrawnCrowdArgs {
    /// A .glb, .gltf, .vrm, .vrma, .fbx or .bvh file, an .npz file of SMPL, a Cocos clip (with --rig), or `demo` for
    /// the built-in human.
    #[arg(required_unless_present = "crowd")]
    file: Option<PathBuf>,
    /// A crowd file instead of FILE: JSON that names glTF files, masks, and groups of instances with their layers.
    /// `posse eval --help` has an example and all its fields.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["file", "rig", "clip", "instances", "input_fps", "no_end_sites", "skeleton"]
    )]
    crowd: Option<PathBuf>,
    /// A .glb, .gltf, .vrm, .fbx or .bvh file. The clip animates its nodes, matched by name. Default: the nodes of
    /// FILE.
    #[arg(long, value_name = "FILE")]
    rig: Option<PathBuf>,
    /// The clip: NAME, NAME#K for the K-th of that name from 0, or #INDEX. Default: the first clip; for `demo`, each
    /// instance plays one of all clips.
    #[arg(long, value_name = "NAME|#INDEX")]
    clip: Option<String>,
    #[command(flatten)]
    bvh: BvhArgs,
    #[command(flatten)]
    skeleton: SkeletonArgs,
    /// The number of instances. Each plays at another time of the clip.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=1_000_000))]
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
            (None, Some(file)) if is_demo(file) => Self::load_demo(args),
            (None, Some(file)) => Self::load_file(args, file),
            (None, None) => {
                Err(Error::Usage("no file was given; give a file, `demo`, or a crowd file with --crowd".into()))
            }
        }
    }

    fn load_file(args: &DrawnCrowdArgs, file: &Path) -> Result<Self, Error> {
        let rest = args.skeleton.read(args.bvh)?;
        let options = ReadOptions { bvh: args.bvh, rest: rest.as_ref() };
        let source = Source::load(file, args.rig.as_deref(), options)?;
        if !source.has_nodes() {
            let file = file.display();
            return Err(Error::Usage(format!(
                "{file} is a Cocos clip, which has no nodes; give a glTF, FBX or BVH file with --rig"
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

    /// Applies settings. Returns `true` if positions or figures have changed, false if only weights have. After an
    /// error, everything is as before.
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
        let Arrangement { placements, corners, stage } = Arrangement::new(
            &crowd,
            figures,
            &bounds,
            |instance| source.scale(instance),
            |instance| source.dyes(instance),
        );
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
            let has_bones = || joints.iter().any(|joint| joint.parent.is_some());
            !figure.parts.is_empty() || (figure.meshes.is_empty() && has_bones())
        };
        if self.crowd.is_empty() {
            note("warning: there is nothing to draw but the ground: the crowd has no instance");
        } else if !self.figures.iter().any(is_visible) {
            note(match self.figures.iter().any(|figure| !figure.meshes.is_empty()) {
                true => "warning: there is nothing to draw but the ground: all meshes are hidden",
                false => "warning: there is nothing to draw but the ground: the file has neither a mesh nor a bone",
            });
        }
    }
}

/// Reads the figure of a glTF file, and prints its warnings to stderr.
fn load_figure(asset: &posse::import::gltf::Asset) -> Result<Figure, Error> {
    let (figure, warnings) = gltf::load(asset)?;
    warn_of_file(&asset.file, &warnings, &mut note)?;
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

/// The position of the clip that a text selects. `wanted: None` selects the first clip. Returns `None` if there are no
/// clips.
fn find_clip(library: &Library, clips: &[ClipId], wanted: Option<&str>) -> Result<Option<usize>, Error> {
    match wanted {
        Some(wanted) => library.clip_selector(clips).one(wanted).map(Some),
        None => Ok((!clips.is_empty()).then_some(0)),
    }
}

/// The duration in seconds of the loop that all clips of the built-in rig are fitted to.
const DEMO_SECONDS: f64 = 4.0;
/// The fractional part of the golden ratio: its multiples spread evenly over an interval.
const GOLDEN_RATIO: f64 = 0.618_033_988_749_895;

/// The source of the instances of a drawn crowd.
pub enum CrowdSource {
    /// A file. Its instances play its clips.
    File { skeleton: SkeletonId, clips: Vec<ClipId> },
    /// The built-in rig. Its clips are fitted to one loop.
    Demo { skeleton: SkeletonId, clips: Vec<ClipId> },
    /// A crowd file. Its instances have their own layers.
    CrowdFile(CrowdFile),
}

/// The size of a crowd, and the clips that it plays.
#[derive(Debug, Clone, PartialEq)]
pub struct CrowdSettings {
    /// The index of the clip of all instances; `None`: the clips of the source, or the rest pose if it has none.
    pub clip: Option<usize>,
    /// The index of a clip that plays on a second layer.
    pub second: Option<usize>,
    /// The factor of the weight of each layer, 0 or more. Layers beyond the end of the list have the factor 1.
    pub weights: Vec<f64>,
    /// The number of instances.
    pub instances: usize,
}

/// A crowd that repeats itself.
struct LoopedCrowd {
    crowd: Crowd,
    /// The duration of the loop in seconds. Loops of crowd files are approximate; a rest pose has the duration 0.
    seconds: f64,
}

impl CrowdSettings {
    /// Instances that play the clips of the source.
    pub fn new(instances: usize) -> Self {
        Self { clip: None, second: None, weights: Vec::new(), instances }
    }

    /// The factor of the weight of a layer.
    pub fn weight(&self, layer: usize) -> f64 {
        self.weights.get(layer).copied().unwrap_or(1.0)
    }
}

impl CrowdSource {
    /// The clips that the settings can select; none for a crowd file.
    #[cfg(feature = "view")]
    pub fn clips(&self) -> &[ClipId] {
        match self {
            Self::File { clips, .. } | Self::Demo { clips, .. } => clips,
            Self::CrowdFile(_) => &[],
        }
    }

    /// Creates the crowd of the settings.
    fn looped_crowd(&self, library: &Library, settings: &CrowdSettings) -> Result<LoopedCrowd, Error> {
        match self {
            Self::File { skeleton, clips } => {
                let selected = settings.clip.and_then(|clip| clips.get(clip).copied());
                let seconds = selected.map_or(0.0, |clip| library.clip(clip).duration());
                let crowd = create_crowd(*skeleton, settings, |_, index| {
                    let clip = clips[index.or(settings.clip)?];
                    Some(PlayedClip { clip, duration: library.clip(clip).duration(), rate: 1.0 })
                })?;
                Ok(LoopedCrowd { crowd, seconds })
            }
            Self::Demo { skeleton, clips } => {
                let crowd = create_crowd(*skeleton, settings, |instance, index| {
                    // Clip 1 is the walk: it is the clip of the first instance.
                    let own = (instance + 1) % clips.len();
                    let clip = clips[index.or(settings.clip).unwrap_or(own)];
                    let duration = library.clip(clip).duration();
                    // The rate nearest to 1 at which a whole number of passes fills the loop.
                    let passes = (DEMO_SECONDS / duration).round().max(1.0);
                    Some(PlayedClip { clip, duration, rate: duration * passes / DEMO_SECONDS })
                })?;
                Ok(LoopedCrowd { crowd, seconds: DEMO_SECONDS })
            }
            Self::CrowdFile(file) => repeat_crowd(library, file, settings),
        }
    }

    /// The length in metres of the sides of the triangles of the built-in rig; `None` for files. Large crowds have
    /// larger triangles: each figure is smaller in the picture, and the time of a software adapter grows with their
    /// number.
    fn triangle_side(&self, settings: &CrowdSettings) -> Option<f64> {
        match (self, settings.instances) {
            (Self::Demo { .. }, 0..=16) => Some(0.013),
            (Self::Demo { .. }, 17..=64) => Some(0.025),
            (Self::Demo { .. }, _) => Some(0.036),
            _ => None,
        }
    }

    /// The generated figures of the built-in rig; `None` for files.
    pub fn figures(&self, library: &Library, settings: &CrowdSettings) -> Result<Option<Vec<Figure>>, Error> {
        let (Self::Demo { skeleton, .. }, Some(side)) = (self, self.triangle_side(settings)) else { return Ok(None) };
        Ok(Some(vec![posse_render::demo::figure(library, *skeleton, side)?]))
    }

    /// The factor of the size of an instance. The instances of a crowd file are repeated.
    fn scale(&self, instance: usize) -> f32 {
        match self {
            Self::CrowdFile(file) if !file.is_empty() => file.scale(instance % file.len()) as f32,
            _ => 1.0,
        }
    }

    /// The colours of an instance.
    fn dyes(&self, instance: usize) -> [[f32; 3]; 5] {
        match self {
            Self::Demo { .. } => posse_render::demo::dyes(instance),
            _ => [tint(instance); 5],
        }
    }
}

/// A clip on a layer of an instance.
struct PlayedClip {
    clip: ClipId,
    /// Seconds.
    duration: f64,
    rate: f64,
}

/// Creates instances that loop clips, each at another time of its clip.
///
/// `clip` returns the clip of an instance. Its second argument is `None` on the first layer, and the index of the
/// second clip on the second.
fn create_crowd(
    skeleton: SkeletonId,
    settings: &CrowdSettings,
    clip: impl Fn(usize, Option<usize>) -> Option<PlayedClip>,
) -> Result<Crowd, Error> {
    let mut crowd = Crowd::new();
    for instance in 0..settings.instances {
        let layer = |number: usize, index: Option<usize>| {
            let PlayedClip { clip, duration, rate } = clip(instance, index)?;
            let offset = (instance as f64 * GOLDEN_RATIO).fract() * duration / rate.max(f64::MIN_POSITIVE);
            let time = LayerTime::Playing(Playback::looping(-offset, rate));
            Some(Layer { weight: settings.weight(number), ..Layer::new(clip, time) })
        };
        let second = settings.second.and_then(|second| layer(1, Some(second)));
        let layers: Vec<_> = layer(0, None).into_iter().chain(second).collect();
        crowd.push(skeleton, &layers)?;
    }
    Ok(crowd)
}

/// Repeats the instances of a crowd file until the crowd has the size of the settings. The loop has the duration of the
/// longest clip.
fn repeat_crowd(library: &Library, file: &CrowdFile, settings: &CrowdSettings) -> Result<LoopedCrowd, Error> {
    let original = file.crowd(library, 0..file.len())?;
    let mut crowd = Crowd::new();
    for instance in (0..original.len()).cycle().take(settings.instances) {
        let copy = crowd.push_copy(&original, instance);
        if settings.weights.iter().any(|&weight| weight != 1.0) {
            crowd.set(copy, original.skeleton(instance), &scaled(original.layers(instance), settings))?;
            let transition = original.transition(instance).map(|transition| scaled_transition(transition, settings));
            crowd.set_transition(library, copy, transition)?;
        }
    }
    let seconds = (0..original.len()).map(|instance| last_second(library, &original, instance)).fold(0.0, f64::max);
    Ok(LoopedCrowd { crowd, seconds })
}

/// Layers with the weights of the settings as factors.
fn scaled(layers: &[Layer], settings: &CrowdSettings) -> Vec<Layer> {
    let scaled = |(index, layer): (usize, &Layer)| Layer { weight: layer.weight * settings.weight(index), ..*layer };
    layers.iter().enumerate().map(scaled).collect()
}

/// A transition with the weights of the settings as factors of the layers that go out.
fn scaled_transition(transition: &Transition, settings: &CrowdSettings) -> Transition {
    let before = transition.before.as_ref().map(|before| Box::new(scaled_transition(before, settings)));
    Transition { from: scaled(&transition.from, settings), before, ..transition.clone() }
}

/// The length in seconds of the motion of an instance: its longest clip, or the end of its transition or of its
/// parameters if that is later.
fn last_second(library: &Library, crowd: &Crowd, instance: usize) -> f64 {
    let clips = crowd.all_layers(instance).map(|layer| library.clip(layer.clip).duration());
    let keys = crowd.parameters(instance).iter().flat_map(|parameter| parameter.keys().last()).map(|key| key[0]);
    let transition = crowd.transition(instance).map(|transition| transition.start.to_seconds() + transition.seconds());
    clips.chain(keys).chain(transition).fold(0.0, f64::max)
}

/// The name of a clip, or `unnamed`.
pub fn clip_name(library: &Library, clip: ClipId) -> &str {
    library.clip(clip).name.as_deref().unwrap_or("unnamed")
}

/// A crowd on a device that follows the crowd clock: the values of its parameters, and the layers before and after the
/// start of each transition.
pub struct ClockedCrowd {
    pub on_gpu: GpuCrowd,
    /// The starts of all transitions, in order.
    starts: Vec<Ticks>,
    /// The number of starts that have passed for the layers on the device.
    passed: usize,
    /// The values of the parameters on the device.
    values: Vec<f32>,
}

impl ClockedCrowd {
    /// Uploads a crowd, with room for the layers that go out in its transitions.
    pub fn new(library: &GpuLibrary, crowd: &Crowd, outputs: Outputs) -> Result<Self, Error> {
        let starts = transition_starts(crowd);
        let options = if starts.is_empty() { CrowdOptions::NONE } else { room(crowd) };
        let on_gpu = GpuCrowd::with_options(library, crowd, outputs, options)?;
        // The layers on the device are the layers that come in.
        let passed = starts.len();
        Ok(Self { on_gpu, starts, passed, values: Vec::new() })
    }

    /// Replaces the layers by the layers of a crowd with the same transitions, if they fit.
    #[cfg(feature = "view")]
    pub fn set_layers(&mut self, library: &GpuLibrary, crowd: &Crowd) -> Result<(), Error> {
        self.on_gpu.set_layers(library, &crowd.at(self.shown_from(self.passed)))
    }

    /// Uploads what a crowd needs to be shown at a tick. Without parameters by the clock, and without a transition that
    /// starts between the tick before and this one, nothing is uploaded.
    pub fn set_time(&mut self, library: &GpuLibrary, crowd: &Crowd, now: Ticks) -> Result<(), Error> {
        let passed = self.starts.partition_point(|&start| start <= now);
        if passed != self.passed {
            self.on_gpu.set_layers(library, &crowd.at(self.shown_from(passed)))?;
            self.passed = passed;
        }
        let values = parameter_values(crowd, self.on_gpu.parameter_count(), now);
        if values != self.values {
            self.on_gpu.set_all_parameters(&values)?;
            self.values = values;
        }
        Ok(())
    }

    /// The tick of the last of the starts that have passed. From it to the next start, each instance has the same
    /// layers, and the device ends the transitions.
    fn shown_from(&self, passed: usize) -> Ticks {
        passed.checked_sub(1).map_or(Ticks(i64::MIN), |last| self.starts[last])
    }
}

/// The starts of all transitions of a crowd, in order, each once.
fn transition_starts(crowd: &Crowd) -> Vec<Ticks> {
    let mut starts = Vec::new();
    for instance in 0..crowd.len() {
        for transition in crowd.transitions(instance) {
            // Neighbours mostly share their starts.
            if !starts.ends_with(&[transition.start]) {
                starts.push(transition.start);
            }
        }
    }
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// The room for all layers of a crowd: layers that come in and layers that go out, with any weights.
fn room(crowd: &Crowd) -> CrowdOptions {
    let mut options = CrowdOptions { mixing: Mixing::Blend, ..CrowdOptions::NONE };
    let mut add = |layers: &[Layer]| {
        options.layers = options.layers.max(layers.len());
        options.mixing = options.mixing.max(Mixing::of(layers));
        options.drivers |= layers.iter().any(Layer::is_driven);
    };
    let mut transitions = 0;
    for instance in 0..crowd.len() {
        add(crowd.layers(instance));
        transitions += usize::from(crowd.transition(instance).is_some());
        crowd.transitions(instance).for_each(|transition| add(&transition.from));
    }
    CrowdOptions { transitions, ..options }
}

/// The first `count` parameters of each instance at a tick.
fn parameter_values(crowd: &Crowd, count: usize, now: Ticks) -> Vec<f32> {
    let mut values: Vec<f32> = Vec::with_capacity(count * crowd.len());
    for instance in 0..crowd.len() {
        // Instances of a group share their parameters, so that most values are the values of the instance before.
        let is_shared = instance > 0 && std::ptr::eq(crowd.parameters(instance), crowd.parameters(instance - 1));
        if is_shared {
            values.extend_from_within(values.len() - count..);
        } else {
            values.extend_from_slice(&crowd.parameter_values(instance, now).0[..count]);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use posse::parameters::Parameter;
    use posse::transitions::TransitionKind;

    use crate::source::tests::crowd_file;

    use super::*;

    fn source() -> (Library, CrowdSource) {
        let library = demo::library().unwrap();
        let clips: Vec<ClipId> = library.clip_ids().collect();
        let skeleton = library.clip(clips[0]).skeleton;
        (library, CrowdSource::File { skeleton, clips })
    }

    #[test]
    fn groups_of_a_crowd_file_have_their_own_size() {
        // Instances of one file, a hundred times as large and as it is.
        let group = |scale: &str| format!(r#"{{ "file": 0, "layers": [{{ "clip": "go" }}]{scale} }}"#);
        let groups = [group(r#", "scale": 100"#), group("")].join(", ");
        let (library, file) = crowd_file(&format!(r#"{{ "files": ["a.gltf"], "instances": [{groups}] }}"#));
        assert_eq!([0, 1].map(|instance| file.scale(instance)), [100.0, 1.0]);
        let figures = vec![Figure::empty(file.files[0].asset.skeleton)];
        let settings = CrowdSettings::new(3);
        let drawn = DrawnCrowd::new(library, figures, CrowdSource::CrowdFile(file), settings).unwrap();
        // The third instance is the first one again.
        let size = |instance: usize| drawn.placements[instance].transform.matrix3.determinant().cbrt();
        for (instance, expected) in [100.0, 1.0, 100.0].into_iter().enumerate() {
            assert!((size(instance) - expected).abs() < 1e-3 * expected, "{}", size(instance));
        }
        // The figure is 2 m high and moves by 1 m along x: 200 m and 100 m at the larger size. The middles of
        // neighbours are about three quarters of the width apart.
        let middle = |instance: usize| {
            drawn.placements[instance].transform.transform_point3(posse::glam::Vec3::new(0.5, 0.0, 0.0))
        };
        let distance = middle(0).distance(middle(1));
        assert!((65.0..100.0).contains(&distance), "{distance}");
        assert!(drawn.stage.bounds.size().y > 190.0, "{:?}", drawn.stage.bounds);
    }

    #[test]
    fn a_second_clip_is_a_second_layer_with_its_weight() {
        let (library, source) = source();
        let CrowdSource::File { clips, .. } = &source else { panic!() };
        let settings = CrowdSettings { clip: Some(1), second: Some(0), weights: vec![0.75, 0.25], instances: 3 };
        let LoopedCrowd { crowd, seconds } = source.looped_crowd(&library, &settings).unwrap();
        assert_eq!((crowd.len(), seconds), (3, library.clip(clips[1]).duration()));
        let layers = |instance: usize| crowd.layers(instance).iter().map(|layer| (layer.clip, layer.weight));
        for instance in 0..3 {
            assert_eq!(layers(instance).collect::<Vec<_>>(), [(clips[1], 0.75), (clips[0], 0.25)]);
        }
        let settings = CrowdSettings { second: None, weights: Vec::new(), ..settings };
        let crowd = source.looped_crowd(&library, &settings).unwrap().crowd;
        assert_eq!(crowd.layers(2).len(), 1);
        assert_eq!(crowd.layers(2)[0].weight, 1.0);
    }

    #[test]
    fn instances_of_a_crowd_file_are_repeated_and_their_weights_multiplied() {
        let text = r#"{"files":["a.gltf"],"instances":[{"layers":[{"clip":"go","weight":0.5}]},
            {"count":2,"layers":[{"clip":"go","weight":0.8}]}]}"#;
        let (library, file) = crowd_file(text);
        let source = CrowdSource::CrowdFile(file);
        let settings = CrowdSettings { weights: vec![0.5], ..CrowdSettings::new(7) };
        let crowd = source.looped_crowd(&library, &settings).unwrap().crowd;
        let weights: Vec<f64> = (0..crowd.len()).map(|instance| crowd.layers(instance)[0].weight).collect();
        assert_eq!(weights, [0.25, 0.4, 0.4, 0.25, 0.4, 0.4, 0.25]);
    }

    fn playing() -> Layer {
        Layer::new(clip(&demo::library().unwrap()), LayerTime::Playing(Playback::looping(0.0, 1.0)))
    }

    fn clip(library: &Library) -> ClipId {
        library.clip_ids().next().unwrap()
    }

    #[test]
    fn each_instance_has_the_values_of_its_own_parameters() {
        let library = demo::library().unwrap();
        let skeleton = library.clip(clip(&library)).skeleton;
        let mut crowd = Crowd::new();
        let linear: Arc<[Parameter]> = Arc::new([Parameter::new(vec![[0.0, 1.0], [2.0, 3.0]]).unwrap()]);
        let two: Vec<Parameter> = [7.0, 8.0].map(|value| Parameter::constant(value).unwrap()).into();
        for parameters in [Arc::default(), Arc::clone(&linear), linear, two.into(), Arc::default()] {
            let instance = crowd.push(skeleton, &[]).unwrap();
            crowd.set_parameters(instance, parameters).unwrap();
        }
        let now = Ticks::from_seconds(0.5);
        assert_eq!(parameter_values(&crowd, 2, now), [0.0, 0.0, 1.5, 0.0, 1.5, 0.0, 7.0, 8.0, 0.0, 0.0]);
        assert_eq!(parameter_values(&crowd, 1, now), [0.0, 1.5, 1.5, 7.0, 0.0]);
        assert!(parameter_values(&crowd, 0, now).is_empty());
    }

    #[test]
    fn there_is_room_for_the_layers_that_go_out() {
        let library = demo::library().unwrap();
        let skeleton = library.clip(clip(&library)).skeleton;
        let mut crowd = Crowd::new();
        let follower = Layer { time: LayerTime::Synced { leader: 0 }, ..playing() };
        let transition = |start, from: &[Layer], before: Option<Transition>| Transition {
            start: Ticks(start),
            from: from.to_vec(),
            kind: TransitionKind::Inertial,
            half_life: 0.1,
            before: before.map(Box::new),
        };
        crowd.push(skeleton, &[playing()]).unwrap();
        assert_eq!(transition_starts(&crowd), []);
        // A layer alone has room for any weight.
        assert_eq!(room(&crowd).mixing, Mixing::Blend);
        for start in [900, 300] {
            let before = transition(100, &[playing(), follower, playing()], None);
            let instance = crowd.push(skeleton, &[playing()]).unwrap();
            crowd.set_transition(&library, instance, Some(transition(start, &[playing()], Some(before)))).unwrap();
        }
        assert_eq!(transition_starts(&crowd), [Ticks(100), Ticks(300), Ticks(900)]);
        let expected =
            CrowdOptions { layers: 3, mixing: Mixing::Blend, drivers: true, transitions: 2, ..CrowdOptions::NONE };
        assert_eq!(room(&crowd), expected);
    }
}
