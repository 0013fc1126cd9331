/** The parts of the feature, put together, and what it does by the clock. */
import type { DockerClient } from "../../adapter/docker.ts";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import type { Caller } from "../../http/caller.ts";
import type { Store } from "../../store/store.ts";
import { type ApiUsageCounts, createApiUsage } from "./api-usage.ts";
import { type ContainersDeps, createContainers } from "./containers.ts";
import { createHousekeeping, type Duty } from "./housekeeping.ts";
import type { Notifications } from "./notifications.ts";
import { createPullImage, type PullDeps } from "./pull-image.ts";
import { type RetentionDeps, retentionDuty } from "./retention.ts";
import type { AdminRoutesDeps } from "./routes.ts";
import { createSystemWatch } from "./system-watch.ts";
import { createTtsSettings } from "./tts-settings.ts";

export interface AdministrationDeps {
  store: Store;
  clock: Clock;
  log: Logger;
  /** Folder of all state. */
  data: string;
  docker: DockerClient | undefined;
  instanceId: string;
  labels: ContainersDeps["labels"];
  notifications: Notifications;
  jobs: PullDeps["jobs"];
  /** Objects that are stored by name. */
  stored: { read(name: string): unknown; put(name: string, value: unknown, caller: Caller): void };
  agentImage(): string;
  makeImage(image: string): Promise<boolean>;
  retention: Omit<RetentionDeps, "store" | "clock" | "notifications" | "apiUsage">;
  /** What else is to be done by the clock. */
  duties: readonly Duty[];
}

export interface Administration extends AdminRoutesDeps {
  apiUsage: ApiUsageCounts;
  stop(): Promise<void>;
}

const HOUR_MS = 3_600_000;

export function createAdministration(deps: AdministrationDeps): Administration {
  const { store, clock, log, data, docker, notifications, agentImage, makeImage } = deps;
  const apiUsage = createApiUsage({ store, clock });
  const watch = createSystemWatch({ notifications, data, docker, agentImage, makeImage });
  const housekeeping = createHousekeeping(log, [
    { name: "system-watch", everyMs: HOUR_MS / 6, run: watch.look },
    retentionDuty({ ...deps.retention, store, clock, notifications, apiUsage }),
    ...deps.duties,
  ]);
  return {
    apiUsage,
    notifications,
    containers: createContainers(deps),
    pullImage: createPullImage({ docker, jobs: deps.jobs, pulled: watch.imageIsThere }),
    ttsSettings: createTtsSettings(deps.stored),
    async stop() {
      await housekeeping.stop();
      apiUsage.stop();
    },
  };
}
