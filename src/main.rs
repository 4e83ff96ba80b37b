//! lockscope's command line.

fn main() {}
