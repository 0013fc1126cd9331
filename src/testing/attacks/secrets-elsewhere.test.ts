/**
 * A40: a secret on indirect ways out: through an agent that was not granted it, after it was replaced, at the edge of a
 * cut, encoded, in a tool's input, in a commit message. No piece of twelve characters of it may be in any answer,
 * event, log line or byte of the database.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createCipheriv, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { startServer, type TestServer } from "../server.ts";
import { waitFor } from "./waiting.ts";

setDefaultTimeout(300_000);

const PIECE = 12;
/** Where the head of a long output ends: at 60 % of 32 KiB. */
const HEAD_BYTES = Math.floor(32 * 1024 * 0.6);
const secret = (name: string) => `${name}/${randomBytes(18).toString("base64")}+${randomBytes(9).toString("hex")}`;
const OLD = secret("old");
const NEW = secret("new");
const OTHER = secret("other");
const LONG = Array.from({ length: 6 }, () => randomBytes(30).toString("base64")).join("");

const bash = (command: string) => ({ tool: "bash", input: { command, timeout_seconds: 60 } });
const complete = (answer: string) => ({ tool: "complete", input: { outputs: { answer }, summary: `done: ${answer}` } });

const script = {
  version: 1,
  steps: {
    hold: [
      {
        tool_calls: [
          bash('printf %s "$CANARY" > found.txt; printf %s "$LONG" > long.txt'),
          // In every usual encoding, at each of the three alignments of base64.
          bash('for before in "" x xy; do printf "%s%s;" "$before" "$CANARY" | base64 -w0; echo; done'),
          bash('for before in "" x xy; do printf "%s%s;" "$before" "$CANARY" | base64 -w0 | tr "+/" "-_"; echo; done'),
          bash('printf %s "$CANARY" | od -An -v -tx1 | tr -d " \\n"; printf %s "$LONG" | base64'),
          bash('printf %s "$CANARY" | od -An -v -tx1 | tr -d " \\n" | tr a-f A-F'),
          bash('printf "https://x/?q=%s" "$CANARY" | sed -e "s|/|%2F|g" -e "s|+|%2B|g" -e "s|=|%3D|g"'),
          bash('printf "https://x/?q=%s" "$CANARY" | sed -e "s|/|%2f|g" -e "s|+|%2b|g" -e "s|=|%3d|g"'),
          // One character of the secret is after the cut, or before it. Of a value longer than the search window, it is
          // a part.
          ...["CANARY", "LONG"].flatMap((name) => [
            bash(
              `v="$${name}"; head -c $((${HEAD_BYTES} - \${#v} + 1)) /dev/zero | tr "\\0" x; printf %s "$v"; head -c 40000 /dev/zero | tr "\\0" y`,
            ),
            bash(
              `v="$${name}"; head -c 60000 /dev/zero | tr "\\0" x; printf %s "$v"; head -c $((11468 - 19 - \${#v} + 1)) /dev/zero | tr "\\0" y`,
            ),
            bash(
              `v="$${name}"; { head -c $((2000 - \${#v} + 1)) /dev/zero | tr "\\0" x; printf "%syyyy\\n" "$v"; } > ${name}-line.txt`,
            ),
            { tool: "read", input: { path: `${name}-line.txt` } },
            bash(
              `v="$${name}"; { printf needle; head -c $((500 - 6 - 15 - \${#v} + 1)) /dev/zero | tr "\\0" x; printf "%syyyyyyyyyyyyyyyyyyyyyyyyyy\\n" "$v"; } > ${name}-grep`,
            ),
            { tool: "grep", input: { pattern: "needle", path: `${name}-grep` } },
          ]),
        ],
      },
      { tool_calls: [complete("held")] },
    ],
    find: [
      {
        thinking: `The file holds ${OLD}.`,
        text: `It is ${OLD}; and ${OTHER} was never granted to anybody.`,
        tool_calls: [
          { tool: "read", input: { path: "found.txt" } },
          bash("cat found.txt long.txt; cat found.txt >&2; exit 3"),
          bash(`echo ${OTHER}`),
          { tool: "read", input: { path: OLD } },
          { tool: "edit", input: { path: OLD, edits: [{ old_text: OTHER, new_text: OLD }] } },
        ],
      },
      { tool_calls: [complete(`${OLD} ${OTHER}`)] },
    ],
    wait: [
      { tool_calls: [bash('touch at-work; until [ -e go ]; do sleep 0.05; done; printf "%s\\n" "$CANARY"')] },
      { tool_calls: [bash(`printf %s ${NEW}; cat found.txt`)] },
      { tool_calls: [complete(`${OLD} is now ${NEW}`)] },
    ],
    refuse: [{ tool_calls: [{ tool: "fail", input: { reason: `${NEW} does not open it, nor ${OLD}` } }] }],
  },
};

const pipeline = `id: leak
name: Leak
defaults: { model: demo/scripted }
steps:
  - { id: hold, agent: holder, input: hold, outputs: [answer] }
  - { id: find, agent: finder, needs: [hold], input: find, outputs: [answer] }
  - { id: wait, agent: holder, needs: [find], input: wait, outputs: [answer] }
  - { id: refuse, agent: finder, needs: [wait], input: refuse }
`;

/** The pieces of a value that appear in the text, in any encoding. */
function tracesOf(value: string, text: string): string[] {
  const bytes = Buffer.from(value);
  const forms = [value, bytes.toString("hex"), bytes.toString("hex").toUpperCase(), encodeURIComponent(value)];
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .slice(4, -4);
    forms.push(encoded, encoded.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return forms.flatMap((form) => {
    for (let at = 0; at + PIECE <= form.length; at++) {
      const piece = form.slice(at, at + PIECE);
      if (text.includes(piece)) return [piece];
    }
    return [];
  });
}
const traces = (text: string) => [OLD, NEW, OTHER, LONG].flatMap((value) => tracesOf(value, text));

describe("a secret on its side ways out", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-canary-"));
  let server: TestServer;
  let run: string;
  const must = async (method: string, path: string, body?: unknown) => {
    const answer = await server.request(method, path, { body });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const workspace = () => join(server.data, "workspaces", run);

  beforeAll(async () => {
    writeFileSync(join(folder, "script.json"), JSON.stringify(script));
    server = await startServer({
      env: { ALLOW_HOST_SHELL: "true", LOG_LEVEL: "debug", DEMO_SCRIPT: join(folder, "script.json") },
    });
    for (const id of ["holder", "finder"]) await must("POST", "/v1/agents", { id, prompt: "You tell all." });
    await must("POST", "/v1/pipelines", { source: pipeline });
    for (const [name, value] of [
      ["CANARY", OLD],
      ["LONG", LONG],
      ["NEVER_GRANTED", OTHER],
    ])
      await must("POST", "/v1/secrets", { name, value });
    for (const name of ["CANARY", "LONG"]) await must("POST", `/v1/secrets/${name}/grant/holder`);
    run = (await must("POST", "/v1/runs", { pipeline_id: "leak", task_description: "tell" }))["id"] as string;
    await waitFor(() => existsSync(join(workspace(), "at-work")), "the agent to be at work");
    await must("PUT", "/v1/secrets/CANARY", { value: NEW });
    writeFileSync(join(workspace(), "go"), "");
    const stream = await fetch(`${server.url}/v1/events/stream?run_id=${run}&after=0`);
    writeFileSync(join(folder, "events"), await stream.text());
  });
  afterAll(async () => {
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  test("the search finds each of its forms, or nothing below means anything", () => {
    for (const text of [OLD, Buffer.from(`xy${OLD};`).toString("base64"), Buffer.from(OLD).toString("hex")])
      expect(traces(text).length).toBeGreaterThan(0);
    expect(traces(`${"x".repeat(100)}${OLD.slice(0, -1)}`).length).toBeGreaterThan(0);
    // This shows that the agent followed the instruction.
    expect(readFileSync(join(workspace(), "found.txt"), "utf8")).toBe(OLD);
  });

  test("no answer of the API has any of it", async () => {
    const body = await must("GET", `/v1/runs/${run}`);
    expect([body["status"], traces(JSON.stringify(body))]).toEqual(["failed", []]);
    expect(JSON.stringify(body)).toContain("[secret:CANARY] does not open it, nor [secret:CANARY]");
    for (const step of ["hold", "find", "wait"])
      expect(traces(JSON.stringify(await must("GET", `/v1/steps/${run}/${step}/output`)))).toEqual([]);
    expect(JSON.stringify(await must("GET", `/v1/steps/${run}/find/output`))).toContain(
      "[secret:CANARY] [secret:NEVER_GRANTED]",
    );
    expect(JSON.stringify(await must("GET", `/v1/steps/${run}/wait/output`))).toContain(
      "[secret:CANARY] is now [secret:CANARY]",
    );
  });

  test("no event and no line of the log has any of it", () => {
    const events = readFileSync(join(folder, "events"), "utf8");
    expect(events.split("[secret:CANARY]").length).toBeGreaterThan(20);
    expect(traces(events)).toEqual([]);
    expect(traces(server.output())).toEqual([]);
  });

  test("no byte of the database has any of it, nor what the server keeps beside the workspace", async () => {
    const outputs = join(workspace(), ".skep", "output");
    const kept = readdirSync(outputs).map((name) => readFileSync(join(outputs, name), "utf8"));
    await server.stop();
    for (const name of readdirSync(server.data).filter((one) => one.startsWith("skep.db")))
      expect([name, traces(readFileSync(join(server.data, name)).toString("latin1"))]).toEqual([name, []]);
    // A long output is kept complete only where the agent itself works.
    expect(kept.length).toBe(4);
    expect(kept.every((text) => traces(text).length > 0)).toBe(true);
    expect(readFileSync(join(workspace(), ".skep", ".gitignore"), "utf8")).toBe("*\n");
  });
});

describe("secrets that cannot be masked or opened", () => {
  let server: TestServer;
  const create = (name: string, value: string) => server.request("POST", "/v1/secrets", { body: { name, value } });
  beforeAll(async () => {
    server = await startServer({ env: { ENGINE_INTERNAL_TOKEN: "engine-token-engine-token" } });
  });
  afterAll(() => server.remove());

  test("a value under six characters is taken with a warning, in the answer and on the object", async () => {
    const made = await create("PIN", "12345");
    expect([made.status, made.body["warning"]]).toEqual([201, expect.stringContaining("not masked")]);
    const list = (await server.request<{ items: { name: string; warning: string | null }[] }>("GET", "/v1/secrets"))
      .body;
    expect(list.items.find(({ name }) => name === "PIN")?.warning).toContain("fewer than 6 characters");
    const longer = await server.request("PUT", "/v1/secrets/PIN", { body: { value: "123456" } });
    expect([longer.status, longer.body["warning"]]).toEqual([200, null]);
    const shorter = await server.request("PUT", "/v1/secrets/PIN", { body: { value: "1" } });
    expect(shorter.body["warning"]).toContain("not masked");
  });

  test("a damaged secret is named, never shown, and takes no other with it", async () => {
    const value = `sk-${randomBytes(12).toString("hex")}`;
    for (const name of ["SOUND", "BROKEN", "FOREIGN"]) {
      await create(name, value);
      await server.request("POST", `/v1/secrets/${name}/grant/scribe`);
    }
    await server.stop();
    const db = new Database(join(server.data, "skep.db"));
    const cipher = createCipheriv("aes-256-gcm", randomBytes(32), randomBytes(12));
    const foreign = Buffer.concat([randomBytes(12), cipher.update("x"), cipher.final(), cipher.getAuthTag()]);
    db.prepare("UPDATE secrets SET sealed = ? WHERE name = 'FOREIGN'").run(foreign.toString("base64"));
    db.prepare("UPDATE secrets SET sealed = substr(sealed, 3) WHERE name = 'BROKEN'").run();
    db.close();
    const data = server.data;
    server = await startServer({ data, env: { ENGINE_INTERNAL_TOKEN: "engine-token-engine-token" } });
    const env = () => server.request("GET", "/v1/secrets/agents/scribe/env", { token: "engine-token-engine-token" });
    const answer = await env();
    expect([answer.status, answer.body["code"], answer.body["secrets"]]).toEqual([
      409,
      "secret_damaged",
      ["BROKEN", "FOREIGN"],
    ]);
    expect(JSON.stringify(answer.body)).not.toContain(value);
    const notes = await server.request<{ items: { title: string; detail: string }[] }>(
      "GET",
      "/v1/admin/notifications",
    );
    expect(notes.body.items.map(({ detail }) => detail).join()).toContain("BROKEN, FOREIGN cannot be opened");
    // An agent that has the broken secret can still use the others, and the run says so.
    await server.request("POST", "/v1/pipelines", {
      body: {
        source:
          "id: one\nname: One\ndefaults: { model: demo/scripted }\nsteps:\n  - { id: work, agent: scribe, input: go, outputs: [answer] }\n",
      },
    });
    const { id } = (await server.request("POST", "/v1/runs", { body: { pipeline_id: "one", task_description: "t" } }))
      .body;
    const events = await (await fetch(`${server.url}/v1/events/stream?run_id=${id}&after=0`)).text();
    expect(events).toContain("Works without what cannot be opened: BROKEN, FOREIGN.");
    expect(events).toContain('"kind":"run_complete"');
    // A new value repairs the secret, and the notification disappears.
    for (const name of ["BROKEN", "FOREIGN"])
      expect((await server.request("PUT", `/v1/secrets/${name}`, { body: { value } })).status).toBe(200);
    expect((await env()).body).toEqual({ SOUND: value, BROKEN: value, FOREIGN: value });
    expect((await server.request<{ items: unknown[] }>("GET", "/v1/admin/notifications")).body.items).toEqual([]);
  });
});
