/** Git LFS: a correct LFS server and one that lies, and a repository over http with files in LFS. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { createAddressGuard } from "../../adapter/address-guard.ts";
import { fetchObjects } from "../../adapter/git/lfs-client.ts";
import { openGuarded } from "../../adapter/guarded-fetch.ts";
import { readUntil } from "../../testing/attacks/waiting.ts";
import { gitBackend } from "../../testing/code-host.ts";
import { plainGit } from "../../testing/plain-git.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { createLfs, type FetchedLfs } from "./lfs.ts";
import type { ProjectRow } from "./store.ts";

setDefaultTimeout(300_000);

const root = mkdtempSync(join(tmpdir(), "skep-lfs-"));
const oidOf = (content: string): string => createHash("sha256").update(content).digest("hex");
const pointerOf = (content: string): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oidOf(content)}\nsize ${content.length}\n`;

const PICTURE = "picture ".repeat(200_000);
const [EDITED, GONE, FALSE, LONG, AWAY, INSIDE] = ["edited", "gone", "false", "long", "away", "inside"];
/** Contents that the server sends in place of the right ones. */
const SENT: Record<string, string> = { [FALSE!]: "flase", [LONG!]: "long ".repeat(1_000) };

interface Asked {
  path: string;
  authorization: string | null;
}
let asked: Asked[];
/** Serves git, the batch interface and the objects; `elsewhere` is another origin. */
function serveLfs(elsewhere: () => string) {
  const contents = [PICTURE, EDITED!, FALSE!, LONG!, AWAY!, INSIDE!];
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const url = new URL(request.url);
      const { pathname: path } = url;
      asked.push({ path, authorization: request.headers.get("authorization") });
      if (path.endsWith("/objects/batch")) {
        const { objects } = (await request.json()) as { objects: { oid: string; size: number }[] };
        const found = objects.map(({ oid, size }) => {
          const content = contents.find((one) => oidOf(one) === oid);
          if (content === undefined) return { oid, size, error: { code: 404, message: "Nobody has it" } };
          const origin = content === AWAY ? elsewhere() : url.origin;
          const href = content === INSIDE ? "http://10.0.0.1/x" : `${origin}/content/${oid}`;
          return { oid, size, actions: { download: { href, header: { "X-Given": "1" } } } };
        });
        return Response.json({ transfer: "basic", objects: found });
      }
      if (!path.startsWith("/content/")) return gitBackend(root, request, url);
      if (request.headers.get("x-given") !== "1") return new Response(null, { status: 400 });
      const content = contents.find((one) => path.endsWith(oidOf(one))) ?? "";
      return new Response(SENT[content] ?? content);
    },
  });
}
let host: ReturnType<typeof serveLfs>;
let other: ReturnType<typeof serveLfs>;
let server: TestServer;
beforeAll(async () => {
  asked = [];
  other = serveLfs(() => "");
  host = serveLfs(() => `http://127.0.0.1:${other.port}`);
  server = await startServer({ env: { ALLOW_HOST_SHELL: "true", FETCH_ALLOW: "127.0.0.1" } });
});
afterAll(async () => {
  await server.remove();
  await host.stop(true);
  await other.stop(true);
  rmSync(root, { recursive: true, force: true });
});

test("objects are kept when size and digest are right; credentials go to the repository's own origin alone", async () => {
  asked.length = 0;
  const store = mkdtempSync(join(root, "store-"));
  async function resolve(name: string): Promise<{ address: string; family: 4 }[]> {
    if (name !== "127.0.0.1") throw new Error("a private address");
    return [{ address: name, family: 4 }];
  }
  const contents = [PICTURE, GONE!, FALSE!, LONG!, AWAY!, INSIDE!];
  const missing = await fetchObjects({
    endpoint: `http://127.0.0.1:${host.port}/web.git/info/lfs`,
    authorization: "Basic canary",
    open: (address, request) => openGuarded(address, { ...request, resolve }),
    objects: contents.map((content) => ({ oid: oidOf(content), size: content.length })),
    pathOf: (oid) => join(store, oid.slice(0, 2), oid),
    signal: AbortSignal.timeout(60_000),
  });
  expect(Object.fromEntries(contents.map((content) => [content.slice(0, 7), missing.get(oidOf(content))]))).toEqual({
    picture: undefined,
    gone: "The server says: Nobody has it",
    false: expect.stringContaining("not the content"),
    long: expect.stringContaining("more than it should"),
    away: undefined,
    inside: expect.stringContaining("a private address"),
  });
  const files = readdirSync(store, { recursive: true, encoding: "utf8" }).filter((name) => name.length > 2);
  expect(files.sort()).toEqual([PICTURE, AWAY!].map((one) => `${oidOf(one).slice(0, 2)}/${oidOf(one)}`).sort());
  expect(asked.filter(({ path }) => !path.endsWith(oidOf(AWAY!))).map((one) => one.authorization)).toEqual(
    Array(4).fill("Basic canary"),
  );
  expect(asked.find(({ path }) => path.endsWith(oidOf(AWAY!)))?.authorization).toBeNull();
});

test("content that a run is about to place stays, whatever other runs fetch; what nobody holds goes above the bound", async () => {
  const folder = mkdtempSync(join(root, "held-"));
  const guard = createAddressGuard(["127.0.0.1"]);
  const commits: Record<string, string[]> = { one: [PICTURE, EDITED!], two: [AWAY!], three: [EDITED!] };
  const pointersOf = (commit: string) =>
    commits[commit]!.map((content) => {
      const oid = oidOf(content);
      return { path: `${oid}.bin`, blob: oid.slice(0, 40), oid, size: content.length };
    });
  const lfs = createLfs({
    git: { lfsPointers: async (_, commit) => pointersOf(commit), fetchLfs: fetchObjects, placeLfs: async () => {} },
    folder,
    log: pino({ level: "silent" }),
    keptBytes: 0,
    guard,
    rules: { allowLocal: false, isListed: guard.isListed, assertSpelling: guard.assertSpelling },
    authorizationFor: async () => undefined,
    open: (address, request) => openGuarded(address, { ...request, resolve: guard.resolve }),
  });
  const project = { id: "prj_1", repository: `http://127.0.0.1:${host.port}/web.git` } as ProjectRow;
  const fetch = (commit: string) => lfs.fetch(project, commit, undefined);
  const has = (fetched: FetchedLfs) => fetched.pointers.map((one) => fetched.pathOf(one) !== undefined);
  const one = await fetch("one");
  const two = await fetch("two");
  const three = await fetch("three");
  expect([one, two, three].map(has)).toEqual([[true, true], [true], [true]]);
  // Content that only one fetch held is removed with the next fetch; content that another one holds stays.
  one[Symbol.dispose]();
  (await fetch("two"))[Symbol.dispose]();
  expect([one, two, three].map(has)).toEqual([[false, true], [true], [true]]);
});

test("a run has the files in Git LFS; what it leaves alone stays a pointer in its commits, what is missing is named", async () => {
  const work = join(root, "work");
  plainGit(root, "init", "-q", "-b", "main", work);
  writeFileSync(join(work, ".gitattributes"), "*.bin filter=lfs diff=lfs merge=lfs -text\n");
  for (const [name, content] of Object.entries({ picture: PICTURE, edited: EDITED!, gone: GONE!, false: FALSE! }))
    writeFileSync(join(work, `${name}.bin`), pointerOf(content));
  plainGit(work, "-c", "filter.lfs.clean=cat", "add", ".");
  plainGit(work, "commit", "-qm", "Begin");
  plainGit(root, "clone", "-q", "--bare", work, join(root, "web.git"));

  const call = <T = Record<string, unknown>>(method: string, path: string, body?: unknown) =>
    server.request<T>(method, path, { body });
  const repository = `http://127.0.0.1:${host.port}/web.git`;
  const { id } = (await call<{ id: string }>("POST", "/v1/projects", { name: "web", repository })).body;
  const project = await readUntil(
    async () => (await call<{ workspace: { state: string } }>("GET", `/v1/projects/${id}`)).body,
    ({ workspace }) => workspace.state !== "cloning",
  );
  expect(project.workspace.state).toBe("ready");
  // A touched file with the same content is read again and recognized as unchanged.
  const run =
    "sha256sum picture.bin > sum.txt; touch picture.bin; echo other > edited.bin; head -c 7 false.bin >> sum.txt";
  await call("POST", "/v1/pipelines", {
    id: "one",
    name: "One",
    steps: [
      { id: "a", run },
      { id: "b", run: "touch picture.bin" },
    ],
  });
  const made = await call<{ id: string }>("POST", "/v1/runs", {
    pipeline_id: "one",
    task_description: "One",
    project_name: "web",
  });
  const ended = await readUntil(
    async () => (await call<Record<string, unknown>>("GET", `/v1/runs/${made.body.id}`)).body,
    ({ finished_at }) => finished_at !== null && finished_at !== undefined,
  );
  expect(ended).toMatchObject({ status: "succeeded", error: null });
  const notice = String(ended["workspace_notice"]);
  expect(notice).toContain("gone.bin (The server says: Nobody has it)");
  expect(notice).toMatch(/false\.bin \(.*not the content/);
  expect(notice).not.toMatch(/picture|edited/);
  const patch = await (await fetch(`${server.url}/v1/runs/${made.body.id}/diff?format=patch`)).text();
  expect(patch).toContain(`+${oidOf(PICTURE)}  picture.bin`);
  expect(patch).toContain("+version");
  expect(patch).toContain("+other");
  expect(patch).not.toContain("b/picture.bin");
  expect(existsSync(join(server.data, "projects", id, "git/lfs", oidOf(PICTURE).slice(0, 2), oidOf(PICTURE)))).toBe(
    true,
  );
});
