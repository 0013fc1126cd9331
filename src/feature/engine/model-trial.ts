/**
 * Tries a model: whether it answers, streams, calls a tool, sees a picture, and finds a word far back in its context
 * window. Each question is a real call, which is logged and paid like any other. The result is stored and shown with
 * the model. A trial is a job, because a long prompt takes a small machine half an hour.
 */
import { Type as t } from "@sinclair/typebox";
import { toTimestamp } from "../../core/clock.ts";
import { conflict, invalidField } from "../../core/errors.ts";
import { defineJob, type RunningJob } from "../../core/jobs.ts";
import { NO_AGENT } from "../../core/no-agent.ts";
import type { ModelMessage, ModelPort, ModelReply, ModelTool } from "../../engine/model.ts";
import { textOf, textPart } from "../../engine/parts.ts";
import type { Caller } from "../../http/caller.ts";
import { type ModelTrialResult, modelTrials } from "../../store/tables/model-trials.ts";
import type { Core } from "../feature.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";
import type { UsageLog } from "../usage/service.ts";
import { type NeedleQuestion, tryNeedle } from "./needle.ts";

interface ModelTrialDeps extends Pick<Core, "store" | "clock"> {
  models: ModelPort;
  record: UsageLog["record"];
  jobs: Pick<Jobs, "enqueue" | "live" | "payloadOf">;
  wrongModel(id: string): string | undefined;
}

export type ModelTrials = ReturnType<typeof createModelTrials>;

/** A PNG of 64 by 64 pixels, all red. */
const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAUElEQVR42u3PQQkAAAgEsAvh2/6hDGME38JgBZapfi0CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICApcF7PHg8cEzMUQAAAAASUVORK5CYII=";
const TOOL: ModelTool = {
  name: "report_number",
  description: "Reports a number.",
  parameters: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
};
const CALL_MS = 300_000;
/** A machine without a graphics card reads about a hundred tokens per second. */
const LONG_CALL_MS = 1_800_000;
const TRIALS_AT_ONCE = 2;
const REPLY_TOKENS = 2_000;
/** Number of calls of a trial, and of a trial that also fills the context window. */
const CALLS = 3;
const CALLS_DEEP = 5;

interface Question {
  /** What the question finds out, for people. */
  about: string;
  text: string;
  picture?: boolean;
  tools?: ModelTool[];
  mostMs?: number;
  mostTokens?: number;
}

export function createModelTrials({ store, clock, models, record, jobs, wrongModel }: ModelTrialDeps) {
  const rows = store.rows(modelTrials);

  async function ask(model: string, question: Question, { userId: owner, signal, report }: RunningJob) {
    report({ detail: question.about });
    const userId = owner ?? undefined;
    const data = new Uint8Array(Buffer.from(PICTURE, "base64"));
    const picture = { type: "image" as const, media_type: "image/png", name: "picture.png", data };
    const messages: ModelMessage[] = [
      { role: "user", parts: [textPart(question.text), ...(question.picture ? [picture] : [])] },
    ];
    let pieces = 0;
    const reply = await models.call({
      model,
      system: "You answer in as few words as possible.",
      messages,
      tools: question.tools ?? [],
      thinkingLevel: "off",
      maxOutputTokens: question.mostTokens ?? REPLY_TOKENS,
      userId,
      scope: { agentId: NO_AGENT, sessionId: "trial" },
      signal: AbortSignal.any([signal, AbortSignal.timeout(question.mostMs ?? CALL_MS)]),
      onText: () => pieces++,
      onThinking: () => pieces++,
    });
    record({ agentId: NO_AGENT, userId, purpose: "trial", reply });
    signal.throwIfAborted();
    return { reply, pieces };
  }

  /**
   * @param deep whether to also test that the model finds a word at the far end of a prompt that fills 90 % of the
   * window.
   */
  async function run(model: string, deep: boolean, job: RunningJob): Promise<ModelTrialResult> {
    const wrong = wrongModel(model);
    if (wrong) throw invalidField("/model", wrong);
    const caller = { userId: job.userId ?? undefined, signal: job.signal };
    const first = await ask(model, { about: "Does it answer?", text: "Answer with the word ready." }, job);
    const asked = [first.reply];
    // Without a first answer, further questions would show nothing.
    const isOver = first.reply.finish === "error";
    const askNext = async (question: Question): Promise<ModelReply> => {
      job.report({ percent: (100 * asked.length) / (deep ? CALLS_DEEP : CALLS) });
      const { reply } = await ask(model, question, job);
      asked.push(reply);
      return reply;
    };
    const tryQuestion = async (question: Question, fits: (reply: ModelReply) => boolean): Promise<Found> =>
      isOver ? NOT_TRIED : foundBy(await askNext(question), fits);
    const answers = foundBy(first.reply, ({ parts }) => textOf(parts).trim() !== "");
    const tools = await tryQuestion(
      { about: "Does it call a tool?", text: "Report the number 7 with the tool report_number.", tools: [TOOL] },
      calledTool,
    );
    const images = await tryQuestion(
      { about: "Does it see a picture?", text: "Which colour fills this picture? One word.", picture: true },
      ({ parts }) => /\bred\b|crimson|scarlet/i.test(textOf(parts)),
    );
    const window = (await models.windowOf?.({ model, ...caller })) ?? models.info(model).context_window;
    const fill = ({ isLong, replyTokens, ...question }: NeedleQuestion) =>
      askNext({ ...question, mostTokens: replyTokens, ...(isLong ? { mostMs: LONG_CALL_MS } : {}) });
    const hasWord = (reply: ModelReply) => foundBy(reply, ({ parts }) => /heliotrope/i.test(textOf(parts)));
    const needle = !deep ? NOT_ASKED : isOver ? NOT_TRIED : await tryNeedle(window, fill, hasWord);
    const thinks = asked.some(({ parts, usage }) => parts.some(isThinking) || usage.reasoning_tokens > 0);
    const { time_to_first_token_ms: firstWord } = first.reply;
    return {
      model,
      tried_at: toTimestamp(clock.now()),
      context_window: window,
      answers,
      streams: first.pieces > 1,
      tools,
      images,
      needle,
      reasoning: thinks,
      calls: asked.length,
      cost_usd: asked.some(({ cost_usd }) => cost_usd === null)
        ? null
        : asked.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0),
      duration_ms: asked.reduce((sum, { duration_ms }) => sum + Math.round(duration_ms), 0),
      time_to_first_token_ms: firstWord === null ? null : Math.round(firstWord),
    };
  }

  const definition = defineJob(
    "try_model",
    t.Object({ model: t.String(), needle: t.Boolean() }),
    async ({ model, needle }, job) => {
      const result = await run(model, needle, job);
      store.write(() => rows.put({ model, result }, ["model"]));
      return { ...result };
    },
    // Not resumed after a restart: its calls cost money, so a person decides whether to make them again.
    { resumable: false, outward: true, parallel: TRIALS_AT_ONCE, exclusive: ({ model }) => model },
  );

  return {
    definition,
    /**
     * Starts a trial, or returns the one under way. @throws Problem 422 a model that cannot be called, 409 a different
     * trial of the model is under way.
     */
    start(model: string, needle: boolean, caller: Caller): Job {
      const wrong = wrongModel(model);
      if (wrong) throw invalidField("/model", wrong);
      const live = jobs.live(definition, model);
      if (live && jobs.payloadOf(definition, live.id).needle !== needle)
        throw conflict(
          `Another trial of ${model} is under way. Wait for it, or cancel it: skep jobs cancel ${live.id}`,
          "model_being_tried",
        );
      return jobs.enqueue(definition, { model, needle }, { key: model, subject: model, userId: caller.userId });
    },
    /** The model's last result, null when it was never tried, and the job of the trial under way. */
    last: (model: string): { trial: ModelTrialResult | null; job_id: string | null } => ({
      trial: rows.find({ model })?.result ?? null,
      job_id: jobs.live(definition, model)?.id ?? null,
    }),
  };
}

type Found = ModelTrialResult["tools"];
const NOT_TRIED: Found = { ok: null, detail: "It was not tried." };
const NOT_ASKED: Found = {
  ok: null,
  detail: "It was not tried. It fills the window: ask for it with --needle.",
};

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
