//! The cost of a partly visible crowd: the built-in crowd, skin matrices of one layer. All cases alternate in one process.
//! `cargo bench --bench visible`; the number of instances may follow `--`, by default 2000.

use std::time::Instant;

use posse::{AdapterKind, CrowdOptions, GpuContext, GpuCrowd, GpuEngine, Outputs, Step, Ticks, VisibleInstance, demo};

/// Rounds of all cases. The result is the median.
const ROUNDS: usize = 41;
const ALL: u32 = u32::MAX;

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
    let engine = GpuEngine::new(&library, gpu).expect("a library on the GPU");

    // `visible` is the listed part: one of every n instances (0: no instance), the joints, and the update interval.
    let case = |name, visible: Option<(usize, u32, u32)>, previous_skin| {
        let options = CrowdOptions { visible: visible.is_some(), previous_skin, ..CrowdOptions::NONE };
        let crowd = GpuCrowd::with_options(&device, engine.library(), &crowd, Outputs::SKIN, options).expect("a crowd");
        for batch in crowd.batches() {
            let (Some((part, joints, update_interval)), Some(list)) = (visible, batch.visible()) else { continue };
            let slots = (0..batch.instances().len()).filter(|slot| part > 0 && slot % part == 0);
            let entries: Vec<_> =
                slots.map(|slot| VisibleInstance { slot: slot as u32, joints, update_interval }).collect();
            queue.write_buffer(list, 0, bytemuck::bytes_of(&(entries.len() as u32)));
            queue.write_buffer(list, 4, bytemuck::cast_slice(&entries));
        }
        Case { name, crowd, only_visible: visible.is_some(), milliseconds: Vec::new() }
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
        case("no instance", Some((0, ALL, 1)), false),
    ];
    for round in 0..=ROUNDS {
        let tick = |round: usize| Ticks(round as i64 * Ticks::PER_SECOND / 60);
        let step = Step { from: tick(round), to: tick(round + 1) };
        for case in &mut cases {
            let start = Instant::now();
            let mut encoder = device.create_command_encoder(&Default::default());
            match case.only_visible {
                true => case.crowd.encode_visible(&device, &mut encoder, step, round as u32),
                false => case.crowd.encode(&device, &mut encoder, step),
            }
            queue.submit([encoder.finish()]);
            engine.wait().expect("a device");
            // The first round also allocates memory, so it is left out.
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
