/** Which work gets a cache, and when a cache is removed. */
import { afterAll, expect, test } from "bun:test";
import type { CacheVolume, CacheVolumes } from "../../adapter/sandbox/docker/caches.ts";
import { DAY_MS, systemClock } from "../../core/clock.ts";
import { conflict } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { openStore } from "../../store/store.ts";
import type { Environment } from "../environments/model.ts";
import { createEnvironmentCaches, type EnvironmentCachesDeps } from "./service.ts";

const NOW = Date.UTC(2026, 0, 31);
const clock = { ...systemClock, now: () => NOW };
const store = openStore({ path: ":memory:", clock });
afterAll(() => store.close());

const ENVIRONMENTS: Record<string, Environment> = { web: { caches: ["~/.npm", "~/.cache/pip"] }, bare: {} };

/** @param inUse names of volumes that a sandbox uses. */
function cachesOver(rows: CacheVolume[], inUse: string[] = [], change: Partial<EnvironmentCachesDeps> = {}) {
  const there = new Map(rows.map((row) => [row.name, row]));
  const volumes: CacheVolumes = {
    list: async () => [...there.values()],
    async remove(name) {
      if (inUse.includes(name)) throw conflict("A container has it.", "docker_conflict");
      there.delete(name);
    },
  };
  const service = createEnvironmentCaches({
    store,
    clock,
    log: { debug() {}, info() {}, warn() {}, error() {} } as unknown as EnvironmentCachesDeps["log"],
    volumes,
    why: undefined,
    localUser: true,
    projects: { find: (id) => (id in ENVIRONMENTS ? {} : undefined) },
    environmentOf: (id) => ENVIRONMENTS[id],
    ...change,
  });
  return { service, names: () => [...there.keys()] };
}

const volume = (name: string, change: Partial<CacheVolume> = {}): CacheVolume => ({
  name,
  projectId: "web",
  owner: "local",
  bytes: 1,
  createdAt: new Date(NOW - DAY_MS).toISOString(),
  ...change,
});

test("work that a stranger's pull request began has the cache of nobody, and nobody's work has none", () => {
  const { service } = cachesOver([]);
  const work = { projectId: "web", userId: "usr_ann", runId: "run_own" };
  const paths = [".npm", ".cache/pip"];
  expect(service.foldersOf(work)).toEqual({ owner: "usr_ann", projectId: "web", paths });
  expect(service.foldersOfSetUp("web")).toEqual({ owner: "set-up", projectId: "web", paths });
  // The row of the run itself is not needed to tell where the run came from.
  store.write(() => {
    store.statement("PRAGMA defer_foreign_keys = ON").run();
    store
      .statement(
        `INSERT INTO codehost_runs (run_id, repository, read_only, wants_pull, again, attempts, state, created_at, updated_at)
         VALUES ('run_strange', 'a/b', 1, 0, 0, 0, 'done', '', ''), ('run_own', 'a/b', 0, 0, 0, 0, 'done', '', '')`,
      )
      .run();
    expect(service.foldersOf({ ...work, runId: "run_strange" })).toBeUndefined();
    expect(service.foldersOf(work)?.owner).toBe("usr_ann");
    store.statement("DELETE FROM codehost_runs").run();
  });
  expect(service.foldersOf({ ...work, projectId: "bare" })).toBeUndefined();
  const withAccounts = cachesOver([], [], { localUser: false }).service;
  expect(withAccounts.foldersOf({ ...work, userId: undefined })).toBeUndefined();
});

test("a cache goes by age, by size and with whom it belongs to, and stays while a sandbox has it", async () => {
  const old = { createdAt: new Date(NOW - (LIMITS.cacheDays + 1) * DAY_MS).toISOString() };
  const { service, names } = cachesOver(
    [
      volume("kept"),
      volume("of-set-ups", { owner: "set-up" }),
      volume("of-no-known-age", { createdAt: "" }),
      volume("old", old),
      volume("old-and-in-use", old),
      volume("large", { bytes: LIMITS.cacheBytes + 1 }),
      volume("of-a-user-who-is-gone", { owner: "usr_gone" }),
      volume("of-a-project-that-is-gone", { projectId: "gone" }),
      volume("of-an-environment-that-keeps-nothing", { projectId: "bare" }),
      volume("of-set-ups-that-keep-nothing", { projectId: "bare", owner: "set-up" }),
    ],
    ["old-and-in-use"],
  );
  await service.sweep();
  expect(names()).toEqual(["kept", "of-set-ups", "of-no-known-age", "old-and-in-use"]);
});

test("a person sees and clears what is theirs, an administrator everything", async () => {
  const { service, names } = cachesOver([
    volume("mine", { owner: "usr_ann" }),
    volume("of-set-ups", { owner: "set-up" }),
  ]);
  const caller = { userId: "usr_ann", admin: false } as Parameters<typeof service.get>[1];
  expect((await service.get("web", caller)).items).toMatchObject([{ of: "person", user_id: "usr_ann" }]);
  expect(await service.clear("web", caller)).toEqual({ removed: 1, in_use: 0 });
  expect(names()).toEqual(["of-set-ups"]);
  expect((await service.get("web", { ...caller, admin: true })).items).toMatchObject([{ of: "set-up", user_id: null }]);
});
