//! Items of a thread: start, progress and end.

use super::AppServer;
use crate::frame::Frame;
use crate::json::Json;
use crate::source::Emitter;
use crate::source::codex::item::Item;

impl AppServer {
    pub(super) fn item_started(&mut self, json: Json<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let item = Item::new(json);
        match item.kind.as_str() {
            "agent_message" | "reasoning" | "plan" => self.text_ids.start(&item.id),
            // They are read when they are completed.
            "user_message"
            | "context_compaction"
            | "entered_review_mode"
            | "exited_review_mode"
            | "hook_prompt" => {}
            _ if item.is_report() => {}
            _ if item.is_call() => {
                self.calls.started(&item, out);
                self.started_agents(&item, out);
            }
            _ => out.unknown(frame),
        }
    }

    pub(super) fn item_completed(&mut self, json: Json<'_>, frame: &Frame<'_>, out: &mut Emitter) {
        let item = Item::new(json);
        match item.kind.as_str() {
            "user_message" => {
                let media = item.media(out);
                out.user_with_media(item.text(), media, false);
            }
            "agent_message" | "plan" => {
                let id = self.text_ids.end(&item.id);
                out.text(Some(&id), item.text());
            }
            "reasoning" => {
                let id = self.text_ids.end(&item.id);
                out.reasoning(Some(&id), item.text());
            }
            "context_compaction" => out.compacted(""),
            "entered_review_mode" | "exited_review_mode" | "hook_prompt" => {
                out.state(&item.kind, json);
            }
            _ if item.is_report() => {}
            _ if item.is_call() => {
                self.started_agents(&item, out);
                self.calls.completed(&item, out);
            }
            _ => out.unknown(frame),
        }
    }

    /// Makes the threads that a call started its sub-agents.
    fn started_agents(&mut self, item: &Item<'_>, out: &Emitter) {
        if !item.starts_agent() {
            return;
        }
        let caller = out.current_agent();
        let parent = caller.map_or_else(String::new, |agent| agent.id.clone());
        let name = item.get("agentPath").string();
        for thread in item.agents() {
            self.sub_agent(&thread, &parent, &item.id, &name);
        }
    }

    /// Translates the progress of an item.
    pub(super) fn item_progress(
        &mut self,
        method: &str,
        params: Json<'_>,
        frame: &Frame<'_>,
        out: &mut Emitter,
    ) {
        let fields = params.object();
        let id = fields.get("itemId").string();
        let delta = fields.get("delta").string();
        match method {
            "item/agentMessage/delta" | "item/plan/delta" => {
                out.text_delta(Some(self.text_ids.current(&id)), &delta);
            }
            "item/reasoning/summaryTextDelta" => {
                out.reasoning_delta(Some(self.text_ids.current(&id)), &delta);
            }
            // The completed item joins the parts in the same way.
            "item/reasoning/summaryPartAdded" => {
                if fields.get("summaryIndex").u64().unwrap_or(0) > 0 {
                    out.reasoning_delta(Some(self.text_ids.current(&id)), "\n");
                }
            }
            "item/commandExecution/outputDelta" => out.tool_output(&id, delta),
            "item/mcpToolCall/progress" => {
                out.tool_output(&id, fields.get("message").payload());
            }
            "item/commandExecution/terminalInteraction" => {
                out.state("terminal_interaction", params);
            }
            "thread/compacted" | "model/rerouted" => out.state(method, params),
            _ => out.unknown(frame),
        }
    }
}
