//! Builds scenes: uploads figures, each mesh once, and lists the draws for the instances of each batch.

use glam::DAffine3;
use wgpu::BufferUsages as Usages;

use crate::draw::group;
use crate::pipelines::Sides;
use crate::placement::pack_colour;
use crate::record::{InstanceRecord, MaterialRecord, PartRecord, morph_deltas};
use crate::scene::{BonesDraw, Draw};
use crate::{Figure, Material, Mesh, Mover, Part, Placement, PoseBuffers, Renderer, Scene, textures};
use posse::Error;
use posse::low_level::device::{Scopes, check_device, filled_buffer, largest_binding};
use posse::{Library, Skeleton, SkeletonId, SkinFormat};

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
    /// Those of `new`.
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
}

struct MeshBuffers {
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    deltas: wgpu::Buffer,
}

struct UploadedMaterial {
    record: wgpu::Buffer,
    texture: wgpu::TextureView,
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
            for &instance in poses.instances {
                let placement = placements.get(instance).ok_or_else(|| {
                    Error::Usage(format!(
                        "instance {instance} has no placement; there are {}, one per instance is needed",
                        placements.len()
                    ))
                })?;
                records.push(InstanceRecord::new(placement));
            }
            let instances = self.storage_buffer("instances of a scene, in bytes", bytemuck::cast_slice(&records))?;
            let figure = figures.iter().zip(&uploaded).filter(|(figure, _)| figure.skeleton == poses.skeleton);
            for (figure, uploaded) in figure {
                for part in &figure.parts {
                    self.add_draw(figure, uploaded, part, &poses, &instances)?;
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
            let view = texture.and_then(|texture| views.get(texture.image)).unwrap_or(&self.renderer.white);
            let sampler = textures::sampler(&self.renderer.device, texture);
            UploadedMaterial { record, texture: view.clone(), sampler }
        };
        Ok(Uploaded {
            meshes: figure.meshes.iter().map(mesh).collect::<Result<_, Error>>()?,
            materials: figure.materials.iter().map(material).collect(),
        })
    }

    fn add_draw(
        &mut self,
        figure: &Figure,
        uploaded: &Uploaded,
        part: &Part,
        poses: &PoseBuffers,
        instances: &wgpu::Buffer,
    ) -> Result<(), Error> {
        let mesh = &figure.meshes[part.mesh];
        let skeleton = self.library.skeleton(poses.skeleton);
        let (matrices, numbers, first_row, influences) = match part.mover {
            Mover::Skin(index) => {
                let skin = self.library.skins_of(poses.skeleton).nth(index);
                let first = skin.map_or(0, |(id, _)| poses.layout.skin_start(self.library, id));
                (poses.skin, poses.layout.skin, first / 4, mesh.influences())
            }
            Mover::Joint => (poses.model, poses.layout.model, 3 * part.joint, 0),
        };
        let Some(matrices) = matrices else { return Ok(()) };
        if mesh.indices.is_empty() {
            return Ok(());
        }
        let before = &skeleton.joints()[..part.joint];
        let first_value: usize = before.iter().map(|joint| joint.weights.len()).sum();
        let weights = skeleton.joints()[part.joint].weights.len().min(mesh.targets.len());
        let record = PartRecord {
            row_count: (numbers / 4) as u32,
            first_row: first_row as u32,
            influences,
            value_count: poses.layout.values as u32,
            first_value: first_value as u32,
            target_count: if poses.layout.values == 0 { 0 } else { weights as u32 },
            vertex_count: mesh.vertices.len() as u32,
            padding: 0,
        };
        let values = poses.values.unwrap_or(&self.renderer.nothing);
        let MeshBuffers { vertices, indices, deltas } = &uploaded.meshes[part.mesh];
        let material = &figure.materials[part.material];
        let uploaded_material = &uploaded.materials[part.material];
        let mirrored = part.mover == Mover::Joint && rest_matrices(skeleton)[part.joint].matrix3.determinant() < 0.0;
        let draw = Draw {
            poses: self.renderer.poses_group([matrices, values, instances]),
            part: self.part_group(record, deltas, uploaded_material),
            vertices: vertices.clone(),
            indices: indices.clone(),
            vertex_count: mesh.vertices.len() as u32,
            index_count: mesh.indices.len() as u32,
            instance_count: poses.instances.len() as u32,
            sides: match (material.double_sided, mirrored) {
                (true, _) => Sides::Both,
                (false, true) => Sides::Mirrored,
                (false, false) => Sides::Front,
            },
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
        let sampler = textures::sampler(&self.renderer.device, None);
        let material = UploadedMaterial { record: plain, texture: self.renderer.white.clone(), sampler };
        let part = self.part_group(record, &bones, &material);
        let poses_group = self.renderer.poses_group([model, &self.renderer.nothing, instances]);
        let needed = u64::from(per_instance) * poses.instances.len() as u64;
        let count = u32::try_from(needed).map_err(|_| Error::Limit {
            what: "bones of a scene".into(),
            needed,
            allowed: u32::MAX.into(),
        })?;
        self.scene.bones.push(BonesDraw { poses: poses_group, part, count });
        Ok(())
    }

    fn part_group(&self, record: PartRecord, deltas: &wgpu::Buffer, material: &UploadedMaterial) -> wgpu::BindGroup {
        let record = filled_buffer(self.renderer.gpu(), "part", bytemuck::bytes_of(&record), Usages::UNIFORM);
        let resources = [
            record.as_entire_binding(),
            deltas.as_entire_binding(),
            material.record.as_entire_binding(),
            wgpu::BindingResource::TextureView(&material.texture),
            wgpu::BindingResource::Sampler(&material.sampler),
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

/// The model matrices of the rest pose.
fn rest_matrices(skeleton: &Skeleton) -> Vec<DAffine3> {
    let mut rest: Vec<DAffine3> = Vec::with_capacity(skeleton.joints().len());
    for joint in skeleton.joints() {
        let local = joint.matrix.unwrap_or_else(|| joint.rest.to_affine());
        rest.push(joint.parent.map_or(local, |parent| rest[parent] * local));
    }
    rest
}
