import { timestamp } from "../../core/clock.ts";
import { removeRows } from "../../store/remove-rows.ts";
import { type Core, defineFeature } from "../feature.ts";
import { auditRoutes } from "./routes.ts";

export const audit = defineFeature("audit-log", ({ base, store }: Core) => ({
  routes: () => auditRoutes(base, store),
  prunes: [
    {
      keep: "audit_days",
      run: (before, signal) => removeRows(store, { from: "audit", where: "at < ?" }, [timestamp(before)], signal),
    },
  ],
}));
