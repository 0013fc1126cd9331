/** Looks up the current names for ids, for administrators: in the audit log, and where disk usage is shown. */
import { ID_PREFIXES } from "../core/ids.ts";
import type { Store } from "./store.ts";

const NAME_CHARACTERS = 200;

/** Prefix of actors that are executions: `execution:exe_…`. */
const EXECUTION = "execution:";

/** Queries for names, by the prefix of the ids. A run's name is its task. */
const SOURCES: Record<string, string> = {
  [ID_PREFIXES.user]: "SELECT id, display_name AS name FROM users",
  [ID_PREFIXES.run]: `SELECT id, substr(task_description, 1, ${NAME_CHARACTERS}) AS name FROM runs`,
  // An execution's name is the id of its agent.
  [ID_PREFIXES.execution]: "SELECT id, agent_id AS name FROM executions",
  [ID_PREFIXES.project]: "SELECT id, name FROM projects",
  [ID_PREFIXES.secret]: "SELECT id, name FROM secrets",
  [ID_PREFIXES.apiKey]: "SELECT id, name FROM api_keys",
  [ID_PREFIXES.cookieSet]: "SELECT id, name FROM cookie_sets",
  [ID_PREFIXES.notificationChannel]: "SELECT id, name FROM notification_channels",
  [ID_PREFIXES.codehostRule]: "SELECT id, name FROM codehost_rules",
};

/**
 * @param ids the ids of one page. @returns a function that gives the name for an id; null when it has none, or is gone.
 */
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
