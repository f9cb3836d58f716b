//! Tests that ordinary code is kept, and that values in the same places are
//! not.

use super::redacted;

#[test]
fn names_without_values_are_kept() {
    for text in [
        "use crate::token::parse;",
        "token::parse(input)",
        "src/token.rs:47:self.tokens.push(next)",
        "crates/auth/src/password.rs:12:    let password = read()?;",
        "password: String",
        "pub password: Option<String>,",
        "let secret = get_secret()?;",
        "api_key = os.environ[\"API_KEY\"]",
        "api_key: process.env.API_KEY",
        "Authorization: Bearer {token}",
        "Authorization: Bearer $TOKEN",
        "password=${DB_PASSWORD}",
        "--password <PASSWORD>",
        "--token TOKEN",
        "\"token\": null",
        "\"password\": \"\"",
        "if token == TokenKind2::Ident { next() }",
        "match token2 { Token::Key => key1 }",
        "token = token1",
        "let key = hash_map_key2;",
        "password = prompt_password(\"Password: \")",
        "<input type=\"password\" name=\"password\" placeholder=\"Password\">",
        "autocomplete=\"new-password\"",
        "\"password\": \"Passwort\"",
        "passwordLabel: \"Enter your password\"",
        "secret_key_base: <%= ENV[\"SECRET_KEY_BASE\"] %>",
        "postgres://user:password@localhost/db",
        "postgres://{user}:{password}@{host}/db",
        "http://localhost:3000/@vite/client",
        "https://registry.npmjs.org:443/@scope/pkg/-/pkg@1.0.0",
        "needless_pass_by_value = \"warn\"",
        "cookie: Option<Cookie>, session: Session",
        "Set-Cookie: <name>=<value>",
        "begins_with(\"-----BEGIN PRIVATE KEY-----\") && ends_with(\"-----END PRIVATE KEY-----\")",
        "rows are identified by their number",
        "| token | string | The token of the user |",
        "any.verify(|t: &Token| !set.contains_token(t.clone()))",
        "keyboard: \"qwerty\", key: \"Enter\"",
        "primary_key: true, cache_key: \"users/1-20240101\"",
        "model: claude-opus-4-5-20251101, tokens: 18843",
        "token_type: \"bearer\"",
        "max_tokens=4096 temperature=0.7",
        "set keywordprg :help",
        "auth: 'basic'",
        "12:34:56:78:90",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn weak_passwords_in_their_places_are_replaced() {
    for (text, expected) in [
        ("password = \"sunshine\"", "password = \"[password 1]\""),
        (
            "let password: &str = \"sunshine\";",
            "let password: &str = \"[password 1]\";",
        ),
        (
            "config[\"db_password\"] = 'sunshine'",
            "config[\"db_password\"] = '[password 1]'",
        ),
        (
            "if password == \"hunter2\" {",
            "if password == \"[password 1]\" {",
        ),
        (
            "mysql://root:sunshine@db/x",
            "mysql://root:[password 1]@db/x",
        ),
        (
            "postgresql://app:ab/cd12@db.internal:5432/app",
            "postgresql://app:[password 1]@db.internal:5432/app",
        ),
        (
            "jdbc:postgresql://db/app?user=x&password=sunshine",
            "jdbc:postgresql://db/app?user=x&password=[password 1]",
        ),
        (
            "Server=db;User Id=sa;Password=sunshine;Encrypt=true",
            "Server=db;User Id=sa;Password=[password 1];Encrypt=true",
        ),
        (
            "level=info user=bob password=sunshine attempt=3",
            "level=info user=bob password=[password 1] attempt=3",
        ),
        (
            "ALTER USER app WITH PASSWORD 'sunshine';",
            "ALTER USER app WITH PASSWORD '[password 1]';",
        ),
        (
            "CREATE USER app IDENTIFIED BY sunshine;",
            "CREATE USER app IDENTIFIED BY [password 1];",
        ),
        (
            "db.internal:5432:app:bob:sunshine",
            "db.internal:5432:app:bob:[password 1]",
        ),
        ("- **Password:** Sunsh1ne", "- **Password:** [password 1]"),
        (
            "| user | password |\n|---|---|\n| bob | sunsh1ne |",
            "| user | password |\n|---|---|\n| bob | [password 1] |",
        ),
        ("| password | sunsh1ne |", "| password | [password 1] |"),
        (
            "set -gx API_KEY q8Zr1Lw0pXk27bT5",
            "set -gx API_KEY [key 1]",
        ),
        (
            "gh secret set DEPLOY_KEY --body \"sunshine\"",
            "gh secret set DEPLOY_KEY --body \"[secret 1]\"",
        ),
        (
            "otpauth://totp/A:b?secret=JBSWY3DPEHPK3PXP&issuer=A",
            "otpauth://totp/A:b?secret=[secret 1]&issuer=A",
        ),
        (
            "   12→DB_PASSWORD=sunshine",
            "   12→DB_PASSWORD=[password 1]",
        ),
    ] {
        assert_eq!(redacted(text), expected);
    }
}
