/**
 * A session and those it started are a tree: one owner, at most so deep and so large, and one budget. A session with a
 * budget of its own below another one's has it set aside there; what it did not spend goes back when it ends.
 */
import { eq, sql } from "drizzle-orm";
import { conflict, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Store } from "../../store/store.ts";
import { sessions } from "../../store/tables/sessions.ts";
import type { SessionDraft } from "./model.ts";
import { NANO, type SessionRow, type SessionStore } from "./store.ts";

/** What of a budget is left to spend or to set aside. */
const available = ({ budget_nano, spent_nano, reserved_nano }: SessionRow): number =>
  (budget_nano ?? 0) - spent_nano - reserved_nano;
const unspent = ({ budget_nano, spent_nano }: SessionRow): number => Math.max(0, (budget_nano ?? 0) - spent_nano);

export type Tree = ReturnType<typeof createTree>;

export function createTree({ db }: Store, rows: SessionStore) {
  const reserve = (id: string, nano: number): void => {
    if (nano === 0) return;
    const reserved_nano = sql`max(0, ${sessions.reserved_nano} + ${nano})`;
    db.update(sessions).set({ reserved_nano }).where(eq(sessions.id, id)).run();
  };
  const parentOf = (id: string): SessionRow => {
    const parent = rows.session(id);
    if (!parent) throw notFound("session");
    if (parent.ended_at !== null || parent.stopping)
      throw conflict("The session has ended; it starts nothing any more.", "session_ended");
    if (parent.depth >= LIMITS.sessionTreeDepth)
      throw conflict(
        `Agents may hand work on ${LIMITS.sessionTreeDepth} times, one below the other; this would be once more.`,
        "too_deep",
      );
    const size = rows.session(parent.root_id)!.tree_size;
    if (size >= LIMITS.sessionTreeSize)
      throw conflict(`One piece of work may start ${LIMITS.sessionTreeSize} sessions in all.`, "too_many_sessions");
    return parent;
  };

  return {
    /**
     * Inserts a session at its place. @throws Problem 404 unknown parent, 409 `session_ended`, `too_deep`,
     * `too_many_sessions`, `budget_too_small`.
     */
    insert(draft: SessionDraft): SessionRow {
      const id = newId("session");
      const budgeted = draft.budget_usd !== undefined;
      if (draft.parent_id === undefined) {
        const place = { id, root_id: id, depth: 0, purse_id: budgeted ? id : null, lender_id: null };
        return rows.insertSession(draft, place);
      }
      const parent = parentOf(draft.parent_id);
      const lender = budgeted && parent.purse_id !== null ? rows.session(parent.purse_id) : undefined;
      const wanted = Math.round((draft.budget_usd ?? 0) * NANO);
      if (lender && wanted > available(lender))
        throw conflict(
          `$${draft.budget_usd} cannot be set aside: $${(Math.max(0, available(lender)) / NANO).toFixed(4)} are left.`,
          "budget_too_small",
        );
      if (lender) reserve(lender.id, wanted);
      rows.addToTree(parent.root_id);
      const inherited = {
        user_id: parent.user_id ?? undefined,
        run_id: draft.run_id ?? parent.run_id ?? undefined,
        project_id: draft.project_id ?? parent.project_id ?? undefined,
        task_id: draft.task_id ?? parent.task_id ?? undefined,
      };
      return rows.insertSession(
        { ...draft, ...inherited },
        {
          ...{ id, root_id: parent.root_id, depth: parent.depth + 1 },
          ...{ purse_id: budgeted ? id : parent.purse_id, lender_id: lender?.id ?? null },
        },
      );
    },
    /** Books a call on the session and on all above it. */
    spend(id: string, nano: number, tokens: number): void {
      for (let at = rows.session(id); at; at = at.parent_id === null ? undefined : rows.session(at.parent_id)) {
        const after = { ...at, spent_nano: at.spent_nano + nano };
        rows.updateSession(at.id, { spent_nano: after.spent_nano, tokens: at.tokens + tokens });
        if (at.lender_id !== null) reserve(at.lender_id, unspent(after) - unspent(at));
      }
    },
    /** What was set aside for an ended session and not spent goes back. */
    giveBack(row: SessionRow): void {
      if (row.lender_id === null) return;
      reserve(row.lender_id, -unspent(row));
      rows.updateSession(row.id, { lender_id: null });
    },
    /** Sessions below that have not ended, the nearest first. */
    below(id: string): SessionRow[] {
      const found: SessionRow[] = [];
      const look = (parent: string): void => {
        const live = rows.children(parent).filter(({ ended_at }) => ended_at === null);
        found.push(...live);
        for (const child of live) look(child.id);
      };
      look(id);
      return found;
    },
  };
}
