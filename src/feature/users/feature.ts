import type { Auth } from "../auth/service.ts";
import { type Core, defineFeature } from "../feature.ts";
import { userRoutes } from "./routes.ts";
import { createUsers } from "./service.ts";

export const users = defineFeature("users", (deps: Core & { accounts: Auth }) => {
  const handOver = (from: string, to: string | null) => deps.contributions.handOver(from, to);
  const service = createUsers({ ...deps, ...deps.accounts.forUsers, handOver });
  return { service, routes: () => userRoutes(service) };
});
