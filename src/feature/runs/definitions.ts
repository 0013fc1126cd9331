/**
 * Definitions of pipelines as they were when their runs started. Each text is stored once, however many runs use it.
 */
import { createHash } from "node:crypto";
import type { PipelineDefinition } from "../../engine/pipeline/definition.ts";
import type { Store } from "../../store/store.ts";
import { runDefinitions } from "../../store/tables/runs.ts";

/** Most definitions that are kept in memory. */
const MOST = 200;

/** Freezes a definition, because all readers share the one in memory. */
function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}

export function createDefinitions({ rows: rowsOf }: Pick<Store, "rows">) {
  const rows = rowsOf(runDefinitions);
  const known = new Map<string, PipelineDefinition>();
  return {
    /** Stores a definition unless it is stored. Called inside a transaction. @returns its id. */
    keep(definition: PipelineDefinition): string {
      const id = createHash("sha256").update(JSON.stringify(definition)).digest("base64url");
      rows.insertIfNew({ id, definition });
      return id;
    },
    /** @throws Error when there is no definition with that id. */
    read(id: string): PipelineDefinition {
      const held = known.get(id);
      if (held) return held;
      const row = rows.find({ id });
      if (!row) throw new Error(`There is no definition ${id}.`);
      if (known.size >= MOST) known.clear();
      known.set(id, deepFreeze(row.definition));
      return row.definition;
    },
  };
}
