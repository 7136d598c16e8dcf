//! The `posse` command.

fn main() {}
