//! transship
fn main(){}
