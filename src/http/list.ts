/** Lists: `{items, next_cursor}`, with `limit` and an opaque `cursor` that holds the last row's sort key. */
import { type TSchema, Type as t } from "@sinclair/typebox";
import { badRequest, invalidField } from "../core/errors.ts";
import { jsonIn } from "../core/json-reader.ts";
import { LIMITS } from "../core/limits.ts";
import { queryInteger } from "./schema.ts";

/** Query schema for the number of entries of a list, with the same limits everywhere. */
export const queryLimit = (usual: number = LIMITS.listDefault, what = "Most entries in the answer") =>
  queryInteger(
    {
      minimum: 1,
      description: `${what}; default ${usual}, more than ${LIMITS.listMax} counts as ${LIMITS.listMax}.`,
    },
    LIMITS.listMax,
  );

/** Query members of every paged list; spread them into its query schema. */
export const PageQuery = {
  limit: t.Optional(queryLimit()),
  cursor: t.Optional(t.String({ maxLength: 1_000, description: "`next_cursor` of the previous page." })),
};

export const listOf = <T extends TSchema>(item: T) =>
  t.Object({ items: t.Array(item), next_cursor: t.Union([t.String(), t.Null()]) });

/** Query and answer schemas of an operation that lists and takes no other query. */
export const pagesOf = <T extends TSchema>(item: T) => ({ query: t.Object(PageQuery), answer: listOf(item) });

export interface Page {
  /** From 1 to 200. */
  limit: number;
  /** Sort key of the last row of the previous page; null on the first page. */
  after: string | null;
}

export interface ListAnswer<T> {
  items: T[];
  next_cursor: string | null;
}

/** @throws Problem 400 when the cursor is not one of ours. */
export function pageOf(query: { limit?: number | undefined; cursor?: string | undefined }): Page {
  return {
    limit: query.limit ?? LIMITS.listDefault,
    after: query.cursor === undefined ? null : decodeCursor(query.cursor),
  };
}

/**
 * Makes the answer of a list.
 * @param rows one more than `page.limit` if there is a next page (ask the database for `limit + 1`).
 * @param keyOf the sort key after which the next page starts.
 * @param present what is shown of a row; absent: the row itself.
 */
export function listAnswer<Row>(rows: Row[], page: Page, keyOf: (row: Row) => string): ListAnswer<Row>;
export function listAnswer<Row, Item>(
  rows: Row[],
  page: Page,
  keyOf: (row: Row) => string,
  present: (row: Row) => Item,
): ListAnswer<Item>;
export function listAnswer<Row>(rows: Row[], page: Page, keyOf: (row: Row) => string, present?: (row: Row) => unknown) {
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  return {
    items: present ? shown.map(present) : shown,
    next_cursor: rows.length > page.limit && last !== undefined ? cursorAfter(keyOf(last)) : null,
  };
}

/** Like `listAnswer`, for rows sorted by id. */
export const listById = <Row extends { id: string }, Item>(
  rows: Row[],
  page: Page,
  present: (row: Row) => Item,
): ListAnswer<Item> => listAnswer(rows, page, ({ id }) => id, present);

/** One page of a list that is completely in memory, already in a stable order. */
export function pageOfArray<Item>(items: readonly Item[], page: Page, keyOf: (item: Item) => string): ListAnswer<Item> {
  const start = page.after === null ? 0 : items.findIndex((item) => keyOf(item) === page.after) + 1;
  if (page.after !== null && start === 0) return { items: [], next_cursor: null };
  return listAnswer(items.slice(start, start + page.limit + 1), page, keyOf);
}

const TAG_CHARACTERS = 6;
/** Tag of the list at this path, including its parameters. */
const tagOf = (path: string): string =>
  Bun.hash(path).toString(36).padStart(TAG_CHARACTERS, "0").slice(-TAG_CHARACTERS);

/** Binds a cursor to its list, so that no other list accepts it. */
export const boundCursor = (path: string, cursor: string): string => tagOf(path) + cursor;

/**
 * The cursor that this list issued, without its tag. @throws Problem 422 for another list's cursor, 400 for anything
 * else.
 */
export function ownCursor(path: string, given: string): string {
  const cursor = given.slice(TAG_CHARACTERS);
  if (given.startsWith(tagOf(path))) return cursor;
  decodeCursor(cursor);
  throw invalidField("cursor", "This cursor is from another list. Start again without it");
}

/** The cursor of the page after the row with this sort key, before `boundCursor`. */
export const cursorAfter = (key: string): string => Buffer.from(JSON.stringify([1, key])).toString("base64url");

function decodeCursor(cursor: string): string {
  const found = jsonIn(Buffer.from(cursor, "base64url").toString("utf8"));
  const [version, key]: unknown[] = Array.isArray(found) ? found : [];
  if (version === 1 && typeof key === "string") return key;
  throw badCursor();
}

/** 400 for a text that is not a cursor. */
export const badCursor = () =>
  badRequest("The cursor is not one that this list gave. Start again without it.", "bad_cursor");

/** A sort key that is a number. @throws Problem 400 for any other sort key. */
export function numberAfter({ after }: Page): number | undefined {
  if (after === null) return undefined;
  if (!/^\d{1,15}$/.test(after)) throw badCursor();
  return Number(after);
}
