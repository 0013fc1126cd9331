import { MINUTE_MS } from "../../core/clock.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Sessions } from "../sessions/service.ts";
import type { SettingsService } from "../settings/service.ts";
import { permissionEvents, permissionRequested } from "./events.ts";
import { createRequests } from "./requests.ts";
import { permissionRoutes } from "./routes.ts";
import { createPermissions } from "./service.ts";
import { createPermissionStore } from "./store.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  sessions: Pick<Sessions, "tryNow" | "whenFinished">;
};

export const permissions = defineFeature(
  "permissions",
  (deps: Needs) => {
    const { store, bus, clockwork, settings, sessions } = deps;
    const rows = createPermissionStore(store);
    const requests = createRequests({
      ...deps,
      rows,
      waitMs: () => settings.get().limits.permission_minutes * MINUTE_MS,
    });
    const service = createPermissions({ ...deps, rows, requests });
    const noteDue = clockwork.add({ name: "permissions", nextAt: rows.nextDeadline, run: requests.expire });
    const unsubscribe = bus.subscribe([permissionRequested], noteDue);
    sessions.whenFinished(({ id }, tx) => requests.withdraw(id, tx));
    return {
      service: { ...service, engine: requests.engine, expire: requests.expire },
      routes: () => permissionRoutes(service),
      handOver: service.forget,
      stop: unsubscribe,
    };
  },
  permissionEvents,
);
