//! A made-up agent in one file: its descriptor, its wire format and its tools. The
//! program knows it in every command, without a change anywhere else.
//!
//! This test is a program of its own: started with `UNSPOOL_WITH_TIN` it is `unspool`
//! with one more agent, otherwise it starts itself and checks what comes out.

#![expect(
    clippy::print_stdout,
    reason = "it has no test harness to report for it"
)]

use std::path::Path;
use std::process::{Command, ExitCode, Output};

use unspool::Frame;
use unspool::event::{Category, Session, TurnEnd, Usage};
use unspool::source::{
    BUILTIN, Call, Database, Emitter, Headless, Outcome, Place, Provider, Saved, Source,
};

const TIN: Provider = Provider::new("tin", |probe| probe.has(&["tin"]), || Box::<Tin>::default())
    .with_title("Tin Man")
    .with_about("a made-up agent")
    .with_example("tin go \"…\" | unspool")
    .with_tools(&[(Category::Execute, &["hammer"])])
    .with_headless(Headless::new("tin", &["go"]).followed_by(&["--stream"]))
    .with_saved(
        Saved::new(&[Place::variable(
            "TIN_HOME",
            ".tin",
            "",
            &["runs/*.jsonl", "tin.db"],
        )])
        .with_database(Database::new(
            &["tin_run", "tin_line"],
            "SELECT id, 'hello' AS tin, title AS words FROM tin_run ORDER BY id",
            &["SELECT tin, words FROM tin_line WHERE run = ?1 ORDER BY rowid"],
        )),
    );

/// Reads lines such as `{"tin":"say","words":"hi"}`.
#[derive(Clone, Default)]
struct Tin {
    calls: u32,
}

impl Source for Tin {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        let Some(json) = frame.json() else {
            return out.unknown(frame);
        };
        let fields = json.object();
        let words = fields.get("words").string();
        match fields.get("tin").str().as_deref() {
            Some("hello") => {
                let mut session = Session::new("tin");
                session.id = fields.get("id").string();
                session.title = words;
                out.session(session);
            }
            Some("ask") => out.user(words, false),
            Some("say") => out.text_delta(None, &words),
            Some("do") => {
                self.calls += 1;
                let id = self.calls.to_string();
                out.tool_use(Call::new(id.as_str(), "hammer").with_input(fields.get("with")));
                out.tool_result(&id, Outcome::default());
            }
            Some("bye") => {
                let mut usage = Usage::default();
                usage.input_tokens = Some(7);
                usage.output_tokens = Some(5);
                out.usage(usage);
                out.turn_end(TurnEnd::default());
            }
            _ => out.unknown(frame),
        }
    }
}

/// A run with a call, as the agent streams and saves it.
const RUN: &str = r#"{"tin":"hello","id":"tin-run-0001","words":"Oil the joints"}
{"tin":"ask","words":"Oil the joints"}
{"tin":"do","with":{"command":"oil --all"}}
{"tin":"say","words":"Done."}
{"tin":"bye"}
"#;

/// The same in a database.
const DATABASE: &str = "
CREATE TABLE tin_run(id TEXT, title TEXT);
CREATE TABLE tin_line(run TEXT, tin TEXT, words TEXT);
INSERT INTO tin_run VALUES ('tin-base-0002', 'Find a heart');
INSERT INTO tin_line VALUES ('tin-base-0002', 'ask', 'Find a heart');
INSERT INTO tin_line VALUES ('tin-base-0002', 'say', 'It was there all along.');
INSERT INTO tin_line VALUES ('tin-base-0002', 'bye', NULL);
";

fn main() -> ExitCode {
    if std::env::var_os("UNSPOOL_WITH_TIN").is_some() {
        let agents: Vec<Provider> = std::iter::once(TIN)
            .chain(BUILTIN.iter().copied())
            .collect();
        return unspool_cli::main(agents.leak());
    }
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    std::fs::create_dir_all(home.join("tin/runs")).expect("a folder");
    std::fs::write(home.join("tin/runs/one.jsonl"), RUN).expect("a session");
    let database = rusqlite::Connection::open(home.join("tin/tin.db")).expect("a database");
    database.execute_batch(DATABASE).expect("tables");
    drop(database);
    let unspool = |arguments: &[&str]| unspool(home, arguments);
    let checks: [(&[&str], &[&str]); 9] = [
        (&["providers"], &["tin       a made-up agent", "$ tin go"]),
        (&["generate", "completions", "bash"], &[" tin\""]),
        (
            &["run", "--dry-run", "tin", "fix it"],
            &["tin go 'fix it' --stream"],
        ),
        (&["run", "--help"], &["qwen, tin\n"]),
        (
            &["sessions", "--list", "--agent", "tin", "--width", "120"],
            &["Oil the joints", "Find a heart"],
        ),
        (
            &["show", "tin-run", "--width", "80"],
            &["• Ran oil --all", "• Done."],
        ),
        (
            &["show", "tin-base", "--width", "80"],
            &["• It was there all along."],
        ),
        (
            &["stats", "--json", "--agent", "tin"],
            &["\"sessions\":2", "\"input_tokens\":14"],
        ),
        (
            &["tin/runs/one.jsonl", "--display", "verbose"],
            &["[tool: Bash(oil --all)]", "Done."],
        ),
    ];
    for (arguments, expected) in checks {
        let output = unspool(arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        for words in expected {
            assert!(
                text.contains(words),
                "{arguments:?} prints no {words:?}:\n{text}\n{complaint}"
            );
        }
        println!("ok: unspool {}", arguments.join(" "));
    }
    ExitCode::SUCCESS
}

/// Runs the program with the made-up agent, in a home directory of its own.
fn unspool(home: &Path, arguments: &[&str]) -> Output {
    let program = std::env::current_exe().expect("this test");
    Command::new(program)
        .args(arguments)
        .current_dir(home)
        .env_clear()
        .env("UNSPOOL_WITH_TIN", "1")
        .env("HOME", home)
        .env("TIN_HOME", home.join("tin"))
        .output()
        .expect("the program starts")
}
