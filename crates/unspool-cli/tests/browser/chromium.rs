//! A real browser: Chromium without a window, spoken to in its `DevTools` protocol
//! over two named pipes (JSON messages, each with a NUL behind it).
//!
//! A [`Tab`] collects what must not happen: requests other than for the page,
//! errors of scripts, breaches of the policy, dialogs.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_mins(1);

/// Programs that are Chromium; the first one installed is started.
const NAMES: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

pub(crate) struct Tab {
    child: Child,
    commands: File,
    answers: Receiver<Value>,
    session: String,
    count: u64,
    /// Events that nobody waited for.
    events: Vec<Value>,
    _folder: tempfile::TempDir,
}

impl Tab {
    /// Starts a browser with one empty tab of 1280 by 900 points.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (commands, answers) = (folder.path().join("in"), folder.path().join("out"));
        let made = Command::new("mkfifo").args([&commands, &answers]).status();
        assert!(made.unwrap().success());
        let child = start(folder.path());
        let commands = File::options().write(true).open(commands).unwrap();
        let mut tab = Self {
            child,
            commands,
            answers: messages(File::open(answers).unwrap()),
            session: String::new(),
            count: 0,
            events: Vec::new(),
            _folder: folder,
        };
        let target = tab.call("Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let attached = tab.call("Target.attachToTarget", target);
        attached["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut tab.session);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab.resize(1280, 900);
        tab
    }

    /// Sends a command and waits for its result.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.count += 1;
        let mut message = json!({"id": self.count, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        self.commands
            .write_all(message.to_string().as_bytes())
            .unwrap();
        self.commands.write_all(b"\0").unwrap();
        loop {
            let answer = self.answers.recv_timeout(PATIENCE).unwrap();
            if answer["id"] == self.count {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    /// Opens a file and waits until it is loaded.
    pub(crate) fn open(&mut self, page: &Path, fragment: &str) {
        let url = format!("file://{}{fragment}", page.display());
        self.events.clear();
        // A page with another fragment alone would not be loaded again.
        self.call("Page.navigate", json!({"url": "about:blank"}));
        self.wait_for("Page.loadEventFired");
        self.events.clear();
        self.call("Page.navigate", json!({"url": url}));
        self.wait_for("Page.loadEventFired");
    }

    fn wait_for(&mut self, method: &str) {
        while !self.events.iter().any(|event| event["method"] == method) {
            let event = self.answers.recv_timeout(PATIENCE).unwrap();
            self.events.push(event);
        }
    }

    /// The value of an expression.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let parameters =
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call("Runtime.evaluate", parameters);
        assert!(
            result["exceptionDetails"].is_null(),
            "{expression}: {result}"
        );
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn until(&mut self, expression: &str) {
        let wait = format!(
            "new Promise(done => {{ const look = () => ({expression}) ? done(true) : setTimeout(look, 20); \
             look(); setTimeout(() => done(false), 20000); }})"
        );
        assert_eq!(self.eval(&wait), true, "{expression}");
    }

    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// The system prefers dark colours.
    pub(crate) fn scheme(&mut self, scheme: &str) {
        let feature = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": feature}));
    }

    /// Types characters, one key at a time.
    pub(crate) fn keys(&mut self, keys: &str) {
        for key in keys.chars() {
            let key = key.to_string();
            let down = json!({"type": "keyDown", "key": key, "text": key});
            self.call("Input.dispatchKeyEvent", down);
            self.call(
                "Input.dispatchKeyEvent",
                json!({"type": "keyUp", "key": key}),
            );
        }
    }

    /// Clicks into the middle of an element.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.eval(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'center'}}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let click = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", click);
        }
    }

    /// Fails if the page asked for anything, ran anything it should not have, or
    /// reported an error.
    pub(crate) fn was_quiet(&mut self) {
        self.eval("1");
        for event in &self.events {
            let params = &event["params"];
            let is_loud = match event["method"].as_str().unwrap_or_default() {
                "Network.requestWillBeSent" => {
                    params["type"] != "Document" || !params["redirectResponse"].is_null()
                }
                "Runtime.exceptionThrown"
                | "Runtime.consoleAPICalled"
                | "Page.javascriptDialogOpening" => true,
                "Log.entryAdded" => {
                    params["entry"]["level"] == "error" || params["entry"]["source"] == "security"
                }
                _ => false,
            };
            assert!(!is_loud, "{event}");
        }
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the browser with its ends of the pipes as descriptors 3 and 4.
fn start(folder: &Path) -> Child {
    let is_there = |name: &&str| {
        Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .status()
            .is_ok()
    };
    let name = NAMES
        .iter()
        .find(|name| is_there(name))
        .unwrap_or_else(|| panic!("Chromium is missing: `cargo xtask test` installs it"));
    let script = "exec \"$0\" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
         --no-first-run --disable-extensions --disable-background-networking --user-data-dir=\"$1/profile\" \
         --remote-debugging-pipe about:blank 3<\"$1/in\" 4>\"$1/out\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, name]).arg(folder);
    command
        .env("HOME", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

fn messages(pipe: File) -> Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for message in BufReader::new(pipe).split(0) {
            let Ok(message) = message else { return };
            let message = serde_json::from_slice(&message).unwrap();
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}
