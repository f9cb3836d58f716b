//! Tests of secrets in commands and sentences, and of sentences without any.

use super::*;

/// 31 characters: too few for a random word without context.
const TOKEN: &str = "q7Rk2ZpX9vLm4TsW8yBn3HcJ6dFg5Ka";

#[test]
fn passwords_in_commands_are_replaced() {
    for (text, expected) in [
        ("PW=abc123x!", "PW=[password 1]"),
        ("pw=abc123xy", "pw=[password 1]"),
        ("db_pw: \"abc123\"", "db_pw: \"[password 1]\""),
        (
            "PGPASSWORD=\"a b c\" psql",
            "PGPASSWORD=\"[password 1]\" psql",
        ),
        ("SSHPASS=hunter2 ssh x", "SSHPASS=[password 1] ssh x"),
        (
            "docker login -u me -p hunter2 ghcr.io",
            "docker login -u me -p [password 1] ghcr.io",
        ),
        (
            "podman login ghcr.io -p 'a b c' -u me",
            "podman login ghcr.io -p '[password 1]' -u me",
        ),
        (
            "sshpass -p hunter2 ssh box",
            "sshpass -p [password 1] ssh box",
        ),
        (
            "sshpass -phunter2 ssh box",
            "sshpass -p[password 1] ssh box",
        ),
        (
            "sshpass -p \"hunter 2\" ssh box",
            "sshpass -p \"[password 1]\" ssh box",
        ),
        (
            "echo hunter2 | sudo -S apt update",
            "echo [password 1] | sudo -S apt update",
        ),
        (
            "echo -n 'hunter 2' |sudo -kS ls",
            "echo -n '[password 1]' |sudo -kS ls",
        ),
        (
            r"printf '%s\n' hunter2 | sudo -S ls",
            r"printf '%s\n' [password 1] | sudo -S ls",
        ),
        ("sudo -S ls <<< hunter2", "sudo -S ls <<< [password 1]"),
        (
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "AWS_SECRET_ACCESS_KEY=[key 1]",
        ),
        (
            "https://b.s3.amazonaws.com/k?X-Amz-Signature=4b2f9c1b7d8e4f5061728394a5b6c7d8&x=1",
            "https://b.s3.amazonaws.com/k?X-Amz-Signature=[signature 1]&x=1",
        ),
        (
            "https://a.blob.core.windows.net/c?sv=2024&sig=aB3dE5gH7jK9mN1pQ3sT5v%3D",
            "https://a.blob.core.windows.net/c?sv=2024&sig=[signature 1]",
        ),
    ] {
        assert_eq!(redacted(text), expected);
    }
    let token = format!("MTE4{}.GaBcDe.{TOKEN}", "A1b2C3d4E5f6G7h8I9j0");
    assert_eq!(redacted(&format!("bot {token}")), "bot [Discord token 1]");
}

#[test]
fn secrets_in_sentences_are_replaced() {
    let (key, _) = TOKEN.split_at(24);
    for (text, expected) in [
        (
            format!("use the token {TOKEN} for it"),
            "use the token [token 1] for it",
        ),
        (format!("key {key}"), "key [secret 1]"),
        (format!("API key `{key}`."), "API key `[key 1]`."),
        (
            "the key k3j9x2m5q8w1z7v4b6n0p3r5".to_owned(),
            "the key [secret 1]",
        ),
        (format!("token is {TOKEN}."), "token is [token 1]."),
        (
            "Password is: correcthorse".to_owned(),
            "Password is: [password 1]",
        ),
        (
            "The password is hunter2.".to_owned(),
            "The password is [password 1].",
        ),
        (
            "password was set to 'S3cret!'".to_owned(),
            "password was set to '[password 1]'",
        ),
    ] {
        assert_eq!(redacted(&text), expected);
    }
}

#[test]
fn sentences_without_secrets_are_kept() {
    for text in [
        "a token bucket limits it",
        "the key point is this",
        "key 3f2a9c1b7d8e4f5061728394a5b6c7d8e9f0a1b2",
        "token 550e8400-e29b-41d4-a716-446655440000",
        "key crates/unspool/src/layout/Wrap2/Breaker3.rs",
        "key getElementsByClassNameAndTagName2",
        "the key claude-opus-4-5-20251101",
        "key toolu_01AbCdEfGhIjKlMnOpQrStUvWx2345678",
        "key Layout2Wrap3Breaker4.rs is new",
        "secret management with HashiCorp",
        "password is required",
        "the password is stored in a vault",
        "password is base64-encoded",
        "password is 8 characters long",
        "The token is valid, the secret is not",
        "token is expired",
        "password was changed/rotated",
        "tokens internationalization of everything",
        "PROMPT_PASSWORD=\"Enter your password:\"",
        "PASSWORD_PROMPT=\"who goes there\"",
        "docker login -p $TOKEN",
        "docker run -p 8080:80 nginx",
        "docker login ghcr.io && docker run -p 8080:80 x",
        "echo done | sudo tee /etc/x",
        "echo $PASSWORD | sudo -S ls",
        "npw=everything",
        "?signature=invalid",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn a_secret_has_one_label_everywhere() {
    let github = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF";
    let mut said = event(Body::User(User {
        text: Payload::from(format!(
            "{github} and DB_PASSWORD=hunter2x and token={TOKEN}\nAuthorization: Bearer abc123def456"
        )),
        ..User::default()
    }));
    said.raw = Some(format!(
        r#"{{"token":"{github}","pin":"{TOKEN}","env":{{"api_token":"{TOKEN}"}},"password":"hunter2x","headers":{{"Authorization":"Bearer abc123def456"}}}}"#
    ));
    let mut redactor = Redactor::new();
    redactor.event(&mut said);
    let Body::User(user) = &said.body else {
        unreachable!()
    };
    assert_eq!(
        user.text,
        "[GitHub token 1] and DB_PASSWORD=[password 1] and token=[token 1]\nAuthorization: Bearer [credential 1]"
    );
    let raw: serde_json::Value = serde_json::from_str(said.raw.as_ref().unwrap()).unwrap();
    assert_eq!(raw["token"], "[GitHub token 1]");
    assert_eq!(raw["env"]["api_token"], "[token 1]");
    assert_eq!(raw["password"], "[password 1]");
    assert_eq!(raw["headers"]["Authorization"], "Bearer [credential 1]");
}

#[test]
fn raw_frames_of_deltas_are_dropped() {
    let mut joined = Joiner::default();
    let piece = |text: &str| {
        let mut piece = event(Body::Text(Message {
            text: Payload::from(text.to_owned()),
            id: "m".to_owned(),
            delta: true,
            ..Message::default()
        }));
        piece.raw = Some(format!(r#"{{"text":"{text}"}}"#));
        piece
    };
    joined.push(piece("ghp_aB3dE5gH7"));
    joined.push(piece("jK9mN1pQ3sT5vW7yZ9bC2eF"));
    assert!(joined.finish().iter().all(|event| event.raw.is_none()));
    joined.push(piece("whole"));
    assert!(joined.finish()[0].raw.is_some());
}
