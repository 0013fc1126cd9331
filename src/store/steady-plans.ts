/**
 * Keeps statements compiled. By default, SQLite compiles a statement again before a run when a parameter's value might
 * allow a better plan: after `LIMIT ?`, and for nearly every `column = ?` of a table with several indexes. That takes
 * longer than most runs. The driver gives no access to SQLite's switch against it (SQLITE_DBCONFIG_ENABLE_QPSG). But
 * SQLite ignores a parameter with a sign before it, and `+?` has the same value, of any type.
 *
 * So no plan knows a value. Write out a condition that needs a partial index: `state = 'queued'`.
 */
import type Database from "better-sqlite3";

/** Matches texts, names and comments, which are unchanged, or a parameter. */
const PARTS = /'[^']*'|"[^"]*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\?\d*|[@:$][a-z_]\w*/gi;

/** Rewrites a statement so that its plan does not depend on the values of its parameters. */
export const steadyPlan = (text: string): string =>
  text.replace(PARTS, (part) => (/^[?@:$]/.test(part) ? `+${part}` : part));

/** Makes the database use steady plans for everything it prepares from now on. */
export function withSteadyPlans(sqlite: Database.Database): Database.Database {
  const prepare = sqlite.prepare.bind(sqlite);
  sqlite.prepare = (text: string) => prepare(steadyPlan(text));
  return sqlite;
}
