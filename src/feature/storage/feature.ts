/** How much each user has stored, and the limits of it. */
import { readdir } from "node:fs/promises";
import { isId } from "../../core/ids.ts";
import { selfCommand } from "../../core/self-command.ts";
import { createMeasuring } from "../../store/measure-worker.ts";
import { type Core, defineFeature } from "../feature.ts";
import { runCancelled, runComplete, runFailed } from "../runs/events.ts";
import { sessionEnded, turnEnded } from "../sessions/events.ts";
import type { SettingsService } from "../settings/service.ts";
import { storageRoutes } from "./routes.ts";
import { createMeasurer, createStorage } from "./service.ts";

type Needs = Core & { settings: Pick<SettingsService, "get"> };

const SWEEP_MS = 120_000;
/** From the end of work to measuring: what ends at once is measured together. */
const SOON_MS = 1_000;

export const storage = defineFeature("storage", (deps: Needs) => {
  const { store, clock, config, folder, log } = deps;
  const service = createStorage({
    store,
    limits: () => deps.settings.get().limits,
    hasAccounts: config.authRequired,
  });
  const measurer = createMeasurer({
    ...{ store, clock },
    folders: async () =>
      (await readdir(folder.workspaces)).filter((name) => isId("run", name) || isId("session", name)),
    measure: createMeasuring(selfCommand("measure-worker"), folder.workspaces),
  });
  const end = new AbortController();
  const changed = new Set<string>();
  let timer: Timer | undefined;
  let looking: Promise<void> | undefined;
  /** One process at a time. */
  async function look(names: readonly string[]): Promise<void> {
    while (looking) await looking;
    looking = measurer
      .look(names, end.signal)
      .catch((err) => {
        if (!end.signal.aborted) log.warn({ err }, "workspaces are measured again later");
      })
      .finally(() => {
        looking = undefined;
      });
    await looking;
  }
  const unsubscribe = deps.bus.subscribe(
    [turnEnded, sessionEnded, runComplete, runFailed, runCancelled],
    ({ session_id, run_id }) => {
      const name = run_id ?? session_id;
      if (!config.authRequired || name === undefined || end.signal.aborted) return;
      changed.add(name);
      timer ??= setTimeout(() => {
        timer = undefined;
        const names = [...changed];
        changed.clear();
        void look(names);
      }, SOON_MS);
    },
  );
  return {
    service,
    routes: () => storageRoutes(service),
    duties: [{ name: "workspace-sizes", everyMs: SWEEP_MS, run: async () => look(await measurer.stale()) }],
    handOver: (from, to) =>
      store.write(() => void store.statement("UPDATE workspace_sizes SET user_id = ? WHERE user_id = ?").run(to, from)),
    async stop() {
      unsubscribe();
      clearTimeout(timer);
      end.abort();
      await looking;
    },
  };
});
