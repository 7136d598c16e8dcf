//! The plugin.

use bevy::asset::{AssetEventSystems, embedded_asset};
use bevy::camera::visibility::VisibilitySystems;
use bevy::core_pipeline::schedule::camera_driver;
use bevy::pbr::{MaterialPlugin, RenderMeshInstances};
use bevy::prelude::*;
use bevy::render::batching::gpu_preprocessing::GpuPreprocessingSupport;
use bevy::render::renderer::{RenderDevice, RenderGraph, RenderGraphSystems};
use bevy::render::{ExtractSchedule, Render, RenderApp, RenderStartup, RenderSystems};
use bevy::shader::load_shader_library;
use bevy::transform::TransformSystems;

use crate::assign::{assign_slots, let_go};
use crate::clock::{self, CrowdClock};
use crate::dress::Culling;
use crate::dress_rigs::dress_rigs;
use crate::events::{ClipEvent, send_events};
use crate::loader::CrowdRigLoader;
use crate::material::CrowdMaterial;
use crate::render_crowd::{self, RenderCrowds};
use crate::rig::{CrowdRig, CrowdRigParts};
use crate::root::move_by_roots;
use crate::slots::{Crowds, leave};
use crate::socket::follow_joints;
use crate::{dress, extract, recover};

/// Adds crowds to an app with Bevy's `DefaultPlugins`: the asset, the material, and the systems that pose and draw.
#[derive(Debug, Clone, Copy, Default)]
pub struct PossePlugin;

/// The systems of the plugin, for systems of an app that go before or after them.
#[derive(SystemSet, Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PosseSystems {
    /// Moves the clock, in `PreUpdate`.
    Clock,
    /// Sends the events of clips, in `PreUpdate`, after the clock.
    Events,
    /// Moves characters with root motion, takes new and changed characters over, and moves sockets, in `PostUpdate`,
    /// before transforms are propagated.
    Characters,
}

impl Plugin for PossePlugin {
    fn build(&self, app: &mut App) {
        load_shader_library!(app, "skin.wesl");
        load_shader_library!(app, "morph.wesl");
        embedded_asset!(app, "posed.wesl");
        embedded_asset!(app, "posed_prepass.wesl");
        app.init_asset::<CrowdRig>()
            .init_asset_loader::<CrowdRigLoader>()
            .add_plugins(MaterialPlugin::<CrowdMaterial>::default())
            .add_message::<ClipEvent>()
            .init_resource::<CrowdClock>()
            .init_resource::<CrowdRigParts>()
            .init_resource::<Crowds>()
            .init_resource::<Culling>()
            .add_observer(leave)
            .add_observer(dress::undress)
            .add_observer(dress::cull_by_distance)
            .add_observer(dress::cull_by_view)
            .add_observer(let_go)
            .configure_sets(PreUpdate, (PosseSystems::Clock, PosseSystems::Events).chain())
            // Before the events of assets: new meshes and materials are then drawn in the frame in which characters get
            // them. A rig that has been edited is noticed in the next frame.
            .configure_sets(
                PostUpdate,
                PosseSystems::Characters
                    .before(AssetEventSystems)
                    .before(TransformSystems::Propagate)
                    .before(VisibilitySystems::CalculateBounds)
                    .before(VisibilitySystems::VisibilityPropagate),
            )
            .add_systems(
                PreUpdate,
                (clock::advance.in_set(PosseSystems::Clock), send_events.in_set(PosseSystems::Events)),
            )
            .add_systems(
                PostUpdate,
                (
                    // The step belongs to the layers of before.
                    move_by_roots,
                    dress_rigs,
                    assign_slots,
                    dress::dress_characters,
                    dress::follow_looks,
                    follow_joints,
                    recover::announce_again.run_if(resource_exists_and_changed::<RenderDevice>),
                )
                    .chain()
                    .in_set(PosseSystems::Characters),
            );
        let Some(render) = app.get_sub_app_mut(RenderApp) else { return };
        render
            .init_resource::<RenderCrowds>()
            .add_systems(RenderStartup, render_crowd::begin)
            .add_systems(ExtractSchedule, (extract::extract_changes, extract::extract_visible).chain())
            .add_systems(Render, render_crowd::prepare.in_set(RenderSystems::PrepareResources))
            .add_systems(RenderGraph, render_crowd::pose.in_set(RenderGraphSystems::Render).before(camera_driver));
    }

    fn finish(&self, app: &mut App) {
        let Some(render) = app.get_sub_app(RenderApp) else { return };
        let support = render.world().get_resource::<GpuPreprocessingSupport>();
        let meshes = render.world().get_resource::<RenderMeshInstances>();
        let can_cull = support.is_some_and(GpuPreprocessingSupport::is_culling_supported)
            && matches!(meshes, Some(RenderMeshInstances::GpuBuilding(_)));
        if can_cull {
            app.insert_resource(Culling::Gpu);
        }
    }
}
