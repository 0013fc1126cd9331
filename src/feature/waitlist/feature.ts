import { type Core, defineFeature } from "../feature.ts";
import { waitlistRoutes } from "./routes.ts";

export const waitlist = defineFeature("waitlist", (deps: Core) => ({ routes: () => waitlistRoutes(deps) }));
