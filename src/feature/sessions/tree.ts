/**
 * A session and the sessions that it started form a tree with one owner, limited depth and size, and one budget. A
 * budget of a session below is set aside from the budget above it; what is not spent goes back when that session ends.
 */
import { conflict, expectFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { toNano, toUsd } from "../../core/money.ts";
import { kindOf } from "../../engine/kinds.ts";
import type { Store } from "../../store/store.ts";
import type { SessionDraft } from "./model.ts";
import type { SessionRow, SessionStore } from "./store.ts";

/** The part of a budget that is neither spent nor set aside. */
const computeAvailable = ({ budget_nano, spent_nano, reserved_nano }: SessionRow): number =>
  (budget_nano ?? 0) - spent_nano - reserved_nano;
const computeUnspent = ({ budget_nano, spent_nano }: SessionRow): number =>
  Math.max(0, (budget_nano ?? 0) - spent_nano);

export type Tree = ReturnType<typeof createTree>;

interface Place {
  parent_id: string | null;
  lender_id: string | null;
}
const PLACE = "SELECT parent_id, lender_id FROM sessions WHERE id = ?";
const SPEND = `UPDATE sessions SET spent_nano = spent_nano + @nano, tokens = tokens + @tokens,
  calls_without_price = calls_without_price + @unpriced, context_tokens = coalesce(@window, context_tokens)
  WHERE id = @id`;

/** What a model call cost. */
interface CallCost {
  /** Cost in billionths of a dollar; 0 when the price is unknown. */
  nano: number;
  tokens: number;
  /** 1 for a call whose cost is unknown, else 0. */
  unpriced: number;
}

/** Whose working copy a new session works in, and its branch if it has one of its own. */
function filesOf(draft: SessionDraft, id: string, parent: SessionRow | undefined) {
  const prefix = kindOf(draft.kind).branch;
  if (parent && !(draft.joins_parent && parent.branch !== null)) return { work_id: parent.work_id, branch: null };
  if (prefix === null || draft.run_id !== undefined || (draft.project_id ?? parent?.project_id ?? null) === null)
    return { work_id: null, branch: null };
  return { work_id: id, branch: `${prefix}/${id}` };
}

export function createTree({ statement }: Store, rows: SessionStore) {
  const reserve = (id: string, nano: number): void => {
    if (nano === 0) return;
    statement("UPDATE sessions SET reserved_nano = max(0, reserved_nano + ?) WHERE id = ?").run(nano, id);
  };
  /** After a session has spent something, reduces what is still set aside for it. */
  const settle = (id: string, nano: number): void => {
    const after = rows.findSession(id)!;
    if (after.lender_id === null) return;
    reserve(after.lender_id, computeUnspent(after) - computeUnspent({ ...after, spent_nano: after.spent_nano - nano }));
  };
  const parentOf = (id: string): SessionRow => {
    const parent = expectFound(rows.findSession(id), "session");
    if (parent.ended_at !== null || parent.stopping)
      throw conflict("The session has ended; it cannot start anything.", "session_ended");
    if (parent.depth >= LIMITS.sessionTreeDepth)
      throw conflict(
        `Agents may hand work on ${LIMITS.sessionTreeDepth} times, one below the other; this would be one more.`,
        "too_deep",
      );
    const size = rows.findSession(parent.root_id)!.tree_size;
    if (size >= LIMITS.sessionTreeSize)
      throw conflict(`One piece of work may start ${LIMITS.sessionTreeSize} sessions in all.`, "too_many_sessions");
    return parent;
  };

  return {
    /**
     * Inserts a session at its place in the tree.
     * @throws Problem 404 for an unknown parent, 409 `session_ended`, `too_deep`, `too_many_sessions`,
     * `budget_too_small`.
     */
    insert(draft: SessionDraft): SessionRow {
      const id = newId("session");
      const budgeted = draft.budget_usd !== undefined;
      if (draft.parent_id === undefined) {
        const place = { id, root_id: id, depth: 0, purse_id: budgeted ? id : null, lender_id: null };
        return rows.insertSession(draft, { ...place, ...filesOf(draft, id, undefined) });
      }
      const parent = parentOf(draft.parent_id);
      const lender = budgeted && parent.purse_id !== null ? rows.findSession(parent.purse_id) : undefined;
      const wanted = toNano(draft.budget_usd ?? 0);
      if (lender && wanted > computeAvailable(lender))
        throw conflict(
          `$${draft.budget_usd} cannot be set aside: $${toUsd(Math.max(0, computeAvailable(lender))).toFixed(4)} are left.`,
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
          id,
          root_id: parent.root_id,
          depth: parent.depth + 1,
          purse_id: budgeted ? id : parent.purse_id,
          lender_id: lender?.id ?? null,
          ...filesOf(draft, id, parent),
        },
      );
    },
    /**
     * Charges a call to the session and to all sessions above it.
     * @param window tokens that the model has in its context; null: unknown.
     */
    spend(id: string, cost: CallCost, window: number | null): void {
      statement(SPEND).run({ ...cost, window, id });
      const place = statement<Place>(PLACE).get([id]);
      if (!place || (place.parent_id === null && place.lender_id === null)) return;
      if (place.lender_id !== null) settle(id, cost.nano);
      for (let above = place.parent_id; above !== null; above = statement<Place>(PLACE).get([above])!.parent_id) {
        statement(SPEND).run({ ...cost, window: null, id: above });
        settle(above, cost.nano);
      }
    },
    /** Gives back the part of an ended session's budget that was set aside and not spent. */
    giveBack(row: SessionRow): void {
      if (row.lender_id === null) return;
      reserve(row.lender_id, -computeUnspent(row));
      rows.updateSession(row.id, { lender_id: null });
    },
    /** Sessions below this one that have not ended, the nearest first. */
    below(id: string): SessionRow[] {
      const found: SessionRow[] = [];
      const collect = (parent: string): void => {
        const live = rows.liveChildren(parent);
        found.push(...live);
        for (const child of live) collect(child.id);
      };
      collect(id);
      return found;
    },
  };
}
