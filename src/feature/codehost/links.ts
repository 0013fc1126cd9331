/** Links between runs and the code host: their rows, and how the API shows them. */
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { LIMITS } from "../../core/limits.ts";
import { shownOf } from "../../core/schema.ts";
import type { Condition } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { codehostRuns as table } from "../../store/tables/codehost.ts";
import { runPullRequest } from "./events.ts";
import { RunOnHost } from "./model.ts";

export type LinkRow = typeof table.$inferSelect;
type Change = "linked" | "opened" | "pushed" | "merged" | "closed" | "failed";

export type Links = ReturnType<typeof createLinks>;

/** Repository names are compared without regard to case. */
const sameRepository = (repository: string): Condition => ["repository = ? COLLATE NOCASE", repository];

const BEHIND = `SELECT l.run_id FROM codehost_runs l JOIN runs ON runs.id = l.run_id
  WHERE max(runs.created_at, ifnull(runs.started_at, ''), ifnull(runs.finished_at, '')) > l.updated_at
    AND (l.pull_state IS NULL OR l.pull_state = 'open')`;

export function createLinks(store: Store, clock: Clock) {
  const rows = store.rows(table);
  const find = (runId: string) => rows.find({ run_id: runId });
  const present = (row: LinkRow): RunOnHost => ({
    ...shownOf(RunOnHost, row),
    issue: row.number,
    number: row.pull_number,
    url: row.pull_url,
  });
  const publish = (row: LinkRow, change: Change): void =>
    store.write(({ emit }) => {
      const run = store
        .statement<{ project_id: string | null; user_id: string | null }>(
          "SELECT project_id, created_by AS user_id FROM runs WHERE id = ?",
        )
        .get(row.run_id);
      const { number, url, pull_state, error } = present(row);
      emit(runPullRequest, {
        run_id: row.run_id,
        project_id: run?.project_id ?? undefined,
        user_id: run?.user_id ?? undefined,
        data: { change, number, url, pull_state, error },
      });
    });
  return {
    find,
    present,
    /** The run to which this pull request belongs. */
    ofPull: (repository: string, number: number): LinkRow | undefined =>
      rows.find(sameRepository(repository), { pull_number: number }),
    /** Runs started from this issue or pull request, newest first. */
    startedFrom: (repository: string, number: number): LinkRow[] =>
      rows.list([sameRepository(repository), { number }], { order: "run_id DESC", limit: LIMITS.listMax }),
    /** Runs that changed since the host was last updated, unless their pull request is closed. */
    behind: (): string[] => store.statement<string>(BEHIND).pluck().all(),
    insert(draft: Pick<LinkRow, "run_id" | "repository"> & Partial<LinkRow>): LinkRow {
      const at = toTimestamp(clock.now());
      const fresh = { read_only: false, wants_pull: false, again: false, attempts: 0, state: "pending" } as const;
      return store.write(() => {
        rows.insert({ ...fresh, created_at: at, updated_at: at, ...draft });
        const row = find(draft.run_id)!;
        publish(row, "linked");
        return row;
      });
    },
    /** @param change named by the event that is emitted; without it there is no event. */
    update: (runId: string, fields: Partial<LinkRow>, change?: Change): LinkRow =>
      store.write(() => {
        rows.update({ ...fields, updated_at: toTimestamp(clock.now()) }, { run_id: runId });
        const row = find(runId)!;
        if (change) publish(row, change);
        return row;
      }),
  };
}
