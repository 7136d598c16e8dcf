// Needs: nothing
//! Elements of the values: four numbers, or the codes of two keys (`sample.wgsl`), which must not pass as numbers.

/// The four numbers of an element.
fn value_load(at: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(values[at]);
}
