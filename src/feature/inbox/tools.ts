import { Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { type Tool, type ToolSource, toolsOf } from "../../engine/tool.ts";
import type { Inbox } from "./service.ts";

export function inboxTools(inbox: Pick<Inbox, "send">): ToolSource {
  const tool: Tool<{ agent: string; message: string }> = {
    name: "message_agent",
    group: "team",
    description:
      "Leaves a message for another agent of the team. It reads it when it next works for the same person; nobody is started and no answer comes back now. For work whose result you need, use spawn_executor.",
    parameters: t.Object({
      agent: t.String({ minLength: 1, maxLength: 64, description: "Id of the agent." }),
      message: t.String({ minLength: 1, maxLength: LIMITS.agentMessageCharacters, pattern: "\\S" }),
    }),
    timeoutMs: 10_000,
    async run({ agent, message }, { execution, masker, outside }) {
      inbox.send(execution, { to: agent, text: masker.text(message), outside: outside() !== undefined });
      return { ok: true, output: `${agent} reads it when it next works for this person.` };
    },
  };
  return toolsOf("inbox", [tool]);
}
