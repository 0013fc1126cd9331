import type { Auth } from "../auth/service.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { StorageService } from "../storage/service.ts";
import { userRoutes } from "./routes.ts";
import { createUsers } from "./service.ts";

export const users = defineFeature(
  "users",
  (deps: Core & { accounts: Auth; storage: Pick<StorageService, "usedBy"> }) => {
    const handOver = (from: string, to: string | null) => deps.contributions.handOver(from, to);
    const service = createUsers({ ...deps, ...deps.accounts.forUsers, handOver, storedBy: deps.storage.usedBy });
    return { service, routes: () => userRoutes(service) };
  },
);
