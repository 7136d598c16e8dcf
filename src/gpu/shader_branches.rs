//! WGSL without the branches that its constants rule out.
//!
//! Drivers would remove them, too, but only after they have copied each function to all places that call it.
//!
//! The text of a kernel is therefore short before a driver sees it: Mesa's software driver translates a plain kernel in
//! a tenth of the time (`docs/decisions/dead-branches.md`). WGSL has no conditional compilation, and shader files
//! should remain WGSL, so that a feature is an `if` with a constant. `return A && b` is no branch; write `if A { return
//! b; } return false;` where `A` decides about much code. Removed text becomes spaces, so that lines stay.

use std::collections::HashMap;
use std::ops::Range;

use crate::gpu::shader_tokens::{Tokens, end, operands};

/// Removes the branches that are never taken, from the files at some ranges of bytes. Of a branch that is always taken, the block remains.
/// If it ends with a return, what follows in the block around it is removed, too.
///
/// Values are known from `const` and `let` declarations of these files, of numbers and conditions.
pub(super) fn remove_dead_branches(tokens: &mut Tokens, files: &[Range<usize>]) {
    let mut names = Names::default();
    // The ends of the blocks around a token.
    let mut ends = Vec::new();
    let mut at = 0;
    while at < tokens.all().len() {
        let block_end = ends.last().copied().unwrap_or(usize::MAX);
        let is_of_file = tokens.is_in(at, files);
        match tokens.get(at) {
            "{" => ends.push(tokens.end(at)),
            "}" => drop(ends.pop()),
            "fn" if is_of_file => names.hide_parameters(tokens, at),
            "const" | "let" | "var" if is_of_file => names.declare(tokens, at, block_end),
            "if" if is_of_file => {
                at = choose(tokens, &names, at, block_end);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

/// Chooses between the branches of an `if`, if its condition is known. Returns the index of the token to go on with.
fn choose(tokens: &mut Tokens, names: &Names, at: usize, block_end: usize) -> usize {
    let branch = tokens.block(at);
    let condition = &tokens.all()[at + 1..branch.start];
    let is_after = |word| at > 0 && tokens.get(at - 1) == word && !tokens.is_removed(at - 1);
    let Some(Value::Bool(taken)) = names.value(condition, at).filter(|_| !is_after("break")) else { return at + 1 };
    let is_else = is_after("else");
    if !taken {
        let has_else = tokens.get(branch.end) == "else";
        let (start, end) = if has_else { (at, branch.end + 1) } else { (at - usize::from(is_else), branch.end) };
        tokens.remove(start..end);
        return end;
    }
    let mut end = branch.end;
    while tokens.get(end) == "else" {
        end = tokens.block(end).end;
    }
    let always_returns = !is_else && block_end != usize::MAX && returns(&tokens.all()[branch.clone()]);
    tokens.remove(at..branch.start);
    tokens.remove(branch.end..if always_returns { block_end - 1 } else { end });
    branch.start
}

/// The declarations by name, in order. Names of which no value is known are left out.
#[derive(Default)]
struct Names<'a>(HashMap<&'a str, Vec<Declared>>);

/// A declaration.
#[derive(Clone, Copy)]
struct Declared {
    /// `None` if the value is not known: the name hides an outer one.
    value: Option<Value>,
    /// The index of the token at which its block ends; `usize::MAX` for those of the module.
    end: usize,
}

/// A known value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Bool(bool),
    Number(u32),
}

impl<'a> Names<'a> {
    /// Hides names that are parameters of a function.
    fn hide_parameters(&mut self, tokens: &Tokens<'a>, at: usize) {
        let end = tokens.block(at).end;
        for pair in tokens.all()[at + 2..tokens.end(at + 2)].windows(2) {
            if let Some(all) = self.0.get_mut(pair[0]).filter(|_| pair[1] == ":") {
                all.push(Declared { value: None, end });
            }
        }
    }

    /// Takes up a declaration, if its value is known, or if it hides another.
    fn declare(&mut self, tokens: &Tokens<'a>, at: usize, block_end: usize) {
        let rest = &tokens.all()[at + 1..];
        let rest = &rest[..rest.iter().take_while(|&&token| token != ";").count()];
        let value = match operands(rest, "=")[..] {
            [_, value] if tokens.get(at) != "var" => self.value(value, at),
            _ => None,
        };
        let declared = Declared { value, end: block_end };
        match self.0.get_mut(tokens.get(at + 1)) {
            Some(all) => all.push(declared),
            None if value.is_some() => drop(self.0.insert(tokens.get(at + 1), vec![declared])),
            None => {}
        }
    }

    /// The value of an expression at an index, if it is known.
    fn value(&self, expression: &[&str], at: usize) -> Option<Value> {
        for (operator, decides) in [("||", true), ("&&", false)] {
            let operands = operands(expression, operator);
            if operands.len() > 1 {
                let values: Vec<_> = operands.iter().map(|operand| self.value(operand, at)).collect();
                let decided = values.contains(&Some(Value::Bool(decides)));
                return (decided || values.iter().all(Option::is_some)).then_some(Value::Bool(decided == decides));
            }
        }
        for (operator, if_equal) in [("==", true), ("!=", false)] {
            if let [one, other] = operands(expression, operator)[..] {
                let equal = self.value(one, at)? == self.value(other, at)?;
                return Some(Value::Bool(equal == if_equal));
            }
        }
        match expression {
            ["!", negated @ ..] => match self.value(negated, at)? {
                Value::Bool(value) => Some(Value::Bool(!value)),
                Value::Number(_) => None,
            },
            ["(", inner @ .., ")"] if end(expression, 0) == expression.len() => self.value(inner, at),
            ["true"] => Some(Value::Bool(true)),
            ["false"] => Some(Value::Bool(false)),
            [one] => match one.strip_suffix('u').unwrap_or(one).parse() {
                Ok(number) => Some(Value::Number(number)),
                Err(_) => self.0.get(one)?.iter().rev().find(|declared| declared.end > at)?.value,
            },
            _ => None,
        }
    }
}

/// True if the last statement of a block is a return.
fn returns(block: &[&str]) -> bool {
    let [.., ";", "}"] = block else { return false };
    let before = &block[..block.len() - 2];
    let start = before.iter().rposition(|token| [";", "{", "}"].contains(token));
    start.is_some_and(|start| before.get(start + 1) == Some(&"return"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code that remains of a text, in single spaces.
    fn remaining(text: &str) -> String {
        let constants = "const YES: bool = true;\nconst NO: bool = false;\nconst ROWS: u32 = 3u;\n";
        let text = constants.to_owned() + text;
        let mut tokens = Tokens::new(&text);
        remove_dead_branches(&mut tokens, std::slice::from_ref(&(0..text.len())));
        tokens.remaining_text()[constants.len()..].split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn branches_that_are_never_taken_are_spaces() {
        for (text, expected) in [
            ("a; if NO { b; { c; } } d;", "a; d;"),
            ("if NO {\n    a;\n} else {\n    b;\n}", "{ b; }"),
            ("if YES { a; } else { b; } c;", "{ a; } c;"),
            ("if x { a; } else if NO { b; } c;", "if x { a; } c;"),
            ("if x { a; } else if NO { b; } else { c; }", "if x { a; } else { c; }"),
            ("if x { a; } else if YES { b; } else if y { c; } else { d; } e;", "if x { a; } else { b; } e;"),
            ("if NO { a; } else if NO { b; } else if x { c; }", "if x { c; }"),
            ("if x { if NO { a; } b; } else { if YES { c; } }", "if x { b; } else { { c; } }"),
            ("// if NO { é\na; if NO { // } é\n b; } c;", "// if NO { é a; // } é c;"),
        ] {
            assert_eq!(remaining(text), expected, "{text}");
        }
    }

    #[test]
    fn nothing_is_left_after_a_branch_that_always_returns() {
        for (text, expected) in [
            ("fn f() { if YES { return a[b(1)]; } c; if x { d; } }", "fn f() { { return a[b(1)]; } }"),
            ("fn f() { if x { if YES { a; return; } b; } c; }", "fn f() { if x { { a; return; } } c; }"),
            ("fn f() { if x { a; } else if YES { return; } c; }", "fn f() { if x { a; } else { return; } c; }"),
            ("fn f() { if YES { if x { return; } } c; }", "fn f() { { if x { return; } } c; }"),
            ("fn f() { if YES { return_value(); } c; }", "fn f() { { return_value(); } c; }"),
            ("fn f() { if NO { return; } c; }", "fn f() { c; }"),
            ("fn f() { if NO { a; } else if YES { return; } c; }", "fn f() { { return; } }"),
            ("fn f() { for (;;) { if YES { return; } b; } c; }", "fn f() { for (;;) { { return; } } c; }"),
            (
                "fn f() { switch x { case 1u { if YES { return; } b; } default {} } c; }",
                "fn f() { switch x { case 1u { { return; } } default {} } c; }",
            ),
        ] {
            assert_eq!(remaining(text), expected, "{text}");
        }
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        let parts =
            ["const NO = false; if NO { a; }", "if NO { b; } const MAYBE = false;", "if NO { c; } if MAYBE { d; }"];
        let text = parts.concat();
        let mut tokens = Tokens::new(&text);
        let ends = [parts[0].len(), parts[0].len() + parts[1].len()];
        remove_dead_branches(&mut tokens, &[0..ends[0], ends[1]..text.len()]);
        let remaining = tokens.remaining(0..tokens.all().len()).collect::<Vec<_>>().join(" ");
        assert_eq!(remaining, "const NO = false ; if NO { b ; } const MAYBE = false ; if MAYBE { d ; }");
    }

    #[test]
    fn conditions_are_known_as_far_as_their_parts_decide() {
        for never in [
            "NO",
            "!YES",
            "false",
            "NO && x",
            "f(x, NO) && x < 1u && NO",
            "!(YES || x)",
            "ROWS == 1u",
            "ROWS != 3u",
            "(NO)",
            "!YES == YES",
            "NO || false",
            "(x || YES) && NO",
        ] {
            assert_eq!(remaining(&format!("if {never} {{ a; }}")), "", "{never}");
        }
        for open in [
            "x",
            "YES && x",
            "NO || x",
            "x == 1u",
            "x < ROWS",
            "ROWS + 1u == 4u",
            "f(NO)",
            "a[NO]",
            "(x == y) | (YES && NO)",
            "other.NO",
            "!ROWS",
            "x >= ROWS",
        ] {
            let text = format!("if {open} {{ a; }}");
            assert_eq!(remaining(&text), text);
        }
    }

    #[test]
    fn values_follow_from_those_before_within_their_block() {
        for (text, expected) in [
            ("const A: bool = YES && !NO; const B = A && ROWS == 3u; if !B { a; }", ""),
            ("let a = x; if a { b; }", "if a { b; }"),
            ("{ let a = NO; if a { b; } }", "{ }"),
            ("{ let a = NO; { let a = x; if a { b; } } if a { c; } }", "{ { if a { b; } } }"),
            ("{ let a = NO; } if a { b; }", "{ } if a { b; }"),
            ("fn f(x: u32, NO: bool) { if NO { a; } } if NO { b; }", "fn f(x: u32, NO: bool) { if NO { a; } }"),
            ("loop { continuing { break if NO; } } a;", "loop { continuing { break if NO; } } a;"),
            ("let a = NO; { var a = NO; if a { b; } }", "{ if a { b; } }"),
        ] {
            let remaining = remaining(text);
            let is_declaration = |part: &&str| ["const", "let", "var"].iter().any(|word| part.trim().starts_with(word));
            let code: String = remaining.split_inclusive([';', '{']).filter(|part| !is_declaration(part)).collect();
            assert_eq!(code.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }
}
