/** Compares what a campaign with agents at work left behind with what it asked for. */
import type { Database } from "bun:sqlite";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Asked {
  kind: "session" | "chat" | "remember" | "entry" | "counter" | "document" | "swarm" | "tick";
  /** A text that occurs nowhere else. */
  text: string;
  /** The id that was answered; undefined if the server was killed before the answer. */
  id: string | undefined;
  refused: string | undefined;
}

/** How often what was asked for exists. */
export interface Tally {
  done: number;
  /** How many things were answered but do not exist. */
  lost: number;
  /** How many things exist more than once. */
  repeated: number;
}

export function faultsOf(db: Database, vaults: string, asked: readonly Asked[]): { faults: string[]; tally: Tally } {
  const tally: Tally = { done: 0, lost: 0, repeated: 0 };
  const faults: string[] = [];
  const all = <T>(sql: string, ...values: string[]): T[] => db.query<T, string[]>(sql).all(...values);
  const once = (what: Asked, times: number) => {
    tally.done += Math.min(1, times);
    if (times === 0 && what.id !== undefined) tally.lost++;
    if (times > 1) tally.repeated++;
    if (times > 1 || (times === 0 && what.id !== undefined))
      faults.push(`${what.kind} ${what.text} (${what.id ?? "unanswered"}): there ${times} times`);
  };
  const look = lookers(all, vaults);
  for (const one of asked) {
    if (one.refused !== undefined) faults.push(`${one.kind} ${one.text} was refused: ${one.refused}`);
    else if (one.kind === "counter" || one.kind === "session") continue;
    else once(one, look[one.kind](one, faults));
  }
  faults.push(...counterFaults(asked, vaults), ...generalFaults(all));
  return { faults, tally };
}

type All = <T>(sql: string, ...values: string[]) => T[];

/** Functions that count, for each kind, how often something exists. Something that exists only in part is a fault. */
function lookers(all: All, vaults: string) {
  const files = (vault: string, text: string) =>
    (readdirSync(join(vaults, vault), { recursive: true }) as string[]).filter(
      (path) => path.endsWith(".md") && readFileSync(join(vaults, vault, path), "utf8").includes(`title: ${text}\n`),
    ).length;
  /** Counts user messages with that text. Each must have one complete answer. */
  const chats = ({ text }: Asked, faults: string[]) => {
    const said = all<{ execution_id: string; status: string; replies: number }>(
      `SELECT m.execution_id, x.status, (SELECT count(*) FROM messages r WHERE r.execution_id = m.execution_id
         AND r.role = 'assistant' AND r.finish = 'stop') AS replies
       FROM messages m JOIN executions x ON x.id = m.execution_id WHERE m.role = 'user' AND m.content LIKE ?`,
      `%"${text}"%`,
    );
    for (const { execution_id, status, replies } of said)
      if (status !== "succeeded" || replies !== 1)
        faults.push(`${execution_id} (${text}): ${status}, ${replies} replies`);
    return said.length;
  };
  return {
    chat: chats,
    remember(one: Asked, faults: string[]) {
      const times = chats(one, faults);
      const calls = all<{ status: string; ok: number | null }>(
        "SELECT status, ok FROM tool_calls WHERE tool = 'remember' AND input LIKE ?",
        `%"${one.text}"%`,
      );
      const written = files("rememberer", one.text);
      // A call that the kill interrupted may or may not have written. Nobody repeats it.
      const sure = calls.filter(({ status, ok }) => status === "done" && ok === 1).length;
      if (written > 1 || written < sure)
        faults.push(`${one.text}: ${sure} sure calls of ${calls.length}, ${written} entries`);
      return times;
    },
    entry: ({ text }: Asked) => files("talker", text),
    document({ text }: Asked, faults: string[]) {
      const rows = all<{ id: string; status: string; sections: number; chunks: number; indexed: number }>(
        `SELECT d.id, d.status, d.chunks, (SELECT count(*) FROM document_sections s WHERE s.document_id = d.id) AS sections,
           (SELECT count(*) FROM document_chunks c JOIN document_text t ON t.rowid = c.id WHERE c.document_id = d.id) AS indexed
         FROM documents d WHERE d.title = ?`,
        text,
      );
      for (const { id, status, sections, chunks, indexed } of rows)
        if (status !== "ready" || sections !== 3 || indexed !== chunks)
          faults.push(`${id} (${text}): ${status}, ${sections} sections, ${indexed} of ${chunks} chunks`);
      return rows.length;
    },
    swarm({ text }: Asked, faults: string[]) {
      const word = text.replace("swarm", "");
      const rows = all<{ id: string; status: string }>(
        "SELECT id, status FROM swarms WHERE id IN (SELECT swarm_id FROM swarm_tasks WHERE prompt = ?)",
        `Do ${word}one`,
      );
      for (const { id, status } of rows) {
        const ends = all<{ key: string }>(
          "SELECT json_extract(data, '$.key') AS key FROM events WHERE kind = 'swarm_task_complete' AND swarm_id = ?",
          id,
        );
        const keys = ends
          .map(({ key }) => key)
          .sort()
          .join();
        if (status !== "succeeded" || keys !== "one,two") faults.push(`${id} (${text}): ${status}, ended ${keys}`);
      }
      return rows.length;
    },
    tick({ id, text }: Asked, faults: string[]) {
      // An unanswered tick cannot be identified; the total of all ticks is checked below.
      if (id === undefined) return 0;
      const rows = all<{ status: string; executions: number }>(
        `SELECT status, (SELECT count(*) FROM executions x WHERE x.session_id = p.session_id) AS executions
         FROM pulse_ticks p WHERE id = ?`,
        id,
      );
      for (const { status, executions } of rows)
        if (status !== "succeeded" || executions !== 1)
          faults.push(`tick ${id} (${text}): ${status}, ${executions} executions`);
      return rows.length;
    },
  };
}

/** The counter must contain the last change that was answered, or a later one. */
function counterFaults(asked: readonly Asked[], vaults: string): string[] {
  const changes = asked.filter(({ kind }) => kind === "counter");
  const lastSure = Math.max(0, ...changes.filter(({ id }) => id !== undefined).map(({ text }) => Number(text)));
  const now = Number(readFileSync(join(vaults, "doer/fact/counter.md"), "utf8").split("---\n").at(-1));
  const may = changes.some(({ text, id }) => Number(text) === now && (id === undefined || now >= lastSure));
  return now >= lastSure && (may || now === 0) ? [] : [`the counter is ${now}; ${lastSure} was answered`];
}

function generalFaults(all: All): string[] {
  const faults: string[] = [];
  const none = (what: string, sql: string) => {
    const rows = all(sql);
    if (rows.length > 0) faults.push(`${what}: ${JSON.stringify(rows.slice(0, 5))}`);
  };
  none("executions that have not ended", "SELECT id, status FROM executions WHERE finished_at IS NULL");
  none("executions that did not succeed", "SELECT id, status, error FROM executions WHERE status <> 'succeeded'");
  none("jobs that did not succeed", "SELECT id, kind, state, error_message FROM jobs WHERE state <> 'succeeded'");
  none(
    "gaps between events",
    "SELECT a.id FROM events a WHERE a.id > 1 AND NOT EXISTS (SELECT 1 FROM events b WHERE b.id = a.id - 1)",
  );
  none(
    "ticks without one session of one execution",
    `SELECT p.id FROM pulse_ticks p WHERE (SELECT count(*) FROM executions x WHERE x.session_id = p.session_id) <> 1`,
  );
  none(
    "sessions of routines without a tick",
    "SELECT id FROM sessions s WHERE kind = 'pulse' AND NOT EXISTS (SELECT 1 FROM pulse_ticks p WHERE p.session_id = s.id)",
  );
  none(
    "sessions that ended twice",
    "SELECT session_id FROM events WHERE kind = 'session_ended' GROUP BY session_id HAVING count(*) > 1",
  );
  none(
    "turns that ended twice",
    "SELECT json_extract(data, '$.execution_id') AS id FROM events WHERE kind = 'turn_ended' GROUP BY 1 HAVING count(*) > 1",
  );
  none("versions without a file or an entry", "SELECT entry FROM memory_entries WHERE problem IS NOT NULL");
  return faults;
}
