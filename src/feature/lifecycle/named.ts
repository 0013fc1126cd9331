/** Names for a page of the timeline: the run's task, the project, the task on the board. */
import { firstLine } from "../../core/first-line.ts";
import type { SessionKind } from "../../engine/kinds.ts";
import type { Store } from "../../store/store.ts";
import type { TimelineItem } from "./model.ts";

type Names = Pick<TimelineItem, "run_title" | "project_id" | "project_name" | "task_id" | "task_title">;

type OfSession = Pick<TimelineItem, "session_kind" | "session_title">;

/** @returns kind and title by session id. Called with the sessions of one page. */
export function namesOfSessions(
  { statement }: Pick<Store, "statement">,
  ids: readonly string[],
): Map<string, OfSession> {
  const rows = statement<{ id: string; kind: SessionKind; title: string | null }>(
    "SELECT id, kind, title FROM sessions WHERE id IN (SELECT value FROM json_each(?))",
  ).all([JSON.stringify(ids)]);
  return new Map(
    rows.map(({ id, kind, title }) => [
      id,
      { session_kind: kind, ...(title === null ? {} : { session_title: firstLine(title) }) },
    ]),
  );
}

/** A step's key as one text. It is unique because ids of runs hold no slash. */
export const keyOfStep = (run: string, step: string): string => `${run}/${step}`;

/**
 * @returns the steps' names from each run's own pipeline, by `keyOfStep`. Called with the runs of one page. Each
 * pipeline is read once.
 */
export function namesOfSteps({ statement }: Pick<Store, "statement">, runs: readonly string[]): Map<string, string> {
  const rows = statement<{ run: string; step: string; name: string }>(
    `WITH page AS MATERIALIZED (SELECT id, definition_id FROM runs WHERE id IN (SELECT value FROM json_each(?))),
       steps AS MATERIALIZED (
         SELECT d.id AS definition_id, s.value ->> 'id' AS step, s.value ->> 'name' AS name
         FROM run_definitions d, json_each(d.definition, '$.steps') s
         WHERE d.id IN (SELECT definition_id FROM page))
     SELECT page.id AS run, step, name FROM page JOIN steps USING (definition_id) WHERE name IS NOT NULL`,
  ).all([JSON.stringify(runs)]);
  return new Map(rows.map(({ run, step, name }) => [keyOfStep(run, step), name]));
}

interface NamesRow {
  id: string;
  text: string;
  project_id: string | null;
  project_name: string | null;
  task_id: string | null;
  task_title: string | null;
}

/** @returns names by run id. Called with the runs of one page. */
export function namesOfRuns({ statement }: Pick<Store, "statement">, ids: readonly string[]): Map<string, Names> {
  const rows = statement<NamesRow>(
    `SELECT r.id, substr(r.task_description, 1, 400) AS text, p.id AS project_id, p.name AS project_name,
       t.id AS task_id, t.title AS task_title
     FROM runs r LEFT JOIN projects p ON p.id = r.project_id LEFT JOIN tasks t ON t.id = r.task_id
     WHERE r.id IN (SELECT value FROM json_each(?))`,
  ).all([JSON.stringify(ids)]);
  return new Map(
    rows.map(({ id, text, project_id, project_name, task_id, task_title }) => [
      id,
      {
        run_title: firstLine(text),
        ...(project_id === null || project_name === null ? {} : { project_id, project_name }),
        ...(task_id === null || task_title === null ? {} : { task_id, task_title }),
      },
    ]),
  );
}
