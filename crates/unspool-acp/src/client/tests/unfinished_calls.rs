//! Calls without a result.

use super::*;
use unspool::event::ToolStatus;

fn call(world: &mut World, id: &str) {
    world.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "make it",
        "kind": "execute", "status": "in_progress"}),
    );
    world.client.flush_held();
}

/// Summarizes calls by their ids, and results by ids and statuses.
fn summary(updates: &[Update]) -> Vec<String> {
    let words = |body: &Body| match body {
        Body::ToolUse(call) => Some(call.id.clone()),
        Body::ToolResult(result) => Some(format!("{} {:?}", result.id, result.status)),
        Body::TurnEnd(_) => Some("turn".to_owned()),
        _ => None,
    };
    events(updates).into_iter().filter_map(words).collect()
}

/// Completes the turn.
fn end(world: &mut World) -> Vec<Update> {
    world.take(json!({"id": 2, "result": {"stopReason": "end_turn"}}))
}

/// Updates the status of a call.
fn set_status(world: &mut World, id: &str, status: &str) -> Vec<String> {
    let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status});
    let mut updates = world.update(update);
    updates.extend(world.client.flush_held());
    summary(&updates)
}

fn leftover(world: &World) -> Vec<&str> {
    world.client.leftover_ids().collect()
}

#[test]
fn a_completed_turn_leaves_calls_without_a_result() {
    let mut world = World::working();
    for id in ["a", "b", "c"] {
        call(&mut world, id);
    }
    assert!(leftover(&world).is_empty());
    assert_eq!(summary(&end(&mut world)), ["turn"]);
    assert!(summary(&world.client.flush_held()).is_empty());
    assert!(!world.client.has_unshown_terminal());
    assert_eq!(leftover(&world), ["a", "b", "c"]);
    // A late result is accepted, in a later turn too.
    assert_eq!(set_status(&mut world, "a", "completed"), ["a Ok"]);
    world.client.prompt(vec!["next".into()]);
    assert_eq!(set_status(&mut world, "b", "failed"), ["b Error"]);
    assert_eq!(leftover(&world), ["c"]);
    let updates = world.client.receive(Incoming::Exited(Exit::default()));
    assert_eq!(summary(&updates), ["turn"]);
}

#[test]
fn leftover_calls_survive_a_restart_of_the_agent() {
    let mut world = World::working();
    call(&mut world, "a");
    end(&mut world);
    world.client.finish();
    assert!(summary(&world.client.take_updates()).is_empty());
    let left = world.client.leftover_calls();
    let mut next = World::with(|config| config.leftover_calls = left);
    assert_eq!(leftover(&next), ["a"]);
    assert_ne!(reuse_id(&mut next, "a"), "a");
    assert_eq!(leftover(&next), ["a"]);
}

/// Announces a call whose id is in use; returns the id that it gets.
fn reuse_id(world: &mut World, id: &str) -> String {
    let update = json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "other",
        "kind": "execute", "status": "in_progress"});
    let mut updates = world.update(update);
    updates.extend(world.client.flush_held());
    let [id] = summary(&updates).try_into().unwrap();
    id
}

#[test]
fn a_reused_id_in_a_later_turn_is_another_call() {
    let mut world = World::working();
    call(&mut world, "a");
    end(&mut world);
    world.client.prompt(vec!["next".into()]);
    for _ in 0..2 {
        let id = reuse_id(&mut world, "a");
        assert_ne!(id, "a");
        assert_eq!(leftover(&world), ["a"]);
        assert_eq!(
            set_status(&mut world, "a", "completed"),
            [format!("{id} Ok")]
        );
    }
}

#[test]
fn a_failed_turn_does_not_cancel_earlier_leftovers() {
    let mut world = World::working();
    call(&mut world, "a");
    end(&mut world);
    world.client.prompt(vec!["next".into()]);
    call(&mut world, "b");
    let updates = world.take(json!({"id": 3, "error": {"code": -32603, "message": "no"}}));
    assert_eq!(summary(&updates), ["b Canceled", "turn"]);
    // The failed turn closed it in views, so it is announced again.
    assert_eq!(set_status(&mut world, "a", "completed"), ["a", "a Ok"]);
}

#[test]
fn a_canceled_call_returns_only_if_it_succeeded() {
    for (status, again) in [("failed", &[] as &[&str]), ("completed", &["a", "a Ok"])] {
        let mut world = World::working();
        call(&mut world, "a");
        world.client.cancel();
        world.take(json!({"id": 2, "result": {"stopReason": "cancelled"}}));
        let late =
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "a", "status": status});
        let mut updates = world.update(late);
        updates.extend(world.client.flush_held());
        assert_eq!(summary(&updates), again);
    }
}

#[test]
fn a_second_answer_does_not_end_a_turn() {
    let mut world = World::working();
    assert_eq!(summary(&end(&mut world)), ["turn"]);
    let again = world.take(json!({"id": 2, "result": {"stopReason": "refusal"}}));
    assert!(events(&again).is_empty(), "{again:?}");
    let of_nothing = world.take(json!({"id": 99, "error": {"code": 1, "message": "x"}}));
    assert!(events(&of_nothing).is_empty(), "{of_nothing:?}");
}

#[test]
fn a_call_after_the_turn_stays_open() {
    let mut world = World::working();
    end(&mut world);
    world.client.flush_held();
    call(&mut world, "a");
    assert!(summary(&world.client.flush_held()).is_empty());
    let updates = world.client.receive(Incoming::Exited(Exit::default()));
    let summary = summary(&updates);
    assert_eq!(summary.first().unwrap(), "a Canceled", "{summary:?}");
}

#[test]
fn a_failed_turn_cancels_its_open_calls_before_its_end() {
    let mut world = World::working();
    call(&mut world, "a");
    let updates = world.take(json!({"id": 2, "error": {"code": -32603, "message": "no"}}));
    assert_eq!(summary(&updates), ["a Canceled", "turn"]);
    assert!(summary(&world.client.flush_held()).is_empty());
}

#[test]
fn finishing_closes_all_calls() {
    let mut world = World::working();
    call(&mut world, "a");
    let shell = world.client.run_shell("sleep 100").unwrap();
    world.client.take_updates();
    world.client.finish();
    let updates = world.client.take_updates();
    let summary = summary(&updates);
    assert_eq!(
        summary.first().unwrap(),
        &format!("{shell} {:?}", ToolStatus::Canceled)
    );
    assert_eq!(summary.get(1).unwrap(), "a Canceled", "{summary:?}");
}
