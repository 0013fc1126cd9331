/** Limits how often a running job's reports are passed on. The latest report always gets through. */
import type { JobReport } from "../../core/jobs.ts";
import type { Masker } from "../../core/masking.ts";

export type Reports = ReturnType<typeof createReports>;

/** Shortest time between two reports that are passed on, ms. */
const REPORT_MS = 200;

/** @param show receives everything that was reported so far, merged. */
export function createReports(masker: Pick<Masker, "json">, show: (latest: JobReport) => void) {
  let latest: JobReport = {};
  let isNew = false;
  let ended = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const showNext = (): void => {
    timer = undefined;
    if (!isNew || ended) return;
    isNew = false;
    timer = setTimeout(showNext, REPORT_MS);
    timer.unref();
    show(latest);
  };
  return {
    take(report: JobReport): void {
      const given = Object.entries(report).filter(([, value]) => value !== undefined);
      latest = { ...latest, ...masker.json(Object.fromEntries(given)) };
      isNew = true;
      if (timer === undefined && !ended) showNext();
    },
    /** Everything reported so far, merged. */
    get latest() {
      return latest;
    },
    /** Stops passing reports on. */
    end(): void {
      ended = true;
      clearTimeout(timer);
    },
  };
}
