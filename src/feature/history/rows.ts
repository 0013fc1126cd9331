/**
 * The rows of a deletion: collects what a deletion removes, and removes it table by table according to
 * `store/deletion-plan.ts`.
 */
import { LIMITS } from "../../core/limits.ts";
import { entriesOf, recordOf } from "../../core/typed-keys.ts";
import { DELETION_PLAN, type Reach } from "../../store/deletion-plan.ts";
import type { Store } from "../../store/store.ts";

export interface Item {
  kind: "run" | "session" | "content" | "clone";
  id: string;
  project_id: string | null;
}

const REACHES = ["run", "session", "project", "user"] as const;

type Subject = { kind: "run" | "session" | "project" | "user"; id: string };

/** SQL conditions for the runs of each kind of subject, and for its sessions. */
const RUNS: Record<Subject["kind"], string> = {
  run: "id = @id",
  session: "0",
  project: "project_id = @id",
  user: "created_by = @id",
};
const SESSIONS: Record<Subject["kind"], string> = {
  run: "run_id = @id",
  session: "root_id = @id",
  project: "project_id = @id",
  user: "user_id = @id",
};
/** Queries for the digests of files that the deletion may leave without an owner. */
const CONTENTS: Partial<Record<Reach, string>> = {
  session: `SELECT sha256, text_sha256 FROM attachments WHERE ${DELETION_PLAN["attachments"]!.goes!.session}`,
  user: `SELECT sha256, text_sha256 FROM attachments WHERE user_id = @id
    UNION SELECT sha256, NULL FROM documents WHERE user_id = @id`,
  project: "SELECT sha256, NULL AS text_sha256 FROM documents WHERE project_id = @id",
};

export function createHistoryRows(store: Store) {
  const { statement } = store;
  /** The statements for each kind of deleted thing, in order. Those on large tables remove a limited number of rows. */
  const steps = recordOf(REACHES, stepsOf);

  /** Adds the sessions of the collected runs, and the clones to repack. */
  function gatherSessionsOfRuns(deletion: string): void {
    statement(
      `INSERT OR IGNORE INTO deletion_items (deletion_id, kind, id, project_id)
       SELECT @deletion, 'session', below.id, below.project_id
       FROM deletion_items AS item JOIN sessions AS root ON root.run_id = item.id
         JOIN sessions AS below ON below.root_id = root.root_id
       WHERE item.deletion_id = @deletion AND item.kind = 'run'`,
    ).run({ deletion });
    statement(
      `INSERT OR IGNORE INTO deletion_items (deletion_id, kind, id)
       SELECT DISTINCT @deletion, 'clone', project_id FROM deletion_items AS item
       WHERE deletion_id = @deletion AND project_id IS NOT NULL AND (kind = 'run'
         OR EXISTS (SELECT 1 FROM sessions WHERE sessions.id = item.id AND branch IS NOT NULL))`,
    ).run({ deletion });
  }
  /** Adds the digests of the deleted thing's files. Call before its rows are removed. */
  function noteContents(deletion: string, reach: Reach, id: string): void {
    const query = CONTENTS[reach];
    if (query === undefined) return;
    for (const { sha256, text_sha256 } of statement<{ sha256: string; text_sha256: string | null }>(query).all({
      id,
    }))
      for (const digest of [sha256, text_sha256])
        if (digest !== null)
          statement("INSERT OR IGNORE INTO deletion_items (deletion_id, kind, id) VALUES (?, 'content', ?)").run(
            deletion,
            digest,
          );
  }

  return {
    /** Collects what the deletion of a subject removes. Call inside a transaction. */
    gather(deletion: string, { kind, id }: Subject): void {
      const values = { deletion, id };
      statement(
        `INSERT OR IGNORE INTO deletion_items (deletion_id, kind, id, project_id)
         SELECT @deletion, 'run', id, project_id FROM runs WHERE ${RUNS[kind]}`,
      ).run(values);
      // A session is deleted with its whole tree: the root session and all sessions below it.
      statement(
        `INSERT OR IGNORE INTO deletion_items (deletion_id, kind, id, project_id)
         SELECT @deletion, 'session', all_of.id, all_of.project_id FROM sessions AS all_of WHERE root_id IN
           (SELECT root_id FROM sessions WHERE ${SESSIONS[kind]})`,
      ).run(values);
      gatherSessionsOfRuns(deletion);
      // A session's digests are collected when its rows are removed.
      if (kind === "project" || kind === "user") noteContents(deletion, kind, id);
    },
    gatherSessionsOfRuns,
    noteContents,
    /** Collected runs and sessions that are at work. */
    active: (deletion: string): string[] =>
      statement<string>(
        `SELECT item.id FROM deletion_items AS item JOIN runs ON runs.id = item.id
         WHERE item.deletion_id = @deletion AND item.kind = 'run' AND runs.finished_at IS NULL
         UNION SELECT item.id FROM deletion_items AS item JOIN executions ON executions.session_id = item.id
         WHERE item.deletion_id = @deletion AND item.kind = 'session' AND executions.finished_at IS NULL LIMIT 10`,
      )
        .pluck()
        .all({ deletion }),
    /** Collected root sessions that have not ended. */
    open: (deletion: string): string[] =>
      statement<string>(
        `SELECT item.id FROM deletion_items AS item JOIN sessions ON sessions.id = item.id
         WHERE item.deletion_id = ? AND item.kind = 'session' AND sessions.ended_at IS NULL AND sessions.parent_id IS NULL`,
      )
        .pluck()
        .all([deletion]),
    /**
     * Removes rows of a deleted thing. Call inside a transaction. @returns false when there may be more than one step
     * removes.
     */
    remove(reach: Reach, id: string): boolean {
      for (const { sql, isLarge } of steps[reach]) {
        const { changes } = statement(sql).run({ id });
        if (isLarge && changes === LIMITS.pruneRows) return false;
      }
      return true;
    },
    listRemaining: (deletion: string, kinds: readonly Item["kind"][], most: number): Item[] =>
      statement<Item>(
        `SELECT kind, id, project_id FROM deletion_items
         WHERE deletion_id = @deletion AND done = 0 AND kind IN (SELECT value FROM json_each(@kinds)) LIMIT @most`,
      ).all({ deletion, kinds: JSON.stringify(kinds), most }),
    note: (deletion: string, { kind, id }: Pick<Item, "kind" | "id">): void =>
      void statement("UPDATE deletion_items SET done = 1 WHERE deletion_id = ? AND kind = ? AND id = ?").run(
        deletion,
        kind,
        id,
      ),
    counts: (deletion: string): Record<Item["kind"], { all: number; done: number }> => {
      const counts = { run: NONE, session: NONE, content: NONE, clone: NONE };
      for (const { kind, ...count } of statement<{ kind: Item["kind"]; all: number; done: number }>(
        `SELECT kind, count(*) AS "all", sum(done) AS done FROM deletion_items WHERE deletion_id = ? GROUP BY kind`,
      ).all(deletion))
        counts[kind] = count;
      return counts;
    },
    /** Ids of all collected runs and sessions. */
    ids: (deletion: string): Set<string> =>
      new Set(
        statement<string>("SELECT id FROM deletion_items WHERE deletion_id = ? AND kind IN ('run', 'session')")
          .pluck()
          .all([deletion]),
      ),
    /**
     * Removes texts to which nothing refers any more. Call inside a transaction. @returns whether there may be more.
     */
    removeUnused(): boolean {
      const removeFrom = (table: string, column: string, of: string) =>
        statement(
          `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE NOT EXISTS
             (SELECT 1 FROM ${of} WHERE ${of}.${column} = ${table}.id) LIMIT ${LIMITS.pruneRows})`,
        ).run().changes === LIMITS.pruneRows;
      const prompts = removeFrom("prompts", "prompt_id", "executions");
      return removeFrom("run_definitions", "definition_id", "runs") || prompts;
    },
  };
}

export type HistoryRows = ReturnType<typeof createHistoryRows>;

const NONE = { all: 0, done: 0 };

function stepsOf(reach: Reach): { sql: string; isLarge: boolean }[] {
  return entriesOf(DELETION_PLAN).flatMap(([table, { goes, loses, isLarge = false }]) => {
    const [go, lose] = [goes?.[reach], loses?.of[reach]];
    const some = `rowid IN (SELECT rowid FROM ${table} WHERE ${go} LIMIT ${LIMITS.pruneRows})`;
    return [
      ...(go === undefined ? [] : [{ sql: `DELETE FROM ${table} WHERE ${isLarge ? some : go}`, isLarge }]),
      ...(lose === undefined || loses === undefined
        ? []
        : [{ sql: `UPDATE ${table} SET ${loses.columns} WHERE ${lose}`, isLarge: false }]),
    ];
  });
}
