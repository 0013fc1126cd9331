import { type Core, defineFeature } from "../feature.ts";
import { notificationEvents } from "./events.ts";
import { notificationRoutes } from "./routes.ts";
import { createNotifications } from "./service.ts";

export const notifications = defineFeature(
  "notifications",
  (deps: Core) => {
    const service = createNotifications(deps);
    return {
      service,
      routes: () => notificationRoutes(service),
      handOver: service.handOver,
      prunes: [{ keep: "notifications_days", run: service.prune }],
    };
  },
  notificationEvents,
);
