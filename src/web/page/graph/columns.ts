/** The graph in the API's column format, and a neighborhood that grows step by step. */
import { client, must, type Schemas } from "../../api/client.ts";

export type Columns = Schemas["GraphColumns"];

const PATH = "/v1/projects/{id}/knowledge-graph/graph-data";

/** Query for the column format: with a focus the neighborhood of that symbol, else a map. */
export function columnsQuery(project: string, query: { focus?: string; limit: number; labels?: string }) {
  const params = { path: { id: project }, query: { ...query, format: "columns" as const } };
  return {
    queryKey: ["get", PATH, { params }],
    queryFn: async ({ signal }: { signal: AbortSignal }) =>
      (await must(client.GET(PATH, { params, signal }))) as Columns,
  };
}

export interface Neighbour {
  id: string;
  name: string;
  label: string;
  file: string;
  line: number;
  /** Distance from the focus: negative for symbols that depend on it, positive for those that it depends on. */
  hop: number;
  /** Whether the symbol's own neighbors are shown. */
  open: boolean;
}

export interface Line {
  from: string;
  to: string;
  type: string;
  sure: boolean;
}

interface Neighbourhood {
  columns: Neighbour[][];
  lines: Line[];
  /** Whether there are more symbols than are shown. */
  truncated: boolean;
}

/**
 * What is shown after these symbols were opened; the first is the focus. Opening a symbol on the left adds what depends
 * on it; opening one on the right adds what it depends on.
 */
export function buildNeighbourhood(
  opened: readonly string[],
  answers: readonly (Columns | undefined)[],
): Neighbourhood {
  const found = new Map<string, Neighbour>();
  const lines = new Map<string, Line>();
  let truncated = false;
  for (const [at, answer] of answers.entries()) {
    if (!answer) continue;
    const { nodes, edges, labels, files, types } = answer;
    const centre = found.get(opened[at]!);
    const side = Math.sign(centre?.hop ?? 0);
    truncated ||= answer.truncated;
    nodes.id.forEach((id, nth) => {
      const hop = nodes.hops[nth]!;
      if (found.has(id) || (side !== 0 && Math.sign(hop) !== side)) return;
      const file = files[nodes.file[nth]!] ?? "";
      const about = { name: nodes.name[nth]!, label: labels[nodes.label[nth]!]!, file, line: nodes.line[nth]! };
      found.set(id, { id, ...about, hop: (centre?.hop ?? 0) + hop, open: opened.includes(id) });
    });
    edges.from.forEach((from, nth) => {
      const line = {
        from: nodes.id[from]!,
        to: nodes.id[edges.to[nth]!]!,
        type: types[edges.type[nth]!]!,
        sure: edges.confidence[nth]! >= 0.9,
      };
      lines.set(`${line.from} ${line.to}`, line);
    });
  }
  const byHop = Map.groupBy(found.values(), ({ hop }) => hop);
  const hops = [...byHop.keys()].sort((a, b) => a - b);
  return {
    columns: hops.map((hop) => byHop.get(hop)!),
    lines: [...lines.values()].filter(({ from, to }) => found.get(from)?.hop !== found.get(to)?.hop),
    truncated,
  };
}
