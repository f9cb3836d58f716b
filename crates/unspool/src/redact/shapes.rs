//! Patterns of secrets, one row per format. The group `s` is replaced; the rest
//! of the match is context.
//!
//! Earlier rows win over later ones: first unmistakable formats
//! (`redact/vendors.rs`), then commands and URLs, then assignments
//! (`redact/assigned.rs`), then sentences, then personal data
//! (`redact/people.rs`).

use regex::Captures;

use super::{guess, people, sentence, vendors};

/// A pattern of secrets or personal data.
pub(super) struct Shape {
    /// The kind shown in the label; `None` takes it from the name before the
    /// value.
    pub(super) kind: Option<&'static str>,
    pub(super) pattern: &'static str,
    /// One of these is in every match. A text without them is not searched.
    pub(super) needs: &'static [&'static str],
    /// A further condition that the pattern cannot express.
    pub(super) check: fn(&Captures<'_>) -> bool,
}

pub(super) const fn shape(kind: &'static str, pattern: &'static str) -> Shape {
    Shape {
        kind: Some(kind),
        pattern,
        needs: &[],
        check: |_| true,
    }
}

/// Returns all shapes in the order of application.
pub(super) fn all() -> impl Iterator<Item = &'static Shape> {
    vendors::SHAPES
        .iter()
        .chain(CONTEXTUAL)
        .chain(SENTENCES)
        .chain(people::SHAPES)
}

/// Returns the number of shapes that take precedence over assignments.
pub(super) fn assigned_at() -> usize {
    vendors::SHAPES.len() + CONTEXTUAL.len()
}

/// Returns the number of shapes that take precedence over random words.
pub(super) fn words_at() -> usize {
    assigned_at() + SENTENCES.len()
}

/// The kind of multi-line keys.
pub(super) const PRIVATE_KEY: &str = "private key";

/// Normalizes a secret, so that it is recognised in every notation.
pub(super) fn fingerprint(kind: &str, secret: &str) -> String {
    match kind {
        // Diffs have a sign before each line; JSON text has `\n` for newlines.
        PRIVATE_KEY => {
            let mut text = secret.replace("\\n", "").replace("\\r", "");
            text.retain(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '='));
            text
        }
        // Ignore attributes such as expiry and path.
        "cookie" => {
            let first = secret.split(';').next().unwrap_or(secret);
            first.trim().to_owned()
        }
        "email" => secret.replace("%40", "@"),
        _ => secret.to_owned(),
    }
}

/// Secrets recognised by their context or by their randomness.
const CONTEXTUAL: &[Shape] = &[
    // URLs that grant access to anyone who has them.
    Shape {
        kind: Some("signature"),
        pattern: r"(?i-u)(?:\bX-(?:Amz|Goog)-(?:Signature|Security-Token)|[?&](?:sig|signature))=(?P<s>[A-Za-z0-9%+/=_~-]{16,})",
        needs: &[],
        check: guess::is_no_placeholder,
    },
    // user:password@host
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)[a-z][a-z0-9+.-]*://[^\s:@/"'<>`\\]*:(?P<s>[^\s/"'<>`\\]+)@"#,
        needs: &["://"],
        check: guess::is_url_password,
    },
    // user:pass/word@host
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)[a-z][a-z0-9+]*://[A-Za-z0-9_%+-]*:(?P<s>[^\s"'<>`\\@:/]*/[^\s"'<>`\\@:]*)@[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?(?:[/?#\s"'`]|$)"#,
        needs: &["://"],
        check: guess::is_url_password,
    },
    // token@host
    Shape {
        kind: Some("token"),
        pattern: r"(?-u:\b)https?://(?P<s>[A-Za-z0-9_-]{20,})@[A-Za-z0-9]",
        needs: &["://"],
        check: |found| {
            found
                .name("s")
                .is_some_and(|s| guess::looks_random(s.as_str()))
        },
    },
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:jdbc:oracle:[a-z]+:|sqlplus[ \t]+(?:-[A-Za-z]+[ \t]+)*["']?)[A-Za-z0-9_$]+/(?P<s>[^\s/@"'\\]+)@"#,
        needs: &[],
        check: guess::is_chosen,
    },
    Shape {
        kind: Some("secret"),
        pattern: r"(?-u:\b)otpauth://[^\s]{0,300}?[?&]secret=(?P<s>[A-Za-z2-7]{8,}=*)",
        needs: &[],
        check: guess::is_no_placeholder,
    },
    Shape {
        kind: Some("credential"),
        pattern: r"(?i-u)\b(?:authorization|proxy-authorization)\b[\x22']?\s{0,4}[:=]\s{0,4}[\x22']?(?:bearer|basic|token|digest|negotiate|apikey)\s+(?P<s>[A-Za-z0-9+/=_.~-]{6,})",
        needs: &[],
        check: guess::is_credential,
    },
    Shape {
        kind: Some("credential"),
        pattern: r"(?i-u)\b(?:proxy-)?authorization\b[\x22']?\s{0,4}[:=]\s{0,4}[\x22']?(?P<s>[A-Za-z0-9+/=_.~-]{20,})",
        needs: &[],
        check: |found| {
            found
                .name("s")
                .is_some_and(|s| guess::looks_random(s.as_str()))
        },
    },
    Shape {
        kind: Some("credential"),
        pattern: r"(?i-u)\b(?:bearer)\s+(?P<s>[A-Za-z0-9+/=_.~-]{16,})",
        needs: &[],
        check: |found| {
            found
                .name("s")
                .is_some_and(|s| guess::looks_random(s.as_str()))
        },
    },
    // curl -u user:password
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)curl(?-u:\b)[^\n|;&]*?[ \t](?:-u[ =]?|--user[ =])["']?[^\s:"']+:(?P<s>[^\s"'\\]+)"#,
        needs: &["curl"],
        check: guess::is_chosen,
    },
    // openssl -pass pass:PASSWORD
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\B)-pass(?:in|out)?[ \t]+\\?["']?pass:(?P<s>[^\s"'\\]{4,})"#,
        needs: &["pass:"],
        check: guess::is_chosen,
    },
    // Command-line options.
    Shape {
        kind: None,
        pattern: r#"(?-u:\B)--?(?P<name>(?i-u:[a-z-]*(?:password|passwd|passphrase|token|secret|api-?key|access-?key|pass|pwd|auth-?key)))(?P<sign>[ =])["']?(?P<s>[^\s"'`\\,;(){}\[\]<>|&-][^\s"'`\\,;(){}\[\]<>|&]{3,})"#,
        needs: &["-"],
        check: guess::is_option_secret,
    },
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:mysql|mysqldump|mariadb|mysqladmin)(?-u:\b)[^\n|;&]*?[ \t]-p(?P<s>[^\s"'\\]{4,})"#,
        needs: &[],
        check: guess::is_chosen,
    },
    // docker login -p PASSWORD, sshpass -p PASSWORD
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:sshpass|(?:docker|podman|nerdctl|buildah|skopeo|oras|helm|crane|oc)(?-u:\b)[^\n|;&]*?[ \t]login)(?-u:\b)(?:[^\n|;&]*?[ \t])?[ \t]?-p[ \t=]*\\?["'](?P<s>[^"'\\\n]+)\\?["']"#,
        needs: &["login", "sshpass"],
        check: guess::is_chosen,
    },
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:sshpass|(?:docker|podman|nerdctl|buildah|skopeo|oras|helm|crane|oc)(?-u:\b)[^\n|;&]*?[ \t]login)(?-u:\b)(?:[^\n|;&]*?[ \t])?[ \t]?-p[ \t=]*(?P<s>[^\s"'\\|;&=-][^\s"'\\|;&]*)"#,
        needs: &[],
        check: guess::is_chosen,
    },
    // redis-cli -a PASSWORD, mongosh -p PASSWORD
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:redis-cli(?-u:\b)[^\n|;&]*?[ \t](?:-a|--pass)|(?:mongosh|mongo|mongodump|mongorestore)(?-u:\b)[^\n|;&]*?[ \t]-p)[ =]\\?["']?(?P<s>[^\s"'\\-][^\s"'\\]{3,})"#,
        needs: &[],
        check: guess::is_chosen,
    },
    // echo user:PASSWORD | chpasswd
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+)?\\?["']?[^\s:"'|]+:(?P<s>[^\s"'|\\]+)(?:\\n)?\\?["']?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd(?-u:\b)"#,
        needs: &[],
        check: guess::is_chosen,
    },
    // echo PASSWORD | sudo -S
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+|\\?["']%s(?:\\{1,4}n)?\\?["'][ \t]+)*\\?["']?(?P<s>[^\s"'|\\][^"'|\n\\]*?)\\?["']?[ \t]*\|[ \t]*sudo[ \t](?:[^\n|;&]*?[ \t])?(?:-[A-Za-z]*S|--stdin)"#,
        needs: &[],
        check: guess::is_chosen,
    },
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)sudo[ \t](?:[^\n|;&]*?[ \t])?(?:-[A-Za-z]*S|--stdin)(?-u:\b)[^\n|;&]*?<<<[ \t]*\\?["']?(?P<s>[^\s"'\\]+)"#,
        needs: &[],
        check: guess::is_chosen,
    },
    Shape {
        kind: Some("password"),
        pattern: r"(?-u:\b)machine\s+\S+\s+login\s+\S+\s+password\s+(?P<s>\S+)",
        needs: &[],
        check: guess::is_chosen,
    },
    // ALTER USER x PASSWORD 'y'
    Shape {
        kind: Some("password"),
        pattern: r#"(?i-u:\b(?:user|role|login|group|account)\b)[^\n;]{0,120}?(?i-u:\bpassword)\s{0,4}=?\s{0,4}[NE]?["'](?P<s>[^"'\n]+)["']"#,
        needs: &["PASSWORD", "password", "Password"],
        check: guess::is_chosen,
    },
    Shape {
        kind: Some("password"),
        pattern: r#"(?:\bIDENTIFIED|(?i:\b(?:alter|create)\s{1,4}user\b[^\n;]{0,80}?\bidentified))(?i-u:\s{1,4}(?:with\s{1,4}[a-z0-9_]{1,64}\s{1,4})?(?:by|as)\s{1,4}(?:password\s{1,4})?)["'](?P<s>[^"'\n]+)["']"#,
        needs: &[],
        check: guess::is_chosen,
    },
    Shape {
        kind: Some("password"),
        pattern: r#"(?:\bIDENTIFIED\s{1,4}BY|(?i:\b(?:alter|create)\s{1,4}user\b[^\n;]{0,80}?\bidentified\s{1,4}by))\s{1,4}(?P<s>[^\s"'\\;,)]{3,})"#,
        needs: &[],
        check: guess::is_chosen,
    },
    Shape {
        kind: Some("password"),
        pattern: r#"(?i-u:\bset\s{1,4}password\b)[^\n;=]{0,80}?=\s{0,4}(?i-u:(?:old_)?password\()?["'](?P<s>[^"'\n]+)["']"#,
        needs: &[],
        check: guess::is_chosen,
    },
    // .pgpass: host:port:database:user:password
    Shape {
        kind: Some("password"),
        pattern: r"(?m)(?:^|[\s\x22'`])[A-Za-z0-9_.*-]+:(?:54[0-9]{2}|6432|\*):[A-Za-z0-9_.*-]+:[A-Za-z0-9_.*-]+:(?P<s>[^\s:\x22'`]{3,})",
        needs: &[":54", ":6432", ":*"],
        check: guess::is_chosen,
    },
    // set -gx NAME VALUE, npm config set NAME VALUE
    Shape {
        kind: None,
        pattern: r#"(?-u:\b)(?:set|setenv|setx)(?:[ \t]+-{1,2}[A-Za-z]+)*[ \t]+(?P<name>(?i-u:[a-z0-9_.:/-]{0,80}(?:pass|pwd|secret|token|key|auth|credential)[a-z0-9_.-]{0,40}))[ \t]+["']?(?P<s>[^\s"'\\|;&=-][^\s"'\\|;&]{3,})"#,
        needs: &[],
        check: guess::is_set_secret,
    },
    // gh secret set NAME --body VALUE
    Shape {
        kind: Some("secret"),
        pattern: r#"(?-u:\b)gh[ \t]+(?:secret|variable)[ \t]+set(?-u:\b)[^\n|;&]*?[ \t](?:--body|-b)[ =]["']?(?P<s>[^\s"'\\]{3,})"#,
        needs: &[],
        check: guess::is_chosen,
    },
    // htpasswd -b FILE USER PASSWORD, ldapsearch -w PASSWORD, zip -P PASSWORD
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:htpasswd[ \t]+-[A-Za-z]*b[A-Za-z]*(?:[ \t]+[^\s-]\S*){1,2}|ldap(?:search|add|modify|whoami|passwd)(?-u:\b)[^\n|;&]*?[ \t]-w|(?:un)?zip(?-u:\b)[^\n|;&]*?[ \t]-P|rabbitmqctl[ \t]+(?:add_user|change_password)[ \t]+\S+|net[ \t]+user[ \t]+\S+|vault[ \t]+login)[ \t]+["']?(?P<s>[^\s"'\\/-][^\s"'\\]{3,})"#,
        needs: &[],
        check: |found| {
            let value = found.name("s").map_or("", |s| s.as_str());
            guess::is_chosen(found) && guess::strength(value) != guess::Strength::Word
        },
    },
    // smbclient -U user%PASSWORD
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:smbclient|rpcclient|net|mount\.cifs|crackmapexec|wmic)(?-u:\b)[^\n|;&]*?[ \t]-U[ =]?["']?[^\s%"']+%(?P<s>[^\s"'\\]{3,})"#,
        needs: &[],
        check: guess::is_chosen,
    },
    Shape {
        kind: Some("password"),
        pattern: r#"(?i-u:\bConvertTo-SecureString[ \t]+(?:-String[ \t]+)?)["'](?P<s>[^"'\n]{3,})["']"#,
        needs: &[],
        check: guess::is_chosen,
    },
    Shape {
        kind: Some("cookie"),
        pattern: r#"(?i)(?-u:\b)(?:set-)?cookie:[ \t]{0,4}(?P<s>[^\s"'\\][^\n"'\\]{7,})"#,
        needs: &[],
        check: guess::is_cookie,
    },
    // curl -b name=VALUE
    Shape {
        kind: Some("cookie"),
        pattern: r#"(?-u:\b)curl(?-u:\b)[^\n|;&]*?[ \t](?:-b|--cookie)[ =]\\?["']?(?P<s>[^\s"'\\=]+=[^\n"'\\]{4,})"#,
        needs: &[],
        check: guess::is_cookie,
    },
    Shape {
        kind: Some("cookie"),
        pattern: r#"(?-u:\b)(?P<s>(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid)=[^\s;"'&\\]{8,})"#,
        needs: &[],
        check: guess::is_cookie,
    },
    // <password>value</password>
    Shape {
        kind: None,
        pattern: r"<(?P<name>(?i-u:[a-z0-9_.:-]*(?:pass|pwd|pw|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|encryption[_-]?key|(?:signing|master|account|app)[_-]?key|credential|auth)[a-z0-9_.-]*))(?:\s[^<>\n]{0,200})?>\s{0,4}(?P<s>[^\s<>][^<>\n]{3,})</",
        needs: &["</"],
        check: guess::is_separate_value_secret,
    },
    // <add key="name" value="value"/>, - name: NAME\n  value: VALUE
    Shape {
        kind: None,
        pattern: r#"(?-u:\b)(?i-u:key|name)["']?\s{0,2}[=:]\s{0,2}["']?(?P<name>(?i-u:[a-z0-9_.:-]*(?:pass|pwd|pw|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|encryption[_-]?key|(?:signing|master|account|app)[_-]?key|credential|auth)[a-z0-9_.-]*))["']?,?\s{1,40}["']?(?i-u:value|content)["']?\s{0,2}[=:]\s{0,2}["']?(?P<s>[^"'\\\s,{}][^"'\\\n,{}]{3,})"#,
        needs: &[],
        check: guess::is_separate_value_secret,
    },
];

/// Secrets in sentences.
const SENTENCES: &[Shape] = &[
    // Password is: VALUE
    Shape {
        kind: None,
        pattern: r#"(?P<name>(?-u:\b)(?i-u:password|passwd|passphrase|pwd|pw|pin|(?:api|access|secret|master|signing|encryption|account)[ _-]?key|key|token|secret|jwt|pat))[ \t]+(?i-u:is set to|was set to|set to|will be|is|was)(?P<sign>[ \t]*[:=][ \t]*|[ \t]+)\*{0,2}(?P<q>["'`])?(?P<s>[^\s"'`<>()\[\]{}]{3,}[^\s"'`<>()\[\]{}.,;:?*])"#,
        needs: &[],
        check: sentence::is_stated_secret,
    },
    // the passphrase is "VALUE VALUE"
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?i-u:password|passphrase)[ \t]+(?i-u:is set to|was set to|set to|will be|is|was)[ \t:=]+["`'](?P<s>[a-z0-9][^"'`\n]{7,100})["`']"#,
        needs: &[],
        check: |found| {
            let value = found.name("s").map_or("", |s| s.as_str());
            guess::is_phrase(value) && value.contains(' ')
        },
    },
    // token VALUE
    Shape {
        kind: None,
        pattern: r#"(?P<name>(?-u:\b)(?i-u:(?:api|access)[ _-]?keys?|keys?|tokens?|secrets?|passwords?|passphrases?|credentials?))[ \t]+["'`]?(?P<s>[A-Za-z0-9+/_~-]{16,}={0,2})(?P<after>\.[A-Za-z0-9]|[(:@])?"#,
        needs: &[],
        check: sentence::is_introduced_secret,
    },
];
