/** What a running server reports to `skep doctor`: the findings of every feature. */
import { type Core, defineFeature } from "../feature.ts";
import { doctorRoutes } from "./routes.ts";

export const doctor = defineFeature("doctor", ({ contributions }: Core) => ({
  routes: () => doctorRoutes(contributions.checks),
}));
