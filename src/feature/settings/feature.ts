import { providerEntry } from "../../adapter/model/providers.ts";
import { type Core, defineFeature } from "../feature.ts";
import { settingsRoutes } from "./routes.ts";
import { createSettings } from "./service.ts";

export const settings = defineFeature("settings", (deps: Core) => {
  const service = createSettings({ ...deps, isProvider: (id) => providerEntry(id) !== undefined });
  return { service, routes: () => settingsRoutes(service) };
});
