//! Agents that misbehave, and the end of their processes.

use unspool::event::Body;
use unspool_acp::platform::Process;
use unspool_acp::{Answer, Exit, Phase, Update};

use crate::world::World;

fn recording(name: &str) -> String {
    fake_agent::recording(name).to_str().unwrap().to_owned()
}

fn is_ready(world: &World) -> bool {
    world.client.phase() == Phase::Ready
}

/// Returns true if a process is running.
fn is_alive(process: &str) -> bool {
    Process::of(process.parse().unwrap()).is_some()
}

#[test]
fn a_conversation() {
    let mut world = World::start(&[]);
    world.until(is_ready);
    world.say("hello");
    world.until(is_ready);
    assert_eq!(world.text(), "You said: hello");
    assert_eq!(world.client.state().agent, "Fake Agent");
}

#[test]
fn noise_does_not_change_the_conversation() {
    let path = recording("claude/thinking");
    let flags = [
        "--stray",
        "Welcome!",
        "--garbage",
        "--wrong-ids",
        "--unknown",
        "--text-after-end",
        &path,
    ];
    let mut world = World::start(&flags);
    world.until(is_ready);
    world.say("Think.");
    world.until(|world| world.text().ends_with("And one more thing."));
    assert_eq!(world.client.phase(), Phase::Ready);
    let strays = world
        .updates
        .iter()
        .filter(|update| matches!(update, Update::InvalidLine(_)));
    assert!(strays.count() > 10);
    let ends = world
        .bodies()
        .filter(|body| matches!(body, Body::TurnEnd(_)));
    assert!(ends.count() >= 1);
}

#[test]
fn a_repeated_request_is_answered_each_time() {
    let path = recording("gemini/permission");
    let mut world = World::start(&["--root", "{root}", "--ask-twice", &path]);
    world.until(is_ready);
    world.say("Go on.");
    let mut answered = 0;
    loop {
        world.until(|world| matches!(world.client.phase(), Phase::Asking | Phase::Ready));
        let Some(ask) = world.client.questions().first() else {
            break;
        };
        let id = ask.id;
        world
            .client
            .answer(id, Answer::Option("proceed_once".to_owned()));
        answered += 1;
    }
    assert!(answered >= 4, "{answered}");
}

#[test]
fn a_question_after_a_cancel_is_not_shown() {
    let path = recording("claude/permission-cancel");
    let mut world = World::start(&["--ask-after-cancel", &path]);
    world.until(is_ready);
    world.say("Cancel at the question.");
    world.until(|world| world.client.phase() == Phase::Asking);
    // The recorded client waited for one more message.
    world.client.cancel();
    world.until(is_ready);
    let asked = world
        .updates
        .iter()
        .filter(|update| matches!(update, Update::QuestionAdded(_)));
    assert_eq!(asked.count(), 1);
}

#[test]
fn the_agent_may_die_at_any_time() {
    let path = recording("claude/permission");
    for messages in 1..12 {
        let count = messages.to_string();
        let mut world = World::start(&["--stderr", "oh no", "--die-after", &count, &path]);
        world.say("Go.");
        world.until(World::is_ended);
        let ended = world.updates.iter().any(|update| {
            matches!(update,
            Update::Ended { exit: Exit { code: Some(3), .. }, stderr } if stderr == "oh no\n")
        });
        assert!(ended, "after {messages}");
        assert_eq!(world.client.phase(), Phase::Ended);
        assert!(world.client.questions().is_empty());
    }
}

#[test]
fn the_exit_of_a_killed_agent_has_its_signal() {
    let mut world = World::start(&["--kill-after", "2"]);
    world.until(World::is_ended);
    let mut updates = world.updates.iter();
    assert!(updates.any(|update| matches!(
        update,
        Update::Ended {
            exit: Exit {
                code: None,
                signal: Some(9)
            },
            ..
        }
    )));
}

#[test]
fn a_hanging_agent_blocks_nothing() {
    let mut world = World::start(&["--hang-after", "2"]);
    world.until(is_ready);
    // Neither waits for the agent.
    world.say(&"x".repeat(8 << 20));
    world.client.cancel();
    assert!(world.client.unread_bytes() > 1 << 20);
    drop(world);
}

#[test]
fn an_agent_that_ignores_sigterm_is_killed_with_its_group() {
    let mut world = World::start(&["--ignore-term", "--spawn"]);
    world.until(is_ready);
    world.until(|world| world.client.stderr().ends_with('\n'));
    let child = world.client.stderr().trim().to_owned();
    assert!(is_alive(&child), "{child}");
    drop(world);
    assert!(!is_alive(&child), "{child}");
}

#[test]
fn orphans_of_a_dead_agent_are_ended() {
    let mut world = World::start(&["--spawn", "--die-after", "2"]);
    world.until(World::is_ended);
    let child = world.client.stderr().trim().to_owned();
    assert!(!child.is_empty() && !is_alive(&child), "{child}");
}

#[test]
fn a_flood_arrives_complete() {
    let mut world = World::start(&["--flood", "20000"]);
    world.until(is_ready);
    world.say("go");
    world.until(is_ready);
    assert!(world.text().ends_with(" 19998 19999"));
}

#[test]
fn a_line_without_a_newline_is_skipped() {
    let bytes = (65 << 20).to_string();
    let mut world = World::start(&["--big-line", &bytes]);
    world.until(is_ready);
    let mut bodies = world.bodies();
    assert!(bodies.any(
        |body| matches!(body, Body::Notice(notice) if notice.text.to_string().contains(&bytes))
    ));
}

#[test]
fn a_required_login_is_reported() {
    let mut world = World::start(&["--needs-login"]);
    world.until(|world| world.client.phase() == Phase::NeedsLogin);
    world.client.authenticate("key");
    world.until(is_ready);
}

#[test]
fn a_missing_program_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let launch = unspool_acp::Launch::new(vec![missing.into()], folder.path());
    let settings = unspool_acp::ClientConfig::new(folder.path());
    assert!(unspool_acp::Client::start(&launch, settings, |_| {}).is_err());
}
