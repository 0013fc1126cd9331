/** Lets a running server report the findings of every feature to `skep doctor`. */
import { type Core, defineFeature } from "../feature.ts";
import { doctorRoutes } from "./routes.ts";
import { checkDisk } from "./storage.ts";

export const doctor = defineFeature("doctor", ({ config, contributions }: Core) => ({
  // Of a server on another machine, `skep doctor` sees only what the server says.
  routes: () => doctorRoutes(async () => [checkDisk(config.data), ...(await contributions.checks())]),
}));
