/**
 * What each user has in the data folder, and whether there is room for more. A separate process measures agents' files
 * after their work. So a workspace may pass the limit while an agent writes; then the user can begin nothing new.
 */
import { forbidden, Problem } from "../../core/errors.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import type { Storage, Workspace } from "./model.ts";

export type StorageService = ReturnType<typeof createStorage>;

interface StorageDeps {
  store: Pick<Store, "statement">;
  limits(): { user_stored_mb: number; user_workspaces_mb: number };
  hasAccounts: boolean;
}

const MIB = 1024 ** 2;
const STORED = `SELECT
  (SELECT coalesce(sum(size_bytes), 0) FROM attachments WHERE user_id IS @user) AS attachments_bytes,
  (SELECT coalesce(sum(size_bytes), 0) FROM documents WHERE user_id IS @user) AS documents_bytes,
  (SELECT coalesce(sum(size_bytes), 0) FROM memory_entries WHERE owner_id = @user) AS memory_bytes,
  (SELECT coalesce(sum(size_bytes), 0) FROM evals WHERE user_id IS @user) AS evals_bytes`;
const WORKSPACES = `SELECT coalesce(sum(bytes), 0) AS bytes, count(*) AS folders, coalesce(sum(files), 0) AS files,
  max(measured_at) AS measured_at FROM workspace_sizes WHERE user_id IS @user`;

type MeasuredWorkspaces = Omit<Storage["workspaces"], "limit_bytes">;
type Stored = Pick<Storage["stored"], "attachments_bytes" | "documents_bytes" | "memory_bytes" | "evals_bytes">;

export function createStorage({ store, limits, hasAccounts }: StorageDeps) {
  const ownOf = (userId: string | undefined, { admin, userId: own }: Caller): string | null => {
    if (userId !== undefined && userId !== own && !admin) throw forbidden("Only an administrator sees another user's.");
    return userId ?? own ?? null;
  };
  const workspacesOf = (user: string | null) => store.statement<MeasuredWorkspaces>(WORKSPACES).get({ user })!;
  /** What a user has stored, without a check of the caller's rights. */
  const usedBy = (user: string | null): Storage => {
    const { user_stored_mb, user_workspaces_mb } = limits();
    const stored = store.statement<Stored>(STORED).get({ user })!;
    return {
      user_id: user,
      stored: {
        ...stored,
        bytes: stored.attachments_bytes + stored.documents_bytes + stored.memory_bytes + stored.evals_bytes,
        limit_bytes: user_stored_mb * MIB,
      },
      workspaces: {
        ...workspacesOf(user),
        limit_bytes: hasAccounts ? user_workspaces_mb * MIB : null,
      },
    };
  };
  /**
   * Why the files of that user's runs and chats leave no room for more work; undefined while they do. Without accounts
   * there is no limit per user.
   */
  const fullWorkspaces = (userId: string | null): Problem | undefined => {
    if (userId === null || !hasAccounts) return undefined;
    const { bytes: current, folders } = workspacesOf(userId);
    const limit = limits().user_workspaces_mb * MIB;
    if (current < limit) return undefined;
    return new Problem(
      413,
      "workspaces_full",
      `The files of your runs, chats and other work hold ${current} bytes in ${folders} folders; a user may have ${limit}. Delete chats that you no longer need, and wait for runs, swarms and routines to end: their working copies of projects are removed then. GET /v1/storage/workspaces lists the largest. An administrator can change limits.user_workspaces_mb.`,
      { data: { current, limit, folders } },
    );
  };
  return {
    usedBy,
    /** The caller's own use. Administrators may name another user. @throws Problem 403. */
    of: (userId: string | undefined, caller: Caller): Storage => usedBy(ownOf(userId, caller)),
    /** That user's workspaces, the largest first. @throws Problem 403. */
    workspaces(userId: string | undefined, page: Page, caller: Caller): ListAnswer<Workspace> {
      const user = ownOf(userId, caller);
      const [bytes, after] = page.after?.split(" ") ?? [];
      const rows = store
        .statement<Workspace>(
          `SELECT name AS id, bytes, files, measured_at FROM workspace_sizes
           WHERE user_id IS @user AND (@bytes IS NULL OR (bytes, name) < (@bytes, @after))
           ORDER BY bytes DESC, name DESC LIMIT @most`,
        )
        .all({ user, bytes: bytes === undefined ? null : Number(bytes), after: after ?? null, most: page.limit + 1 });
      return listAnswer(rows, page, (row) => `${row.bytes} ${row.id}`);
    },
    /** @param bytes size of what is to be stored. @throws Problem 413 `quota_exceeded`. */
    assertRoom(bytes: number, userId: string | undefined): void {
      const { stored } = usedBy(userId ?? null);
      const [current, limit] = [stored.bytes, limits().user_stored_mb * MIB];
      if (current + bytes <= limit) return;
      const { attachments_bytes, documents_bytes, memory_bytes, evals_bytes } = stored;
      throw new Problem(
        413,
        "quota_exceeded",
        `You have stored ${current} bytes: attachments ${attachments_bytes}, documents ${documents_bytes}, memory ${memory_bytes}, evals ${evals_bytes}. With these ${bytes} bytes they would pass ${limit}. Delete documents or memory entries, evals that you no longer compare with, or chats that hold old files. An administrator can change limits.user_stored_mb.`,
        { data: { current, limit, attachments_bytes, documents_bytes, memory_bytes, evals_bytes } },
      );
    },
    fullWorkspaces,
    /**
     * Called before a run or session begins, and before an ended one continues.
     * @throws Problem 413 `workspaces_full`.
     */
    assertWorkspaces(userId: string | null): void {
      const full = fullWorkspaces(userId);
      if (full) throw full;
    },
  };
}
