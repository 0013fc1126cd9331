/**
 * Rows that name deleted things in their texts, without a column for them: jobs with their progress, remembered
 * responses, notices.
 */
import { LIMITS } from "../../core/limits.ts";
import type { Store } from "../../store/store.ts";

const ID = /\b(?:run|sess|job|proj|usr)_[0-9a-z]{26}\b/g;
const PAUSE_MS = 2;

/** Tables, and the texts in them that may name an id. Of the events only those that belong to no run and no session. */
const TABLES = [
  {
    table: "jobs",
    text: "concat_ws(' ', key, payload, subject, result, progress, detail, error_message)",
    where: "finished_at IS NOT NULL",
  },
  { table: "idempotency", id: "key", text: "concat_ws(' ', location, body)" },
  { table: "notifications", text: "concat_ws(' ', key, title, detail)" },
  {
    table: "events",
    text: "concat_ws(' ', project_id, user_id, data)",
    where: "run_id IS NULL AND session_id IS NULL",
    first: 0,
  },
] as const;

export function createMentions({ statement, write }: Pick<Store, "statement" | "write">) {
  /**
   * Passes over a table once, in the order of its key, and removes rows that name an id. @returns keys of the removed
   * rows.
   */
  async function pass(from: (typeof TABLES)[number], ids: ReadonlySet<string>, own: string, signal: AbortSignal) {
    const { table, text } = from;
    const key = "id" in from ? from.id : "id";
    const where = "where" in from ? from.where : "1";
    const read = statement<{ id: string | number; text: string }>(
      `SELECT ${key} AS id, ${text} AS text FROM ${table} WHERE ${key} > ? AND ${where} ORDER BY ${key} LIMIT ${LIMITS.pruneRows}`,
    );
    const gone: string[] = [];
    let after: string | number = "first" in from ? from.first : "";
    for (;;) {
      const rows = read.all(after);
      const named = rows.filter((row) => row.id !== own && namesOne(row.text, ids)).map(({ id }) => id);
      if (named.length > 0)
        write(() =>
          statement(`DELETE FROM ${table} WHERE ${key} IN (SELECT value FROM json_each(?))`).run(JSON.stringify(named)),
        );
      gone.push(...named.map(String));
      const last = rows.at(-1);
      if (rows.length < LIMITS.pruneRows || last === undefined) return gone;
      after = last.id;
      signal.throwIfAborted();
      await Bun.sleep(PAUSE_MS);
    }
  }
  return {
    /** Removes the rows that name one of these ids, and the events of removed jobs. */
    async remove(ids: ReadonlySet<string>, { id: own, signal }: { id: string; signal: AbortSignal }): Promise<void> {
      const all = new Set(ids);
      for (const from of TABLES) {
        const gone = await pass(from, all, own, signal);
        if (from.table === "jobs") for (const id of gone) all.add(id);
      }
    },
  };
}

function namesOne(text: string, ids: ReadonlySet<string>): boolean {
  for (const [id] of text.matchAll(ID)) if (ids.has(id)) return true;
  return false;
}
