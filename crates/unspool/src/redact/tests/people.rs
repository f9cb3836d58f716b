//! Tests of home directories in every notation of paths, and of addresses in
//! all scripts.

use super::redacted;

#[test]
fn home_directories_are_found_in_every_notation() {
    for (text, expected) in [
        ("file:///home/alice/a.rs", "file:///home/user1/a.rs"),
        (
            "file://localhost/Users/alice/a",
            "file://localhost/Users/user1/a",
        ),
        (
            "vscode://file/home/alice/a.rs:3",
            "vscode://file/home/user1/a.rs:3",
        ),
        (
            "vscode-remote://ssh-remote+box/home/alice/a",
            "vscode-remote://ssh-remote+box/home/user1/a",
        ),
        ("file:///c:/Users/alice/a", "file:///c:/Users/user1/a"),
        ("file:///c%3A/Users/alice/a", "file:///c%3A/Users/user1/a"),
        ("cd /mnt/c/Users/alice/src", "cd /mnt/c/Users/user1/src"),
        ("cd /c/Users/alice/src", "cd /c/Users/user1/src"),
        ("/var/home/alice/x", "/var/home/user1/x"),
        ("/export/home/alice/x", "/export/home/user1/x"),
        ("?root=%2Fhome%2Falice%2Fx", "?root=%2Fhome%2Fuser1%2Fx"),
        ("?root=%2fUsers%2falice%2fx", "?root=%2fUsers%2fuser1%2fx"),
        ("C%3A%5CUsers%5Calice%5Cx", "C%3A%5CUsers%5Cuser1%5Cx"),
        (r"\\wsl$\Ubuntu\home\alice\x", r"\\wsl$\Ubuntu\home\user1\x"),
        (
            r"\\\\wsl.localhost\\Debian\\home\\alice\\x",
            r"\\\\wsl.localhost\\Debian\\home\\user1\\x",
        ),
        ("cp ~alice/x .", "cp ~user1/x ."),
        ("cat /root/.ssh/config", "cat /home/user1/.ssh/config"),
        ("HOME=/root", "HOME=/home/user1"),
        ("cd /root && ls", "cd /home/user1 && ls"),
        ("open /root/src/main.rs", "open /home/user1/src/main.rs"),
        ("C:/Users/Dave Smith/x.txt", "C:/Users/user1/x.txt"),
        (r"C:\\Users\\Dave Smith\\x", r"C:\\Users\\user1\\x"),
        ("C:/Users/dave and others", "C:/Users/user1 and others"),
    ] {
        assert_eq!(redacted(text), expected);
    }
}

#[test]
fn a_user_has_one_label_in_every_notation() {
    assert_eq!(
        redacted("/home/alice file:///home/alice/x ~alice/y /mnt/c/Users/alice/z /home/bob"),
        "/home/user1 file:///home/user1/x ~user1/y /mnt/c/Users/user1/z /home/user2"
    );
}

#[test]
fn other_paths_are_kept() {
    for text in [
        "https://example.org/home/index.html",
        "https://example.org/Users/list",
        "https://example.org/~alice/",
        "src/home/alice.rs",
        "src/root/mod.rs",
        "${prefix}/root/x",
        "#/root/properties",
        "the /rooted tree",
        "Task name: /root/review_code",
        "You are `/root`, the primary agent",
        "addressed as to=/root/..., which",
        "git diff HEAD~2/x",
        "about ~5/10 of them",
        "~/notes",
        "/home/user/project",
        "file:///home/user/project/a.rs",
        "/v1/users/list",
        "GET /a/users/17",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn people_are_found_after_escapes_and_punctuation() {
    for (text, expected) in [
        ("\n+-home-bob-proj/a", "\n+-home-user1-proj/a"),
        ("?mail=ann%40example.org&x=1", "?mail=[email 1]&x=1"),
        (
            "https://ann%40example.org:s3cr3t9@h/",
            "https://[email 1]:[password 1]@h/",
        ),
    ] {
        assert_eq!(redacted(text), expected);
    }
    for text in ["react%4018.2.0.js", "/-/%40babel%2Fcore.tgz", "1+-home-x"] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn addresses_of_all_scripts_are_found() {
    for (text, expected) in [
        ("mail jürgen@web.de now", "mail [email 1] now"),
        ("<anna@müller.de>", "<[email 1]>"),
        ("иван@почта.рф, да", "[email 1], да"),
        ("アリス@例え.jp", "[email 1]"),
        ("请联系a@b.com吧", "请联系[email 1]吧"),
        ("x@xn--mller-kva.de", "[email 1]"),
        ("naïve: a@b.de", "naïve: [email 1]"),
    ] {
        assert_eq!(redacted(text), expected);
    }
    for text in ["größe@2x.png", "git@müller.de:o/r.git", "wert@größe", "é@"] {
        assert_eq!(redacted(text), text);
    }
}
