//! WGSL without the functions that nothing calls.

use std::collections::HashMap;
use std::ops::Range;

use crate::gpu::shader_tokens::Tokens;

/// Takes out the functions of the files at some ranges of bytes that no entry point calls, and no function of another text.
pub(super) fn take_out_unused_functions(tokens: &mut Tokens, files: &[Range<usize>]) {
    let mut open = Vec::new();
    let mut unused = HashMap::new();
    let mut at = 0;
    while at < tokens.all().len() {
        if tokens.get(at) != "fn" {
            at += 1;
            continue;
        }
        let function = at..tokens.block(at).end;
        // An entry point comes after its attributes.
        let is_entry = at > 0 && ![";", "}"].contains(&tokens.get(at - 1));
        if is_entry || !tokens.is_in(at, files) {
            open.push(function.clone());
        } else {
            unused.insert(tokens.get(at + 1), function.clone());
        }
        at = function.end;
    }
    while let Some(function) = open.pop() {
        open.extend(tokens.left(function).filter_map(|token| unused.remove(token)));
    }
    unused.into_values().for_each(|function| tokens.take_out(function));
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
fn other() { of_other(); }
";
        let mut tokens = Tokens::new(text);
        let other = text.find("fn other").unwrap();
        take_out_unused_functions(&mut tokens, &[0..other]);
        let code = tokens.text_left();
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
            "fn other() { of_other(); }",
        ];
        assert_eq!(lines, expected);
    }
}
