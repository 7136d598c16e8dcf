//! The sources of drawn crowds: a file with clips, the built-in rig, a crowd file.

use posse::import::crowd::CrowdFile;
use posse::{ClipId, Crowd, Error, Layer, LayerTime, Library, Playback, SkeletonId, Ticks, Transition};
use posse_render::Figure;
use posse_render::{demo, tint};

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
pub struct LoopedCrowd {
    pub crowd: Crowd,
    /// The duration of the loop in seconds. Loops of crowd files are approximate; a rest pose has the duration 0.
    pub seconds: f64,
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
    pub fn looped_crowd(&self, library: &Library, settings: &CrowdSettings) -> Result<LoopedCrowd, Error> {
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

    /// The length in metres of the sides of the triangles of the built-in rig; `None` for files. Large crowds have larger
    /// triangles: each figure is smaller in the picture, and the time of a software adapter grows with their number.
    pub fn triangle_side(&self, settings: &CrowdSettings) -> Option<f64> {
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
        Ok(Some(vec![demo::figure(library, *skeleton, side)?]))
    }

    /// The colours of an instance.
    pub fn dyes(&self, instance: usize) -> [[f32; 3]; 5] {
        match self {
            Self::Demo { .. } => demo::dyes(instance),
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
/// `clip` returns the clip of an instance. Its second argument is `None` on the first layer, and the index of the second clip on
/// the second.
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
            let time = LayerTime::Playing(Playback::looping(Ticks::from_seconds(-offset), rate));
            Some(Layer { weight: settings.weight(number), ..Layer::new(clip, time) })
        };
        let second = settings.second.and_then(|second| layer(1, Some(second)));
        let layers: Vec<_> = layer(0, None).into_iter().chain(second).collect();
        crowd.push(skeleton, &layers)?;
    }
    Ok(crowd)
}

/// Repeats the instances of a crowd file until the crowd has the size of the settings. The loop has the duration of the longest
/// clip.
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

/// The length in seconds of the motion of an instance: its longest clip, or the end of its transition or of its parameters if that
/// is later.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd_fixture::crowd_file;
    use posse::demo;

    fn source() -> (Library, CrowdSource) {
        let library = demo::library().unwrap();
        let clips: Vec<ClipId> = library.clip_ids().collect();
        let skeleton = library.clip(clips[0]).skeleton;
        (library, CrowdSource::File { skeleton, clips })
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
}
