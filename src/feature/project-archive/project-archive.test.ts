/**
 * A project is exported as an archive and imported by somebody else. Archives that strangers tampered with are refused.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { type Header, pack } from "tar-stream";
import { LIMITS } from "../../core/limits.ts";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { temporaryFolder } from "../../testing/command.ts";
import { skepCommand, startServer, type TestServer } from "../../testing/server.ts";
import { readArchive } from "./archive.ts";

setDefaultTimeout(300_000);
const folder = temporaryFolder();
let server: TestServer;
let admin: Account;
let ann: Account;
let ben: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true" } });
  admin = await setupAdmin(server);
  ann = await makeUser(server, admin, "ann@example.test");
  ben = await makeUser(server, admin, "ben@example.test");
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

type Body = Record<string, unknown>;
const by = <T = Body>(who: Account, method: string, path: string, body?: unknown) =>
  server.request<T>(method, path, { token: who.token, ...(body === undefined ? {} : { body }) });
async function create(who: Account, path: string, body: unknown): Promise<Body> {
  const answer = await by(who, "POST", path, body);
  expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
  return answer.body;
}
async function exportProject(who: Account, project: unknown, body?: object) {
  const answer = await fetch(`${server.url}/v1/projects/${project}/export`, {
    method: "POST",
    headers: { Authorization: `Bearer ${who.token}`, "Content-Type": "application/json" },
    body: JSON.stringify(body ?? {}),
  });
  return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) };
}
async function importProject(who: Account, bytes: Uint8Array, fields: Record<string, string> = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", new File([bytes.slice()], "project.skep.tar.gz"));
  const headers = { Authorization: `Bearer ${who.token}` };
  const answer = await fetch(`${server.url}/v1/project-imports`, { method: "POST", headers, body: form });
  return { status: answer.status, body: (await answer.json()) as { code: string; detail: string } & Imported };
}
interface Imported {
  project: { id: string; name: string; role: string; access: string; outside: string | null; vision: string | null };
  job: { id: string } | null;
  tasks: number;
  notices: string[];
}
interface TaskItem {
  id: string;
  title: string;
  status: string;
  priority: string;
  depends_on: string[];
  parent_id: string | null;
  outside: string | null;
}
async function waitForEnd(who: Account, job: string): Promise<unknown> {
  for (;;) {
    const { state, result } = (await by(who, "GET", `/v1/jobs/${job}`)).body;
    if (state !== "queued" && state !== "running") return [state, result];
    await Bun.sleep(20);
  }
}
/** Tasks by title; ids of other tasks are replaced by their titles. */
async function boardOf(who: Account, project: string) {
  const { items } = (await by<{ items: TaskItem[] }>(who, "GET", `/v1/projects/${project}/tasks?limit=200`)).body;
  const titles = new Map(items.map(({ id, title }) => [id, title]));
  return items
    .map(({ title, status, priority, depends_on, parent_id }) => ({
      title,
      status,
      priority,
      depends_on: depends_on.map((id) => titles.get(id)),
      parent: parent_id && titles.get(parent_id),
    }))
    .sort((a, b) => a.title.localeCompare(b.title));
}

test("a project is exported and read in by another person, who owns it: the same board under new ids, nothing of others", async () => {
  const { id } = await create(ann, "/v1/projects", { name: "aviary", description: "Birds.", access: "members" });
  await by(ann, "PUT", `/v1/projects/${id}/vision`, { vision: "More birds." });
  const task = (body: object) => create(ann, `/v1/projects/${id}/tasks`, body);
  const base = await task({ title: "Base", status: "done", priority: "p0", tags: ["wood"] });
  await task({ title: "Roof", status: "in_progress", depends_on: [base["id"]], parent_id: base["id"] });
  await task({ title: "Value", description: "It is value-of-a-secret-4711.", assigned_agent: "engineer" });
  const rules = { feature: [{ stage: "build", disposition: "required", agent_id: "engineer" }] };
  await by(ann, "PUT", `/v1/projects/${id}/workflow-policy`, { rules, wait_for_merge: true });
  await create(admin, "/v1/secrets", { name: "AVIARY_KEY", value: "value-of-a-secret-4711" });
  // For others, the project does not exist.
  expect((await exportProject(ben, id)).status).toBe(404);

  const env = { PATH: process.env["PATH"] ?? "", HOME: folder.path, SKEP_URL: server.url };
  const skep = async (who: Account, ...words: string[]) => {
    const command = skepCommand("projects", ...words);
    const child = Bun.spawn(command, { env: { ...env, SKEP_TOKEN: who.token }, stdout: "pipe", stderr: "pipe" });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { out, err, code: await child.exited };
  };
  const file = join(folder.path, "aviary.skep.tar.gz");
  expect(await skep(ann, "export", "aviary", "--out", file)).toMatchObject({ code: 0, err: "" });
  expect((await skep(ann, "export", "aviary", "--out", file)).code).toBe(2);
  const text = gunzipSync(readFileSync(file)).toString("latin1");
  for (const word of ["value-of-a-secret-4711", ann.id, "ann@example.test", "AVIARY_KEY]x"])
    expect(text).not.toContain(word);
  expect(text).toContain("It is [secret:AVIARY_KEY].");

  expect((await skep(ben, "import", file)).err).toContain("A project with this name exists.");
  const read = await skep(ben, "import", file, "--name", "loft", "--json");
  expect(read.err).toBe("");
  const { project, job, tasks, notices } = JSON.parse(read.out) as Imported;
  expect([project.name, project.role, project.access, tasks, notices]).toEqual(["loft", "owner", "personal", 3, []]);
  expect([project.vision, project.outside]).toEqual(["More birds.", "It was read in from an archive."]);
  expect(await waitForEnd(ben, job!.id)).toEqual(["succeeded", { created: 3, refused: [], refused_count: 0 }]);
  expect(await boardOf(ben, project.id)).toEqual([
    { title: "Base", status: "done", priority: "p0", depends_on: [], parent: null },
    { title: "Roof", status: "ready", priority: "p2", depends_on: ["Base"], parent: "Base" },
    { title: "Value", status: "backlog", priority: "p2", depends_on: [], parent: null },
  ]);
  const { items } = (await by<{ items: TaskItem[] }>(ben, "GET", `/v1/projects/${project.id}/tasks`)).body;
  expect(items.every(({ outside }) => outside === "It was read in from an archive.")).toBe(true);
  expect((await by(ben, "GET", `/v1/projects/${project.id}/workflow-policy`)).body).toMatchObject({
    rules,
    wait_for_merge: true,
  });
  expect((await by(ann, "GET", `/v1/projects/${project.id}`)).status).toBe(404);
  // A trusted archive's texts count as a person's.
  const own = await importProject(ann, readFileSync(file), { name: "nest", trusted: "true", access: "members" });
  expect([own.status, own.body.project.outside, own.body.project.access]).toEqual([201, null, "members"]);
});

test("secrets leave the server for administrators alone, sealed by a passphrase, and nobody opens them without it", async () => {
  const { id } = await create(admin, "/v1/projects", { name: "vault" });
  const value = "the-value-that-travels-99";
  await create(admin, "/v1/secrets", { name: "TRAVELS", value });
  const passphrase = "a passphrase of some length";
  expect((await exportProject(ann, id, { secrets: ["TRAVELS"], passphrase })).status).toBe(403);
  expect((await exportProject(admin, id, { secrets: ["TRAVELS"] })).status).toBe(422);
  expect((await exportProject(admin, id, { secrets: ["TRAVELS"], passphrase: "short" })).status).toBe(422);
  expect((await exportProject(admin, id, { secrets: ["NOWHERE"], passphrase })).status).toBe(404);
  const { status, bytes } = await exportProject(admin, id, { secrets: ["TRAVELS"], passphrase });
  expect(status).toBe(200);
  const text = gunzipSync(bytes).toString("latin1");
  expect([
    text.includes(value),
    text.includes(Buffer.from(value).toString("base64")),
    text.includes("secrets.json"),
  ]).toEqual([false, false, true]);
  expect((await by(admin, "DELETE", "/v1/secrets/TRAVELS")).status).toBe(204);
  const asUser = await importProject(ann, bytes, { name: "by-a-user", passphrase });
  expect(asUser.body.notices).toEqual([expect.stringContaining("an administrator reads them in")]);
  expect((await importProject(admin, bytes, { name: "wrong", passphrase: "another passphrase" })).body.code).toBe(
    "wrong_passphrase",
  );
  expect((await by<{ items: unknown[] }>(admin, "GET", "/v1/projects?name=wrong")).body.items).toEqual([]);
  const right = await importProject(admin, bytes, { name: "right", passphrase });
  expect([right.status, right.body.notices]).toEqual([201, []]);
  expect((await by(admin, "GET", "/v1/secrets/TRAVELS")).body["masked_preview"]).toBe("the-…s-99");
  // A secret that exists already stays as it is, and the notice says so.
  const again = await importProject(admin, bytes, { name: "again", passphrase });
  expect(again.body.notices).toEqual([expect.stringContaining("The secret TRAVELS was left out")]);
});

type Entry = [header: Partial<Header> & { name: string }, content?: string | Buffer];
const sha256 = (text: string | Buffer) => createHash("sha256").update(text).digest("hex");
const PROJECT = JSON.stringify({ name: "hostile" });
const manifestOf = (files: [path: string, content: string][], more: object = {}): Entry => [
  { name: "manifest.json" },
  JSON.stringify({
    format: "skep-project",
    version: 1,
    skep: "1",
    created_at: "2026-01-01T00:00:00Z",
    files: files.map(([path, content]) => ({ path, bytes: Buffer.byteLength(content), sha256: sha256(content) })),
    ...more,
  }),
];
async function tarOf(...entries: Entry[]): Promise<Buffer> {
  const tar = pack();
  for (const [header, content = ""] of entries) tar.entry(header, content);
  tar.finalize();
  return gzipSync(await buffer(tar));
}
const good = (): Entry[] => [manifestOf([["project.json", PROJECT]]), [{ name: "project.json" }, PROJECT]];
const big = "x".repeat(LIMITS.projectArchiveBytes);
const nested = `{"name":"n","columns":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
const tasks = (text: string): Entry[] => [
  manifestOf([
    ["project.json", PROJECT],
    ["tasks.ndjson", text],
  ]),
  [{ name: "project.json" }, PROJECT],
  [{ name: "tasks.ndjson" }, text],
];

test.each<[what: string, archive: () => Promise<Buffer>, why: string]>([
  ["no gzip", async () => Buffer.from("PK..."), "incorrect header check"],
  ["cut in the middle", async () => (await tarOf(...good())).subarray(0, 150), "unexpected end of file"],
  ["empty", () => tarOf(), "it has no manifest"],
  ["a manifest that comes late", () => tarOf(...good().reverse()), "does not begin with its manifest"],
  ["a way out of the folder", () => tarOf(good()[0]!, [{ name: "../project.json" }, PROJECT]), "does not belong there"],
  ["a path from the root", () => tarOf(good()[0]!, [{ name: "/etc/passwd" }, PROJECT]), "does not belong there"],
  [
    "a symbolic link",
    () => tarOf(good()[0]!, [{ name: "project.json", type: "symlink", linkname: "/etc/passwd" }]),
    "is no plain file but a symlink",
  ],
  [
    "a hard link",
    () => tarOf(good()[0]!, [{ name: "project.json", type: "link", linkname: "manifest.json" }]),
    "is no plain file but a link",
  ],
  ["a folder", () => tarOf(good()[0]!, [{ name: "tasks.ndjson", type: "directory" }]), "but a directory"],
  ["a file twice", () => tarOf(...good(), [{ name: "project.json" }, PROJECT]), "holds project.json twice"],
  [
    "a file that no manifest names",
    () => tarOf(...good(), [{ name: "tasks.ndjson" }, ""]),
    "does not name tasks.ndjson",
  ],
  ["a file that is missing", () => tarOf(good()[0]!), "is missing"],
  [
    "another content than the manifest says",
    () => tarOf(good()[0]!, [{ name: "project.json" }, PROJECT.replace("hostile", "changed")]),
    "was changed or cut",
  ],
  [
    "a later form",
    () => tarOf(manifestOf([["project.json", PROJECT]], { version: 2 }), [{ name: "project.json" }, PROJECT]),
    "Update Skep",
  ],
  [
    "a bomb",
    () => tarOf(manifestOf([["project.json", big]]), [{ name: "project.json" }, big]),
    `more than ${LIMITS.projectArchiveBytes} bytes`,
  ],
  [
    "one that says it is small",
    async () =>
      gzipSync(Buffer.concat([gunzipSync(await tarOf(...good())), Buffer.alloc(2 * LIMITS.projectArchiveBytes)])),
    `more than ${LIMITS.projectArchiveBytes} bytes`,
  ],
  [
    "no text",
    () => tarOf(manifestOf([["project.json", "\xff"]]), [{ name: "project.json" }, Buffer.from([0xff])]),
    "changed",
  ],
])("an archive with %s is refused as a whole", async (_, archive, why) => {
  const file = join(folder.path, "hostile.tar.gz");
  writeFileSync(file, await archive());

  await expect(readArchive(file)).rejects.toMatchObject({
    code: "bad_archive",
    status: 422,
    detail: expect.stringContaining(why),
  });
});

test("content that is not what a project holds is refused, and leaves no project behind", async () => {
  const many = `${JSON.stringify({ title: "One" })}\n`.repeat(5_001);
  const cases: [Entry[], string][] = [
    [[manifestOf([["project.json", nested]]), [{ name: "project.json" }, nested]], "project.json"],
    [tasks("{"), "tasks.ndjson, line 1"],
    [tasks(`${JSON.stringify({ title: "x".repeat(10_000) })}\n`), "/title"],
    [tasks(many), "more than 5000 lines"],
    [tasks(`${JSON.stringify({ key: "a", title: "A", depends_on: ["a"] })}\n`), "wait for itself"],
    [tasks(`${JSON.stringify({ title: "A", depends_on: ["nobody"] })}\n`), "has this key"],
  ];
  for (const [entries, why] of cases) {
    const { status, body } = await importProject(ben, await tarOf(...entries));
    expect([why, status, JSON.stringify(body)]).toEqual([why, 422, expect.stringContaining(why)]);
  }
  expect((await by<{ items: unknown[] }>(admin, "GET", "/v1/projects?name=hostile")).body.items).toEqual([]);
});
