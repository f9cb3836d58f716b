//! Registers a custom provider through the public API, following the steps in
//! ARCHITECTURE.md.

use unspool::event::{Body, Category, Session, TurnEnd};
use unspool::source::{Call, Emitter, Outcome, Provider, Source};
use unspool::{Frame, Reader, ReaderOptions};

/// Reads lines such as `{"toy":"say","words":"hi"}`.
const TOY: Provider = Provider::new("toy", |probe| probe.has(&["toy"]), || Box::new(Toy))
    .with_about("a provider for this test")
    .with_example("toy | unspool events --from toy")
    .with_tools(&[(Category::Read, &["look_at"])]);

#[derive(Clone)]
struct Toy;

impl Source for Toy {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Emitter) {
        let Some(json) = frame.json() else {
            return out.unknown(frame);
        };
        let fields = json.object();
        match fields.get("toy").str().as_deref() {
            Some("hello") => out.session(Session::new("toy")),
            Some("say") => out.text_delta(None, &fields.get("words").string()),
            Some("do") => {
                out.tool_use(Call::new("1", "look_at").with_input(fields.get("with")));
                out.tool_result("1", Outcome::default());
            }
            Some("bye") => out.turn_end(TurnEnd::default()),
            _ => out.unknown(frame),
        }
    }
}

fn toy_reader() -> Reader {
    Reader::with_options(ReaderOptions::default().with_provider(&TOY))
}

#[test]
fn a_new_provider_is_recognised_and_translated() {
    let mut reader = toy_reader();
    reader.push(b"noise\n{\"toy\":\"hello\"}\n{\"toy\":\"say\",\"words\":\"hi\"}\n");
    reader.push(b"{\"toy\":\"do\",\"with\":{\"path\":\"a.rs\"}}\n{\"toy\":7}\n{\"toy\":\"bye\"}");
    reader.finish();
    let events: Vec<_> = reader.events().collect();
    let kinds: Vec<_> = events.iter().map(|event| event.body.kind()).collect();
    assert_eq!(
        kinds,
        [
            "unknown",
            "session",
            "text",
            "tool_use",
            "tool_result",
            "unknown",
            "turn_end"
        ]
    );
    let Body::ToolUse(call) = &events[3].body else {
        panic!("no call");
    };
    assert_eq!((call.category, call.arg.as_str()), (Category::Read, "a.rs"));
    assert_eq!(reader.provider().map(|provider| provider.name), Some("toy"));
}

#[test]
fn a_truncated_run_of_a_new_provider_is_interrupted() {
    let mut reader = toy_reader();
    reader.push(b"{\"toy\":\"say\",\"words\":\"hi\"}\n");
    reader.finish();
    let last = reader.events().last();
    assert_eq!(last.map(|event| event.body.kind()), Some("turn_end"));
}

#[test]
fn a_new_provider_is_recognised_by_the_beginning_of_a_file() {
    let line = b"{\"toy\":\"hello\"}\n";
    let name = |providers: &[Provider]| {
        unspool::recognise(line, false, providers).map(|provider| provider.name)
    };
    assert_eq!(name(&[TOY]), Some("toy"));
    assert_eq!(name(unspool::source::BUILTIN), None);
}
