/** Turns the events of a chat into updates for an editor. */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { SkepEvent } from "../../core/events.ts";
import { listIn, textIn } from "../../core/is-object.ts";
import { oneLine } from "../terminal/style.ts";
import { localizeTimes } from "../terminal/table.ts";
import { type Call, presentCall, presentEnd } from "./calls.ts";
import { createWords } from "./words.ts";

export type Tell = (update: SessionUpdate) => Promise<void>;

export type Teller = ReturnType<typeof createTeller>;

const toContent = (text: string) => ({ content: { type: "text" as const, text } });
export const toMessageUpdate = (text: string): SessionUpdate => ({
  sessionUpdate: "agent_message_chunk",
  ...toContent(text),
});
export const toThoughtUpdate = (text: string): SessionUpdate => ({
  sessionUpdate: "agent_thought_chunk",
  ...toContent(text),
});

/** @param cwd the folder that the editor has open. */
export function createTeller(tell: Tell, cwd: string) {
  const words = createWords((text) => tell(toMessageUpdate(text)));
  const thoughts = createWords((text) => tell(toThoughtUpdate(text)));
  /** Calls that have not ended. `isAllowed` is set only for calls that a person was asked about. */
  const calls = new Map<string, { call: Call; isAllowed?: boolean }>();
  const keep = (): void => {
    words.keep();
    thoughts.keep();
  };

  async function start(call: Call): Promise<void> {
    const shown = presentCall(call, cwd);
    const isShown = calls.has(call.call_id);
    calls.set(call.call_id, { call });
    if (!isShown) await tell({ sessionUpdate: "tool_call", ...shown });
    await tell({
      sessionUpdate: "tool_call_update",
      ...(isShown ? shown : { toolCallId: call.call_id }),
      status: "in_progress",
    });
  }
  async function finish(call: Call, ok: boolean, output: string): Promise<void> {
    if (!calls.has(call.call_id)) await tell({ sessionUpdate: "tool_call", ...presentCall(call, cwd) });
    const known = calls.get(call.call_id)?.call ?? call;
    calls.delete(call.call_id);
    await tell({ sessionUpdate: "tool_call_update", ...presentEnd(known, { ok, output }, cwd) });
  }

  return {
    /** Tells what the agent had already said in its running reply before the first event. */
    async begin(text: string, thinking: string): Promise<void> {
      await thoughts.push(thinking);
      await words.push(text);
    },
    async take({ kind, data }: SkepEvent): Promise<void> {
      // Skip a call whose data was too large for the event log.
      if (kind.startsWith("tool_call") && typeof data["call_id"] !== "string") return;
      const call = { call_id: String(data["call_id"]), tool: String(data["tool"]), input: data["input"] };
      switch (kind) {
        case "agent_output":
          // Output of a running command is left out here, since the call's result contains it.
          return data["call_id"] === undefined ? words.push(String(data["text"])) : undefined;
        case "agent_thinking":
          return thoughts.push(String(data["text"]));
        case "output_withdrawn":
          words.withdraw();
          return thoughts.withdraw();
        case "tool_call_start":
          keep();
          return start(call);
        case "tool_call_end":
          keep();
          return finish(call, data["ok"] === true, String(data["output"] ?? ""));
        case "agent_plan":
          return tell(planOf(data));
        case "activity":
          return tell(toThoughtUpdate(`(${localizeTimes(oneLine(String(data["title"])))})\n`));
        case "turn_started":
        case "turn_steered":
        case "turn_ended":
          return keep();
      }
    },
    /** Shows the call that a person is asked about, before it begins. */
    async showCall(call: Call): Promise<void> {
      if (calls.has(call.call_id)) return;
      calls.set(call.call_id, { call, isAllowed: false });
      await tell({ sessionUpdate: "tool_call", ...presentCall(call, cwd) });
    },
    recordAnswer(callId: string, isAllowed: boolean): void {
      const known = calls.get(callId);
      if (known?.isAllowed !== undefined) known.isAllowed = isAllowed;
    },
    /** The turn has ended, so all its calls have ended, even those whose end was not reported. */
    async end(): Promise<void> {
      for (const { call, isAllowed } of [...calls.values()]) await finish(call, isAllowed === true, "");
    },
  };
}

const PLAN_STATES = ["pending", "in_progress", "completed"] as const;

const planOf = (data: unknown): SessionUpdate => ({
  sessionUpdate: "plan",
  entries: listIn(data, "entries").map((entry) => ({
    content: oneLine(textIn(entry, "content") ?? ""),
    priority: "medium",
    status: PLAN_STATES.find((one) => one === textIn(entry, "status")) ?? "pending",
  })),
});
