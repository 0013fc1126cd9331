/** The running instance: its containers, request counts, checks of the machine, removal of old rows. */
import { LABELS } from "../../adapter/sandbox/docker/container-spec.ts";
import type { EngineService } from "../engine/feature.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { Notifications } from "../notifications/service.ts";
import type { SettingsService } from "../settings/service.ts";
import { createApiUsage } from "./api-usage.ts";
import { createContainers } from "./containers.ts";
import { createPullImage } from "./pull-image.ts";
import { retentionDuty } from "./retention.ts";
import { adminRoutes } from "./routes.ts";
import { createSystemWatch } from "./system-watch.ts";

const WATCH_MS = 600_000;

type Needs = Core & {
  settings: SettingsService;
  jobs: Pick<Jobs, "enqueue">;
  notifications: Pick<Notifications, "notify" | "resolve">;
  engine: Pick<EngineService, "makeImage" | "show">;
};

export const admin = defineFeature("admin", (deps: Needs) => {
  const { clock, config, docker, folder, settings, notifications, contributions } = deps;
  const apiUsage = createApiUsage(deps);
  const agentImage = () => settings.get().sandbox.image ?? config.agentImage;
  const watch = createSystemWatch({
    notifications,
    data: folder.root,
    docker,
    agentImage,
    makeImage: deps.engine.makeImage,
  });
  const pullImage = createPullImage({ docker, jobs: deps.jobs, onPull: watch.imageIsThere });
  const containers = createContainers({ ...deps, show: deps.engine.show, labels: LABELS });
  return {
    service: { countRequest: apiUsage.count },
    routes: () => adminRoutes({ apiUsage, pullImage, containers }),
    jobs: [pullImage.definition],
    prunes: [
      { keep: "api_usage_days", run: apiUsage.prune },
      { keep: null, run: deps.idempotency.prune },
    ],
    duties: [
      { name: "system-watch", everyMs: WATCH_MS, run: watch.look },
      retentionDuty({ clock, keep: () => settings.get().retention, prunes: () => contributions.prunes }),
    ],
    // Runs after the server has answered its last request.
    close: apiUsage.stop,
  };
});
