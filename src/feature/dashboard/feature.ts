import { type Core, defineFeature } from "../feature.ts";
import { dashboardFiles } from "./files.ts";
import { dashboardRoutes } from "./routes.ts";

export const dashboard = defineFeature("dashboard", ({ site }: Core) => ({
  routes: () => dashboardRoutes({ files: dashboardFiles, prefix: site.prefix }),
}));
