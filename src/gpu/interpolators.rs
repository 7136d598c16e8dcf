//! Interpolators in WGSL: the generated functions that call the functions of the interpolators.

use std::sync::Arc;

use crate::model::Interpolator;

/// The name of the text of an interpolator in errors.
pub(super) fn text_name(interpolator: &dyn Interpolator) -> String {
    format!("interpolator {}", interpolator.name())
}

/// The error of an interpolator whose calls do not compile, from the message of the compiler.
pub(super) fn explain_call_error(interpolator: &dyn Interpolator, message: &str) -> String {
    let name = interpolator.name();
    let functions = [format!("{name}_lerp"), format!("{name}_no_lerp")];
    let is_missing = |function: &&String| {
        // In the words of naga, and of Tint, the compiler of Chromium.
        [format!("no definition in scope for identifier: `{function}`"), format!("unresolved call target '{function}'")]
            .iter()
            .any(|start| message.starts_with(start))
    };
    if let Some(missing) = functions.iter().find(is_missing) {
        return format!("function {missing} is missing; define it in the WGSL of the interpolator");
    }
    let [value, result] =
        [interpolator.width(), interpolator.result_width()].map(|width| format!("array<f32, {width}>"));
    let [lerp, no_lerp] = functions;
    format!(
        "{message}; it is called as {lerp}(a: {value}, b: {value}, t: f32, seconds: f32) -> {result} and as \
         {no_lerp}(value: {value}) -> {result}"
    )
}

/// The functions with which a kernel writes a property by an interpolator, or computes one of its numbers.
pub(super) fn generate_calls(index: usize, interpolator: &dyn Interpolator) -> String {
    let (name, width, result_width) = (interpolator.name(), interpolator.width(), interpolator.result_width());
    let element = |key: &str| {
        let number =
            |number: usize| format!("value_load({key} + {}u).{}", number / 4, ["x", "y", "z", "w"][number % 4]);
        let numbers: Vec<String> = (0..width).map(number).collect();
        format!("array<f32, {width}>({})", numbers.join(", "))
    };
    format!(
        "fn custom_result_{index}(key: u32, span: Span) -> array<f32, {result_width}> {{
    let a = {};
    if span.interval == 0.0 {{
        return {name}_no_lerp(a);
    }}
    let b = {};
    return {name}_lerp(a, b, span.fraction, span.interval);
}}
fn custom_write_{index}(key: u32, span: Span, at: u32) {{
    var result = custom_result_{index}(key, span);
    for (var number = 0u; number < {result_width}u; number += 1u) {{
        values_out[at + number] = result[number];
    }}
}}
fn custom_number_{index}(key: u32, span: Span, number: u32) -> f32 {{
    var result = custom_result_{index}(key, span);
    return result[number];
}}
",
        element("key"),
        element("key + span.next"),
    )
}

/// The functions with which a kernel selects an interpolator.
pub(super) fn generate_choice(interpolators: &[Arc<dyn Interpolator>]) -> String {
    let cases = |call: &dyn Fn(usize) -> String| -> String {
        (0..interpolators.len())
            .map(|index| format!("        case {index}u: {{\n            {}\n        }}\n", call(index)))
            .collect()
    };
    let write = cases(&|index| format!("custom_write_{index}(key, span, at);"));
    let number = cases(&|index| format!("return custom_number_{index}(key, span, number);"));
    let count = cases(&|index| format!("return {}u;", interpolators[index].result_width()));
    format!(
        "fn custom_write(interpolator: u32, key: u32, span: Span, at: u32) {{
    switch interpolator {{
{write}        default: {{}}
    }}
}}
fn custom_number(interpolator: u32, key: u32, span: Span, number: u32) -> f32 {{
    switch interpolator {{
{number}        default: {{}}
    }}
    return 0.0;
}}
fn custom_count(interpolator: u32) -> u32 {{
    switch interpolator {{
{count}        default: {{}}
    }}
    return 0u;
}}
"
    )
}
