/** An overview of runs: running ones with their steps and latest words, and how runs ended, day by day. */
import { type Static, Type as t } from "@sinclair/typebox";
import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { orNull, Time } from "../../core/schema.ts";
import { textOf } from "../../engine/parts.ts";
import { kindOfStep, type PipelineDefinition } from "../../engine/pipeline/definition.ts";
import type { Caller } from "../../http/caller.ts";
import { idsSince } from "../../store/id-range.ts";
import { allOf, type Condition, createReader } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { messages } from "../../store/tables/sessions.ts";
import { Run, StepStatus } from "./model.ts";
import type { RunStore } from "./store.ts";

const StepSpan = t.Object(
  {
    step_id: t.String(),
    name: t.String(),
    status: StepStatus,
    person: t.Boolean({ description: "Whether a person answers the step." }),
    started_at: orNull(Time),
    finished_at: orNull(Time),
  },
  { title: "StepSpan" },
);
type StepSpan = Static<typeof StepSpan>;

export const RunAtWork = t.Object(
  {
    run: Run,
    steps: t.Array(StepSpan, { description: "Latest attempt of each step in the order of the pipeline; at most 40." }),
    agent_id: orNull(t.String({ description: "Agent that is at work." })),
    last_words: orNull(t.String({ description: "Last sentence of the agent at work; at most 240 characters." })),
  },
  { title: "RunAtWork" },
);
export type RunAtWork = Static<typeof RunAtWork>;

export const RunDay = t.Object(
  {
    day: t.String({ format: "date", description: "Day in UTC." }),
    succeeded: t.Integer(),
    failed: t.Integer(),
    cancelled: t.Integer(),
    unfinished: t.Integer(),
  },
  { title: "RunDay" },
);
export type RunDay = Static<typeof RunDay>;

const STEPS_MAX = 40;
const SENTENCE_MAX = 240;
/** Number of messages that are searched for text, because the newest ones may have none. */
const MESSAGES = 3;
/** Most characters of a message's JSON that are read. Longer messages usually write a file. */
const MESSAGE_MAX = 20_000;

const DEFINITION = "SELECT definition_id FROM runs WHERE id = ?";
const SPANS = `
  SELECT step_id, status, agent_id, session_id, started_at, finished_at
  FROM steps WHERE run_id = ? AND item_index IS NULL AND superseded = 0 ORDER BY position DESC LIMIT 200`;
const WORDS = `
  WHERE session_id = ? AND role = 'assistant' AND withdrawn = 0 AND length(content) <= ${MESSAGE_MAX}
  ORDER BY seq DESC LIMIT ${MESSAGES}`;

interface SpanRow {
  step_id: string;
  status: StepSpan["status"];
  agent_id: string | null;
  session_id: string | null;
  started_at: string | null;
  finished_at: string | null;
}

/** The last sentence of a text; a long one is cut at its beginning. */
export function lastSentence(text: string): string {
  const line = text.trimEnd().split("\n").at(-1)?.trim() ?? "";
  const inner = line.slice(0, -1);
  const at = Math.max(inner.lastIndexOf(". "), inner.lastIndexOf("! "), inner.lastIndexOf("? "));
  const sentence = line.slice(at < 0 ? 0 : at + 2);
  return sentence.length <= SENTENCE_MAX ? sentence : `…${sentence.slice(1 - SENTENCE_MAX)}`;
}

export type Overview = ReturnType<typeof createOverview>;

interface OverviewDeps {
  store: Pick<Store, "statement">;
  rows: Pick<RunStore, "definition">;
  now(): number;
}

export function createOverview({ store: { statement }, rows, now }: OverviewDeps) {
  const replies = createReader(statement, messages, ["content"]);
  const lastWords = (session: string): string | null => {
    for (const { content } of replies.all(WORDS, session)) {
      const said = textOf(content).trim();
      if (said) return lastSentence(said);
    }
    return null;
  };
  const stepsOf = (definition: PipelineDefinition, found: readonly SpanRow[]): StepSpan[] => {
    const latest = new Map<string, SpanRow>();
    for (const row of found) if (!latest.has(row.step_id)) latest.set(row.step_id, row);
    return definition.steps.slice(0, STEPS_MAX).map((step) => {
      const { id, name } = step;
      const row = latest.get(id);
      return {
        step_id: id,
        name: name ?? id,
        status: row?.status ?? "pending",
        person: kindOfStep(step) === "approval",
        started_at: row?.started_at ?? null,
        finished_at: row?.finished_at ?? null,
      };
    });
  };
  return {
    /** Details of the running runs on a page of the list. */
    atWork: (runs: readonly Run[]): RunAtWork[] =>
      runs.flatMap((run) => {
        const definition = statement<string>(DEFINITION).pluck().get(run.id);
        if (definition === undefined) return [];
        const found = statement<SpanRow>(SPANS).all(run.id);
        const at = found.find(({ status }) => status === "running") ?? found.find(({ status }) => status === "waiting");
        const said = at?.session_id ? lastWords(at.session_id) : null;
        return [
          { run, steps: stepsOf(rows.definition(definition), found), agent_id: at?.agent_id ?? null, last_words: said },
        ];
      }),
    /** Runs per day, the newest day last; days without runs are included. @param days number of days, ending today. */
    days(days: number, caller: Caller): RunDay[] {
      const first = Math.floor(now() / DAY_MS) * DAY_MS - (days - 1) * DAY_MS;
      const since = toTimestamp(first);
      const own: Condition = caller.admin ? undefined : ["runs.created_by = ?", caller.userId ?? ""];
      const { where, values } = allOf(
        [`runs.created_at >= ? AND ${idsSince("runs", "created_at")}`, since, since],
        own,
      );
      const found = statement<{ day: string; status: string; many: number }>(
        `SELECT substr(created_at, 1, 10) AS day, status, count(*) AS many FROM runs ${where} GROUP BY 1, 2`,
      ).all(...values);
      const byDay = new Map<string, RunDay>();
      for (let at = 0; at < days; at++) {
        const day = toTimestamp(first + at * DAY_MS).slice(0, 10);
        byDay.set(day, { day, succeeded: 0, failed: 0, cancelled: 0, unfinished: 0 });
      }
      for (const { day, status, many } of found) {
        const one = byDay.get(day);
        if (!one) continue;
        if (status === "succeeded" || status === "failed" || status === "cancelled") one[status] += many;
        else one.unfinished += many;
      }
      return [...byDay.values()];
    },
  };
}
