//! Paths that try to leave the project.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use unspool_acp::files::{FileError, Files};

struct Ground {
    _folder: tempfile::TempDir,
    root: PathBuf,
    secret: PathBuf,
    files: Files,
}

fn ground() -> Ground {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let (root, outside) = (base.join("project"), base.join("outside"));
    fs::create_dir_all(root.join("sub/deep")).unwrap();
    fs::create_dir_all(&outside).unwrap();
    fs::write(root.join("a.txt"), "inside").unwrap();
    fs::write(root.join("sub/b.txt"), "below").unwrap();
    let secret = outside.join("secret");
    fs::write(&secret, "secret").unwrap();
    // Its name starts like the root's.
    fs::create_dir(base.join("project-2")).unwrap();
    fs::write(base.join("project-2/secret"), "secret").unwrap();
    Ground {
        files: Files::open(&root).unwrap(),
        root,
        secret,
        _folder: folder,
    }
}

impl Ground {
    /// Checks that a path is neither read nor written.
    fn refuses(&self, path: &Path) {
        let before = snapshot(self.root.parent().unwrap());
        let read = self.files.read(path, None, None);
        assert!(read.is_err(), "read {}: {read:?}", path.display());
        let wrote = self.files.write(path, "overwritten");
        assert!(wrote.is_err(), "wrote {}", path.display());
        assert_eq!(
            before,
            snapshot(self.root.parent().unwrap()),
            "{}",
            path.display()
        );
    }

    fn reads(&self, path: impl AsRef<Path>, text: &str) {
        let read = self.files.read(path.as_ref(), None, None).unwrap();
        assert_eq!(read.text, text);
    }
}

/// Returns all regular files with their contents.
fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(snapshot(&entry.path()));
        } else if kind.is_file() {
            found.push((entry.path(), fs::read(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn paths_outside_are_refused() {
    let ground = ground();
    let root = ground.root.clone();
    ground.reads(root.join("a.txt"), "inside");
    ground.reads("a.txt", "inside");
    ground.reads(root.join("sub/../a.txt"), "inside");
    ground.reads(root.join("./sub//b.txt"), "below");
    for path in [
        "/etc/passwd".into(),
        "/".into(),
        "..".into(),
        "../outside/secret".into(),
        "../project-2/../outside/secret".into(),
        "../project/../outside/secret".into(),
        "../project/sub/../../outside/secret".into(),
        "../missing/../project/a.txt".into(),
        "../outside/secret/../../project/a.txt".into(),
        "sub/../../outside/secret".into(),
        "sub/deep/../../../outside/secret".into(),
        root.join("../outside/secret"),
        root.join("sub/../../outside/secret"),
        PathBuf::from(format!("{}-2/secret", root.display())),
        PathBuf::from(format!("{}/../project-2/secret", root.display())),
        PathBuf::from(root.to_str().unwrap().to_uppercase()).join("a.txt"),
        "/proc/self/root/etc/passwd".into(),
        format!("/proc/self/cwd/../..{}", ground.secret.display()).into(),
        root.clone(),
        "sub".into(),
        ".".into(),
        "".into(),
        "a.txt/x".into(),
        "a\0b".into(),
        "x".repeat(300).into(),
        "../".repeat(5000).into(),
    ] {
        ground.refuses(&path);
    }
}

#[test]
fn links_to_places_outside_are_refused() {
    let ground = ground();
    let (root, secret) = (&ground.root, &ground.secret);
    let outside = secret.parent().unwrap();
    symlink(secret, root.join("file")).unwrap();
    symlink("../outside/secret", root.join("relative")).unwrap();
    symlink(outside, root.join("folder")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("/", root.join("top")).unwrap();
    symlink(outside.join("new"), root.join("dangling")).unwrap();
    symlink("../../outside/new", root.join("sub/dangling")).unwrap();
    symlink("folder", root.join("twice")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink("b", root.join("a")).unwrap();
    symlink("a", root.join("b")).unwrap();
    symlink("/proc/self/cwd", root.join("magic")).unwrap();
    for path in [
        "file",
        "relative",
        "folder/secret",
        "folder/new",
        "up/outside/secret",
        "up",
        "top/etc/passwd",
        "dangling",
        "sub/dangling",
        "twice/secret",
        "loop",
        "loop/x",
        "a",
        "magic/Cargo.toml",
        "folder/../outside/secret",
        "sub/deep/../../file",
    ] {
        ground.refuses(Path::new(path));
        ground.refuses(&root.join(path));
    }
    let folder = ground.files.folder(Path::new("folder"));
    assert!(matches!(folder, Err(FileError::Outside)));
}

#[test]
fn links_to_places_inside_are_followed() {
    let ground = ground();
    let root = &ground.root;
    symlink("a.txt", root.join("near")).unwrap();
    symlink(root.join("sub"), root.join("absolute")).unwrap();
    symlink("../a.txt", root.join("sub/back")).unwrap();
    symlink("sub/new.txt", root.join("dangling")).unwrap();
    ground.reads("near", "inside");
    ground.reads("absolute/b.txt", "below");
    ground.reads("sub/back", "inside");
    ground.reads("absolute/../a.txt", "inside");
    symlink("../project/a.txt", root.join("round")).unwrap();
    symlink("../../project/sub", root.join("sub/self")).unwrap();
    symlink("../outside/back/a.txt", root.join("by-others")).unwrap();
    let outside = ground.secret.parent().unwrap();
    symlink("../project", outside.join("back")).unwrap();
    ground.reads("round", "inside");
    ground.reads("sub/self/self/b.txt", "below");
    ground.reads("by-others", "inside");
    ground.reads("../project/a.txt", "inside");
    ground.reads(outside.join("back/sub/b.txt"), "below");
    ground
        .files
        .write(Path::new("by-others"), "inside")
        .unwrap();
    let place = ground.files.resolve(Path::new("by-others")).unwrap();
    assert_eq!(place, Path::new("a.txt"));
    let folder = ground.files.folder(Path::new("sub/self")).unwrap();
    assert_eq!(folder, root.join("sub"));
    ground.files.write(Path::new("near"), "changed").unwrap();
    assert!(root.join("near").is_symlink());
    ground.reads("a.txt", "changed");
    ground.files.write(Path::new("dangling"), "made").unwrap();
    ground.reads("sub/new.txt", "made");
    let place = ground
        .files
        .resolve(Path::new("absolute/deep/x/y"))
        .unwrap();
    assert_eq!(place, Path::new("sub/deep/x/y"));
}

#[test]
fn only_regular_files_are_accessed() {
    let ground = ground();
    let pipe = ground.root.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(ground.root.join("socket")).unwrap();
    for name in ["pipe", "socket", "sub"] {
        let path = Path::new(name);
        assert!(matches!(
            ground.files.read(path, None, None),
            Err(FileError::NotAFile)
        ));
        assert!(matches!(
            ground.files.write(path, "x"),
            Err(FileError::NotAFile)
        ));
    }
    for name in ["pipe", "socket", "sub", ".", "../project"] {
        let checked = ground.files.check(Path::new(name), true);
        assert!(matches!(checked, Err(FileError::NotAFile)), "{name}");
    }
    assert!(ground.files.check(Path::new("new/file"), true).is_ok());
    let missing = ground.files.check(Path::new("new/file"), false);
    assert!(matches!(missing, Err(FileError::NotFound)));
    let large = fs::File::create(ground.root.join("large")).unwrap();
    large.set_len(65 << 20).unwrap();
    let read = ground.files.read(Path::new("large"), None, None);
    assert!(matches!(read, Err(FileError::TooLarge(_))));
}

#[test]
fn writing_keeps_the_mode_and_creates_folders() {
    let ground = ground();
    let script = ground.root.join("run.sh");
    fs::write(&script, "old").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o751)).unwrap();
    let wrote = ground.files.write(&script, "new").unwrap();
    assert_eq!(wrote.old.as_deref(), Some("old"));
    let mode = fs::metadata(&script).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o751);
    let wrote = ground.files.write(Path::new("x/y/z.txt"), "z").unwrap();
    assert_eq!(wrote.old, None);
    ground.reads("x/y/z.txt", "z");
    let names = fs::read_dir(&ground.root).unwrap();
    let mut names = names.map(|entry| entry.unwrap().file_name());
    assert!(!names.any(|name| name.to_str().unwrap().contains("unspool")));
}

#[test]
fn lines_and_bytes_are_read() {
    let ground = ground();
    fs::write(ground.root.join("l"), "1\n2\r\n3").unwrap();
    let read = |line, limit| ground.files.read(Path::new("l"), line, limit).unwrap().text;
    assert_eq!(read(None, None), "1\n2\r\n3");
    assert_eq!(read(Some(2), None), "2\r\n3");
    assert_eq!(read(Some(0), Some(1)), "1\n");
    assert_eq!(read(None, Some(2)), "1\n2\r\n");
    assert_eq!(read(Some(9), Some(u64::MAX)), "");
    assert_eq!(read(Some(u64::MAX), Some(0)), "");
    fs::write(ground.root.join("bytes"), b"a\xff").unwrap();
    let text = ground.files.read(Path::new("bytes"), None, None).unwrap();
    assert_eq!((&*text.text, text.is_lossy), ("a\u{FFFD}", true));
}

/// Moves the root away and puts another folder in its place.
#[test]
fn a_replaced_root_folder_is_not_the_root() {
    let ground = ground();
    let base = ground.root.parent().unwrap();
    symlink("../project/secret", ground.root.join("round")).unwrap();
    fs::rename(&ground.root, base.join("moved")).unwrap();
    fs::rename(base.join("outside"), &ground.root).unwrap();
    let read = ground.files.read(Path::new("round"), None, None);
    assert!(matches!(read, Err(FileError::Outside)), "{read:?}");
    ground.reads("../moved/a.txt", "inside");
}

/// Replaces a folder by a link to the outside and back, all the time.
#[test]
fn replacing_folders_during_access_does_not_escape() {
    let ground = ground();
    let (root, outside) = (ground.root.clone(), ground.secret.parent().unwrap());
    fs::create_dir(root.join("moving")).unwrap();
    fs::write(root.join("moving/secret"), "inside").unwrap();
    symlink(outside, root.join("other")).unwrap();
    let stop = AtomicBool::new(false);
    let (mut reads, mut refusals) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let (one, other) = (root.join("moving"), root.join("other"));
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let start = Instant::now();
        let is_enough = |reads, refusals| reads > 0 && refusals > 0;
        while start.elapsed() < Duration::from_secs(1)
            || (!is_enough(reads, refusals) && start.elapsed() < Duration::from_mins(1))
        {
            match ground.files.read(Path::new("moving/secret"), None, None) {
                Ok(text) => {
                    assert_eq!(text.text, "inside");
                    reads += 1;
                }
                Err(_) => refusals += 1,
            }
            let _ = ground.files.write(Path::new("moving/secret"), "inside");
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_to_string(&ground.secret).unwrap(), "secret");
    assert_eq!(fs::read_dir(outside).unwrap().count(), 1);
    assert!(reads > 0 && refusals > 0, "{reads} {refusals}");
}
