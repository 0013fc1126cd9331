/** Rows of onboarding sessions; each has a row of `sessions` as well. */
import type { Caller } from "../../http/caller.ts";
import type { Page } from "../../http/list.ts";
import { badCursor } from "../../http/list.ts";
import { allOf, type Condition } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { onboardings } from "../../store/tables/onboarding.ts";
import { sessions } from "../../store/tables/sessions.ts";
import { buildReadCondition, ruledBy, WHOSE } from "../../store/whose.ts";
import type { SessionRow } from "../sessions/service.ts";
import type { OnboardingStatus } from "./model.ts";

export type OnboardingRow = typeof onboardings.$inferSelect;
export interface Found {
  row: OnboardingRow;
  session: SessionRow;
}

export type OnboardingStore = ReturnType<typeof createOnboardingStore>;

/** An onboarding's id is its session's id with another prefix. */
export const onboardingId = (sessionId: string): string => sessionId.replace(/^sess_/, "onb_");
export const sessionIdOf = (id: string): string => id.replace(/^onb_/, "sess_");

export const cursorOf = ({ session }: Found): string => `${session.last_activity_at}|${session.id}`;

const JOINED = "FROM onboardings JOIN sessions ON sessions.id = onboardings.session_id";

export function createOnboardingStore({ rows: rowsOf, statement }: Pick<Store, "rows" | "statement">) {
  const [rows, sessionRows] = [rowsOf(onboardings), rowsOf(sessions)];
  const listIds = (rest: string, ...values: unknown[]): string[] =>
    statement<string>(`SELECT onboardings.session_id ${JOINED} ${rest}`).pluck().all(values);
  return {
    find: (session_id: string): OnboardingRow | undefined => rows.find({ session_id }),
    insert: rows.insert,
    update: (session_id: string, change: Partial<OnboardingRow>) => void rows.update(change, { session_id }),
    /** The caller's onboardings, newest first. Holds one row more than the page when there is another page. */
    page(caller: Caller, status: OnboardingStatus | undefined, page: Page): Found[] {
      const [, at, id] = page.after === null ? [] : (/^([\d:.TZ-]+)\|(sess_\w+)$/.exec(page.after) ?? [""]);
      if (page.after !== null && id === undefined) throw badCursor();
      const earlier: Condition =
        id === undefined || at === undefined
          ? undefined
          : ["(sessions.last_activity_at, sessions.id) < (?, ?)", at, id];
      const { where, values } = allOf(
        ["sessions.kind = 'onboarding'"],
        buildReadCondition(caller, ruledBy(WHOSE.onboardings.policy, WHOSE.sessions)),
        status && ["onboardings.status = ?", status],
        earlier,
      );
      const order = "ORDER BY sessions.last_activity_at DESC, sessions.id DESC LIMIT ?";
      return listIds(`${where} ${order}`, ...values, page.limit + 1).map((session_id) => ({
        row: rows.find({ session_id })!,
        session: sessionRows.find({ id: session_id })!,
      }));
    },
    /** Active onboardings in which nothing has happened since that time. @param before RFC 3339. */
    // The status as the partial index has it.
    listIdle: (before: string, limit: number): string[] =>
      listIds("WHERE onboardings.status = 'active' AND sessions.last_activity_at < ? LIMIT ?", before, limit),
  };
}
