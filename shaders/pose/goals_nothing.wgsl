// Needs: pose_common
//! The function of `goals_rigid.wgsl` and `goals_general.wgsl` for batches without goals.

fn goals_reach(share: Share) {}
