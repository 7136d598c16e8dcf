//! `posse-web-bindgen IN.wasm OUT`: writes `OUT/posse.js` and `OUT/posse_bg.wasm`, and prints the size of the code by
//! crate.

mod sizes;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let (Some(input), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("two arguments are needed: the .wasm of the crate, and the folder of the package".into());
    };
    for line in sizes::by_crate(&fs::read(&input)?)? {
        println!("{line}");
    }
    generate(&input, &folder)
}

/// Writes the JavaScript, and the WebAssembly without names and debug information.
fn generate(input: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).out_name("posse").typescript(false).omit_default_module_path(false);
    bindgen.remove_name_section(true).remove_producers_section(true).web(true)?;
    bindgen.generate(folder)?;
    Ok(())
}
