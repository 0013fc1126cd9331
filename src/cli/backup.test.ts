/** `skep backup` and `skep restore`: everything that a running server keeps is restored, and nothing else is archived. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createGzip, gunzipSync, gzipSync } from "node:zlib";
import { type Header, pack } from "tar-stream";
import { restoreBackup } from "../store/backup.ts";
import { skep, temporaryFolder } from "../testing/command.ts";
import { startServer, type TestServer } from "../testing/server.ts";

setDefaultTimeout(300_000);

const folder = temporaryFolder();
/** Where the server adds itself to its user's list, for commands. */
const home = temporaryFolder();
const at = (...parts: string[]) => join(folder.path, ...parts);
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: { XDG_STATE_HOME: home.path } });
});
afterAll(async () => {
  await server.remove();
  folder.remove();
  home.remove();
});

type Entry = Partial<Header> & Pick<Header, "name">;

/** A gzipped archive with these entries: files, and other kinds that a tar can contain. */
async function archive(entries: readonly ([name: string, data: string | Buffer] | Entry)[]): Promise<string> {
  const tar = pack();
  for (const entry of entries)
    if (Array.isArray(entry)) tar.entry({ name: entry[0] }, entry[1]);
    else tar.entry(entry);
  tar.finalize();
  const zip = createGzip();
  (tar as unknown as NodeJS.ReadableStream).pipe(zip);
  const chunks: Buffer[] = [];
  for await (const chunk of zip) chunks.push(chunk as Buffer);
  const file = at(`made-${Bun.randomUUIDv7()}.tar.gz`);
  writeFileSync(file, Buffer.concat(chunks));
  return file;
}

test("of a running server holds all it keeps; restored elsewhere, a server continues from it", async () => {
  const call = (method: string, path: string, body?: unknown) => server.request<{ id: string }>(method, path, { body });
  await call("POST", "/v1/secrets", { name: "KEPT", value: "a-value-for-it" });
  await call("POST", "/v1/memory/vaults/scribe/entries", { title: "Kept", content: "It was kept." });
  const run = await call("POST", "/v1/runs", { pipeline_id: "hello", task_description: "Greet" });
  await call("GET", `/v1/events/stream?run_id=${run.body.id}`);
  const workspace = join(server.data, "workspaces", run.body.id);
  symlinkSync("/etc", join(workspace, "away"));
  const file = at("skep.tar.gz");
  const made = await skep(["backup", file, "--data", server.data]);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining("keys of your secrets") });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder.path)).toEqual(["skep.tar.gz"]);
  const unnamed = await skep(["backup", "", "--data", server.data]);
  expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining("Name the file to write")]);

  const restored = at("restored");
  expect(await skep(["restore", file, "--data", restored])).toMatchObject({ code: 0 });
  expect(readlinkSync(join(restored, "workspaces", run.body.id, "away"))).toBe("/etc");
  expect(readFileSync(join(restored, "workspaces", run.body.id, "HELLO.md"))).toEqual(
    readFileSync(join(workspace, "HELLO.md")),
  );
  const again = await startServer({ data: restored });
  try {
    expect((await again.request("GET", `/v1/runs/${run.body.id}`)).body).toMatchObject({ status: "succeeded" });
    expect((await again.request("GET", "/v1/secrets/KEPT")).body).toMatchObject({ masked_preview: "a-…it" });
    const { findings } = (await again.request<{ findings: { verdict: string; check: string }[] }>("GET", "/v1/doctor"))
      .body;
    expect(findings.filter(({ check, verdict }) => /secret/.test(check) && verdict === "fail")).toEqual([]);
    expect(JSON.stringify((await again.request("GET", "/v1/memory/vaults/scribe")).body)).toContain("It was kept.");
  } finally {
    await again.stop();
  }
});

test("without keys nothing in it opens a secret, and both commands say so", async () => {
  const file = at("locked.tar.gz");
  // Without a folder, the backup uses that of the server that is running here.
  const found = await skep(["backup", file, "--no-keys"], { env: { XDG_STATE_HOME: home.path }, cwd: home.path });
  expect(found.stdout).toContain(`files of ${server.data}, `);
  expect(found.stdout).toContain("It holds no keys");
  expect(gunzipSync(readFileSync(file)).includes("secrets.key")).toBe(false);
  const restored = await skep(["restore", file, "--data", at("locked"), "--json"]);
  expect(JSON.parse(restored.stdout)).toMatchObject({ keys: false });
  expect(existsSync(at("locked", "keys"))).toBe(false);
});

test("without a named folder it is ./data when a database is in it, also while a server runs elsewhere", async () => {
  const cwd = at("beside");
  mkdirSync(cwd);
  await skep(["restore", at("skep.tar.gz"), "--data", join(cwd, "data")]);
  const env = { XDG_STATE_HOME: home.path };
  const here = await skep(["backup", "here.tar.gz", "--json"], { env, cwd });
  expect(JSON.parse(here.stdout)).toMatchObject({ data: join(realpathSync(cwd), "data") });
  const named = await skep(["backup", "named.tar.gz", "--json"], { env: { ...env, DATA: server.data }, cwd });
  expect(JSON.parse(named.stdout)).toMatchObject({ data: server.data });
});

test("overwrites nothing: neither a file that is there nor a folder that holds something", async () => {
  writeFileSync(at("there.tar.gz"), "mine");
  mkdirSync(at("full"));
  writeFileSync(at("full", "mine.txt"), "mine");
  const refusals = [
    await skep(["backup", at("there.tar.gz"), "--data", server.data]),
    await skep(["restore", at("skep.tar.gz"), "--data", at("full")]),
    await skep(["backup", at("none.tar.gz"), "--data", at("full")]),
    await skep(["restore", at("nowhere.tar.gz"), "--data", at("fresh")]),
  ];
  for (const { code, stderr } of refusals) expect([code, stderr.trimEnd().split("\n").length]).toEqual([1, 1]);
  expect(readFileSync(at("there.tar.gz"), "utf8")).toBe("mine");
  expect(readdirSync(at("full"))).toEqual(["mine.txt"]);
});

test("an archive that is truncated, foreign, damaged or leads out of the folder restores nothing", async () => {
  const label: [string, string] = ["backup.json", "{}"];
  const whole = readFileSync(at("skep.tar.gz"));
  const files = [
    await archive([["agents/a.md", "x"]]),
    await archive([label, ["agents/a.md", "x"]]),
    await archive([label, ["agents/../../out", "x"]]),
    await archive([label, ["/etc/out", "x"]]),
    await archive([label, ["skep.db", "no database"]]),
  ];
  writeFileSync(at("cut.tar.gz"), whole.subarray(0, whole.length / 2));
  writeFileSync(at("other.tar.gz"), gzipSync("not a tar"));
  for (const file of [...files, at("cut.tar.gz"), at("other.tar.gz")]) {
    const { code, stderr } = await skep(["restore", file, "--data", at("target")]);
    expect({ file, code, lines: stderr.trimEnd().split("\n").length, there: existsSync(at("target")) }).toEqual({
      file,
      code: 1,
      lines: 1,
      there: false,
    });
  }
  expect(existsSync(at("out"))).toBe(false);
});

/** A link as an entry of an archive. */
const link = (name: string, linkname: string, type: "symlink" | "link" = "symlink"): Entry => ({
  name,
  linkname,
  type,
});

test("an archive with links where no backup has any, or with devices, restores nothing", async () => {
  const label: [string, string] = ["backup.json", "{}"];
  const database = readFileSync(join(at("restored"), "skep.db"));
  const others: Entry[] = [
    link("keys", "/etc"),
    link("keys/secrets.key", "/etc/hostname"),
    link("uploads/ab", "/etc"),
    link("projects", "/etc"),
    link("projects/proj_1", "/etc"),
    link("projects/proj_1/git", "/etc"),
    link("projects/proj_1/git/objects", "/etc"),
    link("projects/proj_1/workspace", "/etc"),
    link("workspaces/run_1", "/etc"),
    link("mcp/srv", "/etc"),
    link("agents", "/etc"),
    link("agents/a", "/etc"),
    link("agents/a", "../keys"),
    link("agents/a", "b/../../keys"),
    link("vaults/a/b", "../../uploads"),
    link("workspaces/run_1/f", "skep.db", "link"),
    { name: "workspaces/run_1/pipe", type: "fifo" },
    { name: "workspaces/run_1/device", type: "character-device" },
  ];
  for (const entry of others) {
    const file = await archive([label, ["skep.db", database], entry]);
    const refusal = await restoreBackup(file, at("linked")).catch((error: Error) => error.message);
    expect({ ...entry, refusal, there: existsSync(at("linked")) }).toEqual({
      ...entry,
      refusal: expect.stringContaining("no backup of Skep holds"),
      there: false,
    });
  }
});

test("no link of an archive is made through another", async () => {
  const outside = at("outside");
  mkdirSync(outside);
  const file = await archive([
    ["backup.json", "{}"],
    ["workspaces/run_1/file", "x"],
    link("workspaces/run_1/a", outside),
    link("workspaces/run_1/a/b", "/etc"),
  ]);
  expect(await skep(["restore", file, "--data", at("chained")])).toMatchObject({ code: 1 });
  expect([readdirSync(outside), existsSync(at("chained"))]).toEqual([[], false]);
});

test("links among people's own files come back; what leads away is left out of a backup and named", async () => {
  const links = { "agents/scribe/inside": "../scribe/AGENT.md", "agents/scribe/away": "/etc", "vaults/up": "../keys" };
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(server.data, path));
  const file = at("links.tar.gz");
  const made = await skep(["backup", file, "--data", server.data]);
  expect(made.stdout).toContain("Left out");
  for (const [path, isHeld] of [
    ["agents/scribe/inside", false],
    ["agents/scribe/away", true],
    ["vaults/up", true],
  ] as const)
    expect([path, made.stdout.includes(path)]).toEqual([path, isHeld]);
  expect(await skep(["restore", file, "--data", at("with-links")])).toMatchObject({ code: 0 });
  expect(readlinkSync(at("with-links", "agents/scribe/inside"))).toBe("../scribe/AGENT.md");
  for (const path of Object.keys(links)) rmSync(join(server.data, path));
});
