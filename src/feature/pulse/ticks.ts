/**
 * Runs routines that are due. A tick's row, its session and execution, and the time of the next tick are one
 * transaction: a crash leaves all of them, or a routine that is still due.
 */
import { toTimestamp } from "../../core/clock.ts";
import { conflict } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { type Plan, planOf } from "../../core/schedule.ts";
import type { WriteTx } from "../../store/store.ts";
import type { Core } from "../feature.ts";
import type { SessionOwner, Sessions } from "../sessions/service.ts";
import { pulseComplete, pulseFailed, pulseSkipped, pulseStarted } from "./events.ts";
import type { Reason } from "./model.ts";
import type { Obstacles } from "./obstacles.ts";
import { promptOf } from "./prompt.ts";
import type { PulseStore, RoutineRow, TickRow } from "./store.ts";

interface TicksDeps extends Pick<Core, "store" | "clock"> {
  rows: PulseStore;
  sessions: Pick<Sessions, "open" | "queue">;
  obstacles: Obstacles;
  /** Masks the secrets in a text. */
  mask(text: string): string;
  /** Default time limit of the agent's work, seconds. */
  timeoutOf(agentId: string): number;
}

export type Ticks = ReturnType<typeof createTicks>;

/**
 * Most routines per pass, and ms of work after which a pass ends. The rest follows after other work has had its turn.
 */
const AT_ONCE = 50;
const AT_ONCE_MS = 8;
const SUMMARY_CHARACTERS = 4_000;
const EVENT_CHARACTERS = 500;

interface Tick {
  due: number;
  cause: TickRow["cause"];
  caughtUp: boolean;
}

export function createTicks({ store, clock, rows, sessions, obstacles, mask, timeoutOf }: TicksDeps) {
  const readNow = () => toTimestamp(clock.now());

  function add(routine: RoutineRow, { due, cause, caughtUp }: Tick, rest: Partial<TickRow>): TickRow {
    return rows.insertTick({
      id: newId("pulseTick"),
      routine_id: routine.id,
      due_at: due,
      cause,
      caught_up: caughtUp,
      status: "queued",
      created_at: readNow(),
      ...rest,
    });
  }
  const isLate = (due: number): boolean => clock.now() - due > LIMITS.tickLateMs;
  /**
   * Records a tick as skipped. Times long past cause no event, so that a server that was down does not start with a
   * burst of events.
   */
  function leaveOut(tx: WriteTx, routine: RoutineRow, tick: Tick, { code, message }: Reason): void {
    const row = add(routine, tick, { status: "skipped", reason_code: code, reason: message, finished_at: readNow() });
    if (isLate(tick.due) && !tick.caughtUp) return;
    const data = { ...toData(routine, row), due_at: toTimestamp(tick.due), code, reason: message };
    tx.emit(pulseSkipped, { ...refsOf(routine), data });
  }

  function begin(routine: RoutineRow, tick: Tick): TickRow {
    const { agent_id, user_id, project_id, name, model, tools, timeout_seconds } = routine;
    const { id } = sessions.open({
      kind: "pulse",
      agent_id,
      user_id: user_id ?? undefined,
      project_id: project_id ?? undefined,
      title: name,
      model: model ?? undefined,
      tools: tools ?? undefined,
    });
    const input = promptOf(routine, tick.due, rows.openTasks(agent_id, LIMITS.tasksInPrompt));
    sessions.queue(id, { input, timeout_seconds: timeout_seconds ?? timeoutOf(agent_id) });
    const row = add(routine, tick, { session_id: id });
    rows.update(routine.id, { runs: routine.runs + 1, last_run_at: row.created_at });
    return row;
  }

  /**
   * Times at which the routine was due and did not run, oldest first. If there are too many, only the newest of them.
   */
  function listMissed(plan: Plan, routine: RoutineRow): number[] {
    const found: number[] = [];
    let at = plan.last(clock.now());
    while (at !== null && at >= routine.planned_at! && found.length < LIMITS.ticksMissed) {
      // The tick may exist already if the machine's clock was set back.
      if (!rows.hasTick(routine.id, at)) found.unshift(at);
      at = plan.last(at - 1);
    }
    return found;
  }

  /** Runs the newest due tick, even if it is late, and records the earlier ones as missed. */
  function tick(routine: RoutineRow): void {
    const plan = planOf(routine);
    store.write((tx) => {
      const due = listMissed(plan, routine);
      const newest = due.findLast((at) => !plan.isBlackedOut(at));
      for (const at of due) {
        const one: Tick = { due: at, cause: "schedule", caughtUp: isLate(at) && at === newest };
        if (plan.isBlackedOut(at)) leaveOut(tx, routine, { ...one, caughtUp: false }, BLACKOUT);
        else if (at !== newest) add(routine, one, MISSED(readNow()));
        else {
          const why = plan.isBlackedOut(clock.now()) ? BLACKOUT : keptBy(routine, "schedule");
          if (why) leaveOut(tx, routine, one, why);
          else begin(routine, one);
        }
      }
      rows.update(routine.id, { planned_at: plan.next(clock.now()) });
    });
  }
  /** Corrects plans that lie too far ahead because the machine's clock was wrong and then set back. */
  function replan(): void {
    for (const routine of rows.listPlanned()) {
      const next = planOf(routine).next(clock.now());
      if (next !== null && next < routine.planned_at!) store.write(() => rows.update(routine.id, { planned_at: next }));
    }
  }
  const keptBy = (routine: RoutineRow, cause: TickRow["cause"]) =>
    obstacles.standing(routine, cause) ?? obstacles.now(routine);

  return {
    /** Plans routines again whose planned time is later than their next time. */
    replan,
    /** Handles due routines, for the clockwork. */
    due: {
      name: "pulses",
      nextAt: rows.nextDue,
      run(again: () => void) {
        const until = clock.monotonic() + AT_ONCE_MS;
        let failure: unknown;
        let done = 0;
        const due = rows.due(clock.now(), AT_ONCE);
        for (const routine of due) {
          done++;
          try {
            tick(routine);
          } catch (error) {
            // A routine that fails does not hold up the others.
            failure ??= error;
          }
          if (clock.monotonic() > until) break;
        }
        // A failed routine is still due, so it is tried again a second later, together with the rest.
        if (failure !== undefined) throw failure;
        if (done < due.length || due.length === AT_ONCE) again();
      },
    },
    /** Reacts to starts and ends of the routines' sessions. */
    owner: createTickOwner({ rows, mask, readNow }),
    /** Starts the routine now. @throws Problem 409 with what keeps it from running. */
    trigger: (routine: RoutineRow): TickRow =>
      store.write(() => {
        const why = keptBy(routine, "manual");
        if (why) throw conflict(why.message, why.code);
        return begin(routine, { due: clock.now(), cause: "manual", caughtUp: false });
      }),
  };
}

const BLACKOUT: Reason = { code: "blackout", message: "One of its blackouts covers this time." };
const MISSED = (at: string): Partial<TickRow> => ({
  status: "missed",
  reason_code: "server_down",
  reason: "The server was not running at this time.",
  finished_at: at,
});

const refsOf = ({ agent_id, user_id, project_id }: RoutineRow, session_id?: string | null) => ({
  agent_id,
  user_id: user_id ?? undefined,
  project_id: project_id ?? undefined,
  session_id: session_id ?? undefined,
});
const toData = ({ id, name }: RoutineRow, tick: TickRow) => ({ routine_id: id, tick_id: tick.id, name });

/** Updates a tick when its session starts or ends. */
function createTickOwner({
  rows,
  mask,
  readNow,
}: Pick<TicksDeps, "rows" | "mask"> & { readNow(): string }): SessionOwner {
  return {
    onExecutionStart({ session, started_at }, tx) {
      const row = rows.tickOfSession(session.id);
      const routine = row && rows.routine(row.routine_id);
      if (!row || !routine || row.started_at !== null) return;
      rows.updateTick(row.id, { status: "running", started_at });
      const { due_at, caught_up, cause } = row;
      const data = { ...toData(routine, row), due_at: toTimestamp(due_at), caught_up, cause };
      tx.emit(pulseStarted, { ...refsOf(routine, session.id), data });
    },
    onSessionEnd(session, tx) {
      const row = rows.tickOfSession(session.id);
      const routine = row && rows.routine(row.routine_id);
      if (!row || !routine || row.finished_at !== null) return;
      const result = rows.resultOf(session.id);
      const summary = mask(result?.text ?? "").slice(0, SUMMARY_CHARACTERS);
      const status = session.status === "succeeded" || session.status === "failed" ? session.status : "cancelled";
      const error = result?.error ?? null;
      const reason = status === "succeeded" ? null : mask(error?.message ?? "It was cancelled.");
      rows.updateTick(row.id, {
        status,
        summary: summary || null,
        finished_at: readNow(),
        reason_code: reason === null ? null : (error?.code ?? "cancelled"),
        reason,
      });
      const refs = refsOf(routine, session.id);
      if (status === "succeeded")
        tx.emit(pulseComplete, {
          ...refs,
          data: { ...toData(routine, row), summary: summary.slice(0, EVENT_CHARACTERS) },
        });
      else tx.emit(pulseFailed, { ...refs, data: { ...toData(routine, row), status, reason: reason! } });
    },
  };
}
