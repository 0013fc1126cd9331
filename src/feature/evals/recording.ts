/**
 * Reads the replies of an eval's models from the transcripts of its runs, so that a replay can play them without the
 * models.
 */
import { membersOf } from "../../core/is-object.ts";
import type { Store } from "../../store/store.ts";
import type { evalAttempts, RecordedTurn } from "../../store/tables/evals.ts";
import { messages } from "../../store/tables/sessions.ts";
import type { RunStore } from "../runs/store.ts";
import { WORK_STEP } from "./definition.ts";
import { BUILT_IN_HARNESS, type EvalRecording } from "./model.ts";

/** An attempt with the replies that a replay plays. */
export type RecordedRow = typeof evalAttempts.$inferSelect;

const MOST_TURNS = 500;

export function createRecordings(store: Store, runs: Pick<RunStore, "stepsOf">) {
  const rows = store.rows(messages);
  function turnsOf(runId: string): RecordedTurn[] {
    const session = runs.stepsOf(runId).findLast(({ step_id }) => step_id === WORK_STEP)?.session_id;
    if (!session) return [];
    const replies = rows.list([{ session_id: session, role: "assistant", withdrawn: false }], {
      order: "seq",
      limit: MOST_TURNS,
    });
    return replies.map(({ content }) => {
      const joinText = (type: "text" | "thinking") =>
        content.flatMap((part) => (part.type === type ? [part.text] : [])).join("");
      const calls = content.flatMap((part) =>
        part.type === "tool_call" ? [{ tool: part.tool, input: membersOf(part.input) }] : [],
      );
      const [text, thinking] = [joinText("text"), joinText("thinking")];
      return { ...(text && { text }), ...(thinking && { thinking }), ...(calls.length > 0 && { tool_calls: calls }) };
    });
  }
  return (attempts: readonly RecordedRow[]): EvalRecording => ({
    version: 1,
    attempts: attempts.flatMap(({ worker, task, agent_id, model, harness, number, run_id, turns }) => {
      if (worker !== "agent" || run_id === null || agent_id === null) return [];
      const found = turns ?? turnsOf(run_id);
      return found.length === 0
        ? []
        : [{ task, agent_id, model, harness: harness ?? BUILT_IN_HARNESS, number, turns: found }];
    }),
  });
}
