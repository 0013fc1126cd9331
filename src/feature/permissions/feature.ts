import { type Core, defineFeature } from "../feature.ts";
import type { Sessions } from "../sessions/service.ts";
import type { SettingsService } from "../settings/service.ts";
import { permissionEvents } from "./events.ts";
import { permissionRoutes } from "./routes.ts";
import { createPermissions } from "./service.ts";
import { createPermissionStore } from "./store.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  sessions: Pick<Sessions, "tryNow" | "whenFinished">;
};

const MINUTE_MS = 60_000;

export const permissions = defineFeature(
  "permissions",
  ({ store, clock, clockwork, audit, masking, settings, sessions }: Needs) => {
    const rows = createPermissionStore(store);
    let deadlinesChanged = () => {};
    const service = createPermissions({
      ...{ store, clock, audit, masking, rows, sessions },
      waitMs: () => settings.get().limits.permission_minutes * MINUTE_MS,
      deadlinesChanged: () => deadlinesChanged(),
    });
    deadlinesChanged = clockwork.add({ name: "permissions", nextAt: rows.nextDeadline, run: service.expire });
    sessions.whenFinished(({ id }, tx) => service.withdraw(id, tx));
    return { service, routes: () => permissionRoutes(service), handOver: service.forget };
  },
  permissionEvents,
);
