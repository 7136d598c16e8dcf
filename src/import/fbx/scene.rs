//! Parsing: the options, the limits of memory, and the animation stacks that become clips.

use std::collections::HashSet;

use ufbx::{
    AllocatorOpts, AnimLayer, AnimStack, Connection, CoordinateAxes, CoordinateAxis, ErrorType, FileFormat,
    InheritModeHandling, LoadOpts, MirrorAxis, Scene, SceneRoot, SpaceConversion,
};

use crate::import::file_error::{MemoryBudget, shorten};
use crate::import::json::without_mark;
use crate::import::{FileError, Warning, list_names};

/// The parts of the memory budget of a file: the parsed scene, the temporary data of one step, the baked keys of a
/// stack, and the model. Together they are 64 bytes per byte of the file and 256 MiB.
const PARTS: usize = 4;
const PART_GROWTH: usize = 64 / PARTS;
const PART_ALLOWANCE: usize = (256 << 20) / PARTS;
/// The largest number of levels of nodes. The scale of a node can depend on all nodes above it.
const MAX_LEVELS: u32 = 1024;
/// The largest number of layers of a stack. Each value is looked for in all of them.
const MAX_LAYERS: usize = 128;

/// What a binary file begins with.
const BINARY: &[u8] = b"Kaydara FBX Binary";

/// The bytes of a part for a file.
pub fn part_bytes(file_bytes: usize) -> usize {
    file_bytes.saturating_mul(PART_GROWTH).saturating_add(PART_ALLOWANCE)
}

/// An allocator that fails beyond a limit.
pub fn limited(memory_limit: usize) -> AllocatorOpts {
    AllocatorOpts { memory_limit, ..AllocatorOpts::default() }
}

/// The budget of the model.
pub fn budget(file_bytes: usize) -> MemoryBudget {
    MemoryBudget::new(file_bytes / PARTS, PART_ALLOWANCE as u64)
}

/// Parses a file.
pub fn parse(bytes: &[u8]) -> Result<SceneRoot, FileError> {
    let axes = CoordinateAxes {
        right: CoordinateAxis::PositiveX,
        up: CoordinateAxis::PositiveY,
        front: CoordinateAxis::PositiveZ,
    };
    let limit = part_bytes(bytes.len());
    let options = LoadOpts {
        temp_allocator: limited(limit),
        result_allocator: limited(limit),
        ignore_geometry: true,
        ignore_embedded: true,
        skip_skin_vertices: true,
        skip_mesh_parts: true,
        node_depth_limit: MAX_LEVELS,
        // Otherwise an .obj file would be read, too.
        file_format: FileFormat::Fbx,
        space_conversion: SpaceConversion::ModifyGeometry,
        inherit_mode_handling: InheritModeHandling::Compensate,
        handedness_conversion_axis: MirrorAxis::X,
        target_axes: axes,
        target_unit_meters: 1.0,
        ..LoadOpts::default()
    };
    let scene = ufbx::load_memory(bytes, options).map_err(|cause| match cause.type_ {
        ErrorType::MemoryLimit | ErrorType::AllocationLimit | ErrorType::OutOfMemory | ErrorType::NodeDepthLimit => {
            error("file", &cause)
        }
        _ => FileError::new("file", unparsed(bytes, &cause)),
    })?;
    if let Some(end) = end_in_zeros(bytes) {
        return Err(FileError::new("file", followed_by_zeros(end)));
    }
    // The parser takes an end of the file for the ends of all nodes.
    if !begins_with(bytes, BINARY) && has_open_nodes(bytes) {
        return Err(FileError::new("file", cut_off("ASCII", bytes.len())));
    }
    Ok(scene)
}

/// Returns `true` if a file begins with some bytes, after a byte order mark and space.
fn begins_with(bytes: &[u8], text: &[u8]) -> bool {
    without_mark(bytes).trim_ascii_start().starts_with(text)
}

/// Returns `true` if a text in ASCII FBX ends within a node.
fn has_open_nodes(text: &[u8]) -> bool {
    let (mut depth, mut in_string, mut in_comment) = (0_i64, false, false);
    for byte in text {
        match byte {
            b'\n' => in_comment = false,
            _ if in_comment => {}
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b';' => in_comment = true,
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    !in_string && depth > 0
}

/// The bytes of the head of a binary file: what it begins with, two spaces, three bytes, of which the last one is 1 in
/// files with the largest byte first, and the version.
const BINARY_HEAD: usize = 27;
/// The first version whose nodes begin with numbers of 64 bits.
const WIDE_VERSION: u32 = 7500;

/// The place in a binary file from which all bytes are 0, in place of nodes or of the footer, as after a download that
/// has stopped. `None` for other files. The parser takes zeros for the end of the nodes.
fn end_in_zeros(bytes: &[u8]) -> Option<usize> {
    let head = bytes.get(..BINARY_HEAD).filter(|head| head.starts_with(BINARY))?;
    if head[22] == 1 {
        return None;
    }
    let version = u32::from_le_bytes([head[23], head[24], head[25], head[26]]);
    let (width, end_of_nodes) = if version < WIDE_VERSION { (4, 13) } else { (8, 25) };
    let mut place = BINARY_HEAD;
    // A node begins with the place of its end; the nodes end with one of zeros.
    loop {
        let end = bytes.get(place..)?.get(..width)?.iter().rev().fold(0, |end, byte| end << 8 | u64::from(*byte));
        match usize::try_from(end).ok()? {
            0 => break,
            end if end <= place => return None,
            end => place = end,
        }
    }
    let rest = bytes.get(place..)?;
    let is_zero = rest.iter().all(|byte| *byte == 0);
    (is_zero && (place == BINARY_HEAD || rest.len() > end_of_nodes)).then_some(place)
}

/// The reason that a file has zeros from a place on.
fn followed_by_zeros(place: usize) -> String {
    format!(
        "it is binary FBX that is cut off: after {place} bytes, there are only zeros in place of its content; copy, \
         download or export the file again"
    )
}

/// The reason that a file of some kind and size ends too early.
fn cut_off(kind: &str, size: usize) -> String {
    format!(
        "it is {kind} FBX that is cut off: it ends after {size} bytes, within its content; copy, download or export the \
         file again"
    )
}

/// The reason that a file cannot be parsed: what the file is, by its first bytes, and what to do.
fn unparsed(bytes: &[u8], cause: &ufbx::Error) -> String {
    const HEAD: usize = 1024;
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    let has = |text: &[u8]| head.windows(text.len()).any(|window| window == text);
    if bytes.is_empty() {
        return "it is empty: copy or download the file again".into();
    }
    let kind = if begins_with(head, BINARY) {
        "binary"
    } else if begins_with(head, b"; FBX ") || has(b"FBXHeaderExtension") {
        "ASCII"
    } else {
        let what = if head.contains(&0) { "binary data" } else { "a text" };
        return format!(
            "it is no FBX file, binary or ASCII, but {what}: check which file this is; an export or a download may have \
             failed"
        );
    };
    match cause.type_ {
        ErrorType::UnsupportedVersion => format!(
            "it is {kind} FBX of a version that is not read: export it as FBX 7.4, which programs call 2014, or 7.5"
        ),
        // Of a file that ends within its head, the parser says that it is empty.
        ErrorType::TruncatedFile | ErrorType::EmptyFile => cut_off(kind, bytes.len()),
        _ => format!("it is {kind} FBX that is damaged or cut off: copy, download or export the file again"),
    }
}

/// The error of an error of `ufbx`, whose descriptions are fixed texts.
pub fn error(path: &str, error: &ufbx::Error) -> FileError {
    let what: &str = &error.description;
    let reason = match error.type_ {
        ErrorType::MemoryLimit | ErrorType::AllocationLimit | ErrorType::OutOfMemory => format!(
            "it outgrows the memory budget of the file, 64 bytes per byte of the file and {} bytes; the file may be damaged",
            PARTS * PART_ALLOWANCE
        ),
        ErrorType::NodeDepthLimit => {
            format!("nodes are more than {MAX_LEVELS} levels below the root; the file may be damaged")
        }
        _ => format!("it cannot be evaluated ({what}); the file may be damaged: export it again"),
    };
    FileError::new(path, reason)
}

/// The animation stacks with curves. Stacks can share layers, so that each layer is looked through once.
pub fn animated_stacks(scene: &Scene) -> impl Iterator<Item = &AnimStack> {
    let has_curves =
        |layer: &&AnimLayer| layer.anim_values.into_iter().any(|value| value.curves.iter().any(Option::is_some));
    let animated = scene.anim_layers.into_iter().filter(has_curves);
    let animated: HashSet<u32> = animated.map(|layer| layer.element.element_id).collect();
    let is_animated =
        move |stack: &&AnimStack| stack.layers.into_iter().any(|layer| animated.contains(&layer.element.element_id));
    scene.anim_stacks.into_iter().filter(is_animated)
}

/// Refuses a stack of too many layers.
pub fn check_layers(stack: &AnimStack, path: &str) -> Result<(), FileError> {
    let count = stack.layers.len();
    if count > MAX_LAYERS {
        let reason = format!("it has {count} layers, of which at most {MAX_LAYERS} are read; merge them, or bake them");
        return Err(FileError::new(path, reason));
    }
    Ok(())
}

/// The time of evaluating a value, as a multiple of the usual: 1 for files as they are. It can follow chains of
/// connected properties, and the scales of all nodes above.
pub fn effort(scene: &Scene) -> u64 {
    let connections = || scene.connections_src.iter().filter(|connection| !connection.src_prop.is_empty());
    let driven: HashSet<(u32, &str)> =
        connections().map(|connection| (connection.dst.element_id, &*connection.dst_prop)).collect();
    let is_link = |connection: &&Connection| driven.contains(&(connection.src.element_id, &*connection.src_prop));
    let links = connections().filter(is_link).count() as u64;
    let has_scales = scene.nodes.into_iter().any(|node| node.is_scale_helper);
    let levels = scene.nodes.into_iter().map(|node| u64::from(node.node_depth)).max().filter(|_| has_scales);
    1 + links / 16 + levels.unwrap_or(0) / 32
}

/// The effort of a stack, whose layers all have values.
pub fn effort_of_stack(of_scene: u64, stack: &AnimStack) -> u64 {
    of_scene + stack.layers.len() as u64 / 8
}

/// The name of an element for messages.
pub fn label(kind: &str, name: &str) -> String {
    if name.is_empty() { kind.into() } else { format!("{kind} {:?}", shorten(name)) }
}

/// A name of the file; `None` for an empty one.
pub fn name(name: &ufbx::String) -> Option<String> {
    (!name.is_empty()).then(|| name.as_ref().to_owned())
}

/// The names of the stacks that become clips.
pub fn clip_names(bytes: &[u8]) -> Result<Vec<Option<String>>, FileError> {
    let scene = parse(bytes)?;
    Ok(animated_stacks(&scene).map(|stack| name(&stack.element.name)).collect())
}

/// The errors that the parser repaired, and the parts of the file that move joints or vertices and are not read.
pub fn warnings(scene: &Scene) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |path: String, message: String| warnings.push(Warning { path, message });
    for warning in &scene.metadata.warnings {
        let element = usize::try_from(warning.element_id).ok().and_then(|id| scene.elements.get(id));
        let path = element.map_or_else(|| "file".into(), |element| label("element", &element.name));
        warn(path, format!("{}, {} times", &*warning.description, warning.count.max(1)));
    }
    if !scene.constraints.is_empty() {
        let names = list_names(scene.constraints.iter().map(|constraint| shorten(&constraint.element.name)));
        warn(
            "constraints".into(),
            format!("they are not evaluated, only curves move joints; bake them first: {names}"),
        );
    }
    if !scene.cache_deformers.is_empty() {
        let count = scene.cache_deformers.len();
        warn("geometry caches".into(), format!("{count} move vertices without joints; they are not read"));
    }
    warnings
}
