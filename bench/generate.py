#!/usr/bin/env python3
"""Generates a run of Claude Code, deterministically.

    generate.py MEGABYTES [--shape stream|partial|session|answer|diff] [--seed N] [--ascii]

`stream` is the output of `claude -p --output-format stream-json --verbose`,
`partial` the same with `--include-partial-messages`, `session` the format saved
under `~/.claude/projects`; `answer` is only an answer in Markdown, and `diff` only
a diff of many files. The fields are those of the recordings in
`tests/corpus/claude`; the text is random words. Of ten turns three read a file,
three run a command, two change a file and two search; outputs have from a few
to a thousand lines. `--ascii` uses only ASCII, for programs that fail on other
characters.
"""

import argparse
import datetime
import json
import random
import sys
import uuid

NOUNS = """account anchor archive balance branch bridge budget cabin canvas carbon
catalog circle column compass copper corner cotton cousin crystal decade desert
diagram dinner domain engine estate fabric feather figure forest fossil galaxy
garden gravel harbor helmet horizon insect island jacket kernel ladder lantern
ledger lemon magnet marble meadow mirror museum needle number orchard oyster
packet palace pencil pillar planet pocket ribbon river saddle shadow signal
silver spiral summer symbol temple ticket timber tunnel valley vessel violin
window winter""".split()
FOREIGN = ["Größe", "naïve", "東京タワー", "한국어", "✓", "→", "🚀", "👍🏽", "…"]
COMMANDS = ["cargo test", "git diff --stat", "ls -la src", "npm run build", "grep -rn TODO src"]


class Run:
    def __init__(self, shape, seed, ascii_only):
        self.shape, self.random, self.ascii = shape, random.Random(seed), ascii_only
        self.session, self.parent = self.uuid(), None
        self.clock = datetime.datetime(2026, 1, 5, 9, 0, tzinfo=datetime.timezone.utc)
        self.calls, self.message, self.piece = 0, "", None

    def uuid(self):
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def chance(self, share):
        return self.random.random() < share

    # Text

    def words(self, least, most):
        words = self.random.choices(NOUNS, k=self.random.randint(least, most))
        if not self.ascii and self.chance(0.05):
            words.append(self.random.choice(FOREIGN))
        return words

    def sentence(self):
        words = self.words(5, 16)
        if self.chance(0.2):
            words[0] = f"`{words[0]}::{words[-1]}`"
        if self.chance(0.1):
            words[-1] = f"**{words[-1]}**"
        return " ".join(words).capitalize() + "."

    def paragraph(self):
        return " ".join(self.sentence() for _ in range(self.random.randint(1, 5)))

    def code(self, lines):
        forms = [
            "    let {0} = {1}.get(\"{2}\")?;", "    // {0} {1} {2}", "fn {0}({1}: &str) -> {2} {{",
            "}}", "", "\tif {0} > {3} {{", "        self.{0}.push({1}[{3}]);",
        ]
        form = lambda: self.random.choice(forms).format(*self.words(3, 3)[:3], self.random.randrange(900))
        return [form() for _ in range(lines)]

    def answer(self):
        parts = [self.paragraph()]
        if self.chance(0.4):
            parts.insert(0, "## " + " ".join(self.words(2, 5)).title())
        if self.chance(0.4):
            parts.append("\n".join(f"- {self.sentence()}" for _ in range(self.random.randint(2, 6))))
        if self.chance(0.25):
            parts.append("\n".join(["```rust", *self.code(self.random.randint(3, 25)), "```"]))
        if self.chance(0.1):
            rows = [f"| {self.words(1, 1)[0]} | {self.random.randrange(999)} |" for _ in range(4)]
            parts.append("\n".join(["| Name | Count |", "|---|---:|", *rows]))
        return "\n\n".join(parts)

    def output(self):
        """Returns the output of a command, sometimes with colours."""
        lines = min(1000, max(2, int(self.random.lognormvariate(3.6, 1.1))))
        printed = self.code(lines) if self.chance(0.5) else [
            f"src/{self.words(1, 1)[0]}.rs:{number}: {' '.join(self.words(3, 9))}" for number in range(lines)
        ]
        if self.chance(0.15):
            printed = [f"\x1b[32mok\x1b[0m {line}" for line in printed]
        return "\n".join(printed)

    def diff(self):
        """Returns the diff of one file."""
        path, hunks, line = f"src/{self.words(1, 1)[0]}.rs", [], 1
        for _ in range(self.random.randint(1, 6)):
            line += self.random.randint(5, 200)
            kept, old, new = (self.code(self.random.randint(1, 8)) for _ in range(3))
            hunks += [f"@@ -{line},{len(kept) + len(old)} +{line},{len(kept) + len(new)} @@",
                      *(" " + text for text in kept), *("-" + text for text in old), *("+" + text for text in new)]
            line += len(kept) + len(old)
        return "\n".join([f"diff --git a/{path} b/{path}", f"--- a/{path}", f"+++ b/{path}", *hunks, ""])

    # Lines

    def envelope(self, line):
        self.clock += datetime.timedelta(milliseconds=self.random.randint(50, 4000))
        if self.shape != "session":
            return {**line, "session_id": self.session, "parent_tool_use_id": None, "uuid": self.uuid()}
        own = self.uuid()
        envelope = {
            "parentUuid": self.parent, "isSidechain": False, "userType": "external",
            "cwd": "/home/user/project", "sessionId": self.session, "version": "2.1.0",
            "gitBranch": "main", **line, "uuid": own,
            "timestamp": self.clock.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        self.parent = own
        return envelope

    def assistant(self, block):
        if self.shape == "partial" and block["type"] in ("text", "thinking"):
            yield from self.deltas(block)
        usage = {"input_tokens": self.random.randrange(900), "output_tokens": self.random.randrange(2000),
                 "cache_read_input_tokens": self.random.randrange(90000), "cache_creation_input_tokens": 0}
        message = {"id": self.message, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                   "content": [block], "stop_reason": None, "stop_sequence": None, "usage": usage}
        yield self.envelope({"type": "assistant", "message": message})

    def deltas(self, block):
        kind = block["type"]
        event = lambda event: self.envelope({"type": "stream_event", "event": event})
        yield event({"type": "message_start", "message": {"id": self.message, "role": "assistant", "content": []}})
        yield event({"type": "content_block_start", "index": 0, "content_block": {"type": kind, kind: ""}})
        text, start = block[kind], 0
        while start < len(text):
            end = start + (self.piece or self.random.randint(2, 20))
            delta = {"type": f"{kind}_delta", kind: text[start:end]}
            yield event({"type": "content_block_delta", "index": 0, "delta": delta})
            start = end
        yield event({"type": "content_block_stop", "index": 0})

    def result(self, call, content, details, failed=False):
        block = {"tool_use_id": call, "type": "tool_result", "content": content}
        if failed:
            block["is_error"] = True
        line = {"type": "user", "message": {"role": "user", "content": [block]}}
        key = "toolUseResult" if self.shape == "session" else "tool_use_result"
        return self.envelope({**line, key: details})

    def call(self):
        self.calls += 1
        call = f"toolu_{self.calls:08}"
        path = f"/home/user/project/src/{self.words(1, 1)[0]}.rs"
        use = lambda name, arguments: self.assistant(
            {"type": "tool_use", "id": call, "name": name, "input": arguments})
        kind = self.random.randrange(10)
        if kind < 3:
            text = self.code(min(2000, int(self.random.lognormvariate(4.2, 0.9)) + 1))
            shown = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(text, 1))
            yield from use("Read", {"file_path": path})
            yield self.result(call, shown, {"type": "text", "file": {
                "filePath": path, "content": "\n".join(text), "numLines": len(text),
                "startLine": 1, "totalLines": len(text)}})
        elif kind < 6:
            output, failed = self.output(), self.chance(0.05)
            yield from use("Bash", {"command": self.random.choice(COMMANDS), "description": self.sentence()})
            if failed:
                yield self.result(call, "Exit code 1\n" + output, "Error: Exit code 1\n" + output, True)
            else:
                yield self.result(call, output, {"stdout": output, "stderr": "", "interrupted": False, "isImage": False})
        elif kind < 8:
            old, new = self.code(self.random.randint(1, 8)), self.code(self.random.randint(1, 8))
            start = self.random.randint(1, 400)
            hunk = {"oldStart": start, "oldLines": len(old) + 1, "newStart": start, "newLines": len(new) + 1,
                    "lines": [" {", *("-" + line for line in old), *("+" + line for line in new)]}
            arguments = {"file_path": path, "old_string": "\n".join(old), "new_string": "\n".join(new)}
            yield from use("Edit", arguments)
            yield self.result(call, f"The file {path} has been updated.", {
                "filePath": path, "oldString": arguments["old_string"], "newString": arguments["new_string"],
                "originalFile": "\n".join(self.code(self.random.randint(20, 200))), "structuredPatch": [hunk],
                "userModified": False, "replaceAll": False})
        else:
            found = "\n".join(f"src/{word}.rs" for word in self.words(5, 40))
            yield from use("Grep", {"pattern": self.words(1, 1)[0], "path": "src"})
            yield self.result(call, found, {"mode": "files_with_matches", "content": found, "numFiles": 9})

    def lines(self):
        if self.shape != "session":
            yield {"type": "system", "subtype": "init", "cwd": "/home/user/project", "session_id": self.session,
                   "tools": ["Bash", "Read", "Edit", "Grep"], "mcp_servers": [], "model": "claude-sonnet-4-5",
                   "permissionMode": "default", "claude_code_version": "2.1.0", "uuid": self.uuid()}
        prompt = {"role": "user", "content": self.paragraph()}
        yield self.envelope({"type": "user", "message": prompt})
        while True:
            self.message = f"msg_{self.random.getrandbits(64):016x}"
            if self.chance(0.25):
                yield from self.assistant({"type": "thinking", "thinking": self.paragraph(), "signature": "c2ln"})
            if self.chance(0.6):
                yield from self.assistant({"type": "text", "text": self.answer()})
            for _ in range(self.random.randint(1, 3)):
                yield from self.call()

    def end(self):
        return {"type": "result", "subtype": "success", "is_error": False, "duration_ms": 60000,
                "num_turns": 1, "result": "Done.", "session_id": self.session, "total_cost_usd": 0.5,
                "usage": {"input_tokens": 10, "output_tokens": 20}, "uuid": self.uuid()}


def text(megabytes, shape, seed=1):
    """Returns an answer or a diff of about this size."""
    run, parts, size = Run(shape, seed, False), [], 0
    while size < megabytes * 1_000_000:
        parts.append(run.answer() + "\n\n" if shape == "answer" else run.diff())
        size += len(parts[-1].encode())
    return "".join(parts)


def encode(line):
    return (json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def write_message(out, answer, piece=None):
    """Writes a run with only this answer, at once or in deltas of `piece` characters."""
    run = Run("partial" if piece else "stream", 1, False)
    run.message, run.piece = "msg_1", piece
    out.writelines(encode(line) for line in run.assistant({"type": "text", "text": answer}))
    out.write(encode(run.end()))


def write(out, megabytes, shape="stream", seed=1, ascii_only=False):
    """Writes about this size to a binary file."""
    if shape in ("answer", "diff"):
        out.write(text(megabytes, shape, seed).encode())
        return
    run, size = Run(shape, seed, ascii_only), 0
    for line in run.lines():
        size += out.write(encode(line))
        if size >= megabytes * 1_000_000:
            break
    if shape != "session":
        out.write(encode(run.end()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("megabytes", type=float)
    parser.add_argument("--shape", choices=["stream", "partial", "session", "answer", "diff"], default="stream")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ascii", action="store_true")
    options = parser.parse_args()
    write(sys.stdout.buffer, options.megabytes, options.shape, options.seed, options.ascii)


if __name__ == "__main__":
    main()
