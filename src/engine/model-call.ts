/**
 * Makes one model call within its budget. The reply is masked; what the model says in a turn is streamed to people.
 */
import { executionRefs } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import { sizeOf } from "./context.ts";
import { agentOutput, agentThinking, outputWithdrawn } from "./events.ts";
import type { CallPurpose, Ending } from "./execution.ts";
import type { LoopInput } from "./loop.ts";
import type { ModelMessage, ModelReply, ModelRequest } from "./model.ts";
import { type AssistantPart, textOf } from "./parts.ts";
import { type Overdrawn, Stopped } from "./ports.ts";
import { createFailure } from "./result.ts";
import { modelTool, type ShownTools } from "./tool-search.ts";

/**
 * The context window that the model's server really serves, in tokens; the server is asked if the user runs it. Null:
 * unknown.
 */
export const windowOf = async (
  { ports, execution, signal }: Pick<LoopInput, "ports" | "execution" | "signal">,
  model: string,
): Promise<number | null> =>
  ports.models.windowOf
    ? ports.models.windowOf({ model, userId: execution.userId, signal })
    : ports.models.info(model).context_window;

/** Error code of work that may not continue in its project. */
export const SHUT_OUT = "project_closed";

export const NO_TOOLS: ShownTools = { shown: [], hidden: [] };

/** Identifies the caller, for scripted and recorded models. */
export const scopeOf = ({ execution, ports }: Pick<CallInput, "execution" | "ports">): ModelRequest["scope"] => ({
  agentId: execution.agentId,
  runId: execution.runId,
  stepId: execution.stepId,
  sessionId: execution.sessionId,
  script: ports.scriptOf(execution),
});

/**
 * Asks whether the work may continue, and whether the budgets have room. @returns how the execution ends if not; else
 * the most tokens of the reply.
 */
export function admitCall(
  { execution, ports }: Pick<CallInput, "execution" | "ports">,
  model: string,
  tokens: number,
  cachesForHour = false,
): Ending | { most?: number } {
  const shutOut = ports.shutOut(execution);
  if (shutOut !== undefined) return createFailure(SHUT_OUT, shutOut);
  const estimateOf = (replyTokens: number) => ports.models.estimateUsd(model, tokens, replyTokens, cachesForHour);
  const costOf = (replyTokens: number) => estimateOf(replyTokens) ?? 0;
  const least = estimateOf(LIMITS.replyTokensEstimate);
  const [estimate, isFree] = [least ?? 0, least === 0];
  const room = ports.admit(execution, { leastUsd: estimate, ampleUsd: costOf(LIMITS.replyTokensAmple), isFree });
  if ("scope" in room) {
    const remedy = room.resetsAt === null ? "Raise it." : "Raise it, or wait for its reset.";
    return createFailure("budget_exceeded", `${overdrawnText(room, estimate)} ${remedy}`);
  }
  return room.isAmple ? {} : { most: LIMITS.replyTokensEstimate };
}

const formatUsd = (amount: number): string =>
  `$${amount >= 0.01 || amount === 0 ? amount.toFixed(2) : amount.toFixed(4)}`;

/** Explains why a call does not fit a budget. */
export function overdrawnText(
  { scope, limitUsd, spentUsd, heldUsd }: Omit<Overdrawn, "resetsAt">,
  estimateUsd: number,
): string {
  if (spentUsd > 0 && spentUsd >= limitUsd)
    return `The ${scope} budget of $${limitUsd} is used up ($${spentUsd.toFixed(4)} spent).`;
  const left = Math.max(0, limitUsd - spentUsd - heldUsd);
  const held = heldUsd > 0 ? `; ${formatUsd(heldUsd)} is held for calls under way` : "";
  return `The next call may cost ${formatUsd(estimateUsd)}; ${formatUsd(left)} is left of the ${scope} budget of $${limitUsd}${held}.`;
}

/** What a model call needs to know about its execution. */
export type CallInput = Pick<LoopInput, "execution" | "ports" | "agent" | "system" | "masker" | "signal">;

/**
 * Makes one call within the budgets, masked. What the model says in a turn is streamed to people.
 * @returns the reply, or how the execution ends when a budget is used up.
 * @throws the signal's reason; what was said until then is stored.
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
  const budget = admitCall(input, model, sizeOf([system, messages, shown]));
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
    scope: scopeOf(input),
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

/**
 * Stores a call that was ended from outside. It is paid for, and what was said is kept, unless the call will be made
 * again.
 */
function keep({ execution, ports, signal }: CallInput, reply: ModelReply, purpose: CallPurpose): void {
  const madeAgain = signal.reason instanceof Stopped && signal.reason.why === "shutdown";
  const isWhole = reply.finish !== "aborted" && reply.finish !== "error";
  const hasWords = textOf(reply.parts).trim() !== "";
  if (purpose === "turn" && (isWhole || (hasWords && !madeAgain))) return ports.rows.addReply(execution, reply);
  ports.rows.logCall(execution, reply, purpose);
  if (purpose === "turn") ports.emitSoon(outputWithdrawn, { ...executionRefs(execution), data: {} });
}

/** Drops calls beyond the limit, except one: its result tells the model that the rest was left out. */
function fewCalls(parts: readonly AssistantPart[]): AssistantPart[] {
  let calls = 0;
  return parts.filter((part) => part.type !== "tool_call" || ++calls <= LIMITS.callsPerReply + 1);
}
