/**
 * The built-in loop of one execution: settle the calls of the last reply, ask the model, store the reply, repeat. Each
 * step is stored before the next begins, so the loop can stop at any point and continue from the rows.
 */
import { ask } from "./ask.ts";
import { schemaCheck, settleCalls, type Turn } from "./calls.ts";
import type { AssistantMessage, Ending, StoredMessage } from "./execution.ts";
import { kindOf } from "./kinds.ts";
import { textOf } from "./parts.ts";
import type { EngineAgent } from "./ports.ts";
import { createFailure, resultOf } from "./result.ts";
import type { ToolResult } from "./tool.ts";

export interface LoopInput extends Turn {
  agent: EngineAgent;
  model: string;
  system: string;
}

export const REMINDER =
  "You have not ended the task. Call `complete` with the outputs it asks for, or `fail` with the reason.";
const CONTINUE =
  "Your reply was cut at its length limit. Continue where it stopped, in smaller pieces. A tool call that was cut was not made: make it again, with less in it.";
const FILTERED = "The provider's content filter held your reply back. Continue in other words.";
const LOOPS =
  "You have made the same call three times, and its answer was the same each time. Do something else, or end with what you know.";
const EMPTY = "Your reply was empty. Answer, or use a tool.";

/** Runs until the execution ends. @throws Stopped when its signal aborts, Problem when the sandbox is lost. */
export async function runLoop(input: LoopInput): Promise<Ending> {
  const { execution, ports, agent, signal } = input;
  let isFirst = true;
  let callsBefore: string | undefined;
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
    const calls = said && askedIn(said);
    // The conversation is read only when this reply repeats the calls of the reply before it. In the first round that
    // earlier reply is unknown, so the conversation is read then, too.
    const loop = said && (isFirst || calls === callsBefore) ? loopOf(input, said) : undefined;
    callsBefore = calls;
    if (typeof loop === "object") return loop;
    if (loop) ports.rows.addNote(execution, loop);
    const isSteered = ports.rows.takeSteering(execution);
    if (ports.rows.replies(execution) >= agent.maxTurns) return outOfTurns(agent.maxTurns, said);
    ports.deliver(execution);
    if (isFirst || isSteered) sayUnseen(input);
    isFirst = false;
    const reply = await ask(input);
    if ("status" in reply) return reply;
    ports.rows.addReply(execution, reply);
  }
}

/** Turns a call's `end` into how the execution ends. */
export function endingOf(end: NonNullable<ToolResult["end"]>, text: string): Ending {
  if (end.status === "failed") return createFailure(end.code ?? "agent_failed", end.reason, text);
  return { status: "succeeded", outputs: end.outputs, text: end.summary || text, by: "complete" };
}

/** Reasons why a reply ended before the work did. The agent is asked to continue while it has turns left. */
const UNFINISHED: Partial<Record<AssistantMessage["finish"], { ask: string; code: string; why: string }>> = {
  length: { ask: CONTINUE, code: "reply_cut", why: "its last reply was cut at its length limit" },
  content_filter: { ask: FILTERED, code: "content_filter", why: "the provider's filter held its last reply back" },
};

/**
 * After a reply without tool calls: how the execution ends, or the note with which the agent continues. An agent that
 * works is reminded of `complete` once; if it stops again, its words become the result if they can.
 */
async function afterReply({ execution, ports }: LoopInput, said: AssistantMessage): Promise<Ending | string> {
  const text = textOf(said.parts);
  const unfinished = UNFINISHED[said.finish];
  if (unfinished) {
    const inARow = lastInARow(
      ports.rows.context(execution),
      ({ finish, calls }) => finish === said.finish && !calls.length,
    );
    if (inARow <= ASKED_AGAIN) return unfinished.ask;
    const remedy = "Ask for less at once, or use another model.";
    return createFailure(
      unfinished.code,
      `It was asked again ${ASKED_AGAIN} times, but ${unfinished.why}. ${remedy}`,
      text,
    );
  }
  const wasSaid = (note: string) => ports.rows.notes(execution).includes(note);
  if (kindOf(execution.kind).executionEnds === "reply") {
    if (text.trim() !== "") return { status: "succeeded", outputs: {}, text };
    return wasSaid(EMPTY) ? createFailure("empty_reply", "The model answered nothing, twice.") : EMPTY;
  }
  if (!wasSaid(REMINDER)) return REMINDER;
  const outputs = await resultOf(text, execution.contract, schemaCheck({ ports, execution }));
  if (outputs) return { status: "succeeded", outputs, text, by: "text" };
  return createFailure("no_completion", "The agent stopped without calling complete.", text);
}

/** How often in a row a reply that is not whole is asked for again. */
const ASKED_AGAIN = 2;
/**
 * When the same calls get the same answers so many times in a row, the agent gets a note; after `REPEATS_MOST` times,
 * its work ends.
 */
const REPEATS_TOLD = 3;
const REPEATS_MOST = 8;

/** Counts the replies at the end of the conversation for which `isAlike` holds, skipping notes. */
function lastInARow(messages: readonly StoredMessage[], isAlike: (reply: AssistantMessage) => boolean): number {
  let inARow = 0;
  for (const message of messages.toReversed()) {
    if (message.role === "note") continue;
    if (message.role !== "assistant" || !isAlike(message)) break;
    inARow++;
  }
  return inARow;
}

const askedIn = ({ calls }: AssistantMessage): string => JSON.stringify(calls.map(({ tool, input }) => [tool, input]));

const doneIn = ({ calls }: AssistantMessage): string =>
  JSON.stringify(calls.map(({ tool, input, ok, output }) => [tool, input, ok, output]));

/** Handles an agent that repeats the same calls: returns a note for it, or the end of its work. */
function loopOf({ execution, ports }: LoopInput, said: AssistantMessage): Ending | string | undefined {
  if (said.calls.length === 0 || said.executionId !== execution.id) return undefined;
  const context = ports.rows.context(execution);
  const done = context.findLast((message) => message.role === "assistant");
  if (done === undefined) return undefined;
  const same = doneIn(done);
  const times = lastInARow(context, (reply) => reply.executionId === execution.id && doneIn(reply) === same);
  if (times >= REPEATS_MOST)
    return createFailure("agent_loops", `It made the same call ${times} times in a row, always with the same answer.`);
  return times === REPEATS_TOLD && context.at(-1)?.role !== "note" ? LOOPS : undefined;
}

/**
 * Tells the person which pictures the model cannot see, once for each message: in the transcript, and as an event.
 * Pictures of steering messages, which come while the agent works, are included.
 * @param program name of an external agent's program that accepts no pictures.
 */
export function sayUnseen(
  { execution, ports, model }: Pick<LoopInput, "execution" | "ports" | "model">,
  program?: string,
): void {
  const sees = ports.models.info(model).images;
  if (sees && program === undefined) return;
  const earlier = ports.rows.notes(execution);
  for (const message of ports.rows.context(execution)) {
    if (message.role !== "user" || message.executionId !== execution.id) continue;
    const pictures = message.parts.flatMap((part) => (part.type === "image" ? [part.name] : []));
    if (pictures.length === 0) continue;
    const shown = `${pictures.join(", ")} ${pictures.length === 1 ? "was" : "were"} not shown to it.`;
    const note = sees
      ? `${program} takes no pictures: ${shown}`
      : `${model} cannot see pictures: ${shown} Choose a model that can; for a server of your own that can: skep models set ${model} --images yes`;
    // Two messages may hold pictures of the same name.
    const at = earlier.indexOf(note);
    if (at === -1) ports.rows.addNote(execution, note, "announced");
    else earlier.splice(at, 1);
  }
}

export function outOfTurns(turns: number, said: AssistantMessage | undefined): Ending {
  const unfinished = said && UNFINISHED[said.finish];
  const remedy = "Raise max_turns, or ask for less.";
  if (unfinished)
    return createFailure(
      unfinished.code,
      `After ${turns} turns, the most this agent may take, ${unfinished.why}. ${remedy}`,
    );
  return createFailure("turns_exceeded", `It took ${turns} turns, the most this agent may. ${remedy}`);
}
