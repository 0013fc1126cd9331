import { type Core, defineFeature } from "../feature.ts";
import { docsRoutes } from "./routes.ts";

export const docs = defineFeature("docs", ({ contributions }: Core) => ({
  routes: () => docsRoutes({ document: contributions.apiDocument }),
}));
