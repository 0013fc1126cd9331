import { RELEASE_KEY } from "../../core/release-key.ts";
import { BUILD } from "../../core/version.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Notifications } from "../notifications/service.ts";
import type { SettingsService } from "../settings/service.ts";
import { updateRoutes } from "./routes.ts";
import { createUpdates } from "./service.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  notifications: Pick<Notifications, "notify" | "resolve">;
};

export const updates = defineFeature("updates", ({ clock, config, settings, notifications }: Needs) => {
  const service = createUpdates({
    build: BUILD,
    clock,
    notices: notifications,
    manifestUrl: config.updateCheckUrl,
    publicKey: config.updatePublicKey ?? RELEASE_KEY,
    settings: () => settings.get().updates,
  });
  return { service, routes: () => updateRoutes(service), duties: [service.duty] };
});
