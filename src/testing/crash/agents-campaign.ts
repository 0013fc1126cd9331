/**
 * A server that is killed again and again while agents do all kinds of work except runs: chats, memory written by
 * people and agents, documents being read, swarms, routines. Few points wait until the previous work has ended, so that
 * kills also hit the recovery from earlier ones. A write that was answered before a kill must exist once at the end. A
 * write that was not answered may exist, but at most once.
 */
import { Database } from "bun:sqlite";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startServer, type TestServer } from "../server.ts";
import { type Asked, faultsOf, type Tally } from "./agents-findings.ts";
import { readEvents } from "./event-reader.ts";
import { createRandom } from "./random.ts";
import { crashRoom } from "./room.ts";

interface AgentsReport {
  points: number;
  /** Writes that were answered before the server was killed, counted by kind. */
  acknowledged: Record<string, number>;
  /** Writes that were sent and cut off by the kill. */
  unanswered: number;
  /** Kills that hit an agent, a job or a tool call at work. */
  inTheMidst: number;
  tally: Tally;
  faults: string[];
}

const SERVER = { MAX_EXECUTIONS: "6", RATE_LIMIT: "0" };
/** Approximate number of events of a point's work without a kill. A kill waits for at most so many. */
const EVENTS = 40;
const LATER_MS = 40;
const QUIET_MS = 1_500;
/** After this many points all work may end, so that not all kills hit the recovery of the first work. */
const REST_EVERY = 4;

/** Writes agents that answer, remember, or do what they are told. @returns the transcript's path. */
function layOut(data: string): string {
  for (const id of ["talker", "rememberer", "doer"]) {
    mkdirSync(join(data, "agents", id), { recursive: true });
    const file = `---\nname: ${id}\nmodel: demo/scripted\npulse_enabled: true\n---\nYou work.\n`;
    writeFileSync(join(data, "agents", id, "AGENT.md"), file);
  }
  const remember = { title: "{{ last_user }}", content: "It is so: {{ last_user }}", new: true };
  const script = {
    version: 1,
    chats: {
      talker: [{ text: "Answer to {{ last_user }}", delay_ms: 30, chunk: 4 }],
      rememberer: [{ tool_calls: [{ tool: "remember", input: remember }] }, { text: "Noted.", delay_ms: 10 }],
    },
    agents: {
      doer: [
        { text: "I look.", tool_calls: [{ tool: "ls", input: { path: "." } }], delay_ms: 20 },
        { tool_calls: [{ tool: "complete", input: { outputs: {}, summary: "{{ user }} is done" } }], delay_ms: 20 },
      ],
    },
  };
  const path = join(data, "skep.crash-script.yml");
  writeFileSync(path, JSON.stringify(script));
  return path;
}

const documentOf = (word: string) =>
  [1, 2, 3].map((n) => `## ${word} section ${n}\n\nThe ${word} is in paragraph ${n}.\n\nAnd more of it.`).join("\n\n");

/** @returns the findings. The points follow from the seed. */
export async function agentsCampaign(options: {
  points: number;
  seed: number;
  onPoint?(): void;
}): Promise<AgentsReport> {
  const { points, seed, onPoint = () => {} } = options;
  const data = mkdtempSync(join(crashRoom(), "skep-crash-"));
  const env = { ...SERVER, DEMO_SCRIPT: layOut(data) };
  const start = () => startServer({ data, env });
  const random = createRandom(seed);
  const asked: Asked[] = [];
  let inTheMidst = 0;
  let server = await start();
  try {
    const routine = await setUp(server);
    for (let at = 0; at < points; at++) {
      inTheMidst += await point(server, asked, `p${at}x`, routine, {
        events: random.upTo(EVENTS),
        laterMs: random.upTo(LATER_MS),
      });
      server = await start();
      if (at % REST_EVERY === REST_EVERY - 1) await atRest(server);
      onPoint();
    }
    await atRest(server);
    await server.stop();
    const db = new Database(join(data, "skep.db"), { readonly: true });
    const { faults, tally } = faultsOf(db, join(data, "vaults"), asked);
    db.close();
    const answered = asked.filter(({ id }) => id !== undefined);
    const acknowledged: Record<string, number> = {};
    for (const { kind } of answered) acknowledged[kind] = (acknowledged[kind] ?? 0) + 1;
    return { points, acknowledged, unanswered: asked.length - answered.length, inTheMidst, tally, faults };
  } finally {
    await server.remove();
    rmSync(data, { recursive: true, force: true });
  }
}

/**
 * Creates the entry that every point changes, and a routine that is only started by hand. @returns the routine's id.
 */
async function setUp(server: TestServer): Promise<string> {
  const counter = { title: "Counter", content: "0", type: "fact" };
  await server.request("POST", "/v1/memory/vaults/doer/entries", { body: counter });
  const routine = { name: "By hand", instructions: "Look", schedule: "0 0 29 2 *", max_concurrent: 8 };
  const made = await server.request<{ id: string }>("POST", "/v1/pulse-routines/doer", { body: routine });
  if (made.status !== 201) throw new Error(`the routine was answered with ${made.status}`);
  return made.body.id;
}

/** Starts one of each kind of work and kills the server after some events. @returns 1 if something was at work. */
async function point(
  server: TestServer,
  asked: Asked[],
  word: string,
  routine: string,
  kill: { events: number; laterMs: number },
): Promise<number> {
  const reached = Promise.withResolvers<void>();
  let count = 0;
  let atWork = 0;
  let quiet: Timer | undefined;
  const onEvent = () => {
    clearTimeout(quiet);
    quiet = setTimeout(reached.resolve, QUIET_MS);
    if (++count >= kill.events) reached.resolve();
  };
  const latest =
    (await server.request<{ items: { id: number }[] }>("GET", "/v1/events?limit=1")).body.items[0]?.id ?? 0;
  const reader = readEvents(server.url, latest, ({ kind }) => {
    if (/^(turn_started|session_started|tool_call_start)$/.test(kind)) atWork++;
    if (/^(turn_ended|session_ended|tool_call_end)$/.test(kind)) atWork--;
    onEvent();
  });
  const all = work(server, asked, word, routine);
  onEvent();
  await reached.promise;
  clearTimeout(quiet);
  await Bun.sleep(kill.laterMs);
  await server.stop("SIGKILL");
  await Promise.all([reader.ended, all]);
  return atWork > 0 ? 1 : 0;
}

/** Sends the writes of a point. Those that the kill cuts off keep no id. */
function work(server: TestServer, asked: Asked[], word: string, routine: string): Promise<unknown> {
  const send = async (kind: Asked["kind"], text: string, path: string, body?: object, method = "POST") => {
    const entry: Asked = { kind, text, id: undefined, refused: undefined };
    asked.push(entry);
    try {
      const { status, body: said } = await server.request<Record<string, string>>(method, path, body ? { body } : {});
      // A routine limits how much of it runs at once.
      if (said["code"] === "still_running") asked.splice(asked.indexOf(entry), 1);
      else if (status >= 300) entry.refused = `${status} ${JSON.stringify(said).slice(0, 200)}`;
      else entry.id = said["message_id"] ?? said["id"] ?? "";
      return status < 300 ? said : undefined;
    } catch {
      return undefined;
    }
  };
  const chat = async (agent_id: string, kind: "chat" | "remember", ...messages: string[]) => {
    const made = await send("session", `${word} ${agent_id}`, "/v1/chat/sessions", { agent_id });
    for (const message of made ? messages : [])
      await send(kind, message, `/v1/chat/sessions/${made!["id"]}/message`, { message });
  };
  const entries = async () => {
    const number = word.replaceAll(/\D/g, "");
    for (const n of [1, 2])
      await send("entry", `${word}entry${n}`, "/v1/memory/vaults/talker/entries", {
        title: `${word}entry${n}`,
        content: "Kept.",
      });
    await send("counter", number, "/v1/memory/vaults/doer/entries/fact%2Fcounter", { content: number }, "PUT");
  };
  const tasks = [
    { key: "one", agent_id: "doer", prompt: `Do ${word}one`, depends_on: [] },
    { key: "two", agent_id: "doer", prompt: `Do ${word}two`, depends_on: ["one"] },
  ];
  return Promise.all([
    chat("talker", "chat", `${word}first`, `${word}second`),
    chat("rememberer", "remember", `${word}fact`),
    entries(),
    send("document", `${word}doc`, "/v1/ingest/document", { title: `${word}doc`, content: documentOf(`${word}doc`) }),
    send("swarm", `${word}swarm`, "/v1/swarm/execute", { agent_id: "doer", tasks }),
    send("tick", word, `/v1/pulse-routines/doer/${routine}/trigger`),
  ]);
}

/** Waits until nothing is running or queued any more. */
async function atRest(server: TestServer): Promise<void> {
  const busy = async () => {
    const of = async (path: string) => (await server.request<{ items: { state: string }[] }>("GET", path)).body.items;
    const jobs = (await of("/v1/jobs?limit=200")).filter(
      ({ state }) => state === "queued" || state === "running",
    ).length;
    const { body } = await server.request<{ counts: { active_sessions: number } }>("GET", "/v1/status");
    return jobs + body.counts.active_sessions;
  };
  // Check twice: what the end of a session starts has started by the second check.
  for (let calm = 0; calm < 2; await Bun.sleep(100)) calm = (await busy()) === 0 ? calm + 1 : 0;
}
