/**
 * Requests for permission, as the requesting work sees them. A request's row is written before its work is suspended,
 * so that a crash cannot make it ask twice. A request ends with an answer, when its time is over, or with its work.
 */
import { toTimestamp } from "../../core/clock.ts";
import type { EventRefs } from "../../core/events.ts";
import { newId } from "../../core/ids.ts";
import type { Masking } from "../../core/masking.ts";
import type { PermissionRows, Permit } from "../../engine/permission/permit.ts";
import type { Bus } from "../../store/bus.ts";
import type { WriteTx } from "../../store/store.ts";
import type { PermissionState } from "../../store/tables/permissions.ts";
import type { Core } from "../feature.ts";
import type { Sessions } from "../sessions/service.ts";
import { permissionRequested, permissionResolved } from "./events.ts";
import { messageOf } from "./present.ts";
import type { PermissionStore, RequestRow, WorkOfRequest } from "./store.ts";

interface RequestsDeps extends Pick<Core, "store" | "clock"> {
  bus: Pick<Bus, "waitUntil">;
  masking: Pick<Masking, "text">;
  rows: PermissionStore;
  sessions: Pick<Sessions, "tryNow">;
  /** How long a request waits for its answer, ms. */
  waitMs(): number;
}

export type Requests = ReturnType<typeof createRequests>;

/** Longer text is refused without asking: nobody would read all of it. */
const SUBJECT_CHARACTERS = 100_000;
/** Characters that are invisible on a screen or change the direction of text. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Variation_Selector}]/gu;
const escapeUnseen = (text: string): string =>
  text.replace(UNSEEN, (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`).toWellFormed();

const refsOf = (row: Pick<RequestRow, "session_id" | "agent_id">, work: WorkOfRequest | undefined): EventRefs => ({
  run_id: work?.run_id ?? undefined,
  step_id: work?.step_id ?? undefined,
  session_id: row.session_id,
  agent_id: row.agent_id,
  project_id: work?.project_id ?? undefined,
  user_id: work?.user_id ?? undefined,
});

function standOf(row: RequestRow): Permit {
  const { state, comment } = row;
  const what = `the use of ${row.tool}`;
  if (state === "waiting") return { state: "waiting", until: row.deadline };
  if (state === "allowed") return { state: "allowed" };
  if (state === "denied") {
    const said = comment ? ` They say: ${comment}` : "";
    return { state: "denied", why: `Not made: a person refused ${what}.${said}` };
  }
  return {
    state: "denied",
    why: `Not made: a person was asked about ${what} and did not answer in time, which means no. Continue without it, or say what you need.`,
  };
}

export function createRequests({ store, bus, clock, masking, rows, sessions, waitMs }: RequestsDeps) {
  const readNow = () => toTimestamp(clock.now());

  /** Ends a request. Its work continues, unless the request was withdrawn. */
  function resolve(tx: WriteTx, row: RequestRow, change: Partial<RequestRow> & { state: PermissionState }): void {
    rows.update(row.id, { ...change, answered_at: readNow() });
    const by = change.answered_by ?? undefined;
    tx.emit(permissionResolved, {
      ...refsOf(row, rows.work(row.session_id)),
      data: { request_id: row.id, tool: row.tool, state: change.state, by },
    });
    if (change.state !== "withdrawn") sessions.tryNow({ sessionId: row.session_id });
  }
  const isRemembered = (agentId: string, work: WorkOfRequest | undefined, rules: readonly string[]): boolean => {
    const known = rows.rememberedIn({ agentId, run: work?.run_id ?? null, root: work?.root_id ?? "" });
    return rules.every((rule) => known.has(rule));
  };

  const engine: PermissionRows = {
    isWaiting: ({ id }) => rows.isWaiting(id),
    lastAsked: ({ id }, beginning) =>
      rows.ofExecution(id).findLast(({ call_id }) => call_id.startsWith(beginning))?.call_id,
    waitForAnswer: ({ sessionId }, callId, signal) =>
      bus.waitUntil([permissionResolved], () => rows.ofCall(sessionId, callId)?.state !== "waiting", signal),
    withdraw: ({ sessionId }, callId) =>
      store.write((tx) => {
        const row = rows.ofCall(sessionId, callId);
        if (row?.state === "waiting") resolve(tx, row, { state: "withdrawn" });
      }),
    ask: (execution, callId, { request, subject: text, asking, isUncertain }) =>
      store.write((tx): Permit => {
        const known = rows.ofCall(execution.sessionId, callId);
        const late = known?.state === "waiting" && known.deadline <= clock.now();
        if (known && late) resolve(tx, known, { state: "expired" });
        if (known) return standOf(rows.find(known.id)!);
        const work = rows.work(execution.sessionId);
        const rules = [...new Set(asking.map((rule) => rule.text))];
        if (!isUncertain && isRemembered(execution.agentId, work, rules)) return { state: "allowed" };
        const subject = escapeUnseen(masking.text(text));
        if (subject.length > SUBJECT_CHARACTERS)
          return {
            state: "denied",
            why: "Not made: a person would be asked, and this is too long to be read. Do it in smaller parts.",
          };
        const row = rows.insert({
          id: newId("permission"),
          session_id: execution.sessionId,
          execution_id: execution.id,
          call_id: callId,
          agent_id: execution.agentId,
          tool: request.tool,
          tool_kind: request.kind,
          subject,
          rules,
          can_remember: !isUncertain,
          state: "waiting",
          created_at: readNow(),
          deadline: clock.now() + waitMs(),
        });
        const { tool, can_remember, deadline } = row;
        tx.emit(permissionRequested, {
          ...refsOf(row, work),
          data: {
            request_id: row.id,
            tool,
            subject: subject.slice(0, 4_000),
            message: messageOf(row),
            can_remember,
            deadline: toTimestamp(deadline),
          },
        });
        return { state: "waiting", until: deadline };
      }),
  };

  return {
    engine,
    resolve,
    isRemembered,
    /** Requests whose time is over count as refused. */
    expire: (): void =>
      store.write((tx) => {
        for (const row of rows.late(clock.now())) resolve(tx, row, { state: "expired" });
      }),
    /** Withdraws the requests of an execution that has ended. */
    withdraw(executionId: string, tx: WriteTx): void {
      for (const row of rows.waitingOf(executionId)) resolve(tx, row, { state: "withdrawn" });
    },
  };
}
