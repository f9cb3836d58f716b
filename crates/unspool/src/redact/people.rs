//! Recognises personal data: e-mail addresses, and home directories in every
//! notation of paths.

use regex::Captures;

use super::shapes::Shape;

/// The kind of home directories in the report; only the user name in them is
/// replaced.
pub(super) const HOME: &str = "home directory";

/// The home directory without a user name.
pub(super) const ROOT: &str = "/root";

const fn home(needs: &'static [&'static str], pattern: &'static str) -> Shape {
    Shape {
        kind: Some(HOME),
        pattern,
        needs,
        check: |found| {
            found
                .name("s")
                .is_some_and(|s| is_personal_home(s.as_str()))
        },
    }
}

pub(super) const SHAPES: &[Shape] = &[
    // Names and domains beyond ASCII. In scripts without blanks between words,
    // a sentence may directly precede the address, so they are matched
    // separately.
    Shape {
        kind: Some("email"),
        pattern: r"(?P<s>[A-Za-z0-9\u{C0}-\u{1FFF}\u{2C00}-\u{2DFF}\u{3040}-\u{D7FF}][A-Za-z0-9._%+\u{C0}-\u{1FFF}\u{2C00}-\u{2DFF}\u{3040}-\u{D7FF}-]*@(?:[A-Za-z0-9\u{C0}-\u{1FFF}\u{2C00}-\u{2DFF}\u{3040}-\u{D7FF}-]+\.)+(?:xn--[A-Za-z0-9-]{2,59}|[A-Za-z]{2,24}|[\u{C0}-\u{1FFF}\u{2C00}-\u{2DFF}\u{3040}-\u{D7FF}]{2,24}))",
        needs: &["@", "%40"],
        check: is_international,
    },
    Shape {
        kind: Some("email"),
        pattern: r"(?-u)(?P<s>\b[A-Za-z0-9][A-Za-z0-9._%+-]*(?:@|%40)(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24}\b)",
        needs: &["@", "%40"],
        check: |found| {
            found
                .name("s")
                .is_some_and(|s| is_personal_address(s.as_str()))
        },
    },
    // C:\Users\Dave Smith\: only Windows allows blanks in user names.
    home(
        &["users", "Users", "USERS"],
        r#"(?:^|[^A-Za-z0-9_.~-])(?:(?i-u:[a-z](?::|%3a)[\\/]{1,4}users)|(?:/mnt)?/[a-z]/Users)[\\/]{1,4}(?P<s>[A-Z][^\s/\\:;,"'`()<>\[\]{}|*?$%]{0,31}(?: [A-Z][^\s/\\:;,"'`()<>\[\]{}|*?$%]{0,31}){1,3})[\\/]"#,
    ),
    home(
        &["users", "Users", "USERS"],
        r#"(?:^|[^A-Za-z0-9_.~-])(?:(?i-u:[a-z](?::|%3a)[\\/]{1,4}users)|(?:/mnt)?/[a-z]/Users)[\\/]{1,4}(?P<s>[^\s/\\:;,"'`()<>\[\]{}|*?$%]{1,64})"#,
    ),
    home(
        &["/home/", "/Users/"],
        r#"(?:^|[^A-Za-z0-9_./~-])(?:/var|/export|/usr|/private|/System/Volumes/Data)?/(?:home|Users)/(?P<s>[^\s/\\:;,"'`()<>\[\]{}|*?$]{1,64})"#,
    ),
    // file:///home/NAME, vscode://file/home/NAME, sftp://host/home/NAME
    home(
        &["/home/", "/Users/"],
        r#"(?i-u:\b(?:file|vscode(?:-[a-z]+)*|cursor|windsurf|zed|idea|jetbrains|sftp|scp|ssh))://[A-Za-z0-9.@+:%-]*(?:/var|/export|/usr)?/(?:home|Users)/(?P<s>[^\s/\\:;,"'`()<>\[\]{}|*?$]{1,64})"#,
    ),
    // %2Fhome%2FNAME
    home(
        &["%2F", "%2f", "%5C", "%5c"],
        r#"(?i-u:%2f)(?:home|(?i-u:users))(?i-u:%2f|%5c)(?P<s>[^\s/\\:;,"'`()<>\[\]{}|*?$%&#]{1,64})"#,
    ),
    home(
        &["%2F", "%2f", "%5C", "%5c"],
        r#"(?i-u:\b[a-z](?::|%3a)(?:%5c|%2f)users(?:%5c|%2f))(?P<s>[^\s/\\:;,"'`()<>\[\]{}|*?$%&#]{1,64})"#,
    ),
    // \\wsl$\Ubuntu\home\NAME
    home(
        &["wsl", "WSL"],
        r#"(?i-u:[\\/]{2,8}wsl(?:\$|\.localhost)[\\/]{1,4}[A-Za-z0-9._-]+[\\/]{1,4})home[\\/]{1,4}(?P<s>[^\s/\\:;,"'`()<>\[\]{}|*?$]{1,64})"#,
    ),
    home(
        &["~"],
        r#"(?:^|[\s"'`=:(,\[])~(?P<s>[A-Za-z_][A-Za-z0-9_.-]{0,31})/"#,
    ),
    // Codex names its agents `/root` and `/root/NAME`. Files are deeper or
    // start with a dot.
    home(
        &["/root"],
        r#"(?:^|[\s"'`=:(,\[|])(?P<s>/root)(?:/\.[A-Za-z]|/[A-Za-z0-9_-]+[/.][A-Za-z0-9])"#,
    ),
    home(
        &["/root"],
        r#"(?-u:\b)(?:HOME=["']?|cd[ \t]+["']?)(?P<s>/root)(?:[/\s"'`;&)]|$)"#,
    ),
    // Directories named after a path.
    home(
        &["-home-", "-Users-"],
        r"(?:^|[/\s\x22'`+])-(?:home|Users)-(?P<s>[A-Za-z0-9_.]{1,64})-",
    ),
];

/// Returns true for the address of a person with characters beyond ASCII.
fn is_international(found: &Captures<'_>) -> bool {
    let address = found.name("s").map_or("", |s| s.as_str());
    let name = address.split('@').next().unwrap_or_default();
    let is_dense = |c: char| c >= '\u{3040}';
    let is_part_of_sentence =
        name.contains(is_dense) && name.contains(|c: char| c.is_ascii_alphanumeric());
    !address.is_ascii() && !is_part_of_sentence && is_personal_address(address)
}

/// Returns true if the address belongs to a person rather than a program.
fn is_personal_address(address: &str) -> bool {
    // URLs encode `@` as `%40`.
    let parts = address.split_once('@').or(address.rsplit_once("%40"));
    let (name, domain) = parts.unwrap_or((address, ""));
    let name = name.to_ascii_lowercase();
    let programs = ["git", "noreply", "no-reply", "donotreply"];
    // `icon@2x.png` is a file.
    let last = domain
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let files = [
        "png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "ts", "json", "service", "target",
        "timer", "socket", "mount",
    ];
    !programs.contains(&name.as_str()) && !files.contains(&last.as_str())
}

/// Returns true if the home directory belongs to a person.
fn is_personal_home(name: &str) -> bool {
    let shared = [
        "Shared",
        "Public",
        "Default",
        "linuxbrew",
        "runner",
        "user",
        "username",
        "USER",
        "NAME",
        "you",
        "me",
        "node",
        "vscode",
    ];
    let redacted = name
        .strip_prefix("user")
        .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    !redacted && !shared.contains(&name) && !name.starts_with(['.', '%', '#', '…'])
}
