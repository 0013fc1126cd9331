import { type Core, defineFeature } from "../feature.ts";
import { dashboardFiles } from "./files.ts";
import { dashboardRoutes } from "./routes.ts";

export const dashboard = defineFeature("dashboard", ({ base, site }: Core) => ({
  routes: () => dashboardRoutes(base, { files: dashboardFiles, prefix: site.prefix }),
}));
