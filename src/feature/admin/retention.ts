/** Removing what is older than the settings say, a little at a time. */
import { lt } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import type { Store } from "../../store/store.ts";
import { audit } from "../../store/tables/foundation.ts";
import type { Settings } from "../settings/model.ts";
import type { Duty } from "./housekeeping.ts";

type Prune = (before: number) => void;

export interface RetentionDeps {
  store: Store;
  clock: Clock;
  /** As the settings stand. */
  keep(): Settings["retention"];
  usage: { prune: Prune };
  jobs: { prune: Prune };
  notifications: { prune: Prune };
  budgets: { prune: Prune };
  apiUsage: { prune: Prune };
  /** With bounds of their own. */
  others: readonly { prune(): unknown }[];
}

const DAY_MS = 24 * 3_600_000;
const EVERY_MS = 3_600_000;
/** Budget notices are asked about for the month that they were given in. */
const NOTICE_DAYS = 62;

export function retentionDuty(deps: RetentionDeps): Duty {
  const { store, clock, keep } = deps;
  const pruneAudit: Prune = (before) =>
    void store.write(({ db }) =>
      db
        .delete(audit)
        .where(lt(audit.at, timestamp(before)))
        .run(),
    );
  return {
    name: "retention",
    everyMs: EVERY_MS,
    run() {
      const { llm_calls_days, api_usage_days, audit_days, notifications_days, jobs_days } = keep();
      const parts: [days: number | null, prune: Prune][] = [
        [llm_calls_days, deps.usage.prune],
        [api_usage_days, deps.apiUsage.prune],
        [audit_days, pruneAudit],
        [notifications_days, deps.notifications.prune],
        [jobs_days, deps.jobs.prune],
        [NOTICE_DAYS, deps.budgets.prune],
      ];
      for (const [days, prune] of parts) if (days !== null) prune(clock.now() - days * DAY_MS);
      for (const one of deps.others) one.prune();
    },
  };
}
