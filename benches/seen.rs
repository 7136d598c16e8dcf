//! What a crowd costs of which a part is seen: the built-in crowd, skin matrices of one layer, all cases in turn in one
//! process. `cargo bench --bench seen`, with the number of instances after `--` where it is not 2000.

use std::time::Instant;

use posse::gpu::crowd::GpuCrowd;
use posse::gpu::engine::GpuEngine;
use posse::gpu::headless::{AdapterKind, HeadlessGpu};
use posse::gpu::options::CrowdOptions;
use posse::pack::record::seen_entry::SeenEntry;
use posse::{Outputs, Step, Ticks, demo};

/// Rounds of all cases. Their medians count.
const ROUNDS: usize = 41;
const ALL: u32 = u32::MAX;

struct Case {
    name: &'static str,
    crowd: GpuCrowd,
    only_seen: bool,
    milliseconds: Vec<f64>,
}

fn main() {
    let instances = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(2000);
    let gpu = match HeadlessGpu::new(AdapterKind::Any) {
        Ok(gpu) => gpu,
        Err(error) => return eprintln!("nothing is measured: {error}"),
    };
    let library = demo::library().expect("the built-in library");
    let crowd = demo::crowd(&library, instances).expect("the built-in crowd");
    println!("{}: {instances} instances of 64 joints", gpu.name());
    let (device, queue) = (gpu.device.clone(), gpu.queue.clone());
    let engine = GpuEngine::new(&library, gpu).expect("a library on the GPU");

    // Which part is listed: one of so many instances; joints; divider.
    let case = |name, seen: Option<(usize, u32, u32)>, previous_skin| {
        let options = CrowdOptions { seen: seen.is_some(), previous_skin, ..CrowdOptions::NONE };
        let crowd = GpuCrowd::with_options(&device, engine.library(), &crowd, Outputs::SKIN, options).expect("a crowd");
        for chunk in crowd.chunks() {
            let (Some((part, joints, divider)), Some(list)) = (seen, chunk.seen()) else { continue };
            let places = (0..chunk.instances().len()).filter(|place| part > 0 && place % part == 0);
            let entries: Vec<_> = places.map(|place| SeenEntry { place: place as u32, joints, divider }).collect();
            queue.write_buffer(list, 0, bytemuck::bytes_of(&(entries.len() as u32)));
            queue.write_buffer(list, 4, bytemuck::cast_slice(&entries));
        }
        Case { name, crowd, only_seen: seen.is_some(), milliseconds: Vec::new() }
    };
    let mut cases = [
        case("all, without lists", None, false),
        case("all, and the previous matrices", None, true),
        case("all are listed", Some((1, ALL, 1)), false),
        case("all are listed, every fourth frame", Some((1, ALL, 4)), false),
        case("all are listed, of 16 joints", Some((1, 16, 1)), false),
        case("one tenth", Some((10, ALL, 1)), false),
        case("one tenth, every fourth frame", Some((10, ALL, 4)), false),
        case("one tenth, of 16 joints", Some((10, 16, 1)), false),
        case("nobody", Some((0, ALL, 1)), false),
    ];
    for round in 0..=ROUNDS {
        let tick = |round: usize| Ticks(round as i64 * Ticks::PER_SECOND / 60);
        let step = Step { from: tick(round), to: tick(round + 1) };
        for case in &mut cases {
            let start = Instant::now();
            let mut encoder = device.create_command_encoder(&Default::default());
            match case.only_seen {
                true => case.crowd.encode_seen(&device, &mut encoder, step, round as u32),
                false => case.crowd.encode(&device, &mut encoder, step),
            }
            queue.submit([encoder.finish()]);
            engine.wait().expect("a device");
            // The first round pays for the memory.
            if round > 0 {
                case.milliseconds.push(1000.0 * start.elapsed().as_secs_f64());
            }
        }
    }
    for case in &mut cases {
        case.milliseconds.sort_by(f64::total_cmp);
        println!("{:8.3} ms  {}", case.milliseconds[ROUNDS / 2], case.name);
    }
}
