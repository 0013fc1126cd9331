/**
 * Conditions for rows of a time span in lists sorted by id. With a condition on the time only, SQLite would read to the
 * end of the table when the span holds less than a page. Ids grow with time, except among rows of nearly the same
 * moment.
 */

const NEARLY = 100;

/**
 * A condition on `id` with one `?`: the time from which the rows begin (RFC 3339). @param time a column with an index.
 */
export const idsSince = (table: string, time: string): string =>
  `${table}.id >= coalesce((SELECT min(id) FROM (
     SELECT id FROM ${table} WHERE ${time} >= ? ORDER BY ${time}, id LIMIT ${NEARLY})), '~')`;

/** Like `idsSince`, with the time before which the rows end. */
export const idsUntil = (table: string, time: string): string =>
  `${table}.id <= coalesce((SELECT max(id) FROM (
     SELECT id FROM ${table} WHERE ${time} < ? ORDER BY ${time} DESC, id DESC LIMIT ${NEARLY})), '')`;
