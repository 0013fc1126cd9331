/** Documents on a running server: handed in, read in the background, and searched and read by those who may. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import Database from "better-sqlite3";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { hasBrowser } from "../../testing/browser.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { docx, pdfOf, printPdfs } from "../../testing/paper.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Attachment } from "../attachments/model.ts";
import type { Job } from "../jobs/model.ts";
import type { MemoryEntry } from "../memory/model.ts";
import type { Document, DocumentHit, Section, TocEntry, TranscriptAccepted } from "./model.ts";

setDefaultTimeout(300_000);

const folder = mkdtempSync(join(tmpdir(), "skep-documents-"));
let server: TestServer;
let admin: Account;
let a: Account;
let b: Account;
/** The replies of the scripted scribe to a transcript. */
const SCRIPT = {
  version: 1,
  agents: {
    scribe: [
      { tool_calls: [{ tool: "search_documents", input: { query: "zebra roof" } }] },
      {
        tool_calls: [
          { tool: "remember", input: { title: "Roof: summary", content: "They spoke of the roof.", type: "note" } },
          { tool: "remember", input: { title: "Roof is green", content: "Decided: a green roof.", type: "decision" } },
          { tool: "create_task", input: { title: "Ada asks the builder" }, optional: true },
        ],
      },
      { tool_calls: [{ tool: "complete", input: { outputs: { summary: "roof" }, summary: "done" } }] },
    ],
  },
  default: [{ text: "Read.", tool_calls: [{ tool: "complete", input: { summary: "s" }, optional: true }] }],
};
beforeAll(async () => {
  writeFileSync(join(folder, "script.json"), JSON.stringify(SCRIPT));
  server = await startServer({ env: { AUTH_ENABLED: "true", DEMO_SCRIPT: join(folder, "script.json") } });
  admin = await setupAdmin(server);
  a = await makeUser(server, admin, "a@example.test");
  b = await makeUser(server, admin, "b@example.test");
});
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

const call = <T = Document & { code: string }>(method: string, path: string, body?: unknown, who = a) =>
  server.request<T>(method, path, { token: who.token, body });
function form(name: string, bytes: string | Uint8Array<ArrayBuffer>, fields: Record<string, string> = {}): FormData {
  const body = new FormData();
  for (const [field, value] of Object.entries(fields)) body.append(field, value);
  body.append("file", new File([bytes], name));
  return body;
}
/** Hands in a document and waits until its job has ended. */
async function ingest(body: unknown, who = a): Promise<Document> {
  const made = await call("POST", "/v1/ingest/document", body, who);
  expect([made.status, made.headers.get("location")]).toEqual([202, `/v1/jobs/${made.body.job_id}`]);
  expect(made.body).toMatchObject({ status: "processing", error: null });
  return read(made.body.id, who);
}
async function read(id: string, who = a): Promise<Document> {
  const frames = framesOf<{ data: { document_id?: string; change?: string } }>(
    server,
    "/v1/events/stream?after=0",
    who.token,
  );
  await framesUntil(
    frames,
    ({ event, data }) => event === "document_changed" && data.data.document_id === id && data.data.change === "read",
  );
  return (await call("GET", `/v1/documents/${id}`, undefined, who)).body;
}
const search = async (query: string, who = a, more = "") =>
  (
    await call<{ items: DocumentHit[] }>(
      "GET",
      `/v1/documents/search?query=${encodeURIComponent(query)}${more}`,
      undefined,
      who,
    )
  ).body.items;

const HANDBOOK = `# Handbook of Zebras

Zebras live in herds.

## Keeping

Keep the fence two metres high, as zebras jump well.

### Winter

In winter a zebra needs hay and a dry stable.

## Keeping

Said twice.
`;

describe("a document", () => {
  test("handed in as text is read into sections with stable ids, found by words, and gone when it is deleted", async () => {
    const document = await ingest({ title: "Zebras", content: HANDBOOK, media_type: "text/markdown" });
    expect(document).toMatchObject({
      title: "Zebras",
      source: "text",
      media_type: "text/markdown",
      status: "ready",
      pages: null,
      sections: 4,
      chunks: 4,
      project_id: null,
      session_id: null,
    });
    expect(document.tokens).toBeGreaterThan(40);
    const again = await ingest({ content: HANDBOOK, media_type: "text/markdown" });
    expect(again.title).toBe("Handbook of Zebras");
    const tocOf = async (id: string) =>
      (await call<{ items: TocEntry[] }>("GET", `/v1/documents/${id}/toc`)).body.items;
    const toc = await tocOf(document.id);
    expect(toc).toEqual(await tocOf(again.id));
    expect(toc[0]).toMatchObject({
      title: "Handbook of Zebras",
      level: 1,
      page: null,
      section_id: "handbook-of-zebras",
      children: [
        {
          title: "Keeping",
          section_id: "keeping",
          children: [{ title: "Winter", section_id: "winter", children: [] }],
        },
        { title: "Keeping", section_id: "keeping-2" },
      ],
    });
    const section = (query: string) =>
      call<Section & { code: string }>("GET", `/v1/documents/${document.id}/section?${query}`);
    const winter = {
      section_id: "winter",
      path: ["Handbook of Zebras", "Keeping"],
      previous_id: "keeping",
      next_id: "keeping-2",
    };
    expect((await section("section_id=winter")).body).toMatchObject(winter);
    expect((await section("heading=WINTER")).body).toMatchObject({
      ...winter,
      text: expect.stringContaining("dry stable"),
    });
    expect((await section("")).body).toMatchObject({ section_id: "handbook-of-zebras", text: "Zebras live in herds." });
    expect((await section("section_id=none")).status).toBe(404);
    expect((await section("section_id=winter&page=1")).status).toBe(422);
    const [best] = await search("how high is the fence for zebras?", a, `&document_id=${document.id}`);
    expect(best).toMatchObject({ document_id: document.id, section_id: "keeping", heading: "Keeping", page: null });
    expect(best!.snippet).toContain("two metres high");
    expect(await search('") OR document_text MATCH ("')).toBeArray();
    for (const { id } of [document, again]) {
      expect((await call("DELETE", `/v1/documents/${id}`)).status).toBe(204);
      expect((await call("GET", `/v1/documents/${id}`)).status).toBe(404);
    }
    expect(await search("zebras")).toEqual([]);
  });

  test("of Word comes as a file or as an attachment, and its type is what its bytes say", async () => {
    const bytes = docx(["# Okapi", "The okapi is shy.", "## Food", "Leaves and fruits."]);
    const document = await ingest(form("notes.pdf", bytes));
    expect(document).toMatchObject({ title: "Okapi", source: "notes.pdf", status: "ready", sections: 2 });
    expect(document.media_type).toEndWith("wordprocessingml.document");
    const attached = await call<Attachment>("POST", "/v1/attachments/upload", form("okapi.docx", bytes));
    expect((await call("POST", "/v1/ingest/document", { attachment_id: attached.body.id }, b)).status).toBe(404);
    const other = await ingest({ attachment_id: attached.body.id, title: "Okapis" });
    expect(other).toMatchObject({ title: "Okapis", source: "okapi.docx", status: "ready" });
    const found = await search("leaves fruits okapi");
    expect(new Set(found.map(({ document_id }) => document_id))).toEqual(new Set([document.id, other.id]));
    expect(found[0]).toMatchObject({ heading: "Food" });
  });

  test.skipIf(!hasBrowser())("of PDF has its pages on its sections, and is read by page", async () => {
    const [pdf] = await printPdfs([
      {
        html: '<!doctype html><html lang="en"><title>Tapirs</title><h1>Tapirs</h1><p>One.</p><h2 style="break-before:page">Diet</h2><p>Twigs and buds.</p>',
      },
    ]);
    const document = await ingest(form("t.pdf", pdf!));
    expect(document).toMatchObject({ title: "Tapirs", pages: 2, sections: 2, media_type: "application/pdf" });
    const section = await call<Section>("GET", `/v1/documents/${document.id}/section?page=2`);
    expect(section.body).toMatchObject({ title: "Diet", page: 2, text: "Twigs and buds.", previous_id: "tapirs" });
    expect((await search("twigs buds"))[0]).toMatchObject({ page: 2, heading: "Diet" });
  });

  test("that cannot be read fails its own job with a reason, and the server continues as before", async () => {
    const bomb = pdfOf(deflateSync(deflateSync(Buffer.alloc(400 * 1024 * 1024, 0x20), { level: 9 }), { level: 9 }), [
      "FlateDecode",
      "FlateDecode",
    ]);
    const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]);
    const before = rss();
    const document = await ingest(form("bomb.pdf", bomb));
    expect(document).toMatchObject({ status: "failed", sections: 0, error: expect.stringContaining("cannot be read") });
    expect(rss() - before).toBeLessThan(100_000);
    const job = (await call<Job>("GET", `/v1/jobs/${document.job_id}`)).body;
    expect([job.state, job.error?.code]).toEqual(["failed", "unreadable"]);
    expect(await call("GET", `/v1/documents/${document.id}/toc`)).toMatchObject({
      status: 409,
      body: { code: "document_failed" },
    });
    expect(await ingest(form("x.bin", Uint8Array.from([0, 1, 2, 255])))).toMatchObject({
      error: expect.stringContaining("PDF, DOCX, HTML"),
    });
  });

  test("is refused with the field that is wrong", async () => {
    for (const [body, status] of [
      [{}, 422],
      [{ content: "x", attachment_id: "att_x" }, 422],
      [{ content: "   " }, 422],
      [{ content: "x", media_type: "application/pdf" }, 422],
      [{ content: "x", project_id: "proj_none" }, 422],
      [{ attachment_id: "att_none" }, 404],
      [form("e.txt", ""), 422],
    ] as const)
      expect([JSON.stringify(body), (await call("POST", "/v1/ingest/document", body)).status]).toEqual([
        JSON.stringify(body),
        status,
      ]);
    expect((await call("GET", "/v1/documents/search")).status).toBe(422);
    expect((await call("GET", "/v1/documents/search?query=x&document_id=doc_none")).status).toBe(404);
    expect((await call("GET", "/v1/documents?cursor=x")).status).toBe(400);
  });
});

describe("a document's readers", () => {
  test("are visible to its user alone, those of a project to all who see it; only its user or an administrator deletes it", async () => {
    const project = await call<{ id: string }>("POST", "/v1/projects", { name: "lemurs" }, admin);
    const own = await ingest({ content: "# Own\n\nThe secret lemur is canary-of-a." });
    const shared = await ingest({ content: "# Ours\n\nEvery lemur is ours.", project_id: project.body.id });
    const idsOf = async (who: Account, more = "") =>
      (await call<{ items: Document[] }>("GET", `/v1/documents${more}`, undefined, who)).body.items.map(({ id }) => id);
    expect(await idsOf(a, "?limit=2")).toEqual([shared.id, own.id]);
    expect(await idsOf(a, "?limit=1&status=ready")).toEqual([shared.id]);
    expect(await idsOf(b)).toEqual([shared.id]);
    expect(await idsOf(b, `?project_id=${project.body.id}`)).toEqual([shared.id]);
    expect((await search("lemur", b)).map(({ document_id }) => document_id)).toEqual([shared.id]);
    for (const path of ["", "/toc", "/section"])
      expect((await call("GET", `/v1/documents/${own.id}${path}`, undefined, b)).status).toBe(404);
    expect((await call("GET", `/v1/documents/search?query=lemur&document_id=${own.id}`, undefined, b)).status).toBe(
      404,
    );
    expect((await call("DELETE", `/v1/documents/${own.id}`, undefined, b)).status).toBe(404);
    expect((await call("DELETE", `/v1/documents/${shared.id}`, undefined, b)).status).toBe(403);
    expect((await call("DELETE", `/v1/projects/${project.body.id}`, undefined, admin)).status).toBe(204);
    expect((await call("GET", `/v1/documents/${shared.id}`)).status).toBe(404);
    expect((await search("lemur")).map(({ document_id }) => document_id)).toEqual([own.id]);
  });
});

describe("reading a document", () => {
  const LONG = `${"<p>words and more words</p>".repeat(60_000)}`;

  test("is cancelled with its job, and ended when the document is deleted", async () => {
    // The document's content already exists as a pipe to which nobody writes, so reading it never ends.
    const text = "<html>held";
    const sha256 = createHash("sha256").update(text).digest("hex");
    const kept = join(server.data, "uploads", sha256.slice(0, 2));
    mkdirSync(kept, { recursive: true });
    Bun.spawnSync(["mkfifo", join(kept, sha256)]);
    const made = await call("POST", "/v1/ingest/document", form("long.html", text));
    expect((await call("POST", `/v1/jobs/${made.body.job_id}/cancel`)).status).toBe(202);
    expect(await read(made.body.id)).toMatchObject({
      status: "failed",
      error: "Reading it was cancelled.",
      sections: 0,
    });
    const other = await call("POST", "/v1/ingest/document", form("long.html", text));
    expect((await call("DELETE", `/v1/documents/${other.body.id}`)).status).toBe(204);
    expect((await call<Job>("GET", `/v1/jobs/${other.body.job_id}`)).body.state).toBe("cancelled");
  });

  test("continues after the server was killed in the middle of it, and nothing is there twice", async () => {
    const own = await startServer();
    const body = form("long.html", `<html><h1>Ibis</h1>${LONG}`);
    const made = await own.request<Document>("POST", "/v1/ingest/document", { body });
    await own.stop("SIGKILL");
    const next = await startServer({ data: own.data });
    try {
      await framesUntil(
        framesOf<{ data: { change?: string } }>(next, "/v1/events/stream?after=0"),
        ({ event, data }) => event === "document_changed" && data.data.change === "read",
      );
      const { body: document } = await next.request<Document>("GET", `/v1/documents/${made.body.id}`);
      expect(document).toMatchObject({ status: "ready", title: "Ibis" });
      const db = new Database(join(own.data, "skep.db"), { readonly: true });
      const count = (of: string) => db.prepare(`SELECT count(*) FROM ${of}`).pluck().get();
      expect([count("document_sections"), count("document_text")]).toEqual([document.sections, document.chunks]);
      db.close();
    } finally {
      await next.remove();
    }
  });
});

describe("a transcript", () => {
  test("becomes a document, and an agent writes the result to memory and, with a project, as tasks", async () => {
    const project = await call<{ id: string }>("POST", "/v1/projects", { name: "roofs" }, admin);
    const made = await call<TranscriptAccepted>("POST", "/v1/ingest/transcript", {
      title: "Roof meeting",
      segments: [
        { speaker: "Ada", text: "The zebra roof leaks. Shall it be green?", at: "00:01" },
        { speaker: "Bob", text: "Yes. Ada asks the builder." },
      ],
      participants: ["Ada", "Bob"],
      started_at: "2026-03-01T10:00:00Z",
      tags: ["roof"],
      project_id: project.body.id,
    });
    expect(made.status).toBe(202);
    const { session_id, document_id } = made.body;
    await framesUntil(
      framesOf(server, `/v1/events/stream?session_id=${session_id}`, a.token),
      ({ event }) => event === "session_ended",
    );
    expect(await read(document_id)).toMatchObject({ source: "transcript", status: "ready", session_id });
    const vault = await call<{ items: MemoryEntry[] }>("GET", "/v1/memory/vaults/scribe");
    expect(vault.body.items.map(({ title, type, trusted, origin }) => [title, type, trusted, origin.by])).toEqual([
      ["Roof is green", "decision", false, "document"],
      ["Roof: summary", "note", false, "document"],
    ]);
    const tasks = await call<{ items: { title: string }[] }>("GET", `/v1/projects/${project.body.id}/tasks`);
    expect(tasks.body.items.map(({ title }) => title)).toEqual(["Ada asks the builder"]);
    const said = await call<{ items: { role: string; text: string }[] }>(
      "GET",
      `/v1/sessions/${session_id}/transcript`,
    );
    const prompt = said.body.items.find(({ role }) => role === "user")!.text;
    expect(prompt).toContain("[00:01] Ada: The zebra roof leaks.");
    expect(prompt).toContain("create_task");
    const other = await call<{ items: MemoryEntry[] }>("GET", "/v1/memory/vaults/scribe", undefined, b);
    expect(other.body.items).toEqual([]);
  });

  test("is refused without words, with both forms of them, or for a project that does not exist", async () => {
    for (const body of [
      {},
      { transcript: "x", segments: [{ speaker: "A", text: "x" }] },
      { transcript: " " },
      { transcript: "x", project_id: "proj_none" },
      { segments: [] },
    ])
      expect([JSON.stringify(body), (await call("POST", "/v1/ingest/transcript", body)).status]).toEqual([
        JSON.stringify(body),
        422,
      ]);
  });
});

describe("an attachment", () => {
  test("has its text read in the background, and a message that names it waits for that", async () => {
    const bytes = docx(["# Quokka", "The quokka smiles in canary-words."]);
    const { body: attached } = await call<Attachment>("POST", "/v1/attachments/upload", form("q.docx", bytes));
    expect(attached).toMatchObject({ status: "processing", text_available: false });
    const chat = await call<{ id: string }>("POST", "/v1/chat/sessions", { agent_id: "engineer" });
    const sent = await call("POST", `/v1/chat/sessions/${chat.body.id}/message?stream=true`, {
      message: "Read",
      attachment_ids: [attached.id],
    });
    expect(sent.status).toBe(200);
    expect((await call<Attachment>("GET", `/v1/attachments/${attached.id}`)).body).toMatchObject({
      status: "ready",
      text_available: true,
      error: null,
    });
    const bad = await call<Attachment>("POST", "/v1/attachments/upload", form("bad.pdf", "%PDF-1.7 nothing"));
    const frames = framesOf<{ data: { subject?: string; state?: string } }>(
      server,
      "/v1/events/stream?after=0",
      a.token,
    );
    await framesUntil(
      frames,
      ({ event, data }) => event === "job_progress" && data.data.subject === "bad.pdf" && data.data.state === "failed",
    );
    expect((await call<Attachment>("GET", `/v1/attachments/${bad.body.id}`)).body).toMatchObject({
      status: "failed",
      text_available: false,
      error: expect.stringContaining("cannot be read"),
    });
    expect(
      (
        await fetch(`${server.url}/v1/attachments/${bad.body.id}/content`, {
          headers: { Authorization: `Bearer ${a.token}` },
        })
      ).status,
    ).toBe(200);
    expect(readdirSync(join(server.data, "uploads")).every((name) => /^[0-9a-f]{2}$/.test(name))).toBe(true);
  });
});
