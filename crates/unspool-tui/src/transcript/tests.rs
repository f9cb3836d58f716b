//! The transcript pane without a terminal: its screen after events and actions.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyModifiers;
use unspool::formatter::Config;

use super::*;

/// A pane and its screen.
struct World {
    pane: Pane,
    size: (u16, u16),
}

impl World {
    fn new(size: (u16, u16), lines: &[String]) -> Self {
        let config = Config::default().with_plain_text(true);
        let detail = Detail::default().with_highlight(false);
        let formatter = Formatter::new(config);
        let mut world = Self {
            pane: Pane::new(Look { formatter, detail }),
            size,
        };
        world.tell(lines);
        world
    }

    fn tell(&mut self, lines: &[String]) {
        for line in lines {
            self.pane.event(Event::from_json(line).unwrap());
        }
    }

    fn act(&mut self, actions: &[Action]) -> &mut Self {
        self.seen();
        for action in actions {
            self.pane.act(*action);
            self.seen();
        }
        self
    }

    /// Returns the rows of the screen.
    fn seen(&mut self) -> Vec<String> {
        let (columns, rows) = self.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let pane = &mut self.pane;
        terminal
            .draw(|frame| pane.draw(frame, frame.area()))
            .unwrap();
        let buffer = terminal.backend().buffer();
        let row = |y: u16| -> String {
            let cells = (0..columns - 1).map(|x| buffer[(x, y)].symbol());
            cells.collect::<String>().trim_end().to_owned()
        };
        (0..rows).map(row).collect()
    }

    /// Returns the first selected row.
    fn marked(&mut self) -> String {
        let rows = self.seen();
        rows.into_iter()
            .find(|row| row.starts_with('▌'))
            .unwrap_or_default()
    }
}

fn text(id: usize, words: &str) -> String {
    let words = words.replace('\n', "\\n");
    format!(r#"{{"kind":"text","id":"m{id}","text":"{words}"}}"#)
}

fn user(words: &str) -> String {
    format!(r#"{{"kind":"user","text":"{words}"}}"#)
}

fn call(id: usize, output: &str, status: &str) -> [String; 2] {
    [
        format!(
            r#"{{"kind":"tool_use","id":"t{id}","name":"Bash","category":"execute","input":{{"command":"make t{id}","timeout":{id}}}}}"#
        ),
        format!(
            r#"{{"kind":"tool_result","id":"t{id}","name":"Bash","status":"{status}","output":"{output}"}}"#
        ),
    ]
}

/// Returns rounds of a prompt, twenty calls and an answer.
fn long(rounds: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for round in 0..rounds {
        lines.push(user(&format!("prompt {round}")));
        for number in 0..20 {
            let id = round * 20 + number;
            let status = if number == 7 { "error" } else { "ok" };
            lines.extend(call(id, &format!("output of {id}"), status));
        }
        lines.push(text(round, &format!("answer {round}")));
    }
    lines
}

#[test]
fn it_starts_at_the_top_and_jumps_to_the_end() {
    let mut world = World::new((60, 10), &long(50));
    assert_eq!(world.seen()[0], "▌ › prompt 0");
    world.act(&[Action::End]);
    assert_eq!(world.seen()[9], "▌ • answer 49");
    world.act(&[Action::Top]);
    assert_eq!(world.marked(), "▌ › prompt 0");
}

#[test]
fn only_visible_entries_are_laid_out() {
    let mut world = World::new((60, 10), &long(500));
    world.act(&[Action::End, Action::PreviousPrompt, Action::PreviousPrompt]);
    assert_eq!(world.marked(), "▌ › prompt 498");
    assert!(world.pane.cache.len() < 100, "{}", world.pane.cache.len());
}

#[test]
fn it_follows_the_end_until_scrolled_away() {
    let mut world = World::new((60, 10), &long(3));
    world.act(&[Action::End]);
    world.tell(&[text(100, "news")]);
    assert_eq!(world.marked(), "▌ • news");
    world.act(&[Action::Up, Action::Up, Action::Up]);
    let before = world.seen();
    world.tell(&[text(101, "later\n\nand more")]);
    let after = world.seen();
    assert_eq!(before[..9], after[..9]);
    assert!(after[9].contains("▼ more below"), "{}", after[9]);
    world.act(&[Action::End]);
    assert!(world.seen()[9].contains("and more"));
}

#[test]
fn jumps_find_prompts_errors_and_edits() {
    let mut lines = long(2);
    lines.push(
        r#"{"kind":"edit","edits":[{"op":"update","path":"a.rs","hunks":[{"old_start":1,"new_start":1,"lines":["-let a = 1;","+let b = 1;"]}]}]}"#.to_owned(),
    );
    let mut world = World::new((60, 12), &lines);
    world.act(&[Action::NextError]);
    assert_eq!(world.marked(), "▌ ✗ Ran make t7");
    world.act(&[Action::NextError]);
    assert_eq!(world.marked(), "▌ ✗ Ran make t27");
    world.act(&[Action::PreviousError, Action::NextPrompt]);
    assert_eq!(world.marked(), "▌ › prompt 1");
    world.act(&[Action::NextEdit]);
    assert_eq!(world.marked(), "▌ ✓ Edit a.rs");
}

#[test]
fn entries_are_folded_and_unfolded() {
    let lines: Vec<String> = (0..9).map(|line| format!("line {line}")).collect();
    let output = lines.join("\\n");
    let mut world = World::new((60, 16), &call(1, &output, "ok"));
    let seen = world.seen().join("\n");
    assert!(
        seen.contains("line 4") && !seen.contains("line 5"),
        "{seen}"
    );
    world.act(&[Action::Toggle]);
    let seen = world.seen().join("\n");
    assert!(
        seen.contains("line 8") && seen.contains("▸ Input"),
        "{seen}"
    );
    // The label below the heading is selected and unfolded by keys.
    world.act(&[Action::Down, Action::Toggle]);
    let seen = world.seen().join("\n");
    assert!(
        seen.contains("▾ Input") && seen.contains("timeout"),
        "{seen}"
    );
    world.act(&[Action::FoldAll]);
    let seen: Vec<String> = world.seen();
    assert_eq!(seen[..2], ["▌ ✓ Ran make t1", ""]);
    world.act(&[Action::ExpandAll]);
    assert!(world.seen().join("\n").contains("line 8"));
}

#[test]
fn thoughts_are_folded_to_their_first_line() {
    let thought = r#"{"kind":"reasoning","id":"r","text":"First I look.\nThen I leap."}"#;
    let mut world = World::new((60, 6), &[thought.to_owned()]);
    assert_eq!(world.seen()[..2], ["▌ ◦ ▸ First I look.", ""]);
    world.act(&[Action::Toggle]);
    assert!(world.seen().join("\n").contains("Then I leap."));
    world.act(&[Action::Toggle]);
    assert_eq!(world.seen()[..2], ["▌ ◦ ▸ First I look.", ""]);
    let titled = r#"{"kind":"reasoning","id":"r","text":"**Looking** hard"}"#;
    let mut world = World::new((60, 6), &[titled.to_owned()]);
    assert_eq!(world.seen()[..2], ["▌ ◦   Looking hard", ""]);
}

#[test]
fn a_resize_keeps_the_place() {
    let words: Vec<String> = (0..400).map(|word| format!("word{word}")).collect();
    let lines = [
        text(0, "before"),
        text(1, &words.join(" ")),
        text(2, "after"),
    ];
    let mut world = World::new((80, 10), &lines);
    world.act(&[Action::PageDown, Action::PageDown]);
    let first = |row: &str| {
        row.split_whitespace()
            .find(|word| word.starts_with("word"))
            .map(str::to_owned)
    };
    let top = first(&world.seen()[0]).unwrap();
    for width in [40, 61, 120, 33] {
        world.size.0 = width;
        let seen = world.seen();
        assert!(seen[0].contains(&top), "{top} at {width}: {}", seen[0]);
    }
    world.size.0 = 80;
    assert_eq!(first(&world.seen()[0]), Some(top));
}

#[test]
fn the_search_finds_folded_text() {
    let mut lines = long(30);
    lines.extend(call(9000, "a\\nb\\nc\\nd\\ne\\nf\\nthe Needle\\nh", "ok"));
    lines.extend(long(3));
    let mut world = World::new((60, 12), &lines);
    world.seen();
    world.pane.search("needle");
    while world.pane.search_words().unwrap().1 == "searching…" {
        world.pane.tick();
    }
    let seen = world.seen();
    assert!(seen.iter().any(|row| row == "▌   the Needle"), "{seen:?}");
    world.pane.search("Answer 1");
    while world.pane.search_words().unwrap().1 == "searching…" {
        world.pane.tick();
    }
    assert_eq!(world.pane.search_words().unwrap().1, "not found");
    world.pane.search("prompt 2");
    while world.pane.search_words().unwrap().1.contains(['+', '…']) {
        world.pane.tick();
    }
    world.act(&[Action::Top, Action::NextMatch]);
    assert_eq!(world.marked(), "▌ › prompt 2");
    world.act(&[Action::NextMatch]);
    assert_eq!(world.marked(), "▌ › prompt 20");
    world.act(&[Action::PreviousMatch, Action::PreviousMatch]);
    // The search wraps around.
    assert_eq!(world.marked(), "▌ › prompt 2");
    assert!(world.pane.cursor.slot > 600);
}

#[test]
fn filtered_kinds_are_hidden() {
    let mut world = World::new((60, 8), &long(3));
    world.pane.set_filter(Kinds::of(Kind::Prompt));
    let seen = world.seen();
    assert_eq!(
        seen[..6],
        ["▌ › prompt 0", "", "  › prompt 1", "", "  › prompt 2", ""]
    );
    world.pane.set_filter(Kinds::FAILED);
    assert_eq!(world.marked(), "▌ ✗ Ran make t7");
    world.pane.set_filter(Kinds::of(Kind::Plan));
    assert!(world.seen()[0].contains("no entries match the filter"));
}

#[test]
fn sub_agents_are_folded_below_their_call() {
    let agent = r#""agent":{"id":"x","parent":"task","depth":1,"name":"Explore"}"#;
    let lines = [
        r#"{"kind":"tool_use","id":"task","name":"Task","category":"task","input":{"description":"look around"}}"#.to_owned(),
        format!(r#"{{"kind":"text","id":"a","text":"inside",{agent}}}"#),
        format!(r#"{{"kind":"text","id":"b","text":"deeper",{agent}}}"#),
        text(1, "outside"),
    ];
    let mut world = World::new((60, 10), &lines);
    let seen = world.seen();
    assert!(seen.contains(&"    • inside".to_owned()), "{seen:?}");
    world.act(&[Action::Less]);
    let seen = world.seen().join("\n");
    assert!(
        !seen.contains("inside") && !seen.contains("deeper"),
        "{seen}"
    );
    assert!(seen.contains("outside"), "{seen}");
    world.act(&[Action::More]);
    assert!(world.seen().join("\n").contains("deeper"));
}

#[test]
fn a_delegated_call_ends_below_its_sub_agent() {
    let agent = |id: &str, parent: &str, depth: u32| {
        format!(r#""agent":{{"id":"{id}","parent":"{parent}","depth":{depth},"name":"{id}"}}"#)
    };
    let (outer, inner) = (agent("outer", "t1", 1), agent("inner", "t2", 2));
    let task = r#""name":"Task","category":"task""#;
    let lines = [
        format!(r#"{{"kind":"tool_use","id":"t1",{task},"input":{{"description":"outer job"}}}}"#),
        format!(
            r#"{{"kind":"tool_use","id":"t2",{task},"input":{{"description":"inner job"}},{outer}}}"#
        ),
        format!(r#"{{"kind":"text","id":"a","text":"inside",{inner}}}"#),
        format!(r#"{{"kind":"tool_result","id":"t2","status":"ok",{outer}}}"#),
        r#"{"kind":"tool_result","id":"t1","status":"ok"}"#.to_owned(),
    ];
    let mut world = World::new((60, 10), &lines);
    let shown = |world: &mut World| -> Vec<String> {
        let lines = world.seen().into_iter().map(|line| line.trim().to_owned());
        lines
            .filter(|line| line.starts_with(['▌', '•', '✓', 'o', 'i']))
            .collect()
    };
    assert_eq!(
        shown(&mut world),
        [
            "▌ • Delegating outer job",
            "• Delegating inner job",
            "• inside",
            "✓ Delegated inner job",
            "✓ Delegated outer job",
        ]
    );
    world.act(&[Action::Less, Action::Less]);
    let folded = shown(&mut world);
    assert_eq!(folded.len(), 2, "{folded:?}");
    assert!(folded[0].contains("2 entries folded"), "{folded:?}");
    assert_eq!(folded[1], "✓ Delegated outer job");
}

#[test]
fn a_call_finishes_in_place() {
    let [begin, end] = call(1, "done", "rejected");
    let mut world = World::new((60, 6), &[begin, text(1, "meanwhile")]);
    let running = world.seen();
    assert!(running[0].contains("Running make t1"), "{}", running[0]);
    assert!(running[0].ends_with("0s"), "{}", running[0]);
    assert!(world.pane.due(Instant::now()).is_some());
    world.tell(&[end]);
    let seen = world.seen();
    assert!(seen[0].starts_with("▌ ⊘ "), "{}", seen[0]);
    assert!(world.pane.due(Instant::now()).is_none());
}

#[test]
fn a_growing_answer_is_laid_out_incrementally() {
    let mut world = World::new((60, 8), &[user("go")]);
    world.pane.follow(true);
    let piece =
        |words: &str| format!(r#"{{"kind":"text","id":"a","delta":true,"text":"{words}"}}"#);
    for word in 0..300 {
        world.tell(&[piece(&format!("w{word} "))]);
        let seen = world.seen().join(" ");
        assert!(seen.contains(&format!("w{word}")), "{seen}");
    }
    let before = world.seen();
    world.tell(&[text(7, "next")]);
    world.act(&[Action::PreviousEntry]);
    let rows = world.pane.rows(1);
    assert!(rows > 20, "{rows}");
    assert!(before[7].contains("w299"));
}

#[test]
fn copied_text_has_no_wrapping_and_no_rail() {
    let words = "x".repeat(200);
    let mut world = World::new((40, 8), &[text(1, &words)]);
    world.seen();
    assert_eq!(world.pane.act(Action::Copy), Answer::Copy(words));
    let mut world = World::new((40, 8), &call(1, "one\\ntwo", "ok"));
    world.seen();
    let Answer::Copy(text) = world.pane.act(Action::Copy) else {
        panic!("a text");
    };
    assert!(
        text.starts_with("Ran make t1\n") && text.ends_with("one\ntwo"),
        "{text}"
    );
}

#[test]
fn a_click_selects_and_a_second_one_unfolds() {
    let lines: Vec<String> = (0..9).map(|line| format!("line {line}")).collect();
    let output = lines.join("\\n");
    let mut lines = vec![user("go")];
    lines.extend(call(1, &output, "ok"));
    let mut world = World::new((60, 20), &lines);
    let seen = world.seen();
    let row = seen
        .iter()
        .position(|row| row.contains("Ran make"))
        .unwrap();
    let click = MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: 5,
        row: u16::try_from(row).unwrap(),
        modifiers: KeyModifiers::NONE,
    };
    world.pane.mouse(click);
    assert_eq!(world.marked(), "▌ ✓ Ran make t1");
    world.pane.mouse(click);
    assert!(world.seen().join("\n").contains("line 8"));
}

#[test]
fn hostile_sizes_and_texts_are_harmless() {
    let mut lines = long(1);
    lines.push(text(5, "漢字 \\u001b[2J \\u202e wide"));
    lines.push(r#"{"kind":"text","id":"e","text":""}"#.to_owned());
    for size in [(1, 1), (2, 3), (5, 2), (30, 4), (40, 12)] {
        let mut world = World::new(size, &lines);
        for row in keys_of_all() {
            world.act(&[row]);
        }
        let seen = world.seen().join("\n");
        assert!(!seen.contains('\u{1b}') && !seen.contains('\u{202e}'));
    }
}

fn keys_of_all() -> impl Iterator<Item = Action> {
    crate::keys::TABLE.iter().map(|row| row.action)
}

#[test]
fn hidden_entries_are_not_counted() {
    let mut world = World::new((60, 10), &long(3));
    assert_eq!(world.pane.position(), "1/66");
    world.pane.set_filter(Kinds::of(Kind::Prompt));
    world.seen();
    assert_eq!(world.pane.position(), "1/3");
    world.act(&[Action::NextEntry]);
    assert_eq!(world.pane.position(), "2/3");
    world.pane.set_filter(Kinds::FAILED);
    world.act(&[Action::Top]);
    assert_eq!(world.pane.position(), "1/3");
}

#[test]
fn usage_is_in_the_status_line_unless_the_filter_shows_it() {
    let usage = r#"{"kind":"usage","input_tokens":52000,"output_tokens":900}"#;
    let end = r#"{"kind":"turn_end","status":"completed"}"#;
    let lines = [
        user("go"),
        text(1, "done"),
        usage.to_owned(),
        end.to_owned(),
    ];
    let mut world = World::new((60, 10), &lines);
    world.pane.finish();
    let rows = world.seen().join("\n");
    assert!(rows.contains("done") && !rows.contains("Usage"), "{rows}");
    assert!(!world.pane.filter().is_filter());
    assert_eq!(world.pane.facts().figures(), ["↑52k ↓900"]);
    world.pane.set_filter(Kinds::ALL);
    let rows = world.seen().join("\n");
    assert!(rows.contains("Usage: "), "{rows}");
    world
        .pane
        .set_filter(Kinds::DEFAULT.toggled(Kinds::of(Kind::Tool)));
    assert!(world.pane.filter().is_filter());
}

#[test]
fn a_search_shows_position_and_count() {
    let mut world = World::new((60, 10), &long(3));
    world.seen();
    world.pane.search("answer");
    let told = |world: &World| world.pane.search_words().unwrap().1;
    while told(&world).contains(['+', '…']) {
        world.pane.tick();
    }
    world.seen();
    assert_eq!(told(&world), "1 of 3 entries");
    world.act(&[Action::NextMatch, Action::NextMatch]);
    assert_eq!(told(&world), "3 of 3 entries");
    world.act(&[Action::PreviousMatch]);
    assert_eq!(told(&world), "2 of 3 entries");
    // It is not a match elsewhere.
    world.act(&[Action::Top]);
    assert_eq!(told(&world), "3 entries");
}

#[test]
fn a_long_prompt_is_cut_until_unfolded() {
    let of = |lines: usize, pad: usize| {
        let row = |number: usize| format!("row {number:<pad$}").trim_end().to_owned();
        let row = |number: usize| {
            if pad > 0 {
                format!("{:.<15}", row(number))
            } else {
                row(number)
            }
        };
        let lines: Vec<String> = (0..lines).map(row).collect();
        user(&lines.join("\\n"))
    };
    for (count, pad) in [(60, 0), (60_000, 0), (60_000, 1)] {
        let mut world = World::new((60, 40), &[of(count, pad), text(1, "understood")]);
        let rows = world.seen();
        assert!(rows[0].starts_with("▌ › row 0"), "{rows:?}");
        assert!(rows[11].starts_with("▌   row 11"), "{rows:?}");
        let more = format!("… +{} lines", count - 12);
        assert!(rows[12].ends_with(&more), "{count}: {rows:?}");
        assert!(rows[14].contains("understood"), "{rows:?}");
        world.act(&[Action::Toggle]);
        let rows = world.seen();
        assert!(rows[39].contains("row 39"), "{rows:?}");
        world.act(&[Action::Toggle]);
        assert!(world.seen()[12].ends_with(&more));
        world.act(&[Action::Less]);
        assert!(world.seen()[3].contains("understood"), "{:?}", world.seen());
    }
}
