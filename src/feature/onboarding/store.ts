/** Rows of onboarding sessions, each beside its session. */
import { and, desc, eq, lt, sql } from "drizzle-orm";
import type { Caller } from "../../http/caller.ts";
import type { Page } from "../../http/list.ts";
import { badCursor } from "../../http/list.ts";
import { changeRow } from "../../store/change-row.ts";
import type { Store } from "../../store/store.ts";
import { onboardings } from "../../store/tables/onboarding.ts";
import { sessions } from "../../store/tables/sessions.ts";
import { asSql, readable, ruledBy, WHOSE } from "../../store/whose.ts";
import type { SessionRow } from "../sessions/service.ts";
import type { OnboardingStatus } from "./model.ts";

export type OnboardingRow = typeof onboardings.$inferSelect;
export interface Found {
  row: OnboardingRow;
  session: SessionRow;
}

export interface OnboardingStore {
  find(sessionId: string): OnboardingRow | undefined;
  insert(row: OnboardingRow): void;
  update(sessionId: string, change: Partial<OnboardingRow>): void;
  /** The caller's, newest first; one more than the page holds when there is another page. */
  page(caller: Caller, status: OnboardingStatus | undefined, page: Page): Found[];
  /** Active ones in which nothing happened since. @param before RFC 3339. */
  left(before: string, limit: number): string[];
}

/** Its id is its session's with another prefix. */
export const onboardingId = (sessionId: string): string => sessionId.replace(/^sess_/, "onb_");
export const sessionIdOf = (id: string): string => id.replace(/^onb_/, "sess_");

export const cursorOf = ({ session }: Found): string => `${session.last_activity_at}|${session.id}`;

/** As the partial index has it. */
const ACTIVE = sql`${onboardings.status} = 'active'`;

export function createOnboardingStore({ db }: Store): OnboardingStore {
  const joined = () =>
    db
      .select({ row: onboardings, session: sessions })
      .from(onboardings)
      .innerJoin(sessions, eq(sessions.id, onboardings.session_id));
  return {
    find: (sessionId) => db.select().from(onboardings).where(eq(onboardings.session_id, sessionId)).get(),
    insert: (row) => void db.insert(onboardings).values(row).run(),
    update: (sessionId, change) => changeRow(db, onboardings, change, eq(onboardings.session_id, sessionId)),
    page(caller, status, page) {
      const [, at, id] = page.after === null ? [] : (/^([\d:.TZ-]+)\|(sess_\w+)$/.exec(page.after) ?? [""]);
      if (page.after !== null && id === undefined) throw badCursor();
      return joined()
        .where(
          and(
            eq(sessions.kind, "onboarding"),
            asSql(readable(caller, ruledBy(WHOSE.onboardings.policy, WHOSE.sessions))),
            status && eq(onboardings.status, status),
            id === undefined ? undefined : sql`(${sessions.last_activity_at}, ${sessions.id}) < (${at}, ${id})`,
          ),
        )
        .orderBy(desc(sessions.last_activity_at), desc(sessions.id))
        .limit(page.limit + 1)
        .all();
    },
    left: (before, limit) =>
      joined()
        .where(and(ACTIVE, lt(sessions.last_activity_at, before)))
        .limit(limit)
        .all()
        .map(({ row }) => row.session_id),
  };
}
