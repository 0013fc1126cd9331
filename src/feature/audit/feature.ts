import { toTimestamp } from "../../core/clock.ts";
import { removeOld } from "../../store/remove-old.ts";
import { type Core, defineFeature } from "../feature.ts";
import { auditRoutes } from "./routes.ts";

export const audit = defineFeature("audit-log", ({ store }: Core) => ({
  routes: () => auditRoutes(store),
  prunes: [{ keep: "audit_days", run: (before) => removeOld(store, "audit", "at < ?", toTimestamp(before)) }],
}));
