// Needs: pose_common, pose_joint
//! The functions of `displace.wgsl` for batches without transitions.

fn displace_begin(share: Share) {}

fn displace_joint(joint: u32, sampled: bool, local: Local) -> Local {
    return local;
}

fn displace_value(number: u32, turns: bool, value: vec4<f32>) -> vec4<f32> {
    return value;
}

fn displace_values(first: u32, count: u32, at: u32) {}
