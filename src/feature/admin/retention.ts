/** Removes rows that are older than the retention settings allow, a small batch at a time. */
import type { Clock } from "../../core/clock.ts";
import { DAY_MS, HOUR_MS } from "../../core/clock.ts";
import type { Duty, Prune } from "../feature.ts";
import type { Settings } from "../settings/model.ts";

interface RetentionDeps {
  clock: Clock;
  /** The current retention settings. */
  keep(): Settings["retention"];
  prunes(): readonly Prune[];
}

const EVERY_MS = HOUR_MS;
/** Pause between two batches, ms, in which waiting requests are served. A year's rows take many batches. */
const PAUSE_MS = 20;
const giveWay = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

export function retentionDuty({ clock, keep, prunes }: RetentionDeps): Duty {
  return {
    name: "retention",
    everyMs: EVERY_MS,
    async run(signal) {
      const settings = keep();
      const errors: unknown[] = [];
      for (const prune of prunes()) {
        // A setting of null keeps everything. A feature without a setting passes its own number of days, or gets the
        // current time.
        const days = typeof prune.keep === "string" ? settings[prune.keep] : (prune.keep ?? 0);
        if (days === null) continue;
        const before = clock.now() - days * DAY_MS;
        try {
          while (!signal.aborted && (await prune.run(before)) === true) await giveWay();
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, "several failed");
    },
  };
}
