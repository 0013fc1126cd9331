import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createGit, type Git } from "../../adapter/git.ts";
import { systemClock } from "../../core/clock.ts";
import type { SkepEvent } from "../../core/events.ts";
import { newId } from "../../core/ids.ts";
import { createMasking } from "../../core/masking.ts";
import { createLog } from "../../process/log.ts";
import { createBus } from "../../store/bus.ts";
import { openStore, type Store } from "../../store/store.ts";
import { runCancelled } from "../runs/events.ts";
import { sessionEnded } from "../sessions/events.ts";
import { cloneOpener, placeOf } from "./clones.ts";
import { NO_LFS } from "./lfs.ts";
import { createProjectStore, type ProjectRow, type ProjectStore } from "./store.ts";
import { createTurns } from "./turns.ts";
import { createWorks } from "./works.ts";
import { createWorkspaces, type Workspaces } from "./workspaces.ts";
import { createWorktreeRelease, type WorktreeRelease } from "./worktree-release.ts";

const root = mkdtempSync(join(tmpdir(), "skep-runs-"));
const stores: Store[] = [];
afterAll(() => {
  for (const store of stores) store.close();
  rmSync(root, { recursive: true, force: true });
});

let rows: ProjectStore;
let work: Workspaces;
let store: Store;
let worktrees: WorktreeRelease;
let published: SkepEvent[];
let project: string;
let home: string;
/** Hooks that run while the server works: between its first look at a project and the making of a copy. */
let meanwhile: { onInitialise?(): void; onRefresh?(): void };
const depth = 50;
const log = createLog({ logLevel: "silent" });
const runId = () => newId("run");

function row(fields: Partial<ProjectRow> = {}): ProjectRow {
  const at = new Date().toISOString();
  return {
    id: newId("project"),
    name: newId("project"),
    description: "",
    repository: null,
    default_branch: null,
    default_pipeline_id: null,
    check: null,
    status: "active",
    vision: null,
    outside: null,
    columns: null,
    workspace_state: "none",
    workspace_error: null,
    workspace_head: null,
    scip_path: null,
    fetch_before_run: "try",
    fetched_at: null,
    created_at: at,
    updated_at: at,
    ...fields,
  };
}

beforeEach(() => {
  store = openStore({ path: ":memory:", clock: systemClock, checkEvents: true });
  stores.push(store);
  published = [];
  const bus = createBus((error) => {
    throw error;
  });
  bus.subscribeAll((event) => published.push(event));
  store.onCommit(bus.deliver);
  rows = createProjectStore(store, systemClock);
  const own = createGit({ env: { PATH: process.env["PATH"] ?? "" } });
  meanwhile = {};
  const git: Git = {
    ...own,
    async init(place) {
      await own.init(place);
      meanwhile.onInitialise?.();
    },
  };
  home = mkdtempSync(join(root, "data-"));
  work = createWorkspaces({
    store,
    log,
    masking: createMasking(),
    rows,
    works: createWorks(store),
    git,
    submodules: {
      fetch: async () => ({ fetched: [], missing: [] }),
      place: async () => [],
    },
    lfs: { fetch: async () => NO_LFS },
    ...createTurns(cloneOpener({ rows, git, folder: join(home, "projects") })),
    async refresh() {
      meanwhile.onRefresh?.();
      return null;
    },
    gitDepth: () => depth,
    workspaces: join(home, "workspaces"),
    projects: join(home, "projects"),
  });
  worktrees = createWorktreeRelease({ bus, log, works: createWorks(store), workspaces: work });
  const made = row();
  rows.insert(made);
  project = made.id;
});

describe("workspaces of runs", () => {
  test("without a project a run gets an empty folder, which stays", async () => {
    const run = { id: runId() };
    const { path, branch } = await work.prepare(run);
    expect(branch).toBeNull();
    writeFileSync(join(path, "result"), "r");
    expect(await work.commit(run, "m")).toEqual({ commit: null, skipped: [] });
    await work.release(run);
    expect((await work.prepare(run)).path).toBe(path);
    expect(readFileSync(join(path, "result"), "utf8")).toBe("r");
  });

  test("a project without a repository gets one at its first run", async () => {
    const run = { id: runId(), project_id: project };
    expect(await work.prepare(run)).toMatchObject({ branch: `run/${run.id}` });
    expect(rows.find(project)).toMatchObject({ workspace_state: "ready", default_branch: "main" });
  });

  test("steps side by side share one worktree; their work is committed once and published once", async () => {
    const run = { id: runId(), project_id: project };
    const places = await Promise.all([work.prepare(run), work.prepare(run), work.prepare(run)]);
    expect(new Set(places.map((place) => place.path)).size).toBe(1);
    writeFileSync(join(places[0]!.path, "a"), "a");
    const done = await Promise.all([work.commit(run, "one"), work.commit(run, "two")]);
    expect(done.filter((one) => one.commit !== null)).toHaveLength(1);
    await Bun.sleep(0);
    const commits = published.filter((event) => event.kind === "workspace_changed");
    expect(commits).toMatchObject([{ project_id: project, run_id: run.id, data: { branch: `run/${run.id}` } }]);
  });

  test("runs do not see each other's work, and a released one continues from its branch", async () => {
    const [one, two] = [
      { id: runId(), project_id: project },
      { id: runId(), project_id: project },
    ];
    const first = await work.prepare(one);
    writeFileSync(join(first.path, "mine"), "m");
    await work.commit(one, "mine");
    await work.release(one);
    await work.release(one);
    expect(existsSync(first.path)).toBe(false);
    expect(existsSync(join((await work.prepare(two)).path, "mine"))).toBe(false);
    expect(readFileSync(join((await work.prepare(one)).path, "mine"), "utf8")).toBe("m");
  });

  test("a lock that a killed git left does not stop the run from continuing", async () => {
    const run = { id: runId(), project_id: project };
    const { path } = await work.prepare(run);
    const admin = join(dirname(dirname(path)), "projects", project, "git/worktrees", run.id);
    writeFileSync(join(admin, "index.lock"), "");
    writeFileSync(join(path, "late"), "l");
    await work.prepare(run);
    expect((await work.commit(run, "late")).commit).not.toBeNull();
  });

  test("a project that is being cloned is busy, one whose clone failed says so, an unknown one is 404", async () => {
    const [cloning, failed] = [row({ workspace_state: "cloning" }), row({ workspace_state: "failed" })];
    rows.insert(cloning);
    rows.insert(failed);
    const codeOf = (project_id: string) => work.prepare({ id: runId(), project_id }).catch((error) => error.code);
    expect(await Promise.all([cloning.id, failed.id, "proj_none"].map(codeOf))).toEqual([
      "workspace_busy",
      "workspace_failed",
      "not_found",
    ]);
    expect(await work.prepare({ id: "../../etc" }).catch((error) => error.code)).toBe("not_found");
  });

  test("runs that wait for a clone take nothing from the git that makes it", async () => {
    const cloning = row({ workspace_state: "cloning" });
    rows.insert(cloning);
    const { repository } = placeOf(join(home, "projects"), cloning.id);
    const written = ["config.lock", "index.lock", "objects/pack/tmp_pack_1"].map((name) => join(repository, name));
    mkdirSync(join(repository, "objects/pack"), { recursive: true });
    for (const path of written) writeFileSync(path, "");
    for (let tries = 0; tries < 3; tries++)
      await expect(work.prepare({ id: runId(), project_id: cloning.id })).rejects.toMatchObject({
        code: "workspace_busy",
      });
    expect(written.filter((path) => !existsSync(path))).toEqual([]);
  });

  test("a project that gets a repository to clone while its first run makes an empty one is busy, not ready", async () => {
    meanwhile.onInitialise = () => rows.update(project, { workspace_state: "cloning" }, "updated");
    await expect(work.prepare({ id: runId(), project_id: project })).rejects.toMatchObject({ code: "workspace_busy" });
    expect(rows.find(project)?.workspace_state).toBe("cloning");
  });

  test("a project deleted while a run begins in it, or while a step ends, is gone: no copy is made and none is committed", async () => {
    const [one, two] = [
      { id: runId(), project_id: project },
      { id: runId(), project_id: project },
    ];
    const { path } = await work.prepare(one);
    meanwhile.onRefresh = () => rows.remove(rows.find(project)!);
    await expect(work.prepare(two)).rejects.toMatchObject({ status: 404 });
    expect(existsSync(join(dirname(path), two.id))).toBe(false);
    expect(await work.commit(one, "late")).toEqual({ commit: null, skipped: [] });
    await work.releaseAll(project);
    expect(existsSync(path)).toBe(false);
  });

  test("releasing all of a project removes every worktree", async () => {
    const runs = [runId(), runId()].map((id) => ({ id, project_id: project }));
    const places = await Promise.all(runs.map((run) => work.prepare(run)));
    await work.releaseAll(project);
    expect(places.map((place) => existsSync(place.path))).toEqual([false, false]);
  });
});

describe("a working copy", () => {
  const at = new Date().toISOString();
  const insert = (table: string, fields: Record<string, unknown>) => {
    const names = Object.keys(fields);
    const marks = names.map((name) => `@${name}`);
    store.sqlite.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${marks.join()})`).run(fields);
  };
  /** A run with one execution, both running, in a copy of its own. */
  async function atWork() {
    const run = { id: runId(), project_id: project };
    const empty = { definition_id: "none", inputs: "{}", outputs: "{}", task_description: "", created_at: at };
    insert("runs", { ...empty, id: run.id, pipeline_id: "p", project_id: project, status: "running" });
    const [id, session_id] = [newId("execution"), newId("session")];
    const state = { agent_id: "a", run_id: run.id, status: "running", created_at: at };
    insert("sessions", { ...state, id: session_id, root_id: session_id, kind: "pipeline", last_activity_at: at });
    const own = { message_id: newId("message"), input: "[]", contract: "{}", skills: "[]", timeout_seconds: 1 };
    insert("executions", { ...state, ...own, id, session_id });
    const { path } = await work.prepare(run);
    const end = (table: string, row: string) =>
      store.sqlite.prepare(`UPDATE ${table} SET finished_at = ? WHERE id = ?`).run(at, row);
    return {
      path,
      endRun: () => {
        end("runs", run.id);
        const data = {
          status: "cancelled",
          pipeline_id: "p",
          outputs: {},
          cost_usd: 0,
          calls_without_price: 0,
          tokens: 0,
        } as const;
        store.write(({ emit }) => emit(runCancelled, { run_id: run.id, project_id: project, data }));
      },
      endExecution: () => {
        end("executions", id);
        store.write(({ emit }) =>
          emit(sessionEnded, { run_id: run.id, project_id: project, data: { status: "cancelled" } }),
        );
      },
      endUnheard: () => {
        end("runs", run.id);
        end("executions", id);
      },
    };
  }
  /** Waits until everything that was started for the project has ended. */
  const waitForWork = () => work.prepare({ id: runId(), project_id: project });

  test("is removed when the run and its last execution have ended, whichever ends last", async () => {
    const [one, two] = [await atWork(), await atWork()];
    one.endRun();
    two.endExecution();
    await waitForWork();
    expect([existsSync(one.path), existsSync(two.path)]).toEqual([true, true]);
    one.endExecution();
    two.endRun();
    await Bun.sleep(0);
    await waitForWork();
    expect([existsSync(one.path), existsSync(two.path)]).toEqual([false, false]);
  });

  test("that a crash left is removed by a sweep, which leaves those in use", async () => {
    const [left, working] = [await atWork(), await atWork()];
    left.endUnheard();
    await worktrees.sweep();
    expect([existsSync(left.path), existsSync(working.path)]).toEqual([false, true]);
  });
});
