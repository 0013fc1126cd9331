import { type Core, defineFeature } from "../feature.ts";
import { docsRoutes } from "./routes.ts";

export const docs = defineFeature("docs", ({ base, contributions }: Core) => ({
  routes: () => docsRoutes(base, { document: contributions.apiDocument }),
}));
