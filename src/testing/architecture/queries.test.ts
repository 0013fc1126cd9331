/** Two ways to ask the database: `store.rows(table)` and `store.statement(sql)` (`store/README.md`). */
import { expect, test } from "bun:test";
import { filesOf, textOf } from "./source-files.ts";

/** What tables are written with, what tells of their columns, and what the command line says of the libraries in it. */
const MAY = /^(store\/tables\/|store\/(rows|reader)\.ts$|feature\/runs\/store\.ts$)/;

test("the query builder is not used: drizzle writes tables, and tells of their columns", () => {
  const users = filesOf("**/*.{ts,tsx}").filter((file) => !MAY.test(file) && /from "drizzle-orm/.test(textOf(file)));
  expect(users).toEqual([]);
});
