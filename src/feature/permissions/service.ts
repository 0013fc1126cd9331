/**
 * Persons who are asked about calls of tools. A question is a row before the work is put aside for it, so it is asked once
 * whatever happens to the server; the work is given back to the queue until the answer, or until its time is over.
 */
import { type Clock, timestamp } from "../../core/clock.ts";
import { conflict, forbidden, invalidField, notFound } from "../../core/errors.ts";
import type { EventRefs } from "../../core/events.ts";
import { newId } from "../../core/ids.ts";
import type { Masking } from "../../core/masking.ts";
import type { PermissionRows, Permit } from "../../engine/permission/permit.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Audit } from "../../store/audit.ts";
import type { Bus } from "../../store/bus.ts";
import type { Store, WriteTx } from "../../store/store.ts";
import type { PermissionState } from "../../store/tables/permissions.ts";
import { mayRead, WHOSE } from "../../store/whose.ts";
import type { Sessions } from "../sessions/service.ts";
import { permissionRequested, permissionResolved } from "./events.ts";
import type { PermissionAnswer, PermissionRequest, RememberedAnswer } from "./model.ts";
import type { AnswerFilter, AnswerRow, PermissionStore, RequestRow, WorkOfRequest } from "./store.ts";

export interface PermissionsDeps {
  store: Store;
  bus: Pick<Bus, "until">;
  clock: Clock;
  audit: Audit;
  masking: Pick<Masking, "text">;
  rows: PermissionStore;
  sessions: Pick<Sessions, "tryNow">;
  /** How long a question waits for its answer, ms. */
  waitMs(): number;
}

/** Longer text is not asked about: nobody would read it to its end. */
const SUBJECT_CHARACTERS = 100_000;
const REASON_CHARACTERS = 2_000;
/** What is not seen, or turns text around, on a screen. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Variation_Selector}]/gu;
const visible = (text: string): string =>
  text.replace(UNSEEN, (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`).toWellFormed();

const refsOf = (row: Pick<RequestRow, "session_id" | "agent_id">, work: WorkOfRequest | undefined): EventRefs => ({
  run_id: work?.run_id ?? undefined,
  step_id: work?.step_id ?? undefined,
  session_id: row.session_id,
  agent_id: row.agent_id,
  project_id: work?.project_id ?? undefined,
  user_id: work?.user_id ?? undefined,
});

const messageOf = ({ agent_id, tool, subject }: Pick<RequestRow, "agent_id" | "tool" | "subject">): string =>
  `May ${agent_id} use ${tool}${subject.includes("\n") || subject.length > 200 || subject === "" ? "" : `: ${subject}`}?`;

export type PermissionService = ReturnType<typeof createPermissions>;

export function createPermissions(deps: PermissionsDeps) {
  const { store, bus, clock, audit, masking, rows, sessions } = deps;
  const now = () => timestamp(clock.now());

  const present = (row: RequestRow): PermissionRequest => {
    const work = rows.work(row.session_id);
    return {
      kind: "permission",
      id: row.id,
      state: row.state,
      message: messageOf(row),
      agent_id: row.agent_id,
      call_id: row.call_id,
      tool: row.tool,
      tool_kind: row.tool_kind,
      subject: row.subject,
      rules: row.rules,
      can_remember: row.can_remember,
      about: work?.task_description ?? work?.title ?? "",
      session_id: row.session_id,
      session_kind: work?.kind ?? "",
      run_id: work?.run_id ?? null,
      step_id: work?.step_id ?? null,
      project_id: work?.project_id ?? null,
      lasts: row.lasts,
      comment: row.comment,
      answered_by: row.answered_by,
      requested_at: row.created_at,
      answered_at: row.answered_at,
      deadline: timestamp(row.deadline),
    };
  };
  const presentAnswer = ({ user_id: _, ...row }: AnswerRow): RememberedAnswer => ({
    ...row,
    lasts: row.run_id === null && row.session_id === null ? "agent" : "work",
  });

  /** Ends a question. Its work is taken up again, where it is still there. */
  function resolve(tx: WriteTx, row: RequestRow, change: Partial<RequestRow> & { state: PermissionState }): void {
    rows.update(row.id, { ...change, answered_at: now() });
    const by = change.answered_by ?? undefined;
    tx.emit(permissionResolved, {
      ...refsOf(row, rows.work(row.session_id)),
      data: { request_id: row.id, tool: row.tool, state: change.state, ...(by === undefined ? {} : { by }) },
    });
    if (change.state !== "withdrawn") sessions.tryNow({ sessionId: row.session_id });
  }
  const isRemembered = (agentId: string, work: WorkOfRequest | undefined, rules: readonly string[]): boolean => {
    const known = rows.rememberedIn({ agentId, run: work?.run_id ?? null, root: work?.root_id ?? "" });
    return rules.every((rule) => known.has(rule));
  };

  /** A row by its id, for somebody who may read it. @throws Problem 404. */
  const rowFor = (id: string, caller: Caller): RequestRow => {
    const row = rows.find(id);
    const session = row && rows.work(row.session_id);
    if (!row || !session || !mayRead(caller, WHOSE.permission_requests, session)) throw notFound("permission request");
    return row;
  };

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

  const engine: PermissionRows = {
    isWaiting: ({ id }) => rows.isWaiting(id),
    lastAsked: ({ id }, beginning) =>
      rows.ofExecution(id).findLast(({ call_id }) => call_id.startsWith(beginning))?.call_id,
    answered: ({ sessionId }, callId, signal) =>
      bus.until([permissionResolved], () => rows.ofCall(sessionId, callId)?.state !== "waiting", signal),
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
        const subject = visible(masking.text(text));
        if (subject.length > SUBJECT_CHARACTERS)
          return {
            state: "denied",
            why: "Not made: a person would be asked, and this is too long to be read. Do it in smaller parts.",
          };
        const row: RequestRow = {
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
          lasts: null,
          comment: null,
          answered_by: null,
          created_at: now(),
          deadline: clock.now() + deps.waitMs(),
          answered_at: null,
        };
        rows.insert(row);
        const { tool, can_remember, deadline } = row;
        tx.emit(permissionRequested, {
          ...refsOf(row, work),
          data: {
            request_id: row.id,
            tool,
            subject: subject.slice(0, 4_000),
            message: messageOf(row),
            can_remember,
            deadline: timestamp(deadline),
          },
        });
        return { state: "waiting", until: deadline };
      }),
  };

  /** Keeps an answer for what the same rules ask later, and answers what they ask elsewhere at this moment. */
  function remember(tx: WriteTx, row: RequestRow, lasts: "work" | "agent", caller: Caller): void {
    const work = rows.work(row.session_id);
    const isRun = work?.run_id != null;
    const place = lasts === "agent" ? {} : isRun ? { run_id: work.run_id } : { session_id: work?.root_id ?? null };
    for (const rule of row.rules)
      rows.remember({
        id: newId("permissionAnswer"),
        agent_id: row.agent_id,
        run_id: null,
        session_id: null,
        ...place,
        user_id: lasts === "agent" ? null : (work?.user_id ?? null),
        rule,
        subject: row.subject.slice(0, 2_000),
        answered_by: actorOf(caller),
        created_at: now(),
      });
    for (const other of rows.waitingOfAgent(row.agent_id))
      if (
        other.id !== row.id &&
        other.can_remember &&
        isRemembered(row.agent_id, rows.work(other.session_id), other.rules)
      )
        resolve(tx, other, { state: "allowed", lasts, answered_by: actorOf(caller) });
  }

  return {
    engine,
    /** Waiting or answered, newest first. @param page of keys that are ids. */
    rowsFor: (isWaiting: boolean, caller: Caller, after: string | null, limit: number): RequestRow[] =>
      rows.list(isWaiting, caller, after, limit),
    present,
    get: (id: string, caller: Caller): PermissionRequest => present(rowFor(id, caller)),
    /** @throws Problem 404, 409 `not_waiting`, 403 for `agent` by others than administrators, 422. */
    answer: (id: string, { allow, lasts = "once", comment }: PermissionAnswer, caller: Caller): PermissionRequest =>
      store.write((tx) => {
        const row = rowFor(id, caller);
        if (row.state !== "waiting")
          throw conflict(`It is ${row.state}; it does not wait for an answer.`, "not_waiting");
        if (row.deadline <= clock.now()) {
          resolve(tx, row, { state: "expired" });
          return present(rows.find(id)!);
        }
        if (!allow && lasts !== "once")
          throw invalidField("/lasts", "A refusal holds for this call. Change the agent's rules to refuse more");
        if (lasts === "agent" && !caller.admin)
          throw forbidden("Only an administrator may allow it for the agent in all its work.");
        if (lasts !== "once" && !row.can_remember)
          throw invalidField("/lasts", "What the command does cannot be told from its text. Allow it once");
        const said = comment?.trim() ? masking.text(comment.trim()).slice(0, REASON_CHARACTERS) : null;
        const answered_by = actorOf(caller);
        const change = allow ? { state: "allowed" as const, lasts } : { state: "denied" as const, lasts: null };
        resolve(tx, row, { ...change, comment: said, answered_by });
        if (allow && lasts !== "once") remember(tx, row, lasts, caller);
        audit({
          action: "permission.answer",
          actor: answered_by,
          subject: id,
          address: caller.address,
          data: { agent_id: row.agent_id, tool: row.tool, allow, lasts },
        });
        return present(rows.find(id)!);
      }),
    answers(filter: AnswerFilter, page: Page, caller: Caller): ListAnswer<RememberedAnswer> {
      const found = rows.listAnswers(filter, caller, page.after, page.limit + 1);
      return listAnswer(found, page, ({ id }) => id, presentAnswer);
    },
    /** The rule asks again. @throws Problem 404, 403 for an agent's by others than administrators. */
    revoke: (id: string, caller: Caller): void =>
      store.write(() => {
        const row = rows.answers.find({ id });
        if (!row || !mayRead(caller, WHOSE.permission_answers, row)) throw notFound("remembered answer");
        if (presentAnswer(row).lasts === "agent" && !caller.admin)
          throw forbidden("Only an administrator may take back what was allowed for an agent.");
        rows.answers.remove({ id });
        audit({
          action: "permission.revoke",
          actor: actorOf(caller),
          subject: id,
          address: caller.address,
          data: { agent_id: row.agent_id, rule: row.rule },
        });
      }),
    /** Questions whose time is over are answered with no. */
    expire: (): void =>
      store.write((tx) => {
        for (const row of rows.late(clock.now())) resolve(tx, row, { state: "expired" });
      }),
    /** The work has ended: nobody is asked about it any more. */
    withdraw(executionId: string, tx: WriteTx): void {
      for (const row of rows.waitingOf(executionId)) resolve(tx, row, { state: "withdrawn" });
    },
    /** Of a deleted user. */
    forget: (userId: string): void => void rows.answers.remove({ user_id: userId }),
  };
}
