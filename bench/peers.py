"""The other programs and their sources.

Each is installed into its own directory. A program that cannot be installed is
skipped with a message.
"""

import os
import re
import shutil
import subprocess
import sys

from measure import say


def run_quietly(*command, **options):
    """Runs an installer; shows its output only if it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        said = done.stdout.strip().splitlines() or ["no message"]
        raise RuntimeError(next((line for line in said if "error" in line.lower()), said[-1]))


def from_cargo(folder, package, version, program):
    path = folder / "bin" / program
    if not path.exists():
        run_quietly("cargo", "install", "--locked", "--root", str(folder), f"{package}@{version}")
    return path


def from_npm(folder, package, version, program):
    path = folder / "node_modules" / ".bin" / program
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        run_quietly("npm", "install", "--prefix", str(folder), f"{package}@{version}")
    return path


def from_pypi(folder, package, version, program):
    path = folder / "venv" / "bin" / program
    if not path.exists():
        run_quietly(sys.executable, "-m", "venv", str(folder / "venv"))
        run_quietly(str(folder / "venv" / "bin" / "pip"), "install", "--quiet", f"{package}=={version}")
    return path


def from_library(folder, package, version, program):
    """Builds a small program around a library."""
    path = folder / "target" / "release" / program
    if not path.exists():
        (folder / "src").mkdir(parents=True, exist_ok=True)
        (folder / "Cargo.toml").write_text(
            f'[package]\nname = "{program}"\nedition = "2021"\n[dependencies]\n{package} = "={version}"\n[workspace]\n')
        (folder / "src" / "main.rs").write_text(LIBRARIES[package])
        run_quietly("cargo", "build", "--release", cwd=folder, env={**os.environ, "CARGO_TARGET_DIR": "target"})
    return path


def from_path(_folder, package, _version, _program):
    found = shutil.which(package)
    if not found:
        raise RuntimeError("not on this machine")
    return found


# The program for each library: reads text and prints it with escape codes.
LIBRARIES = {
    "termimad": """
fn main() {
    let text = std::io::read_to_string(std::io::stdin()).unwrap();
    print!("{}", termimad::MadSkin::default_dark().text(&text, Some(80)));
}
""",
}


# Name: version, source, and the program if its name differs.
SOURCES = {
    "agentcat": ("0.1.0", from_cargo),
    "format-claude-stream": ("0.1.2", from_npm),
    "claugs": ("0.6.11", from_pypi),
    "jq": ("", from_path),
    "claude-code-log": ("1.7.0", from_pypi),
    "claude-code-transcripts": ("0.6", from_pypi),
    "claude-replay": ("0.9.0", from_npm),
    "mdriver": ("1.7.0", from_cargo),
    "rich": ("15.0.0", from_pypi, "python"),
    "streamdown": ("0.36.9", from_pypi),
    "termimad": ("0.35.5", from_library, "termimad-shown"),
    "git-delta": ("0.20.1", from_cargo, "delta"),
    "bat": ("0.26.1", from_cargo),
}


def version_of(program):
    """Returns the version that an already installed program reports."""
    said = subprocess.run([program, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    found = re.search(r"\d+(\.\d+)+", said)
    return found.group() if found else ""


class Peers:
    """Installs programs on demand."""

    def __init__(self, folder):
        self.folder, self.missing = folder, []

    def program(self, name):
        """Returns the name with its version, and the path; None if the installation fails."""
        version, source, *program = SOURCES[name]
        try:
            say(f"  installing {name} {version}")
            path = source(self.folder / name, name, version, *(program or [name]))
        except (RuntimeError, OSError) as error:
            say(f"  skipped: {name} {version} cannot be installed: {error}")
            self.missing.append(f"{name} {version}".strip())
            return None
        return f"{name} {version or version_of(path)}".strip(), str(path)
