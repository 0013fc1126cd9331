/** Reads lists over several pages, and finds one item by its id, its name, or part of either. */

import type { RowOf } from "../../api/types.ts";
import { badUsage, Problem } from "../../core/errors.ts";
import { didYouMean } from "../../core/near.ts";
import type { Client } from "../server/client.ts";
import type { AnyResource, Flags, Resource } from "./resource.ts";

/** The row type of the list at that address; a plain object if the address is only known at run time. */
type RowAt<Address extends string> = string extends Address ? object : RowOf<Address>;

/** The query of an address: all given values that are not undefined. */
export function queryOf(given: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, value);
  return query;
}

interface List<Row> {
  items: Row[];
  next_cursor: string | null;
}

const PAGE = 200;
/** How many items are searched for a shortened id. */
const LOOKED_THROUGH = 2_000;
const NAMED = 5;

/** Reads at most `count` items of a list, over as many pages as needed. */
export const listItems = <const Address extends string>(
  client: Client,
  path: Address,
  count: number,
  query?: URLSearchParams,
): Promise<List<RowAt<Address>>> => readPages(client, path, count, query);

/** Like `listItems`, but the caller gives the type of the rows. */
export async function readPages<Row>(
  client: Client,
  path: string,
  count: number,
  query?: URLSearchParams,
): Promise<List<Row>> {
  const items: Row[] = [];
  for (let cursor: string | null = ""; ; ) {
    const page = new URLSearchParams(query);
    page.set("limit", String(Math.min(PAGE, count - items.length)));
    if (cursor) page.set("cursor", cursor);
    const list = await client.ask<List<Row>>("GET", `${path}?${page}`);
    items.push(...list.items);
    cursor = list.next_cursor;
    if (cursor === null || items.length >= count) return { items, next_cursor: cursor };
  }
}

/** Parses the value of --limit. @throws Problem 422 `bad_usage`. */
export function countOf(limit: unknown): number {
  const count = Number(limit);
  if (Number.isInteger(count) && count > 0 && count <= 100_000) return count;
  throw badUsage("--limit takes a whole number from 1 to 100000.");
}

/** Fills in the path of a resource's list where it depends on the flags. */
export async function locate(client: Client, resource: AnyResource, flags: Flags): Promise<AnyResource> {
  return resource.within ? { ...resource, path: await resource.within.pathFor(client, flags) } : resource;
}

/** Whether a word is a complete id of the form that the server generates. */
const isWhole = (word: string): boolean => /^[a-z]+_[0-9a-hjkmnp-tv-z]{26}$/.test(word);

/**
 * Finds the item that a word names. Ids begin with their time, so their ends differ sooner. The beginning or the end of
 * an id is enough if only one item has it.
 * @throws Problem 404 `not_found` with similar names, 422 `ambiguous` with the candidates, 422 `bad_usage` for an empty
 * word.
 */
export async function findOne<Row, One>(
  client: Client,
  resource: Resource<string, Row, One>,
  word: string,
): Promise<Row> {
  // Every id begins with an empty text. So an unset variable of a script would name the only item that there is.
  if (word.trim() === "")
    throw badUsage(`Name the ${resource.one}: what was given is empty. List them with: skep ${resource.name}`);
  const { idOf, namesOf = () => [], single = true, path } = resource;
  const absent = resource.absent?.(word) ?? `There is no ${resource.one} ${word}.`;
  if (single && isWhole(word)) return client.ask<Row>("GET", `${path}/${encodeURIComponent(word)}`);
  const { items, next_cursor } = await readPages<Row>(client, path, LOOKED_THROUGH);
  const namesFor = (item: Row): string[] => [idOf(item), ...namesOf(item)];
  const wanted = word.toLowerCase();
  const own = items.find((item) => idOf(item) === word);
  if (own) return own;
  const exact = items.filter((item) => namesOf(item).includes(word));
  if (exact.length === 1) return exact[0]!;
  const matches = (name: string) => {
    const id = name.toLowerCase();
    return (
      id.startsWith(wanted) || id.replace(/^[a-z]+_/, "").startsWith(wanted) || (isWhole(id) && id.endsWith(wanted))
    );
  };
  // Names need not be unique: if several match exactly, the error lists their ids.
  const found = exact.length > 0 ? exact : items.filter((item) => namesFor(item).some(matches));
  if (found.length === 1) return found[0]!;
  if (found.length === 0) {
    const near = didYouMean(
      word,
      items.flatMap((item) => (namesOf(item)[0] === undefined && isWhole(idOf(item)) ? [] : namesFor(item))),
    );
    const part = next_cursor === null ? "" : `Only the first ${LOOKED_THROUGH} were looked through: give the whole id.`;
    throw new Problem(
      404,
      "not_found",
      [absent, part, near, `List them with: skep ${resource.name}`].filter(Boolean).join(" "),
    );
  }
  const named = found.slice(0, NAMED).map((item) => (exact.length > 0 ? undefined : namesOf(item)[0]) ?? idOf(item));
  const more = found.length > NAMED ? ` and ${found.length - NAMED} more` : "";
  throw new Problem(422, "ambiguous", `${word} may be any of ${named.join(", ")}${more}. Write more of it.`);
}
