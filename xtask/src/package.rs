//! `cargo xtask package`: packages every published crate, and checks that the packages
//! build with nothing but what is in them.
//!
//! `cargo package` would build all dependencies once more for each crate, in its own
//! profile. Here the packages are unpacked into one workspace with the profiles of this
//! one, so that the dependencies are those that are already built.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::manifest::{Package, read};
use crate::{Result, cargo, root, run};

/// Packages and builds.
pub(crate) fn check() -> Result {
    let packages = Package::all()?;
    let mut command = cargo();
    command.args([
        "package",
        "--no-verify",
        "--locked",
        "--allow-dirty",
        "--quiet",
    ]);
    for package in packages.iter().filter(|package| package.is_published) {
        command.arg(format!("--package={}", package.name));
    }
    run(&mut command)?;
    let target = root().join("target");
    let folder = target.join("package/unpacked");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let text = read(&root().join("Cargo.toml"))?;
    let version = version(&text)?;
    let mut patches = String::new();
    for package in packages.iter().filter(|package| package.is_published) {
        let name = format!("{}-{version}", package.name);
        let file = target.join("package").join(format!("{name}.crate"));
        run(Command::new("tar")
            .arg("-xzf")
            .arg(file)
            .arg("-C")
            .arg(&folder))?;
        let _ = writeln!(patches, "{} = {{ path = \"{name}\" }}", package.name);
    }
    let profiles = text.split_once("\n[profile.").map_or("", |(_, rest)| rest);
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\"*-{version}\"]\n\n\
         [patch.crates-io]\n{patches}\n[profile.{profiles}"
    );
    write(&folder.join("Cargo.toml"), &manifest)?;
    write(
        &folder.join("Cargo.lock"),
        &read(&root().join("Cargo.lock"))?,
    )?;
    run(cargo()
        .args(["check", "--workspace", "--target-dir"])
        .arg(&target)
        .current_dir(&folder))
}

/// The version of all packages.
fn version(manifest: &str) -> Result<&str> {
    let line = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = \""));
    let version = line.and_then(|rest| rest.split('"').next());
    version.ok_or_else(|| "xtask: Cargo.toml has no version".to_owned())
}

fn write(path: &Path, text: &str) -> Result {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
