/**
 * Scheduled backups. A row in `facts` stores when a backup was last tried and when one last succeeded. So a backup that
 * was missed is made after a restart. A failed backup is tried again every hour, and administrators are notified until
 * one succeeds.
 */
import { HOUR_MS, toTimestamp } from "../../core/clock.ts";
import type { EndedJob } from "../../core/jobs.ts";
import { ownJson } from "../../core/own-json.ts";
import { planOf } from "../../core/schedule.ts";
import type { Standby } from "../../store/identity.ts";
import { type Finding, fail, pass, warn } from "../doctor/model.ts";
import type { Core } from "../feature.ts";
import type { Notifications } from "../notifications/service.ts";
import type { Settings } from "../settings/model.ts";
import type { BackupSchedule } from "./model.ts";

interface BackupClockDeps extends Pick<Core, "store" | "clock"> {
  standby: Pick<Standby, "since">;
  notifications: Pick<Notifications, "notify" | "resolve">;
  readSettings(): Settings["backup"];
  /** The current folder of scheduled backups. */
  folder(): string;
  /** Starts a backup. Called in a transaction. */
  start(now: number): void;
}

/** Times in ms since the epoch. */
interface State {
  /** The schedule for which `since` was set. If it differs from the setting, the schedule was changed. */
  schedule: string;
  since: number;
  tried_at: number | null;
  /** When the last successful backup was begun. */
  succeeded_at: number | null;
  error: BackupSchedule["error"];
}

const FACT = "backup_schedule";
const NOTICE = "backup-schedule";
const RETRY_MS = HOUR_MS;
const GRACE_MS = HOUR_MS;

export type BackupClock = ReturnType<typeof createBackupClock>;

export function createBackupClock(deps: BackupClockDeps) {
  const { store, clock, notifications } = deps;
  const readState = (): State | undefined => {
    const value = store.statement<string>("SELECT value FROM facts WHERE name = ?").pluck().get([FACT]);
    return value === undefined ? undefined : ownJson<State>(value);
  };
  const keep = (state: State): void =>
    void store
      .statement("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)")
      .run(FACT, JSON.stringify(state satisfies State));
  const readPlan = () => {
    const { schedule, timezone } = deps.readSettings();
    return schedule === null ? undefined : planOf({ schedule, timezone, blackouts: [] });
  };
  /** When the backup that has not succeeded yet was due. Undefined when none is outstanding. */
  function dueSince(state: State | undefined): number | undefined {
    const due = state && readPlan()?.last(clock.now());
    if (state === undefined || due === undefined || due === null) return undefined;
    return due > Math.max(state.since, state.succeeded_at ?? 0) ? due : undefined;
  }
  const isOverdue = (state: State | undefined): boolean => {
    const due = dueSince(state);
    return due !== undefined && deps.standby.since() === null && clock.now() - due > GRACE_MS;
  };
  function tellFailure(message: string, succeeded_at: number | null): void {
    const last =
      succeeded_at === null ? "None has succeeded yet" : `The last good one is of ${toTimestamp(succeeded_at)}`;
    notifications.notify({
      level: "error",
      title: "The scheduled backup failed",
      detail: `${message} ${last}; earlier backups are kept. It is tried again every hour.`,
      key: NOTICE,
    });
  }

  function readStatus(): BackupSchedule {
    const { schedule, timezone } = deps.readSettings();
    const [state, next] = [readState(), readPlan()?.next(clock.now()) ?? null];
    const stamp = (ms: number | null | undefined) => (ms === null || ms === undefined ? null : toTimestamp(ms));
    return {
      schedule,
      timezone,
      folder: deps.folder(),
      next_at: stamp(next),
      last_success_at: stamp(state?.succeeded_at),
      error: schedule === null ? null : (state?.error ?? null),
      overdue: isOverdue(state),
    };
  }

  return {
    readStatus,
    /** Starts a backup when one is due. */
    look(): void {
      const { schedule, timezone } = deps.readSettings();
      if (schedule === null) return notifications.resolve(NOTICE);
      if (deps.standby.since() !== null) return;
      store.write(() => {
        const [now, name] = [clock.now(), `${schedule} ${timezone}`];
        const before = readState();
        const state: State =
          before?.schedule === name
            ? before
            : { tried_at: null, succeeded_at: null, error: null, ...before, schedule: name, since: now };
        if (state !== before) keep(state);
        const due = dueSince(state);
        if (due === undefined) return;
        if (state.tried_at !== null && state.tried_at >= due && now - state.tried_at < RETRY_MS) return;
        keep({ ...state, tried_at: now });
        deps.start(now);
      });
    },
    /** Records the result. Call in the transaction that ends the job. */
    recordEnd({ state, error }: Pick<EndedJob, "state" | "error">): void {
      const before = readState();
      if (before === undefined) return;
      if (state === "succeeded") {
        keep({ ...before, succeeded_at: before.tried_at, error: null });
        notifications.resolve(NOTICE);
      } else if (state === "failed") {
        const why = error ?? { code: "internal_error", message: "It failed; the log says why." };
        keep({ ...before, error: { at: toTimestamp(clock.now()), ...why } });
        tellFailure(why.message, before.succeeded_at);
      }
    },
    finding(): Finding {
      const { schedule, last_success_at, next_at, error, overdue } = readStatus();
      const last = last_success_at === null ? "none has succeeded yet" : `the last good one is of ${last_success_at}`;
      if (schedule === null)
        return pass(
          "backups",
          "none by schedule; skep settings set backup.schedule='30 3 * * *' makes one every night",
        );
      if (error !== null)
        return fail(
          "backups",
          `${last}; the newest failed: ${error.message}`,
          "mend that; it is tried again every hour",
        );
      if (overdue) return warn("backups", `${last}; one is overdue`, "see skep jobs for what holds it up");
      return pass("backups", `${last}; the next is due at ${next_at}`);
    },
    /** When the last successful backup was begun, seconds since 1970; null when there is none. */
    lastSuccessSeconds: (): number | null => {
      const at = readState()?.succeeded_at ?? null;
      return at === null ? null : Math.round(at / 1_000);
    },
    ageSeconds: (): number | null => {
      const at = readState()?.succeeded_at ?? null;
      return at === null ? null : Math.round((clock.now() - at) / 1_000);
    },
    isFailing: (): number => {
      const state = readState();
      return Number(isOverdue(state) || (deps.readSettings().schedule !== null && (state?.error ?? null) !== null));
    },
  };
}
