//! Draws a crowd of the built-in rig as an SVG of its bones, the picture of the README:
//!
//! `cargo run --release --example crowd_picture > examples/crowd_picture.svg`

use std::fmt::Write;

use glam::DVec3;
use posse::{CpuEngine, Evaluator, Outputs, Ticks, demo};

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 420.0;
const COLOURS: [&str; 5] = ["#e4572e", "#17bebb", "#ffc914", "#76b041", "#8f6cd9"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let library = demo::library()?;
    let crowd = demo::crowd(&library, 140)?;
    let outputs = Outputs { model: true, ..Outputs::NONE };
    let poses = CpuEngine::new(&library)?.evaluate(&crowd, Ticks::from_seconds(7.3), outputs)?;

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#101418\"/>\n\
         <g fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n"
    );
    // Rows of fourteen, the farthest first, so that the near ones are drawn over them.
    for instance in (0..crowd.len()).rev() {
        let (row, column) = (instance / 14, instance % 14);
        let stand = DVec3::new((column as f64 - 6.5) * 1.5 + (row % 2) as f64 * 0.75, 0.0, -(row as f64) * 1.9);
        let joints = library.skeleton(crowd.skeleton(instance)).joints();
        let mut path = String::new();
        for (joint, matrix) in joints.iter().zip(&poses.instances[instance].model) {
            let Some(parent) = joint.parent else { continue };
            let from = project(poses.instances[instance].model[parent].translation + stand);
            let to = project(matrix.translation + stand);
            write!(path, "M{:.1} {:.1}L{:.1} {:.1}", from.0, from.1, to.0, to.1)?;
        }
        let clip = crowd.layers(instance).first().map_or(0, |layer| layer.clip.index());
        let (colour, depth) = (COLOURS[clip % COLOURS.len()], 1.0 - row as f64 / 14.0);
        let width = scale(stand.z) / 20.0;
        writeln!(
            svg,
            "<path d=\"{path}\" stroke=\"{colour}\" stroke-opacity=\"{depth:.2}\" stroke-width=\"{width:.1}\"/>"
        )?;
    }
    println!("{svg}</g>\n</svg>");
    Ok(())
}

/// A camera above their heads, looking ahead.
fn project(point: DVec3) -> (f64, f64) {
    let scale = scale(point.z);
    (WIDTH / 2.0 + point.x * scale, 20.0 + (4.2 - point.y) * scale)
}

/// Picture units in a metre, at a depth.
fn scale(z: f64) -> f64 {
    720.0 / (8.0 - z)
}
