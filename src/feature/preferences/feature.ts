import { type Core, defineFeature } from "../feature.ts";
import { preferenceRoutes } from "./routes.ts";
import { createPreferences } from "./service.ts";

export const preferences = defineFeature("preferences", ({ store, clock }: Core) => ({
  routes: () => preferenceRoutes(createPreferences({ store, clock })),
}));
