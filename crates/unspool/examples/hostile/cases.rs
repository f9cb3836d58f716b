//! The cases: each generates events, or an agent's output, of about the given
//! size.

use serde_json::{Value, json};
use unspool::patch;

type Case = (&'static str, fn(usize) -> String);

/// All cases by name.
pub(crate) const CASES: &[Case] = &[
    // JSON
    ("json-escapes", |size| {
        raw_answer(&r"\u001b".repeat(size / 2))
    }),
    ("json-digits", |size| {
        input(&format!("{{\"n\":{}1}}", "9".repeat(size)))
    }),
    ("json-keys", |size| input(&keys(size))),
    ("json-same-key", |size| input(&same_key(size))),
    ("json-nesting", |size| {
        input(&nested("[", "1", "]", size / 2))
    }),
    ("json-objects", |size| {
        input(&nested("{\"a\":", "1", "}", size / 6))
    }),
    ("json-in-strings", |size| input(&encoded(size))),
    ("json-output", |size| {
        output("other", &nested("[", "1", "]", size / 2))
    }),
    // Numbers that the agent chooses
    ("open-calls", open_calls),
    ("deltas", deltas),
    ("messages", messages),
    ("plan-steps", plan),
    ("agents", agents),
    // Lines and characters
    ("long-line", |size| answer(&"a".repeat(size))),
    ("long-words", |size| answer(&"word ".repeat(size / 5))),
    ("long-code-line", |size| {
        answer(&format!("```rust\n{}\n```", "a + ".repeat(size / 4)))
    }),
    ("long-output-line", |size| {
        output("execute", &"x".repeat(size))
    }),
    ("long-command", |size| command(&"x ".repeat(size / 2))),
    ("marks", |size| {
        answer(&format!("e{}", "\u{301}".repeat(size / 2)))
    }),
    ("marks-in-output", |size| {
        output(
            "execute",
            &format!("\u{1B}[me{}", "\u{301}".repeat(size / 2)),
        )
    }),
    ("joined-emoji", |size| {
        answer(&"👩\u{200D}".repeat(size / 7))
    }),
    ("flags", |size| answer(&"🇩".repeat(size / 4))),
    ("bidi", |size| command(&"\u{202E}".repeat(size / 3))),
    ("tags", |size| {
        answer(&format!("🏴{}", "\u{E0061}".repeat(size / 4)))
    }),
    // Terminal output of commands
    ("titles", |size| {
        output("execute", &"\u{1B}]0;t\u{7}".repeat(size / 6))
    }),
    ("open-title", |size| {
        output("execute", &format!("\u{1B}]0;{}", "t\n".repeat(size / 2)))
    }),
    ("sixels", |size| {
        output(
            "execute",
            &format!("\u{1B}Pq{}\u{1B}\\x", "~-".repeat(size / 2)),
        )
    }),
    ("parameters", |size| {
        output("execute", &format!("\u{1B}[{}mx", "1;".repeat(size / 2)))
    }),
    ("returns", |size| {
        output("execute", &"ab\r".repeat(size / 3))
    }),
    ("moves", |size| {
        output("execute", &"\u{1B}[A\u{1B}[99Cx\n".repeat(size / 10))
    }),
    ("far-moves", |size| {
        output("execute", &"\u{1B}[65535;65535Hx\u{1B}[H".repeat(size / 18))
    }),
    ("erasing", |size| {
        output(
            "execute",
            &format!("{}{}", "x".repeat(size / 2), "\u{1B}[1K".repeat(size / 8)),
        )
    }),
    ("colours", |size| {
        output("execute", &"\u{1B}[31mx\u{1B}[0m".repeat(size / 10))
    }),
    ("empty-end", |size| {
        output("execute", &format!("x{}", "\u{1B}[m \n".repeat(size / 5)))
    }),
    // Markdown
    ("stars", |size| answer(&"*a ".repeat(size / 3))),
    ("double-stars", |size| answer(&"**a".repeat(size / 3))),
    ("stars-and-lines", |size| answer(&"*a _".repeat(size / 4))),
    ("nested-stars", |size| {
        answer(&nested("*a ", "b", " c*", size / 6))
    }),
    ("brackets", |size| answer(&"[".repeat(size))),
    ("closed-brackets", |size| {
        answer(&nested("[", "a", "]", size / 2))
    }),
    ("images", |size| {
        answer(&nested("![", "a", "](b)", size / 6))
    }),
    ("link-openings", |size| answer(&"[a](".repeat(size / 4))),
    ("link-titles", |size| answer(&"[a](b \"".repeat(size / 7))),
    ("link-brackets", |size| answer(&"[a](<b".repeat(size / 6))),
    ("references", |size| {
        answer(&format!(
            "[a]: {}\n\n{}",
            "u".repeat(size / 2),
            "[a] ".repeat(size / 8)
        ))
    }),
    ("references-apart", |size| {
        answer(&format!(
            "[a]: {}\n\n{}",
            "u".repeat(size / 2),
            "[a]\n\n".repeat(size / 10)
        ))
    }),
    ("link-words", |size| {
        answer(&format!(
            "[{}]({})",
            "*a* b ".repeat(size / 12),
            "u".repeat(size / 2)
        ))
    }),
    ("link-rows", |size| {
        answer(&format!(
            "[{}](https://{})",
            "a ".repeat(size / 4),
            "u".repeat(size / 2)
        ))
    }),
    ("definitions", |size| {
        answer(&numbered(size, |n| format!("[a{n}]: b\n")))
    }),
    ("footnotes", |size| {
        answer(&numbered(size, |n| format!("a[^{n}]\n\n[^{n}]: b\n\n")))
    }),
    ("backticks", |size| answer(&ticks(size))),
    ("open-comments", |size| answer(&"a <!-- ".repeat(size / 7))),
    ("open-instructions", |size| {
        answer(&"a <? ".repeat(size / 5))
    }),
    ("open-declarations", |size| {
        answer(&"a <!A ".repeat(size / 6))
    }),
    ("open-cdata", |size| {
        answer(&"a <![CDATA[ ".repeat(size / 12))
    }),
    ("open-tags", |size| answer(&"<a b=\"".repeat(size / 6))),
    ("entities", |size| answer(&"&#27;&amp".repeat(size / 9))),
    ("backslashes", |size| answer(&"\\*".repeat(size / 2))),
    ("quotes", |size| {
        answer(&format!("{}a", "> ".repeat(size / 2)))
    }),
    ("quoted-lines", |size| answer(&stairs(size, "> "))),
    ("lists", |size| {
        answer(&format!("{}a", "- ".repeat(size / 2)))
    }),
    ("list-stairs", |size| {
        answer(&stairs(size, "  ").replace('a', "- a"))
    }),
    ("mixed-containers", |size| {
        answer(&format!("{}a", "1. > - ".repeat(size / 7)))
    }),
    ("wide-table", |size| answer(&table(size / 8, 1))),
    ("square-table", |size| answer(&table(size / 16, size / 4))),
    ("headings", |size| answer(&"# a\n".repeat(size / 4))),
    ("underlines", |size| answer(&"a\n=\n".repeat(size / 4))),
    ("blank-lines", |size| answer(&"\n".repeat(size))),
    ("strikes", |size| answer(&"~~a ".repeat(size / 4))),
    // Code
    ("fences", |size| {
        answer(&"```rust\nfn\n```\n".repeat(size / 15))
    }),
    ("open-strings", |size| {
        code("rust", &"\"a\n".repeat(size / 3))
    }),
    ("open-comments-in-code", |size| {
        code("rust", &"/* ".repeat(size / 3))
    }),
    ("parentheses", |size| code("rust", &"(".repeat(size))),
    ("braces", |size| {
        code("javascript", &"{[(\n".repeat(size / 4))
    }),
    ("templates", |size| {
        code("javascript", &"`${".repeat(size / 3))
    }),
    ("markup", |size| {
        code("html", &"<a b='<script>".repeat(size / 14))
    }),
    ("markdown-in-markdown", |size| {
        code("markdown", &"[a](b *c ".repeat(size / 9))
    }),
    ("yaml", |size| {
        code("yaml", &"a: &b [*b, ".repeat(size / 11))
    }),
    ("shell", |size| {
        code("bash", &"$(( \"${a:-`".repeat(size / 11))
    }),
    ("regexes", |size| {
        code("perl", &"s/(a|b)*/$x{".repeat(size / 12))
    }),
    // Diffs
    ("changed-line", |size| {
        change(&["a b ".repeat(size / 8)], &["b c ".repeat(size / 8)])
    }),
    ("changed-lines", |size| {
        change(&words(size, "a"), &words(size, "b"))
    }),
    ("other-text", |size| {
        texts(
            &numbered(size / 2, |n| format!("a{n}\n")),
            &numbered(size / 2, |n| format!("b{n}\n")),
        )
    }),
    ("turned-text", |size| {
        texts(
            &numbered(size / 2, |n| format!("a{n}\n")),
            &turned(size / 2),
        )
    }),
    ("shifting-text", |size| {
        texts(
            &numbered(size / 2, |n| format!("{}\n", n % 7)),
            &numbered(size / 2, |n| format!("{}\n", n % 5)),
        )
    }),
    ("mixed-text", |size| {
        let few = |n: usize| format!("{}\n", scattered(n) % 50);
        texts(
            &numbered(size / 2, few),
            &numbered(size / 2, |n| few(n + size)),
        )
    }),
    ("hunks", hunks),
    ("paragraphs", |size| answer(&"a\n\n".repeat(size / 3))),
    // Redaction
    ("secret-keys", |size| {
        output(
            "execute",
            &numbered(size, |n| {
                format!("-----BEGIN PRIVATE KEY-----{n:020}AAAA\n")
            }),
        )
    }),
    ("secret-words", |size| {
        let word = |n: usize| format!("{:x}+/Zz{:X}\n", scattered(n), scattered(n + 1));
        output("execute", &numbered(size, word))
    }),
    ("secret-names", |size| {
        output("execute", &numbered(size, |n| format!("token{n}=")))
    }),
    // Output of agents
    ("aider-searches", |size| {
        aider(&numbered(size, |n| format!("<<<<<<< SEARCH\nold{n}\n")))
    }),
    ("aider-patches", |size| {
        aider(&"*** Begin Patch\n".repeat(size / 16))
    }),
    ("chat-arguments", |size| {
        chat(size, |n| {
            let id = if n == 0 { "c" } else { "" };
            json!({"tool_calls": [{"index": 0, "id": id, "function": {"name": "f", "arguments": if n == 0 { "{\"a\":[" } else { "1}," }}}]})
        })
    }),
    ("chat-calls", |size| {
        chat(
            size,
            |n| json!({"tool_calls": [{"index": n, "id": format!("c{n}"), "function": {"name": "f", "arguments": "{"}}]}),
        )
    }),
    ("chat-choices", |size| {
        numbered(size, |n| {
            chunk(json!({"index": n, "delta": {"content": "a "}}))
        })
    }),
    ("response-items", |size| {
        numbered(size, |n| {
            let added = json!({"type": "response.output_item.added", "output_index": n, "item": {"id": format!("i{n}"), "type": "function_call", "call_id": format!("c{n}"), "name": "f", "arguments": ""}});
            let delta = json!({"type": "response.function_call_arguments.delta", "item_id": "none", "delta": "{"});
            format!("data: {added}\n\ndata: {delta}\n\n")
        })
    }),
    ("acp-sessions", |size| {
        line(
            json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1, "agentCapabilities": {}}}),
        ) + &numbered(size, |n| {
            let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}});
            line(
                json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": format!("s{n}"), "update": update}}),
            )
        })
    }),
];

/// Returns a message of aider's model.
fn aider(text: &str) -> String {
    format!(
        "Aider v0.86.1\nMain model: gpt-4o with diff edit format\nGit repo: .git with 3 files\n\na.py\n```\n{text}"
    )
}

/// Returns a streamed chat completion with one choice.
fn chat(size: usize, delta: impl Fn(usize) -> Value) -> String {
    numbered(size, |n| chunk(json!({"index": 0, "delta": delta(n)})))
}

fn chunk(choice: Value) -> String {
    let chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]});
    format!("data: {chunk}\n\n")
}

fn line(event: Value) -> String {
    format!("{event}\n")
}

fn answer(text: &str) -> String {
    line(json!({"kind": "text", "seq": 0, "id": "a", "text": text}))
}

/// Returns an answer whose text is already escaped as JSON.
fn raw_answer(text: &str) -> String {
    format!("{{\"kind\":\"text\",\"seq\":0,\"id\":\"a\",\"text\":\"{text}\"}}\n")
}

fn code(language: &str, text: &str) -> String {
    answer(&format!("```{language}\n{text}\n```\n"))
}

fn input(json: &str) -> String {
    format!(
        "{{\"kind\":\"tool_use\",\"seq\":0,\"id\":\"1\",\"name\":\"frob\",\"category\":\"other\",\"input\":{json}}}\n\
         {{\"kind\":\"tool_result\",\"seq\":1,\"id\":\"1\",\"name\":\"frob\",\"status\":\"ok\",\"output\":\"ok\"}}\n"
    )
}

fn output(category: &str, text: &str) -> String {
    line(
        json!({"kind": "tool_use", "seq": 0, "id": "1", "name": "frob", "category": category, "arg": "ls"}),
    ) + &line(
        json!({"kind": "tool_result", "seq": 1, "id": "1", "name": "frob", "status": "ok", "output": text}),
    )
}

fn command(command: &str) -> String {
    line(
        json!({"kind": "tool_use", "seq": 0, "id": "1", "name": "Bash", "category": "execute", "arg": command, "input": {"command": command}}),
    )
}

fn change(old: &[String], new: &[String]) -> String {
    let removed = old.iter().map(|line| format!("-{line}"));
    let lines: Vec<String> = removed
        .chain(new.iter().map(|line| format!("+{line}")))
        .collect();
    let edit = json!({"op": "update", "path": "a.rs", "hunks": [{"old_start": 1, "new_start": 1, "lines": lines}]});
    line(json!({"kind": "edit", "seq": 0, "edits": [edit]}))
}

/// Returns the computed change between two texts.
fn texts(old: &str, new: &str) -> String {
    let edit = patch::from_texts("a.txt", Some(old), new, true);
    line(json!({"kind": "edit", "seq": 0, "edits": [edit]}))
}

fn hunks(size: usize) -> String {
    let hunk = json!({"old_start": 1, "new_start": 1, "lines": ["-a", "+b"]});
    let edit = json!({"op": "update", "path": "a.rs", "hunks": vec![hunk; size / 50]});
    line(json!({"kind": "edit", "seq": 0, "edits": [edit]}))
}

fn nested(open: &str, middle: &str, close: &str, depth: usize) -> String {
    format!("{}{middle}{}", open.repeat(depth), close.repeat(depth))
}

fn numbered(size: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&line(number));
    }
    text
}

/// Returns a pseudo-random number.
fn scattered(number: usize) -> usize {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

fn turned(size: usize) -> String {
    let text = numbered(size, |n| format!("a{n}\n"));
    let mut lines: Vec<&str> = text.lines().collect();
    lines.reverse();
    lines.join("\n")
}

fn keys(size: usize) -> String {
    format!(
        "{{{}\"z\":0}}",
        numbered(size, |n| format!("\"k{n}\":{n},"))
    )
}

fn same_key(size: usize) -> String {
    format!("{{{}\"z\":0}}", "\"path\":\"a\",".repeat(size / 11))
}

/// Returns JSON in a string in a string, each level as long as all before it.
fn encoded(size: usize) -> String {
    let mut value = json!({"path": "a"}).to_string();
    while value.len() < size {
        value = json!({ "input": value }).to_string();
    }
    value
}

fn ticks(size: usize) -> String {
    let mut text = String::new();
    for count in 1.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&"`".repeat(count));
        text.push('a');
    }
    text
}

/// Returns lines, each indented by one more step, of the given total size.
fn stairs(size: usize, step: &str) -> String {
    let mut text = String::new();
    for depth in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&step.repeat(depth));
        text.push_str("a\n");
    }
    text
}

/// Returns a table of which only the header has all columns.
fn table(columns: usize, rows: usize) -> String {
    let head = "|a".repeat(columns) + "|\n" + &"|-".repeat(columns) + "|\n";
    head + &"|b|\n".repeat(rows)
}

fn words(size: usize, word: &str) -> Vec<String> {
    vec![format!("{word} {word} {word} {word}"); size / 16]
}

fn open_calls(size: usize) -> String {
    let call = |n: usize| {
        let event = json!({"kind": "tool_use", "seq": n, "id": format!("t{n}"), "name": "Bash", "category": "execute", "arg": "ls"});
        line(event)
    };
    numbered(size, call)
}

fn deltas(size: usize) -> String {
    let delta = |n: usize| {
        line(json!({"kind": "text", "seq": n, "id": "a", "text": "word ", "delta": true}))
    };
    numbered(size, delta)
}

fn messages(size: usize) -> String {
    let message = |n: usize| {
        line(
            json!({"kind": "text", "seq": n, "id": format!("m{n}"), "text": "word", "delta": true}),
        )
    };
    numbered(size, message)
}

fn agents(size: usize) -> String {
    let said = |n: usize| {
        let agent = json!({"id": format!("a{n}"), "parent": format!("t{n}"), "depth": 1 + n % 50, "name": "helper"});
        line(
            json!({"kind": "text", "seq": n, "id": format!("m{n}"), "text": "word", "agent": agent}),
        )
    };
    numbered(size, said)
}

fn plan(size: usize) -> String {
    let step = json!({"text": "a step", "status": "pending"});
    line(json!({"kind": "plan", "seq": 0, "entries": vec![step; size / 40]}))
}
