//! Turns: prompts, the queue of prompts, and cancellation.

use agent_client_protocol_schema::v1 as schema;
use serde_json::Value;

use super::{Client, Pending, QueuedPrompt, SessionRequest, Stage, Turn, Update, prompt_content};
use crate::wire::{self, Refusal};

impl Client {
    /// Sends a prompt, or queues it while a turn runs or no session is open. Returns
    /// true if it was queued.
    pub fn prompt(&mut self, blocks: Vec<schema::ContentBlock>) -> bool {
        if matches!(self.stage, Stage::Opened) && self.turn.is_none() {
            self.send_prompt(blocks);
            return false;
        }
        self.last_queued += 1;
        let id = self.last_queued;
        self.queue.push_back(QueuedPrompt { id, blocks });
        self.updates.push(Update::StateChanged);
        true
    }

    /// Replaces a queued prompt; returns false if it was already sent or removed.
    pub fn edit_queued(&mut self, id: u64, blocks: Vec<schema::ContentBlock>) -> bool {
        let queued = self.queue.iter_mut().find(|queued| queued.id == id);
        let is_there = queued.map(|queued| queued.blocks = blocks).is_some();
        self.updates.push(Update::StateChanged);
        is_there
    }

    /// Removes a prompt from the queue.
    pub fn remove_queued(&mut self, id: u64) -> Option<QueuedPrompt> {
        let at = self.queue.iter().position(|queued| queued.id == id)?;
        self.updates.push(Update::StateChanged);
        self.queue.remove(at)
    }

    /// Removes all prompts from the queue.
    pub fn clear_queue(&mut self) {
        self.queue.clear();
        self.updates.push(Update::StateChanged);
    }

    /// Sends the next prompt of the queue, unless a turn runs. After a failed or
    /// canceled turn the queue stops until this is called or another prompt is sent.
    pub fn send_next(&mut self) {
        if matches!(self.stage, Stage::Opened)
            && self.turn.is_none()
            && let Some(queued) = self.queue.pop_front()
        {
            self.send_prompt(queued.blocks);
        }
    }

    pub(super) fn send_prompt(&mut self, blocks: Vec<schema::ContentBlock>) {
        // Some agents still replay the history after the session was opened.
        self.journal.set_muted(false);
        self.journal.start_recording(&mut self.updates);
        let supported = prompt_content::supported(&blocks, self.state.capabilities);
        let params = schema::PromptRequest::new(self.state.session.clone(), supported);
        let request = self.send_request("session/prompt", &params, Pending::Prompt);
        self.turn = Some(Turn {
            request,
            blocks,
            is_canceled: false,
        });
        self.updates.push(Update::StateChanged);
    }

    pub(super) fn finish_turn(&mut self, result: Result<Value, Refusal>) {
        let turn = self.turn.take();
        self.grants.end_turn();
        let is_complete = match result {
            Ok(result) => {
                self.fresh_stderr.clear();
                wire::text(&result, "stopReason") != "cancelled"
            }
            Err(refusal) if self.needs_login(&refusal) => {
                self.stage = Stage::Login(SessionRequest::Unchosen);
                if let Some(turn) = turn {
                    self.last_queued += 1;
                    self.queue.push_front(QueuedPrompt {
                        id: self.last_queued,
                        blocks: turn.blocks,
                    });
                }
                return;
            }
            Err(refusal) => {
                if refusal.code != wire::REQUEST_CANCELLED {
                    self.report_failure("session/prompt", &refusal.message);
                }
                return;
            }
        };
        if is_complete && turn.is_none_or(|turn| !turn.is_canceled) {
            self.send_next();
        }
    }

    /// Cancels the turn. Open questions, and those that still arrive, are answered
    /// with `cancelled`. A second call also cancels the request of the prompt.
    pub fn cancel(&mut self) {
        if let Some(turn) = &mut self.turn {
            let is_repeated = std::mem::replace(&mut turn.is_canceled, true);
            let request = turn.request;
            let params = schema::CancelNotification::new(self.state.session.clone());
            self.send_notification("session/cancel", &params);
            if is_repeated {
                let params = schema::CancelRequestNotification::new(request);
                self.send_notification("$/cancel_request", &params);
            }
        }
        self.cancel_questions();
    }
}
