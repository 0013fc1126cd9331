/**
 * Tries what a model can: answers, streams, calls a tool, sees a picture, finds a word again far back in its window. Each is
 * one real call, which is logged and paid like any other; the result is kept, and shown with the model.
 */
import { type Clock, timestamp } from "../../core/clock.ts";
import { invalidField } from "../../core/errors.ts";
import { NO_AGENT } from "../../core/no-agent.ts";
import { sizeOf } from "../../engine/context.ts";
import type { ModelMessage, ModelPort, ModelReply, ModelTool } from "../../engine/model.ts";
import { textOf, textPart } from "../../engine/parts.ts";
import type { Store } from "../../store/store.ts";
import { type ModelTrialResult, modelTrials } from "../../store/tables/model-trials.ts";
import type { UsageLog } from "../usage/service.ts";

export interface ModelTrialDeps {
  store: Store;
  clock: Clock;
  models: ModelPort;
  record: UsageLog["record"];
  wrongModel(id: string): string | undefined;
}

export type ModelTrials = ReturnType<typeof createModelTrials>;

/** 64 by 64 points, all red. */
const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAUElEQVR42u3PQQkAAAgEsAvh2/6hDGME38JgBZapfi0CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICApcF7PHg8cEzMUQAAAAASUVORK5CYII=";
const TOOL: ModelTool = {
  name: "report_number",
  description: "Reports a number.",
  parameters: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
};
/** How much of the window the long prompt fills. */
const FILLED = 0.9;
/** Longer prompts would cost minutes of a machine, or dollars. */
const NEEDLE_TOKENS = 131_072;
const NEEDLE = "The word to remember is heliotrope.";
const FILLER = "The clerk wrote the weather of the day into the book, and put the book back on its shelf. ";
const CALL_MS = 300_000;
const REPLY_TOKENS = 2_000;

type Question = { text: string; picture?: boolean; tools?: ModelTool[] };

export function createModelTrials({ store, clock, models, record, wrongModel }: ModelTrialDeps) {
  const rows = store.rows(modelTrials);

  async function ask(model: string, question: Question, { userId, signal }: { userId?: string; signal: AbortSignal }) {
    const data = new Uint8Array(Buffer.from(PICTURE, "base64"));
    const picture = { type: "image" as const, media_type: "image/png", name: "picture.png", data };
    const messages: ModelMessage[] = [
      { role: "user", parts: [textPart(question.text), ...(question.picture ? [picture] : [])] },
    ];
    let pieces = 0;
    const reply = await models.call({
      ...{ model, system: "You answer in as few words as possible.", messages, tools: question.tools ?? [] },
      ...{ thinkingLevel: "off", maxOutputTokens: REPLY_TOKENS, userId },
      scope: { agentId: NO_AGENT, sessionId: "trial" },
      signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]),
      onText: () => pieces++,
      onThinking: () => pieces++,
    });
    record(callOf(reply, userId));
    signal.throwIfAborted();
    return { reply, pieces };
  }

  return {
    /**
     * @param deep also whether it finds a word at the far end of a prompt that fills the window to nine tenths.
     * @throws Problem 422 for a model that cannot be called.
     */
    async run(
      model: string,
      deep: boolean,
      caller: { userId?: string; signal: AbortSignal },
    ): Promise<ModelTrialResult> {
      const wrong = wrongModel(model);
      if (wrong) throw invalidField("/model", wrong);
      const first = await ask(model, { text: "Answer with the word ready." }, caller);
      const asked = [first.reply];
      const also = async (question: Question, fits: (reply: ModelReply) => boolean): Promise<Found> => {
        // Without a first answer there is nothing more to learn.
        if (first.reply.finish === "error") return { ok: null, detail: "It was not tried." };
        const { reply } = await ask(model, question, caller);
        asked.push(reply);
        return foundBy(reply, fits);
      };
      const answers = foundBy(first.reply, ({ parts }) => textOf(parts).trim() !== "");
      const tools = await also({ text: "Report the number 7 with the tool report_number.", tools: [TOOL] }, calledTool);
      const images = await also({ text: "Which colour fills this picture? One word.", picture: true }, ({ parts }) =>
        /\bred\b|crimson|scarlet/i.test(textOf(parts)),
      );
      const window = (await models.windowOf?.({ model, ...caller })) ?? models.info(model).context_window;
      const needle = deep
        ? await tryNeedle(window, (text) => also({ text }, ({ parts }) => /heliotrope/i.test(textOf(parts))))
        : { ok: null, detail: "It was not tried. It fills the window: ask for it with --needle." };
      const thinks = asked.some(({ parts, usage }) => parts.some(isThinking) || usage.reasoning_tokens > 0);
      const result: ModelTrialResult = {
        ...{ model, tried_at: timestamp(clock.now()), context_window: window },
        ...{ answers, streams: first.pieces > 1, tools, images, needle, reasoning: thinks },
        calls: asked.length,
        cost_usd: asked.some(({ cost_usd }) => cost_usd === null)
          ? null
          : asked.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0),
        duration_ms: asked.reduce((sum, { duration_ms }) => sum + Math.round(duration_ms), 0),
        time_to_first_token_ms:
          first.reply.time_to_first_token_ms === null ? null : Math.round(first.reply.time_to_first_token_ms),
      };
      store.write(() => rows.put({ model, result }, ["model"]));
      return result;
    },
    /** The last result; null: it was never tried. */
    last: (model: string): ModelTrialResult | null => rows.find({ model })?.result ?? null,
  };
}

type Found = ModelTrialResult["tools"];

const isThinking = ({ type }: { type: string }): boolean => type === "thinking";
const calledTool = ({ parts }: ModelReply): boolean =>
  parts.some((part) => part.type === "tool_call" && part.tool === TOOL.name && sevenIn(part.input));
const sevenIn = (input: unknown): boolean => /^\{"number":"?7"?\}$/.test(JSON.stringify(input) ?? "");

const SAID_CHARACTERS = 200;

function foundBy(reply: ModelReply, fits: (reply: ModelReply) => boolean): Found {
  if (reply.error) return { ok: false, detail: reply.error.message.slice(0, SAID_CHARACTERS) };
  if (fits(reply)) return { ok: true, detail: null };
  const said = textOf(reply.parts).trim().slice(0, SAID_CHARACTERS);
  return { ok: false, detail: said === "" ? "It said nothing." : `It said: ${said}` };
}

async function tryNeedle(window: number | null, ask: (text: string) => Promise<Found>): Promise<Found> {
  if (window === null) return { ok: null, detail: "It was not tried: its window is not known." };
  const tokens = Math.floor(Math.min(window, NEEDLE_TOKENS) * FILLED) - REPLY_TOKENS;
  if (tokens < REPLY_TOKENS) return { ok: null, detail: "It was not tried: the window is too small." };
  const filler = FILLER.repeat(Math.ceil(tokens / sizeOf(FILLER)));
  return ask(`${NEEDLE}\n\n${filler}\n\nWhich word were you told to remember? Answer with it alone.`);
}

const callOf = (reply: ModelReply, userId: string | undefined) => ({
  ...{ agentId: NO_AGENT, userId, purpose: "trial", provider: reply.provider, model: reply.model },
  ...{ keySource: reply.key_source, usage: reply.usage, estimated: reply.usage_estimated, costUsd: reply.cost_usd },
  ...{ costSource: reply.cost_source, durationMs: reply.duration_ms, attempts: reply.attempts, finish: reply.finish },
  ...{ timeToFirstTokenMs: reply.time_to_first_token_ms, error: reply.error },
});
