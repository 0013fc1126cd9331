/**
 * A31 and A39 for what features give to agents and accept from people: memory, tasks, chats, attachments, speech,
 * cookies, search. Every tool that a run in a project is offered is tested here or in stall.test.ts; this file checks
 * that.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../command.ts";
import { type Case, MiB, one, type StallRig, stallRig } from "./stall-rig.ts";

setDefaultTimeout(300_000);

const words = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `w${from + i}`).join(" ");
const memory = (tool: string, content: string, more: Record<string, unknown> = {}) =>
  one(tool, { title: "a title", content, new: true, ...more });

const TOOLS: Case[] = [
  {
    name: "remember: thirty entries of distinct words",
    calls: Array.from({ length: 30 }, (_, i) =>
      memory("remember", words(2_500, i * 2_500), { title: `entry ${i}` }),
    ).flat(),
    says: /Written as/,
  },
  { name: "remember: brackets of links", calls: memory("remember", "[[a".repeat(6_600)), says: /Written as/ },
  { name: "remember: links without end", calls: memory("remember", "[[a]]".repeat(4_000)), says: /Written as/ },
  { name: "remember: front matter", calls: memory("remember", `---\n${"a: &a [*a]\n".repeat(1_500)}---\n`), says: /./ },
  {
    name: "remember: a date of digits",
    calls: memory("remember", "x", { expires_at: `${"9".repeat(100_000)}Z` }),
    says: /does not fit/,
  },
  {
    name: "remember: nearly what is there",
    calls: one("remember", { title: "entry 5", content: words(2_500, 12_500) }),
    says: /nearly the same|Written as/,
  },
  { name: "recall: quotes", calls: one("recall", { query: '"'.repeat(1_000) }), says: /./ },
  { name: "recall: operators", calls: one("recall", { query: "NEAR( a* OR NOT ".repeat(60) }), says: /./ },
  { name: "recall: words of all entries", calls: one("recall", { query: words(180), limit: 20 }), says: /./ },
  {
    name: "rate_memories: none of them recalled",
    calls: one("rate_memories", {
      ratings: Array.from({ length: 50 }, (_, i) => ({ entry: `fact/${i}`, useful: true })),
    }),
    says: /among those recalled/,
  },
  { name: "link_memory: names of dots", calls: one("link_memory", { from: "../".repeat(60), to: "x" }), says: /./ },
  {
    name: "share_knowledge: emphasis",
    calls: memory("share_knowledge", "*_`~".repeat(4_900)),
    says: /Shared as|does not/,
  },
  {
    name: "create_task: thirty of many lines",
    calls: Array.from({ length: 30 }, (_, i) =>
      one("create_task", { title: `${i}`, description: "a\n".repeat(9_000) }),
    ).flat(),
    says: /task_/,
  },
  {
    name: "create_task: after fifty that do not exist",
    calls: one("create_task", { title: "x", depends_on: Array.from({ length: 50 }, (_, i) => `task_${i}`) }),
    says: /./,
  },
  {
    name: "create_task: tags that are not valid",
    calls: one("create_task", { title: "x", tags: ["a ".repeat(200_000)] }),
    says: /fit/,
  },
  { name: "list_tasks: all", calls: one("list_tasks", { limit: 100 }), says: /task_/ },
  {
    name: "list_tasks: a status that backtracks",
    calls: one("list_tasks", { status: "a_".repeat(200_000) }),
    says: /fit/,
  },
  { name: "claim_task: no such", calls: one("claim_task", { task_id: "x".repeat(40) }), says: /./ },
  { name: "transition_task: no such", calls: one("transition_task", { task_id: "x", status: "done" }), says: /./ },
  { name: "list_documents", calls: one("list_documents", { query: "a".repeat(400_000) }), says: /./ },
  { name: "search_documents", calls: one("search_documents", { query: '"a* '.repeat(100_000) }), says: /./ },
  { name: "read_document", calls: one("read_document", { document_id: "../".repeat(100_000) }), says: /./ },
  { name: "spawn_executor", calls: one("spawn_executor", { agent_id: "a-".repeat(200_000) }), says: /./ },
  { name: "message_agent", calls: one("message_agent", { agent_id: "a-".repeat(200_000) }), says: /./ },
  {
    name: "swarm_execute: tasks without end",
    calls: one("swarm_execute", {
      tasks: Array.from({ length: 20_000 }, (_, i) => ({ key: `${i}`, depends_on: [`${i}`] })),
    }),
    says: /./,
  },
  { name: "tools: words of all", calls: one("tools", { query: "a task memory ".repeat(35) }), says: /##/ },
  { name: "tools: longer than it takes", calls: one("tools", { query: "a ".repeat(200_000) }), says: /fit/ },
  { name: "get_vision", calls: one("get_vision", {}), says: /vision/ },
];

/** Texts that are slow for careless readers, each as long as is accepted. */
const PIECES = [
  "|",
  "| ",
  "- ",
  "[",
  "![",
  "](",
  "[a](",
  "<a",
  "<",
  "*",
  "_ ",
  "`",
  "~~~\n",
  "#",
  "> ",
  "1.",
  "\n",
  " ",
  "a. ",
  "\u{1F468}\u200D",
  "e\u0301",
  "((",
  "://",
];
const textOf = (piece: string, length: number) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length - 1);

/** A silent WAV file. */
function silence(bytes: number): Buffer {
  const wav = Buffer.alloc(44 + bytes);
  wav.write("RIFF....WAVEfmt ", "latin1");
  wav.writeUInt32LE(16, 16);
  wav.write("data", 36, "latin1");
  wav.writeUInt32LE(bytes, 40);
  return wav;
}

/**
 * Replaces espeak-ng by a program that returns the same sound for every text. The server splits the text and joins the
 * sounds as with the real program, which would take more than half of the time of all tests here. The size of a
 * sentence's sound brings the total close to the 50 MiB that a text may have.
 * @returns the folder for PATH.
 */
function installSpeaker(folder: string): string {
  writeFileSync(join(folder, "long"), silence(2_000_000));
  writeFileSync(join(folder, "short"), silence(20_000));
  const program = join(folder, "espeak-ng");
  const script = `case $(cat) in a.*) sound=long;; *) sound=short;; esac; exec cp "\${0%/*}/$sound" "$2"`;
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return folder;
}

describe("the event loop answers others while it works on", () => {
  const speaker = temporaryFolder();
  let rig: StallRig;
  beforeAll(async () => {
    const path = `${installSpeaker(speaker.path)}:${process.env["PATH"]}`;
    rig = await stallRig({ inProject: true, env: { PATH: path } });
    await rig.must("PUT", "/v1/admin/tts-settings", { provider: "localvoice", enabled: true, max_characters: 100_000 });
    await rig.play({ name: "warm up", calls: [...one("recall", { query: "x" }), ...one("list_tasks", {})], says: /./ });
  });
  afterAll(async () => {
    await rig?.stop();
    speaker.remove();
  });

  const post = (path: string, body: unknown) => rig.server.request("POST", path, { body });
  const get = (path: string) => rig.server.request("GET", path);
  const say = (text: string) => post("/v1/internal/tts/synthesize", { agent_id: "stranger", text });
  const upload = (path: string, name: string, bytes: string | Uint8Array, fields: Record<string, string> = {}) => {
    const body = new FormData();
    for (const [key, value] of Object.entries(fields)) body.append(key, value);
    body.append("file", new File([bytes as string], name));
    return rig.server.request("POST", path, { body });
  };

  describe("hostile input of a tool:", () => {
    test.each(TOOLS.map((one) => [one.name, one] as const))("%s", (_name, one) => rig.expectNoStall(one));
  });

  test.each(PIECES.map((piece) => [piece]))("a text of %j: spoken, said, remembered, sought", async (piece) => {
    const chat = (await rig.must("POST", "/v1/chat/sessions", { agent_id: "stranger" }))["id"] as string;
    let spoken = 0;
    for (const tail of ["", "x"]) {
      const text = (length: number) => `${textOf(piece, length - 1)}${tail}`;
      const requests: [string, () => Promise<{ status: number }>][] = [
        // Uses another text at each try: speech is cached, so the same text would cause no work.
        ["speech", () => say(text(100_000 - 8 * spoken++))],
        ["a title", () => rig.server.request("PUT", `/v1/chat/sessions/${chat}`, { body: { title: text(200) } })],
        ["an entry", () => post("/v1/memory/vaults/stranger/entries", { title: "x", content: text(20_000) })],
        ["a search", () => get(`/v1/search?q=${encodeURIComponent(text(200))}`)],
        ["memory", () => get(`/v1/memory/search?query=${encodeURIComponent(text(1_000))}`)],
        ["a task", () => post(`/v1/projects/${rig.project}/tasks`, { title: "x", description: text(20_000) })],
        ["a cookie file", () => upload("/v1/browser/cookies", "c.txt", text(MiB), { name: "x" })],
      ];
      for (const [name, request] of requests) await rig.requestWithoutStall(`${name} ${piece}`, request);
    }
  });

  test("5,000 tasks of a list, each after all that may come before it", async () => {
    const tasks = Array.from({ length: 5_000 }, (_, i) => ({
      key: `k${i}`,
      title: `t${i}`,
      depends_on: Array.from({ length: Math.min(i, 8) }, (_, n) => `k${i - n - 1}`),
    }));
    const path = `/v1/projects/${rig.project}/tasks/import`;
    await rig.requestWithoutStall("import", () => post(path, { tasks }));
    const circle = tasks.map((task, i) => ({ ...task, depends_on: [`k${(i + 1) % tasks.length}`] }));
    await rig.requestWithoutStall("a circle", () => post(path, { tasks: circle }));
    await rig.requestWithoutStall("the list", () => get(`/v1/projects/${rig.project}/tasks?limit=200`));
  });

  test("attachments of 20 MiB whose first bytes say what they are not", async () => {
    for (const head of ["\x89PNG\r\n\x1a\n", "GIF89a", "%PDF-1.7", "PK\x03\x04", "<svg ", "\x1f\x8b\x08", "{", "a"]) {
      const bytes = Buffer.concat([Buffer.from(head, "latin1"), Buffer.alloc(20 * MiB, head.at(-1))]);
      await rig.requestWithoutStall(head, () => upload("/v1/attachments/upload", `${"a.".repeat(100)}png`, bytes));
    }
  });

  test("every tool that a run is offered has its case", () => {
    const here = TOOLS.flatMap(({ calls }) => calls.map(({ name }) => name));
    const others = readFileSync(join(import.meta.dir, "stall.test.ts"), "utf8");
    const missing = [...rig.toolsOffered()].filter(
      (name) => !here.includes(name) && !others.includes(`"${name}"`) && !others.includes(`${name}:`),
    );
    expect(rig.toolsOffered().size).toBeGreaterThan(20);
    expect(missing).toEqual([]);
  });
});
