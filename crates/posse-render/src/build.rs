//! Builds scenes: uploads figures, each mesh once, and lists the draws for the instances of each batch.
//!
//! Joints, copies and placements that mirror exchange the front and the back of a mesh, for each instance by itself and
//! at any time of a clip. The fragment shader therefore decides which triangles are seen from outside. Figures of which
//! no instance can ever be mirrored leave that to the device, which then rasterizes half of their triangles only.

use std::collections::HashMap;

use glam::Affine3A;
use wgpu::BufferUsages as Usages;

use crate::draw::group;
use crate::placement::pack_colour;
use crate::record::{
    InstanceRecord, MaterialRecord, PART_HAS_SOURCES, PART_MAY_MIRROR, PartRecord, morph_deltas, rows,
};
use crate::scene::{BonesDraw, Draw};
use crate::{
    Alpha, Figure, Material, MaterialField, Mesh, Mover, Part, Placement, PoseBuffers, PropertyRole, Renderer, Scene,
    textures,
};
use posse::curves::{Curve, CurveEasing, Extrapolation, Interpolation, Target};
use posse::low_level::device::{Scopes, check_device, filled_buffer, largest_binding};
use posse::packed::OutputLayout;
use posse::{Error, Library, Skeleton, SkeletonId, SkinFormat};

impl Scene {
    /// Uploads figures and prepares to draw instances. `placements` has one entry per instance of the crowd, in its
    /// order. An instance without a figure shows only its bones. Bones need the model matrices in `poses`.
    ///
    /// Each draw reads the buffers of `poses` again: a scene stays valid while its crowd plays.
    ///
    /// # Errors
    /// [`Error::Limit`] if instances or morph targets exceed a binding of the device; [`Error::Usage`] if there are
    /// fewer placements than instances, if skin matrices do not have the format [`SkinFormat::Matrix`], or for an error
    /// of [`Figure::check`]; [`Error::Device`] if the device has too little memory.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new<'a>(
        renderer: &Renderer,
        library: &Library,
        figures: &[Figure],
        poses: impl IntoIterator<Item = PoseBuffers<'a>>,
        placements: &[Placement],
    ) -> Result<Self, Error> {
        pollster::block_on(Self::new_async(renderer, library, figures, poses, placements))
    }

    /// As `new`, for a browser.
    ///
    /// # Errors
    /// The errors of `new`.
    pub async fn new_async<'a>(
        renderer: &Renderer,
        library: &Library,
        figures: &[Figure],
        poses: impl IntoIterator<Item = PoseBuffers<'a>>,
        placements: &[Placement],
    ) -> Result<Self, Error> {
        figures.iter().try_for_each(|figure| figure.check(library))?;
        let scopes = Scopes::push(&renderer.device);
        let mut builder = Builder { renderer, library, scene: Self { draws: Vec::new(), bones: Vec::new() } };
        let result = builder.build(figures, poses, placements);
        scopes.pop().await?;
        check_device(&renderer.device).await?;
        result?;
        Ok(builder.scene)
    }
}

/// A scene that is being built.
struct Builder<'a> {
    renderer: &'a Renderer,
    library: &'a Library,
    scene: Scene,
}

/// The buffers of a figure, which all batches share.
struct Uploaded {
    meshes: Vec<MeshBuffers>,
    materials: Vec<UploadedMaterial>,
    /// The matrices of each list of copies.
    copies: Vec<wgpu::Buffer>,
    /// `true` if a joint or a skin of the skeleton can mirror.
    may_mirror: bool,
}

struct MeshBuffers {
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    deltas: wgpu::Buffer,
}

struct UploadedMaterial {
    record: wgpu::Buffer,
    base: wgpu::TextureView,
    emission: wgpu::TextureView,
    sampler: wgpu::Sampler,
}

impl Builder<'_> {
    fn build<'a>(
        &mut self,
        figures: &[Figure],
        poses: impl IntoIterator<Item = PoseBuffers<'a>>,
        placements: &[Placement],
    ) -> Result<(), Error> {
        let uploaded = figures.iter().map(|figure| self.upload(figure)).collect::<Result<Vec<_>, Error>>()?;
        for poses in poses {
            if poses.skin.is_some() && poses.layout.skin_format != SkinFormat::Matrix {
                let format = poses.layout.skin_format.name();
                return Err(Error::Usage(format!(
                    "a scene needs skin matrices of the format `matrix`, but the batch has `{format}`"
                )));
            }
            let mut records = Vec::with_capacity(poses.instances.len());
            let mut is_mirrored = false;
            for &instance in poses.instances {
                let placement = placements.get(instance).ok_or_else(|| {
                    Error::Usage(format!(
                        "instance {instance} has no placement; there are {}, one per instance is needed",
                        placements.len()
                    ))
                })?;
                records.push(InstanceRecord::new(placement));
                is_mirrored |= mirrors(&placement.transform);
            }
            let instances = self.storage_buffer("instances of a scene, in bytes", bytemuck::cast_slice(&records))?;
            let figure = figures.iter().zip(&uploaded).filter(|(figure, _)| figure.skeleton == poses.skeleton);
            for (figure, uploaded) in figure {
                let sources = Sources::new(figure, self.library.skeleton(figure.skeleton), poses.layout);
                let placed = PlacedInstances { instances: &instances, may_mirror: is_mirrored || uploaded.may_mirror };
                for part in &figure.parts {
                    self.add_draw(figure, uploaded, part, &poses, &sources, placed)?;
                }
            }
            if let Some(model) = poses.model {
                let figure = figures.iter().find(|figure| figure.skeleton == poses.skeleton);
                let colours = figure.map_or(&[][..], |figure| &figure.joint_colours);
                self.add_bones(&poses, model, &instances, colours)?;
            }
        }
        Ok(())
    }

    fn upload(&self, figure: &Figure) -> Result<Uploaded, Error> {
        let mesh = |mesh: &Mesh| {
            let bytes = |bytes: &[u8], usage| filled_buffer(self.renderer.gpu(), "mesh", bytes, usage);
            let vertices = bytes(bytemuck::cast_slice(&mesh.vertices), Usages::VERTEX);
            let indices = bytes(bytemuck::cast_slice(&mesh.indices), Usages::INDEX);
            let deltas =
                self.storage_buffer("morph targets of a mesh, in bytes", bytemuck::cast_slice(&morph_deltas(mesh)))?;
            Ok(MeshBuffers { vertices, indices, deltas })
        };
        let views: Vec<_> = figure
            .images
            .iter()
            .map(|image| textures::upload(&self.renderer.device, &self.renderer.queue, image))
            .collect();
        let material = |material: &Material| {
            let record = MaterialRecord::new(material);
            let record = filled_buffer(self.renderer.gpu(), "material", bytemuck::bytes_of(&record), Usages::UNIFORM);
            let texture = material.texture.as_ref();
            let view =
                |image: Option<usize>| image.and_then(|image| views.get(image)).unwrap_or(&self.renderer.white).clone();
            let (base, emission) = (view(texture.map(|texture| texture.image)), view(material.emissive_image));
            UploadedMaterial { record, base, emission, sampler: textures::sampler(&self.renderer.device, texture) }
        };
        let copies = |list: &Vec<Affine3A>| {
            let matrices: Vec<[[f32; 4]; 3]> = list.iter().map(rows).collect();
            self.storage_buffer("copies of a mesh, in bytes", bytemuck::cast_slice(&matrices))
        };
        Ok(Uploaded {
            meshes: figure.meshes.iter().map(mesh).collect::<Result<_, Error>>()?,
            materials: figure.materials.iter().map(material).collect(),
            copies: figure.copies.iter().map(copies).collect::<Result<_, Error>>()?,
            may_mirror: may_mirror(self.library, figure.skeleton),
        })
    }

    fn add_draw(
        &mut self,
        figure: &Figure,
        uploaded: &Uploaded,
        part: &Part,
        poses: &PoseBuffers,
        sources: &Sources,
        placed: PlacedInstances,
    ) -> Result<(), Error> {
        let mesh = &figure.meshes[part.mesh];
        let skeleton = self.library.skeleton(poses.skeleton);
        let (matrices, numbers, first_row, influences) = match part.mover {
            Mover::Skin(index) => {
                let skin = self.library.skins_of(poses.skeleton).nth(index);
                let first = skin.map_or(0, |(id, _)| poses.layout.skin_start(self.library, id));
                (poses.skin, poses.layout.skin, first / 4, mesh.influences())
            }
            Mover::Joint | Mover::Copies(_) => (poses.model, poses.layout.model, 3 * part.joint, 0),
        };
        let Some(matrices) = matrices else { return Ok(()) };
        let copies = figure.copies_of(part);
        if mesh.indices.is_empty() || copies.is_some_and(<[_]>::is_empty) {
            return Ok(());
        }
        let before = &skeleton.joints()[..part.joint];
        let first_value: usize = before.iter().map(|joint| joint.weights.len()).sum();
        let weights = skeleton.joints()[part.joint].weights.len().min(mesh.targets.len());
        let material = &figure.materials[part.material];
        let of_material = sources.materials.get(&part.material).copied().unwrap_or_default();
        let visibility = sources.visibility_of(skeleton, part.joint);
        let record = PartRecord {
            row_count: (numbers / 4) as u32,
            first_row: first_row as u32,
            influences,
            value_count: poses.layout.values as u32,
            first_value: first_value as u32,
            target_count: if written_weights(skeleton, poses.layout) == 0 { 0 } else { weights as u32 },
            vertex_count: mesh.vertices.len() as u32,
            copy_count: copies.map_or(0, <[_]>::len) as u32,
            visibility_count: visibility.len() as u32,
            cutoff: if matches!(material.alpha, Alpha::Mask(_)) { of_material.cutoff } else { 0 },
            flags: of_material.flags | if placed.may_mirror { PART_MAY_MIRROR } else { 0 },
            ..of_material
        };
        let values = poses.values.unwrap_or(&self.renderer.nothing);
        let visibility = match visibility.as_slice() {
            [] => self.renderer.nothing.clone(),
            indices => self.storage_buffer("visibility of a part, in bytes", bytemuck::cast_slice(indices))?,
        };
        let copy_matrices = match part.mover {
            Mover::Copies(list) => &uploaded.copies[list],
            Mover::Joint | Mover::Skin(_) => &self.renderer.nothing,
        };
        let MeshBuffers { vertices, indices, deltas } = &uploaded.meshes[part.mesh];
        let may_mirror = placed.may_mirror || copies.is_some_and(|copies| copies.iter().any(mirrors));
        let needed = poses.instances.len() as u64 * copies.map_or(1, <[_]>::len) as u64;
        let draw = Draw {
            poses: self.renderer.poses_group([matrices, values, placed.instances]),
            part: self.part_group(record, [deltas, copy_matrices, &visibility], &uploaded.materials[part.material]),
            vertices: vertices.clone(),
            indices: indices.clone(),
            vertex_count: mesh.vertices.len() as u32,
            index_count: mesh.indices.len() as u32,
            instance_count: count("copies of a mesh in a scene", needed)?,
            culled: !material.double_sided && !may_mirror,
            alpha: material.alpha,
        };
        self.scene.draws.push(draw);
        Ok(())
    }

    fn add_bones(
        &mut self,
        poses: &PoseBuffers,
        model: &wgpu::Buffer,
        instances: &wgpu::Buffer,
        colours: &[Option<[f32; 3]>],
    ) -> Result<(), Error> {
        let bones = bones(self.library, poses.skeleton, colours);
        if bones.is_empty() {
            return Ok(());
        }
        let per_instance = bones.len() as u32;
        let record =
            PartRecord { row_count: (poses.layout.model / 4) as u32, vertex_count: per_instance, ..Default::default() };
        let bones = self.storage_buffer("bones of a skeleton, in bytes", bytemuck::cast_slice(&bones))?;
        let plain = bytemuck::bytes_of(&MaterialRecord::new(&Material::default())).to_vec();
        let plain = filled_buffer(self.renderer.gpu(), "material", &plain, Usages::UNIFORM);
        let [base, emission] = [0, 1].map(|_| self.renderer.white.clone());
        let sampler = textures::sampler(&self.renderer.device, None);
        let material = UploadedMaterial { record: plain, base, emission, sampler };
        let nothing = &self.renderer.nothing;
        let part = self.part_group(record, [&bones, nothing, nothing], &material);
        let poses_group = self.renderer.poses_group([model, nothing, instances]);
        let count = count("bones of a scene", u64::from(per_instance) * poses.instances.len() as u64)?;
        self.scene.bones.push(BonesDraw { poses: poses_group, part, count });
        Ok(())
    }

    /// The bind group of a part. `buffers` are the buffers of its morph targets, copies and visibility.
    fn part_group(
        &self,
        record: PartRecord,
        buffers: [&wgpu::Buffer; 3],
        material: &UploadedMaterial,
    ) -> wgpu::BindGroup {
        let [deltas, copies, visibility] = buffers.map(wgpu::Buffer::as_entire_binding);
        let record = filled_buffer(self.renderer.gpu(), "part", bytemuck::bytes_of(&record), Usages::UNIFORM);
        let resources = [
            record.as_entire_binding(),
            deltas,
            material.record.as_entire_binding(),
            wgpu::BindingResource::TextureView(&material.base),
            wgpu::BindingResource::Sampler(&material.sampler),
            copies,
            visibility,
            wgpu::BindingResource::TextureView(&material.emission),
        ];
        group(&self.renderer.device, &self.renderer.layouts.part, &resources)
    }

    /// A storage buffer. Empty contents become 128 zero bytes, because a binding must not be empty.
    fn storage_buffer(&self, what: &str, contents: &[u8]) -> Result<wgpu::Buffer, Error> {
        let (needed, allowed) = (contents.len() as u64, largest_binding(&self.renderer.device));
        if needed > allowed {
            return Err(Error::Limit { what: what.into(), needed, allowed });
        }
        let contents = if contents.is_empty() { &[0; 128] } else { contents };
        Ok(filled_buffer(self.renderer.gpu(), what, contents, Usages::STORAGE))
    }
}

/// The linear colour of joints that the figure gives none.
const JOINT_COLOUR: [f32; 3] = [0.9, 0.36, 0.08];
/// The linear colour of bones that the figure gives none.
const BONE_COLOUR: [f32; 3] = [0.86, 0.80, 0.66];

/// The two ends of each bone, each joint paired with itself, and the colour of each of them in four bytes. Only joints
/// of skins are drawn, or all joints, if the skeleton has no skin; and none whose colour is `None`.
fn bones(library: &Library, id: SkeletonId, colours: &[Option<[f32; 3]>]) -> Vec<[u32; 4]> {
    let joints = library.skeleton(id).joints();
    let mut drawn = vec![false; joints.len()];
    for (_, skin) in library.skins_of(id) {
        skin.joints.iter().for_each(|&joint| drawn[joint] = true);
    }
    if !drawn.contains(&true) {
        drawn.fill(true);
    }
    drawn.iter_mut().zip(colours).for_each(|(drawn, colour)| *drawn &= colour.is_some());
    let colour = |joint: usize, usual| pack_colour(colours.get(joint).copied().flatten().unwrap_or(usual));
    let mut bones = Vec::new();
    for (index, joint) in joints.iter().enumerate().filter(|(index, _)| drawn[*index]) {
        bones.push([index as u32, index as u32, colour(index, JOINT_COLOUR), 0]);
        let parent = joint.parent.filter(|&parent| drawn[parent]);
        bones.extend(parent.map(|parent| [parent as u32, index as u32, colour(parent, BONE_COLOUR), 0]));
    }
    bones
}

/// The placed instances of a batch.
#[derive(Clone, Copy)]
struct PlacedInstances<'a> {
    instances: &'a wgpu::Buffer,
    /// `true` if a placement mirrors, or if a joint or a skin can.
    may_mirror: bool,
}

/// The places of the numbers of the properties of a figure among the values of an instance.
#[derive(Default)]
struct Sources {
    /// The index of the visibility of each joint that has one.
    visibility: HashMap<usize, u32>,
    /// The sources of each material that has some; the other fields are 0.
    materials: HashMap<usize, PartRecord>,
}

impl Sources {
    /// The sources of a figure. There are none if the properties are not written.
    fn new(figure: &Figure, skeleton: &Skeleton, layout: &OutputLayout) -> Self {
        let mut sources = Self::default();
        let weights = written_weights(skeleton, layout);
        if layout.values == weights {
            return sources;
        }
        let names = skeleton.properties().iter().map(|property| property.name.as_str());
        let ranges: HashMap<&str, _> = names.zip(skeleton.property_ranges()).collect();
        for property in &figure.properties {
            let Some(range) = ranges.get(property.name.as_str()) else { continue };
            let source =
                |number: usize| if number < range.len() { (1 + weights + range.start + number) as u32 } else { 0 };
            let (material, field) = match property.role {
                PropertyRole::Visible(joint) => {
                    sources.visibility.insert(joint, (weights + range.start) as u32);
                    continue;
                }
                PropertyRole::Material(material, field) => (material, field),
            };
            let record = sources.materials.entry(material).or_default();
            record.flags = PART_HAS_SOURCES;
            match field {
                MaterialField::BaseColour => record.base_colour = [0, 1, 2, 3].map(source),
                MaterialField::Emissive => record.emissive = [0, 1, 2].map(source),
                MaterialField::EmissiveStrength => record.emissive_strength = source(0),
                MaterialField::AlphaCutoff => record.cutoff = source(0),
                MaterialField::TextureOffset => record.texture_offset = [0, 1].map(source),
                MaterialField::TextureRotation => record.texture_rotation = source(0),
                MaterialField::TextureScale => record.texture_scale = [0, 1].map(source),
            }
        }
        sources
    }

    /// The indices of the numbers that show the parts of a joint: the numbers of the joint and of the joints above it.
    fn visibility_of(&self, skeleton: &Skeleton, joint: usize) -> Vec<u32> {
        if self.visibility.is_empty() {
            return Vec::new();
        }
        let joints = std::iter::once(joint).chain(skeleton.ancestors(joint));
        joints.filter_map(|joint| self.visibility.get(&joint).copied()).collect()
    }
}

/// The morph weights that are written per instance: all of a skeleton, or none.
fn written_weights(skeleton: &Skeleton, layout: &OutputLayout) -> usize {
    skeleton.weight_count().saturating_sub(layout.first_value)
}

/// A number of instances that a draw can have.
fn count(what: &str, needed: u64) -> Result<u32, Error> {
    u32::try_from(needed).map_err(|_| Error::Limit { what: what.into(), needed, allowed: u32::MAX.into() })
}

/// Returns `true` if a transform mirrors.
fn mirrors(transform: &Affine3A) -> bool {
    transform.matrix3.determinant() < 0.0
}

/// Returns `true` if a joint or a skin of a skeleton can mirror, in its rest pose or in a clip. Layers that mix
/// positive scales are taken to give positive scales.
fn may_mirror(library: &Library, id: SkeletonId) -> bool {
    let mut joints = library.skeleton(id).joints().iter();
    let mut inverse_binds = library.skins_of(id).flat_map(|(_, skin)| &skin.inverse_bind);
    let tracks = library.clips().iter().filter(|clip| clip.skeleton == id).flat_map(|clip| &clip.tracks);
    let mut scales = tracks.filter(|track| matches!(track.target, Target::Scale(_)));
    joints.any(|joint| match &joint.matrix {
        Some(matrix) => matrix.matrix3.determinant() < 0.0,
        None => joint.rest.scale.min_element() < 0.0,
    }) || inverse_binds.any(|matrix| matrix.matrix3.determinant() < 0.0)
        || scales.any(|track| may_be_negative(&track.curve))
}

/// Returns `true` if a curve can have a negative number: at a key, or beyond its keys by a spline, an easing or an
/// extrapolation.
fn may_be_negative(curve: &Curve) -> bool {
    let stays_between_keys = matches!(curve.interpolation(), Interpolation::Step | Interpolation::Linear)
        && *curve.easing() == CurveEasing::None
        && !curve.extrapolation().contains(&Extrapolation::Linear);
    let is_bounded = stays_between_keys || curve.is_constant();
    !is_bounded || curve.values().iter().any(|&number| number < 0.0)
}
