/** `skep chat` at a real terminal and in a pipe, against a server with the scripted model. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { skep, temporaryFolder } from "../../testing/command.ts";
import { createModelServer, reply } from "../../testing/model-server.ts";
import { skepCommand, startServer, type TestServer } from "../../testing/server.ts";
import { openTerminal, type TestTerminal } from "../../testing/terminal.ts";

setDefaultTimeout(300_000);

const SCRIPT = `version: 1
agents:
  scribe:
    - { text: "## Bells\\n\\nThey **ring**, see \`bell.txt\`.\\n", tool_calls: [{ tool: ls, input: { path: "." } }] }
    - { text: "- one\\n- two\\n" }
  engineer:
    - { text: "${"All of it. ".repeat(400)}", chunk: 20, delay_ms: 60000 }
default:
  - { text: "Here.\\n" }
  - { text: "Here.\\n" }
`;

let server: TestServer;
const folder = temporaryFolder();
beforeAll(async () => {
  const script = join(folder.path, "script.yml");
  writeFileSync(script, SCRIPT);
  server = await startServer({ env: { DEMO_SCRIPT: script } });
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

const env = { HOME: folder.path };
const chat = (args: string[] = [], more: Record<string, string> = {}): TestTerminal =>
  openTerminal(skepCommand("chat", ...args, "--data", server.data), {
    columns: 80,
    cwd: folder.path,
    env: { ...env, ...more },
  });
interface Chat {
  id: string;
  agent_id: string;
  message_count: number;
}
const chats = async (agent: string) =>
  (await server.request<{ items: Chat[] }>("GET", `/v1/chat/sessions?agent_id=${agent}`)).body.items;
const prompts = (agent: string, times: number) => new RegExp(`(${agent} \\$[^\\n]* ›[\\s\\S]*){${times}}`);

describe("a chat at a terminal", () => {
  test("shows Markdown, tool calls on one line each, and cost and context before the next line", async () => {
    const terminal = chat(["scribe"]);
    await terminal.shows(prompts("scribe", 1));
    terminal.type("Tell me of bells\r");
    await terminal.shows(prompts("scribe", 2));
    const text = terminal.text();
    expect(text).toMatch(/^Bells$/m);
    expect(text).toMatch(/^They ring, see bell\.txt\.$/m);
    expect(text).toMatch(/^✔ ls \. +\d+\.\d s/m);
    expect(text).toMatch(/^• one\n• two$/m);
    expect(text).toMatch(/^scribe \$0\.00 · \d\S* tokens ›/m);
    expect(terminal.readOutput()).toContain("\x1b[1mring");
    terminal.type("/quit\r");
    expect(await terminal.exited).toBe(0);
    expect(terminal.text()).toContain("skep chat scribe -c");
  });

  test("-c continues the last chat and shows where it was; the arrow brings back what was typed", async () => {
    const terminal = chat(["scribe", "-c"]);
    await terminal.shows(/› Tell me of bells[\s\S]*• two\nscribe/);
    terminal.type("\x1b[A");
    await terminal.shows(/› \/quit$/);
    terminal.type("\x1b[A");
    await terminal.shows(/› Tell me of bells$/);
    terminal.type("\x03");
    await terminal.shows(/›$/);
    terminal.type("\x03");
    await terminal.shows(/Ctrl-C again leaves/);
    terminal.type("\x03");
    expect(await terminal.exited).toBe(0);
  });

  test("Ctrl-C ends the reply and keeps the chat", async () => {
    const terminal = chat(["engineer"]);
    await terminal.shows(prompts("engineer", 1));
    terminal.type("Everything\r");
    await terminal.shows(/All of it/);
    terminal.type("\x03");
    await terminal.shows(/\(stopped\)/);
    await terminal.shows(prompts("engineer", 2));
    // Pressing it twice more leaves.
    terminal.type("\x03");
    await terminal.shows(/Ctrl-C again leaves/);
    terminal.type("\x03");
    expect(await terminal.exited).toBe(0);
    expect((await chats("engineer"))[0]!.message_count).toBeGreaterThanOrEqual(2);
  });

  test("its commands: model, attach, rewind, fork, export, cost, compact, agent, and near names for wrong ones", async () => {
    const terminal = chat(["reviewer"]);
    await terminal.shows(prompts("reviewer", 1));
    const command = async (line: string, pattern: RegExp) => {
      terminal.type(`${line}\r`);
      await terminal.shows(pattern);
    };
    await command("/help", /\/compact[\s\S]*\/quit[\s\S]*›$/);
    await command("/modle", /There is no command \/modle\. Did you mean[\s\S]*›$/);
    await command("/model demo/scripted", /From now on demo\/scripted answers/);
    await command("/model nowhere/x", /no such provider/);
    writeFileSync(join(folder.path, "my notes.txt"), "Bells ring.");
    await command('/attach "my notes.txt"', /With the next message: my notes\.txt[\s\S]*1 attached ›$/);
    await command("/attach gone.txt", /There is no file gone\.txt/);
    await command("First", /^Here\.$/m);
    await command("Second", /(^Here\.\n[\s\S]*){2}›$/m);
    await command("/rewind", /1 +Second\n2 +First/);
    await command("/rewind 1", /Taken back[\s\S]*› Second$/);
    terminal.type("\x15");
    const [{ id } = { id: "" }] = await chats("reviewer");
    const large = join(server.data, "workspaces", id, "large.bin");
    mkdirSync(dirname(large), { recursive: true });
    writeFileSync(large, "");
    truncateSync(large, 65 * 1024 ** 2);
    await command("/fork", /continue in a copy[\s\S]*stay with the other chat alone: 1\./);
    await command("/export chat.md", /Written to chat\.md/);
    await command("/export chat.md", /chat\.md already exists/);
    await command("/cost", /context +known after the next reply/);
    await command("/compact", /reads a summary from now on[\s\S]*›$/);
    await command("/agent scribe", /A new chat with scribe[\s\S]*scribe \$0/);
    terminal.type("\x04");
    expect(await terminal.exited).toBe(0);
    const text = readFileSync(join(folder.path, "chat.md"), "utf8");
    expect(text).toContain("attached: my notes.txt");
    expect(text).toContain("First");
    expect(text).not.toContain("Second");
    expect((await chats("reviewer")).map(({ message_count }) => message_count)).toEqual([3, 4]);
  });

  test("a reply that waits or failed says why, in a chat that continues too, and /try asks at once", async () => {
    const models = await createModelServer();
    const own = await startServer();
    const lab = { base_url: `${models.origin}/v1`, models: [{ id: "m1", context_window: 32_768 }] };
    await own.request("PUT", "/v1/settings/providers/custom-lab", { body: lab });
    await own.request("POST", "/v1/agents", { body: { id: "talker", prompt: "You talk.", model: "custom-lab/m1" } });
    const body = { error: { message: "You have used up your quota", type: "usage_limit_reached" } };
    models.next(
      { kind: "status", status: 429, headers: { "retry-after": "7200" }, body },
      reply({ text: "Here I am." }),
    );
    const open = (...args: string[]) =>
      openTerminal(skepCommand("chat", "talker", ...args, "--data", own.data), {
        columns: 120,
        cwd: folder.path,
        env,
      });
    const first = open();
    await first.shows(prompts("talker", 1));
    first.type("/try\r");
    await first.shows(/waits for no provider/);
    first.type("Are you there?\r");
    await first.shows(/\(Waits: [\s\S]*\/try asks again at once/);
    const before = models.requests.length;
    // The terminal's window is closed.
    first.kill("SIGHUP");
    await first.exited;
    const second = open("-c");
    await second.shows(/› Are you there\?[\s\S]*Waits: [\s\S]*\/try asks again at once/);
    second.type("/try\r");
    await second.shows(/Here I am\.[\s\S]*talker \$[^\n]* ›/);
    expect(models.requests.length).toBe(before + 1);
    models.next({ kind: "status", status: 403, body: { error: { message: "Not in your region." } } });
    second.type("And now?\r");
    await second.shows(/does not allow this \(403\)[\s\S]*›/);
    second.type("/quit\r");
    expect(await second.exited).toBe(0);
    const third = open("-c");
    await third.shows(/› And now\?\ncustom-lab does not allow this \(403\): Not in your region\.\ntalker/);
    third.type("/quit\r");
    expect(await third.exited).toBe(0);
    await own.remove();
    await models.stop();
  });

  test("a chat in which nothing was said is not kept", async () => {
    const terminal = chat(["architect"]);
    await terminal.shows(prompts("architect", 1));
    terminal.type("\x04");
    expect(await terminal.exited).toBe(0);
    expect(await chats("architect")).toEqual([]);
  });

  test("without a terminal it says how to send one message", async () => {
    const { code, stderr } = await skep(["chat", "--data", server.data], { env });
    expect(code).toBe(2);
    expect(stderr).toContain("skep chat -p TEXT");
  });
});

describe("one message for pipes", () => {
  test("prints the agent's words alone, and JSON when asked", async () => {
    const said = await skep(["chat", "scribe", "-p", "Bells?", "--data", server.data], { env });
    expect([said.code, said.stdout]).toEqual([0, "## Bells\n\nThey **ring**, see `bell.txt`.\n- one\n- two\n"]);
    const json = await skep(["chat", "-c", "-p", "Again?", "--json", "--data", server.data], { env });
    expect(json.code).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({ agent_id: "scribe", status: "succeeded", error: null });
  });

  test("prints no words of a reply that broke off and was asked for again", async () => {
    const models = await createModelServer();
    const lab = { base_url: `${models.origin}/v1`, models: [{ id: "m1", context_window: 32_768 }] };
    await server.request("PUT", "/v1/settings/providers/custom-lab", { body: lab });
    models.next({ kind: "cut", reply: { text: "Hello wor" }, how: "closed" }, reply({ text: "Good day." }));
    const args = ["chat", "scribe", "-p", "Hm?", "--model", "custom-lab/m1", "--data", server.data];
    expect(await skep(args, { env })).toEqual({ code: 0, stdout: "Good day.\n", stderr: "" });
    await models.stop();
  });

  test("wrong use is named: an empty message, an agent that does not exist, a file that does not exist", async () => {
    for (const [args, message] of [
      [["scribe", "-p", " "], "empty"],
      [["scrib3", "-p", "x"], "There is no agent scrib3"],
      [["scribe", "-p", "x", "--attach", "/nowhere/x"], "There is no file"],
    ] as const) {
      const { code, stderr } = await skep(["chat", ...args, "--data", server.data], { env });
      expect(code).not.toBe(0);
      expect(stderr).toContain(message);
      expect(stderr.trim().split("\n")).toHaveLength(1);
    }
    expect(existsSync("/nowhere")).toBe(false);
  });
});
