/** One model call, inside window and budget; and the summary that a conversation grown too long is replaced by. */
import { Problem } from "../core/errors.ts";
import { executionRefs } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import { attachTo } from "./attachments.ts";
import { fitRoom, roomOf, sizeOf, toModelMessages, toSummaryRequest } from "./context.ts";
import { agentOutput, agentThinking, outputWithdrawn } from "./events.ts";
import type { CallPurpose, Ending, Execution, StoredMessage } from "./execution.ts";
import { kindOf } from "./kinds.ts";
import type { LoopInput } from "./loop.ts";
import type { ModelMessage, ModelReply } from "./model.ts";
import { type AssistantPart, textOf, textPart } from "./parts.ts";
import { type Overdrawn, Stopped } from "./ports.ts";
import { failed } from "./result.ts";
import { chooseShown, modelTool, type ShownTools } from "./tool-search.ts";

export const SUMMARISE =
  "This is the conversation so far; it is too long to continue. Write a summary from which you can: the task, what is done and found (paths, names, numbers), what is left, decisions taken. No tool calls.";

/** Calls for one reply, summaries and refused ones among them. */
const CONTEXT_TRIES = 8;
/** Part of what was refused that is tried next. */
const SHORTER = 0.6;

/**
 * One model call, inside window and budget. A conversation that is too long, by our count or the provider's word, is
 * shortened and asked again. @returns the reply to store, or how the execution ends without one.
 */
export async function ask(input: LoopInput): Promise<ModelReply | Ending> {
  const { execution, ports, model, system, sandbox } = input;
  const tools = await ports.toolsFor(execution, sandbox);
  const summaryModel = ports.summaryModel() ?? model;
  const roomIn = async (one: string) => roomOf(await windowOf(input, one));
  const read = (messages: readonly StoredMessage[]) =>
    toModelMessages(messages, attachTo(ports.models.info(model), ports.attachments, execution));
  const window = await windowOf(input, model);
  const shownAt = chooseShown(tools, ports.rows.context(execution)).shown;
  const fixed = sizeOf([system, shownAt.map(modelTool)]);
  if (window !== null && fixed > window)
    return failed(
      "window_too_small",
      `The instructions and tools of agent ${execution.agentId} take about ${fixed} tokens; ${model} serves a window of ${window}. Use a model with a larger window, or serve a larger one: skep models set ${model} --window 32k`,
    );
  // What tools take is not the conversation's.
  let room = roomOf(window) - sizeOf(shownAt.map(modelTool));
  for (let tries = 1; ; tries++) {
    const stored = ports.rows.context(execution);
    const fitted = fitRoom(system, await read(stored), room);
    const summarised = fitted.fits ? undefined : coveredBy(stored, execution);
    const asked = summarised && {
      role: "user" as const,
      parts: [
        textPart(
          toSummaryRequest(system, await read(summarised), Math.min(room, await roomIn(summaryModel)), SUMMARISE),
        ),
      ],
    };
    const reply = await (asked
      ? callModel(input, [asked], NO_TOOLS, summaryModel, "summary")
      : callModel(input, fitted.messages, chooseShown(tools, stored), model, "turn"));
    if ("status" in reply) return reply;
    if (reply.finish !== "error") {
      if (!summarised) return reply;
      storeSummary(input, summarised, reply);
      continue;
    }
    ports.rows.logCall(execution, reply, summarised ? "summary" : "turn");
    const { code, message } = reply.error ?? { code: "provider_error", message: "The model gave no answer." };
    if (reply.error?.retry_at !== undefined) return waitForProvider(input, reply.error.retry_at, message);
    if (code !== "context_too_long") return failed(code, message);
    if (stored.length <= 1 || tries >= CONTEXT_TRIES)
      return failed(code, `${message} It does not fit shortened either: take a model with a larger window.`);
    room = Math.floor(Math.min(room, fitted.tokens) * SHORTER);
  }
}

/**
 * A quota that is used up is a wait, not a failure: the execution goes back to the queue until then.
 * @returns how it ends instead, where that is too long. @throws Problem 503 `waiting_for_provider`.
 */
function waitForProvider({ execution, ports }: LoopInput, until: number, message: string): Ending {
  const wait = Math.max(0, until - ports.clock.now());
  const at = new Date(until).toISOString().replace(/\.\d+Z$/, "Z");
  const most = ports.providerWaitMs();
  if (execution.waitedMs + wait > most)
    return failed(
      "provider_rate_limited",
      `${message} It answers again at ${at}; work waits for a provider for at most ${Math.round(most / 3_600_000)} hours (limits.provider_wait_hours).`,
    );
  throw new Problem(503, "waiting_for_provider", `${message} It is asked again at ${at}.`, { data: { until } });
}

/** The window that is really served; a server of one's own is asked. */
export const windowOf = async (
  { ports, execution, signal }: Pick<LoopInput, "ports" | "execution" | "signal">,
  model: string,
): Promise<number | null> =>
  ports.models.windowOf
    ? ports.models.windowOf({ model, userId: execution.userId, signal })
    : ports.models.info(model).context_window;

export const NO_TOOLS: ShownTools = { shown: [], hidden: [] };

/**
 * What a summary is made of: the turns before this one, so that what was just said stays as it was; all, when there is
 * nothing else. A reply and the results of its calls are one message, so they are never parted. Undefined: a single
 * message cannot be made shorter.
 */
function coveredBy(stored: readonly StoredMessage[], { id, kind }: Execution): readonly StoredMessage[] | undefined {
  const own = stored.findIndex(({ executionId, role }) => executionId === id && role !== "summary");
  const earlier = stored.slice(0, Math.max(own, 0));
  if (kindOf(kind).reads === "session" && earlier.some(({ role }) => role !== "summary")) return earlier;
  return stored.length > 1 ? stored : undefined;
}

/** Where a summary takes the place of the task itself, the task is above it, word for word. */
function storeSummary({ execution, ports }: LoopInput, covered: readonly StoredMessage[], reply: ModelReply): void {
  const last = covered.at(-1)!;
  const task = last.executionId === execution.id ? `${textOf(execution.input)}\n\n` : "";
  const coversTo = Math.max(...covered.map((one) => (one.role === "summary" ? one.coversTo : one.seq)));
  ports.rows.addSummary(execution, `${task}${textOf(reply.parts)}`, coversTo, reply);
}

/** Asks the budgets. @returns how the execution ends when they are used up, else the most tokens of the reply. */
function allowed({ execution, ports }: CallInput, model: string, tokens: number): Ending | { most?: number } {
  const costOf = (replyTokens: number) => ports.models.estimateUsd(model, tokens, replyTokens) ?? 0;
  const estimate = costOf(LIMITS.replyTokensEstimate);
  const isFree = ports.models.estimateUsd(model, tokens, LIMITS.replyTokensEstimate) === 0;
  const over = ports.overdrawn(execution, estimate, isFree);
  if (over) return failed("budget_exceeded", `${overdrawnText(over, estimate)} Raise it, or wait for its reset.`);
  return ports.reserve(execution, costOf(LIMITS.replyTokensAmple)) ? {} : { most: LIMITS.replyTokensEstimate };
}

const usd = (amount: number): string => `$${amount >= 0.01 || amount === 0 ? amount.toFixed(2) : amount.toFixed(4)}`;

/** What is true of a budget that a call does not fit. */
export function overdrawnText({ scope, limitUsd, spentUsd, heldUsd }: Overdrawn, estimateUsd: number): string {
  if (spentUsd >= limitUsd) return `The ${scope} budget of $${limitUsd} is used up ($${spentUsd.toFixed(4)} spent).`;
  const left = Math.max(0, limitUsd - spentUsd - heldUsd);
  const held = heldUsd > 0 ? `; ${usd(heldUsd)} is held for calls under way` : "";
  return `The next call may cost ${usd(estimateUsd)}; ${usd(left)} is left of the ${scope} budget of $${limitUsd}${held}.`;
}

/** What a model call needs of the work around it. */
export type CallInput = Pick<LoopInput, "execution" | "ports" | "agent" | "system" | "masker" | "signal">;

/**
 * One call inside the budgets, masked. What it says of a turn goes out as it comes. @returns the reply, or how the
 * execution ends when a budget is used up. @throws the signal's reason; what was said by then is kept.
 */
export async function callModel(
  input: CallInput,
  messages: ModelMessage[],
  { shown: tools, hidden }: ShownTools,
  model: string,
  purpose: CallPurpose,
): Promise<ModelReply | Ending> {
  const { execution, ports, agent, system, masker, signal } = input;
  const shown = tools.map(modelTool);
  const budget = allowed(input, model, sizeOf([system, messages, shown]));
  if ("status" in budget) return budget;
  let [text, thinking] = [masker.stream(), masker.stream()];
  const say = (definition: typeof agentOutput | typeof agentThinking, piece: string) => {
    if (piece && purpose === "turn") ports.emitSoon(definition, { ...executionRefs(execution), data: { text: piece } });
  };
  signal.throwIfAborted();
  const input_tokens = sizeOf([system, messages, shown]);
  const cost_usd = ports.models.estimateUsd(model, input_tokens, 0);
  ports.rows.beginCall(execution, { model, purpose, input_tokens, cost_usd });
  const reply = await ports.models.call({
    model,
    system,
    messages,
    tools: shown,
    moreTools: hidden.map(({ name }) => name),
    maxOutputTokens: budget.most,
    thinkingLevel: agent.thinkingLevel,
    temperature: agent.temperature,
    userId: execution.userId,
    scope: {
      agentId: execution.agentId,
      runId: execution.runId,
      stepId: execution.stepId,
      sessionId: execution.sessionId,
      script: ports.scriptOf(execution),
    },
    signal,
    onText: (piece) => say(agentOutput, text.push(piece)),
    onThinking: (piece) => say(agentThinking, thinking.push(piece)),
    onWithdrawn() {
      [text, thinking] = [masker.stream(), masker.stream()];
      if (purpose === "turn") ports.emitSoon(outputWithdrawn, { ...executionRefs(execution), data: {} });
    },
  });
  say(agentThinking, thinking.end());
  say(agentOutput, text.end());
  await ports.turn();
  const masked = {
    ...reply,
    parts: masker.json(fewCalls(reply.parts)),
    ...(reply.error ? { error: masker.json(reply.error) } : {}),
  };
  if (!signal.aborted) return masked;
  keep(input, masked, purpose);
  throw signal.reason;
}

/** Of a call that was ended from outside: it is paid for, and what was said stays, unless the call is made again. */
function keep({ execution, ports, signal }: CallInput, reply: ModelReply, purpose: CallPurpose): void {
  const madeAgain = signal.reason instanceof Stopped && signal.reason.why === "shutdown";
  const isWhole = reply.finish !== "aborted" && reply.finish !== "error";
  const hasWords = textOf(reply.parts).trim() !== "";
  if (purpose === "turn" && (isWhole || (hasWords && !madeAgain))) return ports.rows.addReply(execution, reply);
  ports.rows.logCall(execution, reply, purpose);
  if (purpose === "turn") ports.emitSoon(outputWithdrawn, { ...executionRefs(execution), data: {} });
}

/** No more calls than are made, and one more, with which the model learns that the rest was left out. */
function fewCalls(parts: readonly AssistantPart[]): AssistantPart[] {
  let calls = 0;
  return parts.filter((part) => part.type !== "tool_call" || ++calls <= LIMITS.callsPerReply + 1);
}
