/** Rows of chats, in order of last activity, newest first. */
import type { Caller } from "../../http/caller.ts";
import { badCursor, type Page } from "../../http/list.ts";
import { allOf, type Condition, contains, createReader } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { sessions } from "../../store/tables/sessions.ts";
import { buildReadCondition, WHOSE_SESSIONS } from "../../store/whose.ts";
import type { SessionRow } from "../sessions/service.ts";

const SHOWN = [
  ...(["id", "agent_id", "project_id", "branch", "title", "wanted_model", "status", "message_count"] as const),
  ...([
    "tokens",
    "context_tokens",
    "spent_nano",
    "calls_without_price",
    "created_at",
    "last_activity_at",
    "ended_at",
  ] as const),
];
/** The columns that a list of chats shows. */
export type ChatRow = Pick<SessionRow, (typeof SHOWN)[number]>;

const ACTIVE = "'open', 'queued', 'running'";
const STATES = {
  active: [`sessions.status IN (${ACTIVE})`],
  ended: [`sessions.status NOT IN (${ACTIVE})`],
  all: undefined,
} satisfies Record<string, Condition>;
/** The kind is written out, not bound: SQLite uses the index `sessions_chats`, which contains only chats, only then. */
const CHATS: Condition = ["sessions.kind = 'chat'"];
const NEWEST_FIRST = "ORDER BY sessions.last_activity_at DESC, sessions.id DESC LIMIT ?";
const readableBy = (caller: Caller): Condition => buildReadCondition(caller, WHOSE_SESSIONS.chat);

export const cursorOf = ({ last_activity_at, id }: ChatRow): string => `${last_activity_at}|${id}`;

/** @throws Problem 400. */
function toCondition({ after }: Page): Condition {
  if (after === null) return undefined;
  const [, at, id] = /^([\d:.TZ-]+)\|(sess_\w+)$/.exec(after) ?? [];
  if (at === undefined || id === undefined) throw badCursor();
  return ["(sessions.last_activity_at, sessions.id) < (?, ?)", at, id];
}

export function createChatRows({ statement }: Store) {
  const shown = createReader(statement, sessions, SHOWN);
  const named = createReader(statement, sessions, ["id", "title", "agent_id", "project_id"]);
  return {
    /** A page of chats, plus one row more when there is a next page. @throws Problem 400 for an invalid cursor. */
    page(filter: { caller: Caller; status: keyof typeof STATES; agent_id: string | undefined }, page: Page): ChatRow[] {
      const ofAgent: Condition = filter.agent_id === undefined ? undefined : ["sessions.agent_id = ?", filter.agent_id];
      const { where, values } = allOf(
        CHATS,
        readableBy(filter.caller),
        STATES[filter.status],
        ofAgent,
        toCondition(page),
      );
      return shown.all(`${where} ${NEWEST_FIRST}`, ...values, page.limit + 1);
    },
    countOpen: (userId: string): number =>
      statement<number>(
        "SELECT count(*) FROM sessions WHERE kind = 'chat' AND user_id = ? AND status IN ('open', 'queued', 'running')",
      )
        .pluck()
        .get(userId) ?? 0,
    /** Chats whose title contains every word. */
    searchTitles(words: readonly string[], caller: Caller, limit: number) {
      const { where, values } = allOf(
        CHATS,
        readableBy(caller),
        ...words.map((word) => contains("sessions.title", word)),
      );
      return named.all(`${where} ${NEWEST_FIRST}`, ...values, limit);
    },
  };
}
