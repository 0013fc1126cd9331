import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { LlmCall } from "./model.ts";

export const llmCall = defineEvent(
  "llm_call",
  t.Omit(LlmCall, ["run_id", "step_id", "session_id", "agent_id", "project_id", "user_id"], {
    description: "A model call was made.",
  }),
);

export const usageEvents = [llmCall] as const;
