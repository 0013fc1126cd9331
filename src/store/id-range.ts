/**
 * Rows of a span of time, for lists in the order of their ids: by the time alone SQLite reads on to the end of the table
 * where the span holds less than a page. Ids grow with time, except among those of nearly the same moment.
 */

const NEARLY = 100;

/** A condition on `id` with one `?`, the time that the rows begin from (RFC 3339). @param time has an index. */
export const idsSince = (table: string, time: string): string =>
  `${table}.id >= coalesce((SELECT min(id) FROM (
     SELECT id FROM ${table} WHERE ${time} >= ? ORDER BY ${time}, id LIMIT ${NEARLY})), '~')`;

/** The same for the time that they end before. */
export const idsUntil = (table: string, time: string): string =>
  `${table}.id <= coalesce((SELECT max(id) FROM (
     SELECT id FROM ${table} WHERE ${time} < ? ORDER BY ${time} DESC, id DESC LIMIT ${NEARLY})), '')`;
