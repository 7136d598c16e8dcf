//! WGSL without the branches that its constants rule out, and without the functions and the workgroup memory that
//! nothing uses then.
//!
//! A driver removes dead branches and unused functions, too, but only after it has copied each function to all places
//! that call it. So the text of a kernel is short before a driver sees it: Mesa's software driver translates a plain
//! kernel in a tenth of the time (`docs/decisions/dead-branches.md`).
//!
//! WGSL has no conditional compilation, and shader files should remain WGSL, so a feature is an `if` with a constant.
//! `return A && b` is no branch: where `A` decides about much code, write `if A { return b; } return false;`.
//!
//! The files of this crate are read line by line, as they are laid out: `if CONDITION {` is a line, a line that begins
//! with `}` at the same indentation closes the block, and a function begins and ends in the first column. The test
//! `files_are_laid_out_as_they_are_read` holds the files to that layout. Lines of other texts stay as they are.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// A line of a kernel.
pub(super) struct Line<'a> {
    /// The text, without the line break.
    pub text: Cow<'a, str>,
    /// True for lines of the files of this crate.
    pub is_own: bool,
}

/// The text without dead branches, unused functions and unused workgroup memory. Lines that are left out are empty, so
/// that all others keep their numbers.
pub(super) fn prune(mut lines: Vec<Line>) -> String {
    remove_dead_branches(&mut lines);
    remove_unused(&mut lines);
    lines.iter().flat_map(|line| [&*line.text, "\n"]).collect()
}

/// Removes the branches that are never taken. Of a branch that is always taken, the block remains. If it ends with a
/// return, what follows in the block around it is removed, too.
fn remove_dead_branches(lines: &mut [Line]) {
    let mut names = Names::default();
    for at in 0..lines.len() {
        if !lines[at].is_own {
            continue;
        }
        names.read(&lines[at].text);
        if let Some((is_else, condition)) = condition(&lines[at].text)
            && let Some(taken) = names.value(condition)
        {
            choose(lines, at, is_else, taken);
        }
    }
}

/// Keeps or removes the branch that begins at a line.
fn choose(lines: &mut [Line], at: usize, is_else: bool, taken: bool) {
    let margin = " ".repeat(indentation(&lines[at].text));
    let mut end = closing(lines, at);
    if !taken {
        remove(lines, at..end);
        // After `else`, the block before now ends where this one did.
        if !is_else {
            let next = lines[end].text.trim_start().strip_prefix("} else ").map(|next| format!("{margin}{next}"));
            lines[end].text = next.unwrap_or_default().into();
        }
        return;
    }
    lines[at].text = format!("{margin}{}", if is_else { "} else {" } else { "{" }).into();
    let always_returns = !is_else && returns(&lines[at + 1..end]);
    while lines[end].text.trim_start().starts_with("} else") {
        let next = closing(lines, end);
        remove(lines, end..next);
        end = next;
    }
    if always_returns {
        let is_outside = |line: &Line| !line.text.is_empty() && indentation(&line.text) < margin.len();
        let rest = lines[end + 1..].iter().position(is_outside).unwrap_or_default();
        remove(lines, end + 1..end + 1 + rest);
    }
}

/// Removes the functions and the variables of a workgroup that no entry point uses, and no other text.
fn remove_unused(lines: &mut [Line]) {
    let mut open = Vec::new();
    let mut unused = HashMap::new();
    let mut at = 0;
    while at < lines.len() {
        let Line { text, is_own } = &lines[at];
        let declared = ["fn ", "var<workgroup> "].iter().find_map(|keyword| text.strip_prefix(keyword));
        let declared = declared.filter(|_| *is_own);
        let length = match declared {
            Some(_) if !text.ends_with(['}', ';']) => {
                1 + lines[at..].iter().take_while(|line| line.text != "}").count()
            }
            _ => 1,
        };
        let range = at..lines.len().min(at + length);
        at = range.end;
        // An entry point comes after its attributes. A binding also begins with attributes, but ends with a semicolon.
        let is_attribute = |line: &Line| line.text.starts_with('@') && !line.text.ends_with(';');
        let before = lines[..range.start].iter().rfind(|line| is_code(&line.text));
        match declared.filter(|_| !before.is_some_and(is_attribute)) {
            Some(declared) => drop(unused.insert(words(declared).next().unwrap_or_default(), range)),
            None => open.push(range),
        }
    }
    while let Some(range) = open.pop() {
        open.extend(lines[range].iter().flat_map(|line| words(&line.text)).filter_map(|word| unused.remove(word)));
    }
    let unused: Vec<_> = unused.into_values().collect();
    unused.into_iter().for_each(|range| remove(lines, range));
}

/// The names that are declared so far, with their values.
#[derive(Debug, Default)]
struct Names {
    /// The constants of the module whose values are known.
    constants: HashMap<String, bool>,
    /// The names of the blocks around the current line. A later name hides an earlier one and a constant.
    locals: Vec<LocalName>,
}

/// A variable, a constant or a parameter of a function.
#[derive(Debug)]
struct LocalName {
    name: String,
    /// The indentation of its block. A line that is indented less is outside.
    margin: usize,
    /// `None` if the value is not known.
    value: Option<bool>,
}

impl Names {
    /// Takes up the declarations of a line, and drops the names of the blocks that end before it.
    fn read(&mut self, line: &str) {
        if !is_code(line) {
            return;
        }
        let (margin, code) = (indentation(line), line.trim_start());
        // A line with `)` ends the parameters of a function, which are names of its body.
        if !code.starts_with(')') {
            self.locals.retain(|local| local.margin <= margin);
        }
        let code = code.strip_prefix("for (").unwrap_or(code);
        let declaration = ["const ", "let ", "var "].iter().find_map(|keyword| code.strip_prefix(keyword));
        let Some((name, rest)) = declaration.and_then(|declaration| declaration.split_once([':', ' ', ';'])) else {
            // A parameter stands before a colon. Its block is indented more than the line with `fn`.
            for (before, _) in code.match_indices(':') {
                let name = words(&code[..before]).last().unwrap_or_default().to_owned();
                self.locals.push(LocalName { name, margin: margin.max(1), value: None });
            }
            return;
        };
        let value = rest.split_once("= ").and_then(|(_, value)| self.value(value.strip_suffix(';')?));
        if margin == 0 && code.starts_with("const ") {
            self.constants.extend(value.map(|value| (name.to_owned(), value)));
        } else {
            let value = value.filter(|_| !code.starts_with("var "));
            self.locals.push(LocalName { name: name.to_owned(), margin, value });
        }
    }

    /// The value of a condition, if it is known.
    fn value(&self, condition: &str) -> Option<bool> {
        for (operator, decides) in [(" || ", true), (" && ", false)] {
            let operands: Vec<&str> = condition.split(operator).collect();
            if operands.len() > 1 && operands.iter().all(|operand| is_whole(operand)) {
                let values: Vec<_> = operands.iter().map(|operand| self.value(operand)).collect();
                let decided = values.contains(&Some(decides));
                return (decided || values.iter().all(Option::is_some)).then_some(decided == decides);
            }
        }
        match condition {
            "true" => Some(true),
            "false" => Some(false),
            one if one.starts_with('!') => self.value(&one[1..]).map(|value| !value),
            one => match one.strip_prefix('(').and_then(|one| one.strip_suffix(')')).filter(|inner| is_whole(inner)) {
                Some(inner) => self.value(inner),
                None => match self.locals.iter().rfind(|local| local.name == one) {
                    Some(local) => local.value,
                    None => self.constants.get(one).copied(),
                },
            },
        }
    }
}

/// The condition of a line that begins a branch, and true if it comes after `else`.
fn condition(line: &str) -> Option<(bool, &str)> {
    let line = line.trim_start().strip_suffix(" {")?;
    let is_else = line.starts_with("} else if ");
    Some((is_else, line.strip_prefix(if is_else { "} else if " } else { "if " })?))
}

/// True if each parenthesis has its counterpart.
fn is_whole(operand: &str) -> bool {
    let mut depth = 0;
    let mut step = |character| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        depth >= 0
    };
    operand.chars().all(&mut step) && depth == 0
}

/// True if the last statement of a block is a return.
fn returns(block: &[Line]) -> bool {
    let Some(first) = block.iter().find(|line| !line.text.is_empty()) else { return false };
    let is_statement = |line: &&Line| {
        indentation(&line.text) == indentation(&first.text) && !line.text.trim_start().starts_with([')', '}'])
    };
    block.iter().rfind(is_statement).is_some_and(|line| words(line.text.trim_start()).next() == Some("return"))
}

/// The index of the line that closes the block that a line begins.
fn closing(lines: &[Line], at: usize) -> usize {
    let margin = indentation(&lines[at].text);
    let closes = |line: &Line| line.text.trim_start().starts_with('}') && indentation(&line.text) == margin;
    lines[at + 1..].iter().position(closes).map_or(lines.len() - 1, |length| at + 1 + length)
}

fn remove(lines: &mut [Line], range: Range<usize>) {
    lines[range].iter_mut().for_each(|line| line.text = Cow::Borrowed(""));
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// True if a line is neither empty nor a comment.
fn is_code(line: &str) -> bool {
    !matches!(line.trim_start().as_bytes(), [] | [b'/', b'/', ..])
}

/// The words of a line, without its comment.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or_default();
    code.split(|character: char| !character.is_alphanumeric() && character != '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::shader_files::FILES;

    const CONSTANTS: &str = "const YES: bool = true;\nconst NO: bool = false;\nconst ROWS: u32 = 3u;\n";

    /// A text laid out as our files are: a break after each brace and semicolon, and before each closing brace.
    fn laid_out(text: &str) -> String {
        let (mut laid_out, mut depth) = (String::new(), 0_usize);
        let text = text.replace("{ ", "{\n").replace("; ", ";\n").replace(" }", "\n}").replace("} ", "}\n");
        for line in text.replace("}\nelse", "} else").lines() {
            depth -= usize::from(line.starts_with('}'));
            laid_out += &format!("{}{line}\n", " ".repeat(4 * depth));
            depth += usize::from(line.ends_with('{'));
        }
        laid_out
    }

    /// The code that remains of some texts, each with true if it is of this crate, in single spaces.
    fn remaining_of(texts: &[(&str, bool)]) -> String {
        let texts = texts.iter().map(|&(text, is_own)| (laid_out(text), is_own)).collect::<Vec<_>>();
        let lines = texts
            .iter()
            .flat_map(|(text, is_own)| text.lines().map(|line| Line { text: line.into(), is_own: *is_own }));
        let mut lines: Vec<_> =
            CONSTANTS.lines().map(|line| Line { text: line.into(), is_own: true }).chain(lines).collect();
        let count = lines.len();
        remove_dead_branches(&mut lines);
        assert_eq!(lines.len(), count, "all lines stay");
        let words = lines[CONSTANTS.lines().count()..].iter().flat_map(|line| line.text.split_whitespace());
        words.collect::<Vec<_>>().join(" ")
    }

    fn remaining(text: &str) -> String {
        remaining_of(&[(text, true)])
    }

    #[test]
    fn branches_that_are_never_taken_are_removed() {
        for (text, expected) in [
            ("a; if NO { b; if x { c; } } d;", "a; d;"),
            ("if NO { a; } else { b; }", "{ b; }"),
            ("if YES { a; } else { b; } c;", "{ a; } c;"),
            ("if x { a; } else if NO { b; } c;", "if x { a; } c;"),
            ("if x { a; } else if NO { b; } else { c; }", "if x { a; } else { c; }"),
            ("if x { a; } else if YES { b; } else if y { c; } else { d; } e;", "if x { a; } else { b; } e;"),
            ("if NO { a; } else if NO { b; } else if x { c; }", "if x { c; }"),
            ("if x { if NO { a; } b; } else { if YES { c; } }", "if x { b; } else { { c; } }"),
            ("// if NO { a; } b;", "// if NO { a; } b;"),
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
            ("fn f() { if YES { returned(); } c; }", "fn f() { { returned(); } c; }"),
            ("fn f() { if NO { return; } c; }", "fn f() { c; }"),
            ("fn f() { if NO { a; } else if YES { return; } c; }", "fn f() { { return; } }"),
            ("fn f() { loop { if YES { return; } b; } c; }", "fn f() { loop { { return; } } c; }"),
            ("fn f() { if YES { return g( 1, ); } c; }", "fn f() { { return g( 1, ); } }"),
        ] {
            assert_eq!(remaining(text), expected, "{text}");
        }
        let lines = ["    return g(", "        1u,", "    );", ""].map(|line| Line { text: line.into(), is_own: true });
        assert!(returns(&lines) && !returns(&lines[1..]) && !returns(&[]));
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        let texts = [
            ("if NO { a; }", true),
            ("if NO { b; } const MAYBE = false;", false),
            ("if NO { c; } if MAYBE { d; }", true),
        ];
        assert_eq!(remaining_of(&texts), "if NO { b; } const MAYBE = false; if MAYBE { d; }");
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
            "(NO)",
            "NO || false",
            "(x || YES) && NO",
            "YES && (NO || !YES)",
        ] {
            assert_eq!(remaining(&format!("if {never} {{ a; }}")), "", "{never}");
        }
        for open in [
            "x",
            "YES && x",
            "NO || x",
            "x < ROWS",
            "ROWS == 3u",
            "f(NO)",
            "f(x || YES || y)",
            "f(x && NO && y)",
            "(x && NO && y) || z",
            "a[NO]",
            "(x == y) | (YES && NO)",
            "other.NO",
            "!ROWS",
        ] {
            let text = format!("if {open} {{ a; }}");
            assert_eq!(remaining(&text), text);
        }
    }

    #[test]
    fn values_follow_from_those_before_within_their_block() {
        for (text, expected) in [
            ("const A: bool = YES && !NO; const B = A && !NO; if !B { a; }", ""),
            ("let a = x; if a { b; }", "if a { b; }"),
            ("fn f() { let a = NO; if a { b; } }", "fn f() { }"),
            ("fn f() { let a = NO; { let a = x; if a { b; } } }", "fn f() { { if a { b; } } }"),
            ("fn f() { let a = NO; } fn g() { if a { b; } }", "fn f() { } fn g() { if a { b; } }"),
            ("fn f() { var a = NO; if a { b; } }", "fn f() { if a { b; } }"),
            ("fn f(a: bool) { if x { let a = NO; } if a { b; } }", "fn f(a: bool) { if x { } if a { b; } }"),
            ("fn f(YES: bool, NO: bool) { if NO { b; } }", "fn f(YES: bool, NO: bool) { if NO { b; } }"),
            ("fn f(\n    NO: bool,\n) { if NO { b; } }", "fn f( NO: bool, ) { if NO { b; } }"),
            ("fn f(NO: bool) { a; } fn g() { if NO { b; } }", "fn f(NO: bool) { a; } fn g() { }"),
            ("fn f() { if x { let YES = NO; } if YES { b; } }", "fn f() { if x { } { b; } }"),
            ("fn f() { let a = NO; if x { let a = y; } if a { b; } }", "fn f() { if x { } }"),
            ("fn f() { if x { const A: bool = NO; } if A { b; } }", "fn f() { if x { } if A { b; } }"),
            (
                "fn f() { for (var NO = x; NO; ) { if NO { b; } } }",
                "fn f() { for (var NO = x; NO; ) { if NO { b; } } }",
            ),
        ] {
            let remaining = remaining(text);
            let is_declaration = |part: &&str| ["const", "let", "var"].iter().any(|word| part.trim().starts_with(word));
            let code: String = remaining.split_inclusive([';', '{']).filter(|part| !is_declaration(part)).collect();
            assert_eq!(code.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }

    #[test]
    fn functions_and_workgroup_memory_that_nothing_uses_are_removed() {
        let text = "const A = 1u;
fn unused() {
    loose();
}
fn loose() -> u32 {
    return kept[0]; // called();
}
var<workgroup> loose_memory: array<u32, A>;
var<workgroup> memory: array<u32, A>;
var<private> kept: array<u32, A>;
struct S { a: u32 }
fn called() {
    deep();
}
@group(0) @binding(0) var<storage, read> words: array<u32>;

fn after_a_binding() {}
@compute @workgroup_size(64)

// The entry point.
fn pose() {
    if x { called(); }
}
fn deep() {
    called();
    memory[0] = 1u;
}
fn of_other() {}
fn last() {}
";
        let other = "fn other() { of_other(); }";
        let lines = text.lines().map(|text| Line { text: text.into(), is_own: true });
        let found = prune(lines.chain([Line { text: other.into(), is_own: false }]).collect());
        let expected = text.lines().enumerate().map(|(index, line)| match index {
            1..=7 | 16 | 28 => "",
            _ => line,
        });
        assert_eq!(found.lines().collect::<Vec<_>>(), expected.chain([other]).collect::<Vec<_>>());
    }

    #[test]
    fn files_are_laid_out_as_they_are_read() {
        for file in &FILES {
            for line in file.text.lines().filter(|line| is_code(line)) {
                let code = line.trim();
                let place = format!("{}: {line}", file.name);
                assert!(!line.contains("/*"), "{place}");
                assert_eq!(indentation(line) % 4, 0, "{place}");
                let has_branch = words(line).any(|word| word == "if" || word == "else");
                assert_eq!(has_branch, code.starts_with("if ") || code.starts_with("} else "), "{place}");
                assert!(!has_branch || code.ends_with(" {"), "{place}");
                assert!(
                    !code.starts_with('}') || code == "}" || code == "} else {" || code.starts_with("} else if "),
                    "{place}"
                );
                let is_function = words(line).any(|word| word == "fn");
                assert_eq!(is_function, line.starts_with("fn "), "{place}");
            }
            // A block ends in a line of the indentation with which it begins.
            let mut open = Vec::new();
            for line in file.text.lines().filter(|line| is_code(line)) {
                let code = line.split("//").next().unwrap_or_default().trim_end();
                if code.trim_start().starts_with('}') {
                    assert_eq!(open.pop(), Some(indentation(line)), "{}: {line}", file.name);
                }
                open.extend(code.ends_with('{').then_some(indentation(line)));
            }
            assert!(open.is_empty(), "{}: {open:?}", file.name);
        }
    }
}
