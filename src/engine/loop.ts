/**
 * The loop of one execution: settle the calls of the last reply, ask the model, store the reply, again. Every step of
 * it is a row before the next begins, so it can be left at any point and taken up from the rows.
 */
import { executionRefs } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import { settleCalls, type Turn } from "./calls.ts";
import { estimateTokens, fitRoom, roomOf, toModelMessages, toSummaryRequest } from "./context.ts";
import { agentOutput, agentThinking } from "./events.ts";
import type { Ending, Execution, StoredMessage } from "./execution.ts";
import type { AssistantPart, ModelMessage, ModelReply } from "./model.ts";
import type { EngineAgent } from "./ports.ts";
import type { Tool, ToolResult } from "./tool.ts";

export interface LoopInput extends Turn {
  agent: EngineAgent;
  model: string;
  system: string;
}

/** Reminders to call `complete` before a reply without tool calls counts as a failure. */
const REMINDERS = 2;
const REMINDER =
  "You have not ended the task. Call `complete` with the outputs it asks for, or `fail` with the reason.";
const SUMMARISE =
  "This is the conversation so far; it is too long to go on. Write a summary from which you can: the task, what is done and found (paths, names, numbers), what is left, decisions taken. No tool calls.";

/** Calls for one reply, summaries and refused ones among them. */
const CONTEXT_TRIES = 8;
/** Part of what was refused that is tried next. */
const SHORTER = 0.6;

const textOf = (parts: readonly AssistantPart[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");

/** Runs until the execution ends. @throws Stopped when its signal aborts, Problem when the sandbox is lost. */
export async function runLoop(input: LoopInput): Promise<Ending> {
  const { execution, ports, agent, signal } = input;
  for (;;) {
    await ports.turn();
    signal.throwIfAborted();
    const transcript = ports.rows.transcript(execution.id);
    const last = transcript.at(-1);
    if (last?.role === "assistant") {
      const text = textOf(last.content);
      const end = await settleCalls(input, last.calls);
      if (end) return endingOf(end, text);
      if (last.calls.length === 0) {
        const ending = endOfText(execution, transcript, text);
        if (ending) return ending;
        ports.rows.addUserMessage(execution.id, REMINDER);
        continue;
      }
    }
    const turns = transcript.filter((message) => message.role === "assistant").length;
    if (turns >= agent.maxTurns)
      return failed(
        "turns_exceeded",
        `It took ${turns} turns, the most this agent may. Raise max_turns, or ask for less.`,
      );
    const reply = await ask(input);
    if ("status" in reply) return reply;
    ports.rows.addReply(execution, reply);
  }
}

function endingOf(end: NonNullable<ToolResult["end"]>, text: string): Ending {
  if (end.status === "failed") return failed("agent_failed", end.reason, text);
  return { status: "succeeded", outputs: end.outputs, text: end.summary || text };
}

const failed = (code: string, message: string, text = ""): Ending => ({
  status: "failed",
  error: { code, message },
  text,
});

/** A reply without tool calls ends the work where no outputs are asked for; else the agent is reminded, then fails. */
function endOfText(execution: Execution, transcript: readonly StoredMessage[], text: string): Ending | undefined {
  const { outputs, schema } = execution.contract;
  if (outputs.length === 0 && schema === null && text.trim() !== "") return { status: "succeeded", outputs: {}, text };
  const reminders = transcript.filter((message) => message.role === "user" && message.content === REMINDER).length;
  return reminders < REMINDERS
    ? undefined
    : failed("no_completion", "The agent stopped without calling complete.", text);
}

/**
 * One model call, inside window and budget. A conversation that is too long, by our count or the provider's word, is
 * shortened and asked again. @returns the reply to store, or how the execution ends without one.
 */
async function ask(input: LoopInput): Promise<ModelReply | Ending> {
  const { execution, ports, model, system, sandbox } = input;
  const tools = await ports.toolsFor(execution, sandbox);
  const summaryModel = ports.summaryModel() ?? model;
  const windowOf = (one: string) => roomOf(ports.models.info(one).context_window);
  let room = windowOf(model);
  for (let tries = 1; ; tries++) {
    const all = toModelMessages(ports.rows.transcript(execution.id));
    const fitted = fitRoom(system, all, room);
    const summarise = !fitted.fits && all.length > 1;
    const reply = summarise
      ? await call(input, [summaryRequest(system, all, Math.min(room, windowOf(summaryModel)))], [], summaryModel)
      : await call(input, fitted.messages, tools, model);
    if ("status" in reply) return reply;
    if (reply.finish !== "error") {
      if (!summarise) return reply;
      ports.rows.addSummary(execution, `${execution.prompt}\n\n${textOf(reply.parts)}`, reply);
      continue;
    }
    ports.rows.logCall(execution, reply, summarise ? "summary" : "turn");
    const { code, message } = reply.error ?? { code: "provider_error", message: "The model gave no answer." };
    if (code !== "context_too_long") return failed(code, message);
    if (all.length <= 1 || tries >= CONTEXT_TRIES)
      return failed(code, `${message} It does not fit shortened either: take a model with a larger window.`);
    room = Math.floor(Math.min(room, fitted.tokens) * SHORTER);
  }
}

const summaryRequest = (system: string, messages: ModelMessage[], room: number): ModelMessage => ({
  role: "user",
  content: toSummaryRequest(system, messages, room, SUMMARISE),
});

/** Asks the budgets. @returns how the execution ends when they are used up, else the most tokens of the reply. */
function allowed({ execution, ports }: LoopInput, model: string, tokens: number): Ending | { most?: number } {
  const costOf = (replyTokens: number) => ports.models.estimateUsd(model, tokens, replyTokens) ?? 0;
  const over = ports.overdrawn(execution, costOf(LIMITS.replyTokensEstimate));
  if (over)
    return failed(
      "budget_exceeded",
      `The ${over.scope} budget of $${over.limitUsd} is used up ($${over.spentUsd.toFixed(4)} spent). Raise it, or wait for its reset.`,
    );
  return ports.reserve(execution, costOf(LIMITS.replyTokensAmple)) ? {} : { most: LIMITS.replyTokensEstimate };
}

async function call(
  input: LoopInput,
  messages: ModelMessage[],
  tools: readonly Tool[],
  model: string,
): Promise<ModelReply | Ending> {
  const { execution, ports, agent, system, masker, signal } = input;
  const shown = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters: parameters as Record<string, unknown>,
  }));
  const budget = allowed(input, model, estimateTokens(system) + estimateTokens(JSON.stringify([messages, shown])));
  if ("status" in budget) return budget;
  const [text, thinking] = [masker.stream(), masker.stream()];
  const say = (kind: typeof agentOutput | typeof agentThinking, piece: string) => {
    if (piece) ports.emitSoon(kind, { ...executionRefs(execution), data: { text: piece } });
  };
  const reply = await ports.models.call({
    model,
    system,
    messages,
    tools: shown,
    maxOutputTokens: budget.most,
    thinkingLevel: agent.thinkingLevel,
    temperature: agent.temperature,
    userId: execution.userId,
    scope: {
      agentId: execution.agentId,
      runId: execution.runId,
      stepId: execution.stepId,
      sessionId: execution.id,
      script: ports.scriptOf(execution),
    },
    signal,
    onText: (piece) => say(agentOutput, text.push(piece)),
    onThinking: (piece) => say(agentThinking, thinking.push(piece)),
  });
  say(agentThinking, thinking.end());
  say(agentOutput, text.end());
  await ports.turn();
  signal.throwIfAborted();
  return {
    ...reply,
    parts: masker.json(fewCalls(reply.parts)),
    ...(reply.error ? { error: masker.json(reply.error) } : {}),
  };
}

/** No more calls than are made, and one more, at which the model is told that the rest was left out. */
function fewCalls(parts: readonly AssistantPart[]): AssistantPart[] {
  let calls = 0;
  return parts.filter((part) => part.type !== "tool_call" || ++calls <= LIMITS.callsPerReply + 1);
}
