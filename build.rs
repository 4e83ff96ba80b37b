//! Puts the lessons into the binary: it has to work outside the repository too.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=lessons");
    let mut names = lessons(&root.join("lessons"))?;
    names.sort();
    let mut code = String::from("const EMBEDDED: &[(&str, &str)] = &[\n");
    for name in names {
        let _ = writeln!(
            code,
            "    ({:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {:?}))),",
            format!("lessons/{name}"),
            format!("/lessons/{name}")
        );
    }
    code.push_str("];\n");
    fs::write(out.join("lessons.rs"), code)
}

/// The names of the lesson files; none where there is no such folder.
fn lessons(folder: &Path) -> io::Result<Vec<String>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if Path::new(&name).extension().is_some_and(|ending| ending == "yaml") {
            names.push(name);
        }
    }
    Ok(names)
}
