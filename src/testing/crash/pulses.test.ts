/** Routines and kill -9: a crash between writing a tick's row and its work loses nothing. */
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom, seedFrom } from "./random.ts";

const seed = seedFrom(process.env["CRASH_SEED"]);
const LIVES = Number(process.env["CRASH_LIVES"] ?? 10);
const data = mkdtempSync(join(tmpdir(), "skep-pulses-"));
afterAll(() => rmSync(data, { recursive: true, force: true }));

/**
 * Runs a life until it is killed, this many ms after that many of its own minutes began, or to its end. @returns the
 * exit code.
 */
async function live(minutes: number, kill?: { minutes: number; laterMs: number }): Promise<number | null> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "pulse-life.ts"), data, String(minutes)], {
    stdout: "pipe",
    stderr: "inherit",
    stdin: "ignore",
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "/tmp" },
  });
  let begun = 0;
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    begun += chunk.split("minute").length - 1;
    if (kill === undefined || begun < kill.minutes) continue;
    await Bun.sleep(kill.laterMs);
    child.kill("SIGKILL");
    break;
  }
  await child.exited;
  return child.exitCode;
}

test(`no minute of a routine is lost, and none is done twice, whenever the server is killed (CRASH_SEED=${seed})`, async () => {
  mkdirSync(join(data, "agents/pulser"), { recursive: true });
  writeFileSync(join(data, "agents/pulser/AGENT.md"), "---\nname: Pulser\npulse_enabled: true\n---\nYou look.");
  const random = createRandom(seed);
  for (let life = 0; life < LIVES; life++)
    await live(100_000, { minutes: 1 + random.upTo(6), laterMs: random.upTo(40) });
  expect(await live(3)).toBe(0);
  const db = new Database(join(data, "skep.db"), { readonly: true });
  const all = <T>(sql: string): T[] => db.query(sql).all() as T[];
  const ticks = all<{ due_at: number; status: string; session_id: string | null }>(
    "SELECT due_at, status, session_id FROM pulse_ticks ORDER BY due_at",
  );
  const gaps = ticks.slice(1).filter(({ due_at }, at) => due_at - ticks[at]!.due_at !== 60_000);
  expect(gaps).toEqual([]);
  const worked = ticks.filter(({ session_id }) => session_id !== null);
  expect(worked.filter(({ status }) => status !== "succeeded")).toEqual([]);
  const sessions = all<{ id: string; executions: number }>(
    "SELECT id, (SELECT count(*) FROM executions WHERE session_id = sessions.id) AS executions FROM sessions WHERE kind = 'pulse'",
  );
  expect(sessions.map(({ id }) => id).sort()).toEqual(worked.map(({ session_id }) => session_id!).sort());
  expect(sessions.filter(({ executions }) => executions !== 1)).toEqual([]);
  expect(all("SELECT 1 FROM events WHERE kind = 'pulse_complete'")).toHaveLength(worked.length);
  // A campaign that was never down, or never at work, would prove little.
  expect(ticks.filter(({ status }) => status === "missed").length).toBeGreaterThan(LIVES);
  expect(worked.length).toBeGreaterThan(LIVES);
  db.close();
}, 600_000);
