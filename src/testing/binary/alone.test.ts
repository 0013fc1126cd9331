/** The executable alone: copied to an empty folder, without PATH, HOME or any of the sources beside it. */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import BetterSqlite from "better-sqlite3";
import { migrate } from "../../store/migrate.ts";
import { temporaryFolder } from "../command.ts";
import { lacks } from "../parts.ts";

setDefaultTimeout(300_000);
const binary = process.env["SKEP_BINARY"];

const lines = (text: string) => text.split("\n").filter(Boolean);

describe.skipIf(lacks("executable (SKEP_BINARY)", binary !== undefined))("the executable alone", () => {
  const folder = temporaryFolder();
  const place = join(folder.path, "place");
  const own = join(place, "skep");
  beforeAll(() => {
    mkdirSync(place);
    copyFileSync(resolve(import.meta.dir, "../../..", binary!), own);
    chmodSync(own, 0o755);
  });
  afterAll(folder.remove);

  /** Runs it in its folder, with only the given environment. */
  async function run(args: string[], env: Record<string, string> = {}) {
    const child = Bun.spawn([own, ...args], { cwd: place, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, stdout, stderr };
  }
  /** Starts a server and waits until it answers; `stop` waits for its end. */
  async function serve(env: Record<string, string> = {}) {
    const child = Bun.spawn([own, "serve", "--port", "0"], {
      cwd: place,
      env: { LOG_LEVEL: "warn", ...env },
      ...({ stdin: "ignore", stdout: "pipe", stderr: "inherit" } as const),
    });
    const reader = child.stdout.getReader();
    let text = "";
    while (!/Listening on \S+\n/.test(text)) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`it ended: ${text}`);
      text += new TextDecoder().decode(value);
    }
    return {
      url: /Listening on (\S+)/.exec(text)![1]!,
      async stop() {
        child.kill("SIGTERM");
        reader.releaseLock();
        await child.stdout.cancel();
        return child.exited;
      },
    };
  }

  test("starts, answers, serves its pages, runs hello to its end and stops, and leaves nothing but its data folder", async () => {
    const server = await serve({ SANDBOX: "process" });
    expect(await (await fetch(`${server.url}/healthz`)).json()).toEqual({ status: "ok" });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${server.url}/`)).text()).toContain("<title>Skep</title>");
    expect((await fetch(`${server.url}/docs/script.js`)).status).toBe(200);
    const { code, stdout } = await run(["run", "hello", "Greet me", "--follow"]);
    expect(stdout).toMatch(/^succeeded: run_/m);
    expect(code).toBe(0);
    expect(await server.stop()).toBe(0);
    expect(readdirSync(place).sort()).toEqual(["data", "skep"]);
  });

  test("indexes a folder and answers from its code graph", async () => {
    const code = join(folder.path, "code");
    mkdirSync(code);
    await Bun.write(
      join(code, "bell.ts"),
      "export function ring() { return tone(); }\nfunction tone() { return 440; }\n",
    );
    const graph = ["--store", join(folder.path, "graph"), "--json"];
    const indexed = await run(["graph", "index", code, ...graph]);
    expect(indexed.stderr).toBe("");
    expect(indexed.code).toBe(0);
    const asked = await run(["graph", "context", code, "tone", ...graph]);
    expect(asked.stdout).toContain("ring");
  });

  test("a new database has the tables, indexes and triggers that the migrations make, and says when they were applied", async () => {
    const data = join(folder.path, "new");
    const server = await serve({ SANDBOX: "process", DATA: data });
    await server.stop();
    const schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
    const applied = "SELECT name FROM migrations WHERE applied_at GLOB '20[0-9][0-9]-*T*Z' ORDER BY name";
    const made = new BetterSqlite(":memory:");
    made.pragma("auto_vacuum = INCREMENTAL");
    migrate(made, null);
    const db = new Database(join(data, "skep.db"), { readonly: true });
    for (const question of [schema, applied, "PRAGMA auto_vacuum"])
      expect(db.query<unknown, []>(question).all()).toEqual(made.prepare(question).all());
    expect(db.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    db.close();
    made.close();
  });

  test("a second process on its data folder is refused in one line", async () => {
    const server = await serve({ SANDBOX: "process" });
    const { code, stdout, stderr } = await run(["serve", "--port", "0"]);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(lines(stderr)).toEqual([
      expect.stringContaining(
        `skep: Another skep works on ${join(place, "data")}. Stop it, or name another folder with --data.`,
      ),
    ]);
    expect(await server.stop()).toBe(0);
  });

  test("a database of a newer version is refused in one line, and stays as it is", async () => {
    const server = await serve({ SANDBOX: "process" });
    await server.stop();
    const path = join(place, "data/skep.db");
    const db = new Database(path);
    db.run("INSERT INTO migrations (name, applied_at) VALUES ('9999-from-the-future', '2030-01-01T00:00:00.000Z')");
    db.close();
    const { code, stderr } = await run(["serve", "--port", "0"], { LOG_LEVEL: "silent" });
    expect(code).toBe(1);
    expect(lines(stderr)).toEqual([
      "skep: The data folder was written by a newer skep (9999-from-the-future). Use that version, or restore a backup.",
    ]);
    const after = new Database(path);
    after.run("DELETE FROM migrations WHERE name = '9999-from-the-future'");
    after.close();
    expect(await (await serve({ SANDBOX: "process" })).stop()).toBe(0);
  });

  test("a port that is taken, and a folder that cannot be, are one line each", async () => {
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const port = other.port;
    const taken = await run(["serve", "--port", String(port)], { LOG_LEVEL: "silent" });
    await other.stop(true);
    expect(taken.code).toBe(1);
    expect(lines(taken.stderr)).toEqual([
      `skep: Port ${port} on 127.0.0.1 is taken. Choose another with --port, or stop what listens there.`,
    ]);
    const nowhere = await run(["serve", "--data", "/proc/skep"], { LOG_LEVEL: "silent" });
    expect(nowhere.code).toBe(1);
    expect(lines(nowhere.stderr)).toHaveLength(1);
  });
});
