/**
 * A server that starts on a copy of another instance's data folder stands by until an administrator activates it
 * (`store/identity.ts`).
 */
import { actedBy } from "../../http/caller.ts";
import { pass, warn } from "../doctor/model.ts";
import { type Core, defineFeature } from "../feature.ts";
import { activationRoutes } from "./routes.ts";

export const activation = defineFeature("activation", ({ audit, instanceId, standby }: Core) => ({
  routes: () =>
    activationRoutes((caller) => {
      if (standby.activate()) audit({ action: "instance.activated", ...actedBy(caller), subject: instanceId });
    }),
  checks() {
    const since = standby.since();
    if (since === null) return [pass("standby", "this instance works")];
    return [
      warn(
        "standby",
        `this data folder is a copy of another instance's, noticed at ${since}: agents, routines, tool servers, webhooks and notifications wait`,
        "when the original is stopped, or its work is not to be done there any more: skep activate",
      ),
    ];
  },
}));
