/**
 * A45: a data folder that was readable by others, is damaged, incomplete, or not writable. The server prints one line
 * that says what to do.
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { skep } from "../command.ts";
import { lacks } from "../parts.ts";
import { skepCommand, startServer } from "../server.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

const folder = mkdtempSync(join(tmpdir(), "skep-data-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A used data folder with its own agent, a secret and a finished run. */
const used = join(folder, "used");
async function copyUsed(): Promise<string> {
  if (!existsSync(used)) {
    mkdirSync(used);
    const server = await startServer({ data: used });
    await server.request("POST", "/v1/agents", { body: { id: "mine", prompt: "You are mine." } });
    await server.request("POST", "/v1/secrets", { body: { name: "MINE", value: "value-value-value" } });
    const run = await server.request("POST", "/v1/runs", { body: { pipeline_id: "hello", task_description: "Greet" } });
    await server.request("GET", `/v1/events/stream?run_id=${run.body["id"]}`);
    expect(await server.stop()).toBe(0);
  }
  const copy = mkdtempSync(join(folder, "copy-"));
  cpSync(used, copy, { recursive: true });
  return copy;
}

/** Starts a server that must refuse. @returns its one line of output. */
async function refusal(data: string): Promise<string> {
  const { code, stdout, stderr } = await skep(["serve"], { env: { DATA: data, PORT: "0", SANDBOX: "process" } });
  const lines = stderr.split("\n").filter((line) => line.startsWith("skep: "));
  expect({ code, stdout, lines: lines.length, trace: /^\s+at /m.test(stderr) }).toEqual({
    code: 1,
    stdout: "",
    lines: 1,
    trace: false,
  });
  return lines[0]!;
}

const openTo = (path: string) => lstatSync(path).mode & 0o077;
function everything(root: string): string[] {
  return [root, ...(readdirSync(root, { recursive: true }) as string[]).map((name) => join(root, name))];
}
/** Below a run's working copy are files that its agents wrote; the folder above it is closed. */
const isOurs = (data: string, path: string) => !/^\/(workspaces|projects)\/[^/]+\/./.test(path.slice(data.length));

describe("A45: rights", () => {
  test("whatever the folder was, all of it is for its owner alone, and start and doctor say so", async () => {
    const data = await copyUsed();
    const outside = join(folder, "outside");
    writeFileSync(outside, "", { mode: 0o644 });
    chmodSync(outside, 0o644);
    symlinkSync(outside, join(data, "uploads/link"));
    for (const path of everything(data)) if (!lstatSync(path).isSymbolicLink()) chmodSync(path, 0o777);

    const seen = await skep(["doctor", "--json"], { env: { DATA: data, SANDBOX: "process" } });
    const { findings } = JSON.parse(seen.stdout) as { findings: { check: string; verdict: string; detail: string }[] };
    expect(findings.find(({ check }) => check === "data folder")).toMatchObject({
      verdict: "warn",
      detail: expect.stringContaining("other users have rights"),
    });

    const server = await startServer({ data });
    try {
      expect(server.output()).toContain("other users had rights in the data folder");
      await server.request("POST", "/v1/agents", { body: { id: "later", prompt: "You came later." } });
      await server.request("POST", "/v1/runs", { body: { pipeline_id: "hello", task_description: "Later" } });
      expect(
        everything(data).filter((path) => isOurs(data, path) && openTo(path) && !lstatSync(path).isSymbolicLink()),
      ).toEqual([]);
      expect(openTo(outside)).toBe(0o044);
    } finally {
      await server.remove();
    }
  });

  test("a folder that was right is not mentioned", async () => {
    const server = await startServer({ data: await copyUsed() });
    expect(server.output()).not.toContain("other users");
    await server.remove();
  });
});

describe("A45: what is lost or damaged", () => {
  test("an empty database is not taken for a new instance", async () => {
    const data = await copyUsed();
    truncateSync(join(data, "skep.db"));
    for (const ending of ["-wal", "-shm"]) rmSync(join(data, `skep.db${ending}`), { force: true });
    expect(await refusal(data)).toMatch(/skep\.db is empty.*Restore a copy/);
    expect(statSync(join(data, "skep.db")).size).toBe(0);
    const seen = await skep(["doctor"], { env: { DATA: data, SANDBOX: "process" } });
    expect([seen.code, seen.stdout]).toEqual([1, expect.stringMatching(/FAIL +database +empty/)]);
  });

  test("nor is a write-ahead log without its database", async () => {
    const data = await copyUsed();
    rmSync(join(data, "skep.db"));
    writeFileSync(join(data, "skep.db-wal"), "what was not yet written back");
    expect(await refusal(data)).toMatch(/skep\.db-wal is there without its database/);
    expect(readFileSync(join(data, "skep.db-wal"), "utf8")).toStartWith("what was not");
  });

  test.each(["signing.key", "secrets.key"])("an empty or cut %s is named, with what its loss means", async (name) => {
    const data = await copyUsed();
    for (const text of ["", "abc", `${"0".repeat(63)}g`]) {
      writeFileSync(join(data, "keys", name), text);
      const line = await refusal(data);
      expect(line).toContain(join("keys", name));
      expect(line).toContain("Put it back from a copy");
    }
  });

  test("a file that is not a database, and one whose first page is damaged", async () => {
    const data = await copyUsed();
    writeFileSync(join(data, "skep.db"), "not a database, but long enough to be read as one".repeat(100));
    expect(await refusal(data)).toMatch(/skep\.db is damaged.*restore a copy/);
  });

  test("with any page damaged the server refuses to start or says of what it cannot read that it is damaged", async () => {
    const good = await copyUsed();
    const pageBytes = 4_096;
    const pages = statSync(join(good, "skep.db")).size / pageBytes;
    const noise = Buffer.alloc(pageBytes, 0xa5);
    let refusals = 0;
    for (let page = pages - 1; page > 0; page -= Math.ceil(pages / 16)) {
      const data = await copyUsed();
      damage(join(data, "skep.db"), page * pageBytes, noise);
      const { code, stderr, url, stop } = await startOrRefusal(data);
      if (url === undefined) {
        refusals++;
        expect([page, code]).toEqual([page, 1]);
        expect(stderr).toMatch(/skep: The database skep\.db is damaged/);
        expect(stderr).not.toMatch(/^\s+at /m);
        continue;
      }
      const statuses = await Promise.all(
        ["runs", "agents", "secrets", "projects", "events/stream?after=0&kinds=run_complete", "llm-calls", "usage"].map(
          async (path) => {
            const answer = await fetch(`${url}/v1/${path}`);
            const body = answer.headers.get("content-type")?.includes("json") ? await answer.json() : {};
            await answer.body?.cancel().catch(() => {});
            if (answer.status === 503) refusals++;
            return answer.status === 503 ? (body as { code: string }).code : String(answer.status);
          },
        ),
      );
      expect([page, statuses.filter((status) => status !== "200" && status !== "database_damaged")]).toEqual([
        page,
        [],
      ]);
      expect([page, await stop()]).toEqual([page, 0]);
    }
    expect(refusals).toBeGreaterThan(0);
  });

  test("damaged while it runs, it continues, says so, and stops in order", async () => {
    const data = await copyUsed();
    const server = await startServer({ data });
    try {
      const path = join(data, "skep.db");
      const pages = statSync(path).size / 4_096;
      for (let page = 1; page < pages; page++) damage(path, page * 4_096, Buffer.alloc(4_096, 0xa5));
      const statuses = new Set<unknown>();
      for (const path of ["runs", "agents", "secrets", "llm-calls", "usage", "jobs", "settings"]) {
        const answer = await server.request("GET", `/v1/${path}`);
        statuses.add(answer.status === 503 ? answer.body["code"] : answer.status);
      }
      for (let number = 0; number < 3; number++) {
        const body = { name: `AFTER_${number}`, value: "value-value" };
        const answer = await server.request("POST", "/v1/secrets", { body });
        statuses.add(answer.status === 503 ? answer.body["code"] : answer.status);
      }
      for (const status of statuses) expect(status).toBeOneOf([200, 201, "database_damaged"]);
      expect((await server.request("GET", "/healthz")).status).toBe(200);
      expect(await server.stop()).toBeOneOf([0, 1]);
      expect(server.output()).not.toContain("unexpected");
    } finally {
      await server.remove();
    }
  });
});

describe("A45: one server at a time", () => {
  test("holds though every file that looks like a lock is removed, and by another path to the folder", async () => {
    const data = await copyUsed();
    const server = await startServer({ data });
    try {
      for (const path of everything(data)) if (/lock/.test(path.slice(data.length))) rmSync(path);
      rmSync(join(data, "server.json"));
      const link = join(folder, "by-link");
      symlinkSync(data, link);
      for (const path of [data, link]) expect(await refusal(path)).toMatch(/Another skep works on/);
      expect((await server.request("GET", "/readyz")).status).toBe(200);
      await server.stop("SIGKILL");
      const next = await startServer({ data });
      await next.remove();
    } finally {
      await server.remove();
    }
  });
});

/** For root the system checks no permissions, so the server then runs as nobody. */
const asNobody = process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
const canDrop =
  asNobody.length === 0 || (Bun.which("setpriv") !== null && (statSync(import.meta.dir).mode & 0o5) === 0o5);

describe.skipIf(lacks("root that can run a program as nobody", canDrop))("A45: a folder that cannot be written", () => {
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: "/nonexistent",
    PORT: "0",
    SANDBOX: "process",
    LOG_LEVEL: "warn",
  };
  const give = (path: string) => {
    if (asNobody.length > 0) for (const one of everything(path)) chownSync(one, 65_534, 65_534);
  };

  test("at the start is one line; while it runs, an answer that says so, and nothing half done", async () => {
    chmodSync(folder, 0o755);
    const data = await copyUsed();
    give(data);
    chmodSync(data, 0o500);
    for (const path of everything(data)) if (statSync(path).isFile()) chmodSync(path, 0o400);
    const child = Bun.spawn([...asNobody, ...skepCommand("serve")], {
      env: { ...env, DATA: data },
      stderr: "pipe",
      stdout: "pipe",
    });
    expect(await child.exited).toBe(1);
    expect(await new Response(child.stderr).text()).toMatch(/skep: .*cannot be written/i);

    for (const path of everything(data)) chmodSync(path, statSync(path).isFile() ? 0o600 : 0o700);
    const server = await startOrRefusal(data, asNobody, env);
    expect([server.url !== undefined, server.stderr]).toEqual([true, expect.any(String)]);
    for (const path of everything(join(data, "agents"))) chmodSync(path, statSync(path).isFile() ? 0o400 : 0o500);
    const body = JSON.stringify({ id: "unwritten", prompt: "You cannot be." });
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(`${server.url}/v1/agents`, { method: "POST", body, headers });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([503, "data_read_only"]);
    expect((await fetch(`${server.url}/v1/agents/unwritten`)).status).toBe(404);
    expect(await server.stop()).toBe(0);
  });

  const run = async (args: string[], more: Record<string, string>) => {
    const command = [...asNobody, ...skepCommand(...args)];
    const child = Bun.spawn(command, { cwd: "/", env: { ...env, ...more }, stdout: "pipe", stderr: "pipe" });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, out, err };
  };

  test("is read by skep doctor, and what an earlier start unpacked is used again", async () => {
    chmodSync(folder, 0o755);
    const data = await copyUsed();
    give(data);
    const findAddons = () => readdirSync(join(data, "cache")).map((name) => statSync(join(data, "cache", name)).ino);
    const server = await startOrRefusal(data, asNobody, env);
    expect(await server.stop()).toBe(0);
    const before = findAddons();
    expect((await run(["doctor"], { DATA: data })).out).toMatch(/^ok +database /m);
    expect(findAddons()).toEqual(before);
    // Of another version, nothing is unpacked yet.
    rmSync(join(data, "cache"), { recursive: true });
    mkdirSync(join(data, "cache"));
    give(data);
    chmodSync(join(data, "cache"), 0o500);
    expect((await run(["doctor"], { DATA: data })).out).toMatch(/^ok +database /m);
    expect(readdirSync(join(data, "cache"))).toEqual([]);
  });

  test.skipIf(asNobody.length === 0)("because it is another user's is said by every command", async () => {
    chmodSync(folder, 0o755);
    const data = await copyUsed();
    chmodSync(data, 0o700);
    const doctor = await run(["doctor"], { DATA: data });
    expect([doctor.err, doctor.out]).toEqual([
      "",
      expect.stringMatching(/^FAIL +data folder .*\n +→ run Skep as user 0/m),
    ]);
    expect((await run(["serve"], { DATA: data })).err).toMatch(
      /belongs to another user \(0\)\. Run Skep as that user\./,
    );
    expect((await run(["backup", "x.tar.gz"], { DATA: data })).err).toMatch(
      /cannot be read by this user\. Run the command/,
    );
  });
});

function damage(path: string, at: number, bytes: Buffer): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.byteLength, at);
  closeSync(file);
}

interface Tried {
  /** Undefined if the server ended instead. */
  url: string | undefined;
  code: number | null;
  stderr: string;
  stop(): Promise<number>;
}

/** Starts a server that may refuse to start. */
async function startOrRefusal(data: string, prefix: string[] = [], more: Record<string, string> = {}): Promise<Tried> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, DATA: data, PORT: "0", SANDBOX: "process", ...more };
  const child = Bun.spawn([...prefix, ...skepCommand("serve")], {
    env: { ...env, DATA: data },
    stdout: "pipe",
    stderr: "pipe",
  });
  const stderr = new Response(child.stderr).text();
  const decoder = new TextDecoder();
  let text = "";
  let url: string | undefined;
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true });
    url = /Listening on (http:\/\/\S+)/.exec(text)?.[1];
    if (url) break;
  }
  const stop = async () => {
    child.kill("SIGTERM");
    return child.exited;
  };
  if (url !== undefined) return { url, code: null, stderr: "", stop };
  return { url, code: await child.exited, stderr: await stderr, stop };
}
