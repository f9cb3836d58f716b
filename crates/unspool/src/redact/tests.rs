//! Tests of each kind of secret, of harmless look-alikes, and of events.

use super::*;
use crate::event::{Agent, Edit, Edits, Hunk, Message, Payload, RawJson, User};

mod code;
mod hidden;
mod people;
mod sentence;

fn redacted(text: &str) -> String {
    Redactor::new()
        .text(text)
        .unwrap_or_else(|| text.to_owned())
}

fn event(body: Body) -> Event {
    Event {
        seq: 0,
        time: None,
        agent: None,
        replayed: false,
        body,
        raw: None,
    }
}

#[test]
fn every_pattern_compiles() {
    for shape in shapes::all() {
        let pattern = Regex::new(shape.pattern).unwrap();
        assert!(
            pattern.capture_names().flatten().any(|name| name == "s"),
            "{}",
            shape.pattern
        );
    }
    assert_eq!(PATTERNS.len(), shapes::all().count());
}

// The tokens are assembled here so that secret scanners do not flag this file.
#[test]
fn known_shapes_are_replaced() {
    let random = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF4hJ6";
    let cases = [
        (format!("sk-ant-api03-{random}"), "[Anthropic key 1]"),
        (format!("sk-proj-{random}"), "[OpenAI key 1]"),
        (format!("ghp_{random}"), "[GitHub token 1]"),
        (format!("github_pat_{random}"), "[GitHub token 1]"),
        (
            format!("glpat-{}", &random.split_at(20).0),
            "[GitLab token 1]",
        ),
        (
            format!("AKIA{}", "IOSFODNN7QWERTYU".replace('7', "A")),
            "[AWS key 1]",
        ),
        (format!("AIza{random}"), "[Google key 1]"),
        (
            format!("xoxb-1234567890-{}", &random.split_at(20).0),
            "[Slack token 1]",
        ),
        (
            format!("sk_live_{}", &random.split_at(24).0),
            "[Stripe key 1]",
        ),
        (format!("npm_{random}"), "[npm token 1]"),
        (format!("hf_{random}"), "[Hugging Face token 1]"),
        (
            format!("dop_v1_{}", "0123456789abcdef".repeat(4)),
            "[token 1]",
        ),
        (
            format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{random}"),
            "[web token 1]",
        ),
    ];
    for (secret, name) in &cases {
        assert_eq!(redacted(&format!("a {secret} b")), format!("a {name} b"));
        assert_eq!(redacted(&format!("\"{secret}\",")), format!("\"{name}\","));
    }
    assert_eq!(
        redacted(&format!(
            "https://hooks.slack.com/services/T00/B00/{random}"
        )),
        "https://hooks.slack.com/services/[webhook 1]"
    );
}

#[test]
fn private_keys_are_replaced_as_a_whole() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----");
    assert_eq!(redacted(&format!("x\n{key}\ny")), "x\n[private key 1]\ny");
    let cut = format!("-----BEGIN PRIVATE KEY-----\n{body}");
    assert_eq!(redacted(&cut), "[private key 1]");
    let signed = key.replace('\n', "\n+");
    let mut made = event(Body::Edit(Edits {
        edits: vec![Edit {
            path: "/home/alice/key.pem".to_owned(),
            hunks: vec![Hunk {
                lines: format!(" a\n+{signed}\n b")
                    .split('\n')
                    .map(str::to_owned)
                    .collect(),
                ..Hunk::default()
            }],
            ..Edit::default()
        }],
        ..Edits::default()
    }));
    Redactor::new().event(&mut made);
    let Body::Edit(made) = &made.body else {
        unreachable!()
    };
    assert_eq!(made.edits[0].path, "/home/user1/key.pem");
    assert_eq!(
        made.edits[0].hunks[0].lines,
        [" a", "+[private key 1]", " b"]
    );
}

#[test]
fn values_of_secret_names_are_replaced() {
    for (text, expected) in [
        ("DB_PASSWORD=hunter2x", "DB_PASSWORD=[password 1]"),
        ("password: \"correct horse\"", "password: \"[password 1]\""),
        (
            "export PASSWORD=\"correct horse battery\"",
            "export PASSWORD=\"[password 1]\"",
        ),
        (
            "password = 'Must be 8 characters'",
            "password = 'Must be 8 characters'",
        ),
        (
            "password: \"Enter a password\"",
            "password: \"Enter a password\"",
        ),
        ("token: \"two words 123\"", "token: \"two words 123\""),
        ("password: \"correcthorse\"", "password: \"[password 1]\""),
        (
            r#"{"api_key": "a8f5f167f44f4964e6c998de"}"#,
            r#"{"api_key": "[key 1]"}"#,
        ),
        (
            r#"{\"api_key\":\"a8f5f167f44f4964e6c998de\"}"#,
            r#"{\"api_key\":\"[key 1]\"}"#,
        ),
        (
            "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzZ9",
            "export AWS_SECRET_ACCESS_KEY=[key 1]",
        ),
        (
            "postgres://app:s3cret@db/x",
            "postgres://app:[password 1]@db/x",
        ),
        (
            "Authorization: Bearer abc123def456",
            "Authorization: Bearer [credential 1]",
        ),
        (
            "curl -s -u admin:pa55 https://x",
            "curl -s -u admin:[password 1] https://x",
        ),
    ] {
        assert_eq!(redacted(text), expected);
    }
}

#[test]
fn a_secret_name_makes_any_value_a_secret() {
    for (text, expected) in [
        (
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYABCDEFGKEY",
            "AWS_SECRET_ACCESS_KEY=[key 1]",
        ),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYABCDEFGKEY",
            "aws_secret_access_key = [key 1]",
        ),
        ("DB_PASSWORD=correcthorse", "DB_PASSWORD=[password 1]"),
        ("DB_PASS=correcthorse", "DB_PASS=[password 1]"),
        (
            "export DB_PASS=correcthorse; run",
            "export DB_PASS=[password 1]; run",
        ),
        ("smtpPass: \"horse\"", "smtpPass: \"[password 1]\""),
        ("api_token=abcdefabcdef", "api_token=[token 1]"),
        (
            "api_token: abcdefabcdef\nx: y",
            "api_token: [token 1]\nx: y",
        ),
        (
            r#"{"apiToken": "abcdefabcdef"}"#,
            r#"{"apiToken": "[token 1]"}"#,
        ),
        (
            "SECRET_KEY=django-insecure-abc#def$ghi",
            "SECRET_KEY=[secret 1]",
        ),
        (
            "SECRET_KEY = 'django-insecure-abc#def$ghi(x)'",
            "SECRET_KEY = '[secret 1]'",
        ),
        ("password: correcthorse", "password: [password 1]"),
        (
            "A_TOKEN=abcdefgh B_TOKEN=ijklmnop",
            "A_TOKEN=[token 1] B_TOKEN=[token 2]",
        ),
        ("deploy --api-key=abcdefabc", "deploy --api-key=[key 1]"),
        ("DB_PASSWORD=isnonexistent", "DB_PASSWORD=[password 1]"),
    ] {
        assert_eq!(redacted(text), expected);
    }
}

#[test]
fn secrets_in_command_lines_are_replaced() {
    for (text, expected) in [
        (
            "PGPASSWORD=troubador psql -h db",
            "PGPASSWORD=[password 1] psql -h db",
        ),
        (
            r#"{"password":"aXy\"b8Xy!qq","n":1}"#,
            r#"{"password":"[password 1]","n":1}"#,
        ),
        (
            "postgres://u:pass@ssW0rd99@h/db",
            "postgres://u:[password 1]@h/db",
        ),
        (
            "postgres://u:p@ssW0rd99@h/db",
            "postgres://u:[password 1]@h/db",
        ),
        ("Cookie:sid=a81bcf92de", "Cookie:[cookie 1]"),
        (
            "curl -b \"sessionid=a81bcf92de\" https://x",
            "curl -b \"[cookie 1]\" https://x",
        ),
        ("GET / PHPSESSID=a81bcf92de; x", "GET / [cookie 1]; x"),
        (
            "Authorization: 3f2a9c1b7d8e4f5061728394a5b6c7d8",
            "Authorization: [credential 1]",
        ),
        (
            "RAILS_MASTER_KEY=3f2a9c1b7d8e4f5061728394a5b6c7d8",
            "RAILS_MASTER_KEY=[key 1]",
        ),
        (
            "account_key: 3f2a9c1b7d8e4f5061728394a5b6c7d8",
            "account_key: [key 1]",
        ),
        (
            "curl -ubob:pa55word https://x",
            "curl -ubob:[password 1] https://x",
        ),
        (
            "redis-cli -a pa55word ping",
            "redis-cli -a [password 1] ping",
        ),
        (
            "mongosh -u a -p pa55word db",
            "mongosh -u a -p [password 1] db",
        ),
        (
            "openssl enc -aes-256-cbc -pass pass:pa55word -in x",
            "openssl enc -aes-256-cbc -pass pass:[password 1] -in x",
        ),
        (
            "echo 'root:pa55word' | sudo chpasswd",
            "echo 'root:[password 1]' | sudo chpasswd",
        ),
        (
            "client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFdlFJ",
            "client-key-data: [private key 1]",
        ),
    ] {
        assert_eq!(redacted(text), expected);
    }
    let hash = format!(
        "root:$2b$12${}:1",
        "abcdefghijklmnopqrstuvwxyz".repeat(3).split_at(53).0
    );
    assert_eq!(redacted(&hash), "root:[password hash 1]:1");
    let mut two = Redactor::new();
    two.text(&format!("{hash} {}", hash.replace('a', "b")));
    assert_eq!(two.report().to_string(), "2 password hashes");
}

#[test]
fn a_secret_that_is_a_key_of_json_is_replaced() {
    let mut call = event(Body::ToolUse(ToolUse {
        input: RawJson::new(r#"{"tokens":{"ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF":"ci"},"n":1}"#),
        ..ToolUse::default()
    }));
    Redactor::new().event(&mut call);
    let Body::ToolUse(call) = &call.body else {
        unreachable!()
    };
    assert_eq!(
        call.input.as_ref().unwrap().get(),
        r#"{"tokens":{"[GitHub token 1]":"ci"},"n":1}"#
    );
}

#[test]
fn ordinary_code_holds_no_secrets() {
    for text in [
        "token = next_token()",
        "let secret = derive2_key34(seed);",
        "password: str",
        "password: str = Field(min_length=8)",
        "def login(self, password: SecretStr, token: Optional[str] = None):",
        "token: CancellationToken",
        "token = lexer",
        "self.token = token",
        "connect(token=token, password=password)",
        "client(api_key=settings.api_key)",
        "    api_key=api_key\n",
        "TOKEN=$(pass show x)",
        "API_KEY=process.env.API_KEY",
        "apiKey: process.env.OPENAI_API_KEY,",
        "token: \"keyword.control\"",
        "fetch(url, { credentials: \"include\" })",
        "fetch(url, { credentials: \"same-origin\" })",
        "api_token = \"xxx\"",
        "API_TOKEN=null",
        "API_TOKEN=none",
        "PASSWORD=<password>",
        "PASSWORD=https://$USER:$PASS@host",
        "Invalid token: unexpected",
        "wrong password: access denied",
        "PASS: test_login_works",
        "render_pass: RenderPass",
        "first_pass=lowering",
        "bypass=everything",
        "compass: northwest",
        "PASSWORD_FILE=secrets_of_db",
        "token_url=accounts",
        "secret_name: \"database\"",
        "run with --token instead",
        "secret: config/secret.yaml",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn look_alikes_are_kept() {
    for text in [
        "let token = parser.next_token();",
        "password: String,",
        "max_tokens: 4096",
        "\"input_tokens\": 18843",
        "token_count=1234567",
        "PASSWORD=$DB_PASSWORD",
        "password = \"<your password>\"",
        "api_key = os.environ[\"OPENAI_API_KEY\"]",
        "secret: ${{ secrets.GITHUB_TOKEN }}",
        "postgres://app:$PASSWORD@db/x",
        "commit 3f2a9c1b7d8e4f5061728394a5b6c7d8e9f0a1b2",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "\"integrity\": \"sha512-Z0vFWnbnvQx6wZUYAn0cwsS0PM9b8tP4C3uA7kq9rT2y==\"",
        "550e8400-e29b-41d4-a716-446655440000",
        "toolu_01AbCdEfGhIjKlMnOpQrStUvWx2345678",
        "getElementsByClassNameAndTagNameAndAttributeValue",
        "crates/unspool/src/layout/Wrap2/Breaker3/Reference4.rs",
        "author: Alice",
        "git@github.com:o/r.git",
        "/home/runner/work",
        "icon@2x.png",
        "/srv/home/index.html",
        "cargo run --token --help",
        "grep --password-file x",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn random_words_are_replaced_without_context() {
    let one = "q7Rk2ZpX9vLm4TsW8yBn3HcJ6dFg5KaE1uQo";
    let two = "Zx8Cv7Bn6Mq5Ws4Ed3Rf2Tg1Yh0UjIkOlP9a";
    assert_eq!(
        redacted(&format!("{one} {two} {one}")),
        "[secret 1] [secret 2] [secret 1]"
    );
}

#[test]
fn people_are_replaced_consistently() {
    assert_eq!(
        redacted("/home/alice/a /Users/bob/b C:\\Users\\alice\\c a.b@c.de x@y.org a.b@c.de"),
        "/home/user1/a /Users/user2/b C:\\Users\\user1\\c [email 1] [email 2] [email 1]"
    );
    assert_eq!(
        redacted("~/.claude/projects/-home-alice-shop/x"),
        "~/.claude/projects/-home-user1-shop/x"
    );
}

#[test]
fn redacting_twice_changes_nothing_more() {
    let text = "password=\"hunter2x\" /home/alice ghp_aB3dE5gH7jK9mN1pQ3sT5vW7 a@b.cd\nDB_PASSWORD=abc123x postgres://a:b@c";
    let once = redacted(text);
    assert_eq!(redacted(&once), once);
}

#[test]
fn inputs_are_redacted_by_key_and_stay_json() {
    let mut call = event(Body::ToolUse(ToolUse {
        arg: "curl -H 'x-key: ghp_aB3dE5gH7jK9mN1pQ3s…".to_owned(),
        input: RawJson::new(
            r#"{"command":"curl -H 'x-key: ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF'","env":{"API_KEY":"9f8e7d6c5b4a3210","n":1},"password":"hunter2"}"#,
        ),
        ..ToolUse::default()
    }));
    Redactor::new().event(&mut call);
    let Body::ToolUse(call) = &call.body else {
        unreachable!()
    };
    assert_eq!(call.arg, "curl -H 'x-key: [GitHub token 1]'");
    assert_eq!(
        call.input.as_ref().unwrap().get(),
        r#"{"command":"curl -H 'x-key: [GitHub token 1]'","env":{"API_KEY":"[key 1]","n":1},"password":"[password 1]"}"#
    );
}

#[test]
fn a_secret_split_between_deltas_is_found() {
    let token = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF";
    let mut joined = Joiner::default();
    let mut redactor = Redactor::new();
    let delta = |text: &str| {
        event(Body::Text(Message {
            text: Payload::from(text.to_owned()),
            id: "m".to_owned(),
            delta: true,
            ..Message::default()
        }))
    };
    assert!(joined.push(delta("key ")).is_empty());
    let (head, tail) = token.split_at(9);
    assert!(joined.push(delta(head)).is_empty());
    let mut other = event(Body::User(User::default()));
    other.agent = Some(std::sync::Arc::new(Agent::default()));
    assert!(joined.push(other).is_empty());
    assert!(joined.push(delta(tail)).is_empty());
    let mut events = joined.finish();
    for event in &mut events {
        redactor.event(event);
    }
    assert_eq!(events.len(), 2);
    assert_eq!((events[0].seq, events[1].seq), (0, 1));
    let Body::Text(message) = &events[0].body else {
        unreachable!()
    };
    assert_eq!(message.text, "key [GitHub token 1]");
    assert_eq!(redactor.report().to_string(), "1 GitHub token");
}

#[test]
fn the_report_counts_things_and_places() {
    let mut redactor = Redactor::new();
    redactor.text("/home/alice /home/bob /home/alice a@b.cd");
    assert_eq!(
        redactor.report().to_string(),
        "1 email, 2 home directories (in 3 places)"
    );
}

#[test]
fn the_users_own_home_is_replaced_anywhere() {
    let mut redactor = Redactor::new().with_home("/data/people/alice/");
    let text = "cd /data/people/alice && ls /data/people/alice/x /data/people/alicette /home/bob";
    assert_eq!(
        redactor.text(text).unwrap(),
        "cd ~ && ls ~/x /data/people/alicette /home/user1"
    );
    assert_eq!(
        redactor.report().to_string(),
        "2 home directories (in 3 places)"
    );
    let mut keys = Redactor::new();
    keys.text("AKIAIOSFODNNAQWERTYU AKIAIOSFODNNBQWERTYU");
    assert_eq!(keys.report().to_string(), "2 AWS keys");
}

#[test]
fn separate_names_and_values_are_recognised() {
    for (text, expected) in [
        (
            "<password>Tr0ub4dor</password>",
            "<password>[password 1]</password>",
        ),
        (
            "<db:Password enc=\"no\">hunter2!</db:Password>",
            "<db:Password enc=\"no\">[password 1]</db:Password>",
        ),
        (
            r#"<add key="ApiKey" value="q8Zr1Lw0pXk27"/>"#,
            r#"<add key="ApiKey" value="[key 1]"/>"#,
        ),
        (
            r#"<setting name=\"authToken\" value=\"q8Zr1Lw0pXk27\"/>"#,
            r#"<setting name=\"authToken\" value=\"[token 1]\"/>"#,
        ),
    ] {
        assert_eq!(redacted(text), expected);
    }
    for text in [
        "<password>${DB_PASSWORD}</password>",
        "<author>Somebody Else</author>",
        "<label>password</label>",
        r#"<add key="TokenUrl" value="login page"/>"#,
        r#"<input name="password" value="your password"/>"#,
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn a_secret_in_several_notations_counts_once() {
    let report = |texts: &[String]| {
        let mut redactor = Redactor::new();
        for text in texts {
            let shown = redactor.text(text).unwrap();
            assert!(shown.contains(" 1]"), "{shown}");
        }
        redactor.report().to_string()
    };
    let body = ["MIIEvQIBADANBgkqhkiG9w0BAQ", "EFAASCBKcwggSjAgEAAoIBAQ"];
    let key = |end: &str| {
        let [first, second] = body;
        format!(
            "-----BEGIN PRIVATE KEY-----{end}{first}{end}{second}{end}-----END PRIVATE KEY-----"
        )
    };
    let whole = key("\n");
    let cut = whole.split("-----END").next().unwrap().to_owned();
    let keys = [whole, key("\n+"), key("\\n"), key("\r\n"), cut];
    assert_eq!(report(&keys), "1 private key (in 5 places)");
    let cookies = [
        "Set-Cookie: sid=a81bcf92de; Path=/; HttpOnly".to_owned(),
        "Cookie: sid=a81bcf92de".to_owned(),
        "cookie: sid=a81bcf92de ".to_owned(),
    ];
    assert_eq!(report(&cookies), "1 cookie (in 3 places)");
    let mails = [
        "ann@example.org".to_owned(),
        "?to=ann%40example.org&x".to_owned(),
    ];
    assert_eq!(report(&mails), "1 email (in 2 places)");
    assert_eq!(redacted("Set-Cookie: [cookie 1]"), "Set-Cookie: [cookie 1]");
}

#[test]
fn a_word_starts_after_an_escaped_newline() {
    let random = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF4hJ6";
    let text = format!(
        r#"{{"x":"a\nghp_{random}\tCookie: sid=a81bcf92de\nbob@example.org\r\nAuthorization: Basic dXNlcjpwYXNzd29yZA=="}}"#
    );
    assert_eq!(
        redacted(&text),
        r#"{"x":"a\n[GitHub token 1]\tCookie: [cookie 1]\n[email 1]\r\nAuthorization: Basic [credential 1]"}"#
    );
    for text in [r"C:\new\tables\rows.txt", r"a\nb\tc", r"\n\u{FDD0}x"] {
        assert_eq!(redacted(text), text);
        assert!(Redactor::new().text(text).is_none());
    }
    assert_eq!(redacted(r"C:\Users\tom\x"), r"C:\Users\user1\x");
}
