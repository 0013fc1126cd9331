/** A database from before sessions existed: no message is lost, and running work continues. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { systemClock } from "../../core/clock.ts";
import { migrate } from "../../store/migrate.ts";
import { MIGRATIONS } from "../../store/migrations/list.ts";
import { openStore } from "../../store/store.ts";
import { createSessions } from "./service.ts";

const AT = "2026-01-01T00:00:00.000Z";
const SUFFIX = "01kf00000000000000000000e1";

function oldDatabase(path: string): void {
  const db = new Database(path);
  migrate(
    db,
    null,
    MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex(({ name }) => name === "0120-sessions"),
    ),
  );
  const contract = JSON.stringify({ outputs: ["a"], schema: null });
  const execution = db.prepare(
    `INSERT INTO executions (id, kind, agent_id, status, run_id, step_row_id, step_id, prompt, system, contract, skills,
       timeout_seconds, lease_owner, turns, cost_nano, tokens, created_at, started_at)
     VALUES (?, 'pipeline', 'worker', ?, 'run_1', ?, 'work', 'Do "it"', ?, ?, '[]', 60, ?, 2, 5, 7, ?, ?)`,
  );
  execution.run(`sess_${SUFFIX}`, "running", "step_1", "You work.", contract, "ins_dead", AT, AT);
  execution.run("sess_queued", "queued", null, null, contract, null, AT, null);
  const message = db.prepare(
    "INSERT INTO messages (execution_id, seq, id, role, content, created_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const call = { type: "tool_call", call_id: "c1", tool: "ls", input: { path: "." } };
  const said: [string, unknown][] = [
    ["user", 'Do "it"\n'],
    ["assistant", [call]],
    ["summary", "It was \u00e9asy"],
    ["assistant", [{ type: "text", text: "on" }]],
  ];
  for (const [seq, [role, content]] of said.entries())
    message.run(`sess_${SUFFIX}`, seq, `msg_${seq}`, role, JSON.stringify(content), AT);
  db.prepare(
    `INSERT INTO tool_calls (execution_id, seq, position, call_id, tool, input, status, ok, output)
     VALUES (?, 1, 0, 'c1', 'ls', '{"path":"."}', 'done', 1, 'listed')`,
  ).run(`sess_${SUFFIX}`);
  db.close();
}

test("executions become sessions of one execution, with their transcript, calls and costs", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-old-"));
  try {
    const path = join(folder, "skep.db");
    oldDatabase(path);
    const store = openStore({ path, clock: systemClock, copies: folder });
    const sessions = createSessions({ store, clock: systemClock, recordCall: () => {} });
    const id = `sess_${SUFFIX}`;
    expect(sessions.find(id)).toMatchObject({
      ...{ kind: "pipeline", agent_id: "worker", root_id: id, depth: 0, status: "running", run_id: "run_1" },
      ...{ spent_nano: 5, tokens: 7, execution_count: 1, message_count: 4, ended_at: null },
    });
    expect(sessions.transcript(id).map(({ seq, id: message, role, parts }) => [seq, message, role, parts])).toEqual([
      [0, "msg_0", "user", [{ type: "text", text: 'Do "it"\n' }]],
      [
        ...[1, "msg_1", "assistant"],
        [
          { type: "tool_call", call_id: "c1", tool: "ls", input: { path: "." } },
          { type: "tool_result", call_id: "c1", tool: "ls", ok: true, output: "listed" },
        ],
      ],
      [2, "msg_2", "summary", [{ type: "text", text: "It was \u00e9asy" }]],
      [3, "msg_3", "assistant", [{ type: "text", text: "on" }]],
    ]);
    expect(sessions.rows.reclaim()).toBe(1);
    const taken = sessions.rows.take(10, new Map(), { perAgent: 10, belowOnly: false });
    expect(taken.map((one) => [one.id, one.sessionId, one.system, one.contract.outputs])).toEqual([
      [`exe_${SUFFIX}`, id, "You work.", ["a"]],
      ["exe_queued", "sess_queued", null, ["a"]],
    ]);
    const context = sessions.rows.context(taken[0]!);
    expect(context.map(({ role, seq }) => [role, seq])).toEqual([
      ["summary", 2],
      ["assistant", 3],
    ]);
    expect(taken[0]!.input).toEqual([{ type: "text", text: 'Do "it"' }]);
    expect(store.sqlite.pragma("foreign_key_check")).toEqual([]);
    store.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
