//! WGSL in tokens.

use std::ops::Range;

/// A text in tokens: words, operators of two characters that conditions use, and single characters. Comments and space are left out.
///
/// Tokens can be removed; the others keep their indices.
pub(super) struct Tokens<'a> {
    text: &'a str,
    all: Vec<&'a str>,
    /// The byte at which each token begins.
    starts: Vec<usize>,
    /// For each token, true if it has been removed.
    removed: Vec<bool>,
}

impl<'a> Tokens<'a> {
    /// Cuts a text.
    pub fn new(text: &'a str) -> Self {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        let (mut all, mut starts) = (Vec::new(), Vec::new());
        let mut at = 0;
        while let rest = &text.as_bytes()[at..]
            && let [first, ..] = rest
        {
            let run = |goes_on: fn(&u8) -> bool| rest.iter().take_while(|byte| goes_on(byte)).count();
            let length = match rest {
                [b' ' | b'\n' | b'\r' | b'\t', ..] => run(u8::is_ascii_whitespace),
                // Any line break of WGSL ends the comment, not only that of our files.
                [b'/', b'/', ..] => run(|byte| !(b'\n'..=b'\r').contains(byte)),
                [b'/', b'*', ..] => block_comment(rest),
                [b'&', b'&', ..] | [b'|', b'|', ..] | [b'=' | b'!' | b'<' | b'>', b'=', ..] => 2,
                _ => run(is_word).max(1),
            };
            if !first.is_ascii_whitespace() && !rest.starts_with(b"//") && !rest.starts_with(b"/*") {
                all.push(&text[at..at + length]);
                starts.push(at);
            }
            at += length;
        }
        Self { text, removed: vec![false; all.len()], all, starts }
    }

    /// All tokens in order, with those that have been removed.
    pub fn all(&self) -> &[&'a str] {
        &self.all
    }

    /// A token by its index; an empty text beyond the last one.
    pub fn get(&self, at: usize) -> &'a str {
        self.all.get(at).copied().unwrap_or_default()
    }

    /// True if a token is in one of some ranges of bytes, which are in order.
    pub fn is_in(&self, at: usize, ranges: &[Range<usize>]) -> bool {
        let Some(start) = self.starts.get(at) else { return false };
        let range = ranges.partition_point(|range| range.end <= *start);
        ranges.get(range).is_some_and(|range| range.contains(start))
    }

    /// The first block after an index, with its braces.
    pub fn block(&self, after: usize) -> Range<usize> {
        let start = after + self.all[after..].iter().take_while(|&&token| token != "{").count();
        start..self.end(start)
    }

    /// The index after the bracket that closes the one at an index.
    pub fn end(&self, open: usize) -> usize {
        end(&self.all, open)
    }

    /// Removes a range of tokens.
    pub fn remove(&mut self, range: Range<usize>) {
        self.removed[range].fill(true);
    }

    /// True if a token has been removed.
    pub fn is_removed(&self, at: usize) -> bool {
        self.removed.get(at).is_some_and(|removed| *removed)
    }

    /// The tokens of a range that have not been removed.
    pub fn remaining(&self, range: Range<usize>) -> impl Iterator<Item = &'a str> {
        range.filter(|&at| !self.removed[at]).map(|at| self.all[at])
    }

    /// The text with spaces in place of the tokens that have been removed. All lines stay.
    pub fn remaining_text(&self) -> String {
        let mut bytes = self.text.as_bytes().to_vec();
        for ((token, &start), _) in
            self.all.iter().zip(&self.starts).zip(&self.removed).filter(|(_, removed)| **removed)
        {
            bytes[start..start + token.len()].fill(b' ');
        }
        // No character is cut, so that this is UTF-8.
        String::from_utf8(bytes).unwrap_or_else(|_| self.text.to_owned())
    }
}

/// The length of the comment in `/*` and `*/` at the start of a text. Such comments nest.
fn block_comment(text: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        let (step, nesting) = match &text[at..] {
            [b'/', b'*', ..] => (2, 1),
            [b'*', b'/', ..] => (2, -1),
            _ => (1, 0),
        };
        (at, depth) = (at + step, depth + nesting);
        if depth == 0 {
            break;
        }
    }
    at
}

/// The index after the bracket that closes the one at an index; the number of tokens if none does.
pub(super) fn end(tokens: &[&str], open: usize) -> usize {
    let mut depth = 0;
    for (index, &token) in tokens.iter().enumerate().skip(open) {
        depth += nesting(token);
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// The operands of an operator that is not in brackets.
pub(super) fn operands<'a, 'b>(tokens: &'a [&'b str], operator: &str) -> Vec<&'a [&'b str]> {
    let mut depth = 0;
    let is_between = |token: &&str| {
        depth += nesting(token);
        depth == 0 && *token == operator
    };
    tokens.split(is_between).collect()
}

/// By how much a token changes the number of open brackets.
fn nesting(token: &str) -> i32 {
    match token {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_operators_and_brackets_are_tokens() {
        let text = "if a_1>=2u&&!b { // é }\n  c[é] = 1.5; }";
        let mut tokens = Tokens::new(text);
        let expected = "if a_1 >= 2u && ! b { c [ é ] = 1 . 5 ; }";
        assert_eq!(tokens.all().join(" "), expected);
        assert_eq!((tokens.block(0), tokens.end(9), tokens.get(0), tokens.get(99)), (7..18, 12, "if", ""));
        assert!(
            tokens.is_in(8, &[0..1, 27..28])
                && !tokens.is_in(8, &[0..27, 28..99])
                && !tokens.is_in(99, &[0..27, 28..99])
        );
        tokens.remove(0..2);
        tokens.remove(9..12);
        assert!(tokens.is_removed(1) && !tokens.is_removed(2) && !tokens.is_removed(99));
        assert_eq!(tokens.remaining(0..12).collect::<Vec<_>>(), [">=", "2u", "&&", "!", "b", "{", "c"]);
        assert_eq!(tokens.remaining_text(), "      >=2u&&!b { // é }\n  c     = 1.5; }");
        assert_eq!(Tokens::new("a { (").end(1), 3);
        assert_eq!(Tokens::new("a /* { // /* */ } */ b / * c // d\re // f\n/* g").all().join(" "), "a b / * c e");
    }

    #[test]
    fn operands_are_between_operators_outside_of_brackets() {
        let tokens = Tokens::new("a && (b && c) && f(d && e)");
        let found: Vec<_> = operands(tokens.all(), "&&").iter().map(|operand| operand.concat()).collect();
        assert_eq!(found, ["a", "(b&&c)", "f(d&&e)"]);
    }
}
