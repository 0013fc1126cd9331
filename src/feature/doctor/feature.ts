/** Lets a running server report the findings of every feature to `skep doctor`. */
import { type Core, defineFeature } from "../feature.ts";
import { doctorRoutes } from "./routes.ts";

export const doctor = defineFeature("doctor", ({ contributions }: Core) => ({
  routes: () => doctorRoutes(contributions.checks),
}));
