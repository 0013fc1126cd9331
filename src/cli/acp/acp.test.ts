/** `skep acp` as editors use it: the protocol library's client over pipes, against a server with the scripted model. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ContentBlock, RequestPermissionResponse, SessionUpdate } from "@agentclientprotocol/sdk";
import { setupAdmin } from "../../testing/accounts.ts";
import { skep, temporaryFolder } from "../../testing/command.ts";
import { type EditorOptions, openEditor, type TestEditor } from "../../testing/editor.ts";
import { createModelServer, reply } from "../../testing/model-server.ts";
import { skepCommand, startServer, type TestServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);

const LONG = Array.from({ length: 120 }, (_, at) => `word${at}`).join(" ");
const write = (path: string, content: string) => `{ tool: write, input: { path: ${path}, content: ${content} } }`;
const SCRIPT = `version: 1
agents:
  scribe:
    - { thinking: "Bells, then.", text: "I write it. ", tool_calls: [${write("bell.txt", "ding")}] }
    - { text: "", tool_calls: [{ tool: edit, input: { path: bell.txt, edits: [{ old_text: ding, new_text: dong }] } }] }
    - { text: "Done." }
  slow:
    - { text: "${LONG}", chunk: 12, delay_ms: 6000 }
    - { text: "Again." }
  endless:
    - { text: "${LONG}", chunk: 12, delay_ms: 120000 }
    - { text: "After that." }
  careful:
    - { text: "", tool_calls: [${write("a.txt", "x")}] }
    - { text: "First.", tool_calls: [] }
    - { text: "", tool_calls: [${write("b.txt", "x")}] }
    - { text: "Second." }
    - { text: "", tool_calls: [${write("c.txt", "x")}] }
    - { text: "Third." }
    - { text: "", tool_calls: [${write("d.txt", "x")}] }
default:
  - { text: "Here." }
  - { text: "Here." }
`;

const folder = temporaryFolder();
const env = () => ({ DEMO_SCRIPT: join(folder.path, "script.yml") });
let server: TestServer;
const editors: TestEditor[] = [];
beforeAll(async () => {
  writeFileSync(env().DEMO_SCRIPT, SCRIPT);
  server = await startServer({ env: env() });
  const permissions = [{ ask: { tool: "write" } }];
  for (const id of ["plain", "slow", "endless", "careful"]) {
    const body = { id, prompt: "You work.", model: "demo/scripted", ...(id === "careful" ? { permissions } : {}) };
    expect(await server.request("POST", "/v1/agents", { body })).toMatchObject({ status: 201 });
  }
});
afterAll(async () => {
  await Promise.all(editors.map((editor) => editor.kill()));
  await server.remove();
  folder.remove();
});

async function edit(agent: string, more: Partial<EditorOptions> = {}) {
  const editor = await openEditor({ args: ["--agent", agent, "--url", server.url], ...more });
  editors.push(editor);
  const { sessionId } = await editor.agent.request("session/new", { cwd: folder.path, mcpServers: [] });
  const prompt = (text: string) =>
    editor.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  return { editor, id: sessionId, prompt };
}
const kindsOf = (updates: SessionUpdate[]) => updates.map(({ sessionUpdate }) => sessionUpdate);
const statesOf = (updates: SessionUpdate[]) =>
  updates.flatMap((one) =>
    one.sessionUpdate === "tool_call" || one.sessionUpdate === "tool_call_update" ? [one.status] : [],
  );
const detail = async (id: string) =>
  (await server.request<{ status: string; messages: { content: string }[] }>("GET", `/v1/chat/sessions/${id}`)).body;

describe("a session", () => {
  test("streams thoughts, words and tool calls with the changes of files, and is a chat of the server", async () => {
    const { editor, id, prompt } = await edit("scribe");
    expect(await prompt("Bells?")).toEqual({ stopReason: "end_turn" });
    expect(editor.readText(id)).toBe("I write it. Done.");
    expect(editor.readText(id, "agent_thought_chunk")).toBe("Bells, then.");
    const updates = editor.updates(id);
    expect(statesOf(updates)).toEqual(["pending", "in_progress", "completed", "pending", "in_progress", "completed"]);
    const path = join(folder.path, "bell.txt");
    const [first, , written, , , changed] = updates.filter(({ sessionUpdate }) =>
      sessionUpdate.startsWith("tool_call"),
    );
    expect(first).toMatchObject({ kind: "edit", name: "write", locations: [{ path }] });
    expect(written).toMatchObject({ content: [{ type: "diff", path, oldText: null, newText: "ding" }] });
    expect(changed).toMatchObject({ content: [{ type: "diff", path, oldText: "ding", newText: "dong" }] });
    expect(updates).toContainEqual(expect.objectContaining({ sessionUpdate: "session_info_update", title: "Bells?" }));
    expect((await detail(id)).messages.at(-1)).toMatchObject({ content: "Done." });

    const other = await openEditor({ args: ["--agent", "scribe", "--url", server.url] });
    editors.push(other);
    const { sessions } = await other.agent.request("session/list", {});
    expect(sessions).toMatchObject([{ sessionId: id, title: "Bells?" }]);
    const loaded = await other.agent.request("session/load", { sessionId: id, cwd: folder.path, mcpServers: [] });
    expect(loaded.configOptions).toMatchObject([{ id: "model", category: "model", currentValue: "demo/scripted" }]);
    expect(other.readText(id, "user_message_chunk")).toBe("Bells?");
    expect(other.readText(id)).toBe("I write it. Done.");
    expect(statesOf(other.updates(id))).toEqual(["pending", "completed", "pending", "completed"]);
    await other.agent.request("session/resume", { sessionId: id, cwd: folder.path });
    const told = other.updates(id).length;
    await other.agent.request("session/prompt", { sessionId: id, prompt: [{ type: "text", text: "And?" }] });
    expect(kindsOf(other.updates(id).slice(told))).toContain("agent_message_chunk");
    await other.agent.request("session/delete", { sessionId: id });
    expect((await other.agent.request("session/list", {})).sessions).toEqual([]);
    expect((await other.close()).code).toBe(0);
  });

  test("the list of a project begins with its chats, however many newer ones other projects have", async () => {
    const project = await server.request<{ id: string }>("POST", "/v1/projects", { body: { name: "bells" } });
    const begin = (body: object) => server.request<{ id: string }>("POST", "/v1/chat/sessions", { body });
    const { body } = await begin({ agent_id: "plain", project_id: project.body.id });
    for (let i = 0; i < 51; i++) await begin({ agent_id: "plain" });
    const args = ["--agent", "plain", "--project", "bells", "--url", server.url];
    const editor = await openEditor({ args });
    editors.push(editor);
    const { sessions, nextCursor } = await editor.agent.request("session/list", {});
    expect(sessions).toMatchObject([{ sessionId: body.id }]);
    expect(nextCursor).toBeUndefined();
  });

  test("takes files and pictures along, and another model from then on", async () => {
    const models = await createModelServer();
    models.answerBy(() => reply({ text: "Seen." }));
    const lab = (images: boolean) => ({ id: images ? "sees" : "blind", context_window: 128_000, images });
    const body = { base_url: `${models.origin}/v1`, models: [lab(true), lab(false)] };
    expect((await server.request("PUT", "/v1/settings/providers/custom-lab", { body })).status).toBe(200);
    const { editor, id } = await edit("reviewer");
    const chooseModel = (value: string) =>
      editor.agent.request("session/set_config_option", { sessionId: id, configId: "model", value });
    await expect(chooseModel("nowhere/x")).rejects.toThrow(/no such provider/);
    expect((await chooseModel("custom-lab/blind")).configOptions).toMatchObject([{ currentValue: "custom-lab/blind" }]);
    const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const picture: ContentBlock = { type: "image", mimeType: "image/png", data: dot };
    await expect(editor.agent.request("session/prompt", { sessionId: id, prompt: [picture] })).rejects.toThrow(
      "custom-lab/blind sees no pictures. Choose another model, or leave the picture out.",
    );
    await chooseModel("custom-lab/sees");
    const answer = await editor.agent.request("session/prompt", {
      sessionId: id,
      prompt: [
        { type: "text", text: "Look at " },
        { type: "resource_link", name: "a.ts", uri: `file://${folder.path}/src/a.ts` },
        { type: "resource", resource: { uri: `file://${folder.path}/b.md`, text: "```x```" } },
        picture,
      ],
    });
    expect(answer.stopReason).toBe("end_turn");
    const { messages } = await detail(id);
    expect(messages[0]).toMatchObject({
      content: "Look at src/a.ts\n\nb.md:\n````\n```x```\n````",
      attachments: [{ media_type: "image/png" }],
    });
    expect(editor.readText(id)).toBe("Seen.");
    const asked = models.requests.findLast(({ path }) => path.endsWith("/chat/completions"));
    expect(JSON.stringify(asked?.body)).toContain(`data:image/png;base64,${dot}`);
    expect(editor.updates(id)).toContainEqual(
      expect.objectContaining({ sessionUpdate: "usage_update", size: 128_000 }),
    );
    await models.stop();
  });

  test("two editors at once have a chat each; a chat in which nothing was said goes with its editor", async () => {
    const both = await Promise.all([edit("plain"), edit("plain"), edit("plain")]);
    const [one, two, silent] = both;
    await Promise.all([one!.prompt("One"), two!.prompt("Two")]);
    expect(one!.editor.readText(one!.id)).toBe("Here.");
    expect(two!.editor.readText(two!.id)).toBe("Here.");
    expect(one!.editor.updates(two!.id)).toEqual([]);
    const ends = await Promise.all(both.map(({ editor }) => editor.close()));
    expect(ends).toEqual([0, 0, 0].map((code) => ({ code, stderr: "" })));
    expect((await server.request("GET", `/v1/chat/sessions/${silent!.id}`)).status).toBe(404);
    expect((await server.request("GET", `/v1/chat/sessions/${one!.id}`)).status).toBe(200);
  });

  test("cancel stops the turn, and the next prompt is answered; a second one at the same time is refused", async () => {
    const { editor, id, prompt } = await edit("endless");
    const first = prompt("All of it");
    await editor.until(id, () => editor.readText(id).includes("word0"));
    await expect(prompt("Now this")).rejects.toThrow(/is answering a prompt/);
    await expect((await edit("endless")).prompt("word ".repeat(300_000))).rejects.toThrow(
      /has 1499999 characters of text; at most 200000 fit\. Name large files/,
    );
    await editor.agent.notify("session/cancel", { sessionId: id });
    expect(await first).toEqual({ stopReason: "cancelled" });
    expect(await prompt("And now?")).toEqual({ stopReason: "end_turn" });
    const closed = await edit("endless", {});
    const third = closed.prompt("All of it");
    await closed.editor.until(closed.id, () => closed.editor.readText(closed.id).includes("word0"));
    await closed.editor.agent.request("session/close", { sessionId: closed.id });
    expect(await third).toEqual({ stopReason: "cancelled" });
    await expect(closed.prompt("Hm?")).rejects.toMatchObject({ code: -32_002 });
  });

  test("an editor that closes leaves the reply to the server, and another one takes it up", async () => {
    const { editor, id, prompt } = await edit("slow");
    const gone = prompt("Slowly");
    gone.catch(() => {});
    await editor.until(id, () => editor.readText(id).includes("word0"));
    expect(await editor.close()).toEqual({ code: 0, stderr: "" });
    const other = await openEditor({ args: ["--url", server.url] });
    editors.push(other);
    await other.agent.request("session/load", { sessionId: id, cwd: folder.path, mcpServers: [] });
    await other.until(id, () => other.readText(id) === LONG);
    const again = await other.agent.request("session/prompt", {
      sessionId: id,
      prompt: [{ type: "text", text: "More" }],
    });
    expect([again.stopReason, other.readText(id)]).toEqual(["end_turn", `${LONG}Again.`]);
  });
});

describe("a call that a rule asks about", () => {
  test("is allowed and refused in the editor; an answer elsewhere closes the editor's question", async () => {
    const answers: ((signal: AbortSignal) => Promise<RequestPermissionResponse>)[] = [];
    const titles: unknown[] = [];
    const { editor, id, prompt } = await edit("careful", {
      onPermission: ({ toolCall, options }, signal) => {
        titles.push([toolCall.title, toolCall.kind, options.map(({ kind }) => kind)]);
        return answers.shift()!(signal);
      },
    });
    const select = (optionId: string) => async (): Promise<RequestPermissionResponse> => ({
      outcome: { outcome: "selected", optionId },
    });
    answers.push(select("once"));
    expect(await prompt("a")).toEqual({ stopReason: "end_turn" });
    expect(statesOf(editor.updates(id))).toEqual(["pending", "in_progress", "completed"]);
    answers.push(select("no"));
    expect(await prompt("b")).toEqual({ stopReason: "end_turn" });
    expect(statesOf(editor.updates(id)).slice(3)).toEqual(["pending", "in_progress", "failed"]);
    const closed = Promise.withResolvers<void>();
    answers.push(async (signal) => {
      signal.addEventListener("abort", () => closed.resolve());
      const { body } = await server.request<{ items: { id: string }[] }>("GET", "/v1/approvals?kind=permission");
      const path = `/v1/permissions/requests/${body.items[0]!.id}/answer`;
      expect((await server.request("POST", path, { body: { allow: true } })).status).toBe(200);
      await closed.promise;
      return { outcome: { outcome: "cancelled" } };
    });
    expect(await prompt("c")).toEqual({ stopReason: "end_turn" });
    await closed.promise;
    expect(statesOf(editor.updates(id)).slice(6)).toEqual(["pending", "in_progress", "completed"]);
    const withdrawn = Promise.withResolvers<void>();
    answers.push(async (signal) => {
      signal.addEventListener("abort", () => withdrawn.resolve());
      await editor.agent.notify("session/cancel", { sessionId: id });
      await withdrawn.promise;
      return { outcome: { outcome: "cancelled" } };
    });
    expect(await prompt("d")).toEqual({ stopReason: "cancelled" });
    await withdrawn.promise;
    expect(statesOf(editor.updates(id)).slice(9)).toEqual(["pending", "failed"]);
    expect(editor.readText(id)).toBe("First.Second.Third.");
    const kinds = ["allow_once", "allow_always", "reject_once"];
    expect(titles).toEqual(["a", "b", "c", "d"].map((name) => [`May careful use write: ${name}.txt?`, "edit", kinds]));
  });
});

describe("the server", () => {
  test("that is killed in mid-turn and comes back goes on, and no word is doubled", async () => {
    const { editor, id, prompt } = await edit("slow");
    const answer = prompt("Slowly");
    await editor.until(id, () => editor.readText(id).includes("word30"));
    await server.stop("SIGKILL");
    server = await startServer({ data: server.data, env: { ...env(), PORT: new URL(server.url).port } });
    expect(await answer).toEqual({ stopReason: "end_turn" });
    expect(editor.readText(id)).toBe(LONG);
  });

  test("that cannot be reached, or wants a log-in, is named in one line with what to do", async () => {
    const editor = await openEditor({ args: ["--url", "http://127.0.0.1:9"] });
    const begin = (one: TestEditor, more = {}) =>
      one.agent.request("session/new", { cwd: folder.path, mcpServers: [], ...more });
    await expect(begin(editor)).rejects.toThrow("http://127.0.0.1:9 does not answer. Is the server running?");
    const { code, stderr } = await editor.close();
    expect([code, stderr]).toEqual([0, "skep: http://127.0.0.1:9 does not answer. Is the server running?\n"]);

    const wrong = await openEditor({ args: ["--agent", "nobody", "--url", server.url] });
    await expect(begin(wrong)).rejects.toThrow(/There is no agent nobody/);
    await expect(begin(wrong, { cwd: "here" })).rejects.toThrow(/absolute path/);
    await wrong.close();
  });

  test("whose log-in ends in between says so as the protocol's error, and takes the next log-in", async () => {
    const locked = await startServer({ env: { AUTH_ENABLED: "true", ...env() } });
    const { token } = await setupAdmin(locked);
    const editor = await openEditor({ args: ["--url", locked.url], env: { SKEP_TOKEN: token } });
    const { sessionId } = await editor.agent.request("session/new", { cwd: folder.path, mcpServers: [] });
    const ask = () => editor.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "Hi" }] });
    expect(await ask()).toEqual({ stopReason: "end_turn" });
    expect(await editor.agent.request("authenticate", { methodId: "login" })).toEqual({});
    await locked.request("POST", "/v1/auth/logout", { token });
    const refused = { code: -32_000, message: expect.stringContaining("Log in with: skep login") };
    await expect(ask()).rejects.toMatchObject(refused);
    await expect(editor.agent.request("authenticate", { methodId: "login" })).rejects.toMatchObject(refused);
    const { stderr } = await editor.close();
    expect(stderr.trim().split("\n")).toEqual([1, 2].map(() => expect.stringMatching(/^skep: .*skep login/)));
    await locked.remove();
  });
});

describe("what is no protocol", () => {
  test("is answered with an error, and the session goes on", async () => {
    const { editor, id, prompt } = await edit("plain");
    editor.write(`garbage\n\n[1]\n{"jsonrpc":"2.0","id":99999,"result":{}}\n{"jsonrpc":"1.0"}\n`);
    editor.write(`{"jsonrpc":"2.0","id":"${"x".repeat(33 * 1024 * 1024)}","method":"session/new"}\n`);
    await expect(editor.agent.request("session/nothing", {})).rejects.toMatchObject({ code: -32_601 });
    await expect(
      editor.agent.request("session/prompt", { sessionId: "chat_none", prompt: [{ type: "text", text: "x" }] }),
    ).rejects.toMatchObject({ code: -32_002 });
    expect(await prompt("Still there?")).toEqual({ stopReason: "end_turn" });
    expect(editor.readText(id)).toBe("Here.");
    expect((await editor.close()).code).toBe(0);
  });

  test("without an end ends the process; so does a closed input, at once", async () => {
    const child = Bun.spawn([...skepCommand("acp", "--url", server.url)], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent" },
    });
    const piece = new Uint8Array(1024 * 1024).fill(120);
    const flood = async () => {
      for (let count = 0; count < 80; count++) {
        child.stdin.write(piece);
        await child.stdin.flush();
      }
    };
    // The pipe breaks when the server gives the connection up.
    await flood().catch(() => {});
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect([await child.exited, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^skep: The editor wrote \d+ bytes without a message\.\n$/);
    expect(await skep(["acp", "--url", server.url])).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});
