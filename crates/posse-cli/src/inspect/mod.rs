//! `posse inspect`: the contents of a file.

mod clip;
mod compressed;
mod joints;
mod targets;
mod text;
mod timelines;

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;

use posse::{ClipId, CompressedLibrary, CpuEngine, Error, Joint, PackedLibrary, Skeleton};
use serde::Serialize;

use self::clip::ClipSummary;
use self::compressed::CompressedSummary;
use self::joints::JointSummary;
use self::text::{plural, quoted_name};
use crate::arguments::CompressArgs;
use crate::output;
use crate::source::Source;

/// Arguments of `posse inspect`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A .glb, .gltf or .bvh file, or a Cocos clip (.json, .anim).
    file: PathBuf,
    /// A .glb, .gltf or .bvh file. The clips animate its nodes, matched by name.
    #[arg(long, value_name = "FILE")]
    rig: Option<PathBuf>,
    /// Prints the joints too, each below its parent, with its rest translation.
    #[arg(long)]
    joints: bool,
    /// Prints JSON, with every joint and every track.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    compress: CompressArgs,
}

/// Runs `posse inspect`.
pub fn run(args: &Args) -> Result<(), Error> {
    let source = Source::load(&args.file, args.rig.as_deref())?;
    let compressed = args.compress.compress(&source.library)?;
    let summary = Summary::new(&source, compressed.as_ref());
    output::print(|out| {
        if !args.json {
            return summary.print(args.joints, out);
        }
        serde_json::to_writer_pretty(&mut *out, &summary)?;
        writeln!(out)
    })
}

#[derive(Serialize)]
struct Summary<'a> {
    asset: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rig: Option<&'a str>,
    skeletons: Vec<SkeletonSummary<'a>>,
    skins: Vec<SkinSummary<'a>>,
    clips: Vec<ClipSummary<'a>>,
    /// The size of the packed library in bytes; null if it is too large to be packed.
    packed_bytes: Option<usize>,
    /// The same with compressed keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    compressed_packed_bytes: Option<usize>,
    /// The bytes of the packed library and of the plans that the CPU engine makes from it.
    cpu_bytes: Option<usize>,
    /// The same with compressed keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    compressed_cpu_bytes: Option<usize>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct SkeletonSummary<'a> {
    name: Option<&'a str>,
    joints: usize,
    hierarchy: Vec<JointSummary<'a>>,
    levels: usize,
    roots: usize,
    /// Joints given by a matrix.
    matrices: usize,
    weights: usize,
    /// The names of the properties, without those of the tracks of a Cocos clip.
    properties: Vec<&'a str>,
}

#[derive(Serialize)]
struct SkinSummary<'a> {
    name: Option<&'a str>,
    joints: usize,
}

impl<'a> Summary<'a> {
    fn new(source: &'a Source, compressed: Option<&'a CompressedLibrary>) -> Self {
        let Source { library, named, .. } = source;
        let skeleton = library.skeleton(source.skeleton);
        let skin = |&id| {
            let skin = library.skin(id);
            SkinSummary { name: skin.name.as_deref(), joints: skin.joints.len() }
        };
        // Without a rig, a Cocos clip is bound to an empty skeleton, which is not listed.
        let skeletons = source.has_nodes().then(|| SkeletonSummary::new(skeleton, source));
        let clip = |&id: &ClipId| {
            let compressed =
                compressed.map(|compressed| CompressedSummary::new(&compressed.reports()[id.index()], skeleton));
            ClipSummary::new(library.clip(id), skeleton, named.as_ref(), compressed)
        };
        let packed = PackedLibrary::new(library).ok();
        let compressed_packed = compressed.and_then(|compressed| compressed.pack().ok());
        let cpu_bytes = |packed: PackedLibrary| CpuEngine::from_packed(packed, 1).size();
        Self {
            asset: &source.file,
            rig: source.rig.as_deref(),
            skeletons: skeletons.into_iter().collect(),
            skins: source.skins.iter().map(skin).collect(),
            clips: source.clips.iter().map(clip).collect(),
            packed_bytes: packed.as_ref().map(PackedLibrary::size),
            compressed_packed_bytes: compressed_packed.as_ref().map(PackedLibrary::size),
            cpu_bytes: packed.map(cpu_bytes),
            compressed_cpu_bytes: compressed_packed.map(cpu_bytes),
            warnings: &source.warnings,
        }
    }

    fn print(&self, with_joints: bool, out: &mut impl Write) -> std::io::Result<()> {
        let rig = self.rig.map_or_else(String::new, |rig| format!(", with {rig}"));
        writeln!(out, "{}{rig}", self.asset)?;
        for skeleton in &self.skeletons {
            let SkeletonSummary { joints, levels, roots, matrices, weights, .. } = skeleton;
            let counts = [(*joints, "joint"), (*levels, "level"), (*roots, "root"), (*weights, "morph weight")];
            let [joints, levels, roots, weights] = counts.map(|(count, noun)| plural(count, noun));
            writeln!(out, "skeleton{}: {joints} on {levels}, {roots}, {weights}", quoted_name(skeleton.name))?;
            if *matrices > 0 {
                writeln!(out, "  {} given by a matrix", plural(*matrices, "joint"))?;
            }
            if with_joints {
                joints::print(&skeleton.hierarchy, out)?;
            }
            for property in &skeleton.properties {
                writeln!(out, "  property {property}")?;
            }
        }
        for (index, skin) in self.skins.iter().enumerate() {
            writeln!(out, "skin {index}{}: {}", quoted_name(skin.name), plural(skin.joints, "joint"))?;
        }
        for (index, clip) in self.clips.iter().enumerate() {
            clip.print(index, out)?;
        }
        if self.clips.is_empty() {
            writeln!(out, "no clips")?;
        }
        if let Some(bytes) = self.compressed_packed_bytes {
            writeln!(out, "{bytes} bytes packed with compressed keys")?;
        }
        for (bytes, keys) in [(self.compressed_cpu_bytes, " with compressed keys"), (self.cpu_bytes, "")] {
            if let Some(bytes) = bytes {
                writeln!(out, "{bytes} bytes in the CPU engine{keys}, with its plans of the clips")?;
            }
        }
        match self.packed_bytes {
            Some(bytes) => writeln!(out, "{bytes} bytes packed, {}", plural(self.warnings.len(), "warning")),
            None => writeln!(out, "too large to be packed, {}", plural(self.warnings.len(), "warning")),
        }
    }
}

impl<'a> SkeletonSummary<'a> {
    fn new(skeleton: &'a Skeleton, source: &Source) -> Self {
        let tracks = source.named.iter().flat_map(|named| &named.tracks);
        let track_properties: HashSet<usize> = tracks.filter_map(|track| track.property).collect();
        let properties =
            skeleton.properties().iter().enumerate().filter(|(index, _)| !track_properties.contains(index));
        let joints = skeleton.joints();
        let count = |condition: fn(&Joint) -> bool| joints.iter().filter(|joint| condition(joint)).count();
        Self {
            name: skeleton.name(),
            joints: joints.len(),
            hierarchy: joints::summaries(skeleton, &source.joints),
            levels: skeleton.depths().into_iter().max().map_or(0, |deepest| deepest + 1),
            roots: count(|joint| joint.parent.is_none()),
            matrices: count(|joint| joint.matrix.is_some()),
            weights: skeleton.weight_count(),
            properties: properties.map(|(_, property)| property.name.as_str()).collect(),
        }
    }
}
