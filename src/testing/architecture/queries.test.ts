/** Two ways to ask the database: `store.rows(table)` and `store.statement(sql)` (`store/README.md`). */
import { expect, setDefaultTimeout, test } from "bun:test";
import { filesOf, textOf } from "./source-files.ts";

// Every file is read: on a busy machine that takes longer than the usual bound.
setDefaultTimeout(300_000);

/** Files that still use the query builder. Lower it when one is converted. */
const MOST = 6;

test("no further file uses the query builder", () => {
  const builders = filesOf("{feature,http,store}/**/*.ts").filter(
    (file) =>
      !file.startsWith("store/tables/") && /\bdb\s*\.(select|selectDistinct|insert|update|delete)\(/.test(textOf(file)),
  );
  expect(builders.length).toBeLessThanOrEqual(MOST);
});
