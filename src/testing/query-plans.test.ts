/**
 * What every GET of the API asks of the database, for an administrator and a user, with each of its parameters. No
 * statement may read a whole table or index that grows with history. The same applies to the removal of old rows.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, createApp } from "../app.ts";
import { systemClock } from "../core/clock.ts";
import { readConfig } from "../core/config.ts";
import { databasePath, openStore, type Store } from "../store/store.ts";
import { makeUser, setupAdmin } from "./accounts.ts";
import type { RequestOptions, TestServer } from "./server.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

/** Tables with as many rows as there are people, or as people set up by hand. */
const SMALL = new Set(
  `migrations facts users recovery_codes api_keys oidc_providers identities settings providers user_provider_keys harness_logins secrets
   secret_grants projects project_environments project_setups drained_hosts tool_overrides workflow_policies mcp_servers mcp_tools cookie_sets cookie_grants agent_totals
   agent_tts_settings permission_answers codehost_rules notification_channels notification_position messengers notification_links pulse_routines preferences`.split(
    /\s+/,
  ),
);
/** For these tables, a page must not be sorted out of all rows of one user, agent or state. */
const HISTORY = new Set(["runs", "sessions", "steps", "executions", "messages", "tool_calls", "llm_calls", "events"]);
/** Exceptions, as patterns for "plan: statement", each with the reason. */
const MAY: [statement: RegExp, why: string][] = [
  [/\+runs\.status IN/, "nearly all runs have one of these states, so that the newest fill a page"],
  [/INDEX (notifications_open|sessions_live):/, "an index of those that are open alone"],
  [/FROM usage_(days|hours)\b/, "sums of a day or an hour for each agent and model, which is what a year adds up to"],
  [
    /SCAN documents: .* ORDER BY id DESC LIMIT/,
    "reads documents from the newest until the page is full; people hand them in by hand",
  ],
  [
    /runs_status .*FROM runs WHERE runs\.status IN \(\?, \?\) ORDER BY/,
    "runs that have not ended: an index finds them",
  ],
  [/SCAN budget_notices: DELETE/, "a notice for each budget and period that was nearly used up"],
  [/INDEX evals_running:/, "an index of those that run alone"],
  [/INDEX permission_requests_open:/, "an index of those that wait alone"],
  [/INDEX sessions_user .*permission_requests\.session_id/, "questions to people are few: a person answers each"],
  [/INDEX onboardings_active/, "an index of those that are active alone"],
  [
    /FROM events INDEXED BY events_timeline/,
    "reads the index of the timeline from its newest, and events are kept for days",
  ],
  [/INDEX sessions_user .*FROM onboardings JOIN/, "a person begins a project's interview by hand"],
  [/count\(\*\).* FROM codehost_deliveries GROUP BY/, "deliveries are kept for days"],
  [/DELETE FROM events .*FROM events ORDER BY id LIMIT/, "the first rows of the log"],
];

const mayDo = (plan: string, text: string): boolean => MAY.some(([statement]) => statement.test(`${plan}: ${text}`));

interface Parameter {
  name: string;
  in: string;
  schema?: { enum?: unknown[]; anyOf?: { const?: unknown }[]; type?: string };
}
interface Operation {
  parameters?: Parameter[];
}

const data = mkdtempSync(join(tmpdir(), "skep-plans-"));
let app: App;
let store: Store;
let who: string[];
const asked = new Map<string, string>();
let asking = "";

const request = async (method: string, path: string, { body, token, headers = {} }: RequestOptions = {}) => {
  const answer = await fetch(new URL(path, app.url), {
    method,
    headers: {
      ...headers,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(120_000),
  });
  const text = await answer.text();
  const json = answer.headers.get("content-type")?.includes("json");
  // biome-ignore lint/suspicious/noExplicitAny: answers of all routes.
  return { status: answer.status, headers: answer.headers, body: (json ? JSON.parse(text) : text) as any };
};

/** Collects every statement when it is compiled, which happens at its first use. */
function collecting(opened: Store): Store {
  const prepare = opened.sqlite.prepare.bind(opened.sqlite);
  opened.sqlite.prepare = ((text: string) => {
    if (asking !== "" && !asked.has(text)) asked.set(text, asking);
    return prepare(text);
  }) as typeof opened.sqlite.prepare;
  return opened;
}

beforeAll(async () => {
  store = collecting(openStore({ path: databasePath(data), clock: systemClock }));
  const fixed = { DATA: data, PORT: "0", SANDBOX: "process", LOG_LEVEL: "silent", RATE_LIMIT: "0" };
  app = await createApp(readConfig({ ...fixed, AUTH_ENABLED: "true" }), { store });
  const server = { data, request } as unknown as TestServer;
  const admin = await setupAdmin(server);
  const user = await makeUser(server, admin, "user@example.test");
  who = [admin.token, user.token];
  for (const token of who) await make(token);
});
afterAll(async () => {
  await app.stop();
  rmSync(data, { recursive: true, force: true });
});

/** Creates one of everything that grows. */
async function make(token: string): Promise<void> {
  const post = (path: string, body: unknown) => request("POST", path, { token, body });
  const { id: run } = (await post("/v1/runs", { pipeline_id: "hello", task_description: "Say what is here." })).body;
  await request("GET", `/v1/events/stream?run_id=${run}`, { token });
  const named = `Of ${who.indexOf(token)}`;
  const { id: project } = (await post("/v1/projects", { name: named })).body;
  if (project !== undefined) await post(`/v1/projects/${project}/tasks`, { title: "One", description: "What to do." });
  await post("/v1/chat/sessions", { agent_id: "scribe", title: "About it" });
  await post("/v1/ingest/document", { title: "One", content: "# One\n\nWords." });
  await post("/v1/memory/vaults/scribe/entries", { title: "One", content: "Known." });
  await post("/v1/spawn-executor/execute", { agent_id: "scribe", prompt: "Look" });
  await post("/v1/swarm/execute", { agent_id: "scribe", tasks: [{ key: "look", prompt: "Look" }] });
  await post("/v1/notification-channels", {
    name: named,
    kind: "webhook",
    url: "https://example.com/",
    enabled: false,
  });
  await post("/v1/pulse-routines/scribe", { name: named, instructions: "Look", schedule: "0 5 * * *" });
}

/** A valid value for the parameter. */
function sampleOf({ name, schema = {} }: Parameter): string {
  const choice = schema.enum?.[0] ?? schema.anyOf?.find((one) => one.const !== undefined)?.const;
  if (choice !== undefined) return String(choice);
  if (/since|until|from|to|at$/.test(name)) return "2026-01-01T00:00:00.000Z";
  if (name === "status") return "failed";
  if (name.endsWith("_id")) return name === "agent_id" ? "scribe" : "none";
  return schema.type === "integer" || schema.type === "boolean" ? "1" : "look";
}

/** Fills the path with ids of existing objects, each found in the list with which the path begins. */
async function fill(path: string, token: string): Promise<string | undefined> {
  const [, before, name, after] = /^(.*?)\/\{(\w+)\}(.*)$/.exec(path) ?? [];
  if (before === undefined) return path;
  const known: Record<string, () => Promise<string | undefined> | string> = {
    agent_id: () => "scribe",
    run_id: async () => (await request("GET", "/v1/runs", { token })).body.items[0].id,
    step_id: () => "look",
    execution_id: () => "none",
  };
  const findFirst = async () => {
    const { status, body } = await request("GET", before === "/v1/sessions" ? "/v1/llm-calls" : before, { token });
    const [first] = status === 200 ? (body.items ?? []) : [];
    return before === "/v1/sessions" ? first?.session_id : (first?.id ?? first?.name ?? first?.key);
  };
  const id = await (known[name!] ?? findFirst)();
  return id === undefined ? undefined : fill(`${before}/${encodeURIComponent(id)}${after}`, token);
}

/** The database's plan for the statement. */
function planOf(text: string): { detail: string }[] {
  const names = [...text.matchAll(/@(\w+)/g)].map(([, name]) => [name!, null] as const);
  const values = names.length > 0 ? [Object.fromEntries(names)] : Array(text.split("?").length - 1).fill(null);
  return store.sqlite.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all(...values);
}

test("no GET reads the whole of what grows with history", async () => {
  const { body: document } = await request("GET", "/openapi.json");
  const gets = (Object.entries(document.paths) as [string, { get?: Operation }][]).filter(([, { get }]) => get);
  let answered = 0;
  for (const token of who)
    for (const [path, { get }] of gets) {
      if (/stream|openapi|\/docs|\/logs|knowledge-graph|oidc|export|content/.test(path)) continue;
      const filled = await fill(path, token);
      if (filled === undefined) continue;
      const parameters = (get!.parameters ?? []).filter((one) => one.in === "query" && one.name !== "cursor");
      const single = parameters.map((one) => `${one.name}=${encodeURIComponent(sampleOf(one))}`);
      for (const query of ["", ...single]) {
        asking = `${filled}?${query}`;
        const { status } = await request("GET", asking, { token });
        asking = "";
        if (status === 200) answered++;
      }
    }
  expect(answered).toBeGreaterThan(250);
  const named = store.sqlite.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck();
  const tables = new Set(named.all() as string[]);
  const whole = [...asked].flatMap(([text, path]) => {
    if (!/^\s*(select|with)\b/i.test(text)) return [];
    const plan = planOf(text);
    const sorted = plan.some(({ detail }) => detail.includes("TEMP B-TREE"));
    // It reads the first rows in the order of a key, and no condition could skip any of them.
    const firstRows = /\blimit\b/i.test(text) && !/\bwhere\b/i.test(text) && !sorted;
    const wholeSorted = plan.flatMap(({ detail }) => {
      const [, table, by] = /^SEARCH (\w+).*\((\w+)/.exec(detail) ?? [];
      const many = HISTORY.has(table ?? "") && !/^(run_id|session_id|id|rowid)$/.test(by ?? "");
      return many &&
        !mayDo(detail, text) &&
        plan.some((one) => one.detail.endsWith("B-TREE FOR ORDER BY")) &&
        /\blimit\b/i.test(text)
        ? [`${path}\n  ${detail}, sorted\n  ${text}`]
        : [];
    });
    return plan
      .flatMap(({ detail }) => {
        const [, table] = /^SCAN (\w+)(?!.*VIRTUAL)/.exec(detail) ?? [];
        const real = table !== undefined && tables.has(table) && !SMALL.has(table);
        return real && !firstRows && !mayDo(detail, text) ? [`${path}\n  ${detail}\n  ${text}`] : [];
      })
      .concat(wholeSorted);
  });
  expect(whole).toEqual([]);
  expect(asked.size).toBeGreaterThan(100);
});

test("no removal of old rows reads the whole of what it removes from", async () => {
  asked.clear();
  for (const { keep, run } of app.contributions.prunes) {
    asking = `the removal of what is older than ${keep}`;
    await run(Date.parse("2020-01-01"));
    asking = "";
  }
  const whole = [...asked].flatMap(([text, what]) =>
    planOf(text)
      .filter(({ detail }) => /^SCAN (?!.*VIRTUAL)/.test(detail) && !mayDo(detail, text))
      .map(({ detail }) => `${what}\n  ${detail}\n  ${text}`),
  );
  expect(whole).toEqual([]);
  expect(asked.size).toBeGreaterThan(8);
});
