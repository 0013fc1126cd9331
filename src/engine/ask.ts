/**
 * Asks the model for one reply within its window and budget, and replaces a conversation that is too long by a summary.
 */
import { HOUR_MS } from "../core/clock.ts";
import { Problem } from "../core/errors.ts";
import { attachTo } from "./attachments.ts";
import { fitRoom, roomOf, sizeOf, toModelMessages, toSummaryRequest } from "./context.ts";
import type { Ending, Execution, StoredMessage } from "./execution.ts";
import { callWithFallback } from "./fallback.ts";
import { kindOf } from "./kinds.ts";
import type { LoopInput } from "./loop.ts";
import type { ModelReply } from "./model.ts";
import { callModel, NO_TOOLS, windowOf } from "./model-call.ts";
import { textOf, textPart } from "./parts.ts";
import { createFailure } from "./result.ts";
import { chooseShown, modelTool } from "./tool-search.ts";

export const SUMMARISE =
  "This is the conversation so far; it is too long to continue. Write a summary from which you can: the task, what is done and found (paths, names, numbers), what is left, decisions taken. No tool calls.";

/** The most model calls made for one reply; summaries and refused calls count. */
const CONTEXT_TRIES = 8;
/** After a provider refuses a prompt as too long, the next try has room for this part of it. */
const SHORTER = 0.6;

/**
 * Makes one model call within window and budget. A conversation that is too long, by our count or by the provider's, is
 * shortened and sent again.
 * @returns the reply to store, or how the execution ends without one.
 */
export async function ask(input: LoopInput): Promise<ModelReply | Ending> {
  const { execution, ports, model, system, sandbox } = input;
  const tools = await ports.toolsFor(execution, sandbox);
  const summaryModel = ports.summaryModel() ?? model;
  const roomIn = async (one: string) => roomOf(await windowOf(input, one));
  const read = (messages: readonly StoredMessage[]) =>
    toModelMessages(messages, attachTo(ports.models.info(model), ports.attachments, execution));
  const window = await windowOf(input, model);
  let stored = ports.rows.context(execution);
  const shownAt = chooseShown(tools, stored).shown;
  const fixed = sizeOf([system, shownAt.map(modelTool)]);
  if (window !== null && fixed > window)
    return createFailure(
      "window_too_small",
      `The instructions and tools of agent ${execution.agentId} take about ${fixed} tokens; ${model} serves a window of ${window}. Use a model with a larger window, or serve a larger one: skep models set ${model} --window 32k`,
    );
  // The tools take their share of the window before the conversation does.
  let room = roomOf(window) - sizeOf(shownAt.map(modelTool));
  for (let tries = 1; ; tries++, stored = ports.rows.context(execution)) {
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
      : callWithFallback(input, fitted.messages, chooseShown(tools, stored)));
    if ("status" in reply) return reply;
    if (reply.finish !== "error") {
      if (!summarised) return reply;
      storeSummary(input, summarised, reply);
      continue;
    }
    ports.rows.logCall(execution, reply, summarised ? "summary" : "turn");
    const error = reply.error ?? { code: "provider_error", message: "The model gave no answer." };
    if (hasQuotaEnded(error)) return waitForProvider(input, error);
    const { code } = error;
    const message = endSentence(error.message);
    if (code !== "context_too_long") return createFailure(code, message);
    if (stored.length <= 1 || tries >= CONTEXT_TRIES)
      return createFailure(code, `${message} It does not fit shortened either: take a model with a larger window.`);
    room = Math.floor(Math.min(room, fitted.tokens) * SHORTER);
  }
}

const endSentence = (words: string): string => (/[.!?]$/.test(words) ? words : `${words}.`);

type CallError = Pick<NonNullable<ModelReply["error"]>, "code" | "message" | "retry_at">;
type Waiting = Pick<LoopInput, "execution" | "ports">;

/** Whether the provider has refused a call because a quota is used up. */
export const hasQuotaEnded = ({ code, retry_at }: CallError): boolean =>
  retry_at !== undefined || code === "provider_rate_limited";

/**
 * Handles a used-up quota as a wait and not as a failure: the execution goes back to the queue until then.
 * @returns how the execution ends when the wait would be too long.
 * @throws Problem 503 `waiting_for_provider`.
 */
export function waitForProvider(input: Waiting, { message: words, retry_at: until }: CallError): Ending {
  const { execution, ports } = input;
  const message = endSentence(words);
  if (until === undefined) return waitUnknown(input, message);
  const wait = Math.max(0, until - ports.clock.now());
  const at = new Date(until).toISOString().replace(/\.\d+Z$/, "Z");
  const most = ports.providerWaitMs();
  if (execution.waitedMs + wait > most)
    return createFailure(
      "provider_rate_limited",
      `${message} It answers again at ${at}; work waits for a provider for at most ${Math.round(most / HOUR_MS)} hours (limits.provider_wait_hours).`,
    );
  throw new Problem(503, "waiting_for_provider", `${message} It is asked again at ${at}.`, { data: { until } });
}

const LEAST_WAIT_MS = 60_000;
const MOST_WAIT_MS = HOUR_MS;

/**
 * Waits for a quota when the provider names no time at which it renews. The person must pay or raise a limit first:
 * OpenAI's 429 `insufficient_quota` (https://platform.openai.com/docs/guides/error-codes) and OpenRouter's 402
 * (https://openrouter.ai/docs/api_reference/limits) come without `Retry-After`. The model is asked again after one
 * minute. Each later wait is as long as all waits before it together, one hour at most.
 * @returns how the execution ends when it has waited too long.
 * @throws Problem 503 `waiting_for_provider`.
 */
function waitUnknown({ execution, ports }: Waiting, message: string): Ending {
  const most = ports.providerWaitMs();
  const left = most - execution.waitedMs;
  if (left <= 0)
    return createFailure(
      "provider_rate_limited",
      most === 0
        ? `${message} It does not say when it answers again.`
        : `${message} It was asked again for ${Math.round(most / HOUR_MS)} hours (limits.provider_wait_hours).`,
    );
  const wait = Math.min(left, MOST_WAIT_MS, Math.max(LEAST_WAIT_MS, execution.waitedMs));
  const until = ports.clock.now() + wait;
  const at = new Date(until).toISOString().replace(/\.\d+Z$/, "Z");
  const detail = `${message} It does not say when it answers again, so it is asked again at ${at}, then less and less often.`;
  throw new Problem(503, "waiting_for_provider", detail, { data: { until } });
}

/**
 * Picks the messages to summarize: those before the current turn, so that what was just said stays word for word. When
 * there are none before it, all messages are summarized. A reply and the results of its calls are one message, so they
 * stay together.
 * @returns undefined for a single message, which cannot be made shorter.
 */
function coveredBy(stored: readonly StoredMessage[], { id, kind }: Execution): readonly StoredMessage[] | undefined {
  const own = stored.findIndex(({ executionId, role }) => executionId === id && role !== "summary");
  const earlier = stored.slice(0, Math.max(own, 0));
  if (kindOf(kind).reads === "session" && earlier.some(({ role }) => role !== "summary")) return earlier;
  return stored.length > 1 ? stored : undefined;
}

/** Stores the summary. When the summary covers the task itself, the task's text is put above it word for word. */
function storeSummary({ execution, ports }: LoopInput, covered: readonly StoredMessage[], reply: ModelReply): void {
  const last = covered.at(-1)!;
  const task = last.executionId === execution.id ? `${textOf(execution.input)}\n\n` : "";
  const coversTo = Math.max(...covered.map((one) => (one.role === "summary" ? one.coversTo : one.seq)));
  ports.rows.addSummary(execution, `${task}${textOf(reply.parts)}`, coversTo, reply);
}
