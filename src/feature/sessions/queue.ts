/** The queue of executions: takes them, gives them back, lets them wait, and knows which ones this process works on. */
import { toTimestamp } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import { outputWithdrawn } from "../../engine/events.ts";
import type { Execution, ExecutionRows } from "../../engine/execution.ts";
import { kindOf } from "../../engine/kinds.ts";
import type { WriteTx } from "../../store/store.ts";
import { activity } from "../events/events.ts";
import type { Core } from "../feature.ts";
import { sessionStarted, turnStarted } from "./events.ts";
import type { Lifecycle, SessionOwner } from "./lifecycle.ts";
import { type SessionRow, type SessionStore, toExecution, type Work } from "./store.ts";

export interface QueueDeps extends Pick<Core, "store" | "clock"> {
  rows: SessionStore;
  lifecycle: Lifecycle;
  ownerOf(kind: SessionRow["kind"]): SessionOwner | undefined;
  /** Charges the prompt of a model call that was cut off when a process died. */
  chargeCutCall(tx: WriteTx, id: string): void;
}

/** A wait shorter than this is not recorded, ms. */
const LEAST_WAIT_MS = 1_000;

export function createExecutionQueue({ store, clock, rows, lifecycle, ownerOf, chargeCutCall }: QueueDeps) {
  const owner = newId("instance");
  const readNow = () => toTimestamp(clock.now());

  function recordStart(tx: WriteTx, work: Work): void {
    const { session } = work;
    const refs = lifecycle.refsOf(session);
    if (kindOf(session.kind).sessionEnds === "work") tx.emit(sessionStarted, { ...refs, data: { kind: session.kind } });
    else tx.emit(turnStarted, { ...refs, data: { execution_id: work.id, message_id: work.message_id } });
  }

  function takeOne(tx: WriteTx, id: string): Execution {
    const { started_at, session_id } = rows.findExecution(id)!;
    rows.updateExecution(id, {
      status: "running",
      lease_owner: owner,
      started_at: started_at ?? readNow(),
      provider_until: null,
    });
    rows.updateSession(session_id, { status: "running", last_activity_at: readNow() });
    const work = rows.findWork(id)!;
    rows.noteTaken(work.session.user_id);
    if (started_at === null) recordStart(tx, work);
    ownerOf(work.session.kind)?.onExecutionStart?.(work, tx);
    return toExecution(work, work.prompt_id === null ? null : (rows.prompt(work.prompt_id) ?? null));
  }

  function queueAgain(id: string, sessionId: string, notBefore: number): void {
    rows.updateExecution(id, { status: "queued", lease_owner: null, not_before: notBefore });
    rows.updateSession(sessionId, { status: "queued" });
  }

  function noteWait(tx: WriteTx, work: Work, wait: NonNullable<Parameters<ExecutionRows["release"]>[2]>): void {
    const { id } = work;
    const { why, since, until = null } = wait;
    rows.updateExecution(id, { waiting_since: since, provider_until: until });
    if (why === work.waits_for) return;
    const isKnown = work.run_id !== null && rows.othersWaitFor(work.run_id, id, why);
    rows.updateExecution(id, { waits_for: why });
    // Emitted once, however often and in however many steps the work is tried.
    if (!isKnown) tx.emit(activity, { ...lifecycle.refsOf(work.session), data: { title: `Waits: ${why}` } });
  }

  const queue: Pick<ExecutionRows, "take" | "reclaim" | "release" | "waits" | "endWait" | "stopRequested" | "orphans"> =
    {
      take(limit, busyAgents, rule) {
        // This runs every second. Without work it writes nothing, so an idle server has no transactions.
        const ids = rows.takeable(limit, busyAgents, rule);
        return ids.length === 0 ? [] : store.write((tx) => ids.map((id) => takeOne(tx, id)));
      },
      reclaim: () =>
        store.write((tx) => {
          for (const { id, session_id } of rows.listAbandoned(owner)) {
            chargeCutCall(tx, id);
            queueAgain(id, session_id, 0);
            // Withdraws the text of the model call that was cut off: the call is repeated.
            tx.emit(outputWithdrawn, { ...lifecycle.refsOf(rows.findSession(session_id)!), data: {} });
          }
        }),
      release(id, notBefore, wait) {
        store.write((tx) => {
          const work = rows.findWork(id);
          if (work?.status !== "running") return;
          queueAgain(id, work.session_id, notBefore);
          if (wait) noteWait(tx, work, wait);
        });
      },
      waits: (id, wait) =>
        store.write((tx) => {
          const work = rows.findWork(id);
          if (work?.status === "running") noteWait(tx, work, wait);
        }),
      endWait({ id, waitedMs }) {
        const before = rows.findExecution(id);
        const waited = before?.waits_for;
        if (!before || (!waited && waitedMs - before.waited_ms < LEAST_WAIT_MS)) return;
        store.write((tx) => {
          const work = rows.findWork(id);
          if (!work) return;
          rows.updateExecution(id, { waits_for: null, waited_ms: waitedMs, waiting_since: null });
          if (!waited) return;
          const isLast = work.run_id === null || !rows.othersWaitFor(work.run_id, id, waited);
          if (isLast) tx.emit(activity, { ...lifecycle.refsOf(work.session), data: { title: "Continues." } });
        });
      },
      stopRequested(id) {
        const row = rows.findExecution(id);
        return row ? (row.stop ?? undefined) : "cancel";
      },
      orphans: () => rows.ownedBy(owner),
    };
  return queue;
}
