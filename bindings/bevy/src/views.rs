//! The views in which characters can be seen: the views of cameras, and of lights with shadows.

use bevy::camera::primitives::{Aabb, CascadesFrusta, Frustum};
use bevy::camera::visibility::{NoCpuCulling, NoFrustumCulling, RenderLayers};
use bevy::ecs::query::QueryData;
use bevy::ecs::system::SystemParam;
use bevy::light::NotShadowCaster;
use bevy::math::{Mat3A, Vec3A, Vec4};
use bevy::prelude::*;
use bevy::render::Extract;

/// The planes of a frustum that count for a camera, and for a spot light: all but the far one, as in Bevy's culling.
const ALL_BUT_FAR: usize = 5;
/// The planes that count for the sun: casters of shadows can be in front of the near plane.
const SIDES: usize = 4;

/// The cameras and the lights.
#[derive(SystemParam)]
pub(crate) struct Viewers<'w, 's> {
    cameras: Extract<'w, 's, Query<'static, 'static, CameraItem>>,
    suns: Extract<'w, 's, Query<'static, 'static, LightItem<DirectionalLight, CascadesFrusta>>>,
    points: Extract<'w, 's, Query<'static, 'static, LightItem<PointLight, GlobalTransform>>>,
    spots: Extract<'w, 's, Query<'static, 'static, LightItem<SpotLight, Frustum>>>,
}

type CameraItem = (&'static Camera, &'static Frustum, Option<&'static RenderLayers>, Has<NoCpuCulling>);
type LightItem<L, F> = (&'static L, &'static F, Option<&'static RenderLayers>, &'static ViewVisibility);

/// The components that decide whether a character can be seen.
#[derive(QueryData)]
pub(crate) struct Seen {
    visibility: &'static ViewVisibility,
    transform: &'static GlobalTransform,
    bounds: Option<&'static Aabb>,
    layers: Option<&'static RenderLayers>,
    is_culled_by_gpu: Has<NoCpuCulling>,
    is_never_culled: Has<NoFrustumCulling>,
    casts_no_shadow: Has<NotShadowCaster>,
}

/// The views of a frame.
#[derive(Debug, Default)]
pub(crate) struct Views(Vec<CameraView>);

/// The view of a camera, of a cascade of the sun, or of another light.
#[derive(Debug)]
struct CameraView {
    region: Region,
    layers: RenderLayers,
    is_light: bool,
}

/// A part of space.
#[derive(Debug)]
enum Region {
    /// The inner sides of planes: a normal and a distance each.
    Planes { planes: [Vec4; ALL_BUT_FAR], count: usize },
    /// A sphere.
    Sphere { centre: Vec3A, radius: f32 },
}

impl Viewers<'_, '_> {
    /// The views of this frame. A view may be larger than the region that is drawn.
    ///
    /// Lights that are hidden or out of view are none, as in Bevy, which leaves their frusta as they were.
    pub fn views(&self) -> Views {
        let mut views = Views::default();
        for (_, frustum, layers, sees_all) in self.cameras.iter().filter(|(camera, ..)| camera.is_active) {
            views.push(Region::of(frustum, if sees_all { 0 } else { ALL_BUT_FAR }), layers, false);
        }
        let suns = self.suns.iter().filter(|(light, .., visibility)| light.shadow_maps_enabled && visibility.get());
        for (_, cascades, layers, _) in suns {
            for frustum in cascades.frusta.values().flatten() {
                views.push(Region::of(frustum, SIDES), layers, true);
            }
        }
        let points = self.points.iter().filter(|(light, .., visibility)| light.shadow_maps_enabled && visibility.get());
        for (light, place, layers, _) in points {
            let region = Region::Sphere { centre: place.translation_vec3a(), radius: light.range };
            views.push(region, layers, true);
        }
        let spots = self.spots.iter().filter(|(light, .., visibility)| light.shadow_maps_enabled && visibility.get());
        for (_, frustum, layers, _) in spots {
            views.push(Region::of(frustum, ALL_BUT_FAR), layers, true);
        }
        views
    }
}

impl Views {
    fn push(&mut self, region: Region, layers: Option<&RenderLayers>, is_light: bool) {
        self.0.push(CameraView { region, layers: layers.cloned().unwrap_or_default(), is_light });
    }

    /// True if a view can show the character, or its shadow. Bevy answers this itself for characters that it culls on
    /// the CPU.
    ///
    /// For others, Bevy's culling on the GPU decides what is drawn. It draws no more of them than this says, except
    /// casters beyond the range of a point light, whose shadows the light does not show.
    pub fn see(&self, character: &SeenItem) -> bool {
        if !character.visibility.get() || !character.is_culled_by_gpu || character.is_never_culled {
            return character.visibility.get();
        }
        let Some(bounds) = character.bounds else { return true };
        let centre = character.transform.affine().transform_point3a(bounds.center);
        let radius = radius(character.transform.affine().matrix3, bounds.half_extents);
        let layers = character.layers.unwrap_or_default();
        self.0.iter().any(|view| {
            !(view.is_light && character.casts_no_shadow)
                && view.layers.intersects(layers)
                && view.region.meets(centre, radius)
        })
    }
}

/// The radius of the sphere around a box, after a linear map. Half of its corners are enough, the others are opposite.
fn radius(map: Mat3A, half: Vec3A) -> f32 {
    let [x, y, z] = [map.x_axis * half.x, map.y_axis * half.y, map.z_axis * half.z];
    let corners = [x + y + z, x + y - z, x - y + z, x - y - z];
    corners.map(Vec3A::length_squared).into_iter().fold(0.0, f32::max).sqrt()
}

impl Region {
    /// The inner sides of the first planes of a frustum.
    fn of(frustum: &Frustum, count: usize) -> Self {
        let planes = std::array::from_fn(|plane| frustum.half_spaces[plane].normal_d());
        Self::Planes { planes, count }
    }

    /// True if a sphere is not outside.
    fn meets(&self, centre: Vec3A, reach: f32) -> bool {
        match self {
            Self::Planes { planes, count } => {
                let centre = centre.extend(1.0);
                planes[..*count].iter().all(|plane| plane.dot(centre) + reach > 0.0)
            }
            Self::Sphere { centre: middle, radius } => {
                middle.distance_squared(centre) < (radius + reach) * (radius + reach)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy::camera::{CameraProjection, PerspectiveProjection};
    use bevy::math::Affine3A;

    use super::*;

    /// Bevy's culling, on the CPU and on the GPU, leaves no box that a view says it does not meet. Most of the others
    /// are the same.
    #[test]
    fn a_view_meets_all_that_bevy_does_not_cull() {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        let (mut met, mut kept) = (0, 0);
        for _ in 0..20_000 {
            let mut vector = |scale: f32| scale * Vec3::new(random(), random(), random());
            let camera = Transform::from_translation(vector(20.0)).looking_to(vector(1.0), Vec3::Y);
            let projection = PerspectiveProjection { fov: 1.0, ..default() };
            let frustum = projection.compute_frustum(&camera.into());
            // Any linear map, with shear.
            let linear = Mat3A::from_cols(vector(2.0).into(), vector(2.0).into(), vector(2.0).into());
            let place = Affine3A { matrix3: linear, translation: vector(20.0).into() };
            let bounds = Aabb { center: vector(1.0).into(), half_extents: vector(1.0).abs().into() };
            for (count, near) in [(ALL_BUT_FAR, true), (SIDES, false)] {
                let centre = place.transform_point3a(bounds.center);
                let meets = Region::of(&frustum, count).meets(centre, radius(linear, bounds.half_extents));
                let bevy_keeps = frustum.intersects_obb(&bounds, &place, near, false);
                assert!(meets || !bevy_keeps, "{bounds:?} at {place:?}");
                met += usize::from(meets);
                kept += usize::from(bevy_keeps);
            }
        }
        assert!(kept > 2_000 && met < 12_000 && met < kept * 2, "{met} are met, {kept} are kept");
    }

    #[test]
    fn a_point_light_meets_what_is_in_its_range() {
        let region = Region::Sphere { centre: Vec3A::new(1.0, 0.0, 0.0), radius: 5.0 };
        assert!(region.meets(Vec3A::new(7.5, 0.0, 0.0), 2.0));
        assert!(!region.meets(Vec3A::new(8.5, 0.0, 0.0), 1.0));
    }
}
