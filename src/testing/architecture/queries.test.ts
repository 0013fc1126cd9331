/** There are two ways to query the database: `store.rows(table)` and `store.statement(sql)` (`store/README.md`). */
import { expect, test } from "bun:test";
import { filesOf, textOf } from "./source-files.ts";

/** Files that may use drizzle: they define tables, read their columns, or list the libraries for the command line. */
const MAY = /^(store\/tables\/|store\/(rows|reader)\.ts$|feature\/runs\/store\.ts$)/;

test("the query builder is not used: drizzle writes tables, and tells of their columns", () => {
  const users = filesOf("**/*.{ts,tsx}").filter((file) => !MAY.test(file) && /from "drizzle-orm/.test(textOf(file)));
  expect(users).toEqual([]);
});
