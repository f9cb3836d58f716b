//! Real agents, against a scripted model on loopback.
//!
//! `cargo xtask test` installs them into `target/agents`.

use std::fs;
use std::path::Path;

use crate::model;
use crate::project::{Project, answer, leave, send};
use crate::terminal::{Start, Terminal};

const SIZE: (u16, u16) = (100, 36);

/// Returns the program of an agent.
fn installed(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/agents");
    let path = folder.join("node_modules/.bin").join(name);
    assert!(path.exists(), "{} is missing", path.display());
    path.to_str().unwrap().to_owned()
}

/// Asks for a file, allows the command and checks the answer.
fn converse(project: &Project, start: Start) {
    let mut terminal: Terminal = start.start();
    terminal.wait_for("❯");
    crate::world::wait_until("the agent", || !terminal.text().contains("starting"));
    send(&terminal, "Make a file");
    answer(&terminal, "allow once", b"a");
    terminal.wait_for("made.txt is there.");
    let text = terminal.text();
    assert!(text.contains(model::COMMAND), "{text}");
    let made = fs::read_to_string(project.root().join("made.txt")).unwrap();
    assert_eq!(made, "hello\n");
    leave(&mut terminal);
    assert_eq!(project.records().len(), 1);
}

#[test]
#[ignore = "needs gemini in target/agents: run `cargo xtask test`"]
fn gemini() {
    let program = installed("gemini");
    let project = Project::new();
    let folder = project.home().join(".gemini");
    fs::create_dir_all(&folder).unwrap();
    let settings = r#"{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},"general":{"enableAutoUpdate":false}}"#;
    fs::write(folder.join("settings.json"), settings).unwrap();
    let start = project
        .chat(SIZE, &["--", &program, "--acp", "-m", "gemini-2.5-pro"])
        .variable("GOOGLE_GEMINI_BASE_URL", &model::serve())
        .variable("GEMINI_API_KEY", "sk-test");
    converse(&project, start);
}

#[test]
#[ignore = "needs opencode in target/agents: run `cargo xtask test`"]
fn opencode() {
    let program = installed("opencode");
    let project = Project::new();
    let folder = project.home().join(".config/opencode");
    fs::create_dir_all(&folder).unwrap();
    let model = serde_json::json!({
        "name": "Fake", "tool_call": true, "limit": {"context": 100_000, "output": 8_000},
    });
    let settings = serde_json::json!({
        "provider": {"fake": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": format!("{}/v1", model::serve()), "apiKey": "sk-test"},
            "models": {"fake-model": model},
        }},
        "model": "fake/fake-model", "small_model": "fake/fake-model",
        "autoupdate": false, "share": "disabled", "permission": {"bash": "ask"},
    });
    fs::write(folder.join("opencode.json"), settings.to_string()).unwrap();
    let start = project
        .chat(SIZE, &["--", &program, "acp"])
        .variable("OPENCODE_DISABLE_MODELS_FETCH", "1")
        .variable("OPENCODE_DISABLE_AUTOUPDATE", "1");
    converse(&project, start);
}

#[test]
#[ignore = "needs qwen in target/agents: run `cargo xtask test`"]
fn qwen() {
    let program = installed("qwen");
    let project = Project::new();
    let start = project
        .chat(SIZE, &["--", &program, "--acp", "--auth-type", "openai"])
        .variable("OPENAI_BASE_URL", &format!("{}/v1", model::serve()))
        .variable("OPENAI_API_KEY", "sk-test")
        .variable("OPENAI_MODEL", "fake-model");
    converse(&project, start);
}

#[test]
#[ignore = "needs codex-acp in target/agents: run `cargo xtask test`"]
fn codex() {
    let program = installed("codex-acp");
    let project = Project::new();
    let folder = project.home().join(".codex");
    fs::create_dir_all(&folder).unwrap();
    let settings = format!(
        "model = \"fake-model\"\nmodel_provider = \"fake\"\n\
         approval_policy = \"untrusted\"\nsandbox_mode = \"danger-full-access\"\n\
         [model_providers.fake]\nname = \"Fake\"\nbase_url = \"{}/v1\"\n\
         wire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\n",
        model::serve()
    );
    fs::write(folder.join("config.toml"), settings).unwrap();
    let start = project
        .chat(SIZE, &["--", &program])
        .variable("OPENAI_API_KEY", "sk-test")
        .variable("FAKE_KEY", "sk-test");
    converse(&project, start);
}

#[test]
#[ignore = "needs claude-agent-acp in target/agents: run `cargo xtask test`"]
fn claude() {
    let program = installed("claude-agent-acp");
    let project = Project::new();
    let start = project
        .chat(SIZE, &["--", &program])
        .variable("ANTHROPIC_BASE_URL", &model::serve())
        .variable("ANTHROPIC_API_KEY", "sk-test")
        .variable("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        // It refuses to run as root otherwise.
        .variable("IS_SANDBOX", "1");
    converse(&project, start);
}
