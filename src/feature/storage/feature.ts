/** What each user has stored, and the limits. */
import { selfCommand } from "../../process/self-command.ts";
import { createMeasuring } from "../../store/measure-worker.ts";
import { type Core, defineFeature } from "../feature.ts";
import { runCancelled, runComplete, runFailed } from "../runs/events.ts";
import { sessionEnded, turnEnded } from "../sessions/events.ts";
import type { SettingsService } from "../settings/service.ts";
import { createMeasurer } from "./measurer.ts";
import { storageRoutes } from "./routes.ts";
import { createStorage } from "./service.ts";

type Needs = Core & { settings: Pick<SettingsService, "get"> };

const SWEEP_MS = 120_000;

export const storage = defineFeature("storage", (deps: Needs) => {
  const { store, config, folder } = deps;
  const hasAccounts = config.authRequired;
  const service = createStorage({ store, hasAccounts, limits: () => deps.settings.get().limits });
  const measure = createMeasuring(selfCommand("measure-worker"), folder.workspaces);
  const measurer = createMeasurer({ ...deps, folder: folder.workspaces, measure });
  const unsubscribe = deps.bus.subscribe(
    [turnEnded, sessionEnded, runComplete, runFailed, runCancelled],
    ({ session_id, run_id }) => {
      const name = run_id ?? session_id;
      if (hasAccounts && name !== undefined) measurer.markChanged(name);
    },
  );
  return {
    service,
    routes: () => storageRoutes(service),
    // Without accounts, there is nobody whose use would be asked for.
    duties: hasAccounts ? [{ name: "workspace-sizes", everyMs: SWEEP_MS, run: measurer.sweep }] : [],
    handOver: (from, to) =>
      store.write(() => void store.statement("UPDATE workspace_sizes SET user_id = ? WHERE user_id = ?").run(to, from)),
    async stop() {
      unsubscribe();
      await measurer.stop();
    },
  };
});
