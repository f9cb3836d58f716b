//! The command `unspool`.

fn main() {}
