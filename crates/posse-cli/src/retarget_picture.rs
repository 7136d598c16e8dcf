//! The picture of `posse retarget --picture`: source and target side by side, in the two poses that look alike and at
//! times of the clips, so that a person sees whether the retargeting is right.
//!
//! A clip has two rows: the bones of the source, and the target with its meshes, or with its bones if it has none. Both
//! stand upright on the ground that the retargeting found. The target faces the camera at an angle, and the source is
//! rotated as the retargeting rotates its space. So both rows look the same if the retargeting is right. In each
//! column, the figures stand in the middle, and rigs of other sizes are scaled so that figures are equally high.
//!
//! The camera is far away, so that it sees each column from the same direction. A column is one unit wide in its world.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Vec3};
use posse::curves::{Curve, Interpolation, Timeline, Track};
use posse::gpu::{GpuContext, GpuCrowd, GpuLibrary};
use posse::retarget::{ReferencePose, RetargetedClip, Retargeting};
use posse::{Clip, Crowd, Error, Evaluator, Layer, LayerTime, Library, Outputs, Pose, Reference, SkeletonId, Ticks};
use posse_render::encode::write_png;
use posse_render::{
    Background, Bones, Bounds, Camera, Canvas, Figure, Picture, Placement, PoseBuffers, Renderer, Scene, Stage, Target,
    View, needed_outputs,
};

use crate::arguments::{check_limit, parse_size};
use crate::engine::AdapterArgs;
use crate::output::{Output, declare_output, file_name, note};
use crate::retarget_colours::{BodySide, INK, coloured_body};
use crate::retargeting::Retargeted;
use crate::source::Rig as RigFile;

/// The number of times of a clip.
const TIMES: usize = 5;
/// The number of columns: the two poses that look alike, and the times.
const COLUMNS: usize = TIMES + 1;
/// The largest number of clips in a picture.
const MAX_CLIPS: usize = 4;
/// The default size of a clip's two rows, in pixels.
const SIZE: [u32; 2] = [1440, 660];
/// The smallest width and height of a figure, in pixels.
const MIN_CELL: u32 = 8;

/// The longest title of a column.
const LONGEST_TITLE: &str = "source, reference";
/// The background and the ground, in sRGB.
const BACKGROUND: [u8; 3] = [238, 240, 243];
/// The angle in radians by which figures are rotated from the direction to the camera.
const YAW: f64 = -0.55;
/// The angle of the camera above the ground, in radians.
const ELEVATION: f32 = 0.16;
/// The vertical field of view in radians. The smaller it is, the more parallel are the lines of sight.
const FIELD_OF_VIEW: f32 = 0.02;
/// The free space on each side of a figure, as a share of its height.
const MARGIN: f64 = 0.06;
/// The lowest, the highest and the farthest point sideways that the camera shows, in heights of a figure. What is
/// beyond, as after a retargeting that went wrong, is cut off.
const SHOWN: [f64; 3] = [-1.0, 2.5, 1.5];
/// The height of a joint up to which a figure stands on the ground at 0, as a share of its height.
const MAX_ABOVE_GROUND: f64 = 0.1;
/// The height of a head above the joints that measure a figure, as a share of their height.
const CROWN: f64 = 0.15;
/// The largest ratio of two proportions of figures that are scaled by the lengths of leg and trunk. Figures with other
/// proportions, such as those with large heads, are scaled by what is drawn.
const MAX_PROPORTION: f64 = 1.3;
/// The number of vertices of a part from which the picture is measured.
const MEASURED_VERTICES: usize = 4000;
/// The size of a figure for the renderer, in heights of a figure: it scales bones, the grid and the softness of
/// shadows.
const FIGURE_SIZE: f64 = 1.3;

/// The arguments of the picture.
#[derive(Debug, clap::Args)]
pub struct PictureArgs {
    /// Draws a .png of SOURCE and TARGET side by side: the two poses that look alike, and five times of each clip.
    ///
    /// Each clip has two rows: the bones of SOURCE, and TARGET. Left limbs are blue and right limbs orange. Both rows
    /// look the same if the retargeting is right. Of more than four clips, the first four are drawn. Without -o,
    /// nothing else is written.
    #[arg(long, value_name = "OUT.png")]
    picture: Option<PathBuf>,
    /// The size of the picture in pixels. Default: 1440x660 for each clip.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_size, requires = "picture")]
    size: Option<[u32; 2]>,
    #[command(flatten)]
    adapter: AdapterArgs,
}

impl PictureArgs {
    /// Returns `true` if a picture is to be drawn.
    pub fn is_wanted(&self) -> bool {
        self.picture.is_some()
    }

    /// Checks the name, the folder and the size of the picture.
    ///
    /// # Errors
    /// [`Error::Usage`] and [`Error::Limit`] with what is wrong.
    pub fn check(&self) -> Result<(), Error> {
        let Some(file) = &self.picture else {
            return match self.adapter.is_given() {
                true => Err(Error::Usage("--adapter is for the adapter that draws; add --picture".into())),
                false => Ok(()),
            };
        };
        if !file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
            return Err(Error::Usage(format!("{}: the name of the picture must end with .png", file.display())));
        }
        if let Some([width, height]) = self.size {
            check_limit("pixels of a picture", u64::from(width) * u64::from(height), Canvas::MAX_PIXELS)?;
        }
        declare_output(file)
    }

    /// Opens the adapter for a picture of clips. `None` without `--picture`.
    ///
    /// # Errors
    /// [`Error::Usage`] if the size is too small for the figures; the errors of [`AdapterArgs::open_to_draw`].
    pub fn open(&self, clips: usize) -> Result<Option<PictureFile>, Error> {
        let Some(file) = self.picture.clone() else { return Ok(None) };
        let drawn = clips.min(MAX_CLIPS);
        let size = self.size.unwrap_or([SIZE[0], SIZE[1] * drawn as u32]);
        let page = Page::new(size, drawn as u32);
        if page.cell.into_iter().min() < Some(MIN_CELL) {
            let [width, height] = size;
            let rows = 2 * drawn;
            return Err(Error::Usage(format!(
                "{COLUMNS} x {rows} figures do not fit {width} x {height} pixels; give a larger --size"
            )));
        }
        let gpu = self.adapter.open_to_draw()?;
        if drawn < clips {
            note(&format!("picture: the first {drawn} of {clips} clips are drawn; --clip selects others"));
        }
        Canvas::check_size(&gpu.device, size)?;
        Ok(Some(PictureFile { file, page, gpu }))
    }
}

/// The division of the picture into rows and lines of text, in pixels.
#[derive(Debug, Clone, Copy)]
struct Page {
    size: [u32; 2],
    /// The height of the two rows of a clip, with their text.
    clip: u32,
    /// The width and the height of a figure.
    cell: [u32; 2],
    /// The height of a line of text; 0 if the picture is too small for text.
    line: u32,
    /// The size of the points of letters.
    point: u32,
}

impl Page {
    fn new(size: [u32; 2], clips: u32) -> Self {
        let clip = size[1] / clips.max(1);
        let point = (size[0] / 700).max(1);
        let width = size[0] / COLUMNS as u32;
        let has_text = 10 * 15 * point <= clip && Picture::text_width(LONGEST_TITLE, point) <= width;
        let line = if has_text { 15 * point } else { 0 };
        // A line for the clip, and one above each row.
        let cell = [width, clip.saturating_sub(3 * line) / 2];
        Self { size, clip, cell, line, point }
    }

    /// The upper edge of a row of figures.
    fn top(&self, row: usize) -> u32 {
        let (clip, second) = (row as u32 / 2, row as u32 % 2);
        clip * self.clip + 2 * self.line + second * (self.cell[1] + self.line)
    }

    /// Writes a text into a line, in the middle between two columns of pixels, or as near as it fits.
    fn write(&self, picture: &mut Picture, text: &str, [left, right]: [u32; 2], top: u32, colour: [u8; 3]) {
        let width = Picture::text_width(text, self.point);
        let left = left + right.saturating_sub(left).saturating_sub(width) / 2;
        let [red, green, blue] = colour;
        picture.write_text(text, left, top + self.line / 5, self.point, [red, green, blue, 255]);
    }
}

/// A picture that is to be drawn and written, with its adapter.
pub struct PictureFile {
    file: PathBuf,
    page: Page,
    gpu: GpuContext,
}

impl PictureFile {
    /// Draws a retargeting of the clips of `file` to the rig of `target`.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost or out of memory; the errors of the engines.
    pub fn draw(&self, retargeted: &mut Retargeted, file: &Path, target: &RigFile) -> Result<Picture, Error> {
        let Retargeted { source, retargeting, options, .. } = &mut *retargeted;
        let map = &retargeting.map;
        let layers = [
            layer(&mut source.library, map.source, &options.reference)?,
            layer(&mut source.library, map.target, &options.target_pose)?,
        ];
        let rigs = Rigs::new(retargeted, &layers, target)?;
        let mut rows = Vec::new();
        for clip in rigs.clips() {
            for (side, layer) in layers.iter().enumerate() {
                rows.push(Row::new(&rigs, side, clip, layer)?);
            }
        }
        let mut picture = self.draw_rows(&rigs, &rows)?;
        if self.page.line > 0 {
            self.write_texts(&mut picture, &rigs, [file, &target.path], layers.map(|layer| layer.is_none()));
        }
        Ok(picture)
    }

    /// Writes the picture.
    ///
    /// # Errors
    /// [`Error::Io`] with the name of the file.
    pub fn write(&self, picture: &Picture) -> Result<(), Error> {
        let mut output = Output::create(Some(&self.file))?;
        output.write(|out| write_png(out, picture))?;
        output.finish()
    }

    fn draw_rows(&self, rigs: &Rigs, rows: &[Row]) -> Result<Picture, Error> {
        let (Page { size, cell, .. }, target) = (self.page, Target::default());
        let shown = ShownArea::new(rows, rigs, cell);
        let [red, green, blue] = BACKGROUND;
        let mut picture = Picture::filled(size, [red, green, blue, 255]);
        let canvas = Canvas::new(&self.gpu.device, target, [size[0], cell[1]])?;
        let library = GpuLibrary::new(&self.gpu, rigs.library)?;
        let renderer = Renderer::new(&self.gpu.device, &self.gpu.queue, target)?;
        for (index, row) in rows.iter().enumerate() {
            let figures = std::slice::from_ref(&row.rig.figure);
            let bones = if row.rig.figure.parts.is_empty() { Bones::Solid } else { Bones::Hidden };
            let crowd = GpuCrowd::new(&library, &row.crowd, needed_outputs(figures, bones != Bones::Hidden))?;
            let poses = crowd.batches().iter().map(PoseBuffers::from);
            let scene = Scene::new(&renderer, rigs.library, figures, poses, &shown.placements(index, row))?;
            let view = shown.view(index, bones, canvas.aspect());
            let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
            crowd.encode(&mut encoder, Ticks(0));
            let drawn = Picture::draw(&renderer, encoder, &canvas, &scene, &view)?;
            picture.paste(&drawn, 0, self.page.top(index));
        }
        Ok(picture)
    }

    /// Writes the names of files and clips, the meaning of the colours, and the titles of the columns.
    fn write_texts(&self, picture: &mut Picture, rigs: &Rigs, files: [&Path; 2], are_at_rest: [bool; 2]) {
        let [source, target] = files.map(file_name);
        let page = &self.page;
        let Page { size: [width, _], point, .. } = *page;
        for (index, clip) in rigs.clips().enumerate() {
            let top = index as u32 * page.clip;
            let name = rigs.library.clip(clip.source).name.as_deref().unwrap_or("unnamed");
            let mut right = width;
            for (side, name) in [(BodySide::Right, "right"), (BodySide::Left, "left")] {
                if rigs.rigs.iter().any(|rig| rig.sides.contains(&side)) {
                    let left = right.saturating_sub(Picture::text_width(name, point) + 12 * point);
                    page.write(picture, name, [left, right], top, side.bytes());
                    right = left;
                }
            }
            let fits = (right / Picture::text_width(" ", point)).saturating_sub(1);
            let text: String = format!("{source} onto {target}, clip {name}").chars().take(fits as usize).collect();
            page.write(picture, &text, [6 * point; 2], top, INK);
            let duration = rigs.library.clip(clip.source).duration();
            for (side, name) in ["source", "target"].into_iter().enumerate() {
                let top = page.top(2 * index + side) - page.line;
                for column in 0..COLUMNS {
                    let text = match column.checked_sub(1) {
                        None if are_at_rest[side] => format!("{name}, at rest"),
                        None => format!("{name}, reference"),
                        Some(index) if duration < 0.25 => format!("{:.3} s", time(duration, index)),
                        Some(index) => format!("{:.2} s", time(duration, index)),
                    };
                    let edges = [column, column + 1].map(|column| (column as u32 * width) / COLUMNS as u32);
                    page.write(picture, &text, edges, top, INK);
                }
            }
        }
    }
}

/// The time of one of the pictures of a clip. None has the time of the end, which is the start of the next pass.
fn time(duration: f64, index: usize) -> f64 {
    duration * index as f64 / TIMES as f64
}

/// The layer of a pose; `None` for the rest pose.
fn layer(library: &mut Library, skeleton: SkeletonId, pose: &ReferencePose) -> Result<Option<Layer>, Error> {
    let local = match pose {
        ReferencePose::Rest => return Ok(None),
        ReferencePose::Clip { clip, time } => return Ok(Some(Layer::new(*clip, LayerTime::At(*time)))),
        ReferencePose::Local(local) => local,
    };
    let timeline = Arc::new(Timeline::new(vec![0.0])?);
    let mut tracks = Vec::with_capacity(3 * local.len());
    let joints = library.skeleton(skeleton).joints();
    // A joint that is given by a matrix cannot be animated.
    for (joint, transform) in local.iter().enumerate().filter(|(joint, _)| joints[*joint].matrix.is_none()) {
        let curve = |values: &[f64]| Curve::new(timeline.clone(), Interpolation::Linear, values.len(), values.to_vec());
        let [translation, scale] = [transform.translation, transform.scale].map(|vector| curve(&vector.to_array()));
        tracks.push(Track::new(posse::curves::Target::Translation(joint), translation?));
        tracks.push(Track::new(posse::curves::Target::Rotation(joint), curve(&transform.rotation.to_array())?));
        tracks.push(Track::new(posse::curves::Target::Scale(joint), scale?));
    }
    let clip = library.add_clip(Clip::new(None, skeleton, tracks))?;
    Ok(Some(Layer::new(clip, LayerTime::At(0.0))))
}

/// A skeleton of the retargeting, as it stands in its rows.
struct PicturedRig {
    skeleton: SkeletonId,
    figure: Figure,
    sides: Vec<BodySide>,
    /// The joints of the body: the paired ones, and all below them.
    is_body: Vec<bool>,
    /// The joint above the point on the ground from which places in a column are measured.
    root: usize,
    /// The up axis.
    up: DVec3,
    /// The rotation from the space of the skeleton to the space of the picture.
    rotation: DQuat,
    /// The height of the ground of the reference pose.
    ground: f64,
}

impl PicturedRig {
    /// The places of the body's joints in a pose.
    fn joints(&self, pose: &Pose) -> impl Iterator<Item = DVec3> {
        let joints = pose.model.iter().zip(&self.is_body).filter(|(_, is_body)| **is_body);
        joints.map(|(matrix, _)| matrix.translation)
    }
}

/// The two skeletons of a retargeting: source and target.
struct Rigs<'a> {
    library: &'a Library,
    retargeting: &'a Retargeting,
    rigs: [PicturedRig; 2],
    /// The heights of the figures by the lengths of leg and trunk. `None` if they are not known on both sides.
    heights: Option<[f64; 2]>,
}

impl<'a> Rigs<'a> {
    /// `layers` are the layers of the reference pose and of the target's pose.
    fn new(retargeted: &'a Retargeted, layers: &[Option<Layer>; 2], target: &RigFile) -> Result<Self, Error> {
        let Retargeted { source, retargeting, .. } = retargeted;
        let library = &source.library;
        let map = &retargeting.map;
        let ids = [map.source, map.target];
        let pose = |side: usize| pose_of(library, ids[side], layers[side].as_slice());
        let poses = [pose(0)?, pose(1)?];
        let front = front(&poses[1].model, &retargeting.roles[1], retargeting.target_up);
        let upright = upright(retargeting.target_up, front);
        let roots = map.root.and_then(|root| Some([root, map.target_of(root)?]));
        let roots = roots.or_else(|| map.pairs.first().map(|pair| [pair.source, pair.target])).unwrap_or([0, 0]);
        let rig = |side: usize| {
            let (sides, is_body) = sides(library, retargeting, side);
            let colour = |(side, is_body): (&BodySide, &bool)| is_body.then(|| side.colour());
            let joint_colours = sides.iter().zip(&is_body).map(colour).collect();
            let (up, rotation) = match side {
                0 => (retargeting.source_up, upright * retargeting.space),
                _ => (retargeting.target_up, upright),
            };
            let figure = Figure { joint_colours, ..Figure::empty(ids[side]) };
            PicturedRig { skeleton: ids[side], figure, sides, is_body, root: roots[side], up, rotation, ground: 0.0 }
        };
        let mut rigs = [rig(0), rig(1)];
        let joint_colours = rigs[1].figure.joint_colours.clone();
        let body = coloured_body(retargeted, ids[1], &rigs[1].sides, &rigs[1].is_body, target)?;
        rigs[1].figure = Figure { joint_colours, ..body };
        for (rig, pose) in rigs.iter_mut().zip(&poses) {
            rig.ground = ground(&rig.joints(pose).collect::<Vec<_>>(), rig.up);
        }
        Ok(Self { library, retargeting, rigs, heights: heights(library, retargeting, &poses) })
    }

    /// The clips that are drawn.
    fn clips(&self) -> impl Iterator<Item = &'a RetargetedClip> {
        self.retargeting.clips.iter().take(MAX_CLIPS)
    }
}

/// The height of the ground below the joints of a body: 0, unless the lowest joint is far from it. 0 without joints.
fn ground(joints: &[DVec3], up: DVec3) -> f64 {
    let mut bounds = Bounds::EMPTY;
    joints.iter().for_each(|place| bounds.add(place.as_vec3()));
    let lowest = joints.iter().map(|place| place.dot(up)).fold(f64::INFINITY, f64::min);
    let most = MAX_ABOVE_GROUND * f64::from(bounds.size().max_element());
    if joints.is_empty() || lowest.abs() <= most { 0.0 } else { lowest }
}

/// The side of each joint of a skeleton of a retargeting, and whether it is one of the body: a paired one, or below
/// one. A joint without a role has the side of its partner, or else the side of the joint above.
fn sides(library: &Library, retargeting: &Retargeting, side: usize) -> (Vec<BodySide>, Vec<bool>) {
    let map = &retargeting.map;
    let joints = library.skeleton([map.source, map.target][side]).joints();
    let mut partners = vec![None; joints.len()];
    for pair in &map.pairs {
        let [own, other] = if side == 0 { [pair.source, pair.target] } else { [pair.target, pair.source] };
        partners[own] = Some(other);
    }
    let (mut sides, mut is_body) = (Vec::with_capacity(joints.len()), Vec::with_capacity(joints.len()));
    for (joint, node) in joints.iter().enumerate() {
        let partner = partners[joint].and_then(|other| retargeting.roles[1 - side][other].as_deref());
        let role = retargeting.roles[side][joint].as_deref().or(partner);
        let above = node.parent.map(|parent| (sides[parent], is_body[parent]));
        let (of_parent, is_below) = above.unwrap_or((BodySide::Middle, false));
        sides.push(role.map_or(of_parent, BodySide::of_role));
        is_body.push(partners[joint].is_some() || is_below);
    }
    (sides, is_body)
}

/// The pose of a skeleton with layers.
fn pose_of(library: &Library, skeleton: SkeletonId, layers: &[Layer]) -> Result<Pose, Error> {
    let mut crowd = Crowd::new();
    crowd.push(skeleton, layers)?;
    let poses = Reference::new(library).evaluate(&crowd, Ticks(0), Outputs { model: true, ..Outputs::NONE })?;
    Ok(poses.instances.into_iter().next().unwrap_or_default())
}

/// The heights of the figures of source and target, in their own units, from the lengths of leg and trunk, which are
/// the same in all poses. `None` without legs or heads on both sides.
fn heights(library: &Library, retargeting: &Retargeting, poses: &[Pose; 2]) -> Option<[f64; 2]> {
    let ids = [retargeting.map.source, retargeting.map.target];
    ["head", "neck"].into_iter().find_map(|head| {
        let of_side = |side: usize| {
            let (model, roles) = (&poses[side].model, &retargeting.roles[side]);
            let bones = BoneChain { library, skeleton: ids[side], model, roles };
            let leg =
                bones.length("leftUpperLeg", "leftFoot").or_else(|| bones.length("rightUpperLeg", "rightFoot"))?;
            Some((leg + bones.length("hips", head)?) * (1.0 + CROWN))
        };
        Some([of_side(0)?, of_side(1)?])
    })
}

/// The bones of a skeleton, to measure.
struct BoneChain<'a> {
    library: &'a Library,
    skeleton: SkeletonId,
    model: &'a [DAffine3],
    roles: &'a [Option<String>],
}

impl BoneChain<'_> {
    /// The length of the bones from one role down to another. `None` if the one is not above the other, or the length
    /// is 0.
    fn length(&self, from: &str, to: &str) -> Option<f64> {
        let joint_of = |role: &str| self.roles.iter().position(|other| other.as_deref() == Some(role));
        let (from, mut joint) = (joint_of(from)?, joint_of(to)?);
        let joints = self.library.skeleton(self.skeleton).joints();
        let mut length = 0.0;
        while joint != from {
            let parent = joints[joint].parent?;
            length += self.model[joint].translation.distance(self.model[parent].translation);
            joint = parent;
        }
        (length > 0.0).then_some(length)
    }
}

/// The direction to which a figure faces, from the sides of its legs or arms. `None` if they are not known.
fn front(model: &[DAffine3], roles: &[Option<String>], up: DVec3) -> Option<DVec3> {
    let place = |role: String| {
        let joint = roles.iter().position(|other| other.as_ref() == Some(&role))?;
        Some(model.get(joint)?.translation)
    };
    ["UpperLeg", "UpperArm"].iter().find_map(|part| {
        let left = place(format!("left{part}"))? - place(format!("right{part}"))?;
        left.cross(up).try_normalize()
    })
}

/// The rotation that makes a figure stand along +Y and face the camera at an angle. Without a front, +Z counts as it,
/// or -Y if +Z is up.
fn upright(up: DVec3, front: Option<DVec3>) -> DQuat {
    let usual = if up.z.abs() > 0.5 { DVec3::NEG_Y * up.z.signum() } else { DVec3::Z };
    let ahead = front.unwrap_or(usual);
    let axes = DMat3::from_cols(up.cross(ahead), up, ahead);
    DQuat::from_rotation_y(YAW) * DQuat::from_mat3(&axes.transpose())
}

/// A row of the picture: a rig in each column.
struct Row<'a> {
    /// 0: source, 1: target.
    side: usize,
    rig: &'a PicturedRig,
    crowd: Crowd,
    poses: Vec<Pose>,
    /// The height of the ground in each column.
    grounds: [f64; COLUMNS],
}

impl<'a> Row<'a> {
    /// The row of a clip on the skeleton of a side.
    fn new(rigs: &'a Rigs, side: usize, clip: &RetargetedClip, reference: &Option<Layer>) -> Result<Self, Error> {
        let rig = &rigs.rigs[side];
        let id = [clip.source, clip.clip][side];
        let duration = rigs.library.clip(clip.source).duration();
        let mut crowd = Crowd::new();
        crowd.push(rig.skeleton, reference.as_slice())?;
        for index in 0..TIMES {
            crowd.push(rig.skeleton, &[Layer::new(id, LayerTime::At(time(duration, index)))])?;
        }
        let outputs = Outputs { model: true, skin: true, weights: true, ..Outputs::NONE };
        let poses = Reference::new(rigs.library).evaluate(&crowd, Ticks(0), outputs)?.instances;
        let ground = match clip.ground {
            Some(of_source) => [of_source, 0.0][side],
            None => rig.ground,
        };
        let grounds = [rig.ground, ground, ground, ground, ground, ground];
        Ok(Self { side, rig, crowd, poses, grounds })
    }

    /// The point of a column on the ground below the root.
    fn foot(&self, column: usize) -> DVec3 {
        let PicturedRig { root, up, .. } = *self.rig;
        let root = self.poses.get(column).and_then(|pose| pose.model.get(root));
        let root = root.map_or(DVec3::ZERO, |matrix| matrix.translation);
        root + (self.grounds[column] - root.dot(up)) * up
    }

    /// The joints of the body and vertices of the meshes in a column, from the point on the ground, in the space of the
    /// picture and in units of the skeleton.
    fn points(&self, column: usize, library: &Library) -> Vec<DVec3> {
        let (rig, foot) = (self.rig, self.foot(column));
        let Some(pose) = self.poses.get(column) else { return Vec::new() };
        let mut points: Vec<DVec3> = rig.joints(pose).collect();
        for part in &rig.figure.parts {
            let step = rig.figure.meshes[part.mesh].vertices.len().div_ceil(MEASURED_VERTICES);
            points.extend(rig.figure.positions(part, library.skeleton(rig.skeleton), pose, step));
        }
        points.iter_mut().for_each(|point| *point = rig.rotation * (*point - foot));
        points.retain(|point| point.is_finite());
        points
    }
}

/// What the camera shows of the rows.
struct ShownArea {
    /// The heights of the figures of source and target, in units of their skeletons.
    heights: [f64; 2],
    /// The width of a column, in heights of a figure.
    width: f64,
    /// The middle of a row, in heights of a figure above the ground, along the upward direction of the picture.
    middle: f64,
    rows: Vec<Vec<ShownFigure>>,
}

/// A figure in a column, in heights of a figure.
struct ShownFigure {
    /// The points, from that on the ground.
    points: Vec<DVec3>,
    /// The distance to the left from the point on the ground to the middle of the column.
    left: f64,
}

impl ShownFigure {
    /// The smallest and the largest of the coordinates of the points along a direction; 0 without points.
    fn range(&self, along: DVec3) -> [f64; 2] {
        let coordinates = self.points.iter().map(|point| point.dot(along));
        let range = coordinates.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], at| [low.min(at), high.max(at)]);
        if self.points.is_empty() { [0.0; 2] } else { range }
    }
}

impl ShownArea {
    fn new(rows: &[Row], rigs: &Rigs, cell: [u32; 2]) -> Self {
        let figures = |row: &Row| {
            let figure = |column| ShownFigure { points: row.points(column, rigs.library), left: 0.0 };
            (0..COLUMNS).map(figure).collect()
        };
        let mut shown = Self { heights: [1.0; 2], width: 1.0, middle: 0.0, rows: rows.iter().map(figures).collect() };
        shown.scale(rows, rigs.heights);
        shown.centre();
        shown.fit(cell);
        shown
    }

    /// Scales the figures to a height of 1.
    fn scale(&mut self, rows: &[Row], heights: Option<[f64; 2]>) {
        let mut drawn = [0.0_f64; 2];
        for (row, figures) in rows.iter().zip(&self.rows) {
            for figure in &figures[1..] {
                let [low, high] = figure.range(DVec3::Y);
                drawn[row.side] = drawn[row.side].max(high - low);
            }
        }
        let drawn = drawn.map(|height| if height > 0.0 { height } else { 1.0 });
        let alike = |known: &[f64; 2]| {
            let proportion = (drawn[0] / known[0]) / (drawn[1] / known[1]);
            (1.0 / MAX_PROPORTION..MAX_PROPORTION).contains(&proportion)
        };
        self.heights = heights.filter(alike).unwrap_or(drawn);
        for (row, figures) in rows.iter().zip(&mut self.rows) {
            let scale = 1.0 / self.heights[row.side];
            figures.iter_mut().flat_map(|figure| &mut figure.points).for_each(|point| *point *= scale);
        }
    }

    /// Brings the figures into the middle of their columns: source and target at a time of a clip together, so
    /// that they stand one below the other.
    fn centre(&mut self) {
        for pair in self.rows.chunks_mut(2) {
            for column in 0..COLUMNS {
                let ranges: Vec<[f64; 2]> = pair.iter().map(|row| row[column].range(DVec3::X)).collect();
                let both = ranges.iter().fold(ranges[0], |both, range| [both[0].min(range[0]), both[1].max(range[1])]);
                for (row, own) in pair.iter_mut().zip(&ranges) {
                    let [low, high] = if column == 0 { *own } else { both };
                    row[column].left = 0.5 * (low + high);
                }
            }
        }
    }

    /// Finds the width of a column and the middle of a row that show all figures.
    fn fit(&mut self, cell: [u32; 2]) {
        let [right, up, _] = Self::camera().axes().map(|axis| axis.as_dvec3());
        let (mut half, mut low, mut high) = (0.0_f64, 0.0_f64, 0.0_f64);
        for figure in self.rows.iter().flatten() {
            let [of_left, of_right] = figure.range(right);
            half = half.max(figure.left - of_left).max(of_right - figure.left);
            let [of_low, of_high] = figure.range(up);
            (low, high) = (low.min(of_low), high.max(of_high));
        }
        let [lowest, highest, farthest] = SHOWN;
        let (low, high) = (low.max(lowest) - MARGIN, high.min(highest) + MARGIN);
        let half = half.min(farthest) + MARGIN;
        let [width, height] = cell.map(f64::from);
        let pixels = (0.5 * width / half).min(height / (high - low));
        (self.width, self.middle) = (width / pixels, 0.5 * (low + high));
    }

    /// The place on the ground in the middle of a column.
    fn place(column: usize) -> DVec3 {
        DVec3::new(column as f64 + 0.5, 0.0, 0.0)
    }

    fn placements(&self, index: usize, row: &Row) -> Vec<Placement> {
        let scale = 1.0 / (self.heights[row.side] * self.width);
        let placement = |(column, figure): (usize, &ShownFigure)| {
            let offset = Self::place(column) - figure.left / self.width * DVec3::X;
            let offset = offset - scale * (row.rig.rotation * row.foot(column));
            let (scale, rotation) = (Vec3::splat(scale as f32), row.rig.rotation.as_quat());
            let transform = Affine3A::from_scale_rotation_translation(scale, rotation, offset.as_vec3());
            Placement { transform, ..Placement::default() }
        };
        self.rows[index].iter().enumerate().map(placement).collect()
    }

    /// The camera without its place.
    fn camera() -> Camera {
        Camera { azimuth: 0.0, elevation: ELEVATION, field_of_view: FIELD_OF_VIEW, ..Camera::default() }
    }

    /// The view of a row, in pictures of an aspect ratio of width to height.
    fn view(&self, row: usize, bones: Bones, aspect: f32) -> View {
        let height = COLUMNS as f32 / aspect;
        let camera = Self::camera();
        let [_, up, _] = camera.axes();
        let target = Vec3::new(0.5 * COLUMNS as f32, 0.0, 0.0) + (self.middle / self.width) as f32 * up;
        let camera = Camera { target, distance: 0.5 * height / (0.5 * FIELD_OF_VIEW).tan(), ..camera };
        let mut bounds = Bounds::EMPTY;
        // The ground is the lower side.
        [0.0, COLUMNS as f32].iter().for_each(|x| bounds.add(Vec3::new(*x, 0.0, 0.0)));
        let [_, highest, farthest] = SHOWN;
        let [low, high] = [DVec3::new(-farthest, 0.0, -farthest), DVec3::new(farthest, highest, farthest)];
        for (column, figure) in self.rows[row].iter().enumerate() {
            let points = figure.points.iter().map(|point| (*point - figure.left * DVec3::X).clamp(low, high));
            points.for_each(|point| bounds.add((Self::place(column) + point / self.width).as_vec3()));
        }
        let sun = Vec3::new(-0.25, 0.9, 0.35).normalize();
        let stage = Stage::new(bounds, (FIGURE_SIZE / self.width) as f32);
        View { camera, stage: Stage { background: Background::Colour(BACKGROUND), sun, ..stage }, bones }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ground_is_0_or_that_of_the_lowest_joint() {
        let body = |lowest: f64| [DVec3::new(0.0, lowest, 0.0), DVec3::new(0.0, lowest + 2.0, 1.0)];
        assert_eq!(ground(&body(0.19), DVec3::Y), 0.0);
        assert_eq!(ground(&body(0.5), DVec3::Y), 0.5);
        // Without a joint, all places of the picture depend on it.
        assert_eq!(ground(&[], DVec3::Y), 0.0);
    }
}
