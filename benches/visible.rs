//! The cost of a partly visible crowd: the built-in crowd, skin matrices of one layer. All cases alternate in one
//! process. `cargo bench --bench visible`; the number of instances may follow `--`, by default 2000.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a bench fails by a panic")]

use std::time::Instant;

use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuEngine, VisibleInstance};
use posse::{CrowdOptions, Outputs, Step, Ticks, demo};

/// Rounds of all cases. The result is the median.
const ROUNDS: usize = 41;
const ALL: u32 = u32::MAX;

/// The entries of a visible list.
#[derive(Clone, Copy)]
struct Listed {
    /// One of so many instances is listed; 0 lists no instance.
    one_of: usize,
    joints: u32,
    update_interval: u32,
}

/// A crowd with its list, and its times.
struct Case {
    name: &'static str,
    crowd: GpuCrowd,
    only_visible: bool,
    milliseconds: Vec<f64>,
}

fn main() {
    let instances = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(2000);
    let gpu = match GpuContext::new(AdapterKind::Any) {
        Ok(gpu) => gpu,
        Err(error) => return eprintln!("nothing is measured: {error}"),
    };
    let library = demo::library().expect("the built-in library");
    let crowd = demo::crowd(&library, instances).expect("the built-in crowd");
    println!("{}: {instances} instances of 64 joints", gpu.name());
    let (device, queue) = (gpu.device.clone(), gpu.queue.clone());
    let engine = GpuEngine::new(gpu, &library).expect("a library on the GPU");

    let case = |name, listed: Option<Listed>, previous_skin| {
        let options = CrowdOptions { visible: listed.is_some(), previous_skin, ..CrowdOptions::NONE };
        let crowd = GpuCrowd::with_options(engine.library(), &crowd, Outputs::SKIN, options).expect("a crowd");
        for batch in crowd.batches() {
            let (Some(listed), Some(list)) = (listed, batch.visible()) else { continue };
            let Listed { one_of, joints, update_interval } = listed;
            let slots = (0..batch.instances().len()).filter(|slot| one_of > 0 && slot % one_of == 0);
            let entries: Vec<_> =
                slots.map(|slot| VisibleInstance { slot: slot as u32, joints, update_interval }).collect();
            queue.write_buffer(list, 0, bytemuck::bytes_of(&(entries.len() as u32)));
            queue.write_buffer(list, 4, bytemuck::cast_slice(&entries));
        }
        Case { name, crowd, only_visible: listed.is_some(), milliseconds: Vec::new() }
    };
    let listed = |one_of, joints, update_interval| Some(Listed { one_of, joints, update_interval });
    let mut cases = [
        case("all, without lists", None, false),
        case("all, and the previous matrices", None, true),
        case("all are listed", listed(1, ALL, 1), false),
        case("all are listed, every fourth frame", listed(1, ALL, 4), false),
        case("all are listed, of 16 joints", listed(1, 16, 1), false),
        case("one tenth", listed(10, ALL, 1), false),
        case("one tenth, every fourth frame", listed(10, ALL, 4), false),
        case("one tenth, of 16 joints", listed(10, 16, 1), false),
        case("no instance", listed(0, ALL, 1), false),
    ];
    for round in 0..=ROUNDS {
        let tick = |round: usize| Ticks(round as i64 * Ticks::PER_SECOND / 60);
        let step = Step { from: tick(round), to: tick(round + 1) };
        for case in &mut cases {
            let start = Instant::now();
            let mut encoder = device.create_command_encoder(&Default::default());
            match case.only_visible {
                true => case.crowd.encode_visible(&mut encoder, step, round as u32),
                false => case.crowd.encode(&mut encoder, step),
            }
            queue.submit([encoder.finish()]);
            engine.wait().expect("a device");
            // The first round also allocates memory, so it is left out.
            if round > 0 {
                case.milliseconds.push(1000.0 * start.elapsed().as_secs_f64());
            }
        }
    }
    cases.iter_mut().for_each(print_median);
}

fn print_median(case: &mut Case) {
    case.milliseconds.sort_by(f64::total_cmp);
    println!("{:8.3} ms  {}", case.milliseconds[ROUNDS / 2], case.name);
}
