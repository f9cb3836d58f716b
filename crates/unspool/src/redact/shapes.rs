//! Patterns of secrets, one row per format. The group `s` is replaced; the rest
//! of the match is context.
//!
//! Rows apply from top to bottom, each to the output of the rows above: first
//! unmistakable formats, then values recognised by their context, then personal
//! data (`redact/people.rs`).

use regex::Captures;

use super::{guess, people, sentence};

/// A pattern of secrets or personal data.
pub(super) struct Shape {
    /// The kind shown in the label; `None` takes it from the name before the
    /// value.
    pub(super) kind: Option<&'static str>,
    pub(super) pattern: &'static str,
    /// A further condition that the pattern cannot express.
    pub(super) check: fn(&Captures<'_>) -> bool,
}

const fn shape(kind: &'static str, pattern: &'static str) -> Shape {
    Shape {
        kind: Some(kind),
        pattern,
        check: |_| true,
    }
}

/// Returns all shapes in the order of application.
pub(super) fn all() -> impl Iterator<Item = &'static Shape> {
    KNOWN.iter().chain(CONTEXTUAL).chain(people::SHAPES)
}

/// The kind of multi-line keys.
pub(super) const PRIVATE_KEY: &str = "private key";

/// Normalizes a secret, so that it is recognised in every notation.
pub(super) fn fingerprint(kind: &str, secret: &str) -> String {
    let secret = &*secret.replace(super::MARK, "");
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

/// Secrets with an unmistakable format.
pub(super) const KNOWN: &[Shape] = &[
    // Diffs have a sign before each line; JSON text has `\n` for newlines.
    shape(
        PRIVATE_KEY,
        r"(?s)(?P<s>-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)",
    ),
    // The end is missing in truncated output.
    shape(
        PRIVATE_KEY,
        r"(?P<s>-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[ \t\r\n+\u{FDD0}-]|\\n|[A-Za-z0-9+/=]{16,})*)",
    ),
    // The same in base64, as in Kubernetes manifests.
    shape(
        PRIVATE_KEY,
        r"(?-u)(?P<s>\bLS0tLS1CRUdJTiB(?:QUklWQVRF|SU0Eg|FQyBQ|EU0Eg|PUEVOU1NI|FTkNSWVBURUQg)[A-Za-z0-9+/=]{20,})",
    ),
    shape("Anthropic key", r"(?-u)(?P<s>\bsk-ant-[A-Za-z0-9_-]{16,})"),
    shape(
        "OpenAI key",
        r"(?-u)(?P<s>\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,})",
    ),
    shape(
        "GitHub token",
        r"(?-u)(?P<s>\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}))",
    ),
    shape(
        "GitLab token",
        r"(?-u)(?P<s>\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent)-[A-Za-z0-9_.-]{16,})",
    ),
    shape(
        "AWS key",
        r"(?-u)(?P<s>\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b)",
    ),
    shape(
        "Google key",
        r"(?-u)(?P<s>\bAIza[A-Za-z0-9_-]{30,}|\bGOCSPX-[A-Za-z0-9_-]{20,}|\bya29\.[A-Za-z0-9_-]{20,}|\b1//0[A-Za-z0-9_-]{30,})",
    ),
    shape(
        "Slack token",
        r"(?-u)(?P<s>\bxox[abeoprs](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|\bxapp-[0-9]-[A-Za-z0-9-]{10,})",
    ),
    shape(
        "webhook",
        r"(?-u)https://(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks|[a-z0-9.-]+\.webhook\.office\.com)/(?P<s>[A-Za-z0-9@/_-]{10,})",
    ),
    shape(
        "Stripe key",
        r"(?-u)(?P<s>\b(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,})",
    ),
    shape("npm token", r"(?-u)(?P<s>\bnpm_[A-Za-z0-9]{30,})"),
    shape("PyPI token", r"(?-u)(?P<s>\bpypi-[A-Za-z0-9_-]{30,})"),
    shape("crates.io token", r"(?-u)(?P<s>\bcio[A-Za-z0-9]{32}\b)"),
    shape("Hugging Face token", r"(?-u)(?P<s>\bhf_[A-Za-z0-9]{30,})"),
    shape(
        "token",
        // DigitalOcean, Shopify, Square, Databricks, Linear, Notion, Sentry,
        // Grafana, Replicate, Groq, xAI, Perplexity, Fireworks, Vercel, Doppler,
        // HashiCorp, Docker, PlanetScale, Supabase, Postman, Fly, Age, Atlassian,
        // Bitbucket, Azure, Terraform, New Relic, Airtable, Figma, Heroku, Mailgun.
        r"(?-u)(?P<s>\b(?:do[opr]_v1_[a-f0-9]{40,}|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}|sq0[a-z]{3}-[A-Za-z0-9_-]{22,}|EAAA[A-Za-z0-9_-]{60}|dapi[a-f0-9]{32}|lin_(?:api|oauth)_[A-Za-z0-9]{32,}|(?:secret|ntn)_[A-Za-z0-9]{40,}|sntry[su]_[A-Za-z0-9+/=_-]{40,}|gl(?:c|sa)_[A-Za-z0-9+/=_]{32,}|r8_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,}|fw_[A-Za-z0-9]{20,}|vc[pkiar]_[A-Za-z0-9]{24,}|dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.]{40,}|hv[sbr]\.[A-Za-z0-9_-]{24,}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{24,}|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}|sb[ps]_[a-z0-9]{40}|sb_secret_[A-Za-z0-9_]{20,}|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|fo1_[A-Za-z0-9_-]{40,}|AGE-SECRET-KEY-1[A-Z0-9]{50,}|ATATT3[A-Za-z0-9_=-]{40,}|ATBB[A-Za-z0-9]{24,}|[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,34}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}|NRAK-[A-Z0-9]{27}|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|figd_[A-Za-z0-9_-]{30,}|HRKU-[A-Za-z0-9_-]{36,}|key-[a-f0-9]{32}\b))",
    ),
    shape(
        "SendGrid key",
        r"(?-u)(?P<s>\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})",
    ),
    shape(
        "Telegram token",
        r"(?-u)(?P<s>\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b)",
    ),
    shape(
        "Discord token",
        r"(?-u)(?P<s>\b(?:[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}|mfa\.[A-Za-z0-9_-]{80,}))",
    ),
    shape(
        "password hash",
        r"(?-u)(?P<s>\$(?:2[abxy]\$[0-9]{2}\$[./A-Za-z0-9]{53}|[156y]\$[A-Za-z0-9./=,+-]{1,40}\$(?:[A-Za-z0-9./=,+-]{1,40}\$)?[./A-Za-z0-9]{22,86}))",
    ),
    shape(
        "web token",
        r"(?-u)(?P<s>\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)",
    ),
];

/// Secrets recognised by their context or by their randomness.
const CONTEXTUAL: &[Shape] = &[
    // URLs that grant access to anyone who has them.
    Shape {
        kind: Some("signature"),
        pattern: r"(?i-u)(?:\bX-(?:Amz|Goog)-(?:Signature|Security-Token)|[?&](?:sig|signature))=(?P<s>[A-Za-z0-9%+/=_~-]{16,})",
        check: guess::is_no_placeholder,
    },
    // user:password@host
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)[a-z][a-z0-9+.-]*://[^\s:@/"'<>`\\]*:(?P<s>[^\s/"'<>`\\]+)@"#,
        check: guess::is_no_placeholder,
    },
    Shape {
        kind: Some("credential"),
        pattern: r"(?i-u)\b(?:authorization|proxy-authorization)\b\\?[\x22']?\s{0,4}[:=]\s{0,4}\\?[\x22']?(?:bearer|basic|token|digest|negotiate)\s+(?P<s>[A-Za-z0-9+/=_.~-]{6,})",
        check: guess::is_no_placeholder,
    },
    Shape {
        kind: Some("credential"),
        pattern: r"(?i-u)\b(?:proxy-)?authorization\b\\?[\x22']?\s{0,4}[:=]\s{0,4}\\?[\x22']?(?P<s>[A-Za-z0-9+/=_.~-]{20,})",
        check: |found| {
            found
                .name("s")
                .is_some_and(|s| guess::looks_random(s.as_str()))
        },
    },
    Shape {
        kind: Some("credential"),
        pattern: r"(?i-u)\b(?:bearer)\s+(?P<s>[A-Za-z0-9+/=_.~-]{16,})",
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
        check: guess::is_no_placeholder,
    },
    // Command-line options.
    Shape {
        kind: None,
        pattern: r#"(?-u:\B)--?(?P<name>(?i-u:[a-z-]*(?:password|passwd|passphrase|token|secret|api-?key)))(?P<sign>[ =])["']?(?P<s>[^\s"'`\\,;(){}\[\]<>|&-][^\s"'`\\,;(){}\[\]<>|&]{3,})"#,
        check: guess::is_option_secret,
    },
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:mysql|mysqldump|mariadb|mysqladmin)(?-u:\b)[^\n|;&]*?[ \t]-p(?P<s>[^\s"'\\]{4,})"#,
        check: guess::is_no_placeholder,
    },
    // docker login -p PASSWORD, sshpass -p PASSWORD
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:sshpass|(?:docker|podman|nerdctl|buildah|skopeo|oras|helm|crane|oc)(?-u:\b)[^\n|;&]*?[ \t]login)(?-u:\b)(?:[^\n|;&]*?[ \t])?[ \t]?-p[ \t=]*\\?["'](?P<s>[^"'\\\n]+)\\?["']"#,
        check: guess::is_no_placeholder,
    },
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:sshpass|(?:docker|podman|nerdctl|buildah|skopeo|oras|helm|crane|oc)(?-u:\b)[^\n|;&]*?[ \t]login)(?-u:\b)(?:[^\n|;&]*?[ \t])?[ \t]?-p[ \t=]*(?P<s>[^\s"'\\|;&=-][^\s"'\\|;&]*)"#,
        check: guess::is_no_placeholder,
    },
    // redis-cli -a PASSWORD, mongosh -p PASSWORD
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:redis-cli(?-u:\b)[^\n|;&]*?[ \t](?:-a|--pass)|(?:mongosh|mongo|mongodump|mongorestore)(?-u:\b)[^\n|;&]*?[ \t]-p)[ =]\\?["']?(?P<s>[^\s"'\\-][^\s"'\\]{3,})"#,
        check: guess::is_no_placeholder,
    },
    // openssl -pass pass:PASSWORD
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\B)-pass(?:in|out)?[ \t]+\\?["']?pass:(?P<s>[^\s"'\\]{4,})"#,
        check: guess::is_no_placeholder,
    },
    // echo user:PASSWORD | chpasswd
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+)?\\?["']?[^\s:"'|]+:(?P<s>[^\s"'|\\]+)(?:\\n)?\\?["']?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd(?-u:\b)"#,
        check: guess::is_no_placeholder,
    },
    // echo PASSWORD | sudo -S
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+|\\?["']%s(?:\\{1,4}n)?\\?["'][ \t]+)*\\?["']?(?P<s>[^\s"'|\\][^"'|\n\\]*?)\\?["']?[ \t]*\|[ \t]*sudo[ \t](?:[^\n|;&]*?[ \t])?(?:-[A-Za-z]*S|--stdin)"#,
        check: guess::is_no_placeholder,
    },
    Shape {
        kind: Some("password"),
        pattern: r#"(?-u:\b)sudo[ \t](?:[^\n|;&]*?[ \t])?(?:-[A-Za-z]*S|--stdin)(?-u:\b)[^\n|;&]*?<<<[ \t]*\\?["']?(?P<s>[^\s"'\\]+)"#,
        check: guess::is_no_placeholder,
    },
    Shape {
        kind: Some("password"),
        pattern: r"(?-u:\b)machine\s+\S+\s+login\s+\S+\s+password\s+(?P<s>\S+)",
        check: guess::is_no_placeholder,
    },
    Shape {
        kind: Some("cookie"),
        pattern: r#"(?i)(?-u:\b)(?:set-)?cookie:[ \t]{0,4}(?P<s>[^\s"'\\][^\n"'\\]{7,})"#,
        check: guess::is_no_placeholder,
    },
    // curl -b name=VALUE
    Shape {
        kind: Some("cookie"),
        pattern: r#"(?-u:\b)curl(?-u:\b)[^\n|;&]*?[ \t](?:-b|--cookie)[ =]\\?["']?(?P<s>[^\s"'\\=]+=[^\n"'\\]{4,})"#,
        check: guess::is_no_placeholder,
    },
    Shape {
        kind: Some("cookie"),
        pattern: r#"(?-u:\b)(?P<s>(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid)=[^\s;"'&\\]{8,})"#,
        check: guess::is_no_placeholder,
    },
    // <password>value</password>
    Shape {
        kind: None,
        pattern: r"<(?P<name>(?i-u:[a-z0-9_.:-]*(?:pass|pwd|pw|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|encryption[_-]?key|(?:signing|master|account|app)[_-]?key|credential|auth)[a-z0-9_.-]*))(?:\s[^<>\n]{0,200})?>\s{0,4}(?P<s>[^\s<>][^<>\n]{3,})</",
        check: guess::is_separate_value_secret,
    },
    // <add key="name" value="value"/>
    Shape {
        kind: None,
        pattern: r#"(?-u:\b)(?i-u:key|name)\s?=\s?\\?["'](?P<name>(?i-u:[a-z0-9_.:-]*(?:pass|pwd|pw|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|encryption[_-]?key|(?:signing|master|account|app)[_-]?key|credential|auth)[a-z0-9_.-]*))\\?["']\s{1,4}(?i-u:value|content)\s?=\s?\\?["'](?P<s>[^"'\\\n]{4,})\\?["']"#,
        check: guess::is_separate_value_secret,
    },
    // "name": "value", with quotes in it
    Shape {
        kind: None,
        pattern: r#""(?P<name>(?i-u:[a-z0-9_.-]*(?:pass|pwd|pw|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|encryption[_-]?key|(?:signing|master|account|app)[_-]?key|credential|auth)[a-z0-9_.-]*))"(?P<sign>\s{0,4}:\s{0,4})(?P<q>")(?P<s>[^"\\\n]*\\["\\/](?:[^"\\\n]|\\["\\/])*)""#,
        check: guess::is_assigned_secret,
    },
    // name = "value"
    Shape {
        kind: None,
        pattern: r#"(?P<name>(?-u:\b)(?i-u:[a-z0-9_.-]*(?:pass|pwd|pw|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|encryption[_-]?key|(?:signing|master|account|app)[_-]?key|credential|auth)[a-z0-9_.-]*))(?:\\?["'])?(?P<sign>\s{0,4}(?:=>|:=|=|:)\s{0,4})\\?(?P<q>["'])(?P<s>[^"'\\\n]{4,})\\?["']"#,
        check: guess::is_assigned_secret,
    },
    // name=value
    Shape {
        kind: None,
        pattern: r#"(?P<name>(?-u:\b)(?i-u:[a-z0-9_.-]*(?:pass|pwd|pw|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|encryption[_-]?key|(?:signing|master|account|app)[_-]?key|credential|auth)[a-z0-9_.-]*))(?P<sign>\s{0,4}(?:=|:)\s{0,4})(?P<s>[^\s"'`\\,;(){}\[\]<>]{6,})(?P<after>[ \t]+[(\[{<]?|[(\[{<,;)])?"#,
        check: guess::is_assigned_secret,
    },
    // Password is: VALUE
    Shape {
        kind: None,
        pattern: r#"(?P<name>(?-u:\b)(?i-u:password|passwd|passphrase|pwd|pw|pin|api[ _-]?key|token|secret))[ \t]+(?i-u:is set to|was set to|set to|will be|is|was)(?P<sign>[ \t]*[:=][ \t]*|[ \t]+)["'`]?(?P<s>[^\s"'`<>()\[\]{}]{3,}[^\s"'`<>()\[\]{}.,;:?])"#,
        check: sentence::is_stated_secret,
    },
    // token VALUE
    Shape {
        kind: None,
        pattern: r#"(?P<name>(?-u:\b)(?i-u:(?:api|access)[ _-]?keys?|keys?|tokens?|secrets?|passwords?|passphrases?|credentials?))[ \t]+["'`]?(?P<s>[A-Za-z0-9+/_~-]{16,}={0,2})(?P<after>\.[A-Za-z0-9]|[(:@])?"#,
        check: sentence::is_introduced_secret,
    },
    Shape {
        kind: Some("secret"),
        pattern: r"(?P<mark>(?i-u:sha1|sha256|sha384|sha512|md5|h1|base64|integrity)[^A-Za-z0-9\n]{1,4}|[.\\~@%])?(?P<s>[A-Za-z0-9+/_-]{32,}={0,2})",
        check: guess::is_random_word,
    },
];
