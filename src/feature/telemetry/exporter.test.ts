/** Which spans of the event log are sent, and the place of work in its trace, with rows alone. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { HOUR_MS } from "../../core/clock.ts";
import { createEventLog } from "../../store/event-log.ts";
import { openStore, type Store } from "../../store/store.ts";
import { sessionEnded, toolCallEnd, turnEnded } from "../sessions/events.ts";
import { createExporter } from "./exporter.ts";
import { SPAN } from "./places.ts";
import type { OtlpSpan } from "./span.ts";
import { createSpans } from "./spans.ts";
import { type Target, targetOf } from "./target.ts";

const START = Date.parse("2026-03-01T10:00:00.000Z");
let now: number;
let store: Store;
let target: Target | undefined;
let sent: OtlpSpan[];
/** Called with the address of each request; what it returns is the answer's status. */
let answer: (address: string) => number;
let exporter: ReturnType<typeof createExporter>;

beforeEach(() => {
  [now, sent] = [START, []];
  target = { endpoint: "http://receiver.example", from: "environment", headers: {}, content: false };
  answer = () => 200;
  const clock = { now: () => now, monotonic: () => now - START };
  store = openStore({ path: ":memory:", clock });
  store.sqlite.exec(`
    INSERT INTO sessions (id, kind, agent_id, root_id, status, created_at, last_activity_at, parent_id, call_id) VALUES
      ('chat', 'chat', 'lead', 'chat', 'open', '2026-03-01T09:00:00.000Z', '2026-03-01T09:00:00.000Z', NULL, NULL),
      ('piece', 'spawn', 'scribe', 'chat', 'ended', '2026-03-01T09:00:02.000Z', '2026-03-01T09:00:00.000Z', 'chat', 'c1');
    INSERT INTO executions (id, session_id, agent_id, status, message_id, input, contract, skills, timeout_seconds, model,
      created_at, started_at, finished_at) VALUES
      ('turn', 'chat', 'lead', 'succeeded', 'm1', '[]', '{}', '[]', 60, 'openai/o',
        '2026-03-01T09:00:00.000Z', '2026-03-01T09:00:01.000Z', '2026-03-01T09:00:09.000Z'),
      ('work', 'piece', 'scribe', 'succeeded', 'm2', '[]', '{}', '[]', 60, 'google/g',
        '2026-03-01T09:00:02.000Z', '2026-03-01T09:00:03.000Z', '2026-03-01T09:00:08.000Z');
    INSERT INTO tool_calls (session_id, seq, position, execution_id, call_id, tool, input, status)
      VALUES ('chat', 1, 0, 'turn', 'c1', 'spawn', '{}', 'done');`);
  exporter = createExporter({
    store,
    clock,
    log: { warn() {} },
    masking: { text: (text) => text },
    standby: { since: () => null },
    eventLog: createEventLog(store),
    findTarget: () => target,
    countSpans() {},
    resource: {},
    version: "0",
    spanOf: createSpans({ store, masking: { json: (value) => value, part: (text) => text } }),
    async ask(address, { body }) {
      const status = answer(address);
      const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] };
      if (status === 200)
        sent.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)));
      return { status, retryAfter: undefined };
    },
  });
});
afterEach(() => store.close());

const turn = { execution_id: "turn", message_id: "m1", status: "succeeded" } as const;
const endTurn = () => store.write((tx) => tx.emit(turnEnded, { session_id: "chat", data: turn }));
/** Sends everything that is left, as stopping does. */
const flush = () => exporter.stop();

test("work that an agent hands on is below the call that did, in the trace of its turn", async () => {
  await switchedOn();
  store.write((tx) => {
    tx.emit(sessionEnded, { session_id: "piece", data: { status: "succeeded" } });
    tx.emit(toolCallEnd, {
      session_id: "chat",
      data: { call_id: "c1", execution_id: "turn", tool: "spawn", ok: true, duration_ms: 5_000, output: "" },
    });
    tx.emit(turnEnded, { session_id: "chat", data: turn });
    // When a chat is closed, its turns were already sent.
    tx.emit(sessionEnded, { session_id: "chat", data: { status: "ended" } });
  });
  await flush();
  expect(sent.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
    ["invoke_agent scribe", SPAN.call("chat", "c1")],
    ["execute_tool spawn", SPAN.execution("turn")],
    ["invoke_agent lead", undefined],
  ]);
  expect(new Set(sent.map(({ traceId }) => traceId)).size).toBe(1);
  expect(sent[0]).toMatchObject({
    startTimeUnixNano: "1772355603000000000",
    endTimeUnixNano: "1772355608000000000",
    attributes: expect.arrayContaining([{ key: "gen_ai.provider.name", value: { stringValue: "gcp.gemini" } }]),
  });
});

/** Resolves once the exporter has noted that earlier work is not sent. */
async function switchedOn(): Promise<void> {
  exporter.sendNew();
  await Promise.resolve();
}

test("what ended before a receiver was named is not sent, and what waited for an hour is left out and counted", async () => {
  endTurn();
  await switchedOn();
  endTurn();
  now += HOUR_MS + 1;
  endTurn();
  await flush();
  expect(sent).toHaveLength(1);
  expect(exporter.counts).toMatchObject({ sent: 1, dropped: 1 });
});

test("more than one request takes is sent in several, each thing once", async () => {
  await switchedOn();
  for (let made = 0; made < 250; made++) endTurn();
  const asked: string[] = [];
  answer = (address) => {
    asked.push(address);
    return 200;
  };
  await flush();
  expect(sent).toHaveLength(250);
  expect(asked).toEqual(Array(3).fill("http://receiver.example/v1/traces"));
});

test("what is refused for good is counted", async () => {
  await switchedOn();
  endTurn();
  answer = () => 400;
  exporter.sendNew();
  await flush();
  expect(exporter.counts).toMatchObject({ sent: 0, dropped: 1 });
  expect(exporter.error()).toBe("the receiver answered 400");
});

test("what is to be sent later stays for the next start", async () => {
  const position = () =>
    store.sqlite.prepare("SELECT value FROM facts WHERE name = 'telemetry_position'").pluck().get();
  await switchedOn();
  const before = position();
  endTurn();
  answer = () => 503;
  await flush();
  expect([position(), exporter.counts.dropped]).toEqual([before, 0]);
});

test("headers of the environment go to its own address alone", () => {
  const config = { otlpEndpoint: "http://a.example", otlpHeaders: { authorization: "k" } };
  const chooseTarget = (endpoint: string | null) => targetOf(config, { endpoint, content: false });
  expect(chooseTarget(null)).toMatchObject({ endpoint: "http://a.example", headers: { authorization: "k" } });
  expect(chooseTarget("http://a.example/")).toMatchObject({ headers: { authorization: "k" } });
  expect(chooseTarget("http://b.example")).toMatchObject({ endpoint: "http://b.example", headers: {} });
  expect(
    targetOf({ otlpEndpoint: undefined, otlpHeaders: undefined }, { endpoint: null, content: false }),
  ).toBeUndefined();
});
