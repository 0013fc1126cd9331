/**
 * The loop of one execution: settle the calls of the last reply, ask the model, store the reply, again. Every step of
 * it is a row before the next begins, so it can be left at any point and taken up from the rows.
 */
import { ask } from "./ask.ts";
import { schemaCheck, settleCalls, type Turn } from "./calls.ts";
import type { AssistantMessage, Ending } from "./execution.ts";
import { kindOf } from "./kinds.ts";
import { textOf } from "./parts.ts";
import type { EngineAgent } from "./ports.ts";
import { failed, resultOf } from "./result.ts";
import type { ToolResult } from "./tool.ts";

export interface LoopInput extends Turn {
  agent: EngineAgent;
  model: string;
  system: string;
}

const REMINDER =
  "You have not ended the task. Call `complete` with the outputs it asks for, or `fail` with the reason.";
const CONTINUE = "Your reply was cut at its length limit. Continue where it stopped, in smaller pieces.";
const FILTERED = "The provider's content filter held your reply back. Continue in other words.";
const EMPTY = "Your reply was empty. Answer, or use a tool.";

/** Runs until the execution ends. @throws Stopped when its signal aborts, Problem when the sandbox is lost. */
export async function runLoop(input: LoopInput): Promise<Ending> {
  const { execution, ports, agent, signal } = input;
  for (;;) {
    await ports.turn();
    signal.throwIfAborted();
    const last = ports.rows.lastReply(execution);
    const said = last?.reply;
    if (said) {
      const end = await settleCalls(input, said);
      if (end) return endingOf(end, textOf(said.parts));
    }
    if (said && last.isLast && said.executionId === execution.id && said.calls.length === 0) {
      const next = await afterReply(input, said);
      if (typeof next !== "string") return next;
      ports.rows.addNote(execution, next);
    }
    ports.rows.takeSteering(execution);
    if (ports.rows.replies(execution) >= agent.maxTurns) return outOfTurns(agent.maxTurns, said);
    ports.deliver(execution);
    const reply = await ask(input);
    if ("status" in reply) return reply;
    ports.rows.addReply(execution, reply);
  }
}

function endingOf(end: NonNullable<ToolResult["end"]>, text: string): Ending {
  if (end.status === "failed") return failed("agent_failed", end.reason, text);
  return { status: "succeeded", outputs: end.outputs, text: end.summary || text, by: "complete" };
}

/** Finishes of a reply that do not end the work: the agent is asked to continue, while it has turns. */
const UNFINISHED: Partial<Record<AssistantMessage["finish"], { ask: string; code: string; why: string }>> = {
  length: { ask: CONTINUE, code: "reply_cut", why: "its last reply was cut at its length limit" },
  content_filter: { ask: FILTERED, code: "content_filter", why: "the provider's filter held its last reply back" },
};

/**
 * After a reply without tool calls: how the execution ends, or the note with which the agent continues. One that works is
 * reminded once of `complete`; if it stops again, its words are the result where they can be.
 */
async function afterReply({ execution, ports }: LoopInput, said: AssistantMessage): Promise<Ending | string> {
  const text = textOf(said.parts);
  const unfinished = UNFINISHED[said.finish];
  if (unfinished) return unfinished.ask;
  const wasSaid = (note: string) => ports.rows.notes(execution).includes(note);
  if (kindOf(execution.kind).executionEnds === "reply") {
    if (text.trim() !== "") return { status: "succeeded", outputs: {}, text };
    return wasSaid(EMPTY) ? failed("empty_reply", "The model answered nothing, twice.") : EMPTY;
  }
  if (!wasSaid(REMINDER)) return REMINDER;
  const outputs = await resultOf(text, execution.contract, schemaCheck({ ports, execution }));
  if (outputs) return { status: "succeeded", outputs, text, by: "text" };
  return failed("no_completion", "The agent stopped without calling complete.", text);
}

function outOfTurns(turns: number, said: AssistantMessage | undefined): Ending {
  const unfinished = said && UNFINISHED[said.finish];
  const remedy = "Raise max_turns, or ask for less.";
  if (unfinished)
    return failed(unfinished.code, `After ${turns} turns, the most this agent may take, ${unfinished.why}. ${remedy}`);
  return failed("turns_exceeded", `It took ${turns} turns, the most this agent may. ${remedy}`);
}
