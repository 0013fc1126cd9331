/** Traces of real runs, as an OpenTelemetry receiver gets them over HTTP, including faults. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { DONE, type MeteredServer, startMeteredServer } from "../../testing/metered-server.ts";
import { reply } from "../../testing/model-server.ts";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "../../testing/otlp-receiver.ts";
import { startServer } from "../../testing/server.ts";
import type { Telemetry } from "./model.ts";

const TASK = "task-words-that-stay-at-home";
const SAID = "reply-words-that-stay-at-home";
const CREDENTIAL = `otlp-credential-${randomBytes(8).toString("hex")}`;
const CANARY = `canary-${randomBytes(12).toString("hex")}`;

let receiver: OtlpReceiver;
let metered: MeteredServer;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  metered = await startMeteredServer({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${CREDENTIAL}`,
    OTEL_SERVICE_NAME: "skep-of-tests",
  });
});
afterAll(async () => {
  await metered.remove();
  receiver.stop();
});

/** Scripts an agent that looks around, repeats the secret, and is done. */
function script(): void {
  const usage = { input: 100, output: 10 };
  metered.models.next(
    reply({ text: `${SAID} ${CANARY}`, toolCalls: [{ name: "ls", input: { path: CANARY } }], usage }),
    reply({ ...DONE, usage }),
  );
}
const status = async () => (await metered.call<Telemetry>("GET", "/v1/admin/telemetry")).body;
const operation = (span: ReceivedSpan): unknown => span.attributes["gen_ai.operation.name"];
/** The spans of a run, once the run's own span has come, which is sent last. */
const spansOf = (runId: string): Promise<ReceivedSpan[]> =>
  receiver.until(() => {
    const own = receiver
      .spans()
      .find((span) => operation(span) === "invoke_workflow" && span.attributes["skep.run.id"] === runId);
    return own && receiver.spans().filter(({ traceId }) => traceId === own.traceId);
  });
/** Resolves once the run has succeeded. */
async function waitForSuccess(runId: string): Promise<void> {
  const { token } = metered.admin;
  const { body } = await metered.server.request<string>("GET", `/v1/events/stream?run_id=${runId}&after=0`, { token });
  expect(body).toContain("event: run_complete");
}
async function runOnce(traceparent?: string) {
  script();
  const pipeline_id = await metered.pipeline();
  const { body } = await metered.server.request<{ id: string }>("POST", "/v1/runs", {
    token: metered.admin.token,
    body: { pipeline_id, task_description: TASK, human_context: CANARY },
    ...(traceparent ? { headers: { traceparent } } : {}),
  });
  return { id: body.id, pipeline_id };
}

describe("the spans of a run", () => {
  test("are those that the conventions for generative AI name, in one another as they happened", async () => {
    await metered.call("POST", "/v1/secrets", { name: "TRACE_CANARY", value: CANARY });
    const { id, pipeline_id } = await runOnce();
    const spans = await spansOf(id);
    expect(spans.map(({ name }) => name).sort()).toEqual([
      "chat m",
      "chat m",
      "execute_tool complete",
      "execute_tool ls",
      `invoke_agent ${pipeline_id}`,
      `invoke_workflow ${pipeline_id}`,
      "step work",
    ]);
    const findSpan = (name: string) => spans.find((span) => span.name.startsWith(name))!;
    const [run, step, agent] = [findSpan("invoke_workflow"), findSpan("step"), findSpan("invoke_agent")];
    expect([run.parentSpanId, step.parentSpanId, agent.parentSpanId]).toEqual([undefined, run.spanId, step.spanId]);
    for (const span of spans.filter(({ name }) => /^(chat|execute_tool)/.test(name)))
      expect([span.name, span.parentSpanId]).toEqual([span.name, agent.spanId]);

    const agentOf = { "gen_ai.agent.id": pipeline_id, "gen_ai.agent.name": pipeline_id };
    expect(run).toMatchObject({ kind: 1, status: {}, attributes: { "gen_ai.workflow.name": pipeline_id } });
    expect(step.attributes).toMatchObject({ "skep.step.name": "work", "skep.step.attempt": 1n });
    expect(agent).toMatchObject({
      kind: 1,
      attributes: {
        ...agentOf,
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "custom-lab",
        "gen_ai.request.model": "m",
        "gen_ai.conversation.id": expect.stringContaining("_"),
      },
    });
    expect(findSpan("chat")).toMatchObject({
      kind: 3,
      attributes: {
        ...agentOf,
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "custom-lab",
        "gen_ai.request.model": "m",
        "gen_ai.response.finish_reasons": [expect.any(String)],
        "gen_ai.usage.input_tokens": 100n,
        "gen_ai.usage.output_tokens": 10n,
        "gen_ai.conversation.id": agent.attributes["gen_ai.conversation.id"],
      },
    });
    expect(findSpan("execute_tool ls")).toMatchObject({
      kind: 1,
      status: { code: 2 },
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "ls",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": expect.any(String),
        "error.type": "tool_error",
      },
    });
    for (const span of spans) {
      expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
      const parent = spans.find(({ spanId }) => spanId === span.parentSpanId) ?? span;
      const [start, end] = [BigInt(span.startTimeUnixNano), BigInt(span.endTimeUnixNano)];
      expect(start <= end && end <= BigInt(parent.endTimeUnixNano), span.name).toBe(true);
    }
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  });

  test("carry the server's name and go to /v1/traces with the credential, which is shown nowhere", async () => {
    const [first] = receiver.requests;
    expect(first).toMatchObject({ path: "/v1/traces", headers: { authorization: `Bearer ${CREDENTIAL}` } });
    expect(first?.headers["content-type"]).toBe("application/json");
    expect(first?.body).toContain('{"key":"service.name","value":{"stringValue":"skep-of-tests"}}');
    expect(await status()).toMatchObject({
      endpoint: receiver.origin,
      from: "environment",
      content: false,
      error: null,
    });
    const seen = JSON.stringify([await status(), (await metered.call("GET", "/v1/settings")).body]);
    expect(seen + metered.server.output()).not.toContain(CREDENTIAL);
  });

  test("hold no word of prompts and replies and no secret; words come only when asked for, secrets never", async () => {
    const quiet = receiver.requests.map(({ body }) => body).join("\n");
    for (const word of [TASK, SAID, CANARY, "Do it."]) expect(quiet).not.toContain(word);
    await metered.call("PUT", "/v1/settings", { telemetry: { content: true } });
    const { id } = await runOnce();
    const spans = await spansOf(id);
    await metered.call("PUT", "/v1/settings", { telemetry: { content: null } });
    const words = JSON.stringify(spans.map(({ attributes }) => Object.values(attributes).map(String)));
    expect(words).toContain("Do it.");
    expect(words).toContain("[secret:TRACE_CANARY]");
    expect(receiver.requests.map(({ body }) => body).join("\n")).not.toContain(CANARY);
  });

  test("are part of the caller's trace, unless it is not recorded", async () => {
    const [trace, parent] = [randomBytes(16).toString("hex"), randomBytes(8).toString("hex")];
    const silent = await runOnce(`00-${randomBytes(16).toString("hex")}-${parent}-00`);
    await waitForSuccess(silent.id);
    const { id } = await runOnce(`00-${trace}-${parent}-01`);
    const spans = await spansOf(id);
    expect(spans).toHaveLength(7);
    const run = spans.find((span) => operation(span) === "invoke_workflow");
    expect(run).toMatchObject({ traceId: trace, parentSpanId: parent });
    const broken = await runOnce("00-0-0-01");
    expect((await spansOf(broken.id)).find((span) => operation(span) === "invoke_workflow")?.parentSpanId).toBe(
      undefined,
    );
    expect(receiver.spans().filter(({ attributes }) => attributes["skep.run.id"] === silent.id)).toEqual([]);
  });
});

describe("a receiver", () => {
  test("that is busy, breaks off or answers without end gets each span, and holds up no run", async () => {
    receiver.next({ kind: "status", status: 429, headers: { "Retry-After": "1" } }, { kind: "status", status: 503 });
    receiver.next({ kind: "cut" }, { kind: "endless" });
    const before = receiver.requests.length;
    const { id } = await runOnce();
    await waitForSuccess(id);
    expect(new Set((await spansOf(id)).map(({ spanId }) => spanId)).size).toBe(7);
    expect(receiver.requests.length).toBeGreaterThanOrEqual(before + 4);
    expect(await status()).toMatchObject({ spans_dropped: 0 });
  });

  test("that redirects is not followed, and that refuses for good loses these spans, which are counted", async () => {
    const other = await startOtlpReceiver();
    try {
      const before = receiver.spans().length;
      receiver.next({ kind: "status", status: 307, headers: { Location: `${other.origin}/v1/traces` } });
      await spansOf((await runOnce()).id);
      expect(other.requests).toEqual([]);
      const { spans_dropped, spans_sent } = await status();
      expect(spans_dropped).toBeGreaterThan(0);
      expect(receiver.spans().length - before + spans_dropped).toBe(7);
      const { body } = await metered.server.request<string>("GET", "/metrics", { token: metered.admin.token });
      expect(body).toContain(`skep_trace_spans_total{outcome="dropped"} ${spans_dropped}`);
      expect(body).toContain(`skep_trace_spans_total{outcome="sent"} ${spans_sent}`);
    } finally {
      other.stop();
    }
  });

  test("of the settings gets no credential of the environment's", async () => {
    const other = await startOtlpReceiver();
    try {
      await metered.call("PUT", "/v1/settings", { telemetry: { endpoint: other.origin } });
      expect(await status()).toMatchObject({ endpoint: other.origin, from: "settings" });
      await runOnce();
      await other.until(() => other.spans().length > 0);
      expect(JSON.stringify(other.requests.map(({ headers }) => headers))).not.toContain(CREDENTIAL);
    } finally {
      await metered.call("PUT", "/v1/settings", { telemetry: { endpoint: null } });
      other.stop();
    }
  });

  test("that hangs does not hold up a stop, and gets what it missed after the next start", async () => {
    const late = await startOtlpReceiver();
    late.next({ kind: "hang" });
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: late.origin };
    const first = await startServer({ env });
    let second: typeof first | undefined;
    try {
      const { id } = await first
        .client()
        .call("POST", "/v1/spawn-executor/execute", { agent_id: "scribe", prompt: "Look" });
      await late.until(() => late.requests.length > 0);
      expect(id).toStartWith("spn_");
      expect(await first.stop()).toBe(0);
      expect(late.spans()).toEqual([]);
      second = await startServer({ env, data: first.data });
      const agent = await late.until(() => late.spans().find((span) => operation(span) === "invoke_agent"));
      expect(agent.name).toBe("invoke_agent scribe");
      expect(late.spans().find((span) => operation(span) === "chat")).toMatchObject({
        traceId: agent.traceId,
        parentSpanId: agent.spanId,
      });
    } finally {
      await second?.stop();
      await first.remove();
      late.stop();
    }
  });
});

test("without a receiver nothing is sent, and doctor says so", async () => {
  const server = await startServer();
  try {
    const { body } = await server.request<Telemetry>("GET", "/v1/admin/telemetry");
    expect(body).toMatchObject({ endpoint: null, from: null, spans_sent: 0 });
    const report = await server.request<{ findings: { check: string; detail: string }[] }>("GET", "/v1/doctor");
    expect(report.body.findings.find(({ check }) => check === "traces")?.detail).toContain("not sent");
  } finally {
    await server.remove();
  }
});
