//! Interpolators in WGSL: their own text, and the functions of ours that call theirs.

use crate::model::interpolator::Interpolator;

/// What an error calls the text of an interpolator.
pub fn file(interpolator: &dyn Interpolator) -> String {
    format!("interpolator {}", interpolator.name())
}

/// What an error calls our call of it.
pub fn call_file(interpolator: &dyn Interpolator) -> String {
    let (name, width, made) = (interpolator.name(), interpolator.width(), interpolator.result_width());
    let (value, result) = (format!("array<f32, {width}>"), format!("array<f32, {made}>"));
    format!(
        "interpolator {name}, called as {name}_lerp(a: {value}, b: {value}, t: f32, seconds: f32) -> {result} and \
         {name}_no_lerp(value: {value}) -> {result}"
    )
}

/// The function by which an interpolator writes a property.
pub fn call(index: usize, interpolator: &dyn Interpolator) -> String {
    let (name, width, made) = (interpolator.name(), interpolator.width(), interpolator.result_width());
    let element = |key: &str| {
        let number = |number: usize| format!("values[{key} + {}u].{}", number / 4, ["x", "y", "z", "w"][number % 4]);
        let numbers: Vec<String> = (0..width).map(number).collect();
        format!("array<f32, {width}>({})", numbers.join(", "))
    };
    format!(
        "fn custom_write_{index}(key: u32, span: Span, at: u32) {{
    let a = {};
    var result: array<f32, {made}>;
    if span.interval == 0.0 {{
        result = {name}_no_lerp(a);
    }} else {{
        let b = {};
        result = {name}_lerp(a, b, span.fraction, span.interval);
    }}
    for (var number = 0u; number < {made}u; number += 1u) {{
        values_out[at + number] = result[number];
    }}
}}
",
        element("key"),
        element("key + span.next"),
    )
}

/// The function by which the fused pass has one of so many interpolators write a property.
pub fn choice(count: usize) -> String {
    let mut code =
        "fn custom_write(interpolator: u32, key: u32, span: Span, at: u32) {\n    switch interpolator {\n".to_owned();
    for index in 0..count {
        code += &format!("        case {index}u: {{\n            custom_write_{index}(key, span, at);\n        }}\n");
    }
    code + "        default: {}\n    }\n}\n"
}
