/**
 * Offers Skep's tools to an external agent over MCP, with the execution's token as the key. They are the built-in
 * loop's tools except files and commands, which the agent has itself. A call is stored like any other.
 */
import { isProblem } from "../../core/errors.ts";
import { settleCalls } from "../calls.ts";
import type { AssistantMessage } from "../execution.ts";
import type { LoopInput } from "../loop.ts";
import type { ModelTool } from "../model.ts";
import type { Tool, ToolGroup, ToolResult } from "../tool.ts";

/** Groups of tools that the agent's program provides itself, and better. */
const ITS_OWN: ReadonlySet<ToolGroup> = new Set(["files", "shell"]);

/** The tools of one execution, as `HarnessPort.answerTools` offers them. */
export interface HarnessTools {
  list(): Promise<ModelTool[]>;
  call(name: string, input: unknown): Promise<{ ok: boolean; output: string }>;
}

interface ToolServerEvents {
  /** Called before a call is stored, so that what was said before it is stored first. */
  onCall(): void;
  /** Called when a call ends the execution. */
  onEnd(end: NonNullable<ToolResult["end"]>): void;
}

export function toolServerOf(turn: LoopInput, { onCall, onEnd }: ToolServerEvents) {
  const { execution, ports, sandbox, masker } = turn;
  let tail: Promise<unknown> = Promise.resolve();
  const listOffered = async (): Promise<Tool[]> =>
    (await ports.toolsFor(execution, sandbox)).filter(({ group }) => !ITS_OWN.has(group));

  async function call(name: string, input: unknown): Promise<{ ok: boolean; output: string }> {
    const isThere = (await listOffered()).some((tool) => tool.name === name);
    if (!isThere) return { ok: false, output: `There is no tool ${name.slice(0, 100)} here.` };
    onCall();
    const part = { type: "tool_call" as const, call_id: `skep_${name}`, tool: name, input };
    const message: AssistantMessage = ports.rows.addSaid(execution, [masker.json(part)], "tool_calls");
    const [asked] = message.calls;
    const end = await settle(message);
    const done = ports.rows.call(execution, asked!);
    if (end) onEnd(end);
    return end ? { ok: true, output: "Done. The work has ended." } : { ok: done.ok, output: done.output };
  }
  /** Runs the call. While a person is asked about it, the program waits for its result. */
  async function settle(message: AssistantMessage): Promise<ToolResult["end"]> {
    for (;;)
      try {
        return await settleCalls(turn, message);
      } catch (error) {
        if (!isProblem(error) || error.code !== "waiting_for_permission") throw error;
        const { callId } = message.calls[0]!;
        await turn.setAside(error.detail, ports.permissions.waitForAnswer(execution, callId, turn.signal));
      }
  }
  const tools: HarnessTools = {
    list: async () =>
      (await listOffered()).map(({ name, description, parameters }) => ({ name, description, parameters })),
    // Calls run one after the other, because each is a message of its own.
    call(name, input) {
      const next = tail.then(() => call(name, input));
      tail = next.catch(() => {});
      return next;
    },
  };
  return { answer: (request: Request, body: unknown) => ports.harness.answerTools(tools, request, body) };
}
