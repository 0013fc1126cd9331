/** What ids are called now, for administrators: in the audit log, and where the disk is shown. */
import { ID_PREFIXES } from "../core/ids.ts";
import type { Store } from "./store.ts";

const NAME_CHARACTERS = 200;

/** Actors that are agents at work: `execution:exe_…`. */
const EXECUTION = "execution:";

/** Where names are, by the prefix of their ids. A run is called by its task. */
const SOURCES: Record<string, string> = {
  [ID_PREFIXES.user]: "SELECT id, display_name AS name FROM users",
  [ID_PREFIXES.run]: `SELECT id, substr(task_description, 1, ${NAME_CHARACTERS}) AS name FROM runs`,
  // An agent at work is called by its id.
  [ID_PREFIXES.execution]: "SELECT id, agent_id AS name FROM executions",
  [ID_PREFIXES.project]: "SELECT id, name FROM projects",
  [ID_PREFIXES.secret]: "SELECT id, name FROM secrets",
  [ID_PREFIXES.apiKey]: "SELECT id, name FROM api_keys",
  [ID_PREFIXES.cookieSet]: "SELECT id, name FROM cookie_sets",
  [ID_PREFIXES.notificationChannel]: "SELECT id, name FROM notification_channels",
  [ID_PREFIXES.codehostRule]: "SELECT id, name FROM codehost_rules",
};

/** @param ids of one page. @returns the name of one of them; null for what has none, or is gone. */
export function namesOf(statement: Store["statement"], ids: readonly string[]): (id: string) => string | null {
  const idOf = (id: string) => (id.startsWith(EXECUTION) ? id.slice(EXECUTION.length) : id);
  const byPrefix = Map.groupBy(new Set(ids.map(idOf)), (id) => id.slice(0, Math.max(0, id.indexOf("_"))));
  const names = new Map<string, string>();
  for (const [prefix, some] of byPrefix) {
    const source = SOURCES[prefix];
    if (!source) continue;
    const rows = statement<{ id: string; name: string }>(`${source} WHERE id IN (SELECT value FROM json_each(?))`).all([
      JSON.stringify(some),
    ]);
    for (const { id, name } of rows) names.set(id, name.trim().split("\n", 1)[0]!);
  }
  return (id) => names.get(idOf(id)) ?? null;
}
