/** Who may delete or keep history: its owner, and administrators if they may read it. */
import { conflict, forbidden, isProblem, notFound } from "../../core/errors.ts";
import { isOwner } from "../../core/ownership.ts";
import type { Caller } from "../../http/caller.ts";
import { otherAdministrator } from "../../store/administrators.ts";
import type { Store } from "../../store/store.ts";
import { mayRead, WHOSE, WHOSE_SESSIONS } from "../../store/whose.ts";

type Kind = "run" | "session" | "project" | "user";

export function createRights(store: Store) {
  const { statement } = store;

  function ownerOfRun(id: string, caller: Caller): string | null {
    const row = statement<{ created_by: string | null; project_id: string | null }>(
      "SELECT created_by, project_id FROM runs WHERE id = ?",
    ).get(id);
    if (!row || !mayRead(caller, WHOSE.runs, row)) throw notFound("run");
    return row.created_by;
  }
  function ownerOfSession(id: string, caller: Caller): string | null {
    const row = statement<{ user_id: string | null; project_id: string | null; kind: string }>(
      "SELECT user_id, project_id, kind FROM sessions WHERE id = ? AND run_id IS NULL AND parent_id IS NULL",
    ).get(id);
    const whose = row?.kind === "chat" ? WHOSE_SESSIONS.chat : WHOSE.sessions;
    if (!row || !mayRead(caller, whose, row)) throw notFound("chat");
    return row.user_id;
  }
  const ownerOf = (id: string, caller: Caller) =>
    id.startsWith("run_") ? ownerOfRun(id, caller) : ownerOfSession(id, caller);
  /** @throws Problem 403 the caller may not delete it, 404 unknown to the caller. */
  function assertMayDelete(kind: Kind, id: string, caller: Caller): void {
    if (kind === "project" || kind === "user") {
      if (
        statement(`SELECT 1 FROM ${kind}s WHERE id = ?`).get(id) === undefined ||
        (kind === "user" && !caller.admin && caller.userId !== id)
      )
        throw notFound(kind);
      if (kind === "project" && !caller.admin) throw forbidden("Only an administrator deletes a project.");
      return;
    }
    const owner = kind === "run" ? ownerOfRun(id, caller) : ownerOfSession(id, caller);
    if (!caller.admin && !isOwner(caller, owner)) throw forbidden("Only its owner or an administrator deletes it.");
  }
  /** @throws Problem 409 `last_administrator`. */
  function assertNotLast(id: string): void {
    const isAdmin = statement("SELECT 1 FROM users WHERE id = ? AND role = 'admin' AND active = 1").get(id);
    if (isAdmin !== undefined && otherAdministrator(store, id) === undefined)
      throw conflict("This is the last administrator. Make another one first.", "last_administrator");
  }
  /** @throws Problem 403, 404. */
  function assertMayKeep(id: string, caller: Caller): void {
    try {
      assertMayDelete(id.startsWith("run_") ? "run" : "session", id, caller);
    } catch (error) {
      if (isProblem(error) && error.status === 404) throw notFound("run or chat");
      throw error;
    }
  }

  return { ownerOf, assertMayDelete, assertMayKeep, assertNotLast };
}
