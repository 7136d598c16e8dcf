//! Local matrices to model matrices, in place.

use crate::cpu::matrix::{Rows, multiply};

/// Makes model matrices of local ones. Parents come before children, so that one pass is enough.
pub fn walk(parents: &[Option<usize>], matrices: &mut [Rows]) {
    for (joint, parent) in parents.iter().enumerate() {
        if let Some(parent) = *parent {
            matrices[joint] = multiply(&matrices[parent], &matrices[joint]);
        }
    }
}
