//! Writes records and constants in WGSL, from their Rust declarations.

use crate::pack::record::{Constant, Record, Shared, Value};

impl Shared {
    /// Writes the constants and records in WGSL. A record that lies in an array also gets a constant with its number of
    /// words, and a function that loads it: `SOME_WORDS` and `some_load` for `SomeRecord`.
    pub fn wgsl(&self) -> String {
        let mut code = format!("// Generated from {}.\n", self.file);
        if !self.constants.is_empty() {
            code.push('\n');
        }
        for constant in self.constants {
            code += &docs("", constant.docs);
            code += &constant.wgsl();
        }
        for record in self.records {
            code.push('\n');
            code += &record.wgsl();
        }
        code
    }
}

impl Constant {
    fn wgsl(&self) -> String {
        let name = self.name;
        match self.value {
            // Large constants are masks, which read better in hexadecimal.
            Value::Word(value @ 0x1_0000..) => format!("const {name}: u32 = {value:#x}u;\n"),
            Value::Word(value) => format!("const {name}: u32 = {value}u;\n"),
            Value::Float(value) => format!("const {name}: f32 = {};\n", float(value)),
            Value::Floats(values) => {
                let type_name = format!("array<f32, {}>", values.len());
                let values: Vec<String> = values.iter().copied().map(float).collect();
                format!("const {name}: {type_name} = {type_name}({});\n", values.join(", "))
            }
        }
    }
}

impl Record {
    fn wgsl(&self) -> String {
        let name = self.name;
        let mut code = format!("{}struct {name} {{\n", docs("", self.docs));
        for field in self.fields {
            code += &docs("    ", field.docs);
            code += &format!("    {}: {},\n", field.name, field.type_name);
        }
        code += "}\n";
        if let Some(array) = self.loaded_from {
            let snake = snake_case(name.strip_suffix("Record").unwrap_or(name));
            let (constant, words) = (snake.to_ascii_uppercase(), self.size / 4);
            code += &format!("\n/// The number of words of a `{name}`.\nconst {constant}_WORDS: u32 = {words}u;\n");
            code += &format!("\n/// Loads a `{name}` from its offset in `{array}`.\n");
            code += &format!("fn {snake}_load(at: u32) -> {name} {{\n    return {name}(\n");
            for field in self.fields {
                let word = match field.offset / 4 {
                    0 => format!("{array}[at]"),
                    index => format!("{array}[at + {index}u]"),
                };
                let value = if field.type_name == "f32" { format!("bitcast<f32>({word})") } else { word };
                code += &format!("        {value},\n");
            }
            code += "    );\n}\n";
        }
        code
    }
}

/// The shortest WGSL literal of an `f32`.
fn float(value: f32) -> String {
    format!("{value:?}f")
}

/// Writes the lines of a doc comment in WGSL.
fn docs(indent: &str, lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{indent}///{}\n", without_links(line))).collect()
}

/// Replaces the links in a line of a doc comment by code: `` [`LayerRecord::mode`] `` becomes `LayerRecord.mode`.
fn without_links(line: &str) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some((before, link)) = rest.split_once("[`")
        && let Some((name, after)) = link.split_once("`]")
    {
        text += &format!("{before}`{}`", name.replace("::", "."));
        rest = match after.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    text + rest
}

/// Converts the name of a type to snake case.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (index, letter) in name.char_indices() {
        if index > 0 && letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::record::{SHARED, constants, record};

    constants! {
        /// Bit of [`SomeRecord::count`]: there are many.
        pub const SOME_BIT: u32 = 1 << 31;
        /// A count.
        pub const SOME_COUNT: u32 = 12;
        /// A limit,
        /// in two lines.
        pub const SOME_LIMIT: f32 = 1e-6;
        /// Coefficients.
        pub const SOME_SERIES: [f32; 3] = [1.0, -0.1, 1.0 / 3.0];
    }

    record! {
        /// A record in the words, beside an [`Other`](super::Other).
        SomeRecord in words {
            /// A number.
            count: u32,
            /// A length.
            reach: f32,
        }
    }

    record! {
        /// A record of another.
        Other {
            /// The other.
            some: SomeRecord,
            /// Rows.
            rows: [[f32; 4]; 3],
        }
    }

    #[test]
    fn the_wgsl_of_records_and_constants() {
        let shared = Shared { file: "some.rs", constants: CONSTANTS, records: &[SomeRecord::RECORD, Other::RECORD] };
        let expected = "\
// Generated from some.rs.

/// Bit of `SomeRecord.count`: there are many.
const SOME_BIT: u32 = 0x80000000u;
/// A count.
const SOME_COUNT: u32 = 12u;
/// A limit,
/// in two lines.
const SOME_LIMIT: f32 = 1e-6f;
/// Coefficients.
const SOME_SERIES: array<f32, 3> = array<f32, 3>(1.0f, -0.1f, 0.33333334f);

/// A record in the words, beside an `Other`.
struct SomeRecord {
    /// A number.
    count: u32,
    /// A length.
    reach: f32,
}

/// The number of words of a `SomeRecord`.
const SOME_WORDS: u32 = 2u;

/// Loads a `SomeRecord` from its offset in `words`.
fn some_load(at: u32) -> SomeRecord {
    return SomeRecord(
        words[at],
        bitcast<f32>(words[at + 1u]),
    );
}

/// A record of another.
struct Other {
    /// The other.
    some: SomeRecord,
    /// Rows.
    rows: array<vec4f, 3>,
}
";
        assert_eq!(shared.wgsl(), expected);
    }

    #[test]
    fn shared_files_are_there() {
        for Shared { file, .. } in SHARED {
            assert!(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file).exists(), "{file}");
        }
    }
}
