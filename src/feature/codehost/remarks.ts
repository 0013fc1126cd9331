/** What people say about a run's work on the code host; given to the run when it is started again. */
import { and, asc, eq, gt, isNull } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Masking } from "../../core/masking.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import { runRemarks as table } from "../../store/tables/codehost.ts";
import { runRemark } from "./events.ts";
import type { Remark } from "./model.ts";
import { ABOUT_QUOTES, quoted, visibleText } from "./outside-text.ts";

type Row = typeof table.$inferSelect;
export interface NewRemark {
  host_id: string;
  author: string;
  body: string;
  path: string | null;
  line: number | null;
  url: string | null;
}

export interface Remarks {
  list(runId: string, page: Page): ListAnswer<Remark>;
  /** @returns undefined when it is known. */
  add(run: { id: string; project_id: string | null; created_by: string | null }, remark: NewRemark): Remark | undefined;
  knows(runId: string, hostId: string): boolean;
  /** Those not given yet, as guidance; marks them as given. Undefined when there are none. Inside a transaction. */
  take(runId: string): string | undefined;
}

const REMARK_CHARACTERS = 4_000;
const GIVEN = 100;

const present = ({ host_id: _, ...row }: Row): Remark => row;

export function createRemarks({ store, clock, masking }: { store: Store; clock: Clock; masking: Masking }): Remarks {
  const { db } = store;
  const of = (runId: string, hostId: string) =>
    db
      .select()
      .from(table)
      .where(and(eq(table.run_id, runId), eq(table.host_id, hostId)))
      .get();
  return {
    list(runId, page) {
      const where = and(eq(table.run_id, runId), page.after === null ? undefined : gt(table.id, page.after));
      const rows = db.select().from(table).where(where).orderBy(asc(table.id));
      return listAnswer(rows.limit(page.limit + 1).all(), page, ({ id }) => id, present);
    },
    knows: (runId, hostId) => of(runId, hostId) !== undefined,
    add(run, { host_id, author, body, path, line, url }) {
      return store.write(({ emit }) => {
        if (of(run.id, host_id)) return undefined;
        const row: Row = {
          ...{ id: newId("remark"), run_id: run.id, host_id, author, path, line, url, given_at: null },
          body: masking.text(visibleText(body)).slice(0, LIMITS.outsideTextCharacters),
          created_at: timestamp(clock.now()),
        };
        db.insert(table).values(row).run();
        const refs = { run_id: run.id, project_id: run.project_id ?? undefined, user_id: run.created_by ?? undefined };
        emit(runRemark, { ...refs, data: { remark_id: row.id, author, path } });
        return present(row);
      });
    },
    take(runId) {
      const open = and(eq(table.run_id, runId), isNull(table.given_at));
      const rows = db.select().from(table).where(open).orderBy(asc(table.id)).limit(GIVEN).all();
      if (rows.length === 0) return undefined;
      for (const { id } of rows)
        db.update(table)
          .set({ given_at: timestamp(clock.now()) })
          .where(eq(table.id, id))
          .run();
      const shown = rows.map(({ author, body, path, line }) => {
        const source = path === null ? "review" : `review of ${path.replace(/["<>\n]/g, "")}${line ? `:${line}` : ""}`;
        return quoted({ source, author, text: body }, masking.text, REMARK_CHARACTERS);
      });
      return ["Reviewers looked at the last attempt. Change the work as they ask.", ABOUT_QUOTES, ...shown].join(
        "\n\n",
      );
    },
  };
}
