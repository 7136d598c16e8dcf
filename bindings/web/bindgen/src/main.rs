//! `posse-web-bindgen IN.wasm OUT [NAME]`: writes `OUT/NAME.js` and `OUT/NAME_bg.wasm`, and prints the size of the code
//! by crate. The default of `NAME` is `posse`.

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
    let name = arguments.next().map_or_else(|| "posse".into(), |name| name.to_string_lossy().into_owned());
    for line in sizes::by_crate(&fs::read(&input)?)? {
        println!("{line}");
    }
    generate(&input, &folder, &name)
}

/// Writes the JavaScript, and the WebAssembly without names and debug information.
fn generate(input: &Path, folder: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).out_name(name).typescript(false).omit_default_module_path(false);
    bindgen.remove_name_section(true).remove_producers_section(true).web(true)?;
    bindgen.generate(folder)?;
    let script = folder.join(name).with_extension("js");
    fs::write(&script, name_freed_objects(&fs::read_to_string(&script)?))?;
    Ok(())
}

/// The line by which wasm-bindgen clears the pointer of an object that is freed.
const CLEARED: &str = "this.__wbg_ptr = 0;";

/// What takes the place of that line: an object that was freed says so when it is used, and can be freed again.
const FREED: &str = r"
function freed(object, name) {
    const get = () => { throw new Error(`this ${name} was freed; create another one`); };
    Object.defineProperty(object, '__wbg_ptr', { get });
    object.free = () => {};
    if (Symbol.dispose) object[Symbol.dispose] = object.free;
}
";

/// The JavaScript of wasm-bindgen with an error for objects that were freed, by the names of their classes.
fn name_freed_objects(script: &str) -> String {
    let mut class = "object";
    let mut changed = String::new();
    for line in script.lines() {
        if let Some((_, name)) = line.split_once("class ") {
            class = name.split([' ', '{']).next().unwrap_or(class);
        }
        changed += &line.replace(CLEARED, &format!("freed(this, '{class}');"));
        changed.push('\n');
    }
    if changed.contains("freed(this") { changed + FREED } else { changed }
}
