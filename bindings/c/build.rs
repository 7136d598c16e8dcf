//! Gives the shared library its name for the loader: the name of the interface's major version.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let name = match var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux" | "android" | "freebsd" | "netbsd" | "openbsd") => "-Wl,-soname,libposse.so.1",
        Ok("macos" | "ios") => "-Wl,-install_name,@rpath/libposse.1.dylib",
        _ => return,
    };
    println!("cargo::rustc-cdylib-link-arg={name}");
}
