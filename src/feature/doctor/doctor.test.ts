import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { systemClock } from "../../core/clock.ts";
import { readConfig } from "../../core/config.ts";
import { unavailable } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { createSealer, keyFromText } from "../../core/sealing.ts";
import { databasePath, openStore } from "../../store/store.ts";
import { CONTAINERS_USED, facts } from "../../store/tables/foundation.ts";
import { skep } from "../../testing/command.ts";
import { checkBounds, checkEngine, checkGit, checkServer, type Engine } from "./machine.ts";
import { formatAmount, limitText, type Report } from "./model.ts";
import { checkSecrets, SEALED } from "./secrets.ts";
import { checkDatabase, checkFolder, checkKeys, wereContainersUsed } from "./storage.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "skep-doctor-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const config = (env: Record<string, string> = {}) => readConfig({ DATA: folder, ...env });
const engine = (parts: Partial<Engine> = {}): Engine => ({
  address: "unix:///nowhere.sock",
  ping: async () => {},
  info: async () => ({ engine: "Docker", version: "20.10", apiVersion: "1.41", rootless: false }) as never,
  images: { inspect: async () => undefined },
  canMake: async () => false,
  ...parts,
});

describe("the data folder", () => {
  test("is fine when it is ours alone or does not exist yet, and a warning when others can read it", () => {
    chmodSync(folder, 0o700);
    expect(checkFolder(folder).verdict).toBe("ok");
    expect(checkFolder(join(folder, "later/still"))).toMatchObject({
      verdict: "ok",
      detail: expect.stringContaining("first start"),
    });
    chmodSync(folder, 0o755);
    expect(checkFolder(folder)).toMatchObject({
      verdict: "warn",
      remedy: expect.stringContaining("next start removes them"),
    });
    writeFileSync(join(folder, "file"), "");
    expect(checkFolder(join(folder, "file")).verdict).toBe("fail");
  });

  test("keys that others can read, or that are not valid, are failures with the remedy", () => {
    expect(checkKeys(folder)).toMatchObject({ verdict: "ok", detail: expect.stringContaining("none yet") });
    mkdirSync(join(folder, "keys"));
    const key = join(folder, "keys/secrets.key");
    writeFileSync(key, "0".repeat(64), { mode: 0o600 });
    expect(checkKeys(folder)).toMatchObject({ verdict: "ok", detail: expect.stringContaining("1,") });
    chmodSync(key, 0o644);
    expect(checkKeys(folder)).toMatchObject({ verdict: "fail", remedy: expect.stringContaining(`chmod 600 ${key}`) });
    writeFileSync(key, "not a key");
    chmodSync(key, 0o600);
    expect(checkKeys(folder)).toMatchObject({ verdict: "fail", remedy: expect.stringContaining("copy") });
  });
});

describe("the database", () => {
  test("is examined, sound or damaged, from an older or a newer version", () => {
    expect(checkDatabase(folder)).toMatchObject([{ verdict: "ok", detail: expect.stringContaining("first start") }]);
    const path = databasePath(folder);
    openStore({ path, clock: systemClock }).close();
    expect(checkDatabase(folder).map(({ verdict }) => verdict)).toEqual(["ok", "ok"]);
    const db = new Database(path);
    db.prepare("INSERT INTO migrations SELECT '9999-later', applied_at FROM migrations LIMIT 1").run();
    db.close();
    expect(checkDatabase(folder)[1]).toMatchObject({ verdict: "fail", detail: expect.stringContaining("9999-later") });
    writeFileSync(path, "this is not a database at all, and long enough to be examined".repeat(40));
    expect(checkDatabase(folder)).toMatchObject([{ check: "database", verdict: "fail" }]);
  });
});

describe("secrets", () => {
  test("that cannot be opened are named, never shown; a wrong key is one for all", () => {
    const key = "ab".repeat(32);
    expect(checkSecrets(config())).toMatchObject({ verdict: "ok", detail: "none yet" });
    const store = openStore({ path: databasePath(folder), clock: systemClock });
    const sealer = createSealer(() => keyFromText(key));
    const insert = store.sqlite.prepare(
      `INSERT INTO secrets (id, name, description, secret_type, sealed, masked_preview, created_at, updated_at)
       VALUES (?, ?, '', 'token', ?, '…', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`,
    );
    insert.run("sec_1", "SOUND", sealer.seal("canary-value-1"));
    const check = (env: Record<string, string>) => checkSecrets(config(env));
    expect(check({ SECRET_ENCRYPTION_KEY: key })).toMatchObject({
      verdict: "ok",
      detail: expect.stringContaining("1, all"),
    });
    insert.run("sec_2", "BROKEN", `${sealer.seal("canary-value-2").slice(0, -8)}AAAAAAA=`);
    const finding = check({ SECRET_ENCRYPTION_KEY: key });
    expect(finding).toMatchObject({ verdict: "fail", detail: "1 of 2 cannot be opened: BROKEN" });
    expect(check({ SECRET_ENCRYPTION_KEY: "cd".repeat(32) })).toMatchObject({
      verdict: "fail",
      detail: "2 of 2 cannot be opened: BROKEN, SOUND",
      remedy: expect.stringContaining("right key"),
    });
    expect(JSON.stringify(finding)).not.toContain("canary");
    store.close();
  });

  test("are looked for in every column of the database that holds sealed values", () => {
    const store = openStore({ path: databasePath(folder), clock: systemClock });
    const columns = store.sqlite
      .prepare<unknown[], { place: string }>(
        `SELECT tables.name || '.' || columns.name AS place FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
         WHERE tables.type = 'table' AND ('_' || columns.name || '_') LIKE '%~_sealed~_%' ESCAPE '~'`,
      )
      .all()
      .map(({ place }) => place);
    const checked = SEALED.map(([, table, column]) => `${table}.${column}`);
    const nobodys = ["auth_sessions.id_token_sealed", "replaced_secrets.sealed"];
    expect(columns.toSorted()).toEqual([...checked, ...nobodys].toSorted());
    const key = "ab".repeat(32);
    const sealer = createSealer(() => keyFromText(key));
    store.sqlite
      .prepare("INSERT INTO settings VALUES ('codehost', ?, '2026-01-01T00:00:00.000Z', 'admin')")
      .run(JSON.stringify({ kind: "github", sealed: sealer.seal("{}") }));
    expect(checkSecrets(config({ SECRET_ENCRYPTION_KEY: "cd".repeat(32) }))).toMatchObject({
      detail: "1 of 1 cannot be opened: the connection to the code host",
    });
    store.close();
  });
});

describe("the machine", () => {
  const away = engine({ ping: () => Promise.reject(unavailable("sandbox_unavailable", "It does not answer.")) });

  test("an engine that is away fails where it is asked for, is a warning where it may be, and nothing where it is not", async () => {
    const verdicts = async (SANDBOX: string, one = away) =>
      (await checkEngine(config({ SANDBOX }), one, false)).map(({ check, verdict }) => [check, verdict]);
    expect(await verdicts("docker")).toEqual([["container engine", "fail"]]);
    expect(await verdicts("auto")).toEqual([["container engine", "warn"]]);
    expect(await verdicts("process")).toEqual([["sandbox", "ok"]]);
    expect(await verdicts("docker", engine())).toEqual([
      ["sandbox", "ok"],
      ["container engine", "ok"],
      ["agent image", "fail"],
    ]);
    const loaded = engine({
      images: {
        inspect: async () => ({ id: "sha256:1", tags: [], volumes: [], env: [], user: "", workdir: "", sizeBytes: 1 }),
      },
    });
    expect((await verdicts("docker", loaded))[2]).toEqual(["agent image", "ok"]);
  });

  test("an engine over SSH that is to mount folders of this machine is a warning", async () => {
    const listFindings = async (more: Record<string, string>) => {
      const far = config({ SANDBOX: "docker", DOCKER_HOST: "ssh://builder", ...more });
      return (await checkEngine(far, engine(), false)).filter(({ check }) => check === "workspaces");
    };
    expect(await listFindings({})).toMatchObject([{ verdict: "warn", remedy: expect.stringContaining("detached") }]);
    expect(await listFindings({ SANDBOX_WORKSPACE: "detached" })).toEqual([]);
  });

  test("without an engine it says what agents can do: wait where they worked in containers, else files, or this host", async () => {
    const detail = async (env: Record<string, string> = {}) =>
      (await checkEngine(config(env), away, wereContainersUsed(folder)))[0]?.detail;
    expect(await detail()).toContain("files, but no commands");
    expect(await detail({ ALLOW_HOST_SHELL: "true" })).toContain("run on this host");
    const store = openStore({ path: join(folder, "skep.db"), clock: systemClock });
    store.write(() => store.rows(facts).insert({ name: CONTAINERS_USED, value: "true" }));
    store.close();
    expect(await detail({ ALLOW_HOST_SHELL: "true" })).toContain("waits for it");
  });

  test("git, and a server that lets others in without asking", async () => {
    expect(await checkGit(() => Promise.reject(new Error("not found")))).toMatchObject({ verdict: "warn" });
    expect(await checkGit(async () => "git version 2")).toMatchObject({ verdict: "ok", detail: "git version 2" });
    const open = { HOST: "0.0.0.0", AUTH_ENABLED: "false" };
    expect(checkServer(config(open), undefined).map(({ verdict }) => verdict)).toEqual(["ok", "warn"]);
    expect(checkServer(config({ HOST: "0.0.0.0" }), undefined).map(({ verdict }) => verdict)).toEqual(["ok"]);
    expect(checkServer(config(), { url: "http://127.0.0.1:1", pid: 7 })[0]?.detail).toContain("process 7");
  });

  test("limits of a container are seen: little memory, few files, an engine from outside", () => {
    const put = (path: string, text: string) => {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    put("sys/fs/cgroup/memory.max", `${256 * 1024 ** 2}\n`);
    put(
      "proc/self/limits",
      "Limit  Soft  Hard\nMax open files            1024                 1024                 files\n",
    );
    put("proc/self/mountinfo", "36 35 0:32 /docker.sock /var/run/docker.sock rw - tmpfs tmpfs rw\n");
    const found = checkBounds(config(), folder);
    expect(found.map(({ check, verdict }) => [check, verdict])).toEqual([
      ["memory", "warn"],
      ["open files", "warn"],
      ["container", "warn"],
    ]);
    put("sys/fs/cgroup/memory.max", "max\n");
    put("proc/self/limits", "Max open files            1048576              1048576              files\n");
    put("proc/self/mountinfo", "");
    expect(checkBounds(config(), folder).map(({ verdict }) => verdict)).toEqual(["ok"]);
  });
});

describe("skep doctor", () => {
  const listFiles = () =>
    readdirSync(folder, { recursive: true }).map((name) => [name, statSync(join(folder, String(name))).mtimeMs]);

  test("says all of it, changes nothing, and ends with 1 when something failed", async () => {
    chmodSync(folder, 0o700);
    const env = { DATA: folder, SANDBOX: "process" };
    const before = listFiles();
    const well = await skep(["doctor", "--json"], { env });
    expect(listFiles()).toEqual(before);
    const report = JSON.parse(well.stdout) as Report;
    expect(report.findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(["skep", "server", "data folder", "keys", "disk", "database", "sandbox", "git"]),
    );
    expect(report.limits).toHaveLength(Object.keys(LIMITS).length);
    mkdirSync(join(folder, "keys"));
    writeFileSync(join(folder, "keys/signing.key"), "0".repeat(64));
    chmodSync(join(folder, "keys/signing.key"), 0o644);
    const bad = await skep(["doctor"], { env });
    expect(bad.code).toBe(1);
    expect(bad.stdout).toContain("chmod 600");
  });

  test("without a server, reports on models and the team's files as a server would, and changes nothing", async () => {
    chmodSync(folder, 0o700);
    const agent = (id: string, text: string) => {
      mkdirSync(join(folder, "agents", id), { recursive: true });
      writeFileSync(join(folder, "agents", id, "AGENT.md"), text);
    };
    agent("scribe", "---\nname: Scribe\nmodel: openai/gpt-5\n---\nWrite.\n");
    agent("broken", "---\nname: Broken\nmax_turns: many\n---\nWork.\n");
    const store = openStore({ path: databasePath(folder), clock: systemClock });
    const set = store.sqlite.prepare("INSERT INTO settings (name, value, updated_at, updated_by) VALUES (?, ?, ?, ?)");
    set.run("instance", '{"models":{"default":"openai/gpt-5"}}', "2026-01-01T00:00:00.000Z", "local");
    store.close();
    // SQLite creates these two files for any reader.
    const files = () => listFiles().filter(([name]) => !/-(wal|shm)$/.test(String(name)));
    const before = files();
    const findings = async (env: Record<string, string>, ...checks: string[]) => {
      const { stdout } = await skep(["doctor", "--json"], { env: { DATA: folder, SANDBOX: "process", ...env } });
      return (JSON.parse(stdout) as Report).findings.filter(({ check }) => checks.includes(check));
    };
    const all = await findings({ OPENAI_API_KEY: "sk-canary" }, "models", "agents", "pipelines", "skills");
    expect(all.map(({ check, verdict }) => [check, verdict])).toEqual([
      ["models", "ok"],
      ["agents", "fail"],
      ["pipelines", "ok"],
      ["skills", "ok"],
    ]);
    expect(all[0]!.detail).toContain("openai/gpt-5");
    expect(all[1]!.detail).toStartWith("1 of 2 are broken: broken/AGENT.md:3:");
    expect(await findings({}, "models")).toMatchObject([{ verdict: "fail", remedy: expect.stringContaining("skep") }]);
    expect(files()).toEqual(before);
  });

  test("writes amounts as people do", () => {
    expect([formatAmount(1.5 * 1024 ** 3, "Bytes"), formatAmount(90_000, "Ms"), formatAmount(0, "Bytes")]).toEqual([
      "1.5 GiB",
      "1.5 min",
      "0 bytes",
    ]);
    expect([
      limitText("fetchTimeoutMs", 30_000),
      limitText("bodyBytes", 1_048_576),
      limitText("turnsMax", 1_000),
    ]).toEqual(["30 s", "1 MiB", "1,000"]);
  });
});
