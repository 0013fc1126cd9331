import { type Core, defineFeature } from "../feature.ts";
import { memberEvents } from "./events.ts";
import { memberRoutes } from "./routes.ts";
import { createMembers } from "./service.ts";

export const members = defineFeature(
  "members",
  (deps: Core) => {
    const service = createMembers(deps);
    return { service, routes: () => memberRoutes(service), handOver: deps.access.handOver };
  },
  memberEvents,
);
