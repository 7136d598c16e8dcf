//! The page: its variables and its notes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::env::VarError;
use std::io::ErrorKind;
use std::path::Path;

use wasm_bindgen::prelude::*;

#[wasm_bindgen(js_namespace = page)]
extern "C" {
    /// Notes the message of a panic.
    pub fn panicked(message: &str);
    /// Prints a note.
    pub fn note(text: &str);
    /// Seconds since the page was opened.
    pub fn now() -> f64;
    /// Tells the page that the waiting test can go on.
    pub fn wake();
    /// Suspends the test until [`wake`] is called. The page wraps this import in `WebAssembly.Suspending`.
    #[wasm_bindgen(js_name = waitForWake)]
    pub fn wait_for_wake() -> u32;
}

thread_local! {
    static VARIABLES: RefCell<HashMap<String, String>> = RefCell::default();
}

/// Sets a variable, which tests read as one of the environment.
#[wasm_bindgen]
pub fn set_variable(name: String, value: String) {
    VARIABLES.with_borrow_mut(|variables| variables.insert(name, value));
}

thread_local! {
    static FILES: RefCell<HashMap<String, Vec<u8>>> = RefCell::default();
}

/// Gives a file to the tests, by its path below the folder of the collected files.
#[wasm_bindgen]
pub fn give_file(path: String, bytes: Vec<u8>) {
    FILES.with_borrow_mut(|files| files.insert(path, bytes));
}

/// True for a file that the page has given.
pub fn has(path: &str) -> bool {
    FILES.with_borrow(|files| files.contains_key(path))
}

/// The bytes of a file that the page has given.
///
/// # Errors
/// [`ErrorKind::NotFound`] for another file.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<u8>, ErrorKind> {
    let path = path.as_ref().to_string_lossy();
    FILES.with_borrow(|files| files.get(&*path).cloned()).ok_or(ErrorKind::NotFound)
}

/// The value of a variable.
///
/// # Errors
/// [`VarError::NotPresent`] if it is not set.
pub fn variable(name: &str) -> Result<String, VarError> {
    VARIABLES.with_borrow(|variables| variables.get(name).cloned()).ok_or(VarError::NotPresent)
}
