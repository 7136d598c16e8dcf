//! Rigs from files: a glTF document with a buffer beside it, its errors, and its changes.

use std::path::{Path, PathBuf};

use bevy::asset::LoadState;
use bevy::prelude::*;
use bevy_posse::{
    ClipEvent, ClipEvents, ClipLayer, CrowdClock, CrowdRig, CrowdRigParts, JointSocket, MovedByRoot, Posse, PossePlugin,
};
use posse::events::Event;
use posse::parameters::{Knots, WeightDriver};
use posse::root_motion::{RootMotion, RootRotation};

use crate::headless;
use crate::stage::Stage;

/// A folder that is removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("bevy_posse_{}_{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A triangle on one joint, which each clip lifts within a second.
fn write(folder: &Path, clips: &[&str], height: f32) {
    let animation = |clip: &&str| {
        format!(
            r#"{{ "name": "{clip}", "samplers": [{{ "input": 4, "output": 5 }}],
                "channels": [{{ "sampler": 0, "target": {{ "node": 0, "path": "translation" }} }}] }}"#
        )
    };
    let animations = clips.iter().map(animation).collect::<Vec<_>>().join(", ");
    let document = format!(
        r#"{{ "asset": {{ "version": "2.0" }}, "scene": 0, "scenes": [{{ "nodes": [0, 1] }}],
        "nodes": [{{ "name": "joint" }}, {{ "name": "triangle", "mesh": 0, "skin": 0 }}],
        "skins": [{{ "joints": [0], "inverseBindMatrices": 3 }}],
        "meshes": [{{ "primitives": [{{ "attributes": {{ "POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2 }} }}] }}],
        "animations": [{animations}],
        "buffers": [{{ "byteLength": 192, "uri": "rig.bin" }}],
        "bufferViews": [{{ "buffer": 0, "byteLength": 36 }}, {{ "buffer": 0, "byteOffset": 36, "byteLength": 12 }},
                        {{ "buffer": 0, "byteOffset": 48, "byteLength": 48 }}, {{ "buffer": 0, "byteOffset": 96, "byteLength": 64 }},
                        {{ "buffer": 0, "byteOffset": 160, "byteLength": 8 }}, {{ "buffer": 0, "byteOffset": 168, "byteLength": 24 }}],
        "accessors": [{{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0] }},
                      {{ "bufferView": 1, "componentType": 5121, "count": 3, "type": "VEC4" }},
                      {{ "bufferView": 2, "componentType": 5126, "count": 3, "type": "VEC4" }},
                      {{ "bufferView": 3, "componentType": 5126, "count": 1, "type": "MAT4" }},
                      {{ "bufferView": 4, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [1] }},
                      {{ "bufferView": 5, "componentType": 5126, "count": 2, "type": "VEC3" }}] }}"#
    );
    let mut bytes = Vec::new();
    let mut push = |numbers: &[f32]| bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    push(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    push(&[0.0; 3]); // 12 indices of joints, all 0.
    push(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    push(&Mat4::IDENTITY.to_cols_array());
    push(&[0.0, 1.0]);
    push(&[0.0, 0.0, 0.0, 0.0, height, 0.0]);
    std::fs::write(folder.join("rig.bin"), bytes).unwrap();
    std::fs::write(folder.join("rig.gltf"), document).unwrap();
}

#[test]
fn a_file_is_loaded_and_checked_and_loaded_again_when_it_changes() {
    let folder = Folder::new("again");
    write(&folder.0, &["rise"], 2.0);
    std::fs::write(folder.0.join("broken.gltf"), r#"{ "asset": { "version": "2.0" }, "nodes": 7 }"#).unwrap();
    let mut app = headless::app(headless::plugins(&folder.0, true));
    app.add_plugins(PossePlugin);
    headless::begin(&mut app);
    let server = app.world().resource::<AssetServer>().clone();
    let rig: Handle<CrowdRig> = server.load("rig.gltf");
    let broken: Handle<CrowdRig> = server.load("broken.gltf");
    let character = app.world_mut().spawn((Posse::looping(rig.clone(), "rise"), ClipEvents)).id();
    headless::run_until(&mut app, |world| world.resource::<CrowdRigParts>().bounds(&rig).is_some());
    app.update();

    // The bounds contain the triangle at the top of its way.
    let bounds = app.world().resource::<CrowdRigParts>().bounds(&rig).unwrap();
    assert!(bounds.max().y >= 3.0 && bounds.min().y <= 0.0, "{bounds:?}");
    assert!(app.world().get::<Mesh3d>(character).is_some());
    let LoadState::Failed(error) = server.load_state(&broken) else { panic!("a broken file is loaded") };
    assert!(error.to_string().contains("broken.gltf") && error.to_string().contains("nodes"), "{error}");

    // The server sees that the files change: other clips, and a longer way.
    let socket = JointSocket { character, joint: "joint".into() };
    let socket = app.world_mut().spawn((socket, ChildOf(character))).id();
    write(&folder.0, &["lift"], 7.0);
    headless::run_until(&mut app, |world| {
        let lifts = world.resource::<Assets<CrowdRig>>().get(&rig).is_some_and(|rig| rig.clips().eq(["lift"]));
        lifts && world.resource::<CrowdRigParts>().bounds(&rig).is_some_and(|bounds| bounds.max().y > 7.0)
    });
    app.world_mut().get_mut::<Posse>(character).unwrap().layers = vec![ClipLayer::looping("lift")];
    for _ in 0..3 {
        app.update();
        let now = app.world().resource::<CrowdClock>().now().to_seconds();
        let height = app.world().get::<Transform>(socket).unwrap().translation.y;
        // At whole seconds, a pass may be at its end, or the next one at its start.
        let off = (f64::from(height) / 7.0 - now).rem_euclid(1.0);
        assert!(off.min(1.0 - off) < 1e-4, "the joint is at {height} after {now} s");
    }
    assert!(app.world().resource::<Messages<ClipEvent>>().is_empty());
}

#[test]
fn a_clip_that_cannot_be_read_is_not_listed() {
    let folder = Folder::new("left_out");
    write(&folder.0, &["rise", "bad"], 2.0);
    let path = folder.0.join("rig.gltf");
    let text = std::fs::read_to_string(&path).unwrap();
    // Its key times are vectors.
    let broken = text.replace(r#""bad", "samplers": [{ "input": 4"#, r#""bad", "samplers": [{ "input": 5"#);
    assert_ne!(broken, text);
    std::fs::write(&path, broken).unwrap();
    let mut app = headless::app(headless::plugins(&folder.0, true));
    app.add_plugins(PossePlugin);
    headless::begin(&mut app);
    let rig: Handle<CrowdRig> = app.world().resource::<AssetServer>().load("rig.gltf");
    headless::run_until(&mut app, |world| world.resource::<Assets<CrowdRig>>().get(&rig).is_some());
    let rigs = app.world().resource::<Assets<CrowdRig>>();
    assert!(rigs.get(&rig).unwrap().clips().eq(["rise"]));
}

/// In the frame in which the file changes, the character still has the clip by its number.
#[test]
fn a_character_outlives_the_clip_that_moves_it() {
    let folder = Folder::new("fewer");
    write(&folder.0, &["rise", "lift"], 2.0);
    let mut app = headless::app(headless::plugins(&folder.0, true));
    app.add_plugins(PossePlugin);
    headless::begin(&mut app);
    let rig: Handle<CrowdRig> = app.world().resource::<AssetServer>().load("rig.gltf");
    let lifted = (Posse::looping(rig.clone(), "lift"), MovedByRoot, ClipEvents);
    let character = app.world_mut().spawn(lifted).id();
    let socket = JointSocket { character, joint: "joint".into() };
    app.world_mut().spawn((socket, ChildOf(character)));
    let place = |app: &App| app.world().get::<Transform>(character).unwrap().translation;
    headless::run_until(&mut app, |world| world.resource::<CrowdRigParts>().bounds(&rig).is_some());
    app.world_mut()
        .resource_mut::<Assets<CrowdRig>>()
        .get_mut(&rig)
        .unwrap()
        .edit(|library| {
            let lift = library.find_clip("lift").unwrap();
            let root = RootMotion { joint: 0, translation: [true; 3], rotation: RootRotation::None };
            library.set_root_motion(lift, Some(root))
        })
        .unwrap();
    for _ in 0..3 {
        app.update();
    }
    let before = place(&app);
    app.update();
    let moved = place(&app) - before;
    assert!(moved.distance(Vec3::Y * 2.0 * headless::STEP.as_secs_f32()) < 1e-4, "it moves by {moved} in a frame");

    write(&folder.0, &["rise"], 2.0);
    headless::run_until(&mut app, |world| {
        world.resource::<Assets<CrowdRig>>().get(&rig).is_some_and(|rig| rig.clips().eq(["rise"]))
    });
    // Without its clip it stands still.
    for _ in 0..3 {
        app.update();
    }
    let before = place(&app);
    app.update();
    assert_eq!(place(&app), before);
}

/// Adds an event to clips of the scene, in another rig.
fn add_steps(stage: &mut Stage, clips: &[&str]) {
    for name in clips {
        let clip = stage.scene.library.find_clip(name).unwrap();
        let step = Event { time: 0.25, function: "step".into(), parameters: vec!["left".into()] };
        stage.scene.library.set_events(clip, vec![step]).unwrap();
    }
    let rig = crate::stage::rig(&stage.scene, &stage.figure, stage.app.world_mut());
    stage.rig = stage.app.world_mut().resource_mut::<Assets<CrowdRig>>().add(rig);
}

/// The messages of some frames.
fn events(stage: &mut Stage, frames: usize) -> Vec<ClipEvent> {
    let mut found = Vec::new();
    let mut reader = stage.app.world().resource::<Messages<ClipEvent>>().get_cursor();
    for _ in 0..frames {
        stage.frames(1);
        found.extend(reader.read(stage.app.world().resource::<Messages<ClipEvent>>()).cloned());
    }
    found
}

/// The demo with an event in its walk, through the asset of a library.
#[test]
fn events_of_clips_become_messages() {
    let mut stage = Stage::new();
    add_steps(&mut stage, &["walk"]);
    let asks = Posse::looping(stage.rig.clone(), "walk");
    let world = stage.app.world_mut();
    let character = world.spawn((asks.clone(), ClipEvents)).id();
    world.spawn(asks.clone());
    // A driver of another library is an error of this character alone.
    let mut other = posse::Library::new();
    let knots = other.add_knots(Knots::new(vec![[0.0, 0.0], [1.0, 1.0]]).unwrap());
    let driver = Some(WeightDriver::Knots { parameter: 0, knots });
    let bad = vec![ClipLayer { driver, ..asks.layers[0].clone() }];
    world.spawn((Posse { layers: bad, ..asks }, ClipEvents));
    // Two seconds, as long as the clip twice.
    let found = events(&mut stage, 42);
    assert_eq!(found.len(), 2, "{found:?}");
    for event in found {
        assert_eq!((event.entity, event.function.as_str(), event.clip.as_deref()), (character, "step", Some("walk")));
        assert_eq!(event.tick.0.rem_euclid(posse::Ticks::PER_SECOND), posse::Ticks::PER_SECOND / 4);
    }
}

/// A walk that a parameter replaces by a run.
#[test]
fn the_layer_with_a_weight_sends_events() {
    let mut stage = Stage::new();
    let library = &mut stage.scene.library;
    let [falls, rises] = [[1.0, 0.0], [0.0, 1.0]]
        .map(|[at_0, at_1]| library.add_knots(Knots::new(vec![[0.0, at_0], [1.0, at_1]]).unwrap()));
    add_steps(&mut stage, &["walk", "run"]);
    let layer = |clip: &str, knots| {
        let driver = Some(WeightDriver::Knots { parameter: 0, knots });
        ClipLayer { driver, ..ClipLayer::looping(clip) }
    };
    let mut posse = Posse::new(stage.rig.clone(), [layer("walk", falls), layer("run", rises)]);
    posse.parameters = vec![1.0];
    let character = stage.app.world_mut().spawn((posse, ClipEvents)).id();
    let found = events(&mut stage, 42);
    let runs = |event: &ClipEvent| (event.clip.as_deref(), event.layer) == (Some("run"), 1);
    assert!(found.len() >= 2 && found.iter().all(runs), "{found:?}");

    stage.app.world_mut().get_mut::<Posse>(character).unwrap().parameters = vec![0.0];
    stage.frames(2);
    let found = events(&mut stage, 42);
    let walks = |event: &ClipEvent| (event.clip.as_deref(), event.layer) == (Some("walk"), 0);
    assert!(found.len() >= 2 && found.iter().all(walks), "{found:?}");
}
