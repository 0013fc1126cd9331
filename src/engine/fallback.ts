/**
 * Makes a turn's model call. When the model has no quota left, does not answer or refuses, the fallback models are
 * asked.
 */
import { sizeOf } from "./context.ts";
import type { Ending } from "./execution.ts";
import type { ModelMessage, ModelReply } from "./model.ts";
import { type CallInput, callModel, windowOf } from "./model-call.ts";
import { modelTool, type ShownTools } from "./tool-search.ts";

/** Errors that another model may not have. A call that is wrong in itself would fail with every model. */
const FALLS: ReadonlySet<string> = new Set([
  "provider_rate_limited",
  "provider_unreachable",
  "provider_timeout",
  "provider_error",
  "provider_auth",
  "provider_not_configured",
]);

/** Whether another model may answer what this one did not. */
export const mayFall = ({ finish, error, parts }: ModelReply): boolean =>
  finish === "error"
    ? FALLS.has(error?.code ?? "")
    : finish === "content_filter" && parts.every(({ type }) => type !== "tool_call");

const attachesIn = (messages: readonly ModelMessage[]): boolean =>
  messages.some((message) => message.role === "user" && message.parts.some(({ type }) => type !== "text"));

/** Whether the model can read the whole of a prompt with so many tokens, including its pictures. */
export async function canRead(
  input: Parameters<typeof windowOf>[0],
  messages: readonly ModelMessage[],
  tokens: number,
  model: string,
): Promise<boolean> {
  const window = await windowOf(input, model);
  if (window !== null && tokens > window) return false;
  return input.ports.models.info(model).images || !attachesIn(messages);
}

/**
 * Asks the model, then the fallbacks in order, each within its own budget and window.
 * @returns the first usable reply. When there is none, the first model's reply, with the earliest time at which any of
 *   the models answers again.
 */
export async function callWithFallback(
  input: CallInput & { model: string },
  messages: ModelMessage[],
  tools: ShownTools,
): Promise<ModelReply | Ending> {
  const { ports, execution, model } = input;
  const first = await callModel(input, messages, tools, model, "turn");
  const others = ports.fallbackModels(execution).filter((one) => one !== model);
  if ("status" in first || !mayFall(first) || others.length === 0) return first;
  const needed = sizeOf([input.system, messages, tools.shown.map(modelTool)]);
  let retryAt = first.error?.retry_at;
  for (const other of others) {
    if (!(await canRead(input, messages, needed, other))) continue;
    const reply = await callModel(input, messages, tools, other, "turn");
    // The budget does not allow this model; the next may be cheaper.
    if ("status" in reply) continue;
    if (!mayFall(reply)) {
      ports.rows.logCall(execution, first, "turn");
      return reply;
    }
    ports.rows.logCall(execution, reply, "turn");
    const again = reply.error?.retry_at;
    if (again !== undefined) retryAt = Math.min(again, retryAt ?? again);
  }
  return first.error && retryAt !== undefined ? { ...first, error: { ...first.error, retry_at: retryAt } } : first;
}
