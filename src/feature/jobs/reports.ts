/** Reports of jobs under way: passed on at a limited rate, the latest always. */
import type { JobReport } from "../../core/jobs.ts";
import type { Masker } from "../../core/masking.ts";

export type Reports = ReturnType<typeof createReports>;

/** A job's progress is shown at most this often. */
const REPORT_MS = 200;

/** @param show receives the whole of what was reported so far. */
export function createReports(masker: Pick<Masker, "json">, show: (latest: JobReport) => void) {
  let latest: JobReport = {};
  let isNew = false;
  let ended = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = (): void => {
    timer = undefined;
    if (!isNew || ended) return;
    isNew = false;
    timer = setTimeout(next, REPORT_MS);
    timer.unref();
    show(latest);
  };
  return {
    take(report: JobReport): void {
      const given = Object.entries(report).filter(([, value]) => value !== undefined);
      latest = { ...latest, ...masker.json(Object.fromEntries(given)) };
      isNew = true;
      if (timer === undefined && !ended) next();
    },
    /** Everything reported so far, joined. */
    get latest() {
      return latest;
    },
    /** Nothing is passed on any more. */
    end(): void {
      ended = true;
      clearTimeout(timer);
    },
  };
}
