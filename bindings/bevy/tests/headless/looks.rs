//! The meshes and materials of characters.

use bevy::camera::visibility::{NoCpuCulling, NoFrustumCulling, RenderLayers, VisibilityRange};
use bevy::light::NotShadowCaster;
use bevy::prelude::*;
use bevy_posse::{CrowdMaterial, CrowdRig, CrowdRigParts, Posse};

use crate::stage::{Stage, rig_of};

/// The components of a mesh that decide who sees it.
type Look = (Option<&'static RenderLayers>, Has<VisibilityRange>, Has<NotShadowCaster>, Has<NoFrustumCulling>);

#[test]
fn further_meshes_follow_the_look_of_their_character() {
    let mut stage = Stage::new();
    let rig = rig_of(&stage.scene, &stage.figure, 2, stage.app.world_mut());
    let rig = stage.app.world_mut().resource_mut::<Assets<CrowdRig>>().add(rig);
    let look = (RenderLayers::layer(1), NotShadowCaster);
    let character = stage.app.world_mut().spawn((Posse::looping(rig, "walk"), look)).id();
    stage.frames(3);
    let [other] = stage.app.world().get::<Children>(character).unwrap()[..] else { panic!("the rig has two meshes") };
    let check = |stage: &mut Stage, layers: Option<usize>, rest: [bool; 3], is_culled_by_gpu: bool| {
        let world = stage.app.world_mut();
        for mesh in [character, other] {
            let (found, range, caster, culling) = world.query::<Look>().get(world, mesh).unwrap();
            assert_eq!(found.cloned(), layers.map(RenderLayers::layer));
            assert_eq!([range, caster, culling], rest);
            assert_eq!(world.entity(mesh).contains::<NoCpuCulling>(), is_culled_by_gpu);
        }
    };
    check(&mut stage, Some(1), [false, true, false], true);
    *stage.app.world_mut().get_mut::<RenderLayers>(character).unwrap() = RenderLayers::layer(2);
    stage.app.world_mut().entity_mut(character).insert(NoFrustumCulling).remove::<NotShadowCaster>();
    stage.frames(1);
    check(&mut stage, Some(2), [false, false, true], true);
    stage.app.world_mut().entity_mut(character).insert(VisibilityRange::abrupt(0.0, 100.0));
    stage.app.world_mut().entity_mut(character).remove::<(RenderLayers, NoFrustumCulling)>();
    stage.frames(1);
    check(&mut stage, None, [true, false, false], false);
    stage.app.world_mut().entity_mut(character).remove::<VisibilityRange>();
    stage.frames(1);
    check(&mut stage, None, [false; 3], true);

    // An entity that is no character any more keeps nothing of the rig.
    stage.app.world_mut().entity_mut(character).remove::<Posse>();
    stage.frames(1);
    let left = stage.app.world().entity(character);
    assert!(!left.contains::<Mesh3d>() && !left.contains::<MeshMaterial3d<CrowdMaterial>>());
    assert!(!left.contains::<Children>() && !left.contains::<NoCpuCulling>());
}

/// A mesh and a material that an app puts in the place of the rig's are the character's own: they stay when the rig
/// changes, and when the character goes.
#[test]
fn what_takes_the_place_of_a_mesh_stays() {
    let mut stage = Stage::new();
    let [replaced, plain] =
        [(); 2].map(|()| stage.app.world_mut().spawn(Posse::looping(stage.rig.clone(), "walk")).id());
    stage.frames(2);
    let world = stage.app.world_mut();
    let part = world.resource::<CrowdRigParts>().of(&stage.rig)[0].clone();
    let mesh = world.resource::<Assets<Mesh>>().get(&part.mesh).unwrap().clone();
    let material = world.resource::<Assets<CrowdMaterial>>().get(&part.material).unwrap().clone();
    let mesh = Mesh3d(world.resource_mut::<Assets<Mesh>>().add(mesh));
    let material = MeshMaterial3d(world.resource_mut::<Assets<CrowdMaterial>>().add(material));
    world.entity_mut(replaced).insert((mesh.clone(), material.clone()));
    let check = |stage: &Stage| {
        let world = stage.app.world();
        assert_eq!(world.get::<Mesh3d>(replaced), Some(&mesh));
        assert_eq!(world.get::<MeshMaterial3d<CrowdMaterial>>(replaced), Some(&material));
    };
    // The same rig once more, as after a change of its file: the other character gets new parts.
    let mut rigs = stage.app.world_mut().resource_mut::<Assets<CrowdRig>>();
    let again = rigs.get(&stage.rig).unwrap().clone();
    let _ = rigs.insert(stage.rig.id(), again);
    stage.frames(3);
    check(&stage);
    assert_ne!(stage.app.world().get::<Mesh3d>(plain).unwrap().0, part.mesh);

    for character in [replaced, plain] {
        stage.app.world_mut().entity_mut(character).remove::<Posse>();
    }
    stage.frames(1);
    check(&stage);
    let left = stage.app.world().entity(plain);
    assert!(!left.contains::<Mesh3d>() && !left.contains::<MeshMaterial3d<CrowdMaterial>>());
}
