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

/** Rows of one lane; what does not fit is in the last. */
const MOST_ROWS = 6;

/** @param spans in the order in which they began. @returns lanes in the order of their first span. */
export function lanesOf<S extends Span>(spans: readonly S[]): Lane<S>[] {
  return [...Map.groupBy(spans, ({ agent_id }) => agent_id)].map(([agent_id, own]) => {
    const rows: S[][] = [];
    for (const span of own) {
      const isFree = (row: S[]) => {
        const end = row.at(-1)!.finished_at;
        return end !== null && end <= span.started_at;
      };
      const row = rows.find(isFree) ?? (rows.length < MOST_ROWS ? undefined : rows.at(-1));
      if (row) row.push(span);
      else rows.push([span]);
    }
    return { agent_id, rows };
  });
}
