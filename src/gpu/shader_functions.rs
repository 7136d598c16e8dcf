//! WGSL without the functions that nothing calls.

use std::collections::HashMap;
use std::ops::Range;

use crate::gpu::shader_tokens::Tokens;

/// Removes the functions of the files at some ranges of bytes that no entry point calls, and no other text.
pub(super) fn remove_unused_functions(tokens: &mut Tokens, files: &[Range<usize>]) {
    let mut open = Vec::new();
    let mut unused = HashMap::new();
    let mut at = 0;
    while at < tokens.all().len() {
        let is_of_file = tokens.is_in(at, files);
        if !is_of_file || tokens.get(at) != "fn" {
            open.extend((!is_of_file).then_some(at..at + 1));
            at += 1;
            continue;
        }
        let function = at..tokens.block(at).end;
        at = function.end;
        // An entry point comes after its attributes.
        if function.start > 0 && ![";", "}"].contains(&tokens.get(function.start - 1)) {
            open.push(function);
        } else {
            unused.insert(tokens.get(function.start + 1), function);
        }
    }
    while let Some(range) = open.pop() {
        open.extend(tokens.remaining(range).filter_map(|token| unused.remove(token)));
    }
    unused.into_values().for_each(|function| tokens.remove(function));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_nothing_calls_are_spaces() {
        let text = "const A = 1u;
fn unused() { loose(); }
fn loose() -> u32 { return 1u; }
struct S { a: u32 }
fn called() { deep(); }
@compute @workgroup_size(64)
fn pose() { if x { called(); } }
fn deep() { called(); }
fn of_other() {}
fn last() {}
fn other() { /* } */ of_other(); } }
";
        let mut tokens = Tokens::new(text);
        let other = text.find("fn other").unwrap();
        remove_unused_functions(&mut tokens, std::slice::from_ref(&(0..other)));
        let code = tokens.remaining_text();
        let lines: Vec<_> = code.lines().map(str::trim_end).collect();
        let expected = [
            "const A = 1u;",
            "",
            "",
            "struct S { a: u32 }",
            "fn called() { deep(); }",
            "@compute @workgroup_size(64)",
            "fn pose() { if x { called(); } }",
            "fn deep() { called(); }",
            "fn of_other() {}",
            "",
            "fn other() { /* } */ of_other(); } }",
        ];
        assert_eq!(lines, expected);
    }
}
