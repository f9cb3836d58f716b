//! Calls that the agent never closed.

use super::*;
use unspool::event::ToolStatus;

fn call(world: &mut World, id: &str) {
    world.update(
        json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "make it",
        "kind": "execute", "status": "in_progress"}),
    );
    world.client.flush_held();
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

/// More is said of a call.
fn later(world: &mut World, id: &str, status: &str) -> Vec<String> {
    let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status});
    let mut updates = world.update(update);
    updates.extend(world.client.flush_held());
    told(&updates)
}

fn left(world: &World) -> Vec<&str> {
    world.client.leftover_ids().collect()
}

#[test]
fn a_completed_turn_leaves_calls_without_a_result() {
    let mut world = World::working();
    for id in ["a", "b", "c"] {
        call(&mut world, id);
    }
    assert!(left(&world).is_empty());
    assert_eq!(told(&end(&mut world)), ["turn"]);
    assert!(told(&world.client.flush_held()).is_empty());
    assert!(!world.client.has_unshown_terminal());
    assert_eq!(left(&world), ["a", "b", "c"]);
    // One that ends after all has its result, also in a later turn.
    assert_eq!(later(&mut world, "a", "completed"), ["a Ok"]);
    world.client.prompt(vec!["next".into()]);
    assert_eq!(later(&mut world, "b", "failed"), ["b Error"]);
    assert_eq!(left(&world), ["c"]);
    let updates = world.client.receive(Incoming::Exited(Exit::default()));
    assert_eq!(told(&updates), ["turn"]);
}

#[test]
fn leftover_calls_survive_a_restart_of_the_agent() {
    let mut world = World::working();
    call(&mut world, "a");
    end(&mut world);
    world.client.finish();
    assert!(told(&world.client.take_updates()).is_empty());
    let left = world.client.leftover_calls();
    let mut next = World::with(|settings| settings.leftover_calls = left);
    assert_eq!(self::left(&next), ["a"]);
    assert_ne!(again(&mut next, "a"), "a");
    assert_eq!(self::left(&next), ["a"]);
}

/// A call under an id that was there before; the id that it is told under.
fn again(world: &mut World, id: &str) -> String {
    let update = json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "other",
        "kind": "execute", "status": "in_progress"});
    let mut updates = world.update(update);
    updates.extend(world.client.flush_held());
    let [told] = told(&updates).try_into().unwrap();
    told
}

#[test]
fn a_reused_id_in_a_later_turn_is_another_call() {
    let mut world = World::working();
    call(&mut world, "a");
    end(&mut world);
    world.client.prompt(vec!["next".into()]);
    for _ in 0..2 {
        let id = again(&mut world, "a");
        assert_ne!(id, "a");
        assert_eq!(left(&world), ["a"]);
        assert_eq!(later(&mut world, "a", "completed"), [format!("{id} Ok")]);
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
    assert_eq!(told(&updates), ["b Canceled", "turn"]);
    // It was shown as it is, so it is told as a whole.
    assert_eq!(later(&mut world, "a", "completed"), ["a", "a Ok"]);
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
        assert_eq!(told(&updates), again);
    }
}

#[test]
fn a_second_answer_does_not_end_a_turn() {
    let mut world = World::working();
    assert_eq!(told(&end(&mut world)), ["turn"]);
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
    assert!(told(&world.client.flush_held()).is_empty());
    let updates = world.client.receive(Incoming::Exited(Exit::default()));
    let told = told(&updates);
    assert_eq!(told.first().unwrap(), "a Canceled", "{told:?}");
}

#[test]
fn a_failed_turn_cancels_its_open_calls_before_its_end() {
    let mut world = World::working();
    call(&mut world, "a");
    let updates = world.take(json!({"id": 2, "error": {"code": -32603, "message": "no"}}));
    assert_eq!(told(&updates), ["a Canceled", "turn"]);
    assert!(told(&world.client.flush_held()).is_empty());
}

#[test]
fn finishing_closes_all_calls() {
    let mut world = World::working();
    call(&mut world, "a");
    let shell = world.client.run_shell("sleep 100").unwrap();
    world.client.take_updates();
    world.client.finish();
    let updates = world.client.take_updates();
    let told = told(&updates);
    assert_eq!(
        told.first().unwrap(),
        &format!("{shell} {:?}", ToolStatus::Canceled)
    );
    assert_eq!(told.get(1).unwrap(), "a Canceled", "{told:?}");
}
