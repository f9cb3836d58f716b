//! Names of secrets: `DB_PASSWORD`, `apiToken`, `aws_secret_access_key`, and
//! names that only look like it, such as `token_count`.

/// Last words of names that describe a secret instead of holding it.
const METADATA_WORDS: &[&str] = &[
    "algorithm",
    "arg",
    "args",
    "arn",
    "at",
    "attempts",
    "authentication",
    "budget",
    "bytes",
    "char",
    "class",
    "cmd",
    "column",
    "command",
    "config",
    "count",
    "dir",
    "enabled",
    "endpoint",
    "enum",
    "env",
    "error",
    "expires",
    "expiry",
    "ext",
    "field",
    "file",
    "flag",
    "form",
    "format",
    "handler",
    "hash",
    "header",
    "hint",
    "html",
    "id",
    "ids",
    "index",
    "input",
    "js",
    "json",
    "kind",
    "label",
    "len",
    "length",
    "limit",
    "list",
    "location",
    "manager",
    "map",
    "max",
    "md",
    "message",
    "method",
    "min",
    "mode",
    "msg",
    "name",
    "names",
    "node",
    "option",
    "options",
    "param",
    "params",
    "path",
    "pattern",
    "placeholder",
    "policy",
    "pos",
    "position",
    "prefix",
    "prompt",
    "provider",
    "py",
    "range",
    "ref",
    "regex",
    "required",
    "reset",
    "rs",
    "rule",
    "rules",
    "schema",
    "scope",
    "service",
    "set",
    "size",
    "source",
    "span",
    "state",
    "status",
    "store",
    "stream",
    "strength",
    "suffix",
    "svc",
    "text",
    "timeout",
    "title",
    "toml",
    "ts",
    "ttl",
    "txt",
    "type",
    "types",
    "uri",
    "url",
    "usage",
    "validator",
    "var",
    "variable",
    "version",
    "yaml",
    "yml",
];

/// Words before `pass` that make it something other than a password.
const OTHER_PASSES: &[&str] = &[
    "all", "band", "by", "compute", "current", "depth", "final", "first", "high", "last", "low",
    "main", "multi", "next", "num", "one", "opt", "prev", "render", "second", "shader", "shadow",
    "single", "test", "tests", "third", "two",
];

/// Words before `key` that make it something other than a secret.
const OTHER_KEYS: &[&str] = &[
    "allowed",
    "answer",
    "any",
    "array",
    "arrow",
    "attribute",
    "basic",
    "bin",
    "bucket",
    "cache",
    "color",
    "column",
    "composite",
    "compound",
    "config",
    "context",
    "current",
    "data",
    "dedup",
    "default",
    "dict",
    "dispatch",
    "error",
    "event",
    "expected",
    "field",
    "file",
    "first",
    "foreign",
    "group",
    "hash",
    "header",
    "host",
    "hot",
    "id",
    "idempotency",
    "index",
    "input",
    "item",
    "i18n",
    "issue",
    "join",
    "json",
    "lang",
    "last",
    "left",
    "lock",
    "locale",
    "lookup",
    "map",
    "max",
    "message",
    "meta",
    "min",
    "modifier",
    "name",
    "natural",
    "new",
    "next",
    "node",
    "object",
    "old",
    "option",
    "order",
    "other",
    "output",
    "param",
    "parent",
    "partition",
    "path",
    "pre",
    "press",
    "prev",
    "primary",
    "project",
    "prop",
    "property",
    "provider",
    "public",
    "query",
    "range",
    "react",
    "ref",
    "registry",
    "request",
    "resource",
    "response",
    "result",
    "right",
    "root",
    "route",
    "row",
    "s3",
    "search",
    "section",
    "session",
    "setting",
    "shard",
    "shortcut",
    "sort",
    "state",
    "storage",
    "string",
    "sub",
    "surrogate",
    "table",
    "tag",
    "target",
    "test",
    "text",
    "title",
    "to",
    "translation",
    "type",
    "unique",
    "up",
    "url",
    "user",
    "value",
    "verify",
];

/// Splits a name into words: `dbPassword`, `DB_PASSWORD` and `db-password` give
/// the same ones.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        let is_start = c.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || (before.is_ascii_uppercase()
                    && rest.peek().is_some_and(char::is_ascii_lowercase)));
        if !c.is_ascii_alphanumeric() || is_start {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns true if a name contains `pass` in the sense of password.
fn has_pass(words: &[String]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let is_last = words.get(at + 1).is_none_or(|next| {
            [
                "prod",
                "production",
                "dev",
                "staging",
                "live",
                "test",
                "old",
                "new",
            ]
            .contains(&next.as_str())
                || next.bytes().all(|byte| byte.is_ascii_digit())
        });
        word == "pass"
            && is_last
            && before.is_none_or(|before| !OTHER_PASSES.contains(&before.as_str()))
    })
}

/// Returns true if the name means that its value is a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let words = words(name);
    let is_one = |word: &String| {
        // `PGPASSWORD`
        word.ends_with("password")
            || matches!(
                word.as_str(),
                "passwd"
                    | "sshpass"
                    | "dbpass"
                    | "userpass"
                    | "rootpass"
                    | "adminpass"
                    | "passphrase"
                    | "passcode"
                    | "passwort"
                    | "kennwort"
                    | "contrasena"
                    | "senha"
                    | "pwd"
                    | "pw"
                    | "psk"
                    | "secret"
                    | "token"
                    | "apikey"
                    | "authkey"
                    | "jwt"
                    | "creds"
                    | "credential"
                    | "credentials"
            )
    };
    let is_pair = |pair: &[String]| {
        matches!(pair, [of, key] if key == "key"
            && matches!(of.as_str(), "api" | "access" | "private" | "secret" | "encryption" | "signing" | "master" | "account" | "auth"))
    };
    let is_secret = words.iter().any(is_one) || words.windows(2).any(is_pair) || has_pass(&words);
    is_secret && !is_metadata_name(name)
}

/// Returns true if the name describes a secret, such as `token_count`.
pub(super) fn is_metadata_name(name: &str) -> bool {
    let words = words(name);
    // Vault's `secret_id` is a secret.
    if words.ends_with(&["secret".to_owned(), "id".to_owned()]) {
        return false;
    }
    words
        .last()
        .is_some_and(|last| METADATA_WORDS.contains(&last.as_str()))
}

/// Names that contain a word of secrets and are none: token counts, token
/// names, key locations.
const HARMLESS: &[&str] = &[
    "tokens",
    "token_count",
    "token_type",
    "token_usage",
    "tokenizer",
    "tokenize",
    "token_id",
    "token_limit",
    "author",
    "authority",
    "authors",
    "public_key",
    "keyword",
    "secret_name",
    "token_name",
    "token_url",
    "auth_url",
    "key_id",
    "auth_type",
    "auth_mode",
    "auth_method",
];

/// Returns the kind of secret that a name suggests, or `None`.
pub(super) fn kind_of_name(name: &str) -> Option<&'static str> {
    let words = words(name);
    let snake_case = words.join("_");
    let name = name.to_ascii_lowercase().replace(['-', '.'], "_");
    let holds = |words: &[&str]| {
        let is_in = |word: &&str| name.contains(word) || snake_case.contains(word);
        words.iter().any(is_in)
    };
    let is_word = |word: &str| words.iter().any(|other| other == word);
    if [
        "pw",
        "psk",
        "pswd",
        "senha",
        "contrasena",
        "dbpass",
        "userpass",
        "rootpass",
        "adminpass",
    ]
    .into_iter()
    .any(is_word)
        || holds(&[
            "password",
            "passwd",
            "passphrase",
            "passcode",
            "passwort",
            "kennwort",
            "pwd",
            "sshpass",
        ])
        || has_pass(&words)
    {
        return Some("password");
    }
    if holds(HARMLESS) {
        return None;
    }
    if holds(&[
        "api_key",
        "apikey",
        "access_key",
        "accesskey",
        "private_key",
        "encryption_key",
        "signing_key",
        "master_key",
        "account_key",
        "app_key",
        "auth_key",
        "authkey",
    ]) {
        return Some("key");
    }
    if holds(&["token"]) || is_word("jwt") {
        return Some("token");
    }
    if holds(&["secret"]) {
        return Some("secret");
    }
    if holds(&["credential", "auth"]) || is_word("creds") {
        return Some("credential");
    }
    let [.., of, last] = words.as_slice() else {
        return None;
    };
    (last == "key" && !OTHER_KEYS.contains(&of.as_str())).then_some("key")
}

/// Returns true if a name says only that its value is some key or credential,
/// so that the value itself must be beyond doubt.
pub(super) fn is_vague(name: &str) -> bool {
    !is_secret_name(name)
}
