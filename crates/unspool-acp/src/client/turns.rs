//! Turns: a prompt, its answer or its end, and the messages that wait.

use agent_client_protocol_schema::v1 as schema;
use serde_json::Value;

use super::{Client, Pending, QueuedPrompt, SessionRequest, Stage, Turn, Update, blocks};
use crate::wire::{self, Refusal};

impl Client {
    /// Sends a message, or queues it while it cannot be sent. Whether it was
    /// queued.
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

    /// Changes a message that waits; `false` if it is gone.
    pub fn edit_queued(&mut self, id: u64, blocks: Vec<schema::ContentBlock>) -> bool {
        let queued = self.queue.iter_mut().find(|queued| queued.id == id);
        let is_there = queued.map(|queued| queued.blocks = blocks).is_some();
        self.updates.push(Update::StateChanged);
        is_there
    }

    /// Takes a message out of the queue.
    pub fn remove_queued(&mut self, id: u64) -> Option<QueuedPrompt> {
        let at = self.queue.iter().position(|queued| queued.id == id)?;
        self.updates.push(Update::StateChanged);
        self.queue.remove(at)
    }

    /// Forgets all messages that wait.
    pub fn clear_queue(&mut self) {
        self.queue.clear();
        self.updates.push(Update::StateChanged);
    }

    /// Sends the next message of the queue, if one can be sent. After a turn
    /// that failed or was canceled, nothing is sent before this is called or
    /// the person sends something else.
    pub fn send_next(&mut self) {
        if matches!(self.stage, Stage::Opened)
            && self.turn.is_none()
            && let Some(queued) = self.queue.pop_front()
        {
            self.send_prompt(queued.blocks);
        }
    }

    pub(super) fn send_prompt(&mut self, blocks: Vec<schema::ContentBlock>) {
        // Some agents go on telling the history after the session was opened.
        self.journal.mute(false);
        self.journal.start_recording(&mut self.updates);
        let fitting = blocks::fitting(&blocks, self.state.capabilities);
        let params = schema::PromptRequest::new(self.state.session.clone(), fitting);
        let request = self.ask_agent("session/prompt", &params, Pending::Prompt);
        self.turn = Some(Turn {
            request,
            blocks,
            is_canceled: false,
        });
        self.updates.push(Update::StateChanged);
    }

    pub(super) fn prompt_ended(&mut self, result: Result<Value, Refusal>) {
        let turn = self.turn.take();
        self.services.forget_grants();
        let is_over = match result {
            Ok(result) => {
                self.fresh_stderr.clear();
                wire::text(&result, "stopReason") != "cancelled"
            }
            Err(refusal) if self.wants_login(&refusal) => {
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
                    self.failed("session/prompt", &refusal.message);
                }
                return;
            }
        };
        if is_over && turn.is_none_or(|turn| !turn.is_canceled) {
            self.send_next();
        }
    }

    /// Stops the turn. All open requests are answered with `cancelled`, and so
    /// are those that still come; what else comes is taken as before. Said
    /// again, it also takes the prompt itself back.
    pub fn cancel(&mut self) {
        if let Some(turn) = &mut self.turn {
            let again = std::mem::replace(&mut turn.is_canceled, true);
            let request = turn.request;
            let params = schema::CancelNotification::new(self.state.session.clone());
            self.tell_agent("session/cancel", &params);
            if again {
                let params = schema::CancelRequestNotification::new(request);
                self.tell_agent("$/cancel_request", &params);
            }
        }
        self.cancel_asks();
    }
}
