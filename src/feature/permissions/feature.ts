import { MINUTE_MS } from "../../core/clock.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Sessions } from "../sessions/service.ts";
import type { SettingsService } from "../settings/service.ts";
import { permissionEvents, permissionRequested } from "./events.ts";
import { permissionRoutes } from "./routes.ts";
import { createPermissions } from "./service.ts";
import { createPermissionStore } from "./store.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  sessions: Pick<Sessions, "tryNow" | "whenFinished">;
};

export const permissions = defineFeature(
  "permissions",
  ({ store, bus, clock, clockwork, audit, masking, settings, sessions }: Needs) => {
    const rows = createPermissionStore(store);
    const service = createPermissions({
      store,
      bus,
      clock,
      audit,
      masking,
      rows,
      sessions,
      waitMs: () => settings.get().limits.permission_minutes * MINUTE_MS,
    });
    const noteDue = clockwork.add({ name: "permissions", nextAt: rows.nextDeadline, run: service.expire });
    const unsubscribe = bus.subscribe([permissionRequested], noteDue);
    sessions.whenFinished(({ id }, tx) => service.withdraw(id, tx));
    return { service, routes: () => permissionRoutes(service), handOver: service.forget, stop: unsubscribe };
  },
  permissionEvents,
);
