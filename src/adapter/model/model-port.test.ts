/** Tests every wire protocol against every behavior of a provider, good or bad. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../core/clock.ts";
import type { ModelMessage } from "../../engine/model.ts";
import {
  CANARY_KEY,
  createPortFixture,
  type PortFixture,
  requestFor,
  textOf,
  WIRE_CASES,
} from "../../testing/model-cases.ts";
import { createModelServer, type ModelServer, reply } from "../../testing/model-server.ts";

let fixture: PortFixture;
let server: ModelServer;
beforeEach(async () => {
  fixture = await createPortFixture();
  server = fixture.server;
});
afterEach(() => server.stop());

for (const one of WIRE_CASES) {
  describe(one.wire, () => {
    test("streams text in order and reports usage, cost and times", async () => {
      server.next(reply({ text: "Hello, dear world!", usage: { input: 1000, output: 500, cacheRead: 200 } }));
      const shown: string[] = [];
      const answer = await fixture.call(one, {}, { onText: (text) => void shown.push(text) });
      expect(answer).toMatchObject({ finish: "stop", attempts: 1, key_source: "instance", model: one.model });
      expect(textOf(answer)).toBe("Hello, dear world!");
      expect(shown.join("")).toBe("Hello, dear world!");
      expect(shown.length).toBeGreaterThan(1);
      expect(answer.usage).toMatchObject({
        input_tokens: 1000,
        output_tokens: 500,
        cache_read_tokens: one.wire === "ollama" ? 0 : 200,
      });
      if (one.wire === "chat completions") expect(answer).toMatchObject({ cost_usd: null, cost_source: "unknown" });
      else {
        expect(answer.cost_source).toBe("table");
        expect(answer.cost_usd!).toBeGreaterThanOrEqual(one.wire === "ollama" ? 0 : 0.000_001);
      }
      expect(answer.time_to_first_token_ms!).toBeLessThanOrEqual(answer.duration_ms);
      expect(answer.error).toBeUndefined();
      expect(server.requests.map((request) => request.path)).toEqual([one.path]);
      expect(JSON.stringify(server.requests[0]!.headers)).toContain(CANARY_KEY);
      expect(JSON.stringify(server.requests[0]!.body)).toContain("You are terse.");
      fixture.expectNoKey(answer);
    });

    test("gives tool calls with their parsed input", async () => {
      const input = { path: "HELLO.md", lines: [1, 2, 3] };
      server.next(reply({ text: "Writing.", toolCalls: [{ id: "call_x1", name: "write", input }] }));
      const answer = await fixture.call(one);
      expect(answer.finish).toBe("tool_calls");
      const found = answer.parts.find((part) => part.type === "tool_call");
      expect(found).toMatchObject({ tool: "write", input });
      expect(found?.type === "tool_call" && found.call_id.length).toBeGreaterThan(0);
      expect(JSON.stringify(server.requests[0]!.body)).toContain("Writes a file");
    });

    test("asks for thinking, shows it apart, and sends its signature back in the next request", async () => {
      const fake = { thinking: "Let me see…", signature: "c2lnbmF0dXJlLTQy", text: "So:" };
      server.next(reply({ ...fake, toolCalls: [{ id: "call_1", name: "write", input: { path: "a" } }] }));
      const thoughts: string[] = [];
      const port = fixture.port(one);
      const request = requestFor(one, { thinkingLevel: "medium", onThinking: (text) => void thoughts.push(text) });
      const answer = await port.call(request);
      expect(thoughts.join("")).toBe("Let me see…");
      expect(answer.parts.find((part) => part.type === "thinking")).toMatchObject({ text: "Let me see…" });
      expect(textOf(answer)).toBe("So:");
      expect(JSON.stringify(server.requests[0]!.body)).toMatch(
        /"reasoning_effort":"medium"|"effort":"medium"|"budget_tokens":\d+|"thinkingBudget":\d+|"think":true/,
      );
      const found = answer.parts.find((part) => part.type === "tool_call")!;
      const call_id = found.type === "tool_call" ? found.call_id : "";
      // As the parts come back from the store, which saves them as JSON.
      const parts = JSON.parse(JSON.stringify(answer.parts));
      const messages: ModelMessage[] = [
        ...request.messages,
        { role: "assistant", parts },
        { role: "tool", results: [{ call_id, tool: "write", ok: true, output: "written-7" }] },
      ];
      server.next(reply({ text: "Done." }));
      const second = await port.call({ ...request, messages });
      expect(second.finish).toBe("stop");
      const body = JSON.stringify(server.requests[1]!.body);
      expect(body).toContain("written-7");
      if (one.wire !== "chat completions" && one.wire !== "ollama") expect(body).toContain("c2lnbmF0dXJlLTQy");
    });

    test("a wrong key is not tried again, and the key is in no message though the provider echoes it", async () => {
      server.next({
        kind: "status",
        status: 401,
        body: { type: "error", error: { type: "auth", message: "bad key {{key}}", code: 401, status: "DENIED" } },
      });
      const answer = await fixture.call(one);
      expect(answer).toMatchObject({ finish: "error", attempts: 1, cost_usd: 0 });
      expect(answer.error).toMatchObject({ code: "provider_auth", retryable: false });
      fixture.expectNoKey(answer);
    });

    test("other refusals are reported in the provider's words, without the key, and are not tried again", async () => {
      const error = { type: "invalid_request", message: "the field {{key}} is wrong", code: 400, status: "INVALID" };
      server.next({ kind: "status", status: 400, body: { type: "error", error } });
      const answer = await fixture.call(one);
      expect(answer.error).toMatchObject({ code: "provider_error", retryable: false });
      expect(answer.error!.message).toContain("is wrong");
      expect(answer.attempts).toBe(1);
      fixture.expectNoKey(answer);
    });

    test("waits as long as a rate limit asks, then succeeds", async () => {
      server.next({ kind: "status", status: 429, headers: { "retry-after": "1" } }, reply({ text: "ok" }));
      const answer = await fixture.call(one);
      expect(answer).toMatchObject({ finish: "stop", attempts: 2 });
      expect(answer.duration_ms).toBeGreaterThanOrEqual(1000);
      fixture.expectNoKey(answer);
    });

    test("server errors are tried again up to the limit, then reported as retryable", async () => {
      const error = { message: "overloaded {{key}}", type: "api_error", code: 500, status: "INTERNAL" };
      server.next({ kind: "status", status: 500, body: { type: "error", error } });
      const answer = await fixture.call(one, { attempts: 3 });
      expect(answer).toMatchObject({ finish: "error", attempts: 3 });
      expect(answer.error).toMatchObject({ code: "provider_error", retryable: true });
      expect(server.requests.length).toBe(3);
      expect(fixture.logged.length).toBe(2);
      fixture.expectNoKey(answer);
    });

    for (const how of ["closed", "torn"] as const) {
      test(`a stream ${how} before anything was shown is made again`, async () => {
        server.next({ kind: "cut", how, reply: {} }, reply({ text: "whole" }));
        const answer = await fixture.call(one);
        expect(answer).toMatchObject({ finish: "stop", attempts: 2 });
        expect(textOf(answer)).toBe("whole");
      });

      test(`a stream ${how} after text was shown is made again, and what was shown is withdrawn`, async () => {
        server.next({ kind: "cut", how, reply: { text: "half of a sen" } }, reply({ text: "whole" }));
        let shown = "";
        const withdrawn: string[] = [];
        const answer = await fixture.call(
          one,
          {},
          {
            onText: (text) => {
              shown += text;
            },
            onWithdrawn() {
              withdrawn.push(shown);
              shown = "";
            },
          },
        );
        expect(answer).toMatchObject({ finish: "stop", attempts: 2 });
        expect([textOf(answer), shown]).toEqual(["whole", "whole"]);
        // A torn connection may break before the first text was read.
        if (how === "closed") expect(withdrawn).toEqual(["half of a sen"]);
        expect(withdrawn.every((text) => text !== "" && "half of a sen".startsWith(text))).toBe(true);
      });

      test(`streams ${how} each time end as a retryable error, keep the last text and are charged by its measure`, async () => {
        server.next({ kind: "cut", how, reply: { text: "half of a sen" } });
        const answer = await fixture.call(one, { attempts: 2 }, { onText: () => {} });
        expect(answer).toMatchObject({ finish: "error", attempts: 2 });
        expect(answer.error).toMatchObject({ retryable: true });
        expect(answer.error!.code).toMatch(/^provider_(error|unreachable)$/);
        // The provider did answer, so the message must not suggest a wrong address.
        if (how === "torn" && textOf(answer)) expect(answer.error!.message).toContain("broke off in the middle");
        expect(answer.error!.message).not.toMatch(/successful response|verbose/);
        expect("half of a sen".startsWith(textOf(answer))).toBe(true);
        if (how === "closed") expect(textOf(answer)).toBe("half of a sen");
        if (how === "closed") expect(answer.usage_estimated).toBe(true);
        if (how === "closed") expect(answer.usage.input_tokens).toBeGreaterThan(20);
        fixture.expectNoKey(answer);
      });
    }

    test.each([
      ["negative", { input: -5_000, output: 7 }],
      ["absurd", { input: 11, output: 9e14 }],
      ["more than was sent can be", { input: 4_000_000, output: 7 }],
      ["no number", { input: "many" as unknown as number, output: 7 }],
    ])("counts that are %s are not believed: the reply is measured, and marked", async (_what, usage) => {
      server.next(reply({ text: "Hello, dear world!", usage }));
      const answer = await fixture.call(one);
      const { input_tokens, output_tokens } = answer.usage;
      // Unreadable counts may fail the call, but must never be used.
      if (answer.finish === "stop") expect(answer.usage_estimated).toBe(true);
      for (const count of [input_tokens, output_tokens]) {
        expect(Number.isInteger(count) && count >= 0).toBe(true);
        expect(count).toBeLessThan(1_000);
      }
      expect(answer.cost_usd ?? 0).toBeGreaterThanOrEqual(0);
    });

    test("malformed JSON in the stream is tried again, then a retryable error", async () => {
      server.next({ kind: "malformed", reply: {} });
      const answer = await fixture.call(one, { attempts: 2 });
      expect(answer).toMatchObject({ finish: "error", attempts: 2 });
      expect(answer.error).toMatchObject({ code: "provider_error", retryable: true });
      fixture.expectNoKey(answer);
    });

    test("an error inside the stream is an error with the provider's words", async () => {
      server.next({ kind: "error-frame", reply: { text: "be" }, message: `overloaded for ${CANARY_KEY}` });
      const answer = await fixture.call(one, { attempts: 1 }, { onText: () => {} });
      expect(answer).toMatchObject({ finish: "error", error: { code: "provider_error", retryable: true } });
      expect(answer.error!.message).toContain("overloaded");
      fixture.expectNoKey(answer);
    });

    test("a slow first token is waited for within the limit", async () => {
      server.next({ kind: "reply", reply: { text: "late" }, firstTokenMs: 150 });
      const answer = await fixture.call(one, { firstTokenMs: 60_000 });
      expect(textOf(answer)).toBe("late");
      expect(answer.time_to_first_token_ms!).toBeGreaterThanOrEqual(140);
    });

    test("no first token in time is a time-out, not tried again", async () => {
      server.next({ kind: "hang" });
      const answer = await fixture.call(one, { firstTokenMs: 80 });
      expect(answer).toMatchObject({ finish: "error", attempts: 1, usage_estimated: true });
      expect(answer.usage).toMatchObject({ output_tokens: 0, input_tokens: expect.any(Number) });
      expect(answer.error).toMatchObject({ code: "provider_timeout", retryable: true });
    });

    test("silence after the first token is a time-out that keeps the text", async () => {
      server.next({ kind: "hang", reply: { text: "and then" } });
      const answer = await fixture.call(one, { firstTokenMs: HOUR_MS, idleMs: 80 });
      expect(answer.error?.code).toBe("provider_timeout");
      expect(textOf(answer)).toBe("and then");
    });

    test("an abort ends the call, keeps the text and closes the connection", async () => {
      server.next({
        kind: "hang",
        reply: { text: "continuing", toolCalls: [{ name: "write", input: { path: "x" } }] },
      });
      const abort = new AbortController();
      const answer = await fixture.call(
        one,
        {},
        {
          signal: abort.signal,
          onText: () => void setTimeout(() => abort.abort(), 20),
        },
      );
      expect(answer.finish).toBe("aborted");
      expect(answer.error).toBeUndefined();
      expect(textOf(answer)).toBe("continuing");
      expect(answer.parts.some((part) => part.type === "tool_call")).toBe(false);
      while (server.open() > 0) await Bun.sleep(10);
    });

    test("an abort before the call and one during a back-off end it as aborted", async () => {
      expect((await fixture.call(one, {}, { signal: AbortSignal.abort() })).finish).toBe("aborted");
      server.next({ kind: "status", status: 503 });
      const waiting = fixture.call(
        one,
        { backoffMs: HOUR_MS, backoffMaxMs: HOUR_MS },
        { signal: AbortSignal.timeout(100) },
      );
      const answer = await waiting;
      expect(answer.finish).toBe("aborted");
    });

    test("a redirect is not followed: the key goes to no other host", async () => {
      const other = await createModelServer();
      server.next({ kind: "redirect", location: `${other.origin}${one.path}` });
      const answer = await fixture.call(one);
      expect(answer.error).toMatchObject({ code: "provider_error", retryable: false });
      expect(answer.error!.message).toContain("redirect");
      expect(other.requests.length).toBe(0);
      await other.stop();
    });

    test("a reply cut at its token limit says so", async () => {
      server.next(reply({ text: "long", finish: "length" }));
      expect((await fixture.call(one)).finish).toBe("length");
    });
  });
}
