import { BUILD } from "../../core/version.ts";
import { type Core, defineFeature } from "../feature.ts";
import { homeRoutes } from "./routes.ts";

export const home = defineFeature("home", ({ base }: Core) => ({
  routes: homeRoutes(base, { version: BUILD.version }),
}));
