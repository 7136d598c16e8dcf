//! Who there is to choose from, and the crowd of a choice.

use posse::import::crowd::CrowdFile;
use posse::low_level::render::{demo_dyes, demo_figure, tint};
use posse::render::Figure;
use posse::{ClipId, Crowd, Error, Layer, LayerTime, Library, Playback, SkeletonId, Ticks};

/// The loop that all clips of the built-in rig are brought to, in seconds.
const DEMO_SECONDS: f64 = 4.0;

/// Who there is to choose from.
pub enum Cast {
    /// Those of a file, who play its clips.
    File { skeleton: SkeletonId, clips: Vec<ClipId> },
    /// The built-in rig, whose clips are brought to one loop.
    Demo { skeleton: SkeletonId, clips: Vec<ClipId> },
    /// Instances with layers of their own.
    CrowdFile(CrowdFile),
}

/// Who is chosen, and what they do.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The place of the clip that all play; `None`: each what it does by itself.
    pub clip: Option<usize>,
    /// The place of a clip that plays on a second layer.
    pub second: Option<usize>,
    /// Of each layer what its weight is multiplied by, 0 or more; 1 where nothing is said.
    pub weights: Vec<f64>,
    /// How many instances.
    pub instances: usize,
}

impl Choice {
    /// So many instances that do what they do by themselves.
    pub fn new(instances: usize) -> Self {
        Self { clip: None, second: None, weights: Vec::new(), instances }
    }

    /// What the weight of a layer is multiplied by.
    pub fn weight(&self, layer: usize) -> f64 {
        self.weights.get(layer).copied().unwrap_or(1.0)
    }
}

impl Cast {
    /// The clips that there are to choose from.
    #[cfg(feature = "view")]
    pub fn clips(&self) -> &[ClipId] {
        match self {
            Self::File { clips, .. } | Self::Demo { clips, .. } => clips,
            Self::CrowdFile(_) => &[],
        }
    }

    /// The crowd of a choice, and the seconds after which it begins anew, or nearly so.
    pub fn crowd(&self, library: &Library, choice: &Choice) -> Result<(Crowd, f64), Error> {
        match self {
            Self::File { skeleton, clips } => {
                let chosen = choice.clip.and_then(|clip| clips.get(clip).copied());
                let duration = chosen.map_or(0.0, |clip| library.clip(clip).duration());
                let crowd = playing(*skeleton, choice, |_, place| {
                    let clip = clips[place.or(choice.clip)?];
                    Some((clip, library.clip(clip).duration(), 1.0))
                })?;
                Ok((crowd, duration))
            }
            Self::Demo { skeleton, clips } => {
                let crowd = playing(*skeleton, choice, |instance, place| {
                    // The first walks.
                    let own = (instance + 1) % clips.len();
                    let clip = clips[place.or(choice.clip).unwrap_or(own)];
                    let duration = library.clip(clip).duration();
                    // At the nearest rate at which it fits the loop.
                    let passes = (DEMO_SECONDS / duration).round().max(1.0);
                    Some((clip, duration, duration * passes / DEMO_SECONDS))
                })?;
                Ok((crowd, DEMO_SECONDS))
            }
            Self::CrowdFile(file) => {
                let once = file.crowd(0..file.len())?;
                let mut crowd = Crowd::new();
                for instance in (0..once.len()).cycle().take(choice.instances) {
                    let weighted = |(place, layer): (usize, &Layer)| Layer {
                        weight: layer.weight * choice.weight(place),
                        ..*layer
                    };
                    let layers: Vec<_> = once.layers(instance).iter().enumerate().map(weighted).collect();
                    crowd.push(once.skeleton(instance), &layers)?;
                }
                let layers = (0..once.len()).flat_map(|instance| once.layers(instance));
                let seconds = layers.map(|layer| library.clip(layer.clip).duration()).fold(0.0, f64::max);
                Ok((crowd, seconds))
            }
        }
    }

    /// Metres of a triangle's side of the built-in rig's body: a software adapter's time goes with their number, and the more
    /// there are to be seen, the smaller is each. `None` for figures of files.
    pub fn side(&self, choice: &Choice) -> Option<f64> {
        match (self, choice.instances) {
            (Self::Demo { .. }, 0..=16) => Some(0.013),
            (Self::Demo { .. }, 17..=64) => Some(0.025),
            (Self::Demo { .. }, _) => Some(0.036),
            _ => None,
        }
    }

    /// The figures that are made here; `None` where they are read from files.
    pub fn figures(&self, library: &Library, choice: &Choice) -> Result<Option<Vec<Figure>>, Error> {
        let (Self::Demo { skeleton, .. }, Some(side)) = (self, self.side(choice)) else { return Ok(None) };
        Ok(Some(vec![demo_figure(library, *skeleton, side)?]))
    }

    /// The colours of an instance.
    pub fn dyes(&self, instance: usize) -> [[f32; 3]; 5] {
        match self {
            Self::Demo { .. } => demo_dyes(instance),
            _ => [tint(instance); 5],
        }
    }
}

/// Instances that play clips, each ahead of the others by a part of the clip: on the first layer what an instance plays, on the
/// second that clip whose place it is told. A clip comes with its duration and its rate.
fn playing(
    skeleton: SkeletonId,
    choice: &Choice,
    clip: impl Fn(usize, Option<usize>) -> Option<(ClipId, f64, f64)>,
) -> Result<Crowd, Error> {
    let mut crowd = Crowd::new();
    for instance in 0..choice.instances {
        let layer = |place: usize, played: Option<usize>| {
            let (clip, duration, rate) = clip(instance, played)?;
            let ahead = (instance as f64 * 0.618_033_988_749_895).fract() * duration / rate.max(f64::MIN_POSITIVE);
            let time = LayerTime::Playing(Playback::looping(Ticks::from_seconds(-ahead), rate));
            Some(Layer { weight: choice.weight(place), ..Layer::new(clip, time) })
        };
        let second = choice.second.and_then(|second| layer(1, Some(second)));
        let layers: Vec<_> = layer(0, None).into_iter().chain(second).collect();
        crowd.push(skeleton, &layers)?;
    }
    Ok(crowd)
}

/// A clip's name.
pub fn clip_name(library: &Library, clip: ClipId) -> &str {
    library.clip(clip).name.as_deref().unwrap_or("unnamed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use posse::demo;

    fn cast() -> (Library, Cast) {
        let library = demo::library().unwrap();
        let clips: Vec<ClipId> = library.clip_ids().collect();
        let skeleton = library.clip(clips[0]).skeleton;
        (library, Cast::File { skeleton, clips })
    }

    #[test]
    fn a_second_clip_is_a_second_layer_with_its_weight() {
        let (library, cast) = cast();
        let Cast::File { clips, .. } = &cast else { panic!() };
        let choice = Choice { clip: Some(1), second: Some(0), weights: vec![0.75, 0.25], instances: 3 };
        let (crowd, seconds) = cast.crowd(&library, &choice).unwrap();
        assert_eq!((crowd.len(), seconds), (3, library.clip(clips[1]).duration()));
        let layers = |instance: usize| crowd.layers(instance).iter().map(|layer| (layer.clip, layer.weight));
        for instance in 0..3 {
            assert_eq!(layers(instance).collect::<Vec<_>>(), [(clips[1], 0.75), (clips[0], 0.25)]);
        }
        let (crowd, _) = cast.crowd(&library, &Choice { second: None, weights: Vec::new(), ..choice }).unwrap();
        assert_eq!(crowd.layers(2).len(), 1);
        assert_eq!(crowd.layers(2)[0].weight, 1.0);
    }

    #[test]
    fn instances_of_a_crowd_file_are_repeated_and_their_weights_multiplied() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("crowd.json");
        let gltf = r#"{"asset":{"version":"2.0"},"nodes":[{"name":"a"}],"scenes":[{"nodes":[0]}],
            "buffers":[{"byteLength":32,"uri":"data:application/octet-stream;base64,AAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAA="}],
            "bufferViews":[{"buffer":0,"byteLength":8},{"buffer":0,"byteOffset":8,"byteLength":24}],
            "accessors":[{"bufferView":0,"componentType":5126,"count":2,"type":"SCALAR","min":[0],"max":[1]},
                {"bufferView":1,"componentType":5126,"count":2,"type":"VEC3"}],
            "animations":[{"name":"go","samplers":[{"input":0,"output":1}],
                "channels":[{"sampler":0,"target":{"node":0,"path":"translation"}}]}]}"#;
        std::fs::write(folder.path().join("a.gltf"), gltf).unwrap();
        let text = r#"{"files":["a.gltf"],"instances":[{"layers":[{"clip":"go","weight":0.5}]},
            {"count":2,"layers":[{"clip":"go","weight":0.8}]}]}"#;
        std::fs::write(&file, text).unwrap();
        let mut library = Library::new();
        let cast = Cast::CrowdFile(posse::import::crowd::load(&mut library, &file).unwrap());
        let choice = Choice { weights: vec![0.5], ..Choice::new(7) };
        let (crowd, _) = cast.crowd(&library, &choice).unwrap();
        let weights: Vec<f64> = (0..crowd.len()).map(|instance| crowd.layers(instance)[0].weight).collect();
        assert_eq!(weights, [0.25, 0.4, 0.4, 0.25, 0.4, 0.4, 0.25]);
    }
}
