//! Generates a deterministic stream of Claude Code: answers, reasoning, and
//! calls whose outputs are mostly a few kilobytes and sometimes forty.

use serde_json::json;

/// Generates about `size` bytes of stream-json.
pub(crate) fn claude(size: usize) -> Vec<u8> {
    let mut stream = Stream {
        bytes: Vec::with_capacity(size + (1 << 16)),
        random: 42,
        calls: 0,
    };
    stream.line(&json!({
        "type": "system", "subtype": "init", "cwd": "/home/user/project", "session_id": "s",
        "model": "model", "tools": ["Bash", "Read"], "claude_code_version": "2.1.0",
    }));
    while stream.bytes.len() < size {
        stream.turn();
    }
    stream.line(&json!({"type": "result", "subtype": "success", "is_error": false, "result": "", "session_id": "s"}));
    stream.bytes
}

struct Stream {
    bytes: Vec<u8>,
    random: u64,
    calls: u64,
}

impl Stream {
    fn line(&mut self, value: &serde_json::Value) {
        self.bytes.extend(value.to_string().into_bytes());
        self.bytes.push(b'\n');
    }

    /// Returns the next random number below `limit` (a linear congruential
    /// generator).
    fn below(&mut self, limit: u64) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % limit
    }

    fn turn(&mut self) {
        let words = self.words(40);
        self.assistant(json!({"type": "text", "text": words}));
        if self.below(4) == 0 {
            let words = self.words(80);
            self.assistant(json!({"type": "thinking", "thinking": words, "signature": "c2ln"}));
        }
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        let command = format!("grep -rn {} src", self.words(1));
        self.assistant(
            json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}),
        );
        let output = self.output();
        self.line(&json!({
            "type": "user", "session_id": "s", "parent_tool_use_id": null,
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": output, "is_error": false}]},
            "tool_use_result": {"stdout": output, "stderr": "", "interrupted": false},
        }));
    }

    fn assistant(&mut self, block: serde_json::Value) {
        let id = format!("msg_{}", self.calls);
        self.line(&json!({
            "type": "assistant", "session_id": "s", "parent_tool_use_id": null,
            "message": {"id": id, "type": "message", "role": "assistant", "model": "model",
                "content": [block], "stop_reason": null,
                "usage": {"input_tokens": 12, "output_tokens": 34}},
        }));
    }

    fn words(&mut self, count: usize) -> String {
        const WORDS: &[&str] = &[
            "reader", "frame", "`event`", "text", "call", "漢字", "result", "**plan**",
        ];
        let words: Vec<&str> = (0..count)
            .filter_map(|_| {
                WORDS
                    .get(usize::try_from(self.below(WORDS.len() as u64)).ok()?)
                    .copied()
            })
            .collect();
        words.join(" ")
    }

    fn output(&mut self) -> String {
        let lines = match self.below(20) {
            0 => 800,
            1..5 => 120,
            _ => 30,
        };
        let lines: Vec<String> = (0..lines)
            .map(|number| {
                format!(
                    "src/{}.rs:{number}:\tlet x = \"{}\";",
                    self.words(1),
                    self.words(3)
                )
            })
            .collect();
        lines.join("\n")
    }
}
