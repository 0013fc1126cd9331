/** Arranges spans of work in lanes: one lane per agent, with one row for each thing that it did at the same time. */

interface Span {
  agent_id: string;
  started_at: string;
  /** Null while the work continues. */
  finished_at: string | null;
}

export interface Lane<S> {
  agent_id: string;
  rows: S[][];
}

/** Most rows of one lane. Further spans are drawn over the row whose last span began first. */
const MOST_ROWS = 12;

/**
 * @param spans ordered by start time.
 * @param least least drawn duration of a span, in ms. Without it, the next span in the row would cover a shorter one.
 * @returns lanes in the order of their first span.
 */
export function lanesOf<S extends Span>(spans: readonly S[], least: number): Lane<S>[] {
  const begin = ({ started_at }: S) => Date.parse(started_at);
  const end = (span: S) =>
    span.finished_at === null ? Number.POSITIVE_INFINITY : Math.max(Date.parse(span.finished_at), begin(span) + least);
  return [...Map.groupBy(spans, ({ agent_id }) => agent_id)].map(([agent_id, own]) => {
    const rows: S[][] = [];
    for (const span of own) {
      const free = rows.find((row) => end(row.at(-1)!) <= begin(span));
      if (free) free.push(span);
      else if (rows.length < MOST_ROWS) rows.push([span]);
      else rows.reduce((a, b) => (begin(b.at(-1)!) < begin(a.at(-1)!) ? b : a)).push(span);
    }
    return { agent_id, rows };
  });
}
