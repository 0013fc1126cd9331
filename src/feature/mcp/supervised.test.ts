/** Keeps a server running: it is restarted with growing pauses when it ends or stops answering. */
import { describe, expect, test } from "bun:test";
import type { Connection } from "../../adapter/mcp/client.ts";
import { Problem } from "../../core/errors.ts";
import { type ServerState, type SupervisedPorts, supervise } from "./supervised.ts";

type Result = Awaited<ReturnType<Connection["callTool"]>>;

/** A rig in which the test ends the connections one after another. */
function rig({ fails = () => undefined as Problem | undefined, call = async () => ({ content: [] }) as Result } = {}) {
  const connections: { end(why: string): void }[] = [];
  const states: ServerState[] = [];
  const listed: number[] = [];
  let onState = () => {};
  let starts = 0;
  const ports: SupervisedPorts = {
    async connect() {
      starts++;
      const problem = fails();
      if (problem) throw problem;
      let end = (_: string) => {};
      const ended = new Promise<string>((resolve) => {
        end = resolve;
      });
      connections.push({ end });
      return {
        revision: "2025-11-25",
        server: { name: "x", version: "1" },
        ended,
        listTools: async () => [{ name: "a" }],
        callTool: call,
        close: async () => end("it was stopped"),
      };
    },
    onTools: (tools) => listed.push(tools.length),
    onChange: () => {
      states.push({ ...supervised.state });
      onState();
    },
    log() {},
    pauseMs: 1,
  };
  const supervised = supervise(ports);
  const until = async (fits: () => boolean) => {
    while (!fits())
      await new Promise<void>((resolve) => {
        onState = resolve;
      });
  };
  const runs = (times: number) => until(() => states.filter(({ status }) => status === "running").length >= times);
  return { supervised, connections, states, listed, runs, until, starts: () => starts };
}
const options = () => ({ signal: new AbortController().signal, timeoutMs: 1_000 });
const tool = { name: "a", inputSchema: { type: "object" } };

describe("a supervised server", () => {
  test("is started again when it ends, and serves more than one call", async () => {
    const one = rig();
    await one.runs(1);
    await one.supervised.call(tool, {}, options());
    one.connections[0]!.end("it ended with exit code 3");
    await one.runs(2);
    expect(one.states.find(({ status }) => status === "error")?.error).toBe("It ended with exit code 3.");
    await one.supervised.call(tool, {}, options());
    await one.supervised.call(tool, {}, options());
    expect(one.listed).toEqual([1, 1]);
    await one.supervised.stop();
  });

  test("refuses calls while it does not run, and says why", async () => {
    const one = rig({ fails: () => new Problem(502, "mcp_not_connected", "no image") });
    await one.until(() => one.states.some(({ status }) => status === "error"));
    await expect(one.supervised.call(tool, {}, options())).rejects.toMatchObject({ code: "mcp_not_running" });
    await one.supervised.stop();
  });

  test("is started again after two calls without an answer, not after one", async () => {
    const late = new Problem(504, "mcp_timeout", "late");
    const answers = [late, undefined, late, late];
    const one = rig({
      call: async () => {
        const next = answers.shift();
        if (next) throw next;
        return { content: [] };
      },
    });
    await one.runs(1);
    for (const _ of [1, 2, 3]) await one.supervised.call(tool, {}, options()).catch(() => {});
    expect(one.starts()).toBe(1);
    await expect(one.supervised.call(tool, {}, options())).rejects.toBe(late);
    await one.runs(2);
    expect(one.starts()).toBe(2);
    await one.supervised.stop();
  });

  test("is connected again when the connection was cut, not when it refuses", async () => {
    const answers = [new Problem(502, "mcp_call_refused", "no"), new Problem(502, "mcp_call_failed", "cut")];
    const one = rig({
      call: async () => {
        throw answers.shift()!;
      },
    });
    await one.runs(1);
    await one.supervised.call(tool, {}, options()).catch(() => {});
    expect(one.supervised.state.status).toBe("running");
    await one.supervised.call(tool, {}, options()).catch(() => {});
    await one.runs(2);
    await one.supervised.stop();
  });

  test("that asks for a login says so", async () => {
    const one = rig({ fails: () => new Problem(401, "authorization_needed", "log in") });
    await one.until(() => one.states.length > 0);
    expect(one.supervised.state).toMatchObject({ status: "error", needsAuthorization: true });
    await one.supervised.stop();
    expect(one.starts()).toBe(1);
  });

  test("is not started again once it was stopped", async () => {
    const one = rig();
    await one.runs(1);
    await one.supervised.stop();
    const starts = one.starts();
    await new Promise((wake) => setTimeout(wake, 20));
    expect(one.starts()).toBe(starts);
  });
});
