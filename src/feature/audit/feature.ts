import { lt } from "drizzle-orm";
import { timestamp } from "../../core/clock.ts";
import { audit as table } from "../../store/tables/foundation.ts";
import { type Core, defineFeature } from "../feature.ts";
import { auditRoutes } from "./routes.ts";

export const audit = defineFeature("audit-log", ({ base, store }: Core) => ({
  routes: () => auditRoutes(base, store),
  prunes: [
    {
      keep: "audit_days",
      run(before) {
        store.write(({ db }) =>
          db
            .delete(table)
            .where(lt(table.at, timestamp(before)))
            .run(),
        );
      },
    },
  ],
}));
