/**
 * Requests for permission as people see them: those that wait, the answers that people give, and remembered answers.
 */
import { toTimestamp } from "../../core/clock.ts";
import { conflict, forbidden, invalidField, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Masking } from "../../core/masking.ts";
import { actedBy, actorOf, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import type { WriteTx } from "../../store/store.ts";
import { expectReadable, mayRead, WHOSE } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import type { PermissionAnswer, PermissionRequest, RememberedAnswer } from "./model.ts";
import { presentAnswer, presentRequest } from "./present.ts";
import type { Requests } from "./requests.ts";
import type { AnswerFilter, PermissionStore, RequestRow } from "./store.ts";

interface PermissionsDeps extends Pick<Core, "store" | "clock" | "audit"> {
  masking: Pick<Masking, "text">;
  rows: PermissionStore;
  requests: Pick<Requests, "resolve" | "isRemembered">;
}

const REASON_CHARACTERS = 2_000;

export type PermissionService = ReturnType<typeof createPermissions>;

export function createPermissions({ store, clock, audit, masking, rows, requests }: PermissionsDeps) {
  const { resolve, isRemembered } = requests;
  const present = (row: RequestRow): PermissionRequest => presentRequest(row, rows.work(row.session_id));

  /** A request's row, for somebody who may read it. @throws Problem 404. */
  const rowFor = (id: string, caller: Caller): RequestRow => {
    const row = rows.find(id);
    const session = row && rows.work(row.session_id);
    if (!row || !session || !mayRead(caller, WHOSE.permission_requests, session)) throw notFound("permission request");
    return row;
  };

  /**
   * Remembers an answer for the rules of a request. It also answers requests of the same agent that wait now and that
   * these rules cover.
   */
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
        created_at: toTimestamp(clock.now()),
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
    /** Requests that wait, or those that have ended; newest first. @param after the id before the page. */
    rowsFor: (isWaiting: boolean, caller: Caller, after: string | null, limit: number): RequestRow[] =>
      rows.list(isWaiting, caller, after, limit),
    present,
    get: (id: string, caller: Caller): PermissionRequest => present(rowFor(id, caller)),
    /**
     * @throws Problem 404, 409 `not_waiting`, 403 when a caller who is no administrator answers for the `agent`, 422.
     */
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
      return listById(found, page, presentAnswer);
    },
    /**
     * Revokes a remembered answer, so that its rule asks again.
     * @throws Problem 404, 403 when a caller who is no administrator revokes an agent's answer.
     */
    revoke: (id: string, caller: Caller): void =>
      store.write(() => {
        const row = expectReadable(caller, WHOSE.permission_answers, rows.answers.find({ id }), "remembered answer");
        if (presentAnswer(row).lasts === "agent" && !caller.admin)
          throw forbidden("Only an administrator may take back what was allowed for an agent.");
        rows.answers.remove({ id });
        audit({
          action: "permission.revoke",
          ...actedBy(caller),
          subject: id,
          data: { agent_id: row.agent_id, rule: row.rule },
        });
      }),
    /** Removes a deleted user's remembered answers. */
    forget: (userId: string): void => void rows.answers.remove({ user_id: userId }),
  };
}
