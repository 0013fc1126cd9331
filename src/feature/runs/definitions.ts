/** Definitions of pipelines as they were when runs started: each text is kept once, however many runs have it. */
import { createHash } from "node:crypto";
import type { PipelineDefinition } from "../../engine/pipeline/definition.ts";
import type { Store } from "../../store/store.ts";
import { runDefinitions } from "../../store/tables/runs.ts";

/** Definitions held in memory. */
const MOST = 200;

/** Those in memory are shared by all who read them. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
  }
  return value;
}

export function createDefinitions({ rows: rowsOf }: Pick<Store, "rows">) {
  const rows = rowsOf(runDefinitions);
  const known = new Map<string, PipelineDefinition>();
  return {
    /** Inside a transaction. @returns its id. */
    keep(definition: PipelineDefinition): string {
      const id = createHash("sha256").update(JSON.stringify(definition)).digest("base64url");
      rows.insertIfNew({ id, definition });
      return id;
    },
    /** @throws Error when there is none with that id. */
    read(id: string): PipelineDefinition {
      const held = known.get(id);
      if (held) return held;
      const row = rows.find({ id });
      if (!row) throw new Error(`There is no definition ${id}.`);
      if (known.size >= MOST) known.clear();
      known.set(id, frozen(row.definition));
      return row.definition;
    },
  };
}
