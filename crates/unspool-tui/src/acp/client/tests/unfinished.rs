//! Calls that the agent never closed.

use super::*;
use unspool::event::ToolStatus;

fn call(world: &mut World, id: &str) {
    world.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "make it",
        "kind": "execute", "status": "in_progress"}),
    );
    world.client.quiet();
}

/// The ids of calls that are told, and those of ends with how they ended.
fn told(updates: &[Update]) -> Vec<String> {
    let words = |body: &Body| match body {
        Body::ToolUse(call) => Some(call.id.clone()),
        Body::ToolResult(result) => Some(format!("{} {:?}", result.id, result.status)),
        Body::TurnEnd(_) => Some("turn".to_owned()),
        _ => None,
    };
    events(updates).into_iter().filter_map(words).collect()
}

/// The turn ends well.
fn end(world: &mut World) -> Vec<Update> {
    world.take(json!({"id": 2, "result": {"stopReason": "end_turn"}}))
}

#[test]
fn what_a_turn_left_open_is_given_up_after_a_moment() {
    let mut world = World::working();
    call(&mut world, "a");
    call(&mut world, "b");
    assert_eq!(told(&end(&mut world)), ["turn"]);
    // What comes right behind the turn is in time.
    let late =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "a", "status": "completed"});
    let mut updates = world.update(late);
    updates.extend(world.client.quiet());
    assert_eq!(told(&updates), ["a Ok"]);
    assert!(world.client.is_unsettled());
    std::thread::sleep(super::super::unfinished::MOMENT);
    assert_eq!(told(&world.client.quiet()), ["b Canceled"]);
    assert!(told(&world.client.quiet()).is_empty(), "once");
    assert!(!world.client.is_unsettled());
    // One that ends after all is told as a whole.
    let late =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "b", "status": "completed"});
    let mut updates = world.update(late);
    updates.extend(world.client.quiet());
    assert_eq!(told(&updates), ["b", "b Ok"]);
}

#[test]
fn what_was_canceled_is_told_again_only_if_it_was_done() {
    for (status, again) in [("failed", &[] as &[&str]), ("completed", &["a", "a Ok"])] {
        let mut world = World::working();
        call(&mut world, "a");
        world.client.cancel();
        world.take(json!({"id": 2, "result": {"stopReason": "cancelled"}}));
        let late =
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "a", "status": status});
        let mut updates = world.update(late);
        updates.extend(world.client.quiet());
        assert_eq!(told(&updates), again);
    }
}

#[test]
fn a_second_answer_ends_no_turn() {
    let mut world = World::working();
    assert_eq!(told(&end(&mut world)), ["turn"]);
    let again = world.take(json!({"id": 2, "result": {"stopReason": "refusal"}}));
    assert!(events(&again).is_empty(), "{again:?}");
    let of_nothing = world.take(json!({"id": 99, "error": {"code": 1, "message": "x"}}));
    assert!(events(&of_nothing).is_empty(), "{of_nothing:?}");
}

#[test]
fn what_begins_after_a_turn_runs_on() {
    let mut world = World::working();
    end(&mut world);
    world.client.quiet();
    call(&mut world, "a");
    assert!(told(&world.client.quiet()).is_empty());
    let updates = world.client.take(Incoming::Exited(Exit::default()));
    let told = told(&updates);
    assert_eq!(told.first().unwrap(), "a Canceled", "{told:?}");
}

#[test]
fn what_a_turn_that_failed_left_open_is_given_up_before_its_end() {
    let mut world = World::working();
    call(&mut world, "a");
    let updates = world.take(json!({"id": 2, "error": {"code": -32603, "message": "no"}}));
    assert_eq!(told(&updates), ["a Canceled", "turn"]);
    assert!(told(&world.client.quiet()).is_empty());
}

#[test]
fn all_is_told_to_its_end_when_the_agent_is_ended() {
    let mut world = World::working();
    call(&mut world, "a");
    let shell = world.client.shell("sleep 100").unwrap();
    world.client.drain();
    world.client.conclude();
    let updates = world.client.drain();
    let told = told(&updates);
    assert_eq!(
        told.first().unwrap(),
        &format!("{shell} {:?}", ToolStatus::Canceled)
    );
    assert_eq!(told.get(1).unwrap(), "a Canceled", "{told:?}");
}
