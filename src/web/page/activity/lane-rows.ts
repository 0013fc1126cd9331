/** Spans of work as lanes: one for each agent, with as many rows as it worked on things at once. */

interface Span {
  agent_id: string;
  started_at: string;
  /** Null: it goes on. */
  finished_at: string | null;
}

export interface Lane<S> {
  agent_id: string;
  rows: S[][];
}

/** Rows of one lane; what does not fit is drawn over what began first. */
const MOST_ROWS = 12;

/**
 * @param spans in the order in which they began.
 * @param least how long a span is drawn at least, ms: within it the next one would cover it.
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
