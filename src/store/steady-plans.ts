/**
 * Statements that are compiled once and stay so. By itself SQLite compiles a statement again before each run when the
 * value of a parameter might give it a better plan: after `LIMIT ?`, and nearly every `column = ?` of a table with a
 * choice of indexes. That takes longer than most runs. Its switch against this (SQLITE_DBCONFIG_ENABLE_QPSG) is out of
 * reach of the driver, but a parameter with a sign before it is not looked at: `+?` has the same value, of any type.
 *
 * So no plan knows a value: write out a condition that needs a partial index, `state = 'queued'`.
 */
import type Database from "better-sqlite3";

/** Texts, names and comments, which stay as they are, or a parameter. */
const PARTS = /'[^']*'|"[^"]*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\?\d*|[@:$][a-z_]\w*/gi;

/** The same statement, whose plan does not depend on the values of its parameters. */
export const steadyPlan = (text: string): string =>
  text.replace(PARTS, (part) => (/^[?@:$]/.test(part) ? `+${part}` : part));

/** The database, with steady plans for what it prepares from now on. */
export function withSteadyPlans(sqlite: Database.Database): Database.Database {
  const prepare = sqlite.prepare.bind(sqlite);
  sqlite.prepare = (text: string) => prepare(steadyPlan(text));
  return sqlite;
}
