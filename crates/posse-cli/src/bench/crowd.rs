//! `posse bench --crowd`: measures the crowd of a crowd file.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use posse::measure::Workload;
use posse::{Error, Library, Outputs, SkinFormat};

use super::MAX_JOINTS;
use super::args::Args;
use super::engines::{self, SharedStartUp};
use super::report::{Case, Report};
use super::size::Size;
use crate::arguments::check_limit;
use crate::engine::EngineLibrary;
use crate::output::file_name;
use crate::progress::Progress;
use crate::source::load_crowd_file;
use crate::start_up::StartUp;

/// Measures the crowd with each engine.
pub fn measure(args: &Args, path: &Path, report: &mut Report) -> Result<(), Error> {
    let mut library = Library::new();
    let mut load = StartUp::measure_program();
    let file = load.step("load", || load_crowd_file(&mut library, path))?;
    if file.is_empty() {
        return Err(Error::Usage(format!("{}: the crowd has no instance; give a group a count", path.display())));
    }
    let joints = |index: usize| library.skeleton(file.files[index].asset.skeleton).joints().len();
    let all = file.groups().map(|(instances, index)| instances.len() as u64 * joints(index) as u64);
    check_limit("joints of the crowd", all.sum(), MAX_JOINTS)?;
    let crowd = file.crowd(&library, 0..file.len())?;
    let skeletons = file.groups().map(|(_, index)| file.files[index].asset.skeleton);
    let size = Size {
        instances: crowd.len(),
        skeletons: skeletons.collect::<HashSet<_>>().len() as u32,
        joints: file.groups().map(|(_, index)| joints(index)).max().unwrap_or(0),
        keys: None,
        depth: None,
        clips: None,
        additive: 0,
        layers: (0..crowd.len()).map(|instance| crowd.layers(instance).len() as u32).max().unwrap_or(0),
        skin_format: SkinFormat::Matrix,
    };
    let compressed = args.compress.compress(&library)?;
    report.compressed = args.compress.bound;
    let engine_library = EngineLibrary::new(&library, compressed.as_ref());
    report.crowd = Some(file_name(path));
    let engines = args.engines_under_test();
    let progress = Progress::new(engines.len(), "engines");
    for engine in engines {
        let shared = SharedStartUp { load: &load, first: &file.crowd(engine_library.library(), 0..1)? };
        let Some(engine) = engines::open(args, engine_library, engine, shared, report)? else { continue };
        for skin_format in args.skin_formats() {
            let outputs = Outputs::SKIN.with_skin_format(skin_format);
            let workload = Workload { library: engine_library.library(), crowd: &crowd, outputs };
            let measured = engine.measure(&workload, Duration::from_secs_f64(args.seconds))?;
            let library_bytes = engine.library_bytes();
            report.cases.push(Case { size: Size { skin_format, ..size }, step: None, measured, library_bytes });
        }
        progress.add(1);
    }
    Ok(())
}
