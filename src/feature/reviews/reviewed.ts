/** Work that can be reviewed: the runs and sessions on a branch of a project that a caller may read. */

import { conflict, expectFound, notFound } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import { isRunEnd, isRunStatus } from "../../core/run-states.ts";
import { shownOf } from "../../core/schema.ts";
import type { Caller } from "../../http/caller.ts";
import { badCursor, type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import { allOf, type Condition, seekBelow } from "../../store/reader.ts";
import { mayRead, own, WHOSE, WHOSE_SESSIONS } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import type { WorkRow, Works } from "../projects/works.ts";
import type { RunViews } from "../runs/views.ts";
import { Changes } from "./merge-model.ts";

/** Work on a branch of a project. */
export type Reviewed = WorkRow & { project_id: string; branch: string };

interface ReviewedDeps extends Pick<Core, "store"> {
  works: Works;
  views: Pick<RunViews, "rowFor">;
}

/** The kinds of work by the names that people use. */
const WORDS: Partial<Record<WorkRow["kind"], Changes["kind"]>> = {
  run: "run",
  chat: "chat",
  pulse: "routine",
  swarm: "swarm",
  spawn: "spawn",
};
export const wordOf = ({ kind }: Pick<WorkRow, "kind">): Changes["kind"] => WORDS[kind] ?? "run";
/** Swarms and spawned executions have the ids of their sessions with another prefix. */
const ALIAS = /^(?:swm|spn)_/;
const TITLE_CHARACTERS = 200;

export type ReviewedWork = ReturnType<typeof createReviewed>;

export function createReviewed({ store, works, views }: ReviewedDeps) {
  const { statement } = store;
  /** The run or session that owns the working copy. @throws Problem 404. */
  function workIdOf(id: string): string {
    if (isId("run", id)) return id;
    const session = isId("pulseTick", id)
      ? statement<string | null>("SELECT session_id FROM pulse_ticks WHERE id = ?").pluck().get(id)
      : id.replace(ALIAS, "sess_");
    return (session && works.ofSession(session)) ?? session ?? id;
  }
  const isAtWork = ({ id, kind, status, ended_at }: WorkRow): boolean => {
    if (kind === "run") return isRunStatus(status) && !isRunEnd(status);
    if (kind !== "chat" && ended_at === null) return true;
    return (
      statement(
        `SELECT 1 FROM sessions JOIN executions ON executions.session_id = sessions.id
         WHERE sessions.work_id = ? AND executions.finished_at IS NULL LIMIT 1`,
      ).get(id) !== undefined
    );
  };
  /** The part of an id that orders runs and sessions together by time. */
  const timeOf = ({ id }: Pick<WorkRow, "id">): string => id.slice(id.indexOf("_") + 1);
  function listNewest(
    table: "runs" | "sessions",
    prefix: string,
    mine: Condition,
    projectId: string | undefined,
    { after, limit }: Page,
  ): Reviewed[] {
    if (after !== null && !/^\w+$/.test(after)) throw badCursor();
    const of: Condition = projectId === undefined ? undefined : ["project_id = ?", projectId];
    const onBranches: Condition = ["project_id IS NOT NULL AND branch IS NOT NULL"];
    const { where, values } = allOf(onBranches, of, mine, seekBelow("id", { after: after && prefix + after }));
    const ids = statement<string>(`SELECT id FROM ${table} ${where} ORDER BY id DESC LIMIT ?`).pluck();
    return ids
      .all(...values, limit + 1)
      .flatMap((id) => works.find(id) ?? [])
      .map(onBranch);
  }
  /**
   * @param id of a run, a session, a swarm, a spawned execution or a routine's tick.
   * @throws Problem 404, also for work that the caller may not read.
   */
  function rowFor(id: string, caller: Caller): WorkRow {
    const row = expectFound(works.find(workIdOf(id)), "run, chat, swarm, spawned execution or routine's tick");
    if (row.kind === "run") views.rowFor(row.id, caller);
    else if (!mayRead(caller, row.kind === "chat" ? WHOSE_SESSIONS.chat : WHOSE_SESSIONS.spawn, row))
      throw notFound("run, chat, swarm, spawned execution or routine's tick");
    return row;
  }
  /** @throws Problem 409 `no_project`. */
  function onBranch(row: WorkRow): Reviewed {
    const { project_id, branch } = row;
    if (project_id === null || branch === null)
      throw conflict(
        `The ${wordOf(row)} works on no branch of a project, so nothing of it is in a repository.`,
        "no_project",
      );
    return { ...row, project_id, branch };
  }
  return {
    /**
     * Work on a branch, without a check of rights: for an id that was found for a caller before.
     * @throws Problem 404, 409 `no_project`.
     */
    loadUnchecked(id: string): Reviewed {
      const row = expectFound(works.find(id), "run or session");
      return onBranch(row);
    },
    /** The work, whether or not it is on a branch. @throws Problem 404. */
    work: rowFor,
    /** @throws Problem 404, also for work that the caller may not read; 409 `no_project`. */
    find: (id: string, caller: Caller): Reviewed => onBranch(rowFor(id, caller)),
    /** The caller's own work on branches, newest first. */
    list(projectId: string | undefined, page: Page, caller: Caller): ListAnswer<Changes> {
      const rows = [
        ...listNewest("runs", "run_", own(caller, WHOSE.runs), projectId, page),
        ...listNewest("sessions", "sess_", own(caller, WHOSE.sessions), projectId, page),
      ];
      rows.sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
      return listAnswer(rows.slice(0, page.limit + 1), page, timeOf, present);
    },
    present,
    isAtWork,
    /** @throws Problem 409 `run_active`, `session_busy` while the work's files may still change. */
    assertQuiet(row: WorkRow): void {
      if (!isAtWork(row)) return;
      if (row.kind === "run")
        throw conflict(`The run is ${row.status}. Wait until it has ended, or cancel it.`, "run_active");
      const remedy =
        row.kind === "chat" ? "Wait for the reply, or stop it." : "Wait until that has ended, or cancel it.";
      throw conflict(`An agent is at work in these files. ${remedy}`, "session_busy");
    },
  };

  function present(row: Reviewed): Changes {
    return {
      ...shownOf(Changes, row),
      work_id: row.id,
      kind: wordOf(row),
      title: row.title.trim().slice(0, TITLE_CHARACTERS),
      notice: row.workspace_notice,
      at_work: isAtWork(row),
    };
  }
}
