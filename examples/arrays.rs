//! A file to arrays: every frame of each clip, for training or analysis.
//!
//! `cargo run --release --example arrays -- FILE` takes glTF, BVH and npz files; without a file, it takes the built-in
//! rig.

use posse::bake::{self, ArrayKind, BakeOptions};
use posse::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let library = match std::env::args().nth(1) {
        None => posse::demo::library()?,
        Some(file) => Library::open(file)?,
    };
    let engine = CpuEngine::new(&library)?;
    let arrays = vec![ArrayKind::Pos, ArrayKind::Quat, ArrayKind::Linvel];
    let options = BakeOptions { fps: Some(30.0), arrays, ..BakeOptions::default() };
    for id in library.clip_ids() {
        let baked = bake::clip(&library, &engine, id, &options)?;
        println!("{}: {} frames", library.clip(id).name.as_deref().unwrap_or("a clip without a name"), baked.frames);
        for array in &baked.shapes {
            let view = baked.array(array.kind).ok_or("each array is there")?;
            // In NumPy, `data.reshape(shape)`: frames, joints, numbers.
            println!("  {} {:?}, first numbers {:?}", array.name, view.shape, view.data.get(..3).unwrap_or_default());
        }
    }
    Ok(())
}
