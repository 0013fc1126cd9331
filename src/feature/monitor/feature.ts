/**
 * Tells an external monitor that the server is well, or what is wrong: the database, its disk, or the scheduled
 * backups.
 */
import { guardFor } from "../../adapter/address-guard.ts";
import { askBriefly } from "../../adapter/guarded-fetch.ts";
import type { backups } from "../backups/feature.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { SettingsService } from "../settings/service.ts";
import type { status } from "../status/feature.ts";
import { monitorRoutes } from "./routes.ts";
import { createMonitor } from "./service.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  backups: ServiceOf<typeof backups>;
  status: ServiceOf<typeof status>;
};

/** Interval between checks whether a request to the monitor is due. */
const LOOK_MS = 15_000;

export const monitor = defineFeature("monitor", (deps: Needs) => {
  const { config, masking, metrics, settings, backups, status } = deps;
  const address = config.pushMonitorUrl;
  if (address !== undefined) masking.add("PUSH_MONITOR_URL", address);
  const service = createMonitor({
    ...deps,
    address,
    ask: (address, request) => askBriefly(address, { ...request, resolve: guardFor(address).resolve }),
    everyMinutes: () => settings.get().monitor.every_minutes,
    trouble: () => status.notReady() ?? (backups.isFailing() ? "The scheduled backup failed or is overdue." : null),
  });
  metrics.gauge("monitor_failing", "1: the monitor at PUSH_MONITOR_URL did not answer the last time.", () =>
    address === undefined ? null : Number(service.status().error !== null),
  );
  return {
    routes: () => monitorRoutes(service.status),
    checks: () => [service.finding()],
    duties: [{ name: "push-monitor", everyMs: LOOK_MS, run: service.look }],
  };
});
