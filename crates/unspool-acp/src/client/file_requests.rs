//! The agent's requests to read and write files.
//!
//! Files are only accessed inside the root (`files.rs`). Agents normally ask for
//! permission before they come here, and such a grant is enough (`grants.rs`).
//! Rules apply all the same: `deny` is final, and `ask` asks for anything not
//! granted in this turn. Reading needs no grant without a rule. Writing below
//! `.git` is not covered by a grant for all writes, because Git runs programs from
//! there.

use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1 as schema;
use serde_json::Value;
use unspool::event::Level;
use unspool::patch;

use super::proposed_change::ProposedChange;
use super::questions::{DeferredRequest, invalid_params};
use super::{Client, ToolCall, Update};
use crate::files::FileError;
use crate::permission::{Action, Operation, Verdict};
use crate::wire::text;

impl Client {
    pub(super) fn handle_file_request(&mut self, request: &Value, method: &str, params: &Value) {
        let is_write = method == "fs/write_text_file";
        let path = match checked_path(params, is_write) {
            Ok(path) => path,
            Err(reason) => {
                self.refuse(request, &invalid_params(reason));
                return;
            }
        };
        let resolved = match self.files.resolve(&path) {
            Ok(resolved) => resolved.to_string_lossy().into_owned(),
            Err(error) => {
                self.refuse_file(request, &path, &error);
                return;
            }
        };
        let verdict = self.config.rules.judge(&Operation {
            tool: method.to_owned(),
            kind: kind(is_write).to_owned(),
            paths: vec![Some(resolved.clone())],
            ..Operation::default()
        });
        let title = format!("{method} {resolved}");
        if self.refuse_if_denied(request, &verdict, &title) {
            return;
        }
        if is_write && let (Action::Allow, Some(rule)) = (verdict.action, verdict.rule) {
            self.report_rule(title, Action::Allow, rule);
        }
        let needs_grant = match (verdict.action, verdict.rule) {
            (Action::Allow, _) => false,
            (_, Some(_)) => true,
            (_, None) => is_write,
        };
        let deferred = DeferredRequest {
            method: method.to_owned(),
            params: params.clone(),
        };
        if needs_grant && !self.is_file_granted(&path, &resolved, params, is_write) {
            // A request that cannot succeed is not put to the user.
            if let Err(error) = self.files.check(&path, is_write) {
                self.refuse_file(request, &path, &error);
                return;
            }
            let call = self.file_call(&path, &resolved, params, is_write);
            self.ask_before(request, deferred, call);
            return;
        }
        self.perform(request, &deferred);
    }

    fn is_file_granted(&self, path: &Path, resolved: &str, params: &Value, is_write: bool) -> bool {
        if !is_write {
            return self.grants.has_path(resolved);
        }
        let is_covered = self.grants.all_writes && !is_below_git(resolved);
        let content = text(params, "content");
        is_covered
            || self
                .grants
                .has_change(path, resolved, &content, &self.files)
    }

    /// Refuses a request that a rule denies; returns true if it did.
    pub(super) fn refuse_if_denied(
        &mut self,
        request: &Value,
        verdict: &Verdict,
        title: &str,
    ) -> bool {
        let Some(rule) = verdict.rule.filter(|_| verdict.action == Action::Deny) else {
            return false;
        };
        let error = schema::Error::new(-32603, "denied by a rule of the user");
        self.refuse(request, &error);
        self.report_rule(title.to_owned(), Action::Deny, rule);
        true
    }

    fn file_call(&self, path: &Path, resolved: &str, params: &Value, is_write: bool) -> ToolCall {
        let old = self.files.read(path, None, None).ok();
        let old = old.map(|old| old.text);
        let new = text(params, "content");
        let edit = is_write.then(|| patch::from_texts(resolved, old.as_deref(), &new, true));
        let change = is_write.then(|| ProposedChange {
            path: path.to_owned(),
            old,
            new,
        });
        let (name, verb) = if is_write {
            ("fs/write_text_file", "Write")
        } else {
            ("fs/read_text_file", "Read")
        };
        ToolCall {
            name: name.to_owned(),
            kind: kind(is_write).to_owned(),
            title: format!("{verb} {resolved}"),
            paths: vec![resolved.into()],
            edits: edit.into_iter().collect(),
            changes: change.into_iter().collect(),
            ..ToolCall::default()
        }
    }

    /// Performs a request that was allowed.
    pub(super) fn perform(&mut self, request: &Value, deferred: &DeferredRequest) {
        let params = &deferred.params;
        let path = PathBuf::from(text(params, "path"));
        match &*deferred.method {
            "fs/read_text_file" => self.read_file(request, &path, params),
            "fs/write_text_file" => match self.files.write(&path, &text(params, "content")) {
                Ok(written) => {
                    self.reply(request, &schema::WriteTextFileResponse::new());
                    self.updates.push(Update::FileWritten(written));
                }
                Err(error) => self.refuse_file(request, &path, &error),
            },
            _ => self.create_terminal(request, params),
        }
    }

    fn read_file(&mut self, request: &Value, path: &Path, params: &Value) {
        let number = |key| params.get(key).and_then(Value::as_u64);
        match self.files.read(path, number("line"), number("limit")) {
            // If the agent wrote replacement characters back, the file would be lost.
            Ok(read) if read.is_lossy => {
                let text = format!("{}: it is not UTF-8 text", path.display());
                self.refuse(request, &schema::Error::new(-32603, text));
            }
            Ok(read) => self.reply(request, &schema::ReadTextFileResponse::new(read.text)),
            Err(error) => self.refuse_file(request, path, &error),
        }
    }

    pub(super) fn refuse_file(&mut self, request: &Value, path: &Path, error: &FileError) {
        let path = path.display();
        let error = match error {
            FileError::NotFound => {
                schema::Error::resource_not_found(Some(format!("file://{path}")))
            }
            FileError::Outside => {
                let text = format!("The agent was refused {path}: {error}.");
                self.notice(Level::Warning, text);
                invalid_params(&format!("{path}: {error}"))
            }
            error => schema::Error::new(-32603, format!("{path}: {error}")),
        };
        self.refuse(request, &error);
    }
}

/// Returns the path of a request, or the reason why its parameters are invalid.
fn checked_path(params: &Value, is_write: bool) -> Result<PathBuf, &'static str> {
    let path = text(params, "path");
    if path.is_empty() {
        return Err("path is missing");
    }
    if is_write && !params.get("content").is_some_and(Value::is_string) {
        return Err("content is missing");
    }
    // Without this, `~` and URLs would name files in the project.
    if path.starts_with('~') || path.contains("://") {
        return Err("path has to be absolute");
    }
    Ok(path.into())
}

fn kind(is_write: bool) -> &'static str {
    if is_write { "edit" } else { "read" }
}

fn is_below_git(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.any(|part| part.eq_ignore_ascii_case(".git"))
}
