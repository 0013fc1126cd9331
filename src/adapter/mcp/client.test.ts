/** Connections to real and to misbehaving tool servers, which are processes of this machine. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../../core/ids.ts";
import { membersOf } from "../../core/is-object.ts";
import { BUN, NPM_SERVERS, npmServerEntry, ODD_SERVER } from "../../testing/mcp/image.ts";
import { isRunning } from "../../testing/process-state.ts";
import { createProcessToolServers } from "../sandbox/process/tool-servers.ts";
import { type Connection, connectServer } from "./client.ts";
import { createLineReader } from "./line-reader.ts";
import { createMessageGate } from "./message-gate.ts";

const folder = mkdtempSync(join(tmpdir(), "skep-mcp-client-"));
const servers = createProcessToolServers({ instanceId: newId("instance"), allowHostShell: true });
const open: Connection[] = [];
afterAll(async () => {
  await Promise.all(open.map((one) => one.close()));
  rmSync(folder, { recursive: true, force: true });
});

const MB = 1024 * 1024;
async function connect(args: readonly string[], { timeoutMs = 240_000, maxNoiseBytes = 64 * MB } = {}) {
  const log: string[] = [];
  let onChange = () => {};
  const toolsChanged = new Promise<void>((resolve) => {
    onChange = resolve;
  });
  const server = `s${open.length}-${log.length}-${Math.random()}`;
  const spec = { server, command: BUN, args, env: {}, network: "none" as const, memoryMb: 256, folder };
  const connection = await connectServer(
    { transport: "stdio", open: (events, signal) => servers.open(spec, events, signal) },
    {
      timeoutMs,
      maxNoiseBytes,
      maxMessageBytes: 4 * MB,
      signal: new AbortController().signal,
      onLog: (stream, text) => log.push(`${stream}: ${text}`),
      onToolsChanged: () => onChange(),
    },
  );
  open.push(connection);
  const call = (name: string, input: Record<string, unknown> = {}, ms = timeoutMs) =>
    connection.callTool({ name, inputSchema: { type: "object" } }, input, {
      signal: AbortSignal.timeout(240_000),
      timeoutMs: ms,
    });
  return { connection, call, log, toolsChanged };
}
const odd = (...args: string[]) => connect([ODD_SERVER, ...args]);
const readText = ({ content }: Awaited<ReturnType<Connection["callTool"]>>) => (content[0] as { text: string }).text;
const list = ({ connection }: { connection: Connection }) =>
  connection.listTools(AbortSignal.timeout(240_000)) as Promise<{ name?: unknown }[]>;

describe("a tool server", () => {
  test.each(NPM_SERVERS)("%s from npm is connected and lists its tools", async (name) => {
    const one = await connect([npmServerEntry(name), ...(name === "filesystem" ? [folder] : [])]);
    expect(one.connection.revision).toBe("2025-11-25");
    expect((await list(one)).length).toBeGreaterThan(0);
  });

  test.each(["--silent-on-probe", "--exit-on-probe"])(
    "of an older revision is spoken to however it takes the first question (%s)",
    async (how) => {
      const one = await odd(how);
      expect(readText(await one.call("say", { text: "hi" }))).toBe("hi");
    },
  );

  test("whose first answer takes longer than the first question waits is connected", async () => {
    expect(readText(await (await odd("--late")).call("say", { text: "hi" }))).toBe("hi");
  });

  test("is listed page by page, malformed tools and all", async () => {
    const names = (await list(await odd("--malformed"))).map((tool) => tool?.name);
    expect(names).toEqual(expect.arrayContaining(["say", "long", "endless", 17, undefined]));
    expect(names).toHaveLength(18);
  });

  test("may print garbage: it is logged, and the answer behind it arrives", async () => {
    const one = await odd();
    expect(readText(await one.call("garbage"))).toBe("after the garbage");
    expect(one.log.filter((line) => line.startsWith("stdout: ")).length).toBeGreaterThan(2);
  });

  test("that answers with a line of 60 MB fails that call, and answers the next", async () => {
    const one = await odd();
    await expect(one.call("long", { mb: 60 }, 240_000)).rejects.toMatchObject({
      code: "mcp_call_refused",
      detail: expect.stringContaining("more than the 4194304"),
    });
    expect(readText(await one.call("say", { text: "still here" }))).toBe("still here");
    expect(readText(await one.call("long", { mb: 3 }, 240_000))).toHaveLength(3 * MB);
  });

  test("that hangs costs the time-out, and answers the next", async () => {
    const one = await odd();
    await expect(one.call("hang", {}, 300)).rejects.toMatchObject({ status: 504, code: "mcp_timeout" });
    expect(readText(await one.call("say", { text: "next" }))).toBe("next");
  });

  test("that crashes ends the call and the connection, with the reason", async () => {
    const one = await odd();
    await expect(one.call("crash")).rejects.toMatchObject({ status: 502 });
    expect(await one.connection.ended).toBe("it ended with exit code 3");
    await expect(one.call("say", { text: "x" })).rejects.toMatchObject({ status: 502 });
  });

  test("that never ends its noise is given up", async () => {
    const failed = connect([ODD_SERVER, "--noise", "--mute"], { maxNoiseBytes: 8 * MB });
    await expect(failed).rejects.toMatchObject({ detail: expect.stringContaining("without a message") });
  });

  test.each([
    ["--mute", "timed out", 1_500],
    ["--dead", "exit code 1", 240_000],
  ])("that never speaks (%s) is not connected, with the reason", async (how, why, timeoutMs) => {
    await expect(connect([ODD_SERVER, how], { timeoutMs })).rejects.toMatchObject({
      code: "mcp_not_connected",
      detail: expect.stringContaining(why),
    });
  });

  test("takes everything that it started with it, and says when its tools change", async () => {
    const one = await odd();
    const [, pid] = /started (\d+)/.exec(readText(await one.call("fork"))) ?? [];
    expect(isRunning(Number(pid))).toBe(true);
    await one.call("change");
    await one.toolsChanged;
    await one.connection.close();
    expect(isRunning(Number(pid))).toBe(false);
  });

  test("finds nothing in its environment but what it was given", async () => {
    const env = JSON.parse(readText(await (await odd()).call("env"))) as Record<string, string>;
    expect(Object.keys(env).sort()).toEqual(["HOME", "LANG", "PATH", "SKEP_MCP_SERVER"]);
  });
});

/** A message gate with pending requests 0 to 99. It collects noise in `found`. */
function gateThatTells(found: unknown[]) {
  const gate = createMessageGate({
    maxMessageBytes: 1_000,
    onLog() {},
    onNoise: (text) => found.push(text.slice(0, 2_000)),
  });
  for (let id = 0; id < 100; id++) gate.recordSent({ id, method: "tools/call" });
  return gate;
}

describe("what a server prints", () => {
  const read = (lines: string, cut: number, limits: { maxLineBytes?: number; maxNoiseBytes?: number } = {}) => {
    const found: unknown[] = [];
    const reader = createLineReader({
      maxLineBytes: 1_000,
      maxNoiseBytes: 1_000_000,
      ...limits,
      gate: gateThatTells(found),
      onMessage: (message) => found.push("error" in message ? membersOf(message)["id"] : message),
      onFlood: () => found.push("flood"),
    });
    const bytes = Buffer.from(lines);
    for (let at = 0; at < bytes.length; at += cut) reader(bytes.subarray(at, at + cut));
    return found;
  };
  const long = "y".repeat(5_000);
  test("besides messages is kept as its beginning, and gives the server up when nothing else comes for too long", () => {
    const [message, noise] = [{ jsonrpc: "2.0", method: "x" }, "n".repeat(900)];
    const both = `${noise}\n${JSON.stringify(message)}\n`;
    expect(read(both.repeat(3), 100, { maxNoiseBytes: 1_000 })).toEqual([
      noise,
      message,
      noise,
      message,
      noise,
      message,
    ]);
    expect(read(`${noise}\n${both}`, 100, { maxNoiseBytes: 1_000 })).toEqual([noise, "flood"]);
    expect(read(`${"n".repeat(9_000)}\n`, 100, { maxLineBytes: 10_000 })).toEqual(["n".repeat(2_000)]);
  });

  test.each([1, 7, 999, 1_000_000])(
    "in a line that is too long says whose answer it was, wherever its id is (pieces of %d)",
    (cut) => {
      expect(read(`{"jsonrpc":"2.0","id":5,"result":{"a":"${long}"}}\n`, cut)).toEqual([5]);
      expect(read(`{"result":{"a":"${long}"},"jsonrpc":"2.0","id":6}\n`, cut)).toEqual([6]);
      expect(read(`{"result":{"a":"${long}"},"id":7,"jsonrpc":"2.0"}\n`, cut)).toEqual([7]);
      expect(read(`${long}\n{"jsonrpc":"2.0","id":1,"result":{}}\n`, cut)).toEqual([
        { jsonrpc: "2.0", id: 1, result: {} },
      ]);
      expect(read(`{"jsonrpc":"2.0","method":"x","params":{"id":9,"a":"${long}"}}\n`, cut)).toEqual([]);
    },
  );
});
