//! Agents that misbehave, and what becomes of their processes.

use unspool::event::Body;
use unspool_acp::{Answer, Exit, Phase, Update};

use crate::world::World;

fn recording(name: &str) -> String {
    fake_agent::recording(name).to_str().unwrap().to_owned()
}

fn is_ready(world: &World) -> bool {
    world.client.phase() == Phase::Ready
}

/// Whether a process runs.
fn is_alive(process: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat"));
    status.is_ok_and(|status| !status.contains(") Z"))
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
fn noise_of_every_kind_changes_nothing() {
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
fn questions_that_are_asked_twice_are_answered_twice() {
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
fn an_agent_may_die_at_any_time() {
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
fn an_agent_that_is_killed_says_by_what() {
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
fn an_agent_that_hangs_stops_nobody() {
    let mut world = World::start(&["--hang-after", "2"]);
    world.until(is_ready);
    // Neither of them waits for the agent.
    world.say(&"x".repeat(8 << 20));
    world.client.cancel();
    assert!(world.client.unread_bytes() > 1 << 20);
    drop(world);
}

#[test]
fn an_agent_that_does_not_want_to_end_is_ended_with_all_that_it_started() {
    let mut world = World::start(&["--ignore-term", "--spawn"]);
    world.until(is_ready);
    world.until(|world| world.client.stderr().ends_with('\n'));
    let child = world.client.stderr().trim().to_owned();
    assert!(is_alive(&child), "{child}");
    drop(world);
    assert!(!is_alive(&child), "{child}");
}

#[test]
fn what_an_agent_leaves_behind_is_ended_when_it_dies() {
    let mut world = World::start(&["--spawn", "--die-after", "2"]);
    world.until(World::is_ended);
    let child = world.client.stderr().trim().to_owned();
    assert!(!child.is_empty() && !is_alive(&child), "{child}");
}

#[test]
fn a_flood_arrives_whole() {
    let mut world = World::start(&["--flood", "20000"]);
    world.until(is_ready);
    world.say("go");
    world.until(is_ready);
    assert!(world.text().ends_with(" 19998 19999"));
}

#[test]
fn a_line_without_an_end_is_skipped() {
    let bytes = (65 << 20).to_string();
    let mut world = World::start(&["--big-line", &bytes]);
    world.until(is_ready);
    let mut bodies = world.bodies();
    assert!(bodies.any(
        |body| matches!(body, Body::Notice(notice) if notice.text.to_string().contains(&bytes))
    ));
}

#[test]
fn a_login_is_asked_for() {
    let mut world = World::start(&["--needs-login"]);
    world.until(|world| world.client.phase() == Phase::NeedsLogin);
    world.client.authenticate("key");
    world.until(is_ready);
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let launch = unspool_acp::Launch::new(vec![missing.into()], folder.path());
    let settings = unspool_acp::ClientConfig::new(folder.path());
    assert!(unspool_acp::Client::start(&launch, settings, |_| {}).is_err());
}
